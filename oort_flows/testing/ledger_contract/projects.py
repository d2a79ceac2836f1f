"""
Projects: their own memories, the global ones, and which of two values of a slot is shown.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.testing.ledger_contract.place import DAY, LedgerPlace, day

__all__ = ["ProjectRules"]

_SHADOWING: list[dict[str, Any]] = [{}, {"mode": "current"}, {"as_of": day(100)}, {"known_at": day(100)}]


class ProjectRules(LedgerPlace):
    """A read in a project sees its memories and the global ones; its own value of a slot comes first."""

    def test_e02_each_project_sees_its_own_and_the_global_ones(self) -> None:
        """One fact with another value in each of two projects, and one that is global."""
        lark, wren, no_project = self.handle(project="lark"), self.handle(project="wren"), self.handle()
        self.tell(lark, "8100")
        self.tell(wren, "8200", outcome="added")
        self.tell(no_project, "Oslo", "office", subject="Runa")
        for how in (*_SHADOWING, {"mode": "history"}):
            assert self.read(lark, **how) == ["8100"]
            assert self.read(wren, **how) == ["8200"]
            assert self.read(no_project, **how) == []
            for handle in (lark, wren, no_project):
                assert self.read(handle, "office", "Runa", **how) == ["Oslo"]
            assert self.find(lark, "billing port", **how) == ["billing has port 8100."]

    @pytest.mark.parametrize("how", _SHADOWING, ids=str)
    def test_value_of_the_project_shadows_the_global_one(self, how: dict[str, Any]) -> None:
        """Inside of the project only its own value is shown, by slot and by query; outside, the global one."""
        lark, no_project = self.handle(project="lark"), self.handle()
        self.tell(no_project, "8000", at=day(10))
        self.tell(lark, "8100", at=day(20), outcome="added")
        self.clock.set(day(100))
        assert self.read(lark, **how) == ["8100"]
        assert self.find(lark, "billing port", **how) == ["billing has port 8100."]
        assert self.read(no_project, **how) == ["8000"]
        assert self.read(self.handle(project="wren"), **how) == ["8000"]

    def test_history_shows_the_shadowed_value_too(self) -> None:
        """Nothing is hidden from a history."""
        lark = self.handle(project="lark")
        self.tell(self.handle(), "8000", at=day(10))
        self.tell(lark, "8100", at=day(20))
        assert self.read(lark, mode="history") == ["8000", "8100"]
        assert sorted(self.find(lark, "billing port", mode="history")) == [
            "billing has port 8000.",
            "billing has port 8100.",
        ]

    def test_global_value_is_shadowed_only_while_the_project_has_one(self) -> None:
        """Before the project had a value of its own, and after it ended, the global one holds."""
        lark = self.handle(project="lark")
        self.tell(self.handle(), "8000", at=day(1))
        own = self.tell(lark, "8100", at=day(10))
        self.clock.set(day(20))
        lark.end(own)
        assert self.read(lark) == ["8000"]
        for instant, value in [(5, "8000"), (10, "8100"), (19, "8100"), (20, "8000")]:
            assert self.read(lark, as_of=day(instant)) == [value]
            assert self.read(lark, known_at=day(instant)) == [value]
        assert self.read(lark, as_of=(day(12), day(15))) == ["8100"]
        assert self.read(lark, as_of=(day(5), day(15))) == ["8000", "8100"]

    def test_shadow_is_cast_on_the_own_slot_alone(self) -> None:
        """Other slots and sentences without a slot are shown beside it."""
        lark, no_project = self.handle(project="lark"), self.handle()
        self.tell(no_project, "kiwi", "host")
        self.tell(no_project, "8000", subject="orders")
        no_project.remember("billing is owned by Runa.")
        self.tell(lark, "8100")
        assert self.read(lark, "host") == ["kiwi"]
        assert self.read(lark, subject="orders") == ["8000"]
        assert "billing is owned by Runa." in self.find(lark, "who owns billing")

    def test_global_value_of_another_space_is_not_shadowed(self) -> None:
        """A project's value in the planet does not hide what the team holds for all."""
        siv = self.handle(teams=["core"])
        siv.share(self.tell(siv, "8000", at=day(1)), to="constellation:core")
        lark = self.handle(project="lark", teams=["core"])
        self.tell(lark, "8100", at=day(2))
        hits = lark.recall("", subject="billing", attribute="port").hits
        assert sorted((str(hit.space), hit.memory.value) for hit in hits) == [
            ("constellation:core", "8000"),
            ("planet:siv", "8100"),
        ]

    def test_shadowed_value_does_not_use_up_the_limit(self) -> None:
        """What is not shown is not counted."""
        lark = self.handle(project="lark")
        for number in range(12):
            self.tell(self.handle(), str(number), f"port {number}", at=day(number))
            self.tell(lark, str(100 + number), f"port {number}")
        self.clock.set(day(100))
        texts = self.find(lark, "billing port", limit=12)
        assert len(texts) == 12
        assert all(int(text.rstrip(".").rpartition(" ")[2]) >= 100 for text in texts)

    def test_facts_of_two_projects_never_close_each_other(self) -> None:
        """Neither a project and another, nor a project and the global ones."""
        handles = [self.handle(), self.handle(project="lark"), self.handle(project="wren")]
        for number, handle in enumerate(handles):
            self.tell(handle, f"80{number}", at=day(10 * number), outcome="added")
        for handle in handles:
            handle.remember("Backups run at night.")
        assert len(self.believed()) == 6
        assert [end for _, _, end in self.believed()] == [None] * 6

    def test_memory_of_another_project_cannot_be_reached_by_id(self) -> None:
        """A handle sees its own project and what is global, by id too."""
        lark, wren, no_project = self.handle(project="lark"), self.handle(project="wren"), self.handle()
        own, everywhere = self.tell(lark, "8100"), self.tell(no_project, "Oslo", "office")
        assert lark.get(everywhere).value == "Oslo"
        for other in (wren, no_project):
            self.unknown(lambda other=other: other.get(own))
            self.unknown(lambda other=other: other.forget(own))
        assert lark.get(own).project == "lark"

    def test_correction_of_a_global_memory_stays_global(self) -> None:
        """Where a handle corrects a memory, the new one lies where the old one lay."""
        memory = self.tell(self.handle(), "8000")
        lark = self.handle(project="lark")
        self.clock.advance(DAY)
        new = str(lark.correct(memory, "billing has port 8001.", value="8001").facts[0].id)
        assert lark.get(new).project is None
        assert self.read(self.handle()) == ["8001"]
