"""Consolidate: fold what was read into one file, by one write, and never over a change nobody has seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from oort_flows.calling import call
from oort_flows.errors import ConsolidateError, GroundError, MechanicsErrorCode
from oort_flows.files.parsing import ABSENT, parse
from oort_flows.files.text import replace_surrogates
from oort_flows.mechanics.grounding import Budget, read_sources
from oort_flows.mechanics.prompts import fold_prompt
from oort_flows.mechanics.queues import queued
from oort_flows.mechanics.reading import Receipt, Refused, SeenFile, create, port_error, view
from oort_flows.mechanics.settings import check_callable, check_count, check_memory, check_timeout, merged_sources
from oort_flows.models.mechanics import Consolidated, Document, Grounded, Source
from oort_flows.models.paths import ancestors
from oort_flows.models.results import Failure
from oort_flows.ports import FileMemory

__all__ = ["Written", "consolidate", "fold_into"]

Write = Callable[[FileMemory, str, str, str], Receipt]
"""Writes a text to a path if what is there has a digest; raises :class:`Refused`."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a fold did: the answer, and the text it replaced (``None`` where there was no file)."""

    consolidated: Consolidated
    prior: str | None


def consolidate(
    memory: FileMemory,
    target: str,
    sources: Iterable[str | Source],
    fold: Callable[..., Any],
    *,
    max_output_chars: int = 16_000,
    timeout: float | None = None,
    max_files: int = 20,
    max_file_chars: int = 4_000,
    max_total_chars: int = 16_000,
) -> Consolidated:
    r"""
    Fold *sources* into the file at *target*; the sources stay as they are.

    There is one writer per target: calls for one scope and target queue up in this process; against other processes the
    write holds only if the file is still the one that was read. So nothing is half-written, and no change is overwritten
    unseen. A fold that consolidates into its own target would wait for itself; that is refused.

    Parameters
    ----------
    memory:
        Any file memory.
    target:
        Path of the file to write. It is checked before anything is read for the fold, and left out of the sources.
    sources:
        Paths, or :class:`Source` for optional ones, as for :func:`ground`.
    fold:
        Plain or async, called once with prior, documents and prompt by position; it returns the new text. ``prior`` is
        ``None`` where there is no file yet and ``""`` for an empty one.
    max_output_chars:
        Longest text *fold* may return, and longest prior, in characters. The prior is read by itself and whole.
    timeout:
        Seconds that *fold* may take; ``None`` for as long as it likes.
    max_files, max_file_chars, max_total_chars:
        The budget of :func:`ground` for the sources.

    Returns
    -------
    The text as written (trimmed), its digest, the prompt of the fold, what was evicted for it, and which sources did not
    fit or are missing.

    Raises
    ------
    ConsolidateError
        ``write_failed``: the target is unusable, or the port refused the text (CONFLICT if it changed meanwhile).
        ``read_failed``: target or sources cannot be read, or the prior is too long (LIMIT_EXCEEDED). ``callback_failed``:
        *fold* raised or ran out of time. ``invalid_callback_result``: it returned no text, a blank one or one too long. In
        each case the target is as it was.
    ConfigurationError
        If a setting is unusable.

    Example
    -------
    >>> from oort_flows.files import InProcessFileMemory
    >>> memory = InProcessFileMemory("docs")
    >>> _ = memory.execute({"command": "create", "path": "/memories/a.md", "text": "one"})
    >>> def join(prior, documents, prompt):
    ...     return "\n".join([prior or "", *(document.text for document in documents)])
    >>> consolidate(memory, "/memories/sum.md", ["/memories/a.md"], join).text
    'one'
    """
    settings = {
        "max_output_chars": max_output_chars,
        "timeout": timeout,
        "max_files": max_files,
        "max_file_chars": max_file_chars,
        "max_total_chars": max_total_chars,
    }
    return fold_into(memory, target, sources, fold, settings, create).consolidated


def fold_into(
    memory: FileMemory,
    target: str,
    sources: Iterable[str | Source],
    fold: Callable[..., Any],
    settings: Mapping[str, Any],
    write: Write,
) -> Written:
    """
    Do what :func:`consolidate` does, and write by *write*.

    Parameters
    ----------
    settings:
        The keyword arguments of :func:`consolidate`; those left out have its defaults.
    """
    left = dict(settings)
    max_output_chars, timeout = left.pop("max_output_chars", 16_000), left.pop("timeout", None)
    budget = Budget(**left)
    check_count("max_output_chars", max_output_chars)
    check_timeout(timeout)
    check_callable("fold", fold)
    check_memory(memory)
    wanted = merged_sources(sources)
    path = _checked_target(target)
    with queued((_scope(memory, path), path)):
        prior, if_match = _prior(memory, path, max_output_chars)
        grounded = _grounded(memory, wanted, budget, path)
        prompt = fold_prompt(path, prior, grounded.documents)
        text = _folded(fold, (prior, grounded.documents, prompt), path, max_output_chars, timeout)
        receipt = _write(write, memory, path, text, if_match)
    consolidated = Consolidated(
        target=path,
        text=text,
        prompt=prompt,
        digest=receipt.digest,
        evicted=receipt.evicted,
        skipped=grounded.skipped,
        missing=grounded.missing,
    )
    return Written(consolidated, prior)


