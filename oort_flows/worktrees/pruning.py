"""Removing work trees that were left behind when a process died."""

from __future__ import annotations

import os
from pathlib import Path

from oort_flows.errors import ConfigurationError
from oort_flows.models.runs import PrunedWorktree
from oort_flows.worktrees.parents import commit_of, common_directory, folder_of, queue
from oort_flows.worktrees.rescue import Kept, RescueError, rescue
from oort_flows.worktrees.trees import Entry, find_admin, hold, read_register, remove_worktree, strike

__all__ = ["prune_worktrees"]


def prune_worktrees(repository: str | os.PathLike[str] = ".", *, dry_run: bool = False) -> list[PrunedWorktree]:
    """
    Remove the work trees that isolated steps left behind, after keeping what would be lost with them.

    Only those count that :func:`isolated` made and whose process is gone; the user's own are never touched. One that was
    made on another machine, or in which something cannot be kept elsewhere, stays and is reported. Ignored files, such as
    build output or a ``.env``, are not kept: they go with the work tree.

    What is kept stands under ``refs/oort/rescue/<label>-<n>``; the report names it in ``rescued`` and ``discarded``. In the
    repository, ``git diff HEAD...<ref>`` shows it, ``git merge --squash <ref>`` takes it over,
    ``git checkout <ref> -- <path>`` only some of it, and ``git update-ref -d <ref>`` forgets it.

    Parameters
    ----------
    repository:
        Any folder in the repository, or a bare one.
    dry_run:
        Only report what is there.

    Returns
    -------
    list[PrunedWorktree]
        One for each work tree that was left behind, sorted by branch; its branch is gone with it.

    Raises
    ------
    ConfigurationError
        If there is no repository.
    """
    common = common_directory(folder_of(repository))
    if common is None:
        raise ConfigurationError("repository must be a folder inside of a Git repository")
    found = []
    with queue(common):
        for note, entry in list(read_register(common)):
            lock = hold(common, note.stem)
            if lock is None:
                continue
            try:
                found.append(_unreadable(note) if entry is None else _prune(common, entry, dry_run=dry_run))
            finally:
                lock.release()
    return found


def _unreadable(note: Path) -> PrunedWorktree:
    return PrunedWorktree(
        path=str(note), problem="this note on a work tree cannot be read; see what it is about, then delete it"
    )


def _prune(common: Path, entry: Entry, *, dry_run: bool) -> PrunedWorktree:
    report = PrunedWorktree(path=entry.path, branch=entry.branch)
    if not entry.is_of_this_machine:
        return report.model_copy(update={"problem": "it was made on another machine; prune it there"})
    if dry_run:
        return report
    admin = find_admin(common, Path(entry.path))
    kept = Kept()
    try:
        kept = rescue(common, entry, admin, reached=commit_of(common, "HEAD"))
        problems = remove_worktree(common, entry, admin)
    except RescueError as error:
        problems = [f"not everything in it could be kept elsewhere: {error}"]
    if not problems:
        strike(common, entry.name)
    return report.model_copy(
        update={
            "rescued": kept.rescued,
            "discarded": kept.discarded,
            "removed": not problems,
            "problem": "; ".join(problems) or None,
        }
    )
