"""Work trees that a dead process has left behind: found, kept, and removed."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from oort_flows.errors import ConfigurationError
from oort_flows.worktrees import isolated, prune_worktrees
from tests.integration.work_trees import add_hook, content, git, leftovers, raise_limit, state

pytestmark = pytest.mark.usefixtures("temporary")

RESCUE = "refs/oort/rescue/implement-1"
BRANCH = "refs/heads/oort/implement-1"

_STEP = """
import os, subprocess, sys
from oort_flows.worktrees import isolated

def step(worktree):
    (worktree / "limits.toml").write_text("max_retries = 5\\n")
    if "commit" in sys.argv:
        subprocess.run(["git", "commit", "-q", "-a", "-m", "Mine"], cwd=worktree, check=True)
        (worktree / "more.txt").write_text("more\\n")
    print(worktree, flush=True)
    sys.stdin.readline()

os.environ["TEST_PID"] = str(os.getpid())
isolated(step, repository=sys.argv[1], label="implement")()
"""


@contextmanager
def running_step(repository: Path, *how: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process in the middle of a step, and its work tree."""
    command = [sys.executable, "-c", _STEP, str(repository), *how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


def killed_step(repository: Path, *how: str) -> Path:
    """The work tree of a step whose process was killed in the middle of it."""
    with running_step(repository, *how) as (process, worktree):
        process.send_signal(signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL
    assert worktree.is_dir()
    return worktree


def test_killed_step_is_rescued_and_removed(repository: Path, temporary: Path) -> None:
    """After kill -9, work tree and branch remain; pruning keeps commits and files, then removes both."""
    before = state(repository)
    worktree = killed_step(repository, "commit")
    made = git(repository, "rev-parse", BRANCH)
    assert str(worktree) in leftovers(repository)

    (report,) = prune_worktrees(repository)

    assert (report.path, report.branch, report.removed, report.problem) == (str(worktree), "oort/implement-1", True, None)
    assert report.rescued == RESCUE
    assert [(d.branch, d.sha, d.rescue) for d in report.discarded] == [("oort/implement-1", made, RESCUE)]
    assert content(repository, RESCUE, "limits.toml") == "max_retries = 5\n"
    assert content(repository, RESCUE, "more.txt") == "more\n"
    assert git(repository, "rev-parse", f"{RESCUE}^") == made
    assert leftovers(repository) == [RESCUE]
    assert list(temporary.iterdir()) == []
    assert state(repository) == before
    assert prune_worktrees(repository) == []


def test_later_run_leaves_it_alone(repository: Path) -> None:
    """A later run of the same name neither merges nor moves what a killed one has left."""
    worktree = killed_step(repository, "commit")
    made = git(repository, "rev-parse", BRANCH)
    run = isolated(lambda worktree: (worktree / "a.txt").write_text("a"), repository=repository, label="implement")()
    assert (run.status, run.branch) == ("landed", "oort/implement-2")
    assert git(repository, "rev-parse", BRANCH) == made
    assert worktree.is_dir()
    assert not (repository / "more.txt").exists()


def test_dry_run_only_reports(repository: Path) -> None:
    """With dry_run the report names what is there, and nothing changes."""
    worktree = killed_step(repository)
    before = leftovers(repository)
    (report,) = prune_worktrees(repository, dry_run=True)
    assert (report.path, report.branch, report.removed, report.rescued) == (str(worktree), "oort/implement-1", False, None)
    assert leftovers(repository) == before
    assert worktree.is_dir()


def test_running_step_is_not_touched(repository: Path) -> None:
    """A step whose process is alive is neither reported nor removed, and lands."""
    with running_step(repository) as (process, worktree):
        assert prune_worktrees(repository) == []
        assert worktree.is_dir()
        process.communicate("\n", timeout=60)
        assert process.returncode == 0
    assert (repository / "limits.toml").read_text() == "max_retries = 5\n"
    assert leftovers(repository) == []


def test_step_of_this_process_is_not_touched(repository: Path) -> None:
    """A step may prune; its own work tree stays."""

    def step(worktree: Path) -> list:
        raise_limit(worktree)
        return prune_worktrees(repository) + prune_worktrees(worktree)

    run = isolated(step, repository=repository)()
    assert (run.status, run.value) == ("landed", [])


def test_work_trees_of_the_user_are_not_touched(repository: Path, tmp_path: Path) -> None:
    """A work tree that no step has made stays, even on a branch that looks like ours."""
    git(repository, "worktree", "add", "-q", "-b", "oort/mine-1", str(tmp_path / "mine"))
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "gone"))
    shutil.rmtree(tmp_path / "gone")
    before = leftovers(repository)
    assert prune_worktrees(repository) == []
    assert leftovers(repository) == before


