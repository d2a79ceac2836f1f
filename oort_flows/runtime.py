"""
Prefect's side of the step's memory: which run this is, and blocks by name.
"""

from __future__ import annotations

from functools import lru_cache
from uuid import UUID

from prefect import runtime
from prefect.blocks.core import Block
from prefect.client.orchestration import get_client

from oort_flows.errors import ConfigurationError
from oort_flows.ports import OpensFileMemory, RunContext

__all__ = ["load_block", "prefect_run"]


class _PrefectRun:
    """The run that Prefect says this code is part of; looked up at each call, since one context may serve many runs."""

    def root_flow_name(self) -> str | None:
        flow_run = runtime.flow_run
        if flow_run.id is None:
            return None
        root = self.root_flow_run_id()
        name: str | None = flow_run.flow_name if root in (None, flow_run.id) else _flow_name_of(str(root))
        return name

    def root_flow_run_id(self) -> str | None:
        current = self.flow_run_id()
        return None if current is None else _root_of(current)

    def flow_run_id(self) -> str | None:
        current: str | None = runtime.flow_run.id
        return None if current is None else str(current)

    def task_run_id(self) -> str | None:
        current: str | None = runtime.task_run.id
        return None if current is None else str(current)


def prefect_run() -> RunContext:
    """Return what Prefect tells of the run that this code is part of."""
    return _PrefectRun()


@lru_cache(maxsize=256)
def _root_of(flow_run_id: str) -> str:
    """Find the root of a run. In a subflow that asks the server, and the answer never changes."""
    return str(runtime.flow_run.root_flow_run_id or flow_run_id)


@lru_cache(maxsize=256)
def _flow_name_of(flow_run_id: str) -> str:
    with get_client(sync_client=True) as client:
        flow_run = client.read_flow_run(UUID(flow_run_id))
        return client.read_flow(flow_run.flow_id).name


def load_block(name: str) -> OpensFileMemory:
    """
    Load the block document *name*, written ``slug/name``.

    Raises
    ------
    ConfigurationError
        If there is no such document, or if it is none that opens a file memory.
    """
    from oort_flows import blocks  # noqa: F401 - its classes are registered by being imported

    if name.count("/") != 1:
        raise ConfigurationError("files must be a block document's slug and name, such as oort-git-memory/main")
    try:
        block = Block.load(name, _sync=True)  # type: ignore[call-arg] # prefect's dispatch looks at the running flow first
    except ValueError:
        raise ConfigurationError("files names a block document that does not exist or cannot be loaded") from None
    if not isinstance(block, OpensFileMemory):
        raise ConfigurationError("files names a block document that opens no file memory")
    return block
