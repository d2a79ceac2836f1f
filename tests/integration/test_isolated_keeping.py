"""Nothing is lost: what is kept of a step that does not land, and how its work tree goes."""

from __future__ import annotations

import os
import re
import signal
import threading
from pathlib import Path

import pytest

from oort_flows import current_memory
from oort_flows.errors import IsolationError
from oort_flows.worktrees import isolated, prune_worktrees
from tests.integration.work_trees import add_hook, content, git, leftovers, raise_limit, state

pytestmark = pytest.mark.usefixtures("temporary")

RESCUE = "refs/oort/rescue/implement-1"
RAISED = "max_retries = 5\n"


class Declined:
    """A state that says it failed, as an orchestrator would return it."""

    def __init__(self, message: str = "not today", kind: str = "failed") -> None:
        self.message = message
        self._kind = kind

    def is_failed(self) -> bool:
        return self._kind == "failed"

    def is_crashed(self) -> bool:
        return self._kind == "crashed"

    def is_cancelled(self) -> bool:
        return self._kind == "cancelled"


def commit_all(worktree: Path, message: str = "Mine") -> str:
    git(worktree, "add", "-A")
    git(worktree, "commit", "-q", "-m", message)
    return git(worktree, "rev-parse", "HEAD")


def implement(repository: Path, step, **settings):
    return isolated(step, repository=repository, label="implement", **settings)()


def files_at(repository: Path, revision: str) -> list[str]:
    return git(repository, "ls-tree", "-r", "--name-only", revision).splitlines()


# ----------------------------------------------------------------------------------------------------------- declining


@pytest.mark.parametrize("kind", ["failed", "crashed", "cancelled"])
def test_declined_after_writing(repository: Path, temporary: Path, kind: str) -> None:
    """Nothing lands, the message is the summary, and what was written is under a rescue reference."""

    def step(worktree: Path) -> Declined:
        raise_limit(worktree)
        (worktree / "new.txt").write_text("new\n")
        return Declined(kind=kind)

    before = state(repository)
    run = implement(repository, step, record=True)
    assert (run.status, run.summary, run.rescued, run.commit) == ("declined", "not today", RESCUE, None)
    assert isinstance(run.value, Declined)
    assert state(repository) == before
    assert content(repository, RESCUE, "limits.toml") == RAISED
    assert files_at(repository, RESCUE) == ["limits.toml", "new.txt"]
    assert git(repository, "rev-parse", f"{RESCUE}^") == before[0]
    assert leftovers(repository) == [RESCUE]
    assert list(temporary.iterdir()) == []


def test_declined_after_a_commit(repository: Path) -> None:
    """The branch is gone, and discarded names the commit, which is kept."""
    made: list[str] = []

    def step(worktree: Path) -> Declined:
        raise_limit(worktree)
        made.append(commit_all(worktree))
        return Declined()

    run = implement(repository, step)
    (discarded,) = run.discarded
    assert run.status == "declined"
    assert (discarded.branch, discarded.sha, discarded.rescue) == ("oort/implement-1", made[0], RESCUE)
    assert git(repository, "rev-parse", RESCUE) == made[0]
    assert run.rescued is None
    assert leftovers(repository) == [RESCUE]


def test_declined_with_commit_and_writing(repository: Path) -> None:
    """A commit and work on top of it are both kept, under one reference."""

    def step(worktree: Path) -> Declined:
        raise_limit(worktree)
        commit_all(worktree)
        (worktree / "new.txt").write_text("new\n")
        return Declined()

    run = implement(repository, step)
    assert run.rescued == run.discarded[0].rescue == RESCUE
    assert git(repository, "rev-parse", f"{RESCUE}^") == run.discarded[0].sha
    assert files_at(repository, RESCUE) == ["limits.toml", "new.txt"]


def test_declined_without_a_change_leaves_nothing(repository: Path) -> None:
    """There is nothing to keep of a step that declines before it writes."""
    run = implement(repository, lambda: Declined())
    assert (run.status, run.rescued, run.discarded) == ("declined", None, ())
    assert leftovers(repository) == []


def test_reason_for_declining_is_one_line_without_secrets(repository: Path, tmp_path: Path) -> None:
    """The summary is cleaned wherever the step ran; what the step returned is not touched."""
    word = "hunter" + "2"
    declined = Declined(f"\n the database\tpostgres://app:{word}@db/orders \x07 is gone \nand more")
    for place in (repository, tmp_path):
        run = implement(place, lambda: declined)
        assert run.summary == "the database postgres://app:[secret: url-password]@db/orders is gone"
        assert run.status == "declined"
        assert run.value is declined
    assert word in declined.message


