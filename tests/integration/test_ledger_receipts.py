"""Receipts: what a run was told is told again, byte for byte, whatever is known since."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from oort_flows.errors import InvalidInputError, NotFoundError
from oort_flows.ledger import Ledger
from oort_flows.testing import FrozenClock

SLOT = {"subject": "billing", "attribute": "port"}


@pytest.fixture
def clock():
    return FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def ledger(place, clock):
    with Ledger.open(place.url, clock=clock) as ledger:
        yield ledger


@pytest.fixture
def handle(ledger):
    return ledger.scoped(user="siv", provenance={"flow run": "r0"})


def test_run_is_told_again_what_it_was_told(handle, clock):
    """After corrections, successions, endings and uses the replay equals the first answer in every part."""
    wrong = handle.remember("billing has port 8100", value="8100", **SLOT).id
    handle.remember("billing has owner Runa", subject="billing", attribute="owner", value="Runa", pinned=True)
    asked = [("billing port", {}), ("", dict(SLOT)), ("billing", {"mode": "history"}), ("billing owner", {"budget": 250})]
    told = [handle.recall(query, run="r1", **how) for query, how in asked]
    clock.advance(timedelta(days=1))
    handle.correct(wrong, "billing has port 8101", value="8101")
    handle.remember("billing has owner Otso", subject="billing", attribute="owner", value="Otso")
    assert handle.recall("billing port").prompt != told[0].prompt
    seen = handle.as_seen_by("r1")
    for (query, how), first in zip(asked, told, strict=True):
        again = seen.recall(query, **how)
        assert again == first
        assert again.prompt.encode() == first.prompt.encode()


def test_question_that_was_never_asked_is_answered_by_what_was_known_when_the_run_began(handle, clock):
    """The answer says so, and nothing that was learned later shows."""
    handle.remember("billing has port 8100", value="8100", **SLOT)
    handle.recall("something else", run="r1")
    clock.advance(timedelta(days=1))
    handle.remember("billing has port 8200", value="8200", **SLOT)
    seen = handle.as_seen_by("r1").recall("billing port")
    assert [hit.memory.value for hit in seen.hits] == ["8100"]
    assert seen.mode == "known_at"
    assert "never asked" in seen.why
    assert [hit.memory.value for hit in handle.recall("billing port").hits] == ["8200"]


def test_same_question_of_another_handle_has_no_receipt(ledger, handle, clock):
    """A receipt is for the eyes of the grant that got it."""
    handle.remember("billing has port 8100", value="8100", **SLOT)
    handle.recall("billing port", run="r1")
    other = ledger.scoped(user="otso")
    with pytest.raises(NotFoundError):
        other.as_seen_by("r1").recall("billing port")


def test_run_without_receipts_is_unknown(handle):
    """A name that never asked anything is not found, and an empty one is refused."""
    with pytest.raises(NotFoundError):
        handle.as_seen_by("r9").recall("billing port")
    for run in ("", " ", 5, "\x00"):
        with pytest.raises(InvalidInputError):
            handle.as_seen_by(run)
        with pytest.raises(InvalidInputError):
            handle.recall("billing port", run=run)


def test_recall_without_a_run_leaves_no_receipt(place, handle):
    """Nobody asked for one."""
    handle.remember("billing has port 8100", value="8100", **SLOT)
    handle.recall("billing port")
    assert place.run("SELECT count(*) FROM oort_receipts") == [(0,)]


def test_secret_in_a_question_is_not_kept(place, handle):
    """The query of a receipt is scrubbed as everything else."""
    secret = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    handle.recall(f"what is {secret} for", run="r1")
    import zlib

    ((body,),) = place.run("SELECT body FROM oort_receipts")
    assert secret.encode() not in zlib.decompress(bytes(body))
    assert b"github-token" in zlib.decompress(bytes(body))


def test_uses_are_counted_and_written_when_the_ledger_closes(place, clock):
    """A handle sees its own at once; others after the batch."""
    with Ledger.open(place.url, clock=clock) as ledger:
        handle = ledger.scoped(user="siv")
        memory = handle.remember("kiwi is green").id
        clock.advance(timedelta(hours=1))
        for _ in range(3):
            handle.recall("kiwi")
        assert (handle.get(memory).used, handle.get(memory).last_used_at) == (3, clock())
        assert place.run("SELECT used FROM oort_standing") == []
    assert place.run("SELECT used FROM oort_standing") == [(3,)]
    with Ledger.open(place.url, clock=clock) as ledger:
        assert ledger.scoped(user="siv").get(memory).used == 3


def test_uses_are_written_in_batches(place, ledger, handle):
    """A crowd of hits does not wait for the end."""
    handle.remember_many({"text": f"kiwi number {number}"} for number in range(300))
    handle.recall("kiwi", limit=300)
    assert place.run("SELECT count(*) FROM oort_standing WHERE used = 1") == [(300,)]


def test_every_verb_has_an_async_twin(ledger, handle, tmp_path):
    """The twins do the same from a loop, without blocking it."""

    async def use() -> list[str]:
        said = await handle.aremember("billing has port 8100", value="8100", **SLOT)
        await handle.aremember_many([{"text": "x is y"}])
        judged = await handle.ajudge("We take B.", reason="cheap", expert="Runa")
        await handle.apin(said.id)
        await handle.aunpin(said.id)
        fixed = await handle.acorrect(said.id, "billing has port 8101", value="8101")
        await handle.aend(judged.id)
        found = await handle.arecall("billing port")
        assert (await handle.aget(fixed.id)).value == "8101"
        assert (await handle.ahistory(fixed.id)).hits
        assert (await handle.aexplain(fixed.id)).sentences
        await handle.aforget(fixed.id)
        assert await handle.aerase(id=fixed.id) == 1
        assert (await ledger.astats()).memories == 3
        await ledger.aexport(tmp_path / "a.jsonl")
        assert (await ledger.aimport_(tmp_path / "a.jsonl")).unchanged == 3
        assert await ledger.aerase(user="siv") == 3
        return [hit.memory.value for hit in found.hits]

    assert asyncio.run(use()) == ["8101"]


def test_provenance_is_kept_with_what_a_handle_writes(handle):
    """Where a memory came from is shown with it."""
    assert handle.get(handle.remember("x is y").id).provenance == {"flow run": "r0"}
