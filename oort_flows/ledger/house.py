"""What all handles of one ledger share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo

from oort_flows.ledger.uses import Uses
from oort_flows.ledger.vocabulary import Vocabulary
from oort_flows.models.clocks import Clock, as_utc
from oort_flows.storage.databases import Database

__all__ = ["House"]


@dataclass(frozen=True, slots=True)
class House:
    """The database, the clock and the words of a ledger, and what it has counted."""

    database: Database
    clock: Clock
    zone: tzinfo
    vocabulary: Vocabulary
    uses: Uses

    def now(self) -> datetime:
        """Return what the clock shows, in UTC."""
        return as_utc(self.clock(), "clock")
