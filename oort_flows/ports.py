"""
The protocols of the package: what a file memory is, and which abilities one may have beyond that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from oort_flows.models.undo import JournalEntry, Undo, UndoReport

if TYPE_CHECKING:
    from oort_flows.models.results import Result

__all__ = ["FileMemory", "OpensFileMemory", "Record", "RunContext", "SupportsScopes", "SupportsUndo"]


@runtime_checkable
class FileMemory(Protocol):
    r"""
    Text files below ``/memories``, reached by six commands.

    A command is one of the models of :mod:`oort_flows.files` or a plain mapping with a ``command`` key, in our spelling,
    in camelCase, or in that of Anthropic's memory tool. The answer says ``ok``, and carries a ``value`` or an ``error``
    with one of fifteen codes and, for some of them, ``details``:

    ==================  =========================================================================================
    situation           details
    ==================  =========================================================================================
    path too long       ``max_bytes``
    range outside       ``total_lines``
    slot past the end   ``max_insert_line``
    file too big        ``byte_length``, ``max_file_bytes``, ``max_total_bytes``
    CONFLICT            ``reason``: ``if_match``, ``into_itself`` or ``contention``; with ``if_match`` on a file
                        also ``digest``, its current one
    STORAGE_ERROR       ``retryable``
    ==================  =========================================================================================

    Example
    -------
    >>> from oort_flows.files import InProcessFileMemory
    >>> memory = InProcessFileMemory("docs")
    >>> memory.execute({"command": "create", "path": "/memories/a.md", "text": "one\n"}).ok
    True
    >>> memory.execute({"command": "view", "path": "/memories/a.md"}).value.text
    'one\n'
    """

    @property
    def scope(self) -> str:
        """The name under which this memory is kept apart from all others in the same place."""
        ...

    def execute(self, command: object) -> Result:
        """Carry out *command*. Never raises an ``Exception``, whatever it is given; may be called from any thread."""
        ...

    async def aexecute(self, command: object) -> Result:
        """
        Answer as :meth:`execute` does; the work runs in a thread.

        Cancelling it never tears a write: it has happened completely or not at all.
        """
        ...


@runtime_checkable
class SupportsUndo(Protocol):
    """The ability to take back a write as one swap, and to remember it until its flow has ended."""

    def execute_undoable(self, command: object, *, operation: str) -> tuple[Result, Undo | None]:
        """
        Carry out *command* and tell what it replaced.

        The undo is ``None`` where nothing was written, and for ``delete`` and ``rename``. A memory that outlives its process
        notes it in a journal under *operation* (letters, digits and hyphens) before it writes.
        """
        ...

    def undo(self, undo: Undo) -> UndoReport:
        """
        Put back what a write replaced, as far as nobody has written since, and remove its journal entry.

        Raises
        ------
        StorageError
            If the memory cannot be read or written; the journal entry stays.
        """
        ...

    def settle(self, operation: str) -> None:
        """Remove the journal entry of an operation whose flow has committed; nothing happens if there is none."""
        ...

    def journal(self) -> list[JournalEntry]:
        """List the writes of this scope that were neither settled nor undone, oldest first."""
        ...


@runtime_checkable
class SupportsScopes(Protocol):
    """The ability of a memory, or of a block that opens one, to name every scope that has a memory in its place."""

    def scopes(self) -> list[str]:
        """
        List the scopes, sorted.

        Raises
        ------
        ConfigurationError, StorageError
            If the place is unusable or cannot be read.
        """
        ...


@runtime_checkable
class OpensFileMemory(Protocol):
    """The ability of a block, or of anything like it, to open a file memory for a scope."""

    def open(self, scope: str) -> FileMemory:
        """
        Open the memory of *scope*.

        Raises
        ------
        ConfigurationError
            If the place is unusable.
        """
        ...


class Record(Protocol):
    """Where a step says why it does what it does."""

    def note(self, text: str) -> None:
        """Keep a remark of the step for the message of its commit."""
        ...

    def observe(self, event: object) -> None:
        """Keep a piece of streamed text or thinking; events of other types are ignored."""
        ...


class RunContext(Protocol):
    """What an orchestrator tells of the run that this code is part of; ``None`` outside of a run."""

    def root_flow_name(self) -> str | None:
        """Name of the flow at the root of this run."""
        ...

    def root_flow_run_id(self) -> str | None:
        """Id of the run at the root; the same in a retry, in tasks and in subflows."""
        ...

    def flow_run_id(self) -> str | None:
        """Id of the innermost flow run."""
        ...

    def task_run_id(self) -> str | None:
        """Id of the task run, inside a task."""
        ...
