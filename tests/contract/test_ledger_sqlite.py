"""A ledger in an SQLite file keeps the contract of a ledger."""

from __future__ import annotations

import sqlite3

from oort_flows.ledger import Ledger
from oort_flows.models.clocks import from_micros
from oort_flows.testing import LedgerContract, ledger_machine

VERSIONS = """
SELECT m.id, v.version, m.type, m.text, m.subject, m.attribute, m.value, m.space, m.project, m.source, m.context, m.speaker,
       v.valid_from, v.valid_to, v.recorded_at, v.closed_at, v.closing
FROM oort_versions v JOIN oort_memories m ON m.seq = v.memory
"""
TIMES = ("valid_from", "valid_to", "recorded_at", "closed_at")


class TestSQLiteLedger(LedgerContract):
    """A new file is the place, and a connection of its own the back door."""

    def open_place(self, directory):
        self.file = directory / "ledger.db"
        self.opened = []

    def close_place(self):
        for ledger in self.opened:
            ledger.close()

    def open_ledger(self, *, clock, zone="UTC", vocabulary=None):
        ledger = Ledger.open(f"sqlite:///{self.file}", clock=clock, zone=zone, vocabulary=vocabulary)
        self.opened.append(ledger)
        return ledger

    def rows(self):
        if not self.file.exists():
            return []
        connection = sqlite3.connect(self.file)
        connection.row_factory = sqlite3.Row
        try:
            found = [dict(row) for row in connection.execute(VERSIONS)]
        finally:
            connection.close()
        return [row | {name: from_micros(row[name]) for name in TIMES} for row in found]


TestAtRandom = ledger_machine(TestSQLiteLedger, max_examples=200)
