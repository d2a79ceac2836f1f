"""
Calendar arithmetic on local wall-clock time: periods, their parts, and the instants they stand for.

Weeks begin on Monday (ISO 8601). Seasons are the meteorological ones of the northern hemisphere, a winter named after the
year it begins in. Everything here is naive local time; :func:`instant` is the one way out.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

__all__ = [
    "CLOCK",
    "Period",
    "back",
    "calendar_unit",
    "day_of",
    "half_of",
    "instant",
    "month_of",
    "nth_of",
    "part_of",
    "quarter_of",
    "season_of",
]

MONTHS_OF = {"month": 1, "quarter": 3, "half": 6, "year": 12}
DAYS_OF = {"day": 1, "week": 7}
CLOCK = {"hour": timedelta(hours=1), "minute": timedelta(minutes=1)}


@dataclass(frozen=True, slots=True)
class Period:
    """A half-open stretch of local time, and the calendar unit it is one of."""

    start: datetime
    end: datetime
    unit: str

    @property
    def is_day(self) -> bool:
        """Whether a time of the day narrows it."""
        return self.unit == "day"


def instant(local: datetime, zone: tzinfo) -> datetime:
    """
    Answer the first UTC instant whose wall clock in *zone* shows *local*, or in a gap the end of that gap.

    A midnight that a transition skips or repeats therefore still parts two days without a hole or an overlap.

    >>> from zoneinfo import ZoneInfo
    >>> instant(datetime(2026, 3, 29), ZoneInfo("Asia/Beirut")).isoformat()
    '2026-03-28T22:00:00+00:00'
    """
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC)


def _months_from(year: int, month: int, count: int) -> tuple[int, int]:
    years, month = divmod(year * 12 + month - 1 + count, 12)
    return years, month + 1


def month_of(year: int, month: int, length: int = 1, unit: str = "month") -> Period:
    """Cover *length* months from *month* of *year* on."""
    return Period(datetime(year, month, 1), datetime(*_months_from(year, month, length), 1), unit)


def day_of(year: int, month: int, day: int) -> Period:
    """Cover one day."""
    start = datetime(year, month, day)
    return Period(start, start + timedelta(days=1), "day")


def quarter_of(year: int, number: int) -> Period:
    """Cover one quarter, 1 to 4."""
    return month_of(year, 3 * number - 2, 3, "quarter")


def season_of(year: int, number: int) -> Period:
    """Cover spring (1), summer (2), autumn (3) or winter (4)."""
    return month_of(year, 3 * number, 3, "season")


def calendar_unit(unit: str, now: datetime, offset: int, span: int = 1) -> Period:
    """
    Cover the calendar unit that lies *offset* units from the one around *now*, and the *span* - 1 that follow.

    >>> calendar_unit("week", datetime(2026, 6, 17, 12), -1).start.date().isoformat()
    '2026-06-08'
    """
    if unit == "weekend":
        week = calendar_unit("week", now, offset, span)
        return Period(week.start + timedelta(days=5), week.end, unit)
    if unit in DAYS_OF:
        today = datetime.combine(now.date(), time())
        first = today - timedelta(days=today.weekday() if unit == "week" else 0) + timedelta(days=offset * DAYS_OF[unit])
        return Period(first, first + timedelta(days=span * DAYS_OF[unit]), unit)
    length = MONTHS_OF[unit]
    year, month = _months_from(now.year, now.month - (now.month - 1) % length, offset * length)
    return month_of(year, month, span * length, unit)


def back(now: datetime, count: int, unit: str) -> datetime:
    """Answer the midnight that began the day *count* days, weeks, months, quarters or years before *now*."""
    if unit in ("week", "day", "weekend"):
        day = now.date() - timedelta(days=count * DAYS_OF.get(unit, 7))
    else:
        year, month = _months_from(now.year, now.month, -count * MONTHS_OF[unit])
        last = (month_of(year, month).end - timedelta(days=1)).day
        day = date(year, month, min(now.day, last))
    return datetime.combine(day, time())


def half_of(period: Period, number: int) -> Period:
    """Cover the first or second half: six months of a year, half a month from its 16th on, else by time."""
    if period.unit == "year":
        middle = period.start.replace(month=7)
    elif period.unit == "month":
        middle = period.start.replace(day=16)
    else:
        middle = period.start + (period.end - period.start) / 2
    return Period(period.start, middle, "half") if number == 1 else Period(middle, period.end, "half")


def part_of(period: Period, part: str) -> Period:
    """
    Cover the ``start``, ``middle`` or ``end`` of a period.

    A month falls into ten days, ten days and the rest; a year into its first quarter, its two middle ones and its last;
    anything else into thirds.
    """
    if period.unit == "month":
        first, second = period.start.replace(day=11), period.start.replace(day=21)
    elif period.unit == "year":
        first, second = period.start.replace(month=4), period.start.replace(month=10)
    else:
        third = timedelta(days=max(1, (period.end - period.start).days // 3))
        first, second = period.start + third, period.end - third
    bounds = {"start": (period.start, first), "middle": (first, second), "end": (second, period.end)}
    return Period(*bounds[part], "part")


def nth_of(period: Period, unit: str, number: int) -> Period | None:
    """Cover the *number*-th day, week (of seven days), month, quarter or half of a period; -1 is the last."""
    if unit == "half":
        return half_of(period, 2 if number == -1 else number) if number in (-1, 1, 2) else None
    if unit in DAYS_OF:
        step = timedelta(days=DAYS_OF[unit])
        start = period.end - step if number == -1 else period.start + (number - 1) * step
        found = Period(start, min(start + step, period.end), unit)
    elif unit in MONTHS_OF:
        length = MONTHS_OF[unit]
        anchor, count = (period.end, -length) if number == -1 else (period.start, (number - 1) * length)
        found = month_of(*_months_from(anchor.year, anchor.month, count), length, unit)
    else:
        return None
    return found if period.start <= found.start < found.end <= period.end else None
