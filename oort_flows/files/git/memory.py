"""
A file memory in a git repository: one reference to a tree for each scope, and not a commit in sight.
"""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oort_flows.errors import StorageCorruptError, StorageError, is_retryable
from oort_flows.files.adapter import SwappingFileMemory
from oort_flows.files.git.journal import Journal
from oort_flows.files.git.metadata import scope_digest, scope_of
from oort_flows.files.git.objects import BLOB, Objects
from oort_flows.files.git.packing import OBJECTS_BEFORE_COMPACT, Compaction, compact
from oort_flows.files.git.references import References
from oort_flows.files.git.repository import Repository, locate
from oort_flows.files.git.states import NOTHING, GitState, StateCache, metadata_of, read_state, write_state
from oort_flows.files.snapshot import Changes, Snapshot
from oort_flows.models.limits import Limits
from oort_flows.models.undo import JournalEntry, Undo

if TYPE_CHECKING:
    from oort_flows.files.parsing import Request
    from oort_flows.models.results import Result, Value

__all__ = ["GitFileMemory", "list_scopes"]

MEMORY_PREFIX: Final = "refs/oort/memory/v1"
_MOST_FILES_REMEMBERED: Final = 20_000
_READS_BEFORE_BELIEVING: Final = 3

_log = logging.getLogger("oort_flows.files")
_states = StateCache(_MOST_FILES_REMEMBERED)
_reported: set[tuple[int, str, str]] = set()


