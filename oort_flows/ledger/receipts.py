"""
Receipts: what a run was told, kept so that it can be told again, byte for byte.

A receipt holds the whole answer, compressed. Erasing a memory takes its text out of receipts too; such a receipt says so.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from oort_flows.engine.prompts import recall_block
from oort_flows.errors import NotFoundError
from oort_flows.ledger.questions import Question
from oort_flows.models.clocks import Interval, from_micros
from oort_flows.models.memories import Hit, Memory, MemoryType, Recall, Space, Tier
from oort_flows.storage.folding import digest
from oort_flows.storage.grants import Grant
from oort_flows.storage.sessions import Session, sql

__all__ = ["asked_of", "began", "keep", "question_at", "replayed", "without"]

_ADD = sql("INSERT INTO oort_receipts (run, space, at, asked, body) VALUES (:run, :space, :at, :asked, :body) RETURNING seq")
_ADD_HIT = sql(
    "INSERT INTO oort_receipt_hits (receipt, place, memory, version) VALUES (:receipt, :place, :memory, :version)"
)
_FIND = sql("SELECT body, erased FROM oort_receipts WHERE run = :run AND asked = :asked ORDER BY seq LIMIT 1")
_STARTED = sql("SELECT min(at) FROM oort_receipts WHERE run = :run AND space = :space")
_OF_MEMORY = sql(
    "SELECT DISTINCT r.seq, r.body, r.erased FROM oort_receipts r JOIN oort_receipt_hits h ON h.receipt = r.seq "
    "WHERE h.memory = :memory"
)
_REWRITE = sql("UPDATE oort_receipts SET body = :body, erased = :erased WHERE seq = :receipt")
_DROP_HITS = sql("DELETE FROM oort_receipt_hits WHERE memory = :memory")


def asked_of(grant: Grant, arguments: dict[str, Any]) -> bytes:
    """Return what stands for a question: the grant and all arguments of the recall."""
    return digest(grant.digest.hex(), repr(sorted(arguments.items())))


def keep(
    session: Session, run: str, grant: Grant, at: int, asked: bytes, query: str, recall: Recall, rows: Iterable[int]
) -> None:
    """Write down what was asked and answered."""
    body = _packed({"query": query, **_plain(recall)})
    receipt = session.added(_ADD, {"run": run, "space": str(grant.writes), "at": at, "asked": asked, "body": body})
    hits = zip(rows, recall.hits, strict=True)
    session.run_many(
        _ADD_HIT,
        [
            {"receipt": receipt, "place": place, "memory": row, "version": hit.memory.version}
            for place, (row, hit) in enumerate(hits)
        ],
    )


def replayed(session: Session, run: str, asked: bytes) -> Recall | None:
    """Return the first answer to this question in that run, or ``None``."""
    row = session.one(_FIND, {"run": run, "asked": asked})
    if row is None:
        return None
    recall = _recall(json.loads(zlib.decompress(bytes(row[0]))))
    if not row[1]:
        return recall
    return replace(recall, why=f"{recall.why}; {row[1]} of the memories it was told were erased since")


def began(session: Session, run: str, grant: Grant) -> datetime:
    """
    Return when the run got its first receipt.

    Raises
    ------
    NotFoundError
        If it has none here.
    """
    row = session.one(_STARTED, {"run": run, "space": str(grant.writes)})
    at = None if row is None or row[0] is None else from_micros(row[0])
    if at is None:
        raise NotFoundError("no such run has asked anything here")
    return at


def question_at(question: Question, began: datetime) -> Question:
    """Return *question* as it would have been answered when the run began, by what was known then."""
    then = Interval.at(began)
    why = f"{question.why}; the run never asked this, so it is answered by what was known when it began"
    if question.mode == "history":
        return replace(question, why=why)
    known = question.known if question.known is not None else then
    world = question.world if question.world is not None else (None if question.known is not None else then)
    return Question("known_at", question.terms, why, world, known)


def without(session: Session, memory: int, id_: str) -> int:
    """Take an erased memory out of all receipts, and return how many it was in."""
    touched = session.all(_OF_MEMORY, {"memory": memory})
    for receipt, body, erased in touched:
        recall = _recall(json.loads(zlib.decompress(bytes(body))))
        hits = tuple(hit for hit in recall.hits if hit.memory.id != id_)
        kept = replace(recall, hits=hits, prompt=recall_block(hit.memory for hit in hits))
        session.run(
            _REWRITE,
            {
                "receipt": receipt,
                "body": _packed({"query": None, **_plain(kept)}),
                "erased": erased + 1,
            },
        )
    session.run(_DROP_HITS, {"memory": memory})
    return len(touched)


def _packed(plain: dict[str, Any]) -> bytes:
    return zlib.compress(json.dumps(plain, default=_as_text).encode())


def _plain(recall: Recall) -> dict[str, Any]:
    return {
        "mode": recall.mode,
        "why": recall.why,
        "prompt": recall.prompt,
        "interval": _ends(recall.interval),
        "known": _ends(recall.known),
        "hits": [
            {
                "score": hit.score,
                "reasons": hit.reasons,
                "memory": {**asdict(replace(hit.memory, provenance={})), "provenance": dict(hit.memory.provenance)},
            }
            for hit in recall.hits
        ],
    }


def _ends(interval: Interval | None) -> list[datetime | None] | None:
    return None if interval is None else [interval.start, interval.end]


def _as_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"no way to keep a {type(value).__name__}")


def _recall(plain: dict[str, Any]) -> Recall:
    return Recall(
        hits=tuple(Hit(_memory(hit["memory"]), hit["score"], tuple(hit["reasons"])) for hit in plain["hits"]),
        mode=plain["mode"],
        interval=_interval(plain["interval"]),
        why=plain["why"],
        prompt=plain["prompt"],
        known=_interval(plain["known"]),
    )


def _interval(ends: list[str | None] | None) -> Interval | None:
    return None if ends is None else Interval(*map(_instant, ends))


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


_TIMES = ("valid_from", "valid_to", "expires_at", "recorded_at", "closed_at", "last_confirmed_at", "last_used_at")


def _memory(plain: dict[str, Any]) -> Memory:
    fields = plain | {name: _instant(plain[name]) for name in _TIMES}
    return Memory(
        **fields
        | {
            "type": MemoryType(plain["type"]),
            "tier": Tier(plain["tier"]),
            "space": Space(plain["space"]),
            "provenance": MappingProxyType(plain["provenance"]),
            "supersedes": tuple(plain["supersedes"]),
            "superseded_by": tuple(plain["superseded_by"]),
            "origin": tuple(plain["origin"]) if plain["origin"] else None,
        }
    )
