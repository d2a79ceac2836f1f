"""
Export and import: a ledger as JSON Lines.

Each line is one memory with all its versions, on both clocks, and says what it is; times are ISO 8601 in UTC. Lines are
sorted, so that equal ledgers export equal files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any, Final, cast

from oort_flows.errors import ConflictError, InvalidInputError, OortError
from oort_flows.ledger.drafts import Place, slot_of
from oort_flows.models.clocks import OPEN, as_utc, from_micros, to_micros
from oort_flows.models.memories import MemoryType, Space, Status, Transferred
from oort_flows.storage import indexes
from oort_flows.storage import statements as st
from oort_flows.storage.folding import digest, sentence_keys, value_key
from oort_flows.storage.identifiers import is_id
from oort_flows.storage.sessions import Session, sql

__all__ = ["export", "import_", "records", "statuses"]

_FORMAT: Final = "oort-ledger/1"
_COLUMNS: Final = (
    "id", "space", "project", "type", "text", "subject", "attribute", "value", "cardinality", "reason", "expert", "source",
    "speaker", "context", "provenance", "origin",
)  # fmt: skip
_TIMES: Final = ("valid_from", "valid_to", "expires_at", "recorded_at", "closed_at")
_STANDING: Final = ("confirmations", "last_confirmed_at", "used", "last_used_at", "pinned", "importance", "tier")

_MEMORIES = sql(f"SELECT seq, {', '.join(_COLUMNS)} FROM oort_memories ORDER BY space, id")
_VERSIONS = sql(
    "SELECT v.version, v.valid_from, v.valid_to, v.expires_at, v.recorded_at, v.closed_at, v.ending, v.closing, o.kind, "
    "o.note "
    "FROM oort_versions v JOIN oort_operations o ON o.seq = v.opened_by WHERE v.memory = :memory ORDER BY v.version"
)
_STANDING_OF = sql(f"SELECT {', '.join(_STANDING)} FROM oort_standing WHERE memory = :memory")
_OLDER = sql(
    "SELECT x.id, l.kind FROM oort_links l JOIN oort_memories x ON x.seq = l.older WHERE l.newer = :memory ORDER BY x.id"
)
_SEQ_OF = sql("SELECT seq FROM oort_memories WHERE id = :id")
_KNOWN_VERSIONS = sql("SELECT version, closed_at FROM oort_versions WHERE memory = :memory")
_ADD_STANDING = sql(
    f"INSERT INTO oort_standing (memory, {', '.join(_STANDING)}) VALUES (:memory, {', '.join(':' + n for n in _STANDING)})"
)


def statuses(versions: Iterable[Any], now: int) -> Iterator[Status]:
    """Yield the status of each memory out of rows of its versions."""
    last: dict[int, tuple[tuple[bool, int, int], Any]] = {}
    for row in versions:
        memory, closed_at, valid_from, version = row[:4]
        rank = (closed_at == OPEN, valid_from if closed_at == OPEN else 0, version)
        if memory not in last or rank > last[memory][0]:
            last[memory] = (rank, row)
    for _, (_, _, _, _, closing, valid_to, ending, expires_at) in last.values():
        yield cast(
            "Status", closing or (ending or "ended" if valid_to <= now else "expired" if expires_at <= now else "live")
        )


def export(session: Session, target: str | Path | IO[str], spaces: Sequence[str] | None) -> int:
    """Write the memories of *spaces*, or all, and return how many."""
    count = 0
    with _opened(target, "w") as file:
        for row in session.all(_MEMORIES):
            plain = dict(zip(_COLUMNS, row[1:], strict=True))
            if spaces is None or plain["space"] in spaces:
                file.write(json.dumps(_record(session, row[0], plain), ensure_ascii=False, sort_keys=True) + "\n")
                count += 1
    return count


def records(source: str | Path | IO[str]) -> list[dict[str, Any]]:
    """
    Return the records of an export, checked.

    Raises
    ------
    InvalidInputError
        If it is none; the message names the line, and not what it says.
    """
    with _opened(source, "r") as file:
        return [_checked(line, number) for number, line in enumerate(file, 1) if line.strip()]


def import_(session: Session, found: Sequence[dict[str, Any]], clock: int) -> Transferred:
    """Write what is not here yet."""
    added = extended = unchanged = 0
    operation: int | None = None
    for record in found:
        row = session.one(_SEQ_OF, {"id": record["id"]})
        if row is not None:
            known = dict(session.all(_KNOWN_VERSIONS, {"memory": row[0]}))
            if all(known.get(v["version"]) == v["closed_at"] for v in record["versions"]):
                unchanged += 1
                continue
        if operation is None:
            operation = session.added(
                st.ADD_OPERATION,
                {"at": clock, "kind": "import", "space": None, "named": None, "key": None, "digest": None, "note": None},
            )
        try:
            if row is None:
                _add(session, record, operation)
                added += 1
            else:
                _extend(session, int(row[0]), known, record, operation)
                extended += 1
        except OortError:
            raise
        except Exception as error:
            if "oort_versions_overlap" in str(error):
                raise ConflictError("a memory of the import contradicts what is known here at the same time") from error
            raise
    for record in found:
        _link(session, record, operation)
    return Transferred(added, extended, unchanged)


def _record(session: Session, memory: int, plain: dict[str, Any]) -> dict[str, Any]:
    versions = []
    for number, *times, ending, closing, kind, note in session.all(_VERSIONS, {"memory": memory}):
        told = {name: _iso(at) for name, at in zip(_TIMES, times, strict=True)}
        versions.append({"version": number, **told, "ending": ending, "closing": closing, "operation": kind, "note": note})
    standing = session.one(_STANDING_OF, {"memory": memory})
    return {
        "format": _FORMAT,
        **plain,
        "provenance": json.loads(plain["provenance"]) if plain["provenance"] else None,
        "origin": json.loads(plain["origin"]) if plain["origin"] else None,
        "versions": versions,
        "standing": _told_standing(standing) if standing is not None else None,
        "supersedes": [{"id": id_, "kind": kind} for id_, kind in session.all(_OLDER, {"memory": memory})],
    }


def _told_standing(row: Sequence[Any]) -> dict[str, Any]:
    told = dict(zip(_STANDING, row, strict=True))
    for name in ("last_confirmed_at", "last_used_at"):
        told[name] = None if told[name] is None else _iso(told[name])
    return {**told, "pinned": bool(told["pinned"])}


def _iso(micros: int) -> str | None:
    instant = from_micros(micros)
    return None if instant is None else instant.isoformat()


def _opened(place: str | Path | IO[str], mode: str) -> Any:
    if not isinstance(place, (str, Path)):
        return nullcontext(place)
    try:
        return open(place, mode, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InvalidInputError("target" if mode == "w" else "source", "cannot be opened") from error


def _checked(line: str, number: int) -> dict[str, Any]:
    """Return one line as a record with times in microseconds; an unusable one names its line, not what it says."""
    try:
        record = json.loads(line)
        if record["format"] != _FORMAT or not is_id(record["id"]) or not record["versions"]:
            raise ValueError
        Space.parse(record["space"])
        MemoryType(record["type"])
        if not isinstance(record["text"], str) or record["cardinality"] not in ("one", "many", "fixed"):
            raise ValueError
        for version in record["versions"]:
            for name in _TIMES:
                at = version[name]
                version[name] = OPEN if at is None else to_micros(as_utc(at, name))
            version["version"] = int(version["version"])
        return dict(record)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInputError("source", f"line {number} is no record of {_FORMAT}") from error


def _add(session: Session, record: dict[str, Any], operation: int) -> None:
    place = Place(record["space"], record["project"])
    terms = indexes.terms_of(
        indexes.scope_of(place.space, place.project),
        (record["text"], record["subject"], record["attribute"], record["value"]),
        record["context"],
    )
    columns = {name: record[name] for name in _COLUMNS}
    sentence, frame = sentence_keys(record["text"])
    memory = session.added(
        st.ADD_MEMORY,
        {
            **columns,
            "provenance": json.dumps(record["provenance"], sort_keys=True) if record["provenance"] else None,
            "origin": json.dumps(record["origin"]) if record["origin"] else None,
            "same": digest(value_key(record["value"] or record["text"])),
            "frame": digest(place.space, place.project, frame),
            "sentence": digest(place.space, place.project, record["type"], record["expert"], sentence),
            "terms": indexes.pack(terms),
        },
    )
    for version in record["versions"]:
        _add_version(session, memory, record, version, operation)
    indexes.add(session, memory, terms)
    if record.get("standing"):
        session.run(_ADD_STANDING, {"memory": memory, **_standing(record["standing"])})


def _standing(told: dict[str, Any]) -> dict[str, Any]:
    times = {
        name: None if told[name] is None else to_micros(as_utc(told[name], name))
        for name in ("last_confirmed_at", "last_used_at")
    }
    return {**{name: told[name] for name in _STANDING}, **times, "pinned": int(told["pinned"])}


def _add_version(session: Session, memory: int, record: dict[str, Any], version: dict[str, Any], operation: int) -> None:
    slot = slot_of(Place(record["space"], record["project"]), record["subject"], record["attribute"])
    session.run(
        st.ADD_VERSION,
        {
            **{name: version[name] for name in ("version", *_TIMES, "ending", "closing")},
            "memory": memory,
            "slot": slot,
            "single": int(record["cardinality"] != "many"),
            "until": min(version["valid_to"], version["expires_at"]),
            "opened_by": operation,
            "closed_by": None if version["closing"] is None else operation,
        },
    )


def _extend(session: Session, memory: int, known: dict[int, int], record: dict[str, Any], operation: int) -> None:
    """Close versions that were closed since, and append those that came since; anything else is a contradiction."""
    for version in sorted(record["versions"], key=lambda v: (v["recorded_at"], v["version"])):
        closed_at = known.get(version["version"])
        if closed_at is None:
            _add_version(session, memory, record, version, operation)
        elif closed_at == OPEN and version["closed_at"] != OPEN:
            session.run(
                st.CLOSE_VERSION,
                {
                    "memory": memory,
                    "version": version["version"],
                    "at": version["closed_at"],
                    "closing": version["closing"],
                    "operation": operation,
                },
            )
        elif closed_at != version["closed_at"] and version["closed_at"] != OPEN:
            raise ConflictError("a memory of the import went another way here")


def _link(session: Session, record: dict[str, Any], operation: int | None) -> None:
    if operation is None or not record.get("supersedes"):
        return
    newer = session.one(_SEQ_OF, {"id": record["id"]})
    for older in record["supersedes"]:
        row = session.one(_SEQ_OF, {"id": older["id"]})
        if newer is not None and row is not None:
            session.run(st.ADD_LINK, {"newer": newer[0], "older": row[0], "kind": older["kind"], "operation": operation})
