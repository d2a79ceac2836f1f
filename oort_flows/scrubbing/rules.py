"""The rules of the scrubber: how they are written down, read and checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any

from oort_flows.errors import ConfigurationError
from oort_flows.scrubbing import checks

__all__ = ["Check", "Keep", "Rule", "builtin_keeps", "builtin_rules"]

Check = Callable[["re.Match[str]"], tuple[int, int] | None]
"""Judges a match: start and end of the secret in ``match.string``, or ``None`` where there is none."""

_KIND = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_PART = re.compile(r"@([a-z_]+)@")


@dataclass(frozen=True)
class Rule:
    """
    One form of secret.

    Parameters
    ----------
    kind:
        Its name in the marker: lower-case letters, digits and hyphens.
    near:
        Literals in lower case. The pattern is tried only where one of them stands, whatever its case, and begins there.
    pattern:
        A regular expression. The last group that took part is the secret, or the whole match where there is no group.
        Bound its repetitions: whatever it costs is paid for each literal found.
    check:
        Looks at a match once more, for instance to let placeholders through; without one every match counts.

    Raises
    ------
    ConfigurationError
        If a part is unusable. The pattern is compiled, and so judged, by :meth:`validate` or at its first use.

    Example
    -------
    >>> from oort_flows.scrubbing import Scrubber
    >>> rule = Rule("acme-key", ("acme_",), r"acme_[0-9a-f]{8}")
    >>> Scrubber([*builtin_rules(), rule]).scrub("use acme_00c0ffee, it works").text
    'use [secret: acme-key], it works'
    """

    kind: str
    near: tuple[str, ...]
    pattern: str
    check: Check | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or not _KIND.fullmatch(self.kind) or len(self.kind) > 64:
            raise ConfigurationError("kind must be lower-case letters, digits and single hyphens, at most 64 characters")
        if not isinstance(self.near, tuple) or not self.near or not all(isinstance(n, str) and n for n in self.near):
            raise ConfigurationError("near must be a tuple of strings that are not empty")
        if any(literal != checks.lower(literal) for literal in self.near):
            raise ConfigurationError("near must be in lower case")
        if not isinstance(self.pattern, str):
            raise ConfigurationError("pattern must be a string")
        if self.check is not None and not callable(self.check):
            raise ConfigurationError("check must be callable")

    def validate(self) -> Rule:
        """Return the rule itself if its pattern is a regular expression that matches more than nothing."""
        if self.regex.match("") is not None:
            raise ConfigurationError(f"pattern of {self.kind} must not match the empty text")
        return self

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled pattern."""
        try:
            return re.compile(self.pattern)
        except (re.error, OverflowError, RecursionError):
            raise ConfigurationError(f"pattern of {self.kind} is no regular expression") from None


@dataclass(frozen=True)
class Keep:
    """A stretch of text in which no secret begins."""

    near: tuple[str, ...]
    pattern: str

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.pattern)


@cache
def builtin_rules() -> tuple[Rule, ...]:
    """
    Return the rules of the package, read at the first call; earlier ones give the name where several match.

    >>> "github-token" in {rule.kind for rule in builtin_rules()}
    True
    """
    document = _document()
    judges = checks.named(document["words"])

    def read(entry: dict[str, Any]) -> Rule:
        pattern = _expand(entry["pattern"], document["parts"])
        return Rule(entry["kind"], tuple(entry["near"]), pattern, judges[entry["check"]] if "check" in entry else None)

    return tuple(read(entry) for entry in document["rule"])


@cache
def builtin_keeps() -> tuple[Keep, ...]:
    """Return the stretches that are kept as they are."""
    return tuple(Keep(tuple(entry["near"]), entry["pattern"]) for entry in _document()["keep"])


@cache
def _document() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("rules.toml").read_text(encoding="utf-8"))


def _expand(pattern: str, parts: Mapping[str, str]) -> str:
    while _PART.search(pattern):
        pattern = _PART.sub(lambda found: parts[found[1]], pattern)
    return pattern
