"""
Carrying out what reconcile decided, inside one transaction.

The ledger's clock never runs backwards: an operation is stamped no earlier than the last one, and one that closes a version
is stamped later than that version was recorded, so that no version was believed for no time at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from oort_flows.engine.reconcile import Change, Known, News, Plan, reconcile
from oort_flows.errors import ConflictError
from oort_flows.ledger.drafts import Draft, check_times
from oort_flows.models.clocks import OPEN
from oort_flows.models.memories import FactOutcome, Observed
from oort_flows.storage import indexes
from oort_flows.storage import statements as st
from oort_flows.storage.identifiers import new_id
from oort_flows.storage.sessions import Session

__all__ = [
    "Keyed",
    "Operation",
    "add_memory",
    "add_period",
    "answered",
    "apply",
    "begin",
    "declare",
    "declare_once",
    "known_of",
    "link",
    "met",
    "present",
    "repeated_operation",
]


@dataclass(frozen=True, slots=True)
class Keyed:
    """An operation's key as it is stored: the key, its digest with its place, and the digest of what was said under it."""

    key: str
    named: bytes
    said: bytes


@dataclass(frozen=True, slots=True)
class Operation:
    """A write under way: its number, and its time on the ledger's clock."""

    seq: int
    at: int


def present(session: Session, clock: int) -> int:
    """Return the ledger's time: that of the *clock*, or that of the last operation if it is later."""
    last = session.one(st.LAST_OPERATION)
    return clock if last is None or last[0] <= clock else int(last[0])


def repeated_operation(session: Session, keyed: Keyed | None) -> Observed | None:
    """
    Return the first answer of an operation that was carried out before, or ``None``.

    Raises
    ------
    ConflictError
        If something else was said under this key.
    """
    if keyed is None:
        return None
    row = session.one(st.OPERATION_OF_KEY, {"named": keyed.named})
    if row is None:
        return None
    if bytes(row[0]) != keyed.said:
        message = "this key belongs to another operation: use a key of its own for what is said anew"
        raise ConflictError(message, retryable=False)
    return _read_answer(row[1])


def begin(
    session: Session, kind: str, space: str, at: int, *, keyed: Keyed | None = None, note: str | None = None
) -> Operation:
    """Write down that an operation happens."""
    seq = session.added(
        st.ADD_OPERATION,
        {
            "at": at,
            "kind": kind,
            "space": space,
            "named": keyed.named if keyed else None,
            "key": keyed.key if keyed else None,
            "digest": keyed.said if keyed else None,
            "note": note,
        },
    )
    return Operation(seq, at)


def answered(session: Session, operation: Operation, keyed: Keyed | None, answer: Observed) -> Observed:
    """Keep the answer of an operation that has a key, and return it."""
    if keyed is not None:
        facts = [[fact.id, fact.outcome, fact.closed, fact.left_alone, fact.reason] for fact in answer.facts]
        session.run(
            st.ANSWER_OPERATION,
            {"operation": operation.seq, "answer": json.dumps([answer.outcome, facts])},
        )
    return answer


def _read_answer(stored: str | None) -> Observed:
    outcome, facts = json.loads(stored or '["nothing", []]')
    told = tuple(FactOutcome(id_, what, tuple(closed), tuple(alone), why) for id_, what, closed, alone, why in facts)
    return Observed(outcome, told, duplicate=True)


def declare_once(session: Session, draft: Draft, keyed: Keyed | None, clock: int, kind: str) -> Observed:
    """Declare *draft*, unless that was done before under its key; then give the first answer."""
    first = repeated_operation(session, keyed)
    if first is not None:
        return first
    operation, fact = declare(session, draft, present(session, clock), kind, keyed=keyed)
    return answered(session, operation, keyed, Observed(fact.outcome, (fact,)))


def declare(
    session: Session,
    draft: Draft,
    now: int,
    kind: str,
    *,
    keyed: Keyed | None = None,
    note: str | None = None,
) -> tuple[Operation, FactOutcome]:
    """Reconcile *draft* with what is believed in its place, write the result, and tell it."""
    start = now if draft.valid_from is None else draft.valid_from
    check_times(start, draft.valid_to, draft.expires_at)
    same = draft.columns["same"]
    news = News(same, draft.kind, start, draft.valid_to, draft.expires_at, dated=draft.valid_from is not None)
    plan = reconcile(news, *met(session, draft, start, now), now)
    at = max([now, *(change.known.recorded_at + 1 for change in plan.changes)])
    operation = begin(session, kind, draft.columns["space"], at, keyed=keyed, note=note)
    left_alone = _nearly_equal(session, draft, now, plan.closed)
    if plan.again is not None:
        session.run(st.CONFIRM, {"memory": plan.again.memory, "at": at})
        if draft.pinned:
            session.run(st.PIN, {"memory": plan.again.memory, "pinned": 1})
        return operation, FactOutcome(plan.again.id, "reinforced", (), left_alone, plan.reason)
    apply(session, operation, plan.changes)
    memory, row = add_memory(session, operation, draft, plan)
    link(session, operation, row, plan.changes)
    return operation, FactOutcome(memory, plan.outcome, plan.closed, left_alone, plan.reason)


