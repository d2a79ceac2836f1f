"""
A temporary Prefect server that Ctrl-C in the terminal does not reach, so that a run which is cut off can still report it.

The server is this module, run as a program in a session of its own. It ends when its standard input does: with the process
that started it, however that one ends.
"""

from __future__ import annotations

import atexit
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import Final

from oort_flows.errors import ConfigurationError
from oort_flows.scrubbing import scrub

__all__ = ["start_server"]

# A first start makes a database; 17 s were seen on a machine with two slow cores.
_MOST_START_S: Final = 180
_MOST_STOP_S: Final = 5
_RAISED: Final = re.compile(r"^[\w.]*(?:Error|Exception|Exit): *(\S.*)$", re.MULTILINE)


def start_server() -> str:
    """
    Start a server on a free loopback port and give the address of its API; it is stopped when this process ends.

    Raises
    ------
    ConfigurationError
        If it does not start; the message says why.
    """
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as said, open(reading, "rb", buffering=0) as announced:
        with open(writing, "wb", buffering=0):
            process = subprocess.Popen(
                # Without -P the folder that the user stands in would be searched for modules first.
                [sys.executable, "-P", "-m", "oort_flows.demo.server", str(writing)],
                env=os.environ | {"PREFECT_SERVER_ANALYTICS_ENABLED": "false"},  # it lives for seconds
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=said,
                pass_fds=[writing],
                start_new_session=True,
            )
        # What Prefect still has to send when this process ends, it sends before functions registered here are called.
        atexit.register(_stop, process)
        ready, _, _ = select.select([announced], [], [], _MOST_START_S)
        port = announced.read(16) if ready else b""
        if port:
            return f"http://127.0.0.1:{int(port)}/api"
        _stop(process)
        said.seek(0)
        why = _cause(said.read().decode(errors="replace")) if ready else f"it took longer than {_MOST_START_S} s"
    raise ConfigurationError(
        f"a temporary Prefect server could not be started ({why}); start one with `prefect server start` and name it with "
        "`prefect config set PREFECT_API_URL=http://127.0.0.1:4200/api`"
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server, by force if it does not end by itself."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(_MOST_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _cause(log: str) -> str:
    r"""
    Give in one line why a process ended: the message of the last exception it printed, else its last line.

    >>> _cause("Traceback ...\nOSError: the disk is full\n\nApplication startup failed. Exiting.\n")
    'the disk is full'
    >>> _cause("")
    'it ended without a word'
    """
    raised = _RAISED.findall(log)
    lines = [line.strip() for line in log.split("\n") if line.strip()]
    last = raised[-1] if raised else lines[-1] if lines else "it ended without a word"
    return scrub(" ".join(str(last).split()))[:300]


def _serve(announce: int) -> None:
    """Serve until standard input ends; the port is written to the file descriptor *announce* once there are answers."""
    threading.Thread(target=_end_with_input, daemon=True).start()

    import uvicorn
    from prefect.server.api.server import create_app

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                os.write(announce, str(listener.getsockname()[1]).encode())
            os.close(announce)

    app = create_app(ephemeral=True, final=True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Server(uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=1)).run([listener])


def _end_with_input() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_MOST_STOP_S)
    os._exit(1)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
