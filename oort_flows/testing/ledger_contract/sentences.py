"""
Sentences: which texts say the same thing, and that a text is kept as it was given.
"""

from __future__ import annotations

from typing import Final

import pytest

from oort_flows.testing.ledger_contract.place import LedgerPlace, day

__all__ = ["SentenceRules"]

# One letter apart to a machine, and two different things to a person.
DIFFERENT: Final = [
    ("The review is on the 15th.", "The review is on the 16th."),
    ("Retry 3 times before giving up.", "Retry 5 times before giving up."),
    ("The port of kiwi is 8100.", "The port of kiwi is 8101."),
    ("The budget is 1,000 euros.", "The budget is 10,000 euros."),
    ("The limit is 0.5 seconds.", "The limit is 5 seconds."),
    ("The offset is -3 hours.", "The offset is 3 hours."),
    ("The release was on 2024-03-01.", "The release was on 2024-03-02."),
    ("The release is due in March.", "The release is due in May."),
    ("Standup is on Monday.", "Standup is on Sunday."),
    ("We need Python 3.11 here.", "We need Python 3.12 here."),
    ("Node kiwi-7 runs the cron jobs.", "Node kiwi-8 runs the cron jobs."),
    ("The fix is commit 9f1c2ab.", "The fix is commit 9f1c2ac."),
    ("Set OORT_LIMIT for that.", "Set OORT_LIMITS for that."),
    ("The file is src/parser.py.", "The file is src/parsers.py."),
    ("Ilmo eats fish.", "Ilmo does not eat fish."),
    ("Ilmo can drive.", "Ilmo cannot drive."),
    ("Ilmo can drive.", "Ilmo can't drive."),
    ("The build is stable.", "The build is never stable."),
    ("Runa still works here.", "Runa no longer works here."),
    ("Runa trusts the cache.", "Runa distrusts the cache."),
    ("Runa reviews the patches.", "Otso reviews the patches."),
    ("会議は15日です。", "会議は16日です。"),
]  # fmt: skip
SAME: Final = [
    ("Runa works in Malmö.", "runa works in malmö."),
    ("Runa works in Malmö.", "RUNA WORKS IN MALMÖ."),
    ("Runa works in Malmö.", "  Runa  works\tin\nMalmö. "),
    ("Runa works in Malmö.", "Runa works in Malmo\u0308."),
    ("Cafe\u0301 cre\u0300me is served here.", "Café crème is served here."),
    ("Deploys go out at 14:00.", "Deploys go out at 14:00. "),
    ("Retries: 3", "retries:  3"),
    ("東京タワーが見える。", "東京タワーが見える。 "),
]
EXACT: Final = [
    '---\nnote: "#1"\n',
    "```json\n{\n\t\"a\": [1, 2]\n}\n```\n",
    "  leading and trailing  ",
    "tabs\tand\r\nline ends\rof all kinds\n\n",
    "Cafe\u0301 and café",
    "私は静かな図書館が好きです。",
    "\U0001f9e0\u200d\u2066mixed\u2069 \u00a0 \ufeffmarks",
    "' OR 1=1; -- %s {} $1 \\1 \"x\"",
    "<memory>&amp;</memory>",
    "x",
]  # fmt: skip


