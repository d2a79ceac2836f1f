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
from typing import Final

from oort_flows.storage.folding import tokens

__all__ = ["Match", "Query", "query_of", "ranked"]

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
_NAME: Final = re.compile(r"\w*\d\w*|(?<=\S )[A-ZÀ-ÖØ-Þ]\w+")


@dataclass(frozen=True, slots=True)
class Query:
    """
    The words of a query.

    Attributes
    ----------
    terms:
        Its tokens, each once, in order, without those that say nothing.
    names:
        Those of them that name something: numbers, identifiers, capitalised words. A memory has to have one of them.
    """

    terms: tuple[str, ...]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Match:
    """One candidate: anything that identifies it to the caller, its tokens, and what orders it among equals."""

    row: int
    fact: str
    context: str


def query_of(text: str) -> Query:
    """
    Return the words of *text* that a search is worth.

    >>> query_of("which port does billing-2 listen on").terms
    ('port', 'bill', '2', 'listen')
    """
    found = list(dict.fromkeys(tokens(text)))
    terms = tuple(term for term in found if term not in _STOP)
    if not terms:
        terms = tuple(term for term in found if len(term) > 1 or not term.isascii())
    names = {token for name in _NAME.findall(text) for token in tokens(name)}
    return Query(terms, frozenset(names & set(terms)))


def ranked(query: Query, matches: Sequence[Match]) -> list[tuple[Match, float, tuple[str, ...]]]:
    """
    Return the matches that answer *query*, with their score and the words that count for them; best first.

    A word counts the more, the fewer of the matches have it. The order among equals is left to the caller.
    """
    sets = [(match, frozenset(match.fact.split()), frozenset(match.context.split())) for match in matches]
    having = Counter(term for _, fact, context in sets for term in query.terms if term in fact or term in context)
    weights = {term: math.log(1 + (len(sets) + 1) / (having[term] + 0.5)) for term in query.terms}
    whole = sum(weights.values())
    found = []
    for match, fact, context in sets:
        if query.names and not (query.names & fact or query.names & context):
            continue
        in_fact = [term for term in query.terms if term in fact]
        in_context = [term for term in query.terms if term in context and term not in fact]
        counted = math.fsum(weights[term] for term in in_fact)
        counted_context = math.fsum(weights[term] for term in in_context)
        if len(in_fact) + len(in_context) < _LEAST * len(query.terms) and counted + counted_context < _LEAST * whole:
            continue
        brevity = 1 / (1 + math.log1p(len(fact)) / 10)
        score = round((counted + _CONTEXT * counted_context) / whole * brevity, 9) if whole else 0.0
        found.append((match, score, _reasons(in_fact, in_context)))
    return sorted(found, key=lambda item: -item[1])


def _reasons(in_fact: Iterable[str], in_context: Iterable[str]) -> tuple[str, ...]:
    reasons = []
    if words := ", ".join(in_fact):
        reasons.append(f"has the words {words}")
    if words := ", ".join(in_context):
        reasons.append(f"the turn before it has the words {words}")
    return tuple(reasons)
