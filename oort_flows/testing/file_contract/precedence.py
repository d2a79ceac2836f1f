"""
Precedence: which error wins where a command breaks several rules at once.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.models.limits import Limits
from oort_flows.testing.file_contract.commands import ROOT, M, create, delete, insert, rename, str_replace, view
from oort_flows.testing.file_contract.place import FileMemoryPlace

__all__ = ["PrecedenceRules"]

FILE, LONE, GONE = M + "f.md", M + "lone.md", M + "gone.md"
DIR, DIR_MD = M + "d", M + "d.md"
BAD, WRONG, STALE = M + "../x", "nonsense", "0" * 64
BIG = "x" * 101
STORED = {FILE: "one one", LONE: "lone", DIR + "/x.md": "x", DIR_MD + "/y.md": "y", M + "long/" + "c" * 120 + ".md": "z"}
DEEP = "/memories" + ("/" + "d" * 100) * 9

ARGUMENT, PATH, ROOTED, EXTENSION = "INVALID_ARGUMENT", "INVALID_PATH", "ROOT_PROTECTED", "INVALID_EXTENSION"
MISSING, EXISTS, IN_THE_WAY, RANGE = "NOT_FOUND", "ALREADY_EXISTS", "PATH_CONFLICT", "INVALID_RANGE"
NO_MATCH, TWICE, LIMIT, CONFLICT = "MATCH_NOT_FOUND", "MATCH_NOT_UNIQUE", "LIMIT_EXCEEDED", "CONFLICT"

# Each row breaks the rule of its code, and one or more that come later.
ROWS: list[tuple[str, dict[str, Any]]] = [
    # view: path, NOT_FOUND, INVALID_RANGE
    (ARGUMENT, view(5, view_range=WRONG)),
    (PATH, view(BAD, view_range=WRONG)),
    (PATH, view(ROOT + "/", view_range=[9, 9])),
    (MISSING, view(GONE, view_range=WRONG)),
    (MISSING, view(FILE + "/x", view_range=[9, 9])),
    # create: path, root, text, if_match, extension, in the way, if_match, limit
    (ARGUMENT, create(5, 5, if_match=WRONG)),
    (PATH, create(BAD, 5)),
    (PATH, create(BAD, "x", if_match=WRONG)),
    (PATH, create(M + ".x.ts", "x")),
    (PATH, create(M + ".x.md", BIG)),
    (PATH, create(FILE + "//x", "x")),
    (ROOTED, create(ROOT, 5)),
    (ROOTED, create(ROOT, "\ud800")),
    (ROOTED, create(ROOT, "x", if_match=WRONG)),
    (ROOTED, create(ROOT, "x", if_match=STALE)),
    (ROOTED, create(ROOT, BIG)),
    (ARGUMENT, create(M + "x.ts", 5)),
    (ARGUMENT, create(DIR_MD, 5)),
    (ARGUMENT, create(FILE, 5, if_match=STALE)),
    (ARGUMENT, create(FILE, BIG + "\ud800")),
    (ARGUMENT, create(M + "x.ts", "x", if_match=WRONG)),
    (ARGUMENT, create(DIR_MD, "x", if_match=WRONG)),
    (ARGUMENT, create(FILE + "/x.md", "x", if_match=WRONG)),
    (ARGUMENT, create(FILE, BIG, if_match=WRONG)),
    (EXTENSION, create(DIR, "x")),
    (EXTENSION, create(FILE + "/x.ts", "x")),
    (EXTENSION, create(M + "x.ts", "x", if_match=STALE)),
    (EXTENSION, create(M + "x.ts", BIG)),
    (IN_THE_WAY, create(DIR_MD, "x", if_match=STALE)),
    (IN_THE_WAY, create(DIR_MD, "x", if_match="absent")),
    (IN_THE_WAY, create(FILE + "/x.md", "x", if_match=STALE)),
    (IN_THE_WAY, create(DIR_MD, BIG)),
    (IN_THE_WAY, create(FILE + "/x.md", BIG)),
    (CONFLICT, create(FILE, BIG, if_match=STALE)),
    (CONFLICT, create(FILE, BIG, if_match="absent")),
    (CONFLICT, create(GONE, BIG, if_match=STALE)),
    # str_replace: path, arguments, in the way or not found, if_match, match, limit
    (ARGUMENT, str_replace(5, "", "")),
    (PATH, str_replace(BAD, "", "x")),
    (PATH, str_replace(BAD, "x", 5, if_match=WRONG)),
    (ARGUMENT, str_replace(ROOT, "", "x")),
    (ARGUMENT, str_replace(DIR, "x", 5)),
    (ARGUMENT, str_replace(GONE, "x", "x", if_match=WRONG)),
    (ARGUMENT, str_replace(GONE, 5, "x")),
    (ARGUMENT, str_replace(FILE, "nowhere", "\ud800")),
    (ARGUMENT, str_replace(FILE, "one", "x", if_match="absent")),
    (ARGUMENT, str_replace(FILE, "", "x", if_match=STALE)),
    (IN_THE_WAY, str_replace(ROOT, "x", "y", if_match=STALE)),
    (IN_THE_WAY, str_replace(DIR, "x", BIG, if_match=STALE)),
    (MISSING, str_replace(GONE, "x", BIG, if_match=STALE)),
    (MISSING, str_replace(FILE + "/x.ts", "x", "y", if_match=STALE)),
    (CONFLICT, str_replace(FILE, "nowhere", "x", if_match=STALE)),
    (CONFLICT, str_replace(FILE, "one", "x", if_match=STALE)),
    (CONFLICT, str_replace(LONE, "lone", BIG, if_match=STALE)),
    (NO_MATCH, str_replace(FILE, "nowhere", BIG)),
    (TWICE, str_replace(FILE, "one", BIG)),
    # insert: path, text and if_match, slot, in the way or not found, if_match, slot past the end, limit
    (ARGUMENT, insert(5, -1, 5)),
    (PATH, insert(BAD, 0, 5)),
    (PATH, insert(BAD, -1, "x", if_match=WRONG)),
    (ARGUMENT, insert(ROOT, -1, 5)),
    (ARGUMENT, insert(GONE, 0, 5)),
    (ARGUMENT, insert(FILE, -1, "\ud800")),
    (ARGUMENT, insert(FILE, None, "x", if_match=WRONG)),
    (ARGUMENT, insert(DIR, 0, "x", if_match="absent")),
    (ARGUMENT, insert(FILE, 99, "x", if_match=WRONG)),
    (RANGE, insert(ROOT, -1, "x")),
    (RANGE, insert(DIR, True, "x", if_match=STALE)),
    (RANGE, insert(GONE, None, "x")),
    (RANGE, insert(GONE, 1.0, BIG, if_match=STALE)),
    (RANGE, insert(FILE, -1, "x", if_match=STALE)),
    (IN_THE_WAY, insert(DIR, 99, "x", if_match=STALE)),
    (IN_THE_WAY, insert(ROOT, 99, BIG)),
    (MISSING, insert(GONE, 99, BIG, if_match=STALE)),
    (MISSING, insert(FILE + "/x.md", 0, "x", if_match=STALE)),
    (CONFLICT, insert(FILE, 99, "x", if_match=STALE)),
    (CONFLICT, insert(FILE, 0, BIG, if_match=STALE)),
    (RANGE, insert(FILE, 99, BIG)),
    # delete: path, root, if_match, NOT_FOUND, if_match
    (ARGUMENT, delete(5, if_match=WRONG)),
    (PATH, delete(BAD, if_match=WRONG)),
    (PATH, delete(M + "gone/", if_match=STALE)),
    (ROOTED, delete(ROOT, if_match=WRONG)),
    (ROOTED, delete(ROOT, if_match=STALE)),
    (ARGUMENT, delete(GONE, if_match=WRONG)),
    (ARGUMENT, delete(FILE, if_match="absent")),
    (ARGUMENT, delete(DIR, if_match=5)),
    (MISSING, delete(GONE, if_match=STALE)),
    (MISSING, delete(FILE + "/x", if_match=STALE)),
    # rename: old path, new path, root, if_match, NOT_FOUND, if_match, exists, into itself, extension, in the way, children
    (ARGUMENT, rename(5, BAD)),
    (PATH, rename(BAD, 5)),
    (PATH, rename(BAD, ROOT, if_match=WRONG)),
    (ARGUMENT, rename(ROOT, 5, if_match=WRONG)),
    (PATH, rename(ROOT, BAD)),
    (PATH, rename(GONE, BAD, if_match=WRONG)),
    (PATH, rename(FILE, M + "a b.ts")),
    (ROOTED, rename(ROOT, GONE, if_match=WRONG)),
    (ROOTED, rename(GONE, ROOT, if_match=STALE)),
    (ROOTED, rename(FILE, ROOT, if_match=WRONG)),
    (ROOTED, rename(ROOT, M + "x")),
    (ARGUMENT, rename(GONE, M + "x.md", if_match=WRONG)),
    (ARGUMENT, rename(FILE, FILE, if_match=WRONG)),
    (ARGUMENT, rename(DIR, DIR + "/e", if_match="absent")),
    (ARGUMENT, rename(FILE, M + "x.ts", if_match=WRONG)),
    (MISSING, rename(GONE, FILE, if_match=STALE)),
    (MISSING, rename(GONE, GONE)),
    (MISSING, rename(GONE, M + "x.ts")),
    (MISSING, rename(GONE, FILE + "/x.md")),
    (MISSING, rename(GONE, GONE + "/x.md", if_match=STALE)),
    (CONFLICT, rename(FILE, LONE, if_match=STALE)),
    (CONFLICT, rename(FILE, FILE, if_match=STALE)),
    (CONFLICT, rename(FILE, M + "x.ts", if_match=STALE)),
    (CONFLICT, rename(FILE, LONE + "/x.md", if_match=STALE)),
    (CONFLICT, rename(DIR, LONE, if_match=STALE)),
    (EXISTS, rename(DIR, DIR)),
    (EXISTS, rename(DIR, DIR + "/x.md")),
    (EXISTS, rename(FILE, DIR)),
    (EXISTS, rename(DIR + "/x.md", DIR)),
    (EXISTS, rename(M + "long", FILE)),
    (EXTENSION, rename(FILE, LONE + "/x.ts")),
    (EXTENSION, rename(FILE, FILE + "/x.ts")),
    (EXTENSION, rename(FILE, M + "noext")),
    (IN_THE_WAY, rename(FILE, FILE + "/x.md")),
    (IN_THE_WAY, rename(DIR, LONE + "/e")),
    (IN_THE_WAY, rename(M + "long", LONE + DEEP.removeprefix(ROOT))),
    (PATH, rename(M + "long", DEEP)),
]

INTO_ITSELF = [
    rename(DIR, DIR + "/x.md/e"),
    rename(M + "long", M + "long" + DEEP.removeprefix(ROOT)),
    rename(DIR, DIR + "/x"),
]
MATCH_FIRST = [
    rename(DIR, DIR + "/e", if_match=STALE),
    rename(M + "long", DEEP, if_match=STALE),
    rename(DIR, DIR, if_match=STALE),
]


class PrecedenceRules(FileMemoryPlace):
    """The rules are judged in one order, the same in every memory."""

    @pytest.mark.parametrize(("code", "command"), ROWS)
    def test_earlier_rule_wins(self, code: str, command: dict[str, Any]) -> None:
        """A command that breaks several rules is refused by the first, and changes nothing."""
        memory = self.memory(STORED, Limits(max_file_bytes=100))
        answer = self.answer(memory, command)
        assert not answer["ok"]
        assert answer["error"]["code"] == code, answer["error"]
        assert self.peek(self.scope) == {path: text.encode() for path, text in STORED.items()}

    @pytest.mark.parametrize(
        ("reason", "command"), [("into_itself", row) for row in INTO_ITSELF] + [("if_match", row) for row in MATCH_FIRST]
    )
    def test_earlier_conflict_wins(self, reason: str, command: dict[str, Any]) -> None:
        """``if_match`` is judged before a move into itself, and that before what stands in the way."""
        memory = self.memory(STORED)
        self.refuse(
            memory, CONFLICT, command, command["new_path" if reason == "into_itself" else "old_path"], {"reason": reason}
        )

    @pytest.mark.parametrize(
        "broken", [{"path": 5}, {"path": BAD, "text": 5}, {"path": FILE, "text": "x", "if_match": WRONG}]
    )
    def test_unknown_command_wins_over_everything(self, broken: dict[str, Any]) -> None:
        """Without a command there are no fields to judge."""
        self.refuse(self.memory(STORED), "INVALID_COMMAND", {"command": "write", **broken})

    def test_too_long_path_wins_over_its_grammar_and_loses_to_surrogates(self) -> None:
        """First half a surrogate pair, then length, then everything else."""
        memory = self.memory()
        self.refuse(memory, PATH, view("\\" * 2_000), "\\" * 2_000, {"max_bytes": 1_024})
        self.refuse(memory, PATH, view("\ud800" + "x" * 2_000), "\ufffd" + "x" * 2_000)

    def test_missing_children_are_judged_last(self) -> None:
        """A moved child that would be too long is named only where nothing else is wrong."""
        memory = self.memory(STORED)
        child = DEEP + "/" + "c" * 120 + ".md"
        self.refuse(memory, PATH, rename(M + "long", DEEP), child, {"max_bytes": 1_024})
