"""
Connections to the database of a ledger, and transactions on them.

A pool belongs to one process: a forked child leaves its parent's connections alone and opens its own. SQLite runs in WAL
mode with ``synchronous=FULL`` and waits half a minute for other writers; PostgreSQL transactions are serialised by advisory
locks and run again where it asks for that.
"""

from __future__ import annotations

import os
import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool

from oort_flows.errors import ConfigurationError, OortError
from oort_flows.storage.failures import is_lost, is_rerun, translated
from oort_flows.storage.sessions import Session, sql

__all__ = ["Database", "PostgresDatabase", "SqliteDatabase", "open_database"]

T = TypeVar("T")

BUSY_TIMEOUT: Final = 30.0
"""Seconds that a writer waits for another one."""
_TRIES: Final = 8
_COMMITTING: Final = "while committing"
_LOCK: Final = sql("SELECT pg_advisory_xact_lock(:lock)")


class Database(ABC):
    """
    A pool of connections of this process, whichever process that is.

    Parameters
    ----------
    url:
        Where the database is; never shown, since it may hold a password.
    """

    dialect: ClassVar[str]
    _begin_write: ClassVar[str]
    _begin_read: ClassVar[str]

    def __init__(self, url: URL) -> None:
        self.url = url
        self._mutex = threading.Lock()
        self._pid = os.getpid()
        self._engine = self._create_engine()
        # What a parent had open: kept, because closing it here would end the parent's locks.
        self._inherited: list[Engine] = []

    @abstractmethod
    def _create_engine(self) -> Engine: ...

    def engine(self) -> Engine:
        """Return the pool of this process."""
        if self._pid != os.getpid():
            with self._mutex:
                if self._pid != os.getpid():
                    self._inherited.append(self._engine)
                    self._engine = self._create_engine()
                    self._pid = os.getpid()
        return self._engine

    def close(self) -> None:
        """Close the connections of this process; a later call opens new ones."""
        if self._pid == os.getpid():
            self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Give a session that sees one state of the ledger."""
        with self._session(self._begin_read) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Give a session whose writes all count or none; nobody else writes what it has locked meanwhile."""
        with self._session(self._begin_write) as session:
            yield session

    @contextmanager
    def plain(self) -> Iterator[Any]:
        """Give a driver's cursor outside any transaction."""
        with _translating():
            connection = self.engine().raw_connection()
            try:
                cursor = connection.cursor()
                yield cursor
                cursor.close()
            except BaseException:
                connection.invalidate()
                raise
            finally:
                connection.close()

    @contextmanager
    def migrating(self, locks: Sequence[bytes]) -> Iterator[Connection]:
        """Give SQLAlchemy's view of a connection that is inside one transaction, for Alembic."""
        with _translating(), self.engine().connect() as connection, connection.begin():
            # SQLAlchemy takes this connection for one that commits alone, and sends no BEGIN; its COMMIT is a real one.
            cursor: Any = connection.connection.cursor()
            cursor.execute(self._begin_write)
            self.lock(Session(cursor, self.dialect), locks)
            cursor.close()
            yield connection

    def transact(self, work: Callable[[Session], T], locks: Sequence[bytes] = ()) -> T:
        """
        Run *work* in a transaction and return what it returns; where the engine asks for it, run it again.

        Parameters
        ----------
        locks:
            Digests of what must not be changed by others meanwhile.
        """
        for attempt in range(_TRIES):
            try:
                with self.writing() as session:
                    self.lock(session, locks)
                    return work(session)
            except OortError as error:
                cause = error.__cause__
                if cause is None or attempt == _TRIES - 1 or not self._may_rerun(cause):
                    raise
            # Jitter keeps two losers of one deadlock from meeting again.
            time.sleep(random.uniform(0, 0.01 * 2**attempt))
        raise AssertionError("unreachable")

    @abstractmethod
    def lock(self, session: Session, locks: Sequence[bytes]) -> None:
        """Keep others from changing what *locks* stand for until the transaction ends."""

    def _may_rerun(self, cause: BaseException) -> bool:
        return False

    @contextmanager
    def _session(self, begin: str) -> Iterator[Session]:
        with _translating():
            connection = self.engine().raw_connection()
            try:
                cursor: Any = connection.cursor()
                cursor.execute(begin)
                try:
                    yield Session(cursor, self.dialect)
                    _commit(cursor)
                except BaseException:
                    _roll_back(connection, cursor)
                    raise
                cursor.close()
            finally:
                connection.close()


