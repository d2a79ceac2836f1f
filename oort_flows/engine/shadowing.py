"""
Shadowing: inside of a project, its own value of a slot hides the global one at every instant at which both hold.

Pure; times are microseconds and stretches are half-open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Asked", "Extent", "is_hidden"]


@dataclass(frozen=True, slots=True)
class Extent:
    """When a version holds in the world, and when it was believed."""

    valid_from: int
    until: int
    recorded_at: int
    closed_at: int


@dataclass(frozen=True, slots=True)
class Asked:
    """
    What a recall asks about: the world from ``t0`` to ``t1``, as believed from ``k0`` to ``k1``.

    ``k0`` is ``None`` for the belief of today; with ``together`` both clocks show the same instant.
    """

    t0: int
    t1: int
    k0: int | None = None
    k1: int | None = None
    together: bool = False


def is_hidden(extent: Extent, own: Sequence[Extent], asked: Asked) -> bool:
    """Tell whether one of *own* hides *extent* at every instant that is asked about and at which it shows."""
    if not own:
        return False
    worlds = _marks(asked.t0, asked.t1, [extent.valid_from, extent.until], own, "valid_from", "until")
    if asked.k0 is None or asked.k1 is None:
        return all(_covered(own, t, None) for t in worlds if extent.valid_from <= t < extent.until)
    beliefs = _marks(asked.k0, asked.k1, [extent.recorded_at, extent.closed_at], own, "recorded_at", "closed_at")
    if asked.together:
        instants = sorted({*worlds, *beliefs})
        pairs = [(t, t) for t in instants if asked.t0 <= t < asked.t1]
    else:
        pairs = [(t, k) for t in worlds for k in beliefs]
    shown = [(t, k) for t, k in pairs if _shows(extent, t, k)]
    return all(_covered(own, t, k) for t, k in shown)


def _marks(start: int, stop: int, first: list[int], own: Sequence[Extent], begins: str, ends: str) -> list[int]:
    """Instants that stand for all from *start* to *stop*: nothing changes but where something begins or ends."""
    marks = {start, *first, *(getattr(other, name) for other in own for name in (begins, ends))}
    return sorted(mark for mark in marks if start <= mark < stop)


def _shows(extent: Extent, t: int, k: int | None) -> bool:
    return extent.valid_from <= t < extent.until and (k is None or extent.recorded_at <= k < extent.closed_at)


def _covered(own: Sequence[Extent], t: int, k: int | None) -> bool:
    return any(_shows(other, t, k) for other in own)
