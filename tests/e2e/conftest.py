"""What a user has: commands, a server of their own on a free port, and a browser."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed


@dataclass(frozen=True)
class Server:
    """A running Prefect server: where it is, and the environment of processes that use it."""

    url: str
    environment: dict[str, str]

    def python(self, *arguments: str, cwd: Path | None = None, check: bool = True) -> str:
        """Run Python against this server and return what it printed."""
        done = subprocess.run(
            [sys.executable, *arguments], cwd=cwd, env=self.environment, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr[-4000:]
        return done.stdout


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A fresh Prefect server with the plugin installed beside it; stopped when the run ends."""
    home = tmp_path_factory.mktemp("prefect-home")
    port = free_port()
    environment = os.environ | {
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    }
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with (
        (home / "server.log").open("w") as log,
        subprocess.Popen(command, env=environment, stdout=log, stderr=log) as process,
    ):
        try:
            _wait_until_healthy(environment["PREFECT_API_URL"], process)
            yield Server(f"http://127.0.0.1:{port}", environment)
        finally:
            process.terminate()
            process.wait(60)


@retry(stop=stop_after_delay(180), wait=wait_fixed(0.25), retry=retry_if_exception_type(httpx.HTTPError), reraise=True)
def _wait_until_healthy(api: str, process: subprocess.Popen[bytes]) -> None:
    assert process.poll() is None, "the server ended"
    httpx.get(f"{api}/health", timeout=5).raise_for_status()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of an installed Chromium. The pages are looked at where there is one; CI installs it."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        found = shutil.which(name)
        if found:
            return found
    if os.environ.get("OORT_TESTS_NEED_BROWSER"):
        pytest.fail("no Chromium was found, and this run needs one")
    pytest.skip("no Chromium is installed; the pages in the Prefect UI are not looked at")