class SqliteDatabase(Database):
    """A ledger in one file."""

    dialect = "sqlite"
    _begin_write = "BEGIN IMMEDIATE"
    _begin_read = "BEGIN"

    def _create_engine(self) -> Engine:
        engine = create_engine(
            self.url,
            poolclass=QueuePool,
            pool_size=8,
            max_overflow=-1,
            pool_reset_on_return=None,
            connect_args={"isolation_level": None, "timeout": BUSY_TIMEOUT, "check_same_thread": False},
        )
        event.listen(engine, "connect", _prepare_sqlite)
        return engine

    def lock(self, session: Session, locks: Sequence[bytes]) -> None:
        """Do nothing: whoever writes has the whole file to itself."""


class PostgresDatabase(Database):
    """A ledger in a database of a PostgreSQL server."""

    dialect = "postgresql"
    _begin_write = "BEGIN"
    _begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def _create_engine(self) -> Engine:
        return create_engine(
            self.url,
            pool_size=8,
            max_overflow=16,
            pool_pre_ping=True,
            pool_reset_on_return=None,
            isolation_level="AUTOCOMMIT",
            connect_args={"connect_timeout": 10, "options": "-c statement_timeout=120000 -c timezone=UTC"},
        )

    def lock(self, session: Session, locks: Sequence[bytes]) -> None:
        """Take advisory locks, always in the same order so that two transactions cannot wait for each other."""
        for number in sorted({int.from_bytes(lock[:8], "big", signed=True) for lock in locks}):
            session.run(_LOCK, {"lock": number})

    def _may_rerun(self, cause: BaseException) -> bool:
        return is_rerun(cause) or (is_lost(cause) and _COMMITTING not in getattr(cause, "__notes__", ()))


def open_database(url: object) -> Database:
    """
    Return the database at *url*; nothing is opened yet.

    Raises
    ------
    ConfigurationError
        If *url* is none of ``sqlite:///file.db`` and ``postgresql+psycopg://...``.
    """
    try:
        parsed = make_url(url)  # type: ignore[arg-type]
    except (ArgumentError, ValueError, TypeError, AttributeError):
        raise ConfigurationError("url must be sqlite:///<file> or postgresql+psycopg://<host>/<database>") from None
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        if not parsed.database or parsed.database == ":memory:":
            raise ConfigurationError("url must name a file: a ledger in memory would end with its connection")
        return SqliteDatabase(parsed.set(drivername="sqlite"))
    if backend in ("postgresql", "postgres"):
        return PostgresDatabase(_with_psycopg(parsed))
    raise ConfigurationError("url must be sqlite:///<file> or postgresql+psycopg://<host>/<database>")


def _with_psycopg(url: URL) -> URL:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise ConfigurationError("a ledger on PostgreSQL needs its driver: install oort-flows[postgres]") from None
    return url.set(drivername="postgresql+psycopg")


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT * 1000)}")
    _switch_to_wal(cursor)
    for pragma in ("synchronous = FULL", "foreign_keys = ON", "secure_delete = ON", "temp_store = MEMORY"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _switch_to_wal(cursor: Any) -> None:
    """Turn on WAL; while several processes open a fresh file at once, SQLite answers busy here without waiting."""
    import sqlite3

    give_up = time.monotonic() + BUSY_TIMEOUT
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname.startswith("SQLITE_READONLY"):
                return
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > give_up:
                raise
        time.sleep(random.uniform(0.001, 0.02))


def _commit(cursor: Any) -> None:
    try:
        cursor.execute("COMMIT")
    except Exception as error:
        # Whether it counts is not known then, so it must not be done again by itself.
        error.add_note(_COMMITTING)
        raise


def _roll_back(connection: Any, cursor: Any) -> None:
    try:
        cursor.execute("ROLLBACK")
        cursor.close()
    except Exception:  # noqa: BLE001 - the first error is the one that counts; what cannot roll back is thrown away
        connection.invalidate()


@contextmanager
def _translating() -> Iterator[None]:
    try:
        yield
    except OortError:
        raise
    except Exception as error:
        cause = error.orig if isinstance(error, DBAPIError) and isinstance(error.orig, Exception) else error
        ours = translated(cause)
        if ours is None:
            raise
        raise ours from cause
