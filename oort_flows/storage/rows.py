"""From a row of the database to a memory as callers see it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from oort_flows.models.clocks import from_micros
from oort_flows.models.memories import Memory, MemoryType, Space, Status, Tier

__all__ = ["Stored", "memory_of", "stored"]

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_TYPES: Final = {str(member): member for member in MemoryType}
_TIERS: Final[dict[str | None, Tier]] = {None: Tier.WARM, **{str(member): member for member in Tier}}


class Stored(NamedTuple):
    """A row of the columns of a memory, in their order."""

    seq: int
    slot: bytes | None
    until: int
    ending: str | None
    closing: str | None
    id: str
    version: int
    type: str
    text: str
    space: str
    project: str | None
    subject: str | None
    attribute: str | None
    value: str | None
    cardinality: str
    reason: str | None
    expert: str | None
    valid_from: int
    valid_to: int
    expires_at: int
    recorded_at: int
    closed_at: int
    confirmations: int | None
    last_confirmed_at: int | None
    used: int | None
    last_used_at: int | None
    pinned: int | None
    importance: float | None
    tier: str | None
    source: str | None
    speaker: str | None
    provenance: str | None
    origin: str | None
    supersedes: str | None
    superseded_by: str | None

    def status(self, now: int) -> Status:
        """Say how it stands with this version at *now*."""
        if self.closing is not None:
            return cast("Status", self.closing)
        if self.valid_to <= now:
            return cast("Status", self.ending or "ended")
        return "expired" if self.expires_at <= now else "live"


def stored(row: Any) -> Stored:
    """Return *row* with names; the same for both drivers."""
    return Stored(*row)


def memory_of(row: Stored, now: int) -> Memory:
    """Return the memory that *row* holds, as it stands at *now*."""
    return Memory(
        id=row.id,
        version=row.version,
        type=_TYPES[row.type],
        text=row.text,
        space=Space(row.space),
        project=row.project,
        subject=row.subject,
        attribute=row.attribute,
        value=row.value,
        cardinality=cast("Any", row.cardinality),
        reason=row.reason,
        expert=row.expert,
        valid_from=cast("datetime", from_micros(row.valid_from)),
        valid_to=from_micros(row.valid_to),
        expires_at=from_micros(row.expires_at),
        recorded_at=cast("datetime", from_micros(row.recorded_at)),
        closed_at=from_micros(row.closed_at),
        status=row.status(now),
        confirmations=row.confirmations or 1,
        last_confirmed_at=_instant(row.last_confirmed_at),
        used=row.used or 0,
        last_used_at=_instant(row.last_used_at),
        pinned=bool(row.pinned),
        importance=0.5 if row.importance is None else row.importance,
        tier=_TIERS[row.tier],
        source=row.source,
        speaker=row.speaker,
        provenance=MappingProxyType(json.loads(row.provenance)) if row.provenance else _NOTHING,
        supersedes=_ids(row.supersedes),
        superseded_by=_ids(row.superseded_by),
        origin=tuple(json.loads(row.origin)) if row.origin else None,
    )


def _instant(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def _ids(joined: str | None) -> tuple[str, ...]:
    return tuple(sorted(joined.split(","))) if joined else ()
