"""From a line to its reason: blame, the message, and the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from oort_flows import current_memory, memory_context
from oort_flows.errors import ConfigurationError, InvalidInputError, NotFoundError
from oort_flows.worktrees import isolated, why
from tests.integration.work_trees import git

pytestmark = pytest.mark.usefixtures("temporary")


def add_line(repository: Path, text: str = "timeout = 30\n", note: str = "The server is slow.") -> object:
    """Land a step that adds a line to limits.toml; return its commit."""

    def step(worktree: Path) -> str:
        current_memory().record.note(note)
        file = worktree / "limits.toml"
        file.write_text(file.read_text() + text)
        return "Set a timeout"

    with memory_context(project="billing"):
        return isolated(step, repository=repository, label="implement", record=True)().commit


def test_line_leads_to_its_reason(repository: Path) -> None:
    """The reason names the commit, its author and time, what it says, and the scope; the trailers are not in the body."""
    commit = add_line(repository)
    reason = why(repository, "limits.toml", 2)
    assert (reason.path, reason.line, reason.commit) == ("limits.toml", 2, commit)
    assert reason.author == "Ada"
    assert reason.committed_at == git(repository, "log", "-1", "--format=%cI", str(commit))
    assert reason.subject == "implement: Set a timeout"
    assert reason.body == "## Why\n\nThe server is slow."
    assert (reason.scope, reason.flow_run, reason.task_run, reason.recalled) == ("project:billing", None, None, ())


def test_line_of_an_ordinary_commit_has_what_that_says(repository: Path) -> None:
    """A line that no step has made leads to its commit all the same, without a run."""
    reason = why(repository, "limits.toml", 1)
    assert (reason.subject, reason.body, reason.scope) == ("Start", "", None)


def test_trailers_of_others_stay_in_the_body(repository: Path) -> None:
    """Only our own trailers are taken out of the body."""
    (repository / "limits.toml").write_text("max_retries = 4\n")
    message = "Lower\n\nBecause.\n\nSigned-off-by: Ada\nOort-Flow-Run: 0192\nOort-Recalled: m1, m2"
    git(repository, "commit", "-q", "-a", "-m", message)
    reason = why(repository, "limits.toml", 1)
    assert reason.body == "Because.\n\nSigned-off-by: Ada"
    assert (reason.flow_run, reason.recalled) == ("0192", ("m1", "m2"))


def test_line_moves_with_what_stands_above(repository: Path) -> None:
    """The number is that of the file as it is now, uncommitted lines above included."""
    commit = add_line(repository)
    file = repository / "limits.toml"
    file.write_text("# new\n" + file.read_text())
    assert why(repository, "limits.toml", 3).commit == commit
    with pytest.raises(NotFoundError, match="not committed"):
        why(repository, "limits.toml", 1)


def test_resolved_line_leads_to_the_merge(repository: Path) -> None:
    """A line that was made while a conflict was resolved leads to the merge commit, which names the scope too."""

    def step(worktree: Path) -> None:
        (worktree / "limits.toml").write_text("max_retries = 5\n")
        (repository / "limits.toml").write_text("max_retries = 9\n")
        git(repository, "commit", "-q", "-a", "-m", "Meanwhile")

    with memory_context(project="billing"):
        run = isolated(step, repository=repository, on_conflict="synthesize", resolve=lambda *_: "max_retries = 7\n")()
    reason = why(repository, "limits.toml", 1)
    assert (reason.commit, reason.scope) == (run.merge, "project:billing")


def test_places_may_be_named_in_several_ways(repository: Path, tmp_path: Path) -> None:
    """The path is relative to the folder that is given, or absolute; odd names and bare repositories work."""
    commit = add_line(repository)
    (repository / "sub").mkdir()
    (repository / "sub" / "naïve 日本.txt").write_text("x\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Odd")
    assert why(repository, repository / "limits.toml", 2).commit == commit
    assert why(repository / "sub", "../limits.toml", 2).commit == commit
    assert why(repository / "sub", "naïve 日本.txt", 1).subject == "Odd"
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    assert why(bare, "limits.toml", 2).commit == commit


def test_settings_of_the_log_do_not_matter(repository: Path) -> None:
    """Signatures, notes, colours and encodings of the user's own log do not get into the answer."""
    commit = add_line(repository, note="Größe")
    git(repository, "notes", "add", "-m", "a note", str(commit))
    for key, value in {
        "log.showSignature": "true", "color.ui": "always", "i18n.logOutputEncoding": "latin1", "blame.showEmail": "true",
    }.items():  # fmt: skip
        git(repository, "config", key, value)
    assert why(repository, "limits.toml", 2).body == "## Why\n\nGröße"


@pytest.mark.parametrize("line", [0, -1, True, 1.0, "1", None])
def test_line_that_is_no_number_is_refused(repository: Path, line: object) -> None:
    """A line is a positive integer."""
    with pytest.raises(InvalidInputError) as caught:
        why(repository, "limits.toml", line)  # type: ignore[arg-type]
    assert caught.value.field == "line"


@pytest.mark.parametrize(
    ("path", "line"), [("limits.toml", 99), ("missing.txt", 1), ("untracked.txt", 1), ("../out.txt", 1), ("", 1)]
)
def test_line_that_is_not_there(repository: Path, path: str, line: int) -> None:
    """A line past the end and a file that git does not know are not found."""
    (repository / "untracked.txt").write_text("x\n")
    with pytest.raises(NotFoundError):
        why(repository, path, line)


def test_no_repository_is_a_configuration_error(tmp_path: Path) -> None:
    """Where there is no repository there is nothing to ask."""
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ConfigurationError):
            why(place, "a.txt", 1)


def test_path_and_repository_have_to_be_paths(repository: Path) -> None:
    """What is no path is told by the name of the argument."""
    with pytest.raises(InvalidInputError) as caught:
        why(repository, 5, 1)  # type: ignore[arg-type]
    assert caught.value.field == "path"
    with pytest.raises(ConfigurationError, match="repository"):
        why(5, "limits.toml", 1)  # type: ignore[arg-type]
