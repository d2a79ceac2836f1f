"""A ledger in PostgreSQL keeps the contract of a ledger."""

from __future__ import annotations

import itertools

import psycopg
import psycopg.rows
import pytest

from oort_flows.ledger import Ledger
from oort_flows.models.clocks import from_micros
from oort_flows.testing import LedgerContract, ledger_machine
from tests.contract.test_ledger_sqlite import TIMES, VERSIONS

pytestmark = pytest.mark.usefixtures("postgres_url")

_numbers = itertools.count()


class TestPostgresLedger(LedgerContract):
    """A schema of its own is the place, and a connection of its own the back door."""

    def open_place(self, directory):
        from conftest import postgres

        self.schema = f"place_{next(_numbers)}"
        self.server = postgres()
        self.opened = []
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {self.schema}")

    def close_place(self):
        for ledger in self.opened:
            ledger.close()
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA {self.schema} CASCADE")

    def open_ledger(self, *, clock, zone="UTC", vocabulary=None):
        ledger = Ledger.open(self.url, clock=clock, zone=zone, vocabulary=vocabulary)
        self.opened.append(ledger)
        return ledger

    @property
    def url(self):
        """Where the ledger of this place is; the server's URL has no query of its own beside the host."""
        scheme, _, rest = self.server.partition("://")
        return f"{scheme}+psycopg://{rest}&options=-csearch_path%3D{self.schema}"

    def rows(self):
        with psycopg.connect(self.server, row_factory=psycopg.rows.dict_row) as connection:
            connection.execute(f"SET search_path TO {self.schema}")
            if connection.execute("SELECT to_regclass('oort_versions') AS name").fetchone()["name"] is None:
                return []
            found = connection.execute(VERSIONS).fetchall()
        return [row | {name: from_micros(row[name]) for name in TIMES} for row in found]


TestAtRandom = ledger_machine(TestPostgresLedger)

TestAtRandomAtLength = pytest.mark.slow(ledger_machine(TestPostgresLedger, max_examples=100, stateful_step_count=40))
