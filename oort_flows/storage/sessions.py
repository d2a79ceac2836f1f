"""
Statements, and the sessions that run them.

A statement is written once, with ``:name`` for its arguments, and given to the driver's own cursor: going through
SQLAlchemy's would cost more than the write itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, Protocol

__all__ = ["Session", "Statement", "sql"]

_LIST: Final = re.compile(r"\bLIST\((\w+\.\w+)\)")
_ARGUMENT: Final = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")


class Statement:
    """One statement in the spelling of both drivers; ``LIST(column)`` is the values of a column, joined by commas."""

    __slots__ = ("in_order", "postgresql", "sqlite", "values")

    def __init__(self, text: str) -> None:
        self.sqlite = _LIST.sub(r"group_concat(\1)", text)
        names = _ARGUMENT.findall(self.sqlite)
        # By place instead of by name: half the cost of handing over many rows.
        self.in_order = _ARGUMENT.sub("?", self.sqlite)
        self.values: Callable[[Mapping[str, Any]], tuple[Any, ...]] = _by_name(names)
        self.postgresql = _ARGUMENT.sub(r"%(\1)s", _LIST.sub(r"string_agg(\1, ',')", text).replace("%", "%%"))


def _by_name(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda row: tuple(row[name] for name in names)


@lru_cache(maxsize=512)
def sql(text: str) -> Statement:
    """Return the statement that is *text*; made once."""
    return Statement(text)


class _Cursor(Protocol):
    rowcount: int

    def execute(self, statement: Any, arguments: Any = ..., /) -> Any: ...
    def executemany(self, statement: Any, arguments: Any, /) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def fetchone(self) -> Any: ...


class Session:
    """
    One transaction on one connection; made by a database, used by one thread.

    Attributes
    ----------
    dialect:
        ``sqlite`` or ``postgresql``.
    """

    __slots__ = ("_cursor", "dialect")

    def __init__(self, cursor: _Cursor, dialect: str) -> None:
        self._cursor = cursor
        self.dialect = dialect

    def run(self, statement: Statement, arguments: Mapping[str, Any] | None = None) -> int:
        """Carry out *statement* and return how many rows it touched."""
        self._cursor.execute(self._text(statement), arguments or {})
        return self._cursor.rowcount

    def run_many(self, statement: Statement, arguments: Sequence[Mapping[str, Any]]) -> None:
        """Carry out *statement* once for each of *arguments*."""
        if not arguments:
            return
        if self.dialect == "sqlite":
            self._cursor.executemany(statement.in_order, map(statement.values, arguments))
        else:
            self._cursor.executemany(statement.postgresql, arguments)

    def all(self, statement: Statement, arguments: Mapping[str, Any] | None = None) -> list[Any]:
        """Return all rows of *statement*."""
        self._cursor.execute(self._text(statement), arguments or {})
        return self._cursor.fetchall()

    def one(self, statement: Statement, arguments: Mapping[str, Any] | None = None) -> Any:
        """Return the first row of *statement*, or ``None``."""
        self._cursor.execute(self._text(statement), arguments or {})
        return self._cursor.fetchone()

    def added(self, statement: Statement, arguments: Mapping[str, Any]) -> int:
        """Insert one row, and return the number that its statement returns."""
        self._cursor.execute(self._text(statement), arguments)
        return int(self._cursor.fetchone()[0])

    def _text(self, statement: Statement) -> str:
        return statement.sqlite if self.dialect == "sqlite" else statement.postgresql
