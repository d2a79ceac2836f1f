"""Compacting packs what writes leave behind, deletes nothing, and gets in nobody's way."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import pygit2
import pytest

from oort_flows.errors import ConfigurationError, StorageError, StorageUnavailableError
from oort_flows.files import GitFileMemory
from oort_flows.files.git import packing
from tests.integration.repositories import clean_environment, git, make_repository, memory_reference

SCOPE = "project:docs"
WORDS = [f"{a}{b}" for a in ("al", "be", "cor", "dun", "el", "fi", "gar") for b in ("mo", "ne", "pi", "ra", "su", "ta")]


@pytest.fixture
def repository(tmp_path) -> Path:
    return make_repository(tmp_path / "project")


@pytest.fixture
def memory(repository) -> GitFileMemory:
    return GitFileMemory(repository, SCOPE)


def create(memory: GitFileMemory, name: str, text: str) -> None:
    assert memory.execute({"command": "create", "path": f"/memories/{name}", "text": text}).ok


def text_of(chance: random.Random, size: int) -> str:
    words: list[str] = []
    length = 0
    while length < size:
        words.append(chance.choice(WORDS) + str(chance.randrange(100)))
        length += len(words[-1]) + 1
    return " ".join(words)[:size]


def one_path(memory: GitFileMemory, writes: int) -> None:
    """Write one path over and over, each time with a few other words."""
    chance = random.Random(7)
    words = text_of(chance, 1_024).split(" ")
    for n in range(writes):
        for _ in range(3):
            words[chance.randrange(len(words))] = chance.choice(WORDS)
        create(memory, "notes.md", f"{n} {' '.join(words)}"[:1_024])


def many_paths(memory: GitFileMemory, writes: int) -> None:
    """Write 256 paths in turn, each time another text."""
    chance = random.Random(8)
    for n in range(writes):
        create(memory, f"{n % 256}.md", text_of(chance, 1_024))


def size_of(repository: Path) -> tuple[int, int, int]:
    """Loose objects, their bytes, and the bytes of all objects as files."""
    objects = repository / ".git/objects"
    loose = [path.stat().st_size for path in objects.glob("??/*")]
    return len(loose), sum(loose), sum(path.stat().st_size for path in objects.rglob("*") if path.is_file())


def every_object(repository: Path) -> set[str]:
    listing = git(repository, "cat-file", "--batch-all-objects", "--batch-check", "--unordered")
    return {line.split()[0] for line in listing.splitlines()}


def stored(repository: Path) -> dict[Path, int]:
    """Every file among the objects with its size, without git's unfinished ones."""
    files = [path for path in (repository / ".git/objects").rglob("*") if path.is_file()]
    return {path: path.stat().st_size for path in files if not path.name.startswith("tmp_")}


def loose_path(repository: Path, body: bytes) -> Path:
    name = str(pygit2.hash(body))
    return repository / ".git/objects" / name[:2] / name[2:]


def damage(path: Path, size: int) -> None:
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:size])


def cruft_packs(repository: Path) -> list[Path]:
    return sorted((repository / ".git/objects/pack").glob("*.mtimes"))


def check_measures(repository: Path, memory: GitFileMemory, write, writes: int, most: int | None) -> None:
    write(memory, writes)
    _, loose_bytes, _ = size_of(repository)
    before = every_object(repository)
    memory.compact()
    loose, _, total = size_of(repository)
    assert loose < 500
    assert every_object(repository) == before
    assert total < most if most is not None else total * 2 <= loose_bytes
    git(repository, "fsck", "--strict")


