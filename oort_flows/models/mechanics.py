"""What ground, curate and consolidate take and answer."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

__all__ = ["Consolidated", "CurateReason", "Curated", "Document", "Grounded", "SkipReason", "Skipped", "Source"]

SkipReason = Literal["max_files", "max_total_chars"]
CurateReason = Literal["callback_failed", "invalid_decision"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class Source(_Value):
    """
    A path to read; an optional one may be missing.

    >>> Source("/memories/notes", optional=True).optional
    True
    """

    path: str
    optional: bool = False

    def __init__(self, path: str, optional: bool = False) -> None:
        BaseModel.__init__(self, path=path, optional=optional)


class Document(_Value):
    """
    A file that was read.

    Attributes
    ----------
    truncated:
        Whether ``text`` is only the beginning of the file.
    total_chars:
        Characters of the whole file, where it was cut; a prompt says "first N of M characters".
    """

    path: str
    text: str
    truncated: bool = False
    total_chars: int | None = None


class Skipped(_Value):
    """A file that was there and did not fit."""

    path: str
    reason: SkipReason


class Grounded(_Value):
    """
    What was read for a step.

    Attributes
    ----------
    documents:
        The files, sorted by full path, which is also the order in which they spent the budget.
    skipped, missing:
        Files that did not fit, and optional paths that are not there; both sorted.
    prompt:
        All of it as one text for a model, beginning with the warning that it is data and no instruction.
    """

    documents: tuple[Document, ...]
    skipped: tuple[Skipped, ...] = ()
    missing: tuple[str, ...] = ()
    prompt: str


class Curated(_Value):
    """
    What a step should know of what was read.

    ``mode`` is ``curated`` where the decision was usable; else ``grounded``, with ``reason``, ``error`` and the full prompt.
    """

    mode: Literal["curated", "grounded"]
    brief: str | None = None
    sources: tuple[str, ...] = ()
    prompt: str
    reason: CurateReason | None = None
    error: str | None = None


class Consolidated(_Value):
    """What was folded into a target: its new text and digest, the prompt of the fold, and what had to go or did not fit."""

    target: str
    text: str
    prompt: str
    digest: str
    evicted: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    missing: tuple[str, ...] = ()
