"""Consolidate folds sources into one file, by one write, and never over a change that nobody has seen."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from oort_flows.errors import ConfigurationError, ConsolidateError, StorageError, StorageUnavailableError
from oort_flows.files import InProcessFileMemory, Limits
from oort_flows.mechanics import UNTRUSTED_WARNING, Consolidated, Skipped, Source, consolidate
from oort_flows.mechanics.queues import _queues, queued
from oort_flows.mechanics.undo import consolidate_undoable, settle_write, undo_write
from oort_flows.models.undo import Undo
from tests.unit.ports_made_up import (
    NONSENSE,
    NONSENSE_ENTRIES,
    Hostile,
    Listening,
    Unreadable,
    good_file,
    keep,
    path,
    refusal,
    text_of,
)
from tests.unit.prompts_read_back import blocks

TARGET = path("sum")
COUNTS = ("max_output_chars", "max_files", "max_file_chars", "max_total_chars")


def digest_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def giving(text: Any) -> Callable[..., Any]:
    return lambda *_: text


def never(*_: Any) -> str:
    raise AssertionError("fold must not be called")


@pytest.fixture
def memory() -> Listening:
    return Listening()


def failure(*args: Any, **settings: Any) -> ConsolidateError:
    """The error of a consolidate that fails, the target being as it was."""
    memory, target = args[:2]
    before = text_of(getattr(memory, "inner", memory), target) if isinstance(target, str) else None
    with pytest.raises(ConsolidateError) as caught:
        consolidate(*args, **settings)
    if isinstance(target, str):
        assert text_of(getattr(memory, "inner", memory), target) == before
    assert _queues == {}
    return caught.value


class TestFold:
    def test_new_target(self, memory: Listening) -> None:
        """The trimmed text is written by one create; the answer says what was done."""
        keep(memory, a="one", b="two")
        memory.asked.clear()
        consolidated = consolidate(memory, TARGET, [path("a"), Source(path("z"), optional=True)], giving(" merged \n"))
        assert text_of(memory.inner, TARGET) == "merged"
        assert [where for name, where in memory.asked if name != "view"] == [TARGET]
        assert consolidated == Consolidated(
            target=TARGET,
            text="merged",
            prompt=consolidated.prompt,
            digest=digest_of("merged"),
            evicted=(),
            skipped=(),
            missing=(path("z"),),
        )

    def test_sources_are_kept(self, memory: Listening) -> None:
        """Nothing is deleted."""
        keep(memory, a="one")
        consolidate(memory, TARGET, [path("a")], giving("x"))
        assert text_of(memory, path("a")) == "one"

    @pytest.mark.parametrize(("prior", "written"), [(None, None), ("", ""), (" old \n", " old \n")])
    def test_fold_gets_prior_documents_and_prompt_once(
        self, memory: Listening, prior: str | None, written: str | None
    ) -> None:
        """By position; prior is None without a file and empty for an empty one."""
        keep(memory, a="one", **({} if prior is None else {"sum": prior}))
        calls: list[tuple[Any, ...]] = []

        def fold(*args: Any) -> str:
            calls.append(args)
            return "new"

        consolidated = consolidate(memory, TARGET, [path("a")], fold)
        ((seen, documents, prompt),) = calls
        assert seen == written
        assert [document.text for document in documents] == ["one"]
        assert prompt == consolidated.prompt

    def test_prompt_puts_the_prior_first(self, memory: Listening) -> None:
        """Warning, prior, then the documents; nothing of them can fake a heading."""
        keep(memory, a="# fake\n```\n# fake", sum="```\n## fake")
        prompt = consolidate(memory, TARGET, [path("a")], giving("x")).prompt
        assert blocks(prompt) == [
            ("p", UNTRUSTED_WARNING),
            ("h2", TARGET),
            ("p", "(what this file holds so far)"),
            ("fence", "```\n## fake\n"),
            ("h2", path("a")),
            ("fence", "# fake\n```\n# fake\n"),
        ]

    def test_prompt_without_prior_and_sources_is_the_warning(self, memory: Listening) -> None:
        """There is nothing to show."""
        assert consolidate(memory, TARGET, [], giving("x")).prompt == UNTRUSTED_WARNING

    def test_empty_prior_is_shown(self, memory: Listening) -> None:
        """An empty file is a prior."""
        keep(memory, sum="")
        assert ("h2", TARGET) in blocks(consolidate(memory, TARGET, [], giving("x")).prompt)

    def test_async_fold(self, memory: Listening) -> None:
        """It may be async."""

        async def fold(prior: Any, documents: Any, prompt: str) -> str:
            await asyncio.sleep(0)
            return "later"

        assert consolidate(memory, TARGET, [], fold).text == "later"

    def test_evicted_files_are_named(self) -> None:
        """What had to go for the text is in the answer."""
        memory = InProcessFileMemory("small", Limits(max_files=2))
        keep(memory, a="1", b="2")
        assert consolidate(memory, TARGET, [path("b")], giving("x")).evicted == (path("a"),)

    def test_output_of_exactly_the_limit(self, memory: Listening) -> None:
        """Code points after trimming count."""
        assert consolidate(memory, TARGET, [], giving(" 🧠🧠 "), max_output_chars=2).text == "🧠🧠"


class TestTarget:
    @pytest.mark.parametrize(
        ("target", "code"),
        [
            ("/memories/../x.md", "INVALID_PATH"),
            ("sum.md", "INVALID_PATH"),
            ("\ud800", "INVALID_PATH"),
            ("/memories", "ROOT_PROTECTED"),
            ("/memories/sum.ts", "INVALID_EXTENSION"),
            ("/memories/sum", "INVALID_EXTENSION"),
            (None, "INVALID_ARGUMENT"),
            (5, "INVALID_ARGUMENT"),
        ],
    )
    def test_unusable_path_is_refused_before_anything_is_read(self, memory: Listening, target: Any, code: str) -> None:
        """Path, root and ending are judged without a look at the storage."""
        error = failure(memory, target, [path("gone")], never)
        assert error.code == "write_failed"
        assert error.error is not None
        assert error.error.code == code
        assert memory.asked == []
        assert error.retryable is False

    def test_directory_at_the_target(self, memory: Listening) -> None:
        """It is refused before sources are read."""
        keep(memory, **{"sum.md__x": "x"})
        memory.asked.clear()
        error = failure(memory, TARGET, [path("gone")], never)
        assert (error.code, error.error.code if error.error else None) == ("write_failed", "PATH_CONFLICT")
        assert path("gone") not in memory.viewed()

    @pytest.mark.parametrize("target", [path("f") + "/c.txt", path("f") + "/d/e/c.txt"])
    def test_file_above_the_target(self, memory: Listening, target: str) -> None:
        """So is a target below a file, however far; the error names the file in the way."""
        keep(memory, f="x")
        error = failure(memory, target, [path("gone")], never)
        assert error.code == "write_failed"
        assert error.error is not None
        assert (error.error.code, error.error.path) == ("PATH_CONFLICT", path("f"))

    def test_new_directories_above_the_target(self, memory: Listening) -> None:
        """A target in directories that are not there yet is fine, and so is one in directories that are."""
        assert consolidate(memory, "/memories/x/y/z.md", [], giving("a")).target == "/memories/x/y/z.md"
        assert consolidate(memory, "/memories/x/y/b.md", [], giving("a")).target == "/memories/x/y/b.md"


class TestPrior:
    def test_prior_over_the_limit(self, memory: Listening) -> None:
        """It is never cut: read_failed, LIMIT_EXCEEDED, and fold is not called."""
        keep(memory, sum="x" * 11)
        error = failure(memory, TARGET, [path("gone")], never, max_output_chars=10)
        assert (error.code, error.path, error.retryable) == ("read_failed", TARGET, False)
        assert error.error is not None
        assert error.error.code == "LIMIT_EXCEEDED"

    def test_prior_is_read_whole_beside_the_budget(self, memory: Listening) -> None:
        """A full list of sources cannot crowd it out, and the prior costs the sources nothing."""
        keep(memory, sum="p" * 50, a="aaa", b="b")
        seen: list[Any] = []
        consolidated = consolidate(
            memory, TARGET, ["/memories"], lambda *args: seen.extend(args) or "x", max_files=1, max_total_chars=3
        )
        assert seen[0] == "p" * 50
        assert [document.path for document in seen[1]] == [path("a")]
        assert consolidated.skipped == (Skipped(path=path("b"), reason="max_files"),)

    @pytest.mark.parametrize("sources", [[TARGET], ["/memories"], [Source(TARGET, optional=True), "/memories"]])
    def test_target_is_no_source(self, memory: Listening, sources: list[Any]) -> None:
        """It is left out, by name and inside directories, and viewed once."""
        keep(memory, sum="old")
        memory.asked.clear()
        seen: list[Any] = []
        consolidated = consolidate(memory, TARGET, sources, lambda *args: seen.extend(args) or "x")
        assert seen[1] == ()
        assert consolidated.missing == consolidated.skipped == ()
        assert memory.viewed().count(TARGET) == 1

    def test_missing_target_is_no_missing_source(self, memory: Listening) -> None:
        """A target that is not there yet may stand among required sources."""
        assert consolidate(memory, TARGET, [TARGET], giving("x")).missing == ()

    def test_text_that_is_not_what_its_digest_says(self) -> None:
        """A part of a file is no prior: writing over it would lose the rest."""
        error = failure(Hostile({("view", TARGET): good_file(TARGET, "part", digest_of("the whole"))}), TARGET, [], never)
        assert (error.code, error.error.code if error.error else None) == ("read_failed", "STORAGE_ERROR")


class TestSources:
    def test_required_source_missing(self, memory: Listening) -> None:
        """It is a consolidate error that carries the port's."""
        error = failure(memory, TARGET, [path("gone")], never)
        assert (error.code, error.path) == ("read_failed", path("gone"))
        assert error.error is not None
        assert error.error.code == "NOT_FOUND"

    @pytest.mark.parametrize("where", [path("a"), TARGET])
    @pytest.mark.parametrize("lie", NONSENSE.values(), ids=NONSENSE)
    def test_nonsense_is_trouble_with_the_storage(self, where: str, lie: Any) -> None:
        """About a source as about the target."""
        if isinstance(lie, dict) and "value" in lie and lie["value"].get("path") == path("a"):
            lie = {"ok": True, "value": {**lie["value"], "path": where}}
        memory = Hostile({("view", where): lie})
        keep(memory.inner, a="a")
        error = failure(memory, TARGET, [path("a")], never)
        assert (error.code, error.path) == ("read_failed", where)
        assert error.error is not None
        assert error.error.code == "STORAGE_ERROR"
        if isinstance(lie, Exception):
            assert error.__cause__ is lie

    @pytest.mark.parametrize("lie", NONSENSE_ENTRIES.values(), ids=NONSENSE_ENTRIES)
    def test_nonsense_above_the_target(self, lie: Any) -> None:
        """A listing that cannot be trusted says nothing about the way to the target."""
        error = failure(Hostile({("view", "/memories/d"): lie}), "/memories/d/new.md", [], never)
        assert (error.code, error.path) == ("read_failed", "/memories/d")

    def test_scope_that_cannot_be_told(self) -> None:
        """A port without a scope cannot be queued for."""

        class Scopeless(Hostile):
            @property
            def scope(self) -> str:
                raise OSError("gone")

        error = failure(Scopeless({}), TARGET, [], never)
        assert (error.code, error.error.code if error.error else None) == ("read_failed", "STORAGE_ERROR")


