"""
The ability to undo: a write is taken back, as far as nobody has written since.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.models.limits import Limits
from oort_flows.models.undo import Undo, UndoReport
from oort_flows.ports import FileMemory, SupportsUndo
from oort_flows.testing.file_contract.answers import plain
from oort_flows.testing.file_contract.commands import ROOT, M, create, delete, insert, rename, str_replace, view
from oort_flows.testing.file_contract.place import FileMemoryPlace

__all__ = ["UndoRules"]

A, B, C = M + "a.md", M + "b.md", M + "c.md"
WRITES = [create(A, "new"), str_replace(A, "a", "new"), insert(A, 0, "new")]


class UndoRules(FileMemoryPlace):
    """For memories that declare ``supports_undo``; of others these tests are not part."""

    def write(self, memory: FileMemory, command: dict[str, Any], operation: str = "op-1") -> Undo:
        """Carry out a write that has to succeed, and return its undo."""
        result, undo = _able(memory).execute_undoable(command, operation=operation)
        assert plain(result)["ok"]
        assert undo is not None
        assert undo.operation == operation
        return undo

    @pytest.mark.parametrize("command", WRITES)
    def test_undo_puts_back_the_text_that_was_there(self, command: dict[str, Any]) -> None:
        """The former bytes return, and nothing else changes."""
        memory = self.memory({A: "a\r\n", B: "b"})
        undo = self.write(memory, command)
        assert self.peek(self.scope)[A] != b"a\r\n"
        assert _able(memory).undo(undo) == UndoReport("op-1", restored=(A,))
        assert self.peek(self.scope) == {A: b"a\r\n", B: b"b"}

    def test_undo_of_a_new_file_removes_it(self) -> None:
        """Where there was nothing, there is nothing again."""
        memory = self.memory({B: "b"})
        undo = self.write(memory, create(M + "d/new.md", "new"))
        assert _able(memory).undo(undo) == UndoReport("op-1", restored=(M + "d/new.md",))
        assert self.peek(self.scope) == {B: b"b"}
        self.refuse(memory, "NOT_FOUND", view(M + "d"), M + "d")

    def test_undo_brings_back_what_was_evicted(self) -> None:
        """In its old place, in its old turn."""
        limits = Limits(max_files=2)
        memory = self.memory({A: "a", B: "b"}, limits)
        undo = self.write(memory, create(C, "c"))
        assert self.peek(self.scope).keys() == {B, C}
        report = _able(memory).undo(undo)
        assert set(report.restored) == {A, C}
        assert report.left == ()
        assert self.peek(self.scope) == {A: b"a", B: b"b"}
        assert self.succeed(memory, create(C, "c"))["evicted"] == [A]

    def test_undo_restores_the_turn_of_the_file_it_puts_back(self) -> None:
        """A write that never was does not count as one."""
        memory = self.memory({A: "a", B: "b"}, Limits(max_files=2))
        _able(memory).undo(self.write(memory, create(A, "new")))
        assert self.succeed(memory, create(C, "c"))["evicted"] == [A]

    @pytest.mark.parametrize("later", [create(A, "later"), delete(A), rename(A, C)])
    def test_undo_leaves_alone_what_somebody_has_changed_since(self, later: dict[str, Any]) -> None:
        """A later write wins over the undo."""
        memory = self.memory({A: "a"})
        undo = self.write(memory, create(A, "new"))
        self.succeed(memory, later)
        before = self.peek(self.scope)
        assert _able(memory).undo(undo) == UndoReport("op-1", left=(A,))
        assert self.peek(self.scope) == before

    def test_undo_leaves_evicted_files_gone_where_their_place_is_taken(self) -> None:
        """What stands there now stays."""
        memory = self.memory({A: "a", B: "b"}, Limits(max_files=2))
        undo = self.write(memory, create(C, "c"))
        self.succeed(memory, create(A + "/x.md", "x"))
        assert A in _able(memory).undo(undo).left
        assert self.peek(self.scope)[A + "/x.md"] == b"x"

    def test_undo_twice_does_nothing_the_second_time(self) -> None:
        """After an undo the file no longer is what the write left there."""
        memory = self.memory({A: "a"})
        undo = self.write(memory, create(A, "new"))
        _able(memory).undo(undo)
        assert _able(memory).undo(undo) == UndoReport("op-1", left=(A,))
        assert self.peek(self.scope) == {A: b"a"}

    @pytest.mark.parametrize(
        "command",
        [delete(A), rename(A, B), view(A), view(ROOT), view(B), create(A, 5), create(M + "x.ts", "x"),
        str_replace(A, "no", "x"),
         {"command": "write"}, None],
    )  # fmt: skip
    def test_undo_is_none_where_no_text_was_written(self, command: Any) -> None:
        """Reads, refusals, deletes and renames have no undo, and are answered as ever."""
        self.seed("ours", {A: "a"})
        memory = self.memory({A: "a"})
        result, undo = _able(memory).execute_undoable(command, operation="op-1")
        assert undo is None
        assert plain(result) == self.answer(self.open_memory("ours"), command)
        assert self.peek(self.scope) == self.peek("ours")
        assert _able(memory).journal() == []

    @pytest.mark.parametrize("command", WRITES)
    def test_undoable_write_is_answered_like_any_other(self, command: dict[str, Any]) -> None:
        """The answer and the stored bytes are those of ``execute``."""
        self.seed("ours", {A: "a"})
        memory = self.memory({A: "a"})
        result, _ = _able(memory).execute_undoable(command, operation="op-1")
        assert plain(result) == self.answer(self.open_memory("ours"), command)
        assert self.peek(self.scope) == self.peek("ours")

    def test_settled_or_undone_operation_leaves_no_journal(self) -> None:
        """A journal names what is still open, and nothing else."""
        memory = self.memory({A: "a"})
        self.write(memory, create(A, "one"), "op-1")
        undo = self.write(memory, create(B, "two"), "op-2")
        assert {entry.undo.operation for entry in _able(memory).journal()} <= {"op-1", "op-2"}
        _able(memory).settle("op-1")
        _able(memory).undo(undo)
        assert _able(memory).journal() == []
        assert self.peek(self.scope) == {A: b"one"}

    def test_settle_of_nothing_does_nothing(self) -> None:
        """An operation that was never journalled may be settled."""
        memory = self.memory({A: "a"})
        _able(memory).settle("op-9")
        assert self.peek(self.scope) == {A: b"a"}


def _able(memory: FileMemory) -> SupportsUndo:
    assert isinstance(memory, SupportsUndo), "supports_undo is declared, and the memory has no such ability"
    return memory
