"""The git memory keeps the contract of a file memory."""

from __future__ import annotations

import hashlib
import json

import pygit2
import pytest

from oort_flows.files import GitFileMemory
from oort_flows.testing import FileMemoryContract, file_memory_machine
from tests.integration.repositories import memory_reference, read_memory, write_memory


class TestGitFileMemory(FileMemoryContract):
    """A bare repository without commits is the place; the back door writes and reads its objects by pygit2."""

    supports_undo = True

    def open_place(self, directory):
        self.repository = pygit2.init_repository(directory / "memory.git", bare=True)

    def open_memory(self, scope, limits=None):
        return GitFileMemory(self.repository.path, scope, limits)

    def seed(self, scope, files):
        bodies = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        write_memory(self.repository, scope, bodies)

    def spoil(self, scope):
        blob = self.repository.create_blob(b"no tree")
        self.repository.references.create(memory_reference(scope), blob, force=True)

    def peek(self, scope):
        if memory_reference(scope) not in self.repository.references:
            return {}
        metadata, bodies = read_memory(self.repository, scope)
        assert {row["path"]: row["byte_length"] for row in metadata["entries"]} == {p: len(b) for p, b in bodies.items()}
        assert [row["path"] for row in metadata["entries"]] == sorted(bodies)
        assert metadata["total_bytes"] == sum(map(len, bodies.values()))
        assert max((row["written"] for row in metadata["entries"]), default=0) <= metadata["last_write"]
        assert metadata["scope"] == scope
        assert metadata["scope_digest"] == hashlib.sha256(scope.encode()).hexdigest()
        assert metadata["format"] == 1
        assert json.dumps(metadata, separators=(",", ":"), ensure_ascii=False)
        return bodies


TestAtRandom = file_memory_machine(TestGitFileMemory)

TestAtRandomAtLength = pytest.mark.slow(file_memory_machine(TestGitFileMemory, max_examples=300, stateful_step_count=60))
