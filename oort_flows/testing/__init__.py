"""
Contract suites and fakes: for this package, and for people who write adapters of their own.

Needs the extra ``testing`` (pytest and Hypothesis).
"""

import pytest

pytest.register_assert_rewrite(
    "oort_flows.testing.file_contract",
    "oort_flows.testing.file_stateful",
    "oort_flows.testing.ledger_contract",
    "oort_flows.testing.ledger_stateful",
)

from oort_flows.testing.clock import FrozenClock  # noqa: E402 - after the registration
from oort_flows.testing.file_contract import FileMemoryContract, FileMemoryPlace  # noqa: E402
from oort_flows.testing.file_stateful import FileMemoryMachine, file_memory_machine  # noqa: E402
from oort_flows.testing.ledger_contract import LedgerContract, LedgerPlace  # noqa: E402
from oort_flows.testing.ledger_stateful import LedgerMachine, ledger_machine  # noqa: E402

__all__ = [
    "FileMemoryContract",
    "FileMemoryMachine",
    "FileMemoryPlace",
    "FrozenClock",
    "LedgerContract",
    "LedgerMachine",
    "LedgerPlace",
    "file_memory_machine",
    "ledger_machine",
]
