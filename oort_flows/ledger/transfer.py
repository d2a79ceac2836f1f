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
from oort_flows.ledger.bulk import chunks, numbers
from oort_flows.ledger.drafts import Place, folded, slot_of
from oort_flows.models.clocks import OPEN, as_utc, from_micros, to_micros
from oort_flows.models.memories import MemoryType, Space, Status, Transferred
from oort_flows.storage import indexes
from oort_flows.storage import statements as st
from oort_flows.storage.identifiers import is_id
from oort_flows.storage.sessions import Session, sql

__all__ = ["export", "import_", "records", "slots", "statuses"]

_FORMAT: Final = "oort-ledger/1"
_COLUMNS: Final = (
    "id", "space", "project", "type", "text", "subject", "attribute", "value", "cardinality", "reason", "expert", "source",
    "speaker", "context", "provenance", "origin",
)  # fmt: skip
_FIELDS: Final = ("subject", "attribute", "value", "source", "speaker", "context", "reason", "expert")
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


def slots(found: Iterable[dict[str, Any]]) -> list[bytes]:
    """Return the slots that *found* records fill."""
    filled = {slot_of(Place(record["space"], record["project"]), record["subject"], record["attribute"]) for record in found}
    return [slot for slot in filled if slot is not None]


def import_(session: Session, found: Sequence[dict[str, Any]], clock: int) -> Transferred:
    """Write what is not here yet, in one operation."""
    rows = _rows_of(session, [record["id"] for record in found])
    fresh = list({record["id"]: record for record in found if record["id"] not in rows}.values())
    grown = [record for record in found if record["id"] in rows and not _is_here(session, rows[record["id"]], record)]
    if not fresh and not grown:
        return Transferred(unchanged=len(found))
    (operation,) = numbers(session, "oort_operations", 1)
    session.run(st.ADD_NUMBERED_OPERATION, {"seq": operation, "at": clock, "kind": "import", "space": None})
    try:
        rows |= _add(session, fresh, operation)
        for record in grown:
            _extend(session, rows[record["id"]], record, operation)
    except OortError:
        raise
    except Exception as error:
        if "oort_versions_overlap" in str(error):
            raise ConflictError("a memory of the import contradicts what is known here at the same time") from error
        raise
    _link(session, [*fresh, *grown], rows, operation)
    return Transferred(len(fresh), len(grown), len(found) - len(fresh) - len(grown))


def _rows_of(session: Session, ids: Sequence[str]) -> dict[str, int]:
    """Return the rows of those memories that are here."""
    rows: dict[str, int] = {}
    for chunk in chunks(ids):
        given = {f"d{number}": id_ for number, id_ in enumerate(chunk)}
        rows.update(session.all(st.rows_of_ids(len(chunk)), given))
    return rows


def _is_here(session: Session, memory: int, record: dict[str, Any]) -> bool:
    known = dict(session.all(_KNOWN_VERSIONS, {"memory": memory}))
    return all(known.get(version["version"]) == version["closed_at"] for version in record["versions"])


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


def _add(session: Session, fresh: Sequence[dict[str, Any]], operation: int) -> dict[str, int]:
    """Write memories that are not here yet, and return their rows."""
    if not fresh:
        return {}
    rows = numbers(session, "oort_memories", len(fresh))
    columns, terms = [], []
    for row, record in zip(rows, fresh, strict=True):
        place = Place(record["space"], record["project"])
        told, indexed = folded(place, record["type"], record["text"], {name: record[name] for name in _FIELDS})
        told |= {name: record[name] for name in ("id", "cardinality")}
        told["seq"] = row
        told["provenance"] = json.dumps(record["provenance"], sort_keys=True) if record["provenance"] else None
        told["origin"] = json.dumps(record["origin"]) if record["origin"] else None
        columns.append(told)
        terms.append(indexed)
    session.run_many(st.ADD_NUMBERED_MEMORY, columns)
    added = list(zip(rows, fresh, strict=True))
    versions = [_version(row, record, version, operation) for row, record in added for version in record["versions"]]
    session.run_many(st.ADD_VERSION, versions)
    indexes.add_many(session, zip(rows, terms, strict=True))
    standing = [{"memory": row, **_standing(record["standing"])} for row, record in added if record.get("standing")]
    session.run_many(_ADD_STANDING, standing)
    return {record["id"]: row for row, record in added}


def _standing(told: dict[str, Any]) -> dict[str, Any]:
    times = {
        name: None if told[name] is None else to_micros(as_utc(told[name], name))
        for name in ("last_confirmed_at", "last_used_at")
    }
    return {**{name: told[name] for name in _STANDING}, **times, "pinned": int(told["pinned"])}


def _version(memory: int, record: dict[str, Any], version: dict[str, Any], operation: int) -> dict[str, Any]:
    return {
        **{name: version[name] for name in ("version", *_TIMES, "ending", "closing")},
        "memory": memory,
        "slot": next(iter(slots([record])), None),
        "single": int(record["cardinality"] != "many"),
        "until": min(version["valid_to"], version["expires_at"]),
        "opened_by": operation,
        "closed_by": None if version["closing"] is None else operation,
    }


def _extend(session: Session, memory: int, record: dict[str, Any], operation: int) -> None:
    """Close versions that were closed since, and append those that came since; anything else is a contradiction."""
    known = dict(session.all(_KNOWN_VERSIONS, {"memory": memory}))
    for version in sorted(record["versions"], key=lambda v: (v["recorded_at"], v["version"])):
        closed_at = known.get(version["version"])
        if closed_at is None:
            session.run(st.ADD_VERSION, _version(memory, record, version, operation))
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


def _link(session: Session, found: Sequence[dict[str, Any]], rows: dict[str, int], operation: int) -> None:
    """Write down what replaced what, where both are here."""
    told = [(record["id"], link) for record in found for link in record.get("supersedes") or ()]
    rows = rows | _rows_of(session, [link["id"] for _, link in told if link["id"] not in rows])
    session.run_many(
        st.ADD_LINK,
        [
            {"newer": rows[newer], "older": rows[link["id"]], "kind": link["kind"], "operation": operation}
            for newer, link in told
            if link["id"] in rows
        ],
    )
