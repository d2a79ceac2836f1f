"""
What a language knows about time, as data.

A vocabulary is a text of lines ``CODE VALUE: phrase, phrase``. The codes are the alphabet of the grammar in
:mod:`oort_flows.engine.asking.phrases`:

====  ==========================================  ====  ==========================================
M     a month, 1 to 12                            i     in, on, at, during
W     a weekday, Monday is 0                      b     before
U     a unit: day, week, month ...                a     after
N     a number word                               s     since
O     an ordinal                                  u     until, by
L     last (-1), this (0), next (1)               o     as of
E     a unit and its distance: ``day -1``         n     between
A     ago, behind a duration                      f     from
V     ago, before a duration                      t     to
v     ago before a duration, else before          &     and
B     start, middle or end of what follows        w     onwards
j     start, middle or end of what precedes       p     a relation that follows what it relates
H     a half of what precedes or follows          g     words without weight: of, the
S     a season, 1 is spring                       Z     now
D     a part of the day                           K     the word before a week's number
====  ==========================================  ====  ==========================================
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

__all__ = ["Language", "Meaning", "fold", "language", "listed"]

Value = int | str | tuple[str, int] | None
Meaning = tuple[str, Value]

_AMBIGUOUS_WITHOUT_ACCENT = frozenset({"marco", "a", "e", "ha", "ou", "la", "mas"})


@dataclass(frozen=True, slots=True)
class Language:
    """
    The words of one language, and how it asks for each mode.

    Attributes
    ----------
    phrases:
        First word to the phrases that begin with it, longest first: their words and what they mean.
    small:
        Words that are no nouns; they tell languages apart, and an attribute from a bare date.
    weak:
        Time words that are other words too, or names: they count only in a telling position.
    names:
        Months that are also names of people.
    known:
        All words that tell this language.
    patterns:
        Patterns that ask for a ``history``, for a former ``belief``, for what is to come (``future``), and ``excuses`` that
        make one of history void.
    """

    name: str
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], Meaning], ...]]
    small: frozenset[str]
    weak: frozenset[str]
    names: frozenset[str]
    known: frozenset[str]
    patterns: Mapping[str, str]

    def find(self, what: str, text: str) -> re.Match[str] | None:
        """Look in *text* for one of the patterns called *what*; they are compiled when they are first needed."""
        return _pattern(self.patterns[what]).search(text)


def fold(word: str) -> str:
    """
    Make words comparable: composed, without case.

    >>> fold("Ma\u0308RZ")
    'märz'
    """
    return unicodedata.normalize("NFC", word).casefold()


def _bare(word: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter))


def _spellings(phrase: str) -> set[str]:
    """Answer how people type a phrase: as written, without its accents, with German umlauts spelled out."""
    umlauts = phrase.replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")
    return {phrase, umlauts, _bare(phrase)} - (_AMBIGUOUS_WITHOUT_ACCENT - {phrase})


def _meaning(head: str) -> Meaning:
    code, *value = head.split()
    if len(value) == 2:
        return code, (value[0], int(value[1]))
    if not value:
        return code, None
    return code, int(value[0]) if value[0].lstrip("-").isdigit() else value[0]


@cache
def _pattern(patterns: str) -> re.Pattern[str]:
    """Compile one alternative a line; a line that begins with a plus goes on with the one before."""
    joined = patterns.strip().replace("\n    + ", "")
    lines = [line.strip() for line in joined.splitlines() if line.strip()]
    return re.compile("|".join(f"(?:{line})" for line in lines) or r"(?!)", re.IGNORECASE)


def listed(words: str) -> frozenset[str]:
    """Answer the words of a list that is written with spaces."""
    return frozenset(words.split())


def language(
    name: str,
    vocabulary: str,
    *,
    small: str = "",
    weak: str = "",
    names: str = "",
    history: str = "",
    belief: str = "",
    future: str = "",
    excuses: str = "",
) -> Language:
    """Compile the texts of a language; patterns are one regular expression a line."""
    phrases: dict[str, dict[tuple[str, ...], Meaning]] = {}
    for line in vocabulary.strip().splitlines():
        head, _, listing = line.partition(":")
        for phrase in listing.split(","):
            for spelling in sorted(_spellings(fold(phrase.strip()))):
                words = tuple(spelling.split())
                phrases.setdefault(words[0], {}).setdefault(words, _meaning(head))
    ordered = {first: tuple(sorted(found.items(), key=lambda item: -len(item[0]))) for first, found in phrases.items()}
    every = {word for found in phrases.values() for words in found for word in words}
    small_words = {spelling for word in fold(small).split() for spelling in _spellings(word)}
    return Language(
        name=name,
        phrases=MappingProxyType(ordered),
        small=frozenset(small_words),
        weak=listed(fold(weak)),
        names=listed(fold(names)),
        known=frozenset(every | small_words),
        patterns=MappingProxyType({"history": history, "belief": belief, "future": future, "excuses": excuses}),
    )
