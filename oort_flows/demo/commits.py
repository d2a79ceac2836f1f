"""
What the history of a repository says since a commit: the commits to tell of, and those that are left out, with the reason.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from oort_flows.errors import ConfigurationError
from oort_flows.git import GitCommandError, run_git
from oort_flows.scrubbing import scrub

__all__ = ["KEEPER_EMAIL", "Commit", "History", "LeftOut", "clean", "plural", "read_history", "shorten"]

KEEPER_EMAIL: Final = "oort-demo@example.org"
"""Address that what the demo itself commits in its own clone is committed under."""

MOST_AT_FIRST: Final = 200
"""Commits that a first run tells of: the history of a grown project is no news."""
MOST_LATER: Final = 2_000
"""Commits that a later run tells of, and how far back it looks for commits that were rewritten."""

_MOST_SUBJECT_CHARS: Final = 200
_TITLE_CHARS: Final = 72
_FORMAT: Final = "%H%n%aI%n%ae%n%s%n%(trailers:key=Oort-Scope,valueonly,separator=%x2C)"
# What a terminal takes as one: control and string sequences, each to its end, and the short ones; see ECMA-48.
_ESCAPES: Final = re.compile(
    r"""
    (?:\x1b\[|\x9b) [0-?]* [\ -/]* [@-~]
    | (?:\x1b[]PX^_]|[\x90\x98\x9d-\x9f]) [^\x07\x1b\x9c]* (?:\x07|\x1b\\|\x9c)
    | \x1b [\ -/]* [0-Z\\^-~]
    """,
    re.VERBOSE,
)
# Bidirectional controls could show a line in another order than it has; see Unicode TR 36.
_INVISIBLE: Final = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as the notes tell of it: ``subject`` is one line of well-formed text without secrets."""

    sha: str
    authored: str
    subject: str

    @property
    def short(self) -> str:
        """The first seven digits of its id."""
        return self.sha[:7]

    @property
    def title(self) -> str:
        """Its subject, cut to 72 characters."""
        return shorten(self.subject, _TITLE_CHARS)

    def __str__(self) -> str:
        return f"{self.short} ({self.authored[:10]}, '{self.title}')"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Commits that the notes do not tell of: how many of what, why, and some of them."""

    count: int
    what: str
    why: str
    examples: tuple[Commit, ...] = ()

    def __str__(self) -> str:
        return f"{plural(self.count, self.what)}: {self.why}"


@dataclass(frozen=True, slots=True)
class History:
    """
    What is in a repository since a commit.

    Attributes
    ----------
    head:
        The commit that HEAD names, up to which the history was read.
    tag:
        A tag that points at ``head``, where there is one.
    commits:
        Newest first, without merges, without those of the pipeline itself.
    left_out:
        The others, by reason.
    told:
        The newest commit that earlier notes in this history tell of, beyond the one to start after.
    landed:
        The newest commit of the pipeline itself, beyond the one to start after.
    found:
        Whether the commit to start after is still part of the history; ``True`` where none was given.
    newest_only:
        How many commits were looked at, where there are older ones that were not.
    shallow:
        Whether the repository holds only the newest part of its history.
    """

    head: Commit
    tag: str | None
    commits: tuple[Commit, ...]
    left_out: tuple[LeftOut, ...]
    told: Commit | None = None
    landed: str | None = None
    found: bool = True
    newest_only: int | None = None
    shallow: bool = False


def read_history(
    repository: str | os.PathLike[str], *, scope: str, after: str | None = None, authored: str | None = None
) -> History:
    """
    Read what HEAD has beyond the commit *after*.

    Parameters
    ----------
    repository:
        Any folder of the repository.
    scope:
        The scope of the memory; commits with this name in their ``Oort-Scope`` trailer are the pipeline's own.
    after:
        Full id of the commit up to which earlier runs have read; ``None`` reads from the beginning, within bounds.
    authored:
        ISO date of the newest commit told so far: where *after* is gone, rewritten commits are known by their dates.

    Raises
    ------
    ConfigurationError
        If there is no repository, or no commit in it.
    """
    git = _Git(repository)
    head = git.head()
    found = after is None or git.is_ancestor(after, head)
    known = after is not None and (found or git.exists(after))
    span = [head, f"^{after}"] if known else [head]
    first = after is None
    most = MOST_AT_FIRST if first else MOST_LATER

    read = git.log(span, most)
    own = [commit for commit in read if commit.scope == scope]
    kept = git.log([*span, *(f"^{commit.sha}" for commit in own)], most) if own else read
    beyond = git.count("--no-merges", [*span, *(f"^{commit.sha}" for commit in own)]) - len(kept)
    left_out = [
        LeftOut(git.merges(span, scope), "merge", "what was merged is told itself"),
        LeftOut(len(own), "commit of this pipeline", "the notes do not tell of themselves"),
    ]
    shas = {commit.sha for commit in kept}
    told = [commit for commit in read if commit.sha not in shas and commit.scope != scope]
    left_out.append(_left_out(told, "commit", "told already, by earlier notes in this history"))
    if known:
        earlier = git.fingerprints(str(after), MOST_LATER)
        rewritten = [commit for commit in kept if commit.fingerprint in earlier]
    else:
        rewritten = [commit for commit in kept if _not_later(commit.authored, authored)]
    left_out.append(_left_out(rewritten, "commit", "told already, before the history was rewritten"))
    left_out.append(
        LeftOut(beyond, "older commit", f"{'the first' if first else 'a'} run tells of the newest {most:,} only")
    )
    again = {commit.sha for commit in rewritten}
    return History(
        head=git.commit(head),
        tag=git.tag_at(head),
        commits=tuple(commit.told() for commit in kept if commit.sha not in again),
        left_out=tuple(group for group in left_out if group.count),
        told=told[0].told() if told else None,
        landed=own[0].sha if own else None,
        found=found,
        newest_only=most if beyond else None,
        shallow=git.is_shallow(),
    )


def clean(text: str, most_chars: int = _MOST_SUBJECT_CHARS) -> str:
    r"""
    Make one line of well-formed text of whatever git gives, without control characters and without secrets.

    >>> clean("Fix\x1b[31m the \udcff  clock\r\n") == "Fix the \ufffd clock"
    True
    """
    text = text.encode("utf-8", "surrogateescape" if _escaped(text) else "replace").decode("utf-8", "replace")
    text = _ESCAPES.sub("", text)
    text = "".join(" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) != "Cc")
    text = scrub(" ".join(_INVISIBLE.sub("", text).split()))
    return shorten(text, most_chars)


def shorten(text: str, most_chars: int) -> str:
    """
    Cut a line after a word, or where that would leave less than half of what may stay, in the middle of one.

    >>> shorten("Add a clock that strikes", 20), shorten("Add-a-clock-that-strikes", 20)
    ('Add a clock that…', 'Add-a-clock-that-st…')
    """
    if len(text) <= most_chars:
        return text
    words = text[:most_chars].rpartition(" ")[0].rstrip()
    return (words if len(words) >= most_chars // 2 else text[: most_chars - 1].rstrip()) + "…"


def plural(count: int, what: str) -> str:
    """
    Count things.

    >>> plural(1, "commit"), plural(1234, "commit")
    ('1 commit', '1,234 commits')
    """
    head, joint, tail = what.partition(" of ")
    return f"{count:,} {head}{'' if count == 1 else 's'}{joint}{tail}"


def _not_later(date: str, than: str | None) -> bool:
    """Compare two ISO dates of different zones; a date that git cannot read is later than any."""
    try:
        return than is not None and datetime.fromisoformat(date) <= datetime.fromisoformat(than)
    except (TypeError, ValueError):
        return False


def _escaped(text: str) -> bool:
    return all(not "\ud800" <= c <= "\udfff" or "\udc80" <= c <= "\udcff" for c in text)


def _left_out(commits: Iterable[_Raw], what: str, why: str) -> LeftOut:
    listed = [commit.told() for commit in commits]
    return LeftOut(len(listed), what, why, tuple(listed))


@dataclass(frozen=True, slots=True)
class _Raw:
    """A commit as git prints it."""

    sha: str
    authored: str
    author: str
    subject: str
    scope: str = ""

    @property
    def fingerprint(self) -> tuple[str, str, str]:
        """What a rebase leaves as it was."""
        return self.authored, self.author, self.subject

    def told(self) -> Commit:
        return Commit(self.sha, self.authored, clean(self.subject) or "(no subject)")


class _Git:
    """The few questions that are asked of a repository; none of them writes anything."""

    def __init__(self, repository: str | os.PathLike[str]) -> None:
        self._repository = repository

    def _ask(self, *arguments: str) -> str:
        return run_git(self._repository, "-c", "log.showSignature=false", "-c", "core.quotePath=false", *arguments)

    def head(self) -> str:
        try:
            return self._ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        except GitCommandError:
            raise ConfigurationError("repository has no commit yet; make one, then run this again") from None

    def exists(self, sha: str) -> bool:
        try:
            self._ask("cat-file", "-e", f"{sha}^{{commit}}")
        except GitCommandError:
            return False
        return True

    def is_ancestor(self, sha: str, of: str) -> bool:
        try:
            self._ask("merge-base", "--is-ancestor", sha, of)
        except GitCommandError:
            return False
        return True

    def commit(self, sha: str) -> Commit:
        return self._log([sha], "--no-walk")[0].told()

    def log(self, span: Iterable[str], most: int) -> list[_Raw]:
        return self._log(span, "--no-merges", f"--max-count={most}")

    def _log(self, span: Iterable[str], *which: str) -> list[_Raw]:
        # A user's configuration changes what `git log` prints; these options put it back.
        options = ("-z", "--no-color", "--no-mailmap", "--encoding=UTF-8", f"--format={_FORMAT}")
        printed = self._ask("log", *options, *which, *span, "--")
        return [_Raw(*record.split("\n", 4)) for record in printed.split("\0") if record.count("\n") >= 4]

    def fingerprints(self, sha: str, most: int) -> set[tuple[str, str, str]]:
        return {commit.fingerprint for commit in self.log([sha], most)}

    def merges(self, span: Iterable[str], scope: str) -> int:
        """Count the merges that people made: not those that landed notes, nor those that brought the clone up to date."""
        made = self._log(span, "--merges", f"--max-count={MOST_LATER}")
        return self.count("--merges", span) - sum(one.scope == scope or one.author == KEEPER_EMAIL for one in made)

    def is_shallow(self) -> bool:
        return self._ask("rev-parse", "--is-shallow-repository") == "true"

    def count(self, kind: str, span: Iterable[str]) -> int:
        return int(self._ask("rev-list", "--count", kind, *span, "--"))

    def tag_at(self, sha: str) -> str | None:
        tags = self._ask("tag", "--points-at", sha, "--sort=-version:refname").split("\n")
        return clean(tags[0], 60) or None
