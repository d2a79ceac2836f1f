"""Telling how a memory came to be as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import cast

from oort_flows.ledger.reading import latest, rows_of_id
from oort_flows.models.clocks import from_micros
from oort_flows.models.memories import Explanation, Memory, Operation
from oort_flows.storage import statements as st
from oort_flows.storage.grants import Grant
from oort_flows.storage.rows import Stored, memory_of
from oort_flows.storage.sessions import Session

__all__ = ["explanation"]


def explanation(session: Session, grant: Grant, rows: Sequence[Stored], now: int) -> Explanation:
    """Return all that is known about one memory, as far as *grant* goes."""
    last = latest(rows)
    operations = tuple(
        Operation(kind, cast("datetime", from_micros(at)), key, note)
        for kind, at, key, note in session.all(st.OPERATIONS_OF, {"memory": last.seq})
    )
    linked: dict[str, list[Memory]] = {"older": [], "newer": []}
    for id_, side in session.all(st.LINKED, {"memory": last.seq}):
        linked[side].append(memory_of(latest(rows_of_id(session, grant, id_)), now))
    memory = memory_of(last, now)
    older, newer = (tuple(sorted(linked[side], key=lambda m: (m.valid_from, m.id))) for side in ("older", "newer"))
    versions = tuple(memory_of(row, now) for row in rows)
    return Explanation(memory, versions, operations, older, newer, tuple(_sentences(memory, operations, older, newer)))


def _sentences(
    memory: Memory, operations: Sequence[Operation], older: Sequence[Memory], newer: Sequence[Memory]
) -> Iterator[str]:
    first = operations[0].at if operations else memory.recorded_at
    yield f"Recorded {_time(first)} in {memory.space}{_of_project(memory)}{_said_by(memory)}."
    if memory.origin is not None:
        yield f"Shared from memory {memory.origin[0]} of {memory.origin[1]}."
    if memory.reason is not None:
        yield f"Judged by {memory.expert}, because: {memory.reason}"
    for other in older:
        yield f"It replaced memory {other.id}, which is {other.status}."
    ends = f" to {_time(memory.valid_to)}" if memory.valid_to is not None else " on"
    yield f"It holds from {_time(memory.valid_from)}{ends}."
    if memory.confirmations > 1 and memory.last_confirmed_at is not None:
        yield f"Said {memory.confirmations} times, last {_time(memory.last_confirmed_at)}."
    for operation in operations[1:]:
        yield f"Changed {_time(operation.at)} by {operation.kind}{f': {operation.note}' if operation.note else ''}."
    for other in newer:
        yield f"It was replaced by memory {other.id}."
    yield f"It is {memory.status}."


def _of_project(memory: Memory) -> str:
    return f", project {memory.project}" if memory.project is not None else ""


def _said_by(memory: Memory) -> str:
    return f", said by {memory.source}" if memory.source is not None else ""


def _time(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M} UTC"
