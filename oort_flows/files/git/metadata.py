"""
The metadata of a memory: which files it holds, how large they are, and in which order they were written.

``format`` 1, ``scope``, ``scope_digest``, ``last_write``, ``total_bytes`` and ``entries`` of ``path``, ``byte_length`` and
``written``, sorted by path, as compact JSON. Keys that nobody knows are read over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from oort_flows.errors import StorageCorruptError, StorageError
from oort_flows.files.snapshot import Entry
from oort_flows.models.limits import MAX_COUNT
from oort_flows.models.paths import ROOT, path_problem

__all__ = ["MAX_METADATA_BYTES", "Metadata", "decode_metadata", "encode_metadata", "scope_digest", "scope_of"]

FORMAT: Final = 1
MAX_METADATA_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the metadata says of a scope."""

    entries: Mapping[str, Entry]
    last_write: int
    total_bytes: int


def scope_digest(scope: str) -> str:
    """Return the lower-case hex SHA-256 of *scope*, by which storage tells scopes apart."""
    return sha256(scope.encode()).hexdigest()


def encode_metadata(scope: str, metadata: Metadata) -> bytes:
    """
    Write *metadata* down.

    Raises
    ------
    StorageError
        If it would be larger than any reader accepts.
    """
    # Paths are plain ASCII without anything that JSON escapes, and this is written with every write.
    rows = ",".join(
        [
            f'{{"path":"{path}","byte_length":{entry.byte_length},"written":{entry.written}}}'
            for path, entry in sorted(metadata.entries.items())
        ]
    )
    body = (
        f'{{"format":{FORMAT},"scope":{json.dumps(scope, ensure_ascii=False)},"scope_digest":"{scope_digest(scope)}",'
        f'"last_write":{metadata.last_write},"total_bytes":{metadata.total_bytes},"entries":[{rows}]}}'
    ).encode()
    if len(body) > MAX_METADATA_BYTES:
        raise StorageError(
            f"the list of files would be larger than {MAX_METADATA_BYTES} bytes: keep fewer files in one scope"
        )
    return body


def decode_metadata(body: bytes, scope: str) -> Metadata:
    """
    Read the metadata of *scope*, and believe nothing of it that does not add up.

    Raises
    ------
    StorageCorruptError
        If it is no UTF-8 or no JSON, of another format or scope, or contradicts itself.
    """
    document = _document(body)
    if document.get("scope") != scope or document.get("scope_digest") != scope_digest(scope):
        raise StorageCorruptError("the metadata belongs to another scope")
    last_write = _count(document, "last_write")
    total_bytes = _count(document, "total_bytes")
    rows = document.get("entries")
    if not isinstance(rows, list):
        raise StorageCorruptError("entries of the metadata is no list")
    entries: dict[str, Entry] = {}
    for row in rows:
        path, entry = _entry(row, last_write)
        if path in entries:
            raise StorageCorruptError("the metadata names a path twice")
        entries[path] = entry
    if sum(entry.byte_length for entry in entries.values()) != total_bytes:
        raise StorageCorruptError("total_bytes of the metadata is not the sum of its entries")
    return Metadata(entries, last_write, total_bytes)


def scope_of(body: bytes) -> str:
    """
    Read only the scope, and check that its digest is the noted one.

    Raises
    ------
    StorageCorruptError
        If there is no such scope in it.
    """
    document = _document(body)
    scope = document.get("scope")
    try:
        if isinstance(scope, str) and document.get("scope_digest") == scope_digest(scope):
            return scope
    except UnicodeEncodeError:
        pass
    raise StorageCorruptError("the metadata does not say which scope it belongs to")


def _document(body: bytes) -> dict[str, Any]:
    try:
        # Some editors put a byte order mark first; it means nothing.
        document = json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise StorageCorruptError("the metadata is not UTF-8") from None
    except (ValueError, RecursionError):
        raise StorageCorruptError("the metadata is not JSON") from None
    if not isinstance(document, dict):
        raise StorageCorruptError("the metadata is no JSON object")
    if document.get("format") != FORMAT or type(document["format"]) is not int:
        raise StorageCorruptError(f"the metadata is not of format {FORMAT}")
    return document


def _count(row: dict[str, Any], key: str) -> int:
    value = row.get(key)
    if type(value) is not int or not 0 <= value <= MAX_COUNT:
        raise StorageCorruptError(f"{key} of the metadata is no count")
    return value


def _entry(row: Any, last_write: int) -> tuple[str, Entry]:
    if not isinstance(row, dict):
        raise StorageCorruptError("an entry of the metadata is no JSON object")
    path = row.get("path")
    if not isinstance(path, str) or path == ROOT or path_problem(path) is not None:
        raise StorageCorruptError("the metadata names an invalid path")
    entry = Entry(_count(row, "byte_length"), _count(row, "written"))
    if entry.written > last_write:
        raise StorageCorruptError("a file was written after the last write that the metadata knows")
    return path, entry
