"""
What a write to a git memory costs, beside the same write by git's own programs, and what else was promised of it.

All that is compared runs in turn, so that a machine that drifts drifts for all:

    python tests/benchmarks/bench_git_memory.py --rounds 30
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from oort_flows.files import GitFileMemory, InProcessFileMemory, Limits

TEXT_BYTES = 4_096
SCOPE = "bench"
WIDE = Limits(max_files=1_000, max_total_bytes=100_000_000)


class Plumbing:
    """The same write to the same layout by processes of git: blobs, a temporary index that is kept, a tree, a reference."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.digest = hashlib.sha256(SCOPE.encode()).hexdigest()
        self.reference = f"refs/oort/memory/v1/{self.digest}"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environment = clean | {"GIT_INDEX_FILE": str(directory / ".git" / "bench-index")}
        self.entries: dict[str, tuple[int, int]] = {}
        self.last_write = 0
        self.tree = ""

    def git(self, *arguments: str, feed: bytes = b"") -> str:
        command = ["git", "-C", str(self.directory), *arguments]
        done = subprocess.run(command, input=feed, capture_output=True, env=self.environment, check=True)
        return done.stdout.decode().strip()

    def metadata(self) -> bytes:
        rows = [{"path": p, "byte_length": size, "written": stamp} for p, (size, stamp) in sorted(self.entries.items())]
        document = {"format": 1, "scope": SCOPE, "scope_digest": self.digest, "last_write": self.last_write}
        document |= {"total_bytes": sum(size for size, _ in self.entries.values()), "entries": rows}
        return json.dumps(document, separators=(",", ":")).encode()

    def create(self, path: str, text: str) -> None:
        body = text.encode()
        self.last_write += 1
        self.entries[path] = (len(body), self.last_write)
        blob = self.git("hash-object", "-w", "--stdin", feed=body)
        described = self.git("hash-object", "-w", "--stdin", feed=self.metadata())
        rows = f"100644 {blob}\t{path[1:]}\n100644 {described}\t.oort-memory.json\n"
        self.git("update-index", "--add", "--index-info", feed=rows.encode())
        tree = self.git("write-tree")
        self.git("update-ref", self.reference, tree, self.tree)
        self.tree = tree


def new_repository(place: Path) -> Path:
    place.mkdir()
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    return place


