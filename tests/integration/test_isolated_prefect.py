"""Prefect tasks and flows as isolated steps, under a real server."""

from __future__ import annotations

import asyncio
import functools
import threading
from pathlib import Path
from typing import Any

import pytest
from prefect import flow, get_run_logger, task
from prefect.runtime import flow_run, task_run
from prefect.states import Cancelled, Completed, Crashed, Failed

from oort_flows import current_memory, memory_context
from oort_flows.worktrees import IsolatedRun, ReasoningRecord, isolated, why
from tests.integration.work_trees import content, git, leftovers

pytestmark = pytest.mark.usefixtures("prefect_server", "temporary")

RESCUE = "refs/oort/rescue/implement-1"


def implement(repository: Path, step: Any, *args: Any, **settings: Any) -> IsolatedRun:
    return isolated(step, repository=repository, label="implement", **{"record": True, **settings})(*args)


def write(worktree: Path, name: str = "a.txt") -> None:
    (worktree / name).write_text(f"{name}\n")


def test_task_lands_and_its_commit_names_the_run(repository: Path) -> None:
    """A task is run as a task, and the commit's trailers and why lead to its flow run and its task run."""
    ids: dict[str, str] = {}

    @task
    def step(brief: str, worktree: Path) -> str:
        ids.update(flow=flow_run.id, task=task_run.id)
        assert current_memory().worktree == worktree
        current_memory().record.note(brief)
        write(worktree)
        return "Wrote a file"

    @flow
    def deliver() -> IsolatedRun:
        with memory_context(project="billing"):
            return implement(repository, step, "Because.")

    run = deliver()
    assert (run.status, run.value, run.summary) == ("landed", "Wrote a file", "Wrote a file")
    reason = why(repository, "a.txt", 1)
    assert (reason.flow_run, reason.task_run, reason.scope) == (ids["flow"], ids["task"], "project:billing")
    assert reason.subject == "implement: Wrote a file"
    assert reason.body == "## Why\n\nBecause."
    assert leftovers(repository) == []


def test_function_in_a_task_names_that_task(repository: Path) -> None:
    """A plain function names the task and the flow that it was called in."""
    ids: list[tuple[str, str]] = []

    @task
    def outer() -> None:
        ids.append((flow_run.id, task_run.id))
        implement(repository, write)

    @flow
    def deliver() -> None:
        outer()

    deliver()
    reason = why(repository, "a.txt", 1)
    assert (reason.flow_run, reason.task_run) == ids[0]


def test_task_outside_of_a_flow_names_itself(repository: Path) -> None:
    """A task that stands alone has a task run and no flow run."""

    @task
    def step(worktree: Path) -> str:
        write(worktree)
        return str(task_run.id)

    run = implement(repository, step)
    reason = why(repository, "a.txt", 1)
    assert (reason.flow_run, reason.task_run) == (None, run.value)


def test_flow_lands(repository: Path) -> None:
    """A flow with tasks of its own is a step too, and names its own run."""

    @task
    def part(worktree: Path, name: str) -> None:
        write(worktree, name)

    @flow
    def step(worktree: Path) -> str:
        part(worktree, "a.txt")
        part.submit(worktree, "b.txt").result()
        return str(flow_run.id)

    run = implement(repository, step)
    assert run.status == "landed"
    assert (repository / "b.txt").exists()
    assert why(repository, "b.txt", 1).flow_run == run.value


@pytest.mark.parametrize("kind", ["task", "flow"])
def test_async_step_lands_from_an_async_flow(repository: Path, kind: str) -> None:
    """Async tasks and flows are awaited; from an async flow the call runs in a thread."""

    @task
    async def part(worktree: Path) -> str:
        await asyncio.sleep(0)
        write(worktree)
        current_memory().record.note("Because.")
        return "Wrote a file"

    @flow
    async def whole(worktree: Path) -> str:
        return await part(worktree)

    @flow
    async def deliver() -> IsolatedRun:
        return await asyncio.to_thread(implement, repository, part if kind == "task" else whole)

    run = asyncio.run(deliver())
    assert (run.status, run.value) == ("landed", "Wrote a file")
    assert why(repository, "a.txt", 1).body == "## Why\n\nBecause."


def test_sync_task_is_called_from_an_async_flow(repository: Path) -> None:
    """Called in the loop itself, a sync step works as well; Prefect's own dispatch does not get in the way."""

    @task
    def step(worktree: Path) -> str:
        write(worktree)
        return "Wrote a file"

    @flow
    async def deliver() -> IsolatedRun:
        return implement(repository, step)

    assert asyncio.run(deliver()).value == "Wrote a file"


@pytest.mark.parametrize("make", [Failed, Crashed, Cancelled])
@pytest.mark.parametrize("kind", ["function", "task", "flow", "persisted task", "async task"])
def test_returned_state_declines(repository: Path, kind: str, make: Any) -> None:
    """A step that returns Failed, Crashed or Cancelled lands nothing; the message is the summary, the work is kept."""

    def step(worktree: Path) -> Any:
        write(worktree)
        return make(message="not today")

    async def async_step(worktree: Path) -> Any:
        return step(worktree)

    made = {
        "function": step,
        "task": task(step),
        "flow": flow(step),
        "persisted task": task(persist_result=True)(step),
        "async task": task(async_step),
    }[kind]
    run = implement(repository, made)
    assert (run.status, run.summary, run.rescued) == ("declined", "not today", RESCUE)
    assert not (repository / "a.txt").exists()
    assert content(repository, RESCUE, "a.txt") == "a.txt\n"


