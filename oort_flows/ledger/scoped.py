"""A ledger for one user: what a handle writes, reads and takes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final, TypeVar

from oort_flows.engine.prompts import recall_block
from oort_flows.errors import InvalidInputError, NotFoundError, StorageError
from oort_flows.ledger import bulk, erasing, handwork, receipts, uses, writing
from oort_flows.ledger.drafts import Draft, Place, checked_text, draft_of
from oort_flows.ledger.explaining import explanation
from oort_flows.ledger.house import House
from oort_flows.ledger.questions import Question, checked_budget, checked_limit, checked_types, question_of
from oort_flows.ledger.reading import Filters, Found, find, latest, rows_of_id
from oort_flows.ledger.replaying import Seen
from oort_flows.ledger.twins import Twins
from oort_flows.models.clocks import as_instant, to_micros
from oort_flows.models.memories import Budget, Explanation, Hit, Memory, MemoryType, Mode, Observed, Recall, Space
from oort_flows.scrubbing import scrub, scrub_all
from oort_flows.storage.folding import digest
from oort_flows.storage.grants import Grant
from oort_flows.storage.identifiers import is_id
from oort_flows.storage.rows import Stored, memory_of
from oort_flows.storage.sessions import Session

T = TypeVar("T")

__all__ = ["ScopedLedger", "checked_id"]

_REMEMBERED: Final = frozenset(
    (
        *("text", "type", "subject", "attribute", "value", "cardinality", "valid_from", "valid_to", "expires_at"),
        *("source", "speaker", "context", "pinned", "key"),
    )
)


class ScopedLedger(Twins):
    """
    A ledger as one user sees it, with an agent, a project and teams where they were named.

    Made by :meth:`oort_flows.ledger.Ledger.scoped`. It may be shared by threads, and survives a fork. Every method has a
    twin whose name starts with ``a``, for async code.

    Attributes
    ----------
    reads, writes:
        The spaces it reads, and the one it writes to.
    project:
        Its project, or ``None``.
    """

    def __init__(self, house: House, grant: Grant, provenance: Mapping[str, Any] | None = None) -> None:
        self._house = house
        self._grant = grant
        self._provenance = MappingProxyType(dict(provenance or {}))
        self._place = Place(str(grant.writes), grant.project)
        self.reads: tuple[Space, ...] = grant.reads
        self.writes: Space = grant.writes
        self.project: str | None = grant.project

    def __repr__(self) -> str:
        return f"ScopedLedger(writes={str(self.writes)!r}, project={self.project!r})"

    # Writing -----------------------------------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        type: str = MemoryType.SEMANTIC,  # noqa: A002 - the name that memories use
        subject: str | None = None,
        attribute: str | None = None,
        value: str | None = None,
        cardinality: str | None = None,
        valid_from: object = None,
        valid_to: object = None,
        expires_at: object = None,
        source: str | None = None,
        speaker: str | None = None,
        context: str | None = None,
        pinned: bool = False,
        key: str | None = None,
    ) -> Observed:
        """
        Declare a fact.

        Parameters
        ----------
        text:
            The fact as a sentence.
        subject, attribute, value, cardinality:
            The slot it fills, where it has one, and whether that holds ``one`` value at a time, ``many`` or a ``fixed`` one.
        valid_from, valid_to:
            When it holds: datetimes or ISO dates; from now on, if left out.
        expires_at:
            When it is of no use any more.
        source, speaker, context:
            Who said it, who spoke, and the turn before.
        key:
            Names this operation: said again with the same key, it happens once.

        Raises
        ------
        InvalidInputError
            If an argument is unusable.
        ConflictError
            If the key was used for something else.
        """
        draft = self._draft(
            text=text,
            type=type,
            subject=subject,
            attribute=attribute,
            value=value,
            cardinality=cardinality,
            valid_from=valid_from,
            valid_to=valid_to,
            expires_at=expires_at,
            source=source,
            speaker=speaker,
            context=context,
            pinned=pinned,
        )
        return self._declare([(draft, self._keyed(key, draft))], "remember")[0]

    def remember_many(self, facts: Iterable[Mapping[str, Any]]) -> Observed:
        """
        Declare facts, one after another and all or none; each is a mapping of the arguments of :meth:`remember`.

        Raises
        ------
        InvalidInputError
            If one of them is unusable; then none is written.
        """
        drafts = []
        for fact in _listed(facts):
            fields = dict(fact)
            key = fields.pop("key", None)
            draft = self._draft(**fields)
            drafts.append((draft, self._keyed(key, draft)))
        answers = self._declare(drafts, "remember")
        told = tuple(fact for answer in answers for fact in answer.facts)
        duplicate = bool(answers) and all(answer.duplicate for answer in answers)
        return Observed("observed" if told else "nothing", told, duplicate)

    def judge(
        self,
        text: str,
        *,
        reason: str,
        expert: str,
        subject: str | None = None,
        attribute: str | None = None,
        value: str | None = None,
        cardinality: str | None = None,
        valid_from: object = None,
        valid_to: object = None,
        expires_at: object = None,
        source: str | None = None,
        speaker: str | None = None,
        context: str | None = None,
        pinned: bool = False,
        key: str | None = None,
    ) -> Observed:
        """
        Declare a judgment: what was decided, why, and on whose word. It is never inferred and never evicted.

        The other arguments are those of :meth:`remember`.
        """
        draft = self._draft(
            operation="judge",
            type=MemoryType.JUDGMENT,
            text=text,
            reason="" if reason is None else reason,
            expert="" if expert is None else expert,
            subject=subject,
            attribute=attribute,
            value=value,
            cardinality=cardinality,
            valid_from=valid_from,
            valid_to=valid_to,
            expires_at=expires_at,
            source=source,
            speaker=speaker,
            context=context,
            pinned=pinned,
        )
        return self._declare([(draft, self._keyed(key, draft))], "judge")[0]

    def correct(
        self,
        id: str,  # noqa: A002 - the name that memories use
        text: str | None = None,
        *,
        value: str | None = None,
        valid_from: object = None,
        reason: str | None = None,
    ) -> Observed:
        """
        Replace a memory that never held by the one that did; what is not named stays as it was.

        Raises
        ------
        NotFoundError
            If there is no such memory here.
        InvalidInputError
            If nothing is to change, or the memory is closed.
        """
        if text is None and value is None and valid_from is None:
            raise InvalidInputError("text", "or value or valid_from must be given: a correction changes something")
        correction = handwork.Correction(
            text=None if text is None else checked_text(text, "text"),
            value=None if value is None else checked_text(value, "value"),
            valid_from=None if valid_from is None else as_instant(valid_from, "valid_from", self._house.zone),
            note=None if reason is None else scrub(checked_text(reason, "reason")),
        )
        return self._by_hand(id, lambda session, rows, now: handwork.correct(session, self._house, rows, correction, now))

    def end(self, id: str, at: object = None) -> Observed:  # noqa: A002
        """
        Say that a fact stopped holding, *at* some time or now.

        Raises
        ------
        NotFoundError
            If there is no such memory here.
        InvalidInputError
            If it is closed, or did not hold at that time.
        """
        moment = None if at is None else to_micros(as_instant(at, "at", self._house.zone))
        return self._by_hand(id, lambda session, rows, now: handwork.end(session, rows, moment, now))

    def forget(self, id: str) -> Memory:  # noqa: A002
        """Stop believing a memory, and return it as it is now; it is learned again only if it is said anew."""
        self._by_hand(id, handwork.forget)
        return self.get(id)

    def pin(self, id: str) -> Memory:  # noqa: A002
        """Keep a memory at hand and safe from eviction, and return it."""
        self._by_hand(id, lambda session, rows, now: handwork.pin(session, rows, now, pinned=True))
        return self.get(id)

    def unpin(self, id: str) -> Memory:  # noqa: A002
        """Take the pin off a memory, and return it."""
        self._by_hand(id, lambda session, rows, now: handwork.pin(session, rows, now, pinned=False))
        return self.get(id)

    def share(self, id: str, to: str) -> Observed:  # noqa: A002
        """
        Copy one memory into another space of this handle, with its origin; there it is reconciled like any other news.

        Raises
        ------
        NotFoundError
            If there is no such memory or no such space here.
        InvalidInputError
            If *to* is no name of a space, or the memory is closed.
        """
        target = Space.parse(to, "to")
        return self._by_hand(
            id,
            lambda session, rows, now: handwork.share(session, self._house, self._grant, rows, target, now),
            also=Place(str(target), None),
        )

    def erase(self, *, id: str) -> int:  # noqa: A002
        """
        Erase one memory with all its versions, physically, and return how many memories that were: one.

        Raises
        ------
        NotFoundError
            If there is no such memory here.
        """
        memory = checked_id(id)

        def work(session: Session) -> int:
            rows_of_id(session, self._grant, memory)
            return erasing.erase_memories(session, memory)

        count = self._house.database.transact(work, [digest(memory)])
        erasing.swept(self._house.database)
        return count

    # Reading -----------------------------------------------------------------------------------------------------------

    def get(self, id: str) -> Memory:  # noqa: A002
        """
        Return a memory: the version that holds last of those that are believed, else its newest.

        Raises
        ------
        NotFoundError
            If there is no such memory here.
        """
        memory = checked_id(id)
        with self._house.database.reading() as session:
            now = self._present(session)
            return self._shown(latest(rows_of_id(session, self._grant, memory)), now)

    def recall(
        self,
        query: str,
        *,
        mode: Mode | None = None,
        as_of: object = None,
        known_at: object = None,
        subject: str | None = None,
        attribute: str | None = None,
        types: Iterable[str] | None = None,
        limit: int = 10,
        budget: int | Budget | None = None,
        run: str | None = None,
    ) -> Recall:
        """
        Find what is known; nothing where nothing is known.

        Parameters
        ----------
        query:
            A question. Without *mode*, *as_of* and *known_at* it also says which way of recalling is meant.
        mode:
            ``current``, ``as_of``, ``history`` or ``known_at``.
        as_of, known_at:
            A time of the world, and a time of the ledger's knowledge: a datetime, an ISO date for the whole day, or a pair.
        subject, attribute:
            What it is about; both together read the slot.
        limit:
            The most hits; in a history, the most memories that a search finds.
        budget:
            The most code points of the prompt block, or a :class:`~oort_flows.models.memories.Budget`.
        run:
            Leaves a receipt under this name, to be read by :meth:`as_seen_by`.

        Raises
        ------
        InvalidInputError
            If an argument is unusable.
        """
        chosen = checked_limit(limit)
        allowed = checked_budget(budget)
        filters = self._filters(subject, attribute, types)
        question = question_of(query, mode, as_of, known_at, self._house.now(), self._house.zone)
        recalled, rows, now = self._recall(question, filters, chosen, allowed)
        if rows and self._house.uses.add(dict.fromkeys(rows), now):
            self._write_uses()
        if run is not None:
            asked = self._asked(query, mode, as_of, known_at, filters, chosen, allowed)
            name = checked_text(run, "run", 512)
            said = scrub(query)
            self._house.database.transact(
                lambda session: receipts.keep(session, name, self._grant, now, asked, said, recalled, rows)
            )
        return recalled

    def history(self, query: str) -> Recall:
        """
        Return all versions of one memory, by its id, or of all that a query finds, in time order.

        Raises
        ------
        NotFoundError
            If *query* is an id and there is no such memory here.
        """
        if not isinstance(query, str):
            raise InvalidInputError("query", "must be an id or a query")
        if is_id(query.strip()):
            return self._history_of(query.strip())
        question = question_of(query, "history", None, None, self._house.now(), self._house.zone)
        return self._recall(question, Filters(), None, None)[0]

    def explain(self, id: str) -> Explanation:  # noqa: A002
        """
        Tell how a memory came to be as it is.

        Raises
        ------
        NotFoundError
            If there is no such memory here.
        """
        memory = checked_id(id)
        with self._house.database.reading() as session:
            now = self._present(session)
            return explanation(session, self._grant, rows_of_id(session, self._grant, memory), now)

    def as_seen_by(self, run: str) -> Seen:
        """
        Return the ledger as a run saw it.

        What that run asked is answered from its receipts, byte for byte; what it never asked, by what was known when it
        began.

        Raises
        ------
        InvalidInputError
            If *run* is no name.
        """
        return Seen(checked_text(run, "run", 512), self._as_seen)

    # What they share ---------------------------------------------------------------------------------------------------

    def _draft(self, **said: Any) -> Draft:
        return draft_of(self._place, self._house.vocabulary, self._house.zone, provenance=self._provenance, **said)

    def _keyed(self, key: object, draft: Draft) -> writing.Keyed | None:
        if key is None:
            return None
        named = scrub(checked_text(key, "key", 1024))
        return writing.Keyed(named, digest(self._place.space, self._place.project, named), draft.said)

    def _declare(self, drafts: list[tuple[Draft, writing.Keyed | None]], kind: str) -> list[Observed]:
        if not drafts:
            return []
        clock = to_micros(self._house.now())

        def work(session: Session) -> list[Observed]:
            if len(drafts) == 1:
                return [writing.declare_once(session, *drafts[0], clock, kind)]
            return bulk.declare_all(session, drafts, clock, kind)

        return self._house.database.transact(work, [lock for draft, keyed in drafts for lock in _locks(draft, keyed)])

    def _by_hand(
        self,
        id_: object,
        work: Callable[[Session, list[Stored], int], T],
        also: Place | None = None,
    ) -> T:
        memory = checked_id(id_)
        clock = to_micros(self._house.now())
        with self._house.database.reading() as session:
            locks = handwork.locks(rows_of_id(session, self._grant, memory), also)

        def touch(session: Session) -> T:
            rows = rows_of_id(session, self._grant, memory)
            return work(session, rows, writing.present(session, clock))

        return self._house.database.transact(touch, locks)

    def _history_of(self, memory: str) -> Recall:
        with self._house.database.reading() as session:
            now = self._present(session)
            rows = rows_of_id(session, self._grant, memory)
        rows.sort(key=lambda row: (row.valid_from, row.recorded_at, row.version))
        found = [Found(row, 1.0, ("has this id",)) for row in rows]
        return self._recalled(Question("history", "", "asks for one memory"), found, now, None)

    def _present(self, session: Session) -> int:
        return writing.present(session, to_micros(self._house.now()))

    def _filters(self, subject: object, attribute: object, types: object) -> Filters:
        named = {"subject": subject, "attribute": attribute}
        given = {name: checked_text(value, name) for name, value in named.items() if value is not None}
        # What is stored is scrubbed, so what it is looked up by has to be too.
        clean = dict(zip(given, scrub_all(list(given.values())), strict=True)) if given else {}
        return Filters(clean.get("subject"), clean.get("attribute"), checked_types(types))

    def _recall(
        self, question: Question, filters: Filters, limit: int | None, budget: Budget | None
    ) -> tuple[Recall, list[int], int]:
        with self._house.database.reading() as session:
            now = self._present(session)
            found = find(session, self._grant, question, filters, limit, now)
        return self._recalled(question, found, now, budget), [hit.row.seq for hit in found], now

    def _recalled(self, question: Question, found: list[Found], now: int, budget: Budget | None) -> Recall:
        hits = tuple(Hit(self._shown(hit.row, now), hit.score, hit.reasons) for hit in found)
        return Recall(
            hits,
            question.mode,
            question.world or question.known,
            question.why,
            recall_block((hit.memory for hit in hits), budget),
            question.known,
        )

    def _shown(self, row: Stored, now: int) -> Memory:
        count, at = self._house.uses.of(row.seq)
        if count:
            row = row._replace(used=(row.used or 0) + count, last_used_at=at)
        return memory_of(row, now)

    def _as_seen(
        self,
        run: str,
        query: str,
        *,
        mode: Mode | None = None,
        as_of: object = None,
        known_at: object = None,
        subject: str | None = None,
        attribute: str | None = None,
        types: Iterable[str] | None = None,
        limit: int = 10,
        budget: int | Budget | None = None,
    ) -> Recall:
        chosen, allowed = checked_limit(limit), checked_budget(budget)
        filters = self._filters(subject, attribute, types)
        with self._house.database.reading() as session:
            asked = self._asked(query, mode, as_of, known_at, filters, chosen, allowed)
            told = receipts.replayed(session, run, asked)
            began = receipts.began(session, run, self._grant)
        if told is not None:
            return told
        question = question_of(query, mode, as_of, known_at, began, self._house.zone)
        return self._recall(receipts.question_at(question, began), filters, chosen, allowed)[0]

    def _asked(
        self,
        query: str,
        mode: str | None,
        as_of: object,
        known_at: object,
        filters: Filters,
        limit: int,
        budget: Budget | None,
    ) -> bytes:
        told = {
            "query": query,
            "mode": mode,
            "as_of": repr(as_of),
            "known_at": repr(known_at),
            "subject": filters.subject,
            "attribute": filters.attribute,
            "types": filters.types,
            "limit": limit,
            "budget": None if budget is None else budget.limit,
        }
        return receipts.asked_of(self._grant, told)

    def _write_uses(self) -> None:
        taken = self._house.uses.take()
        # A count is not worth a failed read: where nothing can be written, it is dropped.
        with suppress(StorageError):
            self._house.database.transact(lambda session: uses.write(session, taken))


def _locks(draft: Draft, keyed: writing.Keyed | None) -> list[bytes]:
    found = [draft.slot, draft.columns["sentence"], keyed.named if keyed else None]
    return [lock for lock in found if lock is not None]


def _listed(facts: object) -> list[Mapping[str, Any]]:
    if isinstance(facts, (str, bytes, Mapping)) or not isinstance(facts, Iterable):
        raise InvalidInputError("facts", "must be a list of mappings")
    listed = list(facts)
    for fact in listed:
        if not isinstance(fact, Mapping) or "text" not in fact:
            raise InvalidInputError("facts", "must hold mappings with a text")
        if not _REMEMBERED.issuperset(fact):
            raise InvalidInputError("facts", "hold a field that remember does not take")
    return listed


def checked_id(value: object) -> str:
    """Return *value* if it can be an id; what is written like none is unknown, as any other that nobody has."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInputError("id", "must be the id of a memory")
    if not is_id(value):
        raise NotFoundError("no such memory")
    return value
