"""
A state machine that compares a file memory with a plain dictionary over random commands.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar
from unittest import TestCase

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from oort_flows.models.limits import Limits
from oort_flows.testing.file_contract import commands
from oort_flows.testing.file_contract.answers import plain
from oort_flows.testing.file_contract.place import FileMemoryPlace
from oort_flows.testing.file_model import PlainFileMemory
from oort_flows.testing.strategies import contents, invalid_paths, limits, memory_paths, wild_values

__all__ = ["FileMemoryMachine", "file_memory_machine"]

_SCOPE = "machine"
# What ``if_match`` asks for, before it is known what is there.
_DEMANDS = st.sampled_from([None, None, None, "current", "current", "other", "absent"])
_BOUNDS = st.integers(-3, 8)
_WITH_A_PATH = st.sampled_from(
    [
        commands.view,
        commands.delete,
        lambda path: commands.create(path, "x"),
        lambda path: commands.str_replace(path, "a", "b"),
        lambda path: commands.insert(path, 0, "x"),
        lambda path: commands.rename("/memories/a.md", path),
    ]
)


class FileMemoryMachine(RuleBasedStateMachine):
    """
    Random commands, answered by a memory and by a dictionary, which have to agree on every answer and every byte.

    Set ``place_type`` in a subclass, or let :func:`file_memory_machine` do so.
    """

    place_type: ClassVar[type[FileMemoryPlace]]

    def __init__(self) -> None:
        super().__init__()
        self._directory = Path(tempfile.mkdtemp(prefix="oort-machine-"))
        self._place = self.place_type()
        self._place.open_place(self._directory)
        self._model = PlainFileMemory()

    def teardown(self) -> None:
        """Compare what is stored with the dictionary, by the back door, and leave the place."""
        try:
            self._compare_bytes()
        finally:
            self._place.close_place()
            shutil.rmtree(self._directory, ignore_errors=True)

    @initialize(
        files=st.dictionaries(memory_paths().filter(lambda path: path.endswith(".md")), contents(), max_size=4),
        bounds=limits(),
    )
    def seed_and_open(self, files: dict[str, str], bounds: Limits) -> None:
        """Begin with a few files, which may be more than the limits allow."""
        kept: dict[str, str] = {}
        for path, text in files.items():
            if not any(path.startswith(other + "/") or other.startswith(path + "/") for other in kept):
                kept[path] = text
        self._place.seed(_SCOPE, kept)
        self._model.files = dict(kept)
        self.reopen(bounds)

    @rule(bounds=limits())
    def reopen(self, bounds: Limits) -> None:
        """Go on with another handle, which has limits of its own."""
        self._limits = bounds
        self._memory = self._place.open_memory(_SCOPE, bounds)

    @rule(
        path=memory_paths(), view_range=st.none() | st.tuples(_BOUNDS, _BOUNDS) | st.lists(_BOUNDS, min_size=2, max_size=2)
    )
    def view(self, path: str, view_range: Any) -> None:
        """View a file, a part of one, or a directory."""
        self._compare(commands.view(path, view_range=view_range))

    @rule(data=st.data())
    def view_what_is_there(self, data: st.DataObject) -> None:
        """View lines of a stored file."""
        path, text = self._some_file(data)
        start, end = data.draw(_near_lines(text)), data.draw(_near_lines(text))
        self._compare(commands.view(path, view_range=[start, end]))

    @rule(path=memory_paths(), text=contents(), demand=_DEMANDS)
    def create(self, path: str, text: str, demand: str | None) -> None:
        """Create a file, or replace one."""
        self._compare(commands.create(path, text, if_match=self._if_match(path, demand)))

    @rule(path=memory_paths(), text=contents(60))
    def create_much(self, path: str, text: str) -> None:
        """Create a file that may be too large, or evict others."""
        self._compare(commands.create(path, text))

    @rule(path=memory_paths(), old=contents(2), new=contents(), demand=_DEMANDS)
    def str_replace(self, path: str, old: str, new: str, demand: str | None) -> None:
        """Replace a short text, which often occurs twice, once or not at all."""
        self._compare(commands.str_replace(path, old, new, if_match=self._if_match(path, demand, "other")))

    @rule(data=st.data(), new=contents(4))
    def str_replace_what_is_there(self, data: st.DataObject, new: str) -> None:
        """Replace a part of a stored text."""
        path, text = self._some_file(data)
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(1, 3) | st.integers(0, len(text)))
        self._compare(commands.str_replace(path, text[start : start + length], new))

    @rule(path=memory_paths(), slot=_BOUNDS, text=contents(4), demand=_DEMANDS)
    def insert(self, path: str, slot: int, text: str, demand: str | None) -> None:
        """Insert lines, or nothing."""
        self._compare(commands.insert(path, slot, text, if_match=self._if_match(path, demand, "other")))

    @rule(data=st.data(), inserted=contents(4))
    def insert_into_what_is_there(self, data: st.DataObject, inserted: str) -> None:
        """Insert lines into a stored text."""
        path, text = self._some_file(data)
        self._compare(commands.insert(path, data.draw(_near_lines(text)), inserted))

    @rule(data=st.data(), name=st.sampled_from(["x.md", "a/x.md", "x.ts"]), text=contents(4), demand=_DEMANDS)
    def create_below_a_file(self, data: st.DataObject, name: str, text: str, demand: str | None) -> None:
        """Create something below a stored file, which is in the way."""
        path = self._some_file(data)[0] + "/" + name
        self._compare(commands.create(path, text, if_match=self._if_match(path, demand)))

    @rule(path=memory_paths(), demand=_DEMANDS)
    def delete(self, path: str, demand: str | None) -> None:
        """Delete a file or a directory."""
        self._compare(commands.delete(path, if_match=self._if_match(path, demand, "other")))

    @rule(old=memory_paths(), new=memory_paths(), demand=_DEMANDS)
    def rename(self, old: str, new: str, demand: str | None) -> None:
        """Rename a file or a directory."""
        self._compare(commands.rename(old, new, if_match=self._if_match(old, demand, "other")))

    @rule(data=st.data(), new=memory_paths(), up=st.integers(0, 2))
    def rename_what_is_there(self, data: st.DataObject, new: str, up: int) -> None:
        """Rename a stored file, or a directory above it."""
        old = self._some_file(data)[0]
        for _ in range(up):
            old = old.rpartition("/")[0] or "/memories"
        self._compare(commands.rename(old, new))

    @rule(
        path=invalid_paths(),
        build=_WITH_A_PATH,
    )
    def use_an_invalid_path(self, path: str, build: Any) -> None:
        """Use a path that is none."""
        self._compare(build(path))

    @rule(command=wild_values())
    def talk_nonsense(self, command: Any) -> None:
        """Hand in what is no command; it is refused and changes nothing."""
        assert plain(self._memory.execute(command))["error"]["code"] == "INVALID_COMMAND"

    @rule()
    def look_behind(self) -> None:
        """Compare every stored byte by the back door."""
        self._compare_bytes()

    def _some_file(self, data: st.DataObject) -> tuple[str, str]:
        files = self._model.files or {"/memories/none.md": ""}
        path = data.draw(st.sampled_from(sorted(files)))
        return path, files[path]

    def _if_match(self, path: str, demand: str | None, without_file: str = "absent") -> str | None:
        """Turn a demand into a value; ``absent`` becomes *without_file* for commands that do not know the word."""
        demand = without_file if demand == "absent" else demand
        if demand in (None, "absent"):
            return demand
        text = self._model.files.get(path, "") if demand == "current" else "something else"
        return sha256(text.encode()).hexdigest()

    def _compare(self, command: dict[str, Any]) -> None:
        expected = self._model.answer(command, self._limits)
        # Plain JSON, without all that the contract checks of an answer: a failing run is repeated hundreds of times.
        answer = json.loads(self._memory.execute(command).model_dump_json())
        answer.get("error", {}).pop("message", None)
        assert answer == expected, (answer, expected)
        # What a write has left there shows at once, where the next write may hide it.
        written = expected["value"].get("path") if expected["ok"] and command["command"] != "view" else None
        if written is not None:
            self._compare(commands.view(written))
            self._compare(commands.view("/memories"))

    def _compare_bytes(self) -> None:
        stored = self._place.peek(_SCOPE)
        assert stored == {path: text.encode() for path, text in self._model.files.items()}


def _near_lines(text: str) -> st.SearchStrategy[int]:
    """Draw line numbers and slots of *text*, and some that are just outside."""
    return st.integers(0, text.count("\n") + text.count("\r") + 2) | st.sampled_from([-1, -2])


def file_memory_machine(
    place_type: type[FileMemoryPlace], *, max_examples: int = 50, stateful_step_count: int = 30
) -> type[TestCase]:
    """
    Build the test case that compares the memories of *place_type* with a plain dictionary.

    Parameters
    ----------
    place_type:
        The contract class of an adapter, or any other :class:`~oort_flows.testing.FileMemoryPlace`.
    max_examples:
        Number of runs, each in a place of its own.
    stateful_step_count:
        Most commands of one run.

    Returns
    -------
    A class for pytest to collect under a name that starts with ``Test``.
    """

    class Machine(FileMemoryMachine):
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
