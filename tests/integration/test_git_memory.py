"""A file memory in a git repository: where it lives, what it writes, what it leaves alone, what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pygit2
import pytest

from oort_flows.errors import ConfigurationError
from oort_flows.files import GitFileMemory, Limits
from oort_flows.files.git import list_scopes
from tests.integration.repositories import (
    FILE,
    TREE_KIND,
    clean_environment,
    digest,
    git,
    make_repository,
    memory_reference,
    metadata_for,
    read_memory,
    snapshot_of,
    tree_bytes,
    write_memory,
    write_root,
)

SCOPE = "project:docs"


def create(memory: GitFileMemory, path: str, text: str, **more) -> object:
    return memory.execute({"command": "create", "path": f"/memories/{path}", "text": text, **more})


def view(memory: GitFileMemory, path: str = "") -> object:
    return memory.execute({"command": "view", "path": f"/memories/{path}".rstrip("/")})


@pytest.fixture
def repository(tmp_path) -> Path:
    return make_repository(tmp_path / "project")


def loose_objects(repository: Path) -> set[str]:
    return {f"{p.parent.name}{p.name}" for p in (repository / ".git/objects").glob("??/*") if len(p.name) == 38}


class TestWhereItLives:
    def test_reference_points_straight_at_a_tree_of_metadata_and_files(self, repository):
        """A write leaves a reference to a tree that holds the metadata and the files, and nothing else."""
        memory = GitFileMemory(repository, SCOPE)
        assert create(memory, "a/b.md", "one\n").ok
        assert memory.reference == memory_reference(SCOPE)
        assert git(repository, "cat-file", "-t", memory.reference).strip() == "tree"
        listing = git(repository, "ls-tree", "-r", "-t", memory.reference).splitlines()
        assert [line.split()[0] + " " + line.split("\t")[1] for line in listing] == [
            "100644 .oort-memory.json",
            "040000 memories",
            "040000 memories/a",
            "100644 memories/a/b.md",
        ]
        metadata, bodies = read_memory(pygit2.Repository(repository), SCOPE)
        assert bodies == {"/memories/a/b.md": b"one\n"}
        assert metadata == {
            "format": 1,
            "scope": SCOPE,
            "scope_digest": digest(SCOPE),
            "last_write": 1,
            "total_bytes": 4,
            "entries": [{"path": "/memories/a/b.md", "byte_length": 4, "written": 1}],
        }
        git(repository, "fsck", "--strict")

    def test_work_tree_index_head_and_status_stay_as_they_were(self, repository):
        """No file of the work tree, no commit, no staged change and no line of status comes from a memory."""
        (repository / "README.md").write_text("edited\n")
        (repository / "staged.txt").write_text("staged\n")
        git(repository, "add", "staged.txt")
        before = snapshot_of(repository)
        status = git(repository, "status", "--porcelain=v2", "--branch")
        memory = GitFileMemory(repository, SCOPE)
        create(memory, "a.md", "1")
        create(memory, "a.md", "2")
        memory.execute({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"})
        memory.execute({"command": "delete", "path": "/memories/b.md"})
        assert git(repository, "status", "--porcelain=v2", "--branch") == status
        after = snapshot_of(repository)
        assert {path: after[path] for path in before} == before
        news = {path for path in after if path not in before}
        assert all(path.startswith((".git/objects/", ".git/refs/oort/", ".git/oort-references.lock")) for path in news)

    def test_reopened_memory_has_its_content(self, repository):
        """What one handle wrote, another one reads."""
        create(GitFileMemory(repository, SCOPE), "a.md", "kept")
        assert view(GitFileMemory(repository, SCOPE), "a.md").value.text == "kept"

    def test_every_place_of_a_repository_leads_to_one_memory(self, repository, tmp_path, monkeypatch):
        """Top, subdirectory, git directory, linked work tree and relative paths all open the same memory."""
        (repository / "deep/down").mkdir(parents=True)
        git(repository, "worktree", "add", "-q", str(tmp_path / "linked"))
        (tmp_path / "linked/inner").mkdir()
        create(GitFileMemory(repository, SCOPE), "a.md", "shared")
        monkeypatch.chdir(repository / "deep")
        places = [
            repository / "deep/down",
            repository / ".git",
            str(tmp_path / "linked"),
            tmp_path / "linked/inner",
            ".",
            "down",
        ]
        for place in places:
            memory = GitFileMemory(place, SCOPE)
            assert memory.repository == str(repository / ".git")
            assert view(memory, "a.md").value.text == "shared"
        create(GitFileMemory(tmp_path / "linked", SCOPE), "b.md", "from there")
        assert view(GitFileMemory(repository, SCOPE), "b.md").value.text == "from there"

    def test_bare_repository_without_commits_will_do(self, tmp_path):
        """Neither a work tree nor a commit is needed."""
        bare = make_repository(tmp_path / "bare.git", bare=True)
        assert create(GitFileMemory(bare, SCOPE), "a.md", "x").ok
        empty = make_repository(tmp_path / "empty", commit=False)
        assert create(GitFileMemory(empty, SCOPE), "a.md", "x").ok
        assert git(empty, "status", "--porcelain") == ""

    def test_submodule_has_a_memory_of_its_own(self, repository, tmp_path):
        """Inside a submodule the memory is the submodule's, not that of the repository around it."""
        other = make_repository(tmp_path / "other")
        git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "part")
        memory = GitFileMemory(repository / "part", SCOPE)
        assert memory.repository == str(repository / ".git/modules/part")
        assert create(memory, "a.md", "x").ok
        assert view(GitFileMemory(repository, SCOPE)).value.entries == ()

    def test_mirror_clone_carries_the_memory_and_a_plain_clone_does_not(self, repository, tmp_path):
        """A mirror has the scope, and knows no other; a plain clone starts with an empty memory."""
        create(GitFileMemory(repository, SCOPE), "a.md", "x")
        git(tmp_path, "clone", "-q", "--mirror", str(repository), "mirror.git")
        git(tmp_path, "clone", "-q", "--no-local", str(repository), "plain")
        assert view(GitFileMemory(tmp_path / "mirror.git", SCOPE), "a.md").value.text == "x"
        assert view(GitFileMemory(tmp_path / "mirror.git", "another"), "a.md").error.code == "NOT_FOUND"
        assert view(GitFileMemory(tmp_path / "plain", SCOPE), "a.md").error.code == "NOT_FOUND"

    def test_scopes_are_listed_and_damaged_ones_left_out(self, repository, caplog):
        """Every scope with a memory is named, an unreadable one is not, and a warning tells of it."""
        for scope in ("b", "a", "c é"):
            create(GitFileMemory(repository, scope), "x.md", "x")
        handle = pygit2.Repository(repository)
        handle.references.create(memory_reference("broken"), handle.head.target)
        handle.references.create(memory_reference("elsewhere"), handle.references[memory_reference("a")].target)
        git(repository, "pack-refs", "--all")
        assert list_scopes(repository) == ["a", "b", "c é"]
        assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
        assert list_scopes(make_repository(repository / "empty")) == []


