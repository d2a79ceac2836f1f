"""What the engines' errors mean to a caller; the driver's own error stays the cause."""

from __future__ import annotations

import sqlite3
from typing import Final

from oort_flows.errors import (
    ConfigurationError,
    ConflictError,
    OortError,
    StorageCorruptError,
    StorageError,
    StorageUnavailableError,
)

__all__ = ["is_lost", "is_rerun", "translated"]

_BUSY: Final = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
_REFUSED: Final = ("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")
_SPOILT: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_FORMAT", "SQLITE_CONSTRAINT", "SQLITE_MISMATCH")

# SQLSTATE by its class; PostgreSQL documentation, appendix A.
# Serialisation failure, deadlock, lock not available, and a row that refers to what was erased meanwhile.
_RERUN: Final = ("40001", "40P01", "55P03", "23503")
_LOST: Final = ("08", "57P")
_BY_STATE: Final[tuple[tuple[tuple[str, ...], type[OortError], str], ...]] = (
    (_RERUN, ConflictError, "the ledger was changed by somebody else at the same time"),
    (_LOST, StorageUnavailableError, "the connection to the ledger was lost"),
    (("53", "57014"), StorageUnavailableError, "the ledger has run out of time, space or connections"),
    (("25006",), StorageError, "the ledger is read-only"),
    (("28", "42501", "3D"), ConfigurationError, "the database of the ledger does not let us in"),
    (("23", "22"), StorageCorruptError, "the ledger refused what would be a wrong history"),
)


def translated(error: Exception) -> OortError | None:
    """Return the error of ours that *error* of a driver means; ``None`` if it is no driver's."""
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(error)
    try:
        import psycopg
    except ImportError:
        return None
    return _of_postgres(error.sqlstate) if isinstance(error, psycopg.Error) else None


def is_rerun(error: BaseException) -> bool:
    """Tell whether PostgreSQL asks to run the transaction again."""
    return getattr(error, "sqlstate", None) in _RERUN


def is_lost(error: BaseException) -> bool:
    """Tell whether PostgreSQL went away."""
    state = getattr(error, "sqlstate", "")
    return type(error).__name__ in ("OperationalError", "AdminShutdown") and (state is None or state.startswith(_LOST))


def _of_sqlite(error: sqlite3.Error) -> OortError:
    name = getattr(error, "sqlite_errorname", None) or ""
    if name.startswith(_BUSY):
        return StorageUnavailableError("the ledger is locked by another process")
    if name.startswith(_REFUSED):
        return StorageError("the file of the ledger must not be written")
    if name.startswith("SQLITE_FULL") or "full" in str(error):
        return StorageUnavailableError("there is no room left on the disk of the ledger")
    if name.startswith("SQLITE_IOERR"):
        return StorageUnavailableError("the disk of the ledger answered with an error")
    if name.startswith("SQLITE_CANTOPEN"):
        return ConfigurationError("the file of the ledger cannot be opened: check the folder and its permissions")
    if name.startswith(_SPOILT):
        return StorageCorruptError("the file is no ledger, or a damaged one, or refused what would be a wrong history")
    return StorageError("the ledger answered with an error")


def _of_postgres(state: str | None) -> OortError:
    if state is None:
        return StorageUnavailableError("the ledger cannot be reached")
    for prefixes, kind, message in _BY_STATE:
        if state.startswith(prefixes):
            return kind(message)
    return StorageError("the ledger answered with an error")
