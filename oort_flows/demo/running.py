"""
Running the pipeline from the command line: on the Prefect server that is configured, else on a temporary one.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from oort_flows.demo.report import Server
from oort_flows.demo.server import start_server
from oort_flows.errors import ConfigurationError

if TYPE_CHECKING:
    from oort_flows.demo.clone import Workplace
    from oort_flows.demo.progress import Progress
    from oort_flows.demo.report import Done

__all__ = ["run_pipeline"]


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
        from prefect.settings import PREFECT_API_URL, PREFECT_UI_URL, temporary_settings

        from oort_flows.demo.pipeline import release_notes
        from oort_flows.demo.progress import quiet_prefect
    configured = PREFECT_API_URL.value() is not None
    with ExitStack() as stack:
        if not verbose:
            stack.enter_context(quiet_prefect(progress))
        if configured:
            _reach_server(progress)
        else:
            with progress.doing("Starting a temporary Prefect server, which takes about 15 s"):
                address = start_server()
            stack.enter_context(temporary_settings({PREFECT_API_URL: address}))
            progress.done("started a temporary Prefect server")
        with progress.doing("Running the pipeline"):
            done = release_notes(str(place.path))
        return done, Server(PREFECT_UI_URL.value() if configured else None, _prefect_command())


def _reach_server(progress: Progress) -> None:
    """Ask the server that is configured for a sign of life."""
    from prefect.client.orchestration import get_client

    with progress.doing("Asking the Prefect server"):
        try:
            with get_client(sync_client=True) as client:
                trouble = client.api_healthcheck()
        except (OSError, RuntimeError, ValueError) as error:
            trouble = error
    if trouble is not None:
        without = "unset PREFECT_API_URL" if "PREFECT_API_URL" in os.environ else "prefect config unset PREFECT_API_URL"
        raise ConfigurationError(
            "the Prefect server that is configured does not answer; start it with `prefect server start`, or do without it: "
            f"`{without}`"
        ) from trouble
    progress.done("reached the Prefect server")


def _prefect_command() -> str:
    """Give the command as it can be typed here: the one beside this Python where none is on the path."""
    beside = Path(sys.executable).with_name("prefect")
    return "prefect" if shutil.which("prefect") or not beside.exists() else str(beside)
