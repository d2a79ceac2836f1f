"""The reasoning record in the commits of real repositories: verbatim, with trailers, and without secrets."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from oort_flows import current_memory, memory_context
from oort_flows.errors import IsolationError
from oort_flows.worktrees import Outcome, ReasoningRecord, isolated, why
from tests.integration.work_trees import content, everything_in, git, raise_limit

pytestmark = pytest.mark.usefixtures("temporary")

TOKEN = "ghp_" + "Zq9xW3vB7nM2kL5jH8gF4dS6aP0oI1uYtR3e"


def stored_message(repository: Path, sha: object) -> str:
    """The message as the commit object holds it."""
    return git(repository, "cat-file", "commit", str(sha)).partition("\n\n")[2] + "\n"


def test_message_is_stored_verbatim(repository: Path) -> None:
    """No setting of the repository's eats a heading, a comment, a blank line or what follows a scissors line."""
    for key, value in {
        "commit.cleanup": "scissors",
        "commit.verbose": "true",
        "core.commentChar": "-",
        "i18n.commitEncoding": "latin1",
        "commit.template": "/no/such/file",
    }.items():
        git(repository, "config", key, value)
    body = "# Why\n\n\n- é 日本\n# ------------------------ >8 ------------------------\n  indented\n## More"
    record = ReasoningRecord("implement", compose=lambda *_: ("# Raise the limit", body))
    run = isolated(raise_limit, repository=repository, record=record)()
    message = stored_message(repository, run.commit)
    assert message.startswith(f"# Raise the limit\n\n{body}\n\nOort-Scope: ")
    assert message == run.message
    shown = git(repository, "-c", "i18n.logOutputEncoding=UTF-8", "log", "-1", "--format=%B", str(run.commit))
    assert "é 日本" in shown


def test_trailers_lead_back(repository: Path) -> None:
    """The scope and what was recalled stand in trailers that git itself understands."""

    def step(worktree: Path) -> None:
        current_memory().record.note("Because.\nOort-Scope: forged")
        current_memory().record.recalled(["m1", "m2"])
        raise_limit(worktree)

    with memory_context(project="billing"):
        run = isolated(step, repository=repository, record=True)()
    trailers = git(repository, "log", "-1", "--format=%(trailers:only,unfold)", str(run.commit))
    assert trailers.strip() == "Oort-Scope: project:billing\nOort-Recalled: m1, m2"
    reason = why(repository, "limits.toml", 1)
    assert (reason.scope, reason.recalled, reason.flow_run) == ("project:billing", ("m1", "m2"), None)
    assert git(repository, "log", "-1", "--format=%(trailers:only,unfold)").strip() == "Oort-Scope: project:billing"


def test_commit_without_a_record_leads_back_too(repository: Path) -> None:
    """Without a record the commit still names the scope."""
    with memory_context(project="billing"):
        run = isolated(raise_limit, repository=repository, label="implement")()
    assert run.message == "implement: Raised the retry limit\n\nOort-Scope: project:billing\n"


def test_record_is_told_only_after_the_merge(repository: Path) -> None:
    """Turns stay until their commit has landed, and are in the message of the retry."""
    record = ReasoningRecord("implement")
    hook = repository / ".git" / "hooks" / "pre-merge-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)

    def step(worktree: Path) -> None:
        current_memory().record.note("Because.")
        raise_limit(worktree)

    with pytest.raises(IsolationError):
        isolated(step, repository=repository, record=record)()
    assert [turn.text for turn in record.captured()] == ["Because."]
    hook.unlink()
    run = isolated(step, repository=repository, record=record)()
    assert stored_message(repository, run.commit).count("Because.") == 2
    assert len(record.captured()) == 0


def test_unchanged_step_leaves_the_turns(repository: Path) -> None:
    """A record whose step had nothing to commit keeps what it holds."""
    record = ReasoningRecord("implement")
    record.note("Because.")
    isolated(lambda: None, repository=repository, record=record)()
    assert len(record.captured()) == 1


def test_record_true_opens_one_for_each_call(repository: Path) -> None:
    """Two calls of one isolated step do not share their notes."""

    def step(text: str, worktree: Path) -> None:
        current_memory().record.note(text)
        (worktree / f"{text}.txt").write_text(text)

    call = isolated(step, repository=repository, label="implement", record=True)
    first, second = call("one"), call("two")
    assert "one" in str(first.message)
    assert "one" not in str(second.message)


def test_no_secret_reaches_the_repository(repository: Path) -> None:
    """A secret in notes, in the summary, in what a composer returns or in a log line is in no object, landed or not."""
    log = logging.getLogger("prefect.task_runs")
    level = log.level
    log.setLevel(logging.INFO)

    def step(n: int, worktree: Path) -> str:
        current_memory().record.note(f"With {TOKEN}")
        log.warning("Using %s", TOKEN)
        (worktree / f"{n}.txt").write_text(f"{n}\n")
        return f"Used {TOKEN}"

    try:
        composer = ReasoningRecord("implement", compose=lambda s, captured, o: (f"Use {TOKEN}", captured.text))
        for n, record in enumerate((True, composer, False)):
            run = isolated(step, repository=repository, label="implement", record=record)(n)
            assert "[secret: github-token]" in str(run.message)
        git(repository, "config", "commit.gpgSign", "true")
        git(repository, "config", "gpg.program", "false")
        with pytest.raises(IsolationError):
            isolated(step, repository=repository, record=True)(9)
    finally:
        log.setLevel(level)
    everything = everything_in(repository)
    assert b"[secret: github-token]" in everything
    assert TOKEN.encode() not in everything
    assert TOKEN[:12].encode() not in everything


def test_run_logger_is_kept_at_the_chosen_level(repository: Path) -> None:
    """What the run loggers say, at the level and above, stands below the notes; other loggers do not count."""
    log = logging.getLogger("prefect.flow_runs")
    level = log.level
    log.setLevel(logging.DEBUG)

    def step(worktree: Path) -> None:
        log.debug("too low")
        log.info("info %s", "line")
        log.getChild("child").warning("from\na child")
        logging.getLogger("elsewhere").error("not ours")
        current_memory().record.note("Because.")
        raise_limit(worktree)

    try:
        isolated(step, repository=repository, record=True)()
        assert why(repository, "limits.toml", 1).body == "## Why\n\nBecause.\n\n- INFO: info line\n- WARNING: from a child"
        for chosen, kept in (("WARNING", False), (logging.DEBUG, True), (None, False)):
            record = ReasoningRecord("implement", log_level=chosen)
            with record.listening():
                log.info("info line")
            assert ("info line" in record.message(Outcome())) is kept
        log.info("afterwards")
        assert log.handlers == [] or all(
            type(handler).__module__ != "oort_flows.worktrees.runlogs" for handler in log.handlers
        )
    finally:
        log.setLevel(level)


def test_step_without_a_record_keeps_silent(repository: Path) -> None:
    """Notes of a step without a record are dropped, and do no harm."""

    def step(worktree: Path) -> None:
        current_memory().record.note("Because.")
        raise_limit(worktree)

    run = isolated(step, repository=repository)()
    assert "Because" not in str(run.message)
    assert content(repository, "HEAD", "limits.toml") == "max_retries = 5\n"
