"""The memory tasks under a real Prefect server: what they answer, retry, undo and publish."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prefect import flow, tags, task
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId
from prefect.client.schemas.objects import Artifact, TaskRun
from prefect.runtime import flow_run
from prefect.states import Failed
from prefect.tasks import Task
from prefect.transactions import transaction

from oort_flows import GitMemory, InProcessFileMemory, InProcessMemory, Source, current_memory, memory_context
from oort_flows import tasks as oort
from oort_flows.errors import ConfigurationError, ConsolidateError, GroundError, IsolationError
from oort_flows.files import Failure, FileError, GitFileMemory, Limits, Result
from oort_flows.git import run_git

pytestmark = pytest.mark.usefixtures("prefect_server")


def keep(memory: Any, path: str, text: str) -> None:
    assert memory.execute({"command": "create", "path": path, "text": text}).ok


def text_of(memory: Any, path: str) -> str | None:
    answer = memory.execute({"command": "view", "path": path})
    return answer.value.text if answer.ok else None


def artifacts_of(run_id: str) -> dict[str, Artifact]:
    with get_client(sync_client=True) as client:
        found = client.read_artifacts(artifact_filter=ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run_id])))
    return {str(artifact.key): artifact for artifact in sorted(found, key=lambda artifact: str(artifact.created))}


def choose(intent: str, documents: Any, prompt: str) -> dict[str, object]:
    return {"brief": f"{intent}: mind the parser", "sources": [documents[0].path]}


async def achoose(intent: str, documents: Any, prompt: str) -> dict[str, object]:
    return choose(intent, documents, prompt)


def join(prior: str | None, documents: Any, prompt: str) -> str:
    return "\n".join([*([prior] if prior else []), *(document.text for document in documents)])


async def ajoin(prior: str | None, documents: Any, prompt: str) -> str:
    return join(prior, documents, prompt)


class Flaky:
    """A file memory whose storage is unwell for the first few commands."""

    def __init__(self, inner: InProcessFileMemory, failures: int, *, retryable: bool) -> None:
        self.inner, self.failures, self.retryable, self.calls = inner, failures, retryable, 0
        self.scope = inner.scope

    def execute(self, command: Any) -> Result:
        self.calls += 1
        if self.failures:
            self.failures -= 1
            error = FileError(code="STORAGE_ERROR", message="unwell", details={"retryable": self.retryable})
            return Failure(command=command["command"], error=error)
        return self.inner.execute(command)

    async def aexecute(self, command: Any) -> Result:
        return self.execute(command)


@pytest.fixture
def quick() -> Iterator[None]:
    """The tasks wait a moment between tries; here they do not."""
    every = [getattr(oort, name) for name in oort.__all__ if isinstance(getattr(oort, name), Task)]
    before = [each.retry_delay_seconds for each in every]
    for each in every:
        each.retry_delay_seconds = 0
    yield
    for each, delay in zip(every, before, strict=True):
        each.retry_delay_seconds = delay


# ------------------------------------------------------------------------------------------------------------- the tasks


def test_a_pipeline_grounds_curates_and_consolidates_in_the_memory_of_its_context() -> None:
    """The tasks answer what the plain functions answer, and each publishes what it did."""

    @flow(name="release notes")
    def pipeline() -> tuple[str, Any, Any, Any]:
        with memory_context(InProcessMemory(name="tasks"), project="p1"):
            keep(current_memory().files, "/memories/a.md", "The parser is shared.")
            grounded = oort.ground(["/memories/a.md", Source(path="/memories/gone.md", optional=True)])
            curated = oort.curate(grounded, intent="Go", decide=choose)
            folded = oort.consolidate("/memories/sum.md", ["/memories/a.md"], join)
            return str(flow_run.id), grounded, curated, folded

    run_id, grounded, curated, folded = pipeline()
    assert grounded.missing == ("/memories/gone.md",)
    assert curated.brief == "Go: mind the parser"
    assert folded.text == "The parser is shared."
    published = artifacts_of(run_id)
    assert set(published) == {f"oort-{kind}-release-notes" for kind in ("grounded", "brief", "folded")}
    rows = json.loads(published["oort-grounded-release-notes"].data)  # type: ignore[arg-type]
    assert rows[0] == {"path": "/memories/a.md", "status": "read", "characters": 21}
    assert rows[1]["status"] == "missing"
    assert "Go: mind the parser" in str(published["oort-brief-release-notes"].data)
    assert "The parser is shared." in str(published["oort-folded-release-notes"].data)


def test_the_twins_do_the_same_in_an_async_flow() -> None:
    """aground, acurate, aconsolidate and arun_isolated take async callables, and the loop goes on meanwhile."""

    async def step() -> str:
        return "done"

    @flow
    async def pipeline() -> tuple[Any, Any, Any, Any]:
        with memory_context(InProcessMemory(name="tasks"), project="p2"):
            keep(current_memory().files, "/memories/a.md", "one")
            grounded = await oort.aground(["/memories/a.md"])
            curated = await oort.acurate(grounded, intent="Go", decide=achoose)
            folded = await oort.aconsolidate("/memories/sum.md", ["/memories/a.md"], ajoin)
            return grounded, curated, folded, flow_run.id

    grounded, curated, folded, run_id = asyncio.run(pipeline())
    assert [document.text for document in grounded.documents] == ["one"]
    assert curated.mode == "curated"
    assert folded.text == "one"
    assert len(artifacts_of(str(run_id))) == 3


def test_sync_tasks_take_async_callables_and_live_memories() -> None:
    """memory= wins over the context; a live memory, a block and a block's name all do."""
    live = InProcessFileMemory("live")
    keep(live, "/memories/a.md", "live")
    InProcessMemory(name="named").save("named", overwrite=True)
    keep(InProcessMemory(name="named").open("project:p3"), "/memories/a.md", "named")

    @flow
    def pipeline() -> list[str]:
        with memory_context(InProcessMemory(name="tasks"), project="p3"):
            sources = ["/memories/a.md"]
            grounded = [
                oort.ground(sources, memory=live),
                oort.ground(sources, memory=InProcessMemory(name="named")),
                oort.ground(sources, memory="oort-in-process-memory/named"),
            ]
            assert oort.curate(grounded[0], "Go", achoose).mode == "curated"
            return [each.documents[0].text for each in grounded]

    assert pipeline() == ["live", "named", "named"]