def test_key_that_begins_in_the_first_line_is_no_summary(repository: Path) -> None:
    """A secret of several lines is seen as a whole before its first line becomes the summary."""
    begin, end = (f"-----{word} RSA PRIVATE" + " KEY-----" for word in ("BEGIN", "END"))
    run = implement(repository, lambda: f"\r\n  {begin}\r\n{'Ab1/' * 16}\r\n{end} was refused\r\nmore")
    assert run.summary == "[secret: private-key] was refused"


def test_unfinished_state_declines(repository: Path) -> None:
    """A state that has not come to its end, such as a paused one, does not land."""

    class Paused(Declined):
        def is_completed(self) -> bool:
            return False

    def step(worktree: Path) -> Paused:
        raise_limit(worktree)
        return Paused(kind="paused")

    assert implement(repository, step).status == "declined"


# ------------------------------------------------------------------------------------------------------------- raising


def test_raising_after_writing(repository: Path) -> None:
    """The step's own exception comes out, the same object, with a note that names what was kept; the branch is gone."""
    mine = KeyError("mine")

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        raise mine

    with pytest.raises(KeyError) as caught:
        implement(repository, step, record=True)
    assert caught.value is mine
    assert mine.__context__ is None
    assert any(RESCUE in note for note in mine.__notes__)
    assert content(repository, RESCUE, "limits.toml") == RAISED
    assert leftovers(repository) == [RESCUE]


def commands_in(text: str) -> dict[str, list[str]]:
    """The git commands that a message gives, by their names."""
    return {words.split()[1]: words.split()[1:] for words in re.findall(r"`([^`]*)`", text)}


def test_note_says_how_to_get_the_work_back(repository: Path) -> None:
    """The commands in the note show the work and take it over, beside what the parent has committed since."""

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        (worktree / "gone.txt").unlink()
        commit_all(worktree)
        (worktree / "new.txt").write_text("new\n")
        git(worktree, "add", "new.txt")
        (worktree / "new.txt").write_text("newer\n")
        raise ValueError("mine")

    (repository / "gone.txt").write_text("gone\n")
    commit_all(repository)
    with pytest.raises(ValueError, match="mine") as caught:
        implement(repository, step)
    (repository / "own.txt").write_text("own\n")
    commit_all(repository)

    (note,) = [note for note in caught.value.__notes__ if RESCUE in note]
    commands = commands_in(note)
    shown = git(repository, *commands["diff"], "--name-status").split()
    assert shown == ["D", "gone.txt", "M", "limits.toml", "A", "new.txt"]
    git(repository, *commands["merge"], "-q")
    assert (repository / "limits.toml").read_text() == RAISED
    assert (repository / "new.txt").read_text() == "newer\n"
    assert (repository / "own.txt").exists()
    assert not (repository / "gone.txt").exists()


def test_error_says_how_to_get_one_file_back(repository: Path) -> None:
    """Where git was in the way, the error itself gives the commands."""
    add_hook(repository, "pre-commit", "exit 1")
    with pytest.raises(IsolationError) as caught:
        implement(repository, raise_limit)
    command = commands_in(str(caught.value))["checkout"]
    assert command[1:] == [RESCUE, "--", "<path>"]
    git(repository, *command[:-1], "limits.toml")
    assert (repository / "limits.toml").read_text() == RAISED


def test_kept_branch_is_named_with_its_commands(repository: Path) -> None:
    """Where a branch is all that is kept, the commands name the branch."""

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        commit_all(worktree)
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine") as caught:
        implement(repository, step)
    git(repository, *commands_in("\n".join(caught.value.__notes__))["merge"], "-q")
    assert (repository / "limits.toml").read_text() == RAISED


def test_raising_without_a_change(repository: Path) -> None:
    """With nothing to keep there is nothing to note."""
    with pytest.raises(ZeroDivisionError) as caught:
        implement(repository, lambda: 1 / 0)
    assert not hasattr(caught.value, "__notes__")
    assert leftovers(repository) == []


