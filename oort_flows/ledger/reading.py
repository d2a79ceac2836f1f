"""Finding memories: slots and full text, filtered on two clocks, ranked, and shadowed by the project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from oort_flows.engine.recall import Match, Query, bridges, entities, query_of, ranked, words_of
from oort_flows.engine.shadowing import Asked, Extent, is_hidden
from oort_flows.errors import NotFoundError
from oort_flows.ledger.drafts import Place, slot_of
from oort_flows.ledger.questions import Question, span_of
from oort_flows.models.clocks import OPEN
from oort_flows.storage import indexes
from oort_flows.storage import statements as st
from oort_flows.storage.folding import name_key, tokens
from oort_flows.storage.grants import Grant
from oort_flows.storage.rows import Stored, stored
from oort_flows.storage.sessions import Session

__all__ = ["Filters", "Found", "find", "latest", "rows_of_id"]

_FIRST_LOOK: Final = 256
_FETCHED: Final = 32
_REACHED: Final = 128
_SLOT: Final = ("reads the slot it names",)


@dataclass(frozen=True, slots=True)
class Filters:
    """What a hit has to be, beside answering the question."""

    subject: str | None = None
    attribute: str | None = None
    types: tuple[str, ...] = ()

    def admits(self, row: Stored) -> bool:
        """Tell whether *row* is about the subject and the attribute."""
        return all(
            wanted is None or (found is not None and name_key(found) == name_key(wanted))
            for wanted, found in ((self.subject, row.subject), (self.attribute, row.attribute))
        )


@dataclass(frozen=True, slots=True)
class Found:
    """A row that answers, how well, and why."""

    row: Stored
    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _When:
    """A question's time as a condition, its arguments, and as shadowing wants it; and the types it keeps to."""

    condition: str
    arguments: dict[str, int]
    asked: Asked | None
    types: tuple[str, ...] = ()

    @property
    def narrowed(self) -> str:
        """The condition, of the types alone."""
        return f"{self.condition} AND m.type IN ({', '.join(map(repr, self.types))})" if self.types else self.condition


def find(session: Session, grant: Grant, question: Question, filters: Filters, limit: int | None, now: int) -> list[Found]:
    """
    Return what answers *question*, best first; a history in time order.

    In a history, *limit* counts the memories that a search finds; a slot is returned whole.
    """
    when = _when(question, now, filters.types)
    history = question.mode == "history"
    if filters.subject is not None and filters.attribute is not None:
        found = [Found(row, 1.0, _SLOT) for row in _slot_rows(session, grant, filters, when)]
        found.sort(key=_by_time if history else _latest_first)
    else:
        found = _searched(session, grant, question, filters, when, limit)
        if history:
            found.sort(key=_by_time)
    return found if history or limit is None else found[:limit]


def rows_of_id(session: Session, grant: Grant, memory: str) -> list[Stored]:
    """
    Return all versions of a memory.

    Raises
    ------
    NotFoundError
        If there is none, or none for this grant; the two look alike.
    """
    rows = [stored(row) for row in session.all(st.VERSIONS_OF_ID, {"id": memory})]
    if not rows or not grant.allows(rows[0].space, rows[0].project):
        raise NotFoundError("no such memory")
    return rows


def latest(rows: Sequence[Stored]) -> Stored:
    """Return the version that stands for a memory: the believed one that holds last, else the newest."""
    return max(rows, key=lambda row: (row.closed_at == OPEN, row.valid_from if row.closed_at == OPEN else 0, row.version))


def _when(question: Question, now: int, types: tuple[str, ...]) -> _When:
    if question.mode == "current":
        return _When(st.BELIEVED, {"t0": now, "t1": now + 1}, Asked(now, now + 1), types)
    if question.mode == "history":
        if question.world is None:
            return _When(st.EVER, {}, None, types)
        t0, t1 = span_of(question.world)
        return _When(st.HELD, {"t0": t0, "t1": t1}, None, types)
    if question.known is None:
        t0, t1 = span_of(question.world) if question.world is not None else (now, now + 1)
        return _When(st.BELIEVED, {"t0": t0, "t1": t1}, Asked(t0, t1), types)
    k0, k1 = span_of(question.known)
    if question.world is None:
        times = {"t0": k0, "t1": k1, "k0": k0, "k1": k1}
        return _When(st.KNOWN_THEN, times, Asked(k0, k1, k0, k1, together=True), types)
    t0, t1 = span_of(question.world)
    times = {"t0": t0, "t1": t1, "k0": k0, "k1": k1}
    return _When(st.KNOWN, times, Asked(t0, t1, k0, k1), types)


