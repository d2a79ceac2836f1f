"""Folding: what a search forgives, and what makes two sentences one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oort_flows.storage.folding import digest, sentence_key, sentence_keys, stem, tokens, value_key

texts = st.text(max_size=60)


@given(texts)
def test_tokens_are_letters_digits_and_marks_only(text):
    """Nothing in a token could be taken for a part of a query language."""
    for token in tokens(text):
        assert token
        assert all(char.isalnum() or unicodedata.category(char)[0] == "M" for char in token)
        assert len(token) <= 80


@given(texts)
def test_tokens_do_not_depend_on_the_unicode_form(text):
    """Composed, decomposed and compatible spellings have the same tokens."""
    assert tokens(text) == tokens(unicodedata.normalize("NFC", text)) == tokens(unicodedata.normalize("NFD", text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Malmö", "malmo"), ("BJØRN", "bjorn"), ("Straße", "strass"), ("ＦＵＬＬ １２", "full"), ("٣٤", "34"),
        ("Cafés", "cafe"),
        ("東京都", "京都"), ("東京都", "都"), ("한국어", "국어"), ("ภาษาไทย", "ไท"), ("हिन्दी", "हिन्दी"), ("שָׁלוֹם", "שלום"),
        ("kiwi-7", "7"), ("check_all", "check"), ("don't", "t"),
    ],
)  # fmt: skip
def test_text_of_any_script_has_tokens(text, found):
    """Case, accents and width are forgiven; what is written without spaces is cut into characters and pairs."""
    assert found in tokens(text)


def test_very_long_words_stay_apart():
    """A word beyond any dictionary is shortened, and told apart by a digest."""
    one, other = tokens("a" * 5_000 + "b"), tokens("a" * 5_000 + "c")
    assert one != other
    assert len(one[0]) == 80


@pytest.mark.parametrize(
    "family",
    [
        ("listen", "listens", "listened", "listening"), ("city", "cities"), ("move", "moves", "moved", "moving"),
        ("use", "uses", "used", "using"), ("deploy", "deploys", "deployed"), ("agree", "agrees", "agreed"),
        ("database", "databases"), ("stop", "stopped", "stopping"), ("class", "classes"),
    ],
)  # fmt: skip
def test_endings_of_english_words_are_forgiven(family):
    """A plural or a tense does not hide a word."""
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize("word", ["8100s", "a1ing", "straße", "is", "größed", "v2ed"])
def test_what_is_no_english_word_keeps_its_end(word):
    """Identifiers and other languages are left as they are."""
    assert stem(word) == word


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The service listens on 8100.", "the  service listens on 8100"),
        ("Café", "cafe\u0301"),
        ("It isn't done!", "It is not done"),
        ("We cannot ship", "we can't ship."),
        ("An error is logged", "error is logged"),
        ("“Quoted”", "quoted"),
    ],
)
def test_sentences_that_say_the_same_have_one_key(one, other):
    """Case, spacing, Unicode form, quotes, closing points, articles and contractions say nothing."""
    assert sentence_key(one) == sentence_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("port 8100", "port 8101"), ("limit 1.5", "limit 15"), ("limit 1.5", "limit 1 5"), ("offset -3", "offset 3"),
        ("use C++", "use C#"), ("use C", "use C++"), ("it is done", "it is not done"), ("it was done", "it is done"),
        ("Malmö", "Malmo"), ("plan A", "plan B"), ("we go with plan A", "we go with plan"), ("5 %", "5"), ("<5 ms", ">5 ms"),
        ("a.py", "b.py"), ("!important", "important"), ("Siv called Otso", "Otso called Siv"), ("会议15日", "会议16日"),
    ],
)  # fmt: skip
def test_sentences_that_differ_in_what_counts_have_two_keys(one, other):
    """No number, name, sign, order or negation gets lost."""
    assert sentence_key(one) != sentence_key(other)


def test_frame_is_what_sentences_share_that_differ_in_a_number_name_or_negation():
    """It is how a near-equal memory is found; an unrelated one has another frame."""
    frames = {
        sentence_keys(text)[1]
        for text in ("The review is on the 15th.", "the review is on the 16th", "The review is not on the 16th.")
    }
    assert len(frames) == 1
    assert sentence_keys("The audit is on the 16th.")[1] not in frames
    assert sentence_keys("Ask Runa first.")[1] == sentence_keys("Ask Otso first.")[1]


@given(st.lists(st.none() | texts, max_size=4), st.lists(st.none() | texts, max_size=4))
def test_digest_tells_lists_of_parts_apart(one, other):
    """Wherever a separator stands, and whether a part is missing or empty."""
    assert (digest(*one) == digest(*other)) == (one == other)


def test_values_are_the_same_up_to_case_spacing_and_form():
    """A value is a name: its accents and signs count."""
    assert value_key(" New  YORK") == value_key("new york")
    assert value_key("Zoe\u0308") == value_key("ZOË")
    assert len({value_key(value) for value in ("C", "C++", "C#", "-5", "5", "é", "e")}) == 7
