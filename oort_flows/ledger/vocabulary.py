"""Attributes, and how many values each has at one time."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from oort_flows.errors import InvalidInputError
from oort_flows.models.memories import Cardinality
from oort_flows.storage.folding import name_key

__all__ = ["BUILT_IN", "Vocabulary"]

_KINDS: Final = ("one", "many", "fixed")
_MANY: Final[Cardinality] = "many"
_FIXED: Final[Cardinality] = "fixed"

BUILT_IN: Final[Mapping[str, Cardinality]] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "speaks",
                "languages",
                "language spoken",
                "likes",
                "dislikes",
                "allergic to",
                "allergies",
                "friends",
                "children",
                "siblings",
                "hobbies",
                "skills",
                "tags",
                "visited",
                "owns",
                "knows",
                "members",
                "depends on",
            ),
            _MANY,
        ),
        **dict.fromkeys(
            ("birthplace", "born in", "birthday", "date of birth", "born on", "place of birth", "mother tongue"),
            _FIXED,
        ),
    }
)
"""What is so nearly everywhere; any other attribute has one value at a time."""


class Vocabulary:
    """
    How many values attributes have: what was declared for this ledger, else what is built in, else one.

    Attributes are compared up to case, spacing and Unicode form, and ``_`` and ``-`` count as spaces.

    Parameters
    ----------
    attributes:
        ``one``, ``many`` or ``fixed`` by attribute. A fixed one is never succeeded by another value, only corrected.

    Raises
    ------
    InvalidInputError
        If *attributes* is no such mapping.

    Example
    -------
    >>> vocabulary = Vocabulary({"on call": "many"})
    >>> vocabulary.cardinality("on_call"), vocabulary.cardinality("born_in"), vocabulary.cardinality("port")
    ('many', 'fixed', 'one')
    """

    def __init__(self, attributes: Mapping[str, str] | None = None) -> None:
        if attributes is not None and not isinstance(attributes, Mapping):
            raise InvalidInputError("vocabulary", "must map attributes to one, many or fixed")
        known: dict[str, Cardinality] = dict(BUILT_IN)
        for attribute, kind in (attributes or {}).items():
            if not isinstance(attribute, str) or kind not in _KINDS:
                raise InvalidInputError("vocabulary", "must map attributes to one, many or fixed")
            known[_key(attribute)] = cast("Cardinality", kind)
        self._known = known

    def cardinality(self, attribute: str | None) -> Cardinality:
        """Return how many values *attribute* has."""
        return "one" if attribute is None else self._known.get(_key(attribute), "one")

    def chosen(self, given: object, attribute: str | None) -> Cardinality:
        """Return the cardinality that was *given* with a fact, else that of *attribute*."""
        if given is None:
            return self.cardinality(attribute)
        if given not in _KINDS:
            raise InvalidInputError("cardinality", "must be one, many or fixed")
        return given


def _key(attribute: str) -> str:
    return name_key(attribute.replace("_", " ").replace("-", " "))
