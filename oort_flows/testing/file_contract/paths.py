"""
Paths: what is valid, what is refused, and as what.
"""

from __future__ import annotations

import pytest

from oort_flows.testing.file_contract.commands import ROOT, M, create, delete, insert, rename, str_replace, view
from oort_flows.testing.file_contract.place import FileMemoryPlace

__all__ = ["PathRules"]

SEGMENT = "s" * 128
LONGEST = M + "/".join([SEGMENT] * 7 + ["x" * 108 + ".md"])  # 10 + 7 * 129 + 111 bytes
VALID = [
    M + "a.md", M + "a..md", M + "x.tar.yml", M + "9.json", M + "A.txt", M + "a-b_c.d.py", M + "a.yaml", M + "0/1/2.md",
    M + "notes.md/inner.md", M + "s" * 125 + ".md", M + "a--.md", M + "a_.md", LONGEST,
]  # fmt: skip
OUTSIDE = [
    "memories/a.md", "/memoriesx/a.md", "", "/", "a.md", "/Memories/a.md", "//memories/a.md", "/memories_backup/x.md",
    " /memories/a.md", "/etc/passwd", "./memories/a.md", "/memoriesa.md", "\ufeff/memories/a.md", "C:\\memories",
]  # fmt: skip
MALFORMED = [
    "/memories/", M + "../escape.md", M + "a%2Fb.md", M + "a\\b.md", M + "a//b.md", M + "a.md/", "/memories//a.md",
    M + ".", M + "..", M + "a/./b.md", M + "a/../b.md", M + ".hidden.md", M + "_x.md", M + "-x.md", M + "a/.git/x.md",
    M + "a b.md", M + " a.md", M + "a.md ", M + "a\nb.md", M + "a.md\n", M + "a\x00.md", M + "a\x7f.md", M + "a\t.md",
    M + "é.md", M + "aé.md", M + "a\u0661.md", M + "日本.md", M + "a\u2028.md", M + "\U0001f9e0.md", M + "a:b.md",
    M + "a*.md",
    M + "a~.md", M + "a+b.md", M + "%.md", M + "s" * 129, M + "s" * 126 + ".md", M + "s" * 129 + "/a.md", M + "a/\x85.md",
]  # fmt: skip
SURROGATES = [M + "\ud800.md", "\udfff", M + "a/\udc00", "/memories\udbff" + "x" * 2_000]
TOO_LONG = [
    LONGEST[:-3] + "x.md", M + "x" * 2_000, "/memories" + "/a" * 508, "x" * 1_025, M + "é" * 508, "é" * 513, "\\" * 1_025,
]  # fmt: skip
NO_STRINGS: list[object] = [None, 5, 1.5, True, b"/memories/a.md", ["/memories/a.md"], {"path": "/memories"}, object]


