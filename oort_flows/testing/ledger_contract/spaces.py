"""
Spaces and grants: who sees what, in every mode and by id.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from oort_flows.errors import InvalidInputError, NotFoundError
from oort_flows.testing.ledger_contract.place import LedgerPlace, day

__all__ = ["SpaceRules"]

# Names that something careless would take for one, or for a pattern.
ALIKE = [
    ("siv", "Siv"), ("siv", "siv "), ("siv", "sivert"), ("siv", "si"), ("siv", "s_v"), ("siv", "%"), ("siv", "*"),
    ("zo\u00eb", "zoe"), ("a/b", "a"), ("a:b", "a"), ("a", "a%2Fb"), ("a/b", "a%2Fb"), ("\ufb01n", "fin"),
    ("x" * 200, "x" * 201),
]  # fmt: skip
_ABSENT = str(uuid.UUID("0190163d-8694-739b-aea5-966c26f8ad90"))

_BY_ID: dict[str, Callable[[Any, str], Any]] = {
    "get": lambda handle, memory: handle.get(memory),
    "history": lambda handle, memory: handle.history(memory),
    "explain": lambda handle, memory: handle.explain(memory),
    "correct": lambda handle, memory: handle.correct(memory, "taken over"),
    "end": lambda handle, memory: handle.end(memory),
    "pin": lambda handle, memory: handle.pin(memory),
    "unpin": lambda handle, memory: handle.unpin(memory),
    "forget": lambda handle, memory: handle.forget(memory),
    "share": lambda handle, memory: handle.share(memory, to="constellation:core"),
}
_MODES: list[dict[str, Any]] = [
    {}, {"mode": "current"}, {"as_of": day(100)}, {"as_of": (day(0), day(900))}, {"known_at": day(100)},
    {"known_at": (day(0), day(900)), "as_of": (day(0), day(900))}, {"mode": "history"},
]  # fmt: skip


class SpaceRules(LedgerPlace):
    """Nothing crosses from one space into another by itself."""

    @pytest.mark.parametrize("how", _MODES, ids=str)
    def test_e01_users_see_only_their_own_in_every_mode(self, how: dict[str, Any]) -> None:
        """Two users store different birthdays; each finds their own, by slot, by query and in the prompt."""
        siv, otso = self.handle("siv"), self.handle("otso")
        self.tell(siv, "3 May", "birthday", subject="me", text="My birthday is on 3 May.")
        self.tell(otso, "9 June", "birthday", subject="me", text="My birthday is on 9 June.")
        for handle, own, foreign in ((siv, "3 May", "9 June"), (otso, "9 June", "3 May")):
            assert self.read(handle, "birthday", "me", **how) == [own]
            found = handle.recall("when is my birthday", **how)
            assert [hit.memory.value for hit in found.hits] == [own]
            assert own in found.prompt
            assert foreign not in found.prompt
        assert self.find(self.handle("runa"), "when is my birthday", **how) == []

    @pytest.mark.parametrize("verb", list(_BY_ID))
    def test_e01_memory_of_another_user_cannot_be_reached_by_id(self, verb: str) -> None:
        """Whatever is asked about it, or done to it, a foreign memory is not there."""
        siv, otso = self.handle("siv", teams=["core"]), self.handle("otso", teams=["core"])
        foreign = self.tell(siv, "3 May", "birthday")
        self.unknown(lambda: _BY_ID[verb](otso, foreign))
        assert siv.get(foreign).status == "live"

    @pytest.mark.parametrize("verb", list(_BY_ID))
    def test_e09_foreign_id_is_answered_as_an_unknown_one(self, verb: str) -> None:
        """The error is the same, to the letter, but for the id that was asked for."""
        siv, otso = self.handle("siv", teams=["core"]), self.handle("otso", teams=["core"])
        foreign = self.tell(siv, "3 May", "birthday")
        said = [self.unknown(lambda memory=memory: _BY_ID[verb](otso, memory)) for memory in (foreign, _ABSENT)]
        assert said[0].replace(foreign, "<id>") == said[1].replace(_ABSENT, "<id>")

    def test_e09_foreign_closed_memory_is_answered_as_an_unknown_one(self) -> None:
        """That a memory is closed is told to those only who may see it."""
        siv, otso = self.handle("siv"), self.handle("otso")
        foreign = self.tell(siv, "3 May", "birthday")
        siv.forget(foreign)
        with pytest.raises(NotFoundError):
            otso.end(foreign)
        with pytest.raises(InvalidInputError):
            siv.end(foreign)

    def test_e04_star_is_seen_by_its_own_agent_alone(self) -> None:
        """What Ask keeps to itself, Embla neither finds nor shares, and neither does the user without an agent."""
        ask = self.handle(agent="ask", keeps_star=True, teams=["core"])
        embla = self.handle(agent="embla", keeps_star=True, teams=["core"])
        private = self.tell(ask, "blue", "mood", text="The mood of billing is blue.")
        assert [row["space"] for row in self.rows()] == ["star:siv/ask"]
        for other in (embla, self.handle(), self.handle("otso", agent="ask")):
            for how in _MODES:
                assert self.read(other, "mood", **how) == []
                assert self.find(other, "mood of billing", **how) == []
        self.unknown(lambda: embla.share(private, to="constellation:core"))
        self.unknown(lambda: embla.share(private, to="planet:siv"))
        assert self.read(ask, "mood") == ["blue"]

    def test_star_is_written_to_only_where_it_is_kept(self) -> None:
        """An agent without a star of its own writes to the planet, and still reads its star."""
        keeping = self.handle(agent="ask", keeps_star=True)
        plain = self.handle(agent="ask")
        self.tell(keeping, "1", "a")
        self.tell(plain, "2", "b")
        assert sorted((row["space"], row["attribute"]) for row in self.rows()) == [
            ("planet:siv", "b"),
            ("star:siv/ask", "a"),
        ]
        for handle in (keeping, plain):
            assert (self.read(handle, "a"), self.read(handle, "b")) == (["1"], ["2"])
        assert (self.read(self.handle(), "a"), self.read(self.handle(), "b")) == ([], ["2"])

    def test_star_never_supersedes_a_planet(self) -> None:
        """Facts meet only within one space; both are seen, each with its own."""
        planet = self.handle()
        star = self.handle(agent="ask", keeps_star=True)
        self.tell(planet, "8100", at=day(1))
        self.tell(star, "8200", at=day(2), outcome="added")
        self.tell(star, "8100", at=day(3), outcome="superseded")
        assert self.read(planet) == ["8100"]
        hits = star.recall("", subject="billing", attribute="port").hits
        assert sorted((str(hit.space), hit.memory.value) for hit in hits) == [
            ("planet:siv", "8100"),
            ("star:siv/ask", "8100"),
        ]
        assert [period for period in self.believed() if period[2] is None] == [
            ("8100", day(1), None),
            ("8100", day(3), None),
        ]

    def test_same_sentence_in_two_spaces_is_two_memories(self) -> None:
        """Nobody confirms what is said elsewhere."""
        siv, otso = self.handle("siv"), self.handle("otso")
        memory = str(siv.remember("Backups run at night.").facts[0].id)
        answer = otso.remember("Backups run at night.")
        assert answer.outcome == "added"
        assert list(answer.facts[0].left_alone) == []
        assert siv.get(memory).confirmations == 1

    def test_near_equal_memory_of_another_space_is_not_named(self) -> None:
        """``left_alone`` names nothing that lies outside of the space that is written to."""
        self.handle("siv").remember("The review of the billing service is on the 15th.")
        answer = self.handle("otso").remember("The review of the billing service is on the 16th.")
        assert list(answer.facts[0].left_alone) == []

    @pytest.mark.parametrize(("one", "other"), ALIKE)
    def test_names_that_look_alike_stay_apart(self, one: str, other: str) -> None:
        """Users are told apart exactly, as are agents and teams."""
        handles = [self.handle(one), self.handle(other)]
        for number, handle in enumerate(handles):
            self.tell(handle, str(number), "number")
        assert [self.read(handle, "number") for handle in handles] == [["0"], ["1"]]
        stars = [self.handle("siv", agent=name, keeps_star=True) for name in (one, other)]
        for number, handle in enumerate(stars):
            self.tell(handle, str(number), "star number")
        assert [self.read(handle, "star number") for handle in stars] == [["0"], ["1"]]
        self.ledger().erase(user=one)
        assert [self.read(handle, "number") for handle in handles] == [[], ["1"]]

    def test_name_is_the_same_in_either_unicode_form(self) -> None:
        """A name composed and one decomposed are one user."""
        self.tell(self.handle("zo\u00eb"), "1")
        assert self.read(self.handle("zoe\u0308")) == ["1"]

    @pytest.mark.parametrize("name", ["", " ", None, 5, "a\nb", "\x00", "\ud800"])
    @pytest.mark.parametrize("field", ["user", "agent", "teams", "project"])
    def test_name_that_names_nobody_is_refused(self, field: str, name: Any) -> None:
        """An empty name is never taken for everybody."""
        if name is None and field != "user":
            return
        scope: dict[str, Any] = {"user": "siv"} | {field: [name] if field == "teams" else name}
        ledger = self.ledger()
        with pytest.raises(InvalidInputError) as caught:
            ledger.scoped(**scope)
        assert caught.value.field == field

    def test_star_without_an_agent_is_refused(self) -> None:
        """A star belongs to an agent."""
        ledger = self.ledger()
        with pytest.raises(InvalidInputError) as caught:
            ledger.scoped(user="siv", keeps_star=True)
        assert caught.value.field in ("agent", "keeps_star")

    def test_ledger_without_a_scope_neither_reads_nor_writes(self) -> None:
        """Whoever wants to read or write says first for whom."""
        ledger = self.ledger()
        for verb in ("remember", "recall", "get", "history", "forget", "share", "correct", "end", "judge", "pin"):
            assert not hasattr(ledger, verb), f"an unscoped ledger answers {verb}"

    def test_constellation_is_read_by_those_who_name_it(self) -> None:
        """Members of a team see what was shared with it, others do not."""
        siv = self.handle(teams=["core"])
        memory = self.tell(siv, "8100")
        siv.share(memory, to="constellation:core")
        otso = self.handle("otso", teams=["core", "web"])
        (hit,) = otso.recall("", subject="billing", attribute="port").hits
        assert (str(hit.space), hit.memory.value) == ("constellation:core", "8100")
        for stranger in (self.handle("otso"), self.handle("otso", teams=["web"]), self.handle("otso", teams=["cor"])):
            assert self.read(stranger) == []

    def test_spaces_never_shadow_each_other(self) -> None:
        """A slot with a value in each of two spaces is answered with both."""
        siv = self.handle(teams=["core"])
        siv.share(self.tell(siv, "8100", at=day(1)), to="constellation:core")
        self.tell(siv, "8200", at=day(2))
        modes: list[dict[str, Any]] = [{}, {"as_of": day(3)}, {"known_at": day(3)}]
        for how in modes:
            assert self.read(siv, **how) == ["8100", "8200"]
