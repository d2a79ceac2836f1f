"""
What every adapter shares: judge a command on a loaded state, swap the changes in, and start anew when the swap is lost.

The engine and its pydantic models are imported when a memory is opened and not before: they are most of what importing an
adapter would cost.
"""

from __future__ import annotations

import logging
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from oort_flows.errors import ConfigurationError, OortError, StorageCorruptError, StorageUnavailableError, is_retryable
from oort_flows.files.snapshot import Changes, Snapshot
from oort_flows.models.limits import Limits
from oort_flows.models.undo import JournalEntry, StoredFile, Undo, UndoReport

if TYPE_CHECKING:
    from oort_flows.files.parsing import Refusal, Request
    from oort_flows.models.results import Result, Value

__all__ = ["MAX_ATTEMPTS", "SwappingFileMemory", "check_limits", "check_scope"]

MAX_ATTEMPTS: Final = 64
_FIRST_PAUSE_S: Final = 0.005
_LONGEST_PAUSE_S: Final = 0.25

_log = logging.getLogger(__name__)

State = TypeVar("State")
T = TypeVar("T")


def check_scope(scope: object) -> str:
    """
    Return *scope* if it may name a memory.

    Raises
    ------
    ConfigurationError
        If it is no string, blank, holds control characters or half a surrogate pair.
    """
    if not isinstance(scope, str) or not scope.strip():
        raise ConfigurationError("scope must be a string that is not blank")
    try:
        scope.encode()
    except UnicodeEncodeError:
        raise ConfigurationError("scope must not hold half a surrogate pair") from None
    if any(c < " " or c == "\x7f" for c in scope):
        raise ConfigurationError("scope must not hold control characters")
    return str.__str__(scope)


def check_limits(limits: object) -> Limits:
    """Return *limits*, ``None`` meaning the defaults; anything but :class:`Limits` is a ConfigurationError."""
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits):
        raise ConfigurationError("limits must be a Limits(...)")
    return limits


class SwappingFileMemory(ABC, Generic[State]):
    """
    Base of adapters that load a state and swap it for the next one by compare-and-set.

    An adapter says what its *state* is (a tree, a manifest, a dictionary with a version) and writes :meth:`_load`,
    :meth:`_snapshot` and :meth:`_swap`; everything else follows. Adapters whose content outlives the process also write
    the three journal methods.
    """

    def __init__(self, scope: str, limits: Limits | None = None) -> None:
        self._scope = check_scope(scope)
        self._limits = check_limits(limits)
        _import_engine()

    @property
    def scope(self) -> str:
        """The scope this memory was opened for, verbatim."""
        return self._scope

    @property
    def limits(self) -> Limits:
        """The bounds that writes through this handle keep."""
        return self._limits

    # What an adapter writes ----------------------------------------------------------------------------------------

    @abstractmethod
    def _load(self) -> State:
        """
        Read the current state.

        "Nothing stored yet" is concluded only from a positive answer that the reference or object does not exist.

        Raises
        ------
        StorageCorruptError, StorageError
            Answered as UNSAFE_STORAGE and STORAGE_ERROR.
        """

    @abstractmethod
    def _snapshot(self, state: State) -> Snapshot:
        """Show *state* to the engine; reading a file of it may raise what :meth:`_load` raises."""

    @abstractmethod
    def _swap(self, state: State, changes: Changes, undo: Undo | None) -> bool:
        """
        Replace *state* by *changes*.

        Parameters
        ----------
        undo:
            Where given, a journal entry to be written no later than the changes.

        Returns
        -------
        False only if the stored state is really another one by now; all other trouble is raised.
        """

    def _drop_journal(self, operation: str) -> None:
        """Remove a journal entry, if there is one."""

    def journal(self) -> list[JournalEntry]:
        """List the writes of this scope that were neither settled nor undone, oldest first."""
        return []

    # The port ------------------------------------------------------------------------------------------------------

    def execute(self, command: object) -> Result:
        """Carry out *command*; see :class:`~oort_flows.ports.FileMemory`. Never raises an ``Exception``."""
        return self._execute(command, operation=None)[0]

    async def aexecute(self, command: object) -> Result:
        """Answer as :meth:`execute` does, from a thread; cancelling it never tears a write."""
        import asyncio  # with tenacity below a third of the import time of this package, and most processes need neither

        return await asyncio.to_thread(self.execute, command)

    def execute_undoable(self, command: object, *, operation: str) -> tuple[Result, Undo | None]:
        """Carry out *command* and tell what it replaced; see :class:`~oort_flows.ports.SupportsUndo`."""
        return self._execute(command, operation=operation)

    def undo(self, undo: Undo) -> UndoReport:
        """Put back what a write replaced, as far as nobody has written since; see ``SupportsUndo``."""
        from oort_flows.files.undoing import undo_changes

        def attempt() -> UndoReport | None:
            state = self._load()
            report, changes = undo_changes(self._snapshot(state), undo, self._limits)
            return report if changes is None or self._swap(state, changes, None) else None

        report = _until_swapped(attempt)
        if report is None:
            raise StorageUnavailableError("the memory changed faster than the undo could be written")
        self._drop_journal(undo.operation)
        return report

    def settle(self, operation: str) -> None:
        """Remove the journal entry of an operation whose flow has committed."""
        self._drop_journal(operation)

    def _execute(self, command: object, operation: str | None) -> tuple[Result, Undo | None]:
        from oort_flows.files.parsing import Refusal, parse
        from oort_flows.models.results import Failure, Success

        request = parse(command)
        if isinstance(request, Failure):
            return request, None
        try:
            value, undo = self._perform(request, operation)
            return Success(command=request.command, value=value), undo
        except Refusal as refusal:
            return refusal.answer(request.command), None
        except Exception as error:  # noqa: BLE001 - the port never raises
            return _storage_refusal(error, request.path).answer(request.command), None

    def _perform(self, request: Request, operation: str | None) -> tuple[Value, Undo | None]:
        from oort_flows.files.engine import judge
        from oort_flows.files.parsing import Refusal

        def attempt() -> tuple[Value, Undo | None] | None:
            state = self._load()
            snapshot = self._snapshot(state)
            value, changes = judge(snapshot, request, self._limits)
            if changes is None:
                return value, None
            undo = _undo_of(snapshot, changes, operation) if operation and changes.bodies else None
            return (value, undo) if self._swap(state, changes, undo) else None

        done = _until_swapped(attempt)
        if done is None:
            raise Refusal(
                "CONFLICT", "the memory is being changed too fast by others", request.path, {"reason": "contention"}
            )
        return done


