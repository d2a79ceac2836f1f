"""
A file memory as a plain dictionary: the second opinion that adapters are compared with.

Written from the rules and apart from the engine, and for being obvious, not for being fast.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NoReturn

from oort_flows.models.limits import Limits

__all__ = ["PlainFileMemory"]

_ROOT = "/memories"
_FIRST = frozenset(string.ascii_letters + string.digits)
_OTHERS = _FIRST | set("._-")
_ENDINGS = (".txt", ".md", ".json", ".py", ".yaml", ".yml")


class _Refused(Exception):
    def __init__(self, code: str, path: str | None = None, **details: object) -> None:
        self.error: dict[str, object] = {"code": code}
        if path is not None:
            self.error["path"] = path
        if details:
            self.error["details"] = details


class PlainFileMemory:
    """
    Answers commands in our spelling from a dictionary.

    Attributes
    ----------
    files:
        Path to text, the least recently written first.
    """

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def answer(self, command: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
        """Carry out *command* and return the answer as plain data, without a message."""
        name = command["command"]
        try:
            value = getattr(self, "_" + name)(command, limits)
        except _Refused as refused:
            return {"ok": False, "command": name, "error": refused.error}
        return {"ok": True, "command": name, "value": value}

    # Commands ------------------------------------------------------------------------------------------------------

    def _view(self, command: Mapping[str, Any], _: Limits) -> dict[str, Any]:
        path, wanted = _path(command["path"]), command.get("view_range")
        if path in self.files:
            return self._view_file(path, wanted)
        if path != _ROOT and not self._below(path):
            raise _Refused("NOT_FOUND", path)
        if wanted is not None:
            raise _Refused("INVALID_RANGE", path)
        depth = path.count("/") + 1
        names = {file.split("/")[depth] for file in self._below(path)}
        entries = [
            {"name": name, "path": f"{path}/{name}", "kind": "file" if f"{path}/{name}" in self.files else "directory"}
            for name in sorted(names)
        ]
        return {"kind": "directory", "path": path, "entries": entries}

    def _view_file(self, path: str, wanted: Any) -> dict[str, Any]:
        text = self.files[path]
        lines = _lines(text)
        start, end, shown = min(len(lines), 1), len(lines), text
        if wanted is not None:
            start, end = wanted[0], len(lines) if wanted[1] == -1 else wanted[1]
            if start < 1 or end < start or end > len(lines):
                raise _Refused("INVALID_RANGE", path, total_lines=len(lines))
            ended = end < len(lines) or text[-1] in "\r\n"
            shown = "\n".join(lines[start - 1 : end]) + "\n" * ended
        return {
            "kind": "file",
            "path": path,
            "text": shown,
            "byte_length": len(shown.encode()),
            "lines": {"start": start, "end": end, "total": len(lines)},
            "digest": _digest(text),
        }

    def _create(self, command: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
        path, text = _path(command["path"]), command["text"]
        if path == _ROOT:
            raise _Refused("ROOT_PROTECTED", path)
        _ending(path)
        if self._below(path):
            raise _Refused("PATH_CONFLICT", path)
        self._parents(path)
        self._match(path, command)
        overwritten = path in self.files
        return {**self._write(path, text, limits), "overwritten": overwritten}

    def _str_replace(self, command: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
        path, old, new = _path(command["path"]), command["old_text"], command["new_text"]
        if old == "":
            raise _Refused("INVALID_ARGUMENT", path)
        text = self._editable(path, command)
        before, hit, after = text.partition(old)
        if not hit:
            raise _Refused("MATCH_NOT_FOUND", path)
        if old in after:
            raise _Refused("MATCH_NOT_UNIQUE", path)
        return self._write(path, before + new + after, limits)

    def _insert(self, command: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
        path, slot = _path(command["path"]), command["insert_line"]
        if slot < 0:
            raise _Refused("INVALID_RANGE", path)
        lines = _lines(self._editable(path, command))
        if slot > len(lines):
            raise _Refused("INVALID_RANGE", path, max_insert_line=len(lines))
        lines = lines[:slot] + _lines(command["text"]) + lines[slot:]
        return self._write(path, "\n".join(lines) + "\n", limits)

    def _delete(self, command: Mapping[str, Any], _: Limits) -> dict[str, Any]:
        path = _path(command["path"])
        if path == _ROOT:
            raise _Refused("ROOT_PROTECTED", path)
        kind, gone = self._kind_and_files(path)
        self._match(path, command)
        freed = sum(len(self.files.pop(file).encode()) for file in gone)
        return {"path": path, "kind": kind, "deleted_files": len(gone), "freed_bytes": freed}

    def _rename(self, command: Mapping[str, Any], _: Limits) -> dict[str, Any]:
        old, new = _path(command["old_path"]), _path(command["new_path"])
        if _ROOT in (old, new):
            raise _Refused("ROOT_PROTECTED", _ROOT)
        kind, moving = self._kind_and_files(old)
        self._match(old, command)
        if new in self.files or self._below(new):
            raise _Refused("ALREADY_EXISTS", new)
        if kind == "directory" and new.startswith(old + "/"):
            raise _Refused("CONFLICT", new, reason="into_itself")
        if kind == "file":
            _ending(new)
        self._parents(new)
        targets = {file: new + file.removeprefix(old) for file in moving}
        for target in targets.values():
            _path(target)
        self.files = {targets.get(file, file): text for file, text in self.files.items()}
        return {"old_path": old, "new_path": new, "kind": kind, "moved_files": len(moving)}

    # What they share -----------------------------------------------------------------------------------------------

    def _below(self, path: str) -> list[str]:
        return [file for file in self.files if file.startswith(path + "/")]

    def _kind_and_files(self, path: str) -> tuple[str, list[str]]:
        if path in self.files:
            return "file", [path]
        below = self._below(path)
        if not below:
            raise _Refused("NOT_FOUND", path)
        return "directory", below

    def _parents(self, path: str) -> None:
        for file in self.files:
            if path.startswith(file + "/"):
                raise _Refused("PATH_CONFLICT", file)

    def _match(self, path: str, command: Mapping[str, Any]) -> None:
        wanted = command.get("if_match")
        text = self.files.get(path)
        if wanted is None or wanted == ("absent" if text is None else _digest(text)):
            return
        raise _Refused("CONFLICT", path, reason="if_match", **({} if text is None else {"digest": _digest(text)}))

    def _editable(self, path: str, command: Mapping[str, Any]) -> str:
        if path == _ROOT or self._below(path):
            raise _Refused("PATH_CONFLICT", path)
        if path not in self.files:
            raise _Refused("NOT_FOUND", path)
        self._match(path, command)
        return self.files[path]

    def _write(self, path: str, text: str, limits: Limits) -> dict[str, Any]:
        size = len(text.encode())
        if size > min(limits.max_file_bytes, limits.max_total_bytes):
            bounds = {"max_file_bytes": limits.max_file_bytes, "max_total_bytes": limits.max_total_bytes}
            raise _Refused("LIMIT_EXCEEDED", path, byte_length=size, **bounds)
        self.files.pop(path, None)
        self.files[path] = text
        evicted = []
        while len(self.files) > limits.max_files or self._total() > limits.max_total_bytes:
            oldest = next(iter(self.files))
            del self.files[oldest]
            evicted.append(oldest)
        return {"path": path, "byte_length": size, "digest": _digest(text), "evicted": evicted}

    def _total(self) -> int:
        return sum(len(text.encode()) for text in self.files.values())


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _lines(text: str) -> list[str]:
    pieces = re.split("\r\n|\r|\n", text)
    return pieces if pieces[-1] else pieces[:-1]


def _ending(path: str) -> None:
    if not any(path.endswith(ending) for ending in _ENDINGS):
        raise _Refused("INVALID_EXTENSION", path)


def _path(path: str) -> str:
    def invalid(**details: object) -> NoReturn:
        raise _Refused("INVALID_PATH", "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in path), **details)

    if any("\ud800" <= c <= "\udfff" for c in path):
        invalid()
    if len(path.encode()) > 1_024:
        invalid(max_bytes=1_024)
    first, *segments = path.split("/")[1:] or [""]
    if not path.startswith("/") or first != "memories":
        invalid()
    for segment in segments:
        if not 1 <= len(segment) <= 128 or segment[0] not in _FIRST or not set(segment) <= _OTHERS:
            invalid()
    return path
