"""
What one run leaves for the next: where it ended, a note of its session, and the summary that the notes are folded into.

All of it is text in the file memory, for people to read and, where they like, to edit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oort_flows.demo.commits import Commit, clean
from oort_flows.demo.conventions import DEFAULT_CONVENTIONS
from oort_flows.errors import StorageCorruptError, StorageError, StorageUnavailableError
from oort_flows.models.results import DirectoryView, Failure
from oort_flows.ports import FileMemory, SupportsUndo

if TYPE_CHECKING:
    from oort_flows.demo.release_notes import Notes
    from oort_flows.models.mechanics import Document
    from oort_flows.models.runs import IsolatedRun

__all__ = [
    "CONVENTIONS",
    "ENDING",
    "SESSIONS",
    "SUMMARY",
    "Ending",
    "fold_sessions",
    "parse_ending",
    "remember",
    "remember_conventions",
]

CONVENTIONS: Final = "/memories/conventions.md"
ENDING: Final = "/memories/release-notes/last.md"
SESSIONS: Final = "/memories/sessions"
SUMMARY: Final = "/memories/summary.md"

KEPT_SESSIONS: Final = 10
"""Session notes that stay beside the summary, which holds what the older ones said."""

_MOST_SUMMARY_CHARS: Final = 12_000
_TITLE: Final = "# Release notes so far\n\nNewest first; each line is what one run of the pipeline did.\n\n"
_LINE: Final = re.compile(r"- \d{4}-\d\d-\d\d \d\d:\d\d UTC: \S.*")
_NOTHING: Final = re.compile(r"- [^:]*:\d\d UTC: (?P<what>nothing new after \S+)")
_FIELD: Final = re.compile(r"- (?P<name>[a-z ]+): (?P<value>\S.*)")
_SHA: Final = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Ending:
    """
    Where the release notes end.

    Attributes
    ----------
    newest:
        The newest commit they tell of.
    head:
        The commit up to which the history was read; the next run starts after it.
    landed:
        The commit that carries the last section, where there is one.
    """

    newest: Commit
    head: str
    landed: str | None = None

    def text(self) -> str:
        """Give the file that the next run reads."""
        fields = {
            "newest commit": self.newest.sha,
            "authored": self.newest.authored,
            "subject": self.newest.subject,
            "read up to": self.head,
            "notes in": self.landed or "no commit",
        }
        lines = "\n".join(f"- {name}: {value}" for name, value in fields.items())
        return f"# Where the release notes end\n\nThe next run starts after this commit.\n\n{lines}\n"


def parse_ending(text: str) -> Ending | None:
    """
    Read where the last run ended; ``None`` if *text*, which anybody may have edited, does not say so.

    >>> ending = Ending(Commit("a" * 40, "2026-11-30T10:00:00+01:00", "Fix the clock"), "b" * 40)
    >>> parse_ending(ending.text()) == ending, parse_ending("- newest commit: HEAD")
    (True, None)
    """
    found = (_FIELD.fullmatch(line.rstrip()) for line in text.split("\n"))
    fields = {match["name"]: match["value"] for match in found if match}
    newest, head, landed = (fields.get(name, "") for name in ("newest commit", "read up to", "notes in"))
    if not _SHA.fullmatch(newest) or not _SHA.fullmatch(head):
        return None
    commit = Commit(newest, clean(fields.get("authored", "")), clean(fields.get("subject", "")) or "(no subject)")
    return Ending(commit, head, landed if _SHA.fullmatch(landed) else None)


def remember_conventions(memory: FileMemory) -> None:
    """Write the conventions that a first run starts with; those that are there stay as people left them."""
    answer = memory.execute({"command": "create", "path": CONVENTIONS, "text": DEFAULT_CONVENTIONS, "if_match": "absent"})
    if isinstance(answer, Failure) and answer.error.code != "CONFLICT":
        raise _trouble(answer)


def remember(memory: FileMemory, notes: Notes, run: IsolatedRun) -> None:
    """
    Keep what the next run needs: where this one ended, and a note of its session. The oldest notes go, the summary has them.

    Where there were notes to land and they did not, the next run starts where this one did.

    Raises
    ------
    StorageError
        If the memory cannot be read or written.
    """
    landed = run.commit if run.status == "landed" else None
    line = notes.headline
    if notes.commits:
        line += f", landed as {landed[:7]}" if landed else ", not landed"
    if landed or not notes.commits:
        _write(memory, ENDING, notes.ending(landed).text())
    when = f"{notes.when:%Y-%m-%d %H:%M} UTC"
    details = [f"Started {notes.start}.", *notes.remarks, *(f"Left out {left}." for left in notes.left_out)]
    text = f"# {when}\n\n- {when}: {line}\n\n" + "\n".join(details) + "\n"
    _write(memory, f"{SESSIONS}/{notes.when:%Y%m%dT%H%M%SZ}-{notes.newest.short}.md", text)
    _forget_old_sessions(memory)
    _settle_cut_off_folds(memory)


def _forget_old_sessions(memory: FileMemory) -> None:
    answer = memory.execute({"command": "view", "path": SESSIONS})
    if isinstance(answer, Failure):
        raise _trouble(answer)
    sessions = sorted(entry.path for entry in answer.value.entries) if isinstance(answer.value, DirectoryView) else []
    for path in sessions[:-KEPT_SESSIONS]:
        memory.execute({"command": "delete", "path": path})


def _settle_cut_off_folds(memory: FileMemory) -> None:
    """Close the journal of a run that was killed while it folded: folding again is all that it takes."""
    if isinstance(memory, SupportsUndo):
        for entry in memory.journal():
            if not entry.alive:
                memory.settle(entry.undo.operation)


def fold_sessions(prior: str | None, documents: Sequence[Document], prompt: str) -> str:
    """
    Fold session notes into the summary, by rules alone: one line for each run, newest first, oldest dropped to fit.

    Folding the same notes twice changes nothing. Of runs that found nothing after the same commit the last one is kept.
    """
    lines = {
        line for text in (prior or "", *(d.text for d in documents)) for line in text.split("\n") if _LINE.fullmatch(line)
    }
    kept: list[str] = []
    seen: set[str] = set()
    left = _MOST_SUMMARY_CHARS - len(_TITLE)
    for line in sorted(lines, reverse=True):
        nothing = _NOTHING.fullmatch(line)
        if nothing is not None and nothing["what"] in seen:
            continue
        if nothing is not None:
            seen.add(nothing["what"])
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return _TITLE + "\n".join(kept)


def _write(memory: FileMemory, path: str, text: str) -> None:
    answer = memory.execute({"command": "create", "path": path, "text": text})
    if isinstance(answer, Failure):
        raise _trouble(answer)


def _trouble(answer: Failure) -> StorageError:
    error = answer.error
    kind = StorageUnavailableError if error.retryable else StorageError
    return (StorageCorruptError if error.code == "UNSAFE_STORAGE" else kind)(f"{error.path}: {error.message}")