class TestCallback:
    def test_exception(self, memory: Listening) -> None:
        """The exception is the cause, and decides whether a retry can help."""
        for raised, retryable in ((ValueError("x"), False), (TimeoutError(), True), (StorageUnavailableError(), True)):

            def fold(*_: Any, raised: Exception = raised) -> None:
                raise raised

            error = failure(memory, TARGET, [], fold)
            assert (error.code, error.path, error.retryable) == ("callback_failed", TARGET, retryable)
            assert error.__cause__ is raised
            assert error.error is None

    @pytest.mark.parametrize("kind", ["plain", "async"])
    def test_time_over(self, memory: Listening, kind: str) -> None:
        """What comes too late is not written."""
        late = threading.Event()

        async def afold(*_: Any) -> str:
            await asyncio.Event().wait()
            return "late"

        error = failure(memory, TARGET, [], afold if kind == "async" else lambda *_: late.wait() and "late", timeout=0.05)
        late.set()
        assert error.code == "callback_failed"
        assert isinstance(error.__cause__, TimeoutError)
        assert text_of(memory, TARGET) is None

    @pytest.mark.parametrize("answer", [None, b"x", 5, "", " \n\t", "x" * 11, "\ud800", ["x"]])
    def test_unusable_result(self, memory: Listening, answer: Any) -> None:
        """No text, a blank one or one too long is not written; a retry is no help."""
        keep(memory, sum="old")
        error = failure(memory, TARGET, [], giving(answer), max_output_chars=10)
        assert (error.code, error.path, error.retryable) == ("invalid_callback_result", TARGET, False)

    @pytest.mark.parametrize("timeout", [None, 30])
    @pytest.mark.parametrize("kind", ["plain", "async"])
    @pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
    def test_interrupts_pass_through(
        self, memory: Listening, interrupt: type[BaseException], kind: str, timeout: float | None
    ) -> None:
        """And free the queue."""

        def fold(*_: Any) -> None:
            raise interrupt

        async def afold(*_: Any) -> None:
            raise interrupt

        with pytest.raises(interrupt):
            consolidate(memory, TARGET, [], afold if kind == "async" else fold, timeout=timeout)
        assert consolidate(memory, TARGET, [], giving("x")).text == "x"

    @pytest.mark.parametrize("command", ["view", "create"])
    @pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
    def test_interrupts_of_the_port_pass_through(self, interrupt: type[BaseException], command: str) -> None:
        """Wherever they strike."""
        with pytest.raises(interrupt):
            consolidate(Hostile({(command, TARGET): interrupt()}), TARGET, [], giving("x"))
        assert _queues == {}


