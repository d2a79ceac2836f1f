"""The memory of a step under a real Prefect server: flows, tasks, threads, subflows, retries."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from prefect import flow, get_run_logger, task
from prefect.runtime import flow_run

from oort_flows import InProcessMemory, current_memory, memory_context
from oort_flows.errors import ConfigurationError
from oort_flows.identity import repository_identity

pytestmark = pytest.mark.usefixtures("prefect_server")


@task
def scope_in_task() -> str:
    return current_memory().scope


@task
async def scope_in_async_task() -> str:
    return current_memory().scope


def test_tasks_find_the_memory_of_their_flow() -> None:
    """Called, submitted and mapped, on Prefect's own threads, sync and async."""

    @flow
    def pipeline() -> list[str]:
        with memory_context(InProcessMemory(name="m"), project="billing"):
            futures = [scope_in_task.submit() for _ in range(4)]
            return [scope_in_task(), *(future.result() for future in futures)]

    @flow
    async def apipeline() -> list[str]:
        with memory_context(InProcessMemory(name="m"), project="billing"):
            return [await scope_in_async_task(), scope_in_task(), await asyncio.to_thread(lambda: current_memory().scope)]

    assert set(pipeline()) == {"project:billing"}
    assert set(asyncio.run(apipeline())) == {"project:billing"}


def test_a_decorated_flow_has_a_memory_in_either_order() -> None:
    """The decorator stands below @flow or above it, on sync and async flows and on tasks."""
    remember = memory_context(InProcessMemory(name="m"), project="billing")

    @flow
    @remember
    def below() -> str:
        return scope_in_task()

    @remember
    @flow
    def above() -> str:
        return scope_in_task()

    @remember
    @flow
    async def above_async() -> str:
        return await scope_in_async_task()

    @remember
    @task
    def on_task() -> str:
        return current_memory().scope

    @flow
    def plain() -> str:
        return on_task()

    assert {below(), above(), asyncio.run(above_async()), plain()} == {"project:billing"}
    with pytest.raises(ConfigurationError):
        current_memory()


def test_a_flow_without_project_or_repository_is_named_after_itself() -> None:
    """Entered inside or around, and in a subflow, the name is that of the flow at the root."""

    @flow(name="sub")
    def sub() -> str:
        return current_memory().scope

    @flow(name="nightly: a b")
    def inside() -> list[str]:
        with memory_context(InProcessMemory(name="m"), user="siv"):
            return [current_memory().scope, scope_in_task(), sub()]

    @flow(name="nightly: a b")
    def around() -> list[str]:
        return [current_memory().scope, scope_in_task(), sub()]

    expected = {"flow:nightly%3A a b/user:siv"}
    assert set(inside()) == expected
    with memory_context(InProcessMemory(name="m"), user="siv"):
        assert set(around()) == expected


def test_a_memory_per_run_is_shared_by_a_run_and_no_other() -> None:
    """Tasks, subflows and retries of a run share it; the next run has its own."""
    attempts = []

    @flow
    def sub() -> str:
        return current_memory().scope

    @flow(retries=1)
    def pipeline() -> list[str]:
        with memory_context(InProcessMemory(name="m"), project="p", per_run=True):
            attempts.append(current_memory().scope)
            if len(attempts) == 1:
                raise RuntimeError("again")
            return [current_memory().scope, scope_in_task(), sub(), f"project:p/run:{flow_run.id}"]

    first = pipeline()
    assert set(first) == set(attempts)
    assert len(set(first)) == 1
    attempts.append("other")
    assert set(pipeline()).isdisjoint(first)


def test_the_memory_of_a_git_block_is_named_after_its_repository(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where the process stands makes no difference, so a laptop and a worker agree."""
    from oort_flows import GitMemory

    @flow
    def pipeline() -> str:
        with memory_context(GitMemory(repository=str(repository))):
            return current_memory().scope

    monkeypatch.chdir(repository)
    here = pipeline()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert here == pipeline() == repository_identity(repository)


def test_what_one_run_keeps_the_next_one_finds(repository: Path) -> None:
    """The point of it all, through the step's own memory."""
    from oort_flows import GitMemory

    @flow
    def pipeline(text: str) -> str | None:
        with memory_context(GitMemory(repository=str(repository)), project="billing"):
            files = current_memory().files
            seen = files.execute({"command": "view", "path": "/memories/fact.md"})
            files.execute({"command": "create", "path": "/memories/fact.md", "text": text})
            get_run_logger().info("kept")
            return seen.value.text if seen.ok else None  # type: ignore[union-attr]

    assert pipeline("one") is None
    assert pipeline("two") == "one"


def test_two_flows_at_once_keep_their_memories_apart() -> None:
    """Async flows in one loop, each with a user of its own."""

    @flow
    async def pipeline(user: str) -> str:
        with memory_context(InProcessMemory(name="m"), project="p", user=user):
            await asyncio.sleep(0)
            return await scope_in_async_task()

    async def main() -> list[str]:
        return await asyncio.gather(*(pipeline(user) for user in ("siv", "otso", "embla")))

    assert asyncio.run(main()) == ["project:p/user:siv", "project:p/user:otso", "project:p/user:embla"]


def test_notes_that_nothing_keeps_are_one_warning_in_each_run(caplog: pytest.LogCaptureFixture) -> None:
    """A context around several runs says in each of them once that notes are dropped there."""

    @task
    def note(n: int) -> None:
        current_memory().record.note(f"note {n}")

    @flow
    def notes() -> None:
        for n in range(3):
            note(n)

    with memory_context(InProcessMemory(name="notes")):
        notes()
        notes()
    assert [entry.name for entry in caplog.records if "record=True" in entry.getMessage()] == ["oort_flows.context"] * 2
