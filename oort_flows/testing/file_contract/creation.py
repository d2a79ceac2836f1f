"""
``create``: a file appears, or is replaced.
"""

from __future__ import annotations

import pytest

from oort_flows.testing.file_contract.commands import ROOT, M, create, view
from oort_flows.testing.file_contract.place import FileMemoryPlace, sha

__all__ = ["CreateRules"]

FILE = M + "f.md"
TEXTS = [
    "", "a", "\x00\x07", "\U0001f9e0", "\ufeffwith a mark", "\ufeff", "a\r\nb\rc\n", "\r", "\n", "a\u2028b\x85c",
    "tail\n\n\n",
    "---\nnote: \"#1\"\n---\n", "\x1b[31m", "\x7f", "e\u0301 é", "\ufffe\uffff", "\U0010ffff", "   ", "{\"a\": [1]}\n",
    "\ufffd",
]  # fmt: skip

HALVES = ["\ud83d", "\udc00", "a\udfffb", "\udc00\ud800", "\ud83d\ud83d\ude00"]


class CreateRules(FileMemoryPlace):
    """``create`` stores the text byte for byte."""

    @pytest.mark.parametrize("text", TEXTS)
    def test_create_stores_the_text_byte_for_byte(self, text: str) -> None:
        """Line ends, control characters, marks and all planes of Unicode are kept as given."""
        memory = self.memory()
        assert self.succeed(memory, create(FILE, text)) == {
            "path": FILE,
            "byte_length": len(text.encode()),
            "digest": sha(text),
            "overwritten": False,
            "evicted": [],
        }
        assert self.peek(self.scope) == {FILE: text.encode()}
        assert self.succeed(memory, view(FILE))["text"] == text

    @pytest.mark.parametrize("text", TEXTS)
    def test_create_over_a_file_replaces_all_of_it(self, text: str) -> None:
        """The receipt says overwritten, and nothing of the former text stays."""
        memory = self.memory({FILE: "something else, and longer", M + "g.md": "g"})
        assert self.succeed(memory, create(FILE, text)) == {
            "path": FILE,
            "byte_length": len(text.encode()),
            "digest": sha(text),
            "overwritten": True,
            "evicted": [],
        }
        assert self.peek(self.scope) == {FILE: text.encode(), M + "g.md": b"g"}

    def test_l08_create_on_an_existing_path_replaces_and_says_so(self) -> None:
        """The second create of a path succeeds, reports ``overwritten`` and evicts nothing."""
        memory = self.memory()
        first = self.succeed(memory, create(FILE, "one"))
        second = self.succeed(memory, create(FILE, "two"))
        assert (first["overwritten"], second["overwritten"], second["evicted"]) == (False, True, [])
        assert self.peek(self.scope) == {FILE: b"two"}

    def test_create_of_equal_text_is_a_real_write(self) -> None:
        """Writing what is there already succeeds like any other overwrite."""
        memory = self.memory({FILE: "same"})
        assert self.succeed(memory, create(FILE, "same"))["overwritten"] is True
        assert self.peek(self.scope) == {FILE: b"same"}

    def test_create_makes_the_parents(self) -> None:
        """Directories above a new file appear with it."""
        memory = self.memory()
        self.succeed(memory, create(M + "n/o/p.md", "p"))
        assert self.succeed(memory, view(M + "n"))["entries"] == [{"name": "o", "path": M + "n/o", "kind": "directory"}]
        assert self.peek(self.scope) == {M + "n/o/p.md": b"p"}

    @pytest.mark.parametrize("text", [None, 5, 1.5, True, b"bytes", ["x"], {}, object()])
    def test_text_that_is_no_string_is_an_invalid_argument(self, text: object) -> None:
        """Only a string is a text."""
        memory = self.memory({FILE: "kept"})
        self.refuse(memory, "INVALID_ARGUMENT", create(FILE, text), FILE)

    def test_text_that_is_missing_is_an_invalid_argument(self) -> None:
        """There is no default text."""
        self.refuse(self.memory(), "INVALID_ARGUMENT", {"command": "create", "path": FILE}, FILE)

    @pytest.mark.parametrize("text", HALVES)
    def test_text_with_half_a_surrogate_pair_is_an_invalid_argument(self, text: str) -> None:
        """A text that cannot be written as UTF-8 is refused whole."""
        memory = self.memory({FILE: "kept"})
        self.refuse(memory, "INVALID_ARGUMENT", create(FILE, text), FILE)

    def test_create_at_the_root_is_refused_whatever_the_text(self) -> None:
        """The root is protected before the text is looked at."""
        memory = self.memory()
        self.refuse(memory, "ROOT_PROTECTED", create(ROOT, "x"), ROOT)
        self.refuse(memory, "ROOT_PROTECTED", create(ROOT, 5), ROOT)
        self.refuse(memory, "ROOT_PROTECTED", create(ROOT, "x", if_match="nonsense"), ROOT)

    def test_create_below_a_file_names_the_file_in_the_way(self) -> None:
        """The path of the conflict is the file among the ancestors, however far up."""
        memory = self.memory({FILE: "f", M + "d/g.md": "g"})
        self.refuse(memory, "PATH_CONFLICT", create(FILE + "/c.txt", "x"), FILE)
        self.refuse(memory, "PATH_CONFLICT", create(FILE + "/a/b/c.txt", "x"), FILE)
        self.refuse(memory, "PATH_CONFLICT", create(M + "d/g.md/c.txt", "x"), M + "d/g.md")

    def test_create_at_a_directory_names_the_directory(self) -> None:
        """A directory is never replaced by a file."""
        memory = self.memory({M + "notes.md/a.md": "a"})
        self.refuse(memory, "PATH_CONFLICT", create(M + "notes.md", "x"), M + "notes.md")
