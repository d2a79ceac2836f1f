"""
The full-text index of both engines.

It holds folded tokens and finds memories that share any of them with a query. How well they fit is judged elsewhere, by
rules that are the same for both; the index only says which of very many to look at first.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from oort_flows.storage.folding import digest, tokens
from oort_flows.storage.sessions import Session, Statement, sql

__all__ = ["Terms", "add", "candidates", "pack", "scope_of", "take_out", "terms_of", "unpack"]

Terms = tuple[str, str, str]
"""Where a memory belongs, the tokens of the fact, and those of its context; tokens are joined by spaces."""

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


def scope_of(space: str, project: str | None) -> str:
    """Return the token that stands for a space and project in the index; no text has such a token."""
    return "§" + digest(space, project).hex()


def terms_of(scope: str, fact: Iterable[str | None], context: str | None) -> Terms:
    """Return what the index is to hold of a memory: the tokens of all parts of *fact*, each part once."""
    found: list[str] = []
    for part in dict.fromkeys(part for part in fact if part):
        found += tokens(part)
    return scope, " ".join(found[:_MOST]), " ".join(tokens(context)[:_MOST]) if context else ""


def pack(terms: Terms) -> bytes:
    """Return *terms* compressed, to be kept beside the row."""
    return zlib.compress("\n".join(terms).encode(), 1)


def unpack(packed: bytes) -> Terms:
    """Return what :func:`pack` was given."""
    scope, fact, context = zlib.decompress(packed).decode().split("\n")
    return scope, fact, context


def add(session: Session, memory: int, terms: Terms) -> None:
    """Put a memory into the index."""
    session.run(_ADD[session.dialect], _arguments(session, memory, terms))


def take_out(session: Session, memory: int, terms: Terms) -> None:
    """Take a memory out of the index; SQLite has to be told what it had put in."""
    session.run(_TAKE_OUT[session.dialect], _arguments(session, memory, terms))


def candidates(
    session: Session,
    terms: Sequence[str],
    must: Sequence[str],
    scopes: Sequence[str],
    when: str,
    arguments: dict[str, int],
    limit: int,
) -> list[tuple[int, bytes]]:
    """
    Return rows and packed terms of memories in *scopes*, with any of *terms*, all of *must*, and a version as in *when*.

    Where there are more than *limit*, the engine's own rank chooses, and among equals the content; never the row.
    """
    given: dict[str, object] = {**arguments, "limit": limit}
    if session.dialect == "sqlite":
        wanted = [f"scope:({_any_of(scopes)})", f"{{fact context}}:({_any_of(terms)})", *(f'fact:"{term}"' for term in must)]
        given["match"] = " AND ".join(wanted)
    else:
        given["any"] = " | ".join(map(_lexeme, terms))
        wanted = [f"({' | '.join(map(_lexeme, scopes))})", f"({given['any']})", *map(_lexeme, must)]
        given["match"] = " & ".join(wanted)
    return session.all(_search(session.dialect, when), given)


def _arguments(session: Session, memory: int, terms: Terms) -> dict[str, object]:
    scope, fact, context = terms
    if session.dialect == "sqlite":
        return {"memory": memory, "scope": scope, "fact": fact, "context": context}
    return {"memory": memory, "terms": [scope, *{*fact.split(), *context.split()}]}


def _any_of(terms: Sequence[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)


def _lexeme(term: str) -> str:
    return f"'{term}'"


@cache
def _search(dialect: str, when: str) -> Statement:
    matches = f"EXISTS (SELECT 1 FROM oort_versions v WHERE v.memory = m.seq AND {when})"
    if dialect == "sqlite":
        return sql(
            "SELECT m.seq, m.terms FROM oort_index i JOIN oort_memories m ON m.seq = i.rowid "
            f"WHERE oort_index MATCH :match AND {matches} "
            "ORDER BY bm25(oort_index, 0.0, 1.0, 0.5), m.sentence, m.same LIMIT :limit"
        )
    return sql(
        "SELECT m.seq, m.terms FROM oort_index i JOIN oort_memories m ON m.seq = i.memory "
        f"WHERE i.terms @@ :match::tsquery AND {matches} "
        "ORDER BY ts_rank(i.terms, :any::tsquery) DESC, m.sentence, m.same LIMIT :limit"
    )
