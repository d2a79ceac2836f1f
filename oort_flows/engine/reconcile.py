"""
Reconcile: what a new fact does to what is believed.

Pure: a function from the believed versions that the fact meets to a plan of what to close, keep and add. It knows no
database, and times are microseconds. Only facts of one slot close or end each other; a repeat is known by its sentence too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from oort_flows.models.clocks import OPEN
from oort_flows.models.memories import Cardinality, Outcome

__all__ = ["Change", "Known", "News", "Piece", "Plan", "cut", "reconcile"]


@dataclass(frozen=True, slots=True)
class Known:
    """
    A believed version.

    Attributes
    ----------
    memory, id, version:
        Which one: the row and the id of its memory, and its number.
    same:
        Stands for its value: two versions of a slot with the same say the same.
    until:
        The earlier of ``valid_to`` and ``expires_at``; where it stops holding.
    """

    memory: int
    id: str
    version: int
    same: bytes
    valid_from: int
    valid_to: int
    expires_at: int
    until: int
    recorded_at: int
    ending: str | None = None

    def holds_at(self, instant: int) -> bool:
        """Tell whether it describes *instant*."""
        return self.valid_from <= instant < self.until


@dataclass(frozen=True, slots=True)
class News:
    """A fact that was just declared; ``dated`` tells whether its start was said or is the time of recording."""

    same: bytes
    kind: Cardinality
    valid_from: int
    valid_to: int = OPEN
    expires_at: int = OPEN
    dated: bool = True


@dataclass(frozen=True, slots=True)
class Piece:
    """What is left of a version that lost some of its time, to be appended as a newer version."""

    valid_from: int
    valid_to: int
    ending: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """A version to close on the second clock, and what of it goes on."""

    known: Known
    closing: str
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What to do about a fact.

    Either ``again`` names the version it repeats and nothing is added, or it is added from ``valid_from`` to ``valid_to``.
    """

    outcome: Outcome
    reason: str
    again: Known | None = None
    changes: tuple[Change, ...] = ()
    valid_from: int = 0
    valid_to: int = OPEN
    ending: str | None = None

    @property
    def closed(self) -> tuple[str, ...]:
        """Ids of the memories that are closed or ended, in order."""
        return tuple(dict.fromkeys(change.known.id for change in self.changes))


def reconcile(news: News, peers: Sequence[Known], repeated: Sequence[Known], now: int) -> Plan:
    """
    Return what *news* does.

    Parameters
    ----------
    peers:
        Believed versions of its slot: at least those that are not over, those that hold at its start, and the first that
        begins later. Of a fixed attribute all; of one with many values those with the same value are enough.
    repeated:
        Live versions that say the same sentence and may stand for it.
    """
    later = sorted((known for known in peers if known.valid_from > news.valid_from), key=lambda known: known.valid_from)
    cover = [known for known in peers if known.holds_at(news.valid_from) and _concerns(known, news)]
    same = [known for known in peers if known.same == news.same]
    held = [known for known in cover if known.same == news.same and (later or known.until > now)]
    # A period that has no instant in common with the told one is a period of its own: who lived there twice moved twice.
    live = [known for known in same if known.until > now and (news.kind == "fixed" or _overlaps(known, news))]
    again = held or live or [known for known in repeated if _overlaps(known, news)]
    if again:
        return Plan("reinforced", "it was known already", again=again[0])
    if news.kind == "fixed" and peers:
        return _corrected_for_good(news, peers)
    return _placed(news, cover, [] if news.kind == "many" else later)


def cut(known: Known, start: int, stop: int, why: str) -> Change:
    """Return the change that lets *known* no longer hold from *start* to *stop*."""
    pieces = []
    if known.valid_from < start:
        pieces.append(Piece(known.valid_from, start, why))
    if stop < known.until:
        pieces.append(Piece(stop, known.valid_to, known.ending))
    return Change(known, why, tuple(pieces))


def _concerns(known: Known, news: News) -> bool:
    return news.kind != "many" or known.same == news.same


def _overlaps(known: Known, news: News) -> bool:
    return known.valid_from < min(news.valid_to, news.expires_at) and news.valid_from < known.until


def _corrected_for_good(news: News, peers: Iterable[Known]) -> Plan:
    """A fixed attribute never had the other value, so none of it is left, whatever the times."""
    changes = tuple(Change(known, "corrected") for known in peers)
    start = news.valid_from if news.dated else min(news.valid_from, *(change.known.valid_from for change in changes))
    return Plan(
        "corrected",
        "this attribute never changes, so the earlier value was wrong",
        changes=changes,
        valid_from=start,
        valid_to=news.valid_to,
    )


def _placed(news: News, cover: Sequence[Known], later: Sequence[Known]) -> Plan:
    """Make room for the fact between what holds at its start and what begins next."""
    stop, ending = news.valid_to, None
    if later and later[0].valid_from < stop:
        stop, ending = later[0].valid_from, "superseded"
    exact = any(known.valid_from == news.valid_from for known in cover)
    changes = tuple(
        cut(
            known,
            news.valid_from,
            news.valid_to,
            "corrected" if known.valid_from == news.valid_from else "superseded",
        )
        for known in cover
    )
    outcome, reason = _named(exact, bool(later), bool(cover))
    return Plan(outcome, reason, changes=changes, valid_from=news.valid_from, valid_to=stop, ending=ending)


def _named(exact: bool, later: bool, cover: bool) -> tuple[Outcome, str]:
    if exact:
        return "corrected", "another value from the very same time: the earlier one never held"
    if later:
        return "inserted", "it is about the time before what is known to follow"
    if cover:
        return "superseded", "another value from a later time: the earlier one ends where this begins"
    return "added", "nothing like it was known"