@pytest.mark.parametrize("more", [False, True], ids=["clean", "with uncommitted work"])
def test_raising_after_a_commit(repository: Path, more: bool) -> None:
    """The branch is kept at that commit, a note says so, and the step's own exception comes out."""
    made: list[str] = []

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        made.append(commit_all(worktree))
        if more:
            (worktree / "new.txt").write_text("new\n")
        raise ValueError("mine")

    before = state(repository)
    with pytest.raises(ValueError, match="mine") as caught:
        implement(repository, step)
    assert any("oort/implement-1" in note and "kept" in note for note in caught.value.__notes__)
    assert git(repository, "rev-parse", "oort/implement-1") == made[0]
    assert state(repository) == before
    assert leftovers(repository) == ["refs/heads/oort/implement-1", *([RESCUE] if more else [])]
    if more:
        assert files_at(repository, RESCUE) == ["limits.toml", "new.txt"]


def test_kept_branch_is_not_used_again(repository: Path) -> None:
    """The next run of the same name leaves a kept branch alone."""

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        commit_all(worktree)
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        implement(repository, step)
    kept = git(repository, "rev-parse", "oort/implement-1")
    run = implement(repository, raise_limit)
    assert run.branch == "oort/implement-2"
    assert git(repository, "rev-parse", "oort/implement-1") == kept


# ---------------------------------------------------------------------------------------------- what counts as lost


def test_only_ignored_files_go(repository: Path) -> None:
    """Untracked files in folders, binary ones and odd names are kept; what is ignored is not."""
    (repository / ".git" / "info" / "exclude").write_text("*.log\n")

    def step(worktree: Path) -> Declined:
        (worktree / "a b").mkdir()
        (worktree / "a b" / "naïve\n名.bin").write_bytes(b"\x00\xff")
        (worktree / "run.sh").write_text("#!/bin/sh\n")
        (worktree / "run.sh").chmod(0o755)
        (worktree / "debug.log").write_text("noise")
        (worktree / "limits.toml").unlink()
        return Declined()

    implement(repository, step)
    names = git(repository, "ls-tree", "-r", "-z", "--name-only", RESCUE).split("\0")
    assert [name for name in names if name] == ["a b/naïve\n名.bin", "run.sh"]
    assert git(repository, "ls-tree", RESCUE, "run.sh").startswith("100755")


def test_change_that_only_its_content_shows_is_kept(repository: Path) -> None:
    """A file rewritten in the same moment, of the same size, is seen to have changed, as git itself sees it."""
    git(repository, "config", "core.trustctime", "false")
    git(repository, "config", "core.checkStat", "minimal")

    def step(worktree: Path) -> Declined:
        moment = (worktree / "limits.toml").stat().st_mtime_ns
        index = Path(git(worktree, "rev-parse", "--absolute-git-dir"), "index")
        raise_limit(worktree)
        for file in (worktree / "limits.toml", index):
            os.utime(file, ns=(moment, moment))
        return Declined()

    implement(repository, step)
    assert content(repository, RESCUE, "limits.toml") == RAISED


def test_what_is_only_staged_is_kept(repository: Path) -> None:
    """Content that is in the index and nowhere else is kept as well."""

    def step(worktree: Path) -> Declined:
        (worktree / "staged.txt").write_text("only staged\n")
        git(worktree, "add", "staged.txt")
        (worktree / "staged.txt").unlink()
        (worktree / "file.txt").write_text("file\n")
        return Declined()

    implement(repository, step)
    assert files_at(repository, RESCUE) == ["file.txt", "limits.toml"]
    assert content(repository, f"{RESCUE}^2", "staged.txt") == "only staged\n"


def test_commits_that_were_reset_are_kept(repository: Path) -> None:
    """A commit that the step has reset away, and one it made on a detached HEAD, are kept too."""
    made: list[str] = []

    def step(worktree: Path) -> Declined:
        (worktree / "a.txt").write_text("a\n")
        made.append(commit_all(worktree))
        git(worktree, "reset", "-q", "--hard", "HEAD^")
        git(worktree, "checkout", "-q", "--detach")
        (worktree / "b.txt").write_text("b\n")
        made.append(commit_all(worktree))
        return Declined()

    run = implement(repository, step)
    assert {discarded.sha for discarded in run.discarded} == set(made)
    for sha in made:
        git(repository, "merge-base", "--is-ancestor", sha, RESCUE)


