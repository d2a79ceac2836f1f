"""
The full-text index of both engines.

It holds folded tokens and finds memories that share any of them with a query. How well they fit is judged elsewhere, by
rules that are the same for both; the index only says which of very many to look at first.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from oort_flows.storage.folding import digest, tokens
from oort_flows.storage.sessions import Session, Statement, sql

__all__ = [
    "Candidate",
    "Terms",
    "Wanted",
    "add",
    "add_many",
    "candidates",
    "pack",
    "scope_of",
    "take_out",
    "terms_of",
    "unpack",
]

Terms = tuple[str, str, str]
"""Where a memory belongs, the tokens of the fact, and those of its context; tokens are joined by spaces."""

Candidate = tuple[int, bytes, str | None, str | None, str | None]
"""The row of a memory, its packed terms, and its subject, attribute and value."""

_WORTH: Final = 256
_MOST: Final = 20_000
"""Tokens of one text that are indexed; beyond lies no sentence but a document."""

_ADD: Final = {
    "sqlite": sql("INSERT INTO oort_index (rowid, scope, fact, context) VALUES (:memory, :scope, :fact, :context)"),
    "postgresql": sql("INSERT INTO oort_index (memory, terms) VALUES (:memory, array_to_tsvector(:terms::text[]))"),
}
_TAKE_OUT: Final = {
    "sqlite": sql(
        "INSERT INTO oort_index (oort_index, rowid, scope, fact, context) "
        "VALUES ('delete', :memory, :scope, :fact, :context)"
    ),
    "postgresql": sql("DELETE FROM oort_index WHERE memory = :memory"),
}


@lru_cache(maxsize=256)
def scope_of(space: str, project: str | None) -> str:
    """Return the token that stands for a space and project in the index; no text has such a token."""
    return "§" + digest(space, project).hex()


def terms_of(scope: str, fact: Iterable[str | None], context: str | None) -> Terms:
    """Return what the index is to hold of a memory: the tokens of all parts of *fact*, each part once."""
    # No token goes across a line.
    found = tokens("\n".join(dict.fromkeys(part for part in fact if part)))
    return scope, " ".join(found[:_MOST]), " ".join(tokens(context)[:_MOST]) if context else ""


def pack(terms: Terms) -> bytes:
    """Return *terms* as bytes, to be kept beside the row; compressed, where that is worth it."""
    plain = "\n".join(terms).encode()
    return b"=" + plain if len(plain) < _WORTH else b"z" + zlib.compress(plain, 1)


def unpack(packed: bytes) -> Terms:
    """Return what :func:`pack` was given."""
    plain = packed[1:] if packed[:1] == b"=" else zlib.decompress(packed[1:])
    scope, fact, context = plain.decode().split("\n")
    return scope, fact, context


def add(session: Session, memory: int, terms: Terms) -> None:
    """Put a memory into the index."""
    session.run(_ADD[session.dialect], _arguments(session, memory, terms))


def add_many(session: Session, rows: Iterable[tuple[int, Terms]]) -> None:
    """Put memories into the index."""
    session.run_many(_ADD[session.dialect], [_arguments(session, memory, terms) for memory, terms in rows])


def take_out(session: Session, rows: Iterable[tuple[int, Terms]]) -> None:
    """Take memories out of the index; SQLite has to be told what it had put in."""
    session.run_many(_TAKE_OUT[session.dialect], [_arguments(session, memory, terms) for memory, terms in rows])


@dataclass(frozen=True, slots=True)
class Wanted:
    """
    What a search looks for.

    Attributes
    ----------
    terms:
        A memory has to have any of these tokens.
    names:
        ... and, where there are any, one of these.
    must:
        ... and all of these, in the fact itself.
    scopes:
        Where it looks, as :func:`scope_of` spells it.
    about:
        ... and, where there are any, all of one of these, in the fact itself.
    """

    terms: Sequence[str]
    names: Sequence[str]
    must: Sequence[str]
    scopes: Sequence[str]
    about: Sequence[Sequence[str]] = ()


def candidates(session: Session, wanted: Wanted, when: str, arguments: dict[str, int], limit: int) -> list[Candidate]:
    """
    Return rows, packed terms and slots of what is *wanted* and has a version as in *when*.

    Where there are more than *limit*, the engine's own rank chooses, and among equals the content; never the row.
    """
    given: dict[str, object] = {**arguments, **_match(session.dialect, wanted)}
    ranks = session.all(_ranked(session.dialect, when), {**given, "limit": limit + 1})
    if len(ranks) > limit and ranks[limit][1] == ranks[limit - 1][1]:
        return session.all(_by_content(session.dialect, when), {**given, "limit": limit})
    rows = [row for row, _ in ranks[:limit]]
    if not rows:
        return []
    found = session.all(_terms(len(rows)), {f"row{number}": row for number, row in enumerate(rows)})
    by_row = {candidate[0]: candidate for candidate in found}
    return [by_row[row] for row in rows]


def _match(dialect: str, wanted: Wanted) -> dict[str, str]:
    if dialect == "sqlite":
        parts = [f"scope:({_any_of(wanted.scopes)})", f"{{fact context}}:({_any_of(wanted.terms)})"]
        parts += [f"{{fact context}}:({_any_of(wanted.names)})"] if wanted.names else []
        one_of = " OR ".join(f"({' AND '.join(_quoted(name))})" for name in wanted.about)
        parts += [f"fact:({one_of})"] if one_of else []
        return {"match": " AND ".join([*parts, *(f'fact:"{term}"' for term in wanted.must)])}
    any_of = " | ".join(map(_lexeme, wanted.terms))
    parts = [" | ".join(map(_lexeme, wanted.scopes)), any_of]
    parts += [" | ".join(map(_lexeme, wanted.names))] if wanted.names else []
    parts += [" | ".join(f"({' & '.join(map(_lexeme, name))})" for name in wanted.about)] if wanted.about else []
    return {"match": " & ".join([*(f"({part})" for part in parts), *map(_lexeme, wanted.must)]), "any": any_of}


def _arguments(session: Session, memory: int, terms: Terms) -> dict[str, object]:
    scope, fact, context = terms
    if session.dialect == "sqlite":
        return {"memory": memory, "scope": scope, "fact": fact, "context": context}
    return {"memory": memory, "terms": [scope, *{*fact.split(), *context.split()}]}


def _any_of(terms: Sequence[str]) -> str:
    return " OR ".join(_quoted(terms))


def _quoted(terms: Sequence[str]) -> list[str]:
    return [f'"{term}"' for term in terms]


def _lexeme(term: str) -> str:
    return f"'{term}'"


def _shown(memory: str, when: str) -> str:
    return f"EXISTS (SELECT 1 FROM oort_versions v WHERE v.memory = {memory} AND {when})"


_RANK: Final = {
    "sqlite": "bm25(oort_index, 0.0, 1.0, 0.5)",
    "postgresql": "-ts_rank(i.terms, :any::tsquery)",
}
# By code points, as they are compared elsewhere.
_TEXT: Final = {"sqlite": "m.text", "postgresql": 'm.text COLLATE "C"'}
_ROW: Final = {"sqlite": "i.rowid", "postgresql": "i.memory"}
_MATCHES: Final = {"sqlite": "oort_index MATCH :match", "postgresql": "i.terms @@ :match::tsquery"}


@cache
def _ranked(dialect: str, when: str) -> Statement:
    # Types are filtered by the memory, which is joined only then.
    row, joined = _ROW[dialect], f"JOIN oort_memories m ON m.seq = {_ROW[dialect]} " if "m." in when else ""
    return sql(
        f"SELECT {row}, {_RANK[dialect]} AS rank FROM oort_index i {joined}"
        f"WHERE {_MATCHES[dialect]} AND {_shown(row, when)} ORDER BY rank LIMIT :limit"
    )


@cache
def _by_content(dialect: str, when: str) -> Statement:
    return sql(
        "SELECT m.seq, m.terms, m.subject, m.attribute, m.value FROM oort_index i "
        f"JOIN oort_memories m ON m.seq = {_ROW[dialect]} "
        f"WHERE {_MATCHES[dialect]} AND {_shown('m.seq', when)} "
        f"ORDER BY {_RANK[dialect]}, {_TEXT[dialect]}, m.same LIMIT :limit"
    )


@cache
def _terms(count: int) -> Statement:
    names = ", ".join(f":row{number}" for number in range(count))
    return sql(f"SELECT seq, terms, subject, attribute, value FROM oort_memories WHERE seq IN ({names})")
