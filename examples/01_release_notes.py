"""
Release notes that start where the last run ended.

Run it on any Git repository, twice:

    python examples/01_release_notes.py PATH

The notes land as a commit on the branch that is checked out there; its message says what was left out and why. What the
next run needs stays in the repository too, on no branch. `oort-flows demo` runs this very flow in a clone that it keeps.
"""

from __future__ import annotations

import sys
from pathlib import Path

from prefect import flow, runtime, task

from oort_flows import GitMemory, Source, current_memory, memory_context
from oort_flows.artifacts import publish_memory
from oort_flows.demo.notebook import CONVENTIONS, ENDING, SESSIONS, SUMMARY, fold_sessions, remember, remember_conventions
from oort_flows.demo.release_notes import Notes, choose, plan_notes, what_matters, write_section
from oort_flows.demo.report import Done
from oort_flows.tasks import consolidate, curate, ground, run_isolated


@task(name="Write the notes")
def write_notes(notes: Notes, worktree: Path) -> str:
    """Write what is new into the work tree of this step, and say what was left out and why."""
    for reason in notes.reasons():
        current_memory().record.note(reason)
    write_section(worktree, notes)
    return notes.headline


@flow(name="Release notes")
def release_notes(repository: str) -> Done:
    """Write the release notes of what is new since the last run, land them, and leave what the next run needs."""
    when = runtime.flow_run.scheduled_start_time
    with memory_context(files=GitMemory(repository=repository), project="release-notes") as memory:
        remember_conventions(memory.files)
        grounded = ground([CONVENTIONS, Source(path=ENDING, optional=True), Source(path=SUMMARY, optional=True)])
        curated = curate(grounded, intent="Write the release notes of what is new.", decide=choose)

        notes = plan_notes(repository, what_matters(grounded, curated), scope=memory.scope, when=when)
        run = run_isolated(write_notes, notes, repository=repository, label="release notes", record=True)

        remember(memory.files, notes, run)
        consolidate(SUMMARY, [Source(path=SESSIONS, optional=True)], fold_sessions)
        publish_memory(memory.files)
    return Done(notes, run, grounded, scope=memory.scope, flow_run=runtime.flow_run.id)


if __name__ == "__main__":
    done = release_notes(sys.argv[1] if len(sys.argv) > 1 else ".")
    print(f"Started {done.notes.start}.\nWrote {done.notes.headline}.")
