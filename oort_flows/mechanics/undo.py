"""
Taking a fold back, for flows whose transaction fails later.

A memory that can undo does it as one swap, evicted files included, and keeps a journal entry until the flow has ended.
Through any other memory the target alone is put back, by a write that holds only if nobody has written since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from oort_flows.errors import StorageError, StorageUnavailableError
from oort_flows.mechanics.consolidating import fold_into
from oort_flows.mechanics.reading import Receipt, Refused, create, delete, receipt_of, storage_error
from oort_flows.models.mechanics import Consolidated, Source
from oort_flows.models.undo import StoredFile, Undo, UndoReport
from oort_flows.ports import FileMemory, SupportsUndo

__all__ = ["consolidate_undoable", "settle_write", "undo_write"]


def consolidate_undoable(
    memory: FileMemory,
    target: str,
    sources: Iterable[str | Source],
    fold: Callable[..., Any],
    *,
    operation: str,
    **settings: Any,
) -> tuple[Consolidated, Undo | None]:
    """
    Do what :func:`~oort_flows.mechanics.consolidate` does, and tell what it takes to undo it.

    Parameters
    ----------
    operation:
        Name of the operation (letters, digits and hyphens), under which a journal is kept.
    settings:
        The keyword arguments of :func:`~oort_flows.mechanics.consolidate`.

    Returns
    -------
    The answer, and the undo (``None`` where the memory says that it changed nothing). End it by :func:`undo_write` or
    :func:`settle_write`. Where the memory cannot undo, the former bytes of evicted files are not known; the undo then holds
    their paths with empty bodies, only to report them.
    """
    undos: list[Undo] = []

    def write(memory: FileMemory, path: str, text: str, if_match: str) -> Receipt:
        if not isinstance(memory, SupportsUndo):
            return create(memory, path, text, if_match)
        command = {"command": "create", "path": path, "text": text, "if_match": if_match}
        try:
            answer, undo = memory.execute_undoable(command, operation=operation)
        except Exception as raised:
            raise Refused(storage_error(raised, path)) from raised
        if undo is not None:
            undos.append(undo)
        return receipt_of(answer, path)

    written = fold_into(memory, target, sources, fold, settings, write)
    consolidated = written.consolidated
    if isinstance(memory, SupportsUndo):
        return consolidated, undos[0] if undos else None
    before = None if written.prior is None else StoredFile(consolidated.target, written.prior.encode(), 0)
    evicted = tuple(StoredFile(path, b"", 0) for path in consolidated.evicted)
    return consolidated, Undo(operation, consolidated.target, consolidated.digest, before, evicted)


def undo_write(memory: FileMemory, undo: Undo) -> UndoReport:
    """
    Put back what a fold replaced, as far as nobody has written since.

    Returns
    -------
    The paths that were put back and those that were left alone; where the memory cannot undo, evicted files are among these.

    Raises
    ------
    StorageError
        If the memory cannot be read or written; :class:`StorageUnavailableError` where trying again may help.
    """
    if isinstance(memory, SupportsUndo):
        return memory.undo(undo)
    evicted = tuple(file.path for file in undo.evicted)
    try:
        if undo.before is None:
            delete(memory, undo.path, undo.digest)
        else:
            create(memory, undo.path, undo.before.body.decode(), undo.digest)
    except Refused as refused:
        error = refused.error
        if error.code == "NOT_FOUND" or (error.code == "CONFLICT" and not error.retryable):
            return UndoReport(undo.operation, (), (undo.path, *evicted))
        trouble = StorageUnavailableError if error.retryable else StorageError
        raise trouble(f"undoing the write to {undo.path} failed: {error.message}") from refused.__cause__
    return UndoReport(undo.operation, (undo.path,), evicted)


def settle_write(memory: FileMemory, undo: Undo) -> None:
    """Forget how to undo a fold whose flow has committed; nothing happens where no journal is kept."""
    if isinstance(memory, SupportsUndo):
        memory.settle(undo.operation)
