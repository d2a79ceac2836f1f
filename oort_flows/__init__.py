"""
Memory for Prefect pipelines: every step remembers, and every change carries its reason.

The names of this module are looked up when they are used, so importing it costs nothing and loads no Prefect. The verbs are
elsewhere: :mod:`oort_flows.tasks` holds them as Prefect tasks, :mod:`oort_flows.mechanics` as plain functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oort_flows.blocks import GitMemory, InProcessMemory
    from oort_flows.context import StepMemory, current_memory, memory_context
    from oort_flows.files import FileMemory, GitFileMemory, InProcessFileMemory, Limits
    from oort_flows.mechanics import Source
    from oort_flows.worktrees import IsolatedRun, ReasoningRecord, isolated

__version__ = "0.1.0"

__all__ = [
    "FileMemory",
    "GitFileMemory",
    "GitMemory",
    "InProcessFileMemory",
    "InProcessMemory",
    "IsolatedRun",
    "Limits",
    "ReasoningRecord",
    "Source",
    "StepMemory",
    "__version__",
    "current_memory",
    "isolated",
    "memory_context",
]

_HOMES = {
    "FileMemory": "files",
    "GitFileMemory": "files",
    "GitMemory": "blocks",
    "InProcessFileMemory": "files",
    "InProcessMemory": "blocks",
    "IsolatedRun": "worktrees",
    "Limits": "files",
    "ReasoningRecord": "worktrees",
    "Source": "mechanics",
    "StepMemory": "context",
    "current_memory": "context",
    "isolated": "worktrees",
    "memory_context": "context",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
