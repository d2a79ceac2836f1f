"""The main job, run by Prefect on real repositories: each run starts where the last one ended, and says so."""

from __future__ import annotations

import inspect
import runpy
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from oort_flows.demo.clone import workplace
from oort_flows.demo.notebook import CONVENTIONS, ENDING, SUMMARY, parse_ending
from oort_flows.demo.printing import print_report
from oort_flows.demo.report import Done, Server, describe
from oort_flows.files import GitFileMemory
from oort_flows.git import run_git

pytestmark = pytest.mark.usefixtures("prefect_server")

EXAMPLE = Path(__file__).parents[2] / "examples" / "01_release_notes.py"
GITHUB_TOKEN = "ghp_" + "016C7mP4bXk9QzL2vR8sT5wY1uE3oA6dF0gH"


def commit(repository: Path, message: str) -> str:
    run_git(repository, "commit", "-q", "--allow-empty", "-m", message)
    return run_git(repository, "rev-parse", "HEAD")


def run(repository: Path, data: Path, *, land: bool = False, server: Server | None = None) -> tuple[Done, Path, str]:
    """Do what the command does; give what was done, where, and the report."""
    from oort_flows.demo.pipeline import release_notes

    with workplace(repository, land=land, data_folder=data) as place:
        done = release_notes(str(place.path))
    report = "\n".join(f"{line.label}: {line.text}" for line in describe(done, place, server or Server(None)))
    return done, place.path, report


