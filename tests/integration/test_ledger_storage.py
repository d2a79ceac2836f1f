"""What happens to a ledger when the place it lies in is unwell, killed or crowded."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from conftest import postgres
from oort_flows.errors import (
    ConfigurationError,
    InvalidInputError,
    StorageCorruptError,
    StorageError,
    StorageUnavailableError,
)
from oort_flows.ledger import Ledger
from tests.integration.ledgers import Place

WRITER = textwrap.dedent(
    """
    import sys
    from oort_flows.ledger import Ledger

    url, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with Ledger.open(url) as ledger:
        handle = ledger.scoped(user="siv")
        for number in range(count):
            handle.remember(f"Writer {name} took step {number}.", subject=name, attribute="step", value=str(number))
            print(number, flush=True)
    """
)


def writer(place, name: str, count: int, **options) -> subprocess.Popen:
    """Start a process that writes *count* memories, and tells each one when it is written."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, place.url, name, str(count)], stdout=subprocess.PIPE, text=True, **options
    )


def check(place) -> None:
    """Make sure that nothing of what is stored is half: every memory has versions, an index entry and an operation."""
    if place.engine == "sqlite":
        assert place.run("PRAGMA integrity_check") == [("ok",)]
        assert place.run("PRAGMA foreign_key_check") == []
        place.run("INSERT INTO oort_index (oort_index, rank) VALUES ('integrity-check', 0)")
        indexed = place.run("SELECT count(*) FROM oort_index_docsize")
    else:
        indexed = place.run("SELECT count(*) FROM oort_index")
    ((memories,),) = place.run("SELECT count(*) FROM oort_memories")
    assert indexed == [(memories,)]
    assert place.run("SELECT count(DISTINCT memory) FROM oort_versions") == [(memories,)]
    ahead = f"slot IS NOT NULL AND closed_at = {2**63 - 1} AND until = {2**63 - 1}"
    assert place.run(f"SELECT slot FROM oort_versions WHERE {ahead} GROUP BY slot HAVING count(*) > 1") == []


class TestCrowds:
    """Many writers at once."""

    def test_g01_eight_processes_write_a_hundred_memories_each(self, place):
        """Every write is stored, none is refused, and each writer's slot ends with its last value."""
        Ledger.open(place.url).close()
        writers = [writer(place, f"w{number}", 100) for number in range(8)]
        assert [process.communicate(timeout=120)[0].count("\n") for process in writers] == [100] * 8
        assert [process.returncode for process in writers] == [0] * 8
        assert place.run("SELECT count(*) FROM oort_memories") == [(800,)]
        check(place)
        with Ledger.open(place.url) as ledger:
            handle = ledger.scoped(user="siv")
            for number in range(8):
                (hit,) = handle.recall("", subject=f"w{number}", attribute="step").hits
                assert hit.memory.value == "99"

    def test_sixteen_connections_lose_no_update(self, place):
        """Confirmations and successions of one slot are all counted."""
        with Ledger.open(place.url) as ledger:
            handles = [ledger.scoped(user="siv") for _ in range(16)]
            first = handles[0].remember("Backups run at night.")

            def write(number: int) -> None:
                for step in range(4):
                    handles[number].remember("Backups run at night.")
                    handles[number].remember(
                        f"step {number} {step}", subject="billing", attribute="port", value=f"{number} {step}"
                    )

            with ThreadPoolExecutor(16) as pool:
                list(pool.map(write, range(16)))
            assert handles[0].get(first.id).confirmations == 65
            assert len(handles[0].recall("", subject="billing", attribute="port").hits) == 1
        check(place)

    def test_child_of_a_fork_uses_connections_of_its_own(self, place):
        """Parent and child write on, both with the ledger that the parent opened."""
        with Ledger.open(place.url) as ledger:
            handle = ledger.scoped(user="siv")
            handle.remember("The parent was here.")
            child = os.fork()
            if child == 0:
                try:
                    handle.remember("The child was here.")
                    os._exit(0)
                except BaseException:
                    os._exit(1)
            handle.remember("The parent goes on.")
            assert os.waitpid(child, 0)[1] == 0
            handle.remember("The parent was here at the end.")
        assert place.run("SELECT count(*) FROM oort_memories") == [(4,)]
        check(place)


