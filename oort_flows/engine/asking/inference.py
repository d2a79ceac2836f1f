"""From the words of a question to the mode of its recall."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from oort_flows.engine.asking.expressions import Expression, Relation, combine, expressions
from oort_flows.engine.asking.modes import Mode, believed, historic
from oort_flows.engine.asking.moments import Moment
from oort_flows.engine.asking.tokens import Figures, Reading, read
from oort_flows.models.clocks import Interval

__all__ = ["Asked", "infer"]


@dataclass(frozen=True, slots=True)
class Asked:
    """
    What a question asks for.

    Attributes
    ----------
    mode:
        ``current``, ``as_of``, ``history`` or ``known_at``.
    interval:
        The time it is about, if it names one: for ``as_of`` when it held, for ``known_at`` when it was believed, for
        ``history`` which part of it.
    relation:
        How the question relates to the time it names: ``in``, ``before``, ``after``, ``since``, ``until``, ``as of`` or
        ``between``.
    why:
        One sentence for people.
    terms:
        The question without its time words, for full-text search.
    about:
        For ``known_at`` only: the other time that the question names, which the belief was about.
    """

    mode: Mode
    interval: Interval | None
    relation: Relation | None
    why: str
    terms: str
    about: Interval | None = None


def infer(query: str, *, now: datetime, zone: tzinfo) -> Asked:
    """
    Read the mode and the time of *query*.

    A month without a year is the most recent one that has begun, a weekday likewise; in a question about what will be, they
    are the coming ones. Relative words are counted on the wall clock of *zone*. Never raises, whatever the text.

    Parameters
    ----------
    query:
        Any text.
    now:
        When it is asked; without a zone it is UTC.
    zone:
        The zone of the person who asks.

    Example
    -------
    >>> asked = infer("which port was it in March", now=datetime(2026, 6, 17, 12), zone=UTC)
    >>> asked.mode, asked.interval.start.isoformat(), asked.terms
    ('as_of', '2026-03-01T00:00:00+00:00', 'which port was it')
    """
    utc = (now.replace(tzinfo=UTC) if now.tzinfo is None else now).astimezone(UTC)
    reading = read(query)
    latin = reading.languages[0]
    ahead = any(language.find("future", reading.masked) for language in reading.languages)
    moment = Moment(utc, zone, utc.astimezone(zone).replace(tzinfo=None), ahead=ahead, english=latin.name == "English")
    times = expressions(reading, query, moment)
    present = [(lexeme.start, lexeme.end) for lexeme in reading.lexemes if lexeme.code == "Z"]
    if cue := historic(reading):
        return _answer("history", times, cue + present, reading, query, zone)
    if cue := believed(reading, times):
        return _answer("known_at", times, cue + present, reading, query, zone)
    return _answer("as_of" if times else "current", times, present, reading, query, zone)


def _answer(
    mode: Mode, times: list[Expression], cue: list[tuple[int, int]], reading: Reading, query: str, zone: tzinfo
) -> Asked:
    about = None
    if mode == "known_at" and len(times) > 1:
        named = [time for time in times if time.start > cue[0][0]]
        belief = named[0] if named else times[-1]
        others = combine([time for time in times if time is not belief])
        about = others[1] if others else None
        joined = combine([belief])
    else:
        joined = combine(times)
    relation, interval = joined or (None, None)
    words = [query[time.start : time.end] for time in times]
    spans = sorted([*((time.start, time.end) for time in times), *cue])
    return Asked(mode, interval, relation, _why(mode, interval, words, reading, zone), _without(query, spans), about)


def _without(query: str, spans: list[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in spans:
        if start > at:
            pieces.append(query[at:start])
        at = max(at, end)
    return " ".join(" ".join([*pieces, query[at:]]).split()).strip(" ,;:?!。？、，")


_MEANING: dict[Mode, str] = {
    "current": "so this asks what holds now",
    "as_of": "so this asks what held then",
    "history": "so this asks how it changed",
    "known_at": "so this asks what was believed then",
}


def _why(mode: Mode, interval: Interval | None, words: list[str], reading: Reading, zone: tzinfo) -> str:
    if interval is None:
        if mode == "history":
            return "The question asks how something changed, and names no time, so all of its history is meant."
        unsure = any(isinstance(lexeme.value, Figures) and lexeme.value.either for lexeme in reading.lexemes)
        hint = " A date in it can be read in two ways; written as 2026-03-04 it cannot." if unsure else ""
        return f"The question names no time that was understood, {_MEANING[mode]}.{hint}"
    said = " and ".join(f'"{" ".join(word.split())}"' for word in words)
    return f"{said} {'means' if len(words) == 1 else 'mean'} {_stretch(interval, zone)}, {_MEANING[mode]}."


def _stretch(interval: Interval, zone: tzinfo) -> str:
    start, end = (_local(side, zone) for side in (interval.start, interval.end))
    if start is None:
        return f"any time before {end}"
    return f"{start} until before {end}" if end else f"{start} or later"


def _local(instant: datetime | None, zone: tzinfo) -> str | None:
    if instant is None:
        return None
    try:
        local = instant.astimezone(zone)
    except (OverflowError, ValueError):
        local = instant
    return re.sub(r"T00:00(:00)?(?=[+-]|$)", "", local.replace(tzinfo=None).isoformat(timespec="minutes"))
