"""
Listening to what a step's run logger says.

The loggers are known by name, so nothing here needs Prefect. What Prefect's engine says of its own accord through the same
loggers ("Finished in state Completed()") is told apart by where in the code it was said.
"""

from __future__ import annotations

import contextvars
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["listening"]

_RUN_LOGGERS = ("prefect.flow_runs", "prefect.task_runs")
# Which listener this code is heard by: steps that run at once, in threads or on one loop, are not to mix.
_heard_by: contextvars.ContextVar[_Listener | None] = contextvars.ContextVar("oort_heard_by", default=None)


class _Listener(logging.Handler):
    def __init__(self, keep: Callable[[str], None], level: int) -> None:
        super().__init__(level)
        self._keep = keep

    def emit(self, record: logging.LogRecord) -> None:
        if _heard_by.get() is not self or _is_of_the_engine(record):
            return
        try:
            self._keep(f"{record.levelname}: {record.getMessage()}")
        except Exception:  # noqa: BLE001 - as every handler: bad arguments of a log call do not stop the step
            self.handleError(record)


def _is_of_the_engine(record: logging.LogRecord) -> bool:
    prefect = sys.modules.get("prefect")
    file = getattr(prefect, "__file__", None)
    return bool(file) and record.pathname.startswith(os.path.dirname(str(file)) + os.sep)


@contextmanager
def listening(keep: Callable[[str], None], level: int) -> Iterator[None]:
    """Hand to *keep* what the code inside says through its run logger, at *level* and above."""
    listener = _Listener(keep, level)
    loggers = [logging.getLogger(name) for name in _RUN_LOGGERS]
    for logger in loggers:
        logger.addHandler(listener)
    token = _heard_by.set(listener)
    try:
        yield
    finally:
        _heard_by.reset(token)
        for logger in loggers:
            logger.removeHandler(listener)
