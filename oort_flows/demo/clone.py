"""
Where the demo works: a clone that is kept between runs, one for each repository; or, on request, the repository itself.

The user's repository is only ever read, through ``git fetch``; none of its objects is shared or linked.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout
from platformdirs import user_data_path

from oort_flows.demo.commits import KEEPER_EMAIL, clean
from oort_flows.demo.release_notes import FILE_NAME
from oort_flows.errors import ConfigurationError, ConflictError, IsolationError
from oort_flows.git import GitCommandError, run_git, run_git_bytes
from oort_flows.scrubbing import scrub
from oort_flows.worktrees import prune_worktrees
from oort_flows.worktrees.refusals import missing_identity

__all__ = ["BRANCH", "Workplace", "workplace"]

BRANCH: Final = "oort/demo"

_HEAD: Final = f"refs/heads/{BRANCH}"
_SOURCE: Final = "refs/remotes/source/HEAD"
_SETTINGS: Final = {
    "user.name": "oort demo",
    "user.email": KEEPER_EMAIL,
    # What people configure for their own commits, such as a key that asks for a passphrase, is not for this clone.
    "commit.gpgSign": "false",
    "core.hooksPath": os.devnull,
    "filter.lfs.process": "",
    "filter.lfs.smudge": "",
    "filter.lfs.clean": "",
    "filter.lfs.required": "false",
}


@dataclass(frozen=True, slots=True)
class Workplace:
    """
    Where the pipeline works.

    Attributes
    ----------
    source:
        The top of the user's repository.
    path:
        The repository that the notes land in: the kept clone, or *source* itself.
    branch:
        The branch that they land on.
    remarks:
        What was unusual about bringing the clone up to date.
    new:
        Whether the clone was just made.
    """

    source: Path
    path: Path
    branch: str
    remarks: tuple[str, ...] = ()
    new: bool = False


@contextmanager
def workplace(repository: Path, *, land: bool = False, data_folder: Path | None = None) -> Iterator[Workplace]:
    """
    Find or make the place to work in, and keep other runs on the same repository out of it.

    Parameters
    ----------
    repository:
        Any folder of a repository, bare ones included.
    land:
        Work in the repository itself instead of in a clone of it.
    data_folder:
        Where clones are kept; left out, ``oort`` in the user's data folder.

    Raises
    ------
    ConfigurationError
        If there is no usable repository, or the data folder cannot be written.
    ConflictError
        While another run works on the same repository.
    IsolationError
        If notes are to land and git knows no name to commit under; its kind is ``no_identity``.
    """
    source = _top_of(repository)
    home = (user_data_path("oort") if data_folder is None else data_folder) / "demo"
    name = _kept_name(source)
    lock = FileLock(home / f"{name}.lock")
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise ConflictError("another demo works on this repository at the moment; run this again when it is done") from None
    except OSError:
        raise ConfigurationError("the user's data folder cannot be written; set XDG_DATA_HOME to one that can") from None
    try:
        yield _in_place(source) if land else _kept_clone(source, home / name)
    finally:
        lock.release()


# ---------------------------------------------------------------------------------------------------------- the source


def _top_of(repository: Path) -> Path:
    """Find the top of the work tree that *repository* lies in, or the folder of a bare repository."""
    if not repository.is_dir():
        why = "is a file, not a folder" if repository.exists() else "does not exist"
        raise ConfigurationError(
            f"repository {clean(os.fspath(repository))} {why}; stand in a Git repository, or name one with --repository PATH"
        )
    try:
        inside = run_git(repository, "rev-parse", "--is-inside-work-tree") == "true"
        top = run_git(repository, "rev-parse", "--show-toplevel" if inside else "--absolute-git-dir")
        object_format = run_git(repository, "rev-parse", "--show-object-format")
    except GitCommandError as error:
        raise _unusable(error, repository) from None
    if object_format != "sha1":
        raise ConfigurationError(f"repository keeps its objects as {object_format.upper()}; only SHA-1 repositories work")
    try:
        run_git(repository, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except GitCommandError:
        raise ConfigurationError("repository has no commit yet; make one, then run this again") from None
    return Path(top).resolve()


def _unusable(error: GitCommandError, repository: Path) -> ConfigurationError:
    if "dubious ownership" in error.stderr:
        return ConfigurationError(
            "repository belongs to somebody else, so git refuses it; if you trust it, run: "
            f"git config --global --add safe.directory {_quoted(repository.resolve())}"
        )
    if "not a git repository" in error.stderr:
        return ConfigurationError("repository is no Git repository; stand in one, or name one with --repository PATH")
    return ConfigurationError(f"git cannot read the repository: {_last_line(error)}")


def _in_place(source: Path) -> Workplace:
    """Check that there is a branch to land on, and somebody to commit as."""
    if run_git(source, "rev-parse", "--is-inside-work-tree") != "true":
        raise ConfigurationError("repository is bare, so there is no branch checked out to land on; leave --land out")
    try:
        branch = run_git(source, "symbolic-ref", "--quiet", "--short", "HEAD")
    except GitCommandError:
        raise ConfigurationError("no branch is checked out to land on; run git switch first, or leave --land out") from None
    nobody = missing_identity(source)
    if nobody is not None:  # told before anything is started, rather than when the work is done
        raise IsolationError(nobody.kind, nobody.message)
    return Workplace(source, source, branch)


# ----------------------------------------------------------------------------------------------------------- the clone


def _kept_name(source: Path) -> str:
    named = source.parent.name if source.name == ".git" else source.name.removesuffix(".git")
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", named).strip("-.")[:40] or "repository"
    return f"{slug}-{hashlib.sha256(os.fsencode(source)).hexdigest()[:10]}"


def _kept_clone(source: Path, clone: Path) -> Workplace:
    """Bring the clone up to date with the source, making it first if need be."""
    try:
        new = not clone.exists()
        if new:
            _make(source, clone)
        remarks = (*_left_behind(clone), *_update(source, clone))
    except GitCommandError as error:
        raise ConfigurationError(
            f"git {error.command} failed on the clone that this works in: {_last_line(error)}. If nothing in it is dear to "
            f"you, remove {_quoted(clone)} and run this again"
        ) from None
    return Workplace(source, clone, BRANCH, remarks, new)


def _make(source: Path, clone: Path) -> None:
    """Make the clone beside its place and move it there when it is whole, so that half a clone is never found."""
    partial = clone.with_name(clone.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    run_git(clone.parent, "init", "--quiet", "--template=", "--", str(partial))
    run_git(partial, "symbolic-ref", "HEAD", _HEAD)
    for name, value in _SETTINGS.items():
        run_git(partial, "config", name, value)
    run_git(partial, "reset", "--quiet", "--hard", _fetch(source, partial))
    partial.rename(clone)


def _left_behind(clone: Path) -> Iterator[str]:
    """Clear away the work trees of runs that were killed, and say where their work is kept."""
    for orphan in prune_worktrees(clone):
        if orphan.rescued is not None:
            yield f"An earlier run was cut off; its unfinished work is kept at {orphan.rescued}."


def _update(source: Path, clone: Path) -> tuple[str, ...]:
    """Merge what the source's HEAD has by now; local edits in the clone that are in the way make git refuse."""
    theirs = _fetch(source, clone)
    if run_git(clone, "rev-parse", "--symbolic-full-name", "HEAD") != _HEAD:
        run_git(clone, "checkout", "--quiet", BRANCH)
    ours = run_git(clone, "rev-parse", "HEAD")
    if _is_ancestor(clone, theirs, ours):
        return ()
    if _is_ancestor(clone, ours, theirs):
        run_git(clone, "merge", "--quiet", "--ff-only", theirs)
        return ()
    merged, remarks = _merge(clone, ours, theirs)
    run_git(clone, "merge", "--quiet", "--ff-only", merged)
    return remarks


