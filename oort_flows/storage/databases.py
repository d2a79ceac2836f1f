"""
Connections to the database of a ledger, and transactions on them.

A pool belongs to one process: a forked child leaves its parent's connections alone and opens its own. SQLite runs in WAL
mode with ``synchronous=FULL`` and waits half a minute for other writers; PostgreSQL transactions are serialised by advisory
locks and run again where it asks for that.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from types import TracebackType
from typing import Any, ClassVar, Final, NoReturn, TypeVar
from urllib.parse import urlencode

from sqlalchemy import URL, Connection, Engine, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool, PoolProxiedConnection

from oort_flows.errors import ConfigurationError, OortError
from oort_flows.storage.failures import is_lost, is_rerun, translated
from oort_flows.storage.schema import LOCK_SPACE, LOCKS
from oort_flows.storage.sessions import Session, sql

__all__ = ["Database", "PostgresDatabase", "SqliteDatabase", "open_database"]

T = TypeVar("T")

BUSY_TIMEOUT: Final = 30.0
"""Seconds that a writer waits for another one, unless the URL says otherwise by ``?timeout=``."""
# Every statement has its index. A plan that was made while a table was empty, and is kept, would scan it when it is full.
_POSTGRES_OPTIONS: Final = "-c statement_timeout=120000 -c timezone=UTC -c enable_seqscan=off"
_PRAGMAS: Final = (
    "synchronous = FULL",
    "foreign_keys = ON",
    "secure_delete = ON",
    "temp_store = MEMORY",
    "cache_size = -32768",
)
_IDLE: Final = 8
_TRIES: Final = 8
_COMMITTING: Final = "while committing"
_LOCK: Final = sql(f"SELECT count(pg_advisory_xact_lock({LOCK_SPACE}, bucket)::text) FROM unnest(:buckets::int[]) AS bucket")


class Database(ABC):
    """
    The connections of this process to one database, whichever process that is.

    Parameters
    ----------
    url:
        Where the database is; never shown, since it may hold a password.
    """

    dialect: ClassVar[str]
    begin_write: ClassVar[str]
    begin_read: ClassVar[str]

    def __init__(self, url: URL) -> None:
        self.url = url
        self._mutex = threading.Lock()
        self._pid = os.getpid()
        # What a parent had open: kept, because closing it here would end the parent's locks.
        self._inherited: list[object] = []

    @abstractmethod
    def take(self) -> Any:
        """Return a driver's connection that nobody else uses."""

    @abstractmethod
    def give_back(self, connection: Any) -> None:
        """Take a connection back that has no transaction open."""

    @abstractmethod
    def throw_away(self, connection: Any) -> None:
        """Take a connection back that must not be used again."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections of this process; a later call opens new ones."""

    @abstractmethod
    def lock(self, session: Session, locks: Sequence[bytes]) -> None:
        """Keep others from changing what *locks* stand for until the transaction ends."""

    def reading(self) -> AbstractContextManager[Session]:
        """Give a session that sees one state of the ledger."""
        return _Transaction(self, self.begin_read)

    def writing(self) -> AbstractContextManager[Session]:
        """Give a session whose writes all count or none; nobody else writes what it has locked meanwhile."""
        return _Transaction(self, self.begin_write)

    @contextmanager
    def plain(self) -> Iterator[Any]:
        """Give a driver's cursor outside any transaction."""
        with _translating():
            connection = self.take()
            try:
                cursor = connection.cursor()
                yield cursor
                cursor.close()
            except BaseException:
                self.throw_away(connection)
                raise
            self.give_back(connection)

    @contextmanager
    def migrating(self, locks: Sequence[bytes]) -> Iterator[Connection]:
        """Give SQLAlchemy's view of a connection that is inside one transaction, for Alembic."""
        with _translating(), self.engine() as engine, engine.connect() as connection, connection.begin():
            # SQLAlchemy takes this connection for one that commits alone, and sends no BEGIN; its COMMIT is a real one.
            cursor: Any = connection.connection.cursor()
            cursor.execute(self.begin_write)
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
    def engine(self) -> AbstractContextManager[Engine]:
        """Give SQLAlchemy's view of the database."""

    def _may_rerun(self, cause: BaseException) -> bool:
        return False

    def _is_own(self) -> bool:
        """Tell whether this is still the process that the connections belong to."""
        return self._pid == os.getpid()


class SqliteDatabase(Database):
    """A ledger in one file."""

    dialect = "sqlite"
    begin_write = "BEGIN IMMEDIATE"
    begin_read = "BEGIN"

    def __init__(self, url: URL) -> None:
        super().__init__(url)
        self._idle: deque[sqlite3.Connection] = deque()

    def take(self) -> sqlite3.Connection:
        """Return an idle connection, or a new one."""
        if not self._is_own():
            with self._mutex:
                if not self._is_own():
                    self._inherited.append(self._idle)
                    self._idle = deque()
                    self._pid = os.getpid()
        with suppress(IndexError):
            return self._idle.pop()
        return self._connected()

    def give_back(self, connection: sqlite3.Connection) -> None:
        """Keep a connection for the next who needs one."""
        if len(self._idle) < _IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def throw_away(self, connection: sqlite3.Connection) -> None:
        """Close a connection."""
        connection.close()

    def close(self) -> None:
        """Close all idle connections of this process."""
        while self._is_own() and self._idle:
            self._idle.pop().close()

    def lock(self, session: Session, locks: Sequence[bytes]) -> None:
        """Do nothing: whoever writes has the whole file to itself."""

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """Give an engine that is used once."""
        engine = create_engine(self.url.set(database=None, query={}), creator=self._connected, poolclass=NullPool)
        yield engine
        engine.dispose()

    def _connected(self) -> sqlite3.Connection:
        query = {name: value if isinstance(value, str) else value[-1] for name, value in self.url.query.items()}
        file = str(self.url.database)
        as_uri = query.pop("uri", "false").lower() in ("1", "true")
        patience = _seconds(query.pop("timeout", None))
        if query:
            file = f"{file}?{urlencode(query)}"
        connection = sqlite3.connect(file, timeout=patience, isolation_level=None, check_same_thread=False, uri=as_uri)
        try:
            _prepare_sqlite(connection, patience)
        except BaseException:
            connection.close()
            raise
        return connection