class PathRules(FileMemoryPlace):
    """Every path of a command is checked as written, before storage is touched."""

    @pytest.mark.parametrize("path", VALID)
    def test_path_within_the_grammar_is_stored_as_written(self, path: str) -> None:
        """A valid path is kept byte for byte."""
        memory = self.memory()
        assert self.succeed(memory, create(path, "x"))["path"] == path
        assert self.peek(self.scope) == {path: b"x"}

    def test_path_of_1024_bytes_is_valid_and_one_more_is_not(self) -> None:
        """The whole path counts, root included, and 1,024 bytes are the most."""
        assert len(LONGEST) == 1_024
        memory = self.memory({LONGEST: "x"})
        assert self.succeed(memory, view(LONGEST))["text"] == "x"
        longer = LONGEST[:-3] + "x.md"
        self.refuse(memory, "INVALID_PATH", view(longer), longer, {"max_bytes": 1_024})

    def test_segment_of_128_characters_is_valid_and_129_is_not(self) -> None:
        """A segment has at most 128 characters."""
        memory = self.memory({M + SEGMENT + "/a.md": ""})
        assert self.succeed(memory, view(M + SEGMENT))["kind"] == "directory"
        self.refuse(memory, "INVALID_PATH", view(M + SEGMENT + "s"), M + SEGMENT + "s")

    def test_path_may_be_as_deep_as_its_bytes_allow(self) -> None:
        """Depth is bounded by nothing but the 1,024 bytes."""
        path = "/memories" + "/d" * 505 + "/x.md"
        assert len(path) == 1_024
        memory = self.memory()
        self.succeed(memory, create(path, "deep"))
        assert self.peek(self.scope) == {path: b"deep"}
        assert self.succeed(memory, view("/memories" + "/d" * 505))["entries"][0]["path"] == path

    @pytest.mark.parametrize("path", OUTSIDE + MALFORMED)
    def test_path_outside_the_grammar_is_invalid(self, path: str) -> None:
        """A path that breaks the grammar is refused, whichever command it comes with."""
        memory = self.memory({M + "a.md": "a", M + "b/c.md": "c"})
        for command in _everywhere(path):
            self.refuse(memory, "INVALID_PATH", command, path)

    @pytest.mark.parametrize("path", TOO_LONG)
    def test_path_that_is_too_long_names_the_limit(self, path: str) -> None:
        """Length is judged before the grammar, in bytes, and the limit is told."""
        memory = self.memory({M + "a.md": "a"})
        for command in _everywhere(path):
            self.refuse(memory, "INVALID_PATH", command, path, {"max_bytes": 1_024})

    @pytest.mark.parametrize("path", SURROGATES)
    def test_path_with_half_a_surrogate_pair_is_invalid_and_shown_replaced(self, path: str) -> None:
        """Half a surrogate pair is refused before length is looked at, and the answer shows U+FFFD in its place."""
        memory = self.memory({M + "a.md": "a"})
        shown = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in path)
        for command in _everywhere(path):
            self.refuse(memory, "INVALID_PATH", command, shown)

    @pytest.mark.parametrize("path", NO_STRINGS)
    def test_path_that_is_no_string_is_an_invalid_argument_without_a_path(self, path: object) -> None:
        """There is no path to tell when what was given is no string."""
        memory = self.memory({M + "a.md": "a"})
        for command in _everywhere(path):
            self.refuse(memory, "INVALID_ARGUMENT", command)

    @pytest.mark.parametrize("name", ["view", "create", "str_replace", "insert", "delete", "rename"])
    def test_path_that_is_missing_is_an_invalid_argument(self, name: str) -> None:
        """A command without its path is refused as if the path were no string."""
        self.refuse(self.memory(), "INVALID_ARGUMENT", {"command": name})

    def test_path_case_matters(self) -> None:
        """Two paths that differ in case are two files."""
        memory = self.memory({M + "a.md": "small"})
        self.refuse(memory, "NOT_FOUND", view(M + "A.md"), M + "A.md")
        assert not self.succeed(memory, create(M + "A.md", "large"))["overwritten"]
        assert self.peek(self.scope) == {M + "a.md": b"small", M + "A.md": b"large"}

    def test_l02_sibling_of_the_root_with_the_same_prefix_is_refused(self) -> None:
        """A name that merely begins like the root lies outside of it."""
        memory = self.memory()
        for path in ("/memories_backup/x", "/memories_backup/x.md", "/memories.md", "/memories-old"):
            for command in _everywhere(path):
                self.refuse(memory, "INVALID_PATH", command, path)

    @pytest.mark.parametrize(
        "name", ["code.ts", "noext", "x.", "x.MD", "x.Md", "x.markdown", "x.md.bak", "md", "x.pyc", "x.yaml2"]
    )
    def test_extension_outside_the_list_is_refused_by_create_and_rename_of_a_file(self, name: str) -> None:
        """The ending counts from the last dot of the name, in lower case."""
        memory = self.memory({M + "a.md": "a"})
        self.refuse(memory, "INVALID_EXTENSION", create(M + name, "x"), M + name)
        self.refuse(memory, "INVALID_EXTENSION", create(M + "sub.md/" + name, "x"), M + "sub.md/" + name)
        self.refuse(memory, "INVALID_EXTENSION", rename(M + "a.md", M + name), M + name)

    @pytest.mark.parametrize("ending", [".txt", ".md", ".json", ".py", ".yaml", ".yml"])
    def test_extension_on_the_list_is_accepted_by_create_and_rename(self, ending: str) -> None:
        """Six endings are allowed."""
        memory = self.memory()
        self.succeed(memory, create(M + "a" + ending, "x"))
        self.succeed(memory, rename(M + "a" + ending, M + "b" + ending))
        assert self.peek(self.scope) == {M + "b" + ending: b"x"}

    @pytest.mark.parametrize("path", [M + "code.ts", M + "noext", M + "a.md/x.ts"])
    def test_extension_is_no_concern_of_the_other_commands(self, path: str) -> None:
        """Elsewhere a wrong ending is simply a file that does not exist."""
        memory = self.memory({M + "a.md": "a"})
        for command in (
            view(path),
            str_replace(path, "a", "b"),
            insert(path, 0, "x"),
            delete(path),
            rename(path, M + "b.md"),
        ):
            self.refuse(memory, "NOT_FOUND", command, path)

    def test_extension_is_no_concern_of_directories(self) -> None:
        """A directory may be called anything a segment allows, also like a file."""
        memory = self.memory({M + "d/a.md": "a"})
        for name in ("notes.md", "x.ts", "plain", "9."):
            self.succeed(memory, rename(self._only_directory(), M + name))
            assert self.peek(self.scope) == {M + name + "/a.md": b"a"}
        self.succeed(memory, create(M + "notes.md/b.md", "b"))
        self.refuse(memory, "PATH_CONFLICT", create(M + "notes.md", "x"), M + "notes.md")

    def _only_directory(self) -> str:
        (path,) = self.peek(self.scope)
        return path.rpartition("/")[0]

    def test_root_is_valid_for_view_alone(self) -> None:
        """The root is a directory that is always there."""
        memory = self.memory()
        assert self.succeed(memory, view(ROOT)) == {"kind": "directory", "path": ROOT, "entries": []}
        self.refuse(memory, "INVALID_PATH", view(ROOT + "/"), ROOT + "/")
        assert self.peek(self.scope) == {}


def _everywhere(path: object) -> list[dict[str, object]]:
    """Put *path* into every field that holds one; all else about the command is fine."""
    return [
        view(path),
        create(path, "x"),
        str_replace(path, "a", "b"),
        insert(path, 0, "x"),
        delete(path),
        rename(path, M + "free.md"),
        rename(M + "a.md", path),
    ]
