"""
The list of versions behind the names of a ledger: enough of a front for the state machine and the tables to be tried on.

It refuses little and searches naively; whoever looks for a ledger looks in ``oort_flows.ledger``.
"""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace

from oort_flows.testing import LedgerPlace
from oort_flows.testing.ledger_model import PlainHandle, PlainLedger


class PlainFront(PlainHandle):
    """A scoped list of versions that shows memories as a ledger does."""

    def get(self, memory):
        return self._shown(super().get(memory))

    def recall(self, query="", **how):
        found = super().recall(query, **how)
        return SimpleNamespace(hits=[SimpleNamespace(memory=self._shown(h.memory), space=h.space) for h in found.hits])

    def _shown(self, version):
        more = {"status": self._ledger.status(version.id), "confirmations": self._ledger.confirmations[version.id]}
        return SimpleNamespace(**(asdict(version) | more))


class FrontLedger(PlainLedger):
    """A list of versions whose handles are fronts."""

    handle_type = PlainFront


class FrontPlace(LedgerPlace):
    """A list of versions is the place; ledgers that are opened there share it."""

    ledger_type = FrontLedger

    def open_place(self, directory):
        self.opened = None

    def open_ledger(self, *, clock, zone="UTC", vocabulary=None):
        ledger = self.ledger_type(clock=clock, vocabulary=vocabulary)
        if self.opened is not None:
            ledger.__dict__ = self.opened.__dict__
        self.opened = ledger
        return ledger

    def rows(self):
        return [asdict(version) for version in self.opened.versions]
