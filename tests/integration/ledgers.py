"""Ledgers of both engines for tests, with a back door into each."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from conftest import postgres

_numbers = itertools.count()


class Place:
    """Where one ledger lies: its URL, and the database behind it."""

    def __init__(self, engine: str, directory: Path) -> None:
        self.engine = engine
        self.file = directory / "ledger.db"
        self.schema = f"ledger_{next(_numbers)}"
        if engine == "postgresql":
            self.run(f"CREATE SCHEMA {self.schema}")

    @property
    def url(self) -> str:
        """What a ledger is opened by."""
        if self.engine == "sqlite":
            return f"sqlite:///{self.file}"
        scheme, _, rest = postgres().partition("://")
        return f"{scheme}+psycopg://{rest}&options=-csearch_path%3D{self.schema}"

    def run(self, statement: str, *arguments: Any) -> list[tuple]:
        """Run a statement by the back door, and return its rows."""
        with self.connection() as connection:
            cursor = connection.cursor()
            cursor.execute(statement if self.engine == "sqlite" else statement.replace("?", "%s"), arguments)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """Open a connection past the ledger, that commits each statement."""
        if self.engine == "sqlite":
            opened: Any = sqlite3.connect(self.file, isolation_level=None)
            opened.execute("PRAGMA foreign_keys = ON")
        else:
            opened = psycopg.connect(postgres(), autocommit=True)
            opened.execute(f"SET search_path TO {self.schema}")
        try:
            yield opened
        finally:
            opened.close()

    def close(self) -> None:
        """Drop what the place holds."""
        if self.engine == "postgresql":
            self.run(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")
