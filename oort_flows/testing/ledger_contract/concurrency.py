"""
Several writers at once, in threads of one process.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier
from typing import Any

from oort_flows.testing.ledger_contract.place import LedgerPlace, day

__all__ = ["ConcurrencyRules"]

_WRITERS = 6


class ConcurrencyRules(LedgerPlace):
    """No write is lost or doubled, and no slot is left with two values."""

    def test_g01_parallel_writers_all_succeed(self) -> None:
        """Every write is stored, and none is refused because another one was faster."""
        handles = [self.handle() for _ in range(_WRITERS)]

        def write(number: int) -> None:
            for step in range(8):
                handles[number].remember(f"Writer {number} took step {step}.")

        _at_once(write)
        assert len({row["text"] for row in self.rows()}) == len(self.rows()) == 8 * _WRITERS

    def test_parallel_writers_of_one_slot_leave_one_value(self) -> None:
        """Whoever comes last wins; the others are in history, and no two values hold at one time."""
        handles = [self.handle() for _ in range(_WRITERS)]
        _at_once(lambda number: self.tell(handles[number], str(number), valid_from=day(number)))
        believed = self.believed()
        assert believed[-1] == (str(_WRITERS - 1), day(_WRITERS - 1), None)
        for one, other in pairwise(believed):
            assert one[2] is not None
            assert one[2] <= other[1]

    def test_parallel_repeats_are_one_memory_with_every_confirmation(self) -> None:
        """Equal facts told at once are confirmed and not doubled; no confirmation is lost."""
        handles = [self.handle() for _ in range(_WRITERS)]
        _at_once(lambda number: handles[number].remember("Backups run at night."))
        (row,) = self.rows()
        assert handles[0].get(str(row["id"])).confirmations == _WRITERS

    def test_parallel_writes_under_one_key_are_one_operation(self) -> None:
        """Exactly one is carried out; the others get its answer."""
        handles = [self.handle() for _ in range(_WRITERS)]
        answers: list[Any] = []
        _at_once(lambda number: answers.append(handles[number].remember("Backups run at night.", key="k")))
        assert sorted(answer.duplicate for answer in answers) == [False] + [True] * (_WRITERS - 1)
        assert len({answer.facts for answer in answers}) == 1
        (row,) = self.rows()
        assert handles[0].get(str(row["id"])).confirmations == 1

    def test_one_handle_serves_many_threads(self) -> None:
        """A handle may be shared."""
        handle = self.handle()
        _at_once(lambda number: (self.tell(handle, str(number), f"port {number}"), self.read(handle, f"port {number}")))
        assert len(self.rows()) == _WRITERS


def _at_once(write: Callable[[int], object]) -> None:
    """Run *write* in several threads that start together; what one raises is raised here."""
    gate = Barrier(_WRITERS)

    def run(number: int) -> None:
        gate.wait(timeout=30)
        write(number)

    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(run, range(_WRITERS)))
