"""
Limits and eviction: what no longer fits, and what goes for it.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.errors import ConfigurationError
from oort_flows.models.limits import Limits
from oort_flows.testing.file_contract.commands import ROOT, M, create, delete, insert, rename, str_replace, view
from oort_flows.testing.file_contract.place import FileMemoryPlace, sha

__all__ = ["EvictionRules", "LimitRules"]

A, B, C, D = (M + f"{name}.md" for name in "abcd")
TWO = Limits(max_files=2)


def too_big(size: int, file: int = 65_536, total: int = 1_048_576) -> dict[str, object]:
    return {"byte_length": size, "max_file_bytes": file, "max_total_bytes": total}


class LimitRules(FileMemoryPlace):
    """A file that could never fit is refused, and nothing changes."""

    @pytest.mark.parametrize("field", ["max_file_bytes", "max_total_bytes", "max_files"])
    def test_limits_are_integers_from_1_to_the_largest_exact_one(self, field: str) -> None:
        """What cannot be a limit is refused where it is written down."""
        for value in (0, -1, 2**53, 10**400, True, False, 1.0, "5", None, float("nan"), float("inf"), [1], b"1"):
            arguments: dict[str, Any] = {field: value}
            with pytest.raises(ConfigurationError):
                Limits(**arguments)
        for value in (1, 2**53 - 1):
            assert getattr(Limits(**{field: value}), field) == value

    def test_limits_have_defaults(self) -> None:
        """64 KiB for a file, 1 MiB in all, 256 files."""
        assert Limits() == Limits(max_file_bytes=65_536, max_total_bytes=1_048_576, max_files=256)

    @pytest.mark.parametrize("limits", [5, "large", {"max_files": 2}, (1, 2, 3), object()])
    def test_limits_that_are_no_limits_are_refused_at_construction(self, limits: Any) -> None:
        """Only ``Limits`` bounds a memory."""
        with pytest.raises(ConfigurationError):
            self.open_memory(self.scope, limits)

    def test_file_of_exactly_the_limit_fits_and_one_more_byte_does_not(self) -> None:
        """Bytes count, not characters, with the default limits."""
        memory = self.memory()
        self.succeed(memory, create(A, "£" * 32_768))
        self.refuse(memory, "LIMIT_EXCEEDED", create(A, "£" * 32_768 + "x"), A, too_big(65_537))
        self.refuse(memory, "LIMIT_EXCEEDED", create(B, "x" * 65_537), B, too_big(65_537))
        assert self.peek(self.scope) == {A: "£".encode() * 32_768}

    def test_file_over_the_limits_leaves_the_others_intact(self) -> None:
        """Nothing is evicted for what cannot fit anyway."""
        memory = self.memory(limits=Limits(max_file_bytes=4, max_total_bytes=4))
        self.succeed(memory, create(A, "safe"))
        self.refuse(memory, "LIMIT_EXCEEDED", create(B, "large"), B, too_big(5, 4, 4))
        assert self.peek(self.scope) == {A: b"safe"}

    def test_file_limit_may_exceed_the_total_which_then_binds(self) -> None:
        """The smaller of the two bounds a file."""
        memory = self.memory({A: "a"}, Limits(max_file_bytes=100, max_total_bytes=4))
        self.refuse(memory, "LIMIT_EXCEEDED", create(B, "large"), B, too_big(5, 100, 4))
        self.refuse(memory, "LIMIT_EXCEEDED", create(A, "large"), A, too_big(5, 100, 4))
        assert self.succeed(memory, create(B, "four"))["evicted"] == [A]

    def test_file_limit_binds_below_the_total(self) -> None:
        """Room in all does not help one file that is too big."""
        memory = self.memory({A: "aaaa"}, Limits(max_file_bytes=4, max_total_bytes=100))
        self.refuse(memory, "LIMIT_EXCEEDED", create(B, "large"), B, too_big(5, 4, 100))
        self.succeed(memory, create(B, "four"))

    def test_edit_that_grows_a_file_over_the_limit_is_refused(self) -> None:
        """The size afterwards counts, and the file stays as it was."""
        memory = self.memory({A: "abcd", B: "b\r\n"}, Limits(max_file_bytes=6, max_total_bytes=20))
        self.refuse(memory, "LIMIT_EXCEEDED", str_replace(A, "a", "1234"), A, too_big(7, 6, 20))
        self.refuse(memory, "LIMIT_EXCEEDED", insert(A, 1, "xy"), A, too_big(8, 6, 20))
        assert self.succeed(memory, str_replace(A, "a", "123"))["byte_length"] == 6
        assert self.succeed(memory, insert(B, 1, "xyz"))["byte_length"] == 6

    def test_names_and_directories_do_not_count(self) -> None:
        """Only the bytes of texts and the number of files count."""
        memory = self.memory(limits=Limits(max_file_bytes=1, max_total_bytes=2, max_files=2))
        for path in (M + "a/long/way/down/to/the/first.md", M + "another/long/way/down/to/the/second.md"):
            assert self.succeed(memory, create(path, "x"))["evicted"] == []

    def test_overwriting_counts_the_new_size_only(self) -> None:
        """The replaced text makes room for the new one."""
        memory = self.memory({A: "aaaa", B: "bb"}, Limits(max_total_bytes=6))
        assert self.succeed(memory, create(A, "AAAA"))["evicted"] == []
        assert self.succeed(memory, create(A, ""))["evicted"] == []
        assert self.succeed(memory, create(B, "bbbbbb"))["evicted"] == []

    def test_bytes_freed_by_delete_can_be_used_again(self) -> None:
        """Neither bytes nor the number of files are remembered past a delete."""
        memory = self.memory({A: "aaaa", M + "d/b.md": "bb"}, Limits(max_total_bytes=6, max_files=2))
        self.succeed(memory, delete(A))
        assert self.succeed(memory, create(C, "cccc"))["evicted"] == []
        self.succeed(memory, delete(M + "d"))
        assert self.succeed(memory, create(D, "dd"))["evicted"] == []

    def test_rename_checks_no_sizes_and_evicts_nothing(self) -> None:
        """A memory over its limits can still be put in order."""
        memory = self.memory({A: "aaaa", M + "d/b.md": "bbbb", C: "cccc"}, Limits(1, 1, 1))
        self.succeed(memory, rename(A, D))
        self.succeed(memory, rename(M + "d", M + "e"))
        assert self.peek(self.scope) == {D: b"aaaa", M + "e/b.md": b"bbbb", C: b"cccc"}


class EvictionRules(FileMemoryPlace):
    """The least recently written other file goes first, and only while it has to."""

    def test_view_does_not_refresh(self) -> None:
        """Reading keeps nothing alive."""
        memory = self.memory(limits=TWO)
        self.succeed(memory, create(A, "a"))
        self.succeed(memory, create(B, "b"))
        self.succeed(memory, view(A))
        self.succeed(memory, view(ROOT))
        assert self.succeed(memory, create(C, "c"))["evicted"] == [A]
        assert self.peek(self.scope) == {B: b"b", C: b"c"}

    @pytest.mark.parametrize(
        "refresh",
        [
            create(A, "new"),
            create(A, "a"),
            str_replace(A, "a", "x"),
            str_replace(A, "a", "a"),
            insert(A, 0, "x"),
            insert(A, 0, ""),
        ],
    )
    def test_every_write_of_the_text_refreshes(self, refresh: dict[str, Any]) -> None:
        """Also one that leaves the text as it was."""
        memory = self.memory({A: "a", B: "b"}, TWO)
        assert self.succeed(memory, refresh)["evicted"] == []
        assert self.succeed(memory, create(C, "c"))["evicted"] == [B]

    def test_rename_keeps_the_stamp(self) -> None:
        """A new name is no new text, for files and for directories."""
        memory = self.memory({A: "a", B: "b"}, TWO)
        self.succeed(memory, rename(A, M + "r.md"))
        assert self.succeed(memory, create(C, "c"))["evicted"] == [M + "r.md"]
        self.succeed(memory, rename(B, M + "d/b.md"))
        self.succeed(memory, rename(M + "d", M + "e"))
        assert self.succeed(memory, create(D, "d"))["evicted"] == [M + "e/b.md"]

    @pytest.mark.parametrize(
        "failing",
        [create(A, "x" * 99), create(A, "x", if_match="0" * 64), str_replace(A, "nowhere", "x"), insert(A, 9, "x"),
        create(A, 5),
         rename(A, B), create(A + "/x.md", "x"), str_replace(A, "a", "x" * 99), insert(A, 0, "x" * 99),
         delete(A, if_match="0" * 64)],
    )  # fmt: skip
    def test_failed_write_does_not_refresh(self, failing: dict[str, Any]) -> None:
        """What was refused leaves the order alone."""
        memory = self.memory({A: "a", B: "b"}, Limits(max_file_bytes=50, max_files=2))
        assert not self.answer(memory, failing)["ok"]
        assert self.succeed(memory, create(C, "c"))["evicted"] == [A]

    def test_delete_leaves_the_order_of_the_rest(self) -> None:
        """A file written anew after a delete is the latest again."""
        memory = self.memory({A: "a", B: "b", C: "c"}, Limits(max_files=3))
        self.succeed(memory, delete(A))
        self.succeed(memory, create(A, "again"))
        assert self.succeed(memory, create(D, "d"))["evicted"] == [B]
        assert self.succeed(memory, create(M + "e.md", "e"))["evicted"] == [C]
        assert self.succeed(memory, create(M + "f.md", "f"))["evicted"] == [A]

    def test_order_goes_on_after_everything_was_deleted(self) -> None:
        """Later writes stay later."""
        memory = self.memory({A: "a", B: "b"}, TWO)
        for path in (A, B):
            self.succeed(memory, delete(path))
        for path in (D, C):
            self.succeed(memory, create(path, "x"))
        assert self.succeed(memory, create(A, "a"))["evicted"] == [D]

    def test_order_is_that_of_writing_and_not_of_names(self) -> None:
        """Paths play no part in it."""
        memory = self.memory({C: "c", A: "a", D: "d", B: "b"}, Limits(max_files=4))
        gone = [self.succeed(memory, create(M + f"new/{n}.md", "x"))["evicted"] for n in range(4)]
        assert gone == [[C], [A], [D], [B]]

    def test_overwriting_at_the_file_limit_evicts_nothing(self) -> None:
        """The number of files does not change."""
        memory = self.memory({A: "a", B: "b"}, TWO)
        assert self.succeed(memory, create(A, "new"))["evicted"] == []
        assert self.succeed(memory, create(B, "new"))["evicted"] == []

    def test_bytes_evict_the_oldest_until_it_fits_and_no_further(self) -> None:
        """Several may go, in the order they were written; there is no search for a better fit."""
        memory = self.memory({A: "1", B: "22", C: "333", D: "4444"}, Limits(max_total_bytes=10))
        new = M + "e.md"
        assert self.succeed(memory, create(new, "555"))["evicted"] == [A, B]
        assert self.peek(self.scope) == {C: b"333", D: b"4444", new: b"555"}
        assert self.succeed(memory, create(M + "f.md", ""))["evicted"] == []

    def test_empty_files_go_in_turn_when_bytes_are_short(self) -> None:
        """An old empty file goes although it frees nothing."""
        memory = self.memory({A: "", B: "bbbb", C: "cc"}, Limits(max_total_bytes=6))
        assert self.succeed(memory, create(D, "dddd"))["evicted"] == [A, B]

    @pytest.mark.parametrize(
        "growing", [create(A, "aaaaaa"), str_replace(A, "a", "aaaaaa"), insert(A, 0, "aaa"),
        create(A, "aaaaaa", if_match=sha("a"))]
    )  # fmt: skip
    def test_growing_a_file_evicts_others_and_never_itself(self, growing: dict[str, Any]) -> None:
        """The target stays even where it is the oldest."""
        memory = self.memory({A: "a", B: "bb", C: "cc"}, Limits(max_total_bytes=8))
        assert self.succeed(memory, growing)["evicted"] == [B]
        assert self.peek(self.scope).keys() == {A, C}

    def test_target_may_take_all_the_room(self) -> None:
        """A file as large as the total evicts every other."""
        memory = self.memory({A: "a", B: "bb", C: "cc"}, Limits(max_file_bytes=8, max_total_bytes=8))
        assert self.succeed(memory, create(B, "b" * 8))["evicted"] == [A, C]
        assert self.peek(self.scope) == {B: b"b" * 8}

    def test_single_file_memory_keeps_the_latest(self) -> None:
        """With room for one file each new one replaces the last."""
        memory = self.memory(limits=Limits(max_files=1))
        assert self.succeed(memory, create(M + "d/a.md", "a"))["evicted"] == []
        assert self.succeed(memory, create(B, "b"))["evicted"] == [M + "d/a.md"]
        assert self.peek(self.scope) == {B: b"b"}

    def test_default_limits_hold_256_files(self) -> None:
        """With one more the first one goes."""
        files = {M + f"{n:03}.md": "" for n in range(256)}
        memory = self.memory(files)
        assert len(self.succeed(memory, view(ROOT))["entries"]) == 256
        assert self.succeed(memory, create(M + "new.md", ""))["evicted"] == [M + "000.md"]
        assert len(self.peek(self.scope)) == 256

    def test_default_limits_hold_16_files_of_full_size(self) -> None:
        """With one more the first one goes."""
        files = {M + f"{n:02}.md": "x" * 65_536 for n in range(16)}
        memory = self.memory(files)
        assert self.succeed(memory, create(M + "new.md", "x" * 65_536))["evicted"] == [M + "00.md"]

    def test_evicted_file_was_a_directory_of_its_own(self) -> None:
        """A directory whose last file was evicted is gone, and its name free."""
        memory = self.memory({M + "x.md/a.md": "a", B: "b"}, TWO)
        assert self.succeed(memory, create(C, "c"))["evicted"] == [M + "x.md/a.md"]
        self.refuse(memory, "NOT_FOUND", view(M + "x.md"), M + "x.md")
        assert self.succeed(memory, create(M + "x.md", "x"))["evicted"] == [B]

    def test_limits_below_the_content_never_lock_the_owner_out(self) -> None:
        """Opening changes nothing; view, rename and delete work as always."""
        stored = {A: "aaaa", B: "bbbb", C: "cccc"}
        memory = self.memory(stored, Limits(max_file_bytes=2, max_total_bytes=3, max_files=1))
        assert self.peek(self.scope) == {path: text.encode() for path, text in stored.items()}
        assert self.succeed(memory, view(A))["text"] == "aaaa"
        assert len(self.succeed(memory, view(ROOT))["entries"]) == 3
        self.succeed(memory, rename(A, D))
        self.succeed(memory, delete(B))
        assert self.peek(self.scope) == {D: b"aaaa", C: b"cccc"}

    def test_write_below_the_content_evicts_until_it_fits(self) -> None:
        """A memory opened with lower limits shrinks at the first write that fits them."""
        memory = self.memory(
            {A: "aaaa", B: "bbbb", C: "c", D: "d"}, Limits(max_file_bytes=2, max_total_bytes=3, max_files=3)
        )
        assert self.succeed(memory, create(M + "e.md", "e"))["evicted"] == [A, B]
        assert self.peek(self.scope).keys() == {C, D, M + "e.md"}

    def test_write_below_the_content_is_refused_where_it_could_never_fit(self) -> None:
        """An edit that leaves a file too large is refused, even one that makes it smaller."""
        memory = self.memory({A: "aaaa", B: "bbbb"}, Limits(max_file_bytes=2, max_total_bytes=20))
        self.refuse(memory, "LIMIT_EXCEEDED", str_replace(A, "aaaa", "aaa"), A, too_big(3, 2, 20))
        self.refuse(memory, "LIMIT_EXCEEDED", insert(B, 0, ""), B, too_big(5, 2, 20))
        assert self.succeed(memory, str_replace(A, "aaaa", "aa"))["evicted"] == []

    def test_each_handle_keeps_its_own_limits(self) -> None:
        """Limits belong to the handle that writes, not to what is stored."""
        wide = self.memory({A: "a", B: "b", C: "c"})
        self.succeed(wide, create(D, "d"))
        narrow = self.open_memory(self.scope, Limits(max_files=3))
        assert self.succeed(narrow, create(D, "dd"))["evicted"] == [A]
