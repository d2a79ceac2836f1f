"""
Operation keys: a write that is repeated happens once.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.errors import ConflictError
from oort_flows.testing.ledger_contract.place import LedgerPlace, day

__all__ = ["KeyRules"]


class KeyRules(LedgerPlace):
    """Same key and content: the first answer again. Same key, other content: a conflict."""

    def test_g04_repeated_key_writes_once_and_gives_the_first_answer(self) -> None:
        """A retried write leaves one memory with a count of one."""
        handle = self.handle()
        first = handle.remember("billing listens on 8100", key="turn-7")
        self.clock.set(day(200))
        again = handle.remember("billing listens on 8100", key="turn-7")
        assert (first.duplicate, again.duplicate) == (False, True)
        assert (again.outcome, again.facts) == (first.outcome, first.facts)
        (row,) = self.rows()
        assert row["recorded_at"] == day(100)
        assert handle.get(str(first.facts[0].id)).confirmations == 1

    def test_repeated_key_is_known_after_reopening(self) -> None:
        """A key outlives the process that used it."""
        self.handle().remember("billing listens on 8100", key="turn-7")
        again = self.handle().remember("billing listens on 8100", key="turn-7")
        assert again.duplicate is True
        assert len(self.rows()) == 1

    def test_repeated_key_of_a_superseding_write_does_not_act_again(self) -> None:
        """The answer is that of the first time, though the world has moved on."""
        handle = self.handle()
        self.tell(handle, "8100", at=day(1))
        slot: dict[str, Any] = {"subject": "billing", "attribute": "port", "key": "k"}
        self.clock.set(day(2))
        first = handle.remember("billing moved to 8200", value="8200", **slot)
        self.tell(handle, "8300", at=day(3))
        again = handle.remember("billing moved to 8200", value="8200", **slot)
        assert (again.outcome, again.facts, again.duplicate) == ("superseded", first.facts, True)
        assert self.read(handle) == ["8300"]

    @pytest.mark.parametrize(
        "other",
        [
            {"text": "billing listens on 8101"},
            {"value": "8101"},
            {"valid_from": day(4)},
            {"valid_to": day(400)},
            {"subject": "orders"},
            {"expires_at": day(400)},
            {"type": "procedural"},
            {"source": "another"},
        ],
        ids=lambda other: next(iter(other)),
    )
    def test_same_key_with_other_content_is_a_conflict(self, other: dict[str, Any]) -> None:
        """Whatever differs, nothing is written, and the message repeats no content."""
        handle = self.handle()
        said = {"text": "billing listens on 8100", "subject": "billing", "attribute": "port", "value": "8100"}
        handle.remember(**said, key="k")
        before = self.rows()
        with pytest.raises(ConflictError) as caught:
            handle.remember(**(said | other), key="k")
        assert "8101" not in str(caught.value)
        assert self.rows() == before

    def test_two_keys_are_two_operations(self) -> None:
        """The same content under another key, or without one, confirms what is there."""
        handle = self.handle()
        memory = str(handle.remember("billing listens on 8100", key="a").facts[0].id)
        assert handle.remember("billing listens on 8100", key="b").outcome == "reinforced"
        assert handle.remember("billing listens on 8100").outcome == "reinforced"
        assert handle.get(memory).confirmations == 3

    def test_key_belongs_to_its_space(self) -> None:
        """Two users with one key neither meet nor learn of each other."""
        siv, otso = self.handle("siv"), self.handle("otso")
        siv.remember("billing listens on 8100", key="k")
        answer = otso.remember("orders listens on 8200", key="k")
        assert (answer.outcome, answer.duplicate) == ("added", False)
        assert self.find(otso, "listens") == ["orders listens on 8200"]

    def test_key_is_used_by_a_write_that_succeeded_only(self) -> None:
        """After a refusal the key is free."""
        handle = self.handle()
        self.refuse("valid_to", lambda: handle.remember("x is y", valid_to=day(1), key="k"))
        answer = handle.remember("x is z", key="k")
        assert (answer.outcome, answer.duplicate) == ("added", False)

    @pytest.mark.parametrize("key", ["", " ", 5, "\x00", "\ud800"])
    def test_key_that_names_nothing_is_refused(self, key: Any) -> None:
        """An empty key is a mistake and not the absence of one."""
        handle = self.handle()
        self.refuse("key", lambda: handle.remember("x is y", key=key))
