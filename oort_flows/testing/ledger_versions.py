"""
Values of the ledger that is a plain list: versions, facts on their way in, and answers.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from oort_flows.errors import InvalidInputError

__all__ = ["News", "PlainAnswer", "PlainFact", "PlainHit", "PlainRecall", "PlainVersion", "fold", "slot_of", "words"]


@dataclass(frozen=True)
class PlainVersion:
    """One version of a memory, as the table of fields has it; ``closing`` says why it was closed on the second clock."""

    id: str
    version: int
    text: str
    space: str
    project: str | None
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime
    type: str = "semantic"
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    reason: str | None = None
    expert: str | None = None
    expires_at: datetime | None = None
    source: str | None = None
    closed_at: datetime | None = None
    closing: str | None = None
    ending: str | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    origin: str | None = None

    @property
    def slot(self) -> tuple[str, str] | None:
        """The slot it fills."""
        return slot_of(self.subject, self.attribute)

    @property
    def same(self) -> str:
        """Stands for what it says: two versions of a slot with the same say the same."""
        return fold(self.value or self.text)

    @property
    def end(self) -> datetime | None:
        """When it stops being true or usable, whichever comes first."""
        return min((t for t in (self.valid_to, self.expires_at) if t is not None), default=None)

    def holds_at(self, t: datetime) -> bool:
        """Whether it describes the instant *t* of the world."""
        return self.valid_from <= t and (self.end is None or t < self.end)

    def believed_at(self, k: datetime | None) -> bool:
        """Whether the ledger believed it at *k*; ``None`` asks for what it believes now."""
        if k is None:
            return self.closed_at is None
        return self.recorded_at <= k and (self.closed_at is None or k < self.closed_at)


@dataclass(frozen=True)
class PlainFact:
    """What became of one fact."""

    id: str
    outcome: str
    closed: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlainAnswer:
    """What became of a write."""

    outcome: str
    facts: tuple[PlainFact, ...]
    duplicate: bool = False


@dataclass(frozen=True)
class PlainHit:
    """A version that a recall found."""

    memory: PlainVersion
    space: str


@dataclass(frozen=True)
class PlainRecall:
    """What a recall found."""

    hits: tuple[PlainHit, ...]
    mode: str


@dataclass
class News:
    """A fact before it has met what is known."""

    text: str
    valid_from: datetime
    valid_to: datetime | None
    fields: dict[str, Any] = field(default_factory=dict)
    kind: str = "one"
    dated: bool = True

    @property
    def slot(self) -> tuple[str, str] | None:
        """The slot it fills."""
        return slot_of(self.fields.get("subject"), self.fields.get("attribute"))

    @property
    def value(self) -> str:
        """Stands for what it says."""
        return fold(self.fields.get("value") or self.text)

    @property
    def end(self) -> datetime | None:
        """When it stops being true or usable."""
        return min((t for t in (self.valid_to, self.fields.get("expires_at")) if t is not None), default=None)

    def check(self) -> None:
        """Refuse a period that is over before it begins."""
        for name, end in (("valid_to", self.valid_to), ("expires_at", self.fields.get("expires_at"))):
            if end is not None and end <= self.valid_from:
                raise InvalidInputError(name, "has to be later than valid_from")

    def overlaps(self, known: PlainVersion) -> bool:
        """Whether the two have an instant in common."""
        return (self.end is None or known.valid_from < self.end) and (known.end is None or self.valid_from < known.end)

    def is_said_by(self, known: PlainVersion) -> bool:
        """Whether *known* is the same sentence, of one kind, and stands in no slot that would make it another fact."""
        same = (known.type, known.expert) == (self.fields.get("type", "semantic"), self.fields.get("expert"))
        slot = known.slot
        fits = self.slot is None or slot is None or (slot == self.slot and known.same == self.value)
        return same and fits and fold(known.text) == fold(self.text)


def fold(text: str) -> str:
    """Return *text* up to case, spacing and Unicode form."""
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())


def words(text: str) -> set[str]:
    """Return the words of *text*, folded."""
    return set(re.findall(r"\w+", fold(text)))


def slot_of(subject: str | None, attribute: str | None) -> tuple[str, str] | None:
    """Return the slot that a subject and an attribute name together."""
    return (fold(subject), fold(attribute)) if subject and attribute else None
