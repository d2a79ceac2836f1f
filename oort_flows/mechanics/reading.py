"""
Reading through a port without trusting it.

A port may be anybody's. An answer counts only if it is about the path that was asked for and makes sense in itself;
everything else is trouble with the storage, and reading stops there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar, get_args

from oort_flows.errors import is_retryable
from oort_flows.files.text import replace_surrogates
from oort_flows.models.paths import path_problem
from oort_flows.models.results import EntryKind, ErrorCode, FileError
from oort_flows.ports import FileMemory

__all__ = [
    "Receipt",
    "Refused",
    "SeenDirectory",
    "SeenFile",
    "create",
    "delete",
    "field_of",
    "port_error",
    "receipt_of",
    "storage_error",
    "view",
]

T = TypeVar("T")

_CODES: Final = frozenset(get_args(ErrorCode))
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file as a port showed it."""

    text: str
    digest: str


@dataclass(frozen=True, slots=True)
class SeenDirectory:
    """The kinds of what lies in a directory, by full path."""

    entries: dict[str, EntryKind]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a port says it wrote."""

    digest: str
    evicted: tuple[str, ...]


class Refused(Exception):
    """The port refused, or its answer cannot be trusted; ``error`` says why. Never leaves the package."""

    def __init__(self, error: FileError) -> None:
        super().__init__(error.message)
        self.error = error


class _Malformed(Exception):
    """An answer makes no sense; the text says in which way and never quotes it."""


def view(memory: FileMemory, path: str) -> SeenFile | SeenDirectory:
    """
    View *path*, whole.

    Raises
    ------
    Refused
        With the port's error, or STORAGE_ERROR if it raised (that is the cause) or answered nonsense.
    """
    return _ask(memory, {"command": "view", "path": path}, path, lambda value: _seen(value, path))


def create(memory: FileMemory, path: str, text: str, if_match: str) -> Receipt:
    """
    Write *text* to *path* by one ``create``.

    Raises
    ------
    Refused
        As for :func:`view`.
    """
    command = {"command": "create", "path": path, "text": text, "if_match": if_match}
    return _ask(memory, command, path, lambda value: _receipt(value, path))


def delete(memory: FileMemory, path: str, if_match: str) -> None:
    """
    Delete the file at *path*.

    Raises
    ------
    Refused
        As for :func:`view`.
    """
    _ask(memory, {"command": "delete", "path": path, "if_match": if_match}, path, lambda _: None)


def receipt_of(answer: object, path: str) -> Receipt:
    """Return the receipt in *answer* to a ``create``, or raise :class:`Refused`."""
    return _checked(answer, path, lambda value: _receipt(value, path))


def port_error(code: ErrorCode, message: str, path: str, details: dict[str, str | int | bool] | None = None) -> FileError:
    """Build an error as a port would."""
    return FileError(code=code, message=message, path=replace_surrogates(path), details=details)


def field_of(holder: object, name: str) -> Any:
    """Return the entry of a mapping or the attribute of an object; a marker object of our own where there is none."""
    return holder.get(name, _MISSING) if isinstance(holder, Mapping) else getattr(holder, name, _MISSING)


def _ask(memory: FileMemory, command: dict[str, str], path: str, read: Callable[[Any], T]) -> T:
    try:
        answer = memory.execute(command)
    except Exception as error:
        raise Refused(storage_error(error, path)) from error
    return _checked(answer, path, read)


def storage_error(error: Exception, path: str) -> FileError:
    """Say that the port raised, which it never should; what it said may hold anything and is not repeated."""
    message = f"the port raised {type(error).__name__}"
    return port_error("STORAGE_ERROR", message, path, {"retryable": is_retryable(error)})


def _checked(answer: object, path: str, read: Callable[[Any], T]) -> T:
    """Return what *read* makes of the value of *answer*."""
    try:
        ok = field_of(answer, "ok")
        if ok is True:
            return read(field_of(answer, "value"))
        if ok is not False:
            raise _Malformed("it does not say whether it is a success")
        refusal = _error(field_of(answer, "error"), path)
    except _Malformed as problem:
        error = port_error("STORAGE_ERROR", f"the port's answer cannot be trusted: {problem}", path, {"retryable": False})
        raise Refused(error) from None
    except Exception as raised:
        raise Refused(storage_error(raised, path)) from raised
    raise Refused(refusal)


def _seen(value: object, path: str) -> SeenFile | SeenDirectory:
    found = field_of(value, "kind")
    if found not in get_args(EntryKind):
        raise _Malformed("it is of no known kind")
    if field_of(value, "path") != path or path_problem(path) is not None:
        raise _Malformed("it is about another path")
    if found == "directory":
        return SeenDirectory(_entries(field_of(value, "entries"), path))
    return SeenFile(_text(field_of(value, "text"), "its text"), _digest(value))


def _entries(entries: object, parent: str) -> dict[str, EntryKind]:
    if not isinstance(entries, (list, tuple)):
        raise _Malformed("its entries are no list")
    read: dict[str, EntryKind] = {}
    for entry in entries:
        name, path = (_text(field_of(entry, field), "an entry") for field in ("name", "path"))
        kind = field_of(entry, "kind")
        if kind not in get_args(EntryKind):
            raise _Malformed("an entry is of no known kind")
        if "/" in name or path != f"{parent}/{name}" or path_problem(path) is not None:
            raise _Malformed("an entry lies outside of its directory")
        if path in read:
            raise _Malformed("an entry stands there twice")
        read[path] = kind
    return read


def _receipt(value: object, path: str) -> Receipt:
    evicted = field_of(value, "evicted")
    if field_of(value, "path") != path:
        raise _Malformed("it is about another path")
    if not isinstance(evicted, (list, tuple)):
        raise _Malformed("it does not say what was evicted")
    return Receipt(_digest(value), tuple(_text(gone, "an evicted path") for gone in evicted))


def _digest(value: object) -> str:
    digest = _text(field_of(value, "digest"), "its digest")
    if not _DIGEST.fullmatch(digest):
        raise _Malformed("its digest is none")
    return digest


def _error(error: object, path: str) -> FileError:
    code, message, about, details = (field_of(error, name) for name in ("code", "message", "path", "details"))
    if not isinstance(code, str) or code not in _CODES or not isinstance(message, str):
        raise _Malformed("its error is none")
    if code == "NOT_FOUND" and isinstance(about, str) and about != path:
        raise _Malformed("it is about another path")
    known: ErrorCode = code  # type: ignore[assignment]
    where = replace_surrogates(about) if isinstance(about, str) else None
    extras = dict(details) if isinstance(details, Mapping) else None
    return FileError(code=known, message=replace_surrogates(message), path=where, details=extras)


def _text(value: object, what: str) -> str:
    """Return *value* if it is well-formed text."""
    if not isinstance(value, str):
        raise _Malformed(f"{what} is no text")
    text = str.__str__(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _Malformed(f"{what} holds half a surrogate pair") from None
    return text