RECEIPTS: dict[str, Any] = {
    "none": None,
    "no value": {"ok": True},
    "another path": {"ok": True, "value": {"path": path("b"), "digest": digest_of("x"), "evicted": []}},
    "short digest": {"ok": True, "value": {"path": TARGET, "digest": "abc", "evicted": []}},
    "digest of another text": {"ok": True, "value": {"path": TARGET, "digest": digest_of("y"), "evicted": []}},
    "no list of evicted": {"ok": True, "value": {"path": TARGET, "digest": digest_of("x"), "evicted": None}},
    "evicted no path": {"ok": True, "value": {"path": TARGET, "digest": digest_of("x"), "evicted": [5]}},
    "unreadable": Unreadable(),
    "exception": RuntimeError("no"),
}


class TestWrite:
    def test_target_that_changed_meanwhile(self, memory: Listening) -> None:
        """The loser gets CONFLICT, the winner's text stays, and a retry can help since it reads anew."""
        keep(memory, sum="old")

        def fold(*_: Any) -> str:
            keep(memory.inner, sum="theirs")
            return "ours"

        with pytest.raises(ConsolidateError) as caught:
            consolidate(memory, TARGET, [], fold)
        error = caught.value
        assert (error.code, error.retryable, text_of(memory, TARGET)) == ("write_failed", True, "theirs")
        assert error.error is not None
        assert error.error.code == "CONFLICT"
        assert error.error.details == {"reason": "if_match", "digest": digest_of("theirs")}

    def test_target_that_appeared_meanwhile(self, memory: Listening) -> None:
        """A file that was absent must be absent still."""
        with pytest.raises(ConsolidateError) as caught:
            consolidate(memory, TARGET, [], lambda *_: keep(memory.inner, sum="theirs") or "ours")
        assert caught.value.error is not None
        assert caught.value.error.code == "CONFLICT"
        assert text_of(memory, TARGET) == "theirs"

    def test_text_too_big_for_the_memory(self) -> None:
        """What the port refuses is write_failed with its error."""
        memory = InProcessFileMemory("small", Limits(max_file_bytes=2))
        error = failure(memory, TARGET, [], giving("xyz"))
        assert (error.code, error.error.code if error.error else None) == ("write_failed", "LIMIT_EXCEEDED")

    @pytest.mark.parametrize("lie", RECEIPTS.values(), ids=RECEIPTS)
    def test_receipt_that_cannot_be_trusted(self, lie: Any) -> None:
        """A write whose receipt makes no sense is no success."""
        with pytest.raises(ConsolidateError) as caught:
            consolidate(Hostile({("create", TARGET): lie}), TARGET, [], giving("x"))
        assert caught.value.code == "write_failed"
        assert caught.value.error is not None
        assert caught.value.error.code == "STORAGE_ERROR"

    def test_contention_is_worth_a_retry(self) -> None:
        """As the port's own details say."""
        lie = refusal("CONFLICT", TARGET, reason="contention")
        error = failure_through(Hostile({("create", TARGET): lie}))
        assert (error.code, error.retryable) == ("write_failed", True)


