"""
The message of a commit that says why: cleaned of secrets, cut to a size, with trailers that lead back to the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from oort_flows.scrubbing import scrub

__all__ = [
    "BODY_LIMIT",
    "SUBJECT_LIMIT",
    "assemble",
    "clean_body",
    "clean_subject",
    "first_line",
    "floor_body",
    "trailer_lines",
]

SUBJECT_LIMIT = 100  # characters
BODY_LIMIT = 16_000  # characters
_SECRET_LIMIT = 20_000  # characters of what follows a line that may belong to a secret which begins in it

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # all but tab and line feed
_HALF_PAIR = re.compile(r"[\ud800-\udfff]")
_LIKE_OURS = re.compile(r"^(?=[^\S\n]*oort-[\w-]*[^\S\n]*:)", re.IGNORECASE | re.MULTILINE)


def clean_subject(text: str) -> str:
    r"""
    Make a subject of *text*: no control characters, no secrets, one line, at most 100 characters, in this order.

    >>> clean_subject("Raise\tthe\n limit\x07")
    'Raise the limit'
    """
    return " ".join(_scrubbed(text).split())[:SUBJECT_LIMIT].rstrip()


def clean_body(text: str) -> str:
    r"""
    Make a body of *text*: no control characters, no secrets, at most 16,000 characters, in this order.

    A cut therefore never leaves a piece of a secret. A line that would pass for a trailer of ours is quoted.

    >>> clean_body("Because.\nOort-Scope: forged")
    'Because.\n> Oort-Scope: forged'
    """
    cleaned = _LIKE_OURS.sub("> ", _scrubbed(text)).strip("\n").rstrip()
    if len(cleaned) <= BODY_LIMIT:
        return cleaned
    return f"{cleaned[:BODY_LIMIT].rstrip()}\n\n[cut after {BODY_LIMIT:,} characters]"


def first_line(text: str) -> str | None:
    r"""
    Return the first line of *text* that is not blank, on one line and without secrets, also those that begin in it.

    >>> first_line("\n  Raised\tthe limit \nand more")
    'Raised the limit'
    """
    lines = "\n".join(text.strip().splitlines())
    reach = len(lines.partition("\n")[0]) + _SECRET_LIMIT
    return next((" ".join(line.split()) for line in _scrubbed(lines[:reach]).splitlines() if line.strip()), None)


def _scrubbed(text: str) -> str:
    # Control characters first: one in the middle of a secret would hide it.
    return scrub(_CONTROL.sub("", _HALF_PAIR.sub("\ufffd", text)))


def floor_body(status: str, turns: int) -> str:
    """
    Return the body for when nobody has composed one: what came of the step, never what was said in it.

    >>> print(floor_body("completed", 1))
    ## Why
    <BLANKLINE>
    No reason was composed for this change. The step ended with status completed and left 1 turn.
    """
    left = "1 turn" if turns == 1 else f"{turns} turns"
    return f"## Why\n\nNo reason was composed for this change. The step ended with status {status} and left {left}."


def trailer_lines(flow_run: str | None, task_run: str | None, scope: str | None, recalled: Iterable[str]) -> list[str]:
    """
    Return the trailers that are known, a line each.

    >>> trailer_lines("0192", None, "project:billing", [])
    ['Oort-Flow-Run: 0192', 'Oort-Scope: project:billing']
    """
    values = {
        "Oort-Flow-Run": flow_run,
        "Oort-Task-Run": task_run,
        "Oort-Scope": scope,
        "Oort-Recalled": ", ".join(recalled),
    }
    lines = (
        (name, " ".join(_CONTROL.sub("", _HALF_PAIR.sub("\ufffd", value or "")).split())) for name, value in values.items()
    )
    return [f"{name}: {value}" for name, value in lines if value]


def assemble(subject: str, body: str, trailers: Iterable[str]) -> str:
    """Put a message together: subject, body, and the trailers as the last paragraph."""
    paragraphs = [subject, body, "\n".join(trailers)]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"
