"""
The grammar of time phrases: which lexemes, in which order, name a period.

Each rule is a regular expression over the one-letter codes of the lexemes (see
:mod:`oort_flows.engine.asking.languages.vocabulary`), so that one rule serves every language with that order of words. At
each place the longest rule wins. What could be something else than a time (``May``, ``2024``, ``spring``) is *weak* and
counts only in a telling position, see :mod:`oort_flows.engine.asking.evidence`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from oort_flows.engine.asking import phrases
from oort_flows.engine.asking.calendars import CLOCK, Period, back, half_of, nth_of, part_of
from oort_flows.engine.asking.moments import Moment, Point
from oort_flows.engine.asking.phrases import DAY_PARTS, Match, hours_of, integer, one_day
from oort_flows.engine.asking.tokens import Lexeme

__all__ = ["Grammar"]

MOST_NESTED = 3
"""How many times *the end of the first week of ...* may go on."""

_OF = frozenset({"of", "de", "des", "du", "d", "del", "do", "da", "dos", "der", "de l", "de la", "no", "na", "の", "的"})

_E = "(?P<e>E|LU|UL)"
_Y = f"(?:c?[gi]{{0,2}}(?P<y>Y)|[gi]{{0,3}}{_E})"
_RULES: list[tuple[str, re.Pattern[str], Callable[[Match], Point | None]]] = [
    (starts, re.compile(rule), build)
    for starts, rule, build in [
        ("W#O", f"(?:Wc?g{{0,2}})?(?P<d>[#O])g{{0,2}}(?P<m>M){_Y}?", phrases.day),
        ("WM", f"(?:Wc?)?(?P<m>M)g?(?P<d>[#O])(?!U){_Y}?", phrases.day),
        ("YELUM", f"(?:(?P<y>Y)|{_E}g?)?(?P<m>M)(?P<d>J)", phrases.day),
        ("E", "(?P<e>E)g?(?P<d>J)", phrases.day_of_month),
        ("UM", f"(?:(?P<u>U)g{{1,2}})?(?P<m>M){_Y}?", phrases.month),
        ("Y", "(?P<y>Y)g?(?P<m>M)", phrases.month),
        ("ELU", f"{_E}c?[ig]{{0,2}}(?P<m>M)", phrases.month),
        ("L", "(?P<l>L)(?P<m>M)", phrases.month),
        ("M", "(?P<m>M)(?P<l>L)", phrases.month),
        ("Q", f"(?P<q>Q){_Y}?", phrases.quarter),
        ("YELU", f"(?:(?P<y>Y)|{_E})g?(?P<q>Q)", phrases.quarter),
        ("YELUH", f"(?:(?P<y>Y)g?|{_E}g?)?(?P<h>H)", phrases.quarter),
        ("O", "(?P<o>O)(?P<u>U)", phrases.ordinal_unit),
        ("ELU", _E, phrases.unit),
        ("L", "(?P<l>L)(?P<t>D)", phrases.part_of_today),
        ("F", "(?P<f>F)A", phrases.ago),
        ("Vv", "[Vv](?P<f>F)", phrases.ago),
        ("F", "(?P<f>F)(?P<p>p)", phrases.ago),
        ("L", "(?P<l>L)g?(?P<f>F)", phrases.rolling),
        ("LW", "(?P<l>L)?(?P<w>W)", phrases.weekday),
        ("W", "(?P<w>W)(?P<l>L)", phrases.weekday),
        ("W", f"(?P<w>W)c?[ig]{{0,3}}{_E}", phrases.weekday),
        ("ELU", f"{_E}[cig]{{0,2}}(?P<w>W)", phrases.weekday),
        ("LS", f"(?P<l>L)?(?P<s>S){_Y}?", phrases.season),
        ("S", "(?P<s>S)(?P<l>L)", phrases.season),
        ("YELU", f"(?:(?P<y>Y)|{_E})g?(?P<s>S)", phrases.season),
        ("UY", "(?:(?P<u>U)g?)?(?P<y>Y)", phrases.year),
        ("K", "K(?P<n>#)(?:[cgi]{0,2}(?P<y>Y))?", phrases.week_number),
        ("I", "(?P<i>I)", phrases.written),
    ]
]
_CLOCK_TIME = re.compile("[cig]{0,2}(?:(?P<c>C)|(?P<t>D))")
_PART = re.compile("(?P<b>B)g{0,3}")
_NTH = re.compile("(?P<o>[OL])(?P<u>[UF])(?P<g>g{0,3})")
_BESIDE = re.compile("(?P<d>[FUW])(?P<r>[bav])g{0,3}")
_BEHIND = re.compile("g?(?:(?P<j>j)|(?P<h>H))")
_BY_START: dict[str, list[tuple[re.Pattern[str], Callable[[Match], Point | None]]]] = {
    code: [(rule, build) for starts, rule, build in _RULES if code in starts] for code in "".join(rule[0] for rule in _RULES)
}
_NESTING = {"B": [_PART], "O": [_NTH], "L": [_NTH], "F": [_BESIDE], "U": [_BESIDE], "W": [_BESIDE]}


class Grammar:
    """
    The rules at work on one query; what stands at a place is read once.

    Parameters
    ----------
    lexemes:
        The words of the query with what they mean.
    moment:
        When and where it is asked.
    """

    def __init__(self, lexemes: list[Lexeme], moment: Moment) -> None:
        self.lexemes, self.moment = lexemes, moment
        self.codes = "".join(lexeme.code for lexeme in lexemes)
        self._read: dict[tuple[int, int], Point | None] = {}

    def point(self, at: int, depth: int = 0) -> Point | None:
        """Answer the longest period named at lexeme *at*; *depth* counts what it is a piece of."""
        key = (at, depth)
        if key not in self._read:
            self._read[key] = self._longest(at, depth)
        return self._read[key]

    def _longest(self, at: int, depth: int) -> Point | None:
        code = self.codes[at : at + 1]
        candidates: list[Point | None] = []
        if depth < MOST_NESTED:
            candidates += [_nested(self, rule, at, depth) for rule in _NESTING.get(code, ())]
        for rule, build in _BY_START.get(code, ()):
            if found := rule.match(self.codes, at):
                try:
                    candidates.append(build(Match(found, self.lexemes, self.moment)))
                except (ValueError, OverflowError, LookupError, StopIteration):
                    continue
        best = max((one for one in candidates if one), key=lambda one: one.end, default=None)
        return _narrowed(self, best) if best else None


def _nested(grammar: Grammar, rule: re.Pattern[str], at: int, depth: int) -> Point | None:
    """Read ``the end of May``, ``the last week of March``, ``two days before 3 May``: a time told by what follows."""
    found, lexemes = rule.match(grammar.codes, at), grammar.lexemes
    whole = grammar.point(found.end(), depth + 1) if found else None
    if found is None or whole is None or whole.rolling:
        return None
    if rule is _PART:
        part = str(lexemes[found.start("b")].value)
        return _piece(whole, lambda period: part_of(period, part), part)
    if rule is _BESIDE:
        return _beside(whole, lexemes[found.start("d")], before=found["r"] != "a")
    ordinal, unit = lexemes[found.start("o")].value, lexemes[found.start("u")].value
    between = [lexemes[index].word for index in range(*found.span("g"))]
    if ordinal not in (-1, 1, 2, 3, 4, 5) or (ordinal == -1 and not _OF & set(between)):
        return None
    number = int(str(ordinal))

    def nth(period: Period) -> Period:
        if isinstance(unit, tuple):
            return _first_or_last(period, unit[0], integer(unit[1]), number)
        piece = nth_of(period, str(unit), number)
        if piece is None:
            raise ValueError
        return piece

    return _piece(whole, nth, None)


def _first_or_last(period: Period, unit: str, count: int, number: int) -> Period:
    """Cover the first or last *count* units of a period."""
    first, last = (1, count) if number == 1 else (-1, -1)
    one, other = nth_of(period, unit, first), nth_of(period, unit, last)
    if one is None or other is None or number not in (1, -1):
        raise ValueError
    if number == 1:
        return Period(one.start, other.end, "part")
    start = back(period.end, count, unit)
    if start < period.start:
        raise ValueError
    return Period(start, period.end, "part")


def _beside(whole: Point, distance: Lexeme, *, before: bool) -> Point | None:
    """Read the day, week or weekday that lies beside a period, or that many units from it."""
    value = distance.value
    if distance.code == "U":
        value = (str(value), 1)

    def beside(period: Period) -> Period:
        if isinstance(value, int):
            days = (period.start.weekday() - value - 1) % 7 + 1 if before else (value - period.end.weekday()) % 7 + 1
            start = period.start - timedelta(days=days) if before else period.end + timedelta(days=days - 1)
            return one_day(start)
        unit, count = value
        if unit in CLOCK or count == "few":
            raise ValueError
        if distance.code == "U":
            return (
                Period(back(period.start, 1, unit), period.start, "part")
                if before
                else Period(period.end, back(period.end, -1, unit), "part")
            )
        return one_day(back(period.start, count if before else -count, unit))

    try:
        beside(whole.make(2000))
    except ValueError:
        return None
    return _piece(whole, beside, None)


def _piece(whole: Point, cut: Callable[[Period], Period], part: str | None) -> Point:
    make = whole.make
    return replace(whole, make=lambda year: cut(make(year)), weak=None, part=part)


def _narrowed(grammar: Grammar, whole: Point) -> Point:
    """Add what follows a period: a time of the day, or in languages that put it behind, which piece of it is meant."""
    if whole.rolling:
        return whole
    codes, lexemes = grammar.codes, grammar.lexemes
    if behind := _BEHIND.match(codes, whole.end):
        piece = lexemes[behind.end() - 1].value
        cut = (
            (lambda period: part_of(period, str(piece)))
            if behind["j"]
            else (lambda period: half_of(period, int(str(piece))))
        )
        return replace(_piece(whole, cut, str(piece) if behind["j"] else None), end=behind.end())
    if timed := _CLOCK_TIME.match(codes, whole.end):
        value = lexemes[timed.end() - 1].value

        def at_time(period: Period) -> Period:
            if not period.is_day:
                raise ValueError
            if isinstance(value, str):
                return hours_of(period, *DAY_PARTS[value])
            hour, minute, second = value
            start = period.start.replace(hour=hour, minute=minute or 0, second=second or 0)
            length = timedelta(seconds=1) if second is not None else timedelta(minutes=1 if minute is not None else 60)
            return Period(start, start + length, "instant")

        narrowed = replace(_piece(whole, at_time, None), end=timed.end())
        try:
            narrowed.resolve(grammar.moment)
        except ValueError:
            return whole
        return narrowed
    return whole