def test_work_tree_whose_folder_is_gone(repository: Path) -> None:
    """If the temporary directory was emptied, the commits on the branch are kept, and the rest goes."""
    worktree = killed_step(repository, "commit")
    made = git(repository, "rev-parse", BRANCH)
    shutil.rmtree(worktree)
    (report,) = prune_worktrees(repository)
    assert (report.removed, report.rescued) == (True, None)
    assert git(repository, "rev-parse", RESCUE) == made
    assert leftovers(repository) == [RESCUE]


def test_work_tree_that_git_has_forgotten(repository: Path) -> None:
    """If git has lost its own folder for the work tree, the files in it are kept all the same."""
    worktree = killed_step(repository)
    shutil.rmtree(repository / ".git" / "worktrees")
    (report,) = prune_worktrees(repository)
    assert (report.removed, report.rescued) == (True, RESCUE)
    assert content(repository, RESCUE, "limits.toml") == "max_retries = 5\n"
    assert not worktree.exists()
    assert leftovers(repository) == [RESCUE]


def test_killed_after_landing(repository: Path) -> None:
    """A process that is killed between the merge and the clean-up has landed; nothing needs a rescue."""
    add_hook(repository, "post-merge", 'kill -KILL "$TEST_PID"')
    with running_step(repository) as (process, _):
        process.communicate("\n", timeout=60)
        assert process.returncode == -signal.SIGKILL
    assert (repository / "limits.toml").read_text() == "max_retries = 5\n"
    (report,) = prune_worktrees(repository)
    assert (report.removed, report.rescued, report.discarded) == (True, None, ())
    assert leftovers(repository) == []


def test_killed_while_the_work_tree_was_made(repository: Path) -> None:
    """A process that is killed while git makes the work tree leaves something that can be pruned."""
    add_hook(repository, "post-checkout", 'kill -KILL "$TEST_PID"')
    with running_step(repository) as (process, _):
        assert process.wait(60) == -signal.SIGKILL
    (repository / ".git" / "hooks" / "post-checkout").unlink()
    (report,) = prune_worktrees(repository)
    assert report.removed
    assert leftovers(repository) == []


def test_lock_dies_with_its_holder(repository: Path) -> None:
    """A process that is killed while it has its turn in the repository keeps nobody waiting."""
    test_killed_after_landing(repository)
    (repository / ".git" / "hooks" / "post-merge").unlink()
    assert isolated(lambda worktree: (worktree / "b").write_text("b"), repository=repository)().status == "landed"


def entry_of(repository: Path) -> Path:
    return repository / ".git" / "oort" / "runs" / "implement-1.json"


def test_work_tree_of_another_machine_stays(repository: Path) -> None:
    """Whether a process on another machine lives cannot be known here, so its work tree stays and is reported."""
    worktree = killed_step(repository)
    note = json.loads(entry_of(repository).read_text())
    entry_of(repository).write_text(json.dumps(note | {"host": "elsewhere", "boot": "another"}))
    (report,) = prune_worktrees(repository)
    assert not report.removed
    assert "another machine" in str(report.problem)
    assert worktree.is_dir()


@pytest.mark.parametrize("known", ["host", "boot"])
def test_work_tree_of_this_machine_goes(repository: Path, known: str) -> None:
    """The same host after a restart, and another container on the same kernel, are this machine."""
    killed_step(repository)
    note = json.loads(entry_of(repository).read_text())
    entry_of(repository).write_text(json.dumps(note | {"host": "elsewhere", "boot": "another"} | {known: note[known]}))
    (report,) = prune_worktrees(repository)
    assert report.removed


def test_note_that_cannot_be_read_is_reported(repository: Path) -> None:
    """A damaged note in the register is reported and changes nothing."""
    worktree = killed_step(repository)
    entry_of(repository).write_text("{")
    (report,) = prune_worktrees(repository)
    assert (report.path, report.removed) == (str(entry_of(repository)), False)
    assert worktree.is_dir()


def test_any_place_of_the_repository_will_do(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A linked work tree, a folder inside, and the current directory name the repository too."""
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    killed_step(repository)
    assert len(prune_worktrees(tmp_path / "side", dry_run=True)) == 1
    monkeypatch.chdir(tmp_path / "side")
    assert len(prune_worktrees(dry_run=True)) == 1


@pytest.mark.parametrize("repository", [5, None, b"here", "a\0b"])
def test_repository_that_is_no_path_is_a_configuration_error(repository: object) -> None:
    """What is no path is told by the name of the argument."""
    with pytest.raises(ConfigurationError, match="repository"):
        prune_worktrees(repository)  # type: ignore[arg-type]


def test_no_repository_is_a_configuration_error(tmp_path: Path) -> None:
    """There is nothing to prune where there is no repository."""
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ConfigurationError):
            prune_worktrees(place)
