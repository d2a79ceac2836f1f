"""The languages whose time words are understood, one module each, and how to tell them apart."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from oort_flows.engine.asking.languages.vocabulary import Language, Meaning, fold, listed

__all__ = ["Language", "Meaning", "alphabetic", "choose", "fold", "ideographic", "listed"]


@cache
def alphabetic() -> tuple[Language, ...]:
    """Answer the languages written with spaces; the first wins when none is told by its words."""
    from oort_flows.engine.asking.languages.english import ENGLISH
    from oort_flows.engine.asking.languages.french import FRENCH
    from oort_flows.engine.asking.languages.german import GERMAN
    from oort_flows.engine.asking.languages.portuguese import PORTUGUESE
    from oort_flows.engine.asking.languages.spanish import SPANISH

    return ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE


@cache
def ideographic(kana: bool) -> Language:
    """Answer the language of a text without spaces: Japanese where there is kana, else Chinese."""
    if kana:
        from oort_flows.engine.asking.languages.japanese import JAPANESE

        return JAPANESE
    from oort_flows.engine.asking.languages.chinese import CHINESE

    return CHINESE


def choose(words: Iterable[str], text: str) -> Language:
    """
    Answer the language that knows most of *words* (folded); in doubt one that *text* asks a mode in, else English.

    >>> choose(["welcher", "port", "war", "es", "im", "märz"], "welcher Port war es im März").name
    'German'
    """
    distinct = set(words)
    scores = [(len(distinct & one.known), one) for one in alphabetic()]
    best = max(score for score, _ in scores)
    tied = [one for score, one in scores if score == best]
    if len(tied) == 1 or not best:
        return tied[0]
    return next((one for one in tied if one.find("history", text) or one.find("belief", text)), tied[0])
