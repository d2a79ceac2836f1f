"""
File memory: text files below ``/memories``, behind one port of six commands.

Pick an adapter for where the files live; the commands mean the same everywhere.
"""

from oort_flows.files.in_process import InProcessFileMemory
from oort_flows.models.commands import Command, Create, Delete, Insert, Rename, StrReplace, View
from oort_flows.models.limits import Limits
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
from oort_flows.ports import FileMemory

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
