"""
A clock that stands still until it is told to move.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["FrozenClock"]


class FrozenClock:
    """
    A clock for tests: called, it tells the time it was set to.

    Parameters
    ----------
    start:
        The time it shows at first, with a zone.

    Example
    -------
    >>> from datetime import UTC, datetime, timedelta
    >>> clock = FrozenClock(datetime(2024, 3, 1, tzinfo=UTC))
    >>> clock.advance(timedelta(days=9)).isoformat()
    '2024-03-10T00:00:00+00:00'
    >>> clock() == clock()
    True
    """

    def __init__(self, start: datetime = datetime(2024, 1, 1, tzinfo=UTC)) -> None:
        self._now = start

    def __call__(self) -> datetime:
        """Tell the time."""
        return self._now

    def advance(self, step: timedelta = timedelta(seconds=1)) -> datetime:
        """Move by *step*, which may be negative, and tell the new time."""
        self._now += step
        return self._now

    def set(self, instant: datetime) -> datetime:
        """Jump to *instant*, also into the past, and tell it."""
        self._now = instant
        return self._now
