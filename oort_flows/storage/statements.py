"""
The statements of a ledger, by what they are for.

Both engines read the same text. A row that becomes a memory always has the columns of :data:`MEMORY`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from oort_flows.models.clocks import OPEN
from oort_flows.storage.sessions import Statement, sql

__all__: list[str] = []

# Operations ------------------------------------------------------------------------------------------------------------

LAST_OPERATION: Final = sql("SELECT at FROM oort_operations ORDER BY seq DESC LIMIT 1")
OPERATION_OF_KEY: Final = sql("SELECT digest, answer FROM oort_operations WHERE named = :named")
ADD_OPERATION: Final = sql(
    "INSERT INTO oort_operations (at, kind, space, named, key, digest, note) "
    "VALUES (:at, :kind, :space, :named, :key, :digest, :note) RETURNING seq"
)
ANSWER_OPERATION: Final = sql("UPDATE oort_operations SET answer = :answer WHERE seq = :operation")
OPERATIONS_OF: Final = sql(
    "SELECT o.kind, o.at, o.key, o.note FROM oort_operations o WHERE o.seq IN ("
    "SELECT opened_by FROM oort_versions WHERE memory = :memory UNION "
    "SELECT closed_by FROM oort_versions WHERE memory = :memory) ORDER BY o.at, o.seq"
)

# What a new fact meets -------------------------------------------------------------------------------------------------

_KNOWN: Final = (
    "SELECT v.memory, m.id, v.version, m.same, v.valid_from, v.valid_to, v.expires_at, v.until, v.recorded_at, v.ending "
)
_PEERS: Final = (
    f"{_KNOWN}FROM oort_versions v JOIN oort_memories m ON m.seq = v.memory "
    f"WHERE v.slot = :slot AND v.closed_at = {OPEN} AND v.until > :t "
)
_BY_AGE: Final = "ORDER BY v.memory, v.version"
PEERS_NOT_OVER: Final = sql(f"{_PEERS}{_BY_AGE}")
PEERS_NOT_OVER_SAME: Final = sql(f"{_PEERS}AND m.same = :same {_BY_AGE}")
PEERS_AT: Final = sql(f"{_PEERS}AND v.valid_from <= :t {_BY_AGE}")
PEERS_AT_SAME: Final = sql(f"{_PEERS}AND v.valid_from <= :t AND m.same = :same {_BY_AGE}")
PEER_NEXT: Final = sql(f"{_PEERS}AND v.valid_from > :t ORDER BY v.valid_from LIMIT 1")

_REPEATED: Final = (
    f"{_KNOWN}FROM oort_memories m JOIN oort_versions v ON v.memory = m.seq AND v.closed_at = {OPEN} AND v.until > :now "
    "WHERE m.sentence = :sentence"
)
REPEATED: Final = sql(f"{_REPEATED} {_BY_AGE}")
REPEATED_IN_SLOT: Final = sql(f"{_REPEATED} AND (v.slot IS NULL OR (v.slot = :slot AND m.same = :same)) {_BY_AGE}")
# Only the newest are looked at: of a sentence that was said with ten thousand numbers, most are over.
NEARLY_EQUAL: Final = sql(
    "SELECT m.id FROM (SELECT seq, id, sentence FROM oort_memories WHERE frame = :frame ORDER BY seq DESC LIMIT 8) m "
    f"JOIN oort_versions v ON v.memory = m.seq AND v.closed_at = {OPEN} AND v.until > :now "
    "WHERE m.sentence <> :sentence ORDER BY m.seq"
)

NEWEST_OF_FRAME: Final = sql(
    f"SELECT m.id, m.sentence, EXISTS (SELECT 1 FROM oort_versions v WHERE v.memory = m.seq AND v.closed_at = {OPEN} "
    "AND v.until > :now) FROM oort_memories m WHERE m.frame = :frame ORDER BY m.seq DESC LIMIT 8"
)

# Writing ---------------------------------------------------------------------------------------------------------------

ADD_MEMORY: Final = sql(
    "INSERT INTO oort_memories (id, space, project, type, text, subject, attribute, value, cardinality, same, frame, "
    "sentence, reason, expert, source, speaker, context, provenance, origin, terms) VALUES (:id, :space, :project, :type, "
    ":text, :subject, :attribute, :value, :cardinality, :same, :frame, :sentence, :reason, :expert, :source, :speaker, "
    ":context, :provenance, :origin, :terms) RETURNING seq"
)
ADD_VERSION: Final = sql(
    "INSERT INTO oort_versions (memory, version, slot, single, valid_from, valid_to, expires_at, until, ending, "
    "recorded_at, closed_at, closing, opened_by, closed_by) VALUES (:memory, :version, :slot, :single, :valid_from, "
    ":valid_to, :expires_at, :until, :ending, :recorded_at, :closed_at, :closing, :opened_by, :closed_by)"
)
ADD_NUMBERED_OPERATION: Final = sql("INSERT INTO oort_operations (seq, at, kind, space) VALUES (:seq, :at, :kind, :space)")
ADD_NUMBERED_MEMORY: Final = sql(
    "INSERT INTO oort_memories (seq, id, space, project, type, text, subject, attribute, value, cardinality, same, frame, "
    "sentence, reason, expert, source, speaker, context, provenance, origin, terms) VALUES (:seq, :id, :space, :project, "
    ":type, :text, :subject, :attribute, :value, :cardinality, :same, :frame, :sentence, :reason, :expert, :source, "
    ":speaker, :context, :provenance, :origin, :terms)"
)
CLOSE_VERSION: Final = sql(
    "UPDATE oort_versions SET closed_at = :at, closing = :closing, closed_by = :operation "
    f"WHERE memory = :memory AND version = :version AND closed_at = {OPEN}"
)
LAST_VERSION: Final = sql("SELECT max(version) FROM oort_versions WHERE memory = :memory")
PLACE_OF_VERSION: Final = sql("SELECT slot, single FROM oort_versions WHERE memory = :memory AND version = :version")
ADD_LINK: Final = sql(
    "INSERT INTO oort_links (newer, older, kind, operation) VALUES (:newer, :older, :kind, :operation) "
    "ON CONFLICT (newer, older) DO NOTHING"
)
CONFIRM: Final = sql(
    "INSERT INTO oort_standing (memory, confirmations, last_confirmed_at) VALUES (:memory, 2, :at) ON CONFLICT (memory) "
    "DO UPDATE SET confirmations = oort_standing.confirmations + 1, last_confirmed_at = excluded.last_confirmed_at"
)
PIN: Final = sql(
    "INSERT INTO oort_standing (memory, pinned) VALUES (:memory, :pinned) "
    "ON CONFLICT (memory) DO UPDATE SET pinned = excluded.pinned"
)
USE: Final = sql(
    "INSERT INTO oort_standing (memory, used, last_used_at) SELECT seq, :count, :at FROM oort_memories WHERE seq = :memory "
    "ON CONFLICT (memory) DO UPDATE SET used = oort_standing.used + excluded.used, last_used_at = excluded.last_used_at"
)

# Reading memories ------------------------------------------------------------------------------------------------------

_LINK: Final = "(SELECT LIST(x.id) FROM oort_links l JOIN oort_memories x ON x.seq = l.{this} WHERE l.{that} = m.seq)"
MEMORY: Final = (
    "SELECT m.seq, v.slot, v.until, v.ending, v.closing, m.id, v.version, m.type, m.text, m.space, m.project, m.subject, "
    "m.attribute, m.value, m.cardinality, m.reason, m.expert, v.valid_from, v.valid_to, v.expires_at, v.recorded_at, "
    "v.closed_at, s.confirmations, s.last_confirmed_at, s.used, s.last_used_at, s.pinned, s.importance, s.tier, m.source, "
    f"m.speaker, m.provenance, m.origin, {_LINK.format(this='older', that='newer')}, "
    f"{_LINK.format(this='newer', that='older')} "
    "FROM oort_versions v JOIN oort_memories m ON m.seq = v.memory LEFT JOIN oort_standing s ON s.memory = m.seq "
)
VERSIONS_OF_ID: Final = sql(f"{MEMORY}WHERE m.id = :id ORDER BY v.version")
BELIEVED_OF: Final = sql(
    f"{_KNOWN}FROM oort_versions v JOIN oort_memories m ON m.seq = v.memory "
    f"WHERE v.memory = :memory AND v.closed_at = {OPEN} ORDER BY v.valid_from"
)
LINKED: Final = sql(
    "SELECT x.id, 'older' FROM oort_links l JOIN oort_memories x ON x.seq = l.older WHERE l.newer = :memory UNION ALL "
    "SELECT x.id, 'newer' FROM oort_links l JOIN oort_memories x ON x.seq = l.newer WHERE l.older = :memory"
)
CONTEXT_OF: Final = sql("SELECT context FROM oort_memories WHERE seq = :memory")

BELIEVED: Final = f"v.closed_at = {OPEN} AND v.until > :t0 AND v.valid_from < :t1"
"""What holds at some time from t0 to before t1, as far as is believed now."""
KNOWN: Final = "v.recorded_at < :k1 AND v.closed_at > :k0 AND v.until > :t0 AND v.valid_from < :t1"
"""... as far as was believed at some time from k0 to before k1."""
KNOWN_THEN: Final = f"{KNOWN} AND v.recorded_at < v.until AND v.valid_from < v.closed_at"
"""... of the very time at which it was believed. Three stretches share an instant if each two of them do."""
HELD: Final = "v.until > :t0 AND v.valid_from < :t1"
"""What was ever said to hold at some time from t0 to before t1."""
EVER: Final = "1 = 1"


@cache
def known(column: str, count: int) -> Statement:
    """Return the statement that tells which of *count* slots, sentences or frames are taken."""
    names = ", ".join(f":d{number}" for number in range(count))
    if column == "slot":
        return sql(f"SELECT DISTINCT slot FROM oort_versions WHERE slot IN ({names}) AND closed_at = {OPEN}")
    return sql(f"SELECT DISTINCT {column} FROM oort_memories WHERE {column} IN ({names})")


@cache
def rows_of_ids(count: int) -> Statement:
    """Return the statement that looks up *count* memories by id."""
    names = ", ".join(f":d{number}" for number in range(count))
    return sql(f"SELECT id, seq FROM oort_memories WHERE id IN ({names})")


NUMBERS: Final = {
    "sqlite": {
        table: sql(f"SELECT coalesce(max(seq), 0) + 1 FROM {table}") for table in ("oort_memories", "oort_operations")
    },
    "postgresql": {
        table: sql(f"SELECT nextval(pg_get_serial_sequence('{table}', 'seq')) FROM generate_series(1, :count)")
        for table in ("oort_memories", "oort_operations")
    },
}
"""The next number of a table; on PostgreSQL as many as are wanted."""


@cache
def slots(count: int, when: str) -> Statement:
    """Return the statement that reads *count* slots."""
    names = ", ".join(f":slot{number}" for number in range(count))
    return sql(f"{MEMORY}WHERE v.slot IN ({names}) AND {when}")


@cache
def rows(count: int, when: str) -> Statement:
    """Return the statement that reads the versions of *count* memories by row."""
    names = ", ".join(f":row{number}" for number in range(count))
    return sql(f"{MEMORY}WHERE m.seq IN ({names}) AND {when}")
