"""The git adapter of the file port."""

from oort_flows.files.git.memory import GitFileMemory, list_scopes
from oort_flows.files.git.packing import Compaction

__all__ = ["Compaction", "GitFileMemory", "list_scopes"]
