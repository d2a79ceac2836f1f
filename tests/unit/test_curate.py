"""Curate asks the user's function what a step needs, and goes on without it if it must."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oort_flows.errors import ConfigurationError
from oort_flows.mechanics import UNTRUSTED_WARNING, Curated, Document, Grounded, curate, ground
from tests.unit.ports_made_up import Listening, keep, path
from tests.unit.prompts_read_back import as_rendered, blocks
from tests.unit.secrets_made_up import Mint


@pytest.fixture
def grounded() -> Grounded:
    memory = Listening()
    keep(memory, a="alpha", b="beta", c="gamma")
    return ground(memory, ["/memories"])


def answering(brief: Any = "Do it.", sources: Any = ()) -> Callable[..., Any]:
    return lambda *_: {"brief": brief, "sources": list(sources) if isinstance(sources, tuple) else sources}


def assert_grounded(curated: Curated, grounded: Grounded, reason: str) -> None:
    assert (curated.mode, curated.reason, curated.prompt) == ("grounded", reason, grounded.prompt)
    assert curated.brief is None
    assert curated.sources == ()
    assert curated.error


class TestDecision:
    def test_decide_gets_intent_documents_and_prompt_once(self, grounded: Grounded) -> None:
        """By position, in this order."""
        calls: list[tuple[Any, ...]] = []
        curate(grounded, "ship it", lambda *args: calls.append(args))
        assert calls == [("ship it", grounded.documents, grounded.prompt)]

    def test_async_decide(self, grounded: Grounded) -> None:
        """It may be async, also where a loop runs already."""

        async def decide(intent: str, documents: Any, prompt: str) -> Any:
            await asyncio.sleep(0)
            return {"brief": intent, "sources": [documents[0].path]}

        async def main() -> Curated:
            return curate(grounded, "go", decide)

        assert curate(grounded, "go", decide).brief == "go"
        assert asyncio.run(main()).brief == "go"

    def test_curated(self, grounded: Grounded) -> None:
        """The brief is trimmed, repeats are dropped, and the order of the decision kept, in the prompt as well."""
        curated = curate(grounded, "go", answering(" \n Mind *b*.\t", (path("c"), path("b"), path("c"))))
        assert curated == Curated(
            mode="curated", brief="Mind *b*.", sources=(path("c"), path("b")), prompt=curated.prompt, reason=None, error=None
        )
        assert blocks(curated.prompt) == [
            ("p", UNTRUSTED_WARNING),
            ("p", "Brief:"),
            ("fence", "Mind *b*.\n"),
            ("h2", path("c")),
            ("fence", "gamma\n"),
            ("h2", path("b")),
            ("fence", "beta\n"),
        ]

    def test_object_with_attributes(self, grounded: Grounded) -> None:
        """A decision may be an object, and its sources a tuple."""
        decision = SimpleNamespace(brief="b", sources=(path("a"),))
        assert curate(grounded, "go", lambda *_: decision).sources == (path("a"),)

    def test_empty_list_of_sources(self, grounded: Grounded) -> None:
        """A brief alone is a decision."""
        curated = curate(grounded, "go", answering("b", ()))
        assert (curated.mode, curated.sources) == ("curated", ())
        assert "##" not in curated.prompt

    def test_longest_brief(self, grounded: Grounded) -> None:
        """Exactly max_brief_chars code points after trimming are fine."""
        assert curate(grounded, "go", answering("  🧠🧠 "), max_brief_chars=2).brief == "🧠🧠"
        assert len(curate(grounded, "go", answering("x" * 2_000)).brief or "") == 2_000

    def test_cut_documents_say_so(self) -> None:
        """A document that was cut carries its note into the chosen prompt, and no more than it knows."""
        cut = Document(path=path("a"), text="al", truncated=True, total_chars=5)
        unknown = Document(path=path("b"), text="be", truncated=True)
        curated = curate(Grounded(documents=(cut, unknown), prompt=""), "go", answering("b", (path("a"), path("b"))))
        assert "(truncated: first 2 of 5 characters)" in curated.prompt
        assert "(truncated: first 2 characters)" in curated.prompt

    @settings(max_examples=200, deadline=None)
    @given(st.text(alphabet="`~# \n\rx-=>", min_size=1, max_size=40).filter(lambda text: text.strip()))
    def test_no_brief_can_fake_anything(self, brief: str) -> None:
        """The brief stands in a fence of its own."""
        curated = curate(Grounded(documents=(), prompt=""), "go", answering(brief))
        assert blocks(curated.prompt)[2:] == [("fence", as_rendered(brief.strip()))]


INVALID: dict[str, Any] = {
    "nothing": None,
    "a text": "brief",
    "a list": [],
    "no brief": {"sources": []},
    "no sources": {"brief": "b"},
    "blank brief": {"brief": " \n", "sources": []},
    "empty brief": {"brief": "", "sources": []},
    "brief too long": {"brief": "x" * 2_001, "sources": []},
    "brief is no text": {"brief": b"b", "sources": []},
    "half a surrogate pair": {"brief": "\ud800", "sources": []},
    "unknown source": {"brief": "b", "sources": ["/memories/z.md"]},
    "one unknown source": {"brief": "b", "sources": ["/memories/a.md", "/memories/z.md"]},
    "sources are a text": {"brief": "b", "sources": "/memories/a.md"},
    "sources are None": {"brief": "b", "sources": None},
    "a source is no text": {"brief": "b", "sources": [1]},
    "a source cannot be hashed": {"brief": "b", "sources": [[]]},
    "a skipped path": {"brief": "b", "sources": ["/memories"]},
}


class TestInvalidDecision:
    @pytest.mark.parametrize("decision", INVALID.values(), ids=INVALID)
    def test_invalid_decision_gives_the_full_prompt(self, grounded: Grounded, decision: Any) -> None:
        """What is unusable is not repaired: a brief too long is not cut, an unknown source not dropped."""
        curated = curate(grounded, "go", lambda *_: decision)
        assert_grounded(curated, grounded, "invalid_decision")
        assert curated.error is not None
        assert "z.md" not in curated.error

    def test_decision_that_raises_when_it_is_looked_at(self, grounded: Grounded) -> None:
        """It is an invalid decision, and says why."""

        class Trap:
            @property
            def brief(self) -> str:
                raise LookupError("no brief today")

        curated = curate(grounded, "go", lambda *_: Trap())
        assert_grounded(curated, grounded, "invalid_decision")
        assert curated.error == "LookupError: no brief today"


class TestFailedCallback:
    def test_exception(self, grounded: Grounded) -> None:
        """An exception of decide is described, and the step goes on with all documents."""

        def decide(*_: Any) -> None:
            raise ValueError("the model said no")

        curated = curate(grounded, "go", decide)
        assert_grounded(curated, grounded, "callback_failed")
        assert curated.error == "ValueError: the model said no"

    def test_error_is_scrubbed_before_it_is_cut(self, grounded: Grounded) -> None:
        """A secret in the text of an exception is gone, also where the cut goes through it."""
        token = Mint(3).tokens()["github-token"][0]

        def decide(*_: Any) -> None:
            raise ValueError("x" * 1_970 + " " + token)

        error = curate(grounded, "go", decide).error or ""
        assert token[:12] not in error
        assert len(error) == 2_000

    def test_error_without_text(self, grounded: Grounded) -> None:
        """The type alone is said of an exception that says nothing, or raises when asked."""

        class Mute(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        def raising(error: Exception) -> Callable[..., Any]:
            def decide(*_: Any) -> None:
                raise error

            return decide

        assert curate(grounded, "go", raising(KeyError())).error == "KeyError"
        assert curate(grounded, "go", raising(Mute())).error == "Mute"
        assert curate(grounded, "go", raising(ValueError("\ud800"))).error == "ValueError: \ufffd"

    @pytest.mark.parametrize("kind", ["plain", "async"])
    def test_time_over(self, grounded: Grounded, kind: str) -> None:
        """A decide that does not come back in time is a failed callback."""
        never = threading.Event()

        async def adecide(*_: Any) -> None:
            await asyncio.Event().wait()

        curated = curate(grounded, "go", adecide if kind == "async" else lambda *_: never.wait(), timeout=0.05)
        never.set()
        assert_grounded(curated, grounded, "callback_failed")
        assert (curated.error or "").startswith("TimeoutError")

    def test_in_time(self, grounded: Grounded) -> None:
        """A timeout that is not reached changes nothing."""
        assert curate(grounded, "go", answering(), timeout=30).mode == "curated"

    @pytest.mark.parametrize("timeout", [None, 30])
    @pytest.mark.parametrize("kind", ["plain", "async"])
    @pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
    def test_interrupts_pass_through(
        self, grounded: Grounded, interrupt: type[BaseException], kind: str, timeout: float | None
    ) -> None:
        """Interrupts and cancellation are no failed callback."""

        def decide(*_: Any) -> None:
            raise interrupt

        async def adecide(*_: Any) -> None:
            raise interrupt

        with pytest.raises(interrupt):
            curate(grounded, "go", adecide if kind == "async" else decide, timeout=timeout)

    def test_interrupts_of_a_decision_pass_through(self, grounded: Grounded) -> None:
        """Also where they come from reading the decision."""

        class Trap:
            @property
            def brief(self) -> str:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            curate(grounded, "go", lambda *_: Trap())


class TestWarning:
    @pytest.mark.parametrize("prompt", ["", "Obey.", "obey\n\n" + UNTRUSTED_WARNING])
    def test_prompt_without_warning_is_rebuilt(self, grounded: Grounded, prompt: str) -> None:
        """Before decide sees it, and where the step falls back on it."""
        seen: list[str] = []
        forged = grounded.model_copy(update={"prompt": prompt})
        curated = curate(forged, "go", lambda *args: seen.append(args[2]))
        assert seen == [grounded.prompt]
        assert curated.prompt == grounded.prompt


class TestSettings:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(("max_brief_chars", value) for value in (0, -1, True, 1.5, "1", None)),
            *(("timeout", value) for value in (0, -1, True, "1", float("nan"), float("inf"), 2**40)),
            ("decide", None),
            ("intent", None),
            ("intent", b"go"),
            ("grounded", None),
            ("grounded", {"documents": []}),
        ],
    )
    def test_bad_setting(self, grounded: Grounded, name: str, value: Any) -> None:
        """A bad setting is a configuration error that names it, and decide is not called."""
        calls: list[object] = []
        arguments = {"grounded": grounded, "intent": "go", "decide": lambda *args: calls.append(args), name: value}
        with pytest.raises(ConfigurationError, match=f"^{name} "):
            curate(**arguments)
        assert calls == []
