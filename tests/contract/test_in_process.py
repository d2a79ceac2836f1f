"""The in-process memory keeps the contract of a file memory."""

from __future__ import annotations

import pytest

from oort_flows.files import InProcessFileMemory
from oort_flows.files.snapshot import Entry, Snapshot
from oort_flows.testing import FileMemoryContract, file_memory_machine


class TestInProcessFileMemory(FileMemoryContract):
    """State lives in the object, so the place holds one object for each scope, and the back door reads its attributes."""

    supports_undo = True

    def open_place(self, directory):
        self.memories = {}

    def open_memory(self, scope, limits=None):
        memory = InProcessFileMemory(scope, limits)
        if scope not in self.memories:
            self.memories[scope] = memory
        # Another handle on what the first one holds: the same object, which takes over the limits of the newest.
        self.memories[scope]._limits = memory.limits
        return self.memories[scope]

    def seed(self, scope, files):
        bodies = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        entries = {path: Entry(len(body), number) for number, (path, body) in enumerate(bodies.items(), 1)}
        memory = self.memories.setdefault(scope, InProcessFileMemory(scope))
        memory._bodies = bodies
        memory._state = Snapshot(entries, len(bodies), sum(map(len, bodies.values())), bodies.__getitem__)

    def peek(self, scope):
        memory = self.memories.get(scope)
        if memory is None:
            return {}
        assert memory._state.total_bytes == sum(map(len, memory._bodies.values()))
        assert {path: entry.byte_length for path, entry in memory._state.entries.items()} == {
            path: len(body) for path, body in memory._bodies.items()
        }
        return dict(memory._bodies)

    def spoil(self, scope):
        self.memories[scope]._state = None


TestAtRandom = file_memory_machine(TestInProcessFileMemory)

TestAtRandomAtLength = pytest.mark.slow(
    file_memory_machine(TestInProcessFileMemory, max_examples=400, stateful_step_count=60)
)
