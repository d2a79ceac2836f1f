"""
Bad input: refused with the name of the field, without its value, and with nothing written.
"""

from __future__ import annotations

from typing import Any

import pytest

from oort_flows.errors import InvalidInputError
from oort_flows.testing.ledger_contract.place import LedgerPlace, day

__all__ = ["RefusalRules"]

_NO_TEXT: list[Any] = ["", "  ", "\n\t", "\u00a0", "\u2026", "...", "?!", None, 5, b"bytes", ["text"], {}]
_BROKEN = ["half \ud800 pair", "\udfff", "nul \x00 inside"]
_NO_IDS: list[Any] = ["", " ", "nothing", "%", "*", "' OR 1=1; --", "0", "x" * 5_000]


class RefusalRules(LedgerPlace):
    """A mistake of the caller is a typed error that changes nothing."""

    @pytest.mark.parametrize("text", _NO_TEXT)
    def test_text_that_says_nothing_is_refused(self, text: Any) -> None:
        """Blank, only punctuation, or no text at all."""
        handle = self.handle()
        self.refuse("text", lambda: handle.remember(text))
        self.refuse("text", lambda: handle.judge(text, reason="r", expert="e"))

    @pytest.mark.parametrize("text", _BROKEN)
    @pytest.mark.parametrize("field", ["text", "subject", "attribute", "value", "source", "speaker", "context"])
    def test_text_that_no_database_can_keep_is_refused(self, field: str, text: str) -> None:
        """Half a surrogate pair and NUL are found out before anything is written."""
        handle = self.handle()
        said = {"text": "x is y", "subject": "x", "attribute": "is", "value": "y"} | {field: text}
        self.refuse(field, lambda: handle.remember(**said))

    @pytest.mark.parametrize("field", ["subject", "attribute", "value", "source", "speaker", "context"])
    @pytest.mark.parametrize("value", [5, b"x", ["x"], ""])
    def test_field_that_is_no_text_is_refused(self, field: str, value: Any) -> None:
        """Optional fields are text or absent."""
        handle = self.handle()
        said = {"text": "x is y", "subject": "x", "attribute": "is", "value": "y"} | {field: value}
        self.refuse(field, lambda: handle.remember(**said))

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("type", "opinion"), ("type", ""), ("type", 5), ("cardinality", "two"), ("cardinality", ""), ("cardinality", 1),
            ("pinned", "yes"),
        ],
    )  # fmt: skip
    def test_word_that_is_none_of_the_choices_is_refused(self, field: str, value: Any) -> None:
        """Types and cardinalities are fixed lists."""
        handle = self.handle()
        self.refuse(field, lambda: handle.remember("x is y", **{field: value}))

    def test_attribute_without_a_subject_is_refused(self) -> None:
        """A slot is a subject and an attribute; half of one is nobody's."""
        handle = self.handle()
        self.refuse("subject", lambda: handle.remember("x is y", attribute="port", value="8100"))

    @pytest.mark.parametrize("memory", _NO_IDS)
    @pytest.mark.parametrize("verb", ["get", "forget", "end", "pin", "explain"])
    def test_id_that_is_none_is_unknown(self, verb: str, memory: str) -> None:
        """Malformed or not, an id that nobody has is answered as an unknown one, or refused by name."""
        handle = self.handle()
        self.tell(handle, "8100")
        before = self.rows()
        with pytest.raises((LookupError, InvalidInputError)) as caught:
            getattr(handle, verb)(memory)
        if isinstance(caught.value, InvalidInputError):
            assert caught.value.field == "id"
        assert self.rows() == before

    @pytest.mark.parametrize("limit", [0, -1, 1.5, "5", None, True])
    def test_limit_that_is_no_positive_number_is_refused(self, limit: Any) -> None:
        """A limit of nothing is a mistake."""
        handle = self.handle()
        self.refuse("limit", lambda: handle.recall("port", limit=limit))

    @pytest.mark.parametrize("types", ["opinion", ["opinion"], [5], 5])
    def test_types_that_are_none_are_refused(self, types: Any) -> None:
        """An unknown type would filter everything away, silently."""
        handle = self.handle()
        self.refuse("types", lambda: handle.recall("port", types=types))

    @pytest.mark.parametrize("query", [None, 5, b"port", ["port"]])
    def test_query_that_is_no_text_is_refused(self, query: Any) -> None:
        """A query is text."""
        handle = self.handle()
        self.refuse("query", lambda: handle.recall(query))

    def test_vocabulary_with_an_unknown_word_is_refused(self) -> None:
        """An attribute has one value, many, or a fixed one."""
        with pytest.raises((InvalidInputError, ValueError)) as caught:
            self.ledger(vocabulary={"port": "several"})
        assert "several" not in str(caught.value)

    def test_zone_that_nobody_has_is_refused(self) -> None:
        """A zone is one of the names of the time zone database."""
        with pytest.raises(Exception, match="zone"):
            self.ledger(zone="Atlantis/Centre")

    def test_many_facts_with_a_bad_one_are_refused_as_a_whole(self) -> None:
        """Nothing of the list is written, and nothing of it is repeated."""
        handle = self.handle()
        facts: list[Any] = [{"text": "x is y"}, {"text": "y is z", "valid_from": "next-ish"}]
        with pytest.raises(InvalidInputError) as caught:
            handle.remember_many(facts)
        assert "valid_from" in str(caught.value)
        assert "next-ish" not in str(caught.value)
        assert self.rows() == []

    @pytest.mark.parametrize("facts", [[{}], [{"text": "x is y", "colour": "blue"}], ["x is y"], "x is y", [None], 5])
    def test_many_facts_that_are_no_mappings_of_fields_are_refused(self, facts: Any) -> None:
        """An unknown field is a mistake and not ignored."""
        handle = self.handle()
        with pytest.raises(InvalidInputError):
            handle.remember_many(facts)
        assert self.rows() == []

    def test_no_facts_at_all_are_nothing(self) -> None:
        """An empty list writes nothing, and says so."""
        answer = self.handle().remember_many([])
        assert (answer.outcome, list(answer.facts)) == ("nothing", [])

    def test_d07_error_names_the_field_and_not_the_secret(self) -> None:
        """A secret in a wrong place is not repeated by the error."""
        handle = self.handle()
        secret = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        for call, field in [
            (lambda: handle.remember("x is y", valid_from=secret), "valid_from"),
            (lambda: handle.remember("x is y", type=secret), "type"),
            (lambda: handle.recall("x", mode=secret), "mode"),
        ]:
            self.refuse(field, call, secret)

    def test_d01_secret_in_a_declared_memory_is_not_stored(self) -> None:
        """Text, value, subject, context and source are scrubbed before anything keeps them."""
        handle = self.handle()
        secret = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        text = f"The token is {secret}."
        memory = self.tell(handle, secret, "token", text=text, context=f"use {secret}", source=f"mail {secret}")
        assert secret not in repr(self.rows())
        assert secret not in repr(handle.get(memory))
        assert secret not in repr(handle.history(memory))
        assert handle.get(memory).text.startswith("The token is ")

    def test_d03_commit_hash_is_kept_whole(self) -> None:
        """What only looks like a secret stays."""
        handle = self.handle()
        text = "fixed in commit 9f1c2ab34de56f7890a1b2c3d4e5f60718293a4b"
        assert handle.get(str(handle.remember(text).facts[0].id)).text == text

    def test_refused_write_leaves_the_ledger_usable(self) -> None:
        """After any refusal the next write works."""
        handle = self.handle()
        self.refuse("text", lambda: handle.remember(""))
        self.tell(handle, "8100", at=day(101), outcome="added")
        assert self.read(handle) == ["8100"]
