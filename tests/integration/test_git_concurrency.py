"""Several writers, killed writers, held locks, full disks: a write happens completely or not at all, and says so."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pygit2
import pytest

from oort_flows.files import GitFileMemory, Limits
from tests.integration.repositories import (
    clean_environment,
    git,
    make_repository,
    memory_reference,
    metadata_for,
    read_memory,
    write_files,
    write_root,
)

SCOPE = "project:docs"
HERE = Path(__file__).parent

WRITER = """
import sys
from oort_flows.files import GitFileMemory, Limits
repository, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
memory = GitFileMemory(repository, "project:docs", Limits(max_files=500))
sys.stdin.read(1)
for n in range(count):
    answer = memory.execute({"command": "create", "path": f"/memories/{name}/{n}.md", "text": f"{name} {n}"})
    print(answer.ok if answer.ok else answer.error.message, flush=True)
"""


def start(code: str, *arguments: object, **environment: str) -> subprocess.Popen:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, env=clean_environment(**environment), **pipes)


def finish(processes: list[subprocess.Popen]) -> list[str]:
    for process in processes:
        process.stdin.write("g")
        process.stdin.flush()
    lines: list[str] = []
    try:
        for process in processes:
            out, err = process.communicate(timeout=240)
            assert process.returncode == 0, err
            lines += out.splitlines()
    finally:
        for process in processes:
            process.kill()
    return lines


def create(memory: GitFileMemory, path: str, text: str = "x", **more):
    return memory.execute({"command": "create", "path": f"/memories/{path}", "text": text, **more})


@pytest.fixture
def repository(tmp_path) -> Path:
    return make_repository(tmp_path / "memory.git", bare=True)


class TestManyWriters:
    def test_threads_over_two_handles(self, repository):
        """Eight parallel creates over two handles all succeed, and all are there."""
        handles = [GitFileMemory(repository, SCOPE), GitFileMemory(repository, SCOPE)]
        barrier = threading.Barrier(8)

        def write(n: int) -> bool:
            barrier.wait()
            return create(handles[n % 2], f"{n}.md", str(n)).ok

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(write, range(8))) == [True] * 8
        metadata, bodies = read_memory(pygit2.Repository(repository), SCOPE)
        assert bodies == {f"/memories/{n}.md": str(n).encode() for n in range(8)}
        assert sorted(row["written"] for row in metadata["entries"]) == list(range(1, 9))

    def test_two_processes(self, repository):
        """Eight creates by two processes all succeed, and all are there."""
        lines = finish([start(WRITER, repository, name, 4) for name in ("a", "b")])
        assert lines == ["True"] * 8
        assert len(read_memory(pygit2.Repository(repository), SCOPE)[1]) == 8

    def test_eight_processes_of_fifty(self, repository):
        """Eight processes with fifty creates each leave four hundred files: no write is lost, and none is refused."""
        lines = finish([start(WRITER, repository, f"p{n}", 50) for n in range(8)])
        assert lines == ["True"] * 400
        metadata, bodies = read_memory(pygit2.Repository(repository), SCOPE)
        assert len(bodies) == 400
        assert metadata["last_write"] == 400

    def test_first_write_is_won_by_one(self, repository):
        """Of eight processes that ask for an absent file at once, one gets it, even where the scope has no reference yet."""
        code = """
