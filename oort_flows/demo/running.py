"""
Running the pipeline from the command line: on the Prefect server that is configured, else on a temporary one.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oort_flows.demo.report import Server
from oort_flows.errors import ConfigurationError

if TYPE_CHECKING:
    from oort_flows.demo.clone import Workplace
    from oort_flows.demo.progress import Progress
    from oort_flows.demo.report import Done

__all__ = ["run_pipeline"]

# A first start makes a database; 17 s were seen on a machine with two slow cores, and Prefect gives up after 20 s.
_MOST_START_S: Final = 180


def run_pipeline(place: Workplace, progress: Progress, *, verbose: bool) -> tuple[Done, Server]:
    """
    Run the release-notes pipeline in *place* and tell where its run can be looked at.

    Raises
    ------
    ConfigurationError
        If there is no Prefect server to run it on.
    OortError
        If the pipeline fails.
    """
    with progress.doing("Loading Prefect, which takes some seconds"):
        from prefect.settings import (
            PREFECT_API_URL,
            PREFECT_SERVER_ANALYTICS_ENABLED,
            PREFECT_SERVER_EPHEMERAL_ENABLED,
            PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS,
            PREFECT_UI_URL,
            temporary_settings,
        )

        from oort_flows.demo.pipeline import release_notes
        from oort_flows.demo.progress import quiet_prefect
    configured = PREFECT_API_URL.value() is not None
    settings: dict[Any, Any] = {}
    if not configured:
        settings = {
            PREFECT_SERVER_ANALYTICS_ENABLED: False,  # it lives for seconds and should not ask the network for anything
            PREFECT_SERVER_EPHEMERAL_ENABLED: True,
            PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS: _MOST_START_S,
        }
    with ExitStack() as stack:
        stack.enter_context(temporary_settings(settings))
        if not verbose:
            stack.enter_context(quiet_prefect(progress))
        _reach_server(progress, configured=configured)
        with progress.doing("Running the pipeline"):
            done = release_notes(str(place.path))
        return done, Server(PREFECT_UI_URL.value() if configured else None, _prefect_command())


def _reach_server(progress: Progress, *, configured: bool) -> None:
    """Ask the server for a sign of life, which starts the temporary one where none is configured."""
    from prefect.client.orchestration import get_client

    where = "Asking the Prefect server" if configured else "Starting a temporary Prefect server, which takes about 15 s"
    with progress.doing(where):
        try:
            with get_client(sync_client=True) as client:
                trouble = client.api_healthcheck()
        except (OSError, RuntimeError, ValueError) as error:
            trouble = error
    if trouble is None:
        progress.done("reached the Prefect server" if configured else "started a temporary Prefect server")
    elif configured:
        raise ConfigurationError(
            "the Prefect server that is configured does not answer; start it with `prefect server start`, or do without it: "
            "`prefect config unset PREFECT_API_URL`"
        ) from trouble
    else:
        raise ConfigurationError(
            f"a temporary Prefect server could not be started ({type(trouble).__name__}); start one with "
            "`prefect server start` and name it with `prefect config set PREFECT_API_URL=http://127.0.0.1:4200/api`"
        ) from trouble


def _prefect_command() -> str:
    """Give the command as it can be typed here: the one beside this Python where none is on the path."""
    beside = Path(sys.executable).with_name("prefect")
    return "prefect" if shutil.which("prefect") or not beside.exists() else str(beside)