def _checked_target(target: object) -> str:
    """Return *target* if a ``create`` could go there, as far as the path alone tells."""
    judged = parse({"command": "create", "path": target, "text": ""})
    if isinstance(judged, Failure):
        error = judged.error
        raise ConsolidateError("write_failed", f"target: {error.message}", path=error.path, error=error)
    return judged.path


def _scope(memory: FileMemory, path: str) -> str:
    try:
        return str(memory.scope)
    except Exception as raised:
        error = port_error("STORAGE_ERROR", "the port does not tell its scope", path, {"retryable": False})
        raise ConsolidateError("read_failed", error.message, path=path, error=error) from raised


def _prior(memory: FileMemory, path: str, max_chars: int) -> tuple[str | None, str]:
    """Return what the target holds and the digest that a write has to match."""
    try:
        seen = view(memory, path)
    except Refused as refused:
        if refused.error.code != "NOT_FOUND":
            raise _failure("read_failed", path, refused) from refused.__cause__
        _check_above(memory, path)
        return None, ABSENT
    if not isinstance(seen, SeenFile):
        error = port_error("PATH_CONFLICT", "there is a directory at this path", path)
        raise ConsolidateError("write_failed", f"target: {error.message}", path=path, error=error)
    if sha256(seen.text.encode()).hexdigest() != seen.digest:
        # A part of the file, or a text made readable: to write over it would lose what was not shown.
        error = port_error("STORAGE_ERROR", "the text of the target is not what its digest says", path, {"retryable": False})
        raise ConsolidateError("read_failed", error.message, path=path, error=error)
    if len(seen.text) > max_chars:
        error = port_error("LIMIT_EXCEEDED", f"the target holds more than {max_chars} characters", path)
        raise ConsolidateError("read_failed", error.message, path=path, error=error)
    return seen.text, seen.digest


def _check_above(memory: FileMemory, path: str) -> None:
    """Refuse a target below a file."""
    for parent in ancestors(path):
        try:
            seen = view(memory, parent)
        except Refused as refused:
            if refused.error.code == "NOT_FOUND":
                return
            raise _failure("read_failed", parent, refused) from refused.__cause__
        if isinstance(seen, SeenFile):
            error = port_error("PATH_CONFLICT", "there is a file above this path", parent)
            raise ConsolidateError("write_failed", f"target: {error.message}", path=path, error=error)


def _grounded(memory: FileMemory, wanted: dict[str, bool], budget: Budget, target: str) -> Grounded:
    try:
        return read_sources(memory, wanted, budget, leave_out=target)
    except GroundError as failed:
        raise ConsolidateError(failed.code, str(failed), path=failed.path, error=failed.error) from failed.__cause__


Arguments = tuple[str | None, tuple[Document, ...], str]
_BLANK: Final = "fold must return a well-formed text that is not blank"


def _folded(fold: Callable[..., Any], arguments: Arguments, path: str, max_chars: int, timeout: float | None) -> str:
    try:
        answer = call(fold, *arguments, timeout=timeout)
    except Exception as error:
        raise ConsolidateError("callback_failed", f"fold raised {type(error).__name__}", path=path) from error
    text = str.__str__(answer).strip() if isinstance(answer, str) else ""
    if not text or replace_surrogates(text) != text:
        raise ConsolidateError("invalid_callback_result", _BLANK, path=path)
    if len(text) > max_chars:
        message = f"fold must return at most {max_chars} characters"
        raise ConsolidateError("invalid_callback_result", message, path=path)
    return text


def _write(write: Write, memory: FileMemory, path: str, text: str, if_match: str) -> Receipt:
    try:
        receipt = write(memory, path, text, if_match)
    except Refused as refused:
        raise _failure("write_failed", path, refused) from refused.__cause__
    if receipt.digest != sha256(text.encode()).hexdigest():
        error = port_error("STORAGE_ERROR", "the port wrote something else", path, {"retryable": False})
        raise ConsolidateError("write_failed", error.message, path=path, error=error)
    return receipt


def _failure(code: MechanicsErrorCode, path: str, refused: Refused) -> ConsolidateError:
    verb = "reading" if code == "read_failed" else "writing"
    return ConsolidateError(code, f"{verb} {path} failed: {refused.error.message}", path=path, error=refused.error)
