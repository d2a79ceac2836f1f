"""
What a run shows of its memory in the Prefect UI.

Each artifact comes from a pure builder, which never heard of a run, and is published by one call, which never fails the step
it reports on. Text out of a memory is quoted in fences, where markdown and HTML mean nothing. Secrets are taken out of it
first, since a page may leave the machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

from prefect import runtime
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.logging import get_logger
from pydantic import BaseModel, ConfigDict

from oort_flows.errors import StorageError
from oort_flows.mechanics.prompts import fenced
from oort_flows.models.mechanics import Consolidated, Curated, Grounded
from oort_flows.models.paths import ROOT
from oort_flows.models.results import DirectoryView, Failure, FileView
from oort_flows.models.runs import IsolatedRun
from oort_flows.models.undo import UndoReport
from oort_flows.ports import FileMemory
from oort_flows.scrubbing import scrub

__all__ = [
    "StoredText",
    "build_brief",
    "build_commit",
    "build_fold",
    "build_grounded",
    "build_memory",
    "build_raised",
    "build_rollback",
    "publish_brief",
    "publish_commit",
    "publish_fold",
    "publish_grounded",
    "publish_memory",
    "publish_raised",
    "publish_rollback",
    "read_memory",
]

_MOST_QUOTED_CHARS: Final = 20_000
_MOST_QUOTED_IN_ALL: Final = 200_000


class StoredText(BaseModel):
    """A file of a memory, as the report of the memory shows it."""

    model_config = ConfigDict(frozen=True)

    path: str
    byte_length: int
    digest: str
    text: str


# -------------------------------------------------------------------------------------------------------------- builders


def build_grounded(grounded: Grounded) -> list[dict[str, str | int]]:
    """
    Build the table of what was grounded: a row for each file read, left out or missing.

    >>> from oort_flows.files import InProcessFileMemory
    >>> from oort_flows.mechanics import Source, ground
    >>> build_grounded(ground(InProcessFileMemory("docs"), [Source(path="/memories/a.md", optional=True)]))
    [{'path': '/memories/a.md', 'status': 'missing', 'characters': 0}]
    """
    rows = [(d.path, "cut to fit" if d.truncated else "read", len(d.text)) for d in grounded.documents]
    rows += [(skipped.path, f"left out: {skipped.reason}", 0) for skipped in grounded.skipped]
    rows += [(path, "missing", 0) for path in grounded.missing]
    return [{"path": scrub(path), "status": status, "characters": characters} for path, status, characters in rows]


def build_brief(curated: Curated, intent: str) -> str:
    """Build the page on what was chosen for a step: the brief where there is one, and why not where there is none."""
    rows = [
        ("mode", curated.mode),
        ("files chosen", str(len(curated.sources)) if curated.mode == "curated" else "all that was grounded"),
        ("prompt", f"{len(curated.prompt):,} characters"),
    ]
    if curated.reason is not None:
        rows.append(("why no brief", curated.reason))
    parts = ["# What this step was told", _facts(rows)]
    if curated.error is not None:
        parts += ["## The error", _quote(curated.error)]
    if curated.brief is not None:
        parts += ["## Brief", _quote(curated.brief)]
    if curated.sources:
        parts += ["## Files chosen", _paths(curated.sources)]
    parts += ["## Intent", _quote(intent), _collapsed("The whole prompt", _quote(curated.prompt))]
    return _page(parts)


def build_fold(consolidated: Consolidated) -> str:
    """Build the page on a folded summary: where it went, what had to go for it, and the text itself."""
    rows = [
        ("target", f"`{_one_line(consolidated.target)}`"),
        ("length", f"{len(consolidated.text):,} characters"),
        ("digest", f"`{consolidated.digest[:12]}`"),
        ("evicted", str(len(consolidated.evicted))),
        ("sources left out", str(len(consolidated.skipped))),
        ("sources missing", str(len(consolidated.missing))),
    ]
    parts = ["# What was folded", _facts(rows)]
    if consolidated.evicted:
        parts += ["## Evicted to make room", _paths(consolidated.evicted)]
    if consolidated.skipped:
        lines = [f"- `{_one_line(skipped.path)}` ({skipped.reason})" for skipped in consolidated.skipped]
        parts += ["## Left out", "\n".join(lines)]
    if consolidated.missing:
        parts += ["## Missing", _paths(consolidated.missing)]
    return _page([*parts, "## The new text", _quote(consolidated.text)])


def build_commit(run: IsolatedRun, label: str) -> str:
    """Build the page on what came of an isolated step: its commit and the reason in it, or what was kept of its work."""
    rows = [("step", f"`{_one_line(label)}`"), ("status", run.status)]
    for name, value in (
        ("branch", run.branch),
        ("commit", run.commit),
        ("merge", run.merge),
        ("rescued to", run.rescued),
        ("branch kept", run.kept_branch),
    ):
        if value is not None:
            rows.append((name, f"`{_one_line(value)}`"))
    parts = ["# What the step did", _facts(rows)]
    if run.status == "declined" and run.summary:
        parts += ["## Why it declined", _quote(run.summary)]
    if run.warnings:
        parts += ["## Warnings", "\n".join(f"- {_escape(warning)}" for warning in run.warnings)]
    if run.discarded:
        lines = [f"- `{d.sha[:12]}` of `{_one_line(d.branch)}`, kept at `{d.rescue}`" for d in run.discarded]
        parts += ["## Commits that did not land", "\n".join(lines)]
    if run.message is not None:
        parts += ["## The commit's message", _quote(run.message)]
    return _page(parts)


def build_raised(error: BaseException, label: str) -> str:
    """Build the page on an isolated step that raised: the kind of exception, and where its work is kept."""
    rows = [("step", f"`{_one_line(label)}`"), ("status", "raised"), ("exception", f"`{type(error).__name__}`")]
    notes = getattr(error, "__notes__", [])
    return _page(["# What the step did", _facts(rows), *(_quote(str(note)) for note in notes)])


def build_rollback(report: UndoReport) -> str:
    """Build the page on a fold that was taken back, since a later step of its transaction failed."""
    rows = [("put back", str(len(report.restored))), ("left alone", str(len(report.left)))]
    parts = ["# Rolled back", "A later step of the same transaction failed.", _facts(rows)]
    if report.restored:
        parts += ["## As it was before this run", _paths(report.restored)]
    if report.left:
        parts += ["## Left alone: changed since, or no room", _paths(report.left)]
    return _page(parts)


def build_memory(scope: str, files: Sequence[StoredText]) -> str:
    """Build the page on a file memory as it is now: a line for each file, and the texts to unfold."""
    total = sum(file.byte_length for file in files)
    rows = [("scope", f"`{_one_line(scope)}`"), ("files", str(len(files))), ("bytes", f"{total:,}")]
    parts = ["# The memory after this run", _facts(rows)]
    if not files:
        return _page([*parts, "Nothing is remembered yet."])
    lines = ["| file | bytes | digest |", "| --- | ---: | --- |"]
    lines += [f"| `{_one_line(file.path)}` | {file.byte_length:,} | `{file.digest[:12]}` |" for file in files]
    parts.append("\n".join(lines))
    quoted = 0
    for file in files:
        quoted += min(len(file.text), _MOST_QUOTED_CHARS)
        if quoted > _MOST_QUOTED_IN_ALL:
            parts.append("The texts of the other files are not shown.")
            break
        parts.append(_collapsed(_one_line(file.path), _quote(file.text)))
    return _page(parts)


def read_memory(memory: FileMemory) -> list[StoredText]:
    """
    Read every file of a memory, sorted by path, for :func:`build_memory`.

    Raises
    ------
    StorageError
        If the memory cannot be read.
    """
    found: list[StoredText] = []
    folders = [ROOT]
    while folders:
        listing = _view(memory, folders.pop())
        for entry in listing.entries if isinstance(listing, DirectoryView) else ():
            if entry.kind == "directory":
                folders.append(entry.path)
                continue
            file = _view(memory, entry.path)
            if isinstance(file, FileView):
                found.append(StoredText(path=file.path, byte_length=file.byte_length, digest=file.digest, text=file.text))
    return sorted(found, key=lambda file: file.path)


def _view(memory: FileMemory, path: str) -> FileView | DirectoryView | None:
    answer = memory.execute({"command": "view", "path": path})
    if isinstance(answer, Failure):
        if answer.error.code == "NOT_FOUND":  # gone since it was listed
            return None
        raise StorageError(f"the memory cannot be read: {answer.error.code}")
    return answer.value if isinstance(answer.value, (FileView, DirectoryView)) else None


# ----------------------------------------------------------------------------------------------------------- publishers


def publish_grounded(grounded: Grounded) -> None:
    """Publish the table of what was grounded with the current run; outside of a run, or on trouble, nothing happens."""
    _publish("grounded", table=build_grounded(grounded), description="What this step read from memory.")


def publish_brief(curated: Curated, intent: str) -> None:
    """Publish the page on what was chosen; see :func:`publish_grounded`."""
    _publish("brief", markdown=build_brief(curated, intent), description="What this step was told.")


def publish_fold(consolidated: Consolidated) -> None:
    """Publish the page on a folded summary; see :func:`publish_grounded`."""
    _publish("folded", markdown=build_fold(consolidated), description=f"What was folded into {consolidated.target}.")


def publish_rollback(report: UndoReport) -> None:
    """Publish, as the newest version of the page on the fold, that it was taken back; see :func:`publish_grounded`."""
    _publish("folded", markdown=build_rollback(report), description="Rolled back: what was folded is as it was before.")


def publish_commit(run: IsolatedRun, label: str) -> None:
    """Publish the page on what came of an isolated step; see :func:`publish_grounded`."""
    said = {"landed": "landed as one commit, and why", "declined": "declined"}.get(run.status, run.status.replace("_", " "))
    _publish("commit", label, markdown=build_commit(run, label), description=f"{_one_line(label)}: {said}.")


def publish_raised(error: BaseException, label: str) -> None:
    """Publish the page on an isolated step that raised; see :func:`publish_grounded`."""
    _publish("commit", label, markdown=build_raised(error, label), description=f"{_one_line(label)}: raised.")


def publish_memory(memory: FileMemory) -> None:
    """
    Publish the page on a file memory as it is now; see :func:`publish_grounded`.

    Raises
    ------
    StorageError
        If the memory cannot be read.
    """
    markdown = build_memory(memory.scope, read_memory(memory))
    _publish("memory", markdown=markdown, description="What is remembered after this run.")


def _publish(kind: str, *names: str, markdown: str | None = None, table: Any = None, description: str) -> None:
    """Publish under a key of kind and flow, so that the UI shows one artifact with a version for each run."""
    if runtime.flow_run.id is None and runtime.task_run.id is None:
        return
    words = ("oort", kind, str(runtime.flow_run.flow_name or "task"), *names)
    slugs = dict.fromkeys(re.sub(r"[^a-z0-9]+", "-", scrub(word).lower()).strip("-") for word in words)
    key = "-".join(filter(None, slugs))[:80].strip("-")
    description = scrub(description)
    try:
        # Prefect's dispatch would look at the running task, which may be async while this thread is not.
        if markdown is not None:
            create_markdown_artifact(markdown, key=key, description=description, _sync=True)  # type: ignore[call-arg]
        else:
            create_table_artifact(table, key=key, description=description, _sync=True)  # type: ignore[call-arg]
    except Exception as error:  # noqa: BLE001 - a report never fails what it reports on, and the write has happened
        get_logger("oort_flows").warning("The artifact %r could not be published: %s", key, type(error).__name__)


# ------------------------------------------------------------------------------------------------------------- markdown


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"


def _facts(rows: Sequence[tuple[str, str]]) -> str:
    """Lay out facts as a table. The first is its head: a table without one shows an empty row."""
    first, *rest = (f"| {name} | {value} |" for name, value in rows)
    return "\n".join([first, "| --- | --- |", *rest])


def _paths(paths: Iterable[str]) -> str:
    return "\n".join(f"- `{_one_line(path)}`" for path in paths)


def _quote(text: str) -> str:
    """Quote *text* without its secrets so that nothing in it is markdown, cut where the UI would become slow."""
    text = scrub(text)
    if len(text) <= _MOST_QUOTED_CHARS:
        return fenced(text)
    return fenced(text[:_MOST_QUOTED_CHARS]) + f"\n\n({len(text) - _MOST_QUOTED_CHARS:,} more characters are not shown.)"


def _collapsed(title: str, body: str) -> str:
    return f"<details>\n<summary>{escape(title)}</summary>\n\n{body}\n\n</details>"


def _one_line(text: str) -> str:
    """Make *text* fit for a code span in a table cell."""
    return " ".join(scrub(text).split()).replace("`", "'").replace("|", "\\|")


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>()#|~])", r"\\\1", " ".join(scrub(text).split()))
