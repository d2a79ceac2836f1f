"""
Steps in work trees of their own, and the reason of each change in the commit that carries it.
"""

from oort_flows.models.runs import Discarded, IsolatedRun, PrunedWorktree, Reason
from oort_flows.worktrees.isolation import isolated
from oort_flows.worktrees.pruning import prune_worktrees
from oort_flows.worktrees.reasons import why
from oort_flows.worktrees.records import Captured, Outcome, ReasoningRecord, Turn

__all__ = [
    "Captured",
    "Discarded",
    "IsolatedRun",
    "Outcome",
    "PrunedWorktree",
    "Reason",
    "ReasoningRecord",
    "Turn",
    "isolated",
    "prune_worktrees",
    "why",
]
