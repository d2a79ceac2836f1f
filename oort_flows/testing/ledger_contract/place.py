"""
The place a ledger keeps its memories in, and the two ways into it: the ledger, and the back door.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from oort_flows.errors import InvalidInputError, NotFoundError
from oort_flows.testing.clock import FrozenClock

__all__ = ["DAY", "ROW_FIELDS", "TICK", "LedgerPlace", "day"]

DAY: Final = timedelta(days=1)
TICK: Final = timedelta(microseconds=1)
ROW_FIELDS: Final = frozenset(
    {
        "id",
        "version",
        "type",
        "text",
        "subject",
        "attribute",
        "value",
        "space",
        "project",
        "valid_from",
        "valid_to",
        "recorded_at",
        "closed_at",
        "source",
    }
)

_START: Final = datetime(2024, 1, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    """Return midnight UTC, *number* days after the first of January 2024."""
    return _START + number * DAY


class LedgerPlace(ABC):
    """
    One fresh place for each test, and what the tests do there.

    Attributes
    ----------
    clock:
        The clock of every ledger that a test opens; it shows ``day(100)`` at first.
    """

    clock: FrozenClock

    # What an adapter's author writes -------------------------------------------------------------------------------

    def open_place(self, directory: Path) -> None:  # noqa: B027 - a place in this process needs no set-up
        """Prepare an empty place; *directory* is empty and this place's own. By default nothing happens."""

    def close_place(self) -> None:  # noqa: B027 - most places need no tear-down
        """Let go of what the test took. By default nothing happens."""

    @abstractmethod
    def open_ledger(self, *, clock: FrozenClock, zone: str = "UTC", vocabulary: Mapping[str, str] | None = None) -> Any:
        """Open a ledger in this place, not scoped yet. Opened twice, both show the same memories."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """
        Return every version as it is stored, in any order, by the back door.

        A row is a mapping with at least the names of ``ROW_FIELDS``; times are in UTC with a zone, an open end is ``None``.
        """

    # What the tests share ------------------------------------------------------------------------------------------

    @pytest.fixture(autouse=True)
    def place(self, tmp_path: Path) -> Iterator[None]:
        """Open a fresh place for the test, and close it afterwards."""
        directory = tmp_path / "place"
        directory.mkdir()
        self.clock = FrozenClock(day(100))
        self.open_place(directory)
        yield
        self.close_place()

    def ledger(self, *, zone: str = "UTC", vocabulary: Mapping[str, str] | None = None) -> Any:
        """Open a ledger on this place by the clock of the test."""
        return self.open_ledger(clock=self.clock, zone=zone, vocabulary=vocabulary)

    def handle(self, user: str = "siv", **scope: Any) -> Any:
        """Open a ledger and scope it to *user*."""
        return self.ledger().scoped(user=user, **scope)

    def tell(
        self,
        handle: Any,
        value: str,
        attribute: str = "port",
        *,
        subject: str = "billing",
        at: datetime | None = None,
        outcome: str | None = None,
        **more: Any,
    ) -> str:
        """
        Declare a fact with a slot, with the clock set to *at*, and return the id of its memory.

        The text names subject, attribute and value; *outcome* is what has to become of it.
        """
        if at is not None:
            self.clock.set(at)
        more.setdefault("text", f"{subject} has {attribute} {value}.")
        text = more.pop("text")
        answer = handle.remember(text, subject=subject, attribute=attribute, value=value, **more)
        assert [fact.outcome for fact in answer.facts] == [outcome or answer.facts[0].outcome]
        return str(answer.facts[0].id)

    def read(
        self, handle: Any, attribute: str = "port", subject: str = "billing", *, limit: int = 1_000, **how: Any
    ) -> list[str]:
        """Read a slot in the mode of *how*, and return the values found, sorted."""
        found = handle.recall("", subject=subject, attribute=attribute, limit=limit, **how)
        return sorted(hit.memory.value for hit in found.hits)

    def find(self, handle: Any, query: str, **how: Any) -> list[str]:
        """Recall *query* and return the texts found, best first."""
        return [hit.memory.text for hit in handle.recall(query, **how).hits]

    def believed(self, value: str | None = None) -> list[tuple[str, datetime, datetime | None]]:
        """List what is stored and believed, by the back door: value and period, in time order; of *value* where named."""
        rows = [row for row in self.rows() if row["closed_at"] is None and value in (None, row["value"])]
        periods = [(row["value"], row["valid_from"], row["valid_to"]) for row in rows]
        return sorted(periods, key=lambda period: (period[1], str(period[0])))

    def versions_of(self, memory: str) -> list[dict[str, Any]]:
        """List the stored versions of one memory by number, by the back door."""
        return sorted((row for row in self.rows() if str(row["id"]) == memory), key=lambda row: row["version"])

    def refuse(self, field: str, call: Any, *values: str) -> None:
        """Make a *call* that is refused for *field*, without repeating *values*, and leaves everything as it was."""
        before = self.rows()
        with pytest.raises(InvalidInputError) as caught:
            call()
        assert caught.value.field == field
        for value in values:
            assert value not in str(caught.value), "a message does not repeat what was passed in"
        assert sorted(map(repr, self.rows())) == sorted(map(repr, before))

    def unknown(self, call: Any) -> str:
        """Make a *call* that has to find nothing, and return the message."""
        before = self.rows()
        with pytest.raises(NotFoundError) as caught:
            call()
        assert type(caught.value) is NotFoundError
        assert sorted(map(repr, self.rows())) == sorted(map(repr, before))
        return str(caught.value)
