"""
The two clocks: versions that never change, half-open ends, status, expiry, and times as they are given.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

import pytest

from oort_flows.testing.ledger_contract.place import DAY, TICK, LedgerPlace, day

__all__ = ["ClockRules"]

MALFORMED: list[Any] = [
    "next-ish", "", " ", "2024-13-01", "2024-02-30T00:00:00", "20260101", 20260101, 1.5, True, b"2024-01-01", [], {},
    "2024-01-01T25:00:00", "tomorrow",
]  # fmt: skip


class ClockRules(LedgerPlace):
    """When something holds, and when it was believed."""

    def test_time_of_the_world_defaults_to_the_recording_time(self) -> None:
        """A fact without a date holds from when it was recorded, open-ended, and is believed from then on."""
        handle = self.handle()
        self.tell(handle, "8100", at=day(7))
        (row,) = self.rows()
        assert (row["valid_from"], row["recorded_at"], row["valid_to"], row["closed_at"]) == (day(7), day(7), None, None)

    def test_version_is_never_changed_but_closed_once(self) -> None:
        """Whatever happens to a memory, a stored version keeps every field; at most ``closed_at`` is set, once."""
        handle = self.handle()
        first = self.tell(handle, "8100", at=day(1), valid_from=day(1))
        history: list[dict[tuple[str, int], dict[str, Any]]] = [self._by_version()]
        second = self.tell(handle, "8200", at=day(2))
        history.append(self._by_version())
        self.tell(handle, "8200", at=day(3))
        handle.pin(second)
        handle.recall("billing port")
        history.append(self._by_version())
        self.clock.set(day(4))
        third = str(handle.correct(second, "the port is 8300", value="8300").facts[0].id)
        history.append(self._by_version())
        self.clock.set(day(5))
        handle.end(third)
        history.append(self._by_version())
        self.clock.set(day(6))
        handle.forget(third)
        history.append(self._by_version())
        for before, after in pairwise(history):
            assert before.keys() <= after.keys()
            for key, row in before.items():
                changed = {name for name in row if row[name] != after[key][name]}
                assert changed <= {"closed_at", "superseded_by", "closing"}
                assert row["closed_at"] in (None, after[key]["closed_at"])
        assert history[0].keys() == {(first, 1)}

    def test_ending_in_the_world_closes_the_open_version_and_appends_one(self) -> None:
        """A moment before, the ledger still believed that it would go on."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(1))
        self.tell(handle, "8200", at=day(5), valid_from=day(3))
        one, two = self.versions_of(memory)
        assert (one["version"], one["valid_to"], one["closed_at"]) == (1, None, day(5))
        assert (two["version"], two["valid_to"], two["recorded_at"], two["closed_at"]) == (2, day(3), day(5), None)
        assert self.read(handle, known_at=day(5) - TICK) == ["8100"]
        assert self.read(handle, known_at=day(5) - TICK, as_of=day(4)) == ["8100"]
        assert self.read(handle, known_at=day(5), as_of=day(4)) == ["8200"]

    def test_time_of_the_world_is_half_open(self) -> None:
        """A value holds from its very start, and at its end no more."""
        handle = self.handle()
        self.tell(handle, "8100", valid_from=day(10), valid_to=day(20))
        for instant, values in [
            (day(10) - TICK, []), (day(10), ["8100"]), (day(20) - TICK, ["8100"]), (day(20), []),
        ]:  # fmt: skip
            assert self.read(handle, as_of=instant) == values

    def test_time_of_belief_is_half_open(self) -> None:
        """A version is believed from the instant of its recording, and at that of its closing no more."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(10), valid_from=day(1))
        self.clock.set(day(20))
        handle.forget(memory)
        for instant, values in [
            (day(10) - TICK, []), (day(10), ["8100"]), (day(20) - TICK, ["8100"]), (day(20), []),
        ]:  # fmt: skip
            assert self.read(handle, known_at=instant) == values
            assert self.read(handle, known_at=instant, as_of=day(5)) == values

    def test_successor_begins_where_the_old_value_ends(self) -> None:
        """At the very instant of the change the new value holds, and one tick before it the old one."""
        handle = self.handle()
        self.tell(handle, "8100", at=day(1))
        self.tell(handle, "8200", at=day(9))
        assert self.read(handle, as_of=day(9) - TICK) == ["8100"]
        assert self.read(handle, as_of=day(9)) == ["8200"]
        assert self.read(handle, known_at=day(9) - TICK) == ["8100"]
        assert self.read(handle, known_at=day(9)) == ["8200"]

    def test_memory_of_each_status_is_told_apart(self) -> None:
        """Live, superseded, corrected, ended, expired and forgotten are what they say."""
        handle = self.handle()
        made = {
            "live": self.tell(handle, "1", "a", at=day(1)),
            "superseded": self.tell(handle, "1", "b"),
            "corrected": self.tell(handle, "1", "c", valid_from=day(1)),
            "ended": self.tell(handle, "1", "d"),
            "expired": self.tell(handle, "1", "e", expires_at=day(3)),
            "forgotten": self.tell(handle, "1", "f"),
        }
        self.tell(handle, "2", "b", at=day(2))
        self.tell(handle, "2", "c", valid_from=day(1))
        handle.end(made["ended"])
        handle.forget(made["forgotten"])
        self.clock.set(day(3))
        assert {handle.get(memory).status: memory for memory in made.values()} == made
        for memory in made.values():
            last = list(handle.history(memory).hits)[-1]
            assert last.memory.status == handle.get(memory).status

    def test_bounded_period_that_is_over_has_ended(self) -> None:
        """A fact that is told with both its ends is live between them, and has ended afterwards."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(10), valid_from=day(5), valid_to=day(20))
        assert handle.get(memory).status == "live"
        self.clock.set(day(20) - TICK)
        assert handle.get(memory).status == "live"
        self.clock.set(day(20))
        assert handle.get(memory).status == "ended"

    def test_recorded_time_never_runs_backwards(self) -> None:
        """With a clock that jumps back, later writes are not recorded before earlier ones, and are seen at once."""
        handle = self.handle()
        self.tell(handle, "8100", at=day(50))
        self.tell(handle, "9100", "metrics", at=day(20))
        self.tell(handle, "8200", at=day(30))
        times = [row["recorded_at"] for row in sorted(self.rows(), key=lambda row: (row["recorded_at"], row["version"]))]
        assert min(times) >= day(50)
        assert self.read(handle) == ["8200"]
        assert self.read(handle, "metrics") == ["9100"]
        reopened = self.handle()
        self.tell(reopened, "1", "other", at=day(1))
        assert all(row["recorded_at"] >= day(50) for row in self.rows())

    def test_closing_time_never_lies_before_the_recording(self) -> None:
        """Forgetting with a clock that went back closes a version no earlier than it was recorded."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(50))
        self.clock.set(day(10))
        handle.forget(memory)
        (row,) = self.rows()
        assert row["closed_at"] >= row["recorded_at"]
        assert self.read(handle) == []

    def test_expiry_ends_at_the_exact_instant(self) -> None:
        """One tick before it is there, at the instant it is not, and what was known then stays known."""
        handle = self.handle()
        memory = self.tell(handle, "8100", at=day(1), expires_at=day(5))
        self.clock.set(day(5) - TICK)
        assert self.read(handle) == ["8100"]
        assert self.find(handle, "billing port", mode="current") == ["billing has port 8100."]
        self.clock.set(day(5))
        assert self.read(handle) == []
        assert self.find(handle, "billing port", mode="current") == []
        assert handle.get(memory).status == "expired"
        assert self.read(handle, as_of=day(4)) == ["8100"]
        assert self.read(handle, known_at=day(4)) == ["8100"]
        (hit,) = handle.history(memory).hits
        assert (hit.memory.status, hit.memory.expires_at) == ("expired", day(5))

    def test_expired_memory_is_not_reinforced(self) -> None:
        """Said again after its expiry it is a new memory."""
        handle = self.handle()
        self.tell(handle, "8100", at=day(1), expires_at=day(5))
        self.tell(handle, "8100", at=day(6), outcome="added")
        assert self.read(handle) == ["8100"]

    # Times as they are given ---------------------------------------------------------------------------------------

    def test_naive_time_is_read_as_utc(self) -> None:
        """Without a zone a time is UTC, whatever zone the ledger has for words."""
        handle = self.ledger(zone="America/Sao_Paulo").scoped(user="siv")
        naive = datetime(2024, 3, 1, 12, 0)
        self.tell(handle, "8100", valid_from=naive, expires_at=naive + DAY)
        (row,) = self.rows()
        assert row["valid_from"] == naive.replace(tzinfo=UTC)
        assert self.read(handle, as_of=naive) == ["8100"]
        assert self.read(handle, as_of=naive - TICK) == []
        assert self.read(handle, as_of=naive + DAY) == []

    def test_time_of_another_zone_is_stored_in_utc(self) -> None:
        """An instant is an instant, wherever it is told."""
        handle = self.handle()
        there = datetime(2024, 3, 1, 2, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))
        memory = self.tell(handle, "8100", valid_from=there)
        (row,) = self.rows()
        assert row["valid_from"] == there
        assert row["valid_from"].utcoffset() == timedelta(0)
        assert handle.get(memory).valid_from.utcoffset() == timedelta(0)

    def test_time_as_text_is_read(self) -> None:
        """A time may come as ISO text, with a zone or without."""
        handle = self.handle()
        self.tell(handle, "8100", valid_from="2024-03-01T10:00:00+02:00", valid_to="2024-03-01T09:00:00")
        (row,) = self.rows()
        assert (row["valid_from"], row["valid_to"]) == (
            datetime(2024, 3, 1, 8, tzinfo=UTC),
            datetime(2024, 3, 1, 9, tzinfo=UTC),
        )

    def test_microseconds_are_kept(self) -> None:
        """No time is rounded."""
        handle = self.handle()
        start = datetime(2024, 3, 1, 12, 0, 0, 123_457, tzinfo=UTC)
        memory = self.tell(handle, "8100", valid_from=start, at=day(80) + 3 * TICK)
        assert handle.get(memory).valid_from == start
        assert handle.get(memory).recorded_at == day(80) + 3 * TICK
        assert self.read(handle, as_of=start - TICK) == []

    @pytest.mark.parametrize("year", [1, 1582, 1900, 9998])
    def test_time_far_away_is_kept(self, year: int) -> None:
        """The world is older than computers, and lasts longer."""
        handle = self.handle()
        start = datetime(year, 6, 1, tzinfo=UTC)
        self.tell(handle, "8100", valid_from=start, valid_to=start + DAY)
        assert self.read(handle, as_of=start) == ["8100"]
        assert self.read(handle, as_of=start + DAY) == []

    @pytest.mark.parametrize("moment", MALFORMED)
    @pytest.mark.parametrize("field", ["valid_from", "valid_to", "expires_at"])
    def test_malformed_time_of_a_fact_is_refused(self, field: str, moment: Any) -> None:
        """The field is named, the value is not repeated, and nothing is stored."""
        handle = self.handle()
        values = [moment] if isinstance(moment, str) and len(moment) > 4 else []
        self.refuse(field, lambda: handle.remember("The port is 8100.", **{field: moment}), *values)

    @pytest.mark.parametrize("moment", [m for m in MALFORMED if m != "20260101"])
    @pytest.mark.parametrize("field", ["as_of", "known_at"])
    def test_malformed_time_of_a_question_is_refused(self, field: str, moment: Any) -> None:
        """A recall never guesses at which instant was meant."""
        handle = self.handle()
        self.tell(handle, "8100")
        self.refuse(field, lambda: handle.recall("port", **{field: moment}))

    @pytest.mark.parametrize(("start", "end"), [(10, 10), (10, 9)])
    def test_empty_or_inverted_period_is_refused(self, start: int, end: int) -> None:
        """A period ends after it has begun."""
        handle = self.handle()
        self.refuse("valid_to", lambda: handle.remember("x is y", valid_from=day(start), valid_to=day(end)))
        for field in ("as_of", "known_at"):
            self.refuse(field, lambda field=field: handle.recall("x", **{field: (day(start + 1), day(end))}))

    def test_period_that_ends_before_the_recording_needs_a_start(self) -> None:
        """An end in the past without a start would be before it has begun."""
        handle = self.handle()
        self.refuse("valid_to", lambda: handle.remember("x is y", valid_to=day(1)))

    @pytest.mark.parametrize("moment", [20260101, "20260101"])
    def test_b12_number_as_expiry_is_refused(self, moment: Any) -> None:
        """A bare number is no time, as text neither."""
        handle = self.handle()
        self.refuse("expires_at", lambda: handle.remember("the sale is on", expires_at=moment), "20260101")

    def test_b12_edit_keeps_the_expiry(self) -> None:
        """A correction of the text alone leaves the expiry, the period, the slot and the source."""
        handle = self.handle()
        memory = self.tell(
            handle, "8100", at=day(1), valid_from=day(0), expires_at=day(90), source="runbook", type="procedural"
        )
        self.clock.set(day(2))
        new = str(handle.correct(memory, "The billing port is 8100, always.").facts[0].id)
        found = handle.get(new)
        assert (found.text, found.expires_at, found.valid_from) == ("The billing port is 8100, always.", day(90), day(0))
        assert (found.subject, found.attribute, found.source, found.type) == ("billing", "port", "runbook", "procedural")

    def test_b14_malformed_expiry_is_refused_and_not_taken_for_never(self) -> None:
        """``next-ish`` is no time; the message does not repeat it."""
        handle = self.handle()
        self.refuse("expires_at", lambda: handle.remember("the sale is on", expires_at="next-ish"), "next-ish")

    def test_date_as_a_question_means_the_whole_local_day(self) -> None:
        """A date is the day from midnight to midnight in the zone of the ledger."""
        handle = self.ledger(zone="America/Sao_Paulo").scoped(user="siv")
        midnight = datetime(2024, 3, 15, 3, tzinfo=UTC)
        self.tell(handle, "1", valid_from=midnight - DAY, valid_to=midnight)
        self.tell(handle, "2", valid_from=midnight, valid_to=midnight + TICK)
        self.tell(handle, "3", valid_from=midnight + DAY - TICK, valid_to=midnight + DAY)
        self.tell(handle, "4", valid_from=midnight + DAY)
        for asked in ("2024-03-15", date(2024, 3, 15)):
            assert self.read(handle, as_of=asked) == ["2", "3"]

    def _by_version(self) -> dict[tuple[str, int], dict[str, Any]]:
        return {(str(row["id"]), row["version"]): row for row in self.rows()}
