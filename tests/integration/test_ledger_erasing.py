"""What is erased is in no byte of what a ledger keeps."""

from __future__ import annotations

import random

import pytest

from oort_flows.errors import NotFoundError, StorageUnavailableError
from oort_flows.ledger import Ledger
from tests.integration.ledgers import Place

# No word of any language: it has no ending that folding would take off.
WORD = "quokkabex"


@pytest.fixture
def ledger(place):
    with Ledger.open(place.url) as ledger:
        yield ledger


def leftovers(place, *words: str) -> list[str]:
    """Name the files, or tables, that hold any of *words*."""
    if place.engine == "sqlite":
        return [
            file.name
            for file in sorted(place.file.parent.iterdir())
            if any(word.encode() in file.read_bytes().lower() for word in words)
        ]
    tables = [name for (name,) in place.run("SELECT tablename FROM pg_tables WHERE schemaname = ?", place.schema)]
    return [name for name in tables if any(word in str(place.run(f"SELECT * FROM {name}")).lower() for word in words)]


def fill(handle, count: int, mark: str = "") -> list[str]:
    """Write memories of many sizes, and return their ids."""
    chance = random.Random(count)
    return [
        handle.remember(
            f"Fact {number} {mark} " + " ".join(f"word{chance.randrange(500)}" for _ in range(chance.randrange(4, 300))),
            context=f"said after {mark} {number}",
        ).id
        for number in range(count)
    ]


def test_erased_memory_is_in_no_byte(place, ledger):
    """Text, value, subject, context, note and index entry of one memory among many are overwritten."""
    handle = ledger.scoped(user="siv")
    fill(handle, 60)
    wrong = handle.remember(
        f"The word is {WORD}1.",
        subject=f"{WORD}2",
        attribute="word",
        value=f"{WORD}3",
        context=f"{WORD}4",
        source=f"{WORD}5",
    ).id
    right = handle.correct(wrong, f"The word is {WORD}6.", value=f"{WORD}7", reason=f"{WORD}8").id
    fill(handle, 60)
    handle.recall(f"which word is {WORD}1", run="r1")
    assert leftovers(place, WORD)
    for memory in (wrong, right):
        assert ledger.erase(id=memory) == 1
    assert leftovers(place, WORD) == []


def test_erased_space_is_in_no_byte(place, ledger):
    """All that one user said is gone, and all that others said is found as before."""
    siv, otso = ledger.scoped(user="siv"), ledger.scoped(user="otso")
    for handle, mark in ((siv, WORD), (otso, "numbat"), (siv, WORD), (otso, "numbat")):
        fill(handle, 40, mark)
    siv.remember("x is y", key=f"key {WORD}", subject=WORD)
    before = [hit.memory for hit in otso.recall("numbat", limit=100).hits]
    assert before
    assert ledger.erase(user="siv") == 41
    assert leftovers(place, WORD, "planet:siv") == []
    assert [hit.memory.id for hit in otso.recall("numbat", limit=100).hits] == [memory.id for memory in before]


def test_erase_takes_the_text_out_of_receipts(place, ledger):
    """The receipt of another reader stays, without the memory, and its replay says so."""
    siv, otso = ledger.scoped(user="siv", teams=["core"]), ledger.scoped(user="otso", teams=["core"])
    siv.share(siv.remember(f"kiwi is {WORD}").id, "constellation:core")
    siv.share(siv.remember("kiwi is green").id, "constellation:core")
    told = otso.recall("kiwi", run="r1")
    assert otso.as_seen_by("r1").recall("kiwi") == told
    (copy,) = [hit.memory.id for hit in told.hits if WORD in hit.memory.text]
    ledger.erase(id=copy)
    ledger.erase(user="siv")
    again = otso.as_seen_by("r1").recall("kiwi")
    assert [hit.memory.text for hit in again.hits] == ["kiwi is green"]
    assert "erased" in again.why
    assert WORD not in again.prompt
    assert "kiwi is green" in again.prompt
    assert leftovers(place, WORD) == []


def test_handle_erases_what_it_may_see(place, ledger):
    """A foreign id is unknown to it, and stays."""
    siv, otso = ledger.scoped(user="siv"), ledger.scoped(user="otso")
    memory = siv.remember(f"The word is {WORD}.").id
    with pytest.raises(NotFoundError):
        otso.erase(id=memory)
    assert siv.get(memory).status == "live"
    assert siv.erase(id=memory) == 1
    assert leftovers(place, WORD) == []


def test_erase_leaves_a_key_used(place, ledger):
    """A retried write does not bring back what was erased meanwhile."""
    handle = ledger.scoped(user="siv")
    said = handle.remember(f"The word is {WORD}.", key="k")
    ledger.erase(id=said.id)
    again = handle.remember(f"The word is {WORD}.", key="k")
    assert (again.duplicate, again.facts) == (True, said.facts)
    assert place.run("SELECT count(*) FROM oort_memories") == [(0,)]
    assert leftovers(place, WORD) == []


@pytest.mark.parametrize("seed", range(12))
def test_erased_memories_of_any_ledger_are_in_no_byte(tmp_path, seed):
    """Small or large, few or many, one by one or by space: nothing is left where rows and index entries were."""
    chance = random.Random(seed)
    place = Place("sqlite", tmp_path)
    with Ledger.open(place.url) as ledger:
        handle = ledger.scoped(user="siv")
        said = []
        for number in range(chance.randrange(1, 120)):
            words = " ".join(f"w{chance.randrange(500)}" for _ in range(chance.randrange(1, chance.choice([5, 50, 600]))))
            said.append((f"zqx{number}zqx", handle.remember(f"zqx{number}zqx {words}").id))
        chance.shuffle(said)
        gone = said[: max(1, len(said) // chance.choice([2, 5, 20]))] if seed % 2 else said
        for _, memory in gone if seed % 2 else ():
            ledger.erase(id=memory)
        if not seed % 2:
            ledger.erase(user="siv")
        assert leftovers(place, *(word for word, _ in gone)) == []


def test_reader_of_an_earlier_state_keeps_the_log(tmp_path):
    """The error says that all is erased but the log; the next erase empties it."""
    place = Place("sqlite", tmp_path)
    with Ledger.open(f"{place.url}?timeout=0.05") as ledger:
        handle = ledger.scoped(user="siv")
        memory = handle.remember(f"The word is {WORD}.").id
        with place.connection() as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM oort_memories").fetchall()
            with pytest.raises(StorageUnavailableError, match="it is erased"):
                ledger.erase(id=memory)
            with pytest.raises(NotFoundError):
                handle.get(memory)
            assert leftovers(place, WORD)
            reader.execute("COMMIT")
        assert ledger.erase(user="siv") == 0
        assert leftovers(place, WORD) == []
