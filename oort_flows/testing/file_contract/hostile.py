"""
Hostile input: ``execute`` never raises, whatever it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, given, settings

from oort_flows.testing.file_contract.answers import CODES
from oort_flows.testing.file_contract.commands import ROOT, M, create, delete, insert, rename, str_replace, view
from oort_flows.testing.file_contract.place import FileMemoryPlace
from oort_flows.testing.strategies import wild_commands

__all__ = ["HostileInputRules"]

FILE = M + "f.md"


class Trap(Exception):
    """Raised by everything here that ought not to be touched."""


def _spring(*_: object, **__: object) -> NoReturn:
    raise Trap("S3ntinel-7f1c-trap")


class TrapMapping(Mapping[str, Any]):
    """A mapping that names its command and raises at anything else."""

    def __init__(self, **fields: object) -> None:
        self._fields = fields

    def __getitem__(self, key: str) -> Any:
        if key in self._fields:
            return self._fields[key]
        raise Trap

    def __iter__(self) -> Iterator[str]:
        raise Trap

    def __len__(self) -> int:
        raise Trap


class TrapDict(dict[str, Any]):
    """A dictionary all of whose own methods raise."""

    get = __getitem__ = __iter__ = __len__ = __contains__ = keys = items = values = _spring


class TrapString(str):
    """A string all of whose own methods raise."""

    __str__ = __len__ = __contains__ = __getitem__ = __iter__ = __add__ = __format__ = __repr__ = _spring
    __eq__ = __ne__ = __lt__ = encode = startswith = endswith = replace = split = lower = find = isascii = _spring
    __hash__ = str.__hash__


class TrapInteger(int):
    """An integer all of whose own methods raise."""

    __int__ = __index__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __sub__ = __rsub__ = __repr__ = _spring
    __add__ = __radd__ = __bool__ = _spring
    __hash__ = int.__hash__


class TrapList(list[Any]):
    """A list all of whose own methods raise."""

    __iter__ = __len__ = __getitem__ = __eq__ = __repr__ = _spring
    __hash__ = None


class TrapObject:
    """An object that raises at every attribute, ``__class__`` included."""

    __getattribute__ = _spring


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def _loop() -> dict[str, Any]:
    loop: dict[str, Any] = {"command": "create", "path": FILE}
    loop["text"] = loop
    return loop


_DEEP = _nested(50_000)
HOSTILE: list[Callable[[], object]] = [
    TrapMapping,
    lambda: TrapMapping(command="view"),
    lambda: TrapMapping(command="create", path=FILE),
    lambda: TrapMapping(command="write"),
    TrapDict,
    lambda: TrapDict(command="view", path=ROOT),
    TrapObject,
    lambda: {"command": TrapObject()},
    lambda: view(TrapObject()),
    lambda: create(FILE, TrapObject()),
    lambda: create(FILE, "x", if_match=TrapObject()),
    lambda: view(FILE, view_range=TrapObject()),
    lambda: view(FILE, view_range=TrapList([1, 1])),
    lambda: view(FILE, view_range=[TrapObject(), 1]),
    lambda: insert(FILE, TrapObject(), "x"),
    _loop,
    lambda: _DEEP,
    lambda: view(_DEEP),
    lambda: create(FILE, _DEEP),
    lambda: view(FILE, view_range=_DEEP),
    lambda: delete(FILE, if_match=_DEEP),
    lambda: {"command": "x" * 2_000_000},
    lambda: {"command": "\ud800" * 1_000},
    lambda: view("/" * 2_000_000),
    lambda: view("\udfff" * 2_000_000),
    lambda: view(M + "é" * 1_000_000),
    lambda: create(FILE, "x" * 2_000_000),
    lambda: create(FILE, "\U0001f9e0" * 500_000),
    lambda: create(FILE, "x" * 2_000_000 + "\ud800"),
    lambda: str_replace(FILE, "x" * 2_000_000, "y"),
    lambda: str_replace(FILE, "old", "y" * 2_000_000),
    lambda: insert(FILE, 0, "\n" * 2_000_000),
    lambda: delete(FILE, if_match="0" * 2_000_000),
    lambda: insert(FILE, 10**5_000, "x"),
    lambda: view(FILE, view_range=[10**5_000, 10**5_000]),
    lambda: view(FILE, view_range=[-(10**5_000), -1]),
    lambda: rename(float("nan"), float("inf")),
    lambda: rename(FILE, b"\xff\xfe"),
    lambda: rename(FILE, memoryview(b"x")),
    lambda: {float("nan"): "view", None: ROOT, b"command": "view"},
    lambda: (name for name in ["command"]),
    lambda: BaseException("raised"),
    lambda: NotImplemented,
    lambda: ...,
    lambda: complex(1, 1),
    lambda: lambda: None,
]


class HostileInputRules(FileMemoryPlace):
    """Whatever comes in, an answer comes out that can be dumped to JSON."""

    @pytest.mark.parametrize("build", HOSTILE)
    def test_hostile_input_is_refused_with_a_code(self, build: Callable[[], object]) -> None:
        """No exception of anything handed in comes out, nor its message, and nothing is written."""
        memory = self.memory({FILE: "old"})
        answer = self.answer(memory, build())
        assert answer["ok"] is False
        assert answer["error"]["code"] in CODES - {"STORAGE_ERROR", "UNSAFE_STORAGE"}
        assert "S3ntinel" not in str(answer["error"])
        assert self.peek(self.scope) == {FILE: b"old"}

    def test_mapping_that_raises_is_still_named(self) -> None:
        """Where the command could be read, the failure repeats it."""
        memory = self.memory()
        assert self.answer(memory, TrapMapping(command="delete"))["command"] == "delete"
        assert self.answer(memory, TrapMapping())["command"] == "unknown"

    def test_string_of_another_class_is_taken_for_its_characters(self) -> None:
        """A subclass of ``str`` is a string, and none of its own methods is asked."""
        memory = self.memory({FILE: "old text"})
        self.succeed(memory, {"command": "create", "path": M + "g.md", "text": TrapString("text")})
        for command in (
            view(TrapString(FILE)),
            {"command": TrapString("view"), "path": FILE},
            str_replace(TrapString(FILE), TrapString("old"), TrapString("new")),
            insert(FILE, 0, TrapString("line\r\nline")),
            rename(TrapString(M + "g.md"), TrapString(M + "h.md")),
            delete(TrapString(M + "h.md")),
        ):
            assert self.answer(memory, command)["ok"], command["command"]
        assert self.peek(self.scope) == {FILE: b"line\nline\nnew text\n"}
        assert not self.answer(memory, create(FILE, "x", if_match=TrapString("0" * 64)))["ok"]
        assert not self.answer(memory, view(TrapString("/etc/passwd")))["ok"]

    def test_integer_of_another_class_is_taken_for_its_value(self) -> None:
        """A subclass of ``int`` is an integer, and none of its own methods is asked."""
        memory = self.memory({FILE: "a\nb\n"})
        assert self.succeed(memory, view(FILE, view_range=[TrapInteger(2), TrapInteger(2)]))["text"] == "b\n"
        self.succeed(memory, insert(FILE, TrapInteger(1), "x"))
        assert self.peek(self.scope) == {FILE: b"a\nx\nb\n"}
        assert not self.answer(memory, insert(FILE, TrapInteger(-1), "x"))["ok"]

    def test_stored_bytes_that_are_no_text_are_unsafe_and_left_alone(self) -> None:
        """What is no UTF-8 is neither shown in part nor edited; the files beside it are as good as ever."""
        memory = self.memory({FILE: b"one\n\xff\xfe\n", M + "g.md": "g"})
        for command in (view(FILE), view(FILE, view_range=[1, 1]), str_replace(FILE, "one", "1"), insert(FILE, 0, "x")):
            self.refuse(memory, "UNSAFE_STORAGE", command, FILE)
        assert self.succeed(memory, view(M + "g.md"))["text"] == "g"

    def test_command_is_never_changed(self) -> None:
        """What the caller handed in is the caller's."""
        memory = self.memory()
        command = {**create(FILE, "x"), "view_range": [1, 2], "extra": {"a": [1]}}
        before = repr(command)
        self.answer(memory, command)
        assert repr(command) == before

    def test_random_input_is_always_answered(self) -> None:
        """Half-right commands of every kind get one of the codes, or succeed."""
        memory = self.memory({FILE: "one\ntwo\n", M + "d/x.md": "x"})

        @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(wild_commands())
        def check(command: object) -> None:
            self.answer(memory, command)

        check()
