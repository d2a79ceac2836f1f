"""
Creating a ledger, and bringing an older one up to date.

A fresh database is created whole and stamped, in one transaction. An older one is migrated, in one transaction too, by
Alembic, which is imported only then: importing it takes half a second, and its context is global to the process.
"""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path
from typing import Final

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from oort_flows.errors import ConfigurationError, StorageCorruptError
from oort_flows.storage.databases import Database
from oort_flows.storage.schema import HEAD, METADATA, REVISIONS, full_text, guards
from oort_flows.storage.sessions import Session, Statement, sql

__all__ = ["create_statements", "prepare"]

# Two threads must not run Alembic at once, whichever ledgers they open.
_PROCESS: Final = threading.Lock()
_LOCK: Final = b"oort-schema-lock"

_HAS_STAMP: Final = {
    "sqlite": sql("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'oort_schema'"),
    "postgresql": sql(
        "SELECT 1 FROM pg_catalog.pg_class c WHERE c.relname = 'oort_schema' AND pg_catalog.pg_table_is_visible(c.oid)"
    ),
}
_STAMP: Final = sql("SELECT version_num FROM oort_schema")


def prepare(database: Database) -> None:
    """
    Make sure that *database* holds a ledger of today's schema.

    Raises
    ------
    ConfigurationError
        If a newer version of this package wrote it.
    StorageCorruptError
        If its stamp says nothing that can be true.
    """
    with database.reading() as session:
        if _stamp(session) == HEAD:
            return
    with _PROCESS:
        database.transact(lambda session: _create_if_missing(session), [_LOCK])
        with database.reading() as session:
            behind = _stamp(session) != HEAD
        if behind:
            _migrate(database)


@cache
def create_statements(dialect: str) -> tuple[str, ...]:
    """Return every statement that makes an empty database a ledger, in order."""
    compiler = sqlite.dialect() if dialect == "sqlite" else postgresql.dialect()  # type: ignore[no-untyped-call]
    statements = []
    for table in METADATA.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=compiler)).strip())
        statements += [
            str(CreateIndex(index).compile(dialect=compiler)) for index in sorted(table.indexes, key=lambda i: str(i.name))
        ]
    return tuple(statements + full_text(dialect) + guards(dialect))


def _stamp(session: Session) -> str | None:
    if session.one(_HAS_STAMP[session.dialect]) is None:
        return None
    rows = session.all(_STAMP)
    if len(rows) != 1:
        raise StorageCorruptError("the ledger does not say which version of the schema it has")
    stamp = str(rows[0][0])
    if stamp not in REVISIONS:
        raise ConfigurationError("this ledger was written by a newer version of oort_flows: update the package to open it")
    return stamp


def _create_if_missing(session: Session) -> None:
    if _stamp(session) is not None:
        return
    for statement in create_statements(session.dialect):
        session.run(Statement(statement))
    session.run(sql("INSERT INTO oort_schema (version_num) VALUES (:head)"), {"head": HEAD})


def _migrate(database: Database) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with database.migrating([_LOCK]) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, HEAD)
