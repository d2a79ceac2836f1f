"""
File memory: text files below ``/memories``, behind one port of six commands.

Pick an adapter for where the files live; the commands mean the same everywhere.
"""

from typing import TYPE_CHECKING, Any

from oort_flows.files.git import GitFileMemory
from oort_flows.files.in_process import InProcessFileMemory
from oort_flows.models.limits import Limits
from oort_flows.ports import FileMemory

if TYPE_CHECKING:
    from oort_flows.models.commands import Command, Create, Delete, Insert, Rename, StrReplace, View
    from oort_flows.models.results import (
        Created,
        Deleted,
        DirectoryEntry,
        DirectoryView,
        Edited,
        Failure,
        FileError,
        FileView,
        LineSpan,
        Renamed,
        Result,
        Success,
    )

__all__ = [
    "Command",
    "Create",
    "Created",
    "Delete",
    "Deleted",
    "DirectoryEntry",
    "DirectoryView",
    "Edited",
    "Failure",
    "FileError",
    "FileMemory",
    "FileView",
    "GitFileMemory",
    "InProcessFileMemory",
    "Insert",
    "Limits",
    "LineSpan",
    "Rename",
    "Renamed",
    "Result",
    "StrReplace",
    "Success",
    "View",
]

_COMMANDS = frozenset({"Command", "Create", "Delete", "Insert", "Rename", "StrReplace", "View"})


def __getattr__(name: str) -> Any:
    """Import the models when they are first asked for: pydantic costs several times the rest of this package."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _COMMANDS:
        from oort_flows.models import commands as models
    else:
        from oort_flows.models import results as models  # type: ignore[no-redef]
    return getattr(models, name)


def __dir__() -> list[str]:
    return __all__
