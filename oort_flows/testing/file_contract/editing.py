"""
``str_replace`` and ``insert``: a file is changed in place.
"""

from __future__ import annotations

import pytest

from oort_flows.testing.file_contract.commands import ROOT, M, create, insert, str_replace
from oort_flows.testing.file_contract.place import FileMemoryPlace, sha

__all__ = ["InsertRules", "StrReplaceRules"]

FILE = M + "f.md"
NO_STRINGS: list[object] = [None, 5, True, b"x", ["x"], {}]

# stored, old, new, stored afterwards
REPLACEMENTS = [
    ("one two", "one", "three", "three two"),
    ("aaa", "aa", "b", "ba"),
    ("aaaa!", "aaa", "b", "ba!"),
    ("a\r\nb\r\nc", "a\r\nb", "X", "X\r\nc"),
    ("a\r\nb\rc\nd", "b\rc", "b\nc", "a\r\nb\nc\nd"),
    ("keep drop", " drop", "", "keep"),
    ("whole", "whole", "", ""),
    ("same", "same", "same", "same"),
    ("x", "x", "\\1 $0 \\g<0> %s {0} &", "\\1 $0 \\g<0> %s {0} &"),
    ("a.c abc", "a.c", "X", "X abc"),
    ("(x) [y]", "[y]", "^", "(x) ^"),
    ("\x00\x07", "\x07", "\U0001f9e0", "\x00\U0001f9e0"),
    ("\ufeffa", "a", "b", "\ufeffb"),
    ("\ufeffa", "\ufeff", "", "a"),
    ("e\u0301", "e", "o", "o\u0301"),
    ("tail\n", "tail", "head", "head\n"),
    ("no end", "end", "end\n", "no end\n"),
    ("Aa", "a", "b", "Ab"),
]

# stored, slot, text, stored afterwards
INSERTIONS = [
    ("a\r\nc\rd\r\n", 2, "b", "a\nc\nb\nd\n"),
    ("one\ntwo", 2, "three", "one\ntwo\nthree\n"),
    ("one\ntwo", 0, "zero", "zero\none\ntwo\n"),
    ("one\ntwo\n", 1, "b\n", "one\nb\ntwo\n"),
    ("one\ntwo\n", 1, "b", "one\nb\ntwo\n"),
    ("one\ntwo\n", 1, "b\r\nc\rd", "one\nb\nc\nd\ntwo\n"),
    ("x\n", 0, "y\n\n", "y\n\nx\n"),
    ("x\n", 1, "\n", "x\n\n"),
    ("a", 0, "", "a\n"),
    ("a", 1, "", "a\n"),
    ("a\n", 1, "", "a\n"),
    ("a\r", 0, "", "a\n"),
    ("a\r\n\r\nb", 3, "", "a\n\nb\n"),
    ("", 0, "", "\n"),
    ("", 0, "a", "a\n"),
    ("", 0, "\n", "\n"),
    ("\n", 1, "a", "\na\n"),
    ("\n\n", 1, "a", "\na\n\n"),
    ("a\u2028b\x0cc", 1, "d\x85e", "a\u2028b\x0cc\nd\x85e\n"),
    ("\ufeffa", 1, "b", "\ufeffa\nb\n"),
    ("\ufeffa", 0, "b", "b\n\ufeffa\n"),
]


