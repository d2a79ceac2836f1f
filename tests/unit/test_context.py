"""The memory of a step, without Prefect."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from oort_flows.context import StepMemory, current_memory, list_scopes, memory_context, step_memory
from oort_flows.errors import ConfigurationError
from oort_flows.files import InProcessFileMemory
from oort_flows.git import run_git
from oort_flows.ports import FileMemory


class Opener:
    """A block-like thing that opens in-process memories and remembers which scopes it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def open(self, scope: str) -> FileMemory:
        self.asked.append(scope)
        return InProcessFileMemory(scope)


def scope_of(**named: object) -> str:
    with memory_context(Opener(), **named) as memory:  # type: ignore[arg-type]
        return memory.scope


def test_outside_of_any_context_the_error_shows_the_two_lines_to_add() -> None:
    """Whoever forgot the context is told what to write."""
    with pytest.raises(ConfigurationError, match=r"with memory_context\(project="):
        current_memory()


def test_the_scope_as_given_wins_over_all_else() -> None:
    """A scope that is named is used verbatim, outer spaces too."""
    assert scope_of(scope=" mine ", project="p", user="u") == " mine "


def test_a_project_and_parts_make_a_scope() -> None:
    """Project, user and agent are joined in this order, with separators in names encoded."""
    assert scope_of(project="billing") == "project:billing"
    assert scope_of(agent="b", user="a/x", project="p:q") == "project:p%3Aq/user:a%2Fx/agent:b"


def test_without_project_or_repository_or_flow_there_is_no_scope() -> None:
    """The error says what to name."""
    with pytest.raises(ConfigurationError, match="project= or scope="):
        scope_of(user="siv")


def test_per_run_needs_a_run() -> None:
    """Outside of a flow run, a memory per run is a configuration error."""
    with pytest.raises(ConfigurationError, match="per_run"):
        scope_of(project="p", per_run=True)


def test_a_live_memory_keeps_its_own_scope() -> None:
    """Naming another scope for it, here or in a nested context, is a configuration error; naming its own is not."""
    live = InProcessFileMemory("mine")
    with memory_context(live, project="p", user="u") as memory:
        assert memory.scope == "mine"
        assert memory.files is live
        with pytest.raises(ConfigurationError, match="scope"), memory_context(scope="other"):
            pass
    with memory_context(live, scope="mine") as memory:
        assert memory.files is live
    for named in ({"scope": "other"}, {"per_run": True}):
        with pytest.raises(ConfigurationError):
            memory_context(live, **named)  # type: ignore[arg-type]


def test_a_nested_context_replaces_what_it_names_and_inherits_the_rest() -> None:
    """Leaving it brings back what was there before."""
    opener = Opener()
    with memory_context(opener, project="p", user="siv") as outer:
        with memory_context(user="otso") as inner:
            assert (inner.project, inner.user) == ("p", "otso")
            assert current_memory() is inner
            assert inner.files.scope == "project:p/user:otso"
        assert current_memory() is outer
        assert outer.files.scope == "project:p/user:siv"
    with pytest.raises(ConfigurationError):
        current_memory()


def test_a_memory_is_opened_once_and_only_when_used() -> None:
    """Entering a context opens nothing; using .files twice opens one memory."""
    opener = Opener()
    with memory_context(opener, project="p") as memory:
        assert opener.asked == []
        assert memory.files is memory.files
    assert opener.asked == ["project:p"]


@pytest.mark.parametrize("named", [{"project": ""}, {"user": 7}, {"agent": "a\nb"}, {"scope": "  "}, {"files": 7}])
def test_an_unusable_argument_names_its_field(named: dict[str, object]) -> None:
    """It is refused where the context is written, not where it is first used."""
    with pytest.raises(ConfigurationError, match=next(iter(named))):
        memory_context(**named)  # type: ignore[arg-type]


def test_a_block_document_is_named_by_slug_and_name() -> None:
    """A name without a slug is refused with an example of a whole one."""
    with pytest.raises(ConfigurationError, match="oort-git-memory/main"), memory_context("main"):
        pass


