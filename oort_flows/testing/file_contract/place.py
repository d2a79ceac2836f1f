"""
The place a file memory keeps its files in, and the two ways into it: the port, and the back door.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import pytest

from oort_flows.models.limits import Limits
from oort_flows.ports import FileMemory
from oort_flows.testing.file_contract.answers import check_discretion, plain

__all__ = ["FileMemoryPlace", "sha"]


def sha(content: str | bytes) -> str:
    """Return the digest that receipts, views and ``if_match`` speak of."""
    return sha256(content.encode() if isinstance(content, str) else content).hexdigest()


class FileMemoryPlace(ABC):
    """
    One fresh place for each test, and what the tests do there.

    Attributes
    ----------
    supports_undo:
        Whether the memories opened here have the ability :class:`~oort_flows.ports.SupportsUndo`.
    """

    supports_undo: ClassVar[bool] = False
    scope: ClassVar[str] = "contract"

    # What an adapter's author writes -------------------------------------------------------------------------------

    def open_place(self, directory: Path) -> None:  # noqa: B027 - a place in this process needs no set-up
        """Prepare an empty place; *directory* is empty and this place's own. By default nothing happens."""

    def close_place(self) -> None:  # noqa: B027 - most places need no tear-down
        """Let go of what :meth:`open_place` took. By default nothing happens."""

    @abstractmethod
    def open_memory(self, scope: str, limits: Limits | None = None) -> FileMemory:
        """
        Open a memory of *scope* in this place; without *limits* it has the default ones.

        Opened twice, both handles show the same files, whatever the limits of each.
        """

    @abstractmethod
    def seed(self, scope: str, files: Mapping[str, str | bytes]) -> None:
        """
        Let *scope* hold exactly *files* (full path to content), by the back door.

        The order of *files* is the order in which they count as written: the first one would be evicted first.
        """

    @abstractmethod
    def peek(self, scope: str) -> dict[str, bytes]:
        """Return every file of *scope* (full path to bytes), by the back door; empty where nothing is stored."""

    def spoil(self, scope: str) -> None:
        """
        Damage what is stored for *scope*, so that it can no longer be read or trusted, by the back door.

        Optional: tests of damaged storage take part where this is overridden. It is called after ``seed``; ``peek`` is not
        called on a damaged scope.
        """
        raise NotImplementedError

    # What the tests share ------------------------------------------------------------------------------------------

    @pytest.fixture(autouse=True)
    def place(self, tmp_path: Path) -> Iterator[None]:
        """Open a fresh place for the test, and close it afterwards."""
        directory = tmp_path / "place"
        directory.mkdir()
        self.open_place(directory)
        yield
        self.close_place()

    def memory(self, files: Mapping[str, str | bytes] | None = None, limits: Limits | None = None) -> FileMemory:
        """Open a memory that holds *files*, seeded by the back door."""
        if files:
            self.seed(self.scope, files)
        return self.open_memory(self.scope, limits)

    def answer(self, memory: FileMemory, command: object) -> dict[str, Any]:
        """Carry out *command* and return the checked answer as plain data."""
        answer = plain(memory.execute(command))
        if not answer["ok"]:
            check_discretion(answer["error"], command)
        return answer

    def succeed(self, memory: FileMemory, command: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out *command*, which has to succeed, and return its value; the stored bytes have to bear out a receipt."""
        answer = self.answer(memory, command)
        assert answer["ok"], answer
        assert answer["command"] == command["command"]
        value: dict[str, Any] = answer["value"]
        if "evicted" in value:
            stored = self.peek(memory.scope)
            assert value["digest"] == sha(stored[value["path"]])
            assert value["byte_length"] == len(stored[value["path"]])
            assert not set(value["evicted"]) & set(stored)
        return value

    def refuse(
        self,
        memory: FileMemory,
        code: str,
        command: Mapping[Any, Any],
        path: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        """Carry out *command*, which has to be refused with exactly this error, and to leave everything as it was."""
        before = self.peek(memory.scope)
        answer = self.answer(memory, command)
        assert not answer["ok"], answer
        expected = {"code": code, "path": path, "details": details}
        error = {key: value for key, value in answer["error"].items() if key != "message"}
        assert error == {key: value for key, value in expected.items() if value is not None}
        assert answer["command"] == command["command"]
        assert self.peek(memory.scope) == before
