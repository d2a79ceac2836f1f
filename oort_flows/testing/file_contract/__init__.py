"""
The contract of a file memory as tests: subclass :class:`FileMemoryContract` and run pytest.
"""

from __future__ import annotations

from typing import Any

from oort_flows.ports import SupportsUndo
from oort_flows.testing.file_contract.capacity import EvictionRules, LimitRules
from oort_flows.testing.file_contract.concurrency import ConcurrencyRules
from oort_flows.testing.file_contract.creation import CreateRules
from oort_flows.testing.file_contract.editing import InsertRules, StrReplaceRules
from oort_flows.testing.file_contract.hostile import HostileInputRules
from oort_flows.testing.file_contract.matching import IfMatchRules
from oort_flows.testing.file_contract.moving import DeleteRules, RenameRules
from oort_flows.testing.file_contract.paths import PathRules
from oort_flows.testing.file_contract.place import FileMemoryPlace
from oort_flows.testing.file_contract.precedence import PrecedenceRules
from oort_flows.testing.file_contract.results import ResultRules, SpellingRules
from oort_flows.testing.file_contract.scopes import ScopeRules
from oort_flows.testing.file_contract.spoiling import SpoiledStorageRules
from oort_flows.testing.file_contract.undoing import UndoRules
from oort_flows.testing.file_contract.views import ViewRules

__all__ = ["FileMemoryContract", "FileMemoryPlace"]


class FileMemoryContract(
    PathRules,
    ViewRules,
    CreateRules,
    StrReplaceRules,
    InsertRules,
    DeleteRules,
    RenameRules,
    IfMatchRules,
    LimitRules,
    EvictionRules,
    ResultRules,
    SpellingRules,
    PrecedenceRules,
    HostileInputRules,
    ScopeRules,
    ConcurrencyRules,
    UndoRules,
    SpoiledStorageRules,
):
    """
    Everything a writable file memory owes its callers, whatever it is made of.

    A subclass says how a memory is opened, and gives a back door: ``seed`` and ``peek`` reach the medium *without* the
    memory under test, so that a fault in both its reading and its writing cannot hide. Tests of reading are seeded by the
    back door; tests of writing look through it.

    Each test has an instance and a *place* of its own: an empty directory, database or dictionary in which memories of
    several scopes live side by side. ``open_place(directory)`` prepares it before the test (``directory`` is empty and
    belongs to the place) and ``close_place()`` ends it; both do nothing unless overridden. Set what they need on ``self``.
    A test opens several memories in one place, also of one scope with different limits; they share what is stored.

    An optional ability is declared by a class attribute: ``supports_undo`` for
    :class:`~oort_flows.ports.SupportsUndo`. Declared, its tests take part. An ability that is there and not declared fails
    the suite, and so does one that is declared and not there. A place that can also ``spoil`` what it holds overrides that
    method, and the tests of damaged storage take part.

    Assertions compare codes, fields and bytes, never the wording of a message.

    Example
    -------
    ``test_my_memory.py``::

        from oort_flows.testing import FileMemoryContract, file_memory_machine

        class TestMyMemory(FileMemoryContract):
            supports_undo = True

            def open_place(self, directory):
                self.store = my_store.create(directory)

            def close_place(self):
                self.store.close()

            def open_memory(self, scope, limits=None):
                return MyFileMemory(self.store, scope, limits)

            def seed(self, scope, files):
                self.store.replace_rows(scope, [(path, as_bytes(text)) for path, text in files.items()])

            def peek(self, scope):
                return dict(self.store.rows(scope))

        TestMyMemoryAtRandom = file_memory_machine(TestMyMemory)
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _take_part(cls, UndoRules, cls.supports_undo)
        _take_part(cls, SpoiledStorageRules, cls.spoil is not FileMemoryPlace.spoil)

    def test_ability_to_undo_is_declared_as_it_is(self) -> None:
        """``supports_undo`` says whether the memory can take back a write."""
        memory = self.memory()
        abilities = ["execute_undoable", "undo", "settle", "journal"]
        assert [hasattr(memory, ability) for ability in abilities] == [self.supports_undo] * len(abilities)
        assert isinstance(memory, SupportsUndo) == self.supports_undo


def _take_part(suite: type[FileMemoryContract], rules: type[Any], take_part: bool) -> None:
    """Hide the tests of *rules* from pytest, or show them again; it collects what can be called, and ``None`` cannot."""
    for name, test in vars(rules).items():
        if name.startswith("test_") and not take_part:
            setattr(suite, name, None)
        elif name.startswith("test_") and getattr(suite, name) is None:
            setattr(suite, name, test)
