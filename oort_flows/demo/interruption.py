"""
Being stopped, by Ctrl-C or by SIGTERM: told once, whatever comes of it in the code that was running.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType
from typing import Final

__all__ = ["Interruption"]

_MESSAGE: Final = "Stopped. What was written stays whole; run the same command again."
_ONE_PRESS_S: Final = 1.0


class Interruption:
    """
    Takes over SIGINT and SIGTERM for the rest of the process.

    The first signal raises ``KeyboardInterrupt``. What that turns into on its way up does not matter: :attr:`code` says that
    there was one. A later signal, or one that comes when the work is done, ends the process at once.
    """

    def __init__(self) -> None:
        self.code: int | None = None
        """The exit code that says what stopped the process; ``None`` as long as nothing did."""
        self._working = True
        self._told = False
        self._since = 0.0
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:  # a job in the background of a script keeps out of Ctrl-C
                signal.signal(number, self._stop)

    def tell(self) -> None:
        """Say once that the command was stopped."""
        if not self._told:
            self._told = True
            os.write(2, f"{_MESSAGE}\n".encode())

    def end(self) -> None:
        """Say that the work is done, so that there is nothing left that could be interrupted."""
        sys.stdout.flush()
        self._working = False

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.code is None:
            self.code = 128 + number
            self._since = time.monotonic()
            if self._working:
                raise KeyboardInterrupt
        elif time.monotonic() - self._since < _ONE_PRESS_S:
            return  # programs that pass a signal on often send it to the process and to its group
        self.tell()
        os._exit(self.code)
