"""A ledger before it is scoped: opening it, and what concerns all of it."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, Any
from weakref import finalize

from oort_flows.calling import in_thread
from oort_flows.errors import ConfigurationError, StorageError
from oort_flows.ledger import erasing, transfer, uses, writing
from oort_flows.ledger.house import House
from oort_flows.ledger.scoped import ScopedLedger, checked_id
from oort_flows.ledger.vocabulary import Vocabulary
from oort_flows.models.clocks import Clock, to_micros, utc_now, zone_of
from oort_flows.models.memories import Stats, Transferred
from oort_flows.storage.creation import prepare
from oort_flows.storage.databases import open_database
from oort_flows.storage.folding import digest
from oort_flows.storage.grants import grant_of
from oort_flows.storage.sessions import Session, sql

__all__ = ["Ledger"]

_MEMORIES = sql(
    "SELECT m.space, m.type, coalesce(s.tier, 'warm') FROM oort_memories m LEFT JOIN oort_standing s ON s.memory = m.seq"
)
_VERSIONS = sql("SELECT memory, closed_at, valid_from, version, closing, valid_to, ending, expires_at FROM oort_versions")


class Ledger:
    """
    Memories on two clocks, in one place.

    It is scoped before anybody reads or writes: who it is for comes from application code, never from a text or a model.

    Example
    -------
    >>> import tempfile
    >>> with Ledger.open(f"sqlite:///{tempfile.mkdtemp()}/ledger.db") as ledger:
    ...     memory = ledger.scoped(user="siv")
    ...     said = memory.remember("billing listens on 8100", subject="billing", attribute="port", value="8100")
    ...     said.outcome, [hit.memory.value for hit in memory.recall("which port does billing use").hits]
    ('added', ['8100'])
    """

    def __init__(self, house: House) -> None:
        self._house = house
        self._closing = finalize(self, house.database.close)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        clock: Clock | None = None,
        zone: str = "UTC",
        vocabulary: Mapping[str, str] | None = None,
        embedder: object = None,
        cold: object = None,
    ) -> Ledger:
        """
        Open the ledger at *url*, and create it if there is none.

        Parameters
        ----------
        url:
            ``sqlite:///<file>`` or ``postgresql+psycopg://<host>/<database>``.
        clock:
            Tells the time; the machine's, if left out.
        zone:
            The time zone in which words such as "today" and bare dates are meant.
        vocabulary:
            ``one``, ``many`` or ``fixed`` by attribute, beyond what is built in.
        embedder, cold:
            Not supported yet; must be ``None``.

        Raises
        ------
        ConfigurationError
            If an argument is unusable, or a newer version of this package wrote the ledger.
        StorageError
            If the database cannot be opened or is no ledger.
        """
        if embedder is not None or cold is not None:
            raise ConfigurationError("embedder and cold must be None: this ledger searches by words and keeps all at hand")
        if clock is not None and not callable(clock):
            raise ConfigurationError("clock must be a function that returns a datetime")
        if not isinstance(zone, str):
            raise ConfigurationError("zone must be the name of a time zone, such as UTC or Europe/Oslo")
        house = House(open_database(url), clock or utc_now, zone_of(zone), Vocabulary(vocabulary), uses.Uses())
        try:
            prepare(house.database)
        except BaseException:
            house.database.close()
            raise
        return cls(house)

    def scoped(
        self,
        *,
        user: str,
        agent: str | None = None,
        project: str | None = None,
        teams: Iterable[str] = (),
        keeps_star: bool = False,
        provenance: Mapping[str, Any] | None = None,
    ) -> ScopedLedger:
        """
        Return a handle for *user*.

        It reads the user's planet, the agent's own star and the constellations of *teams*; it writes to the planet, or to
        the star with *keeps_star*. With a *project* it sees that project's memories and the global ones.

        Parameters
        ----------
        provenance:
            Kept with every memory it writes: flow run, commit, file and the like, as plain JSON values.

        Raises
        ------
        InvalidInputError
            If a name is none.
        """
        return ScopedLedger(self._house, grant_of(user, agent, project, teams, keeps_star), provenance)

    def erase(self, *, scope: str | None = None, user: str | None = None, id: str | None = None) -> int:  # noqa: A002
        """
        Erase a space, all of a user, or one memory: from rows, index, receipts, free pages and log.

        What a user shared with a team belongs to the team and stays.

        Returns
        -------
        int
            How many memories are gone.

        Raises
        ------
        InvalidInputError
            Unless exactly one of the three is named.
        NotFoundError
            If there is no memory of this id.
        StorageUnavailableError
            If all is erased, but others read an earlier state for so long that the log still holds it.
        """
        erasing.checked_scope(scope, user, id)

        def work(session: Session) -> int:
            if id is not None:
                return erasing.erase_memories(session, checked_id(id))
            return erasing.erase_spaces(session, erasing.spaces_of(session, scope, user))

        count = self._house.database.transact(work, [digest("erase")])
        erasing.swept(self._house.database)
        return count

    def stats(self) -> Stats:
        """Return how much there is, by space, type, tier and status."""
        counts: dict[str, dict[str, int]] = {name: {} for name in ("space", "type", "tier", "status")}
        with self._house.database.reading() as session:
            now = writing.present(session, to_micros(self._house.now()))
            memories = session.all(_MEMORIES)
            versions = session.all(_VERSIONS)
        for row in memories:
            for name, found in zip(("space", "type", "tier"), row, strict=True):
                counts[name][found] = counts[name].get(found, 0) + 1
        for status in transfer.statuses(versions, now):
            counts["status"][status] = counts["status"].get(status, 0) + 1
        views = [MappingProxyType(dict(sorted(counts[name].items()))) for name in ("space", "type", "tier", "status")]
        return Stats(len(memories), len(versions), *views)

    def export(self, target: str | Path | IO[str], *, scope: str | None = None, user: str | None = None) -> int:
        """
        Write memories as JSON Lines, with all versions and both clocks, and return how many.

        Parameters
        ----------
        target:
            A path, or a file that is open for text.
        scope, user:
            Keeps to one space, or to one user's; all, if left out.
        """
        self.flush()
        spaces = None
        with self._house.database.reading() as session:
            if scope is not None or user is not None:
                erasing.checked_scope(scope, user, None)
                spaces = erasing.spaces_of(session, scope, user)
            return transfer.export(session, target, spaces)

    def import_(self, source: str | Path | IO[str]) -> Transferred:
        """
        Read what :meth:`export` wrote; what is here already stays, so importing twice changes nothing.

        Raises
        ------
        InvalidInputError
            If *source* is no export; then nothing is written.
        ConflictError
            If a memory of it contradicts what is known here; then nothing is written.
        """
        records = transfer.records(source)
        clock = to_micros(self._house.now())
        locks = [digest("import"), *transfer.slots(records)]
        return self._house.database.transact(lambda session: transfer.import_(session, records, clock), locks)

    def flush(self) -> None:
        """Write what is counted but not written yet."""
        taken = self._house.uses.take()
        if taken:
            self._house.database.transact(lambda session: uses.write(session, taken))

    def close(self) -> None:
        """Write what is pending, and close all connections; a later call opens new ones."""
        with suppress(StorageError):
            self.flush()
        self._house.database.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def aerase(
        self,
        *,
        scope: str | None = None,
        user: str | None = None,
        id: str | None = None,  # noqa: A002
    ) -> Coroutine[Any, Any, int]:
        """Do as :meth:`erase` does, in a thread."""
        return in_thread(self.erase, scope=scope, user=user, id=id)

    def astats(self) -> Coroutine[Any, Any, Stats]:
        """Do as :meth:`stats` does, in a thread."""
        return in_thread(self.stats)

    def aexport(self, target: str | Path | IO[str], **arguments: Any) -> Coroutine[Any, Any, int]:
        """Do as :meth:`export` does, in a thread."""
        return in_thread(self.export, target, **arguments)

    def aimport_(self, source: str | Path | IO[str]) -> Coroutine[Any, Any, Transferred]:
        """Do as :meth:`import_` does, in a thread."""
        return in_thread(self.import_, source)
