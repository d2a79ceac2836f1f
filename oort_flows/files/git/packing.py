"""
Packing what writes leave behind, so that a memory does not fill its repository with loose objects.

Git keeps objects that nothing reaches loose for two weeks, and starts its own collection in the user's repository once
there are about 6,700 loose ones. :func:`compact` moves loose objects into a cruft pack, which keeps the age of each, so
git's own rules about them stay in force. It follows no reference: what it costs grows with the loose objects and not with
the repository.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oort_flows.errors import ConfigurationError, StorageError, StorageUnavailableError
from oort_flows.files.git.failures import storage_failure

__all__ = ["OBJECTS_BEFORE_COMPACT", "Compaction", "compact", "count_loose"]

OBJECTS_BEFORE_COMPACT: Final = 6_000
"""
After so many new objects of one process, about 1,500 writes at the top level, it compacts by itself.

Git's own collection starts at 6,700.
"""

_OLDEST_GIT: Final = (2, 37)
_GROWTH: Final = 2
_LOCK_HOURS: Final = 12
_FAN_OUT: Final = re.compile(r"[0-9a-f]{2}")
_OBJECT: Final = re.compile(r"[0-9a-f]{38}")


@dataclass(frozen=True, slots=True)
class Compaction:
    """What :func:`compact` did: loose objects before and after, and how many older cruft packs went into the new one."""

    loose_before: int
    loose_after: int
    packs_merged: int


def compact(common: str) -> Compaction:
    """
    Pack the loose objects of the repository at *common*, and delete nothing.

    Every loose object goes into a cruft pack, unreachable or not; git treats reachable ones there like any others and moves
    them into an ordinary pack with its next collection. Older cruft packs are merged in while they are not much larger than
    what is new, so their number grows with the logarithm of what was written. No hook runs, no configuration of the user or
    the system is read, nothing is fetched, no reflog is touched. Meanwhile git's own ``gc`` is kept waiting by its own lock.

    Raises
    ------
    ConfigurationError
        If there is no git of version 2.37 or newer.
    StorageUnavailableError
        If another collection is at work.
    StorageError
        If git fails, for instance on a damaged object or a full disk; nothing has changed then.
    """
    _check_git(common)
    before = count_loose(common)
    if before == 0:
        return Compaction(0, 0, 0)
    with _collecting(common):
        merged = _pack(common)
        _git(common, "prune-packed", "--quiet")
    return Compaction(before, count_loose(common), merged)


def count_loose(common: str) -> int:
    """Count the loose objects of a repository."""
    return sum(1 for _ in _loose(common))


def _loose(common: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(f"{common}/objects") as directories:
        for directory in directories:
            if _FAN_OUT.fullmatch(directory.name):
                with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(directory.path) as files:
                    yield from (file for file in files if _OBJECT.fullmatch(file.name))


def _pack(common: str) -> int:
    """Write the new pack, then delete the packs that went into it; returns how many these were."""
    directory = f"{common}/objects/pack"
    packs = {name[: -len(".pack")] for name in os.listdir(directory) if name.startswith("pack-") and name.endswith(".pack")}
    aged = [(file.stat().st_mtime_ns, file.path[-41:-39] + file.name) for file in _loose(common)]
    merged = _packs_to_merge(directory, packs, len(aged))
    older = frozenset(merged)
    # A damaged object stops git here; below it is passed over, or stops git for good.
    with contextlib.suppress(StorageError):
        draft = _draft(common, sorted(aged))
        merged |= {draft} - packs
        packs |= {draft}
    listing = "".join(f"{'-' if pack in merged else ''}{pack}.pack\n" for pack in sorted(packs))
    written = _pack_objects(common, "--cruft", feed=listing)
    if not written:
        return 0
    gone = merged - written
    for pack in gone:
        # The index goes first: without it nobody opens the pack any more.
        for ending in (".idx", ".pack", ".rev", ".bitmap", ".mtimes"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{directory}/{pack}{ending}")
    return len(gone & older)


def _draft(common: str, aged: list[tuple[int, str]]) -> str:
    """
    Pack loose objects in the order of their age, so that each text is stored as what changed since the one before it.

    A cruft pack takes them in the order of their names, that is, in none; but it takes over what it finds compressed here.
    """
    feed = "".join(f"{oid} {_ordered_name(place)}\n" for place, (_, oid) in enumerate(aged))
    (draft,) = _pack_objects(common, feed=feed)
    # An object counts as young as the youngest of its copies; so this one must not be younger than any.
    oldest = aged[0][0]
    os.utime(f"{common}/objects/pack/{draft}.pack", ns=(oldest, oldest))
    return draft


def _ordered_name(place: int) -> str:
    """
    Name the object at *place* such that git, which compares neighbours by a hash of their names, keeps the order.

    The hash is a sum of the letters, each a quarter as heavy as the one after it: so digits to the base of four, the lowest
    first, count upwards.
    """
    return "".join("abcd"[place >> shift & 3] for shift in range(0, 24, 2))


def _pack_objects(common: str, *arguments: str, feed: str) -> set[str]:
    base = f"{common}/objects/pack/pack"
    made = _git(common, "pack-objects", *arguments, "--delta-base-offset", "--non-empty", "--quiet", base, feed=feed)
    return {f"pack-{line}" for line in made.split()}


def _packs_to_merge(directory: str, packs: set[str], loose: int) -> set[str]:
    """Choose cruft packs, the smallest first, as long as each is no larger than twice what is to be packed already."""
    index = _multi_pack_index(directory)
    sizes = sorted(
        (os.path.getsize(f"{directory}/{pack}.pack"), _count_in(f"{directory}/{pack}.idx"), pack)
        for pack in packs
        if os.path.exists(f"{directory}/{pack}.mtimes")
        and not any(os.path.exists(f"{directory}/{pack}{ending}") for ending in (".keep", ".promisor"))
        and pack not in index
    )
    chosen: set[str] = set()
    objects = loose
    for _, count, pack in sizes:
        if count > _GROWTH * objects:
            break
        chosen.add(pack)
        objects += count
    return chosen


def _count_in(index: str) -> int:
    """Read the number of objects from a pack index of version 2: the last of its 256 running totals."""
    with open(index, "rb") as file:
        head = file.read(8 + 4 * 256)
    return int.from_bytes(head[-4:], "big")


def _multi_pack_index(directory: str) -> set[str]:
    """Name the packs that a multi-pack index relies on: these must stay."""
    try:
        with (
            open(f"{directory}/multi-pack-index", "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return {match.decode() for match in re.findall(rb"(pack-[0-9a-f]{40})\.(?:idx|pack)\0", data)}
    except FileNotFoundError:
        return set()
    except (OSError, ValueError) as error:
        raise StorageError("the multi-pack index of the repository cannot be read") from error


@contextlib.contextmanager
def _collecting(common: str) -> Iterator[None]:
    """Hold the lock by which git lets one collection run at a time: ``gc.pid``, with process and host in it."""
    path = f"{common}/gc.pid"
    try:
        descriptor = os.open(f"{path}.lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        raise StorageUnavailableError("another collection of the repository is just starting") from None
    except OSError as error:
        raise storage_failure(error) from error
    mine = f"{os.getpid()} {socket.gethostname()}"
    try:
        with os.fdopen(descriptor, "w") as file:
            if _is_collecting(path):
                raise StorageUnavailableError("another collection of the repository is at work")
            file.write(mine)
        os.rename(f"{path}.lock", path)
    except OSError as error:
        raise storage_failure(error) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{path}.lock")
    try:
        yield
    finally:
        with contextlib.suppress(OSError), open(path) as file:
            if file.read() == mine:
                os.unlink(path)


def _is_collecting(path: str) -> bool:
    """Judge a lock as git does: by its age, and where the host is this one, by its process."""
    try:
        with open(path) as file:
            pid, _, host = file.read().strip().partition(" ")
            age_s = time.time() - os.fstat(file.fileno()).st_mtime
    except (OSError, ValueError):
        return False
    if age_s > _LOCK_HOURS * 3_600 or not pid.isdecimal():
        return False
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _check_git(common: str) -> None:
    match = re.search(r"(\d+)\.(\d+)", _git(common, "version"))
    if match is None or (int(match[1]), int(match[2])) < _OLDEST_GIT:
        raise ConfigurationError("compacting needs git 2.37 or newer: older ones know no cruft packs")


def _git(common: str, *arguments: str, feed: str = "") -> str:
    """Run git on the repository, shielded from hooks, from all configuration but the repository's, and from its remotes."""
    from oort_flows.git import GitCommandError, run_git  # brings subprocess along, and few processes compact

    shielded = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
    }
    options = (f"--git-dir={common}", "-c", f"core.hooksPath={os.devnull}", "-c", "gc.auto=0")
    try:
        return run_git(common, *options, *arguments, stdin=feed, environment=shielded)
    except GitCommandError as error:
        raise StorageError(f"git {arguments[0]} failed; `git fsck` in the repository may tell why") from error
    except OSError as error:
        raise storage_failure(error) from error
