"""
Undo of a write, as a pure function: it restores what was replaced only where nobody has written since.
"""

from __future__ import annotations

from oort_flows.files.engine import digest, is_directory
from oort_flows.files.snapshot import Changes, Entry, Snapshot
from oort_flows.models.limits import MAX_COUNT, Limits
from oort_flows.models.paths import ancestors
from oort_flows.models.undo import StoredFile, Undo, UndoReport

__all__ = ["undo_changes"]


def undo_changes(snapshot: Snapshot, undo: Undo, limits: Limits) -> tuple[UndoReport, Changes | None]:
    """
    Decide how *undo* changes *snapshot*.

    The file goes back to its former bytes if it still has the digest that the write left. Evicted files come back, the
    latest written first, where their place is free and they fit; nothing is evicted for them. Stamps are restored too, so
    the order of later evictions is what it was.

    Returns
    -------
    What was restored and what was left alone, and the changes; ``None`` where there is nothing to change.
    """
    entries = dict(snapshot.entries)
    bodies: dict[str, bytes] = {}
    removed: list[str] = []
    restored: list[str] = []
    left: list[str] = []

    if undo.path in entries and digest(snapshot.read(undo.path)) == undo.digest:
        restored.append(undo.path)
        if undo.before is None:
            del entries[undo.path]
            removed.append(undo.path)
        else:
            _put_back(entries, bodies, undo.before)
    else:
        left.append(undo.path)

    for file in sorted(undo.evicted, key=lambda file: file.written, reverse=True):
        if _has_room(entries, file, limits):
            _put_back(entries, bodies, file)
            restored.append(file.path)
        else:
            left.append(file.path)

    report = UndoReport(undo.operation, tuple(restored), tuple(left))
    if not restored:
        return report, None
    total = sum(entry.byte_length for entry in entries.values())
    last_write = min(max(snapshot.last_write + 1, *(entry.written for entry in entries.values()), 0), MAX_COUNT)
    return report, Changes(entries, last_write, total, bodies=bodies, removed=tuple(removed))


def _put_back(entries: dict[str, Entry], bodies: dict[str, bytes], file: StoredFile) -> None:
    entries[file.path] = Entry(len(file.body), file.written)
    bodies[file.path] = file.body


def _has_room(entries: dict[str, Entry], file: StoredFile, limits: Limits) -> bool:
    if file.path in entries or is_directory(entries, file.path) or any(parent in entries for parent in ancestors(file.path)):
        return False
    total = sum(entry.byte_length for entry in entries.values()) + len(file.body)
    return len(entries) < limits.max_files and total <= limits.max_total_bytes
