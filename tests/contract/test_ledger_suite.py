"""The contract suite of the ledger finds ledgers that are wrong; the model it compares them with keeps its tables."""

from __future__ import annotations

import unittest
from dataclasses import replace

import pytest
from hypothesis import Phase, settings

from oort_flows.testing import FrozenClock, LedgerContract, ledger_machine
from oort_flows.testing.ledger_contract.place import day
from oort_flows.testing.ledger_contract.projects import ProjectRules
from oort_flows.testing.ledger_contract.reconciling import TABLE, ReconcileRules
from tests.contract.plain_ledger import FrontLedger, FrontPlace, PlainFront


class TestModel(FrontPlace, ProjectRules):
    """The list of versions itself keeps the rules of projects and the table of outcomes."""

    test_declared_fact_meets_what_is_known = ReconcileRules.test_declared_fact_meets_what_is_known
    _say = ReconcileRules._say


class LeakyFront(PlainFront):
    """Shows the memories of other users."""

    def _sees(self, version):
        return version.project in (None, self._project)


class MeddlingFront(PlainFront):
    """Shows the memories of other projects."""

    def _sees(self, version):
        return version.space in self._reads


class UnshadowedFront(PlainFront):
    """Shows a global value beside the project's own."""

    def _seen_at(self, pairs):
        return [v for t, k in pairs for v in self._ledger.versions if self._sees(v) and v.believed_at(k) and v.holds_at(t)]


class NewestWinsFront(PlainFront):
    """Takes whatever is told last for what holds now, late news too."""

    def _add(self, new, space, project, wrong, cover, later):
        return super()._add(new, space, project, wrong, [*cover, *later], [])


class PileFront(PlainFront):
    """Adds and never closes."""

    def _add(self, new, space, project, wrong, cover, later):
        return super()._add(new, space, project, [], [], later)


class ForgetfulFront(PlainFront):
    """Ends a memory in place, so that nobody knows any more what was believed."""

    def _take(self, old, start, stop, at, why, by=""):
        versions = self._ledger.versions
        versions[versions.index(old)] = replace(old, valid_to=start, ending=why)


class LenientFront(PlainFront):
    """Lets memories that have ended be touched."""

    def _open(self, memory):
        last = self._found(memory)
        return super()._open(memory) if last.closed_at is not None else last


class LateLedger(FrontLedger):
    """Believes its clock, also when that runs backwards."""

    def now(self):
        return self._clock()


class SlackLedger(FrontLedger):
    """Erases what stands in the planet only."""

    def erase(self, *, scope=None, user=None, id=None):  # noqa: A002 - the name of the argument
        return super().erase(scope=scope, user=user, id=id) if id is None else 0


def ledger_with(front):
    return type("Ledger", (FrontLedger,), {"handle_type": front})


WRONG = [
    *map(
        ledger_with, [LeakyFront, MeddlingFront, UnshadowedFront, NewestWinsFront, PileFront, ForgetfulFront, LenientFront]
    ),
    LateLedger,
    SlackLedger,
]
NAMES = ["leaky", "meddling", "unshadowed", "newest wins", "pile", "forgetful", "lenient", "late", "slack"]


@pytest.mark.parametrize(
    ("ledger", "passes"), [(FrontLedger, True), *((wrong, False) for wrong in WRONG)], ids=["right", *NAMES]
)
def test_machine_finds_the_ledger_that_is_wrong(ledger, passes):
    """Random histories are enough to tell a ledger that breaks one rule; one that keeps all passes."""
    place = type("Place", (FrontPlace,), {"ledger_type": ledger})
    case = ledger_machine(place, max_examples=20 if passes else 150, stateful_step_count=40)
    # That there is a fault is enough; finding its smallest form takes far longer.
    case.settings = settings(
        case.settings, phases=[Phase.generate], database=None, derandomize=True, report_multiple_bugs=False
    )
    outcome = unittest.TestResult()
    case("runTest").run(outcome)
    assert outcome.errors == []
    assert (outcome.failures == []) is passes


@pytest.mark.parametrize(
    ("front", "case"),
    [
        (PileFront, "other from later"),
        (PileFront, "other from the same time"),
        (NewestWinsFront, "other from earlier"),
        (NewestWinsFront, "late news between two"),
        (ForgetfulFront, "other from the same time"),
    ],
)
def test_table_finds_the_ledger_that_is_wrong(front, case, tmp_path):
    """A ledger that piles up, or lets the newest win, fails the rows of the table that are about it."""
    assert case in TABLE
    suite = type("Suite", (FrontPlace, ReconcileRules), {"ledger_type": ledger_with(front)})()
    suite.clock = FrozenClock(day(100))
    suite.open_place(tmp_path)
    with pytest.raises(AssertionError):
        suite.test_declared_fact_meets_what_is_known(case)


def test_contract_is_not_collected_by_itself():
    """Importing the class into a test module starts nothing."""
    assert not LedgerContract.__name__.startswith("Test")