def _fetch(source: Path, clone: Path) -> str:
    """Fetch the commit that the source's HEAD names; a shallow source makes the clone shallow, never the other way round."""
    options = ("--quiet", "--update-shallow", "--no-recurse-submodules", "--no-write-fetch-head")
    try:
        run_git(clone, "-c", "protocol.file.allow=always", "fetch", *options, "--", str(source), f"+HEAD:{_SOURCE}")
    except GitCommandError as error:
        raise ConfigurationError(f"git cannot fetch from the repository: {_last_line(error)}") from None
    return run_git(clone, "rev-parse", "--verify", f"{_SOURCE}^{{commit}}")


def _merge(clone: Path, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    """
    Make the merge commit of *theirs* into *ours* without a chance to conflict.

    All that the branch has of its own is the release notes. So the tree is the source's, with the notes as they come out of
    a merge in which both sides keep their lines.
    """
    notes, remarks = _merged_notes(clone, ours, theirs)
    tree = run_git(clone, "rev-parse", f"{theirs}^{{tree}}")
    if notes is not None:
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
            run_git(clone, "read-tree", tree, environment=index)
            run_git(clone, "update-index", "--add", "--cacheinfo", f"100644,{notes},{FILE_NAME}", environment=index)
            tree = run_git(clone, "write-tree", environment=index)
    message = "Merge what is new in the source"
    return run_git(clone, "commit-tree", tree, "-p", ours, "-p", theirs, "-m", message), remarks


def _merged_notes(clone: Path, ours: str, theirs: str) -> tuple[str | None, tuple[str, ...]]:
    """Give the blob of the notes after the merge, ``None`` for the source's own; and a remark where both had changed."""
    try:
        base = run_git(clone, "merge-base", ours, theirs)
    except GitCommandError:
        base = ""
    blobs = [_blob(clone, commit) if commit else None for commit in (ours, base, theirs)]
    mine, before, new = blobs
    if mine is None or mine in (new, before):
        return None, ()
    if new is None:
        kind = run_git(clone, "ls-tree", theirs, "--", FILE_NAME)
        if not kind:
            return mine, ()
        return None, (f"{FILE_NAME} is a link or a folder in the source now, which was taken over.",)
    if new == before:
        return mine, ()
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("ours", "base", "theirs")]
        for name, blob in zip(names, blobs, strict=True):
            Path(name).write_bytes(b"" if blob is None else run_git_bytes(clone, "cat-file", "blob", blob))
        try:
            run_git(clone, "merge-file", "--union", "--quiet", *names)
        except GitCommandError:
            return None, (f"{FILE_NAME} is no text in the source; it was taken over as it is.",)
        merged = run_git(clone, "hash-object", "-w", "--no-filters", "--", names[0])
    return merged, (f"{FILE_NAME} has changed in the source too; what either side wrote was kept.",)


def _blob(clone: Path, commit: str) -> str | None:
    """Give the blob of the notes in *commit*; ``None`` where they are missing or no plain file."""
    mode, _, rest = run_git(clone, "ls-tree", commit, "--", FILE_NAME).partition(" ")
    return rest.split()[1] if mode in ("100644", "100755") else None


def _is_ancestor(clone: Path, ancestor: str, of: str) -> bool:
    try:
        run_git(clone, "merge-base", "--is-ancestor", ancestor, of)
    except GitCommandError:
        return False
    return True


def _last_line(error: GitCommandError) -> str:
    lines = [line.strip() for line in error.stderr.split("\n") if line.strip()]
    return scrub(lines[-1].removeprefix("fatal: ").removeprefix("error: ")) if lines else f"exit code {error.returncode}"


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