def _slot_rows(session: Session, grant: Grant, filters: Filters, when: _When) -> list[Stored]:
    places = [Place(space, project) for space in grant.reads for project in grant.projects]
    rows = _read_slots(session, [slot_of(place, filters.subject, filters.attribute) for place in places], when)
    shown = _unshadowed(rows, _own(rows), when) if grant.project is not None else rows
    return [row for row in shown if not when.types or row.type in when.types]


def _read_slots(session: Session, slots: Iterable[bytes | None], when: _When) -> list[Stored]:
    given = [slot for slot in slots if slot is not None]
    if not given:
        return []
    arguments = {**when.arguments, **{f"slot{number}": slot for number, slot in enumerate(given)}}
    return [stored(row) for row in session.all(st.slots(len(given), when.condition), arguments)]


def _searched(
    session: Session, grant: Grant, question: Question, filters: Filters, when: _When, limit: int | None
) -> list[Found]:
    """Search by words; while filters leave too few of what was looked at, look at more."""
    named = [part for part in (filters.subject, filters.attribute) if part is not None]
    must = tuple(dict.fromkeys(token for part in named for token in tokens(part)))
    query = query_of(question.terms)
    if not query.terms:
        query = Query(must, frozenset())
    if not query.terms:
        return []
    scopes = [indexes.scope_of(space, project) for space in grant.reads for project in grant.projects]
    wanted = indexes.Wanted(query.terms, sorted(query.names), must, scopes)
    look = _FIRST_LOOK if limit is None else max(_FIRST_LOOK, 4 * limit)
    while True:
        rows = indexes.candidates(session, wanted, when.narrowed, when.arguments, look)
        matches = [_match(candidate) for candidate in rows]
        over: list[Match] = []
        if question.mode != "history" and filters.subject is None:
            over = _shown_bridges(session, grant, bridges(query, matches), when)
            matches += _reached(session, query, over, {match.row for match in matches}, scopes, when)
        order = ranked(query, matches, over)
        found, dropped = _gathered(session, grant, order, filters, when, limit, question.mode == "history")
        if len(rows) < look or (limit is not None and not dropped):
            return found
        look *= 8


def _match(candidate: indexes.Candidate) -> Match:
    row, packed, *slot = candidate
    return Match(row, *indexes.unpack(bytes(packed))[1:], *map(words_of, slot))


def _shown_bridges(session: Session, grant: Grant, found: Sequence[Match], when: _When) -> list[Match]:
    """Leave out what the project's own values hide: over it, nothing is reached."""
    if not found or grant.project is None or when.asked is None:
        return list(found)
    arguments = {**when.arguments, **{f"row{number}": match.row for number, match in enumerate(found)}}
    rows = [stored(row) for row in session.all(st.rows(len(found), when.condition), arguments)]
    shown = {row.seq for row in _unshadowed(rows, _own_of(session, grant, rows, when), when)}
    return [match for match in found if match.row in shown]


def _reached(
    session: Session, query: Query, over: Sequence[Match], known: set[int], scopes: Sequence[str], when: _When
) -> list[Match]:
    """Find what is about the same things as the bridges and has words of the query that not all of them have."""
    if not over:
        return []
    about = list(dict.fromkeys(entity for bridge in over for entity in entities(bridge)))
    common = set(query.terms).intersection(*(bridge.fact.split() for bridge in over))
    wanted = indexes.Wanted([term for term in query.terms if term not in common], (), (), scopes, about)
    found = indexes.candidates(session, wanted, when.narrowed, when.arguments, _REACHED)
    return [match for match in map(_match, found) if match.row not in known and match.subject in about]