import sys
from oort_flows.files import GitFileMemory
memory = GitFileMemory(sys.argv[1], "project:docs")
sys.stdin.read(1)
answer = memory.execute({"command": "create", "path": "/memories/a.md", "text": "same", "if_match": "absent"})
print("won" if answer.ok else answer.error.details["reason"])
"""
        lines = finish([start(code, repository) for _ in range(8)])
        assert sorted(lines) == ["if_match"] * 7 + ["won"]

    def test_counter_under_contention(self, repository):
        """Thirty increments by str_replace from three threads, each retried on its own conflict, add up."""
        memories = [GitFileMemory(repository, SCOPE) for _ in range(3)]
        create(memories[0], "n.md", "n=0")

        def add(memory: GitFileMemory) -> None:
            done = 0
            while done < 10:
                text = memory.execute({"command": "view", "path": "/memories/n.md"}).value.text
                following = f"n={int(text[2:]) + 1}"
                command = {"command": "str_replace", "path": "/memories/n.md", "old_text": text, "new_text": following}
                done += memory.execute(command).ok

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(add, memories))
        assert read_memory(pygit2.Repository(repository), SCOPE)[1]["/memories/n.md"] == b"n=30"

    def test_cancelled_write_is_whole(self, repository):
        """Cancelling the wait for a write leaves it done or not done, and the memory sound."""
        memory = GitFileMemory(repository, SCOPE)

        async def main() -> None:
            for n in range(10):
                task = asyncio.create_task(
                    memory.aexecute({"command": "create", "path": f"/memories/{n}.md", "text": "x" * n})
                )
                await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

        asyncio.run(main())
        _, bodies = read_memory(pygit2.Repository(repository), SCOPE)
        assert all(body == b"x" * int(path[10:-3]) for path, body in bodies.items())

    def test_forked_child_writes_with_the_handle_of_its_parent(self, repository):
        """A handle that was used before a fork works on both sides of it, also while another thread is in a write."""
        code = """
import os, sys, threading
from oort_flows.files import GitFileMemory
memory = GitFileMemory(sys.argv[1], "project:docs")
def create(name):
    return memory.execute({"command": "create", "path": f"/memories/{name}.md", "text": name}).ok
assert create("before")
going = True
def busy():
    while going:
        create("busy")
thread = threading.Thread(target=busy)
thread.start()
for n in range(20):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if create(f"child-{n}") else 1)
    assert os.waitpid(pid, 0)[1] == 0
going = False
thread.join()
assert create("after")
print("done")
"""
        assert finish([start(code, repository, PYTHONWARNINGS="ignore")]) == ["done"]
        assert len(read_memory(pygit2.Repository(repository), SCOPE)[1]) == 23


class TestKilledWriters:
    def kill(self, repository: Path, every: int) -> dict[str, int]:
        script = [sys.executable, str(HERE / "killed_writers.py"), str(repository), str(every)]
        environment = clean_environment(PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
        done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        killed, *found = done.stdout.split()
        return {"killed": int(killed)} | {what: int(count) for what, _, count in (entry.partition("=") for entry in found)}

    def check(self, repository: Path, found: dict[str, int], least: int) -> None:
        killed = found.pop("killed")
        assert killed >= least
        assert found.pop("writable") == killed
        assert set(found) == {"old", "new", "NOT_FOUND"}
        assert sum(found.values()) == killed
        git(repository, "fsck", "--strict")

    def test_writer_killed_between_two_steps(self, repository):
        """After SIGKILL at any sampled line of a write there is the old or the new text, and the next write succeeds."""
        self.check(repository, self.kill(repository, 20), 100)

    @pytest.mark.slow
    def test_writer_killed_at_every_line(self, repository):
        """So at every single line."""
        self.check(repository, self.kill(repository, 1), 500)

    @pytest.mark.slow
    def test_writers_killed_at_random(self, repository):
        """Of fifty writers killed in the midst of each other's work each leaves what was acknowledged, or the text after."""
        code = """
import sys
from oort_flows.files import GitFileMemory
memory = GitFileMemory(sys.argv[1], "project:docs")
for n in range(1_000_000):
    answer = memory.execute({"command": "create", "path": f"/memories/{sys.argv[2]}.md", "text": str(n)})
    print(n if answer.ok else answer.error.message, flush=True)
"""
        memory = GitFileMemory(repository, SCOPE)
        for n in range(25):
            pair = {f"{side}{n}": start(code, repository, f"{side}{n}") for side in "ab"}
            lines = {name: [process.stdout.readline() for _ in range(3 + n % 7)] for name, process in pair.items()}
            for process in pair.values():
                process.kill()
            for name, process in pair.items():
                lines[name] += process.stdout.read().splitlines()
                process.communicate()
                acknowledged = int(lines[name][-1])
                assert [int(line) for line in lines[name]] == list(range(acknowledged + 1))
                text = memory.execute({"command": "view", "path": f"/memories/{name}.md"}).value.text
                assert int(text) in (acknowledged, acknowledged + 1)
            assert create(memory, "after.md", str(n)).ok
        git(repository, "fsck", "--strict")


