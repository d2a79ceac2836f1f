"""Checks of what a caller sets; what is wrong is a ConfigurationError that names the setting and not its value."""

from __future__ import annotations

import math
from collections.abc import Iterable

from oort_flows.errors import ConfigurationError
from oort_flows.models.mechanics import Source
from oort_flows.ports import FileMemory

__all__ = ["check_callable", "check_count", "check_memory", "check_text", "check_timeout", "merged_sources"]


def check_memory(memory: FileMemory) -> None:
    """Refuse what has no ``execute``."""
    if not callable(getattr(memory, "execute", None)):
        raise ConfigurationError("memory must be a file memory")


def check_count(name: str, value: object) -> None:
    """Refuse what is no positive integer; a boolean and a float are none."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigurationError(f"{name} must be a positive integer")


def check_timeout(value: object) -> None:
    """Refuse what is neither ``None`` nor a positive, finite number of seconds."""
    if value is None:
        return
    # What no thread can wait for is no timeout; 2**31 seconds are 68 years.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or not 0 < value < 2**31:
        raise ConfigurationError("timeout must be a positive number of seconds, or None")


def check_callable(name: str, value: object) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise ConfigurationError(f"{name} must be callable")


def check_text(name: str, value: object) -> None:
    """Refuse what is no string."""
    if not isinstance(value, str):
        raise ConfigurationError(f"{name} must be a string")


def merged_sources(sources: Iterable[str | Source]) -> dict[str, bool]:
    """
    Return the paths of *sources* in order of first appearance, each with whether it is optional; required wins.

    >>> merged_sources([Source("/memories/a.md", optional=True), "/memories/b.md", "/memories/a.md"])
    {'/memories/a.md': False, '/memories/b.md': False}
    """
    if isinstance(sources, (str, bytes, Source)) or not isinstance(sources, Iterable):
        raise ConfigurationError("sources must be a list of paths or Source(...)")
    merged: dict[str, bool] = {}
    for source in sources:
        if isinstance(source, Source):
            path, optional = source.path, source.optional
        elif isinstance(source, str):
            path, optional = str.__str__(source), False
        else:
            raise ConfigurationError("sources must hold paths and Source(...) only")
        merged[path] = merged.get(path, True) and optional
    return merged
