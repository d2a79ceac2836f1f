"""Every way in which an isolated step does not land: its kind, what it says, and that nothing is lost or left half done."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from oort_flows.errors import IsolationError
from oort_flows.worktrees import ReasoningRecord, isolated
from tests.integration.work_trees import add_hook, content, git, leftovers, raise_limit, refused, state

pytestmark = pytest.mark.usefixtures("temporary")

RESCUE = "refs/oort/rescue/implement-1"
RAISED = "max_retries = 5\n"


class Asked:
    """A composer that counts how often it is asked."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, *_: object) -> tuple[str, str]:
        self.times += 1
        return "Raise the limit", "Because."


def is_told(record: ReasoningRecord) -> bool:
    """Whether a record has been told that its commit landed: it has forgotten what it held."""
    return len(record.captured()) == 0


# --------------------------------------------------------------------------------------------- before the step has run


def never() -> None:
    pytest.fail("the step was not to run")


def test_no_repository_with_a_record(tmp_path: Path) -> None:
    """Without a Git work tree there is no place for a record; the step does not run."""
    assert refused(tmp_path, never, record=True).kind == "no_repository"


def test_missing_folder(tmp_path: Path) -> None:
    """A folder that does not exist is a mistake with a record and without one."""
    for record in (True, False):
        assert refused(tmp_path / "missing", never, record=record).kind == "no_repository"


def test_no_commit(tmp_path: Path) -> None:
    """A repository without commits has nothing to make a work tree from."""
    git(tmp_path, "init", "-q", "-b", "main")
    for record in (True, False):
        assert refused(tmp_path, never, record=record).kind == "no_commit"


