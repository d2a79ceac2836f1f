"""Questions: what a recall is asked, made exact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final, cast

from oort_flows.engine.asking import infer
from oort_flows.errors import InvalidInputError
from oort_flows.models.clocks import OPEN, Interval, as_interval, to_micros
from oort_flows.models.memories import Budget, MemoryType, Mode

__all__ = ["Question", "checked_budget", "checked_limit", "checked_types", "question_of", "span_of"]

_MODES: Final = ("current", "as_of", "history", "known_at")
_BEGINNING: Final = -(2**63)


@dataclass(frozen=True, slots=True)
class Question:
    """
    A question whose mode and times are known.

    Attributes
    ----------
    terms:
        What to search for.
    world, known:
        The time of the world it is about, and that of the belief; ``None`` for the present, or for all in history.
    """

    mode: Mode
    terms: str
    why: str
    world: Interval | None = None
    known: Interval | None = None


def question_of(query: object, mode: object, as_of: object, known_at: object, now: datetime, zone: tzinfo) -> Question:
    """
    Return what is asked; where no mode and no time is given, the query says it.

    Raises
    ------
    InvalidInputError
        If an argument is unusable, or the mode contradicts the times.
    """
    if not isinstance(query, str):
        raise InvalidInputError("query", "must be a string")
    if mode is not None and (not isinstance(mode, str) or mode not in _MODES):
        raise InvalidInputError("mode", f"must be one of {', '.join(_MODES)}")
    world = None if as_of is None else as_interval(as_of, "as_of", zone)
    known = None if known_at is None else as_interval(known_at, "known_at", zone)
    given = "known_at" if known is not None else "as_of" if world is not None else None
    if given is not None:
        if mode not in (None, given):
            raise InvalidInputError("mode", f"does not go with the time that was given as {given}")
        terms = _without_time(query, known or world, now, zone)
        return Question(cast("Mode", given), terms, "the caller named the time", world, known)
    if mode in ("current", "history"):
        return Question(cast("Mode", mode), query, "the caller named the mode")
    if mode is None and not query.strip():
        return Question("current", query, "nothing in the query names another mode or time")
    asked = infer(query, now=now, zone=zone)
    if mode is not None and (asked.mode != mode or asked.interval is None):
        raise InvalidInputError(mode, "must be given with this mode, or named by the query")
    if asked.mode == "known_at" and asked.interval is not None:
        return Question("known_at", asked.terms, asked.why, asked.about, asked.interval)
    if asked.mode == "as_of" and asked.interval is not None:
        return Question("as_of", asked.terms, asked.why, asked.interval)
    if asked.mode == "history":
        return Question("history", asked.terms, asked.why, asked.interval)
    return Question("current", asked.terms, asked.why)


def _without_time(query: str, given: Interval | None, now: datetime, zone: tzinfo) -> str:
    """Return what to search for, where a query says once more which time the caller has given."""
    if not query.strip() or given is None or given.start is None:
        return query
    asked = infer(query, now=now, zone=zone)
    return asked.terms if asked.interval is not None and asked.interval.contains(given.start) else query


def span_of(interval: Interval) -> tuple[int, int]:
    """Return the ends of *interval* in microseconds."""
    start = _BEGINNING if interval.start is None else to_micros(interval.start)
    return start, OPEN if interval.end is None else to_micros(interval.end)


def checked_limit(limit: object) -> int:
    """Return *limit* if it is a positive number."""
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise InvalidInputError("limit", "must be a positive integer")
    return limit


def checked_budget(budget: object) -> Budget | None:
    """Return *budget* as one; a number counts code points."""
    if budget is None:
        return None
    chosen = budget if isinstance(budget, Budget) else Budget(cast("int", budget))
    if not isinstance(chosen.limit, int) or isinstance(chosen.limit, bool) or chosen.limit < 1:
        raise InvalidInputError("budget", "must be a positive integer, or a Budget with one")
    return chosen


def checked_types(types: object) -> tuple[str, ...]:
    """Return *types* as names of memory types; none means all."""
    if types is None:
        return ()
    if isinstance(types, str) or not isinstance(types, Iterable):
        raise InvalidInputError("types", "must be a list of memory types")
    chosen = tuple(types)
    if not all(isinstance(one, str) and one in frozenset(MemoryType) for one in chosen):
        raise InvalidInputError("types", f"must hold only {', '.join(MemoryType)}")
    return tuple(sorted({str(one) for one in chosen}))
