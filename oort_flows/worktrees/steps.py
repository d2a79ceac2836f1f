"""
Running a step, and understanding how it ended.

A step is a function, plain or async, or a Prefect task or flow. Those, and the states that they and others return, are known
by what they can do, so that nothing here needs Prefect.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from oort_flows.calling import call
from oort_flows.worktrees import messages

__all__ = ["Ended", "name_of", "run_step"]

_PLACEHOLDER = getattr(functools, "Placeholder", None)  # since Python 3.14


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

    Positional arguments go to the other parameters, wherever ``worktree`` stands; if they are one too many with it, the
    caller has given it.

    Raises
    ------
    BaseException
        What the step raises, unchanged, also where Prefect has caught it.
    """
    # What a partial holds is given by the caller too, so its positional arguments make room like any others.
    if type(step) is partial and not (_PLACEHOLDER and any(arg is _PLACEHOLDER for arg in step.args)):
        return run_step(step.func, (*step.args, *args), {**step.keywords, **kwargs}, worktree)
    args, kwargs = _with_worktree(step, args, kwargs, worktree)
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


def _with_worktree(
    step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], worktree: Path
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments with the work tree among them, if the step takes it and the caller has not given it."""
    try:
        signature = inspect.signature(_inner(step))
    except (TypeError, ValueError):  # no signature to be had
        return args, kwargs
    parameter = signature.parameters.get("worktree")
    if parameter is None or "worktree" in kwargs or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return args, kwargs
    place = list(signature.parameters).index("worktree")
    placed, named = args, kwargs
    if parameter.kind is parameter.KEYWORD_ONLY or (
        parameter.kind is parameter.POSITIONAL_OR_KEYWORD and len(args) <= place
    ):
        named = {**kwargs, "worktree": worktree}
    elif len(args) >= place:
        placed = (*args[:place], worktree, *args[place:])
    try:
        signature.bind_partial(*placed, **named)
    except TypeError:  # it was given by position, or the call does not fit at all, which the step says better
        return args, kwargs
    return placed, named


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
    return messages.first_line(value) if isinstance(value, str) else None
