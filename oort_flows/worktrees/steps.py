"""
Running a step, and understanding how it ended.

A step is a function, plain or async, or a Prefect task or flow. Those, and the states that they and others return, are known
by what they can do, so that nothing here needs Prefect.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from oort_flows.calling import call

__all__ = ["Ended", "name_of", "run_step"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a step ended that did not raise: what it returned, whether it declined, and the run that it was, if any."""

    value: Any
    declined: bool = False
    summary: str | None = None
    flow_run: str | None = None
    task_run: str | None = None


def name_of(step: Callable[..., Any]) -> str:
    """Return what a step is called, ``step`` if nothing tells."""
    while isinstance(step, partial):
        step = step.func
    for holder in (step, _inner(step)):
        name = getattr(holder, "__name__", None) or getattr(holder, "name", None)
        if isinstance(name, str) and name.strip():
            return name
    return "step"


def run_step(step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], worktree: Path) -> Ended:
    """
    Call *step*, with ``worktree`` if it takes one and the caller has not given one.

    Raises
    ------
    BaseException
        What the step raises, unchanged, also where Prefect has caught it.
    """
    if _takes_worktree(step, args, kwargs):
        kwargs = {**kwargs, "worktree": worktree}
    if not _is_orchestrated(step):
        value = call(step, *args, **kwargs)
        return _read(value, value) if _is_state(value) else Ended(value, summary=_first_line(value))
    state = call(step, *args, **{**kwargs, "return_state": True})
    return _read(state, _result_of(state)) if _is_state(state) else Ended(state, summary=_first_line(state))


def _inner(step: Any) -> Any:
    """Return the function inside of a Prefect task or flow, else the step itself."""
    return step.fn if _is_orchestrated(step) else step


def _is_orchestrated(step: Any) -> bool:
    return callable(getattr(step, "fn", None)) and callable(getattr(step, "with_options", None))


def _takes_worktree(step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        signature = inspect.signature(_inner(step))
        given = signature.bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):  # no signature to be had, or a call that will not fit it: the step says so better
        return False
    parameter = signature.parameters.get("worktree")
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return parameter is not None and parameter.kind in by_name and "worktree" not in given


def _is_state(value: Any) -> bool:
    if isinstance(value, type):
        return False
    return all(callable(getattr(value, name, None)) for name in ("is_failed", "is_crashed", "is_cancelled"))


def _result_of(state: Any) -> Any:
    """Return what a task or flow returned; raise what it raised. A state that says no by itself is its own result."""
    if not state.is_completed():
        if getattr(state, "data", None) is not None and state.is_final():
            # Asked for synchronously by name: Prefect would else look at the loop of the thread that asks.
            result = state.result(raise_on_failure=False, _sync=True)
            if isinstance(result, BaseException):
                raise result
        return state
    return state.result(_sync=True)


def _read(state: Any, value: Any) -> Ended:
    message = getattr(state, "message", None)
    summary = _first_line(value) or _first_line(message)
    completed = getattr(state, "is_completed", None)
    # Paused, suspended, still running: what is unfinished does not land either.
    declined = state.is_failed() or state.is_crashed() or state.is_cancelled() or (callable(completed) and not completed())
    details = getattr(state, "state_details", None)
    flow_run, task_run = (getattr(details, name, None) for name in ("flow_run_id", "task_run_id"))
    return Ended(
        value,
        declined=bool(declined),
        summary=summary,
        flow_run=str(flow_run) if flow_run else None,
        task_run=str(task_run) if task_run else None,
    )


def _first_line(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    return next((line.strip() for line in value.splitlines() if line.strip()), None)
