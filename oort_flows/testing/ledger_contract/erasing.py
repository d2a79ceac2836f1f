"""
Erase: what goes for good, what stays, and when it is refused.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.errors import InvalidInputError
from oort_flows.testing.ledger_contract.place import LedgerPlace, day

__all__ = ["EraseRules"]

# Begins like the name of another user, and shares nothing with it.
_SIVERTS = ("planet:sivert", "star:sivert/ask")


class EraseRules(LedgerPlace):
    """Erasing is physical, exact, counted, and never by accident."""

    def settled(self) -> dict[str, Any]:
        """Fill spaces of two users and a team."""
        handles = {
            "siv": self.handle(teams=["core"]),
            "star": self.handle(agent="ask", keeps_star=True),
            "otso": self.handle("otso"),
            "sivert": self.handle("sivert"),
            "sivert's star": self.handle("sivert", agent="ask", keeps_star=True),
        }
        for name, handle in handles.items():
            self.tell(handle, f"{name}-1", at=day(1))
            self.tell(handle, f"{name}-2", at=day(2))
            handle.remember(f"The secret word of {name} is quokka.")
        handles["siv"].share(self.tell(handles["siv"], "shared", "host"), to="constellation:core")
        return handles

    def spaces(self) -> set[str]:
        """Name the spaces that hold anything, by the back door."""
        return {row["space"] for row in self.rows()}

    def test_erase_of_a_space_empties_it_and_counts(self) -> None:
        """All versions of that space go, and nothing else does."""
        self.settled()
        before = self.rows()
        gone = self.ledger().erase(scope="planet:siv")
        assert self.spaces() == {"star:siv/ask", "planet:otso", *_SIVERTS, "constellation:core"}
        assert gone == len({row["id"] for row in before if row["space"] == "planet:siv"})
        kept = [row for row in before if row["space"] != "planet:siv"]
        assert sorted(map(repr, self.rows())) == sorted(map(repr, kept))
        assert self.ledger().erase(scope="planet:siv") == 0

    def test_erase_of_a_user_takes_planet_and_stars(self) -> None:
        """What a user shared with a team belongs to the team."""
        handles = self.settled()
        self.ledger().erase(user="siv")
        assert self.spaces() == {"planet:otso", *_SIVERTS, "constellation:core"}
        assert self.read(handles["siv"], "host") == ["shared"]
        assert self.find(handles["siv"], "quokka", mode="history") == []

    def test_erase_of_a_memory_takes_all_its_versions_and_no_other(self) -> None:
        """Its predecessor and its successor stay."""
        handle = self.handle()
        for number in (1, 2, 3):
            self.tell(handle, str(number), at=day(number))
        (middle,) = {str(row["id"]) for row in self.rows() if row["value"] == "2"}
        assert len(self.versions_of(middle)) == 2
        assert self.ledger().erase(id=middle) == 1
        assert self.believed() == [("1", day(1), day(2)), ("3", day(3), None)]
        assert self.read(handle, as_of=day(2)) == []
        self.unknown(lambda: handle.get(middle))

    @pytest.mark.parametrize(
        "scope", [{}, {"scope": None}, {"scope": ""}, {"scope": " "}, {"user": ""}, {"user": None}, {"user": " "},
                  {"id": ""}, {"id": None}, {"scope": "*"}, {"scope": "planet"}, {"scope": "planet:"}, {"scope": "planet: "},
                  {"scope": "%"}, {"scope": 5}, {"user": 5}, {"user": True}, {"scope": []}, {"id": "%"}],
        ids=str,
    )  # fmt: skip
    def test_f03_erase_of_nothing_in_particular_is_refused(self, scope: dict[str, Any]) -> None:
        """An empty, missing or shapeless scope never means everybody; all that is stored stays."""
        self.settled()
        before = self.rows()
        with pytest.raises((InvalidInputError, LookupError)):
            self.ledger().erase(**scope)
        assert self.rows() == before

    @pytest.mark.parametrize(
        "scope",
        [{"scope": "planet:siv", "user": "siv"}, {"user": "siv", "id": "x"}, {"scope": "planet:otso", "user": "siv"}],
        ids=str,
    )
    def test_erase_by_two_scopes_is_refused(self, scope: dict[str, Any]) -> None:
        """It takes exactly one of a space, a user and an id."""
        self.settled()
        before = self.rows()
        with pytest.raises(InvalidInputError):
            self.ledger().erase(**scope)
        assert self.rows() == before

    def test_f01_erased_memory_is_found_nowhere(self) -> None:
        """Neither by any mode, nor by id, nor by history, nor after opening the ledger anew."""
        handle = self.handle()
        text = "The launch code word is quokka."
        first = self.tell(handle, "quokka", "word", subject="launch", text=text, at=day(1))
        second = self.tell(handle, "numbat", "word", subject="launch", text="Now it is numbat.", at=day(2))
        self.ledger().erase(id=first)
        for opened in (handle, self.handle()):
            for how in ({}, {"as_of": day(1)}, {"known_at": day(1)}, {"mode": "history"}):
                assert "quokka" not in self.read(opened, "word", "launch", **how)
                found = opened.recall("launch code word quokka", **how)
                assert all("quokka" not in hit.memory.text for hit in found.hits)
                assert "quokka" not in found.prompt.replace("launch code word quokka", "")
            self.unknown(lambda opened=opened: opened.get(first))
            self.unknown(lambda opened=opened: opened.history(first))
            self.unknown(lambda opened=opened: opened.explain(first))
            assert opened.get(second).value == "numbat"
        assert "quokka" not in repr(self.rows())

    def test_f02_search_after_an_erase_gives_no_empty_hit(self) -> None:
        """No ghost is left in the index; what else matches is still found."""
        handle = self.handle()
        memory = str(handle.remember("The wombat sleeps in the server room.").facts[0].id)
        handle.remember("The server room is cold.")
        self.ledger().erase(id=memory)
        assert self.find(handle, "wombat") == []
        assert self.find(handle, "server room") == ["The server room is cold."]
        assert self.find(handle, "wombat", mode="history") == []

    def test_f02_search_after_a_forget_gives_no_empty_hit(self) -> None:
        """The same holds for a memory that was forgotten."""
        handle = self.handle()
        handle.forget(str(handle.remember("The wombat sleeps in the server room.").facts[0].id))
        self.clock.advance()
        assert self.find(handle, "wombat") == []

    def test_erased_fact_can_be_told_again(self) -> None:
        """Nothing of an erased memory is in the way of a new one."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(1))
        self.ledger().erase(id=memory)
        again = self.tell(handle, "8100", at=day(2), outcome="added")
        assert again != memory
        assert handle.get(again).confirmations == 1

    def test_erase_of_an_unknown_id_finds_nothing(self) -> None:
        """An id that nobody has is not found, and nothing goes."""
        self.settled()
        before = self.rows()
        self.unknown(lambda: self.ledger().erase(id="0190163d-8694-739b-aea5-966c26f8ad90"))
        assert self.rows() == before
