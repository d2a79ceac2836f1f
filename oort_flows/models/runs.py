"""What came of a step that ran in a work tree of its own."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

__all__ = ["Discarded", "IsolatedRun", "PrunedWorktree", "Reason", "RunStatus"]

RunStatus = Literal["landed", "unchanged", "in_place", "declined", "failed"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class Discarded(_Value):
    """Commits of a step that did not land: the branch that is gone, its last commit, and where that is kept."""

    branch: str
    sha: str
    rescue: str


class IsolatedRun(_Value):
    """
    What came of a step that ran in a work tree of its own.

    Attributes
    ----------
    status:
        ``landed``: its changes are merged. ``unchanged``: it changed nothing. ``in_place``: there was no Git work tree, so
        it ran where it was called. ``declined``: it returned a state that says so, nothing landed. ``failed``: see the
        error.
    value:
        What the step returned.
    summary:
        What the step says of itself in a line: the first line of a text it returned, or the message of a declining state.
    branch:
        The branch it ran on, ``oort/<slug>-<n>``.
    commit, merge:
        Full ids of its commit and of the merge commit, where there are any.
    message:
        The message of ``commit``, where this run composed one.
    discarded:
        Commits that did not land, each under a rescue reference.
    rescued:
        The reference that keeps uncommitted work, where there was some.
    kept_branch:
        The branch that was kept because the step raised after committing.
    warnings:
        What went wrong while cleaning up, or that the step ran in place; none of it changes the outcome.
    """

    status: RunStatus
    value: Any = None
    summary: str | None = None
    branch: str | None = None
    commit: str | None = None
    merge: str | None = None
    message: str | None = None
    discarded: tuple[Discarded, ...] = ()
    rescued: str | None = None
    kept_branch: str | None = None
    warnings: tuple[str, ...] = ()


class PrunedWorktree(_Value):
    """An orphaned work tree: where it was, its branch, what was rescued from it, and whether it is gone now."""

    path: str
    branch: str | None = None
    rescued: str | None = None
    discarded: tuple[Discarded, ...] = ()
    removed: bool = False
    problem: str | None = None


class Reason(_Value):
    """Why a line is the way it is: the commit that blame finds, its message, and the run that made it."""

    path: str
    line: int
    commit: str
    author: str
    committed_at: str
    subject: str
    body: str
    flow_run: str | None = None
    task_run: str | None = None
    scope: str | None = None
    recalled: tuple[str, ...] = ()
