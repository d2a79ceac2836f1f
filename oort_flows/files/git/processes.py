"""Which process is which: by host, number and start, since numbers are used again."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass

__all__ = ["ProcessIdentity", "this_process"]


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process of some host; ``start`` is whatever tells it from later ones of the same number."""

    host: str
    pid: int
    start: str

    def is_alive(self) -> bool:
        """Tell whether it still runs on this host; one of another host counts as gone."""
        return self.host == socket.gethostname() and self.start == _start_of(self.pid) != ""


def this_process() -> ProcessIdentity:
    """Return the identity of the calling process."""
    pid = os.getpid()
    return ProcessIdentity(socket.gethostname(), pid, _start_of(pid))


def _start_of(pid: int) -> str:
    """Return boot and tick of the start on Linux, the start time as ``ps`` writes it elsewhere; empty if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name of the program, in parentheses, may hold anything; 22 fields are counted from the start of the line.
            fields = file.read().rpartition(b")")[2].split()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
    except OSError:
        return _start_by_ps(pid) if not os.path.isdir("/proc/self") else ""
    # A zombie has ended; only its parent has not noticed.
    return "" if fields[0] in (b"Z", b"X") else f"{boot}:{fields[19].decode()}"


def _start_by_ps(pid: int) -> str:
    import subprocess  # only needed off Linux

    try:
        answer = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()
