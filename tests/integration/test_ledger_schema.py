"""The schema of a ledger: created whole, migrated in one piece, and closed to wrong histories."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from oort_flows.errors import ConfigurationError, StorageCorruptError
from oort_flows.ledger import Ledger
from oort_flows.storage import creation
from oort_flows.storage.databases import open_database
from oort_flows.storage.schema import HEAD

OPEN = 2**63 - 1


@pytest.fixture
def memory(place):
    """The row of a memory whose slot holds one value since instant 100, believed since its recording."""
    with Ledger.open(place.url) as ledger:
        handle = ledger.scoped(user="siv")
        handle.remember("billing has port 1", subject="billing", attribute="port", value="1", valid_from="2026-01-01")
    ((row,),) = place.run("SELECT seq FROM oort_memories")
    return row


def insert_version(place, memory, /, **changed):
    """Insert a version by the back door; it lies after that of the fixture, unless *changed*."""
    ((slot, single, start, recorded),) = place.run(
        "SELECT slot, single, valid_from, recorded_at FROM oort_versions WHERE memory = ? AND version = 1", memory
    )
    row = {
        "memory": memory,
        "version": 2,
        "slot": slot,
        "single": single,
        "valid_from": start - 10,
        "valid_to": start,
        "expires_at": OPEN,
        "ending": None,
        "recorded_at": recorded,
        "closed_at": OPEN,
        "closing": None,
        "opened_by": 1,
        "closed_by": None,
        **changed,
    }
    row["until"] = changed.get("until", min(row["valid_to"], row["expires_at"]))
    names = ", ".join(row)
    place.run(f"INSERT INTO oort_versions ({names}) VALUES ({', '.join('?' * len(row))})", *row.values())


def times(place, memory):
    """Return start and recording of the version of the fixture."""
    ((start, recorded),) = place.run("SELECT valid_from, recorded_at FROM oort_versions WHERE memory = ?", memory)
    return start, recorded


class TestGuards:
    """What the database itself refuses, however it is written to."""

    def refuse(self, place, work):
        before = place.run("SELECT * FROM oort_versions ORDER BY memory, version")
        with pytest.raises(Exception, match=r"oort_|constraint"):
            work()
        assert place.run("SELECT * FROM oort_versions ORDER BY memory, version") == before

    def test_period_beside_another_one_is_taken(self, place, memory):
        """What ends where the next begins does not overlap it."""
        insert_version(place, memory)

    def test_two_values_at_one_time_are_refused(self, place, memory):
        """Neither a period that reaches into another one, nor one inside, nor the same."""
        start, _ = times(place, memory)
        for valid_from, valid_to in ((start - 10, start + 1), (start + 5, start + 6), (start, OPEN), (start - 1, OPEN)):
            self.refuse(place, lambda a=valid_from, b=valid_to: insert_version(place, memory, valid_from=a, valid_to=b))

    def test_two_values_believed_at_one_time_are_refused_afterwards_too(self, place, memory):
        """A version that was closed since was believed until then."""
        start, recorded = times(place, memory)
        place.run(
            "UPDATE oort_versions SET closed_at = ?, closing = 'forgotten', closed_by = 1 WHERE memory = ?",
            recorded + 100,
            memory,
        )
        insert_version(place, memory, valid_from=start, valid_to=OPEN, recorded_at=recorded + 100)
        self.refuse(
            place,
            lambda: insert_version(
                place, memory, version=3, valid_from=start, valid_to=OPEN, recorded_at=recorded + 99,
                closed_at=recorded + 100, closing="forgotten", closed_by=1,
            ),
        )  # fmt: skip

    def test_many_values_at_one_time_are_taken(self, place, memory):
        """The rule is for slots of one value."""
        start, _ = times(place, memory)
        insert_version(place, memory, single=0, valid_from=start, valid_to=OPEN)

    @pytest.mark.parametrize(
        "changed",
        [
            {"valid_to": 5, "valid_from": 5},
            {"valid_to": 5, "valid_from": 6},
            {"until": 7},
            {"closed_at": 0, "closing": "ended", "closed_by": 1},
            {"closing": "ended"},
            {"closed_at": OPEN - 1},
            {"closed_at": OPEN - 1, "closing": "ended"},
            {"closed_at": OPEN - 1, "closed_by": 1},
            {"opened_by": None},
            {"opened_by": 999},
            {"version": 0},
            {"version": 1},
            {"memory": 999},
        ],
        ids=str,
    )
    def test_version_that_makes_no_sense_is_refused(self, place, memory, changed):
        """No empty period on either clock, no closing without reason and operation, nothing of nobody."""
        self.refuse(place, lambda: insert_version(place, memory, **changed))

    @pytest.mark.parametrize(
        "change",
        [
            "valid_from = valid_from - 1",
            "valid_to = valid_to - 1, until = until - 1",
            "recorded_at = recorded_at - 1",
            "version = 7",
            "slot = NULL",
            "ending = 'ended'",
            "single = 0",
            "closed_at = closed_at - 1",
            "closing = 'ended', closed_by = 1",
        ],
    )
    def test_version_cannot_be_changed(self, place, memory, change):
        """All that may happen to it is that it is closed, with reason and operation."""
        self.refuse(place, lambda: place.run(f"UPDATE oort_versions SET {change} WHERE memory = ?", memory))

    def test_version_can_be_closed_once(self, place, memory):
        """A second closing would change when it was believed."""
        close = f"UPDATE oort_versions SET closed_at = {OPEN} - ?, closing = 'ended', closed_by = 1 WHERE memory = ?"
        place.run(close, 2, memory)
        self.refuse(place, lambda: place.run(close, 1, memory))

    def test_judgment_without_a_reason_is_refused(self, place, memory):
        """The rule does not depend on who writes."""
        with pytest.raises(Exception, match="oort_memories_judgment"):
            place.run("UPDATE oort_memories SET type = 'judgment' WHERE seq = ?", memory)


class TestCreation:
    """Making a ledger, and finding one."""

    def test_migrated_equals_fresh(self, place):
        """The migrations end in the very schema that a fresh ledger gets."""
        fresh = shape(place)
        assert fresh == []
        Ledger.open(place.url).close()
        fresh = shape(place)
        assert fresh
        empty(place)
        database = open_database(place.url)
        creation._migrate(database)
        database.close()
        assert shape(place) == fresh
        assert place.run("SELECT version_num FROM oort_schema") == [(HEAD,)]

    def test_opening_again_changes_nothing(self, place):
        """A ledger is created once."""
        Ledger.open(place.url).close()
        before = shape(place)
        Ledger.open(place.url).close()
        assert shape(place) == before

    def test_many_open_a_fresh_ledger_at_once(self, place):
        """Exactly one creates it; the others wait."""

        def write(number: int) -> None:
            with Ledger.open(place.url) as ledger:
                ledger.scoped(user="siv").remember(f"Writer {number} was here.")

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(write, range(6)))
        assert place.run("SELECT count(*) FROM oort_memories") == [(6,)]
        assert place.run("SELECT version_num FROM oort_schema") == [(HEAD,)]

    def test_newer_schema_is_refused(self, place):
        """A ledger of a later version is not touched by an earlier one, and the error says what to do."""
        Ledger.open(place.url).close()
        place.run("UPDATE oort_schema SET version_num = '9999'")
        with pytest.raises(ConfigurationError, match="newer version"):
            Ledger.open(place.url)
        assert place.run("SELECT version_num FROM oort_schema") == [("9999",)]

    def test_ledger_that_does_not_say_its_version_is_refused(self, place):
        """Nothing is concluded from what cannot be true."""
        Ledger.open(place.url).close()
        place.run("DELETE FROM oort_schema")
        with pytest.raises(StorageCorruptError):
            Ledger.open(place.url)

    def test_failure_in_the_middle_of_creating_leaves_nothing(self, place):
        """The schema is there as a whole or not at all; the next opening makes it."""
        place.run("CREATE TABLE oort_versions (wrong INTEGER)")
        with pytest.raises(Exception, match="ledger"):
            Ledger.open(place.url)
        assert "oort_memories" not in str(shape(place))
        place.run("DROP TABLE oort_versions")
        Ledger.open(place.url).close()

    def test_alembic_is_not_loaded_without_need(self, tmp_path):
        """Opening and using a ledger of today's schema never imports it."""
        code = (
            "import sys\nfrom oort_flows.ledger import Ledger\n"
            f"with Ledger.open('sqlite:///{tmp_path / 'a.db'}') as ledger:\n"
            "    ledger.scoped(user='siv').remember('x is y')\n"
            "print([m for m in sys.modules if m.split('.')[0] in ('alembic', 'prefect')])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"


def shape(place):
    """Describe all that a database holds of a ledger, in words of the engine."""
    if place.engine == "sqlite":
        rows = place.run("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
        return [(kind, name, " ".join(sql.split()) if sql else None) for kind, name, sql in rows]
    found = []
    for statement in (
        "SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns "
        "WHERE table_schema = ? ORDER BY table_name, ordinal_position",
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = ? ORDER BY indexname",
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(c.oid) FROM pg_constraint c "
        "JOIN pg_namespace n ON n.oid = connamespace WHERE nspname = ? ORDER BY 1, 2",
        "SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t "
        "JOIN pg_class c ON c.oid = tgrelid "
        "JOIN pg_namespace n ON n.oid = relnamespace WHERE NOT tgisinternal AND nspname = ? ORDER BY 1, 2",
    ):
        found += place.run(statement, place.schema)
    return found


def empty(place):
    """Take everything out of a database again."""
    if place.engine == "postgresql":
        place.run(f"DROP SCHEMA {place.schema} CASCADE")
        place.run(f"CREATE SCHEMA {place.schema}")
        return
    for file in place.file.parent.glob("ledger.db*"):
        file.unlink()
