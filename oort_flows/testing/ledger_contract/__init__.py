"""
The contract of a ledger as tests: subclass :class:`LedgerContract` and run pytest.
"""

from __future__ import annotations

from oort_flows.testing.ledger_contract.clocks import ClockRules
from oort_flows.testing.ledger_contract.concurrency import ConcurrencyRules
from oort_flows.testing.ledger_contract.erasing import EraseRules
from oort_flows.testing.ledger_contract.handwork import HandworkRules, ShareRules
from oort_flows.testing.ledger_contract.keys import KeyRules
from oort_flows.testing.ledger_contract.modes import ModeRules
from oort_flows.testing.ledger_contract.place import LedgerPlace
from oort_flows.testing.ledger_contract.projects import ProjectRules
from oort_flows.testing.ledger_contract.recalling import RecallRules
from oort_flows.testing.ledger_contract.reconciling import ReconcileRules
from oort_flows.testing.ledger_contract.refusals import RefusalRules
from oort_flows.testing.ledger_contract.sentences import SentenceRules
from oort_flows.testing.ledger_contract.spaces import SpaceRules

__all__ = ["LedgerContract", "LedgerPlace"]


class LedgerContract(
    ReconcileRules,
    SentenceRules,
    ClockRules,
    ModeRules,
    SpaceRules,
    ProjectRules,
    HandworkRules,
    ShareRules,
    EraseRules,
    KeyRules,
    RefusalRules,
    RecallRules,
    ConcurrencyRules,
):
    """
    Everything a ledger owes its callers for declared memories, whatever database it lies in.

    A subclass says how a ledger is opened, and gives a back door: ``rows`` reads every version *without* the ledger, so that
    a fault in both its writing and its reading cannot hide.

    Each test has an instance and a *place* of its own, such as an empty directory or database. ``open_place(directory)``
    prepares it before the test (``directory`` is empty and belongs to the place) and ``close_place()`` ends it; both do
    nothing unless overridden. A test opens several ledgers in one place; they share what is stored, and the clock.

    Assertions compare outcomes, fields and instants, never the wording of a message.

    Example
    -------
    ``test_my_ledger.py``::

        from oort_flows.testing import LedgerContract, ledger_machine

        class TestMyLedger(LedgerContract):
            def open_place(self, directory):
                self.url = f"sqlite:///{directory / 'ledger.db'}"

            def open_ledger(self, *, clock, zone="UTC", vocabulary=None):
                return Ledger.open(self.url, clock=clock, zone=zone, vocabulary=vocabulary)

            def rows(self):
                return read_versions(self.url)

        TestMyLedgerAtRandom = ledger_machine(TestMyLedger)
    """
