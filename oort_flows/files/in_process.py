"""A file memory that lives in this process: for tests, notebooks, and steps that need no yesterday."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from oort_flows.files.adapter import SwappingFileMemory
from oort_flows.files.snapshot import EMPTY_SNAPSHOT, Changes, Snapshot
from oort_flows.models.limits import Limits
from oort_flows.models.undo import Undo, UndoReport

if TYPE_CHECKING:
    from oort_flows.files.parsing import Request
    from oort_flows.models.results import Value

__all__ = ["InProcessFileMemory", "open_shared", "shared_scopes"]


class InProcessFileMemory(SwappingFileMemory[Snapshot]):
    """
    A file memory whose state lives in the object itself.

    Parameters
    ----------
    scope:
        Name of the memory: a string, not blank, without control characters.
    limits:
        Bounds; the defaults of :class:`~oort_flows.files.Limits` where left out.

    Raises
    ------
    ConfigurationError
        If scope or limits are unusable.

    Example
    -------
    >>> memory = InProcessFileMemory("notes")
    >>> memory.execute({"command": "create", "path": "/memories/todo.md", "text": "ship it"}).value.overwritten
    False
    """

    def __init__(self, scope: str, limits: Limits | None = None) -> None:
        super().__init__(scope, limits)
        self._state = EMPTY_SNAPSHOT
        self._bodies: dict[str, bytes] = {}
        self._lock = threading.RLock()

    def scopes(self) -> list[str]:
        """List the scopes of this memory: its own."""
        return [self._scope]

    # The lock spans load, judgement and swap: a command is atomic, and no swap is ever lost to another thread.

    def _perform(self, request: Request, operation: str | None) -> tuple[Value, Undo | None]:
        with self._lock:
            return super()._perform(request, operation)

    def undo(self, undo: Undo) -> UndoReport:
        """Put back what a write replaced, as far as nobody has written since; see ``SupportsUndo``."""
        with self._lock:
            return super().undo(undo)

    def _load(self) -> Snapshot:
        return self._state

    def _snapshot(self, state: Snapshot) -> Snapshot:
        return state

    def _swap(self, state: Snapshot, changes: Changes, undo: Undo | None) -> bool:
        bodies = dict(self._bodies)
        moved = {new: bodies[old] for new, old in changes.moved.items()}
        for path in changes.removed:
            del bodies[path]
        bodies |= moved
        bodies |= changes.bodies
        self._bodies = bodies
        self._state = Snapshot(changes.entries, changes.last_write, changes.total_bytes, bodies.__getitem__)
        return True


_shared: dict[tuple[str, str], InProcessFileMemory] = {}
_shared_lock = threading.Lock()


def open_shared(name: str, scope: str) -> InProcessFileMemory:
    """
    Open the memory of *scope* in this process's store called *name*: the same one at every call.

    Raises
    ------
    ConfigurationError
        If the scope is unusable.
    """
    with _shared_lock:
        memory = _shared.get((name, scope))
        if memory is None:
            memory = _shared[name, scope] = InProcessFileMemory(scope)
        return memory


def shared_scopes(name: str) -> list[str]:
    """List the scopes that have been opened in this process's store called *name*, sorted."""
    with _shared_lock:
        return sorted(scope for store, scope in _shared if store == name)
