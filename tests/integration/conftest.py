"""A real Prefect server for the tests that need one: started once, on a free loopback port, and stopped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """A Prefect server with a database of its own, for the whole run."""
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
    from prefect.testing.utilities import prefect_test_harness

    # Joining the heartbeat thread costs every sync flow a second; see PrefectHQ/prefect, flow_engine.
    with prefect_test_harness(server_startup_timeout=120), temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        yield
