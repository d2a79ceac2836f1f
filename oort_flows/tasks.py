"""
The mechanics as Prefect tasks: they take the memory of the context, retry what can get better, and report what they did.

Every task has a twin that starts with ``a`` for async flows. None of them is cached: Prefect masks secrets before it hashes
inputs, so two memories that differ only in a secret would share a cache key.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypedDict
from uuid import uuid4

from prefect import runtime, task
from prefect.cache_policies import NO_CACHE, CachePolicy
from prefect.client.schemas.objects import State, TaskRun
from prefect.logging import get_logger
from prefect.tasks import Task
from prefect.transactions import Transaction, get_transaction

from oort_flows import artifacts, mechanics
from oort_flows.calling import in_thread
from oort_flows.context import current_memory, memory_context
from oort_flows.errors import ConfigurationError, IsolationError, OortError, is_retryable
from oort_flows.mechanics.undo import consolidate_undoable, settle_write, undo_write
from oort_flows.models.mechanics import Consolidated, Curated, Grounded, Source
from oort_flows.models.runs import IsolatedRun
from oort_flows.models.undo import Undo
from oort_flows.ports import FileMemory, OpensFileMemory
from oort_flows.worktrees import ReasoningRecord, isolated
from oort_flows.worktrees.steps import name_of

__all__ = [
    "aconsolidate",
    "acurate",
    "aground",
    "arun_isolated",
    "consolidate",
    "curate",
    "ground",
    "may_get_better",
    "run_isolated",
]

Memory = FileMemory | OpensFileMemory | str | None
"""What the tasks take as ``memory=``: a live one, a block, the name of a block document, or nothing: that of the context."""


def may_get_better(task: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """
    Tell Prefect whether to run a failed memory task again: only if the very same call may succeed later.

    The ``retry_condition_fn`` of every task here, and of your own around a memory.
    """
    return isinstance(state.data, BaseException) and is_retryable(state.data)


class _Options(TypedDict):
    cache_policy: CachePolicy
    retries: int
    retry_delay_seconds: list[float]
    retry_condition_fn: Callable[[Task[Any, Any], TaskRun, State[Any]], bool]


_OPTIONS: Final[_Options] = {
    "cache_policy": NO_CACHE,
    "retries": 3,
    "retry_delay_seconds": [0.2, 1.0, 5.0],
    "retry_condition_fn": may_get_better,
}


def _files(memory: Memory) -> FileMemory:
    if isinstance(memory, FileMemory):
        return memory
    if memory is None:
        return current_memory().files
    if not isinstance(memory, (OpensFileMemory, str)):
        raise ConfigurationError("memory must be a file memory, a block that opens one, or the name of a block document")
    with memory_context(files=memory) as step:
        return step.files


# ---------------------------------------------------------------------------------------------------------------- ground


def _ground(sources: Iterable[str | Source], memory: Memory, limits: dict[str, int]) -> Grounded:
    grounded = mechanics.ground(_files(memory), sources, **limits)
    artifacts.publish_grounded(grounded)
    return grounded


@task(name="Ground", **_OPTIONS)
def ground(
    sources: Iterable[str | Source],
    *,
    memory: Memory = None,
    max_files: int = 20,
    max_file_chars: int = 4_000,
    max_total_chars: int = 16_000,
) -> Grounded:
    """
    Read what earlier runs kept, within a budget, and publish a table of it.

    Parameters
    ----------
    sources:
        Paths, or :class:`~oort_flows.mechanics.Source` for optional ones; directories are expanded.
    memory:
        A file memory, a block, or the name of a block document; left out, that of the context.
    max_files, max_file_chars, max_total_chars:
        The budget; characters are code points.

    Raises
    ------
    GroundError
        If a required source is missing or the memory cannot be read.
    ConfigurationError
        If there is no memory, or a setting is unusable.

    Example
    -------
    ::

        grounded = ground(["/memories/conventions.md", Source(path="/memories/notes", optional=True)])
    """
    limits = {"max_files": max_files, "max_file_chars": max_file_chars, "max_total_chars": max_total_chars}
    return _ground(sources, memory, limits)


@task(name="Ground", **_OPTIONS)
async def aground(
    sources: Iterable[str | Source],
    *,
    memory: Memory = None,
    max_files: int = 20,
    max_file_chars: int = 4_000,
    max_total_chars: int = 16_000,
) -> Grounded:
    """Answer as :func:`ground` does, for async flows."""
    limits = {"max_files": max_files, "max_file_chars": max_file_chars, "max_total_chars": max_total_chars}
    grounded: Grounded = await in_thread(_ground, sources, memory, limits)
    return grounded


# ---------------------------------------------------------------------------------------------------------------- curate


def _curate(
    grounded: Grounded, intent: str, decide: Callable[..., Any], max_brief_chars: int, timeout: float | None
) -> Curated:
    curated = mechanics.curate(grounded, intent, decide, max_brief_chars=max_brief_chars, timeout=timeout)
    artifacts.publish_brief(curated, intent)
    return curated


@task(name="Curate", **_OPTIONS)
def curate(
    grounded: Grounded,
    intent: str,
    decide: Callable[..., Any],
    *,
    max_brief_chars: int = 2_000,
    timeout: float | None = None,
) -> Curated:
    """
    Let *decide* choose what the step should know of what was read, and publish the brief.

    Parameters
    ----------
    grounded:
        What :func:`ground` answered.
    intent:
        What the step is about to do.
    decide:
        Plain or async; gets intent, documents and prompt, and returns ``brief`` and ``sources``. Whatever goes wrong in it,
        the step gets the full prompt instead.
    max_brief_chars:
        Longest brief, in characters; a longer one is not used.
    timeout:
        Seconds that *decide* may take; ``None`` for as long as it likes.

    Example
    -------
    ::

        curated = curate(grounded, intent="Raise the retry limit", decide=choose)
        step(curated.prompt)
    """
    return _curate(grounded, intent, decide, max_brief_chars, timeout)


@task(name="Curate", **_OPTIONS)
async def acurate(
    grounded: Grounded,
    intent: str,
    decide: Callable[..., Any],
    *,
    max_brief_chars: int = 2_000,
    timeout: float | None = None,
) -> Curated:
    """Answer as :func:`curate` does, for async flows."""
    curated: Curated = await in_thread(_curate, grounded, intent, decide, max_brief_chars, timeout)
    return curated


# ----------------------------------------------------------------------------------------------------------- consolidate

# Live memories hold locks and handles, which a transaction cannot carry; it carries the name of the operation instead.
_undoable: dict[str, tuple[FileMemory, Undo]] = {}
_OPERATION: Final = "oort_operation"


def _consolidate(
    target: str, sources: Iterable[str | Source], fold: Callable[..., Any], memory: Memory, settings: dict[str, Any]
) -> Consolidated:
    files = _files(memory)
    operation = uuid4().hex
    consolidated, undo = consolidate_undoable(files, target, sources, fold, operation=operation, **settings)
    transaction = get_transaction()
    if undo is not None and transaction is not None:
        _undoable[operation] = (files, undo)
        transaction.set(_OPERATION, operation)
    artifacts.publish_fold(consolidated)
    return consolidated


def _settle_consolidate(transaction: Transaction) -> None:
    """The flow has committed: the write stays, and nothing about it needs to be remembered any more."""
    written = _undoable.pop(transaction.get(_OPERATION, ""), None)
    if written is not None:
        settle_write(*written)


def _undo_consolidate(transaction: Transaction) -> None:
    """Put back what the target held, as far as nobody has written since; say what was left alone."""
    written = _undoable.pop(transaction.get(_OPERATION, ""), None)
    if written is None:
        return
    logger = get_logger("oort_flows")
    try:
        report = undo_write(*written)
    except OortError as error:
        logger.warning("The fold into %s could not be undone: %s", written[1].path, error)
        return
    artifacts.publish_rollback(report)
    for path in report.restored:
        logger.info("Rolled back: %s is what it was before this task.", path)
    for path in report.left:
        logger.warning("Not rolled back: %s was changed since, or there is no room for it.", path)


@task(name="Consolidate", **_OPTIONS)
def consolidate(
    target: str,
    sources: Iterable[str | Source],
    fold: Callable[..., Any],
    *,
    memory: Memory = None,
    max_output_chars: int = 16_000,
    timeout: float | None = None,
    max_files: int = 20,
    max_file_chars: int = 4_000,
    max_total_chars: int = 16_000,
) -> Consolidated:
    """
    Fold *sources* into *target* by one write, and publish the new text.

    When the flow's transaction fails, the target gets back what it held, unless somebody has written to it since.

    Parameters
    ----------
    target:
        Path of the file that holds the summary.
    sources:
        What is folded in; they stay as they are.
    fold:
        Plain or async; gets the prior text (``None`` where there is none), the documents and a prompt, and returns text.
    memory:
        A file memory, a block, or the name of a block document; left out, that of the context.
    max_output_chars:
        Longest text the fold may return, and longest prior that is read, in characters.
    timeout:
        Seconds that *fold* may take; ``None`` for as long as it likes.
    max_files, max_file_chars, max_total_chars:
        The budget of :func:`ground` for the sources.

    Raises
    ------
    ConsolidateError
        With a code that says what failed; the target is as it was.
    ConfigurationError
        If there is no memory, or a setting is unusable.

    Example
    -------
    ::

        consolidate("/memories/summary.md", ["/memories/sessions"], fold)
    """
    settings = {
        "max_output_chars": max_output_chars,
        "timeout": timeout,
        "max_files": max_files,
        "max_file_chars": max_file_chars,
        "max_total_chars": max_total_chars,
    }
    return _consolidate(target, sources, fold, memory, settings)


@task(name="Consolidate", **_OPTIONS)
async def aconsolidate(
    target: str,
    sources: Iterable[str | Source],
    fold: Callable[..., Any],
    *,
    memory: Memory = None,
    max_output_chars: int = 16_000,
    timeout: float | None = None,
    max_files: int = 20,
    max_file_chars: int = 4_000,
    max_total_chars: int = 16_000,
) -> Consolidated:
    """Answer as :func:`consolidate` does, for async flows."""
    settings = {
        "max_output_chars": max_output_chars,
        "timeout": timeout,
        "max_files": max_files,
        "max_file_chars": max_file_chars,
        "max_total_chars": max_total_chars,
    }
    consolidated: Consolidated = await in_thread(_consolidate, target, sources, fold, memory, settings)
    return consolidated


for _task in (consolidate, aconsolidate):
    _task.on_commit(_settle_consolidate)
    _task.on_rollback(_undo_consolidate)


# --------------------------------------------------------------------------------------------------------- run isolated


def _name_of_run() -> str:
    """Name a task run after its step, so that four steps at once can be told apart."""
    parameters = runtime.task_run.parameters
    return f"Run isolated: {' '.join(str(parameters.get('label') or name_of(parameters['step'])).split())}"


# A step may be dear and is the user's own: whether it runs again is for `run_isolated.with_options(retries=...)` to say.
_ONCE: Final[_Options] = {**_OPTIONS, "retries": 0}


def _run_isolated(step: Callable[..., Any], args: Any, kwargs: Any, settings: dict[str, Any]) -> IsolatedRun:
    label: str = settings["label"] or name_of(step)
    try:
        run = isolated(step, **settings)(*args, **kwargs)
    except IsolationError as error:
        if error.run is not None:
            artifacts.publish_commit(error.run, label)
        raise
    except Exception as error:
        artifacts.publish_raised(error, label)
        raise
    artifacts.publish_commit(run, label)
    return run


@task(name="Run isolated", task_run_name=_name_of_run, **_ONCE)
def run_isolated(
    step: Callable[..., Any],
    *args: Any,
    repository: str | os.PathLike[str] | None = None,
    label: str | None = None,
    record: bool | ReasoningRecord = False,
    on_conflict: Literal["fail", "synthesize"] = "fail",
    resolve: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> IsolatedRun:
    """
    Run *step* in a work tree of its own, land what it did as one commit that says why, and publish that commit.

    What a commit has landed is not undone when the flow's transaction fails: a commit is taken back by a commit.

    Parameters
    ----------
    step:
        A function or a task; called with *args* and *kwargs*. ``worktree`` is filled in, if it takes one, unless *kwargs*
        name it, and *args* go to its other parameters in order; only if they are then one too many, one of them is it.
    repository, label, record, on_conflict, resolve:
        As in :func:`oort_flows.worktrees.isolated`.

    Raises
    ------
    IsolationError
        If the step did not land; its ``kind`` says why, its ``run`` what was kept.
    BaseException
        What the step itself raised, unchanged.

    Example
    -------
    ::

        run = run_isolated(implement, curated.prompt, repository=".", label="implement", record=True)
    """
    settings = {
        "repository": repository,
        "label": label,
        "record": record,
        "on_conflict": on_conflict,
        "resolve": resolve,
    }
    return _run_isolated(step, args, kwargs, settings)


@task(name="Run isolated", task_run_name=_name_of_run, **_ONCE)
async def arun_isolated(
    step: Callable[..., Any],
    *args: Any,
    repository: str | os.PathLike[str] | None = None,
    label: str | None = None,
    record: bool | ReasoningRecord = False,
    on_conflict: Literal["fail", "synthesize"] = "fail",
    resolve: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> IsolatedRun:
    """Answer as :func:`run_isolated` does, for async flows."""
    settings = {
        "repository": repository,
        "label": label,
        "record": record,
        "on_conflict": on_conflict,
        "resolve": resolve,
    }
    run: IsolatedRun = await in_thread(_run_isolated, step, args, kwargs, settings)
    return run