def text_of(chance: random.Random) -> str:
    return chance.randbytes(TEXT_BYTES // 2).hex()


def run(memory: GitFileMemory | InProcessFileMemory, path: str, text: str) -> None:
    answer = memory.execute({"command": "create", "path": path, "text": text})
    assert answer.ok, answer


def view(memory: GitFileMemory, path: str) -> None:
    assert memory.execute({"command": "view", "path": path}).ok


def seconds(call: Callable[[], object], times: int = 1) -> float:
    """Time *call*; what takes microseconds is called several *times* in a row, lest the clock be what is measured."""
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def measure_commands(place: Path, rounds: int, few: int, many: int) -> dict[str, float]:
    """Run every kind of command in turn and return the median seconds of each."""
    chance = random.Random(1)
    large = GitFileMemory(new_repository(place / "large"), SCOPE, WIDE)
    small = GitFileMemory(new_repository(place / "small"), SCOPE, WIDE)
    inside = InProcessFileMemory(SCOPE, WIDE)
    plumbing = Plumbing(new_repository(place / "plumbing"))
    for n in range(many):
        run(large, f"/memories/{n}.md", text_of(chance))
        run(inside, f"/memories/{n}.md", text_of(chance))
        plumbing.create(f"/memories/{n}.md", text_of(chance))
    for n in range(few):
        run(small, f"/memories/{n}.md", text_of(chance))
    times: dict[str, list[float]] = {}
    for n in range(rounds):
        path, text = f"/memories/{n % few}.md", text_of(chance)
        calls: dict[str, Callable[[], object]] = {
            f"git memory, create at {few} files": lambda path=path, text=text: run(small, path, text),
            f"git memory, create at {many} files": lambda path=path, text=text: run(large, path, text),
            f"git programs, create at {many} files": lambda path=path, text=text: plumbing.create(path, text),
            f"git memory, view one of {many} files": lambda path=path: view(large, path),
            f"in-process memory, create at {many} files": lambda path=path, text=text: run(inside, path, text),
        }
        for name, call in calls.items():
            times.setdefault(name, []).append(seconds(call, 20 if name.startswith("in-process") else 1))
    return {name: statistics.median(values) for name, values in times.items()}


GROWTH = """
import sys
from oort_flows.files import GitFileMemory
memory = GitFileMemory(sys.argv[1], "growth")
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
def work(count):
    for n in range(count // 2):
        path = f"/memories/{n % 200}.md"
        assert memory.execute({"command": "create", "path": path, "text": f"{n:05} " * 700}).ok
        assert memory.execute({"command": "view", "path": path}).ok
work(20)
before = resident()
work(int(sys.argv[2]))
print(resident() - before)
"""


def measure_growth(place: Path, commands: int) -> int:
    """Return by how many bytes a process grows with so many commands, half of them writes."""
    command = [sys.executable, "-c", GROWTH, str(new_repository(place / "growth")), str(commands)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure_import(rounds: int) -> dict[str, float]:
    """Return the median seconds of a bare interpreter, of one that imports the adapter, and of one that imports pydantic."""
    statements = {
        "bare interpreter": "pass",
        "import of GitFileMemory": "from oort_flows.files import GitFileMemory",
        "import of pydantic.BaseModel": "from pydantic import BaseModel",
    }
    times: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(rounds):
        for name, statement in statements.items():
            command = [sys.executable, "-c", statement]
            times[name].append(seconds(lambda command=command: subprocess.run(command, check=True)))
    return {name: statistics.median(values) for name, values in times.items()}


def measure(place: Path, *, rounds: int, few: int, many: int, commands: int, starts: int) -> dict[str, float]:
    """Measure everything: seconds by what was done, bytes of growth, and the ratios that were promised."""
    found = measure_commands(place, rounds, few, many) | measure_import(starts)
    large = found[f"git memory, create at {many} files"]
    return found | {
        "growth in bytes": measure_growth(place, commands),
        "throughput, times that of the git programs": found[f"git programs, create at {many} files"] / large,
        f"cost at {many} files, times that at {few}": large / found[f"git memory, create at {few} files"],
        "import beyond a bare interpreter": found["import of GitFileMemory"] - found["bare interpreter"],
    }


def test_the_benchmark_runs(tmp_path: Path) -> None:
    """At small size it measures everything; the figures are for whoever runs it as a script."""
    found = measure(tmp_path, rounds=2, few=2, many=4, commands=20, starts=1)
    assert len(found) == 12
    growth = found.pop("growth in bytes")
    assert isinstance(growth, int)
    assert all(value > 0 for value in found.values())


def table_of(found: dict[str, float]) -> object:
    from rich.table import Table

    promised = {
        "throughput, times that of the git programs": "at least 5",
        "cost at 256 files, times that at 16": "at most 3",
        "git memory, view one of 256 files": "under 1 ms",
        "in-process memory, create at 256 files": "under 0.1 ms",
        "growth in bytes": "under 20 MB",
        "import beyond a bare interpreter": "at most 400 ms",
    }
    table = Table("measured", "value", "promised")
    for name, value in found.items():
        if name == "growth in bytes":
            shown = f"{value / 1e6:.1f} MB"
        else:
            shown = f"{value:.1f} times" if "times" in name else f"{value * 1e3:.3f} ms"
        table.add_row(name, shown, promised.get(name, ""))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--rounds", type=int, default=50, help="how often each command is timed")
    parser.add_argument("--files", type=int, default=256)
    parser.add_argument("--commands", type=int, default=1_000, help="how many commands the growing process runs")
    parser.add_argument("--starts", type=int, default=9, help="how often each interpreter is started")
    parser.add_argument("--json", action="store_true", help="print JSON, in seconds and bytes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        found = measure(
            Path(place),
            rounds=options.rounds,
            few=16,
            many=options.files,
            commands=options.commands,
            starts=options.starts,
        )
    if options.json:
        print(json.dumps(found, indent=2))
        return
    from rich.console import Console

    Console().print(table_of(found))


if __name__ == "__main__":
    main()