def test_a_task_without_any_memory_says_what_to_add() -> None:
    """A configuration error is not retried, and names the argument that is wrong."""

    @flow
    def pipeline() -> None:
        with pytest.raises(ConfigurationError, match=r"^memory must be"):
            oort.ground(["/memories/a.md"], memory=5)  # type: ignore[arg-type]
        oort.ground(["/memories/a.md"])

    with pytest.raises(ConfigurationError, match="memory_context"):
        pipeline()


# --------------------------------------------------------------------------------------------------------------- retries


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("retryable", "calls"), [(True, 3), (False, 1)])
def test_only_what_can_get_better_is_tried_again(retryable: bool, calls: int) -> None:
    """Passing trouble of the storage is retried until it has passed; lasting trouble fails at once."""
    memory = Flaky(InProcessFileMemory("m"), failures=2, retryable=retryable)
    keep(memory.inner, "/memories/a.md", "one")

    @flow
    def pipeline() -> Any:
        return oort.ground(["/memories/a.md"], memory=memory)

    if retryable:
        assert pipeline().documents[0].text == "one"
    else:
        with pytest.raises(GroundError):
            pipeline()
    assert memory.calls == calls


@pytest.mark.usefixtures("quick")
def test_a_mistake_of_the_user_is_never_tried_again() -> None:
    """A required file that is missing is missing the second time too; a fold that raises is not paid for twice."""
    folds = []

    def fold(prior: Any, documents: Any, prompt: str) -> str:
        folds.append(prompt)
        raise ValueError("no")

    @flow
    def pipeline() -> None:
        with memory_context(InProcessMemory(name="tasks"), project="p4"):
            with pytest.raises(GroundError):
                oort.ground(["/memories/nothing.md"])
            with pytest.raises(ConsolidateError):
                oort.consolidate("/memories/sum.md", [], fold)

    pipeline()
    assert len(folds) == 1


def test_no_task_is_cached(repository: Path) -> None:
    """The same call later reads again, whatever the default cache policy would say of its inputs."""

    @flow
    def pipeline(text: str) -> str:
        with memory_context(GitMemory(repository=str(repository)), project="p"):
            keep(current_memory().files, "/memories/a.md", text)
            return str(oort.ground(["/memories/a.md"]).documents[0].text)

    assert [pipeline("one"), pipeline("two")] == ["one", "two"]


