"""
How often memories were recalled.

Kept apart from what is known, and written in batches: a read must not become a write. What is not written yet is lost with
the process; it is a count and no knowledge.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Final

from oort_flows.storage import statements as st
from oort_flows.storage.sessions import Session

__all__ = ["Uses"]

_BATCH: Final = 256


class Uses:
    """The uses that are not written yet; may be shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending: dict[int, tuple[int, int]] = {}

    def add(self, memories: Iterable[int], now: int) -> bool:
        """Count one use of each of *memories*, and tell whether there are enough now to be written."""
        with self._lock:
            for memory in memories:
                self._pending[memory] = (self._pending.get(memory, (0, 0))[0] + 1, now)
            return len(self._pending) >= _BATCH

    def of(self, memory: int) -> tuple[int, int | None]:
        """Return how many uses of *memory* are not written yet, and when the last was."""
        return self._pending.get(memory, (0, None))

    def take(self) -> dict[int, tuple[int, int]]:
        """Return all that is pending, and forget it."""
        with self._lock:
            taken, self._pending = self._pending, {}
            return taken


def write(session: Session, taken: dict[int, tuple[int, int]]) -> None:
    """Write *taken* uses, always in the same order so that two writers cannot wait for each other."""
    rows = [{"memory": memory, "count": count, "at": at} for memory, (count, at) in sorted(taken.items())]
    session.run_many(st.USE, rows)
