"""Export and import: everything goes, nothing goes twice, and what is no export is refused as a whole."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from oort_flows.errors import ConflictError, InvalidInputError
from oort_flows.ledger import Ledger
from oort_flows.testing import FrozenClock
from tests.integration.ledgers import Place

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock():
    return FrozenClock(START)


@pytest.fixture
def ledger(place, clock):
    with Ledger.open(place.url, clock=clock) as ledger:
        yield ledger


@pytest.fixture(params=["sqlite", "postgresql"])
def other(request, tmp_path, clock):
    """A second, empty ledger, in turn of each engine."""
    directory = tmp_path / "other"
    directory.mkdir()
    place = Place(request.param, directory)
    with Ledger.open(place.url, clock=clock) as ledger:
        yield ledger
    place.close()


def told(ledger, clock):
    """Fill a ledger with memories in every state, and return their ids."""
    handle = ledger.scoped(user="siv", agent="ask", project="lark", teams=["core"], provenance={"commit": "9f1c2ab"})
    slot = {"subject": "billing", "attribute": "port"}
    ids = [handle.remember("port 8100", value="8100", source="runbook", context="before", **slot).id]
    clock.advance(timedelta(days=1))
    ids.append(handle.remember("port 8200", value="8200", pinned=True, **slot).id)
    clock.advance(timedelta(days=1))
    handle.remember("port 8200", value="8200", **slot)
    ids.append(handle.correct(ids[1], "port 8201", value="8201", reason="a typing error").id)
    ids.append(handle.judge("We take B.", reason="cheap", expert="Runa").id)
    ids.append(handle.remember("gone soon", expires_at=START + timedelta(days=3)).id)
    handle.forget(ids[-1])
    ids.append(handle.share(ids[2], "constellation:core").id)
    handle.recall("port")
    return ids


def lines(ledger, **scope) -> list[str]:
    file = io.StringIO()
    ledger.export(file, **scope)
    return file.getvalue().splitlines()


def known(line: str) -> dict:
    """Return a record but for which operations wrote it: importing is one of its own."""
    record = json.loads(line)
    for version in record["versions"]:
        del version["operation"], version["note"]
    return record


def test_import_brings_everything_across(ledger, other, clock, tmp_path):
    """Both clocks, status, links, confirmations, pin, origin and provenance are the same in another ledger."""
    ids = told(ledger, clock)
    assert ledger.export(tmp_path / "all.jsonl") == len(ids)
    moved = other.import_(tmp_path / "all.jsonl")
    assert (moved.added, moved.extended, moved.unchanged) == (len(ids), 0, 0)
    assert [known(line) for line in lines(other)] == [known(line) for line in lines(ledger)]
    scope = {"user": "siv", "agent": "ask", "project": "lark", "teams": ["core"]}
    here, there = ledger.scoped(**scope), other.scoped(**scope)
    for memory in ids:
        assert there.get(memory) == here.get(memory)
        assert there.history(memory) == here.history(memory)
    for how in ({}, {"as_of": START}, {"known_at": START + timedelta(days=1)}, {"mode": "history"}):
        found, expected = there.recall("port", **how), here.recall("port", **how)
        assert [hit.memory.id for hit in found.hits] == [hit.memory.id for hit in expected.hits] != []
        assert found.prompt == expected.prompt


def test_import_twice_changes_nothing(ledger, other, clock):
    """The second time everything is here already."""
    told(ledger, clock)
    text = "\n".join(lines(ledger))
    other.import_(io.StringIO(text))
    before = lines(other)
    assert other.import_(io.StringIO(text)).unchanged == len(before)
    assert lines(other) == before
    assert ledger.import_(io.StringIO(text)).unchanged == len(before)


def test_later_export_extends_an_earlier_one(ledger, other, clock):
    """Closings and versions that came since are added; what is here stays."""
    ids = told(ledger, clock)
    other.import_(io.StringIO("\n".join(lines(ledger))))
    handle = ledger.scoped(user="siv", project="lark")
    clock.advance(timedelta(days=1))
    handle.end(ids[2])
    moved = other.import_(io.StringIO("\n".join(lines(ledger))))
    assert (moved.added, moved.extended) == (0, 1)
    assert other.scoped(user="siv", project="lark").get(ids[2]) == handle.get(ids[2])


def test_imported_memories_go_on_as_any(ledger, other, clock):
    """News meets them, repeats confirm them."""
    ids = told(ledger, clock)
    other.import_(io.StringIO("\n".join(lines(ledger))))
    handle = other.scoped(user="siv", project="lark")
    clock.advance(timedelta(days=1))
    answer = handle.remember("port 9000", subject="billing", attribute="port", value="9000")
    assert (answer.outcome, answer.facts[0].closed) == ("superseded", (ids[2],))


def test_contradiction_is_refused_and_leaves_nothing(ledger, other, clock):
    """Another value of the same slot and time cannot be brought in; nor is anything else of that import."""
    told(ledger, clock)
    mine = other.scoped(user="siv", project="lark")
    mine.remember("port 1", subject="billing", attribute="port", value="1", valid_from=START)
    before = lines(other)
    with pytest.raises(ConflictError):
        other.import_(io.StringIO("\n".join(lines(ledger))))
    assert lines(other) == before


@pytest.mark.parametrize(
    "line",
    ["not json", "{}", "[]", "5", '{"format": "oort-ledger/1"}', '{"format": "other", "id": "x"}'],
)
def test_what_is_no_export_is_refused_as_a_whole(ledger, clock, line):
    """The message names the line, and not what it says; no line before it is kept."""
    good = lines_of_another(clock)
    before = lines(ledger)
    with pytest.raises(InvalidInputError, match="line 2") as caught:
        ledger.import_(io.StringIO(f"{good}\n{line}\n"))
    assert "other" not in str(caught.value)
    assert lines(ledger) == before


@pytest.mark.parametrize(
    ("field", "value"),
    [("space", "galaxy:x"), ("type", "opinion"), ("text", 5), ("id", "x"), ("versions", []), ("cardinality", "two")],
)
def test_record_with_a_field_that_makes_no_sense_is_refused(ledger, clock, field, value):
    """An export that was edited by hand is checked like any other input."""
    record = json.loads(lines_of_another(clock)) | {field: value}
    with pytest.raises(InvalidInputError, match="line 1"):
        ledger.import_(io.StringIO(json.dumps(record)))
    assert lines(ledger) == []


def test_export_keeps_to_a_space_or_a_user(ledger, clock):
    """What is not asked for is not written."""
    told(ledger, clock)
    ledger.scoped(user="otso").remember("Otso was here.")
    assert {json.loads(line)["space"] for line in lines(ledger, user="siv")} == {"planet:siv"}
    assert {json.loads(line)["space"] for line in lines(ledger, scope="constellation:core")} == {"constellation:core"}
    assert len(lines(ledger)) == len(lines(ledger, user="siv")) + 2
    with pytest.raises(InvalidInputError):
        ledger.export(io.StringIO(), scope="planet:siv", user="siv")


def test_file_that_cannot_be_opened_is_refused(ledger, tmp_path):
    """Neither for reading nor for writing."""
    with pytest.raises(InvalidInputError, match="source"):
        ledger.import_(tmp_path / "missing.jsonl")
    with pytest.raises(InvalidInputError, match="target"):
        ledger.export(tmp_path / "no" / "folder.jsonl")


def test_stats_count_by_space_type_tier_and_status(ledger, clock):
    """Every memory is counted once in each."""
    ids = told(ledger, clock)
    found = ledger.stats()
    assert found.memories == len(ids)
    for counts in (found.by_space, found.by_type, found.by_tier, found.by_status):
        assert sum(counts.values()) == len(ids)
    assert dict(found.by_space) == {"constellation:core": 1, "planet:siv": 5}
    assert dict(found.by_status) == {"corrected": 1, "forgotten": 1, "live": 3, "superseded": 1}


def lines_of_another(clock) -> str:
    """Return one good record."""
    import tempfile

    with (
        tempfile.TemporaryDirectory() as directory,
        Ledger.open(f"sqlite:///{directory}/a.db", clock=clock) as ledger,
    ):
        ledger.scoped(user="siv").remember("x is y", subject="x", attribute="is", value="y")
        return lines(ledger)[0]