def remembered(path: Path, done: Done, name: str) -> str:
    answer: Any = GitFileMemory(path, done.scope).execute({"command": "view", "path": name})
    assert answer.ok, answer
    return str(answer.value.text)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_second_run_starts_where_the_first_ended(repository: Path, data: Path) -> None:
    """What the first run told is not told again, and the second says after which commit it starts."""
    commit(repository, "Add a clock")
    first, clone, report = run(repository, data)
    assert "Started: at the beginning of the history, nothing was remembered yet" in report
    assert f"Grounded: {CONVENTIONS}, which was just written with the defaults" in report
    assert [c.subject for c in first.notes.commits] == ["Add a clock", "Start"]
    ended = first.notes.newest

    commit(repository, "fix(clock): keep time")
    second, _, report = run(repository, data)
    assert f"Started: after commit {ended.short} ({ended.authored[:10]}, 'Add a clock'), where the last run ended" in report
    assert [c.subject for c in second.notes.commits] == ["fix(clock): keep time"]
    assert f"Grounded: {CONVENTIONS}, {ENDING}, {SUMMARY}" in report
    assert " merge" not in report
    notes = (clone / "RELEASE_NOTES.md").read_text()
    assert notes.startswith("# Release notes\n\n## ")
    assert notes.index("keep time (`") < notes.index("Add a clock (`")
    assert "### Fixed\n\n- **clock:** keep time (`" in notes
    assert notes.count("Add a clock (`") == 1
    assert [document.path for document in second.grounded.documents] == [CONVENTIONS, ENDING, SUMMARY]
    assert run_git(repository, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_landed_commit_says_why_and_leads_to_its_run(repository: Path, data: Path) -> None:
    """The message of the commit has a subject, what was left out and why, and the trailers; the printed command shows it."""
    commit(repository, "wip clock")
    commit(repository, "Add a clock")
    done, clone, report = run(repository, data)
    (command,) = [line.removeprefix(": ") for line in report.split("\n") if "--format=%B" in line]
    message = subprocess.run(shlex.split(command), capture_output=True, text=True, check=True).stdout
    lines = message.split("\n")
    assert lines[0] == f"release notes: 2 changes up to {done.notes.newest.short} (1 New, 1 Changed)"
    assert "## Why" in lines
    assert "Left out 1 commit: the conventions leave out what starts with 'wip'." in lines
    assert f"Oort-Flow-Run: {done.flow_run}" in lines
    assert "Oort-Scope: project:release-notes" in lines
    assert run_git(clone, "log", "-1", "--format=%an <%ae>", str(done.landed)) == "oort demo <oort-demo@example.org>"
    assert run_git(clone, "show", "--format=", "--name-only", str(done.landed)) == "RELEASE_NOTES.md"


def test_run_without_news_lands_nothing_and_says_where_the_last_one_ended(repository: Path, data: Path) -> None:
    """Nothing new is no commit; the report says where the notes end and still leads to the commit that carries them."""
    first, clone, _ = run(repository, data)
    head = run_git(clone, "rev-parse", "HEAD")
    second, _, report = run(repository, data)
    third, _, _ = run(repository, data)
    assert second.run.status == third.run.status == "unchanged"
    assert run_git(clone, "rev-parse", "HEAD") == head
    assert f"Started: after commit {first.notes.newest}, where the last run ended" in report
    assert "Wrote: nothing: there is no new commit to tell of" in report
    assert f"Landed: nothing this time; the last notes are in commit {str(first.landed)[:7]}" in report
    assert f"log -1 --format=%B {first.landed}" in report
    ending = parse_ending(remembered(clone, third, ENDING))
    assert ending is not None
    assert ending.landed == first.landed
    summary = [line for line in remembered(clone, third, SUMMARY).split("\n") if line.startswith("- ")]
    assert len(summary) == 2
    assert summary[0].endswith(f"nothing new after {first.notes.newest.short}")
    assert summary[1].endswith(f"landed as {str(first.landed)[:7]}")


def test_edited_conventions_are_followed_by_the_next_run(repository: Path, data: Path) -> None:
    """What people write into the conventions is how the next run groups."""
    done, clone, _ = run(repository, data)
    text = "# Mine\n\n## Groups\n\n- Clocks & more: tick, tock\n\n## Leave out\n\n- hush\n"
    command = {"command": "create", "path": CONVENTIONS, "text": text}
    assert GitFileMemory(clone, done.scope).execute(command).ok
    for subject in ("tick: on the hour", "Tock it", "Hush now", "Add a clock"):
        commit(repository, subject)
    second, _, report = run(repository, data)
    assert [(name, len(commits)) for name, commits in second.notes.groups] == [("Clocks & more", 2)]
    assert "the conventions leave out what starts with 'hush'" in report
    assert "they fit no group of the conventions" in report
    assert remembered(clone, second, CONVENTIONS) == text


def test_run_that_was_killed_before_it_could_remember_is_not_told_again(repository: Path, data: Path) -> None:
    """If the notes have landed and the memory was not written, the next run does not write them twice."""
    first, clone, _ = run(repository, data)
    assert GitFileMemory(clone, first.scope).execute({"command": "delete", "path": ENDING}).ok
    commit(repository, "Add a clock")
    second, _, report = run(repository, data)
    assert [c.subject for c in second.notes.commits] == ["Add a clock"]
    assert "told already, by earlier notes in this history" in report


def test_secrets_in_subjects_are_in_nothing_that_the_run_leaves(repository: Path, data: Path) -> None:
    """Notes, messages, memory, artifacts and report are free of a secret that a commit's subject holds."""
    from prefect.client.orchestration import get_client

    commit(repository, f"wip {GITHUB_TOKEN}")
    commit(repository, f"Add a clock with {GITHUB_TOKEN}")
    done, clone, report = run(repository, data)
    objects = run_git(clone, "rev-list", "--objects", "--all", "--not", str(done.notes.head)).split("\n")
    texts = [run_git(clone, "cat-file", "-p", line.split()[0]) for line in objects]
    with get_client(sync_client=True) as client:
        artifacts = [artifact for artifact in client.read_artifacts() if str(artifact.flow_run_id) == done.flow_run]
    texts += [str(artifact.data) for artifact in artifacts]
    assert len(artifacts) >= 5
    assert not [text for text in [*texts, report] if GITHUB_TOKEN in text]
    assert any("[secret: github-token]" in text for text in texts)


def test_artifacts_show_what_was_read_chosen_written_and_remembered(repository: Path, data: Path) -> None:
    """A run has one artifact for each thing that it did with its memory, and one for the commit."""
    from prefect.client.orchestration import get_client

    done, _, _ = run(repository, data)
    with get_client(sync_client=True) as client:
        found = {a.key: a.data for a in client.read_artifacts() if str(a.flow_run_id) == done.flow_run}
    kinds = ("grounded", "brief", "commit", "folded", "memory")
    assert set(found) == {f"oort-{kind}-release-notes" for kind in kinds}
    assert str(done.run.commit) in str(found["oort-commit-release-notes"])
    assert "Group the commits as /memories/conventions.md says." in str(found["oort-brief-release-notes"])


@pytest.mark.parametrize("kind", ["bare", "shallow", "linked work tree", "detached"])
def test_every_kind_of_repository_gets_its_notes(repository: Path, tmp_path: Path, data: Path, kind: str) -> None:
    """Bare and shallow repositories, linked work trees and a detached HEAD are told of like any other."""
    commit(repository, "Add a clock")
    source = tmp_path / "source"
    if kind == "bare":
        run_git(tmp_path, "clone", "-q", "--bare", str(repository), str(source))
    elif kind == "shallow":
        run_git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", str(source))
    elif kind == "linked work tree":
        run_git(repository, "worktree", "add", "-q", "-b", "side", str(source))
    else:
        source = repository
        run_git(repository, "checkout", "-q", "--detach")
    done, _, _ = run(source, data)
    assert done.notes.commits[0].subject == "Add a clock"
    assert len(done.notes.commits) == (1 if kind == "shallow" else 2)
    again, _, _ = run(source, data)
    assert again.notes.after is not None
    assert again.notes.commits == ()


def test_tag_names_the_section(repository: Path, data: Path) -> None:
    """Where HEAD has a tag the section is called after it."""
    run_git(repository, "tag", "v1.0")
    _, clone, _ = run(repository, data)
    assert "\n## v1.0 · " in (clone / "RELEASE_NOTES.md").read_text()


def test_landing_leaves_memory_and_commit_in_the_repository_itself(repository: Path, data: Path) -> None:
    """With --land the notes are on the user's branch, by the user, and the memory is below refs/oort."""
    done, path, report = run(repository, data, land=True)
    assert path == repository
    assert run_git(repository, "symbolic-ref", "--short", "HEAD") == "main"
    assert run_git(repository, "log", "-1", "--format=%an", str(done.landed)) == "Ada"
    assert (repository / "RELEASE_NOTES.md").read_text().startswith("# Release notes")
    assert run_git(repository, "status", "--porcelain") == ""
    refs = run_git(repository, "for-each-ref", "--format=%(refname)").split("\n")
    assert refs == ["refs/heads/main", GitFileMemory(repository, done.scope).reference]
    assert "Works in" not in report
    commit(repository, "Add a clock")
    second, _, _ = run(repository, data, land=True)
    assert [c.subject for c in second.notes.commits] == ["Add a clock"]


def test_configured_server_gets_a_link_to_its_pages(repository: Path, data: Path) -> None:
    """The report links to the run in the UI of the server that is configured."""
    done, _, report = run(repository, data, server=Server("http://prefect.example:4200"))
    assert f"http://prefect.example:4200/v2/runs/flow-run/{done.flow_run}?tab=Artifacts" in report
    assert "server start" not in report


def test_report_fits_a_terminal_and_keeps_what_is_to_be_copied_whole(repository: Path, data: Path) -> None:
    """Prose is wrapped to the terminal; what is to be copied stays on its line, and in a file everything does."""
    _, _, report = run(repository, data)
    with workplace(repository, data_folder=data) as place:
        from oort_flows.demo.pipeline import release_notes

        lines = list(describe(release_notes(str(place.path)), place, Server(None)))
    copied = [f"    {line.text}" for line in lines if line.kind == "command"]
    for terminal in (True, False):
        console = Console(file=StringIO(), width=80, force_terminal=terminal, color_system=None, highlight=False)
        print_report(console, lines)
        printed = console.file.getvalue().split("\n")  # type: ignore[attr-defined]
        prose = [line for line in printed if line not in copied]
        assert len(printed) - len(prose) == len(copied)
        assert all(len(line.rstrip()) <= 80 for line in prose) is terminal
        told = [f"{line.label} {line.text}" for line in lines if line.kind != "command"]
        assert "".join("".join(prose).split()) == "".join("".join(told).split())
    assert report.count("refs/oort/memory/") == 1


def test_example_is_the_flow_of_the_command(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example holds the very same step and flow in under 80 lines, and runs on the repository it is given."""
    from oort_flows.demo import pipeline

    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), str(repository)])
    example = runpy.run_path(str(EXAMPLE), run_name="__main__")
    for name in ("write_notes", "release_notes"):
        assert inspect.getsource(example[name].fn) == inspect.getsource(getattr(pipeline, name).fn)
    assert len(EXAMPLE.read_text().split("\n")) < 80
    assert len(Path(pipeline.__file__).read_text().split("\n")) < 80
    assert example["done"].run.status == "landed"
    assert (repository / "RELEASE_NOTES.md").exists()
