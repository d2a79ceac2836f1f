"""
Whether a doubtful phrase is a time at all.

``May``, ``April`` and ``Spring`` are also a verb, a person and a framework, and ``2024`` is also a port. A doubtful phrase
counts when what stands around it leaves little else: a relation before it (*in May*, *before 2024*), and no noun behind it
that it could belong to (*the December report*, *in 2000 requests*).
"""

from __future__ import annotations

from oort_flows.engine.asking.languages import Language, listed
from oort_flows.engine.asking.moments import Point
from oort_flows.engine.asking.tokens import Lexeme

__all__ = ["convinces"]

ARTICLES = frozenset({"the", "our", "a", "an", "your", "my", "their", "its", "that", "which", "each", "every"})
LABELS = listed(
    """
    version versión versão v release tag build branch migration api revision rev ticket issue model id file snapshot schema
    release-tag patch image sdk package commit
    """
)
"""What a written date behind it names, instead of a day."""

MEASURES = listed(
    """
    mb gb kb tb ms us ns rpm qps rps percent people megabytes gigabytes bytes bits px usd eur dollars euros mbit
    """
)
_NOT_BEFORE_A_YEAR = frozenset({"on", "at", "over", "um", "an", "am", "within", "vers", "from", "von", "de"})
_BEFORE_A_SUBJECT = listed(
    "is does did has will can who ask tell ist hat est a es é son wer qui quién quien quem être estar"
)
_NOT_BEFORE_A_MONTH = frozenset({"on", "at", "over", "within"})
_NOT_BEFORE_A_NAME = frozenset({"by", "from", "through", "with", "around", "starting", "de", "von"})
_PERSONAL = listed(
    """
    left said took went came quit wrote told gave got made began met sent ran saw spoke was is has had did does can
    will would could should
    """
)
_GERMAN_LEADS = listed(
    """
    war waren hatte hatten wurde wurden galt galten lief liefen gab es wir man sie er ich noch schon
    nutzten benutzten anfang ende mitte
    """
)
_OF = frozenset({"of", "de", "des", "du", "d", "del", "do", "da"})


def convinces(
    point: Point,
    at: int,
    lead: Lexeme | None,
    lexemes: list[Lexeme],
    language: Language,
    query: str,
    *,
    paired: bool = False,
) -> bool:
    """
    Tell whether *point*, read at lexeme *at* behind the relation *lead*, means a time.

    Parameters
    ----------
    paired:
        Whether it is one end of a range whose other end is beyond doubt, or a part of something.
    """
    before = lexemes[at - 1] if at else None
    after = lexemes[point.end] if point.end < len(lexemes) else None
    if before is not None and before.word in LABELS and lexemes[at].code in "IYQ":
        return False
    if not point.relative and language.name == "English" and _is_attribute(before, lead, after, language):
        return False
    if lead is None and _is_bare_month(point, at, lexemes) and before is not None and before.word in _BEFORE_A_SUBJECT:
        return False
    doubtful = point.weak
    if doubtful is None or paired:
        return True
    if doubtful.code == "#":
        return not _is_noun(after, language)
    if doubtful.code == "Y":
        return _is_year(lead, before, after, language)
    if doubtful.possessive or lead is None or (after is not None and after.word in _OF and doubtful.code in "OQ"):
        return lead is None and lexemes[at].code == "L" and (after is None or after.code in ".c")
    if doubtful.code == "I":
        return lead.word not in ("in", "at", "by", "from", "over") and not _is_noun(after, language)
    if _is_noun(after, language):
        return False
    if doubtful.code == "M":
        return _is_month(doubtful, lead, after, language)
    return not (doubtful.word == "spring" and query[doubtful.start].isupper())


def _is_bare_month(point: Point, at: int, lexemes: list[Lexeme]) -> bool:
    """Tell whether the phrase is a month's name and nothing more, which may be the name of somebody."""
    return point.end == at + 1 and lexemes[at].code == "M"


def _is_noun(lexeme: Lexeme | None, language: Language) -> bool:
    return lexeme is not None and lexeme.code == "x" and lexeme.word not in language.small


def _is_attribute(before: Lexeme | None, lead: Lexeme | None, after: Lexeme | None, language: Language) -> bool:
    """Tell *the December report* from *in December*."""
    return before is not None and before is not lead and before.word in ARTICLES and _is_noun(after, language)


def _is_year(lead: Lexeme | None, before: Lexeme | None, after: Lexeme | None, language: Language) -> bool:
    """Tell *in 2024* from *in 2000 requests*, *in 2048 MB* and *port 2024*."""
    if after is not None and (after.code == "U" or after.word in MEASURES):
        return False
    if after is not None and after.word.endswith("s") and _is_noun(after, language):
        return False
    if lead is not None:
        return lead.word not in _NOT_BEFORE_A_YEAR
    return language.name == "German" and before is not None and before.word in _GERMAN_LEADS


def _is_month(month: Lexeme, lead: Lexeme, after: Lexeme | None, language: Language) -> bool:
    """Tell *before April* from *before April had left*, and *in March* from *at March*."""
    if lead.word in _NOT_BEFORE_A_MONTH:
        return False
    if month.word not in language.names:
        return True
    if lead.word in _NOT_BEFORE_A_NAME or lead.code == "t":
        return False
    acts = after is not None and (after.word in _PERSONAL or (after.code == "x" and after.word.endswith("ed")))
    return not (acts and lead.code != "i")
