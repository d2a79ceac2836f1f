"""
A ledger as a plain list of versions: the second opinion that ledgers are compared with.

Written from the rules and apart from the engine, for being obvious and not for being fast: every read is a scan, and an
interval is asked about instant by instant. It answers by the names of the real one, as far as declared memories go.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from oort_flows.errors import ConflictError, InvalidInputError, NotFoundError
from oort_flows.testing.ledger_versions import (
    News,
    PlainAnswer,
    PlainFact,
    PlainHit,
    PlainRecall,
    PlainVersion,
    slot_of,
    words,
)

__all__ = ["PlainHandle", "PlainLedger"]

_TICK = timedelta(microseconds=1)
_DAWN = datetime.min.replace(tzinfo=UTC)
_BUILT_IN = {"birthplace": "fixed", "born_in": "fixed", "speaks": "many"}


class PlainLedger:
    """
    The place where the versions of all spaces lie in one list.

    Parameters
    ----------
    clock:
        Tells the time, with a zone.
    vocabulary:
        How many values an attribute has: ``one``, ``many`` or ``fixed``.
    """

    handle_type: ClassVar[type[PlainHandle]]

    def __init__(self, *, clock: Callable[[], datetime], vocabulary: Mapping[str, str] | None = None) -> None:
        self._clock = clock
        self.vocabulary = _BUILT_IN | dict(vocabulary or {})
        self.versions: list[PlainVersion] = []
        self.confirmations: dict[str, int] = {}
        self.keys: dict[tuple[str, str | None, str], tuple[object, PlainAnswer]] = {}
        self._latest = _DAWN

    def scoped(
        self,
        *,
        user: str,
        agent: str | None = None,
        project: str | None = None,
        teams: Iterable[str] = (),
        keeps_star: bool = False,
    ) -> PlainHandle:
        """Give the handle of a user, and of an agent and teams where named."""
        planet, star = f"planet:{user}", f"star:{user}/{agent}"
        reads = [planet, *([star] if agent else []), *(f"constellation:{team}" for team in teams)]
        return self.handle_type(self, frozenset(reads), star if keeps_star else planet, project)

    def erase(self, *, scope: str | None = None, user: str | None = None, id: str | None = None) -> int:  # noqa: A002
        """Drop every version of a space, of a user or of one memory, and count them."""
        if sum(bool(given and given.strip()) for given in (scope, user, id)) != 1:
            raise InvalidInputError("scope", "name exactly one of scope, user and id")
        gone = [v for v in self.versions if v.space == scope or v.id == id or _belongs(v.space, user)]
        self.versions[:] = [v for v in self.versions if v not in gone]
        for place in [place for place in self.keys if place[0] == scope or _belongs(place[0], user)]:
            del self.keys[place]
        return len({v.id for v in gone})

    def now(self) -> datetime:
        """Tell the time, which never runs backwards."""
        return max(self._latest, self._clock())

    def stamp(self, changed: Iterable[PlainVersion] = ()) -> datetime:
        """Take the time of a write: now, and later than the recording of each version that it closes."""
        self._latest = max([self.now(), *(version.recorded_at + _TICK for version in changed)])
        return self._latest

    def close(self, old: PlainVersion, closing: str, now: datetime) -> None:
        """Close a version on the second clock."""
        self.versions[self.versions.index(old)] = replace(old, closed_at=now, closing=closing)

    def date_closings(self, versions: Iterable[PlainVersion], now: datetime) -> None:
        """Let versions that were just closed be closed at *now*."""
        closed = {(version.id, version.version) for version in versions}
        self.versions = [replace(v, closed_at=now) if (v.id, v.version) in closed else v for v in self.versions]

    def append(self, version: PlainVersion) -> None:
        """Add a version."""
        self.versions.append(version)

    def by_age(self) -> list[PlainVersion]:
        """List all versions, those of older memories first."""
        order = {id_: number for number, id_ in enumerate(dict.fromkeys(version.id for version in self.versions))}
        return sorted(self.versions, key=lambda version: (order[version.id], version.version))

    def last(self, memory: str) -> PlainVersion:
        """Return the version that stands for a memory: the believed one that holds last, else the newest."""
        versions = [version for version in self.versions if version.id == memory]
        believed = [version for version in versions if version.closed_at is None]
        return max(believed or versions, key=lambda v: (v.valid_from if believed else _DAWN, v.version))

    def status(self, memory: str) -> str:
        """Say how it stands with a memory."""
        last, now = self.last(memory), self.now()
        if last.closed_at is not None:
            return last.closing or "superseded"
        if last.valid_to is not None and last.valid_to <= now:
            return last.ending or "ended"
        return "expired" if last.expires_at is not None and last.expires_at <= now else "live"


class PlainHandle:
    """What one user, agent and project see and write."""

    def __init__(self, ledger: PlainLedger, reads: frozenset[str], writes: str, project: str | None) -> None:
        self._ledger = ledger
        self._reads = reads
        self._writes = writes
        self._project = project

    # Writing -------------------------------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        cardinality: str | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        key: str | None = None,
        **fields: Any,
    ) -> PlainAnswer:
        """Declare a fact."""
        said = (text, cardinality, valid_from, valid_to, sorted(fields.items(), key=str))
        before = self._ledger.keys.get((self._writes, self._project, key or ""))
        if before is not None:
            if before[0] != said:
                raise ConflictError("this key belongs to another write")
            return replace(before[1], duplicate=True)
        kind = cardinality or self._ledger.vocabulary.get(fields.get("attribute") or "", "one")
        new = News(text, valid_from or self._ledger.now(), valid_to, fields, kind, dated=valid_from is not None)
        answer = _answer(self._declare(new, self._writes, self._project))
        if key is not None:
            self._ledger.keys[self._writes, self._project, key] = (said, answer)
        return answer

    def correct(
        self, memory: str, text: str | None = None, *, value: str | None = None, valid_from: datetime | None = None
    ) -> PlainAnswer:
        """Replace a memory that never held by the one that did."""
        old, pieces = self._open(memory), self._believed(memory)
        fields = {name: getattr(old, name) for name in _CARRIED} | {"supersedes": (old.id,)}
        fields["value"] = value if value is not None else (None if text is not None else old.value)
        new = News(text or old.text, valid_from or pieces[0].valid_from, pieces[0].valid_to, fields, self._kind(old))
        new.check()
        at = self._ledger.stamp(pieces)
        for version in pieces:
            self._ledger.close(version, "corrected", at)
        fact = self._declare(new, old.space, old.project)
        # One write has one time: that of the closings is as late as that of the memory they make room for.
        self._ledger.date_closings(pieces, self._ledger.now())
        for number, piece in enumerate(pieces[1:] if fact.outcome != "reinforced" else [], 2):
            told = self._ledger.last(fact.id)
            times: dict[str, Any] = {"valid_from": piece.valid_from, "valid_to": piece.valid_to, "ending": piece.ending}
            self._ledger.append(replace(told, version=number, **times))
        return _answer(replace(fact, outcome="corrected", closed=(old.id, *fact.closed)))

    def end(self, memory: str, at: datetime | None = None) -> PlainAnswer:
        """Say that a fact stopped being true."""
        old = self._open(memory)
        stop = at or self._ledger.now()
        if stop <= old.valid_from or (old.end is not None and stop >= old.end):
            raise InvalidInputError("at", "has to lie inside the time in which the memory holds")
        self._take(old, stop, None, self._ledger.stamp([old]), "ended")
        return _answer(PlainFact(old.id, "ended", (old.id,)))

    def forget(self, memory: str) -> None:
        """Stop believing a memory."""
        if self._found(memory).closed_at is not None:
            raise InvalidInputError("id", "this memory is closed")
        pieces = self._believed(memory)
        at = self._ledger.stamp(pieces)
        for version in pieces:
            self._ledger.close(version, "forgotten", at)

    def share(self, memory: str, to: str) -> PlainAnswer:
        """Copy one memory into another space of the grant."""
        self._found(memory)
        if to not in self._reads:
            raise NotFoundError("no such space")
        old = self._open(memory)
        if to == old.space:
            raise InvalidInputError("to", "has to be another space than that of the memory")
        fields = {name: getattr(old, name) for name in _CARRIED} | {"origin": old.id}
        new = News(old.text, old.valid_from, old.valid_to, fields, self._kind(old))
        return _answer(self._declare(new, to, old.project))

    # Reading -------------------------------------------------------------------------------------------------------

    def get(self, memory: str) -> PlainVersion:
        """Return the version that stands for a memory."""
        return self._found(memory)

    def recall(
        self,
        query: str = "",
        *,
        mode: str | None = None,
        as_of: Any = None,
        known_at: Any = None,
        subject: str | None = None,
        attribute: str | None = None,
        limit: int | None = None,
    ) -> PlainRecall:
        """Scan for the versions that match, in one of the four modes."""
        if mode == "history":
            found = [v for v in self._ledger.versions if self._sees(v)]
        elif known_at is not None:
            pairs = [(t, k) for k in self._instants(known_at) for t in (self._instants(as_of) if as_of else [k])]
            found = self._seen_at(pairs)
        else:
            found = self._seen_at([(t, None) for t in (self._instants(as_of) if as_of else [self._ledger.now()])])
        wanted, asked = slot_of(subject, attribute), words(query)
        found = [v for v in found if (v.slot == wanted if wanted is not None else asked & words(v.text))]
        return PlainRecall(tuple(PlainHit(v, v.space) for v in found[:limit]), mode or "current")

    # What they share -----------------------------------------------------------------------------------------------

    def _sees(self, v: PlainVersion) -> bool:
        return v.space in self._reads and v.project in (None, self._project)

    def _seen_at(self, pairs: Iterable[tuple[datetime, datetime | None]]) -> list[PlainVersion]:
        """Union of what each pair of a world instant and a belief instant shows."""
        found: list[PlainVersion] = []
        for t, k in pairs:
            seen = [v for v in self._ledger.versions if self._sees(v) and v.believed_at(k) and v.holds_at(t)]
            own = {(v.space, v.slot) for v in seen if v.project is not None}
            for v in seen:
                shadowed = v.project is None and v.slot is not None and (v.space, v.slot) in own
                if not shadowed and v not in found:
                    found.append(v)
        return found

    def _instants(self, asked: Any) -> list[datetime]:
        """Instants that stand for an interval: nothing changes but where some version begins or ends."""
        if isinstance(asked, datetime):
            return [asked]
        first, last = asked
        marks = {
            t for v in self._ledger.versions for t in (v.valid_from, v.end, v.recorded_at, v.closed_at) if t is not None
        }
        return [first, *sorted(t for t in marks if first < t < last)]

    def _believed(self, memory: str) -> list[PlainVersion]:
        found = [v for v in self._ledger.versions if v.id == memory and v.closed_at is None]
        return sorted(found, key=lambda v: v.valid_from)

    def _found(self, memory: str) -> PlainVersion:
        if not any(v.id == memory and self._sees(v) for v in self._ledger.versions):
            raise NotFoundError("no such memory")
        return self._ledger.last(memory)

    def _open(self, memory: str) -> PlainVersion:
        last, now = self._found(memory), self._ledger.now()
        if last.closed_at is not None or (last.end is not None and last.end <= now):
            raise InvalidInputError("id", "this memory is closed")
        return last

    def _kind(self, version: PlainVersion) -> str:
        return self._ledger.vocabulary.get(version.attribute or "", "one")

    def _take(self, old: PlainVersion, start: datetime, stop: datetime | None, at: datetime, why: str, by: str = "") -> None:
        """Let *old* no longer hold from *start* to *stop*; what is left of it goes on as newer versions."""
        self._ledger.close(old, why, at)
        number = max(v.version for v in self._ledger.versions if v.id == old.id)
        left = replace(old, recorded_at=at, superseded_by=(by,) if by else ())
        if old.valid_from < start:
            number += 1
            self._ledger.append(replace(left, version=number, valid_to=start, ending=why))
        if stop is not None and (old.end is None or stop < old.end):
            self._ledger.append(replace(left, version=number + 1, valid_from=stop))

    def _declare(self, new: News, space: str, project: str | None) -> PlainFact:
        """Let a fact meet what is believed in its place."""
        new.check()
        now = self._ledger.now()
        believed = [v for v in self._ledger.by_age() if (v.space, v.project, v.closed_at) == (space, project, None)]
        live = [v for v in believed if v.end is None or v.end > now]
        peers = [v for v in believed if new.slot is not None and v.slot == new.slot]
        cover = [v for v in peers if v.holds_at(new.valid_from) and (new.kind != "many" or v.same == new.value)]
        later = sorted((v for v in peers if v.valid_from > new.valid_from), key=lambda v: v.valid_from)
        held = [v for v in cover if v.same == new.value and (later or v in live)]
        same = [v for v in live if v in peers and v.same == new.value and (new.kind == "fixed" or new.overlaps(v))]
        said = [v for v in live if new.is_said_by(v) and new.overlaps(v)]
        for again in (*held, *same, *said):
            self._ledger.stamp()
            self._ledger.confirmations[again.id] += 1
            return PlainFact(again.id, "reinforced")
        if new.kind == "fixed" and peers:
            return self._add(new, space, project, peers, [], [])
        return self._add(new, space, project, [], cover, [] if new.kind == "many" else later)

    def _add(
        self,
        new: News,
        space: str,
        project: str | None,
        wrong: list[PlainVersion],
        cover: list[PlainVersion],
        later: list[PlainVersion],
    ) -> PlainFact:
        """Make room for a fact that is news, and write it down."""
        memory, stop, ending, start = str(uuid.uuid4()), new.valid_to, None, new.valid_from
        at = self._ledger.stamp([*wrong, *cover])
        if later and (stop is None or later[0].valid_from < stop):
            stop, ending = later[0].valid_from, "superseded"
        for old in wrong:
            self._ledger.close(old, "corrected", at)
            start = start if new.dated else min(start, old.valid_from)
        exact = bool(wrong) or any(old.valid_from == start for old in cover)
        for old in cover:
            self._take(old, start, new.valid_to, at, "corrected" if exact else "superseded", memory)
        closed = tuple(dict.fromkeys(v.id for v in (*wrong, *cover)))
        fields: dict[str, Any] = {"supersedes": closed} | new.fields
        place: dict[str, Any] = {"space": space, "project": project, "ending": ending}
        times: dict[str, Any] = {"valid_from": start, "valid_to": stop, "recorded_at": at}
        self._ledger.append(PlainVersion(id=memory, version=1, text=new.text, **place, **times, **fields))
        self._ledger.confirmations[memory] = 1
        outcome = "corrected" if exact else "inserted" if later else "superseded" if closed else "added"
        return PlainFact(memory, outcome, closed)


PlainLedger.handle_type = PlainHandle

_CARRIED = ("type", "subject", "attribute", "value", "reason", "expert", "expires_at", "source")


def _answer(fact: PlainFact) -> PlainAnswer:
    return PlainAnswer(fact.outcome, (fact,))


def _belongs(space: str, user: str | None) -> bool:
    return user is not None and (space == f"planet:{user}" or space.startswith(f"star:{user}/"))