class StrReplaceRules(FileMemoryPlace):
    """``str_replace`` works on the raw stored text and replaces the only place."""

    @pytest.mark.parametrize(("stored", "old", "new", "after"), REPLACEMENTS)
    def test_str_replace_of_the_only_place_is_literal(self, stored: str, old: str, new: str, after: str) -> None:
        """Nothing in old or new text is a pattern, and all bytes around the place are kept."""
        memory = self.memory({FILE: stored, M + "g.md": stored})
        assert self.succeed(memory, str_replace(FILE, old, new)) == {
            "path": FILE,
            "byte_length": len(after.encode()),
            "digest": sha(after),
            "evicted": [],
        }
        assert self.peek(self.scope) == {FILE: after.encode(), M + "g.md": stored.encode()}

    @pytest.mark.parametrize(
        ("stored", "old"),
        [("one", "two"), ("", "a"), ("a\r\nb", "a\nb"), ("a\rb", "a\nb"), ("a\nb", "a\r\nb"), ("Abc", "abc"),
        ("é", "e\u0301"),
         ("abc", "a.c"), ("short", "shorter")],
    )  # fmt: skip
    def test_old_text_that_is_not_there_is_not_found(self, stored: str, old: str) -> None:
        """Case, line ends and composition of characters all count."""
        self.refuse(self.memory({FILE: stored}), "MATCH_NOT_FOUND", str_replace(FILE, old, "new"), FILE)

    @pytest.mark.parametrize(("stored", "old"), [("x x", "x"), ("aaaa", "aa"), ("ab\nab", "ab"), ("xyx", "x"), ("aa", "a")])
    def test_old_text_in_two_places_is_not_unique(self, stored: str, old: str) -> None:
        """A second hit that does not overlap the first is one too many."""
        self.refuse(self.memory({FILE: stored}), "MATCH_NOT_UNIQUE", str_replace(FILE, old, "new"), FILE)

    def test_l05_empty_old_text_is_an_invalid_argument(self) -> None:
        """An empty old text would be everywhere, so it is refused."""
        self.refuse(self.memory({FILE: "abc"}), "INVALID_ARGUMENT", str_replace(FILE, "", "x"), FILE)
        self.refuse(self.memory(), "INVALID_ARGUMENT", str_replace(FILE, "", "x"), FILE)

    def test_l05_line_feed_in_old_text_never_matches_crlf(self) -> None:
        """An old text with LF misses a CRLF, one with CRLF hits it, and all other line ends stay."""
        memory = self.memory({FILE: "a\r\nb\r\nc\rd\n"})
        self.refuse(memory, "MATCH_NOT_FOUND", str_replace(FILE, "a\nb", "x"), FILE)
        self.succeed(memory, str_replace(FILE, "a\r\nb", "x"))
        assert self.peek(self.scope) == {FILE: b"x\r\nc\rd\n"}

    def test_l06_new_text_with_backslashes_and_dollars_is_literal(self) -> None:
        """A replacement is text and no template."""
        memory = self.memory({FILE: "value: old"})
        self.succeed(memory, str_replace(FILE, "old", r"\1 $0"))
        assert self.peek(self.scope) == {FILE: rb"value: \1 $0"}

    @pytest.mark.parametrize("value", [*NO_STRINGS, "\ud800"])
    def test_old_or_new_text_that_is_no_text_is_an_invalid_argument(self, value: object) -> None:
        """Both have to be well-formed strings."""
        memory = self.memory({FILE: "abc"})
        self.refuse(memory, "INVALID_ARGUMENT", str_replace(FILE, value, "x"), FILE)
        self.refuse(memory, "INVALID_ARGUMENT", str_replace(FILE, "abc", value), FILE)

    def test_old_or_new_text_that_is_missing_is_an_invalid_argument(self) -> None:
        """There is no default for either."""
        memory = self.memory({FILE: "abc"})
        self.refuse(memory, "INVALID_ARGUMENT", {"command": "str_replace", "path": FILE, "new_text": "x"}, FILE)
        self.refuse(memory, "INVALID_ARGUMENT", {"command": "str_replace", "path": FILE, "old_text": "a"}, FILE)

    def test_str_replace_needs_a_file(self) -> None:
        """Nothing there is NOT_FOUND; a directory, the root included, is in the way."""
        memory = self.memory({M + "d/a.md": "a"})
        for path in (FILE, M + "d/a.md/x.md", M + "d/b.md"):
            self.refuse(memory, "NOT_FOUND", str_replace(path, "a", "b"), path)
        for path in (ROOT, M + "d"):
            self.refuse(memory, "PATH_CONFLICT", str_replace(path, "a", "b"), path)
        self.refuse(self.memory(), "PATH_CONFLICT", str_replace(ROOT, "a", "b"), ROOT)