class PostgresDatabase(Database):
    """A ledger in a database of a PostgreSQL server."""

    dialect = "postgresql"
    begin_write = "BEGIN"
    begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def __init__(self, url: URL) -> None:
        super().__init__(url)
        self._engine = self._create_engine()

    def take(self) -> PoolProxiedConnection:
        """Return a pooled connection that was just found to be alive."""
        if not self._is_own():
            with self._mutex:
                if not self._is_own():
                    self._inherited.append(self._engine)
                    self._engine = self._create_engine()
                    self._pid = os.getpid()
        return self._engine.raw_connection()

    def give_back(self, connection: PoolProxiedConnection) -> None:
        """Return a connection to the pool."""
        connection.close()

    def throw_away(self, connection: PoolProxiedConnection) -> None:
        """Close a connection, and let the pool know."""
        connection.invalidate()

    def close(self) -> None:
        """Close all idle connections of this process."""
        if self._is_own():
            self._engine.dispose()

    def lock(self, session: Session, locks: Sequence[bytes]) -> None:
        """
        Take advisory locks, always in the same order so that two transactions cannot wait for each other.

        They stand for many things each, since a server has room for some thousand locks only.
        """
        buckets = sorted({int.from_bytes(lock[:2], "big") % LOCKS for lock in locks})
        if buckets:
            session.all(_LOCK, {"buckets": buckets})

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """Give the engine whose pool this is."""
        yield self._engine

    def _create_engine(self) -> Engine:
        given = self.url.query.get("options", "")
        options = f"{given if isinstance(given, str) else ' '.join(given)} {_POSTGRES_OPTIONS}".strip()
        return create_engine(
            self.url.difference_update_query(["options"]),
            pool_size=8,
            max_overflow=16,
            pool_pre_ping=True,
            pool_reset_on_return=None,
            isolation_level="AUTOCOMMIT",
            connect_args={"connect_timeout": 10, "options": options},
        )

    def _may_rerun(self, cause: BaseException) -> bool:
        return is_rerun(cause) or (is_lost(cause) and _COMMITTING not in getattr(cause, "__notes__", ()))


class _Transaction(AbstractContextManager[Session]):
    """One transaction on a connection of its own: committed at the end, rolled back on any error."""

    __slots__ = ("_begin", "_connection", "_cursor", "_database")

    def __init__(self, database: Database, begin: str) -> None:
        self._database = database
        self._begin = begin
        self._connection: Any = None
        self._cursor: Any = None

    def __enter__(self) -> Session:
        try:
            self._connection = self._database.take()
            self._cursor = self._connection.cursor()
            self._cursor.execute(self._begin)
        except Exception as error:  # noqa: BLE001 - raised again, as it is or as what it means
            if self._connection is not None:
                self._database.throw_away(self._connection)
            raise_translated(error)
        return Session(self._cursor, self._database.dialect)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            try:
                self._cursor.execute("COMMIT")
                self._cursor.close()
            except Exception as failed:  # noqa: BLE001 - raised again, as it is or as what it means
                # Whether it counts is not known then, so it must not be done again by itself.
                failed.add_note(_COMMITTING)
                self._roll_back()
                raise_translated(failed)
            self._database.give_back(self._connection)
            return
        self._roll_back()
        if isinstance(error, Exception):
            raise_translated(error)

    def _roll_back(self) -> None:
        try:
            self._cursor.execute("ROLLBACK")
            self._cursor.close()
        except Exception:  # noqa: BLE001 - the first error is the one that counts; what cannot roll back is thrown away
            self._database.throw_away(self._connection)
        else:
            self._database.give_back(self._connection)


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


def _seconds(given: str | None) -> float:
    try:
        return BUSY_TIMEOUT if given is None else max(float(given), 0.0)
    except ValueError:
        raise ConfigurationError("url must give its timeout in seconds") from None


def _prepare_sqlite(connection: sqlite3.Connection, patience: float) -> None:
    cursor = connection.cursor()
    _switch_to_wal(cursor, time.monotonic() + patience)
    for pragma in _PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _switch_to_wal(cursor: sqlite3.Cursor, give_up: float) -> None:
    """Turn on WAL; while several processes open a fresh file at once, SQLite answers busy here without waiting."""
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            name = error.sqlite_errorname
            if name.startswith("SQLITE_READONLY"):
                return
            if not name.startswith("SQLITE_BUSY") or time.monotonic() > give_up:
                raise
        time.sleep(random.uniform(0.001, 0.02))


def raise_translated(error: Exception) -> NoReturn:
    """Raise what *error* of a driver means to a caller; anything else as it is."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    ours = translated(cause) if isinstance(cause, Exception) and not isinstance(error, OortError) else None
    if ours is None:
        raise error
    raise ours from cause


@contextmanager
def _translating() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 - raised again, as it is or as what it means
        raise_translated(error)