def test_tasks_return_plain_values_without_blocks_or_secrets() -> None:
    """A persisted result holds what was read and never how the memory was reached."""

    @flow(persist_result=True)
    def pipeline() -> Any:
        with memory_context(InProcessMemory(name="tasks"), project="p5"):
            keep(current_memory().files, "/memories/a.md", "one")
            return oort.ground.with_options(persist_result=True)(["/memories/a.md"])

    assert pipeline().model_dump()["documents"][0]["text"] == "one"


# -------------------------------------------------------------------------------------------------------------- rollback


@pytest.fixture(params=["in-process", "git"])
def memory(request: pytest.FixtureRequest, repository: Path) -> Any:
    limits = Limits(max_files=3)
    if request.param == "git":
        return GitFileMemory(repository, "p", limits)
    return InProcessFileMemory("p", limits)


def fold_then_fail(memory: Any, between: Any = None) -> str:
    ids: list[str] = []

    @flow
    def pipeline() -> None:
        ids.append(str(flow_run.id))
        with transaction():
            oort.consolidate("/memories/sum.md", ["/memories/b.md"], lambda *_: "new", memory=memory)
            if between is not None:
                between()
            raise RuntimeError("a later step failed")

    with pytest.raises(RuntimeError, match="a later step"):
        pipeline()
    return ids[0]


def test_a_failed_transaction_gives_the_target_back_what_it_held(memory: Any) -> None:
    """Its bytes are restored, evicted files come back, and no journal entry is left."""
    for name in ("a", "b", "sum"):
        keep(memory, f"/memories/{name}.md", f"old {name}")
    run_id = fold_then_fail(memory)
    assert [text_of(memory, f"/memories/{name}.md") for name in ("a", "b", "sum")] == ["old a", "old b", "old sum"]
    assert memory.journal() == []
    assert str(artifacts_of(run_id)["oort-folded-pipeline"].data).startswith("# Rolled back")


def test_a_failed_transaction_removes_a_target_that_was_not_there_and_brings_back_the_evicted(memory: Any) -> None:
    """Where there was nothing there is nothing again."""
    for name in ("a", "b", "c"):
        keep(memory, f"/memories/{name}.md", f"old {name}")
    fold_then_fail(memory, lambda: text_of(memory, "/memories/a.md") is None or pytest.fail("nothing was evicted"))
    assert text_of(memory, "/memories/sum.md") is None
    assert [text_of(memory, f"/memories/{name}.md") for name in ("a", "b", "c")] == ["old a", "old b", "old c"]


