"""Reconcile as a pure function: what a plan leaves behind is a lawful history, whatever comes."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from oort_flows.engine.reconcile import Known, News, cut, reconcile
from oort_flows.models.clocks import OPEN

NOW = 50


def known(number: int, value: str, start: int, stop: int = OPEN, expiry: int = OPEN) -> Known:
    return Known(number, f"m{number}", 1, value.encode(), start, stop, expiry, min(stop, expiry), recorded_at=0)


def news(value: str, start: int, stop: int = OPEN, *, kind: str = "one", expiry: int = OPEN, dated: bool = True) -> News:
    return News(value.encode(), kind, start, stop, expiry, dated)


def believed_after(plan, before, fact):
    """Return (value, start, end) of what is believed once *plan* is carried out."""
    closed = {(change.known.memory, change.known.version) for change in plan.changes}
    kept = [(k.same, k.valid_from, k.until) for k in before if (k.memory, k.version) not in closed]
    pieces = [
        (change.known.same, piece.valid_from, min(piece.valid_to, change.known.expires_at))
        for change in plan.changes
        for piece in change.pieces
    ]
    added = [] if plan.again is not None else [(fact.same, plan.valid_from, min(plan.valid_to, fact.expires_at))]
    return sorted(kept + pieces + added, key=lambda period: period[1])


@st.composite
def slots(draw):
    """Periods of a single-valued slot that do not overlap."""
    marks = sorted(draw(st.sets(st.integers(0, 100), min_size=2, max_size=8)))
    periods = []
    for number, (start, stop) in enumerate(zip(marks[::2], marks[1::2], strict=False)):
        last = number == len(marks) // 2 - 1
        periods.append(known(number, draw(st.sampled_from("ABC")), start, OPEN if last and draw(st.booleans()) else stop))
    return periods


@st.composite
def facts(draw):
    start = draw(st.integers(0, 100))
    stop = draw(st.just(OPEN) | st.integers(start + 1, 120))
    expiry = draw(st.just(OPEN) | st.integers(start + 1, 120))
    return news(draw(st.sampled_from("ABC")), start, stop, expiry=expiry)


@given(slots(), facts())
def test_slot_never_holds_two_values_at_a_time(before, fact):
    """Whatever is told, the periods that are believed afterwards do not overlap, and none is empty."""
    after = believed_after(reconcile(fact, before, [], NOW), before, fact)
    assert all(start < stop for _, start, stop in after)
    assert all(one[2] <= other[1] for one, other in pairwise(after))


@given(slots(), facts())
def test_news_holds_from_when_it_says(before, fact):
    """At the start of a fact that is no repeat, its value is the one that is believed."""
    plan = reconcile(fact, before, [], NOW)
    assume(plan.again is None)
    at_start = [value for value, start, stop in believed_after(plan, before, fact) if start <= fact.valid_from < stop]
    assert at_start == [fact.same]


@given(slots(), facts())
def test_what_lies_outside_of_the_news_stays_as_it_was(before, fact):
    """No instant before its start changes, and none after its end."""
    plan = reconcile(fact, before, [], NOW)
    after = believed_after(plan, before, fact)
    for instant in range(-1, 130):
        if instant < fact.valid_from or instant >= fact.valid_to:
            held = [k.same for k in before if k.holds_at(instant)]
            assert [value for value, start, stop in after if start <= instant < stop] == held


@given(slots(), facts())
def test_what_was_said_once_is_a_repeat_when_said_again(before, fact):
    """Telling a live fact twice changes nothing the second time."""
    plan = reconcile(fact, before, [], NOW)
    stop = min(plan.valid_to, fact.expires_at)
    assume(plan.again is None and stop > NOW)
    added = Known(99, "m99", 1, fact.same, plan.valid_from, plan.valid_to, fact.expires_at, stop, recorded_at=1)
    again = reconcile(fact, [added], [], NOW)
    assert (again.outcome, again.again, again.changes) == ("reinforced", added, ())


def test_repeat_is_known_by_its_sentence_too():
    """Where the slot knows nothing of it, a live memory with the same sentence is confirmed."""
    other = known(1, "x", 0)
    assert reconcile(news("A", 10), [], [other], NOW).again is other


def test_fixed_attribute_leaves_no_other_value():
    """All that was believed of it was wrong; an undated correction holds from when the first wrong value began."""
    before = [known(1, "A", 10, 20), known(2, "B", 20)]
    plan = reconcile(news("C", 50, kind="fixed", dated=False), before, [], NOW)
    assert plan.outcome == "corrected"
    assert [(change.closing, change.pieces) for change in plan.changes] == [("corrected", ()), ("corrected", ())]
    assert plan.valid_from == 10
    assert reconcile(news("C", 50, kind="fixed"), before, [], NOW).valid_from == 50


def test_many_values_join():
    """Another value closes nothing; the same one is a repeat while it holds, and news after its end."""
    before = [known(1, "A", 10)]
    assert reconcile(news("B", 20, kind="many"), before, [], NOW).outcome == "added"
    assert reconcile(news("A", 20, kind="many"), before, [], NOW).outcome == "reinforced"
    assert reconcile(news("A", 30, kind="many"), [known(1, "A", 10, 20)], [], NOW).outcome == "added"


def test_expired_value_is_over():
    """What expired does not hold, so it is neither confirmed nor closed."""
    plan = reconcile(news("A", 50), [known(1, "A", 10, expiry=40)], [], NOW)
    assert (plan.outcome, plan.changes) == ("added", ())


def test_cut_leaves_what_lies_around():
    """A hole in the middle leaves two pieces; the last keeps how the whole was to end."""
    change = cut(known(1, "A", 10, 40), 20, 30, "superseded")
    assert [(p.valid_from, p.valid_to, p.ending) for p in change.pieces] == [(10, 20, "superseded"), (30, 40, None)]
    assert cut(known(1, "A", 10, expiry=25), 20, 30, "superseded").pieces[-1].valid_to == 20
    assert cut(known(1, "A", 10), 10, OPEN, "corrected").pieces == ()