class TestKills:
    """Processes that end in the middle."""

    def test_g02_killed_writer_loses_nothing_that_it_was_told_is_written(self, place):
        """After ``kill -9`` every acknowledged write is there, the next one whole or not at all."""
        Ledger.open(place.url).close()
        acknowledged = {}
        for number, kills_after in enumerate((1, 7, 20, 33)):
            name = f"w{number}"
            process = writer(place, name, 10_000)
            for line in process.stdout:
                acknowledged[name] = int(line)
                if acknowledged[name] >= kills_after:
                    break
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().split("\n")
            acknowledged[name] = max([acknowledged[name], *(int(line) for line in rest[:-1] if line)])
            process.wait()
            process.stdout.close()
        for name, last in acknowledged.items():
            ((count,),) = place.run("SELECT count(*) FROM oort_memories WHERE subject = ?", name)
            assert count in (last + 1, last + 2)
        check(place)

    def test_killed_first_opening_leaves_no_half_schema(self, tmp_path):
        """Whenever the first process to open a ledger is killed, the next one finds a whole schema or none."""
        code = "import sys\nfrom oort_flows.ledger import Ledger\nprint('go', flush=True)\nLedger.open(sys.argv[1])"
        for number in range(6):
            file = tmp_path / f"{number}.db"
            process = subprocess.Popen([sys.executable, "-c", code, f"sqlite:///{file}"], stdout=subprocess.PIPE)
            process.stdout.readline()
            # Each time it gets a little further.
            while process.poll() is None and number and not file.exists():
                pass
            process.kill()
            process.wait()
            process.stdout.close()
            with Ledger.open(f"sqlite:///{file}") as ledger:
                assert ledger.scoped(user="siv").remember("x is y").outcome == "added"

    def test_killed_server_connection_is_replaced(self, tmp_path):
        """A connection that the server ended is noticed and replaced; the write after it succeeds."""
        place = Place("postgresql", tmp_path)
        with Ledger.open(place.url) as ledger:
            handle = ledger.scoped(user="siv")
            handle.remember("Before.")
            with psycopg.connect(postgres(), autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                    "AND query LIKE '%%oort_%%'"
                )
            assert handle.remember("After.").outcome == "added"
        place.close()


