"""
Storage that cannot be trusted: what is still answered, and that nothing makes it worse.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.ports import FileMemory
from oort_flows.testing.file_contract.commands import ROOT, M, create, delete, insert, rename, str_replace, view
from oort_flows.testing.file_contract.place import FileMemoryPlace

__all__ = ["SpoiledStorageRules"]

FILE = M + "f.md"
BAD = M + "../x.md"

# Everything about a command that can be judged without looking at storage.
JUDGED_UNSEEN: list[tuple[str, dict[str, Any]]] = [
    ("INVALID_COMMAND", {"command": "write"}),
    ("INVALID_ARGUMENT", view(5)),
    ("INVALID_PATH", view(BAD)),
    ("INVALID_PATH", view(M + "x" * 2_000)),
    ("INVALID_PATH", create(BAD, "x")),
    ("ROOT_PROTECTED", create(ROOT, "x")),
    ("INVALID_ARGUMENT", create(FILE, 5)),
    ("INVALID_ARGUMENT", create(FILE, "\ud800")),
    ("INVALID_ARGUMENT", create(FILE, "x", if_match="nonsense")),
    ("INVALID_EXTENSION", create(M + "x.ts", "x")),
    ("INVALID_PATH", str_replace(BAD, "a", "b")),
    ("INVALID_ARGUMENT", str_replace(FILE, "", "x")),
    ("INVALID_ARGUMENT", str_replace(FILE, "x", 5)),
    ("INVALID_ARGUMENT", str_replace(FILE, "x", "y", if_match="absent")),
    ("INVALID_PATH", insert(BAD, 0, "x")),
    ("INVALID_ARGUMENT", insert(FILE, 0, 5)),
    ("INVALID_RANGE", insert(FILE, -1, "x")),
    ("INVALID_RANGE", insert(FILE, "0", "x")),
    ("INVALID_PATH", delete(BAD)),
    ("ROOT_PROTECTED", delete(ROOT)),
    ("INVALID_ARGUMENT", delete(FILE, if_match="absent")),
    ("INVALID_PATH", rename(FILE, BAD)),
    ("ROOT_PROTECTED", rename(FILE, ROOT)),
    ("INVALID_ARGUMENT", rename(FILE, M + "g.md", if_match=5)),
]

NEED_STORAGE: list[dict[str, Any]] = [
    view(ROOT),
    view(FILE),
    view(M + "no.md"),
    view(FILE, view_range="nonsense"),
    create(FILE, "new"),
    create(M + "g.md", "new", if_match="absent"),
    create(FILE, "x" * 100_000),
    str_replace(FILE, "old", "new"),
    insert(FILE, 0, "x"),
    insert(FILE, 99, "x"),
    delete(FILE),
    rename(FILE, M + "g.md"),
    rename(FILE, M + "x.ts"),
]


class SpoiledStorageRules(FileMemoryPlace):
    """For places that can ``spoil`` what they hold; of others these tests are not part."""

    def spoiled_memory(self) -> FileMemory:
        """Open a memory whose stored state has been damaged behind its back."""
        memory = self.memory({FILE: "old"})
        self.spoil(self.scope)
        return memory

    @pytest.mark.parametrize(("code", "command"), JUDGED_UNSEEN)
    def test_spoiled_storage_does_not_hide_what_is_wrong_with_a_command(self, code: str, command: dict[str, Any]) -> None:
        """A bad path or argument is reported before storage is touched."""
        assert self.answer(self.spoiled_memory(), command)["error"]["code"] == code

    @pytest.mark.parametrize("command", NEED_STORAGE)
    def test_spoiled_storage_is_reported_by_every_command_that_needs_it(self, command: dict[str, Any]) -> None:
        """Nothing is concluded from what cannot be read, neither that a file exists nor that it does not."""
        error = self.answer(self.spoiled_memory(), command)["error"]
        assert error["code"] in ("UNSAFE_STORAGE", "STORAGE_ERROR")
        if error["code"] == "STORAGE_ERROR":
            assert error["details"].keys() == {"retryable"}
            assert isinstance(error["details"]["retryable"], bool)
        else:
            assert "details" not in error

    def test_spoiled_storage_of_one_scope_leaves_the_others_working(self) -> None:
        """Damage ends at the scope."""
        self.seed("other", {FILE: "fine"})
        self.spoiled_memory()
        other = self.open_memory("other")
        assert self.succeed(other, view(FILE))["text"] == "fine"
        self.succeed(other, create(FILE, "still fine"))
        assert self.peek("other") == {FILE: b"still fine"}