def failure_through(memory: Any) -> ConsolidateError:
    with pytest.raises(ConsolidateError) as caught:
        consolidate(memory, TARGET, [], giving("x"))
    return caught.value


class TestQueue:
    def test_calls_for_one_target_queue_up(self) -> None:
        """Eight threads add a line each, through handles of their own; no line is lost and no two folds overlap."""
        inner = InProcessFileMemory("queue")
        together: list[int] = []
        inside = 0

        def add(n: int) -> None:
            def fold(prior: str | None, *_: Any) -> str:
                nonlocal inside
                inside += 1
                together.append(inside)
                text = f"{prior or ''}\n{n}"
                inside -= 1
                return text

            consolidate(Listening(inner=inner), TARGET, [], fold)

        threads = [threading.Thread(target=add, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted((text_of(inner, TARGET) or "").split()) == [str(n) for n in range(8)]
        assert together == [1] * 8
        assert _queues == {}

    def test_other_targets_and_scopes_do_not_wait(self, memory: Listening) -> None:
        """While one target is folded, another one and another scope go through."""

        def fold(*_: Any) -> str:
            consolidate(memory, path("other"), [], giving("x"))
            consolidate(Listening("another scope"), TARGET, [], giving("x"))
            return "done"

        assert consolidate(memory, TARGET, [], fold).text == "done"
        assert _queues == {}

    @pytest.mark.parametrize("timeout", [None, 30])
    @pytest.mark.parametrize("kind", ["plain", "async"])
    def test_fold_that_consolidates_into_its_own_target(self, memory: Listening, kind: str, timeout: float | None) -> None:
        """It would wait for itself; it fails instead."""

        def fold(*_: Any) -> str:
            return consolidate(memory, TARGET, [], giving("inner")).text

        async def afold(*_: Any) -> str:
            return await asyncio.to_thread(fold)

        error = failure(memory, TARGET, [], afold if kind == "async" else fold, timeout=timeout)
        assert error.code == "callback_failed"
        assert isinstance(error.__cause__, ConfigurationError)

    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_forked_child_does_not_inherit_a_held_queue(self) -> None:
        """A thread of the parent that holds a queue is not in the child, so nobody waits for it there."""
        held, release = threading.Event(), threading.Event()

        def hold() -> None:
            with queued("key"):
                held.set()
                release.wait(60)

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait(60)
        child = multiprocessing.get_context("fork").Process(target=_hold_and_leave)
        child.start()
        child.join(30)
        child.kill()
        child.join(30)
        release.set()
        holder.join(60)
        assert child.exitcode == 0


def _hold_and_leave() -> None:
    with queued("key"):
        pass


class TestSettings:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(
                (name, value)
                for name in ("max_output_chars", "max_files", "max_file_chars", "max_total_chars")
                for value in (0, True, "1")
            ),
            *(("timeout", value) for value in (0, -1, True, "1", float("nan"), float("inf"))),
            ("fold", None),
            ("sources", path("a")),
            ("sources", [None]),
            ("memory", None),
        ],
    )
    def test_bad_setting(self, memory: Listening, name: str, value: Any) -> None:
        """A bad setting is a configuration error that names it, and nothing is read."""
        arguments = {"memory": memory, "target": TARGET, "sources": [], "fold": never, name: value}
        with pytest.raises(ConfigurationError, match=f"^{name} "):
            consolidate(**arguments)
        assert memory.asked == []


