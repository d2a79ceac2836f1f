"""
Right or wrong, and a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.benchmarks.amb.data import Question

__all__ = ["Score", "is_right", "score", "table"]


@dataclass(frozen=True)
class Score:
    """One question with the answer it got."""

    question: Question
    answer: frozenset[str]
    right: bool


def is_right(question: Question, given: Iterable[str]) -> bool:
    """Compare an answer with the gold one, up to case; an alias counts as the value, and none means an empty answer."""
    gold = question.gold
    answers = {text.casefold() for text in given}
    if gold["kind"] == "none":
        return not answers
    if gold["kind"] == "set":
        return answers == {value.casefold() for value in gold["values"]}
    spellings = {gold["value"].casefold(), *(alias.casefold() for alias in gold.get("aliases", ()))}
    return len(answers) == 1 and answers <= spellings


def score(questions: Iterable[Question], answer: Callable[[Question], set[str]]) -> list[Score]:
    """Put every question."""
    scores = []
    for question in questions:
        given = answer(question)
        scores.append(Score(question, frozenset(given), is_right(question, given)))
    return scores


def table(scores: Iterable[Score]) -> str:
    """Show right answers per category, then the sum."""
    scores = list(scores)
    categories = sorted({one.question.category for one in scores})
    rows = [(name, [one.right for one in scores if one.question.category == name]) for name in categories]
    lines = [f"{name:<20}{sum(right):>4}/{len(right)}" for name, right in rows]
    return "\n".join([*lines, f"{'all':<20}{sum(one.right for one in scores):>4}/{len(scores)}"])
