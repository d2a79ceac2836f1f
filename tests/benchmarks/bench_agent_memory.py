"""
The Agent Memory Benchmark v1 on a ledger: a table per category, and the sum.

    python tests/benchmarks/bench_agent_memory.py --url sqlite:///agent-memory.db

The database has to be a new one: what lies in it would be recalled too. The data is that of its author, see ``NOTICE`` and
``LICENSE`` beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from oort_flows.ledger import Ledger
from oort_flows.testing import FrozenClock
from tests.benchmarks.amb import adapter, data, scorer


def run(url: str) -> list[scorer.Score]:
    """Declare the events in a ledger at *url*, and put the questions."""
    clock = FrozenClock()
    with Ledger.open(url, clock=clock, vocabulary=data.vocabulary()) as ledger:
        handle = adapter.declare(ledger, clock, data.events())
        return scorer.score(data.questions(), lambda question: adapter.answer(handle, question))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--url", help="of a new database; by default an SQLite file that goes afterwards")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scores = run(arguments.url or f"sqlite:///{folder}/agent-memory.db")
    wrong = [one for one in scores if not one.right]
    if arguments.json:
        print(json.dumps({"right": len(scores) - len(wrong), "of": len(scores), "wrong": [w.question.id for w in wrong]}))
    else:
        print(scorer.table(scores))
        for one in wrong:
            print(f"wrong: {one.question.id}: {sorted(one.answer)}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