def in_its_turn(repository: Path, pool: ThreadPoolExecutor, write) -> Future:
    """Start *write* in a thread and come back once it is trying to swap its state in."""
    turns = repository / "oort-references.lock"
    before = turns.stat().st_mtime_ns
    answer = pool.submit(write)
    while turns.stat().st_mtime_ns == before and not answer.done():
        os.sched_yield()
    return answer


class TestLocks:
    def test_lock_that_is_given_back_is_waited_for(self, repository):
        """A lock that git holds for a moment delays a write and does not fail it."""
        memory = GitFileMemory(repository, SCOPE)
        create(memory, "a.md", "1")
        lock = repository / f"{memory.reference}.lock"
        lock.touch()
        with ThreadPoolExecutor(1) as pool:
            answer = in_its_turn(repository, pool, lambda: create(memory, "a.md", "2"))
            lock.unlink()
        assert answer.result().ok
        assert not lock.exists()

    def test_lock_that_stays_is_a_passing_storage_error(self, repository):
        """Who holds a lock for good gets every write refused in bounded time; nothing changes and reading goes on."""
        memory = GitFileMemory(repository, SCOPE)
        create(memory, "a.md", "1")
        lock = repository / f"{memory.reference}.lock"
        lock.write_text("somebody else's")
        began = time.monotonic()
        answer = create(memory, "a.md", "2")
        assert (answer.error.code, answer.error.details) == ("STORAGE_ERROR", {"retryable": True})
        assert ".lock" in answer.error.message
        assert str(repository) not in answer.error.message
        assert time.monotonic() - began < 5
        assert memory.execute({"command": "view", "path": "/memories/a.md"}).value.text == "1"
        assert lock.read_text() == "somebody else's"
        lock.unlink()
        assert create(memory, "a.md", "3").ok

    def test_swap_that_loses_is_judged_again(self, repository):
        """Where the reference moves while its lock is held, the command is judged on what is there now."""
        memory = GitFileMemory(repository, SCOPE)
        create(memory, "a.md", "1")
        handle = pygit2.Repository(repository)
        emptied = write_root(handle, metadata_for(SCOPE, {}, last_write=7), write_files(handle, {}))
        moved = repository / "moved"
        moved.write_text(f"{emptied}\n")
        lock = repository / f"{memory.reference}.lock"
        lock.touch()
        command = {"command": "str_replace", "path": "/memories/a.md", "old_text": "1", "new_text": "2"}
        with ThreadPoolExecutor(1) as pool:
            answer = in_its_turn(repository, pool, lambda: memory.execute(command))
            os.replace(moved, repository / memory.reference)
        lock.unlink()
        assert answer.result().error.code == "NOT_FOUND"

    def test_lock_of_a_killed_writer_is_cleared_away(self, repository):
        """The lock file of a writer that died in its turn is known by its note, and removed; one without a note is not."""
        memory = GitFileMemory(repository, SCOPE)
        create(memory, "a.md", "1")
        (repository / "oort-references.lock").write_text(memory.reference)
        lock = repository / f"{memory.reference}.lock"
        lock.touch()
        assert create(memory, "a.md", "2").ok
        assert not lock.exists()
        assert (repository / "oort-references.lock").read_text() == ""

    @pytest.mark.parametrize("note", ["refs/heads/main", "../outside", "refs/oort/../heads/main"])
    def test_note_that_is_not_ours_removes_nothing(self, repository, note):
        """A note that names anything but a reference of ours is overwritten and not followed."""
        memory = GitFileMemory(repository, SCOPE)
        (repository / "oort-references.lock").write_text(note)
        lock = repository / f"{note}.lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
        assert create(memory, "a.md", "1").ok
        assert lock.exists()

    def test_lock_from_before_the_note_is_somebody_elses(self, repository):
        """A lock file that is older than the note of the killed writer was not the writer's."""
        memory = GitFileMemory(repository, SCOPE)
        create(memory, "a.md", "1")
        lock = repository / f"{memory.reference}.lock"
        lock.touch()
        os.utime(lock, (time.time() - 60, time.time() - 60))
        (repository / "oort-references.lock").write_text(memory.reference)
        assert create(memory, "a.md", "2").error.code == "STORAGE_ERROR"
        assert lock.exists()

    def test_references_packed_meanwhile(self, repository):
        """git may pack references at any time; the next swap finds its own there."""
        memory = GitFileMemory(repository, SCOPE)
        for n in range(5):
            assert create(memory, f"{n}.md").ok
            git(repository, "pack-refs", "--all", "--prune")
        assert len(read_memory(pygit2.Repository(repository), SCOPE)[1]) == 5


