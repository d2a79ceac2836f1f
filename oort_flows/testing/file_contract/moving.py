"""
``delete`` and ``rename``: files go, or go elsewhere.
"""

from __future__ import annotations

import pytest

from oort_flows.testing.file_contract.commands import ROOT, M, create, delete, rename, view
from oort_flows.testing.file_contract.place import FileMemoryPlace

__all__ = ["DeleteRules", "RenameRules"]

A, B = M + "a.md", M + "b.md"
DEEP = "/memories" + ("/" + "d" * 100) * 9  # 918 bytes


class DeleteRules(FileMemoryPlace):
    """``delete`` takes a file, or a directory with all below it."""

    def test_delete_of_a_file_frees_its_bytes(self) -> None:
        """The receipt counts bytes, not characters."""
        memory = self.memory({A: "££", B: "b"})
        assert self.succeed(memory, delete(A)) == {"path": A, "kind": "file", "deleted_files": 1, "freed_bytes": 4}
        assert self.peek(self.scope) == {B: b"b"}
        self.refuse(memory, "NOT_FOUND", view(A), A)

    def test_delete_of_a_directory_takes_all_below_it(self) -> None:
        """Files at every depth go, and the directory with them."""
        memory = self.memory({M + "a/one.md": "1", M + "a/two.md": "22", B: "b"})
        assert self.succeed(memory, delete(M + "a")) == {
            "path": M + "a",
            "kind": "directory",
            "deleted_files": 2,
            "freed_bytes": 3,
        }
        self.refuse(memory, "NOT_FOUND", view(M + "a"), M + "a")
        assert self.peek(self.scope) == {B: b"b"}

    def test_delete_of_a_nested_directory_leaves_its_siblings(self) -> None:
        """Only what lies below the path goes, however alike the names are."""
        kept = {M + "ab/x.md": "x", M + "a.md": "y", M + "a-b/z.md": "z", M + "c/a/x.md": "n"}
        memory = self.memory({M + "a/x.md": "1", M + "a/b/c.md": "2", **kept})
        assert self.succeed(memory, delete(M + "a"))["deleted_files"] == 2
        assert self.peek(self.scope) == {path: text.encode() for path, text in kept.items()}

    def test_delete_of_a_file_twice_is_not_found(self) -> None:
        """The second time there is nothing."""
        memory = self.memory({A: "a"})
        self.succeed(memory, delete(A))
        self.refuse(memory, "NOT_FOUND", delete(A), A)

    def test_delete_of_nothing_is_not_found(self) -> None:
        """Also below a file, and where only a name begins alike."""
        memory = self.memory({A: "a", M + "d/x.md": "x"})
        for path in (B, A + "/x.md", M + "d/y.md", M + "a", M + "d/x"):
            self.refuse(memory, "NOT_FOUND", delete(path), path)

    def test_delete_of_the_root_is_refused(self) -> None:
        """The root is protected, whatever is in it and whatever else is wrong."""
        self.refuse(self.memory(), "ROOT_PROTECTED", delete(ROOT), ROOT)
        memory = self.memory({A: "a"})
        self.refuse(memory, "ROOT_PROTECTED", delete(ROOT), ROOT)
        self.refuse(memory, "ROOT_PROTECTED", delete(ROOT, if_match="nonsense"), ROOT)

    def test_delete_of_everything_leaves_a_memory_that_works(self) -> None:
        """After the last file the root is empty, and writing goes on."""
        memory = self.memory({A: "a", B: "b"})
        self.succeed(memory, delete(A))
        self.succeed(memory, delete(B))
        assert self.peek(self.scope) == {}
        assert not self.succeed(memory, create(A, "again"))["overwritten"]
        assert self.peek(self.scope) == {A: b"again"}

    def test_delete_of_an_empty_file_counts_it(self) -> None:
        """An empty file is a file."""
        memory = self.memory({A: ""})
        assert self.succeed(memory, delete(A)) == {"path": A, "kind": "file", "deleted_files": 1, "freed_bytes": 0}


