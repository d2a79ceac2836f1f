"""
Events, questions and attributes of the benchmark, as they lie in its files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

__all__ = ["DATA", "Event", "Question", "evaluated_at", "events", "questions", "vocabulary"]

DATA = Path(__file__).parents[1] / "data" / "agent-memory-benchmark-v1"


@dataclass(frozen=True)
class Event:
    """A statement somebody made: when it was recorded, and from when it is true."""

    id: str
    recorded_at: datetime
    valid_from: datetime
    subject: str
    attribute: str
    value: str
    text: str
    source: str


@dataclass(frozen=True)
class Question:
    """What is asked; the gold answer is for the scorer alone."""

    id: str
    category: str
    text: str
    probe: tuple[str, str] | None
    about: str | None
    at: datetime | None
    known_at: datetime | None
    gold: Mapping[str, Any]


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines() if line]


def _instant(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def _metadata() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "metadata.json").read_text(encoding="utf-8"))
    return found


def events() -> list[Event]:
    """Give the events in the order in which they were recorded; those of one instant in the order of the file."""
    told = [
        Event(
            row["id"],
            datetime.fromisoformat(row["recorded_at"]),
            datetime.fromisoformat(row["valid_from"]),
            row["subject"],
            row["predicate"],
            row["object"],
            row["text"],
            row["source"],
        )
        for row in _lines("events.jsonl")
    ]
    return sorted(told, key=lambda event: event.recorded_at)


def questions() -> list[Question]:
    """Give the questions in the order of the file."""
    return [
        Question(
            row["id"],
            row["category"],
            row["question"],
            tuple(row["probe"]) if "probe" in row else None,
            row.get("about"),
            _instant(row.get("at")),
            _instant(row.get("known_at")),
            row["gold"],
        )
        for row in _lines("questions.jsonl")
    ]


def vocabulary() -> dict[str, str]:
    """Say how many values each attribute has, as the benchmark declares it."""
    return {name: declared["cardinality"] for name, declared in _metadata()["predicates"].items()}


def evaluated_at() -> datetime:
    """Tell the time at which the questions are asked."""
    return datetime.fromisoformat(_metadata()["evaluated_at"])
