"""The reasoning record: what it captures, how it becomes a message, and how that is cleaned."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from oort_flows.errors import ConfigurationError, InvalidInputError
from oort_flows.worktrees import Captured, Outcome, ReasoningRecord

TOKEN = "ghp_" + "Zq9xW3vB7nM2kL5jH8gF4dS6aP0oI1uYtR3e"


def said(text: str, path=("flow", "implement"), type_: str = "text") -> dict:
    return {"type": type_, "delta": text, "path": path}


def captured_by(record: ReasoningRecord) -> list[tuple[str, str]]:
    return [(turn.type, turn.text) for turn in record.captured()]


def composed(record: ReasoningRecord, outcome: object = None) -> tuple[str, str]:
    """Subject and body of the message, without trailers."""
    subject, _, rest = record.message(outcome or Outcome()).partition("\n\n")
    return subject, rest.rstrip("\n")


def with_compose(compose, **settings) -> ReasoningRecord:
    record = ReasoningRecord("implement", compose=compose, **settings)
    record.note("Tried it in place.")
    return record


# ------------------------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    "settings",
    [
        {"stage": ""},
        {"stage": " \t"},
        {"stage": "\x00"},
        {"stage": 5},
        {"stage": None},
        {"stage": "a", "path": "implement"},
        {"stage": "a", "path": [1]},
        {"stage": "a", "path": {"x"}},
        {"stage": "a", "compose": "no"},
        {"stage": "a", "compose_timeout": 0},
        {"stage": "a", "compose_timeout": -1},
        {"stage": "a", "compose_timeout": True},
        {"stage": "a", "compose_timeout": float("nan")},
        {"stage": "a", "log_level": "LOUD"},
        {"stage": "a", "log_level": True},
    ],
)
def test_bad_setting_is_a_configuration_error(settings: dict) -> None:
    """A setting that cannot be used is refused when the record is made."""
    with pytest.raises(ConfigurationError):
        ReasoningRecord(**settings)


# -------------------------------------------------------------------------------------------------------------- capture


def test_note_is_kept_and_a_blank_one_is_not() -> None:
    """Notes are kept as they are; blank ones say nothing."""
    record = ReasoningRecord("implement")
    for text in (" Because. \n", "", " \n"):
        record.note(text)
    assert captured_by(record) == [("note", " Because. \n")]


def test_note_that_is_no_text_is_refused() -> None:
    """A note has to be a string; the message does not repeat what it was."""
    with pytest.raises(InvalidInputError) as caught:
        ReasoningRecord("implement").note(4711)  # type: ignore[arg-type]
    assert caught.value.field == "text"
    assert "4711" not in str(caught.value)


def test_pieces_that_follow_each_other_are_one_turn() -> None:
    """Streamed pieces of one kind from one place make one turn; another kind, another place or a note begins a new one."""
    record = ReasoningRecord("implement")
    for event in (said("a"), said("b"), said("c", type_="thinking"), said("d"), said("e", ("flow", "implement", "sub"))):
        record.observe(event)
    record.note("f")
    record.note("g")
    record.observe(said("h"))
    assert captured_by(record) == [
        ("text", "ab"), ("thinking", "c"), ("text", "d"), ("text", "e"), ("note", "f"), ("note", "g"), ("text", "h"),
    ]  # fmt: skip


def test_events_may_be_objects() -> None:
    """An event with attributes counts as one with keys."""
    record = ReasoningRecord("implement")
    record.observe(SimpleNamespace(type="thinking", delta="hm", path=["implement"]))
    assert captured_by(record) == [("thinking", "hm")]


@pytest.mark.parametrize(
    "event",
    [
        None,
        5,
        "text",
        {},
        {"type": "tool", "delta": "x", "path": ["implement"]},
        {"type": ["text"], "delta": "x", "path": ["implement"]},
        {"type": "text", "delta": "", "path": ["implement"]},
        {"type": "text", "delta": 5, "path": ["implement"]},
        {"type": "text", "path": ["implement"]},
        {"type": "text", "delta": "x"},
        {"type": "text", "delta": "x", "path": None},
        {"type": "text", "delta": "x", "path": []},
        {"type": "text", "delta": "x", "path": "implement"},
        {"type": "text", "delta": "x", "path": ["implement", 5]},
    ],
)
def test_other_events_are_ignored(event: object) -> None:
    """What is no piece of text or thinking with a place is ignored, and does not say where to listen."""
    record = ReasoningRecord("implement")
    record.observe(event)
    record.observe(said("y", ("elsewhere", "implement")))
    assert captured_by(record) == [("text", "y")]


def test_first_path_with_the_stage_says_where() -> None:
    """The path up to and including the stage is pinned; deeper events count, the same name elsewhere does not."""
    record = ReasoningRecord("implement")
    for event in (
        said("before", ("flow", "plan")),
        said("a", ("flow", "implement", "agent", "implement")),
        said("b", ("flow", "implement")),
        said("c", ("flow", "implement", "tool")),
        said("elsewhere", ("other", "implement")),
        said("above", ("flow",)),
    ):
        record.observe(event)
    assert record.captured().text == "abc"


def test_given_path_is_where_to_listen() -> None:
    """With a path an event's path must begin with it, whatever the stage is called."""
    record = ReasoningRecord("implement", path=["flow", "x"])
    for event in (
        said("a", ("flow", "x")),
        said("b", ["flow", "x", "y"]),
        said("c", ("flow",)),
        said("d", ("flow", "implement")),
    ):
        record.observe(event)
    assert record.captured().text == "ab"


