"""
Drafts: a declared fact, checked, scrubbed and folded, before it meets what is known.

All of it happens before the transaction, so that nobody waits for it.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, Final

from oort_flows.errors import InvalidInputError
from oort_flows.ledger.vocabulary import Vocabulary
from oort_flows.models.clocks import OPEN, as_instant, to_micros
from oort_flows.models.memories import Cardinality, MemoryType
from oort_flows.scrubbing import marker, scrub
from oort_flows.storage.folding import digest, name_key, sentence_keys, value_key
from oort_flows.storage.indexes import Terms, pack, scope_of, terms_of

__all__ = ["MAX_TEXT", "Draft", "Place", "checked_text", "draft_of", "slot_of"]

MAX_TEXT: Final = 1_048_576
"""Most bytes (UTF-8) of a text; a memory is a sentence, and whole documents belong into file memory."""
_MAX_FIELD: Final = 16_384
_TYPES: Final = frozenset(MemoryType)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fact is kept: its space and, within it, its project."""

    space: str
    project: str | None


@dataclass(frozen=True, slots=True)
class Draft:
    """
    A fact ready to be reconciled.

    Attributes
    ----------
    columns:
        What its row will hold, but for its id.
    slot, single:
        The slot it fills, and whether that holds one value at a time.
    valid_from:
        ``None`` means the time of recording.
    said:
        Stands for everything that was said, for telling a repeated operation from another one.
    """

    columns: Mapping[str, Any]
    terms: Terms
    slot: bytes | None
    kind: Cardinality
    valid_from: int | None
    valid_to: int
    expires_at: int
    pinned: bool
    said: bytes


def slot_of(place: Place, subject: str | None, attribute: str | None) -> bytes | None:
    """Return the digest of a slot; ``None`` where there is none."""
    if not subject or not attribute:
        return None
    return digest(place.space, place.project, name_key(subject), name_key(attribute))


def draft_of(
    place: Place,
    vocabulary: Vocabulary,
    zone: tzinfo,
    *,
    text: object,
    type: object = MemoryType.SEMANTIC,  # noqa: A002 - the name callers use
    subject: object = None,
    attribute: object = None,
    value: object = None,
    cardinality: object = None,
    valid_from: object = None,
    valid_to: object = None,
    expires_at: object = None,
    source: object = None,
    speaker: object = None,
    context: object = None,
    pinned: object = False,
    reason: object = None,
    expert: object = None,
    provenance: Mapping[str, Any] | None = None,
    origin: tuple[str, str] | None = None,
    operation: str = "remember",
) -> Draft:
    """
    Return the draft of what was declared.

    Raises
    ------
    InvalidInputError
        If any of it is unusable; the message names the field.
    """
    kind_of_memory = _type(type)
    said = {
        "subject": _field(subject, "subject"),
        "attribute": _field(attribute, "attribute"),
        "value": None if value is None else checked_text(value, "value", _MAX_FIELD),
        "source": _field(source, "source"),
        "speaker": _field(speaker, "speaker"),
        "context": None if context is None else scrub(checked_text(context, "context")),
        "reason": _field(reason, "reason"),
        "expert": _field(expert, "expert"),
    }
    if kind_of_memory is MemoryType.JUDGMENT and not (said["reason"] and said["expert"]):
        raise InvalidInputError("reason" if not said["reason"] else "expert", "must be given for a judgment")
    given_text = checked_text(text, "text")
    plain = scrub(given_text)
    if said["value"] is not None:
        said["value"] = _scrubbed_value(said["value"], said["attribute"], given_text, plain)
    if not any(char.isalnum() or unicodedata.category(char)[0] == "S" for char in plain):
        raise InvalidInputError("text", "must hold a letter, a digit or a symbol")
    if said["attribute"] is not None and said["subject"] is None:
        raise InvalidInputError("subject", "must be given where an attribute is")
    start, stop, expiry = _times(valid_from, valid_to, expires_at, zone)
    if not isinstance(pinned, bool):
        raise InvalidInputError("pinned", "must be true or false")
    kind = vocabulary.chosen(cardinality, said["attribute"])
    slot = slot_of(place, said["subject"], said["attribute"])
    terms = terms_of(
        scope_of(place.space, place.project),
        (plain, said["subject"], said["attribute"], said["value"]),
        said["context"],
    )
    sentence, frame = sentence_keys(plain)
    columns = {
        **said,
        "space": place.space,
        "project": place.project,
        "type": kind_of_memory.value,
        "text": plain,
        "cardinality": kind,
        "same": digest(value_key(said["value"] or plain)),
        "frame": digest(place.space, place.project, frame),
        "sentence": digest(place.space, place.project, kind_of_memory.value, said["expert"], sentence),
        "provenance": json.dumps(dict(provenance), sort_keys=True) if provenance else None,
        "origin": json.dumps(origin) if origin else None,
        "terms": pack(terms),
    }
    given = (start if valid_from is not None else None, stop, expiry, pinned, cardinality)
    said_all = digest(operation, place.space, place.project, kind_of_memory.value, plain, *said.values(), repr(given))
    return Draft(columns, terms, slot, kind, start, stop, expiry, pinned, said_all)


def checked_text(value: object, field: str, limit: int = MAX_TEXT) -> str:
    """
    Return *value* if it can be kept byte for byte by both engines.

    Raises
    ------
    InvalidInputError
        If it is no string, blank, too long, or holds NUL or half a surrogate pair.
    """
    if not isinstance(value, str) or not value.strip():
        raise InvalidInputError(field, "must be a string that is not blank")
    if "\x00" in value:
        raise InvalidInputError(field, "must not hold the character NUL")
    try:
        size = len(value) if value.isascii() else len(value.encode())
    except UnicodeEncodeError:
        raise InvalidInputError(field, "must not hold half a surrogate pair") from None
    if size > limit:
        raise InvalidInputError(field, f"must not be longer than {limit} bytes")
    return str.__str__(value)


def _field(value: object, field: str) -> str | None:
    return None if value is None else scrub(checked_text(value, field, _MAX_FIELD))


def _scrubbed_value(value: str, attribute: str | None, text: str, plain: str) -> str:
    """Take secrets out of a value: what it is called, or the sentence it stands in, may be what gives it away."""
    lead = "" if attribute is None else f"{attribute}: "
    told = scrub(lead + value)
    told = told[len(lead) :] if told.startswith(lead) else scrub(value)
    return marker("value") if plain != text and told in text and told not in plain else told


def _type(value: object) -> MemoryType:
    if not isinstance(value, str) or value not in _TYPES:
        raise InvalidInputError("type", f"must be one of {', '.join(MemoryType)}")
    return MemoryType(value)


def _times(valid_from: object, valid_to: object, expires_at: object, zone: tzinfo) -> tuple[int | None, int, int]:
    start = None if valid_from is None else to_micros(as_instant(valid_from, "valid_from", zone))
    stop = OPEN if valid_to is None else to_micros(as_instant(valid_to, "valid_to", zone))
    expiry = OPEN if expires_at is None else to_micros(as_instant(expires_at, "expires_at", zone))
    if start is not None:
        check_times(start, stop, expiry)
    return start, stop, expiry


def check_times(start: int, stop: int, expiry: int) -> None:
    """Refuse a period that is over before it begins."""
    if stop <= start:
        raise InvalidInputError("valid_to", "must be later than valid_from")
    if expiry <= start:
        raise InvalidInputError("expires_at", "must be later than valid_from")
