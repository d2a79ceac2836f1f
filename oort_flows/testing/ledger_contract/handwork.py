"""
By hand: judge, correct, end, pin, forget and share.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.errors import InvalidInputError, NotFoundError
from oort_flows.testing.ledger_contract.place import DAY, TICK, LedgerPlace, day

__all__ = ["HandworkRules", "ShareRules"]


class HandworkRules(LedgerPlace):
    """What people and flows do to memories on purpose."""

    # Judge ---------------------------------------------------------------------------------------------------------

    def test_judgment_keeps_its_reason_and_its_expert(self) -> None:
        """A judgment says why, and on whose word."""
        handle = self.handle()
        answer = handle.judge("We take engine B.", reason="It is cheaper to run.", expert="Runa", subject="storage")
        assert answer.outcome == "added"
        found = handle.get(str(answer.facts[0].id))
        assert (found.type, found.text) == ("judgment", "We take engine B.")
        assert (found.reason, found.expert, found.subject) == ("It is cheaper to run.", "Runa", "storage")

    @pytest.mark.parametrize("field", ["reason", "expert"])
    @pytest.mark.parametrize("missing", ["", "  ", None, 5])
    def test_judgment_without_reason_or_expert_is_refused(self, field: str, missing: Any) -> None:
        """Both are required, and blank is not given."""
        handle = self.handle()
        told = {"reason": "It is cheaper.", "expert": "Runa"} | {field: missing}
        self.refuse(field, lambda: handle.judge("We take engine B.", **told))

    def test_judgment_is_not_made_by_remember(self) -> None:
        """Only ``judge`` takes a reason and an expert, so only it makes a judgment."""
        handle = self.handle()
        with pytest.raises(InvalidInputError) as caught:
            handle.remember("We take engine B.", type="judgment")
        assert caught.value.field in ("type", "reason", "expert")
        assert self.rows() == []

    def test_judgment_supersedes_the_one_of_its_slot(self) -> None:
        """A new judgment on the same question replaces the old one."""
        handle = self.handle()
        slot = {"subject": "storage", "attribute": "engine", "expert": "Runa"}
        handle.judge("We take A.", value="A", reason="Known.", **slot)
        self.clock.advance(DAY)
        assert handle.judge("We take B.", value="B", reason="Cheaper.", **slot).outcome == "superseded"
        assert self.read(handle, "engine", "storage") == ["B"]

    # Correct -------------------------------------------------------------------------------------------------------

    def test_correction_replaces_a_memory_on_the_second_clock_only(self) -> None:
        """The wrong one never held, the right one holds from the same time, and both are linked."""
        handle = self.handle()
        wrong = self.tell(handle, "8100", at=day(10), valid_from=day(5))
        self.clock.set(day(20))
        answer = handle.correct(wrong, "billing has port 8101.", value="8101", reason="a typing error")
        (fact,) = answer.facts
        assert (answer.outcome, fact.outcome, list(fact.closed)) == ("corrected", "corrected", [wrong])
        right = handle.get(str(fact.id))
        assert (right.value, right.valid_from, right.valid_to, right.recorded_at) == ("8101", day(5), None, day(20))
        assert tuple(right.supersedes) == (wrong,)
        old = handle.get(wrong)
        assert (old.status, old.valid_from, old.valid_to, old.closed_at) == ("corrected", day(5), None, day(20))
        assert tuple(old.superseded_by) == (right.id,)
        assert self.believed() == [("8101", day(5), None)]

    def test_correction_of_the_value_alone_keeps_the_text(self) -> None:
        """What is not named stays as it was."""
        handle = self.handle()
        wrong = self.tell(handle, "8100", text="The port is the usual one.", valid_from=day(5))
        right = handle.get(str(handle.correct(wrong, value="8101").facts[0].id))
        assert (right.text, right.value, right.subject) == ("The port is the usual one.", "8101", "billing")

    def test_correction_of_the_time_moves_the_start(self) -> None:
        """An earlier start shortens what held before; the present value stays one."""
        handle = self.handle()
        self.tell(handle, "8100", valid_from=day(10), at=day(40))
        late = self.tell(handle, "8200", valid_from=day(30))
        answer = handle.correct(late, valid_from=day(20))
        assert answer.outcome == "corrected"
        assert self.believed() == [("8100", day(10), day(20)), ("8200", day(20), None)]

    def test_correction_of_a_bounded_period_keeps_its_end(self) -> None:
        """A period that ended still ends when it did."""
        handle = self.handle()
        wrong = self.tell(handle, "8100", valid_from=day(10), valid_to=day(200))
        handle.correct(wrong, "billing has port 8101.", value="8101")
        assert self.believed() == [("8101", day(10), day(200))]

    def test_correction_without_a_change_is_refused(self) -> None:
        """Something has to be different."""
        handle = self.handle()
        memory = self.tell(handle, "8100")
        with pytest.raises(InvalidInputError):
            handle.correct(memory)
        with pytest.raises(InvalidInputError):
            handle.correct(memory, "   ")
        assert len(self.rows()) == 1

    # End -----------------------------------------------------------------------------------------------------------

    def test_end_closes_in_the_world_at_the_time_named(self) -> None:
        """By default it is now; what held until then is still known."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(10))
        self.clock.set(day(20))
        answer = handle.end(memory, day(15))
        assert (answer.outcome, list(answer.facts[0].closed)) == ("ended", [memory])
        assert self.read(handle) == []
        assert self.read(handle, as_of=day(15) - TICK) == ["8100"]
        assert self.read(handle, as_of=day(15)) == []
        assert self.read(handle, known_at=day(20) - TICK) == ["8100"]
        other = self.tell(handle, "kiwi", "host")
        self.clock.set(day(30))
        handle.end(other)
        assert handle.get(other).valid_to == day(30)
        assert (handle.get(memory).status, handle.get(other).status) == ("ended", "ended")

    def test_end_in_the_future_is_live_until_then(self) -> None:
        """What is announced has not happened yet."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(10))
        handle.end(memory, day(20))
        assert handle.get(memory).status == "live"
        assert self.read(handle) == ["8100"]
        self.clock.set(day(20))
        assert handle.get(memory).status == "ended"
        assert self.read(handle) == []

    def test_end_before_the_start_is_refused(self) -> None:
        """A period cannot end before or when it begins."""
        handle = self.handle()
        memory = self.tell(handle, "8100", valid_from=day(10))
        for at in (day(10), day(9)):
            self.refuse("at", lambda at=at: handle.end(memory, at))

    def test_value_after_an_ending_is_a_new_memory(self) -> None:
        """The ending stays where it is, and the gap stays a gap."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(10))
        self.clock.set(day(20))
        handle.end(memory)
        self.tell(handle, "8100", at=day(30), outcome="added")
        assert self.believed() == [("8100", day(10), day(20)), ("8100", day(30), None)]
        assert self.read(handle, as_of=day(25)) == []

    # Closed ones ---------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("verb", ["correct", "end", "pin", "forget", "share"])
    @pytest.mark.parametrize("state", ["forgotten", "corrected"])
    def test_closed_memory_cannot_be_touched(self, verb: str, state: str) -> None:
        """What is no longer believed is read only."""
        handle = self.handle(teams=["core"])
        memory = self.tell(handle, "8100", valid_from=day(1))
        if state == "forgotten":
            handle.forget(memory)
        else:
            self.tell(handle, "8200", valid_from=day(1), outcome="corrected")
        calls = {
            "correct": lambda: handle.correct(memory, "other"),
            "end": lambda: handle.end(memory),
            "pin": lambda: handle.pin(memory),
            "forget": lambda: handle.forget(memory),
            "share": lambda: handle.share(memory, to="constellation:core"),
        }
        self.refuse("id", calls[verb])

    def test_ended_memory_cannot_be_ended_again(self) -> None:
        """An ending happens once."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(1))
        self.clock.set(day(10))
        handle.end(memory, day(5))
        with pytest.raises(InvalidInputError):
            handle.end(memory, day(6))
        with pytest.raises(InvalidInputError):
            handle.end(memory)

    # Pin -----------------------------------------------------------------------------------------------------------

    def test_pin_is_set_and_taken_off_without_a_version(self) -> None:
        """A pin is no news about the world."""
        handle = self.handle()
        memory = self.tell(handle, "8100")
        before = self.rows()
        assert handle.get(memory).pinned is False
        handle.pin(memory)
        handle.pin(memory)
        assert handle.get(memory).pinned is True
        handle.unpin(memory)
        assert handle.get(memory).pinned is False
        assert self.rows() == before
        assert handle.get(str(handle.remember("x is y", pinned=True).facts[0].id)).pinned is True

    # Forget --------------------------------------------------------------------------------------------------------

    def test_forgotten_memory_is_gone_from_now_and_from_as_of(self) -> None:
        """It is closed on the second clock; only known-at and history still show it."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(10))
        self.clock.set(day(20))
        handle.forget(memory)
        assert self.read(handle) == []
        assert self.read(handle, as_of=day(15)) == []
        assert self.read(handle, known_at=day(15)) == ["8100"]
        assert self.read(handle, known_at=day(20)) == []
        assert self.read(handle, mode="history") == ["8100"]
        (row,) = self.rows()
        assert (row["closed_at"], row["valid_to"]) == (day(20), None)

    def test_forgotten_memory_does_not_bring_back_the_one_before(self) -> None:
        """What had ended stays ended."""
        handle = self.handle()
        self.tell(handle, "8100", at=day(10))
        memory = self.tell(handle, "8200", at=day(20))
        self.clock.set(day(30))
        handle.forget(memory)
        assert self.read(handle) == []
        assert self.believed() == [("8100", day(10), day(20))]

    def test_forgotten_fact_said_anew_on_purpose_is_a_new_memory(self) -> None:
        """A declaration is on purpose; the forgotten memory stays forgotten."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(10))
        handle.forget(memory)
        again = self.tell(handle, "8100", at=day(20), outcome="added")
        assert again != memory
        assert self.read(handle) == ["8100"]
        assert handle.get(memory).status == "forgotten"

    def test_a22_something_can_be_taken_back(self) -> None:
        """After "forget that the queue is called blue" nothing is current, and known-at still shows it."""
        handle = self.handle()
        memory = self.tell(handle, "blue", "name", subject="queue", text="The queue is called blue.", at=day(1))
        self.clock.set(day(2))
        handle.forget(memory)
        assert self.find(handle, "what is the queue called", mode="current") == []
        assert self.find(handle, "queue called", known_at=day(1)) == ["The queue is called blue."]

    # Reading by id -------------------------------------------------------------------------------------------------

    def test_explanation_tells_how_a_memory_came_to_be(self) -> None:
        """It names the newest version, all of them, and what went before and after."""
        handle = self.handle()
        first = self.tell(handle, "8100", at=day(10))
        second = self.tell(handle, "8200", at=day(20))
        told = handle.explain(first)
        assert str(told.memory.id) == first
        assert [version.version for version in told.versions] == [1, 2]
        assert [str(memory.id) for memory in told.successors] == [second]
        assert [str(memory.id) for memory in handle.explain(second).predecessors] == [first]
        assert told.sentences
        assert all(told.sentences)


class ShareRules(LedgerPlace):
    """Sharing copies one memory into a space of the grant."""

    def test_e05_share_makes_exactly_one_copy_with_its_origin(self) -> None:
        """The copy says where it came from; the original stays where it is."""
        siv = self.handle(teams=["core"])
        self.tell(siv, "kiwi", "host")
        memory = self.tell(siv, "8100", source="runbook", valid_from=day(10))
        siv.share(memory, to="constellation:core")
        shared = [row for row in self.rows() if row["space"] == "constellation:core"]
        assert [(row["value"], row["valid_from"], row["source"]) for row in shared] == [("8100", day(10), "runbook")]
        assert len(self.rows()) == 3
        otso = self.handle("otso", teams=["core"])
        (hit,) = otso.recall("", subject="billing", attribute="port").hits
        assert str(hit.memory.id) != memory
        assert [str(part) for part in hit.memory.origin] == [memory, "planet:siv"]

    def test_e05_later_edits_of_the_original_do_not_leak(self) -> None:
        """A correction, a successor and a forgetting stay at home."""
        siv = self.handle(teams=["core"])
        otso = self.handle("otso", teams=["core"])
        memory = self.tell(siv, "8100", at=day(10))
        siv.share(memory, to="constellation:core")
        self.clock.set(day(20))
        new = str(siv.correct(memory, "billing has port 8101.", value="8101").facts[0].id)
        assert self.read(otso) == ["8100"]
        siv.forget(new)
        self.tell(siv, "8102", at=day(30))
        self.ledger().erase(user="siv")
        assert self.read(otso) == ["8100"]

    def test_edits_of_the_copy_do_not_reach_the_original(self) -> None:
        """The team corrects its own."""
        siv = self.handle(teams=["core"])
        memory = self.tell(siv, "8100", at=day(10))
        siv.share(memory, to="constellation:core")
        otso = self.handle("otso", teams=["core"])
        (hit,) = otso.recall("", subject="billing", attribute="port").hits
        otso.forget(str(hit.memory.id))
        assert self.read(otso) == []
        assert self.read(siv) == ["8100"]

    def test_shared_twice_is_one_copy(self) -> None:
        """The second time the copy is confirmed."""
        siv = self.handle(teams=["core"])
        memory = self.tell(siv, "8100")
        siv.share(memory, to="constellation:core")
        self.clock.advance()
        siv.share(memory, to="constellation:core")
        assert len([row for row in self.rows() if row["space"] == "constellation:core"]) == 1

    def test_share_meets_what_the_team_knows(self) -> None:
        """In the other space it is reconciled like any other news."""
        siv, otso = self.handle(teams=["core"]), self.handle("otso", teams=["core"])
        siv.share(self.tell(siv, "8100", at=day(10)), to="constellation:core")
        otso.share(self.tell(otso, "8200", at=day(20)), to="constellation:core")
        runa = self.handle("runa", teams=["core"])
        assert self.read(runa) == ["8200"]
        assert self.read(runa, as_of=day(15)) == ["8100"]

    def test_star_is_shared_to_the_planet_of_its_user(self) -> None:
        """An agent hands on what it kept to itself."""
        star = self.handle(agent="ask", keeps_star=True)
        memory = self.tell(star, "8100")
        star.share(memory, to="planet:siv")
        assert self.read(self.handle()) == ["8100"]

    @pytest.mark.parametrize(
        "to",
        ["constellation:web", "planet:otso", "star:siv/ask", "star:otso/ask", "constellation:cor", "constellation:Core"],
    )
    def test_share_outside_of_the_grant_is_refused(self, to: str) -> None:
        """Nobody writes where they may not read, and is not told what is there."""
        siv = self.handle(teams=["core"])
        memory = self.tell(siv, "8100")
        self.tell(self.handle("otso"), "1", "other")
        with pytest.raises((NotFoundError, InvalidInputError)):
            siv.share(memory, to=to)
        assert len(self.rows()) == 2

    @pytest.mark.parametrize(
        "to", ["", "core", "constellation:", "galaxy:core", None, 5, "planet:siv/ask", "constellation:a/b"]
    )
    def test_share_to_what_is_no_space_is_refused(self, to: Any) -> None:
        """A space is ``planet:<user>``, ``star:<user>/<agent>`` or ``constellation:<team>``."""
        siv = self.handle(teams=["core"])
        memory = self.tell(siv, "8100")
        self.refuse("to", lambda: siv.share(memory, to=to))
