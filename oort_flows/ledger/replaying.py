"""A ledger as one run saw it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from oort_flows.calling import in_thread
from oort_flows.models.memories import Recall

__all__ = ["Seen"]


class Seen:
    """
    A ledger as one run saw it; see :meth:`ScopedLedger.as_seen_by`.

    Attributes
    ----------
    run:
        The name of the run.
    """

    def __init__(self, run: str, answer: Callable[..., Recall]) -> None:
        self.run = run
        self._answer = answer

    def recall(self, query: str, **arguments: Any) -> Recall:
        """
        Answer as the run was answered; the arguments are those of :meth:`ScopedLedger.recall`, but for the run.

        Raises
        ------
        NotFoundError
            If the run left no receipt here.
        """
        return self._answer(self.run, query, **arguments)

    def arecall(self, query: str, **arguments: Any) -> Coroutine[Any, Any, Recall]:
        """Do as :meth:`recall` does, in a thread."""
        return in_thread(self.recall, query, **arguments)
