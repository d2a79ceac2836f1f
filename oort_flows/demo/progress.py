"""
What the command shows while it works: the step it is at, on a terminal with a spinner, elsewhere as plain lines.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.markup import escape

__all__ = ["Progress", "quiet_prefect"]

_STEPS: Final = {
    "Ground": "read what earlier runs kept",
    "Curate": "chose what matters of it",
    "Write the notes": "ran the step in a work tree of its own",
    "Run isolated": "brought back what it changed, with the reason",
    "Consolidate": "folded this run into the summary",
}


class Progress(logging.Handler):
    """
    Shows the steps of a run as they end, taken from what Prefect logs about its tasks.

    Parameters
    ----------
    console:
        Where to; standard error as a rule, so that the report can be piped.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(logging.INFO)
        self._console = console
        self._began = time.monotonic()

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Say what is being done, for as long as it takes."""
        if self._console.is_terminal:
            with self._console.status(escape(what)):
                yield
        else:
            self._print("…", what)
            yield

    def done(self, what: str) -> None:
        """Say that something is done."""
        self._print("✓", what)

    def emit(self, record: logging.LogRecord) -> None:
        """Show a warning, or that a task has ended. An error comes out of the run, and is told once, by the command."""
        name = str(getattr(record, "task_run_name", "") or "")
        if record.levelno == logging.WARNING:
            self._print("!", " ".join(record.getMessage().split())[:300])
        elif name and "Completed()" in record.getMessage():
            self.done(next((step for task, step in _STEPS.items() if name.startswith(task)), name))

    def _print(self, mark: str, what: str) -> None:
        seconds = f"{time.monotonic() - self._began:5.1f} s"
        self._console.print(f"{seconds}  {mark} {what}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def quiet_prefect(progress: Progress) -> Iterator[None]:
    """
    Show Prefect's tasks as steps and keep its own log off the console; the log on the server stays complete.

    The console stays quiet afterwards, since the temporary server says goodbye when the process ends.
    """
    from prefect.logging.handlers import PrefectConsoleHandler

    for handler in logging.getLogger().handlers:
        if isinstance(handler, PrefectConsoleHandler):
            handler.setLevel(logging.CRITICAL)
    watched = [logging.getLogger("prefect.task_runs"), logging.getLogger("prefect.flow_runs")]
    for logger in watched:
        logger.addHandler(progress)
    try:
        yield
    finally:
        for logger in watched:
            logger.removeHandler(progress)
