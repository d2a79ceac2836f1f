"""Erasing: physically, from rows, index and receipts, and from the free space of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from oort_flows.errors import InvalidInputError, NotFoundError, StorageUnavailableError
from oort_flows.ledger import receipts
from oort_flows.models.memories import Space, encoded
from oort_flows.storage import indexes
from oort_flows.storage.databases import Database
from oort_flows.storage.sessions import Session, Statement, sql

__all__ = ["erase_memories", "erase_spaces", "spaces_of", "swept"]

_SPACES = sql(
    "SELECT space FROM oort_memories UNION SELECT space FROM oort_operations WHERE space IS NOT NULL UNION "
    "SELECT space FROM oort_receipts UNION SELECT space FROM oort_tombstones"
)
_OF_SPACE = sql("SELECT seq, terms FROM oort_memories WHERE space = :space ORDER BY seq")
_OF_ID = sql("SELECT seq, terms FROM oort_memories WHERE id = :id")
_RECEIVED = (
    "SELECT DISTINCT m.seq, m.id FROM oort_receipt_hits h JOIN oort_memories m ON m.seq = h.memory WHERE m.{column} = :given"
)


_VACUUMED: Final = (
    "oort_memories",
    "oort_index",
    "oort_versions",
    "oort_operations",
    "oort_receipts",
    "oort_standing",
)


def _dropping(which: str) -> tuple[Statement, ...]:
    """Return the statements that drop the memories that *which* selects, in an order that foreign keys allow."""
    touched = (
        f"SELECT opened_by FROM oort_versions WHERE memory IN ({which}) UNION "
        f"SELECT closed_by FROM oort_versions WHERE memory IN ({which})"
    )
    return (
        sql(f"DELETE FROM oort_links WHERE newer IN ({which}) OR older IN ({which})"),
        sql(f"DELETE FROM oort_standing WHERE memory IN ({which})"),
        sql(f"UPDATE oort_operations SET note = NULL WHERE note IS NOT NULL AND seq IN ({touched})"),
        sql(f"DELETE FROM oort_versions WHERE memory IN ({which})"),
    )


_DROP_SPACE: Final = (
    *_dropping("SELECT seq FROM oort_memories WHERE space = :given"),
    sql("DELETE FROM oort_memories WHERE space = :given"),
    sql("DELETE FROM oort_receipt_hits WHERE receipt IN (SELECT seq FROM oort_receipts WHERE space = :given)"),
    sql("DELETE FROM oort_receipts WHERE space = :given"),
    sql("DELETE FROM oort_tombstones WHERE space = :given"),
    # What is left of an operation is its time: versions elsewhere may name it.
    sql(
        "UPDATE oort_operations SET space = NULL, named = NULL, key = NULL, digest = NULL, answer = NULL, note = NULL "
        "WHERE space = :given"
    ),
)
_DROP_MEMORY: Final = (
    *_dropping("SELECT seq FROM oort_memories WHERE id = :given"),
    sql("DELETE FROM oort_memories WHERE id = :given"),
)


def spaces_of(session: Session, scope: object, user: object) -> list[str]:
    """
    Return the spaces that a scope or a user names, as far as there are any.

    Raises
    ------
    InvalidInputError
        If neither is named properly.
    """
    if scope is not None:
        return [str(Space.parse(scope, "scope"))]
    name = encoded(user, "user")
    known = [row[0] for row in session.all(_SPACES)]
    return sorted(space for space in known if space == f"planet:{name}" or space.startswith(f"star:{name}/"))


def erase_spaces(session: Session, spaces: Sequence[str]) -> int:
    """Erase all of *spaces*, and return how many memories that were."""
    return sum(_erase(session, session.all(_OF_SPACE, {"space": space}), "space", space, _DROP_SPACE) for space in spaces)


def erase_memories(session: Session, memory: str) -> int:
    """
    Erase one memory with all its versions.

    Raises
    ------
    NotFoundError
        If there is none of this id.
    """
    rows = session.all(_OF_ID, {"id": memory})
    if not rows:
        raise NotFoundError("no such memory")
    return _erase(session, rows, "id", memory, _DROP_MEMORY)


def swept(database: Database) -> None:
    """
    Overwrite what was erased wherever the engine may still hold it.

    On SQLite freed pages are zeroed at once, the index is merged into one piece without what was taken out, and the log is
    emptied. PostgreSQL gives up dead rows by vacuuming.

    Raises
    ------
    StorageUnavailableError
        If others read the old state of the file for so long that the log could not be emptied.
    """
    with database.plain() as cursor:
        if database.dialect == "postgresql":
            for table in _VACUUMED:
                cursor.execute(f"VACUUM {table}")
            return
        cursor.execute("INSERT INTO oort_index (oort_index) VALUES ('optimize')")
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        raise StorageUnavailableError(
            "it is erased, but others still read an earlier state, which the log keeps: the next erase empties it, or the "
            "last one to close the ledger"
        )


def checked_scope(scope: object, user: object, memory: object) -> None:
    """Refuse an erase that does not name exactly one thing."""
    if sum(given is not None for given in (scope, user, memory)) != 1:
        raise InvalidInputError("scope", "name exactly one of scope, user and id")


def _erase(session: Session, rows: Sequence[Any], column: str, given: str, statements: Sequence[Statement]) -> int:
    indexes.take_out(session, [(row, indexes.unpack(bytes(packed))) for row, packed in rows])
    for row, id_ in session.all(sql(_RECEIVED.format(column=column)), {"given": given}):
        receipts.without(session, row, id_)
    for statement in statements:
        session.run(statement, {"given": given})
    return len(rows)
