"""
The journal: what a write replaced, kept under a reference of its own until its flow has ended.

``refs/oort/journal/v1/<operation>`` points at a tree of ``entry.json`` and the replaced texts, which stay reachable by it.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from oort_flows.errors import StorageCorruptError, StorageError
from oort_flows.files.git.objects import BLOB, TREE, Objects
from oort_flows.files.git.processes import ProcessIdentity, this_process
from oort_flows.files.git.references import References
from oort_flows.files.git.states import GitState
from oort_flows.files.git.trees import Node, decode_tree, encode_tree
from oort_flows.models.undo import JournalEntry, StoredFile, Undo

__all__ = ["JOURNAL_PREFIX", "Journal"]

JOURNAL_PREFIX: Final = "refs/oort/journal/v1"
_ENTRY_NAME: Final = "entry.json"
_BEFORE_NAME: Final = "before"
_MAX_ENTRY_BYTES: Final = 16 * 1024 * 1024
_MAX_TREE_BYTES: Final = 64 * 1024 * 1024
_MAX_TEXT_BYTES: Final = 2**31
_OPERATION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,127}", re.ASCII)

_log = logging.getLogger("oort_flows.files")


class Journal:
    """The journal entries of one scope in one repository."""

    def __init__(self, objects: Objects, references: References, scope: str) -> None:
        self._objects = objects
        self._references = references
        self._scope = scope

    def note(self, undo: Undo, state: GitState) -> None:
        """
        Write an entry for what *undo* would take back; the replaced texts are those that *state* holds already.

        Raises
        ------
        StorageError
            If the operation cannot be a name, or the repository cannot be written.
        """
        children = {_text_name(index): Node(state.blob(file.path), False) for index, file in enumerate(undo.evicted)}
        if undo.before is not None:
            children[_BEFORE_NAME] = Node(state.blob(undo.before.path), False)
        process = this_process()
        document = {
            "format": 1,
            "operation": undo.operation,
            "scope": self._scope,
            "path": undo.path,
            "digest": undo.digest,
            "before": undo.before and _described(undo.before),
            "evicted": [_described(file) for file in undo.evicted],
            "process": asdict(process),
            "started_at": datetime.now(UTC).isoformat(),
        }
        body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
        children[_ENTRY_NAME] = Node(self._objects.write(BLOB, body), False)
        self._references.put(_reference(undo.operation), self._objects.write(TREE, encode_tree(children)))

    def drop(self, operation: str) -> None:
        """Remove the entry of *operation*, if there is one; raises :class:`StorageError` where that fails."""
        name = _reference(operation)
        if self._references.target(name) is not None:
            self._references.remove(name)

    def entries(self) -> list[JournalEntry]:
        """
        List the entries of this scope, oldest first.

        One that cannot be read is left out and logged: its operation can no longer be undone, and the others can.
        """
        found = [self._entry(children, document) for children, document in self._documents()]
        return sorted(found, key=lambda entry: (entry.started_at, entry.undo.operation))

    def operations_left(self) -> dict[str, ProcessIdentity]:
        """Name the operations of this scope whose process is gone, without reading the texts."""
        left: dict[str, ProcessIdentity] = {}
        for _, document in self._documents():
            process = ProcessIdentity(**document["process"])
            if not process.is_alive():
                left[document["operation"]] = process
        return left

    def _documents(self) -> Iterator[tuple[dict[str, Node], dict[str, Any]]]:
        for name in self._references.names(JOURNAL_PREFIX):
            try:
                tree = self._references.target(name)
                if tree is None:
                    continue
                children = decode_tree(self._objects.read(tree, TREE, most=_MAX_TREE_BYTES))
                document = self._document(children, name.rpartition("/")[2])
                if document["scope"] == self._scope:
                    yield children, document
            except (StorageError, KeyError):
                _log.warning("a journal entry cannot be read and is left out", extra={"reference": name})

    def _document(self, children: dict[str, Node], operation: str) -> dict[str, Any]:
        body = self._objects.read(children[_ENTRY_NAME].oid, BLOB, most=_MAX_ENTRY_BYTES)
        try:
            document: dict[str, Any] = json.loads(body)
            identity = ProcessIdentity(**document["process"])
            texts = [*([document["before"]] if document["before"] else []), *document["evicted"]]
            sound = (
                document["format"] == 1
                and document["operation"] == operation
                and all(isinstance(document[key], str) for key in ("scope", "path", "digest", "started_at"))
                and isinstance(identity.host, str)
                and type(identity.pid) is int
                and all(isinstance(text["path"], str) and type(text["written"]) is int for text in texts)
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            sound = False
        if not sound:
            raise StorageCorruptError("a journal entry is damaged")
        return document

    def _entry(self, children: dict[str, Node], document: dict[str, Any]) -> JournalEntry:
        process = ProcessIdentity(**document["process"])
        before = document["before"]
        undo = Undo(
            operation=document["operation"],
            path=document["path"],
            digest=document["digest"],
            before=before and self._text(children, _BEFORE_NAME, before),
            evicted=tuple(self._text(children, _text_name(i), text) for i, text in enumerate(document["evicted"])),
        )
        return JournalEntry(undo, self._scope, process.host, process.pid, document["started_at"], process.is_alive())

    def _text(self, children: dict[str, Node], name: str, described: dict[str, Any]) -> StoredFile:
        body = self._objects.read(children[name].oid, BLOB, most=_MAX_TEXT_BYTES)
        return StoredFile(described["path"], body, described["written"])


def _reference(operation: str) -> str:
    if not isinstance(operation, str) or not _OPERATION.fullmatch(operation):
        raise StorageError("operation must be 1 to 128 letters, digits and hyphens, and not begin with a hyphen")
    return f"{JOURNAL_PREFIX}/{operation}"


def _described(file: StoredFile) -> dict[str, Any]:
    return {"path": file.path, "written": file.written}


def _text_name(index: int) -> str:
    return f"evicted-{index}"
