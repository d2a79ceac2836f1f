"""From a line to the commit that made it, its reason, and the run that made the commit."""

from __future__ import annotations

import os
import re
from pathlib import Path

from oort_flows.errors import ConfigurationError, InvalidInputError, NotFoundError
from oort_flows.git import GitCommandError, run_git
from oort_flows.models.runs import Reason
from oort_flows.worktrees.parents import common_directory, folder_of

__all__ = ["why"]

_FIELDS = ("H", "an", "cI", "s", "b")
_TRAILERS = ("Oort-Flow-Run", "Oort-Task-Run", "Oort-Scope", "Oort-Recalled")
_OURS = re.compile(rf"^(?:{'|'.join(_TRAILERS)}):", re.IGNORECASE)


def why(repository: str | os.PathLike[str], path: str | os.PathLike[str], line: int) -> Reason:
    """
    Tell why a line is the way it is: find the commit that made it, and read the reason and the run in its message.

    Parameters
    ----------
    repository:
        Any folder in the repository, or a bare one (then the line is that of HEAD).
    path:
        The file, relative to *repository* or absolute.
    line:
        Number of the line in the file as it is now, from 1.

    Raises
    ------
    InvalidInputError
        If *line* is no positive integer, or *path* no path.
    NotFoundError
        If git does not know the file, it has fewer lines, or the line is not committed yet.
    ConfigurationError
        If there is no repository.
    """
    if isinstance(line, bool) or not isinstance(line, int) or line < 1:
        raise InvalidInputError("line", "must be a positive integer")
    if not isinstance(path, (str, os.PathLike)) or "\0" in os.fsdecode(path):
        raise InvalidInputError("path", "must be the path of a file: a string or a Path")
    folder = folder_of(repository)
    if common_directory(folder) is None:
        raise ConfigurationError("repository must be a folder inside of a Git repository")
    sha = _blame(folder, os.fsdecode(path), line)
    return _read(folder, os.fsdecode(path), line, sha)


def _blame(folder: Path, path: str, line: int) -> str:
    try:
        revision = [] if run_git(folder, "rev-parse", "--is-inside-work-tree") == "true" else ["HEAD"]
        found = run_git(folder, "blame", "--porcelain", "-L", f"{line},{line}", *revision, "--", path)
    except GitCommandError:
        raise NotFoundError("git finds no such line: check path and line") from None
    sha = found.split(" ", 1)[0]
    if set(sha) == {"0"}:
        raise NotFoundError("the line is not committed yet")
    return sha


def _read(folder: Path, path: str, line: int, sha: str) -> Reason:
    fields = [f"%{name}" for name in _FIELDS]
    fields += [f"%(trailers:key={name},valueonly,unfold,separator=%x20)" for name in _TRAILERS]
    shown = run_git(
        folder,
        "-c", "i18n.logOutputEncoding=UTF-8",
        "log", "-1", "--no-show-signature", "--no-notes", "--no-color", f"--format=tformat:{'%x00'.join(fields)}", sha,
    )  # fmt: skip
    commit, author, committed_at, subject, body, *values = shown.split("\0")
    flow_run, task_run, scope, recalled = (value.strip() or None for value in values)
    return Reason(
        path=path,
        line=line,
        commit=commit,
        author=author,
        committed_at=committed_at,
        subject=subject,
        body=_without_trailers(body),
        flow_run=flow_run,
        task_run=task_run,
        scope=scope,
        recalled=tuple(name.strip() for name in (recalled or "").split(",") if name.strip()),
    )


def _without_trailers(body: str) -> str:
    """Drop our trailers from the last paragraph; what others have put there stays."""
    head, gap, last = body.rstrip("\n").rpartition("\n\n")
    kept = "\n".join(line for line in last.split("\n") if not _OURS.match(line))
    return (head + gap + kept).rstrip("\n")
