"""One writer per target: calls that write the same thing queue up, and a queue is gone when its last caller is."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from oort_flows.errors import ConfigurationError

__all__ = ["queued"]


@dataclass(slots=True)
class _Queue:
    lock: threading.Lock = field(default_factory=threading.Lock)
    callers: int = 0


_queues: dict[Hashable, _Queue] = {}
_guard = threading.Lock()
# Follows the call into its threads and loops, so that a callback which comes back for the same key is known.
_held: ContextVar[frozenset[Hashable]] = ContextVar("oort_held_queues", default=frozenset())


@contextmanager
def queued(key: Hashable) -> Iterator[None]:
    """
    Hold the place of *key*; others who want it wait.

    Raises
    ------
    ConfigurationError
        If the very call that holds it comes back for it, which would wait for ever.
    """
    if key in _held.get():
        raise ConfigurationError("fold must not consolidate into the target that it is folding")
    with _guard:
        queue = _queues.setdefault(key, _Queue())
        queue.callers += 1
    try:
        with queue.lock:
            token = _held.set(_held.get() | {key})
            try:
                yield
            finally:
                _held.reset(token)
    finally:
        with _guard:
            queue.callers -= 1
            if not queue.callers and _queues.get(key) is queue:
                del _queues[key]


def _start_anew() -> None:
    """Forget queues in a forked child: their holders are threads of the parent."""
    global _guard
    _guard = threading.Lock()
    _queues.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