class SentenceRules(LedgerPlace):
    """What counts as a repeat without a slot, and that no text is ever changed."""

    @pytest.mark.parametrize(("one", "other"), SAME)
    def test_same_sentence_is_a_repeat(self, one: str, other: str) -> None:
        """Case, spacing and Unicode form make no news; the text stays the one that was there first."""
        handle = self.handle()
        first = handle.remember(one)
        self.clock.advance()
        second = handle.remember(other)
        assert (first.outcome, second.outcome) == ("added", "reinforced")
        assert second.facts[0].id == first.facts[0].id
        assert [row["text"] for row in self.rows()] == [one]

    @pytest.mark.parametrize(("one", "other"), DIFFERENT)
    def test_sentences_that_differ_in_what_counts_are_two_memories(self, one: str, other: str) -> None:
        """A number, date, name, identifier or negation makes it another fact, whichever is said first."""
        handle = self.handle()
        assert [handle.remember(text).outcome for text in (one, other)] == ["added", "added"]
        assert [handle.remember(text).outcome for text in (one, other)] == ["reinforced", "reinforced"]
        assert sorted(row["text"] for row in self.rows() if row["closed_at"] is None) == sorted([one, other])

    def test_near_equal_sentence_that_was_left_alone_is_named(self) -> None:
        """The answer names the live memory that reads almost the same, and an unrelated one is not named."""
        handle = self.handle()
        handle.remember("Otso keeps bees.")
        first = handle.remember("The review of the billing service is on the 15th.").facts[0]
        second = handle.remember("The review of the billing service is on the 16th.").facts[0]
        assert list(first.left_alone) == []
        assert list(map(str, second.left_alone)) == [str(first.id)]
        assert list(second.closed) == []

    def test_a05_note_stored_three_times_is_one_memory(self) -> None:
        """Trailing spaces and case make no second note."""
        handle = self.handle()
        for text in ("Backups run at night.", "backups run at night.  ", "BACKUPS run at night. \n"):
            memory = str(handle.remember(text).facts[0].id)
            self.clock.advance()
        assert len(self.rows()) == 1
        assert handle.get(memory).confirmations == 3

    def test_a19_dates_one_digit_apart_are_two_memories(self) -> None:
        """The review on the 15th and the audit on the 16th are two things."""
        handle = self.handle()
        answers = [handle.remember(text) for text in ("review on the 15th", "audit on the 16th")]
        assert [answer.outcome for answer in answers] == ["added", "added"]
        assert len(self.believed()) == 2

    def test_same_sentence_of_two_types_is_two_memories(self) -> None:
        """A preference does not confirm a fact."""
        handle = self.handle()
        handle.remember("Reports are short.")
        assert handle.remember("Reports are short.", type="preference").outcome == "added"

    def test_same_sentence_after_its_end_is_a_new_memory(self) -> None:
        """Only a live memory can be reinforced."""
        handle = self.handle()
        first = str(handle.remember("Runa works in Malmö.").facts[0].id)
        self.clock.set(day(101))
        handle.end(first)
        self.clock.set(day(102))
        again = handle.remember("Runa works in Malmö.")
        assert again.outcome == "added"
        assert str(again.facts[0].id) != first
        assert handle.get(first).confirmations == 1

    @pytest.mark.parametrize("text", EXACT)
    def test_text_is_kept_byte_for_byte(self, text: str) -> None:
        """What was given is what is stored and what is read back, white space and Unicode form included."""
        handle = self.handle()
        memory = str(handle.remember(text, subject="page", attribute="body", value="v").facts[0].id)
        assert [row["text"] for row in self.rows()] == [text]
        assert handle.get(memory).text == text
        (hit,) = handle.recall("", subject="page", attribute="body").hits
        assert hit.memory.text == text

    def test_long_text_is_kept_whole(self) -> None:
        """A text of several hundred kilobytes comes back as it was."""
        text = "".join(f"Line {number} of a long log.\n" for number in range(20_000))
        handle = self.handle()
        memory = str(handle.remember(text).facts[0].id)
        assert handle.get(memory).text == text

    def test_fields_are_kept_as_given(self) -> None:
        """Subject, attribute and value are compared folded and shown as they were given."""
        handle = self.handle()
        memory = self.tell(handle, "  8100 ", "Port", subject="Billing  Service", source="runbook", type="procedural")
        found = handle.get(memory)
        assert (found.subject, found.attribute, found.value) == ("Billing  Service", "Port", "  8100 ")
        assert (found.source, found.type, str(found.space), found.project) == ("runbook", "procedural", "planet:siv", None)
        (row,) = self.rows()
        assert (row["subject"], row["attribute"], row["value"]) == ("Billing  Service", "Port", "  8100 ")
