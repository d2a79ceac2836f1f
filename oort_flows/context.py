"""
The memory of a step: entered once around a pipeline, found by every step in it.

This module is free of Prefect. It reaches Prefect's side, :mod:`oort_flows.runtime`, by one deferred import, and only where
a block is named or Prefect is loaded anyway.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
import logging
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from oort_flows.calling import in_thread
from oort_flows.errors import ConfigurationError
from oort_flows.identity import check_name, encode, join_scope, repository_identity
from oort_flows.ports import FileMemory, OpensFileMemory, Record, RunContext, SupportsScopes

if TYPE_CHECKING:
    from oort_flows.models.mechanics import Consolidated, Curated, Grounded

__all__ = ["StepMemory", "current_memory", "list_scopes", "memory_context", "step_memory"]

_logger = logging.getLogger("oort_flows.context")

F = TypeVar("F", bound=Callable[..., Any])

_HOW_TO = """There is no memory here. Add the two lines that give this step one:

    from oort_flows import memory_context
    with memory_context(project="..."):      # or @memory_context(project="...") on the flow
"""


class _SilentRecord:
    """The record of a step that keeps none: takes every remark, keeps nothing, and says so once in each run."""

    def __init__(self, logger: str) -> None:
        self._logger = logging.getLogger(logger)
        self._told: set[str | None] = set()
        self._lock = threading.Lock()

    def note(self, text: str) -> None:
        """Drop a remark; the first one is a warning."""
        if isinstance(text, str) and not text.strip():
            return
        run = _run().flow_run_id()
        with self._lock:
            is_first = run not in self._told
            self._told.add(run)
        if is_first:
            self._logger.warning("a note was dropped: no reason is recorded here; isolated(..., record=True) keeps notes")

    def observe(self, event: object) -> None:
        """Drop an event."""


class _NoRun:
    """The run context where there is no orchestrator."""

    def root_flow_name(self) -> str | None:
        return None

    root_flow_run_id = flow_run_id = task_run_id = root_flow_name


@dataclass(frozen=True, slots=True)
class _Named:
    """What the contexts around this code have named so far; a nested one replaces what it names and inherits the rest."""

    files: FileMemory | OpensFileMemory | None = None
    scope: str | None = None
    project: str | None = None
    user: str | None = None
    agent: str | None = None
    per_run: bool = False
    directory: Path = field(default_factory=Path.cwd)


class StepMemory:
    """
    The memory of this step, as :func:`current_memory` finds it.

    Nothing is opened before it is used, so a step that never looks at its memory pays nothing for it.

    Attributes
    ----------
    worktree:
        The work tree of an isolated step; else ``None``.
    record:
        Where the step says why; what it says is kept only in an isolated step with a record.
    """

    def __init__(self, named: _Named, *, worktree: Path | None = None, record: Record | None = None) -> None:
        self._named = named
        self._opened: dict[str, FileMemory] = {}
        self.worktree = worktree
        self.record: Record = _SilentRecord(_logger.name) if record is None else record

    def __repr__(self) -> str:
        return f"StepMemory(project={self.project!r}, user={self.user!r}, agent={self.agent!r})"

    @property
    def project(self) -> str | None:
        """The project that was named, or ``None``."""
        return self._named.project

    @property
    def user(self) -> str | None:
        """The user that was named, or ``None``."""
        return self._named.user

    @property
    def agent(self) -> str | None:
        """The agent that was named, or ``None``."""
        return self._named.agent

    @property
    def run(self) -> RunContext:
        """The run that this code is part of."""
        return _run()

    @property
    def scope(self) -> str:
        """
        The scope of the file memory: as given, or a base and the parts that were named.

        The base is the project, else the identity of the memory's repository, else the name of the flow at the root of the
        run. The same run therefore has the same scope on a laptop and deployed.

        Raises
        ------
        ConfigurationError
            If there is nothing to name the memory after.
        """
        named = self._named
        if isinstance(named.files, FileMemory):
            return named.files.scope
        if named.scope is not None:
            return named.scope
        run = self.run.root_flow_run_id() if named.per_run else None
        if named.per_run and run is None:
            raise ConfigurationError("per_run needs a flow run; enter the context inside the flow")
        return join_scope(self._base(), user=named.user, agent=named.agent, run=run)

    @property
    def files(self) -> FileMemory:
        """
        The file memory: what the context names, else the Git memory of the current repository.

        Raises
        ------
        ConfigurationError
            If no memory is named and this is no repository, or if the memory cannot be opened.
        """
        named = self._named
        if isinstance(named.files, FileMemory):
            return named.files
        scope = self.scope
        opened = self._opened.get(scope)
        if opened is None:
            opened = named.files.open(scope) if named.files is not None else self._of_repository(scope)
            self._opened[scope] = opened
        return opened

    def _base(self) -> str:
        if self.project is not None:
            return f"project:{encode(self.project)}"
        repository = self._repository()
        identity = None if repository is None else repository_identity(repository)
        if identity is not None:
            return identity
        flow = self.run.root_flow_name()
        if flow is None:
            raise ConfigurationError("there is nothing to name this memory after; give memory_context a project= or scope=")
        return f"flow:{encode(flow)}"

    def _repository(self) -> str | Path | None:
        """Name the place of the Git memory. Other memories are not tied to the folder that a run happens to stand in."""
        if self._named.files is None:
            return self._named.directory
        repository: str | None = getattr(self._named.files, "repository", None)
        return repository

    def _of_repository(self, scope: str) -> FileMemory:
        from oort_flows.files import GitFileMemory

        return GitFileMemory(self._named.directory, scope)

    # The mechanics as methods --------------------------------------------------------------------------------------

    def ground(self, sources: Any, **limits: Any) -> Grounded:
        """Read *sources* for a step; see :func:`oort_flows.mechanics.ground`."""
        from oort_flows.mechanics import ground

        return ground(self.files, sources, **limits)

    def curate(self, grounded: Grounded, intent: str, decide: Callable[..., Any], **settings: Any) -> Curated:
        """Choose what a step should know of what was read; see :func:`oort_flows.mechanics.curate`."""
        from oort_flows.mechanics import curate

        return curate(grounded, intent, decide, **settings)

    def consolidate(self, target: str, sources: Any, fold: Callable[..., Any], **settings: Any) -> Consolidated:
        """Fold *sources* into *target*; see :func:`oort_flows.mechanics.consolidate`."""
        from oort_flows.mechanics import consolidate

        return consolidate(self.files, target, sources, fold, **settings)

    async def aground(self, sources: Any, **limits: Any) -> Grounded:
        """Answer as :meth:`ground` does, without blocking the loop."""
        grounded: Grounded = await in_thread(self.ground, sources, **limits)
        return grounded

    async def acurate(self, grounded: Grounded, intent: str, decide: Callable[..., Any], **settings: Any) -> Curated:
        """Answer as :meth:`curate` does, without blocking the loop."""
        curated: Curated = await in_thread(self.curate, grounded, intent, decide, **settings)
        return curated

    async def aconsolidate(self, target: str, sources: Any, fold: Callable[..., Any], **settings: Any) -> Consolidated:
        """Answer as :meth:`consolidate` does, without blocking the loop."""
        consolidated: Consolidated = await in_thread(self.consolidate, target, sources, fold, **settings)
        return consolidated


_current: contextvars.ContextVar[StepMemory | None] = contextvars.ContextVar("oort_step_memory", default=None)
# What to reset when the contexts around this code are left, innermost last.
_tokens: contextvars.ContextVar[tuple[contextvars.Token[StepMemory | None], ...]] = contextvars.ContextVar(
    "oort_step_memory_tokens", default=()
)


def current_memory() -> StepMemory:
    """
    Return the memory of this step.

    Tasks, the threads of Prefect's task runner and ``asyncio.to_thread`` inherit it. A thread that you start yourself
    does so by ``contextvars.copy_context().run``.

    Raises
    ------
    ConfigurationError
        Outside of any :func:`memory_context`; the message shows the two lines to add.

    Example
    -------
    >>> from oort_flows.files import InProcessFileMemory
    >>> with memory_context(files=InProcessFileMemory("docs")):
    ...     current_memory().scope
    'docs'
    """
    memory = _current.get()
    if memory is None:
        raise ConfigurationError(_HOW_TO)
    return memory


def list_scopes(memory: object) -> list[str]:
    """
    List the scopes that have a memory where *memory* lives, sorted: to be audited, tidied or erased one by one.

    Parameters
    ----------
    memory:
        A live file memory or a block. An in-process memory has the one scope.

    Raises
    ------
    ConfigurationError
        If *memory* cannot tell, or its place is unusable.
    StorageError
        If its place cannot be read.

    Example
    -------
    >>> from oort_flows.files import InProcessFileMemory
    >>> list_scopes(InProcessFileMemory("docs"))
    ['docs']
    """
    if not isinstance(memory, SupportsScopes):
        raise ConfigurationError("memory must be a file memory, or a block of one, that can list its scopes")
    return memory.scopes()


@contextmanager
def step_memory(*, worktree: Path | None = None, record: Record | None = None) -> Iterator[StepMemory]:
    """
    Give a step the memory around it together with a work tree and a record of its own.

    Without a memory around it, the step gets that of its work tree's repository, or else of the current one.
    """
    outer = _current.get()
    named = outer._named if outer else _Named() if worktree is None else _Named(directory=worktree)
    inner = StepMemory(named, worktree=worktree, record=_SilentRecord("oort_flows.worktrees") if record is None else record)
    token = _current.set(inner)
    try:
        yield inner
    finally:
        _current.reset(token)


class memory_context:  # noqa: N801 - used like a function: `with memory_context(...)`, `@memory_context(...)`
    """
    Give everything inside a memory: a context manager, and a decorator for a flow, a task or any function.

    Parameters
    ----------
    files:
        A live file memory, a block that opens one, or the name of a block document (``slug/name``). Left out, the Git memory
        of the current repository.
    scope:
        Name of the memory as it is. Left out, it is made of a base (the project, else the repository's identity, else the
        flow's name) and the parts that are named. A live memory keeps its own.
    project, user, agent:
        What the memory belongs to. They come from code, blocks and deployment parameters, never from text or a model.
    per_run:
        Give every run a memory of its own; retries, tasks and subflows of a run share it.

    Raises
    ------
    ConfigurationError
        If an argument is unusable, a block cannot be found, or *scope* names another one than that of a live memory.

    Notes
    -----
    A nested context replaces what it names and inherits the rest. One instance can be entered again, also by several
    threads at once.

    Example
    -------
    >>> from oort_flows.files import InProcessFileMemory
    >>> @memory_context(files=InProcessFileMemory("docs"))
    ... def learn(fact):
    ...     command = {"command": "create", "path": "/memories/fact.md", "text": fact}
    ...     return current_memory().files.execute(command).ok
    >>> learn("The parser is shared.")
    True
    """

    def __init__(
        self,
        files: FileMemory | OpensFileMemory | str | None = None,
        *,
        scope: str | None = None,
        project: str | None = None,
        user: str | None = None,
        agent: str | None = None,
        per_run: bool = False,
    ) -> None:
        for name, value in (("scope", scope), ("project", project), ("user", user), ("agent", agent)):
            if value is not None:
                check_name(name, value)
        if files is not None and not isinstance(files, (str, FileMemory, OpensFileMemory)):
            raise ConfigurationError("files must be a file memory, a block that opens one, or the name of a block document")
        if isinstance(files, FileMemory) and (per_run or scope not in (None, files.scope)):
            raise ConfigurationError("files is a live memory, which keeps its own scope; leave scope= and per_run= out")
        self._files = files
        self._given = {
            name: value
            for name, value in (("scope", scope), ("project", project), ("user", user), ("agent", agent))
            if value is not None
        }
        self._per_run = per_run

    def __enter__(self) -> StepMemory:
        outer = _current.get()
        worktree, record = (None, None) if outer is None else (outer.worktree, outer.record)
        memory = StepMemory(self._named(), worktree=worktree, record=record)
        _tokens.set((*_tokens.get(), _current.set(memory)))
        return memory

    def __exit__(self, *_: object) -> None:
        *rest, token = _tokens.get()
        _tokens.set(tuple(rest))
        _current.reset(token)

    async def __aenter__(self) -> StepMemory:
        return self.__enter__()

    async def __aexit__(self, *error: object) -> None:
        self.__exit__(*error)

    def _named(self) -> _Named:
        outer = _current.get()
        around = outer._named if outer else None
        changes: dict[str, Any] = dict(self._given)
        files = _runtime().load_block(self._files) if isinstance(self._files, str) else self._files
        if files is not None:
            changes["files"] = files
        if self._per_run:
            changes["per_run"] = True
        if around is None:
            return _Named(**changes)
        inherited = changes.get("files", around.files)
        if isinstance(inherited, FileMemory) and changes.get("scope") not in (None, inherited.scope):
            raise ConfigurationError("scope names another memory than the live one around this context, which keeps its own")
        return replace(around, **changes)

    def __call__(self, function: F) -> F:
        """Decorate a function, a flow or a task: each call runs inside the memory."""
        inner = getattr(function, "fn", None)
        if callable(inner) and hasattr(function, "with_options"):
            return cast("F", _wrap_inside(function, self._wrap(inner)))
        return self._wrap(function)

    def _wrap(self, function: F) -> F:
        wrapper: Callable[..., Any]
        if inspect.isasyncgenfunction(function):
            raise ConfigurationError("an async generator cannot be decorated; use `with memory_context(...)` inside of it")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return await function(*args, **kwargs)

        elif inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                return self._drive(function(*args, **kwargs))

        else:

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return function(*args, **kwargs)

        return cast("F", wrapper)

    def _drive(self, generator: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Run a generator inside the memory without letting it leak to whoever iterates, between two items."""
        context = contextvars.copy_context()
        context.run(self.__enter__)
        step: Callable[[], Any] = functools.partial(next, generator)
        while True:
            try:
                item = context.run(step)
            except StopIteration as stop:
                return stop.value
            try:
                sent = yield item
                step = functools.partial(generator.send, sent)
            except GeneratorExit:
                context.run(generator.close)
                raise
            except BaseException as error:  # noqa: BLE001 - thrown into the generator, as `yield from` does
                step = functools.partial(generator.throw, error)


def _wrap_inside(flow_or_task: Any, function: Callable[..., Any]) -> Any:
    """Decorate a flow or task that has already been made: a copy of it runs the wrapped function."""
    copy = flow_or_task.with_options()
    copy.fn = function
    return copy


def _run() -> RunContext:
    # Looked up at each use: a context that was entered around a flow serves the code inside of the flow.
    run: RunContext = _runtime().prefect_run() if "prefect" in sys.modules else _NoRun()
    return run


def _runtime() -> Any:
    """Import Prefect's side of the package: the one place where this layer reaches it."""
    from oort_flows import runtime

    return runtime