def test_repository_of_somebody_else(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that git will not use is not taken for no repository; the message says what to do."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    error = refused(repository, never)
    assert error.kind == "git_failed"
    assert "safe.directory" in str(error)


def test_broken_repository(repository: Path) -> None:
    """A repository that is damaged is not taken for no repository."""
    (repository / ".git" / "HEAD").write_text("nonsense\n")
    assert refused(repository, never).kind == "git_failed"


def test_worktree_failed_by_a_hook(repository: Path, temporary: Path) -> None:
    """If the work tree cannot be made, its folder, its branch and its note go, and the next attempt gets the same name."""
    add_hook(repository, "post-checkout", "exit 1")
    before = state(repository)
    assert refused(repository, never).kind == "worktree_failed"
    assert state(repository) == before
    assert leftovers(repository) == []
    assert list(temporary.iterdir()) == []
    (repository / ".git" / "hooks" / "post-checkout").unlink()
    assert isolated(raise_limit, repository=repository, label="implement")().branch == "oort/implement-1"


def test_worktree_failed_by_a_branch_in_the_way(repository: Path, temporary: Path) -> None:
    """A branch called oort leaves no room for ours; the error repeats what git says."""
    git(repository, "branch", "oort")
    error = refused(repository, never)
    assert error.kind == "worktree_failed"
    assert "refs/heads/oort" in str(error)
    assert list(temporary.iterdir()) == []
    assert git(repository, "for-each-ref", "--format=%(refname)", "refs/heads").split() == [
        "refs/heads/main",
        "refs/heads/oort",
    ]


def test_worktree_failed_by_a_filter(repository: Path, temporary: Path) -> None:
    """A checkout filter that fails leaves nothing of the work tree."""
    (repository / ".gitattributes").write_text("*.toml filter=broken\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Attributes")
    git(repository, "config", "filter.broken.smudge", "false")
    git(repository, "config", "filter.broken.required", "true")
    assert refused(repository, never).kind == "worktree_failed"
    assert leftovers(repository) == []
    assert list(temporary.iterdir()) == []


# -------------------------------------------------------------------------------------------------------- the commit


@pytest.mark.parametrize("partly", [False, True])
def test_own_commit_with_a_record(repository: Path, partly: bool) -> None:
    """With a record, a step that commits its work, wholly or in part, does not land; the record is not asked."""
    asked = Asked()

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        git(worktree, "commit", "-q", "-a", "-m", "Mine")
        if partly:
            (worktree / "more.txt").write_text("more\n")

    before = state(repository)
    error = refused(repository, step, record=ReasoningRecord("implement", compose=asked))
    assert error.kind == "own_commit"
    assert asked.times == 0
    assert state(repository) == before
    assert leftovers(repository) == [RESCUE]
    (discarded,) = error.run.discarded
    assert content(repository, discarded.sha, "limits.toml") == RAISED
    assert error.run.rescued == (RESCUE if partly else None)
    assert content(repository, RESCUE, "limits.toml") == RAISED
    assert git(repository, "ls-tree", "--name-only", RESCUE).split() == ["limits.toml", *(["more.txt"] if partly else [])]


@pytest.mark.parametrize("hook", ["pre-commit", "prepare-commit-msg", "commit-msg"])
def test_hook_that_refuses_the_commit(repository: Path, hook: str) -> None:
    """A hook that refuses is named with what it says; the work is kept, the record was asked and is not told."""
    add_hook(repository, hook, 'echo "no: mind the rules" >&2; git status > /dev/null; exit 3')
    record = ReasoningRecord("implement", compose=(asked := Asked()))
    record.note("Because.")
    before = state(repository)
    error = refused(repository, record=record)
    assert error.kind == "hook_refused"
    assert hook in str(error)
    assert "mind the rules" in str(error)
    assert RESCUE in str(error)
    assert asked.times == 1
    assert not is_told(record)
    assert state(repository) == before
    assert error.run.rescued == RESCUE
    assert content(repository, RESCUE, "limits.toml") == RAISED
    assert leftovers(repository) == [RESCUE]


def test_secret_that_a_hook_prints_is_not_repeated(repository: Path) -> None:
    """What a hook says is scrubbed before it is part of an error."""
    add_hook(repository, "pre-commit", "echo 'password = \"hunter2-Zx81-q\"' >&2; exit 1")
    assert "hunter2" not in str(refused(repository))


def test_hook_that_is_not_executable_does_not_run(repository: Path) -> None:
    """git leaves a hook alone that is not executable, and so do we."""
    add_hook(repository, "pre-commit", "exit 1")
    (repository / ".git" / "hooks" / "pre-commit").chmod(0o644)
    assert isolated(raise_limit, repository=repository)().status == "landed"


def test_no_identity(repository: Path) -> None:
    """Without an identity the error gives the commands that set one, and the work is kept under a neutral one."""
    git(repository, "config", "--unset", "user.name")
    git(repository, "config", "--unset", "user.email")
    git(repository, "config", "user.useConfigOnly", "true")
    error = refused(repository, record=True)
    assert error.kind == "no_identity"
    assert 'git config user.name "Your Name"' in str(error)
    assert 'git config user.email "you@example.org"' in str(error)
    assert content(repository, RESCUE, "limits.toml") == RAISED
    assert git(repository, "log", "-1", "--format=%an %cn", RESCUE) == "oort_flows oort_flows"
    assert leftovers(repository) == [RESCUE]


def test_no_identity_for_the_merge(repository: Path) -> None:
    """Where only the merge lacks an identity, the parent is clean again and the step's commits are kept."""
    git(repository, "config", "--unset", "user.name")
    git(repository, "config", "--unset", "user.email")
    git(repository, "config", "user.useConfigOnly", "true")

    def step(worktree: Path) -> str:
        raise_limit(worktree)
        git(worktree, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-a", "-m", "Mine")
        return git(worktree, "rev-parse", "HEAD")

    before = state(repository)
    error = refused(repository, step)
    assert error.kind == "no_identity"
    assert state(repository) == before
    assert not (repository / ".git" / "MERGE_HEAD").exists()
    assert git(repository, "rev-parse", RESCUE) == error.run.value


@pytest.mark.parametrize(
    "settings",
    [
        {"gpg.program": "false"},
        {"gpg.program": "/no/such/program"},
        {"gpg.format": "ssh"},
        {"gpg.format": "x509", "gpg.x509.program": "false"},
    ],
    ids=["fails", "missing", "ssh without a key", "x509"],
)
def test_signing_failed(repository: Path, settings: dict[str, str]) -> None:
    """A signature that cannot be made is told apart from hooks and identity, also with hooks that agree."""
    add_hook(repository, "pre-commit", "exit 0")
    git(repository, "config", "commit.gpgSign", "true")
    for key, value in settings.items():
        git(repository, "config", key, value)
    before = state(repository)
    error = refused(repository, record=True)
    assert error.kind == "signing_failed"
    assert state(repository) == before
    assert content(repository, RESCUE, "limits.toml") == RAISED


def test_hook_that_refuses_where_signing_is_on(repository: Path) -> None:
    """A hook that refuses is that, whatever it says and whatever else is set up."""
    add_hook(repository, "commit-msg", "echo 'gpg failed to sign the data' >&2; exit 1")
    git(repository, "config", "commit.gpgSign", "true")
    git(repository, "config", "gpg.program", "false")
    assert refused(repository).kind == "hook_refused"


def test_hook_that_fails_inside_of_a_hook_is_not_the_reason(repository: Path, tmp_path: Path) -> None:
    """What a hook runs for itself, and gets over, is not taken for a hook of this commit that refused."""
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pre-push").write_text("#!/bin/sh\nexit 1\n")
    (inner / "pre-push").chmod(0o755)
    add_hook(repository, "pre-commit", f'git -c core.hooksPath="{inner}" hook run pre-push; exit 0')
    git(repository, "config", "commit.gpgSign", "true")
    git(repository, "config", "gpg.program", "false")
    assert refused(repository).kind == "signing_failed"


def test_signing_failed_at_the_merge(repository: Path) -> None:
    """A signature that fails for the merge commit leaves the parent as it was."""
    git(repository, "config", "commit.gpgSign", "true")
    git(repository, "config", "gpg.program", "false")

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        git(worktree, "commit", "-q", "--no-gpg-sign", "-a", "-m", "Mine")

    before = state(repository)
    assert refused(repository, step).kind == "signing_failed"
    assert state(repository) == before
    assert not (repository / ".git" / "MERGE_HEAD").exists()


def test_adding_fails(repository: Path) -> None:
    """A file that a filter refuses is git's failure; the work tree stays, since it cannot be kept elsewhere."""

    def step(worktree: Path) -> Path:
        raise_limit(worktree)
        (worktree / "big.bin").write_text("x")
        return worktree

    (repository / ".gitattributes").write_text("*.bin filter=broken\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Attributes")
    git(repository, "config", "filter.broken.clean", "false")
    git(repository, "config", "filter.broken.required", "true")
    error = refused(repository, step)
    assert error.kind == "git_failed"
    assert error.run.value.joinpath("limits.toml").read_text() == RAISED
    assert any("stays" in warning for warning in error.run.warnings)
    assert str(error.run.value) in str(error)


@pytest.mark.parametrize("operation", ["merge", "cherry-pick", "rebase"])
def test_unfinished_operation_of_the_step(repository: Path, operation: str) -> None:
    """A step that leaves a merge and its like unfinished does not land half of it."""
    git(repository, "checkout", "-q", "-b", "other")
    (repository / "limits.toml").write_text("max_retries = 7\n")
    git(repository, "commit", "-q", "-a", "-m", "Other")
    git(repository, "checkout", "-q", "main")

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        git(worktree, "commit", "-q", "-a", "-m", "Mine")
        with pytest.raises(Exception, match="exit code"):
            git(worktree, operation, "other")

    error = refused(repository, step)
    assert error.kind == "git_failed"
    assert operation in str(error)
    assert content(repository, error.run.discarded[0].sha, "limits.toml") == RAISED


def test_work_tree_that_the_step_removes(repository: Path, temporary: Path) -> None:
    """A step that removes its own work tree does not land, and what git still knew of it is cleaned up."""
    import shutil

    error = refused(repository, lambda worktree: shutil.rmtree(worktree))
    assert error.kind == "git_failed"
    assert leftovers(repository) == []
    assert list(temporary.iterdir()) == []


def test_branch_without_commits(repository: Path) -> None:
    """A step that starts a history of its own does not land it; its files are kept."""

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        git(worktree, "checkout", "-q", "--orphan", "fresh")

    error = refused(repository, step)
    assert error.kind == "git_failed"
    assert content(repository, str(error.run.rescued), "limits.toml") == RAISED


# ---------------------------------------------------------------------------------------------------------- the merge


@pytest.mark.parametrize("hook", ["pre-merge-commit", "commit-msg"])
def test_hook_that_refuses_the_merge(repository: Path, hook: str) -> None:
    """A hook that refuses only the merge: the parent is clean again, the step's commit is kept, the record not told."""
    # In the work tree of the step GIT_DIR ends in worktrees/..., in the parent it does not.
    add_hook(repository, hook, 'case "$(git rev-parse --git-dir)" in *worktrees*) exit 0;; esac; echo no >&2; exit 1')
    record = ReasoningRecord("implement")
    record.note("Because.")
    before = state(repository)
    error = refused(repository, record=record)
    assert error.kind == "hook_refused"
    assert state(repository) == before
    assert not (repository / ".git" / "MERGE_HEAD").exists()
    assert not is_told(record)
    (discarded,) = error.run.discarded
    assert discarded.sha == error.run.commit == git(repository, "rev-parse", RESCUE)
    assert content(repository, discarded.sha, "limits.toml") == RAISED


def edited_meanwhile(repository: Path, *, stage: bool = False):
    def step(worktree: Path) -> None:
        raise_limit(worktree)
        (repository / "limits.toml").write_text("max_retries = 9\n")
        if stage:
            git(repository, "add", "-A")

    return step


@pytest.mark.parametrize("stage", [False, True])
def test_edit_in_the_way(repository: Path, stage: bool) -> None:
    """An uncommitted edit of the same file, staged or not, is left untouched; the step's commit is kept."""
    error = refused(repository, edited_meanwhile(repository, stage=stage))
    assert error.kind == "dirty_parent"
    assert "limits.toml" in str(error)
    assert (repository / "limits.toml").read_text() == "max_retries = 9\n"
    assert git(repository, "status", "--porcelain") == ("M  limits.toml" if stage else " M limits.toml").strip("\n")
    assert git(repository, "rev-parse", RESCUE) == error.run.commit


def test_edit_stays_where_autostash_is_on(repository: Path) -> None:
    """The user's autostash setting does not lead to a merge under their hands."""
    git(repository, "config", "merge.autoStash", "true")
    assert refused(repository, edited_meanwhile(repository)).kind == "dirty_parent"
    assert git(repository, "stash", "list") == ""
    assert (repository / "limits.toml").read_text() == "max_retries = 9\n"


def test_staged_change_elsewhere(repository: Path) -> None:
    """Anything staged that makes git refuse is the parent's, not git's failure; it stays staged."""
    (repository / "other.txt").write_text("staged\n")
    git(repository, "add", "other.txt")
    error = refused(repository)
    assert error.kind == "dirty_parent"
    assert "other.txt" in str(error)
    assert git(repository, "diff", "--cached", "--name-only") == "other.txt"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("new.txt", "new.txt"), ("new/file.txt", "new"), ("new", "new/file.txt")],
    ids=["same path", "file where a folder has to be", "folder where a file has to be"],
)
@pytest.mark.parametrize("ignored", [False, True])
def test_untracked_file_in_the_way(repository: Path, theirs: str, ours: str, ignored: bool) -> None:
    """An untracked file in the way is left untouched, also one that is ignored, which git would overwrite without a word."""

    def step(worktree: Path) -> None:
        place = worktree / theirs
        place.parent.mkdir(exist_ok=True)
        place.write_text("the step's\n")

    mine = repository / ours
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine\n")
    if ignored:
        (repository / ".git" / "info" / "exclude").write_text("")

        def step_ignored(worktree: Path) -> None:
            step(worktree)
            (repository / ".git" / "info" / "exclude").write_text("new*\n")
            git(worktree, "add", "-f", theirs)

    error = refused(repository, step_ignored if ignored else step)
    assert error.kind == "dirty_parent"
    assert mine.read_text() == "mine\n"
    assert git(repository, "rev-parse", RESCUE) == error.run.commit
    assert content(repository, RESCUE, theirs) == "the step's\n"