@pytest.mark.parametrize("kind", ["task", "flow", "persisted task", "async task"])
def test_exception_of_a_step_comes_out(repository: Path, kind: str) -> None:
    """What a task or flow raises is raised by the call, the same object, and the work is kept."""
    mine = KeyError("mine")

    def step(worktree: Path) -> None:
        write(worktree)
        raise mine

    async def async_step(worktree: Path) -> None:
        step(worktree)

    made = {
        "task": task(step),
        "flow": flow(step),
        "persisted task": task(persist_result=True)(step),
        "async task": task(async_step),
    }[kind]
    with pytest.raises(KeyError) as caught:
        implement(repository, made)
    assert caught.value is mine
    assert any(RESCUE in note for note in mine.__notes__)
    assert leftovers(repository) == [RESCUE]


def test_state_of_a_task_that_raised_declines_for_a_function(repository: Path) -> None:
    """A function that hands on the state of a task that failed declines by it."""

    @task
    def fails() -> None:
        raise ValueError("inner")

    def step(worktree: Path) -> Any:
        write(worktree)
        return fails(return_state=True)

    run = implement(repository, step)
    assert run.status == "declined"
    assert "inner" in str(run.summary)


def test_completed_state_lands(repository: Path) -> None:
    """A function that returns a completed state lands, with its message as the summary."""

    def step(worktree: Path) -> Any:
        write(worktree)
        return Completed(message="All good")

    run = implement(repository, step)
    assert (run.status, run.summary) == ("landed", "All good")


def test_flow_with_a_task_that_failed_declines(repository: Path) -> None:
    """A flow that returns the states of its tasks, one of them failed, is failed by Prefect's own rule."""

    @task
    def fails() -> None:
        raise ValueError("inner")

    @flow
    def step(worktree: Path) -> Any:
        write(worktree)
        return [fails(return_state=True)]

    assert implement(repository, step).status == "declined"


def test_retries_of_a_task_happen_in_one_work_tree(repository: Path) -> None:
    """Prefect retries the task inside of the isolated call; it lands once."""
    seen: list[Path] = []

    @task(retries=1)
    def step(worktree: Path) -> None:
        seen.append(worktree)
        if len(seen) == 1:
            raise ValueError("once")
        write(worktree)

    assert implement(repository, step).status == "landed"
    assert len(seen) == 2
    assert len(set(seen)) == 1
    assert git(repository, "rev-list", "--count", "HEAD") == "3"


def test_run_logger_is_kept_and_the_engine_is_not(repository: Path) -> None:
    """The record holds what the step logs and prints, and nothing that Prefect says of its own accord."""

    @task
    def part() -> None:
        get_run_logger().warning("from a task")
        raise ValueError("caught by the flow")

    @task(log_prints=True)
    def prints() -> None:
        print("printed")

    @flow
    def step(worktree: Path) -> None:
        get_run_logger().debug("too low")
        get_run_logger().info("from the flow")
        part(return_state=True)
        prints()
        write(worktree)

    implement(repository, step)
    body = why(repository, "a.txt", 1).body
    assert body == "## Why\n\n- INFO: from the flow\n- WARNING: from a task\n- INFO: printed"


def test_run_loggers_of_steps_at_once_do_not_mix(repository: Path) -> None:
    """Two isolated tasks that run at once each keep what they say themselves."""
    together = threading.Barrier(2, timeout=60)

    @task
    def step(name: str, worktree: Path) -> None:
        for n in range(3):
            together.wait()
            get_run_logger().info("%s says %s", name, n)
        write(worktree, name)

    @task
    def outer(name: str) -> str:
        return str(isolated(step, repository=repository, label=name, record=True)(name).message)

    @flow
    def deliver() -> list[str]:
        return outer.map(["one", "two"]).result()

    for name, message in zip(("one", "two"), deliver(), strict=True):
        lines = [line for line in message.splitlines() if line.startswith("- ")]
        assert lines == [f"- INFO: {name} says {n}" for n in range(3)]


def test_level_of_the_run_logger_can_be_chosen(repository: Path) -> None:
    """A record listens from the level that it is given."""

    @task
    def step(worktree: Path) -> None:
        get_run_logger().info("info")
        get_run_logger().warning("warning")
        write(worktree)

    implement(repository, step, record=ReasoningRecord("implement", log_level="WARNING"))
    assert why(repository, "a.txt", 1).body == "## Why\n\n- WARNING: warning"


@pytest.mark.parametrize("kind", [task, flow], ids=["task", "flow"])
@pytest.mark.parametrize("form", ["plain", "async", "partial"])
def test_positional_argument_goes_past_the_work_tree(repository: Path, kind: Any, form: str) -> None:
    """A task or a flow whose first parameter is the work tree gets it, and its other arguments in order."""

    def plain(worktree: Path, n: int, more: int = 0) -> str:
        return f"{n} {more} {worktree.name[:12]}"

    async def aplain(worktree: Path, n: int, more: int = 0) -> str:
        return plain(worktree, n, more)

    step = kind(name="step")(aplain if form == "async" else plain)
    run = isolated(functools.partial(step, 3) if form == "partial" else step, repository=repository, label="step")
    value = (run(4) if form == "partial" else run(3, 4)).value
    assert value == "3 4 oort-step-1-"
