"""The benchmark of agent memories is answered in full, and its scorer tells right from wrong."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.benchmarks.amb import data, scorer
from tests.benchmarks.bench_agent_memory import run


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where there is room for a new ledger, in either engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'agent-memory.db'}"
    server: str = request.getfixturevalue("postgres_url")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS agent_memory CASCADE")
        connection.execute("CREATE SCHEMA agent_memory")
    scheme, _, rest = server.partition("://")
    return f"{scheme}+psycopg://{rest}&options=-csearch_path%3Dagent_memory"


def test_agent_memory_benchmark_is_answered_in_full(url: str) -> None:
    """All hundred questions are answered right, by the public API."""
    scores = run(url)
    assert [(one.question.id, sorted(one.answer)) for one in scores if not one.right] == []
    assert len(scores) == 100


def test_data_is_whole_and_carries_its_licence() -> None:
    """The files hold what their metadata says, beside their licence and a notice."""
    assert (len(data.events()), len(data.questions())) == (262, 100)
    assert "Apache License" in (data.DATA / "LICENSE").read_text()
    assert "Inderjeet Singh" in (data.DATA / "NOTICE").read_text()


@pytest.mark.parametrize(
    ("gold", "given", "right"),
    [
        ({"kind": "value", "value": "Berlin"}, {"berlin"}, True),
        ({"kind": "value", "value": "New York", "aliases": ["NYC"]}, {"NYC"}, True),
        ({"kind": "value", "value": "Berlin"}, {"Berlin", "London"}, False),
        ({"kind": "value", "value": "Berlin"}, set(), False),
        ({"kind": "set", "values": ["a", "b"]}, {"b", "a"}, True),
        ({"kind": "set", "values": ["a", "b"]}, {"a"}, False),
        ({"kind": "set", "values": ["a", "b"]}, {"a", "b", "c"}, False),
        ({"kind": "date", "value": "2026-03-15"}, {"2026-03-15"}, True),
        ({"kind": "date", "value": "2026-03-15"}, {"2026-03-16"}, False),
        ({"kind": "none"}, set(), True),
        ({"kind": "none"}, {"Berlin"}, False),
    ],
)
def test_scorer_tells_right_from_wrong(gold: dict[str, object], given: set[str], right: bool) -> None:
    """One value or its alias, exactly the set, the very date, or nothing at all."""
    question = data.Question("q", "current_state", "?", None, None, None, None, gold)
    assert scorer.is_right(question, given) is right
