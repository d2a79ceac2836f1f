"""Every time a query names: the period, how it relates to the question, and which words say so."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from oort_flows.engine.asking.calendars import CLOCK, Period, back, day_of, instant
from oort_flows.engine.asking.evidence import convinces
from oort_flows.engine.asking.grammar import Grammar
from oort_flows.engine.asking.languages import listed
from oort_flows.engine.asking.moments import Moment, Point
from oort_flows.engine.asking.tokens import Lexeme, Reading
from oort_flows.models.clocks import Interval

__all__ = ["Expression", "Relation", "combine", "expressions"]

Relation = Literal["in", "before", "after", "since", "until", "as of", "between"]

LEADS: dict[str, Relation] = {
    "i": "in",
    "b": "before",
    "v": "before",
    "a": "after",
    "s": "since",
    "u": "until",
    "o": "as of",
    "f": "in",
    "t": "in",
}
TRAILS: dict[object, Relation] = {
    "in": "in",
    "before": "before",
    "after": "after",
    "since": "since",
    "until": "until",
    "as_of": "as of",
}
_VALUES_MOVE = listed("changed moved raised lowered went increased decreased renamed switched upgraded bumped grew fell set")
"""What *from 2001 to 2024* behind it is a change of, instead of a time."""


@dataclass(frozen=True, slots=True)
class Expression:
    """
    A time that a query names.

    Attributes
    ----------
    start, end:
        Where its words stand in the query, as code points.
    relative:
        Whether it is counted from now, as *last week* is.
    """

    relation: Relation
    interval: Interval
    start: int
    end: int
    relative: bool = False


class _Scan:
    """One pass over a query from left to right."""

    def __init__(self, reading: Reading, query: str, moment: Moment) -> None:
        self.lexemes, self.language, self.query, self.moment = reading.lexemes, reading.languages[0], query, moment
        self.grammar = Grammar(reading.lexemes, moment)
        self.codes = self.grammar.codes

    def point(self, at: int) -> Point | None:
        return self.grammar.point(at)

    def skip(self, at: int) -> int:
        """Answer the place behind up to three words without weight."""
        end = at
        while end < at + 3 and self.codes[end : end + 1] == "g":
            end += 1
        return end

    def believes(self, found: Point, at: int, lead: Lexeme | None, *, paired: bool = False) -> bool:
        return convinces(found, at, lead, self.lexemes, self.language, self.query, paired=paired)

    def expression(self, relation: Relation, interval: Interval, first: int, end: int) -> Expression:
        return Expression(relation, interval, self.lexemes[first].start, self.lexemes[end - 1].end)


def expressions(reading: Reading, query: str, moment: Moment) -> list[Expression]:
    """Answer the times that *query* names, in their order."""
    scan = _Scan(reading, query, moment)
    codes = scan.codes
    found: list[Expression] = []
    at = 0
    while at < len(codes):
        result = None
        if codes[at] not in "x.":
            try:
                result = _days(scan, at) or _range(scan, at) or _single(scan, at)
            except (ValueError, OverflowError):
                result = None
        if result is None:
            at += 1
        else:
            expression, at = result
            found.append(expression)
    return found


def combine(found: list[Expression]) -> tuple[Relation, Interval] | None:
    """
    Join the times of one question: a beginning and an end make a range, nested times the inner one, several the whole.

    ``since March until May`` asks for one stretch, and ``in March and in May`` for whatever held in either. What is counted
    from now counts for nothing beside a date that it does not meet (``last week, as noted on 6 November 2023``).
    """
    if not found:
        return None
    if not all(one.relative for one in found):
        said = [one for one in found if not one.relative]
        found = said + [one for one in found if one.relative and _intersection(one.interval, said[0].interval)]
    relation, interval = found[0].relation, found[0].interval
    for other in found[1:]:
        inner = _intersection(interval, other.interval)
        if inner is not None:
            opened = {relation, other.relation} <= {"since", "after", "before", "until"}
            relation = "between" if opened else other.relation if inner == other.interval else relation
            interval = inner
        elif None not in (interval.start, interval.end, other.interval.start, other.interval.end):
            relation, interval = "between", _hull(interval, other.interval)
    return relation, interval


def _intersection(one: Interval, other: Interval) -> Interval | None:
    if not one.overlaps(other):
        return None
    starts = [start for start in (one.start, other.start) if start]
    ends = [end for end in (one.end, other.end) if end]
    return Interval(max(starts, default=None), min(ends, default=None))


def _hull(one: Interval, other: Interval) -> Interval:
    starts = [start for start in (one.start, other.start) if start]
    ends = [end for end in (one.end, other.end) if end]
    return Interval(min(starts), max(ends))


def _single(scan: _Scan, at: int) -> tuple[Expression, int] | None:
    """Read a point with the relation before or behind it."""
    first, lead = at, None
    code = scan.codes[at]
    if code in LEADS and (code != "t" or scan.lexemes[at].value == "in"):
        lead = scan.lexemes[at]
        at = scan.skip(at + 1)
        if code == "s" and scan.codes[at : at + 1] == "F" and scan.codes[at + 1 : at + 2] != "A":
            return _since_for(scan, first, at)
        if code == "v" and scan.codes[at : at + 1] == "F":
            at, lead = first, None
    elif code == "g":
        at = scan.skip(at)
    found = scan.point(at)
    if found is None:
        return None
    relation, end = _related(scan, lead, found)
    if not scan.believes(found, at, lead, paired=relation == "since" and end > found.end):
        return None
    period = found.resolve(scan.moment)
    if found.rolling and relation in ("in", "since"):
        return scan.expression("since", Interval(instant_of(period.start, scan), None), first, found.end), found.end
    told = scan.expression(relation, _interval(relation, period, found, scan), first, end)
    return replace(told, relative=found.relative), end


def _related(scan: _Scan, lead: Lexeme | None, found: Point) -> tuple[Relation, int]:
    """Answer how a point relates to the question, and where its words end; what stands behind it outweighs what leads."""
    behind = found.end + (scan.codes[found.end : found.end + 1] == "g")
    trail = scan.lexemes[behind] if behind < len(scan.lexemes) else None
    if trail is not None and (trail.code == "p" or (trail.code == "t" and trail.value == "since")):
        return TRAILS[trail.value], behind + 1
    if trail is not None and trail.code == "t" and scan.codes[behind + 1 : behind + 2] == "Z":
        return "since", behind + 2
    if lead is not None and lead.code in "fs" and trail is not None and (trail.code == "w" or _is_on(scan, behind)):
        return "since", behind + 1
    if lead is None:
        return "in", found.end
    return "since" if lead.value == "since" else LEADS[lead.code], found.end


def _is_on(scan: _Scan, at: int) -> bool:
    return scan.lexemes[at].word in ("on", "an") and scan.codes[at + 1 : at + 2] in ("", ".", "c")


def _since_for(scan: _Scan, first: int, at: int) -> tuple[Expression, int] | None:
    """Read *seit zwei Wochen*, *depuis deux semaines*: since as long ago as that."""
    unit, count = scan.lexemes[at].value
    moment = scan.moment
    count = 4 if count == "few" else count
    start = moment.utc - count * CLOCK[unit] if unit in CLOCK else back(moment.local, count, unit)
    return scan.expression("since", Interval(instant_of(start, scan), None), first, at + 1), at + 1


def instant_of(value: datetime, scan: _Scan) -> datetime:
    """Answer the UTC instant of a local time, or of one that brought its zone."""
    return instant(value, scan.moment.zone) if value.tzinfo is None else value.astimezone(scan.moment.utc.tzinfo)


def _interval(relation: Relation, period: Period, found: Point, scan: _Scan) -> Interval:
    start, end = instant_of(period.start, scan), instant_of(period.end, scan)
    if relation == "before":
        return Interval(None, end if found.part == "end" else start)
    if relation == "after":
        return Interval(start if found.part == "start" else end, None)
    if relation == "since":
        return Interval(start, None)
    if relation == "until":
        return Interval(None, end)
    return Interval(start, end)


_DAY_RANGES = [
    re.compile("[fni]?g{0,2}(?P<a>[#O])g?[tu&]g{0,2}(?P<b>[#O])g{0,2}(?P<m>M)(?:c?g{0,2}(?P<y>Y))?"),
    re.compile("[fni]?g{0,2}(?P<m>M)g?(?P<a>[#O])g?[tu&]g{0,2}(?P<b>[#O])(?!U)(?:c?g{0,2}(?P<y>Y))?"),
    re.compile("[fni]?(?:(?P<y>Y)g?)?(?P<m>M)(?P<a>J)t(?P<b>J)p?"),
]


def _days(scan: _Scan, at: int) -> tuple[Expression, int] | None:
    """Read days of one month: *from 3 to 5 March*, *March 3-5*."""
    for rule in _DAY_RANGES:
        found = rule.match(scan.codes, at)
        if found is None:
            continue
        first, last, month = (int(str(scan.lexemes[found.start(name)].value)) for name in "abm")
        year = scan.lexemes[found.start("y")].value if found["y"] else None
        if not first < last or ("&" in found[0] and "n" not in found[0]):
            continue

        def make(year: int, first: int = first, last: int = last, month: int = month) -> Period:
            return Period(day_of(year, month, first).start, day_of(year, month, last).end, "days")

        period = make(year) if isinstance(year, int) else scan.moment.anchored(make)
        interval = Interval(instant_of(period.start, scan), instant_of(period.end, scan))
        return scan.expression("between", interval, at, found.end()), found.end()
    return None


def _range(scan: _Scan, at: int) -> tuple[Expression, int] | None:
    """Read two points with a word between them: *between X and Y*, *from X to Y*, *X to Y*."""
    first, lead = at, None
    if scan.codes[at] in "nfi":
        lead = scan.lexemes[at]
        at += 1
    at = scan.skip(at)
    one = scan.point(at)
    joint = scan.lexemes[one.end] if one and one.end < len(scan.lexemes) else None
    if (
        one is None
        or joint is None
        or not (joint.code in "tu" or (joint.code == "&" and lead is not None and lead.code == "n"))
    ):
        return None
    second = scan.skip(one.end + 1)
    other = scan.point(second)
    if other is None or one.rolling or other.rolling:
        return None
    if not _is_range(scan, first, lead, one, at, other, second):
        return None
    periods = _ends(scan, one, other)
    if periods is None:
        return None
    end = other.end + (scan.codes[other.end : other.end + 1] == "p")
    start, stop = instant_of(periods[0].start, scan), instant_of(periods[1].end, scan)
    if start >= stop:
        return None
    return scan.expression("between", Interval(start, stop), first, end), end


def _is_range(scan: _Scan, first: int, lead: Lexeme | None, one: Point, at: int, other: Point, second: int) -> bool:
    """Tell a range of times from one of values: *changed from 2001 to 2024*."""
    before = scan.lexemes[first - 1].word if first else ""
    if all(point.weak is not None and point.weak.code == "Y" for point in (one, other)):
        if before in _VALUES_MOVE or lead is None:
            return False
        return scan.believes(other, second, scan.lexemes[one.end]) and lead.word not in ("on", "at")
    sure = one.weak is None or other.weak is None
    joined = scan.lexemes[one.end - 1].end == scan.lexemes[one.end].start
    ranged = sure or lead is not None or joined
    return ranged and scan.believes(one, at, lead, paired=True) and scan.believes(other, second, lead, paired=True)


def _ends(scan: _Scan, one: Point, other: Point) -> tuple[Period, Period] | None:
    """Build both ends; an open year is that of the other end, and the range runs forward."""
    moment = scan.moment
    if one.floating and not other.floating:
        last = other.resolve(moment)
        begin = one.make(last.start.year)
        return (begin if begin.start <= last.start else one.make(last.start.year - 1)), last
    begin = one.resolve(moment)
    if not other.floating:
        last = other.resolve(moment)
        if last.end <= begin.start and begin.is_day and scan.codes[other.end - 1] == "W":
            begin = replace(begin, start=begin.start - timedelta(days=7))
        return begin, last
    last = other.make(begin.start.year)
    return begin, last if last.start >= begin.start else other.make(begin.start.year + 1)
