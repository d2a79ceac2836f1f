"""Which of the four ways of recalling a query asks for, told by its words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from oort_flows.engine.asking.expressions import Expression
from oort_flows.engine.asking.languages import Language
from oort_flows.engine.asking.tokens import Reading

__all__ = ["Cue", "Mode", "believed", "historic"]

Mode = Literal["current", "as_of", "history", "known_at"]
Cue = list[tuple[int, int]]

_STATEMENT = re.compile(r"\s*(?:i|we)\s", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;.?!，。；？！]")


def _spans(language: Language, what: str, text: str) -> Cue:
    """Answer where the telling words of the first match stand."""
    found = language.find(what, text)
    if found is None:
        return []
    return sorted(found.span(name) for name in found.re.groupindex if found[name] is not None)


def historic(reading: Reading) -> Cue:
    """
    Answer the words that ask how something changed, and none where they are about something else.

    A history as a subject (*browser history*, *the history of the company*) is no question about the past of a memory.
    """
    for language in reading.languages:
        if cue := _spans(language, "history", reading.masked):
            return [] if language.find("excuses", reading.masked) else cue
    return []


def believed(reading: Reading, times: Iterable[Expression]) -> Cue:
    """
    Answer the words that ask what was thought, if a time belongs to them.

    *I thought it was 8080, which was it in March?* only tells what somebody thought; the question is in the other clause.
    """
    times = list(times)
    for language in reading.languages:
        cue = _spans(language, "belief", reading.masked)
        if cue and times and not _is_aside(cue, times, reading.masked):
            return cue
    return []


def _is_aside(cue: Cue, times: list[Expression], text: str) -> bool:
    if not _STATEMENT.match(text) or cue[0][0] > 2:
        return False
    return all(time.start > cue[-1][1] and _CLAUSE.search(text, cue[-1][1], time.start) for time in times)
