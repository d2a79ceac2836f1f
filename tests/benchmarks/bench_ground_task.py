"""
What the `ground` task costs beside an empty Prefect task, over 20 files in Git, artifacts not counted.

Both run in one flow, in turn, so that a machine that drifts drifts for both:

    python tests/benchmarks/bench_ground_task.py --rounds 40
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import pytest
from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from oort_flows import mechanics
from oort_flows.files import GitFileMemory
from oort_flows.git import run_git
from oort_flows.ports import FileMemory
from oort_flows.tasks import _OPTIONS, ground


@task(name="Empty", cache_policy=NO_CACHE)
def empty() -> None:
    return None


@task(name="Ground without artifact", **_OPTIONS)
def ground_only(memory: FileMemory) -> object:
    return mechanics.ground(memory, ["/memories"])


def fill(repository: Path, files: int) -> GitFileMemory:
    run_git(repository, "init", "-q")
    memory = GitFileMemory(repository, "bench")
    for i in range(files):
        answer = memory.execute({"command": "create", "path": f"/memories/n{i:02}.md", "text": f"Fact {i}. " * 60})
        assert answer.ok
    return memory


def measure(memory: FileMemory, rounds: int) -> dict[str, float]:
    """Run the three tasks in turn and return the median seconds of each."""
    times: dict[str, list[float]] = {"empty task": [], "ground, no artifact": [], "ground, with artifact": []}

    @flow(name="bench")
    def run() -> None:
        for i in range(rounds + 2):
            for name, call in (
                ("empty task", empty),
                ("ground, no artifact", lambda: ground_only(memory)),
                ("ground, with artifact", lambda: ground(["/memories"], memory=memory)),
            ):
                start = time.perf_counter()
                call()
                if i >= 2:
                    times[name].append(time.perf_counter() - start)

    run()
    return {name: statistics.median(values) for name, values in times.items()}


@pytest.mark.usefixtures("prefect_server")
def test_the_benchmark_runs(tmp_path: Path) -> None:
    """At small size it measures all three; the figures are for whoever runs it as a script."""
    medians = measure(fill(tmp_path, 20), rounds=2)
    assert len(medians) == 3
    assert all(seconds > 0 for seconds in medians.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    from prefect.testing.utilities import prefect_test_harness

    with tempfile.TemporaryDirectory() as folder, prefect_test_harness(server_startup_timeout=120):
        medians = measure(fill(Path(folder), 20), arguments.rounds)
    if arguments.json:
        print(json.dumps(medians))
        return
    for name, seconds in medians.items():
        print(f"{name:24} {seconds * 1e3:8.2f} ms   {seconds / medians['empty task']:5.2f} x an empty task")


if __name__ == "__main__":
    main()