def test_without_files_it_is_the_git_memory_of_the_current_repository(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fact kept in one work tree is read in another, and no file or branch appears."""
    inner = repository / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    with memory_context() as memory:
        kept = memory.files.execute({"command": "create", "path": "/memories/a.md", "text": "kept"})
    assert kept.ok
    run_git(repository, "worktree", "add", "-q", str(repository.parent / "tree"))
    monkeypatch.chdir(repository.parent / "tree")
    with memory_context() as memory:
        seen = memory.files.execute({"command": "view", "path": "/memories/a.md"})
        root = run_git(repository, "rev-list", "--max-parents=0", "HEAD")
        assert memory.scope == f"repository:{root}"
    assert seen.ok
    assert run_git(repository, "status", "--porcelain") == ""


def test_without_files_outside_of_a_repository_the_first_use_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entering is fine; using .files says what is missing."""
    monkeypatch.chdir(tmp_path)
    with memory_context(project="p") as memory, pytest.raises(ConfigurationError, match="repository"):
        memory.files  # noqa: B018


# ------------------------------------------------------------------------------------------------------------ decorator


def test_a_decorated_function_finds_its_memory() -> None:
    """Plain, async and generator functions run inside of it, and keep name and signature."""
    decorate = memory_context(InProcessFileMemory("mine"))

    @decorate
    def plain(x: int) -> tuple[int, str]:
        return x, current_memory().scope

    @decorate
    async def coroutine() -> str:
        await asyncio.sleep(0)
        return current_memory().scope

    @decorate
    def generator() -> Iterator[str]:
        yield current_memory().scope
        yield current_memory().scope

    assert plain(3) == (3, "mine")
    assert plain.__name__ == "plain"
    assert asyncio.run(coroutine()) == "mine"
    seen = []
    for scope in generator():
        seen.append(scope)
        with pytest.raises(ConfigurationError):
            current_memory()
    assert seen == ["mine", "mine"]


def test_a_decorated_generator_is_driven_like_any_other() -> None:
    """Values sent, exceptions thrown, the return value and closing all reach it."""
    closed = []

    @memory_context(InProcessFileMemory("mine"))
    def generator() -> Iterator[object]:
        try:
            got = yield "first"
            try:
                yield got
            except ValueError:
                yield "caught"
        finally:
            closed.append(current_memory().scope)
        return "end"

    driven = generator()
    assert next(driven) == "first"
    assert driven.send("sent") == "sent"  # type: ignore[attr-defined]
    assert driven.throw(ValueError()) == "caught"  # type: ignore[attr-defined]
    with pytest.raises(StopIteration, match="end"):
        next(driven)
    early = generator()
    next(early)
    early.close()  # type: ignore[attr-defined]
    assert closed == ["mine", "mine"]


def test_a_context_is_entered_by_async_with_too() -> None:
    """Whoever writes async flows may spell it so."""

    async def main() -> str:
        async with memory_context(InProcessFileMemory("mine")) as memory:
            assert current_memory() is memory
            return memory.scope

    assert asyncio.run(main()) == "mine"
    with pytest.raises(ConfigurationError):
        current_memory()


def test_an_async_generator_is_refused_with_a_way_out() -> None:
    """The message says to use the context inside of it."""

    async def agenerator() -> object:  # type: ignore[misc]
        yield 1

    with pytest.raises(ConfigurationError, match="inside"):
        memory_context(InProcessFileMemory("mine"))(agenerator)


# ------------------------------------------------------------------------------------------------------ threads and steps


def test_concurrent_contexts_never_mix() -> None:
    """One instance entered by many tasks and threads at once gives each of them its own way in and out."""
    contexts = [memory_context(InProcessFileMemory(f"m{i}")) for i in range(4)]
    barrier = threading.Barrier(8)
    seen: list[tuple[int, str]] = []

    def work(i: int) -> None:
        with contexts[i % 4]:
            barrier.wait(30)
            seen.append((i % 4, current_memory().scope))
            barrier.wait(30)
        with pytest.raises(ConfigurationError):
            current_memory()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(seen) == sorted((i % 4, f"m{i % 4}") for i in range(8))

    async def awork(i: int) -> str:
        with contexts[i % 4]:
            await asyncio.sleep(0)
            return current_memory().scope

    async def main() -> list[str]:
        return await asyncio.gather(*(awork(i) for i in range(8)))

    assert asyncio.run(main()) == [f"m{i % 4}" for i in range(8)]


def test_a_step_has_a_work_tree_and_a_record_of_its_own(tmp_path: Path) -> None:
    """Inside of it they are there; the memory around it is the same, and outside there is none."""
    live = InProcessFileMemory("mine")
    with memory_context(live) as outer:
        with step_memory(worktree=tmp_path) as inner:
            assert current_memory() is inner
            assert inner.worktree == tmp_path
            assert inner.files is live
            inner.record.note("kept nowhere, and no error")
        assert outer.worktree is None


class Notes:
    """A record that keeps notes in a list."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def note(self, text: str) -> None:
        self.kept.append(text)

    def observe(self, event: object) -> None:
        """Keep no event."""


def test_a_context_inside_of_a_step_keeps_its_work_tree_and_record(tmp_path: Path) -> None:
    """What a nested context does not name it inherits, also where the step says why."""
    notes = Notes()
    with (
        step_memory(worktree=tmp_path, record=notes),
        memory_context(InProcessFileMemory("mine"), user="ada") as inner,
    ):
        inner.record.note("kept")
        assert inner.worktree == tmp_path
        with step_memory(worktree=tmp_path / "nested") as nested:
            nested.record.note("of a step without a record")
    assert notes.kept == ["kept"]


def dropped(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The loggers that have said that notes are dropped."""
    return [entry.name for entry in caplog.records if "note" in entry.getMessage()]


def test_a_dropped_note_is_one_warning_in_each_step(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The first note that nothing keeps is a warning that names the setting; blank ones and events are none."""
    for _ in range(2):
        with step_memory(worktree=tmp_path) as memory:
            memory.record.observe({"type": "text", "delta": "a", "path": ["a"]})
            memory.record.note("  ")
            memory.record.note("Tried patching in place.")
            memory.record.note("Dropped it.")
            with memory_context(InProcessFileMemory("mine")) as nested:
                nested.record.note("In a nested context.")
    assert dropped(caplog) == ["oort_flows.worktrees"] * 2
    assert [entry.levelname for entry in caplog.records] == ["WARNING"] * 2
    assert "record=True" in caplog.text
    assert "patching" not in caplog.text


def test_a_dropped_note_outside_of_a_step_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    """In a context without an isolated step the warning comes from the context's logger, once in all threads."""
    with memory_context(InProcessFileMemory("mine")) as memory:
        threads = [threading.Thread(target=memory.record.note, args=("why",)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        with memory_context(user="ada") as nested:
            nested.record.note("why")
    assert dropped(caplog) == ["oort_flows.context"]


def test_the_mechanics_are_methods() -> None:
    """What the tasks do, a step can do by itself."""
    memory = InProcessFileMemory("mine")
    memory.execute({"command": "create", "path": "/memories/a.md", "text": "one"})
    with memory_context(memory) as step:
        assert isinstance(step, StepMemory)
        grounded = step.ground(["/memories/a.md"])
        curated = step.curate(grounded, "go", lambda intent, documents, prompt: {"brief": "do", "sources": []})
        folded = step.consolidate("/memories/sum.md", ["/memories/a.md"], lambda prior, documents, prompt: "folded")
        assert asyncio.run(step.aground(["/memories/a.md"])) == grounded
    assert [document.text for document in grounded.documents] == ["one"]
    assert curated.brief == "do"
    assert folded.text == "folded"


def test_a_memory_can_be_used_without_prefect() -> None:
    """A script that never imports Prefect has the whole of it, and never loads Prefect."""
    code = """
import sys
from oort_flows import current_memory, memory_context
from oort_flows.files import InProcessFileMemory
with memory_context(InProcessFileMemory("mine"), user="siv"):
    print(current_memory().files.scope, current_memory().run.flow_run_id(), "prefect" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["mine", "None", "False"]


# --------------------------------------------------------------------------------------------------------------- scopes


def test_every_scope_of_a_place_can_be_listed(repository: Path) -> None:
    """By a block and by a live memory; a memory that cannot tell is a configuration error."""
    from oort_flows.blocks import GitMemory, InProcessMemory

    git, shared = GitMemory(repository=str(repository)), InProcessMemory(name="scopes")
    assert list_scopes(git) == list_scopes(shared) == []
    for scope in ("project:b", "project:a"):
        live = git.open(scope)
        assert live.execute({"command": "create", "path": "/memories/a.md", "text": "x"}).ok
        shared.open(scope)
    assert list_scopes(git) == list_scopes(live) == list_scopes(shared) == ["project:a", "project:b"]
    assert list_scopes(InProcessFileMemory("mine")) == ["mine"]
    with pytest.raises(ConfigurationError, match="memory"):
        list_scopes(Opener())
