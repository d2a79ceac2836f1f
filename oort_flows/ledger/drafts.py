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
from oort_flows.scrubbing import marker, scrub, scrub_all
from oort_flows.storage.folding import digest, name_key, sentence_keys, value_key
from oort_flows.storage.indexes import Terms, pack, scope_of, terms_of

__all__ = ["MAX_TEXT", "Draft", "Place", "check_times", "checked_text", "draft_of", "folded", "slot_of"]

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
    spoken:
        Everything that was said, times that were left out aside.
    """

    columns: dict[str, Any]
    terms: Terms
    slot: bytes | None
    kind: Cardinality
    valid_from: int | None
    valid_to: int
    expires_at: int
    pinned: bool
    spoken: tuple[object, ...]

    @property
    def said(self) -> bytes:
        """Stands for everything that was said, for telling a repeated operation from another one."""
        return digest(repr(self.spoken))


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
    memory_type = _type(type)
    raw = {
        "subject": _field(subject, "subject"),
        "attribute": _field(attribute, "attribute"),
        "value": _field(value, "value"),
        "source": _field(source, "source"),
        "speaker": _field(speaker, "speaker"),
        "context": None if context is None else checked_text(context, "context"),
        "reason": _field(reason, "reason"),
        "expert": _field(expert, "expert"),
    }
    _check_fields(memory_type, raw)
    plain, fields = _scrubbed(checked_text(text, "text"), raw)
    start, stop, expiry = _times(valid_from, valid_to, expires_at, zone)
    if not isinstance(pinned, bool):
        raise InvalidInputError("pinned", "must be true or false")
    kind = vocabulary.chosen(cardinality, fields["attribute"])
    columns, terms = folded(place, memory_type, plain, fields)
    columns["cardinality"] = kind
    columns["provenance"] = json.dumps(dict(provenance), sort_keys=True) if provenance else None
    columns["origin"] = json.dumps(origin) if origin else None
    spoken = (operation, place, memory_type, plain, *fields.values(), start, stop, expiry, pinned, cardinality)
    slot = slot_of(place, fields["subject"], fields["attribute"])
    return Draft(columns, terms, slot, kind, start, stop, expiry, pinned, spoken)


def folded(place: Place, memory_type: str, text: str, fields: Mapping[str, str | None]) -> tuple[dict[str, Any], Terms]:
    """
    Return the columns of a memory that follow from what it says, and what the index is to hold of it.

    Raises
    ------
    InvalidInputError
        If *text* says nothing.
    """
    value = fields["value"]
    terms = terms_of(
        scope_of(place.space, place.project), (text, fields["subject"], fields["attribute"], value), fields["context"]
    )
    if not terms[1] and not any(unicodedata.category(char)[0] == "S" for char in text):
        raise InvalidInputError("text", "must hold a letter, a digit or a symbol")
    sentence, frame = sentence_keys(text)
    columns = {
        **fields,
        "space": place.space,
        "project": place.project,
        "type": str(memory_type),
        "text": text,
        "same": digest(value_key(value or text)),
        "frame": digest(place.space, place.project, frame),
        "sentence": digest(place.space, place.project, memory_type, fields["expert"], sentence),
        "terms": pack(terms),
    }
    return columns, terms


def _check_fields(memory_type: MemoryType, fields: Mapping[str, str | None]) -> None:
    if memory_type is MemoryType.JUDGMENT and not (fields["reason"] and fields["expert"]):
        raise InvalidInputError("reason" if not fields["reason"] else "expert", "must be given for a judgment")
    if fields["attribute"] is not None and fields["subject"] is None:
        raise InvalidInputError("subject", "must be given where an attribute is")


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
    return None if value is None else checked_text(value, field, _MAX_FIELD)


def _scrubbed(text: str, raw: Mapping[str, str | None]) -> tuple[str, dict[str, str | None]]:
    """
    Take secrets out of a text and its fields.

    What a value is called, or the sentence it stands in, may be what gives it away.
    """
    given = [name for name in raw if raw[name] is not None]
    # The lead of a value and the value have to be told apart again.
    lead = f"{raw['attribute']}: " if raw["attribute"] is not None else ""
    told = [f"{lead}{raw[name]}" if name == "value" else str(raw[name]) for name in given]
    plain, *scrubbed = scrub_all([text, *told])
    fields: dict[str, str | None] = {**raw, **dict(zip(given, scrubbed, strict=True))}
    value = fields["value"]
    if value is not None:
        value = value[len(lead) :] if value.startswith(lead) else scrub(str(raw["value"]))
        fields["value"] = marker("value") if plain != text and value in text and value not in plain else value
    return plain, fields


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
