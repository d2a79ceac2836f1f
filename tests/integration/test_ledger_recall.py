"""Recall over more memories than are looked at in one piece."""

from __future__ import annotations

import random

import pytest

from oort_flows.ledger import Ledger


@pytest.fixture
def ledger(place):
    with Ledger.open(place.url) as ledger:
        yield ledger


@pytest.mark.parametrize("count", [50, 400])
def test_equal_hits_have_one_order_however_many_there_are(ledger, count):
    """Whichever was told first, and however few are asked for, content decides among equals."""
    words = [f"word{number:03}" for number in range(count)]
    found = []
    for user, seed in (("siv", 1), ("otso", 2)):
        told = words[:]
        random.Random(seed).shuffle(told)
        handle = ledger.scoped(user=user)
        handle.remember_many({"text": f"kiwi {word}", "valid_from": "2026-01-01"} for word in told)
        found.append([[hit.memory.text for hit in handle.recall("kiwi", limit=limit).hits] for limit in (1, 5, 40, count)])
    assert found[0] == found[1]
    assert [len(texts) for texts in found[0]] == [1, 5, 40, count]
    assert all(texts == found[0][3][: len(texts)] for texts in found[0])


def test_filters_apply_before_the_limit_however_many_they_leave_out(ledger):
    """A subject that almost nothing is about is found behind hundreds that match the words as well."""
    handle = ledger.scoped(user="siv")
    handle.remember_many(
        {"text": f"The port of service {number} is open.", "subject": f"service {number}"} for number in range(700)
    )
    handle.remember("The port is open, says the log of the service.", subject="Service")
    for subject, text in (("service", "The port is open, says"), ("SERVICE 350", "The port of service 350")):
        (hit,) = handle.recall("port open", subject=subject, limit=3).hits
        assert hit.memory.text.startswith(text)


def test_shadowed_values_do_not_use_up_the_limit(ledger):
    """Behind hundreds of global values that the project hides, its own and the unhidden ones are found."""
    everywhere, lark = ledger.scoped(user="siv"), ledger.scoped(user="siv", project="lark")
    names = [f"service {number}" for number in range(300)]
    for handle, value in ((everywhere, "1"), (lark, "2")):
        handle.remember_many(
            {"text": f"kiwi {value} of {name}", "subject": name, "attribute": "port", "value": value} for name in names
        )
    everywhere.remember("kiwi of nobody", subject="nobody", attribute="port", value="1")
    texts = [hit.memory.text for hit in lark.recall("kiwi", limit=400).hits]
    assert len(texts) == 301
    assert not [text for text in texts if text.startswith("kiwi 1")]


def test_history_of_a_search_counts_memories(ledger):
    """All versions of each are shown, and no more memories than asked for."""
    handle = ledger.scoped(user="siv")
    for number in range(4):
        slot = {"subject": f"service {number}", "attribute": "port"}
        handle.remember(f"kiwi {number} on 1", value="1", valid_from="2026-01-01", **slot)
        handle.remember(f"kiwi {number} on 2", value="2", valid_from="2026-02-01", **slot)
    found = handle.recall("kiwi", mode="history", limit=3).hits
    assert len({hit.memory.id for hit in found}) == 3
    assert len(handle.history("kiwi").hits) == 12
    assert [hit.memory.valid_from for hit in found] == sorted(hit.memory.valid_from for hit in found)
