"""Many facts at once are as many calls of ``remember``, whichever way they are written."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from oort_flows.ledger import Ledger
from oort_flows.testing import FrozenClock

START = datetime(2026, 1, 1, tzinfo=UTC)
_files = itertools.count()

days = st.integers(-5, 5).map(lambda number: START + timedelta(days=number))
facts = st.fixed_dictionaries(
    {
        "text": st.sampled_from(
            [f"The port is {number}." for number in range(6)] + ["Runa rows.", "RUNA  rows", "Otso rows."]
        )
    },
    optional={
        "slot": st.tuples(st.sampled_from(["billing", "orders"]), st.sampled_from(["port", "speaks", "born in"])),
        "value": st.sampled_from("AB"),
        "valid_from": days,
        "expires_at": days.map(lambda day: day + timedelta(days=11)),
        "pinned": st.booleans(),
        "key": st.sampled_from(["k1", "k2"]),
    },
)


def said(fact: dict) -> dict:
    """Return the arguments of a generated fact; what has a key is said alike under it each time."""
    told = {name: value for name, value in fact.items() if name != "slot"}
    if "slot" in fact:
        told["subject"], told["attribute"] = fact["slot"]
    if "key" in fact:
        return {"text": f"Said under {fact['key']}.", "key": fact["key"]}
    return told


def outcome(place: str, batches: list[list[dict]], *, together: bool) -> tuple:
    """Tell *batches* to a fresh ledger, and return all answers and all that is stored, ids replaced by their order."""
    clock = FrozenClock(START)
    answers = []
    with Ledger.open(f"sqlite:///{place}/{next(_files)}.db", clock=clock) as ledger:
        handle = ledger.scoped(user="siv")
        for batch in batches:
            if together:
                answers += handle.remember_many(batch).facts
            else:
                answers += [fact for told in batch for fact in handle.remember(**told).facts]
            clock.advance(timedelta(hours=1))
        with ledger._house.database.plain() as cursor:
            columns = "m.id, v.version, m.text, v.valid_from, v.until, v.ending, v.recorded_at, v.closed_at, v.closing"
            rows = cursor.execute(
                f"SELECT {columns}, s.confirmations, s.pinned FROM oort_versions v JOIN oort_memories m ON m.seq = v.memory "
                "LEFT JOIN oort_standing s ON s.memory = m.seq ORDER BY m.seq, v.version"
            ).fetchall()
            indexed = cursor.execute("SELECT rowid FROM oort_index WHERE oort_index MATCH 'row OR port OR said'").fetchall()
    order = {id_: number for number, id_ in enumerate(dict.fromkeys(row[0] for row in rows))}
    told = [
        (
            order[fact.id],
            fact.outcome,
            [order[i] for i in fact.closed],
            sorted(order[i] for i in fact.left_alone),
            fact.reason,
        )
        for fact in answers
    ]
    return told, [(order[row[0]], *row[1:]) for row in rows], indexed


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(facts, max_size=8), min_size=1, max_size=3))
def test_batch_does_what_single_calls_do(batches):
    """Outcomes, closed and near-equal memories, rows, clocks, confirmations, pins and the index are the same."""
    told = [[said(fact) for fact in batch] for batch in batches]
    with tempfile.TemporaryDirectory() as place:
        assert outcome(place, told, together=True) == outcome(place, told, together=False)


def numbered(count: int) -> Iterator[dict]:
    """Yield facts with a slot each."""
    for number in range(count):
        slot = {"subject": f"service {number}", "attribute": "port", "value": str(number)}
        yield {"text": f"Service {number} listens.", **slot}


def test_ten_thousand_facts_go_in_and_across_at_once(place, tmp_path: Path):
    """No engine runs out of locks or arguments, neither for facts nor for an import."""
    with Ledger.open(place.url) as ledger:
        assert len(ledger.scoped(user="siv").remember_many(numbered(10_000)).facts) == 10_000
        ledger.export(tmp_path / "all.jsonl")
        ledger.erase(user="siv")
        assert ledger.import_(tmp_path / "all.jsonl").added == 10_000
        assert [hit.memory.value for hit in ledger.scoped(user="siv").recall("service 9999").hits] == ["9999"]


def test_thousand_new_facts_are_all_there(place):
    """A batch larger than any piece it is cut into is written whole, found and explained like any other."""
    with Ledger.open(place.url) as ledger:
        handle = ledger.scoped(user="siv", provenance={"file": "a.md"})
        answer = handle.remember_many(numbered(1_203))
        assert {fact.outcome for fact in answer.facts} == {"added"}
        assert len({fact.id for fact in answer.facts}) == ledger.stats().memories == 1_203
        for number in (0, 499, 500, 501, 1_202):
            (hit,) = handle.recall("", subject=f"service {number}", attribute="port").hits
            assert (hit.memory.value, hit.memory.id) == (str(number), answer.facts[number].id)
            assert handle.explain(hit.memory.id).operations[0].kind == "remember"
            assert hit.memory.provenance == {"file": "a.md"}
