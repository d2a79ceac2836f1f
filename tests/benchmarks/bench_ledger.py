"""
How fast a ledger is, in ratios to the barest thing that could do the same on this machine.

Run as a script it prints a table for ledgers of a size.

    python tests/benchmarks/bench_ledger.py [memories]
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from oort_flows.ledger import Ledger
from oort_flows.storage.schema import METADATA

WORDS = [
    "alpha",
    "billing",
    "cache",
    "deploy",
    "engine",
    "flag",
    "gate",
    "host",
    "index",
    "job",
    "kernel",
    "limit",
    "metric",
]


def fact(number: int) -> dict[str, Any]:
    """Return the fact of a number: a sentence of some 80 characters with a slot of its own."""
    words = [WORDS[(number * step + step) % len(WORDS)] for step in (1, 5, 7, 11)]
    service = f"service-{number}"
    return {
        "text": f"The {words[0]} {words[1]} of {service} listens on port {8000 + number} for the {words[2]} {words[3]}.",
        "subject": service,
        "attribute": "port",
        "value": str(8000 + number),
    }


@contextmanager
def ledger_at(directory: Path, name: str = "ledger"):
    """Open a fresh ledger in *directory*."""
    with Ledger.open(f"sqlite:///{directory / name}.db") as ledger:
        yield ledger


def seconds(work: Callable[[], object]) -> float:
    """Return how long *work* takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def rows_of(path: Path) -> list[tuple[str, str, list[tuple]]]:
    """Return the rows of a ledger's tables with a statement that inserts each, in an order that foreign keys allow."""
    connection = sqlite3.connect(path)
    found = []
    for table in ("oort_operations", "oort_memories", "oort_versions"):
        cursor = connection.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        found.append((table, f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", cursor.fetchall()))
    connection.close()
    return found


def terms_of(path: Path) -> list[tuple[int, str, str, str]]:
    """Return what a ledger has put into its full-text index."""
    from oort_flows.storage.indexes import unpack

    connection = sqlite3.connect(path)
    found = [(row, *unpack(packed)) for row, packed in connection.execute("SELECT seq, terms FROM oort_memories")]
    connection.close()
    return found


def bare(path: Path) -> sqlite3.Connection:
    """Open a database with the same settings as a ledger's, without the ledger."""
    return settled(sqlite3.connect(path, isolation_level=None))


def settled(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Give *connection* the settings of a ledger's."""
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def single_writes(directory: Path, count: int) -> tuple[float, float]:
    """Return writes a second, each with a commit: of ``remember``, and of a bare insert of the very same rows."""
    with ledger_at(directory) as ledger:
        handle = ledger.scoped(user="siv")
        handle.remember(**fact(count))
        ours = count / seconds(lambda: [handle.remember(**fact(number)) for number in range(count)])
    return ours, count / seconds(lambda: insert_rows(directory, one_by_one=True))


def insert_rows(directory: Path, *, one_by_one: bool) -> None:
    """Insert the rows of the ledger in *directory* into a second one with the same tables, indexes and triggers."""
    with ledger_at(directory, "bare"):
        pass
    connection = bare(directory / "bare.db")
    tables = rows_of(directory / "ledger.db")
    index = "INSERT INTO oort_index (rowid, scope, fact, context) VALUES (?, ?, ?, ?)"
    for rows in zip(*(rows for _, _, rows in tables), terms_of(directory / "ledger.db"), strict=True):
        connection.execute("BEGIN IMMEDIATE")
        for (_, statement, _), row in zip(tables, rows, strict=False):
            connection.execute(statement, row)
        connection.execute(index, rows[-1])
        connection.execute("COMMIT")
    connection.close()


def batch_writes(directory: Path, count: int) -> tuple[float, float, float]:
    """Return rows a second in one transaction: of ``remember_many``, of ``import_``, and of SQLAlchemy's ``executemany``."""
    facts = [fact(number) for number in range(count)]
    with ledger_at(directory) as ledger:
        handle = ledger.scoped(user="siv")
        many = count / seconds(lambda: handle.remember_many(facts))
        ledger.export(directory / "export.jsonl")
    with ledger_at(directory, "imported") as ledger:
        imported = count / seconds(lambda: ledger.import_(directory / "export.jsonl"))
    with ledger_at(directory, "core"):
        pass
    tables = rows_of(directory / "ledger.db")
    terms = [dict(zip(("rowid", "scope", "fact", "context"), row, strict=True)) for row in terms_of(directory / "ledger.db")]
    engine = sa.create_engine("sqlite://", creator=lambda: settled(sqlite3.connect(directory / "core.db")))

    def executemany() -> None:
        with engine.begin() as connection:
            for name, _, rows in tables:
                table = METADATA.tables[name]
                connection.execute(table.insert(), [dict(zip(table.columns.keys(), row, strict=True)) for row in rows])
            connection.execute(
                sa.text("INSERT INTO oort_index (rowid, scope, fact, context) VALUES (:rowid, :scope, :fact, :context)"),
                terms,
            )

    core = count / seconds(executemany)
    engine.dispose()
    return many, imported, core


def slot_reads(directory: Path, count: int, reads: int) -> dict[str, float]:
    """Return microseconds of a slot lookup by mode, and of a primary-key read by SQLAlchemy Core, among *count* memories."""
    with ledger_at(directory) as ledger:
        handle = ledger.scoped(user="siv")
        for start in range(0, count, 5_000):
            handle.remember_many(fact(number) for number in range(start, min(count, start + 5_000)))
        now = handle.recall("", subject="service-0", attribute="port").memories[0].recorded_at
        subjects = [f"service-{number * 7919 % count}" for number in range(reads)]
        modes: dict[str, dict[str, Any]] = {
            "current": {},
            "as_of": {"as_of": now},
            "known_at": {"known_at": now},
            "history": {"mode": "history"},
        }
        table = METADATA.tables["oort_memories"]
        statement = sa.select(table).where(table.c.seq == sa.bindparam("seq"))
        taken: dict[str, list[float]] = {name: [] for name in ("primary key", *modes)}
        with ledger._house.database.engine() as engine, engine.connect() as connection:
            # In turns, so that what else the machine does is the same for all.
            for number, subject in enumerate(subjects):
                row = {"seq": 1 + number * 104_729 % count}
                taken["primary key"].append(seconds(lambda row=row: connection.execute(statement, row).all()))
                for mode, how in modes.items():
                    read = partial(handle.recall, "", subject=subject, attribute="port", **how)
                    taken[mode].append(seconds(read))
        found = {name: statistics.median(times) * 1e6 for name, times in taken.items()}
        found["search"] = median(lambda s: handle.recall(f"which port does {s} use"), subjects[: max(1, reads // 10)])
    return found


def median(read: Callable[[Any], object], arguments: Iterable[Any]) -> float:
    """Return the median of *read* over *arguments*, in microseconds."""
    return statistics.median(seconds(lambda argument=argument: read(argument)) for argument in arguments) * 1e6


def long_history(directory: Path, versions: int, reads: int) -> tuple[float, float]:
    """Return microseconds of a current read of a slot with one version, and of one with *versions*."""
    with ledger_at(directory) as ledger:
        handle = ledger.scoped(user="siv")
        handle.remember("short", subject="short", attribute="port", value="1")
        handle.remember_many(
            {"text": f"value {n}", "subject": "long", "attribute": "port", "value": str(n)} for n in range(versions)
        )

        def read(subject: str) -> object:
            return handle.recall("", subject=subject, attribute="port")

        return median(read, ["short"] * reads), median(read, ["long"] * reads)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("memories", nargs="?", type=int, default=100_000)
    count = parser.parse_args().memories
    with tempfile.TemporaryDirectory() as directory:
        places = [Path(directory) / str(number) for number in range(4)]
        for place in places:
            place.mkdir()
        ours, rows = single_writes(places[0], min(count, 2_000))
        print(f"remember, one commit each     {ours:9.0f}/s   {ours / rows:6.1%} of a bare insert ({rows:.0f}/s)")
        many, imported, core = batch_writes(places[1], min(count, 5_000))
        print(f"remember_many                 {many:9.0f}/s   {many / core:6.1%} of SQLAlchemy's executemany ({core:.0f}/s)")
        print(f"import_                       {imported:9.0f}/s   {imported / core:6.1%} of it")
        short, long = long_history(places[2], min(count, 10_000), 300)
        print(f"current read, 1 version       {short:9.0f} us")
        print(f"current read, long history    {long:9.0f} us  {long / short:6.2f} times")
        found = slot_reads(places[3], count, 1_000)
        key = found.pop("primary key")
        print(f"primary key by SQLAlchemy     {key:9.0f} us  at {count} memories")
        for mode, figure in found.items():
            print(f"{mode:29} {figure:9.0f} us  {figure / key:6.2f} times")


if __name__ == "__main__":
    main()