class TestUndo:
    """What the rollback of a flow needs: a fold taken back, through memories that can undo and through those that cannot."""

    @pytest.fixture(params=["can undo", "bare port"])
    def undoable(self, request: pytest.FixtureRequest) -> Any:
        inner = InProcessFileMemory("undo", Limits(max_files=3))
        return inner if request.param == "can undo" else Listening(inner=inner)

    def fold(self, memory: Any, text: str = "new") -> Undo:
        consolidated, undo = consolidate_undoable(memory, TARGET, [], giving(text), operation="op-1")
        assert consolidated.text == text
        assert undo is not None
        return undo

    def test_new_file_goes(self, undoable: Any) -> None:
        """Where there was nothing, there is nothing again."""
        report = undo_write(undoable, self.fold(undoable))
        assert (report.operation, report.restored, report.left) == ("op-1", (TARGET,), ())
        assert text_of(undoable, TARGET) is None

    @pytest.mark.parametrize("prior", ["", "old\n"])
    def test_former_text_comes_back(self, undoable: Any, prior: str) -> None:
        """Byte for byte."""
        keep(undoable, sum=prior)
        assert undo_write(undoable, self.fold(undoable)).restored == (TARGET,)
        assert text_of(undoable, TARGET) == prior

    @pytest.mark.parametrize("prior", [{}, {"sum": "old"}])
    def test_later_write_is_left_alone(self, undoable: Any, prior: dict[str, str]) -> None:
        """What somebody has written since stays, and is reported."""
        keep(undoable, **prior)
        undo = self.fold(undoable)
        keep(undoable, sum="theirs")
        assert undo_write(undoable, undo).left == (TARGET,)
        assert text_of(undoable, TARGET) == "theirs"

    @pytest.mark.parametrize("prior", [{}, {"sum": "old"}])
    def test_file_that_is_gone_stays_gone(self, undoable: Any, prior: dict[str, str]) -> None:
        """A file that somebody deleted since is not brought back."""
        keep(undoable, **prior)
        undo = self.fold(undoable)
        undoable.execute({"command": "delete", "path": TARGET})
        assert undo_write(undoable, undo).left == (TARGET,)
        assert text_of(undoable, TARGET) is None

    def test_evicted_files_come_back_or_are_reported(self, undoable: Any) -> None:
        """A memory that can undo brings them back; through a bare port they are named as left."""
        keep(undoable, a="1", b="2", c="3")
        report = undo_write(undoable, self.fold(undoable))
        if isinstance(undoable, Listening):
            assert report.left == (path("a"),)
        else:
            assert report.restored == (TARGET, path("a"))
            assert text_of(undoable, path("a")) == "1"

    def test_settle(self, undoable: Any) -> None:
        """What is settled stays written."""
        undo = self.fold(undoable)
        settle_write(undoable, undo)
        assert text_of(undoable, TARGET) == "new"

    @pytest.mark.parametrize("command", ["create", "delete"])
    @pytest.mark.parametrize(
        ("lie", "expected"),
        [
            (refusal("STORAGE_ERROR", TARGET, retryable=True), StorageUnavailableError),
            (refusal("STORAGE_ERROR", TARGET, retryable=False), StorageError),
            (refusal("CONFLICT", TARGET, reason="contention"), StorageUnavailableError),
            (ConnectionError(), StorageUnavailableError),
            (RuntimeError(), StorageError),
            (None, StorageError),
        ],
    )
    def test_trouble_of_a_bare_port(self, command: str, lie: Any, expected: type[Exception]) -> None:
        """An undo that fails says so, and whether to try again."""
        memory = Hostile({})
        if command == "create":
            keep(memory.inner, sum="old")
        undo = self.fold(memory)
        memory.lies = {(command, TARGET): lie}
        with pytest.raises(StorageError) as caught:
            undo_write(memory, undo)
        assert type(caught.value) is expected

    def test_settings_are_those_of_consolidate(self, undoable: Any) -> None:
        """They are passed on, and an unknown one is refused."""
        with pytest.raises(ConsolidateError):
            consolidate_undoable(undoable, TARGET, [], giving("xx"), operation="op", max_output_chars=1)
        with pytest.raises(TypeError):
            consolidate_undoable(undoable, TARGET, [], giving("xx"), operation="op", colour="red")

    def test_memory_whose_undo_lies(self) -> None:
        """A memory that can undo is distrusted like any other."""

        class Lying(InProcessFileMemory):
            lie: Any = None

            def execute_undoable(self, command: object, *, operation: str) -> Any:
                if isinstance(self.lie, Exception):
                    raise self.lie
                return self.lie

        memory = Lying("lying")
        for lie in (None, (None, None), ({"ok": True}, None), RuntimeError("no"), 5):
            memory.lie = lie
            with pytest.raises(ConsolidateError) as caught:
                consolidate_undoable(memory, TARGET, [], giving("x"), operation="op")
            assert caught.value.code == "write_failed"

    def test_nothing_written_needs_no_undo(self) -> None:
        """Where the memory says that it changed nothing, there is nothing to undo."""

        class Unchanged(InProcessFileMemory):
            def execute_undoable(self, command: object, *, operation: str) -> Any:
                return super().execute(command), None

        assert consolidate_undoable(Unchanged("u"), TARGET, [], giving("x"), operation="op")[1] is None
