"""What a write replaced is kept in the repository until its flow has ended, and found again after a crash."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pygit2
import pytest

from oort_flows.files import GitFileMemory, Limits
from tests.integration.repositories import (
    BLOB_KIND,
    FILE,
    TREE_KIND,
    clean_environment,
    git,
    make_repository,
    read_memory,
    tree_bytes,
)

SCOPE = "project:docs"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def create(memory: GitFileMemory, name: str, text: str):
    return memory.execute({"command": "create", "path": f"/memories/{name}", "text": text})


def undoable(memory: GitFileMemory, name: str, text: str, operation: str):
    command = {"command": "create", "path": f"/memories/{name}", "text": text}
    return memory.execute_undoable(command, operation=operation)


@pytest.fixture
def repository(tmp_path) -> Path:
    return make_repository(tmp_path / "memory.git", bare=True)


def journal_references(repository: Path) -> list[str]:
    return git(repository, "for-each-ref", "--format=%(refname)", "refs/oort/journal").split()


def killed_write(repository: Path, operation: str, scope: str = SCOPE) -> int:
    """Let a process write a.md and die before its flow has ended; returns its number."""
    code = """
import os, signal, sys
from oort_flows.files import GitFileMemory
memory = GitFileMemory(sys.argv[1], sys.argv[3])
memory.execute({"command": "create", "path": "/memories/a.md", "text": "before"})
memory.execute_undoable({"command": "create", "path": "/memories/a.md", "text": "after"}, operation=sys.argv[2])
os.kill(os.getpid(), signal.SIGKILL)
"""
    process = subprocess.Popen([sys.executable, "-c", code, str(repository), operation, scope], env=clean_environment())
    assert process.wait() == -signal.SIGKILL
    return process.pid


def test_entry_is_a_reference_to_a_tree_with_the_replaced_texts(repository):
    """An undoable write leaves one reference; its tree holds the entry and every text that went."""
    memory = GitFileMemory(repository, SCOPE, Limits(max_files=2))
    create(memory, "a.md", "first")
    create(memory, "b.md", "second")
    answer, undo = undoable(memory, "c.md", "third", "flow-1")
    assert answer.value.evicted == ("/memories/a.md",)
    assert journal_references(repository) == ["refs/oort/journal/v1/flow-1"]
    tree = pygit2.Repository(repository).revparse_single("refs/oort/journal/v1/flow-1")
    assert {entry.name for entry in tree} == {"entry.json", "evicted-0"}
    assert tree["evicted-0"].data == b"first"
    entry = json.loads(tree["entry.json"].data)
    assert (
        entry.items()
        >= {"format": 1, "operation": "flow-1", "scope": SCOPE, "path": "/memories/c.md", "before": None}.items()
    )
    (noted,) = memory.journal()
    assert noted.undo == undo
    assert (noted.scope, noted.host, noted.pid, noted.alive) == (SCOPE, socket.gethostname(), os.getpid(), True)
    git(repository, "fsck", "--strict")


def test_settled_and_undone_writes_leave_no_entry(repository):
    """Commit and rollback of the flow both remove the entry; asking twice does nothing."""
    memory = GitFileMemory(repository, SCOPE)
    create(memory, "a.md", "before")
    undoable(memory, "a.md", "settled", "flow-1")
    memory.settle("flow-1")
    memory.settle("flow-1")
    _, undo = undoable(memory, "a.md", "undone", "flow-2")
    assert memory.undo(undo).restored == ("/memories/a.md",)
    assert journal_references(repository) == []
    assert read_memory(pygit2.Repository(repository), SCOPE)[1] == {"/memories/a.md": b"settled"}


def test_entry_survives_collection_with_the_texts_it_needs(repository):
    """Packed references and collected garbage do not take what an undo would bring back."""
    memory = GitFileMemory(repository, SCOPE)
    create(memory, "a.md", "before")
    undoable(memory, "a.md", "after", "flow-1")
    git(repository, "gc", "-q", "--prune=now")
    assert not (repository / "refs/oort/journal/v1/flow-1").exists()
    (entry,) = GitFileMemory(repository, SCOPE).journal()
    assert memory.undo(entry.undo).restored == ("/memories/a.md",)
    assert journal_references(repository) == []
    assert memory.execute({"command": "view", "path": "/memories/a.md"}).value.text == "before"


def test_killed_process_leaves_an_entry_that_the_next_open_reports_once(repository, caplog):
    """The leftover of a dead process is warned of by the first handle on its scope, listed, and can be undone."""
    pid = killed_write(repository, "flow-1")
    GitFileMemory(repository, "another scope")
    assert caplog.records == []
    memory = GitFileMemory(repository, SCOPE)
    GitFileMemory(repository, SCOPE)
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("oort_flows.files", "WARNING")
    assert "flow-1" in record.getMessage()
    assert str(pid) in record.getMessage()
    (entry,) = memory.journal()
    assert (entry.pid, entry.alive, entry.undo.operation) == (pid, False, "flow-1")
    assert memory.undo(entry.undo).restored == ("/memories/a.md",)
    assert memory.execute({"command": "view", "path": "/memories/a.md"}).value.text == "before"
    assert memory.journal() == []


def test_entry_of_a_running_process_is_no_leftover(repository, caplog):
    """Work in progress is listed as alive and warned of by nobody."""
    undoable(GitFileMemory(repository, SCOPE), "a.md", "after", "flow-1")
    assert [entry.alive for entry in GitFileMemory(repository, SCOPE).journal()] == [True]
    assert caplog.records == []


def test_number_of_a_dead_process_that_is_used_again_is_not_alive(repository):
    """A process is known by its start as well, and by its host."""
    memory = GitFileMemory(repository, SCOPE)
    undoable(memory, "a.md", "after", "flow-1")
    handle = pygit2.Repository(repository)
    tree = handle.revparse_single("refs/oort/journal/v1/flow-1")
    entry = json.loads(tree["entry.json"].data)
    for changed in ({"start": "another"}, {"start": ""}, {"host": "elsewhere"}):
        forged = entry | {"process": entry["process"] | changed}
        blob = handle.write(BLOB_KIND, json.dumps(forged).encode())
        root = handle.write(TREE_KIND, tree_bytes([(FILE, "entry.json", blob)]))
        handle.references.create("refs/oort/journal/v1/flow-1", root, force=True)
        assert [entry.alive for entry in memory.journal()] == [False]


def test_entries_come_oldest_first(repository):
    """The order is that of the writes, not of the names."""
    memory = GitFileMemory(repository, SCOPE)
    for operation in ("c", "a", "b"):
        undoable(memory, "a.md", operation, operation)
    assert [entry.undo.operation for entry in memory.journal()] == ["c", "a", "b"]


def test_damaged_entries_are_left_out(repository, caplog):
    """An entry that cannot be read hides none of the others, and opening a memory does not fail on it."""
    memory = GitFileMemory(repository, SCOPE)
    undoable(memory, "a.md", "after", "good")
    handle = pygit2.Repository(repository)
    good = handle.references["refs/oort/journal/v1/good"].target
    empty = handle.write(TREE_KIND, b"")
    for name, body in {"no-json": b"{", "no-object": b"[]", "no-process": b'{"process": 3}'}.items():
        blob = handle.write(BLOB_KIND, body)
        root = handle.write(TREE_KIND, tree_bytes([(FILE, "entry.json", blob)]))
        handle.references.create(f"refs/oort/journal/v1/{name}", root)
    handle.references.create("refs/oort/journal/v1/empty", empty)
    handle.references.create("refs/oort/journal/v1/blob", handle.write(BLOB_KIND, b"x"))
    handle.references.create("refs/oort/journal/v1/moved", good)
    assert [entry.undo.operation for entry in GitFileMemory(repository, SCOPE).journal()] == ["good"]
    assert {record.levelname for record in caplog.records} == {"WARNING"}
    assert create(memory, "b.md", "x").ok


@pytest.mark.parametrize("operation", ["", "-x", "a/b", "a b", "a.lock", "..", "ü", "x" * 129])
def test_operation_that_cannot_be_a_name_writes_nothing(repository, operation):
    """An operation of other signs is refused before anything is stored; no operation at all means no journal."""
    memory = GitFileMemory(repository, SCOPE)
    answer, undo = undoable(memory, "a.md", "x", operation)
    if operation:
        assert (answer.error.code, undo) == ("STORAGE_ERROR", None)
        assert memory.execute({"command": "view", "path": "/memories/a.md"}).error.code == "NOT_FOUND"
    assert journal_references(repository) == []


def test_refused_write_leaves_no_entry(repository):
    """A command that is refused on its second judgement, or at once, leaves nothing in the journal."""
    memory = GitFileMemory(repository, SCOPE)
    command = {"command": "str_replace", "path": "/memories/a.md", "old_text": "x", "new_text": "y"}
    answer, undo = memory.execute_undoable(command, operation="flow-1")
    assert (answer.error.code, undo) == ("NOT_FOUND", None)
    assert journal_references(repository) == []


def test_digest_of_the_entry_is_that_of_what_was_written(repository):
    """The entry knows by which bytes undo will recognise its write."""
    memory = GitFileMemory(repository, SCOPE)
    create(memory, "a.md", "before")
    undoable(memory, "a.md", "after", "flow-1")
    (entry,) = memory.journal()
    assert entry.undo.digest == sha256("after")
    assert (entry.undo.before.body, entry.undo.before.written) == (b"before", 1)