def test_what_somebody_wrote_since_is_left_and_reported(memory: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A rollback never overwrites a newer text."""
    keep(memory, "/memories/b.md", "old b")
    with caplog.at_level(logging.WARNING):
        fold_then_fail(memory, lambda: keep(memory, "/memories/sum.md", "newer"))
    assert text_of(memory, "/memories/sum.md") == "newer"
    assert memory.journal() == []
    assert "/memories/sum.md" in caplog.text


def test_a_committed_write_stays_and_its_journal_is_empty(memory: Any) -> None:
    """Inside a transaction that commits, and without any."""
    keep(memory, "/memories/b.md", "old b")

    @flow
    def pipeline() -> None:
        with transaction():
            oort.consolidate("/memories/sum.md", ["/memories/b.md"], lambda *_: "one", memory=memory)
        oort.consolidate("/memories/sum.md", ["/memories/b.md"], lambda *_: "two", memory=memory)
        raise RuntimeError("after the transaction")

    with pytest.raises(RuntimeError):
        pipeline()
    assert text_of(memory, "/memories/sum.md") == "two"
    assert memory.journal() == []
    assert oort._undoable == {}


def test_an_async_flow_rolls_back_as_well(memory: Any) -> None:
    """The twin registers the same undo."""
    keep(memory, "/memories/sum.md", "old")
    keep(memory, "/memories/b.md", "b")

    @flow
    async def pipeline() -> None:
        with transaction():
            await oort.aconsolidate("/memories/sum.md", ["/memories/b.md"], lambda *_: "new", memory=memory)
            raise RuntimeError("a later step failed")

    with pytest.raises(RuntimeError, match="a later step"):
        asyncio.run(pipeline())
    assert text_of(memory, "/memories/sum.md") == "old"


# ---------------------------------------------------------------------------------------------------------- run isolated


@task
def implement(prompt: str, worktree: Path) -> str:
    current_memory().record.note("Tried patching in place; dropped it, the parser is shared.")
    (worktree / "limits.toml").write_text("max_retries = 5\n")
    return "Raised the retry limit"


def test_a_step_lands_as_one_commit_whose_reason_is_published(repository: Path) -> None:
    """The page on the commit shows the message that blame leads to; trailers name flow run, task run and scope."""

    @flow(name="deliver")
    def pipeline() -> tuple[Any, str]:
        with memory_context(GitMemory(repository=str(repository)), project="billing"), tags("x"):
            return oort.run_isolated(implement, "go", repository=repository, label="implement", record=True), str(
                flow_run.id
            )

    run, run_id = pipeline()
    assert run.status == "landed"
    assert (repository / "limits.toml").read_text() == "max_retries = 5\n"
    message = run_git(repository, "log", "-1", "--format=%B", run.commit)
    assert "the parser is shared" in message
    assert f"Oort-Flow-Run: {run_id}" in message
    assert "Oort-Scope: project:billing" in message
    assert "Oort-Task-Run: " in message
    page = str(artifacts_of(run_id)["oort-commit-deliver-implement"].data)
    assert run.commit in page
    assert "the parser is shared" in page


def test_steps_that_do_not_land_leave_a_page_that_says_why(repository: Path) -> None:
    """One that declines tells its reason, one that raises where its work is kept; each is found by its label."""

    @task
    def declines(worktree: Path) -> Any:
        (worktree / "a.txt").write_text("a")
        return Failed(message="The limit is right as it is.")

    @task
    def raises(worktree: Path) -> None:
        (worktree / "b.txt").write_text("b")
        raise ValueError("no such limit")

    ids: list[str] = []

    @flow(name="try")
    def pipeline() -> None:
        ids.append(str(flow_run.id))
        assert oort.run_isolated(declines, repository=repository).status == "declined"
        oort.run_isolated(raises, repository=repository)

    with pytest.raises(ValueError, match="no such limit"):
        pipeline()
    published = artifacts_of(ids[0])
    assert "The limit is right as it is." in str(published["oort-commit-try-declines"].data)
    assert "refs/oort/rescue/raises-1" in str(published["oort-commit-try-raises"].data)
    with get_client(sync_client=True) as client:
        names = {run.name for run in client.read_task_runs()}
    assert {"Run isolated: declines", "Run isolated: raises"} <= names


def test_a_step_that_cannot_land_fails_with_its_kind(tmp_path: Path) -> None:
    """Nothing is retried; the typed error comes out of the flow."""

    @flow(name="nowhere")
    def pipeline() -> None:
        with memory_context(InProcessMemory(name="tasks"), project="p6"):
            oort.run_isolated(implement, "go", repository=tmp_path, record=True)

    with pytest.raises(IsolationError) as caught:
        pipeline()
    assert caught.value.kind == "no_repository"


def test_an_async_flow_isolates_async_steps(repository: Path) -> None:
    """arun_isolated runs a coroutine function, and an async task, in a work tree."""

    @task
    async def astep(worktree: Path) -> str:
        (worktree / "new.txt").write_text(current_memory().scope)
        return "Added"

    @flow
    async def pipeline() -> Any:
        with memory_context(InProcessMemory(name="tasks"), project="p7"):
            return await oort.arun_isolated(astep, repository=repository, label="add", record=True)

    run = asyncio.run(pipeline())
    assert run.status == "landed"
    assert (repository / "new.txt").read_text() == "project:p7"


def test_the_retry_condition_asks_the_error_and_nothing_else() -> None:
    """It can be put on a task of one's own."""
    run = TaskRun.model_construct()
    assert not oort.may_get_better(implement, run, Failed(data=ConfigurationError("no")))
    assert oort.may_get_better(implement, run, Failed(data=TimeoutError()))
    assert not oort.may_get_better(implement, run, Failed(message="returned"))


def test_positional_argument_goes_past_the_work_tree(repository: Path) -> None:
    """What follows the step goes to its parameters other than the work tree, wherever that stands; so for the async task."""

    def step(worktree: Path, n: int) -> str:
        return f"{n} {worktree.name[:12]}"

    @flow
    def both() -> list[str]:
        async def run() -> str:
            return (await oort.arun_isolated(step, 4, repository=repository)).value

        return [oort.run_isolated(step, 3, repository=repository).value, asyncio.run(run())]

    assert both() == ["3 oort-step-1-", "4 oort-step-1-"]
