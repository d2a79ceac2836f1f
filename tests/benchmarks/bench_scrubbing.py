"""
What it costs to take the secrets out of text, beside reading the same text once by one regular expression.

    python tests/benchmarks/bench_scrubbing.py --kilobytes 256 --rounds 7
"""

from __future__ import annotations

import argparse
import re
import statistics
import time

from oort_flows.scrubbing import scrub

WORDS = "the worker reads its token bucket, then asks the queue for the next task at port 8080 and logs in. "
READ_ONCE = re.compile(r"[^\W_]{40,}|password", re.IGNORECASE)


def ordinary(kilobytes: int) -> str:
    """Prose as pipelines log it, with a secret every 4 KB."""
    secret = "npm_" + "aB3dE5gH7jK9mN2pQ4sT6vX8zC1fL0wR5yU7"
    paragraph = WORDS * 40 + secret + "\n"
    return (paragraph * (kilobytes * 1024 // len(paragraph) + 1))[: kilobytes * 1024]


def measure(kilobytes: int, rounds: int) -> tuple[float, float]:
    """Return the median seconds of scrubbing and of reading once, measured in turn."""
    text = ordinary(kilobytes)
    scrubbing: list[float] = []
    reading: list[float] = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        scrub(text)
        middle = time.perf_counter()
        READ_ONCE.sub("", text)
        scrubbing.append(middle - start)
        reading.append(time.perf_counter() - middle)
    return statistics.median(scrubbing[1:]), statistics.median(reading[1:])


def test_the_benchmark_runs() -> None:
    """At small size it measures both; the figures are for whoever runs it as a script."""
    assert all(seconds > 0 for seconds in measure(kilobytes=8, rounds=1))


def main() -> None:
    parser = argparse.ArgumentParser(description="What scrubbing costs.")
    parser.add_argument("--kilobytes", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    scrubbing, reading = measure(arguments.kilobytes, arguments.rounds)
    print(f"scrubbing   {scrubbing / arguments.kilobytes * 1e3:.3f} ms per KB")
    print(f"one pattern {reading / arguments.kilobytes * 1e3:.3f} ms per KB, {scrubbing / reading:.1f} times cheaper")


if __name__ == "__main__":
    main()
