"""
Threads and tasks: many callers, one memory.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from oort_flows.models.limits import Limits
from oort_flows.ports import FileMemory
from oort_flows.testing.file_contract.answers import plain
from oort_flows.testing.file_contract.commands import ROOT, M, create, insert, rename, view
from oort_flows.testing.file_contract.place import FileMemoryPlace, sha

__all__ = ["ConcurrencyRules"]

FILE = M + "f.md"
CALLERS = 8


class ConcurrencyRules(FileMemoryPlace):
    """Every command happens as a whole, whoever else is writing."""

    def test_parallel_creates_are_all_kept(self) -> None:
        """Eight threads on one handle lose nothing."""
        memory = self.memory()
        answers = _at_once([(memory, create(M + f"{n}.md", str(n))) for n in range(CALLERS)])
        assert [answer["ok"] for answer in answers] == [True] * CALLERS
        assert self.peek(self.scope) == {M + f"{n}.md": str(n).encode() for n in range(CALLERS)}

    def test_parallel_creates_over_two_handles_are_all_kept(self) -> None:
        """Nor do eight threads on two handles."""
        handles = [self.memory(), self.memory()]
        answers = _at_once([(handles[n % 2], create(M + f"{n}.md", str(n))) for n in range(CALLERS)])
        assert [answer["ok"] for answer in answers] == [True] * CALLERS
        assert len(self.peek(self.scope)) == CALLERS

    def test_parallel_inserts_into_one_file_are_all_kept(self) -> None:
        """No write is judged on a text that another one has replaced."""
        memory = self.memory({FILE: ""})
        answers = _at_once([(memory, insert(FILE, 0, f"line {n}")) for n in range(CALLERS)])
        assert [answer["ok"] for answer in answers] == [True] * CALLERS
        lines = self.peek(self.scope)[FILE].decode().splitlines()
        assert sorted(lines) == [f"line {n}" for n in range(CALLERS)]

    def test_parallel_writes_that_ask_for_one_state_succeed_once(self) -> None:
        """Of several with the same ``if_match`` exactly one wins; the others learn what is there."""
        memory = self.memory({FILE: "before"})
        answers = _at_once([(memory, create(FILE, f"by {n}", if_match=sha("before"))) for n in range(CALLERS)])
        assert sum(answer["ok"] for answer in answers) == 1
        winner = next(answer["value"]["digest"] for answer in answers if answer["ok"])
        expected = {"reason": "if_match", "digest": winner}
        assert [answer["error"]["details"] for answer in answers if not answer["ok"]] == [expected] * (CALLERS - 1)

    def test_parallel_creates_that_ask_for_nothing_succeed_once(self) -> None:
        """The same holds for ``absent`` in an empty memory."""
        memory = self.memory()
        answers = _at_once([(memory, create(FILE, f"by {n}", if_match="absent")) for n in range(CALLERS)])
        assert sum(answer["ok"] for answer in answers) == 1

    def test_parallel_renames_of_one_file_succeed_once(self) -> None:
        """The losers find nothing at the old path."""
        memory = self.memory({FILE: "f"})
        answers = _at_once([(memory, rename(FILE, M + f"{n}.md")) for n in range(CALLERS)])
        assert sum(answer["ok"] for answer in answers) == 1
        assert {answer["error"]["code"] for answer in answers if not answer["ok"]} == {"NOT_FOUND"}
        assert list(self.peek(self.scope).values()) == [b"f"]

    def test_parallel_writes_keep_the_limits(self) -> None:
        """However the writes fall, the memory never holds more than it may."""
        memory = self.memory(limits=Limits(max_files=3))
        answers = _at_once([(memory, create(M + f"{n}.md", str(n))) for n in range(CALLERS)])
        evicted = [path for answer in answers for path in answer["value"]["evicted"]]
        stored = self.peek(self.scope)
        assert len(stored) == 3
        assert len(set(evicted)) == len(evicted) == CALLERS - 3
        assert not set(evicted) & set(stored)

    def test_parallel_views_see_whole_texts(self) -> None:
        """A reader meets the old text or the new one, never a mix."""
        texts = [letter * 5_000 for letter in "ab"]
        memory = self.memory({FILE: texts[0]})
        commands = [view(FILE) if n % 2 else create(FILE, texts[n // 2 % 2]) for n in range(16)]
        answers = _at_once([(memory, command) for command in commands])
        assert {answer["value"]["text"] for answer in answers if answer["command"] == "view"} <= set(texts)

    def test_aexecute_answers_as_execute_does(self) -> None:
        """The same commands, the same answers, failures and hostile input included."""
        self.seed("ours", {FILE: "f"})
        expected_of, memory = self.open_memory("ours"), self.memory({FILE: "f"})
        commands = [view(ROOT), create(M + "g.md", "g"), view(M + "no.md"), None, {"command": "write"}, insert(FILE, 0, "x")]
        for command in commands:
            assert plain(asyncio.run(memory.aexecute(command))) == self.answer(expected_of, command)
        assert self.peek(self.scope) == self.peek("ours")

    def test_aexecute_of_many_tasks_keeps_all_writes(self) -> None:
        """Tasks of one loop are callers like any other."""
        memory = self.memory()

        async def write_all() -> list[Any]:
            return await asyncio.gather(*(memory.aexecute(create(M + f"{n}.md", str(n))) for n in range(CALLERS)))

        assert all(answer.ok for answer in asyncio.run(write_all()))
        assert len(self.peek(self.scope)) == CALLERS

    def test_aexecute_that_is_cancelled_has_written_all_or_nothing(self) -> None:
        """Whenever the caller stops waiting, the file is as it was or as it was to be."""
        memory = self.memory({FILE: "before"})
        after = "after" * 1_000

        async def cancel_after(turns: int) -> None:
            task = asyncio.ensure_future(memory.aexecute(create(FILE, after)))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        for turns in range(5):
            # ``asyncio.run`` joins the threads of its loop, so that the write is over when the back door opens.
            asyncio.run(cancel_after(turns))
            assert self.peek(self.scope)[FILE] in (b"before", after.encode())
            self.succeed(memory, create(FILE, "before"))


def _at_once(calls: list[tuple[FileMemory, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Carry out every command in a thread of its own, and return the checked answers in order."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [plain(result) for result in pool.map(lambda call: call[0].execute(call[1]), calls)]