def test_ignored_file_beside_does_not_matter(repository: Path) -> None:
    """Untracked and ignored files that are not in the way stay, and the step lands."""
    (repository / ".git" / "info" / "exclude").write_text("build/\n")
    (repository / "build").mkdir()
    (repository / "build" / "out").write_text("mine\n")
    (repository / "scratch").mkdir()
    (repository / "scratch" / "a").write_text("mine\n")

    def step(worktree: Path) -> None:
        (worktree / "scratch").mkdir()
        (worktree / "scratch" / "b").write_text("b\n")

    assert isolated(step, repository=repository)().status == "landed"
    assert (repository / "build" / "out").read_text() == (repository / "scratch" / "a").read_text() == "mine\n"


@pytest.mark.parametrize("operation", ["merge", "rebase"])
def test_parent_in_the_middle_of_something(repository: Path, operation: str) -> None:
    """A parent that is in the middle of a merge or a rebase is left in it."""
    git(repository, "checkout", "-q", "-b", "other")
    (repository / "limits.toml").write_text("max_retries = 7\n")
    git(repository, "commit", "-q", "-a", "-m", "Other")
    git(repository, "checkout", "-q", "main")
    (repository / "limits.toml").write_text("max_retries = 8\n")
    git(repository, "commit", "-q", "-a", "-m", "Mine")
    with pytest.raises(Exception, match="exit code"):
        git(repository, operation, "other")
    before = state(repository)
    error = refused(repository, lambda worktree: (worktree / "a.txt").write_text("a\n"))
    assert error.kind == "dirty_parent"
    assert operation in str(error)
    assert state(repository) == before