def _gathered(
    session: Session,
    grant: Grant,
    order: Sequence[tuple[Match, float, tuple[str, ...]]],
    filters: Filters,
    when: _When,
    limit: int | None,
    history: bool,
) -> tuple[list[Found], bool]:
    """
    Fetch the best matches, as many as it takes, and let content and valid time decide among equals.

    Also tells whether filters left fewer than were wanted.
    """
    found: list[Found] = []
    seen: set[int] = set()
    dropped = False
    for chunk in _chunks(order, _FETCHED if limit is None else max(_FETCHED, limit)):
        judged = {match.row: (score, reasons) for match, score, reasons in chunk}
        arguments = {**when.arguments, **{f"row{number}": row for number, row in enumerate(judged)}}
        rows = [stored(row) for row in session.all(st.rows(len(judged), when.condition), arguments)]
        kept = [row for row in rows if filters.admits(row)]
        if grant.project is not None and when.asked is not None:
            kept = _unshadowed(kept, _own_of(session, grant, kept, when), when)
        dropped = dropped or len(kept) < len(rows)
        for hit in sorted((Found(row, *judged[row.seq]) for row in kept), key=_best_first):
            if limit is None or len(seen) < limit or (history and hit.row.seq in seen):
                seen.add(hit.row.seq if history else len(seen))
                found.append(hit)
        if limit is not None and len(seen) >= limit:
            return found, False
    return found, dropped


def _chunks(
    order: Sequence[tuple[Match, float, tuple[str, ...]]], size: int
) -> Iterator[Sequence[tuple[Match, float, tuple[str, ...]]]]:
    """Cut *order* into pieces of about *size*, never between two that fit equally well."""
    start = 0
    while start < len(order):
        stop = min(start + size, len(order))
        while stop < len(order) and order[stop][1] == order[stop - 1][1]:
            stop += 1
        yield order[start:stop]
        start = stop


def _own(rows: Iterable[Stored]) -> Callable[[Stored], list[Extent]]:
    """Return the project's own values of the slot of a global row, out of the rows of one slot."""
    own: dict[str, list[Extent]] = {}
    for row in rows:
        if row.project is not None:
            own.setdefault(row.space, []).append(_extent(row))
    return lambda row: own.get(row.space, [])


def _own_of(session: Session, grant: Grant, rows: Iterable[Stored], when: _When) -> Callable[[Stored], list[Extent]]:
    """Return the same for rows of any slots; the project's own value need not answer the query itself."""
    slots = {}
    for row in rows:
        if row.project is None and row.slot is not None:
            slots[row.seq] = slot_of(Place(row.space, grant.project), row.subject, row.attribute)
    own: dict[bytes, list[Extent]] = {}
    for found in _read_slots(session, sorted({slot for slot in slots.values() if slot is not None}), when):
        own.setdefault(bytes(found.slot or b""), []).append(_extent(found))
    return lambda row: own.get(slots.get(row.seq) or b"", [])


def _unshadowed(rows: Iterable[Stored], own: Callable[[Stored], list[Extent]], when: _When) -> list[Stored]:
    asked = when.asked
    if asked is None:
        return list(rows)
    return [row for row in rows if row.project is not None or not is_hidden(_extent(row), own(row), asked)]


def _extent(row: Stored) -> Extent:
    return Extent(row.valid_from, row.until, row.recorded_at, row.closed_at)


def _content(hit: Found) -> tuple[object, ...]:
    row = hit.row
    return (row.text, row.valid_from, row.space, row.project or "", row.value or "", row.recorded_at, row.version)


def _best_first(hit: Found) -> tuple[object, ...]:
    return (-hit.score, *_content(hit))


def _latest_first(hit: Found) -> tuple[object, ...]:
    return (-hit.row.valid_from, *_content(hit))


def _by_time(hit: Found) -> tuple[object, ...]:
    row = hit.row
    return (row.valid_from, row.recorded_at, row.version, *_content(hit))
