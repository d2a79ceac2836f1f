"""
Work trees of isolated steps: made, found again after a crash, and removed.

Each one is entered in a register, ``oort/runs`` in the common git directory, before it exists: a note of what it is, and a
lock that its process holds. So one that was left behind is known from one that is in use, and from the user's own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from oort_flows.errors import ConfigurationError
from oort_flows.git import GitCommandError, run_git
from oort_flows.worktrees.parents import Parent, commit_of, queue
from oort_flows.worktrees.refusals import Refusal, said

__all__ = ["Entry", "Worktree", "add_worktree", "find_admin", "hold", "read_register", "remove_worktree", "slug_of"]

_SLUG_LIMIT = 60  # characters; the branch is also a file name


def slug_of(label: str) -> str:
    """
    Turn a label into a part of a branch's name.

    >>> slug_of("Raise the Limit!"), slug_of("日本")
    ('raise-the-limit', 'step')
    """
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:_SLUG_LIMIT].strip("-") or "step"


@dataclass(frozen=True, slots=True)
class Entry:
    """
    A work tree in the register.

    Attributes
    ----------
    name:
        ``<slug>-<n>``; its branch and its rescue reference are called after it.
    path:
        Where it stands.
    fork:
        The commit it was made from.
    head:
        The commit that HEAD may be at without the step having committed: the fork, or the last nested run that landed in it.
    host, boot:
        The machine, and which start of it, so that a lock nobody holds can be trusted to mean that its process is gone.
    """

    name: str
    path: str
    fork: str
    head: str
    host: str
    boot: str | None

    @property
    def branch(self) -> str:
        """Its branch, without ``refs/heads/``."""
        return f"oort/{self.name}"

    @property
    def rescue(self) -> str:
        """The reference that keeps what would be lost with it."""
        return f"refs/oort/rescue/{self.name}"

    @property
    def is_of_this_machine(self) -> bool:
        """Whether its process ran on this machine, also before a restart of it."""
        return self.host == socket.gethostname() or (self.boot is not None and self.boot == _boot())


def _boot() -> str | None:
    """Return what tells this start of the machine from others; containers on one kernel share it (Linux, random(4))."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None


# -------------------------------------------------------------------------------------------------------- the register


def _register(common: Path) -> Path:
    return common / "oort" / "runs"


def write_entry(common: Path, entry: Entry) -> None:
    """Enter a work tree, or replace what the register says of it."""
    folder = _register(common)
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{entry.name}.json.new"
    draft.write_text(json.dumps(asdict(entry)), encoding="utf-8", errors="surrogateescape")
    os.replace(draft, folder / f"{entry.name}.json")


def read_register(common: Path) -> Iterator[tuple[Path, Entry | None]]:
    """List the register by name; an entry that cannot be read is ``None``."""
    for note in sorted(_register(common).glob("*.json")):
        try:
            fields: dict[str, Any] = json.loads(note.read_text(encoding="utf-8", errors="surrogateescape"))
            yield note, Entry(**{name: fields[name] for name in Entry.__dataclass_fields__})
        except (OSError, ValueError, KeyError, TypeError):
            yield note, None


def entry_at(common: Path, path: Path) -> Entry | None:
    """Find the entry of the work tree that stands at *path*."""
    return next((entry for _, entry in read_register(common) if entry and Path(entry.path) == path), None)


def strike(common: Path, name: str) -> None:
    """Take a work tree that is gone out of the register."""
    for ending in (".json", ".lock"):
        (_register(common) / f"{name}{ending}").unlink(missing_ok=True)