def test_amended_commit_of_a_landed_step_is_kept(repository: Path) -> None:
    """What a step landed is merged; the version that it amended before is kept beside."""
    made: list[str] = []

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        made.append(commit_all(worktree))
        git(worktree, "commit", "-q", "--amend", "-m", "Better")

    run = implement(repository, step)
    assert run.status == "landed"
    assert [discarded.sha for discarded in run.discarded] == made


def test_commits_on_branches_of_the_step_stay_there(repository: Path) -> None:
    """A branch or a stash that the step makes is its own; it stays, and needs no rescue."""

    def step(worktree: Path) -> Declined:
        git(worktree, "checkout", "-q", "-b", "theirs")
        raise_limit(worktree)
        commit_all(worktree)
        (worktree / "limits.toml").write_text("stashed\n")
        git(worktree, "stash", "-q")
        return Declined()

    run = implement(repository, step)
    assert (run.rescued, run.discarded) == (None, ())
    assert content(repository, "theirs", "limits.toml") == RAISED
    assert content(repository, "stash@{0}", "limits.toml") == "stashed\n"
    assert leftovers(repository) == []


def test_history_that_somebody_else_has_made_is_not_discarded(repository: Path) -> None:
    """Looking at another branch does not make its commits the step's."""
    git(repository, "checkout", "-q", "-b", "other")
    (repository / "other.txt").write_text("other\n")
    commit_all(repository)
    git(repository, "checkout", "-q", "main")

    def step(worktree: Path) -> Declined:
        git(worktree, "checkout", "-q", "--detach", "other")
        return Declined()

    run = implement(repository, step)
    assert run.discarded == ()


def test_file_memory_of_the_repository_does_not_hinder(repository: Path) -> None:
    """References that point at trees, as the file memory keeps them, are no commits, and are in nobody's way."""

    def step(worktree: Path) -> Declined:
        create = {"command": "create", "path": "/memories/a.md", "text": "a\n"}
        assert current_memory().files.execute(create).ok
        raise_limit(worktree)
        commit_all(worktree)
        return Declined()

    run = implement(repository, step)
    assert (len(run.discarded), run.warnings) == (1, ())
    assert git(repository, "for-each-ref", "refs/oort/memory") != ""


def test_file_that_a_hook_leaves_behind_is_kept(repository: Path) -> None:
    """Work that appears after the commit, through a hook, does not vanish with the work tree of a landed step."""
    add_hook(repository, "post-commit", "echo report > report.txt")
    run = implement(repository, raise_limit)
    assert run.status == "landed"
    assert run.rescued == RESCUE
    assert content(repository, RESCUE, "report.txt") == "report\n"


def test_rescue_needs_nothing_of_the_repositorys_own(repository: Path) -> None:
    """Hooks that refuse everything, signing that fails, no identity and strict line endings do not hinder a rescue."""

    def step(worktree: Path) -> Declined:
        (worktree / "mixed.txt").write_bytes(b"a\r\nb\n")
        for name in ("pre-commit", "commit-msg", "reference-transaction"):
            add_hook(repository, name, 'case "$(cat)" in *rescue*) exit 1;; esac; [ "$1" != commit-msg ]')
        git(repository, "config", "commit.gpgSign", "true")
        git(repository, "config", "gpg.program", "false")
        git(repository, "config", "--unset", "user.name")
        git(repository, "config", "user.useConfigOnly", "true")
        git(repository, "config", "core.autocrlf", "true")
        git(repository, "config", "core.safecrlf", "true")
        return Declined()

    run = implement(repository, step)
    assert (run.rescued, run.warnings) == (RESCUE, ())
    assert "mixed.txt" in files_at(repository, RESCUE)


@pytest.mark.parametrize("how", ["commits", "changes", "no commit yet"])
def test_repository_inside_of_the_work_tree_stays(repository: Path, how: str) -> None:
    """A repository that a step makes in its work tree, with work that is nowhere else, keeps the work tree in place."""

    def step(worktree: Path) -> Declined:
        inner = worktree / "inner"
        if how == "changes":
            git(worktree, "clone", "-q", str(repository), "inner")
            raise_limit(inner)
        else:
            git(worktree, "init", "-q", "inner")
            (inner / "a.txt").write_text("a\n")
        if how == "commits":
            git(inner, "config", "user.name", "Ada")
            git(inner, "config", "user.email", "ada@example.org")
            commit_all(inner)
        raised = Declined()
        raised.path = inner
        return raised

    run = implement(repository, step)
    assert run.status == "declined"
    assert len(run.warnings) == 1
    assert "stays" in run.warnings[0]
    assert run.value.path.is_dir()
    (report,) = prune_worktrees(repository)
    assert (report.removed, report.problem is not None) == (False, True)
    assert run.value.path.is_dir()