def apply(session: Session, operation: Operation, changes: Iterable[Change]) -> None:
    """Close versions on the second clock, and append what of them goes on."""
    for change in changes:
        known = change.known
        place = {"memory": known.memory, "version": known.version}
        session.run(st.CLOSE_VERSION, {**place, "at": operation.at, "closing": change.closing, "operation": operation.seq})
        if not change.pieces:
            continue
        slot, single = session.one(st.PLACE_OF_VERSION, place)
        number = int(session.one(st.LAST_VERSION, {"memory": known.memory})[0])
        for piece in change.pieces:
            number += 1
            _add_version(
                session,
                operation,
                memory=known.memory,
                version=number,
                slot=slot,
                single=single,
                valid_from=piece.valid_from,
                valid_to=piece.valid_to,
                expires_at=known.expires_at,
                ending=piece.ending,
            )


def add_memory(session: Session, operation: Operation, draft: Draft, plan: Plan) -> tuple[str, int]:
    """Write a new memory with its first version, and return its id and row."""
    memory = new_id(operation.at)
    row = session.added(st.ADD_MEMORY, {"id": memory, **draft.columns})
    add_period(session, operation, draft, row, 1, plan.valid_from, plan.valid_to, plan.ending)
    indexes.add(session, row, draft.terms)
    if draft.pinned:
        session.run(st.PIN, {"memory": row, "pinned": 1})
    return memory, row


def add_period(
    session: Session,
    operation: Operation,
    draft: Draft,
    row: int,
    version: int,
    start: int,
    stop: int,
    ending: str | None,
) -> None:
    """Write one version of what *draft* says."""
    _add_version(
        session,
        operation,
        memory=row,
        version=version,
        slot=draft.slot,
        single=int(draft.kind != "many"),
        valid_from=start,
        valid_to=stop,
        expires_at=draft.expires_at,
        ending=ending,
    )


def link(session: Session, operation: Operation, newer: int, changes: Iterable[Change]) -> None:
    """Write down which memories a new one replaced."""
    for change in changes:
        session.run(
            st.ADD_LINK,
            {"newer": newer, "older": change.known.memory, "kind": change.closing, "operation": operation.seq},
        )


def known_of(session: Session, memory: int) -> list[Known]:
    """Return the believed versions of one memory, in the order of the world's time."""
    return _known(session.all(st.BELIEVED_OF, {"memory": memory}))


def met(session: Session, draft: Draft, start: int, now: int) -> tuple[list[Known], list[Known]]:
    """Return what *draft* meets: the versions of its slot that matter, and the live ones that say the same sentence."""
    return _peers(session, draft, start, now), _repeated(session, draft, now)


def _peers(session: Session, draft: Draft, start: int, now: int) -> list[Known]:
    if draft.slot is None:
        return []
    given: dict[str, Any] = {"slot": draft.slot, "same": draft.columns["same"]}
    if draft.kind == "fixed":
        return _known(session.all(st.PEERS_NOT_OVER, {**given, "t": -(2**63)}))
    many = draft.kind == "many"
    rows = session.all(st.PEERS_NOT_OVER_SAME if many else st.PEERS_NOT_OVER, {**given, "t": now})
    if start < now:
        rows += session.all(st.PEERS_AT_SAME if many else st.PEERS_AT, {**given, "t": start})
        if not many:
            rows += session.all(st.PEER_NEXT, {**given, "t": start})
        rows = sorted({(row[0], row[2]): row for row in rows}.values(), key=lambda row: (row[0], row[2]))
    return _known(rows)


def _repeated(session: Session, draft: Draft, now: int) -> list[Known]:
    columns = draft.columns
    given = {"sentence": columns["sentence"], "now": now}
    if draft.slot is None:
        return _known(session.all(st.REPEATED, given))
    return _known(session.all(st.REPEATED_IN_SLOT, {**given, "slot": draft.slot, "same": columns["same"]}))


def _nearly_equal(session: Session, draft: Draft, now: int, closed: Sequence[str]) -> tuple[str, ...]:
    columns = draft.columns
    rows = session.all(st.NEARLY_EQUAL, {"frame": columns["frame"], "sentence": columns["sentence"], "now": now})
    return tuple(dict.fromkeys(row[0] for row in rows if row[0] not in closed))


def _known(rows: Sequence[Any]) -> list[Known]:
    return [Known(row[0], row[1], row[2], bytes(row[3]), *row[4:]) for row in rows] if rows else []


def _add_version(session: Session, operation: Operation, **fields: Any) -> None:
    session.run(
        st.ADD_VERSION,
        {
            **fields,
            "until": min(fields["valid_to"], fields["expires_at"]),
            "recorded_at": operation.at,
            "closed_at": OPEN,
            "closing": None,
            "opened_by": operation.seq,
            "closed_by": None,
        },
    )
