"""
What holds for every answer of a file memory, whatever was asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, get_args

from oort_flows.models.results import ErrorCode, Failure, Success

__all__ = ["CODES", "check_discretion", "plain", "plain_camel"]

CODES: Final = frozenset(get_args(ErrorCode))

_VALUE_KEYS: Final[dict[str, list[set[str]]]] = {
    "view": [{"kind", "path", "text", "byte_length", "lines", "digest"}, {"kind", "path", "entries"}],
    "create": [{"path", "byte_length", "digest", "overwritten", "evicted"}],
    "str_replace": [{"path", "byte_length", "digest", "evicted"}],
    "insert": [{"path", "byte_length", "digest", "evicted"}],
    "delete": [{"path", "kind", "deleted_files", "freed_bytes"}],
    "rename": [{"old_path", "new_path", "kind", "moved_files"}],
}
_CONTENT_FIELDS: Final = (
    "text",
    "file_text",
    "insert_text",
    "old_text",
    "oldText",
    "old_str",
    "new_text",
    "newText",
    "new_str",
)
_ABSOLUTE: Final = re.compile(r"(?:^|[\s'\"`(=:])(/[^\s'\"`)]*)")


def plain(result: object) -> dict[str, Any]:
    """Dump *result* as JSON would show it, snake_case, after checking all that every answer owes."""
    if not isinstance(result, (Success, Failure)):
        raise AssertionError(f"an answer is a Success or a Failure, not a {type(result).__name__}")
    dumped = result.model_dump()
    assert not _holds_none(dumped), "absent keys are left out of a dump"
    shown: dict[str, Any] = json.loads(json.dumps(dumped, ensure_ascii=False).encode())
    assert json.loads(result.model_dump_json()) == shown
    assert isinstance(shown["command"], str)
    if shown["ok"]:
        assert set(shown) == {"ok", "command", "value"}
        assert set(shown["value"]) in _VALUE_KEYS[shown["command"]]
    else:
        assert set(shown) == {"ok", "command", "error"}
        _check_error(shown["error"])
    assert plain_camel(result) == _camelise(shown)
    return shown


def plain_camel(result: Success | Failure) -> dict[str, Any]:
    """Dump *result* as JSON would show it, in camelCase."""
    shown: dict[str, Any] = json.loads(json.dumps(result.model_dump(by_alias=True), ensure_ascii=False).encode())
    assert json.loads(result.model_dump_json(by_alias=True)) == shown
    return shown


def check_discretion(error: Mapping[str, Any], command: object) -> None:
    """Assert that *error* repeats no text of *command* and no path of the host."""
    shown = json.dumps(error, ensure_ascii=False)
    asked = command if type(command) is dict else {}
    others = [value for name, value in asked.items() if name not in _CONTENT_FIELDS and type(value) is str]
    for field in _CONTENT_FIELDS:
        content = asked.get(field)
        # Shorter ones occur in ordinary English, and one that stands in a path too may be repeated as that path.
        if type(content) is str and len(content) >= 12 and not any(content in other for other in others):
            assert content not in shown, f"the error repeats {field}"
    supplied = [value for value in asked.values() if type(value) is str]
    for found in _ABSOLUTE.findall(error["message"]):
        known = found.startswith("/memories") or any(found in value for value in supplied)
        assert known, "the message holds an absolute path that the caller did not pass in"


def _check_error(error: Mapping[str, Any]) -> None:
    assert {"code", "message"} <= set(error) <= {"code", "message", "path", "details"}
    assert error["code"] in CODES
    assert isinstance(error["message"], str)
    assert error["message"], "a message says something"
    assert isinstance(error.get("path", ""), str)
    for value in error.get("details", {}).values():
        assert isinstance(value, (str, int, bool))


def _holds_none(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_holds_none(part) for part in value.values())
    if isinstance(value, (list, tuple)):
        return any(_holds_none(part) for part in value)
    return value is None


def _camelise(value: Any) -> Any:
    if isinstance(value, dict):
        return {_camel(key): _camelise(part) for key, part in value.items()}
    return [_camelise(part) for part in value] if isinstance(value, list) else value


def _camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(part.capitalize() for part in rest)
