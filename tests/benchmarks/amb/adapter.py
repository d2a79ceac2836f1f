"""
The benchmark over a ledger: events are declared with their slots, answers come from recall and history.

An answer depends on the category of a question and on its fields, never on which question it is. Where a question names its
slot, that slot is read; where it does not, the question itself is recalled and the slot of the first hit is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from oort_flows.ledger import Ledger
from oort_flows.testing import FrozenClock
from tests.benchmarks.amb.data import Event, Question, evaluated_at

__all__ = ["answer", "declare"]

Answer = set[str]


def declare(ledger: Ledger, clock: FrozenClock, told: Iterable[Event]) -> Any:
    """Tell the ledger every event at the time it was recorded, and return the handle to ask; the clock shows when."""
    handle = ledger.scoped(user="benchmark")
    for event in told:
        clock.set(event.recorded_at)
        handle.remember(
            event.text,
            subject=event.subject,
            attribute=event.attribute,
            value=event.value,
            valid_from=event.valid_from,
            source=event.source,
        )
    clock.set(evaluated_at())
    return handle


def answer(handle: Any, question: Question) -> Answer:
    """Answer with the values found, dates as ISO dates; nothing known gives the empty set."""
    return _BY_CATEGORY[question.category](handle, question)


def _state(handle: Any, question: Question) -> Answer:
    """What holds, at the instant and by the belief that the question names, else now."""
    assert question.probe is not None
    subject, attribute = question.probe
    if question.at is None and question.known_at is None:
        # Naming the mode: "now" in a question must not decide over the fields that the benchmark gives.
        found = handle.recall(question.text, mode="current", subject=subject, attribute=attribute)
    else:
        found = handle.recall(
            question.text, as_of=question.at, known_at=question.known_at, subject=subject, attribute=attribute
        )
    return {hit.memory.value for hit in found.hits}


def _versions(handle: Any, question: Question) -> list[Any]:
    """All versions of the slot that the question is about, of one value where it names one."""
    assert question.probe is not None
    subject, attribute = question.probe
    found = handle.recall(question.text, mode="history", subject=subject, attribute=attribute, limit=1_000)
    versions = [hit.memory for hit in found.hits]
    return [version for version in versions if question.about in (None, version.value)]


def _changes(handle: Any, question: Question) -> Answer:
    """The values of all periods that are still believed."""
    return {version.value for version in _versions(handle, question) if version.closed_at is None}


def _change_time(handle: Any, question: Question) -> Answer:
    """The date from which the value held, by what is believed today."""
    starts = [version.valid_from for version in _versions(handle, question) if version.closed_at is None]
    return {min(starts).date().isoformat()} if starts else set()


def _knowledge_time(handle: Any, question: Question) -> Answer:
    """The date the value was first recorded; a question that rewinds the clocks asks for a state instead."""
    if question.about is None:
        return _state(handle, question)
    recorded = [version.recorded_at for version in _versions(handle, question)]
    return {min(recorded).date().isoformat()} if recorded else set()


def _provenance(handle: Any, question: Question) -> Answer:
    """The source that said it first."""
    versions = sorted(_versions(handle, question), key=lambda version: version.recorded_at)
    return {versions[0].source} if versions else set()


def _open(handle: Any, question: Question) -> Answer:
    """The values of the slot that the best hit fills; a question without a slot is asked as it stands."""
    if question.probe is not None:
        return _state(handle, question)
    hits = handle.recall(question.text, mode=None if question.at else "current", as_of=question.at).hits
    if not hits:
        return set()
    slot = (hits[0].memory.subject, hits[0].memory.attribute)
    return {hit.memory.value for hit in hits if (hit.memory.subject, hit.memory.attribute) == slot}


_BY_CATEGORY: dict[str, Callable[[Any, Question], Answer]] = {
    "current_state": _state,
    "historical_state": _state,
    "contradiction": _state,
    "change_detection": _changes,
    "change_time": _change_time,
    "knowledge_time": _knowledge_time,
    "provenance": _provenance,
    "multi_hop": _open,
    "distractor": _open,
    "negative": _open,
}
