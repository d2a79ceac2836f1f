"""The contract suite tells memories that keep the rules from memories that do not."""

from __future__ import annotations

import unittest

import pytest
from hypothesis import Phase, settings

from oort_flows.files import InProcessFileMemory, Success
from oort_flows.ports import SupportsUndo
from oort_flows.testing import FileMemoryContract, FileMemoryPlace, file_memory_machine


class ForgetfulPlace(FileMemoryPlace):
    """A place whose memories live and die with the handle; enough for tests that open one."""

    memory_type = InProcessFileMemory

    def open_memory(self, scope, limits=None):
        self.opened = self.memory_type(scope, limits)
        for path, text in getattr(self, "seeded", {}).items():
            self.opened.execute({"command": "create", "path": path, "text": text})
        return self.opened

    def seed(self, scope, files):
        self.seeded = files

    def peek(self, scope):
        return dict(self.opened._bodies)


class ModestMemory:
    """A memory that can carry out commands and nothing else."""

    def __init__(self, scope, limits=None):
        self.scope = scope
        self._inner = InProcessFileMemory(scope, limits)
        self._bodies = self._inner._bodies

    def execute(self, command):
        return self._inner.execute(command)

    async def aexecute(self, command):
        return self.execute(command)


class ClampingMemory(InProcessFileMemory):
    """A memory that is generous about line ends."""

    def execute(self, command):
        result = super().execute(command)
        if isinstance(result, Success) and result.command == "view" and result.value.kind == "file":
            return result.model_copy(
                update={"value": result.value.model_copy(update={"text": result.value.text.replace("\r", "")})}
            )
        return result


def contract_of(memory, **attributes):
    """Build the contract class of *memory*; not at module level, so that pytest does not collect it."""
    return type("Contract", (ForgetfulPlace, FileMemoryContract), {"memory_type": memory, **attributes})


def collected(suite):
    return {name for name in dir(suite) if name.startswith("test_") and callable(getattr(suite, name))}


def test_ability_that_is_present_and_undeclared_fails():
    """A memory that can undo has to say so."""
    with pytest.raises(AssertionError):
        contract_of(InProcessFileMemory)().test_ability_to_undo_is_declared_as_it_is()
    contract_of(InProcessFileMemory, supports_undo=True)().test_ability_to_undo_is_declared_as_it_is()


def test_ability_that_is_declared_and_absent_fails():
    """A memory that cannot undo must not say it can."""
    assert not isinstance(ModestMemory("s"), SupportsUndo)
    with pytest.raises(AssertionError):
        contract_of(ModestMemory, supports_undo=True)().test_ability_to_undo_is_declared_as_it_is()
    contract_of(ModestMemory)().test_ability_to_undo_is_declared_as_it_is()


def test_ability_in_part_fails():
    """Some methods of an ability are as good as an undeclared one."""
    half = type("Half", (ModestMemory,), {"undo": lambda self, undo: None})
    for declared in (True, False):
        with pytest.raises(AssertionError):
            contract_of(half, supports_undo=declared)().test_ability_to_undo_is_declared_as_it_is()


def test_optional_tests_take_part_only_where_they_are_asked_for():
    """Undo tests follow the declaration, tests of damaged storage the back door; a subclass may add either."""
    plain = contract_of(ModestMemory)
    undoing = type("Undoing", (plain,), {"supports_undo": True})
    spoiling = type("Spoiling", (plain,), {"spoil": lambda self, scope: None})
    undo, spoiled = "test_undo_of_a_new_file_removes_it", "test_spoiled_storage_of_one_scope_leaves_the_others_working"
    assert {undo, spoiled} & collected(plain) == set()
    assert {undo, spoiled} & collected(undoing) == {undo}
    assert {undo, spoiled} & collected(spoiling) == {spoiled}
    assert len(collected(plain)) > 120


def test_contract_is_not_collected_by_itself():
    """Importing the class into a test module starts nothing."""
    assert not FileMemoryContract.__name__.startswith("Test")


@pytest.mark.parametrize(("memory", "passes"), [(InProcessFileMemory, True), (ClampingMemory, False)])
def test_machine_finds_the_memory_that_is_wrong(memory, passes):
    """Random commands are enough to tell a memory that changes line ends."""
    place = type("Place", (ForgetfulPlace,), {"memory_type": memory, "open_memory": open_once})
    case = file_memory_machine(place, max_examples=30)
    # That there is a fault is enough; finding its smallest form takes far longer.
    case.settings = settings(case.settings, phases=[Phase.generate], database=None, derandomize=True)
    outcome = unittest.TestResult()
    case("runTest").run(outcome)
    assert outcome.wasSuccessful() is passes


def open_once(place, scope, limits=None):
    """Keep one memory for all handles, with the limits of the newest."""
    if not hasattr(place, "opened"):
        ForgetfulPlace.open_memory(place, scope)
    place.opened._limits = limits
    return place.opened
