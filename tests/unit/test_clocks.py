"""Instants and intervals: what counts as one, in which zone, and what is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oort_flows.errors import ConfigurationError, InvalidInputError
from oort_flows.models.clocks import OPEN, Interval, as_instant, as_interval, as_utc, from_micros, to_micros, zone_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@given(st.datetimes(timezones=st.just(UTC)))
def test_microseconds_lose_nothing(instant):
    """Every instant that Python knows comes back as it was."""
    assert from_micros(to_micros(instant)) == instant


def test_open_end_is_later_than_every_instant():
    """What has not ended ends after the last instant there is, and comes back as none."""
    assert to_micros(None) == OPEN > to_micros(datetime.max.replace(tzinfo=UTC))
    assert from_micros(OPEN) is None


def test_time_without_a_zone_is_utc_whatever_the_zone():
    """Only words and bare dates depend on the zone."""
    naive = datetime(2026, 3, 1, 12)
    assert as_instant(naive, "at", zone_of("Asia/Tokyo")) == NOON
    assert as_instant("2026-03-01T12:00", "at", zone_of("Asia/Tokyo")) == NOON
    assert as_utc(datetime(2026, 3, 1, 14, tzinfo=timezone(timedelta(hours=2))), "at") == NOON


def test_bare_date_is_the_beginning_of_the_local_day():
    """Midnight is where the ledger is."""
    tokyo = datetime(2026, 2, 28, 15, tzinfo=UTC)
    assert as_instant("2026-03-01", "at", zone_of("Asia/Tokyo")) == tokyo
    assert as_instant(date(2026, 3, 1), "at", zone_of("Asia/Tokyo")) == tokyo


def test_day_is_as_long_as_the_clocks_say():
    """A day on which clocks are put forward has 23 hours."""
    day = as_interval("2026-03-29", "as_of", zone_of("Europe/Oslo"))
    assert day.end - day.start == timedelta(hours=23)


def test_instant_is_an_interval_of_one_microsecond():
    """It holds itself, and not what comes next."""
    asked = as_interval(NOON, "as_of", UTC)
    assert asked.instant == NOON
    assert asked.contains(NOON)
    assert not asked.contains(NOON + timedelta(microseconds=1))
    assert as_interval(asked, "as_of", UTC) == asked


def test_pair_may_leave_an_end_open():
    """Nothing before or nothing after is asked for by leaving an end out."""
    assert as_interval((None, NOON), "as_of", UTC) == Interval(None, NOON)
    assert as_interval([NOON, None], "as_of", UTC) == Interval(NOON, None)
    assert as_interval(("2026-03-01", "2026-03-03"), "as_of", UTC) == Interval(
        datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 3, tzinfo=UTC)
    )


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (Interval(None, None), Interval(NOON, None), True),
        (Interval(None, NOON), Interval(NOON, None), False),
        (Interval.at(NOON), Interval.at(NOON), True),
        (Interval.at(NOON), Interval(NOON + timedelta(microseconds=1), None), False),
    ],
)
def test_intervals_that_touch_share_nothing(one, other, shared):
    """Half-open: where one ends, the next begins."""
    assert one.overlaps(other) is other.overlaps(one) is shared


@pytest.mark.parametrize(
    "value",
    [
        *(5, True, 1.5, None, "", "soon", "20260101", "2026-1-1", "2026-02-30", "2026-01-01T25:00", b"2026-01-01", [], {}),
        *((NOON,), (NOON, NOON), (NOON, NOON - timedelta(1)), (NOON, "x"), datetime.max.replace(tzinfo=UTC)),
    ],
    ids=repr,
)
def test_what_is_no_time_is_refused_by_name(value):
    """The message names the field and does not repeat the value."""
    with pytest.raises(InvalidInputError) as caught:
        as_interval(value, "known_at", UTC)
    assert caught.value.field == "known_at"
    assert len(str(value)) < 5 or str(value) not in str(caught.value)


def test_time_that_leaves_the_calendar_is_refused():
    """There is no year 10000, in whichever zone."""
    late = datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-5)))
    with pytest.raises(InvalidInputError):
        as_utc(late, "at")
    with pytest.raises(InvalidInputError):
        as_interval("9999-12-31", "as_of", UTC)


def test_unknown_zone_is_a_mistake_of_the_set_up():
    """Whoever opens a ledger hears of it at once."""
    with pytest.raises(ConfigurationError, match="zone"):
        zone_of("Atlantis/Centre")