class TestWhatItWrites:
    def test_only_changed_texts_and_the_trees_above_them_are_written(self, repository):
        """One write among many directories adds one blob, the trees on its path, the metadata and the root."""
        memory = GitFileMemory(repository, SCOPE)
        for place in ("a/b/one.md", "a/two.md", "c/three.md", "four.md"):
            create(memory, place, f"text of {place}")
        before = loose_objects(repository)
        create(memory, "a/b/one.md", "changed")
        assert len(loose_objects(repository) - before) == 1 + 3 + 2
        before = loose_objects(repository)
        create(memory, "a/b/one.md", "changed")
        assert len(loose_objects(repository) - before) == 2

    def test_directory_that_moves_keeps_its_tree(self, repository):
        """A rename writes no text and no tree of what was moved."""
        memory = GitFileMemory(repository, SCOPE)
        for n in range(20):
            create(memory, f"old/deep/{n}.md", f"text {n}")
        git(repository, "gc", "-q")
        before = loose_objects(repository)
        assert memory.execute({"command": "rename", "old_path": "/memories/old", "new_path": "/memories/new"}).ok
        assert len(loose_objects(repository) - before) == 3
        assert view(memory, "new/deep/7.md").value.text == "text 7"
        git(repository, "fsck", "--strict")

    def test_emptied_memory_keeps_its_counter(self, repository):
        """After the last file is gone the tree is valid, empty, and remembers the last stamp."""
        memory = GitFileMemory(repository, SCOPE)
        create(memory, "a/b.md", "1")
        create(memory, "c.md", "2")
        for path in ("a", "c.md"):
            assert memory.execute({"command": "delete", "path": f"/memories/{path}"}).ok
        metadata, bodies = read_memory(pygit2.Repository(repository), SCOPE)
        assert (metadata["last_write"], metadata["entries"], metadata["total_bytes"], bodies) == (2, [], 0, {})
        git(repository, "fsck", "--strict")
        reopened = GitFileMemory(repository, SCOPE)
        assert view(reopened).value.entries == ()
        create(reopened, "d.md", "3")
        assert read_memory(pygit2.Repository(repository), SCOPE)[0]["last_write"] == 3

    def test_order_of_eviction_goes_on_after_reopening(self, repository):
        """The stored stamps decide who goes next, whoever opened the memory meanwhile."""
        limits = Limits(max_files=3)
        memory = GitFileMemory(repository, SCOPE, limits)
        for name in "abcd":
            receipt = create(memory, f"{name}.md", name)
        assert receipt.value.evicted == ("/memories/a.md",)
        create(memory, "b.md", "b again")
        receipt = create(GitFileMemory(repository, SCOPE, limits), "e.md", "e")
        assert receipt.value.evicted == ("/memories/c.md",)

    def test_used_up_counter_stops_writes_and_leaves_views(self, repository):
        """At the last stamp a write is a storage error, the reference stays, and reading goes on."""
        handle = pygit2.Repository(repository)
        root = write_memory(handle, SCOPE, {"/memories/a.md": b"x"}, last_write=2**53 - 1)
        memory = GitFileMemory(repository, SCOPE)
        answer = create(memory, "b.md", "y")
        assert (answer.error.code, answer.error.details) == ("STORAGE_ERROR", {"retryable": False})
        assert handle.references[memory_reference(SCOPE)].target == root
        assert view(memory, "a.md").value.text == "x"
        assert memory.execute({"command": "delete", "path": "/memories/a.md"}).ok

    def test_file_below_a_hundred_directories_reopens(self, repository):
        """Depth is bounded by the length of the path and by nothing else."""
        path = "d/" * 100 + "deep.md"
        create(GitFileMemory(repository, SCOPE, Limits(max_files=1)), path, "found")
        assert view(GitFileMemory(repository, SCOPE, Limits(max_files=1)), path).value.text == "found"
        deepest = "d/" * 500 + "e.md"
        assert create(GitFileMemory(repository, SCOPE, Limits(max_files=1)), deepest, "found").ok
        assert view(GitFileMemory(repository, SCOPE), deepest).value.text == "found"

    def test_names_sort_as_git_sorts_them(self, repository):
        """A directory beside files whose names continue its own makes a tree that git calls sound."""
        memory = GitFileMemory(repository, SCOPE)
        for path in ("a/x.md", "a.md", "a-b.md", "a0.md", "B.md"):
            create(memory, path, path)
        git(repository, "fsck", "--strict")
        assert git(repository, "ls-tree", "--name-only", f"{memory.reference}:memories").split() == [
            "B.md",
            "a-b.md",
            "a.md",
            "a",
            "a0.md",
        ]

    def test_content_filters_do_not_touch_texts(self, repository):
        """Line endings and attributes of the work tree mean nothing to a memory."""
        (repository / ".gitattributes").write_text("* text eol=crlf\n*.md filter=no-such-filter\n")
        git(repository, "config", "core.autocrlf", "true")
        create(GitFileMemory(repository, SCOPE), "a.md", "a\r\nb\n\ufeffc")
        assert read_memory(pygit2.Repository(repository), SCOPE)[1] == {"/memories/a.md": "a\r\nb\n\ufeffc".encode()}

    def test_repository_shared_by_a_group_stays_shared(self, tmp_path):
        """New directories of objects and references have the mode of the ones above them."""
        shared = tmp_path / "shared"
        git(tmp_path, "init", "-q", "--shared=0770", "shared")
        mask = os.umask(0o077)
        try:
            create(GitFileMemory(shared, SCOPE), "a.md", "x")
        finally:
            os.umask(mask)
        for place in [*(shared / ".git/objects").glob("??"), *(shared / ".git/refs/oort").rglob("*")]:
            if place.is_dir():
                assert place.stat().st_mode & 0o070 == 0o070
        for file in (shared / ".git/objects").glob("??/*"):
            assert file.stat().st_mode & 0o040

    def test_texts_are_read_wherever_git_keeps_them(self, repository, tmp_path):
        """Packed objects, packed references and objects borrowed from another repository are read like loose ones."""
        memory = GitFileMemory(repository, SCOPE)
        create(memory, "a.md", "one")
        git(repository, "gc", "-q", "--prune=now")
        assert not (repository / ".git/refs/oort").exists() or not list((repository / ".git/refs/oort").rglob("*.*"))
        assert view(memory, "a.md").value.text == "one"
        assert create(memory, "b.md", "two").ok
        git(tmp_path, "clone", "-q", "--mirror", "--shared", str(repository), "borrower.git")
        borrower = GitFileMemory(tmp_path / "borrower.git", SCOPE)
        assert (view(borrower, "a.md").value.text, view(borrower, "b.md").value.text) == ("one", "two")
        assert create(borrower, "a.md", "mine").ok
        assert view(memory, "a.md").value.text == "one"

    def test_durable_memory_answers_alike(self, repository):
        """Flushing changes nothing but the time it takes."""
        memory = GitFileMemory(repository, SCOPE, durable=True)
        create(memory, "a/b.md", "1")
        create(memory, "a/b.md", "1")
        assert view(GitFileMemory(repository, SCOPE), "a/b.md").value.text == "1"