class InsertRules(FileMemoryPlace):
    """``insert`` puts lines between lines and leaves LF behind."""

    @pytest.mark.parametrize(("stored", "slot", "text", "after"), INSERTIONS)
    def test_insert_rewrites_the_file_with_line_feeds(self, stored: str, slot: int, text: str, after: str) -> None:
        """The text is cut into lines, and the file always ends in LF, even when nothing is inserted."""
        memory = self.memory({FILE: stored, M + "g.md": stored})
        assert self.succeed(memory, insert(FILE, slot, text)) == {
            "path": FILE,
            "byte_length": len(after.encode()),
            "digest": sha(after),
            "evicted": [],
        }
        assert self.peek(self.scope) == {FILE: after.encode(), M + "g.md": stored.encode()}

    @pytest.mark.parametrize(
        ("stored", "slot", "most"),
        [("a\nc\nb\nd\n", 5, 4), ("one\ntwo", 3, 2), ("", 1, 0), ("\n", 2, 1), ("a\r\nb\r", 3, 2), ("a", 10**400, 1),
         ("a\u2028b\x85c", 2, 1)],
    )  # fmt: skip
    def test_slot_past_the_end_is_refused_with_the_last_slot(self, stored: str, slot: int, most: int) -> None:
        """The last slot is the number of lines."""
        memory = self.memory({FILE: stored})
        self.refuse(memory, "INVALID_RANGE", insert(FILE, slot, "x"), FILE, {"max_insert_line": most})

    @pytest.mark.parametrize("slot", [None, -1, -(10**400), "0", 1.0, 0.0, True, False, [0], {}, b"0", float("nan")])
    def test_slot_that_is_no_integer_from_zero_is_refused_without_details(self, slot: object) -> None:
        """Missing, negative, and other than integers are refused before the file is looked at."""
        memory = self.memory({FILE: "a\nb"})
        self.refuse(memory, "INVALID_RANGE", insert(FILE, slot, "x"), FILE)
        self.refuse(memory, "INVALID_RANGE", insert(M + "missing.md", slot, "x"), M + "missing.md")

    def test_slot_that_is_missing_is_refused(self) -> None:
        """There is no default slot."""
        memory = self.memory({FILE: "a"})
        self.refuse(memory, "INVALID_RANGE", {"command": "insert", "path": FILE, "text": "x"}, FILE)

    @pytest.mark.parametrize("text", [*NO_STRINGS, "\udfff"])
    def test_inserted_text_that_is_no_text_is_an_invalid_argument(self, text: object) -> None:
        """Only a well-formed string can be inserted."""
        self.refuse(self.memory({FILE: "a"}), "INVALID_ARGUMENT", insert(FILE, 0, text), FILE)

    def test_inserted_text_that_is_missing_is_an_invalid_argument(self) -> None:
        """There is no default text."""
        memory = self.memory({FILE: "a"})
        self.refuse(memory, "INVALID_ARGUMENT", {"command": "insert", "path": FILE, "insert_line": 0}, FILE)

    def test_insert_needs_a_file(self) -> None:
        """Nothing there is NOT_FOUND; a directory, the root included, is in the way."""
        memory = self.memory({M + "d/a.md": "a"})
        for path in (FILE, M + "d/a.md/x.md", M + "d/b.md"):
            self.refuse(memory, "NOT_FOUND", insert(path, 0, "x"), path)
        for path in (ROOT, M + "d"):
            self.refuse(memory, "PATH_CONFLICT", insert(path, 0, "x"), path)

    def test_insert_after_insert_uses_the_new_numbering(self) -> None:
        """Slots count the lines that are there now."""
        memory = self.memory()
        self.succeed(memory, create(FILE, "a\r\nc\rd\r\n"))
        self.succeed(memory, insert(FILE, 2, "b"))
        self.refuse(memory, "INVALID_RANGE", insert(FILE, 5, "e"), FILE, {"max_insert_line": 4})
        self.succeed(memory, insert(FILE, 4, "e"))
        assert self.peek(self.scope) == {FILE: b"a\nc\nb\nd\ne\n"}
