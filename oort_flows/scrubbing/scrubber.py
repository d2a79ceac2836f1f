"""Finding secrets by the rules and putting markers in their place."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import add
from types import MappingProxyType
from typing import Final

from oort_flows.errors import ConfigurationError, InvalidInputError
from oort_flows.scrubbing.checks import lower, span_of
from oort_flows.scrubbing.rules import Keep, Rule, builtin_keeps, builtin_rules

__all__ = ["Scrubbed", "Scrubber", "marker", "scrub", "scrub_all"]

_MAX_PASSES: Final = 16
_SHORT: Final = 300
_NOTHING: Final[Mapping[str, int]] = MappingProxyType({})

_Near = tuple[str, int, Rule]


def _rank(near: _Near) -> int:
    return near[1]


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """
    A text without its secrets.

    Attributes
    ----------
    text:
        The text, with a marker in place of each secret.
    found:
        How many secrets of each kind were replaced; empty where there was none.
    """

    text: str
    found: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


def marker(kind: str) -> str:
    """
    Return what takes the place of a secret of *kind*.

    >>> marker("github-token")
    '[secret: github-token]'
    """
    return f"[secret: {kind}]"


class Scrubber:
    """
    Replaces secrets by markers that name the kind only.

    Scrubbing twice changes nothing. The time it takes grows with the length of the text, whatever the text is. A scrubber
    holds no state and may be used from several threads; it logs nothing.

    Parameters
    ----------
    rules:
        What to look for, in the order of preference; ``None`` means the rules of the package. Add to those by
        ``[*builtin_rules(), Rule(...)]``.

    Raises
    ------
    ConfigurationError
        If *rules* holds anything but rules, or a pattern is no regular expression.

    Example
    -------
    >>> word = "hunter2"
    >>> scrubbed = Scrubber().scrub(f"the database is at postgres://app:{word}@db/orders")
    >>> scrubbed.text
    'the database is at postgres://app:[secret: url-password]@db/orders'
    >>> dict(scrubbed.found)
    {'url-password': 1}
    """

    def __init__(self, rules: Iterable[Rule] | None = None) -> None:
        self._rules = builtin_rules() if rules is None else _validated(rules)
        self._keeps = builtin_keeps()
        self._near = tuple((literal, rank, rule) for rank, rule in enumerate(self._rules) for literal in rule.near)
        self._has_single = any(len(near[0]) == 1 for near in self._near)
        self._by_pair: dict[str, list[_Near]] = {}
        for near in self._near:
            self._by_pair.setdefault(near[0][:2], []).append(near)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of this scrubber, in the order of preference."""
        return self._rules

    def scrub(self, text: str) -> Scrubbed:
        """
        Return *text* with a marker in place of each secret, and what was found.

        Raises
        ------
        InvalidInputError
            If *text* is no string.
        """
        if not isinstance(text, str):
            raise InvalidInputError("text", "must be a string")
        text = str.__str__(text)
        secrets = self._secrets(text)
        if not secrets:
            return Scrubbed(text, _NOTHING)
        found: Counter[str] = Counter()
        # A marker has borders of its own, beside which a secret may show that was glued to another one before.
        for _ in range(_MAX_PASSES):
            found.update(kind for _, _, kind in secrets)
            text = _replace(text, secrets)
            secrets = self._secrets(text)
            if not secrets:
                break
        return Scrubbed(text, MappingProxyType(dict(sorted(found.items()))))

    def scrub_all(self, texts: Sequence[str]) -> list[str]:
        """
        Return each of *texts* with a marker in place of each secret; quicker than one by one where they are short.

        >>> Scrubber().scrub_all(["port", "8100"])
        ['port', '8100']
        """
        suspects = self._suspects(lower("\n".join(texts)))
        if not suspects:
            return list(texts)
        return [self._scrub_suspected(text, suspects) for text in texts]

    def _scrub_suspected(self, text: str, suspects: Iterable[_Near]) -> str:
        """Return *text* scrubbed, where only *suspects* can be in it."""
        lowered = lower(text)
        near = [near for near in suspects if near[0] in lowered]
        return self.scrub(text).text if near and self._secrets(text, near) else text

    def _secrets(self, text: str, suspects: Iterable[_Near] | None = None) -> list[tuple[int, int, str]]:
        """List the secrets of *text* as (start, end, kind), sorted, none touching the inside of another."""
        lowered = lower(text)
        keeps: list[tuple[int, int]] | None = None
        spans: list[tuple[int, int, int]] = []
        for literal, rank, rule in self._suspects(lowered) if suspects is None else suspects:
            for start, end in _matches(rule, literal, text, lowered):
                if keeps is None:
                    keeps = _kept(self._keeps, text, lowered)
                if not _begins_inside(keeps, start):
                    spans.append((start, end, rank))
        return [(start, end, self._rules[rank].kind) for start, end, rank in _united(spans)]

    def _suspects(self, lowered: str) -> list[_Near]:
        """List the rules to try, with the literal to try them at; of a short text only those that its letter pairs allow."""
        if len(lowered) > _SHORT:
            return [near for near in self._near if near[0] in lowered]
        pairs = {*map(add, lowered, lowered[1:]), *lowered} if self._has_single else {*map(add, lowered, lowered[1:])}
        possible = [near for pair in pairs & self._by_pair.keys() for near in self._by_pair[pair]]
        found = [near for near in possible if near[0] in lowered]
        return sorted(found, key=_rank) if len(found) > 1 else found


