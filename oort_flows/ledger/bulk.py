"""
Many facts at once: as many calls of ``remember``, one after another, in a fraction of the time.

Most facts of a batch meet nothing that is known, and nothing of the batch. Those between two that do are written together;
what they would have met is looked up for all at once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

from oort_flows.ledger.drafts import Draft, check_times
from oort_flows.ledger.writing import Keyed, declare_once, present
from oort_flows.models.clocks import OPEN
from oort_flows.models.memories import FactOutcome, Observed
from oort_flows.storage import indexes
from oort_flows.storage import statements as st
from oort_flows.storage.identifiers import new_ids
from oort_flows.storage.sessions import Session

T = TypeVar("T")

__all__ = ["chunks", "declare_all", "numbers"]

_CHUNK: Final = 500
_NEAR: Final = 8
_REASON: Final = "nothing like it was known"


def declare_all(session: Session, drafts: Sequence[tuple[Draft, Keyed | None]], clock: int, kind: str) -> list[Observed]:
    """Declare *drafts* in order, and return the answer to each."""
    run = _Run(session, [draft for draft, _ in drafts], present(session, clock), kind)
    answers: list[Observed] = []
    for draft, keyed in drafts:
        if keyed is None and run.is_alone(draft):
            run.waiting.append(draft)
            continue
        answers += run.written()
        answers.append(declare_once(session, draft, keyed, clock, kind))
        run.passed(draft, present(session, clock))
    return answers + run.written()


def numbers(session: Session, table: str, count: int) -> list[int]:
    """Return numbers for *count* new rows of *table*."""
    rows = session.all(st.NUMBERS[session.dialect][table], {"count": count})
    return [row[0] for row in rows] if session.dialect == "postgresql" else list(range(rows[0][0], rows[0][0] + count))


class _Run:
    """Facts that wait to be written together, and what is known around them."""

    def __init__(self, session: Session, drafts: Sequence[Draft], now: int, kind: str) -> None:
        self.waiting: list[Draft] = []
        self._session = session
        self._now = now
        self._kind = kind
        self._slots = Counter(draft.slot for draft in drafts if draft.slot is not None)
        self._sentences = Counter(draft.columns["sentence"] for draft in drafts)
        self._taken_slots = _taken(session, "slot", self._slots)
        self._taken_sentences = _taken(session, "sentence", self._sentences)
        self._frames = _taken(session, "frame", {draft.columns["frame"] for draft in drafts})
        self._newest: dict[bytes, deque[tuple[str, bytes, bool]]] = {}

    def is_alone(self, draft: Draft) -> bool:
        """Tell whether *draft* meets nothing, neither what is known nor another fact of the batch."""
        slot, sentence = draft.slot, draft.columns["sentence"]
        if slot is not None and (self._slots[slot] > 1 or slot in self._taken_slots):
            return False
        return self._sentences[sentence] == 1 and sentence not in self._taken_sentences

    def passed(self, draft: Draft, now: int) -> None:
        """Take note of a fact that was declared by itself."""
        frame = draft.columns["frame"]
        self._now = now
        self._frames.add(frame)
        self._newest.pop(frame, None)

    def written(self) -> list[Observed]:
        """Write what waits, and return the answers."""
        drafts, self.waiting = self.waiting, []
        if not drafts:
            return []
        session, now = self._session, self._now
        ids = new_ids(now, len(drafts))
        operations = numbers(session, "oort_operations", len(drafts))
        rows = numbers(session, "oort_memories", len(drafts))
        space = drafts[0].columns["space"]
        # What a fact is near to has to be looked up before it is there itself.
        answers = [
            Observed("added", (FactOutcome(memory, "added", (), self._near(draft, memory), _REASON),))
            for draft, memory in zip(drafts, ids, strict=True)
        ]
        session.run_many(
            st.ADD_NUMBERED_OPERATION,
            [{"seq": operation, "at": now, "kind": self._kind, "space": space} for operation in operations],
        )
        versions = [
            _version(row, operation, draft, now) for row, operation, draft in zip(rows, operations, drafts, strict=True)
        ]
        for draft, row, memory in zip(drafts, rows, ids, strict=True):
            draft.columns["seq"] = row
            draft.columns["id"] = memory
        session.run_many(st.ADD_NUMBERED_MEMORY, [draft.columns for draft in drafts])
        session.run_many(st.ADD_VERSION, versions)
        indexes.add_many(session, zip(rows, (draft.terms for draft in drafts), strict=True))
        pinned = zip(rows, drafts, strict=True)
        session.run_many(st.PIN, [{"memory": row, "pinned": 1} for row, draft in pinned if draft.pinned])
        return answers

    def _near(self, draft: Draft, memory: str) -> tuple[str, ...]:
        """Return the live memories that say nearly the same, as of when this fact was declared."""
        frame, sentence = draft.columns["frame"], draft.columns["sentence"]
        newest = self._newest.get(frame)
        if newest is None:
            newest = self._newest[frame] = deque(maxlen=_NEAR)
            if frame in self._frames:
                found = self._session.all(st.NEWEST_OF_FRAME, {"frame": frame, "now": self._now})
                newest.extend((row[0], bytes(row[1]), bool(row[2])) for row in reversed(found))
        near = tuple(id_ for id_, other, live in newest if live and other != sentence)
        newest.append((memory, sentence, min(draft.valid_to, draft.expires_at) > self._now))
        return near


def _version(row: int, operation: int, draft: Draft, now: int) -> dict[str, Any]:
    start = now if draft.valid_from is None else draft.valid_from
    check_times(start, draft.valid_to, draft.expires_at)
    return {
        "memory": row,
        "version": 1,
        "slot": draft.slot,
        "single": int(draft.kind != "many"),
        "valid_from": start,
        "valid_to": draft.valid_to,
        "expires_at": draft.expires_at,
        "until": min(draft.valid_to, draft.expires_at),
        "ending": None,
        "recorded_at": now,
        "closed_at": OPEN,
        "closing": None,
        "opened_by": operation,
        "closed_by": None,
    }


def _taken(session: Session, column: str, digests: Iterable[bytes]) -> set[bytes]:
    """Return those of *digests* that a believed version, or a memory, has."""
    found: set[bytes] = set()
    for chunk in chunks(list(digests)):
        given = {f"d{number}": digest for number, digest in enumerate(chunk)}
        found.update(bytes(row[0]) for row in session.all(st.known(column, len(chunk)), given))
    return found


def chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Cut into pieces of few sizes, the last filled up, so that few different statements are made."""
    for start in range(0, len(values), _CHUNK):
        chunk = values[start : start + _CHUNK]
        size = next(size for size in (8, 64, _CHUNK) if len(chunk) <= size)
        yield [*chunk, *[chunk[-1]] * (size - len(chunk))]