FILE_SIZE_LIMIT = """
import os, resource, signal, sys
from oort_flows.files import GitFileMemory
memory = GitFileMemory(sys.argv[1], "project:docs")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, most))
answer = memory.execute({"command": "create", "path": "/memories/b.md", "text": os.urandom(4_000).hex()})
print(answer.error.code, answer.error.details["retryable"], "space" in answer.error.message)
print(memory.execute({"command": "create", "path": "/memories/b.md", "text": "small"}).ok)
"""


class TestStorageThatRefuses:
    def mount(self, place: Path, *arguments: str) -> bool:
        """Mount a file system of its own at *place*, where this machine lets us; ended by the end of the test."""
        place.mkdir(exist_ok=True)
        if subprocess.run(["mount", *arguments, str(place)], capture_output=True, check=False).returncode:
            return False
        self.mounted = [*getattr(self, "mounted", []), place]
        return True

    def teardown_method(self):
        for place in reversed(getattr(self, "mounted", [])):
            subprocess.run(["umount", "-l", str(place)], check=True)

    def test_file_size_limit(self, repository):
        """A limit of the operating system on file sizes is a storage error, and leaves no torn object."""
        assert finish([start(FILE_SIZE_LIMIT, repository)]) == ["STORAGE_ERROR False True", "True"]
        assert not list((repository / "objects").glob("??/tmp_obj_*"))
        git(repository, "fsck", "--strict")

    def test_full_disk(self, tmp_path, repository):
        """On a full file system a write says so, the old state stays, and writing goes on once there is room."""
        place = tmp_path / "small"
        if not self.mount(place, "-t", "tmpfs", "-o", "size=512k", "tmpfs"):
            # Without the right to mount, the limit on file sizes is the nearest thing to a full disk.
            assert finish([start(FILE_SIZE_LIMIT, repository)]) == ["STORAGE_ERROR False True", "True"]
            return
        repository = make_repository(place / "memory.git", bare=True)
        memory = GitFileMemory(repository, SCOPE)
        assert create(memory, "a.md", "kept").ok
        with pytest.raises(OSError, match="No space"):
            fill(place / "filler")
        answer = create(memory, "b.md", os.urandom(8_000).hex())
        assert (answer.error.code, answer.error.details) == ("STORAGE_ERROR", {"retryable": False})
        assert "space" in answer.error.message
        assert not list((repository / "objects").glob("??/tmp_obj_*"))
        reopened = GitFileMemory(repository, SCOPE)
        assert reopened.execute({"command": "view", "path": "/memories/a.md"}).value.text == "kept"
        assert reopened.execute({"command": "view", "path": "/memories/b.md"}).error.code == "NOT_FOUND"
        (place / "filler").unlink()
        assert create(memory, "b.md", "now").ok

    def test_read_only_file_system(self, repository, tmp_path):
        """Where nothing may be written, views work, and a write says what forbids it."""
        create(GitFileMemory(repository, SCOPE), "a.md", "kept")
        place = tmp_path / "read-only"
        if self.mount(place, "--bind", str(repository)):
            subprocess.run(["mount", "-o", "remount,bind,ro", str(place)], check=True)
            memory = GitFileMemory(place, SCOPE)
            assert memory.execute({"command": "view", "path": "/memories/a.md"}).value.text == "kept"
            answer = create(memory, "a.md", "changed")
            assert (answer.error.code, answer.error.details) == ("STORAGE_ERROR", {"retryable": False})
            assert "read-only" in answer.error.message
        assert GitFileMemory(repository, SCOPE).execute({"command": "view", "path": "/memories/a.md"}).value.text == "kept"

    def test_user_without_permission(self, repository):
        """For a user who may read and not write, views work and writes are refused."""
        create(GitFileMemory(repository, SCOPE), "a.md", "kept")
        for above in (repository, *repository.parents):
            if above.stat().st_uid == os.getuid() and str(above).startswith("/tmp/"):
                above.chmod(above.stat().st_mode | 0o555)
        code = """
import os, sys
from oort_flows.files import GitFileMemory
import pygit2
pygit2.settings.owner_validation = False
memory = GitFileMemory(sys.argv[1], "project:docs")
memory.execute({"command": "view", "path": "/memories"})
os.setuid(12_345)
print(memory.execute({"command": "view", "path": "/memories/a.md"}).value.text)
answer = memory.execute({"command": "create", "path": "/memories/a.md", "text": "changed"})
print(answer.error.code, answer.error.details["retryable"])
"""
        assert finish([start(code, repository)]) == ["kept", "STORAGE_ERROR False"]

    def test_something_else_in_the_way_of_the_reference(self, repository):
        """A reference that stands where ours needs a directory fails the write and is left alone."""
        handle = pygit2.Repository(repository)
        handle.references.create("refs/oort/memory", handle.TreeBuilder().write())
        memory = GitFileMemory(repository, SCOPE)
        answer = create(memory, "a.md")
        assert answer.error.code == "STORAGE_ERROR"
        assert git(repository, "for-each-ref", "--format=%(refname)").split() == ["refs/oort/memory"]

    def test_failed_write_leaves_no_journal(self, repository):
        """A write that could not be swapped in takes its journal entry back."""
        memory = GitFileMemory(repository, SCOPE)
        create(memory, "a.md", "1")
        lock = repository / f"{memory_reference(SCOPE)}.lock"
        lock.touch()
        command = {"command": "create", "path": "/memories/a.md", "text": "2"}
        answer, undo = memory.execute_undoable(command, operation="op-1")
        assert (answer.error.code, undo) == ("STORAGE_ERROR", None)
        assert memory.journal() == []


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4_096))


def test_limits_of_a_handle_are_its_own(repository):
    """Two handles with different limits share the files, and each keeps its own bounds when it writes."""
    wide, narrow = GitFileMemory(repository, SCOPE), GitFileMemory(repository, SCOPE, Limits(max_files=2))
    for n in range(4):
        assert create(wide, f"{n}.md").value.evicted == ()
    assert create(narrow, "4.md").value.evicted == ("/memories/0.md", "/memories/1.md", "/memories/2.md")


def test_process_does_not_grow_with_its_commands(repository):
    """A thousand commands grow the process by less than 20 MB."""
    code = """
import sys
from oort_flows.files import GitFileMemory
memory = GitFileMemory(sys.argv[1], "project:docs")
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
def work(count):
    for n in range(count):
        path = f"/memories/{n % 100}.md"
        assert memory.execute({"command": "create", "path": path, "text": f"{n} " * 500}).ok
        assert memory.execute({"command": "view", "path": path}).ok
work(100)
before = resident()
work(500)
print((resident() - before) // 1_000_000)
"""
    assert resource.getpagesize() == 4_096
    (grown,) = finish([start(code, repository)])
    assert int(grown) < 20