def test_empty_path_does_not_mean_everything() -> None:
    """An empty path is as good as none: the stage says where."""
    record = ReasoningRecord("implement", path=[])
    record.observe(said("a", ("flow", "plan")))
    assert len(record.captured()) == 0


def test_oldest_characters_go_beyond_a_million() -> None:
    """A million characters are kept, to the character; the composer is told how many were dropped."""
    seen: list[Captured] = []
    record = ReasoningRecord("implement", compose=lambda stage, captured, outcome: seen.append(captured))
    record.note("n" * 10)
    for _ in range(10):
        record.observe(said("x" * 100_000))
    record.observe(said("tail"))
    record.message(Outcome())
    assert len(seen[0].text) == 1_000_000
    assert seen[0].dropped == 14
    assert [turn.type for turn in seen[0]] == ["text"]
    assert seen[0].text.endswith("xtail")


def test_one_piece_of_more_than_a_million_is_cut_in_front() -> None:
    """A single note over the limit keeps its end."""
    record = ReasoningRecord("implement")
    record.note("a" + "b" * 1_000_000)
    (turn,) = record.captured()
    assert turn.text == "b" * 1_000_000
    assert record.captured().dropped == 1


def test_record_may_be_written_to_by_several_threads() -> None:
    """Nothing is lost or mixed when threads speak at once."""
    record = ReasoningRecord("implement")
    threads = [threading.Thread(target=lambda n=n: [record.note(f"{n}-{i}") for i in range(200)]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [text for _, text in captured_by(record)]
    assert len(texts) == 800
    for n in range(4):
        assert [text for text in texts if text.startswith(f"{n}-")] == [f"{n}-{i}" for i in range(200)]


# -------------------------------------------------------------------------------------------------------------- compose


def test_composer_sees_stage_turns_and_outcome() -> None:
    """The composer gets the stage, a copy of what was said as it was said, and the outcome."""
    seen: list[tuple] = []

    def compose(*args):
        seen.append(args)
        return "Raise the limit", "Because."

    record = with_compose(compose)
    outcome = Outcome(summary="done", value=5)
    assert composed(record, outcome) == ("Raise the limit", "Because.")
    stage, captured, given = seen[0]
    assert stage == "implement"
    assert captured.of("note") == ["Tried it in place."]
    assert given is outcome


@pytest.mark.parametrize(
    "answer",
    [
        ("Raise it", "Because."),
        ["Raise it", "Because."],
        {"subject": "Raise it", "body": "Because."},
        SimpleNamespace(subject="Raise it", body="Because."),
    ],
    ids=["tuple", "list", "mapping", "object"],
)
def test_composer_answers_in_several_shapes(answer: object) -> None:
    """A pair, a mapping and an object are understood."""
    assert composed(with_compose(lambda *_: answer)) == ("Raise it", "Because.")


def test_composer_may_be_async() -> None:
    """An async composer is awaited."""

    async def compose(stage, captured, outcome):
        return stage, "Because."

    assert composed(with_compose(compose)) == ("implement", "Because.")


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "text",
        5,
        (),
        ("only",),
        ("a", "b", "c"),
        ("", "body"),
        (" \t", "body"),
        ("\x00", "body"),
        ("subject", ""),
        ("subject", "\n \n"),
        ("two\nlines", "body"),
        ("two\rlines", "body"),
        ("line\n", "body"),
        (5, "body"),
        ("subject", None),
        {"subject": "s"},
    ],
)
def test_unusable_answer_gives_the_floor(answer: object) -> None:
    """An answer without two good parts is replaced by the floor, which says nothing of what was said."""
    subject, body = composed(with_compose(lambda *_: answer), Outcome(summary="Raised  the\n limit"))
    assert subject == "record(implement): Raised the limit"
    assert body == (
        "## Why\n\nNo reason was composed for this change. The step ended with status completed and left 1 turn."
    )


