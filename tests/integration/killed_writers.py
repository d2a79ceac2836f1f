"""
Kill a writer at one line of its write after the other, and look at what it leaves.

Run as a program: ``killed_writers.py REPOSITORY EVERY``. Each child is a fork that counts the lines it runs of the adapter
and sends itself SIGKILL at the one it was given. Prints how many were killed and how each state was found.
"""

from __future__ import annotations

import collections
import os
import signal
import sys

from oort_flows.files import GitFileMemory

CRITICAL = ("references.py", "journal.py", "memory.py")


def run_and_die(memory: GitFileMemory, command: dict, at: int, every: int) -> None:
    seen = 0

    def trace(frame, event, argument):
        nonlocal seen
        name = frame.f_code.co_filename
        if "oort_flows/files" not in name:
            return None
        if event == "line":
            # Lines that only compute are sampled; those around the swap are all taken.
            seen += every if name.endswith(CRITICAL) else 1
            if seen >= at:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    memory.execute_undoable(command, operation=f"write-{at}")
    sys.settrace(None)


def child(memory: GitFileMemory, command: dict, at: int, every: int) -> bool:
    """Fork a writer; True if it was killed before it was done."""
    pid = os.fork()
    if pid == 0:
        try:
            run_and_die(memory, command, at, every)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def main(repository: str, every: int) -> None:
    found: collections.Counter[str] = collections.Counter()
    at, killed = 0, 0
    while True:
        at += every
        # Every tenth writer is the first one of its scope: there the reference and its directories come into being.
        scope = f"fresh-{at}" if (at // every) % 10 == 0 else "steady"
        memory = GitFileMemory(repository, scope)
        if scope == "steady":
            assert memory.execute({"command": "create", "path": "/memories/d/a.md", "text": f"old {at}"}).ok
        if not child(memory, {"command": "create", "path": "/memories/d/a.md", "text": f"new {at}"}, at, every):
            break
        killed += 1
        answer = memory.execute({"command": "view", "path": "/memories/d/a.md"})
        text = answer.value.text if answer.ok else answer.error.code
        found[text.split()[0]] += 1
        journal = {entry.undo.operation for entry in memory.journal()}
        if text == f"new {at}" and f"write-{at}" not in journal:
            found["without journal"] += 1
        if f"write-{at}" in journal:
            memory.settle(f"write-{at}")
        again = memory.execute({"command": "create", "path": "/memories/d/a.md", "text": "after"})
        found["writable" if again.ok else again.error.message] += 1
        assert memory.journal() == []
    print(killed, *(f"{what}={count}" for what, count in sorted(found.items())))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
