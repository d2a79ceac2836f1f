"""
From whatever a caller hands in to a request that can be judged, or to the failure that answers it.

Everything that can be known without looking at storage is decided here, so a bad path is reported as such even where
storage is broken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from oort_flows.files.text import replace_surrogates
from oort_flows.models.commands import Create, Delete, Insert, Rename, StrReplace, View
from oort_flows.models.paths import ALLOWED_EXTENSIONS, MAX_PATH_BYTES, ROOT, extension, path_problem
from oort_flows.models.results import ErrorCode, Failure, FileError

__all__ = ["ABSENT", "COMMAND_NAMES", "Refusal", "Request", "parse"]

ABSENT: Final = "absent"
"""Value of ``if_match`` by which a ``create`` asks that nothing be at its path."""

_MODELS = (View, Create, StrReplace, Insert, Delete, Rename)
_DIGEST = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)
_MISSING: Final = object()

# Each field with the names it may arrive under: ours, camelCase, Anthropic's memory tool. The leftmost that is there wins.
_IF_MATCH = ("if_match", "ifMatch")
_SPELLINGS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "view": {"path": ("path",), "view_range": ("view_range", "viewRange")},
    "create": {"path": ("path",), "text": ("text", "file_text"), "if_match": _IF_MATCH},
    "str_replace": {
        "path": ("path",),
        "old_text": ("old_text", "oldText", "old_str"),
        "new_text": ("new_text", "newText", "new_str"),
        "if_match": _IF_MATCH,
    },
    "insert": {
        "path": ("path",),
        "insert_line": ("insert_line", "insertLine"),
        "text": ("text", "insert_text"),
        "if_match": _IF_MATCH,
    },
    "delete": {"path": ("path",), "if_match": _IF_MATCH},
    "rename": {"old_path": ("old_path", "oldPath"), "new_path": ("new_path", "newPath"), "if_match": _IF_MATCH},
}
_OPTIONAL: Final = frozenset({"view_range", "if_match"})

COMMAND_NAMES: Final = tuple(_SPELLINGS)


class Refusal(Exception):
    """Ends the judging of a command with one of the fifteen codes; never leaves the package."""

    def __init__(
        self, code: ErrorCode, message: str, path: str | None = None, details: dict[str, str | int | bool] | None = None
    ) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.path = path
        self.details = details

    def answer(self, command: str) -> Failure:
        """Build the failure that the caller of *command* gets."""
        path = None if self.path is None else replace_surrogates(self.path)
        error = FileError(code=self.code, message=str(self), path=path, details=self.details)
        return Failure(command=replace_surrogates(command), error=error)


@dataclass(frozen=True, slots=True)
class Request:
    """
    A command whose fields have passed every check that needs no storage.

    ``path`` is the only path, or the old one of a rename. ``body`` is the encoded text of ``create``. ``if_match`` is a
    lower-case digest or :data:`ABSENT`. A ``view_range`` that is no pair of integers is an empty tuple: it is judged after
    NOT_FOUND.
    """

    command: str
    path: str
    new_path: str = ""
    text: str = ""
    body: bytes = b""
    old_text: str = ""
    insert_line: int = 0
    if_match: str | None = None
    view_range: tuple[int, ...] | None = None


def parse(raw: object) -> Request | Failure:
    """
    Turn *raw* into a request, or into the failure that answers it. Never raises an ``Exception``.

    >>> parse({"command": "view", "path": "/memories"}).path
    '/memories'
    >>> parse({"command": "view", "path": "/etc/passwd"}).error.code
    'INVALID_PATH'
    """
    name = "unknown"
    try:
        fields = _fields(raw)
        supplied = None if fields is None else fields.get("command")
        if isinstance(supplied, str):
            name = str.__str__(supplied)
        if fields is None or name not in _SPELLINGS:
            raise Refusal("INVALID_COMMAND", f"command must be one of {', '.join(COMMAND_NAMES)}")
        return _CHECKS[name](_Fields(name, fields))
    except Refusal as refusal:
        return refusal.answer(name)
    except Exception:  # noqa: BLE001 - the port never raises
        # A mapping or a string of the caller's own making may raise from any of its methods.
        return Refusal("INVALID_COMMAND", "the command could not be read").answer(name)


def _fields(raw: object) -> Mapping[Any, Any] | None:
    if isinstance(raw, _MODELS):
        return raw.__dict__
    return raw if isinstance(raw, Mapping) else None


class _Fields:
    """Reads fields by their first present spelling and checks them in the order the caller of it asks."""

    def __init__(self, command: str, fields: Mapping[Any, Any]) -> None:
        self.command = command
        self._fields = fields
        self._spellings = _SPELLINGS[command]

    def get(self, name: str) -> Any:
        for spelling in self._spellings[name]:
            value = self._fields.get(spelling, _MISSING)
            if value is not _MISSING and not (value is None and name in _OPTIONAL):
                return value
        return None

    def path(self, name: str) -> str:
        value = self.get(name)
        if not isinstance(value, str):
            raise Refusal("INVALID_ARGUMENT", f"{name} must be a string")
        path = str.__str__(value)
        problem = path_problem(path)
        if problem is not None:
            details: dict[str, str | int | bool] | None = {"max_bytes": MAX_PATH_BYTES} if problem.too_long else None
            raise Refusal("INVALID_PATH", f"{name}: {problem.message}", path, details)
        return path

    def text(self, name: str, path: str) -> tuple[str, bytes]:
        value = self.get(name)
        if not isinstance(value, str):
            raise Refusal("INVALID_ARGUMENT", f"{name} must be a string", path)
        text = str.__str__(value)
        try:
            return text, text.encode()
        except UnicodeEncodeError:
            raise Refusal("INVALID_ARGUMENT", f"{name} holds half a surrogate pair", path) from None

    def view_range(self) -> tuple[int, ...] | None:
        value = self.get("view_range")
        if value is None:
            return None
        # A copy, once: the caller may change its list while a lost swap is judged again.
        bounds = tuple(value) if isinstance(value, (list, tuple)) else ()
        if len(bounds) != 2 or any(not isinstance(bound, int) or isinstance(bound, bool) for bound in bounds):
            return ()
        return tuple(int.__int__(bound) for bound in bounds)

    def if_match(self, path: str) -> str | None:
        value = self.get("if_match")
        if value is None:
            return None
        if isinstance(value, str):
            text = str.__str__(value)
            if _DIGEST.fullmatch(text):
                return text.lower()
            if text == ABSENT and self.command == "create":
                return text
        allowed = "64 hex digits or 'absent'" if self.command == "create" else "64 hex digits"
        raise Refusal("INVALID_ARGUMENT", f"if_match must be {allowed}", path)


def _protect_root(*paths: str) -> None:
    if ROOT in paths:
        raise Refusal("ROOT_PROTECTED", f"{ROOT} itself cannot be created, deleted or renamed", ROOT)


def check_extension(path: str) -> None:
    """Refuse a file path whose ending is not one of the allowed ones."""
    if extension(path) not in ALLOWED_EXTENSIONS:
        raise Refusal("INVALID_EXTENSION", f"file names end in {', '.join(sorted(ALLOWED_EXTENSIONS))}", path)


def _check_view(fields: _Fields) -> Request:
    return Request("view", fields.path("path"), view_range=fields.view_range())


def _check_create(fields: _Fields) -> Request:
    path = fields.path("path")
    _protect_root(path)
    text, body = fields.text("text", path)
    if_match = fields.if_match(path)
    check_extension(path)
    return Request("create", path, text=text, body=body, if_match=if_match)


def _check_str_replace(fields: _Fields) -> Request:
    path = fields.path("path")
    old_text, _ = fields.text("old_text", path)
    if not old_text:
        raise Refusal("INVALID_ARGUMENT", "old_text must not be empty", path)
    new_text, _ = fields.text("new_text", path)
    return Request("str_replace", path, old_text=old_text, text=new_text, if_match=fields.if_match(path))


def _check_insert(fields: _Fields) -> Request:
    path = fields.path("path")
    text, _ = fields.text("text", path)
    if_match = fields.if_match(path)
    slot = fields.get("insert_line")
    if not isinstance(slot, int) or isinstance(slot, bool) or int.__int__(slot) < 0:
        raise Refusal("INVALID_RANGE", "insert_line must be an integer from 0 to the number of lines", path)
    return Request("insert", path, text=text, insert_line=int.__int__(slot), if_match=if_match)


def _check_delete(fields: _Fields) -> Request:
    path = fields.path("path")
    _protect_root(path)
    return Request("delete", path, if_match=fields.if_match(path))


def _check_rename(fields: _Fields) -> Request:
    old_path, new_path = fields.path("old_path"), fields.path("new_path")
    _protect_root(old_path, new_path)
    return Request("rename", old_path, new_path, if_match=fields.if_match(old_path))


_CHECKS: Final = {
    "view": _check_view,
    "create": _check_create,
    "str_replace": _check_str_replace,
    "insert": _check_insert,
    "delete": _check_delete,
    "rename": _check_rename,
}
