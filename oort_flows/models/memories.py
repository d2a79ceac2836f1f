"""
Values of the ledger: memories and their versions, spaces, what a write did and what a recall found.

All of them are frozen, and none knows a database or a clock.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, Literal

from oort_flows.errors import InvalidInputError
from oort_flows.models.clocks import Interval

__all__ = [
    "Budget",
    "Cardinality",
    "Explanation",
    "FactOutcome",
    "Hit",
    "Memory",
    "MemoryType",
    "Mode",
    "Observed",
    "Operation",
    "Outcome",
    "Recall",
    "Space",
    "Stats",
    "Status",
    "Tier",
    "Transferred",
    "Turn",
]

Cardinality = Literal["one", "many", "fixed"]
"""How many values an attribute has at one time; a fixed one never changes in the world, it is only corrected."""

Mode = Literal["current", "as_of", "history", "known_at"]

Outcome = Literal[
    "added",
    "reinforced",
    "superseded",
    "corrected",
    "inserted",
    "ended",
    "rejected",
    "failed",
    "observed",
    "nothing",
]

Status = Literal["live", "superseded", "corrected", "ended", "expired", "forgotten", "merged", "undone"]


class MemoryType(StrEnum):
    """What kind of thing a memory says."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"
    PREFERENCE = "preference"
    JUDGMENT = "judgment"


class Tier(StrEnum):
    """How close at hand a memory is kept."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


class Space(str):
    """
    Whose memory it is: one user's planet, one agent's star beside it, or a team's constellation.

    It is the name itself. Names are compared after NFC and are otherwise kept apart exactly; ``%``, ``/`` and ``:`` in them
    are percent-encoded.

    Example
    -------
    >>> Space.star("siv", "a/b") == "star:siv/a%2Fb", Space.parse("constellation:payments").kind
    (True, 'constellation')
    """

    __slots__ = ()

    @classmethod
    def planet(cls, user: str) -> Space:
        """Return the space of *user*."""
        return cls(f"planet:{encoded(user, 'user')}")

    @classmethod
    def star(cls, user: str, agent: str) -> Space:
        """Return the space that *agent* has to itself when it works for *user*."""
        return cls(f"star:{encoded(user, 'user')}/{encoded(agent, 'agent')}")

    @classmethod
    def constellation(cls, team: str) -> Space:
        """Return the space that the members of *team* share."""
        return cls(f"constellation:{encoded(team, 'teams')}")

    @classmethod
    def parse(cls, value: object, field: str = "space") -> Space:
        """
        Return the space that is called *value*.

        Raises
        ------
        InvalidInputError
            If *value* is no such name.
        """
        if isinstance(value, Space):
            return value
        kind, _, rest = value.partition(":") if isinstance(value, str) else ("", "", "")
        parts = rest.split("/")
        if _PARTS.get(kind) != len(parts) or any(not part.strip() or ":" in part for part in parts):
            raise InvalidInputError(field, "must be planet:<user>, star:<user>/<agent> or constellation:<team>")
        return cls(f"{kind}:" + "/".join(checked_name(part, field) for part in parts))

    @property
    def kind(self) -> str:
        """``planet``, ``star`` or ``constellation``."""
        return self.partition(":")[0]


_PARTS: Final = {"planet": 1, "star": 2, "constellation": 1}


@dataclass(frozen=True, slots=True)
class Memory:
    """
    One version of one memory.

    Attributes
    ----------
    id, version:
        The memory, and which of its versions this is, counted from 1.
    text:
        The fact as a sentence, as it was given, secrets aside.
    subject, attribute, value, cardinality:
        The slot it fills, when it has one.
    valid_from, valid_to:
        When it holds in the world; half-open, and ``None`` where it still does.
    recorded_at, closed_at:
        When the ledger believed it; half-open, and ``None`` where it still does.
    status:
        ``live``, or why it is not.
    confirmations, last_confirmed_at:
        How often it was said, counting the first time, and when last.
    supersedes, superseded_by:
        Ids of the memories it replaced, and of those that replaced it.
    origin:
        The id and space it was shared from.
    """

    id: str
    version: int
    type: MemoryType
    text: str
    space: Space
    project: str | None
    subject: str | None
    attribute: str | None
    value: str | None
    cardinality: Cardinality
    reason: str | None
    expert: str | None
    valid_from: datetime
    valid_to: datetime | None
    expires_at: datetime | None
    recorded_at: datetime
    closed_at: datetime | None
    status: Status
    confirmations: int = 1
    last_confirmed_at: datetime | None = None
    used: int = 0
    last_used_at: datetime | None = None
    pinned: bool = False
    importance: float = 0.5
    tier: Tier = Tier.WARM
    source: str | None = None
    speaker: str | None = None
    provenance: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    origin: tuple[str, str] | None = None

    @property
    def valid(self) -> Interval:
        """When it holds in the world."""
        return Interval(self.valid_from, self.valid_to)

    @property
    def believed(self) -> Interval:
        """When the ledger believed it."""
        return Interval(self.recorded_at, self.closed_at)


@dataclass(frozen=True, slots=True)
class Turn:
    """
    One exchange: what was said, by whom, and when.

    Parameters
    ----------
    user, assistant:
        The two sides of it.
    at:
        When it was said; now, if left out. Words such as "yesterday" count from here.
    source:
        Who said it; the first person means them.
    context:
        The turn before, as text.
    """

    user: str
    assistant: str | None = None
    at: datetime | None = None
    source: str | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True)
class FactOutcome:
    """
    What became of one fact.

    Attributes
    ----------
    id:
        The memory that now says it; ``None`` where none does.
    outcome:
        What happened.
    closed:
        Ids of the memories that were closed by it, on either clock.
    left_alone:
        Ids of live memories that say nearly the same and were not touched.
    reason:
        Why, in a sentence.
    """

    id: str | None
    outcome: Outcome
    closed: tuple[str, ...] = ()
    left_alone: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """
    What a write did.

    Attributes
    ----------
    outcome:
        That of the one fact; for several ``observed``, or ``nothing`` where there was none.
    facts:
        What became of each fact, in order.
    duplicate:
        Whether this very operation was carried out before; then this is the first answer again.
    """

    outcome: Outcome
    facts: tuple[FactOutcome, ...] = ()
    duplicate: bool = False

    @property
    def id(self) -> str | None:
        """The memory that says the first fact."""
        return self.facts[0].id if self.facts else None


@dataclass(frozen=True, slots=True)
class Hit:
    """
    One memory that a recall found.

    Attributes
    ----------
    score:
        How well it fits, for the order within this recall only.
    reasons:
        Why it is here and where it stands, in a few words each.
    """

    memory: Memory
    score: float
    reasons: tuple[str, ...]

    @property
    def space(self) -> Space:
        """The space it comes from."""
        return self.memory.space

    @property
    def tier(self) -> Tier:
        """The tier it was found in."""
        return self.memory.tier


@dataclass(frozen=True, slots=True)
class Recall:
    """
    What a recall found.

    Attributes
    ----------
    hits:
        Best first; in history in time order. Empty where nothing is known.
    mode, interval, known, why:
        How the question was read: the mode, the stretch of the world's time and of the ledger's knowledge it asks about
        (``None`` where it asks about no time in particular), and the reason.
    prompt:
        The hits as quoted, untrusted data for a model; empty where there are none.
    """

    hits: tuple[Hit, ...]
    mode: Mode
    interval: Interval | None
    why: str
    prompt: str
    known: Interval | None = None

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The memories of the hits, in their order."""
        return tuple(hit.memory for hit in self.hits)


