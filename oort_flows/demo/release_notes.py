"""
The release notes themselves: what to tell since the last run, how it reads, and why the rest is left out.

Everything here is plain functions of what was read; :func:`plan_notes` alone looks at a repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oort_flows.demo.commits import Commit, LeftOut, plural, read_history
from oort_flows.demo.conventions import DEFAULT_CONVENTIONS, parse_conventions, split_subject
from oort_flows.demo.notebook import CONVENTIONS, ENDING, Ending, parse_ending
from oort_flows.errors import ConfigurationError
from oort_flows.git import GitCommandError, run_git

if TYPE_CHECKING:
    from oort_flows.models.mechanics import Curated, Document, Grounded

__all__ = [
    "FILE_NAME",
    "Notes",
    "choose",
    "plan_notes",
    "render_section",
    "what_matters",
    "with_section",
    "write_section",
]

FILE_NAME: Final = "RELEASE_NOTES.md"
_TITLE: Final = "# Release notes\n"
_MOST_EXAMPLES: Final = 10
# What means something inside of a line; an underscore inside of a word, as in snake_case, does not.
_MARKDOWN: Final = re.compile(r"([\\`*\[\]<~$]|(?<!\w)_|_(?!\w)|&(?=#?\w+;))")
# What GitHub makes a link or a mention of by itself; in a code span it does not.
_LINKED: Final = re.compile(
    r"""([^\s()\[\]<>"',;]*(?:://|\bwww\.|\bmailto:|\bxmpp:|@(?=\w))[^\s()\[\]<>"',;]*)""", re.IGNORECASE
)
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_LEADING: Final = re.compile(r"^([-+=:#>|]|\d+(?=[.)]))")


@dataclass(frozen=True, slots=True)
class Notes:
    """
    What a run has to tell.

    Attributes
    ----------
    when:
        When the run was to start, in UTC.
    after:
        Where the last run ended; ``None`` on a first run.
    newest:
        The newest commit that any run has told of; where there is none, that of ``head``.
    head, tag:
        The commit up to which the history was read, and a tag on it.
    landed:
        The commit that carries the last section so far.
    groups:
        The commits to tell of, newest first, in the groups and in the order of the conventions.
    left_out:
        What is not told, by reason.
    remarks:
        What a reader should know beyond that.
    newest_only:
        How many commits were looked at, where there are older ones that no run has told of.
    shallow:
        Whether the repository holds only the newest part of its history.
    """

    when: datetime
    after: Ending | None
    newest: Commit
    head: str
    tag: str | None
    groups: tuple[tuple[str, tuple[Commit, ...]], ...]
    left_out: tuple[LeftOut, ...] = ()
    landed: str | None = None
    remarks: tuple[str, ...] = ()
    newest_only: int | None = None
    shallow: bool = False

    @property
    def commits(self) -> tuple[Commit, ...]:
        """All commits to tell of."""
        return tuple(commit for _, commits in self.groups for commit in commits)

    @property
    def start(self) -> str:
        """Where this run starts, in words."""
        if self.after is not None:
            return f"after commit {self.after.newest}, where the last run ended"
        if self.newest_only is not None:
            return f"with the newest {self.newest_only:,} commits, nothing was remembered yet"
        if self.shallow:
            return "at the beginning of what this shallow clone holds, nothing was remembered yet"
        return "at the beginning of the history, nothing was remembered yet"

    @property
    def headline(self) -> str:
        """What this run has to tell, in one line; free of text from commits."""
        if not self.commits:
            return f"nothing new after {self.newest.short}"
        groups = ", ".join(f"{len(commits)} {name}" for name, commits in self.groups)
        return f"{plural(len(self.commits), 'change')} up to {self.newest.short} ({groups})"

    def reasons(self) -> Iterator[str]:
        """Say where this run started, what it left out and why: the remarks for the commit's message."""
        yield f"Started {self.start}."
        yield from self.remarks
        for left in self.left_out:
            lines = [f"Left out {left}."]
            lines += [f"- {commit.short} {commit.subject}" for commit in left.examples[:_MOST_EXAMPLES]]
            if len(left.examples) > _MOST_EXAMPLES:
                lines.append(f"- and {len(left.examples) - _MOST_EXAMPLES:,} more")
            yield "\n".join(lines)
        if not self.left_out:
            yield "Nothing was left out."

    def ending(self, landed: str | None) -> Ending:
        """Say where the next run starts, now that the notes are in the commit *landed*."""
        return Ending(self.newest, self.head, landed or self.landed)


def choose(intent: str, documents: Sequence[Document], prompt: str) -> dict[str, Any]:
    """
    Decide, by rules alone, what of the memory matters for the notes: the conventions, and where the last run ended.

    The summary of all runs is left aside. An agent could stand here instead; it would get the same three arguments.
    """
    texts = {document.path: document.text for document in documents}
    ending = parse_ending(texts.get(ENDING, ""))
    sources = [path for path in (CONVENTIONS, ENDING) if path in texts]
    start = "Nothing was written yet: start at the beginning." if ending is None else f"Start after commit {ending.newest}."
    return {"brief": f"{start} Group the commits as {CONVENTIONS} says.", "sources": sources}


def what_matters(grounded: Grounded, curated: Curated) -> dict[str, str]:
    """Give the texts that the decision chose; all of them where there was no usable decision."""
    chosen = set(curated.sources) if curated.mode == "curated" else {document.path for document in grounded.documents}
    return {document.path: document.text for document in grounded.documents if document.path in chosen}


def plan_notes(repository: str | os.PathLike[str], known: Mapping[str, str], *, scope: str, when: datetime) -> Notes:
    """
    Plan what to tell: the commits since the last run, grouped as the conventions say.

    Parameters
    ----------
    repository:
        Any folder of the repository; its HEAD is read.
    known:
        What is remembered, as path and text: the conventions and where the last run ended. Both may be missing.
    scope:
        The scope of the memory, by which the pipeline knows its own commits.
    when:
        Date of the section, in UTC.

    Raises
    ------
    ConfigurationError
        If there is no repository, or no commit in it.
    """
    conventions = parse_conventions(known.get(CONVENTIONS, DEFAULT_CONVENTIONS))
    after = parse_ending(known.get(ENDING, ""))
    history = read_history(
        repository,
        scope=scope,
        after=after.head if after else None,
        authored=after.newest.authored if after else None,
    )
    groups: dict[str, list[Commit]] = {name: [] for name, _ in conventions.groups}
    dropped: dict[str, list[Commit]] = {}
    for commit in history.commits:
        word, group = conventions.left_out_by(commit.subject), conventions.group_of(commit.subject)
        if word is not None:
            dropped.setdefault(f"the conventions leave out what starts with '{word}'", []).append(commit)
        elif group is None:
            dropped.setdefault("they fit no group of the conventions", []).append(commit)
        else:
            groups[group].append(commit)
    told = {commit for commits in groups.values() for commit in commits}
    newest = next((commit for commit in history.commits if commit in told), history.told)
    since = "The shallow clone does not reach back to the last run" if history.shallow else "The history was rewritten since"
    remarks = () if history.found else (f"{since}: known commits were told apart by what a rebase keeps.",)
    return Notes(
        when=when,
        after=after,
        newest=newest or (after.newest if after else history.head),
        head=history.head.sha,
        tag=history.tag,
        groups=tuple((name, tuple(commits)) for name, commits in groups.items() if commits),
        left_out=(*history.left_out, *(LeftOut(len(all_), "commit", why, tuple(all_)) for why, all_ in dropped.items())),
        landed=history.landed or (after.landed if after else None),
        remarks=remarks,
        newest_only=history.newest_only,
        shallow=history.shallow,
    )


def render_section(notes: Notes) -> str:
    """Render one dated section of the release notes, without an empty line around it."""
    title = " · ".join(
        _escape(part) for part in (notes.tag, f"{notes.when:%Y-%m-%d}", f"up to {notes.newest.short}") if part
    )
    lines = [f"## {title}", "", f"{plural(len(notes.commits), 'change')}: {_span(notes)}."]
    for name, commits in notes.groups:
        lines += ["", f"### {_escape(name)}", "", *(_item(commit) for commit in commits)]
    return "\n".join(lines) + "\n"


def with_section(existing: str, section: str) -> str:
    r"""
    Put *section* on top of the earlier ones, below the title; everything that is there stays, line ends included.

    >>> with_section("# Release notes\n\n## 1.0\n\n- One\n", "## 1.1\n\n- Two\n")
    '# Release notes\n\n## 1.1\n\n- Two\n\n## 1.0\n\n- One\n'
    """
    if not existing.strip("\ufeff \t\r\n"):
        return f"{_TITLE}\n{section}"
    end = "\r\n" if "\r\n" in existing else "\n"
    mark = "\ufeff" if existing.startswith("\ufeff") else ""
    lines = [line + "\n" for line in existing.removeprefix(mark).split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    at = _place_of_section(lines)
    before, after = "".join(lines[:at]), "".join(lines[at:])
    if before:
        before = before.rstrip("\r\n") + end * 2
    return mark + before + section.replace("\n", end) + (end + after.lstrip("\r\n") if after.strip() else "")


def write_section(worktree: Path, notes: Notes) -> None:
    """
    Write what *notes* have to tell into the release notes below *worktree*; without anything to tell nothing is written.

    Raises
    ------
    ConfigurationError
        If there is a link or a folder in the place of the file, or if git ignores it.
    """
    if not notes.commits:
        return
    path = worktree / FILE_NAME
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise ConfigurationError(f"{FILE_NAME} is a link or a folder here; the notes need a plain file of that name")
    if _is_ignored(path):
        raise ConfigurationError(f"git ignores {FILE_NAME} in this repository, so the notes cannot land")
    existing = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""
    path.write_bytes(with_section(existing, render_section(notes)).encode("utf-8", "surrogateescape"))


def _is_ignored(path: Path) -> bool:
    try:
        run_git(path.parent, "check-ignore", "--quiet", "--", path.name)
    except GitCommandError:
        return False
    return True


def _place_of_section(lines: list[str]) -> int:
    """Find the line that a new section goes before: the first section, else what follows the title, else the top."""
    titles: list[int] = []
    fence = ""
    for number, line in enumerate(lines):
        fenced = _FENCE.match(line)
        if fence:
            if fenced and fenced[1].startswith(fence) and not line[fenced.end() :].strip():
                fence = ""
        elif fenced:
            fence = fenced[1]
        elif line.startswith("## "):
            return number if len(titles) < 2 else titles[0]
        elif line.startswith("# "):
            titles.append(number)
    return titles[0] + 1 if len(titles) == 1 else titles[0] if titles else 0


def _item(commit: Commit) -> str:
    scope, rest = split_subject(commit.subject)
    return f"- {f'**{_escape(scope)}:** ' if scope else ''}{_escape(rest)} (`{commit.short}`)"


def _told(commit: Commit) -> str:
    return f"`{commit.short}` ({commit.authored[:10]}, “{_escape(commit.title)}”)"


def _span(notes: Notes) -> str:
    """Say which commits a section tells of."""
    newest = "" if notes.newest_only is None else f"the newest {notes.newest_only:,} commits"
    if notes.after is not None:
        return f"{newest} after {_told(notes.after.newest)}".lstrip()
    if newest:
        return f"{newest}, older ones are not told"
    return "what a shallow clone holds of the history" if notes.shallow else "the whole history so far"


def _escape(text: str) -> str:
    r"""
    Make every character of a line of text stand for itself in markdown, and whatever a reader would link or ping a word.

    >>> print(_escape("1. *not* a [list] of snake_case & <b>"))
    1\. \*not\* a \[list\] of snake_case & \<b>
    >>> print(_escape("see https://example.org/a_b (thanks, @ada)"))
    see `https://example.org/a_b` (thanks, `@ada`)
    """
    parts = _LINKED.split(text)
    return "".join(_code(part) if number % 2 else _plain(part, first=number == 0) for number, part in enumerate(parts))


def _code(text: str) -> str:
    ticks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if "`" in (text[0], text[-1]) else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _plain(text: str, *, first: bool) -> str:
    text = _MARKDOWN.sub(r"\\\1", text)
    if not first:
        return text
    return _LEADING.sub(lambda found: found[1] + "\\" if found[1].isdigit() else "\\" + found[1], text)
