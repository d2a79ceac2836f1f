"""Work that has to come to its end, whatever interrupts the thread that waits for it."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["finish"]

T = TypeVar("T")


def finish(function: Callable[[], T], interruptions: list[BaseException]) -> T:
    """
    Run *function* to its end and return what it returns.

    Ctrl-C, a signal that raises, and an exception that an orchestrator throws into this thread do not reach it: it runs in
    a thread of its own. They are appended to *interruptions*, for the caller to raise when everything is in order.

    >>> finish(lambda: 6 * 7, [])
    42
    """
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(function))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            future.set_exception(error)

    threading.Thread(target=run, name="oort-finish").start()
    while not future.done():
        # Not Thread.join: before Python 3.13 an interrupted join takes the thread for dead.
        try:
            future.exception()
        except BaseException as interruption:  # noqa: BLE001 - kept for the caller
            interruptions.append(interruption)
    return future.result()
