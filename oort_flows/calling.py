"""
Calling what a user supplies: plain or async, bounded in time, in the caller's context.

Async callables run on a loop of our own thread, never by ``asyncio.run`` in the caller's, which may have a running loop.
"""

from __future__ import annotations

import contextvars
import inspect
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

__all__ = ["call", "in_thread"]


def call(function: Callable[..., Any], *args: Any, timeout: float | None = None, **kwargs: Any) -> Any:
    """
    Call *function* and return what it returns, awaited if need be.

    Parameters
    ----------
    function:
        Plain or async. It sees the context variables of the caller.
    timeout:
        Seconds to wait; ``None`` waits as long as it takes. A plain function cannot be stopped: past its time it is left
        behind in a daemon thread, and what it returns then is dropped.

    Raises
    ------
    TimeoutError
        When the time is over.
    BaseException
        Whatever *function* raises.

    Example
    -------
    >>> async def double(n):
    ...     return n * 2
    >>> call(double, 4), call(abs, -1)
    (8, 1)
    """
    if timeout is None:
        answer = function(*args, **kwargs)
        return _await(answer, None) if inspect.iscoroutine(answer) else answer

    def bounded() -> Any:
        answer = function(*args, **kwargs)
        return _await(answer, timeout) if inspect.iscoroutine(answer) else answer

    return _in_daemon_thread(bounded).result(timeout)


def in_thread(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
    """Run *function* in a thread, in the caller's context; cancelling the wait does not tear what it does."""
    import asyncio

    return asyncio.to_thread(function, *args, **kwargs)


def _in_daemon_thread(function: Callable[[], Any]) -> Future[Any]:
    """Start *function* in a thread that does not keep the process alive."""
    future: Future[Any] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(function))
        except BaseException as error:  # noqa: BLE001 - handed over to the thread that waits
            future.set_exception(error)

    threading.Thread(target=run, name="oort-call", daemon=True).start()
    return future


def _await(coroutine: Coroutine[Any, Any, Any], timeout: float | None) -> Any:
    loop_thread = _LoopThread.current()
    if loop_thread.is_this_thread():
        # An async callable that calls back into us: its own loop is busy waiting for it.
        loop_thread = _LoopThread()
    future = loop_thread.submit(_outcome(coroutine))
    try:
        value, error = future.result(timeout)
    except BaseException:
        future.cancel()
        raise
    if error is not None:
        raise error
    return value


async def _outcome(coroutine: Coroutine[Any, Any, Any]) -> tuple[Any, BaseException | None]:
    """
    Await *coroutine* and return what it raised instead of raising it.

    An interrupt that leaves a task ends its loop, and everybody who waits on it waits forever; a cancellation would reach
    the caller as ``concurrent.futures.CancelledError``, which is an ordinary ``Exception``.
    """
    try:
        return await coroutine, None
    except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
        return None, error


class _LoopThread:
    """A daemon thread with an event loop; one for each process, so a forked child starts its own."""

    _shared: _LoopThread | None = None
    _lock = threading.Lock()

    def __init__(self) -> None:
        import asyncio

        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="oort-loop", daemon=True)
        self._thread.start()

    @classmethod
    def current(cls) -> _LoopThread:
        with cls._lock:
            if cls._shared is None or cls._shared._pid != os.getpid():
                cls._shared = cls()
            return cls._shared

    def is_this_thread(self) -> bool:
        return threading.current_thread() is self._thread

    def submit(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        future: Future[Any] = Future()
        context = contextvars.copy_context()

        def start() -> None:
            task = self._loop.create_task(coroutine, context=context)
            task.add_done_callback(lambda done: _hand_over(done, future))
            # A caller that has stopped waiting cancels the future, and with it the task.
            future.add_done_callback(lambda f: f.cancelled() and self._loop.call_soon_threadsafe(task.cancel))

        self._loop.call_soon_threadsafe(start)
        return future


def _hand_over(done: asyncio.Task[Any], future: Future[Any]) -> None:
    if done.cancelled():
        future.cancel()
    elif future.set_running_or_notify_cancel():
        error = done.exception()
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(done.result())
