"""How much a file memory may hold."""

from __future__ import annotations

from dataclasses import dataclass, fields

from oort_flows.errors import ConfigurationError

__all__ = ["MAX_COUNT", "Limits"]

MAX_COUNT = 2**53 - 1
"""The largest integer that JSON numbers keep exact everywhere (IEEE 754 double precision)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """
    Bounds of one scope; only the bytes of file texts and the number of files count.

    Parameters
    ----------
    max_file_bytes:
        Most bytes (UTF-8) of one file. May exceed the total; then the total binds.
    max_total_bytes:
        Most bytes of all files together.
    max_files:
        Most files.

    Raises
    ------
    ConfigurationError
        If a bound is not an integer from 1 to 2**53 - 1.

    Example
    -------
    >>> Limits(max_files=500).max_total_bytes
    1048576
    """

    max_file_bytes: int = 65_536
    max_total_bytes: int = 1_048_576
    max_files: int = 256

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_COUNT:
                raise ConfigurationError(f"limits.{field.name} must be an integer from 1 to {MAX_COUNT}")
