"""
The four modes of a recall: current, as of an instant of the world, history, and as it was known.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.testing.ledger_contract.place import DAY, TICK, LedgerPlace, day

__all__ = ["ModeRules"]


class ModeRules(LedgerPlace):
    """What each mode returns, of a slot and by a query."""

    def moved(self) -> Any:
        """Tell of a region that changed on day 60 and was known to have changed on day 69."""
        handle = self.handle()
        self.tell(handle, "us-east", "region", at=day(10))
        self.tell(handle, "eu-west", "region", at=day(69), valid_from=day(60))
        self.clock.set(day(100))
        return handle

    def test_current_is_what_is_live_and_valid_now(self) -> None:
        """It is the mode where none is named and none is asked for in words."""
        handle = self.moved()
        for how in ({}, {"mode": "current"}):
            found = handle.recall("billing region", **how)
            assert found.mode == "current"
            assert [hit.memory.value for hit in found.hits] == ["eu-west"]
        assert self.read(handle, "region") == ["eu-west"]

    @pytest.mark.parametrize(
        ("instant", "by_today", "by_then"),
        [
            (day(10) - TICK, [], []),
            (day(10), ["us-east"], ["us-east"]),
            (day(60) - TICK, ["us-east"], ["us-east"]),
            (day(60), ["eu-west"], ["us-east"]),
            (day(69) - TICK, ["eu-west"], ["us-east"]),
            (day(69), ["eu-west"], ["eu-west"]),
        ],
    )
    def test_as_of_knows_better_than_known_at(self, instant: Any, by_today: list[str], by_then: list[str]) -> None:
        """As-of judges an instant by today's knowledge; known-at by that of the instant itself."""
        handle = self.moved()
        for query, how in [("", {"subject": "billing", "attribute": "region"}), ("billing region", {})]:
            as_of = handle.recall(query, as_of=instant, **how)
            known = handle.recall(query, known_at=instant, **how)
            both = handle.recall(query, as_of=instant, known_at=instant, **how)
            assert (as_of.mode, known.mode) == ("as_of", "known_at")
            assert [hit.memory.value for hit in as_of.hits] == by_today
            assert [hit.memory.value for hit in known.hits] == by_then
            assert [hit.memory.value for hit in both.hits] == by_then

    def test_known_at_and_as_of_rewind_two_clocks(self) -> None:
        """What was believed on one day about another."""
        handle = self.moved()
        assert self.read(handle, "region", known_at=day(65), as_of=day(62)) == ["us-east"]
        assert self.read(handle, "region", known_at=day(70), as_of=day(62)) == ["eu-west"]
        assert self.read(handle, "region", known_at=day(70), as_of=day(50)) == ["us-east"]
        assert self.read(handle, "region", known_at=day(9), as_of=day(62)) == []
        assert self.read(handle, "region", known_at=day(65), as_of=day(5)) == []

    def test_history_shows_all_versions_in_time_order(self) -> None:
        """Every version with both clocks and its status, those that are no longer believed too."""
        handle = self.moved()
        found = handle.recall("", mode="history", subject="billing", attribute="region")
        assert found.mode == "history"
        shown = [hit.memory for hit in found.hits]
        assert sorted((m.value, m.valid_from, m.valid_to, m.recorded_at, m.closed_at) for m in shown[1:]) == sorted(
            [
                ("us-east", day(10), day(60), day(69), None),
                ("eu-west", day(60), None, day(69), None),
            ]
        )
        first = shown[0]
        times = (first.valid_from, first.valid_to, first.recorded_at, first.closed_at)
        assert (first.value, *times) == ("us-east", day(10), None, day(10), day(69))
        assert [m.valid_from for m in shown] == sorted(m.valid_from for m in shown)
        assert [m.status for m in shown if m.value == "eu-west"] == ["live"]
        assert shown[1].status == "superseded"

    def test_history_by_id_and_by_query_are_the_third_mode(self) -> None:
        """``history`` takes the id of a memory, or a query."""
        handle = self.moved()
        (current,) = handle.recall("", subject="billing", attribute="region").hits
        by_id = handle.history(str(current.memory.id))
        assert by_id.mode == "history"
        assert {hit.memory.value for hit in by_id.hits} >= {"eu-west"}
        by_query = handle.history("billing region")
        assert by_query.mode == "history"
        assert [hit.memory.value for hit in by_query.hits].count("us-east") == 2

    def test_interval_returns_what_held_at_any_time_inside(self) -> None:
        """Both ends count as the clocks do: the start is inside, the end is not."""
        handle = self.moved()
        for asked, values in [
            ((day(20), day(30)), ["us-east"]),
            ((day(20), day(60)), ["us-east"]),
            ((day(20), day(60) + TICK), ["eu-west", "us-east"]),
            ((day(60) - TICK, day(90)), ["eu-west", "us-east"]),
            ((day(60), day(90)), ["eu-west"]),
            ((day(1), day(10)), []),
        ]:
            assert self.read(handle, "region", as_of=asked) == values

    def test_interval_of_belief_returns_what_was_believed_at_any_time_inside(self) -> None:
        """Alone it means: at an instant of it, about that instant."""
        handle = self.moved()
        for asked, values in [
            ((day(61), day(69)), ["us-east"]),
            ((day(61), day(69) + TICK), ["eu-west", "us-east"]),
            ((day(50), day(90)), ["eu-west", "us-east"]),
            ((day(69), day(90)), ["eu-west"]),
            ((day(1), day(10)), []),
        ]:
            assert self.read(handle, "region", known_at=asked) == values

    def test_belief_about_its_own_time_needs_one_instant_of_both(self) -> None:
        """What was over when it was told was never believed of the time at which it was believed."""
        handle = self.handle()
        self.tell(handle, "8100", valid_from=day(10), valid_to=day(20), at=day(50))
        assert self.read(handle, known_at=(day(5), day(60))) == []
        assert self.read(handle, known_at=(day(5), day(60)), as_of=(day(5), day(60))) == ["8100"]

    def test_date_as_a_question_is_a_day(self) -> None:
        """On the day of a change both values held."""
        handle = self.handle()
        self.tell(handle, "1", at=day(10))
        self.tell(handle, "2", at=day(60) + DAY / 2)
        assert self.read(handle, as_of="2024-03-01") == ["1", "2"]
        assert self.read(handle, as_of="2024-02-29") == ["1"]
        assert self.read(handle, known_at="2024-03-02") == ["2"]

    def test_later_corrected_belief_is_known_at_its_time(self) -> None:
        """A value that never held was believed, and only known-at and history say so."""
        handle = self.handle()
        self.tell(handle, "London", "city", at=day(10), valid_from=day(9))
        self.tell(handle, "Paris", "city", at=day(20), valid_from=day(9))
        assert self.read(handle, "city", as_of=day(12)) == ["Paris"]
        assert self.read(handle, "city", known_at=day(12)) == ["London"]
        assert self.read(handle, "city", known_at=day(12), as_of=day(9)) == ["London"]
        assert self.read(handle, "city", mode="history") == ["London", "Paris"]

    def test_every_hit_shows_both_clocks_status_and_space(self) -> None:
        """Whatever the mode, a hit says where it comes from and how it stands with it."""
        handle = self.moved()
        for how in ({}, {"as_of": day(20)}, {"known_at": day(20)}, {"mode": "history"}):
            for hit in handle.recall("", subject="billing", attribute="region", **how).hits:
                memory = hit.memory
                assert str(hit.space) == str(memory.space) == "planet:siv"
                assert memory.valid_from is not None
                assert memory.recorded_at is not None
                assert memory.status in ("live", "superseded")

    def test_mode_that_contradicts_its_times_is_refused(self) -> None:
        """A mode without the time it needs, or with one it does not take, is a mistake of the caller."""
        handle = self.moved()
        for mode in ("as_of", "known_at"):
            self.refuse(mode, lambda mode=mode: handle.recall("billing region", mode=mode))
        for other in ("now", "AS_OF", "", 5):
            self.refuse("mode", lambda mode=other: handle.recall("billing region", mode=mode))
        self.refuse("mode", lambda: handle.recall("billing region", mode="current", as_of=day(3)))

    def test_reading_changes_no_version(self) -> None:
        """No read in any mode touches what is stored."""
        handle = self.moved()
        before = self.rows()
        for how in ({}, {"as_of": day(20)}, {"known_at": day(20)}, {"mode": "history"}):
            handle.recall("billing region", **how)
            handle.recall("", subject="billing", attribute="region", **how)
        assert self.rows() == before

    def test_a25_recalling_a_closed_memory_leaves_it_closed(self) -> None:
        """However often it is read, a closed memory stays closed."""
        handle = self.handle()
        memory = self.tell(handle, "8100")
        self.clock.set(day(101))
        handle.forget(memory)
        before = self.rows()
        for _ in range(10):
            handle.recall("billing port", mode="history")
            handle.recall("billing port", known_at=day(100))
            handle.get(memory)
            handle.history(memory)
        assert self.rows() == before
        assert self.read(handle) == []
        assert handle.get(memory).status == "forgotten"

    def test_b04_as_of_without_a_zone_is_utc(self) -> None:
        """Dates with and without a zone may be mixed, and none crashes."""
        handle = self.handle()
        self.tell(handle, "8100", valid_from=day(10).replace(tzinfo=None), valid_to=day(20))
        assert self.read(handle, as_of=day(10).replace(tzinfo=None)) == ["8100"]
        assert self.read(handle, as_of=(day(5), day(11).replace(tzinfo=None))) == ["8100"]
        assert self.read(handle, as_of="2024-01-11T00:00:00") == ["8100"]

    def test_b07_past_view_keeps_what_has_ended_since(self) -> None:
        """A value that held from January to March is the answer for February."""
        handle = self.handle()
        self.tell(handle, "8100", valid_from=day(0), valid_to=day(91), at=day(200))
        assert self.read(handle) == []
        assert self.read(handle, as_of="2024-02-10") == ["8100"]
        assert self.find(handle, "billing port", as_of="2024-02-10") == ["billing has port 8100."]

    def test_b09_closed_memory_shows_both_ends_in_history(self) -> None:
        """A closed period is shown as closed, with all its fields."""
        handle = self.handle()
        memory = self.tell(handle, "8100", valid_from=day(10), valid_to=day(20), source="runbook")
        self.clock.set(day(150))
        (hit,) = handle.recall("billing port", mode="history").hits
        found = hit.memory
        assert (found.valid_from, found.valid_to, found.status) == (day(10), day(20), "ended")
        assert (str(found.id), found.value, found.source) == (memory, "8100", "runbook")

    def test_b16_what_was_true_and_what_was_known_are_told_apart(self) -> None:
        """A move on the first of March, recorded on the tenth, asked for the fifth both ways."""
        handle = self.handle()
        self.tell(handle, "us-east-1", "region", at=day(10))
        self.tell(handle, "eu-west-1", "region", at=day(69), valid_from=day(60))
        self.clock.set(day(150))
        assert self.read(handle, "region", as_of=day(64)) == ["eu-west-1"]
        assert self.read(handle, "region", known_at=day(64)) == ["us-east-1"]

    @pytest.mark.parametrize(
        ("query", "mode", "values"),
        [
            ("which port was it in March", "as_of", ["8100"]),
            ("what port did we think in March", "known_at", ["8000"]),
            ("how has the port changed", "history", ["8000", "8100", "8100", "8200"]),
            ("which port", "current", ["8200"]),
        ],
    )
    def test_b17_mode_is_read_from_the_query(self, query: str, mode: str, values: list[str]) -> None:
        """Four ways to ask for a port; the answer says which mode was understood, and why."""
        handle = self.handle()
        self.tell(handle, "8000", subject="kiwi", valid_from=day(10), at=day(10))
        self.tell(handle, "8100", subject="kiwi", valid_from=day(10), at=day(120))
        self.tell(handle, "8200", subject="kiwi", at=day(130))
        self.clock.set(day(150))
        found = handle.recall(query)
        assert found.mode == mode
        assert sorted(hit.memory.value for hit in found.hits) == values
        assert found.why
        if mode in ("as_of", "known_at"):
            assert (found.interval.start, found.interval.end) == (day(60), day(91))