def scrub(text: str) -> str:
    """
    Return *text* with a marker in place of each secret, by the rules of the package.

    Raises
    ------
    InvalidInputError
        If *text* is no string.

    Example
    -------
    >>> word = "tr0ub4dor&3"
    >>> scrub(f"log in with password: {word} (fixed in commit 9f1c2ab)")
    'log in with password: [secret: password] (fixed in commit 9f1c2ab)'
    """
    return _default().scrub(text).text


def scrub_all(texts: Sequence[str]) -> list[str]:
    """Return each of *texts* with a marker in place of each secret, by the rules of the package."""
    return _default().scrub_all(texts)


@cache
def _default() -> Scrubber:
    return Scrubber()


def _validated(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    if isinstance(rules, (str, bytes, Rule)) or not isinstance(rules, Iterable):
        raise ConfigurationError("rules must be a list of Rule(...)")
    listed = tuple(rules)
    if not all(isinstance(rule, Rule) for rule in listed):
        raise ConfigurationError("rules must be a list of Rule(...)")
    return tuple(rule.validate() for rule in listed)


def _matches(rule: Rule, literal: str, text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of what *rule* finds at *literal*. Trying it nowhere else keeps ordinary text cheap."""
    at = lowered.find(literal)
    while at >= 0:
        match = rule.regex.match(text, at)
        span = None if match is None else rule.check(match) if rule.check else span_of(match)
        if span is not None and span[0] < span[1]:
            yield span
        at = lowered.find(literal, at + 1 if span is None else max(at + 1, span[1]))


def _kept(keeps: Iterable[Keep], text: str, lowered: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for keep in keeps:
        for literal in keep.near:
            at = lowered.find(literal)
            while at >= 0:
                match = keep.regex.match(text, at)
                if match is not None:
                    spans.append(match.span())
                at = lowered.find(literal, at + 1 if match is None else match.end())
    return sorted(spans)


def _begins_inside(keeps: list[tuple[int, int]], place: int) -> bool:
    index = bisect_right(keeps, (place, len(keeps) and keeps[-1][1]))
    return index > 0 and keeps[index - 1][0] <= place < keeps[index - 1][1]


def _united(spans: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Join what overlaps; the best rank gives the name, so that no end of a secret is left over."""
    united: list[tuple[int, int, int]] = []
    for start, end, rank in sorted(spans):
        if united and start < united[-1][1]:
            before = united[-1]
            united[-1] = (before[0], max(before[1], end), min(before[2], rank))
        else:
            united.append((start, end, rank))
    return united


def _replace(text: str, secrets: Iterable[tuple[int, int, str]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, kind in secrets:
        pieces += (text[at:start], marker(kind))
        at = end
    return "".join(pieces) + text[at:]