def test_clone_inside_of_the_work_tree_may_go(repository: Path) -> None:
    """A clone that holds nothing of its own goes with the work tree."""

    def step(worktree: Path) -> Declined:
        git(worktree, "clone", "-q", str(repository), "inner")
        return Declined()

    assert implement(repository, step).warnings == ()


# ------------------------------------------------------------------------------------------------------------ clean-up


def test_locked_work_tree_is_a_warning(repository: Path) -> None:
    """A work tree that is locked stays, with its branch; the outcome is what it was, and it can be pruned when unlocked."""

    def step(worktree: Path) -> Path:
        raise_limit(worktree)
        git(worktree, "worktree", "lock", str(worktree))
        return worktree

    run = implement(repository, step)
    assert run.status == "landed"
    assert "locked" in run.warnings[0]
    assert run.value.is_dir()
    assert git(repository, "rev-parse", "oort/implement-1") == run.commit
    (report,) = prune_worktrees(repository)
    assert not report.removed
    assert "locked" in str(report.problem)
    git(repository, "worktree", "unlock", str(run.value))
    (report,) = prune_worktrees(repository)
    assert report.removed
    assert leftovers(repository) == []


def test_parent_that_vanishes_is_a_warning(repository: Path) -> None:
    """If the whole repository is removed while a step runs, it ends in an error of ours, not in a riddle."""
    import shutil

    with pytest.raises(IsolationError) as caught:
        implement(repository, lambda: shutil.rmtree(repository))
    assert caught.value.kind == "git_failed"
    assert caught.value.run.warnings


def test_failure_frees_the_queue(repository: Path) -> None:
    """After a step that fails, others are not kept waiting."""
    add_hook(repository, "post-checkout", "exit 1")
    with pytest.raises(IsolationError):
        implement(repository, raise_limit)
    (repository / ".git" / "hooks" / "post-checkout").unlink()
    done: list[str] = []
    thread = threading.Thread(target=lambda: done.append(implement(repository, raise_limit).status))
    thread.start()
    thread.join(60)
    assert done == ["landed"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_interrupted_step_is_cleaned_up(repository: Path, error: type[BaseException]) -> None:
    """What is no Exception passes through as well, after the work has been kept."""

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        raise error

    with pytest.raises(error):
        implement(repository, step)
    assert leftovers(repository) == [RESCUE]


def interrupt_from(repository: Path, monkeypatch: pytest.MonkeyPatch, hook: str, condition: str) -> Path:
    """Let a hook press Ctrl-C, once; return the file that says that it has."""
    pressed = repository / ".git" / "pressed"
    monkeypatch.setenv("TEST_PID", str(os.getpid()))
    press = f'[ -e "{pressed}" ] || {{ touch "{pressed}"; kill -INT "$TEST_PID"; }}'
    add_hook(repository, hook, f"{condition} {press}; exit 0")
    return pressed


def test_interrupt_during_the_merge_waits(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a merge: the merge ends, the record is told, all is cleaned up, and then it comes out."""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    pressed = interrupt_from(repository, monkeypatch, "post-merge", "")
    with pytest.raises(KeyboardInterrupt) as caught:
        implement(repository, raise_limit, record=True)
    assert pressed.exists()
    assert git(repository, "rev-parse", "HEAD") in caught.value.__notes__[0]
    assert git(repository, "log", "-1", "--format=%s").startswith("Merge oort/implement-1")
    assert git(repository, "status", "--porcelain") == ""
    assert leftovers(repository) == []


def test_interrupt_during_clean_up_waits(repository: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a work tree is being removed: the clean-up ends, and then it comes out."""

    def step(worktree: Path) -> Declined:
        raise_limit(worktree)
        interrupt_from(repository, monkeypatch, "reference-transaction", "")
        return Declined()

    with pytest.raises(KeyboardInterrupt) as caught:
        implement(repository, step)
    assert any(RESCUE in note for note in caught.value.__notes__)
    assert leftovers(repository) == [RESCUE]
    assert list(temporary.iterdir()) == []
