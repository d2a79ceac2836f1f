"""
Judging what a search found: which memories answer a query, and in which order.

The rules are the same for both engines and know nothing of rows or ids: the same memories and query give the same order,
however they came to be stored.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from oort_flows.storage.folding import tokens

__all__ = ["Match", "Query", "bridges", "entities", "query_of", "ranked", "words_of"]

_STOP: Final = frozenset(
    tokens(
        # Words that ask or hold a sentence together. English, German, French, Spanish, Portuguese.
        "a about again all am an and any anything are as at be been before being but by can could did do does doing done "
        "every for from had has have having he her here him his how i if in into is it its just know known me my no not of "
        "on once or other our out over please remember said say says she should so some such tell than that the their them "
        "then there these they thing think this those thought to told until up us very was we were what when where which "
        "while who whom whose why will with would yes you your now still currently changed change ever history "
        "der die das den dem des ein eine einen einem einer und oder ist sind war waren wird wurde hat haben was wer wie wo "
        "wann warum welche welcher welches welchen ich du er sie es wir ihr mein dein im am um zu von mit auf für "
        "le la les un une des du de et ou est sont était qui que quoi quel quelle quels quelles où quand comment pourquoi "
        "je tu il elle nous vous ils au aux en sur pour avec "
        "el los las una uno y o es son era fue quién qué cuál cuáles dónde cuándo cómo por para con del "
        "os as um uma e é são foi quem qual quais onde quando como no na nos nas do da dos das"
    )
)
_LEAST: Final = 0.5
"""Share of a query, by the weight of its words, that a memory has to have; less is a near-miss and no answer."""
_CONTEXT: Final = 0.5
"""What a word counts that only the turn before the fact has."""
_BONUS: Final = 1.0
"""What a word counts in addition that names the attribute: it is what the question asks for."""
_HOP: Final = 0.9
"""What a word counts that only the memory has over which this one was reached."""
_PREMISE: Final = 0.5
"""What is left of a memory that says what the question takes for granted, once it has led to another one."""
_NUMBER: Final = re.compile(r"\w*\d\w*")
_CAPITALS: Final = re.compile(r"(?<=\S )[A-ZÀ-ÖØ-Þ]\w+(?: [A-ZÀ-ÖØ-Þ]\w+)*")


@dataclass(frozen=True, slots=True)
class Query:
    """
    The words of a query.

    Attributes
    ----------
    terms:
        Its tokens, each once, in order, without those that say nothing.
    names:
        Those of them that name something: numbers, identifiers, and of capitalised words in a row the last, since the others
        say what kind of thing it is. A memory has to have one of them.
    """

    terms: tuple[str, ...]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Match:
    """One candidate: anything that identifies it to the caller, its tokens, and the tokens of its slot where it has one."""

    row: int
    fact: str
    context: str
    subject: tuple[str, ...] = ()
    attribute: tuple[str, ...] = ()
    value: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Judged:
    match: Match
    score: float
    reasons: tuple[str, ...]
    over: Match | None = None


def query_of(text: str) -> Query:
    """
    Return the words of *text* that a search is worth.

    >>> query_of("which port does billing-2 listen on").terms
    ('port', 'bill', '2', 'listen')
    >>> sorted(query_of("where does Project Atlas of team 7 run").names)
    ['7', 'atla']
    """
    found = list(dict.fromkeys(tokens(text)))
    terms = tuple(term for term in found if term not in _STOP)
    if not terms:
        terms = tuple(term for term in found if len(term) > 1 or not term.isascii())
    names = {token for name in _NUMBER.findall(text) for token in tokens(name)}
    names |= {token for name in _CAPITALS.findall(text) for token in tokens(name.rpartition(" ")[2])}
    return Query(terms, frozenset(names & set(terms)))


@lru_cache(maxsize=1 << 14)
def words_of(text: str | None) -> tuple[str, ...]:
    """Return the tokens of a part of a slot; the same ones come again and again."""
    return tuple(tokens(text)) if text else ()


def bridges(query: Query, matches: Sequence[Match], most: int = 6) -> list[Match]:
    """
    Return the matches that may lead on to what *query* asks for, the best first.

    There are none for fewer than three words (what is asked for, how it is reached, and from where), and none where one of
    the matches has every word.
    """
    terms = frozenset(query.terms)
    if len(terms) < 3:
        return []
    found = []
    for match in matches:
        words = terms & frozenset(match.fact.split())
        if words == terms:
            return []
        if words and match.subject:
            found.append((-len(words), match.fact, match))
    return [match for _, _, match in sorted(found, key=lambda item: item[:2])[:most]]


def entities(bridge: Match) -> list[tuple[str, ...]]:
    """Return what *bridge* is about and what it says of it: another memory about either is one step away."""
    return [words for words in dict.fromkeys((bridge.value, bridge.subject)) if words]


def ranked(query: Query, matches: Sequence[Match], over: Sequence[Match] = ()) -> list[tuple[Match, float, tuple[str, ...]]]:
    """
    Return the matches that answer *query*, with their score and the words that count for them; best first.

    A word counts the more, the fewer of the matches have it. What a match lacks may stand in one of *over* that shares its
    subject with it. The order among equals is left to the caller.
    """
    scale = _Scale(query, matches)
    judged = []
    for match in matches:
        alone = scale.judge(match)
        linked = [scale.judge(match, bridge) for bridge in over if _leads_to(bridge, match)]
        best = max((one for one in (alone, *linked) if one is not None), key=lambda one: one.score, default=None)
        if best is not None:
            judged.append(best)
    premises = {id(one.over) for one in judged if one.over is not None and set(one.over.value) <= set(query.terms)}
    found = [
        (one.match, one.score * _PREMISE if id(one.match) in premises and one.over is None else one.score, one.reasons)
        for one in judged
    ]
    return sorted(found, key=lambda item: -item[1])


def _leads_to(bridge: Match, match: Match) -> bool:
    return bool(match.subject) and bridge.row != match.row and match.subject in (bridge.subject, bridge.value)


class _Scale:
    """Weighs the matches of one query."""

    def __init__(self, query: Query, matches: Sequence[Match]) -> None:
        self._query = query
        self._words = {id(match): (frozenset(match.fact.split()), frozenset(match.context.split())) for match in matches}
        terms = frozenset(query.terms)
        having = Counter(term for fact, context in self._words.values() for term in terms & (fact | context))
        self._weights = {term: math.log(1 + (len(matches) + 1) / (having[term] + 0.5)) for term in query.terms}
        self._whole = math.fsum(self._weights.values())
        asked = f" {' '.join(query.terms)} "
        self._named = {
            name for name in (f" {' '.join(match.subject)} " for match in matches if match.subject) if name in asked
        }

    def judge(self, match: Match, over: Match | None = None) -> _Judged | None:
        """Return how well *match* answers, by itself or reached over another; ``None`` if it does not."""
        terms = self._query.terms
        fact, context = self._words[id(match)]
        step = self._words[id(over)][0] if over is not None else frozenset[str]()
        in_fact = [term for term in terms if term in fact]
        in_context = [term for term in terms if term in context and term not in fact]
        in_step = [term for term in terms if term in step and term not in fact and term not in context]
        if over is not None and (not in_step or step.issuperset(in_fact)):
            return None
        if not self._is_near_enough(match, over, fact | context | step, [*in_fact, *in_context, *in_step]):
            return None
        counted = self._sum(in_fact) + _BONUS * self._sum(term for term in in_fact if term in match.attribute)
        counted += _CONTEXT * self._sum(in_context) + _HOP * self._sum(in_step)
        brevity = 1 / (1 + math.log1p(len(fact)) / 10)
        score = round(counted / self._whole * brevity, 9) if self._whole else 0.0
        return _Judged(match, score, _reasons(in_fact, in_context, in_step), over)

    def _is_near_enough(self, match: Match, over: Match | None, words: frozenset[str], having: Sequence[str]) -> bool:
        """Tell whether it is about what the query is about, and has enough of its words."""
        terms, names = self._query.terms, self._query.names
        if names and not names & words:
            return False
        if match.subject and self._named and not self._names_it(match, over):
            return False
        # Being about the same thing is no answer yet, where the question asks for two words more.
        if match.subject and set(having) <= set(match.subject) and len(terms) - len(having) >= 2:
            return False
        return len(having) >= _LEAST * len(terms) or self._sum(having) >= _LEAST * self._whole

    def _names_it(self, match: Match, over: Match | None) -> bool:
        """Tell whether what the query names is named here too, by the same words in a row."""
        told = [match.fact, match.context, over.fact if over is not None else ""]
        return any(name in f" {text} " for name in self._named for text in told)

    def _sum(self, terms: Iterable[str]) -> float:
        return math.fsum(self._weights[term] for term in terms)


def _reasons(in_fact: Iterable[str], in_context: Iterable[str], in_step: Iterable[str]) -> tuple[str, ...]:
    reasons = []
    if words := ", ".join(in_fact):
        reasons.append(f"has the words {words}")
    if words := ", ".join(in_context):
        reasons.append(f"the turn before it has the words {words}")
    if words := ", ".join(in_step):
        reasons.append(f"a memory that leads to it has the words {words}")
    return tuple(reasons)