class RenameRules(FileMemoryPlace):
    """``rename`` moves a file or a directory and never overwrites."""

    def test_rename_of_a_file_moves_its_bytes(self) -> None:
        """The text is untouched, the old path is free."""
        memory = self.memory({A: "a\r\n"})
        assert self.succeed(memory, rename(A, B)) == {"old_path": A, "new_path": B, "kind": "file", "moved_files": 1}
        assert self.peek(self.scope) == {B: b"a\r\n"}
        self.refuse(memory, "NOT_FOUND", view(A), A)
        assert self.succeed(memory, view(B))["text"] == "a\r\n"

    def test_rename_of_a_directory_moves_all_below_it(self) -> None:
        """Files at every depth move; neighbours with similar names stay."""
        memory = self.memory({M + "a/1.md": "1", M + "a/b/2.md": "2", M + "ab/3.md": "3", A: "4"})
        assert self.succeed(memory, rename(M + "a", M + "x/y")) == {
            "old_path": M + "a",
            "new_path": M + "x/y",
            "kind": "directory",
            "moved_files": 2,
        }
        assert self.peek(self.scope) == {M + "x/y/1.md": b"1", M + "x/y/b/2.md": b"2", M + "ab/3.md": b"3", A: b"4"}

    def test_rename_into_new_parents_lists_them(self) -> None:
        """Missing parents appear, and emptied ones are gone."""
        memory = self.memory({M + "old/a.md": "a"})
        self.succeed(memory, rename(M + "old/a.md", M + "x/y/z.md"))
        assert self.succeed(memory, view(ROOT))["entries"] == [{"name": "x", "path": M + "x", "kind": "directory"}]
        assert self.succeed(memory, view(M + "x"))["entries"] == [{"name": "y", "path": M + "x/y", "kind": "directory"}]
        self.refuse(memory, "NOT_FOUND", view(M + "old"), M + "old")

    def test_rename_onto_itself_exists_already(self) -> None:
        """Neither a file nor a directory can be renamed to what it is called."""
        memory = self.memory({A: "a", M + "d/x.md": "x"})
        for path in (A, M + "d"):
            self.refuse(memory, "ALREADY_EXISTS", rename(path, path), path)

    @pytest.mark.parametrize(
        ("old", "new"),
        [(A, B), (A, M + "d"), (M + "d", B), (M + "d", M + "e"), (M + "d/x.md", M + "d"), (M + "d", M + "d/x.md"),
        (A, M + "d/x.md")],
    )  # fmt: skip
    def test_rename_onto_anything_that_exists_is_refused(self, old: str, new: str) -> None:
        """Files and directories are in the way alike, also a parent or a child of the source."""
        memory = self.memory({A: "a", B: "b", M + "d/x.md": "x", M + "e/y.md": "y"})
        self.refuse(memory, "ALREADY_EXISTS", rename(old, new), new)

    def test_rename_of_nothing_is_not_found(self) -> None:
        """The path of the refusal is the old one."""
        memory = self.memory({A: "a"})
        for path in (B, M + "d", A + "/x.md"):
            self.refuse(memory, "NOT_FOUND", rename(path, M + "new.md"), path)

    def test_rename_with_the_root_on_either_side_is_refused(self) -> None:
        """The root neither moves nor is replaced."""
        memory = self.memory({A: "a"})
        self.refuse(memory, "ROOT_PROTECTED", rename(ROOT, M + "x"), ROOT)
        self.refuse(memory, "ROOT_PROTECTED", rename(A, ROOT), ROOT)
        self.refuse(memory, "ROOT_PROTECTED", rename(ROOT, ROOT), ROOT)
        self.refuse(memory, "ROOT_PROTECTED", rename(M + "missing.md", ROOT), ROOT)

    def test_rename_of_a_directory_into_itself_is_a_conflict(self) -> None:
        """A subtree is known by whole segments, so a longer name beside it is fine."""
        memory = self.memory({M + "a/x.md": "x"})
        for new in (M + "a/b", M + "a/b/c", M + "a/x.ts"):
            self.refuse(memory, "CONFLICT", rename(M + "a", new), new, {"reason": "into_itself"})
        self.succeed(memory, rename(M + "a", M + "ab"))
        assert self.peek(self.scope) == {M + "ab/x.md": b"x"}

    def test_rename_of_a_directory_to_its_parent_level_moves_up(self) -> None:
        """A directory can leave its parent, which goes when nothing is left in it."""
        memory = self.memory({M + "a/b/x.md": "x"})
        self.succeed(memory, rename(M + "a/b", M + "b"))
        assert self.peek(self.scope) == {M + "b/x.md": b"x"}

    def test_rename_below_a_file_names_the_file_in_the_way(self) -> None:
        """Also where the file is the source itself."""
        memory = self.memory({A: "a", B: "b", M + "d/x.md": "x"})
        self.refuse(memory, "PATH_CONFLICT", rename(A, B + "/c.md"), B)
        self.refuse(memory, "PATH_CONFLICT", rename(M + "d", B + "/c/d"), B)
        self.refuse(memory, "PATH_CONFLICT", rename(A, A + "/c.md"), A)

    def test_rename_into_its_own_parent_name_is_possible_when_freed(self) -> None:
        """A file may take a name below a directory that it leaves behind."""
        memory = self.memory({M + "d/x.md": "x"})
        self.succeed(memory, rename(M + "d/x.md", M + "d/e/f.md"))
        assert self.peek(self.scope) == {M + "d/e/f.md": b"x"}

    def test_rename_validates_every_moved_path_before_anything_moves(self) -> None:
        """A child whose new path would be too long stops the whole move, and the limit is told."""
        short, long = M + "a/0.md", M + "a/" + "c" * 110 + ".md"
        memory = self.memory({short: "0", long: "1"})
        refused = DEEP + "/" + "c" * 110 + ".md"
        assert len(refused) > 1_024 >= len(DEEP + "/0.md")
        self.refuse(memory, "INVALID_PATH", rename(M + "a", DEEP), refused, {"max_bytes": 1_024})
        assert self.peek(self.scope) == {short: b"0", long: b"1"}

    def test_rename_of_a_directory_to_the_longest_path_that_fits_moves(self) -> None:
        """A moved child of exactly 1,024 bytes is valid."""
        memory = self.memory({M + "a/" + "c" * 102 + ".md": "1"})
        target = DEEP + "/" + "c" * 102 + ".md"
        assert len(target) == 1_024
        self.succeed(memory, rename(M + "a", DEEP))
        assert self.peek(self.scope) == {target: b"1"}
