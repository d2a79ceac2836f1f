"""The benchmark of the ledger can be run, and what it measures is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks import bench_ledger


@pytest.mark.parametrize(
    "measure",
    [
        lambda place: bench_ledger.single_writes(place, 5),
        lambda place: bench_ledger.batch_writes(place, 20),
        lambda place: tuple(bench_ledger.slot_reads(place, 50, 20).values()),
        lambda place: bench_ledger.long_history(place, 20, 5),
    ],
    ids=["single writes", "batches", "slots", "long history"],
)
def test_benchmark_runs_small(measure: Callable[[Path], tuple[float, ...]], tmp_path: Path) -> None:
    """Every figure can be measured; how good it is depends on the machine, so it is looked at and not asserted."""
    assert all(figure > 0 for figure in measure(tmp_path))