def test_parent_that_switches_branches(repository: Path) -> None:
    """What was begun on one branch does not land on another that the parent has checked out meanwhile."""

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        git(repository, "checkout", "-q", "-b", "other")

    error = refused(repository, step)
    assert error.kind == "git_failed"
    assert git(repository, "rev-parse", "other") == git(repository, "rev-parse", "main")
    assert git(repository, "rev-parse", RESCUE) == error.run.commit


def test_history_of_its_own(repository: Path) -> None:
    """A history that has nothing in common with the parent's is not merged, and is kept."""

    def step(worktree: Path) -> str:
        git(worktree, "checkout", "-q", "--orphan", "fresh")
        git(worktree, "commit", "-q", "-m", "Fresh")
        git(worktree, "checkout", "-q", "--detach")
        git(worktree, "branch", "-q", "-D", "fresh")
        return git(worktree, "rev-parse", "HEAD")

    before = state(repository)
    error = refused(repository, step)
    assert error.kind == "git_failed"
    assert state(repository) == before
    assert git(repository, "rev-parse", RESCUE) == error.run.value


# ----------------------------------------------------------------------------------------------------------- conflicts


def committed_meanwhile(repository: Path, text: str = "max_retries = 9\n", theirs: str = RAISED):
    """A step during which the parent commits a change of the same line."""

    def step(worktree: Path) -> str:
        (worktree / "limits.toml").write_text(theirs)
        (repository / "limits.toml").write_text(text)
        git(repository, "commit", "-q", "-a", "-m", "Meanwhile")
        return "Raised the retry limit"

    return step


