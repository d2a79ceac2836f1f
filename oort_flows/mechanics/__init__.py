"""
What a step does with a file memory: ground reads, curate chooses, consolidate writes back.

Plain functions over any :class:`~oort_flows.ports.FileMemory`; they distrust what the port answers, count in characters
(Unicode code points) and never cut one in half. :mod:`oort_flows.tasks` has them as Prefect tasks.
"""

from oort_flows.mechanics.consolidating import consolidate
from oort_flows.mechanics.curating import curate
from oort_flows.mechanics.grounding import ground
from oort_flows.mechanics.prompts import UNTRUSTED_WARNING
from oort_flows.models.mechanics import Consolidated, Curated, Document, Grounded, Skipped, Source

__all__ = [
    "UNTRUSTED_WARNING",
    "Consolidated",
    "Curated",
    "Document",
    "Grounded",
    "Skipped",
    "Source",
    "consolidate",
    "curate",
    "ground",
]
