"""
What an adapter loads before a command is judged, and what it has to change afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["EMPTY_SNAPSHOT", "Changes", "Entry", "Snapshot", "nothing_to_read"]


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a stored file without reading it: its size, and the stamp of its last write."""

    byte_length: int
    written: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """
    One consistent state of a scope.

    Parameters
    ----------
    entries:
        Every file, by path.
    last_write:
        The last stamp used. It only ever grows, also over deletes.
    total_bytes:
        The sum of all ``byte_length``.
    read:
        Fetches the bytes of a file of this state, whatever has been stored since.
    """

    entries: Mapping[str, Entry]
    last_write: int
    total_bytes: int
    read: Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class Changes:
    """
    The state after a command, told as a difference to the snapshot that the command was judged on.

    Parameters
    ----------
    entries, last_write, total_bytes:
        The new state, whole.
    bodies:
        New contents, by path.
    moved:
        New path to old path: contents that only change their place.
    removed:
        Paths that hold nothing any more, old paths of moves and evicted files included.
    evicted:
        Those of ``removed`` that had to make room, in the order they went.
    """

    entries: Mapping[str, Entry]
    last_write: int
    total_bytes: int
    bodies: Mapping[str, bytes] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    evicted: tuple[str, ...] = ()


def nothing_to_read(path: str) -> bytes:
    """Stand in as ``read`` of a state without files."""
    raise KeyError(path)


EMPTY_SNAPSHOT = Snapshot(MappingProxyType({}), 0, 0, nothing_to_read)