def _import_engine() -> None:
    """
    Import whatever a command may need.

    A process forked while another thread imports a module would wait for that module for ever, so none is left to be
    imported by the first command, or by the first swap that is lost.
    """
    import tenacity  # noqa: F401

    from oort_flows.files import engine, undoing  # noqa: F401


def _until_swapped(attempt: Callable[[], T | None]) -> T | None:
    """Run *attempt* until it answers something; ``None`` after :data:`MAX_ATTEMPTS` lost swaps."""
    done = attempt()
    if done is not None:
        return done
    from tenacity import Retrying, retry_if_result, stop_after_attempt, wait_random_exponential

    again = Retrying(
        stop=stop_after_attempt(MAX_ATTEMPTS - 1),
        wait=wait_random_exponential(multiplier=_FIRST_PAUSE_S, max=_LONGEST_PAUSE_S),
        retry=retry_if_result(lambda answer: answer is None),
        retry_error_callback=lambda _: None,
    )
    time.sleep(random.uniform(0, _FIRST_PAUSE_S))
    return again(attempt)


def _undo_of(snapshot: Snapshot, changes: Changes, operation: str) -> Undo:
    from oort_flows.files.engine import digest

    ((path, body),) = changes.bodies.items()

    def stored(path: str) -> StoredFile:
        return StoredFile(path, snapshot.read(path), snapshot.entries[path].written)

    before = stored(path) if path in snapshot.entries else None
    return Undo(operation, path, digest(body), before, tuple(stored(gone) for gone in changes.evicted))


def _storage_refusal(error: Exception, path: str) -> Refusal:
    """Translate what storage raised; only our own messages are repeated, since others may quote paths or contents."""
    from oort_flows.files.parsing import Refusal

    if isinstance(error, StorageCorruptError):
        return Refusal("UNSAFE_STORAGE", str(error), path)
    if isinstance(error, OortError):
        return Refusal("STORAGE_ERROR", str(error), path, {"retryable": error.retryable})
    _log.debug("storage raised", exc_info=error)
    return Refusal("STORAGE_ERROR", f"storage raised {type(error).__name__}", path, {"retryable": is_retryable(error)})
