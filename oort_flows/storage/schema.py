"""
The tables of a ledger.

Times are microseconds since 1970 in UTC, so that both engines compare them exactly; an end that has not come is the largest
64-bit integer. A memory's text and slot stand in ``oort_memories`` and never change. Its versions are narrow rows with the
two clocks; ``until`` is the earlier of ``valid_to`` and ``expires_at``. What moves often stands in ``oort_standing``, which
has a row only for a memory that was confirmed, used or pinned. What would be a wrong history is refused by the database.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    Text,
    text,
)

from oort_flows.models.clocks import OPEN
from oort_flows.models.memories import MemoryType, Tier

__all__ = ["HEAD", "LOCKS", "LOCK_SPACE", "METADATA", "REVISIONS", "full_text", "guards"]

REVISIONS: Final = ("0001",)
"""Every revision of the schema, oldest first, as the scripts in ``migrations/versions`` name them."""
HEAD: Final = REVISIONS[-1]

LOCK_SPACE: Final = 20_567
LOCKS: Final = 1_024
"""Advisory locks on PostgreSQL are numbers below this, in a space of their own; a slot's is that of its first two bytes."""

METADATA: Final = MetaData()
_KEYED: Final = text("named IS NOT NULL")
_SEQUENCE: Final = BigInteger().with_variant(Integer, "sqlite")


def _one_of(column: str, values: type[MemoryType | Tier]) -> str:
    return f"{column} IN ({', '.join(repr(str(value)) for value in values)})"


Table(
    "oort_schema",
    METADATA,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="oort_schema_pkc"),
)

