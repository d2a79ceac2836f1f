"""
How commits are grouped: a text file in the memory that people edit and the next run follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from oort_flows.demo.commits import clean

__all__ = ["DEFAULT_CONVENTIONS", "Conventions", "parse_conventions", "split_subject"]

DEFAULT_CONVENTIONS: Final = """\
# Conventions of the release notes

Every run reads this file before it writes, and follows it. Edit it as you like.

A commit goes to the first group that lists how its subject starts: a word such as `add`, or a type of Conventional
Commits such as `feat:`, whatever its scope. `!` stands for a breaking change (`feat!: ...`), `*` for everything else.
Without a `*`, a commit that fits no group is left out.

## Groups

- Breaking changes: !
- New: feat, feature, add, adds, added, introduce, introduces, implement, implements, create, support, allow, offer, write
- Fixed: fix, fixes, fixed, bugfix, hotfix, repair, correct, corrects, security, revert
- Faster: perf, speed up, optimize, optimise
- Removed: remove, removes, removed, drop, drops, dropped, delete, deprecate
- Documentation: docs, doc, document, documents, readme, changelog
- Housekeeping: chore, ci, test, tests, build:, style, refactor, bump, bumps, deps, release, lint, format
- Changed: *

## Leave out

- fixup!, squash!, amend!, wip
"""

_TYPED: Final = re.compile(
    r"(?P<type>[A-Za-z][\w-]*)(?:\((?P<scope>[^()]*)\))?(?P<breaking>!)?:\s+(?P<rest>\S.*)", re.DOTALL
)
_BULLET: Final = re.compile(r"\s*[-*+]\s+(?P<text>.*\S)\s*")
_REST: Final = "*"
_BREAKING: Final = "!"


@dataclass(frozen=True, slots=True)
class Conventions:
    """
    Groups in the order in which they are tried and shown, and what to leave out.

    Example
    -------
    >>> rules = parse_conventions(DEFAULT_CONVENTIONS)
    >>> rules.group_of("feat(parser): read dates"), rules.group_of("Fix the clock"), rules.group_of("feat!: new port")
    ('New', 'Fixed', 'Breaking changes')
    >>> rules.left_out_by("fixup! Fix the clock")
    'fixup!'
    """

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    leave_out: tuple[str, ...] = ()

    def group_of(self, subject: str) -> str | None:
        """Name the first group that lists how *subject* starts; ``None`` if there is none."""
        starts, breaking = _starts(subject)
        for name, words in self.groups:
            for word in words:
                if word == _REST or (word == _BREAKING and breaking) or _begins(starts, word):
                    return name
        return None

    def left_out_by(self, subject: str) -> str | None:
        """Name the word that says to leave *subject* out; ``None`` if it stays."""
        starts, _ = _starts(subject)
        return next((word for word in self.leave_out if _begins(starts, word)), None)


def parse_conventions(text: str) -> Conventions:
    """
    Read the conventions as people write them: a bullet for each group below ``## Groups``, words below ``## Leave out``.

    Lines that are neither are for people and are passed over. A text without any group is read as the default's groups, so
    that a slip of the pen loses no commit.
    """
    groups: dict[str, list[str]] = {}
    leave_out: list[str] = []
    section = ""
    for line in re.split(r"\r\n|\r|\n", text):
        if line.startswith("#"):
            section = " ".join(line.strip("# \t").casefold().split())
            continue
        bullet = _BULLET.fullmatch(line)
        if bullet is None:
            continue
        if section == "leave out":
            leave_out += _words(bullet["text"])
        elif section == "groups" and ":" in bullet["text"]:
            name, _, words = bullet["text"].partition(":")
            groups.setdefault(clean(name, 60) or "Changes", []).extend(_words(words))
    if not groups and text is not DEFAULT_CONVENTIONS:
        return Conventions(parse_conventions(DEFAULT_CONVENTIONS).groups, tuple(leave_out))
    return Conventions(tuple((name, tuple(words)) for name, words in groups.items()), tuple(leave_out))


def split_subject(subject: str) -> tuple[str | None, str]:
    """
    Split off what the group says already: the type of Conventional Commits. The scope, where there is one, comes apart.

    >>> split_subject("feat(parser)!: read dates"), split_subject("Fix the clock")
    (('parser', 'read dates'), (None, 'Fix the clock'))
    """
    typed = _TYPED.fullmatch(subject)
    if typed is None:
        return None, subject
    return (typed["scope"] or "").strip() or None, typed["rest"]


def _words(text: str) -> list[str]:
    words = (" ".join(word.strip(" \t`").casefold().split()) for word in text.split(","))
    return [word for word in words if word]


def _starts(subject: str) -> tuple[tuple[str, ...], bool]:
    """Give the texts that a word may begin, and whether the subject marks a breaking change."""
    plain = " ".join(subject.casefold().split())
    typed = _TYPED.fullmatch(subject)
    if typed is None:
        return (plain,), False
    return (f"{typed['type'].casefold()}: {typed['rest'].casefold()}",), typed["breaking"] is not None


def _begins(starts: tuple[str, ...], word: str) -> bool:
    return any(
        start.startswith(word) and (not word[-1].isalnum() or not start[len(word) : len(word) + 1].isalnum())
        for start in starts
    )
