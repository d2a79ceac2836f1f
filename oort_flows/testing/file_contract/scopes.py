"""
Scopes: memories that share a place and never see each other.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.errors import ConfigurationError
from oort_flows.models.limits import Limits
from oort_flows.testing.file_contract.commands import ROOT, M, create, delete, rename, view
from oort_flows.testing.file_contract.place import FileMemoryPlace

__all__ = ["ScopeRules"]

FILE = M + "f.md"
INVALID: list[Any] = [
    "", " ", "   ", "\t", "\u00a0\u2003", "a\nb", "a\n", "\x00", "a\x1fb", "a\x7f", "\ud83d", "a\udfffb", None, 5, True,
    b"scope",
    ["scope"], {},
]  # fmt: skip
VALID = [
    "\U0001f9e0", " outer spaces kept ", "project:billing user:ann", "../../etc", "a/b\\c", "x" * 5_000, "Ünïcödé",
    "a.lock", "HEAD",
    "a\x85b", "'; --", "%2e%2e", "-n", "refs/heads/main", "a:b?*[", "a\u2028b",
]  # fmt: skip
# Pairs that something careless would take for one: case, composition, endings, separators, prefixes.
ALIKE = [("team", "Team"), ("team", "team "), ("team", " team"), ("é", "e\u0301"), ("a/b", "a"), ("a", "a.md"), ("a.", "a"),
         ("ﬁ", "fi"), ("a:b", "a/b"), ("/memories", "memories"), ("x" * 300, "x" * 301)]  # fmt: skip


class ScopeRules(FileMemoryPlace):
    """A scope is kept verbatim, and two of them never see each other."""

    @pytest.mark.parametrize("scope", INVALID)
    def test_scope_that_names_nothing_is_a_configuration_error(self, scope: Any) -> None:
        """Only construction raises, and always the same error, which does not repeat the scope."""
        with pytest.raises(ConfigurationError) as caught:
            self.open_memory(scope)
        assert "scope" in str(caught.value)

    @pytest.mark.parametrize("scope", VALID)
    def test_scope_is_kept_verbatim(self, scope: str) -> None:
        """Any well-formed text without control characters names a memory."""
        memory = self.open_memory(scope)
        assert memory.scope == scope
        self.succeed(memory, create(FILE, "x"))
        assert self.peek(scope) == {FILE: b"x"}
        assert self.peek(self.scope) == {}

    @pytest.mark.parametrize(("one", "other"), ALIKE)
    def test_scopes_never_see_each_other(self, one: str, other: str) -> None:
        """Nothing written, moved, evicted or deleted in one shows in the other."""
        self.seed(other, {FILE: "theirs"})
        mine, theirs = self.open_memory(one, Limits(max_files=1)), self.open_memory(other)
        assert self.succeed(mine, view(ROOT))["entries"] == []
        assert self.succeed(mine, create(FILE, "mine"))["overwritten"] is False
        assert self.succeed(theirs, view(FILE))["text"] == "theirs"
        self.succeed(theirs, rename(FILE, M + "g.md"))
        assert self.succeed(mine, create(M + "h.md", "new"))["evicted"] == [FILE]
        self.succeed(mine, delete(M + "h.md"))
        assert self.peek(one) == {}
        assert self.peek(other) == {M + "g.md": b"theirs"}

    def test_scope_with_one_file_each_counts_its_own_limits(self) -> None:
        """Files of another scope take no room here."""
        self.seed("other", {M + f"{n}.md": "x" * 10 for n in range(5)})
        memory = self.memory(limits=Limits(max_total_bytes=10, max_files=1))
        assert self.succeed(memory, create(FILE, "x" * 10))["evicted"] == []
        assert len(self.peek("other")) == 5

    def test_opening_and_viewing_store_nothing(self) -> None:
        """A memory nobody has written to leaves no trace for the back door."""
        memory = self.memory()
        self.succeed(memory, view(ROOT))
        self.refuse(memory, "NOT_FOUND", view(FILE), FILE)
        assert self.peek(self.scope) == {}

    def test_second_handle_shows_what_the_first_wrote(self) -> None:
        """Two handles on one scope are one memory."""
        first, second = self.memory(), self.memory()
        self.succeed(first, create(FILE, "first"))
        assert self.succeed(second, view(FILE))["text"] == "first"
        self.succeed(second, create(FILE, "second"))
        assert self.succeed(first, view(FILE))["text"] == "second"
        self.succeed(first, delete(FILE))
        self.refuse(second, "NOT_FOUND", view(FILE), FILE)
