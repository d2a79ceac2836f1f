"""
A state machine that compares a ledger with a plain list of versions over random histories.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar
from unittest import TestCase

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from oort_flows.errors import OortError
from oort_flows.testing.clock import FrozenClock
from oort_flows.testing.ledger_contract.place import DAY, TICK, LedgerPlace, day
from oort_flows.testing.ledger_model import PlainHandle, PlainLedger

__all__ = ["LedgerMachine", "ledger_machine"]

_KINDS = {"port": "one", "tongue": "many", "seal": "fixed"}
_SCOPES: dict[str, dict[str, Any]] = {
    "siv": {"user": "siv", "teams": ["core"]},
    "siv in lark": {"user": "siv", "project": "lark"},
    "siv's ask": {"user": "siv", "agent": "ask", "keeps_star": True, "teams": ["core"]},
    "otso": {"user": "otso", "teams": ["core"]},
}
_ROW = ("version", "text", "space", "project", "valid_from", "valid_to", "recorded_at", "closed_at")

# Narrow on purpose: what never meets has nothing to be reconciled with.
_scopes = st.sampled_from([*["siv"] * 6, *sorted(_SCOPES)])
_subjects = st.sampled_from([*["billing"] * 6, "orders"])
_attributes = st.sampled_from([*["port"] * 4, "tongue", "seal"])
_values = st.sampled_from(["alpha", "beta", "gamma"])
_sentences = st.sampled_from(["Runa keeps bees.", "Otso rows.", "RUNA keeps  bees."])
_steps = st.sampled_from([timedelta(hours=1), DAY, 5 * DAY, 20 * DAY])
_seldom = st.integers(0, 4).map(lambda number: number == 0)
_PLACES = st.sampled_from([*["constellation:core"] * 4, "planet:siv", "planet:otso", "star:siv/ask", "constellation:web"])


class LedgerMachine(RuleBasedStateMachine):
    """
    Random histories, told to a ledger and to a list of versions, which have to agree on every answer, row and reading.

    Set ``place_type`` in a subclass, or let :func:`ledger_machine` do so.
    """

    place_type: ClassVar[type[LedgerPlace]]

    def __init__(self) -> None:
        super().__init__()
        self._directory = Path(tempfile.mkdtemp(prefix="oort-machine-"))
        self._place = self.place_type()
        self._place.clock = self._clock = FrozenClock(day(100))
        self._place.open_place(self._directory)
        self._model = PlainLedger(clock=self._clock, vocabulary=_KINDS)
        self._ids: dict[str, str] = {}

    def teardown(self) -> None:
        """Leave the place."""
        try:
            self._place.close_place()
        finally:
            shutil.rmtree(self._directory, ignore_errors=True)

    @initialize()
    def begin(self) -> None:
        """Open the first handles."""
        self.reopen()

    @rule()
    def reopen(self) -> None:
        """Go on with other handles."""
        self._ledger = self._place.open_ledger(clock=self._clock, vocabulary=_KINDS)
        self._handles: dict[str, tuple[Any, PlainHandle]] = {
            name: (self._ledger.scoped(**scope), self._model.scoped(**scope)) for name, scope in _SCOPES.items()
        }

    # Writing -------------------------------------------------------------------------------------------------------

    @rule(step=_steps, back=_seldom)
    def wait(self, step: timedelta, back: bool) -> None:
        """Let time pass, or let the clock show an earlier time."""
        self._clock.advance(-step if back else step)

    @rule(scope=_scopes, subject=_subjects, attribute=_attributes, value=_values, step=_steps)
    def declare(self, scope: str, subject: str, attribute: str, value: str, step: timedelta) -> None:
        """Tell a fact that holds from now on."""
        self._clock.advance(step)
        self._tell(scope, subject, attribute, value)

    @rule(scope=_scopes, subject=_subjects, attribute=_attributes, value=_values, data=st.data())
    def declare_for_another_time(self, scope: str, subject: str, attribute: str, value: str, data: st.DataObject) -> None:
        """Tell late news, or what is to come."""
        self._tell(scope, subject, attribute, value, valid_from=self._instant(data))

    @rule(scope=_scopes, attribute=_attributes, value=_values, data=st.data(), expires=_seldom)
    def declare_a_period(self, scope: str, attribute: str, value: str, data: st.DataObject, expires: bool) -> None:
        """Tell a fact with both its ends, or one that expires."""
        one, other = sorted([self._instant(data), self._instant(data)])
        times = {"valid_from": one, "expires_at" if expires else "valid_to": other}
        self._tell(scope, "billing", attribute, value, **times)

    @rule(scope=_scopes, text=_sentences)
    def say(self, scope: str, text: str) -> None:
        """Tell a sentence without a slot."""
        self._write(scope, lambda handle: handle.remember(text))

    @rule(scope=_scopes, value=_values, key=st.sampled_from(["a", "b"]))
    def repeat_a_key(self, scope: str, value: str, key: str) -> None:
        """Tell a fact under a key that may have been used."""
        slot = {"subject": "billing", "attribute": "port", "value": value}
        self._write(scope, lambda handle: handle.remember(f"billing has port {value}.", **slot, key=key))

    @precondition(lambda self: self._ids)
    @rule(value=_values, data=st.data(), dated=st.booleans())
    def correct(self, value: str, data: st.DataObject, dated: bool) -> None:
        """Correct some memory, whoever's it is."""
        memory, scope = self._memory_and_scope(data)
        times = {"valid_from": self._instant(data)} if dated else {}
        self._write(scope, lambda handle: handle.correct(self._id(handle, memory), value=value, **times))

    @precondition(lambda self: self._ids)
    @rule(data=st.data(), dated=st.booleans())
    def end(self, data: st.DataObject, dated: bool) -> None:
        """End some memory, now or at another time."""
        memory, scope = self._memory_and_scope(data)
        at = self._instant(data) if dated else None
        self._write(scope, lambda handle: handle.end(self._id(handle, memory), at))

    @precondition(lambda self: self._ids)
    @rule(data=st.data(), really=st.booleans())
    def forget(self, data: st.DataObject, really: bool) -> None:
        """Forget some memory, not every time: what is forgotten meets nothing any more."""
        memory, scope = self._memory_and_scope(data)
        if really:
            self._write(scope, lambda handle: handle.forget(self._id(handle, memory)))

    @precondition(lambda self: self._ids)
    @rule(to=_PLACES, data=st.data())
    def share(self, to: str, data: st.DataObject) -> None:
        """Share some memory with some space."""
        memory, scope = self._memory_and_scope(data)
        self._write(scope, lambda handle: handle.share(self._id(handle, memory), to=to))

    @precondition(lambda self: self._ids)
    @rule(data=st.data(), really=st.booleans())
    def erase_a_memory(self, data: st.DataObject, really: bool) -> None:
        """Erase some memory for good, not every time."""
        if really:
            memory = self._memory(data)
            self._ledger.erase(id=self._ids.pop(memory))
            self._model.erase(id=memory)

    @rule(scope=st.sampled_from(["planet:siv", "star:siv/ask", "constellation:core"]), seldom=_seldom, at_all=_seldom)
    def erase_a_space(self, scope: str, seldom: bool, at_all: bool) -> None:
        """Erase a whole space for good."""
        if seldom and at_all:
            assert self._ledger.erase(scope=scope) == self._model.erase(scope=scope)
            self._leave_out_erased()

    # Reading -------------------------------------------------------------------------------------------------------

    @rule(scope=_scopes, subject=_subjects, attribute=_attributes, data=st.data())
    def read_a_slot(self, scope: str, subject: str, attribute: str, data: st.DataObject) -> None:
        """Read a slot in all four modes, at one instant or over an interval."""
        for how in self._modes(data):
            self._compare_reading(scope, "", {"subject": subject, "attribute": attribute, **how})

    @rule(scope=_scopes, word=st.sampled_from(["port", "tongue", "seal", "alpha", "beta", "bees", "wombat"]), data=st.data())
    def search_a_word(self, scope: str, word: str, data: st.DataObject) -> None:
        """Search a word in all four modes: everything that holds it is found, and nothing that is not to be seen."""
        for how in self._modes(data):
            self._compare_reading(scope, word, how)

    @precondition(lambda self: self._ids)
    @rule(data=st.data())
    def get(self, data: st.DataObject) -> None:
        """Get some memory by its id, whoever's it is."""
        memory, scope = self._memory_and_scope(data)
        real, plain = self._handles[scope]
        found = _outcome(lambda: real.get(self._ids[memory]))
        expected = _outcome(lambda: plain.get(memory))
        if isinstance(expected, type):
            assert isinstance(found, type), (found, expected)
            assert issubclass(found, expected)
            return
        assert not isinstance(found, type), found
        assert (found.version, found.text, found.value) == (expected.version, expected.text, expected.value)
        assert (found.valid_from, found.valid_to) == (expected.valid_from, expected.valid_to)
        assert found.status == self._model.status(memory), (found, expected)
        assert found.confirmations == self._model.confirmations[memory]

    @invariant()
    def rows_are_the_versions_of_the_model(self) -> None:
        """Whatever happened, what is stored is what the list holds."""
        names = {real: memory for memory, real in self._ids.items()}
        stored = [(names.get(str(row["id"])), *(row[name] for name in _ROW)) for row in self._place.rows()]
        expected = [(version.id, *(getattr(version, name) for name in _ROW)) for version in self._model.versions]
        assert sorted(stored, key=repr) == sorted(expected, key=repr)

    @invariant()
    def slot_of_one_value_never_holds_two(self) -> None:
        """No two believed versions of a single-valued slot share an instant of the world."""
        believed = [v for v in self._model.versions if v.closed_at is None and v.attribute in ("port", "seal")]
        for number, one in enumerate(believed):
            for other in believed[number + 1 :]:
                if (one.space, one.project, one.subject, one.attribute) == (
                    other.space,
                    other.project,
                    other.subject,
                    other.attribute,
                ):
                    shared = one.holds_at(other.valid_from) or other.holds_at(one.valid_from)
                    assert not shared, (one, other)

    # What they share -----------------------------------------------------------------------------------------------

    def _tell(self, scope: str, subject: str, attribute: str, value: str, **times: datetime) -> None:
        slot = {"subject": subject, "attribute": attribute, "value": value}
        self._write(scope, lambda handle: handle.remember(f"{subject} has {attribute} {value}.", **slot, **times))

    def _instant(self, data: st.DataObject) -> datetime:
        """Draw an instant: one where something begins or ends, one tick beside it, or any day."""
        marks = {t for v in self._model.versions for t in (v.valid_from, v.valid_to, v.recorded_at, v.closed_at) if t}
        near = st.sampled_from(sorted(marks | {self._clock()}))
        beside = st.tuples(near, st.sampled_from([TICK, -TICK])).map(lambda pair: pair[0] + pair[1])
        return data.draw(st.one_of(near, beside, st.integers(60, 140).map(day)))

    def _modes(self, data: st.DataObject) -> list[dict[str, Any]]:
        one, other = sorted([self._instant(data), self._instant(data)])
        known = self._instant(data)
        asked: list[dict[str, Any]] = [{"mode": "current"}, {"mode": "history"}, {"as_of": one}, {"known_at": one}]
        asked += [{"as_of": other, "known_at": known}]
        if one < other:
            asked += [{"as_of": (one, other)}, {"known_at": (one, other)}, {"as_of": (one, other), "known_at": known}]
        return asked

    def _memory(self, data: st.DataObject) -> str:
        order = {version.id: number for number, version in enumerate(self._model.versions)}
        return data.draw(st.sampled_from(sorted(self._ids, key=lambda memory: order[memory])))

    def _memory_and_scope(self, data: st.DataObject) -> tuple[str, str]:
        """Draw a memory, and mostly a scope that sees it."""
        memory = self._memory(data)
        seeing = [name for name, (_, plain) in self._handles.items() if not isinstance(_found(plain, memory), type)]
        return memory, data.draw(st.sampled_from(seeing) | st.sampled_from(seeing) | _scopes if seeing else _scopes)

    def _leave_out_erased(self) -> None:
        kept = {version.id for version in self._model.versions}
        self._ids = {memory: real for memory, real in self._ids.items() if memory in kept}

    def _id(self, handle: Any, memory: str) -> str:
        """Name a memory of the model as *handle* knows it."""
        return memory if type(handle) is PlainHandle else self._ids[memory]

    def _write(self, scope: str, call: Callable[[Any], Any]) -> None:
        """Carry out a write on both sides, and compare the answers."""
        real, plain = self._handles[scope]
        expected, answer = _outcome(lambda: call(plain)), _outcome(lambda: call(real))
        if isinstance(expected, type):
            assert isinstance(answer, type), (answer, expected)
            assert issubclass(answer, expected)
            return
        assert not isinstance(answer, type), (answer, expected)
        if expected is None:
            return
        for fact, wanted in zip(answer.facts, expected.facts, strict=True):
            self._ids.setdefault(wanted.id, str(fact.id))
            assert self._ids[wanted.id] == str(fact.id)
            assert fact.outcome == wanted.outcome, (fact, wanted)
            known = {self._ids.get(memory) for memory in wanted.closed}
            assert set(map(str, fact.closed)) == known or None in known
        assert answer.duplicate == expected.duplicate
        # The first answer of a repeated write may name what was erased since.
        self._leave_out_erased()

    def _compare_reading(self, scope: str, query: str, how: dict[str, Any]) -> None:
        real, plain = self._handles[scope]
        names = {own: memory for memory, own in self._ids.items()}
        hits = [hit.memory for hit in real.recall(query, limit=10_000, **how).hits]
        found = [(names[str(memory.id)], memory.version) for memory in hits if query in memory.text.casefold()]
        expected = [(hit.memory.id, hit.memory.version) for hit in plain.recall(query, **how).hits]
        assert sorted(found) == sorted(expected), (how, found, expected)


def _outcome(call: Callable[[], Any]) -> Any:
    """Return what *call* returns, or the type of the error that it raises."""
    try:
        return call()
    except OortError as error:
        return type(error)


def _found(handle: PlainHandle, memory: str) -> Any:
    return _outcome(lambda: handle.get(memory))


def ledger_machine(
    place_type: type[LedgerPlace], *, max_examples: int = 25, stateful_step_count: int = 30
) -> type[TestCase]:
    """
    Build the test case that compares the ledgers of *place_type* with a plain list of versions.

    Parameters
    ----------
    place_type:
        The contract class of a ledger, or any other :class:`~oort_flows.testing.LedgerPlace`.
    max_examples:
        Number of histories, each in a place of its own.
    stateful_step_count:
        Most steps of one history.

    Returns
    -------
    A class for pytest to collect under a name that starts with ``Test``.
    """

    class Machine(LedgerMachine):
        pass

    Machine.place_type = place_type
    case: type[TestCase] = Machine.TestCase
    # Setting attributes of the generated class is how Hypothesis takes settings for state machines.
    case.settings = settings(  # type: ignore[attr-defined]
        max_examples=max_examples,
        stateful_step_count=stateful_step_count,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    return case