class TestSurroundings:
    def test_git_variables_redirect_nothing(self, repository, tmp_path):
        """With GIT_DIR and its kin set to another repository, the named one is written and the other untouched."""
        other = make_repository(tmp_path / "other")
        before = snapshot_of(other)
        code = (
            "import sys; from oort_flows.files import GitFileMemory\n"
            f"memory = GitFileMemory(sys.argv[1], {SCOPE!r})\n"
            "for n in range(3):\n"
            "    print(memory.execute({'command': 'create', 'path': f'/memories/{n}.md', 'text': str(n)}).ok)\n"
            "print(memory.compact().loose_after)\n"
        )
        hijack = clean_environment(
            GIT_DIR=str(other / ".git"),
            GIT_WORK_TREE=str(other),
            GIT_INDEX_FILE=str(other / ".git/index"),
            GIT_OBJECT_DIRECTORY=str(other / ".git/objects"),
            GIT_ALTERNATE_OBJECT_DIRECTORIES=str(other / ".git/objects"),
            GIT_COMMON_DIR=str(other / ".git"),
            GIT_NAMESPACE="elsewhere",
            GIT_CONFIG_COUNT="1",
            GIT_CONFIG_KEY_0="core.worktree",
            GIT_CONFIG_VALUE_0=str(other),
            GIT_CEILING_DIRECTORIES=str(repository.parent),
        )
        command = [sys.executable, "-c", code, str(repository)]
        done = subprocess.run(command, env=hijack, capture_output=True, text=True, check=False)
        assert done.stdout.split() == ["True", "True", "True", "0"], done.stderr
        assert snapshot_of(other) == before
        assert len(view(GitFileMemory(repository, SCOPE)).value.entries) == 3

    def test_no_hook_runs(self, repository, tmp_path):
        """Neither reference-transaction nor any other hook of the repository hears of a write."""
        trace = tmp_path / "hooks-ran"
        hooks = repository / ".git/hooks"
        hooks.mkdir(exist_ok=True)
        for name in ("reference-transaction", "post-update", "pre-commit", "post-commit", "post-rewrite", "pre-auto-gc"):
            (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {trace}\nexit 1\n")
            (hooks / name).chmod(0o755)
        git(repository, "config", "core.logAllRefUpdates", "always")
        memory = GitFileMemory(repository, SCOPE)
        create(memory, "a.md", "1")
        memory.execute_undoable({"command": "create", "path": "/memories/a.md", "text": "2"}, operation="op")
        memory.settle("op")
        memory.compact()
        assert not trace.exists()
        git(repository, "branch", "seen", check=False)
        assert trace.exists()

    def test_nothing_is_fetched_for_a_partial_clone(self, repository, tmp_path):
        """In a clone that lacks promised objects a memory works, and asks the remote for none of them."""
        git(repository, "config", "uploadpack.allowFilter", "true")
        git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{repository}", "partial")
        partial = tmp_path / "partial"
        handle = pygit2.Repository(partial)
        promised = handle[handle.head.peel().tree_id]["README.md"].id
        files = handle.write(TREE_KIND, tree_bytes([(FILE, "README.md", promised)]))
        root = write_root(handle, metadata_for("promised", {"/memories/README.md": 12}), files)
        handle.references.create(memory_reference("promised"), root)
        assert view(GitFileMemory(partial, "promised"), "README.md").error.code == "UNSAFE_STORAGE"
        assert promised not in pygit2.Repository(partial).odb

        repository.rename(tmp_path / "gone")
        memory = GitFileMemory(partial, SCOPE)
        assert create(memory, "a.md", "x").ok
        assert memory.compact().loose_after == 0
        assert view(GitFileMemory(partial, SCOPE), "a.md").value.text == "x"
        assert promised not in pygit2.Repository(partial).odb


class TestRefusals:
    @pytest.mark.parametrize("place", ["", "  ", None, 3, b"bytes", "a\0b"])
    def test_repository_that_is_no_path(self, place):
        """Anything but a path is refused at construction."""
        with pytest.raises(ConfigurationError, match="repository"):
            GitFileMemory(place, SCOPE)

    def test_no_repository_there(self, tmp_path):
        """A directory without a repository, and no directory at all, say what to do."""
        with pytest.raises(ConfigurationError, match="git init"):
            GitFileMemory(tmp_path, SCOPE)
        with pytest.raises(ConfigurationError, match="no such directory"):
            GitFileMemory(tmp_path / "nowhere", SCOPE)

    def test_sha256_repository_is_named(self, tmp_path):
        """The object format that stands in the way is in the message."""
        (tmp_path / "new").mkdir()
        git(tmp_path / "new", "init", "-q", "--object-format=sha256")
        with pytest.raises(ConfigurationError, match="SHA-256"):
            GitFileMemory(tmp_path / "new", SCOPE)

    def test_unknown_extension_is_named(self, repository):
        """So is an extension of the repository that is not understood, such as another storage of references."""
        git(repository, "config", "core.repositoryFormatVersion", "1")
        git(repository, "config", "extensions.refStorage", "reftable")
        with pytest.raises(ConfigurationError, match="refstorage"):
            GitFileMemory(repository, SCOPE)

    @pytest.mark.parametrize("bare", [False, True])
    def test_repository_of_somebody_else(self, tmp_path, bare):
        """What git refuses because of its owner is refused with git's own way out in the message."""
        foreign = make_repository(tmp_path / "foreign", commit=False, bare=bare)
        for place in [foreign, *foreign.rglob("*")]:
            os.chown(place, 12_345, 12_345)
        with pytest.raises(ConfigurationError, match=r"safe\.directory"):
            GitFileMemory(foreign, SCOPE)

    def test_damaged_repository(self, repository):
        """A repository that git itself cannot open is refused too."""
        (repository / ".git/config").write_text("[core\nnonsense")
        with pytest.raises(ConfigurationError, match="git status"):
            GitFileMemory(repository, SCOPE)

    def test_message_names_no_path(self, tmp_path):
        """A refusal repeats no path."""
        with pytest.raises(ConfigurationError) as caught:
            GitFileMemory(tmp_path, SCOPE)
        assert str(tmp_path) not in str(caught.value)
