"""
The ledger: memories as standalone facts, on two clocks.

One clock says when a fact holds in the world, the other when the ledger believed it. A version is never changed, only
closed, so what was true then, and what was known then, can be asked for at any time.
"""

from oort_flows.ledger.opening import Ledger
from oort_flows.ledger.replaying import Seen
from oort_flows.ledger.scoped import ScopedLedger
from oort_flows.models.clocks import Interval
from oort_flows.models.memories import (
    Budget,
    Explanation,
    FactOutcome,
    Hit,
    Memory,
    MemoryType,
    Observed,
    Operation,
    Recall,
    Space,
    Stats,
    Tier,
    Transferred,
    Turn,
)

__all__ = [
    "Budget",
    "Explanation",
    "FactOutcome",
    "Hit",
    "Interval",
    "Ledger",
    "Memory",
    "MemoryType",
    "Observed",
    "Operation",
    "Recall",
    "ScopedLedger",
    "Seen",
    "Space",
    "Stats",
    "Tier",
    "Transferred",
    "Turn",
]