def test_conflict(repository: Path) -> None:
    """The merge is taken back, the parent is clean, the record was asked once and never told, the commit is recoverable."""
    record = ReasoningRecord("implement", compose=(asked := Asked()))
    record.note("Because.")
    error = refused(repository, committed_meanwhile(repository), record=record)
    assert error.kind == "conflict"
    assert "limits.toml" in str(error)
    assert asked.times == 1
    assert not is_told(record)
    assert git(repository, "status", "--porcelain") == ""
    assert not (repository / ".git" / "MERGE_HEAD").exists()
    assert git(repository, "log", "-1", "--format=%s") == "Meanwhile"
    assert error.run.commit == git(repository, "rev-parse", RESCUE)
    assert content(repository, RESCUE, "limits.toml") == RAISED
    assert git(repository, "log", "-1", "--format=%s", RESCUE) == "Raise the limit"
    assert error.run.merge is None
    assert leftovers(repository) == [RESCUE]


def test_conflict_leaves_edits_of_other_files(repository: Path) -> None:
    """Taking a merge back leaves uncommitted edits of files that it does not touch."""
    (repository / "notes.txt").write_text("notes\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Notes")
    (repository / "notes.txt").write_text("edited\n")
    step = committed_meanwhile(repository)

    def with_edit(worktree: Path) -> None:
        git(repository, "stash", "-q")
        step(worktree)
        git(repository, "stash", "pop", "-q")

    assert refused(repository, with_edit).kind == "conflict"
    assert (repository / "notes.txt").read_text() == "edited\n"


def synthesized(repository: Path, resolve, step=None):
    return isolated(
        step or committed_meanwhile(repository),
        repository=repository,
        label="implement",
        record=True,
        on_conflict="synthesize",
        resolve=resolve,
    )


