"""The repository whose work tree a step's result lands in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from oort_flows.errors import ConfigurationError
from oort_flows.git import GitCommandError, run_git
from oort_flows.worktrees.refusals import Refusal, said

__all__ = ["Parent", "common_directory", "find_parent", "folder_of", "queue", "unfinished"]

_POLL = 0.02  # seconds between two attempts to get the lock

# What git keeps in its directory while an operation waits for the user to go on (git's wt-status.c).
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}


@dataclass(frozen=True, slots=True)
class Parent:
    """
    A work tree: its top folder, its own git directory, and the common one that all work trees of a repository share.
    """

    top: Path
    git_dir: Path
    common: Path

    def head(self) -> str | None:
        """Return the commit that HEAD names, or ``None`` where there is no commit yet."""
        return commit_of(self.git_dir, "HEAD")

    def branch(self) -> str | None:
        """Return the full name of the checked out branch, or ``None`` when HEAD is detached."""
        try:
            return run_git(self.top, "symbolic-ref", "-q", "HEAD")
        except GitCommandError:
            return None


def folder_of(repository: object) -> Path:
    """
    Return the folder that a caller names as *repository*, whether it exists or not.

    Raises
    ------
    ConfigurationError
        If it is no path.
    """
    path = os.fspath(repository) if isinstance(repository, (str, os.PathLike)) else None
    if not isinstance(path, str) or "\0" in path:
        raise ConfigurationError("repository must be the path of a folder: a string or a Path")
    return Path(path)


def commit_of(git_dir: Path, name: str) -> str | None:
    """Return the full id of the commit called *name*, or ``None`` if there is none."""
    try:
        return run_git(git_dir, f"--git-dir={git_dir}", "rev-parse", "-q", "--verify", f"{name}^{{commit}}")
    except GitCommandError:
        return None


def find_parent(directory: Path) -> Parent | None:
    """
    Find the work tree that *directory* lies in; ``None`` where there is none, as in a bare repository.

    Raises
    ------
    Refusal
        ``git_failed`` if there is a repository that git will not use.
    """
    try:
        if run_git(directory, "rev-parse", "--is-inside-work-tree") != "true":
            return None
        # One question at a time: a path may hold a line break.
        top, git_dir, common = (
            run_git(directory, "rev-parse", question)
            for question in ("--show-toplevel", "--absolute-git-dir", "--git-common-dir")
        )
    except GitCommandError as error:
        if "not a git repository" in error.stderr and not _has_dot_git_above(directory):
            return None
        raise Refusal("git_failed", f"git will not use this repository{said(error)}") from error
    return Parent(Path(top), Path(git_dir), (directory / common).resolve())


def common_directory(directory: Path) -> Path | None:
    """Find the git directory that all work trees of a repository share; ``None`` outside of any repository."""
    try:
        return (directory / run_git(directory, "rev-parse", "--git-common-dir")).resolve()
    except (GitCommandError, OSError):
        return None


def _has_dot_git_above(directory: Path) -> bool:
    resolved = directory.resolve()
    return any(os.path.lexists(folder / ".git") for folder in (resolved, *resolved.parents))


def unfinished(git_dir: Path) -> str | None:
    """Name the operation that has been begun in a work tree and not been concluded, such as ``merge``."""
    return next((name for entry, name in _UNFINISHED.items() if (git_dir / entry).exists()), None)


@contextmanager
def queue(common: Path) -> Iterator[None]:
    """
    Wait for our turn in a repository, across threads and processes; a turn ends with its holder, however that ends.
    """
    folder = common / "oort"
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "worktrees.lock", thread_local=False, poll_interval=_POLL):
        yield
