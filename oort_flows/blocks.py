"""
Prefect blocks that say where a memory lives.

A block holds plain settings and opens a live memory for a scope; handles and locks stay out of it, so it can be saved,
copied and sent to another process.
"""

from __future__ import annotations

from typing import Any, Final

from prefect.blocks.core import Block
from pydantic import BaseModel, Field, HttpUrl, model_validator

from oort_flows.files import FileMemory, GitFileMemory, Limits
from oort_flows.files.git import list_scopes
from oort_flows.files.in_process import open_shared, shared_scopes

__all__ = ["GitMemory", "InProcessMemory"]

_ABOUT_BLOCKS: Final = HttpUrl("https://docs.prefect.io/v3/concepts/blocks")


class _KnownFieldsOnly(BaseModel):
    """Refuses fields that do not exist, which Prefect's blocks keep in silence. Not a block, so it is never registered."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, values: Any) -> Any:
        if isinstance(values, dict):
            known = set(cls.model_fields) | {"block_type_slug"}
            unknown = sorted(str(name) for name in values if name not in known and not str(name).startswith("_block_"))
            if unknown:
                raise ValueError(f"{cls.__name__} has no field {', '.join(unknown)}; it has {', '.join(cls.model_fields)}")
        return values


class InProcessMemory(_KnownFieldsOnly, Block):
    """
    A file memory that lives in the process and is gone with it: for tests and notebooks.

    All blocks of one name in one process open the same memory.

    Attributes
    ----------
        name: Name of the store.

    Example:
        Load a stored memory and use it in a flow:
        ```python
        from oort_flows import memory_context
        from oort_flows.blocks import InProcessMemory

        memory = InProcessMemory.load("BLOCK_NAME")
        with memory_context(files=memory, project="billing"):
            ...
        ```
    """

    _block_type_name = "Oort In-Process Memory"
    _block_type_slug = "oort-in-process-memory"
    _documentation_url = _ABOUT_BLOCKS
    _block_schema_capabilities = ["file-memory"]

    name: str = Field(description="Name of the store; blocks of one name in one process share it.", min_length=1)

    def open(self, scope: str) -> FileMemory:
        """
        Open the memory of *scope*; the same one for every block of this name.

        Raises
        ------
        ConfigurationError
            If the scope is unusable.
        """
        return open_shared(self.name, scope)

    def scopes(self) -> list[str]:
        """List the scopes that have been opened in this store by this process, sorted."""
        return shared_scopes(self.name)


class GitMemory(_KnownFieldsOnly, Block):
    """
    A file memory that lives in a Git repository, under a reference of its own: no branch, no commit, no file.

    Attributes
    ----------
        repository: Path of the repository, or of any folder inside it; bare ones work too.
        limits: How much one scope may hold.

    Example:
        Load a stored memory and use it in a flow:
        ```python
        from oort_flows import memory_context
        from oort_flows.blocks import GitMemory

        memory = GitMemory.load("BLOCK_NAME")
        with memory_context(files=memory, project="billing"):
            ...
        ```
    """

    _block_type_name = "Oort Git Memory"
    _block_type_slug = "oort-git-memory"
    _documentation_url = _ABOUT_BLOCKS
    _block_schema_capabilities = ["file-memory"]

    repository: str = Field(description="Path of the repository, or of any folder inside it.", min_length=1)
    limits: Limits = Field(default_factory=Limits, description="How much one scope may hold.")

    def open(self, scope: str) -> FileMemory:
        """
        Open the memory of *scope* in this repository.

        Raises
        ------
        ConfigurationError
            If there is no usable repository, or the scope is unusable.
        """
        return GitFileMemory(self.repository, scope, self.limits)

    def scopes(self) -> list[str]:
        """
        List the scopes that have a memory in this repository, sorted.

        Raises
        ------
        ConfigurationError
            If there is no usable repository.
        StorageError
            If it cannot be read.
        """
        return list_scopes(self.repository)