Table(
    "oort_operations",
    METADATA,
    Column("seq", _SEQUENCE, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("space", Text),
    Column("named", LargeBinary, comment="digest of space, project and key"),
    Column("key", Text),
    Column("digest", LargeBinary, comment="of what was said under the key"),
    Column("answer", Text),
    Column("note", Text),
    Index("oort_operations_named", "named", unique=True, sqlite_where=_KEYED, postgresql_where=_KEYED),
)

Table(
    "oort_memories",
    METADATA,
    Column("seq", _SEQUENCE, primary_key=True),
    Column("id", String(36), nullable=False),
    Column("space", Text, nullable=False),
    Column("project", Text),
    Column("type", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("subject", Text),
    Column("attribute", Text),
    Column("value", Text),
    Column("cardinality", String(8), nullable=False),
    Column("same", LargeBinary, nullable=False, comment="digest of the value, or of the text where there is none"),
    Column("frame", LargeBinary, nullable=False, comment="digest of place and text without numbers, names, negations"),
    Column("sentence", LargeBinary, nullable=False, comment="digest of place and text, up to what says nothing"),
    Column("reason", Text),
    Column("expert", Text),
    Column("source", Text),
    Column("speaker", Text),
    Column("context", Text),
    Column("provenance", Text),
    Column("origin", Text),
    Column("terms", LargeBinary, nullable=False, comment="what the index holds, compressed, to take it out again"),
    Index("oort_memories_id", "id", unique=True),
    Index("oort_memories_sentence", "sentence"),
    Index("oort_memories_frame", "frame", "seq"),
    CheckConstraint(_one_of("type", MemoryType), name="oort_memories_type"),
    CheckConstraint("cardinality IN ('one', 'many', 'fixed')", name="oort_memories_cardinality"),
    CheckConstraint("type <> 'judgment' OR (reason IS NOT NULL AND expert IS NOT NULL)", name="oort_memories_judgment"),
)

Table(
    "oort_versions",
    METADATA,
    Column("memory", BigInteger, ForeignKey("oort_memories.seq"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("slot", LargeBinary, comment="digest of space, project, subject and attribute"),
    Column("single", SmallInteger, nullable=False, comment="1 where the slot holds one value at a time"),
    Column("valid_from", BigInteger, nullable=False),
    Column("valid_to", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("ending", String(16), comment="why valid_to is where it is"),
    Column("recorded_at", BigInteger, nullable=False),
    Column("closed_at", BigInteger, nullable=False),
    Column("closing", String(16)),
    Column("opened_by", BigInteger, ForeignKey("oort_operations.seq"), nullable=False),
    Column("closed_by", BigInteger, ForeignKey("oort_operations.seq")),
    PrimaryKeyConstraint("memory", "version"),
    Index("oort_versions_slot", "slot", "closed_at", "until", "valid_from"),
    CheckConstraint("version >= 1", name="oort_versions_version"),
    CheckConstraint("valid_from < until", name="oort_versions_valid"),
    CheckConstraint("until = CASE WHEN expires_at < valid_to THEN expires_at ELSE valid_to END", name="oort_versions_until"),
    CheckConstraint("recorded_at < closed_at", name="oort_versions_believed"),
    CheckConstraint(
        f"(closed_at = {OPEN}) = (closing IS NULL) AND (closing IS NULL) = (closed_by IS NULL)",
        name="oort_versions_closing",
    ),
    sqlite_with_rowid=False,
)

Table(
    "oort_standing",
    METADATA,
    Column("memory", _SEQUENCE, ForeignKey("oort_memories.seq"), primary_key=True, autoincrement=False),
    Column("confirmations", Integer, nullable=False, server_default=text("1")),
    Column("last_confirmed_at", BigInteger),
    Column("used", Integer, nullable=False, server_default=text("0")),
    Column("last_used_at", BigInteger),
    Column("pinned", SmallInteger, nullable=False, server_default=text("0")),
    Column("importance", Float, nullable=False, server_default=text("0.5")),
    Column("tier", String(8), nullable=False, server_default=text("'warm'")),
    CheckConstraint(_one_of("tier", Tier), name="oort_standing_tier"),
)

Table(
    "oort_links",
    METADATA,
    Column("newer", BigInteger, ForeignKey("oort_memories.seq"), nullable=False),
    Column("older", BigInteger, ForeignKey("oort_memories.seq"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("operation", BigInteger, ForeignKey("oort_operations.seq"), nullable=False),
    PrimaryKeyConstraint("newer", "older"),
    Index("oort_links_older", "older"),
    sqlite_with_rowid=False,
)

Table(
    "oort_tombstones",
    METADATA,
    Column("id", String(36), primary_key=True),
    Column("space", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("reason", String(16), nullable=False),
)

Table(
    "oort_receipts",
    METADATA,
    Column("seq", _SEQUENCE, primary_key=True),
    Column("run", Text, nullable=False),
    Column("space", Text, nullable=False, comment="the space that the reader writes to"),
    Column("at", BigInteger, nullable=False),
    Column("asked", LargeBinary, nullable=False, comment="digest of the grant, the query and the arguments"),
    Column("body", LargeBinary, nullable=False, comment="the answer, compressed"),
    Column("erased", Integer, nullable=False, server_default=text("0")),
    Index("oort_receipts_run", "run", "asked"),
)

Table(
    "oort_receipt_hits",
    METADATA,
    Column("receipt", BigInteger, ForeignKey("oort_receipts.seq"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("memory", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    PrimaryKeyConstraint("receipt", "place"),
    Index("oort_receipt_hits_memory", "memory"),
    sqlite_with_rowid=False,
)

Table(
    "oort_journal",
    METADATA,
    Column("operation", BigInteger, ForeignKey("oort_operations.seq"), primary_key=True, autoincrement=False),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started", BigInteger, nullable=False),
)

_NEVER_CHANGES: Final = (
    "memory",
    "version",
    "single",
    "valid_from",
    "valid_to",
    "expires_at",
    "until",
    "recorded_at",
    "opened_by",
)
_MAY_BE_NULL: Final = ("slot", "ending")

# Two versions of a single-valued slot clash where both clocks overlap. What is believed now is looked up apart from what
# was believed once: the index leads straight to it, however long the history is.
_OVERLAP: Final = f"""EXISTS (
    SELECT 1 FROM oort_versions v WHERE v.slot = NEW.slot AND v.closed_at = {OPEN} AND v.single = 1
    AND v.until > NEW.valid_from AND v.valid_from < NEW.until AND v.recorded_at < NEW.closed_at
) OR EXISTS (
    SELECT 1 FROM oort_versions v WHERE v.slot = NEW.slot AND v.closed_at > NEW.recorded_at AND v.closed_at < {OPEN}
    AND v.single = 1 AND v.until > NEW.valid_from AND v.valid_from < NEW.until AND v.recorded_at < NEW.closed_at
)"""


def _unlawful_change(differs: str) -> str:
    changed = [f"OLD.{name} <> NEW.{name}" for name in _NEVER_CHANGES]
    changed += [f"OLD.{name} {differs} NEW.{name}" for name in _MAY_BE_NULL]
    return f"OLD.closed_at <> {OPEN} OR NEW.closed_at = {OPEN} OR {' OR '.join(changed)}"


def guards(dialect: str) -> list[str]:
    """Return the statements that make *dialect* refuse a wrong history: overlapping values, versions that change."""
    if dialect == "sqlite":
        return [
            f"CREATE TRIGGER oort_versions_overlap BEFORE INSERT ON oort_versions WHEN NEW.single = 1 AND ({_OVERLAP}) "
            "BEGIN SELECT RAISE(ABORT, 'oort_versions_overlap'); END",
            f"CREATE TRIGGER oort_versions_change BEFORE UPDATE ON oort_versions WHEN {_unlawful_change('IS NOT')} "
            "BEGIN SELECT RAISE(ABORT, 'oort_versions_change'); END",
        ]
    differs = "IS DISTINCT FROM"
    return [
        f"""CREATE FUNCTION oort_versions_overlap() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock({LOCK_SPACE}, (get_byte(NEW.slot, 0) * 256 + get_byte(NEW.slot, 1)) % {LOCKS});
    IF {_OVERLAP} THEN
        RAISE EXCEPTION 'oort_versions_overlap' USING ERRCODE = 'exclusion_violation';
    END IF;
    RETURN NEW;
END $$""",
        "CREATE TRIGGER oort_versions_overlap BEFORE INSERT ON oort_versions FOR EACH ROW WHEN (NEW.single = 1) "
        "EXECUTE FUNCTION oort_versions_overlap()",
        """CREATE FUNCTION oort_versions_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'oort_versions_change' USING ERRCODE = 'check_violation';
END $$""",
        f"CREATE TRIGGER oort_versions_change BEFORE UPDATE ON oort_versions FOR EACH ROW "
        f"WHEN ({_unlawful_change(differs)}) EXECUTE FUNCTION oort_versions_change()",
    ]


_FULL_TEXT: Final = {
    # The tokens are folded already: this tokenizer only cuts at spaces. The table keeps no text of its own.
    "sqlite": ["CREATE VIRTUAL TABLE oort_index USING fts5(scope, fact, context, content='', tokenize='ascii')"],
    "postgresql": [
        "CREATE TABLE oort_index (memory BIGINT PRIMARY KEY REFERENCES oort_memories (seq), terms TSVECTOR NOT NULL)",
        "CREATE INDEX oort_index_terms ON oort_index USING gin (terms)",
    ],
}


def full_text(dialect: str) -> list[str]:
    """Return the statements that create the full-text index of *dialect*."""
    return _FULL_TEXT[dialect]