def test_composer_that_raises_gives_the_floor() -> None:
    """An exception gives the floor; without a summary the status stands in the subject."""

    def compose(*_):
        raise RuntimeError("no model")

    record = with_compose(compose)
    record.note("Another.")
    subject, body = composed(record)
    assert subject == "record(implement): completed"
    assert body.endswith("left 2 turns.")


def test_composer_that_takes_too_long_gives_the_floor() -> None:
    """A composer that does not come back in its time, plain or async, gives the floor."""
    release = threading.Event()
    try:
        assert composed(with_compose(lambda *_: release.wait(), compose_timeout=0.05))[0].startswith("record(implement)")

        async def never(*_):
            import asyncio

            await asyncio.Event().wait()

        assert composed(with_compose(never, compose_timeout=0.05))[0].startswith("record(implement)")
    finally:
        release.set()


def test_interrupt_of_a_composer_comes_out() -> None:
    """Ctrl-C is not taken for a composer that failed."""

    def compose(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        with_compose(compose).message(Outcome())


def test_outcome_may_be_a_mapping_or_an_object() -> None:
    """The floor reads status and summary from whatever has them."""
    record = ReasoningRecord("implement")
    assert composed(record, {"summary": "s"})[0] == "record(implement): s"
    assert composed(record, SimpleNamespace(status="landed"))[0] == "record(implement): landed"
    assert composed(record, {"status": None, "summary": 5})[0] == "record(implement): completed"


def test_notes_and_log_lines_are_the_body_without_a_composer() -> None:
    """Without a composer the summary is the subject and the notes are the why; streamed text stays out."""
    record = ReasoningRecord("implement")
    record.note("First.\nStill first.")
    record.observe(said("I think the user is wrong"))
    record.note("Second.")
    assert composed(record, Outcome(summary="Raised it")) == (
        "implement: Raised it",
        "## Why\n\nFirst.\nStill first.\n\nSecond.",
    )
    assert composed(record)[0] == "implement"


def test_streamed_text_alone_gives_the_floor_without_a_composer() -> None:
    """What a model thinks aloud is no reason that anybody has given."""
    record = ReasoningRecord("implement")
    record.observe(said("thinking aloud"))
    subject, body = composed(record)
    assert subject == "record(implement): completed"
    assert "aloud" not in body
    assert body.endswith("left 1 turn.")


def test_message_twice_then_committed() -> None:
    """Asking twice composes twice from the same turns; after the commit has landed none of the old are left."""
    seen: list[list[str]] = []
    record = ReasoningRecord("implement", compose=lambda stage, captured, outcome: seen.append([t.text for t in captured]))
    record.observe(said("old", ("flow", "implement")))
    record.recalled(["m1"])
    record.message(Outcome())
    record.message(Outcome())
    record.committed("0" * 40)
    record.observe(said("elsewhere", ("other", "implement")))
    record.observe(said("new", ("flow", "implement")))
    message = record.message(Outcome())
    assert seen == [["old"], ["old"], ["new"]]
    assert "m1" not in message


def test_copy_of_the_turns_does_not_change() -> None:
    """What a composer holds stays as it was, however much is said afterwards."""
    record = ReasoningRecord("implement")
    record.observe(said("a"))
    copy = record.captured()
    record.observe(said("b"))
    record.committed("0" * 40)
    assert copy.text == "a"


# ------------------------------------------------------------------------------------------------------------- cleaning


def test_secret_across_the_cut_is_gone() -> None:
    """A body of 40,000 characters with a secret across the cut: under 20,000, the note present, no part of it left."""
    text = "x " * 7_990 + f"token {TOKEN} " + "y " * 12_000
    assert len(text) > 40_000 - 100
    assert text.index(TOKEN) < 16_000 < text.index(TOKEN) + len(TOKEN)
    _, body = composed(with_compose(lambda *_: ("Subject", text)))
    assert len(body) < 20_000
    assert body.endswith("[cut after 16,000 characters]")
    assert "ghp_" not in body
    assert TOKEN[-8:] not in body


def test_secret_split_over_turns_is_gone() -> None:
    """A secret split over a text and a thinking piece: the composer sees it raw, the message shows the marker."""
    seen: list[str] = []

    def compose(stage, captured, outcome):
        seen.append(captured.text)
        return "Subject", f"It said: {captured.text}"

    record = ReasoningRecord("implement", compose=compose)
    record.observe(said(TOKEN[:20]))
    record.observe(said(TOKEN[20:], type_="thinking"))
    _, body = composed(record)
    assert seen == [TOKEN]
    assert body == "It said: [secret: github-token]"


@pytest.mark.parametrize("hidden_by", ["\x00", "\x07", "\r", "\x1b", "\x7f"])
def test_control_characters_do_not_hide_a_secret(hidden_by: str) -> None:
    """Control characters go before the secrets are looked for, so one in the middle hides nothing."""
    secret = TOKEN[:12] + hidden_by + TOKEN[12:]
    subject, body = composed(with_compose(lambda *_: ("Subject", f"a {secret} b\tc")))
    assert body == "a [secret: github-token] b\tc"
    subject, _ = composed(ReasoningRecord("implement"), Outcome(summary=f"Used {secret}"))
    assert subject == "record(implement): Used [secret: github-token]"


def test_secret_in_a_subject_is_gone_before_the_cut() -> None:
    """The subject is scrubbed whole, then cut to 100 characters."""
    subject, _ = composed(with_compose(lambda *_: ("s" * 90 + " " + TOKEN, "Because.")))
    assert "ghp_" not in subject
    assert len(subject) <= 100
    subject, _ = composed(with_compose(lambda *_: ("w" * 150, "Because.")))
    assert subject == "w" * 100


def test_secrets_in_notes_are_gone_without_a_composer() -> None:
    """What the built-in message is made of is cleaned as well."""
    record = ReasoningRecord("implement")
    record.note(f"Used {TOKEN}")
    assert TOKEN not in record.message(Outcome(summary=f"with {TOKEN}"))


def test_half_a_surrogate_pair_can_be_committed() -> None:
    """Text that no encoding knows becomes text that one does."""
    record = ReasoningRecord("implement")
    record.note("a\ud800b")
    assert "a\ufffdb" in record.message(Outcome(scope="x\udfffy"))
    record.message(Outcome()).encode()


def test_body_of_exactly_the_limit_is_not_cut() -> None:
    """16,000 characters are kept whole; one more is cut, and the note says so."""
    assert composed(with_compose(lambda *_: ("S", "é" * 16_000)))[1] == "é" * 16_000
    assert composed(with_compose(lambda *_: ("S", "é" * 16_001)))[1] == "é" * 16_000 + "\n\n[cut after 16,000 characters]"


# ------------------------------------------------------------------------------------------------------------- trailers


def test_trailers_are_the_last_paragraph_outside_of_the_cut() -> None:
    """Trailers follow the body whole, one line each, however long the body is."""
    record = with_compose(lambda *_: ("Subject", "x" * 20_000))
    record.recalled(["m1", "m2", "m1", "a,b"])
    message = record.message(Outcome(flow_run="f1", task_run="t1", scope="project:a\nb"))
    assert message.split("\n\n")[-1] == (
        "Oort-Flow-Run: f1\nOort-Task-Run: t1\nOort-Scope: project:a b\nOort-Recalled: m1, m2, a b\n"
    )


def test_unknown_trailers_are_left_out() -> None:
    """What is not known is not there; without any, the body ends the message."""
    record = with_compose(lambda *_: ("Subject", "Because."))
    assert record.message(Outcome()) == "Subject\n\nBecause.\n"
    assert record.message(Outcome(task_run="t1", scope=" ")) == "Subject\n\nBecause.\n\nOort-Task-Run: t1\n"


@pytest.mark.parametrize("line", ["Oort-Flow-Run: x", "oort-scope : x", "  OORT-RECALLED: x", "Oort-Anything: x"])
def test_line_that_looks_like_a_trailer_is_quoted(line: str) -> None:
    """A body cannot forge one of our trailers."""
    message = with_compose(lambda *_: ("Subject", f"Because.\n\n{line}")).message(Outcome())
    assert message == f"Subject\n\nBecause.\n\n> {line}\n"
