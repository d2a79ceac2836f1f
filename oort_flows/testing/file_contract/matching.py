"""
``if_match``: a write that holds only for what the caller last saw.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.models.limits import Limits
from oort_flows.testing.file_contract.commands import M, create, delete, insert, rename, str_replace, view
from oort_flows.testing.file_contract.place import FileMemoryPlace, sha

__all__ = ["IfMatchRules"]

FILE, OTHER = M + "f.md", M + "g.md"
TEXT = "one\ntwo"
WRITES = {
    "create": create(FILE, "new"),
    "str_replace": str_replace(FILE, "one", "three"),
    "insert": insert(FILE, 0, "zero"),
    "delete": delete(FILE),
    "rename": rename(FILE, M + "h.md"),
}
MISFITS: list[object] = [
    "", "nonsense", "0" * 63, "0" * 65, "g" * 64, " " + "0" * 63, "0" * 64 + "\n", "0x" + "0" * 62, "ABSENT", "Absent",
    "absent ",
    "*", "\u0660" * 64, "０" * 64, "\ud800" * 64, 5, 0, True, False, 1.5, b"0" * 64, ["0" * 64], {}, object(),
]  # fmt: skip

names = pytest.mark.parametrize("name", sorted(WRITES))


class IfMatchRules(FileMemoryPlace):
    """On every write ``if_match`` is the digest of the file's current bytes."""

    @names
    @pytest.mark.parametrize("spell", [str.lower, str.upper, str.title])
    def test_if_match_with_the_current_digest_writes(self, name: str, spell: Any) -> None:
        """The digest may be written in either case."""
        memory = self.memory({FILE: TEXT, OTHER: "g"})
        self.succeed(memory, {**WRITES[name], "if_match": spell(sha(TEXT))})
        assert self.peek(self.scope).get(FILE) != TEXT.encode()

    @names
    def test_if_match_with_another_digest_conflicts_and_tells_the_current_one(self, name: str) -> None:
        """Nothing is written, and the caller learns what is there now."""
        memory = self.memory({FILE: TEXT, OTHER: "g"})
        details = {"reason": "if_match", "digest": sha(TEXT)}
        for wrong in (sha("something else"), sha("g"), "0" * 64, sha("")):
            self.refuse(memory, "CONFLICT", {**WRITES[name], "if_match": wrong}, FILE, details)

    @names
    def test_if_match_as_none_asks_nothing(self, name: str) -> None:
        """``None`` counts as absent."""
        memory = self.memory({FILE: TEXT})
        self.succeed(memory, {**WRITES[name], "if_match": None})

    @names
    @pytest.mark.parametrize("misfit", MISFITS)
    def test_if_match_that_is_no_digest_is_an_invalid_argument(self, name: str, misfit: object) -> None:
        """Exactly 64 hexadecimal digits, in ASCII, are a digest."""
        memory = self.memory({FILE: TEXT})
        self.refuse(memory, "INVALID_ARGUMENT", {**WRITES[name], "if_match": misfit}, FILE)

    @pytest.mark.parametrize("name", sorted(WRITES.keys() - {"create"}))
    def test_if_match_absent_is_for_create_alone(self, name: str) -> None:
        """Elsewhere the word asks for what the command could not work on."""
        memory = self.memory({FILE: TEXT})
        self.refuse(memory, "INVALID_ARGUMENT", {**WRITES[name], "if_match": "absent"}, FILE)

    def test_if_match_absent_creates_only_where_nothing_is(self) -> None:
        """The second of two such creates conflicts and learns the digest."""
        memory = self.memory({OTHER: "g"})
        assert self.succeed(memory, create(FILE, "first", if_match="absent"))["overwritten"] is False
        details = {"reason": "if_match", "digest": sha("first")}
        self.refuse(memory, "CONFLICT", create(FILE, "second", if_match="absent"), FILE, details)
        self.succeed(memory, delete(FILE))
        self.succeed(memory, create(FILE, "third", if_match="absent"))
        assert self.peek(self.scope)[FILE] == b"third"

    def test_if_match_absent_at_a_directory_is_a_path_conflict(self) -> None:
        """A directory is in the way before ``if_match`` is asked."""
        memory = self.memory({FILE + "/x.md": "x"})
        self.refuse(memory, "PATH_CONFLICT", create(FILE, "x", if_match="absent"), FILE)

    def test_if_match_absent_holds_against_an_empty_file(self) -> None:
        """An empty file is there."""
        memory = self.memory({FILE: ""})
        details = {"reason": "if_match", "digest": sha("")}
        self.refuse(memory, "CONFLICT", create(FILE, "x", if_match="absent"), FILE, details)
        self.succeed(memory, create(FILE, "x", if_match=sha("")))

    def test_if_match_digest_where_nothing_is_conflicts_without_a_digest(self) -> None:
        """``create`` with a digest is an overwrite and makes nothing new."""
        for digest in (sha(""), sha(TEXT)):
            self.refuse(self.memory(), "CONFLICT", create(FILE, "x", if_match=digest), FILE, {"reason": "if_match"})

    def test_if_match_on_a_directory_conflicts_without_a_digest(self) -> None:
        """A directory has no digest, so none can match."""
        memory = self.memory({M + "d/x.md": "x"})
        command = delete(M + "d", if_match=sha("x"))
        self.refuse(memory, "CONFLICT", command, M + "d", {"reason": "if_match"})
        command = rename(M + "d", M + "e", if_match=sha("x"))
        self.refuse(memory, "CONFLICT", command, M + "d", {"reason": "if_match"})

    def test_if_match_of_rename_is_about_the_source(self) -> None:
        """The destination does not exist, and has nothing to match."""
        memory = self.memory({FILE: TEXT})
        self.succeed(memory, rename(FILE, OTHER, if_match=sha(TEXT)))
        assert self.peek(self.scope) == {OTHER: TEXT.encode()}

    @names
    def test_if_match_of_a_deleted_file_conflicts_or_is_not_found(self, name: str) -> None:
        """``create`` conflicts where the file is gone; the other commands find nothing."""
        memory = self.memory({FILE: TEXT})
        self.succeed(memory, delete(FILE))
        command = {**WRITES[name], "if_match": sha(TEXT)}
        if name == "create":
            self.refuse(memory, "CONFLICT", command, FILE, {"reason": "if_match"})
        else:
            self.refuse(memory, "NOT_FOUND", command, FILE)

    def test_if_match_takes_the_digest_of_every_answer_that_tells_one(self) -> None:
        """View and receipts tell the digest that the next write asks for, also the view of a range."""
        memory = self.memory()
        digest = self.succeed(memory, create(FILE, TEXT, if_match="absent"))["digest"]
        digest = self.succeed(memory, str_replace(FILE, "two", "2", if_match=digest))["digest"]
        digest = self.succeed(memory, insert(FILE, 2, "3", if_match=digest))["digest"]
        assert digest == self.succeed(memory, view(FILE))["digest"]
        assert digest == self.succeed(memory, view(FILE, view_range=[1, 1]))["digest"]
        self.succeed(memory, delete(FILE, if_match=digest))
        assert self.peek(self.scope) == {}

    def test_if_match_is_about_bytes_and_not_lines(self) -> None:
        """Equal lines with other line ends have another digest."""
        memory = self.memory({FILE: "a\r\nb"})
        details = {"reason": "if_match", "digest": sha("a\r\nb")}
        self.refuse(memory, "CONFLICT", create(FILE, "x", if_match=sha("a\nb")), FILE, details)

    def test_if_match_that_fails_evicts_nothing(self) -> None:
        """A refused write makes no room."""
        memory = self.memory({FILE: "f", OTHER: "g"}, Limits(max_files=2))
        self.refuse(memory, "CONFLICT", create(M + "h.md", "h", if_match=sha("h")), M + "h.md", {"reason": "if_match"})

    def test_if_match_holds_against_another_handle(self) -> None:
        """Of two handles that saw the same bytes, the slower one is told."""
        mine, theirs = self.memory({FILE: TEXT}), self.memory()
        seen = self.succeed(mine, view(FILE))["digest"]
        self.succeed(theirs, create(FILE, "theirs", if_match=seen))
        details = {"reason": "if_match", "digest": sha("theirs")}
        self.refuse(mine, "CONFLICT", create(FILE, "mine", if_match=seen), FILE, details)
