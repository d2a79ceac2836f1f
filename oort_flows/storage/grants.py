"""What a handle may read and where it writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from oort_flows.errors import InvalidInputError
from oort_flows.models.memories import Space, checked_name
from oort_flows.storage.folding import digest

__all__ = ["Grant", "grant_of"]


@dataclass(frozen=True, slots=True)
class Grant:
    """
    The scope of a handle.

    Attributes
    ----------
    reads, writes:
        The spaces it reads, and the one it writes to.
    project:
        Its project; it sees that project's memories and the global ones. ``None`` sees the global ones only.
    """

    reads: tuple[Space, ...]
    writes: Space
    project: str | None

    @property
    def projects(self) -> tuple[str | None, ...]:
        """The projects it sees, its own first."""
        return (None,) if self.project is None else (self.project, None)

    def allows(self, space: str, project: str | None) -> bool:
        """Tell whether what lies there may be seen."""
        return space in self.reads and (project is None or project == self.project)

    @property
    def digest(self) -> bytes:
        """Stands for this grant: two handles with the same see the same."""
        return digest(*sorted(self.reads), None, self.project)


def grant_of(user: object, agent: object, project: object, teams: object, keeps_star: object) -> Grant:
    """
    Return the grant of a user, and of an agent, a project and teams where they are named.

    Raises
    ------
    InvalidInputError
        If a name is none, or a star is to be kept without an agent.
    """
    name = checked_name(user, "user")
    if isinstance(teams, str) or not isinstance(teams, Iterable):
        raise InvalidInputError("teams", "must be a list of names")
    if not isinstance(keeps_star, bool) or (keeps_star and agent is None):
        raise InvalidInputError("keeps_star", "needs an agent to keep it")
    reads = [Space.planet(name)]
    if agent is not None:
        reads.append(Space.star(name, checked_name(agent, "agent")))
    reads += [Space.constellation(checked_name(team, "teams")) for team in teams]
    return Grant(
        tuple(dict.fromkeys(reads)),
        reads[1] if keeps_star else reads[0],
        None if project is None else checked_name(project, "project"),
    )