class GitFileMemory(SwappingFileMemory[GitState]):
    """
    A file memory inside a git repository, beside its branches and out of their way.

    Everything of a scope hangs on one reference, ``refs/oort/memory/v1/<sha256 of the scope>``, that points straight at a
    tree: no commits, no branch, and HEAD, index, work tree and ``git status`` never change. Linked work trees share one
    memory. It travels with ``git clone --mirror``; a plain clone leaves it behind. Deletion is not erasure: old texts stay
    in the repository until git collects them, and mirrors, bundles and backups copy them in clear text.

    Parameters
    ----------
    repository:
        The top of a work tree, any directory inside it, a linked work tree, or a bare repository; one without commits will
        do. It must be of the SHA-1 object format and one that git does not refuse as somebody else's. No ``GIT_*``
        variable is asked, no hook runs, nothing is fetched.
    scope:
        Name of the memory: a string, not blank, without control characters.
    limits:
        Bounds of what writes through this handle leave behind.
    durable:
        Flush every write to disk before it is answered. Without it a write survives a killed process, but perhaps not a
        power cut.

    Attributes
    ----------
    repository:
        Path of the common git directory.
    reference:
        Full name of the reference.

    Raises
    ------
    ConfigurationError
        If repository, scope or limits are unusable; the message says what to do.

    Notes
    -----
    Writes whose flow neither committed nor rolled back are reported, once in each process, when a scope is opened whose
    journal still holds them and whose writer is gone; see :meth:`journal`.

    Example
    -------
    >>> import pygit2, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = pygit2.init_repository(folder.name)
    >>> memory = GitFileMemory(folder.name, "project:docs")
    >>> memory.execute({"command": "create", "path": "/memories/a.md", "text": "kept"}).ok
    True
    >>> GitFileMemory(folder.name, "project:docs").execute({"command": "view", "path": "/memories/a.md"}).value.text
    'kept'
    >>> folder.cleanup()
    """

    def __init__(self, repository: str | Path, scope: str, limits: Limits | None = None, *, durable: bool = False) -> None:
        super().__init__(scope, limits)
        self.repository = locate(repository)
        self.reference = f"{MEMORY_PREFIX}/{scope_digest(self._scope)}"
        opened = Repository(self.repository)
        self._objects = Objects(f"{self.repository}/objects", opened.packs, durable=durable)
        self._references = References(opened, durable=durable)
        self._journal = Journal(self._objects, self._references, self._scope)
        self._compacts = True
        self._compacted_at = 0
        self._turn = (os.getpid(), threading.Lock())
        self._report_leftovers()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.repository!r}, {self._scope!r})"

    def journal(self) -> list[JournalEntry]:
        """
        List the writes of this scope that were neither settled nor undone, oldest first.

        Entries that cannot be read are left out and logged.
        """
        return self._journal.entries()

    def compact(self) -> Compaction:
        """
        Pack the loose objects that writes have left behind, and delete nothing.

        A process does so by itself after some thousand new objects; a nightly may call it too. It needs git 2.37 or newer,
        and works beside readers and writers.

        Raises
        ------
        ConfigurationError
            If there is no such git.
        StorageUnavailableError
            If git or somebody else is collecting in the repository at this moment.
        StorageError
            If git fails; nothing has changed then.
        """
        return compact(self.repository)

    def scopes(self) -> list[str]:
        """List the scopes that have a memory in this repository, sorted; see :func:`list_scopes`."""
        return list_scopes(self.repository)

    # What the base asks for ----------------------------------------------------------------------------------------

    def _perform(self, request: Request, operation: str | None) -> tuple[Value, Undo | None]:
        if request.command == "view":
            return super()._perform(request, operation)
        # Threads of one handle would only lose swaps to each other.
        with self._writers():
            return super()._perform(request, operation)

    def _execute(self, command: object, operation: str | None) -> tuple[Result, Undo | None]:
        done = super()._execute(command, operation)
        if self._compacts and self._objects.written - self._compacted_at >= OBJECTS_BEFORE_COMPACT:
            self._compact_quietly()
        return done

    def _writers(self) -> threading.Lock:
        pid, lock = self._turn
        if pid != os.getpid():
            lock = threading.Lock()
            self._turn = (os.getpid(), lock)
        return lock

    def _load(self) -> GitState:
        for _ in range(_READS_BEFORE_BELIEVING):
            tree = self._references.target(self.reference)
            if tree is None:
                return NOTHING
            known = _states.get(self.repository, self.reference)
            if known is not None and known.tree == tree:
                return known
            try:
                state = read_state(self._objects, self._scope, tree, known)
            except StorageCorruptError as error:
                # A tree that was replaced meanwhile may have been collected already; only the current one counts.
                if self._references.target(self.reference) == tree:
                    raise
                damage = error
            else:
                _states.put(self.repository, self.reference, state)
                return state
        raise damage

    def _snapshot(self, state: GitState) -> Snapshot:
        def read(path: str) -> bytes:
            size = state.entries[path].byte_length
            return self._objects.read(state.blob(path), BLOB, most=size, size=size)

        return Snapshot(state.entries, state.last_write, state.total_bytes, read)

    def _swap(self, state: GitState, changes: Changes, undo: Undo | None) -> bool:
        written = write_state(self._objects, self._scope, state, changes)
        tree = written.tree
        assert tree is not None
        if undo is not None:
            self._journal.note(undo, state)
        swapped = False
        try:
            swapped = self._references.swap(self.reference, state.tree, tree)
        finally:
            if undo is not None and not swapped:
                self._forget(undo.operation)
        if swapped:
            _states.put(self.repository, self.reference, written)
        return swapped

    def _drop_journal(self, operation: str) -> None:
        self._journal.drop(operation)

    def _forget(self, operation: str) -> None:
        """Take back a journal entry whose write did not happen; should it stay, its digest fits no file."""
        try:
            self._journal.drop(operation)
        except StorageError:
            _log.debug("a journal entry without its write stays", exc_info=True)

    def _compact_quietly(self) -> None:
        try:
            compact(self.repository)
        except Exception as error:  # noqa: BLE001 - the write has happened
            _log.debug("compacting was put off", exc_info=True)
            # A git that is too old, or an object it cannot read, will be the same the next time.
            self._compacts = is_retryable(error)
        self._compacted_at = self._objects.written

    def _report_leftovers(self) -> None:
        try:
            left = self._journal.operations_left()
        except StorageError:
            # Whoever asks for the journal gets the error; opening a memory must not depend on it.
            return
        for operation, process in left.items():
            key = (os.getpid(), self.repository, operation)
            if key not in _reported:
                _reported.add(key)
                _log.warning(
                    "a write of a flow that neither committed nor rolled back is still in the journal: operation %s, "
                    "process %d on %s; memory.journal() lists it, memory.undo() or memory.settle() ends it",
                    operation,
                    process.pid,
                    process.host,
                )


def list_scopes(repository: str | Path) -> list[str]:
    """
    List the scopes that have a memory in *repository*, sorted.

    Only what the metadata of each says counts; a memory that is too damaged to say, or that stands under the digest of
    another scope, is left out and logged as a warning.

    Raises
    ------
    ConfigurationError
        If there is no usable repository.
    StorageError
        If its references cannot be read.
    """
    opened = Repository(locate(repository))
    objects = Objects(f"{opened.common}/objects", opened.packs)
    references = References(opened)
    scopes: list[str] = []
    for name in references.names(MEMORY_PREFIX):
        try:
            tree = references.target(name)
            if tree is None:
                continue
            scope = scope_of(metadata_of(objects, tree)[0])
            if name != f"{MEMORY_PREFIX}/{scope_digest(scope)}":
                raise StorageCorruptError("the metadata belongs to another scope")
            scopes.append(scope)
        except StorageCorruptError as error:
            _log.warning("a memory that cannot be read is left out: %s", error, extra={"reference": name})
    return sorted(scopes)