class TestMeasures:
    def test_one_path(self, repository, memory):
        """Five hundred writes to one path shrink in proportion to what ten thousand may take."""
        check_measures(repository, memory, one_path, 500, 5_000_000 // 20)

    def test_many_paths(self, repository, memory):
        """Five hundred writes over 256 paths shrink to half of their loose size or less."""
        check_measures(repository, memory, many_paths, 500, None)

    @pytest.mark.slow
    def test_one_path_at_length(self, repository, memory):
        """After ten thousand writes of 1 KB to one path and one compact: under 500 loose objects, under 5 MB in all."""
        check_measures(repository, memory, one_path, 10_000, 5_000_000)

    @pytest.mark.slow
    def test_many_paths_at_length(self, repository, memory):
        """Ten thousand writes over 256 paths end at half of their loose size or less, by themselves and with compact."""
        many_paths(memory, 10_000)
        apart = size_of(repository)[2]
        memory.compact()
        loose, _, total = size_of(repository)
        assert loose < 500
        # A write of this kind leaves a text, two trees and the metadata: 16 KB and more of loose objects.
        assert total * 2 <= 10_000 * 16_000
        assert total <= apart


class TestWhatStays:
    def test_lost_commits_of_the_user_stay(self, repository, memory):
        """Commits and texts that nothing reaches any more are found after compacting as before."""
        (repository / "draft.txt").write_text("a draft\n")
        git(repository, "add", ".")
        git(repository, "commit", "-q", "-m", "lost")
        lost = git(repository, "rev-parse", "HEAD").strip()
        git(repository, "reset", "-q", "--hard", "HEAD~1")
        git(repository, "reflog", "expire", "--expire=now", "--all")
        dangling = git(repository, "hash-object", "-w", "--stdin", feed="never committed\n").strip()
        create(memory, "a.md", "1")
        create(memory, "a.md", "2")
        before = every_object(repository)
        done = memory.compact()
        assert (done.loose_before > 0, done.loose_after) == (True, 0)
        assert every_object(repository) == before
        assert git(repository, "show", f"{lost}:draft.txt") == "a draft\n"
        assert git(repository, "cat-file", "blob", dangling) == "never committed\n"
        assert git(repository, "status", "--porcelain") == ""

    def test_age_of_objects_stays(self, repository, memory):
        """Old garbage does not look new after compacting: git's own grace goes on from where it was."""
        create(memory, "a.md", "superseded")
        create(memory, "a.md", "current")
        superseded = str(pygit2.hash(b"superseded"))
        for path in (repository / ".git/objects").glob("??/*"):
            os.utime(path, (1_000_000_000, 1_000_000_000))
        memory.compact()
        assert superseded in every_object(repository)
        git(repository, "repack", "-d", "--cruft", "--cruft-expiration=2001-01-01", "-q")
        assert superseded in every_object(repository)
        git(repository, "repack", "-d", "--cruft", "--cruft-expiration=2.weeks.ago", "-q")
        assert superseded not in every_object(repository)
        assert memory.execute({"command": "view", "path": "/memories/a.md"}).value.text == "current"

    def test_reflog_references_and_configuration_stay(self, repository, memory):
        """Nothing outside of the objects changes."""
        create(memory, "a.md", "1")
        outside = {path for path in (repository / ".git").rglob("*") if "objects" not in path.parts and path.is_file()}
        before = {path: path.read_bytes() for path in outside}
        memory.compact()
        assert {path: path.read_bytes() for path in outside} == before
        assert {p for p in (repository / ".git").rglob("*") if "objects" not in p.parts and p.is_file()} == outside

    def test_packs_that_are_to_be_kept_stay(self, repository, memory):
        """A pack with a keep file, and one that a multi-pack index relies on, are merged into none."""
        create(memory, "a.md", "1")
        memory.compact()
        (kept,) = cruft_packs(repository)
        kept.with_suffix(".keep").touch()
        create(memory, "a.md", "2")
        assert memory.compact().packs_merged == 0
        git(repository, "multi-pack-index", "write")
        create(memory, "a.md", "3")
        assert memory.compact().packs_merged == 0
        assert len(cruft_packs(repository)) == 3
        kept.with_suffix(".keep").unlink()
        (repository / ".git/objects/pack/multi-pack-index").unlink()
        create(memory, "a.md", "4")
        assert memory.compact().packs_merged == 3
        git(repository, "fsck", "--strict")

    def test_packs_do_not_pile_up(self, repository, memory):
        """However often it is called, few cruft packs are left; git's own collection starts at fifty."""
        for n in range(40):
            create(memory, "a.md", f"text {n}")
            memory.compact()
        assert len(cruft_packs(repository)) <= 8
        assert size_of(repository)[0] == 0
        git(repository, "fsck", "--strict")

    def test_large_cruft_pack_is_left_alone(self, repository, memory):
        """What is new is not paid for by packing much that is old once more."""
        many_paths(memory, 100)
        memory.compact()
        (large,) = cruft_packs(repository)
        create(memory, "a.md", "x")
        assert memory.compact().packs_merged == 0
        assert large in cruft_packs(repository)

    def test_nothing_to_do(self, repository, memory):
        """Without loose objects nothing happens, and a second call changes nothing."""
        create(memory, "a.md", "1")
        memory.compact()
        before = stored(repository)
        assert memory.compact() == packing.Compaction(0, 0, 0)
        assert stored(repository) == before


class TestBesideOthers:
    def test_readers_and_writers_go_on(self, repository, memory):
        """Reading and writing beside compacting fails on neither side, and a handle finds what was packed meanwhile."""
        code = """
import sys
from oort_flows.files import GitFileMemory
memory = GitFileMemory(sys.argv[1], "project:docs")
for n in range(120):
    path = f"/memories/{sys.argv[2]}/{n % 7}.md"
    answer = memory.execute({"command": "create", "path": path, "text": f"text {n}"})
    assert answer.ok, answer
    answer = memory.execute({"command": "view", "path": path})
    assert answer.ok and answer.value.text == f"text {n}", answer
"""
        writers = [
            subprocess.Popen([sys.executable, "-c", code, str(repository), name], env=clean_environment()) for name in "ab"
        ]
        compacted = 0
        while any(writer.poll() is None for writer in writers):
            compacted += memory.compact().loose_before > 0
        assert [writer.returncode for writer in writers] == [0, 0]
        assert compacted > 0
        entries = memory.execute({"command": "view", "path": "/memories/a"}).value.entries
        assert len(entries) == 7
        git(repository, "fsck", "--strict")

    def test_handle_finds_what_was_merged_meanwhile(self, repository, memory):
        """A handle that has read from a pack finds its objects again after the pack went into another one."""
        create(memory, "a.md", "1")
        GitFileMemory(repository, "another").compact()
        assert memory.execute({"command": "view", "path": "/memories/a.md"}).ok
        create(GitFileMemory(repository, "another"), "b.md", "2")
        assert GitFileMemory(repository, "another").compact().packs_merged == 1
        assert memory.execute({"command": "view", "path": "/memories/a.md"}).value.text == "1"

    def test_collection_of_git_is_waited_for(self, repository, memory):
        """While git collects, compacting is refused as something that passes; a stale lock of git does not count."""
        create(memory, "a.md", "1")
        lock = repository / ".git/gc.pid"
        lock.write_text(f"{os.getpid()} {socket.gethostname()}")
        with pytest.raises(StorageUnavailableError):
            memory.compact()
        assert lock.exists()
        lock.write_text("1 elsewhere.invalid")
        with pytest.raises(StorageUnavailableError):
            memory.compact()
        os.utime(lock, (1_000_000_000, 1_000_000_000))
        assert memory.compact().loose_after == 0
        create(memory, "a.md", "2")
        gone = subprocess.Popen(["true"])
        gone.wait()
        lock.write_text(f"{gone.pid} {socket.gethostname()}")
        assert memory.compact().loose_after == 0
        assert not lock.exists()

    def test_collection_of_git_waits_for_compacting(self, repository, memory):
        """git knows our lock as one of its own."""
        with packing._collecting(str(repository / ".git")):
            refused = git(repository, "gc", check=False)
            assert "already running" in subprocess_error(repository, "gc")
            assert refused == ""
        assert not (repository / ".git/gc.pid").exists()
        assert not (repository / ".git/gc.pid.lock").exists()
        git(repository, "gc", "-q")

    def test_object_that_nobody_can_tell_is_passed_over(self, repository, memory):
        """An object cut short beyond recognition stays where it is, and keeps none of the others from being packed."""
        create(memory, "a.md", "1")
        path = loose_path(repository, b"1")
        damage(path, 2)
        assert memory.compact().loose_after == 1
        assert path.stat().st_size == 2
        assert memory.execute({"command": "view", "path": "/memories"}).ok

    def test_damaged_object_changes_nothing(self, repository, memory):
        """Where git cannot read an object to its end, compacting says so and every object stays where it was."""
        text = text_of(random.Random(1), 20_000)
        create(memory, "a.md", text)
        damage(loose_path(repository, text.encode()), 2_000)
        before = stored(repository)
        with pytest.raises(StorageError):
            memory.compact()
        assert stored(repository) == before
        assert not (repository / ".git/gc.pid").exists()

    @pytest.mark.parametrize("version", ["git version 2.36.6", "git version 1.9", "nonsense", None])
    def test_git_that_is_too_old_or_missing(self, repository, memory, tmp_path, monkeypatch, version):
        """Without a git that knows cruft packs compacting is a matter of set-up, and writes go on."""
        create(memory, "a.md", "1")
        programs = tmp_path / "bin"
        programs.mkdir()
        if version:
            (programs / "git").write_text(f"#!/bin/sh\necho {version}\n")
            (programs / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}:/bin" if version else str(programs))
        with pytest.raises(ConfigurationError, match="git"):
            memory.compact()
        create(memory, "a.md", "2")


def subprocess_error(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=clean_environment(), check=False).stderr


class TestByItself:
    def test_process_compacts_after_many_objects(self, repository, memory):
        """A process that goes on writing never lets git's own threshold be reached."""
        bodies = packing.OBJECTS_BEFORE_COMPACT // 4 + 20
        highest = 0
        for n in range(bodies):
            create(memory, "a.md", str(n))
            if n % 100 == 0:
                highest = max(highest, size_of(repository)[0])
        assert highest < 6_700
        assert size_of(repository)[0] < 500
        assert len(cruft_packs(repository)) == 1
        assert memory.execute({"command": "view", "path": "/memories/a.md"}).value.text == str(bodies - 1)

    def test_write_does_not_fail_when_compacting_does(self, repository, memory):
        """Where another collection is at work, the write is answered all the same."""
        (repository / ".git/gc.pid").write_text(f"{os.getpid()} {socket.gethostname()}")
        memory._objects.written = packing.OBJECTS_BEFORE_COMPACT
        create(memory, "a.md", "1")
        assert size_of(repository)[0] >= 4
        assert memory_reference(SCOPE) in git(repository, "for-each-ref")
