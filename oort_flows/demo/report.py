"""
What the command prints when the pipeline is done: where it started and ended, and what to look at.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from oort_flows.demo.conventions import DEFAULT_CONVENTIONS
from oort_flows.demo.notebook import CONVENTIONS
from oort_flows.demo.release_notes import FILE_NAME, Notes
from oort_flows.files import GitFileMemory
from oort_flows.models.mechanics import Grounded
from oort_flows.models.runs import IsolatedRun

if TYPE_CHECKING:
    from oort_flows.demo.clone import Workplace

__all__ = ["Done", "Line", "Server", "describe"]

_LOCAL_UI = "http://127.0.0.1:4200"


@dataclass(frozen=True, slots=True)
class Done:
    """What a run of the pipeline found, did and left."""

    notes: Notes
    run: IsolatedRun
    grounded: Grounded
    scope: str
    flow_run: str

    @property
    def landed(self) -> str | None:
        """The commit that carries the newest section, by this run or an earlier one."""
        return self.run.commit or self.notes.landed


@dataclass(frozen=True, slots=True)
class Server:
    """
    Where runs can be looked at.

    Attributes
    ----------
    ui:
        Address of the pages of the server that is configured; ``None`` where there is none.
    prefect:
        How to call Prefect's command.
    """

    ui: str | None
    prefect: str = "prefect"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the report: a title, a fact with its label, a command to copy, or plain text."""

    kind: Literal["title", "fact", "command", "text"]
    text: str
    label: str = ""


def describe(done: Done, place: Workplace, server: Server) -> Iterator[Line]:
    """Give the report line by line."""
    yield Line("title", f"Release notes of {place.source.name}")
    yield from _facts(done, place)
    yield Line("title", "Look at")
    yield from _commands(done, place)
    yield from _pages(done, server)
    yield Line("text", "")
    yield Line("text", "Run the same command again: it starts where this run ended.")


def _facts(done: Done, place: Workplace) -> Iterator[Line]:
    notes, run = done.notes, done.run
    if place.path != place.source:
        yield Line("fact", f"{place.path}, a clone that is kept; your repository is not touched", "Works in")
    yield from (Line("fact", remark, "Note") for remark in (*place.remarks, *notes.remarks, *run.warnings))
    yield Line("fact", notes.start, "Started")
    yield Line("fact", _grounded(done.grounded), "Grounded")
    if notes.commits:
        yield Line("fact", f"{notes.headline}, on top of {FILE_NAME}", "Wrote")
    else:
        yield Line("fact", f"nothing: there is no new commit to tell of, so {FILE_NAME} stays as it is", "Wrote")
    yield from (Line("fact", str(left), "Left out") for left in notes.left_out)
    if run.commit is not None:
        yield Line("fact", f"commit {run.commit[:7]} on {place.branch}", "Landed")
    elif done.landed is not None:
        yield Line("fact", f"nothing this time; the last notes are in commit {done.landed[:7]}", "Landed")
    yield Line("fact", f"up to commit {notes.newest}: the next run starts there", "Remembers")


def _grounded(grounded: Grounded) -> str:
    """Name what the run was grounded in; the first one writes the conventions itself."""
    paths = ", ".join(document.path for document in grounded.documents)
    if [(document.path, document.text) for document in grounded.documents] == [(CONVENTIONS, DEFAULT_CONVENTIONS)]:
        return f"{paths}, which was just written with the defaults"
    return paths


def _commands(done: Done, place: Workplace) -> Iterator[Line]:
    git = f"git -C {shlex.quote(str(place.path))}"
    if done.landed is not None:
        yield Line("text", "What changed, why, and by which run:")
        yield Line("command", f"{git} log -1 --format=%B {done.landed}")
        yield Line("text", "The notes:")
        yield Line("command", f"{git} show {shlex.quote(place.branch)}:{FILE_NAME}")
    reference = GitFileMemory(place.path, done.scope).reference
    yield Line("text", "What is remembered in this repository, on no branch; end this with :memories/ to list all of it:")
    yield Line("command", f"{git} show {reference}:memories/summary.md")


def _pages(done: Done, server: Server) -> Iterator[Line]:
    page = f"/v2/runs/flow-run/{done.flow_run}?tab=Artifacts"
    yield Line("text", "What was grounded, chosen, written and remembered, as pages of this run:")
    if server.ui is not None:
        yield Line("command", server.ui.rstrip("/") + page)
        return
    yield Line("command", f"{server.prefect} server start")
    yield Line("text", "shows it, once it runs, at")
    yield Line("command", _LOCAL_UI + page)
    yield Line("text", "and, to have the next run start at once and show up there while it works:")
    yield Line("command", f"{server.prefect} config set PREFECT_API_URL={_LOCAL_UI}/api")
