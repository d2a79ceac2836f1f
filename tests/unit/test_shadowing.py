"""Shadowing: the project's own value hides the global one where both hold, and nowhere else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from oort_flows.engine.shadowing import Asked, Extent, is_hidden

marks = st.integers(0, 9)


@st.composite
def extents(draw):
    valid_from, recorded_at = draw(marks), draw(marks)
    return Extent(valid_from, draw(st.integers(valid_from + 1, 10)), recorded_at, draw(st.integers(recorded_at + 1, 10)))


@st.composite
def questions(draw):
    t0, k0 = draw(marks), draw(marks)
    t1, k1 = draw(st.integers(t0 + 1, 10)), draw(st.integers(k0 + 1, 10))
    shape = draw(st.sampled_from(["today", "both", "together"]))
    if shape == "today":
        return Asked(t0, t1)
    return Asked(t0, t1, k0, k1) if shape == "both" else Asked(t0, t1, t0, t1, together=True)


def instants(asked):
    """Every pair of instants that a question is about."""
    worlds = range(asked.t0, asked.t1)
    if asked.k0 is None:
        return [(t, None) for t in worlds]
    return [(t, t) for t in worlds] if asked.together else [(t, k) for t in worlds for k in range(asked.k0, asked.k1)]


def shows(extent, t, k):
    return extent.valid_from <= t < extent.until and (k is None or extent.recorded_at <= k < extent.closed_at)


@given(extents(), st.lists(extents(), max_size=4), questions())
def test_value_is_hidden_where_no_instant_shows_it_alone(extent, own, asked):
    """Looking at every instant one by one gives the same answer."""
    shown = [pair for pair in instants(asked) if shows(extent, *pair)]
    alone = [pair for pair in shown if not any(shows(other, *pair) for other in own)]
    assert is_hidden(extent, own, asked) == (bool(own) and not alone)


def test_nothing_of_its_own_hides_nothing():
    """A project without a value of the slot sees the global one."""
    assert not is_hidden(Extent(0, 10, 0, 10), [], Asked(0, 10))
