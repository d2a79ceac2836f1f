"""The moment of a question, and the periods that its phrases name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from oort_flows.engine.asking.calendars import CLOCK, Period
from oort_flows.engine.asking.tokens import Lexeme

__all__ = ["Moment", "Point", "fixed"]


@dataclass(frozen=True, slots=True)
class Moment:
    """
    When and where a question is asked.

    Attributes
    ----------
    utc:
        The instant.
    zone:
        The zone that relative words are meant in.
    local:
        The wall clock there, without its zone.
    ahead:
        Whether the question looks ahead, so that an open date is the coming one.
    english:
        Whether figures such as 3/4 may have the month first.
    """

    utc: datetime
    zone: tzinfo
    local: datetime
    ahead: bool = False
    english: bool = True

    def anchored(self, make: Callable[[int], Period]) -> Period:
        """Answer the most recent period of *make* that has begun; with a look ahead, the first that has not ended."""
        now = self.local
        years = range(now.year, now.year + 9) if self.ahead else range(now.year, now.year - 9, -1)
        for year in years:
            try:
                period = make(year)
            except ValueError:
                continue
            if period.end > now if self.ahead else period.start <= now:
                return period
        raise ValueError

    def clock_unit(self, unit: str, offset: int) -> Period:
        """Cover the minute or clock hour that was *offset* units from now, counted in real time."""
        moved = (self.utc + offset * CLOCK[unit]).astimezone(self.zone).replace(second=0, microsecond=0)
        start = (moved.replace(minute=0) if unit == "hour" else moved).astimezone(UTC)
        return Period(start, start + CLOCK[unit], unit)


@dataclass(frozen=True, slots=True)
class Point:
    """
    A period that a phrase names.

    Attributes
    ----------
    make:
        Builds it for a year; ignores the year unless ``floating``.
    floating:
        Whether the phrase leaves the year open.
    end:
        Index behind its last lexeme.
    weak:
        The lexeme that makes it doubtful, if there is one and nothing beside it that settles the doubt.
    part:
        ``start``, ``middle`` or ``end`` where it is one of these.
    rolling:
        Whether it is a stretch up to now (``the last 3 days``).
    relative:
        Whether it is counted from now (``last week``).
    """

    make: Callable[[int], Period]
    end: int
    floating: bool = False
    weak: Lexeme | None = None
    part: str | None = None
    rolling: bool = False
    relative: bool = False

    def resolve(self, moment: Moment) -> Period:
        """Build the period; ValueError or OverflowError where no calendar has it."""
        return moment.anchored(self.make) if self.floating else self.make(moment.local.year)


def fixed(period: Period) -> Callable[[int], Period]:
    """Answer what builds *period* for any year."""
    return lambda _: period