def test_synthesize_resolves_a_conflict(repository: Path) -> None:
    """The callable gets path, ours, theirs and base; what it returns is what the merge commit holds."""
    asked = []

    async def resolve(path: str, ours: str, theirs: str, base: str) -> str:
        asked.append((path, ours, theirs, base))
        assert git(repository, "status", "--porcelain") == "", "the parent is clean while somebody thinks"
        return "```toml\nmax_retries = 14\n```\n"

    run = synthesized(repository, resolve)()
    assert run.status == "landed"
    assert asked == [("limits.toml", "max_retries = 9\n", "max_retries = 5\n", "max_retries = 3\n")]
    assert (repository / "limits.toml").read_text() == "max_retries = 14\n"
    assert git(repository, "status", "--porcelain") == ""
    assert len(git(repository, "rev-parse", "HEAD^@").split()) == 2
    assert git(repository, "log", "-1", "--format=%s").startswith("Merge oort/implement-1: ")
    assert leftovers(repository) == []


def test_synthesize_is_not_asked_without_a_conflict(repository: Path) -> None:
    """Where nothing is in conflict, nobody is asked."""
    run = synthesized(repository, lambda *_: pytest.fail("asked"), raise_limit)()
    assert run.status == "landed"


def test_synthesize_asks_for_each_conflicted_file(repository: Path) -> None:
    """Every conflicted file is asked about; a side on which it does not exist is None."""
    (repository / "other.txt").write_text("other\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Other")
    change = committed_meanwhile(repository)

    def step(worktree: Path) -> None:
        (worktree / "other.txt").unlink()
        (worktree / "both.txt").write_text("theirs\n")
        (repository / "other.txt").write_text("changed\n")
        (repository / "both.txt").write_text("ours\n")
        git(repository, "add", "-A")
        change(worktree)

    asked = {}

    def resolve(path, ours, theirs, base):
        asked[path] = (ours, theirs, base)
        return f"resolved {path}\n"

    assert synthesized(repository, resolve, step)().status == "landed"
    assert asked["other.txt"] == ("changed\n", None, "other\n")
    assert asked["both.txt"] == ("ours\n", "theirs\n", None)
    assert set(asked) == {"other.txt", "both.txt", "limits.toml"}
    for path in asked:
        assert (repository / path).read_text() == f"resolved {path}\n"


def test_synthesize_keeps_the_mode_and_the_line_endings(repository: Path) -> None:
    """A resolved file keeps its executable bit, and is checked out with the line endings that the repository sets."""
    (repository / ".gitattributes").write_text("*.sh text eol=crlf\n")
    (repository / "run.sh").write_bytes(b"one\r\n")
    (repository / "run.sh").chmod(0o755)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Script")

    def step(worktree: Path) -> None:
        (worktree / "run.sh").write_bytes(b"theirs\r\n")
        (repository / "run.sh").write_bytes(b"ours\r\n")
        git(repository, "commit", "-q", "-a", "-m", "Meanwhile")

    assert synthesized(repository, lambda path, ours, theirs, base: ours + theirs, step)().status == "landed"
    assert (repository / "run.sh").read_bytes() == b"ours\r\ntheirs\r\n"
    assert git(repository, "ls-files", "-s", "run.sh").startswith("100755")
    assert git(repository, "status", "--porcelain") == ""


def test_synthesize_begins_anew_when_the_parent_moves(repository: Path) -> None:
    """A parent that commits while a conflict is being resolved is merged as it is then; nothing is asked twice."""
    asked = []

    def resolve(path, ours, theirs, base):
        asked.append(ours)
        if len(asked) == 1:
            (repository / "unrelated.txt").write_text("new\n")
            git(repository, "add", "-A")
            git(repository, "commit", "-q", "-m", "Unrelated")
        if len(asked) == 2:
            pytest.fail("asked twice for one conflict")
        return "max_retries = 14\n"

    assert synthesized(repository, resolve)().status == "landed"
    assert git(repository, "log", "-1", "--format=%s", "HEAD^1") == "Unrelated"
    assert (repository / "limits.toml").read_text() == "max_retries = 14\n"


BLOCK = "<<<<<<< ours\nmax_retries = 9\n=======\nmax_retries = 5\n>>>>>>> theirs\n"