@dataclass(frozen=True, slots=True)
class Budget:
    """
    How long a prompt block may be.

    Parameters
    ----------
    limit:
        The most that *measure* may count.
    measure:
        Counts a text: code points, if left out; pass a tokenizer's count for tokens.
    """

    limit: int
    measure: Callable[[str], int] = len


@dataclass(frozen=True, slots=True)
class Operation:
    """One write to the ledger: what it was, when, under which key, and the reason given for it."""

    kind: str
    at: datetime
    key: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """
    How a memory came to be as it is.

    Attributes
    ----------
    memory:
        Its latest version.
    versions:
        All of them, oldest first.
    operations:
        The writes that opened and closed them, in order.
    predecessors, successors:
        The latest versions of what it replaced, and of what replaced it.
    sentences:
        The same told in words, one step a sentence.
    """

    memory: Memory
    versions: tuple[Memory, ...]
    operations: tuple[Operation, ...]
    predecessors: tuple[Memory, ...]
    successors: tuple[Memory, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stats:
    """How much a ledger holds: memories by space, type, tier and status, and their versions."""

    memories: int
    versions: int
    by_space: Mapping[str, int]
    by_type: Mapping[str, int]
    by_tier: Mapping[str, int]
    by_status: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Transferred:
    """What an import did: memories that were new, those that grew, and those that were here already."""

    added: int = 0
    extended: int = 0
    unchanged: int = 0


_MAX_NAME: Final = 512


def checked_name(value: object, field: str) -> str:
    """
    Return *value* in NFC if it can name a user, an agent, a team or a project.

    Raises
    ------
    InvalidInputError
        If it is no string, blank, too long, or holds control characters or half a surrogate pair.
    """
    if not isinstance(value, str) or not value.strip():
        raise InvalidInputError(field, "must be a string that is not blank")
    if len(value) > _MAX_NAME:
        raise InvalidInputError(field, f"must not be longer than {_MAX_NAME} characters")
    if any(c < " " or c == "\x7f" or "\ud800" <= c <= "\udfff" for c in value):
        raise InvalidInputError(field, "must not hold control characters or half a surrogate pair")
    return unicodedata.normalize("NFC", value)


def encoded(value: object, field: str) -> str:
    """Return a checked name with the separators of space names percent-encoded."""
    return checked_name(value, field).replace("%", "%25").replace("/", "%2F").replace(":", "%3A")
