"""By hand: correct, end, forget, pin and share, on a memory that was looked up already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from oort_flows.engine.reconcile import Change, Known, News, Plan, cut, reconcile
from oort_flows.errors import InvalidInputError, NotFoundError
from oort_flows.ledger import writing
from oort_flows.ledger.drafts import Draft, Place, draft_of, slot_of
from oort_flows.ledger.house import House
from oort_flows.ledger.reading import latest
from oort_flows.models.clocks import OPEN, from_micros, to_micros
from oort_flows.models.memories import FactOutcome, Observed, Space
from oort_flows.storage import statements as st
from oort_flows.storage.folding import digest, value_key
from oort_flows.storage.grants import Grant
from oort_flows.storage.rows import Stored
from oort_flows.storage.sessions import Session

__all__ = ["Correction", "correct", "end", "forget", "locks", "pin", "share"]

_CLOSED: Final = "is that of a closed memory, which is read only"


@dataclass(frozen=True, slots=True)
class Correction:
    """What is to be different, and why; ``None`` stays as it was."""

    text: str | None
    value: str | None
    valid_from: datetime | None
    note: str | None


def locks(rows: Sequence[Stored], also: Place | None) -> list[bytes]:
    """Return what stands for a memory and its slot, here and in the place it is copied to."""
    row = rows[0]
    found = [row.slot, digest(row.id)]
    if also is not None:
        found.append(slot_of(Place(also.space, row.project), row.subject, row.attribute))
    return [bytes(lock) for lock in found if lock is not None]


def correct(session: Session, house: House, rows: Sequence[Stored], correction: Correction, now: int) -> Observed:
    """Close a memory on the second clock, and write down the one that holds in its place."""
    row = _live(rows, now)
    pieces = writing.known_of(session, row.seq)
    draft = _corrected_draft(session, house, row, correction)
    start = pieces[0].valid_from if draft.valid_from is None else draft.valid_from
    if start >= min(pieces[0].valid_to, draft.expires_at):
        raise InvalidInputError("valid_from", "must lie before the time until which the memory holds")
    first = replace(draft, valid_from=start, valid_to=pieces[0].valid_to)
    plan = _plan(session, first, pieces, now)
    changes = [*(Change(known, "corrected") for known in pieces), *plan.changes]
    operation = writing.begin(session, "correct", row.space, _after(now, changes), note=correction.note)
    writing.apply(session, operation, changes)
    if plan.again is not None:
        session.run(st.CONFIRM, {"memory": plan.again.memory, "at": operation.at})
        memory = plan.again.id
        writing.link(session, operation, plan.again.memory, changes[: len(pieces)])
    else:
        memory, newer = writing.add_memory(session, operation, first, plan)
        for number, known in enumerate(pieces[1:], 2):
            writing.add_period(session, operation, first, newer, number, known.valid_from, known.valid_to, known.ending)
        writing.link(session, operation, newer, changes)
    closed = tuple(dict.fromkeys(change.known.id for change in changes))
    return Observed("corrected", (FactOutcome(memory, "corrected", closed, (), "it was corrected by hand"),))


def end(session: Session, rows: Sequence[Stored], at: int | None, now: int) -> Observed:
    """Let a memory hold no longer than until *at*."""
    row = _live(rows, now)
    known = writing.known_of(session, row.seq)[-1]
    stop = now if at is None else at
    if not known.valid_from < stop < known.until:
        raise InvalidInputError("at", "must lie inside the time in which the memory holds")
    changes = [cut(known, stop, known.until, "ended")]
    operation = writing.begin(session, "end", row.space, _after(now, changes))
    writing.apply(session, operation, changes)
    return Observed("ended", (FactOutcome(row.id, "ended", (row.id,), (), "it was ended by hand"),))


def forget(session: Session, rows: Sequence[Stored], now: int) -> None:
    """Close all that is believed of a memory on the second clock."""
    row = _believed(rows)
    changes = [Change(known, "forgotten") for known in writing.known_of(session, row.seq)]
    writing.apply(session, writing.begin(session, "forget", row.space, _after(now, changes)), changes)


def pin(session: Session, rows: Sequence[Stored], now: int, *, pinned: bool) -> None:
    """Set the pin of a memory, or take it off."""
    row = _live(rows, now)
    writing.begin(session, "pin" if pinned else "unpin", row.space, now)
    session.run(st.PIN, {"memory": row.seq, "pinned": int(pinned)})


def share(session: Session, house: House, grant: Grant, rows: Sequence[Stored], to: Space, now: int) -> Observed:
    """Copy a memory into another space."""
    if to not in grant.reads:
        raise NotFoundError("no such space")
    row = _live(rows, now)
    if to == row.space:
        raise InvalidInputError("to", "must be another space than that of the memory")
    draft = draft_of(
        Place(str(to), row.project),
        house.vocabulary,
        house.zone,
        text=row.text,
        type=row.type,
        subject=row.subject,
        attribute=row.attribute,
        value=row.value,
        cardinality=row.cardinality,
        valid_from=from_micros(row.valid_from),
        valid_to=from_micros(row.valid_to),
        expires_at=from_micros(row.expires_at),
        source=row.source,
        speaker=row.speaker,
        reason=row.reason,
        expert=row.expert,
        origin=(row.id, row.space),
        operation="share",
    )
    _, fact = writing.declare(session, draft, now, "share")
    return Observed(fact.outcome, (fact,))


def _believed(rows: Sequence[Stored]) -> Stored:
    row = latest(rows)
    if row.closed_at != OPEN:
        raise InvalidInputError("id", _CLOSED)
    return row


def _live(rows: Sequence[Stored], now: int) -> Stored:
    row = _believed(rows)
    if row.until <= now:
        raise InvalidInputError("id", _CLOSED)
    return row


def _after(now: int, changes: Sequence[Change]) -> int:
    return max([now, *(change.known.recorded_at + 1 for change in changes)])


def _corrected_draft(session: Session, house: House, row: Stored, correction: Correction) -> Draft:
    text = row.text if correction.text is None else correction.text
    value = correction.value
    if value is None and (correction.text is None or (row.value and value_key(row.value) in value_key(text))):
        value = row.value
    kept = session.one(st.CONTEXT_OF, {"memory": row.seq})
    return draft_of(
        Place(row.space, row.project),
        house.vocabulary,
        house.zone,
        text=text,
        type=row.type,
        subject=row.subject,
        attribute=row.attribute,
        value=value,
        cardinality=row.cardinality,
        valid_from=correction.valid_from,
        expires_at=from_micros(row.expires_at),
        source=row.source,
        speaker=row.speaker,
        context=kept[0],
        reason=row.reason,
        expert=row.expert,
        pinned=bool(row.pinned),
        operation="correct",
    )


def _plan(session: Session, draft: Draft, pieces: Sequence[Known], now: int) -> Plan:
    """Reconcile a correction with everything but what it corrects."""
    gone = {known.memory for known in pieces}
    start = draft.valid_from if draft.valid_from is not None else to_micros(None)
    peers, repeated = writing.met(session, draft, start, now)
    news = News(draft.columns["same"], draft.kind, start, draft.valid_to, draft.expires_at)
    return reconcile(
        news,
        [known for known in peers if known.memory not in gone],
        [known for known in repeated if known.memory not in gone],
        now,
    )
