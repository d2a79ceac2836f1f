"""The async twins of a handle: the same verbs for code that runs on a loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from oort_flows.calling import in_thread
from oort_flows.models.memories import Explanation, Memory, Observed, Recall

__all__ = ["Twins"]


class Twins:
    """Each verb once more, with an ``a`` in front: it runs in a thread, so that the loop is not blocked."""

    remember: Callable[..., Observed]
    remember_many: Callable[..., Observed]
    judge: Callable[..., Observed]
    correct: Callable[..., Observed]
    end: Callable[..., Observed]
    forget: Callable[..., Memory]
    pin: Callable[..., Memory]
    unpin: Callable[..., Memory]
    share: Callable[..., Observed]
    erase: Callable[..., int]
    get: Callable[..., Memory]
    recall: Callable[..., Recall]
    history: Callable[..., Recall]
    explain: Callable[..., Explanation]

    def aremember(self, text: str, **arguments: Any) -> Coroutine[Any, Any, Observed]:
        """Do as :meth:`remember` does, in a thread."""
        return in_thread(self.remember, text, **arguments)

    def aremember_many(self, facts: Iterable[Mapping[str, Any]]) -> Coroutine[Any, Any, Observed]:
        """Do as :meth:`remember_many` does, in a thread."""
        return in_thread(self.remember_many, facts)

    def ajudge(self, text: str, **arguments: Any) -> Coroutine[Any, Any, Observed]:
        """Do as :meth:`judge` does, in a thread."""
        return in_thread(self.judge, text, **arguments)

    def acorrect(self, id: str, text: str | None = None, **arguments: Any) -> Coroutine[Any, Any, Observed]:  # noqa: A002
        """Do as :meth:`correct` does, in a thread."""
        return in_thread(self.correct, id, text, **arguments)

    def aend(self, id: str, at: object = None) -> Coroutine[Any, Any, Observed]:  # noqa: A002
        """Do as :meth:`end` does, in a thread."""
        return in_thread(self.end, id, at)

    def aforget(self, id: str) -> Coroutine[Any, Any, Memory]:  # noqa: A002
        """Do as :meth:`forget` does, in a thread."""
        return in_thread(self.forget, id)

    def apin(self, id: str) -> Coroutine[Any, Any, Memory]:  # noqa: A002
        """Do as :meth:`pin` does, in a thread."""
        return in_thread(self.pin, id)

    def aunpin(self, id: str) -> Coroutine[Any, Any, Memory]:  # noqa: A002
        """Do as :meth:`unpin` does, in a thread."""
        return in_thread(self.unpin, id)

    def ashare(self, id: str, to: str) -> Coroutine[Any, Any, Observed]:  # noqa: A002
        """Do as :meth:`share` does, in a thread."""
        return in_thread(self.share, id, to)

    def aerase(self, *, id: str) -> Coroutine[Any, Any, int]:  # noqa: A002
        """Do as :meth:`erase` does, in a thread."""
        return in_thread(self.erase, id=id)

    def aget(self, id: str) -> Coroutine[Any, Any, Memory]:  # noqa: A002
        """Do as :meth:`get` does, in a thread."""
        return in_thread(self.get, id)

    def arecall(self, query: str, **arguments: Any) -> Coroutine[Any, Any, Recall]:
        """Do as :meth:`recall` does, in a thread."""
        return in_thread(self.recall, query, **arguments)

    def ahistory(self, query: str) -> Coroutine[Any, Any, Recall]:
        """Do as :meth:`history` does, in a thread."""
        return in_thread(self.history, query)

    def aexplain(self, id: str) -> Coroutine[Any, Any, Explanation]:  # noqa: A002
        """Do as :meth:`explain` does, in a thread."""
        return in_thread(self.explain, id)
