"""
Reconcile: what becomes of a declared fact that meets what is known.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

import pytest

from oort_flows.testing.ledger_contract.place import TICK, LedgerPlace, day

__all__ = ["ReconcileRules"]

_KINDS = {"port": "one", "tongue": "many", "seal": "fixed"}


class _Told(NamedTuple):
    """A value with its period, in days or as instants."""

    value: str
    start: float | datetime
    end: float | datetime | None = None


def _at(moment: float | datetime | None) -> datetime | None:
    return moment if moment is None or isinstance(moment, datetime) else day(moment)


# attribute, what is known, what is said on day 50, its outcome, what is believed afterwards
TABLE: dict[str, tuple[str, list[_Told], _Told, str, list[_Told]]] = {
    "first": ("port", [], _Told("A", 10), "added", [_Told("A", 10)]),
    "first of a bounded period": ("port", [], _Told("A", 10, 20), "added", [_Told("A", 10, 20)]),
    "first of a future": ("port", [], _Told("A", 60), "added", [_Told("A", 60)]),
    "same again": ("port", [_Told("A", 10)], _Told("A", 10), "reinforced", [_Told("A", 10)]),
    "same from later": ("port", [_Told("A", 10)], _Told("A", 20), "reinforced", [_Told("A", 10)]),
    "same from earlier": ("port", [_Told("A", 20)], _Told("A", 10), "reinforced", [_Told("A", 20)]),
    "other from later": ("port", [_Told("A", 10)], _Told("B", 20), "superseded", [_Told("A", 10, 20), _Told("B", 20)]),
    "other from one tick later": (
        "port", [_Told("A", 10)], _Told("B", day(10) + TICK), "superseded",
        [_Told("A", 10, day(10) + TICK), _Told("B", day(10) + TICK)],
    ),
    "other from the same time": ("port", [_Told("A", 10)], _Told("B", 10), "corrected", [_Told("B", 10)]),
    "other from one tick earlier": (
        "port", [_Told("A", 10)], _Told("B", day(10) - TICK), "inserted",
        [_Told("B", day(10) - TICK, 10), _Told("A", 10)],
    ),
    "other from earlier": ("port", [_Told("A", 20)], _Told("B", 10), "inserted", [_Told("B", 10, 20), _Told("A", 20)]),
    "other in the future": ("port", [_Told("A", 10)], _Told("B", 60), "superseded", [_Told("A", 10, 60), _Told("B", 60)]),
    "other after a gap": ("port", [_Told("A", 10, 20)], _Told("B", 30), "added", [_Told("A", 10, 20), _Told("B", 30)]),
    "other from the very end": ("port", [_Told("A", 10, 20)], _Told("B", 20), "added", [_Told("A", 10, 20), _Told("B", 20)]),
    "same from the very end": ("port", [_Told("A", 10, 20)], _Told("A", 20), "added", [_Told("A", 10, 20), _Told("A", 20)]),
    "same after a gap": ("port", [_Told("A", 10, 20)], _Told("A", 30), "added", [_Told("A", 10, 20), _Told("A", 30)]),
    "same in a bounded past": (
        "port", [_Told("A", 30)], _Told("A", 10, 20), "inserted", [_Told("A", 10, 20), _Told("A", 30)],
    ),
    "same in a bounded past that touches": (
        "port", [_Told("A", 30)], _Told("A", 20, 30), "inserted", [_Told("A", 20, 30), _Told("A", 30)],
    ),
    "same in a bounded past that overlaps": (
        "port", [_Told("A", 30)], _Told("A", 20, day(30) + TICK), "reinforced", [_Told("A", 30)],
    ),
    "back to the first, announced": (
        "port", [_Told("A", 10), _Told("B", 60)], _Told("A", 70), "superseded",
        [_Told("A", 10, 60), _Told("B", 60, 70), _Told("A", 70)],
    ),
    "late news before two": (
        "port", [_Told("A", 10), _Told("B", 20)], _Told("C", 5), "inserted",
        [_Told("C", 5, 10), _Told("A", 10, 20), _Told("B", 20)],
    ),
    "late news between two": (
        "port", [_Told("A", 10), _Told("B", 20)], _Told("C", 15), "inserted",
        [_Told("A", 10, 15), _Told("C", 15, 20), _Told("B", 20)],
    ),
    "late news of a past period's value": (
        "port", [_Told("A", 10), _Told("B", 20)], _Told("A", 15), "reinforced", [_Told("A", 10, 20), _Told("B", 20)],
    ),
    "late news of a bounded past": (
        "port", [_Told("A", 30)], _Told("B", 10, 20), "inserted", [_Told("B", 10, 20), _Told("A", 30)],
    ),
    "late news that reaches into the next": (
        "port", [_Told("A", 30)], _Told("B", 10, 40), "inserted", [_Told("B", 10, 30), _Told("A", 30)],
    ),
    "other from the start of the second": (
        "port", [_Told("A", 10), _Told("B", 20)], _Told("C", 20), "corrected", [_Told("A", 10, 20), _Told("C", 20)],
    ),
    "back to the first": (
        "port", [_Told("A", 10), _Told("B", 20)], _Told("A", 30), "superseded",
        [_Told("A", 10, 20), _Told("B", 20, 30), _Told("A", 30)],
    ),
    "many, another": ("tongue", [_Told("A", 10)], _Told("B", 20), "added", [_Told("A", 10), _Told("B", 20)]),
    "many, another from the same time": (
        "tongue", [_Told("A", 10)], _Told("B", 10), "added", [_Told("A", 10), _Told("B", 10)],
    ),
    "many, another from earlier": ("tongue", [_Told("A", 20)], _Told("B", 10), "added", [_Told("B", 10), _Told("A", 20)]),
    "many, one of them again": (
        "tongue", [_Told("A", 10), _Told("B", 20)], _Told("A", 30), "reinforced", [_Told("A", 10), _Told("B", 20)],
    ),
    "many, in a bounded past": (
        "tongue", [_Told("A", 30)], _Told("A", 10, 20), "added", [_Told("A", 10, 20), _Told("A", 30)],
    ),
    "many, again after its end": (
        "tongue", [_Told("A", 10, 20)], _Told("A", 30), "added", [_Told("A", 10, 20), _Told("A", 30)],
    ),
    "fixed, same again": ("seal", [_Told("A", 10)], _Told("A", 30), "reinforced", [_Told("A", 10)]),
    "fixed, other from later": ("seal", [_Told("A", 10)], _Told("B", 30), "corrected", [_Told("B", 30)]),
    "fixed, other from the same time": ("seal", [_Told("A", 10)], _Told("B", 10), "corrected", [_Told("B", 10)]),
    "fixed, other from earlier": ("seal", [_Told("A", 20)], _Told("B", 10), "corrected", [_Told("B", 10)]),
}  # fmt: skip


class ReconcileRules(LedgerPlace):
    """Each row of the table of outcomes, with its boundaries."""

    @pytest.mark.parametrize("case", list(TABLE))
    def test_declared_fact_meets_what_is_known(self, case: str) -> None:
        """The outcome is that of the table, and what is believed afterwards is exactly the periods that follow from it."""
        attribute, known, said, outcome, believed = TABLE[case]
        handle = self.ledger(vocabulary=_KINDS).scoped(user="siv")
        for number, told in enumerate(known):
            self.clock.set(day(40 + number))
            self._say(handle, attribute, told)
        self.clock.set(day(50))
        answer = self._say(handle, attribute, said)
        assert [fact.outcome for fact in answer.facts] == [outcome]
        assert answer.outcome == outcome
        assert answer.duplicate is False
        assert self.believed() == [(value, _at(start), _at(end)) for value, start, end in believed]
        for period in believed:
            start = _at(period.start)
            assert start is not None
            at_start = self.read(handle, attribute, as_of=start)
            assert at_start == sorted(t.value for t in believed if _covers(t, start))

    def test_answer_names_the_new_memory_and_the_closed_ones(self) -> None:
        """``closed`` holds the ids of the memories that were closed or ended, and ``id`` that of the one that holds now."""
        handle = self.handle()
        first = self.tell(handle, "8100", valid_from=day(10))
        answer = handle.remember("billing moved", subject="billing", attribute="port", value="8200", valid_from=day(20))
        (fact,) = answer.facts
        assert list(map(str, fact.closed)) == [first]
        assert str(fact.id) not in ("", first)
        (again,) = handle.remember("still 8200", subject="billing", attribute="port", value="8200").facts
        assert (again.outcome, str(again.id), list(again.closed)) == ("reinforced", str(fact.id), [])

    def test_replacing_fact_is_linked_both_ways(self) -> None:
        """The new memory says what it supersedes, the old one by what it is superseded."""
        handle = self.handle()
        first = self.tell(handle, "8100", valid_from=day(10))
        second = self.tell(handle, "8200", valid_from=day(20))
        assert tuple(handle.get(second).supersedes) == (first,)
        assert tuple(handle.get(first).superseded_by) == (second,)
        assert tuple(handle.get(first).supersedes) == ()
        assert tuple(handle.get(second).superseded_by) == ()

    def test_fact_about_a_bounded_past_never_ends_the_present(self) -> None:
        """A period that is over when it is told leaves what held around it, and the present, as they were."""
        handle = self.handle()
        self.tell(handle, "8100", valid_from=day(10), at=day(40))
        self.tell(handle, "9000", valid_from=day(20), valid_to=day(30), at=day(50))
        assert self.read(handle) == ["8100"]
        for instant, value in [(15, "8100"), (20, "9000"), (29.9, "9000"), (30, "8100"), (35, "8100")]:
            assert self.read(handle, as_of=day(instant)) == [value]

    def test_bounded_past_from_the_same_start_never_ends_the_present(self) -> None:
        """It corrects the time it speaks of, and no more."""
        handle = self.handle()
        self.tell(handle, "8100", valid_from=day(10), at=day(40))
        self.tell(handle, "9000", valid_from=day(10), valid_to=day(30), at=day(50))
        assert self.read(handle) == ["8100"]
        assert self.read(handle, as_of=day(29)) == ["9000"]
        assert self.read(handle, as_of=day(30)) == ["8100"]

    def test_future_value_waits_for_its_time(self) -> None:
        """Until its ``valid_from`` the old value is current and live; from that instant the new one is."""
        handle = self.handle()
        old = self.tell(handle, "8100", valid_from=day(10), at=day(40))
        new = self.tell(handle, "8200", valid_from=day(60))
        assert self.read(handle) == ["8100"]
        assert handle.get(old).status == "live"
        self.clock.set(day(60) - TICK)
        assert self.read(handle) == ["8100"]
        self.clock.set(day(60))
        assert self.read(handle) == ["8200"]
        assert (handle.get(old).status, handle.get(new).status) == ("superseded", "live")

    def test_news_between_now_and_a_known_future_leaves_that_future(self) -> None:
        """A value that is told for today ends where the one that is already announced begins."""
        handle = self.handle()
        self.tell(handle, "8100", valid_from=day(10), at=day(40))
        self.tell(handle, "8300", valid_from=day(60))
        self.tell(handle, "8200", valid_from=day(50), at=day(50))
        assert self.believed() == [("8100", day(10), day(50)), ("8200", day(50), day(60)), ("8300", day(60), None)]

    def test_correction_of_a_past_period_leaves_the_present(self) -> None:
        """Another value from the very start of a period that is over replaces that period alone."""
        handle = self.handle()
        wrong = self.tell(handle, "8100", valid_from=day(10), at=day(40))
        self.tell(handle, "8200", valid_from=day(20))
        self.tell(handle, "8000", valid_from=day(10), at=day(50))
        assert self.believed() == [("8000", day(10), day(20)), ("8200", day(20), None)]
        assert handle.get(wrong).status == "corrected"
        assert self.read(handle) == ["8200"]

    def test_value_is_compared_up_to_case_spacing_and_unicode_form(self) -> None:
        """``Café  NORD`` is no news after ``café nord``, however it is composed."""
        handle = self.handle()
        self.tell(handle, "caf\u00e9 nord", "seat")
        self.tell(handle, "Cafe\u0301  NORD ", "seat", outcome="reinforced")
        assert len(self.rows()) == 1

    @pytest.mark.parametrize(("one", "other"), [("Orders", "orders"), ("  orders ", "orders"), ("Zo\u00eb", "Zoe\u0308")])
    def test_subject_is_compared_up_to_case_spacing_and_unicode_form(self, one: str, other: str) -> None:
        """Two spellings of one name fill one slot."""
        handle = self.handle()
        self.tell(handle, "1", subject=one)
        self.tell(handle, "2", subject=other, at=day(101), outcome="superseded")
        assert self.read(handle, subject=one) == ["2"]

    @pytest.mark.parametrize("one", ["Cup", "Cu"])
    def test_another_subject_is_another_slot(self, one: str) -> None:
        """Names that differ by more than case and spacing never close each other."""
        handle = self.handle()
        self.tell(handle, "1", subject=one)
        self.tell(handle, "2", subject="Cups", at=day(101), outcome="added")
        assert self.read(handle, subject=one) == ["1"]

    def test_another_attribute_is_another_slot(self) -> None:
        """A host is no port."""
        handle = self.handle()
        self.tell(handle, "1", "port")
        self.tell(handle, "2", "host", at=day(101), outcome="added")
        assert self.read(handle, "port") == ["1"]

    def test_cardinality_of_a_declaration_counts_more_than_the_vocabulary(self) -> None:
        """The argument decides, then the ledger's vocabulary, then the built-in one, then ``one``."""
        handle = self.ledger(vocabulary={"port": "many", "speaks": "one"}).scoped(user="siv")
        self.tell(handle, "8100")
        self.tell(handle, "8200", at=day(101), outcome="added")
        self.tell(handle, "Finnish", "speaks")
        self.tell(handle, "Dutch", "speaks", at=day(102), outcome="superseded")
        self.tell(handle, "Oulu", "home town", cardinality="fixed")
        self.tell(handle, "Turku", "home town", cardinality="fixed", at=day(103), outcome="corrected")
        self.tell(handle, "tea", "drink", cardinality="many")
        self.tell(handle, "milk", "drink", cardinality="many", at=day(104), outcome="added")

    def test_reinforcement_counts_and_changes_no_version(self) -> None:
        """A repeat raises the count and moves the date of the last one; the stored versions stay as they are."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(10))
        before = self.rows()
        told = handle.get(memory)
        assert told.confirmations == 1
        self.tell(handle, "8100", at=day(20), outcome="reinforced")
        again = handle.get(memory)
        assert (again.confirmations, again.last_confirmed_at) == (2, day(20))
        assert (again.valid_from, again.recorded_at, again.text, again.source) == (day(10), day(10), told.text, told.source)
        assert self.rows() == before

    def test_reinforcement_of_an_earlier_time_confirms_today(self) -> None:
        """The date of the last confirmation is that of the recording, not that of the fact."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(10))
        self.tell(handle, "8100", at=day(20), valid_from=day(12))
        assert handle.get(memory).last_confirmed_at == day(20)

    def test_many_facts_at_once_are_reconciled_in_order(self) -> None:
        """``remember_many`` is as many calls of ``remember``, one after another."""
        handle = self.handle()
        slot: dict[str, Any] = {"subject": "billing", "attribute": "port"}
        answer = handle.remember_many(
            [
                {"text": "port 1", "value": "1", "valid_from": day(10), **slot},
                {"text": "port 2", "value": "2", "valid_from": day(20), **slot},
                {"text": "port 2 again", "value": "2", **slot},
                {"text": "Runa sits in Malm\u00f6."},
            ]
        )
        assert [fact.outcome for fact in answer.facts] == ["added", "superseded", "reinforced", "added"]
        assert self.read(handle) == ["2"]
        assert self.read(handle, as_of=day(15)) == ["1"]

    # Complaints ----------------------------------------------------------------------------------------------------

    def test_a01_repeated_fact_is_reinforced_and_stays(self) -> None:
        """Saying the same twice leaves one live memory with a count of two, valid from the first time."""
        handle = self.handle()
        memory = self.tell(handle, "8100", text="billing listens on 8100", at=day(1))
        self.tell(handle, "8100", text="billing listens on 8100", at=day(2))
        found = handle.get(memory)
        assert (found.status, found.confirmations, found.valid_from) == ("live", 2, day(1))
        assert self.believed() == [("8100", day(1), None)]

    def test_a01_repeated_sentence_without_a_slot_is_reinforced_and_stays(self) -> None:
        """It holds for plain sentences too."""
        handle = self.handle()
        self.clock.set(day(1))
        first = handle.remember("billing listens on 8100")
        self.clock.set(day(2))
        second = handle.remember("billing listens on 8100")
        assert second.outcome == "reinforced"
        assert second.facts[0].id == first.facts[0].id
        found = handle.get(str(first.facts[0].id))
        assert (found.status, found.confirmations, found.valid_from) == ("live", 2, day(1))

    def test_a02_contradiction_leaves_exactly_the_new_value(self) -> None:
        """The old home ends when the new one begins; at no time is there none or two."""
        handle = self.handle()
        self.tell(handle, "Bergen", "home city", at=day(1))
        self.tell(handle, "Tartu", "home city", at=day(2), outcome="superseded")
        assert self.believed() == [("Bergen", day(1), day(2)), ("Tartu", day(2), None)]
        assert self.read(handle, "home city") == ["Tartu"]
        for instant in (day(2) - TICK, day(2)):
            assert len(self.read(handle, "home city", as_of=instant)) == 1

    def test_a03_corrected_value_is_known_to_have_been_believed(self) -> None:
        """The correction is current, the old value is what was believed, and history says that it was corrected."""
        handle = self.handle()
        wrong = self.tell(handle, "Ilmo", "name", subject="me", at=day(1))
        handle.correct(wrong, "my name is Ilmari", value="Ilmari")
        self.clock.set(day(2))
        again = self.handle()
        assert self.read(again, "name", "me") == ["Ilmari"]
        assert self.read(again, "name", "me", as_of=day(1)) == ["Ilmari"]
        assert again.get(wrong).status == "corrected"

    def test_a03_known_at_the_first_instant_gives_the_wrong_name(self) -> None:
        """What was believed before the correction is answered as it was."""
        handle = self.handle()
        wrong = self.tell(handle, "Ilmo", "name", subject="me", at=day(1))
        self.clock.set(day(2))
        handle.correct(wrong, "my name is Ilmari", value="Ilmari")
        assert self.read(handle, "name", "me", known_at=day(1)) == ["Ilmo"]
        assert self.read(handle, "name", "me", known_at=day(2)) == ["Ilmari"]
        history = handle.recall("", mode="history", subject="me", attribute="name").hits
        assert [(hit.memory.value, hit.memory.status) for hit in history] == [("Ilmo", "corrected"), ("Ilmari", "live")]

    def test_a07_replaced_decision_never_comes_back_as_current(self) -> None:
        """In no query and at no limit is the replaced one among the current ones."""
        handle = self.handle()
        self.tell(handle, "alpha", "decision", text="Decision on storage: we take the alpha engine for storage.", at=day(1))
        self.tell(handle, "beta", "decision", text="We take beta.", at=day(2))
        for query in ("decision on storage", "alpha engine for storage", "alpha", "we take"):
            for limit in (1, 2, 50):
                texts = self.find(handle, query, mode="current", limit=limit)
                assert [text for text in texts if "alpha" in text] == []
        assert self.find(handle, "we take beta", mode="current") == ["We take beta."]

    def test_a10_swap_of_a_database_closes_the_old_one_at_the_move(self) -> None:
        """The old store ends where the new one begins."""
        handle = self.handle()
        text = "orders service stores in Postgres"
        self.tell(handle, "Postgres", "datastore", subject="orders service", text=text, at=day(1))
        text = "orders service moved to MySQL"
        self.tell(handle, "MySQL", "datastore", subject="orders service", text=text, at=day(9))
        assert self.believed() == [("Postgres", day(1), day(9)), ("MySQL", day(9), None)]

    def test_a12_unrelated_facts_of_one_subject_both_live(self) -> None:
        """Only facts of one subject and one attribute may close each other."""
        handle = self.handle()
        self.tell(handle, "long reports", "likes", subject="Runa", text="Runa likes long reports", at=day(1))
        self.tell(handle, "Malm\u00f6", "works in", subject="Runa", text="Runa works in Malm\u00f6", at=day(2))
        handle.remember("Runa has a red bike")
        assert [end for _, _, end in self.believed()] == [None, None, None]

    def test_a13_late_fact_about_the_past_leaves_the_present(self) -> None:
        """Coffee stands for its year only, and green tea stays."""
        handle = self.handle()
        self.tell(handle, "green tea", "drink", subject="me", at=day(1))
        year = {"valid_from": day(-1826), "valid_to": day(-1461)}
        self.tell(handle, "coffee", "drink", subject="me", at=day(2), outcome="inserted", **year)
        assert self.read(handle, "drink", "me") == ["green tea"]
        assert self.read(handle, "drink", "me", as_of="2019-07-01") == ["coffee"]
        assert self.read(handle, "drink", "me", as_of="2021-07-01") == []

    def test_a15_reversal_gives_one_live_memory_and_three_periods(self) -> None:
        """There and back again: the middle is the other tool, and the periods meet."""
        handle = self.handle()
        for number, tool in enumerate(["ruff", "flake8", "ruff"], 1):
            self.tell(handle, tool, "linter", at=day(number))
        assert self.read(handle, "linter") == ["ruff"]
        assert self.read(handle, "linter", as_of=day(2)) == ["flake8"]
        assert self.believed() == [
            ("ruff", day(1), day(2)),
            ("flake8", day(2), day(3)),
            ("ruff", day(3), None),
        ]
        assert len({row["id"] for row in self.rows()}) == 3

    def test_a17_many_valued_values_join_and_fixed_ones_are_corrected(self) -> None:
        """Languages add up; a birthplace does not move. The built-in vocabulary knows both."""
        handle = self.handle()
        self.tell(handle, "Finnish", "speaks", at=day(1))
        self.tell(handle, "Dutch", "speaks", at=day(2), outcome="added")
        assert self.read(handle, "speaks") == ["Dutch", "Finnish"]
        wrong = self.tell(handle, "Oulu", "birthplace", at=day(3))
        self.tell(handle, "Turku", "birthplace", at=day(4), outcome="corrected")
        assert self.read(handle, "birthplace") == ["Turku"]
        assert handle.get(wrong).status == "corrected"
        assert self.read(handle, "birthplace", as_of=day(3)) == ["Turku"], "who was born in Turku was so all along"

    def test_a23_explicit_update_leaves_one_live_value(self) -> None:
        """Retries are five, and not three any more."""
        handle = self.handle()
        self.tell(handle, "3", "retries", text="retries: 3", at=day(1))
        self.tell(handle, "5", "retries", text="retries: 5", at=day(2))
        assert self.read(handle, "retries") == ["5"]
        assert [value for value, _, end in self.believed() if end is None] == ["5"]

    def _say(self, handle: Any, attribute: str, told: _Told) -> Any:
        return handle.remember(
            f"billing has {attribute} {told.value}.",
            subject="billing",
            attribute=attribute,
            value=told.value,
            valid_from=_at(told.start),
            valid_to=_at(told.end),
        )


def _covers(told: _Told, instant: datetime) -> bool:
    start, end = _at(told.start), _at(told.end)
    assert start is not None
    return start <= instant and (end is None or instant < end)
