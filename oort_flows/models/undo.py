"""What it takes to undo a write to a file memory, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["JournalEntry", "StoredFile", "Undo", "UndoReport"]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as it was: its path, its bytes and the stamp of its last write."""

    path: str
    body: bytes = field(repr=False)
    written: int


@dataclass(frozen=True, slots=True)
class Undo:
    """
    What a write replaced.

    Parameters
    ----------
    operation:
        Name of the operation that wrote; also the name of its journal entry.
    path:
        The path it wrote.
    digest:
        Digest of what it left there. Undo touches the file only while it still has this digest.
    before:
        The file it replaced, or ``None`` where there was none.
    evicted:
        Files that had to make room, in the order they went.
    """

    operation: str
    path: str
    digest: str
    before: StoredFile | None = None
    evicted: tuple[StoredFile, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoReport:
    """
    What an undo did.

    ``restored`` and ``left`` hold paths: brought back to what they were (or removed, where there had been nothing), and
    left alone because somebody else has written since, something stands there now, or there is no room.
    """

    operation: str
    restored: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """
    A write whose flow neither committed nor rolled back.

    ``alive`` tells whether the process that wrote it still runs on this host; then it is work in progress and no leftover.
    """

    undo: Undo
    scope: str
    host: str
    pid: int
    started_at: str
    alive: bool
