"""
Views and lines: what is shown of a file or a directory.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.testing.file_contract.commands import ROOT, M, create, delete, view
from oort_flows.testing.file_contract.place import FileMemoryPlace, sha

__all__ = ["ViewRules"]

FILE = M + "f.md"
MIXED = "a\r\nc\rd\r\n"
THREE = "first\nsecond\nthird\n"

# stored text, range, text shown, lines shown
SLICES: list[tuple[str, Any, str, tuple[int, int, int]]] = [
    ("", None, "", (0, 0, 0)),
    ("\n", None, "\n", (1, 1, 1)),
    ("\n", [1, 1], "\n", (1, 1, 1)),
    ("a", None, "a", (1, 1, 1)),
    ("a", [1, 1], "a", (1, 1, 1)),
    ("a", [1, -1], "a", (1, 1, 1)),
    ("a\n\n", None, "a\n\n", (1, 2, 2)),
    ("a\n\n", [2, 2], "\n", (2, 2, 2)),
    ("a\n\n", [1, -1], "a\n\n", (1, 2, 2)),
    ("one\ntwo", [1, 1], "one\n", (1, 1, 2)),
    ("one\ntwo", [2, 2], "two", (2, 2, 2)),
    ("one\ntwo", (1, 2), "one\ntwo", (1, 2, 2)),
    ("one\ntwo\n", [2, -1], "two\n", (2, 2, 2)),
    (THREE, [2, -1], "second\nthird\n", (2, 3, 3)),
    (THREE, [1, 2], "first\nsecond\n", (1, 2, 3)),
    (MIXED, None, MIXED, (1, 3, 3)),
    (MIXED, [2, 2], "c\n", (2, 2, 3)),
    (MIXED, [1, 3], "a\nc\nd\n", (1, 3, 3)),
    ("a\rb", [1, 1], "a\n", (1, 1, 2)),
    ("a\rb", [2, 2], "b", (2, 2, 2)),
    ("a\r", None, "a\r", (1, 1, 1)),
    ("a\r", [1, 1], "a\n", (1, 1, 1)),
    ("\r\r\n\n", None, "\r\r\n\n", (1, 3, 3)),
    ("a\n\rb", [2, 3], "\nb", (2, 3, 3)),
    ("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei", None, "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei", (1, 1, 1)),
    ("a\u2028b\nc\x0c", [1, 1], "a\u2028b\n", (1, 1, 2)),
    ("a\u2028", [1, 1], "a\u2028", (1, 1, 1)),
    ("\ufeffa\nb", [1, 1], "\ufeffa\n", (1, 1, 2)),
    ("££", None, "££", (1, 1, 1)),
    ("£\n\U0001f9e0\n", [2, 2], "\U0001f9e0\n", (2, 2, 2)),
]


class ViewRules(FileMemoryPlace):
    """A view shows what is stored and nothing else; ranges are exact."""

    @pytest.mark.parametrize(("stored", "view_range", "text", "lines"), SLICES)
    def test_view_of_a_file_shows_text_sizes_lines_and_digest(
        self, stored: str, view_range: Any, text: str, lines: tuple[int, int, int]
    ) -> None:
        """The text is that of the range, ``byte_length`` is that of the text shown, the digest that of the whole file."""
        memory = self.memory({FILE: stored})
        fields = {} if view_range is None else {"view_range": view_range}
        assert self.succeed(memory, view(FILE, **fields)) == {
            "kind": "file",
            "path": FILE,
            "text": text,
            "byte_length": len(text.encode()),
            "lines": dict(zip(("start", "end", "total"), lines, strict=True)),
            "digest": sha(stored),
        }
        assert self.peek(self.scope) == {FILE: stored.encode()}

    @pytest.mark.parametrize(
        ("stored", "view_range", "total"),
        [
            ("one\ntwo", [0, 1], 2), ("one\ntwo", [1, 3], 2), ("one\ntwo", [2, 1], 2), ("one\ntwo", [1, -2], 2),
            ("one\ntwo", [3, -1], 2), ("one\ntwo", [-1, -1], 2), ("one\ntwo", [-1, 1], 2), ("one\ntwo", [0, 0], 2),
            ("one\ntwo", [0, -1], 2), ("one\ntwo", [3, 3], 2), ("one\ntwo", [1, 0], 2), ("one\ntwo", [1, 10**400], 2),
            ("one\ntwo\n", [3, 3], 2), ("", [1, 1], 0), ("", [1, -1], 0), ("", [0, 0], 0), (MIXED, [4, 4], 3),
            ("\n", [2, 2], 1),
            ("a\u2028b\x85c\x0cd", [2, 2], 1),
        ],
    )  # fmt: skip
    def test_range_outside_the_file_is_refused_with_the_number_of_lines(
        self, stored: str, view_range: Any, total: int
    ) -> None:
        """Nothing is clamped, and an empty file has no range at all."""
        memory = self.memory({FILE: stored})
        self.refuse(memory, "INVALID_RANGE", view(FILE, view_range=view_range), FILE, {"total_lines": total})

    @pytest.mark.parametrize(
        "view_range",
        [[], [1], [1, 2, 3], "12", "ab", 5, 0, False, 1.5, {}, {1: 2, 3: 4}, {1, 2}, b"12", [1, "2"], ["1", 2], [1.0, 2],
        [1, 2.0],
         [True, 2], [1, True], [None, None], [1, None], [[1], [2]], range(1, 3), iter([1, 2]), [float("nan"), 1]],
    )  # fmt: skip
    def test_range_that_is_no_pair_of_integers_is_refused_without_details(self, view_range: object) -> None:
        """Only a list or tuple of two integers is a range; booleans and floats are no integers."""
        memory = self.memory({FILE: THREE})
        self.refuse(memory, "INVALID_RANGE", view(FILE, view_range=view_range), FILE)

    def test_range_given_as_none_is_absent(self) -> None:
        """``None`` asks for the whole file, or for the directory."""
        memory = self.memory({FILE: MIXED})
        assert self.succeed(memory, view(FILE, view_range=None))["text"] == MIXED
        assert self.succeed(memory, view(ROOT, view_range=None))["kind"] == "directory"

    @pytest.mark.parametrize("view_range", [[1, 1], [1, -1], [0, 0], "nonsense", []])
    def test_range_on_a_directory_is_refused(self, view_range: object) -> None:
        """A directory has no lines."""
        memory = self.memory({M + "d/a.md": "a"})
        self.refuse(memory, "INVALID_RANGE", view(ROOT, view_range=view_range), ROOT)
        self.refuse(memory, "INVALID_RANGE", view(M + "d", view_range=view_range), M + "d")

    def test_view_of_nothing_is_not_found(self) -> None:
        """What is not there is NOT_FOUND, also below a file, also in a fresh scope."""
        self.refuse(self.memory(), "NOT_FOUND", view(FILE), FILE)
        memory = self.memory({M + "a.md": "a", M + "d/x.md": "x"})
        for path in (M + "a.md/b", M + "a.md/b.md", M + "d/y.md", M + "dx", M + "a", M + "D", M + "d/x"):
            self.refuse(memory, "NOT_FOUND", view(path), path)

    def test_view_of_the_root_of_a_fresh_scope_is_an_empty_directory(self) -> None:
        """The root always exists."""
        assert self.succeed(self.memory(), view(ROOT)) == {"kind": "directory", "path": ROOT, "entries": []}

    def test_listing_holds_immediate_children_in_code_point_order(self) -> None:
        """Children only, sorted by name, whatever order they were written in."""
        memory = self.memory({M + "z.md": "", M + "a/file.txt": "", M + "b.json": "", M + "a/deep/er.md": ""})
        assert self.succeed(memory, view(ROOT)) == {
            "kind": "directory",
            "path": ROOT,
            "entries": [
                {"name": "a", "path": M + "a", "kind": "directory"},
                {"name": "b.json", "path": M + "b.json", "kind": "file"},
                {"name": "z.md", "path": M + "z.md", "kind": "file"},
            ],
        }
        assert self.succeed(memory, view(M + "a"))["entries"] == [
            {"name": "deep", "path": M + "a/deep", "kind": "directory"},
            {"name": "file.txt", "path": M + "a/file.txt", "kind": "file"},
        ]

    def test_listing_is_sorted_by_name_and_not_by_path(self) -> None:
        """``a-b`` and ``a.md`` sort by their own characters, and a directory by its bare name."""
        names = ["B.md", "a", "a-.md", "a.md", "a0.md", "aB.md", "a_.md", "ab.md"]
        files = {M + (name + "/x.md" if name == "a" else name): "" for name in reversed(names)}
        assert [entry["name"] for entry in self.succeed(self.memory(files), view(ROOT))["entries"]] == names

    def test_directory_exists_only_while_a_file_lies_below(self) -> None:
        """With its last file a directory goes, and its parents with it."""
        memory = self.memory({M + "a/b/c.md": "c"})
        assert self.succeed(memory, view(M + "a/b"))["entries"] == [{"name": "c.md", "path": M + "a/b/c.md", "kind": "file"}]
        self.succeed(memory, delete(M + "a/b/c.md"))
        for path in (M + "a/b", M + "a"):
            self.refuse(memory, "NOT_FOUND", view(path), path)
        assert self.succeed(memory, view(ROOT))["entries"] == []

    def test_name_freed_by_a_directory_can_become_a_file(self) -> None:
        """``notes.md`` may be a directory, and later a file."""
        memory = self.memory({M + "notes.md/x.md": "x"})
        self.succeed(memory, delete(M + "notes.md"))
        self.succeed(memory, create(M + "notes.md", "file now"))
        assert self.peek(self.scope) == {M + "notes.md": b"file now"}
