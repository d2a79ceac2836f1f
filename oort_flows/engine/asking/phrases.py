"""What the lexemes of each kind of phrase build: a day, a month, a week some weeks ago."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Any

from oort_flows.engine.asking.calendars import (
    CLOCK,
    Period,
    back,
    calendar_unit,
    day_of,
    month_of,
    quarter_of,
    season_of,
)
from oort_flows.engine.asking.moments import Moment, Point, fixed
from oort_flows.engine.asking.tokens import Figures, Lexeme

__all__ = [
    "DAY_PARTS",
    "Match",
    "ago",
    "day",
    "day_of_month",
    "hours_of",
    "integer",
    "month",
    "one_day",
    "ordinal_unit",
    "part_of_today",
    "quarter",
    "rolling",
    "season",
    "unit",
    "week_number",
    "weekday",
    "written",
    "year",
]

DAY_PARTS = {"morning": (0, 12), "noon": (12, 13), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}


class Match:
    """The lexemes that a rule matched, by the name of their group."""

    def __init__(self, found: re.Match[str], lexemes: list[Lexeme], moment: Moment) -> None:
        self.found, self.lexemes, self.moment = found, lexemes, moment
        self.end = found.end()

    def all(self, name: str) -> list[Lexeme]:
        """Answer the lexemes of a group."""
        start, end = self.found.span(name) if name in self.found.re.groupindex else (-1, -1)
        return self.lexemes[start:end] if start >= 0 else []

    def one(self, name: str) -> Lexeme | None:
        """Answer the first lexeme of a group."""
        return next(iter(self.all(name)), None)

    def value(self, name: str) -> Any:
        """Answer what the first lexeme of a group means."""
        one = self.one(name)
        return one.value if one else None

    def relative(self) -> tuple[str, int] | None:
        """Answer the unit and distance of group ``e``: one word, or *last*, *this*, *next* beside a unit."""
        parts = self.all("e")
        if len(parts) == 1:
            value = parts[0].value
            return value if isinstance(value, tuple) else None
        unit = next((part.value for part in parts if part.code == "U"), None)
        step = next((part.value for part in parts if part.code == "L"), None)
        return (str(unit), -1 if step == "past" else int(str(step))) if unit is not None and step is not None else None

    def year(self) -> int | None:
        """Answer the year that is said: in figures, or as *last year*."""
        if isinstance(value := self.value("y"), int):
            return value
        relative = self.relative()
        return self.moment.local.year + relative[1] if relative and relative[0] == "year" else None

    def yearly(self, make: Callable[[int], Period], weak: Lexeme | None = None) -> Point | None:
        """Answer what *make* builds, in the year that is said or else an open one."""
        if (self.all("y") or self.all("e")) and self.year() is None:
            return None
        year = self.year()
        if year is None:
            return Point(make, self.end, floating=True, weak=weak)
        return Point(lambda _: make(year), self.end)


def integer(value: object) -> int:
    """Answer *value*, or raise ValueError if it is no integer."""
    if not isinstance(value, int):
        raise ValueError
    return value


def _unsure(lexeme: Lexeme | None) -> Lexeme | None:
    return lexeme if lexeme is not None and not lexeme.strong else None


def day(match: Match) -> Point | None:
    """Read *3 March 2025* and *March 3rd*."""
    day, month = integer(match.value("d")), integer(match.value("m"))
    if not 1 <= day <= 31:
        return None
    said, number = match.one("m"), match.one("d")
    assert said is not None
    assert number is not None
    weak = number if said.start < number.start and number.code == "#" and not said.strong else None
    return match.yearly(lambda year: day_of(year, month, day), weak)


def day_of_month(match: Match) -> Point | None:
    """Read a day of a month that is counted from now (上个月5号)."""
    relative, day = match.relative(), integer(match.value("d"))
    if relative is None or relative[0] != "month":
        return None
    first = calendar_unit("month", match.moment.local, relative[1]).start
    return Point(fixed(day_of(first.year, first.month, day)), match.end, relative=True)


def month(match: Match) -> Point | None:
    """Read *March 2025*, *March last year* and *last March*."""
    month, step = integer(match.value("m")), match.value("l")
    if match.one("u") and match.value("u") != "month":
        return None
    if step is None:
        return match.yearly(lambda year: month_of(year, month), _unsure(match.one("m")))
    return _stepped(match, lambda year: month_of(year, month), step, match.one("m"))


def season(match: Match) -> Point | None:
    """Read *summer 2025* and *last summer*."""
    season, step = integer(match.value("s")), match.value("l")
    if step is None:
        return match.yearly(lambda year: season_of(year, season), _unsure(match.one("s")))
    return _stepped(match, lambda year: season_of(year, season), step, match.one("s"))


def _stepped(match: Match, make: Callable[[int], Period], step: object, word: Lexeme | None) -> Point | None:
    """Answer the last, this or next of something that comes once a year: the last is over, the next has not begun."""
    now = match.moment.local
    candidates = [make(year) for year in range(now.year - 2, now.year + 3)]
    if step in (-1, "past"):
        period = [one for one in candidates if one.end <= now][-1]
    elif step == 1:
        period = next(one for one in candidates if one.start > now)
    else:
        return Point(fixed(make(now.year)), match.end, weak=_unsure(word))
    return Point(fixed(period), match.end, relative=True)


def quarter(match: Match) -> Point | None:
    """Read *Q1 2025* and *H2*, and half years in languages that have a word for them."""
    unit, number = match.value("q") if isinstance(match.value("q"), tuple) else ("half", match.value("h"))
    number, said = integer(number), match.one("q") or match.one("h")
    make = (
        (lambda year: quarter_of(year, number))
        if unit == "quarter"
        else (lambda year: month_of(year, 6 * number - 5, 6, "half"))
    )
    return match.yearly(make, said if unit == "half" and match.one("q") else None)


def ordinal_unit(match: Match) -> Point | None:
    """Read *the second quarter* and *the first half* of a year that is left open."""
    unit, number = match.value("u"), integer(match.value("o"))
    if unit == "quarter" and 1 <= number <= 4:
        return Point(lambda year: quarter_of(year, number), match.end, floating=True, weak=match.one("o"))
    if unit == "half" and 1 <= number <= 2:
        return Point(lambda year: month_of(year, 6 * number - 5, 6, "half"), match.end, floating=True, weak=match.one("o"))
    return None


def unit(match: Match) -> Point | None:
    """Read *yesterday*, *last week* and *the past hour*."""
    relative = match.relative()
    if relative is None:
        return None
    unit, offset = relative
    step = next((one.value for one in match.all("e") if one.code == "L"), None)
    if step == "past" or (step == -1 and unit in CLOCK):
        return _rolling_point(match, unit, 1)
    if unit == "half" and len(match.all("e")) > 1:
        return None
    return _offset(match, unit, offset)


def _offset(match: Match, unit: str, offset: int) -> Point:
    moment = match.moment
    if unit in CLOCK:
        return Point(fixed(moment.clock_unit(unit, offset)), match.end, relative=True)
    if unit in ("night", "dawn"):
        day = calendar_unit("day", moment.local, offset)
        return Point(fixed(hours_of(day, *DAY_PARTS["night" if unit == "night" else "morning"])), match.end, relative=True)
    return Point(fixed(calendar_unit(unit, moment.local, offset)), match.end, relative=True)


def hours_of(day: Period, first: int, last: int) -> Period:
    """Cover the hours *first* to *last* of a day; 30 is six in the morning after."""
    return Period(day.start + timedelta(hours=first), day.start + timedelta(hours=last), "part of day")


def part_of_today(match: Match) -> Point | None:
    """Read *this morning*."""
    if match.value("l") != 0:
        return None
    return Point(
        fixed(hours_of(calendar_unit("day", match.moment.local, 0), *DAY_PARTS[str(match.value("t"))])),
        match.end,
        relative=True,
    )


def ago(match: Match) -> Point | None:
    """Read *two weeks ago*: the calendar unit that lies so far back."""
    if match.one("p") and match.value("p") != "before":
        return None
    unit, count = match.value("f")
    if count == "few":
        first = calendar_unit(unit, match.moment.local, -4, 3) if unit not in CLOCK else None
        return Point(fixed(first), match.end, relative=True) if first else None
    return _offset(match, unit, -count)


def rolling(match: Match) -> Point | None:
    """Read *the last 3 days*."""
    if match.one("l") and match.value("l") not in (-1, "past"):
        return None
    unit, count = match.value("f")
    return _rolling_point(match, unit, 4 if count == "few" else count)


def _rolling_point(match: Match, unit: str, count: int) -> Point:
    moment = match.moment
    if unit in CLOCK:
        start = moment.utc - count * CLOCK[unit]
        period = Period(start, moment.utc + timedelta(microseconds=1), "rolling")
    else:
        period = Period(back(moment.local, count, unit), calendar_unit("day", moment.local, 1).start, "rolling")
    return Point(fixed(period), match.end, rolling=True, relative=True)


def weekday(match: Match) -> Point | None:
    """Read *on Friday*, *last Friday* and *Friday last week*."""
    weekday, now = integer(match.value("w")), match.moment.local
    if match.all("e"):
        relative = match.relative()
        if relative is None or relative[0] not in ("week", "weekend"):
            return None
        monday = calendar_unit("week", now, relative[1]).start
        return Point(fixed(one_day(monday + timedelta(days=weekday))), match.end, relative=True)
    today = datetime.combine(now.date(), time())
    behind = (today.weekday() - weekday) % 7
    step = match.value("l")
    if step in (-1, "past"):
        day = today - timedelta(days=behind or 7)
    elif step == 1 or (step is None and match.moment.ahead):
        day = today + timedelta(days=(7 - behind) % 7 or (7 if step == 1 else 0))
    elif step == 0:
        day = calendar_unit("week", now, 0).start + timedelta(days=weekday)
    else:
        day = today - timedelta(days=behind)
    return Point(fixed(one_day(day)), match.end, weak=_unsure(match.one("w")) if step is None else None)


def one_day(start: datetime) -> Period:
    """Cover the day that begins at *start*."""
    return Period(start, start + timedelta(days=1), "day")


def year(match: Match) -> Point | None:
    """Read *2025* and *the year 2025*."""
    year, said = integer(match.value("y")), match.one("y")
    if match.one("u") and match.value("u") != "year":
        return None
    weak = _unsure(said) if not match.one("u") else None
    return Point(fixed(month_of(year, 1, 12, "year")), match.end, weak=weak)


def week_number(match: Match) -> Point | None:
    """Read *calendar week 10*."""
    number = integer(match.value("n"))

    def make(year: int) -> Period:
        monday = datetime.fromisocalendar(year, number, 1)
        return Period(monday, monday + timedelta(days=7), "week")

    return match.yearly(make)


def written(match: Match) -> Point | None:
    """Read a date in figures."""
    value, said = match.value("i"), match.one("i")
    assert said is not None
    if isinstance(value, Period):
        return Point(fixed(value), match.end)
    english = match.moment.english
    if not isinstance(value, Figures) or (value.either and english):
        return None
    figures = value
    weak = said if english or figures.year is None else None
    if figures.year is None:
        return Point(lambda year: day_of(year, figures.month, figures.day), match.end, floating=True, weak=weak)
    return Point(fixed(day_of(figures.year, figures.month, figures.day)), match.end, weak=weak)
