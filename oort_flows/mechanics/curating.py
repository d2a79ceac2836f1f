"""Curate: let the user's function choose what a step should know of what was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from oort_flows.calling import call
from oort_flows.errors import ConfigurationError, InvalidInputError
from oort_flows.files.text import replace_surrogates
from oort_flows.mechanics.prompts import UNTRUSTED_WARNING, curated_prompt, grounded_prompt
from oort_flows.mechanics.reading import field_of
from oort_flows.mechanics.settings import check_callable, check_count, check_text, check_timeout
from oort_flows.models.mechanics import Curated, CurateReason, Document, Grounded
from oort_flows.scrubbing import scrub

__all__ = ["curate"]

_MAX_ERROR_CHARS: Final = 2_000


def curate(
    grounded: Grounded,
    intent: str,
    decide: Callable[..., Any],
    *,
    max_brief_chars: int = 2_000,
    timeout: float | None = None,
) -> Curated:
    """
    Ask *decide* for a brief and for the documents a step needs; whatever goes wrong there, the step gets them all.

    Parameters
    ----------
    grounded:
        What :func:`ground` answered. A prompt that does not begin with the warning is built anew from the documents.
    intent:
        What the step is about to do.
    decide:
        Plain or async, called once with intent, documents and prompt by position. It returns a mapping or an object with
        ``brief``, a text of 1 to *max_brief_chars* characters after trimming (a longer one is not cut), and ``sources``, a
        list of grounded paths; repeats are dropped, and it may be empty.
    max_brief_chars:
        Longest brief, in characters.
    timeout:
        Seconds that *decide* may take; ``None`` for as long as it likes.

    Returns
    -------
    In mode ``curated`` the brief, the chosen paths, and a prompt of warning, brief and chosen documents in the order of the
    decision. Otherwise in mode ``grounded`` the full prompt, with ``reason`` ``callback_failed`` (it raised, or ran out of
    time) or ``invalid_decision``, and ``error``: type and text of what went wrong, without secrets, at most 2,000
    characters.

    Raises
    ------
    ConfigurationError
        If a setting is unusable. Interrupts and cancellation pass through; nothing else that *decide* does is raised.

    Example
    -------
    >>> grounded = Grounded(documents=(Document(path="/memories/a.md", text="The parser is shared."),), prompt="")
    >>> curated = curate(grounded, "fix it", lambda *_: {"brief": " Mind the parser. ", "sources": ["/memories/a.md"]})
    >>> curated.mode, curated.brief, curated.sources
    ('curated', 'Mind the parser.', ('/memories/a.md',))
    """
    if not isinstance(grounded, Grounded):
        raise ConfigurationError("grounded must be what ground() answered")
    check_text("intent", intent)
    check_callable("decide", decide)
    check_count("max_brief_chars", max_brief_chars)
    check_timeout(timeout)
    documents = grounded.documents
    prompt = grounded.prompt if grounded.prompt.startswith(UNTRUSTED_WARNING) else grounded_prompt(documents)
    try:
        decision = call(decide, intent, documents, prompt, timeout=timeout)
    except Exception as error:  # noqa: BLE001 - a step goes on without its brief
        return _fallback(prompt, "callback_failed", error)
    try:
        brief, chosen = _decision(decision, documents, max_brief_chars)
    except Exception as error:  # noqa: BLE001 - a decision of the user's own making may raise from any of its attributes
        return _fallback(prompt, "invalid_decision", error)
    return Curated(
        mode="curated",
        brief=brief,
        sources=tuple(document.path for document in chosen),
        prompt=curated_prompt(brief, chosen),
    )


def _decision(decision: object, documents: tuple[Document, ...], max_brief_chars: int) -> tuple[str, list[Document]]:
    brief, sources = field_of(decision, "brief"), field_of(decision, "sources")
    if not isinstance(brief, str):
        raise InvalidInputError("brief", "must be a text")
    brief = str.__str__(brief).strip()
    if not 1 <= len(brief) <= max_brief_chars or replace_surrogates(brief) != brief:
        raise InvalidInputError("brief", f"must be a well-formed text of 1 to {max_brief_chars} characters")
    if not isinstance(sources, (list, tuple)) or not all(isinstance(path, str) for path in sources):
        raise InvalidInputError("sources", "must be a list of paths")
    known = {document.path: document for document in documents}
    if any(path not in known for path in sources):
        raise InvalidInputError("sources", "must be paths of grounded documents only")
    return brief, [known[path] for path in dict.fromkeys(sources)]


def _fallback(prompt: str, reason: CurateReason, error: Exception) -> Curated:
    return Curated(mode="grounded", prompt=prompt, reason=reason, error=_described(error))


def _described(error: Exception) -> str:
    """Return type and text of *error* without secrets; scrubbed before it is cut, so that no cut can spare one."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an exception of the user's own making
        text = ""
    described = scrub(replace_surrogates(f"{name}: {text}" if text.strip() else name))
    return described[:_MAX_ERROR_CHARS]