class TestFiles:
    """The file of a ledger on SQLite."""

    @pytest.fixture
    def file(self, tmp_path) -> Path:
        return tmp_path / "ledger.db"

    def test_locked_file_is_unavailable_and_may_work_later(self, file):
        """The error says that the same call may succeed, and it does."""
        with Ledger.open(f"sqlite:///{file}?timeout=0.05") as ledger:
            handle = ledger.scoped(user="siv")
            handle.remember("Before.")
            other = sqlite3.connect(file, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StorageUnavailableError) as caught:
                handle.remember("Meanwhile.")
            assert caught.value.retryable
            assert len(handle.recall("before").hits) == 1
            other.execute("COMMIT")
            other.close()
            assert handle.remember("Meanwhile.").outcome == "added"

    def test_file_that_must_not_be_written_can_be_read(self, file):
        """Reading works, counting uses is left out, and a write is refused without being tried again."""
        with Ledger.open(f"sqlite:///{file}") as ledger:
            ledger.scoped(user="siv").remember("kiwi is green")
        with Ledger.open(f"sqlite:///file:{file}?mode=ro&uri=true") as ledger:
            handle = ledger.scoped(user="siv")
            assert len(handle.recall("kiwi").hits) == 1
            with pytest.raises(StorageError) as caught:
                handle.remember("kiwi is red")
            assert not caught.value.retryable

    def test_full_disk_refuses_a_write_and_keeps_the_rest(self, file):
        """What was written stays, what was not leaves nothing, and with room again it goes on."""
        with Ledger.open(f"sqlite:///{file}") as ledger:
            ledger.scoped(user="siv").remember("Before.")
        child = os.fork()
        if child == 0:
            try:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                with Ledger.open(f"sqlite:///{file}") as ledger:
                    handle = ledger.scoped(user="siv")
                    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 65_536,) * 2)
                    for number in range(10_000):
                        handle.remember(f"Fact number {number} " + "x" * 2_000)
                os._exit(1)
            except StorageUnavailableError:
                os._exit(0)
            except BaseException:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        with Ledger.open(f"sqlite:///{file}") as ledger:
            handle = ledger.scoped(user="siv")
            assert handle.recall("before").hits
            assert handle.remember("After.").outcome == "added"
        connection = sqlite3.connect(file)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()

    @pytest.mark.parametrize("content", [b"hello, I am a text\n" * 100, b"SQLite format 3\x00" + b"\x13" * 5_000])
    def test_file_that_is_no_database_is_not_touched(self, file, content):
        """It is refused, and stays byte for byte as it was."""
        file.write_bytes(content)
        with pytest.raises(StorageCorruptError):
            Ledger.open(f"sqlite:///{file}")
        assert file.read_bytes() == content

    def test_folder_that_is_not_there_is_a_mistake_of_the_set_up(self, tmp_path):
        """The message says what to look at, and not where."""
        with pytest.raises(ConfigurationError) as caught:
            Ledger.open(f"sqlite:///{tmp_path}/no/such/folder/ledger.db")
        assert "no/such" not in str(caught.value)

    @pytest.mark.parametrize(
        "url", ["", "ledger.db", "sqlite://", "sqlite:///:memory:", "mysql://h/d", 5, None, "http://example.org"]
    )
    def test_url_that_names_no_ledger_is_refused(self, url):
        """Only files of SQLite and databases of PostgreSQL are."""
        with pytest.raises(ConfigurationError, match="url"):
            Ledger.open(url)

    def test_server_that_is_not_there_is_unavailable(self, tmp_path):
        """It may be started later; the error does not show the password."""
        word = "hunter2"
        with pytest.raises(StorageUnavailableError) as caught:
            Ledger.open(f"postgresql+psycopg://siv:{word}@/ledger?host={tmp_path}")
        assert caught.value.retryable
        assert word not in str(caught.value)

    def test_settings_are_those_that_lose_nothing(self, file):
        """WAL, every commit flushed, foreign keys on, and patience with other writers."""
        with Ledger.open(f"sqlite:///{file}") as ledger, ledger._house.database.plain() as cursor:
            found = {
                name: cursor.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "secure_delete")
            }
        assert found.pop("busy_timeout") >= 10_000
        assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}

    @pytest.mark.parametrize("argument", [{"embedder": object()}, {"cold": "file:///x"}, {"clock": 5}, {"zone": 5}])
    def test_what_is_not_supported_is_refused(self, file, argument):
        """An argument is never silently ignored."""
        with pytest.raises(ConfigurationError, match=next(iter(argument))):
            Ledger.open(f"sqlite:///{file}", **argument)
        assert not file.exists()


class TestTexts:
    """Texts at the edge of what can be kept."""

    def test_text_of_two_megabytes_is_refused_and_nothing_is_kept(self, place):
        """A memory is a sentence; the message says how long it may be."""
        with Ledger.open(place.url) as ledger:
            handle = ledger.scoped(user="siv")
            with pytest.raises(InvalidInputError, match="text"):
                handle.remember("x" * 2_000_000)
            assert place.run("SELECT count(*) FROM oort_operations") == [(0,)]

    @pytest.mark.parametrize("text", ["x" * 1_048_576, "é " * 349_525, " ".join(map(str, range(140_000)))], ids=len)
    def test_longest_text_is_kept_whole_and_found(self, place, text):
        """Up to the limit every byte stays, and its beginning is searched."""
        with Ledger.open(place.url) as ledger:
            handle = ledger.scoped(user="siv")
            memory = handle.remember("kiwi " + text[:-5]).id
            assert handle.get(memory).text == "kiwi " + text[:-5]
            assert [hit.memory.id for hit in handle.recall("kiwi").hits] == [memory]


def test_ledger_that_is_not_closed_leaves_no_warning(tmp_path):
    """Dropping a ledger closes its connections."""
    code = (
        "import gc, warnings\nwarnings.simplefilter('error')\nfrom oort_flows.ledger import Ledger\n"
        f"Ledger.open('sqlite:///{tmp_path / 'a.db'}').scoped(user='siv').remember('x is y')\ngc.collect()"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert multiprocessing.active_children() == []