@pytest.mark.parametrize(
    "answer",
    [
        BLOCK,
        f"```\n{BLOCK}```",
        BLOCK.replace("<" * 7, "<" * 9).replace("=" * 7, "=" * 9).replace(">" * 7, ">" * 9),
        BLOCK.replace("=======", "||||||| base\nmax_retries = 3\n======="),
        None,
        5,
    ],
    ids=["block", "fenced block", "wide block", "block with base", "nothing", "no text"],
)
def test_synthesize_without_a_resolution_is_a_conflict(repository: Path, answer: object) -> None:
    """An answer that is no text or still holds a conflict block is a conflict that names the file; nothing has changed."""
    heads: list[object] = []

    def resolve(*_: object) -> object:
        heads.append(state(repository))
        return answer

    with pytest.raises(IsolationError) as caught:
        synthesized(repository, resolve)()
    assert caught.value.kind == "conflict"
    assert "limits.toml" in str(caught.value)
    assert heads == [state(repository)]
    assert content(repository, RESCUE, "limits.toml") == RAISED


@pytest.mark.parametrize(
    "text",
    [
        "Title\n=======\ntext\n",
        ">>>>>>> a\n=======\n<<<<<<< b\n",
        "<<<<<<< a\n======\n>>>>>>> b\n",
        "<<<<<<< a\n========\n>>>>>>> b\n",
        "<<<<<<\n======\n>>>>>>\n",
    ],
    ids=["heading", "wrong order", "short row", "other width", "six wide"],
)
def test_synthesize_takes_rows_that_are_no_conflict(repository: Path, text: str) -> None:
    """Rows of the same signs that are no full block are text."""
    assert synthesized(repository, lambda *_: text)().status == "landed"
    assert (repository / "limits.toml").read_text() == text


def test_synthesize_that_raises_is_a_conflict(repository: Path) -> None:
    """An exception of the callable is the cause of a conflict, and the parent is as it was."""
    mine = RuntimeError("no idea")

    def resolve(*_: object) -> str:
        raise mine

    with pytest.raises(IsolationError) as caught:
        synthesized(repository, resolve)()
    assert caught.value.kind == "conflict"
    assert caught.value.__cause__ is mine
    assert git(repository, "status", "--porcelain") == ""


def test_synthesize_does_not_ask_about_binary_files(repository: Path) -> None:
    """A conflict between files that are no text stays one."""

    def step(worktree: Path) -> None:
        (worktree / "x.bin").write_bytes(b"\xff\x00theirs")
        (repository / "x.bin").write_bytes(b"\xff\x00ours")
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "-m", "Meanwhile")

    with pytest.raises(IsolationError, match=r"x\.bin") as caught:
        synthesized(repository, lambda *_: pytest.fail("asked"), step)()
    assert caught.value.kind == "conflict"
    assert (repository / "x.bin").read_bytes() == b"\xff\x00ours"


def test_synthesize_does_not_ask_about_links(repository: Path) -> None:
    """A conflict between symbolic links stays one, and the merge is taken back."""

    def step(worktree: Path) -> None:
        (worktree / "link").symlink_to("theirs")
        (repository / "link").symlink_to("ours")
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "-m", "Meanwhile")

    with pytest.raises(IsolationError, match="link") as caught:
        synthesized(repository, lambda *_: pytest.fail("asked"), step)()
    assert caught.value.kind == "conflict"
    assert git(repository, "status", "--porcelain") == ""
    assert (repository / "link").readlink() == Path("ours")


def test_hook_that_refuses_the_synthesized_merge(repository: Path) -> None:
    """A hook can refuse the concluded merge too; the parent is as it was."""
    add_hook(repository, "commit-msg", 'case "$(git rev-parse --git-dir)" in *worktrees*) exit 0;; esac; exit 1')
    step = committed_meanwhile(repository)

    def without_hooks(worktree: Path) -> None:
        git(repository, "config", "core.hooksPath", "/dev/null")
        step(worktree)
        git(repository, "config", "--unset", "core.hooksPath")

    with pytest.raises(IsolationError) as caught:
        synthesized(repository, lambda *_: "max_retries = 14\n", without_hooks)()
    assert caught.value.kind == "hook_refused"
    assert git(repository, "status", "--porcelain") == ""
    assert (repository / "limits.toml").read_text() == "max_retries = 9\n"


# ------------------------------------------------------------------------------------------------------------ the error


def test_error_crosses_processes(repository: Path) -> None:
    """The error survives pickling with its kind and its run."""
    error = refused(repository, committed_meanwhile(repository))
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.kind, copy.run, str(copy)) == (error.kind, error.run, str(error))
    assert copy.retryable is False
