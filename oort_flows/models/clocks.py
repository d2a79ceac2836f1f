"""
Time as the ledger understands it: instants in UTC, half-open intervals, and how arguments become either.

A time without a zone is read as UTC. Where a whole day is meant, it is the day of the zone that the ledger was opened with.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

from oort_flows.errors import ConfigurationError, InvalidInputError

__all__ = [
    "OPEN",
    "Clock",
    "Interval",
    "as_instant",
    "as_interval",
    "as_utc",
    "from_micros",
    "to_micros",
    "utc_now",
    "zone_of",
]

Clock = Callable[[], datetime]
"""Answers the present as a datetime; the ledger asks nothing else about the time."""

OPEN: Final = 2**63 - 1
"""An end that has not come, as microseconds since 1970."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_DATETIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}")
_FORMS: Final = "must be a datetime, or an ISO date or time such as 2026-03-01 or 2026-03-01T12:00:00+01:00"


@dataclass(frozen=True, slots=True)
class Interval:
    """
    A half-open stretch of time in UTC; ``None`` leaves an end open.

    Example
    -------
    >>> march = Interval(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC))
    >>> march.contains(datetime(2026, 3, 31, 23, 59, tzinfo=UTC)), march.contains(march.end)
    (True, False)
    """

    start: datetime | None = None
    end: datetime | None = None

    @classmethod
    def at(cls, instant: datetime) -> Interval:
        """Return the shortest interval that holds *instant*: one microsecond."""
        return cls(instant, instant + _MICROSECOND)

    @property
    def instant(self) -> datetime | None:
        """The instant, where the interval is no longer than one."""
        if self.start is not None and self.end is not None and self.end - self.start == _MICROSECOND:
            return self.start
        return None

    def contains(self, instant: datetime) -> bool:
        """Tell whether *instant* lies inside."""
        return (self.start is None or self.start <= instant) and (self.end is None or instant < self.end)

    def overlaps(self, other: Interval) -> bool:
        """Tell whether the two share an instant."""
        return (self.start is None or other.end is None or self.start < other.end) and (
            other.start is None or self.end is None or other.start < self.end
        )


def utc_now() -> datetime:
    """Return the present; the clock of every ledger that is given none."""
    return datetime.now(UTC)


def to_micros(instant: datetime | None) -> int:
    """
    Return *instant* as microseconds since 1970, exactly; ``None`` is :data:`OPEN`.

    >>> to_micros(datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC))
    1000005
    """
    return OPEN if instant is None else (instant - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime | None:
    """Return what :func:`to_micros` was given."""
    return None if micros == OPEN else _EPOCH + timedelta(microseconds=micros)


@cache
def zone_of(name: str) -> tzinfo:
    """
    Return the zone called *name*.

    Raises
    ------
    ConfigurationError
        If there is no such zone on this machine.
    """
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, TypeError, LookupError) as error:
        raise ConfigurationError("zone must be the name of a time zone, such as UTC or Europe/Oslo") from error


def as_utc(value: object, field: str) -> datetime:
    """
    Return *value* as an instant in UTC; a bare date is its midnight.

    Raises
    ------
    InvalidInputError
        If *value* is no datetime and no ISO date or time; the message names *field*.

    Example
    -------
    >>> as_utc("2026-03-01T12:00:00+02:00", "at").isoformat(), as_utc(datetime(2026, 3, 1), "at").isoformat()
    ('2026-03-01T10:00:00+00:00', '2026-03-01T00:00:00+00:00')
    """
    return as_instant(value, field, UTC)


def as_instant(value: object, field: str, zone: tzinfo) -> datetime:
    """Return *value* as an instant in UTC; a bare date is the beginning of that day in *zone*."""
    if isinstance(value, datetime):
        return _utc(value, field)
    day = _day(value, field)
    if day is not None:
        return _midnight(day, field, zone)
    if isinstance(value, str) and _DATETIME.match(value):
        try:
            return _utc(datetime.fromisoformat(value), field)
        except ValueError:
            pass
    raise InvalidInputError(field, _FORMS)


def as_interval(value: object, field: str, zone: tzinfo) -> Interval:
    """
    Return *value* as an interval.

    A datetime is an instant, a date the whole day in *zone*; of a pair, the second is where the interval ends, itself left
    out, and ``None`` leaves that end open.

    Raises
    ------
    InvalidInputError
        If *value* is none of these, or a pair does not run forward.

    Example
    -------
    >>> day = as_interval("2026-03-01", "as_of", zone_of("UTC"))
    >>> day.start.isoformat(), day.end.isoformat()
    ('2026-03-01T00:00:00+00:00', '2026-03-02T00:00:00+00:00')
    """
    if isinstance(value, Interval):
        value = (value.start, value.end)
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise InvalidInputError(field, "as a pair, must hold a start and an end")
        start, end = (None if side is None else as_instant(side, field, zone) for side in value)
        if start is not None and end is not None and end <= start:
            raise InvalidInputError(field, "must end after it starts")
        return Interval(start, end)
    day = None if isinstance(value, datetime) else _day(value, field)
    if day is not None:
        return Interval(_midnight(day, field, zone), _midnight(_next_day(day, field), field, zone))
    try:
        return Interval.at(as_instant(value, field, zone))
    except OverflowError:
        raise InvalidInputError(field, "is too far away") from None


def _utc(value: datetime, field: str) -> datetime:
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInputError(field, "is too far away") from None


def _day(value: object, field: str) -> date | None:
    if isinstance(value, str) and _DATE.match(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise InvalidInputError(field, _FORMS) from None
    return value if isinstance(value, date) and not isinstance(value, datetime) else None


def _next_day(day: date, field: str) -> date:
    try:
        return day + timedelta(days=1)
    except OverflowError:
        raise InvalidInputError(field, "is too far away") from None


def _midnight(day: date, field: str, zone: tzinfo) -> datetime:
    return _utc(datetime(day.year, day.month, day.day, tzinfo=zone), field)