def hold(common: Path, name: str) -> FileLock | None:
    """Take the lock of a work tree; ``None`` if its process holds it. Only while it is one's turn in the repository."""
    _register(common).mkdir(parents=True, exist_ok=True)
    lock = FileLock(_register(common) / f"{name}.lock", thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    return lock


# ------------------------------------------------------------------------------------------------------------- making


@dataclass(slots=True)
class Worktree:
    """A work tree in use by this process."""

    parent: Parent
    entry: Entry
    admin: Path
    lock: FileLock

    @property
    def path(self) -> Path:
        """Where it stands."""
        return Path(self.entry.path)

    def head(self) -> str | None:
        """Return the commit that its HEAD names, or ``None`` if the step has put it on a branch without commits."""
        return commit_of(self.admin, "HEAD")

    def is_intact(self) -> bool:
        """Whether the step has left the folder and its link to the repository, so that git there works on this tree."""
        return _linked_to(self.path) == self.admin

    def expected_head(self) -> str:
        """Return where HEAD is unless the step made commits of its own; nested runs that landed do not count."""
        entry = entry_at(self.parent.common, self.path)
        return entry.head if entry else self.entry.head


def _linked_to(path: Path) -> Path | None:
    try:
        text = (path / ".git").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    target = text.removeprefix("gitdir: ").rstrip("\r\n")
    return (path / target).resolve() if text.startswith("gitdir: ") else None


def add_worktree(parent: Parent, slug: str, fork: str) -> Worktree:
    """
    Make a work tree at *fork*, on a new branch, in the temporary directory.

    git itself makes it, so the repository's own hooks (post-checkout) and filters run.

    Raises
    ------
    Refusal
        ``worktree_failed``; nothing is left of it.
    """
    try:
        with queue(parent.common):
            return _add(parent, slug, fork)
    except OSError as error:
        raise Refusal("worktree_failed", f"the work tree could not be made: {error.strerror}") from error


def _add(parent: Parent, slug: str, fork: str) -> Worktree:
    name = _free_name(parent.common, slug)
    lock = hold(parent.common, name)
    if lock is None:
        raise Refusal("worktree_failed", "the work tree could not be made: its place in the register is taken")
    try:
        path = Path(os.path.realpath(tempfile.mkdtemp(prefix=f"oort-{name}-")))
        entry = Entry(name=name, path=str(path), fork=fork, head=fork, host=socket.gethostname(), boot=_boot())
        try:
            write_entry(parent.common, entry)
            return Worktree(parent, entry, _make(parent, entry), lock)
        except BaseException:
            # No step has run in it yet, so there is nothing to keep.
            if not remove_worktree(parent.common, entry, find_admin(parent.common, path)):
                strike(parent.common, name)
            raise
    except BaseException:
        lock.release()
        raise


def _make(parent: Parent, entry: Entry) -> Path:
    try:
        run_git(parent.top, "worktree", "add", "-q", "-b", entry.branch, entry.path, entry.fork)
    except GitCommandError as error:
        raise Refusal("worktree_failed", f"git could not make the work tree{said(error)}") from error
    admin = _linked_to(Path(entry.path))
    if admin is None:
        raise Refusal("worktree_failed", "git made a work tree without a link to its repository")
    return admin


def _free_name(common: Path, slug: str) -> str:
    listed = run_git(common, "for-each-ref", "--format=%(refname)", "refs/heads/oort", "refs/oort/rescue").splitlines()
    taken = {ref.removeprefix("refs/heads/oort/").removeprefix("refs/oort/rescue/").split("/")[0] for ref in listed}
    taken |= {note.stem for note, _ in read_register(common)}
    n = 1
    while f"{slug}-{n}" in taken:
        n += 1
    return f"{slug}-{n}"


# ----------------------------------------------------------------------------------------------------------- removing


def find_admin(common: Path, path: Path) -> Path | None:
    """Find git's own folder for the work tree at *path*, also when the work tree itself is gone."""
    linked = _linked_to(path)
    if linked is not None and linked.is_dir() and linked.parent == common / "worktrees":
        return linked
    for pointer in (common / "worktrees").glob("*/gitdir"):
        try:
            target = pointer.read_text(encoding="utf-8", errors="surrogateescape").rstrip("\r\n")
        except OSError:
            continue
        if Path(os.path.normpath(pointer.parent / target)).parent == path:
            return pointer.parent
    return None


def remove_worktree(common: Path, entry: Entry, admin: Path | None, *, keep_branch: bool = False) -> list[str]:
    """Remove a work tree and its branch; return what stood in the way."""
    path = Path(entry.path)
    problems: list[str] = []
    if admin is not None:
        _attempt(
            problems, "the work tree", lambda: run_git(common, "worktree", "remove", "--force", str(path), own_group=True)
        )
    if admin is not None and admin.exists():
        return problems
    if path.exists():
        shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        problems.append("the work tree's folder could not be removed")
    else:
        problems = []
    if not keep_branch and commit_of(common, f"refs/heads/{entry.branch}") is not None:
        _attempt(problems, "the branch", lambda: run_git(common, "branch", "-q", "-D", "--", entry.branch, own_group=True))
    return problems


def _attempt(problems: list[str], what: str, act: Callable[[], object]) -> None:
    try:
        act()
    except GitCommandError as error:
        problems.append(f"{what} could not be removed{said(error)}")
    except (OSError, ConfigurationError) as error:
        problems.append(f"{what} could not be removed: {error}")
