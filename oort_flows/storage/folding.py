"""
Folding: what is left of a text for matching.

Both engines index what is folded here, so they find the same. Two folds serve two ends. :func:`tokens` forgives much (case,
accents, Unicode form, endings of English words) and cuts what is written without spaces into single characters and pairs.
:func:`sentence_key` forgives little: two sentences with one key say the same thing, so every number, name, sign and
negation stays in it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

__all__ = ["digest", "name_key", "sentence_key", "sentence_keys", "stem", "tokens", "value_key"]

_ASCII_RUN: Final = re.compile(r"[a-z0-9]+")
_LONGEST: Final = 64
_LETTERS: Final = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th"})

# Written without spaces: Thai, Lao, Myanmar, Khmer, kana, Han, Hangul (for its particles), and Han beyond the first plane.
_UNSPACED: Final = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7AF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
# Marks that change how a letter sounds and not which it is: Latin accents, Hebrew points, Arabic vowels.
_ACCENTS: Final = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]")


def tokens(text: str) -> list[str]:
    """
    Return the tokens of *text* in order, repeats included.

    >>> tokens("Bjørn's Ports, 8100"), tokens("東京tower")
    (['bjorn', 's', 'port', '8100'], ['東', '東京', '京', 'tower'])
    """
    if text.isascii():
        return [_token(run) for run in _ASCII_RUN.findall(text.lower())]
    return [token for run in _runs(_plain(text)) for token in _cut(run)]


def _plain(text: str) -> str:
    """Return *text* casefolded, without accents, in NFKC."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", folded)).casefold().translate(_LETTERS)


def _runs(text: str) -> Iterator[str]:
    """Yield the runs of letters, digits and the marks that belong to them; a digit of any script as its ASCII one."""
    run: list[str] = []
    for char in text:
        if char.isdecimal():
            run.append(str(unicodedata.decimal(char)))
        elif char.isalnum() or (run and unicodedata.category(char)[0] == "M"):
            run.append(char)
        elif run:
            yield "".join(run)
            run = []
    if run:
        yield "".join(run)


def _cut(run: str) -> Iterator[str]:
    if run.isascii():
        yield _token(run)
        return
    word: list[str] = []
    before = ""
    for char in run:
        if _is_unspaced(char):
            if word:
                yield _token("".join(word))
                word = []
            if before:
                yield before + char
            yield char
            before = char
        else:
            word.append(char)
            before = ""
    if word:
        yield _token("".join(word))


def _is_unspaced(char: str) -> bool:
    point = ord(char)
    return point >= 0x0E00 and any(low <= point <= high for low, high in _UNSPACED)


@lru_cache(maxsize=1 << 15)
def _token(run: str) -> str:
    if len(run) > _LONGEST:
        return run[:_LONGEST] + hashlib.blake2b(run.encode(), digest_size=8).hexdigest()
    return stem(run)


_VOWEL: Final = re.compile("[aeiouy]")
_MEASURE: Final = re.compile("[aeiouy][^aeiouy]")
_SHORT: Final = re.compile("[^aeiou][aeiouy][^aeiouwxy]$")


_IRREGULAR: Final = {
    past: verb
    for verb, forms in {
        "begin": "began begun", "break": "broke broken", "build": "built", "buy": "bought", "choose": "chose chosen",
        "drink": "drank", "drive": "drove driven", "eat": "ate eaten", "give": "gave given", "go": "went gone",
        "grow": "grew grown", "hold": "held", "keep": "kept", "lead": "led", "make": "made", "meet": "met", "pay": "paid",
        "run": "ran", "sell": "sold", "send": "sent", "sleep": "slept", "speak": "spoke spoken", "take": "took taken",
        "teach": "taught", "win": "won", "write": "wrote written",
    }.items()
    for past in forms.split()
}  # fmt: skip


def stem(word: str) -> str:
    """
    Return *word* without its English inflection; whatever holds anything but ASCII letters stays as it is.

    These are the steps of Porter's algorithm (1980) that undo plurals and verb endings: 1a, 1b, 1c and 5a. The past of
    common irregular verbs is that of their present.

    >>> [stem(word) for word in ("listens", "listening", "moved", "uses", "using", "cities", "led", "8100s")]
    ['listen', 'listen', 'move', 'us', 'us', 'citi', 'lead', '8100s']
    """
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    word = _IRREGULAR.get(word, word)
    if word.endswith("s") and not word.endswith("ss"):
        word = word[:-2] if word.endswith(("sses", "ies")) else word[:-1]
    word = _without_verb_ending(word)
    if word.endswith("y") and _VOWEL.search(word[:-1]):
        word = word[:-1] + "i"
    if word.endswith("e"):
        rest = word[:-1]
        measure = len(_MEASURE.findall(rest))
        if measure > 1 or (measure == 1 and not _SHORT.search(rest)):
            return rest
    return word


def _without_verb_ending(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _MEASURE.search(word[:-3]) else word
    rest = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    if not rest or not _VOWEL.search(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) > 1 and rest[-1] == rest[-2] and rest[-1] not in "aeioulsz":
        return rest[:-1]
    return rest + "e" if len(_MEASURE.findall(rest)) == 1 and _SHORT.search(rest) else rest


# What may stand around a word and says nothing about it.
_AROUND: Final = "\"'`´“”„‘’‚«»‹›()[]{}.,;:!?…。，、！？；：「」『』（）*_"
# A leading point, bracket or sign may belong to what follows: .5, !important, (2).
_BEFORE: Final = "\"'`´“”„‘’‚«»‹›([{，、。「『（*_"
_SPELT_OUT: Final = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "it's": "it is",
    "i'm": "i am",
}
_ARTICLES: Final = frozenset({"the", "The", "an", "An"})


def sentence_key(text: str) -> str:
    """
    Return *text* up to case, spacing, Unicode form, quotes, closing punctuation, English articles and contractions.

    >>> sentence_key("The  service isn't on port 8100.") == sentence_key("service is not on port 8100")
    True
    >>> sentence_key("We use C++.") == sentence_key("We use C#.")
    False
    """
    return sentence_keys(text)[0]


def sentence_keys(text: str) -> tuple[str, str]:
    """
    Return the key of *text* and its frame: the key with numbers, names inside the sentence and negations blotted out.

    Sentences with one frame are nearly equal: they differ in nothing but these.

    >>> sentence_keys("The review is on the 15th.")[1] == sentence_keys("The review is not on the 16th.")[1]
    True
    """
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text).replace("’", "'")
    key: list[str] = []
    frame: list[str] = []
    for raw in normal.split():
        if raw.isalpha():
            word, folded = raw, raw.casefold()
        else:
            word = raw.rstrip(_AROUND).lstrip(_BEFORE) or raw
            folded = word.casefold()
        if word in _ARTICLES or (word == "a" and not key):
            continue
        spelt = _spelt_out(folded) if "'" in folded or folded == "cannot" else folded
        if not folded.isalpha() and _DIGIT.search(folded):
            frame.append("#")
        elif key and word[0].isupper():
            frame.append("@")
        elif spelt is folded:
            if folded not in _NEGATIONS:
                frame.append(folded)
        else:
            frame += [part for part in spelt.split() if part not in _NEGATIONS]
        key.append(spelt)
    return " ".join(key), " ".join(frame)


def _spelt_out(word: str) -> str:
    return _SPELT_OUT.get(word) or (f"{word[:-3]} not" if word.endswith("n't") else word)


_DIGIT: Final = re.compile(r"\d")
_NEGATIONS: Final = frozenset(
    ("not", "no", "never", "without", "cannot", "nicht", "kein", "keine", "nie", "pas", "jamais", "nunca", "não")
)


def value_key(value: str) -> str:
    """
    Return *value* up to case, spacing and Unicode form: two values with one key are the same.

    >>> value_key(" New  York ") == value_key("new york")
    True
    """
    folded = value.lower() if value.isascii() else unicodedata.normalize("NFKC", value).casefold()
    return " ".join(folded.split())


name_key = value_key
"""Subjects and attributes are compared as values are."""


def digest(*parts: str | None) -> bytes:
    """Return 16 bytes that stand for *parts*; no two lists of parts have the same, wherever a separator stands."""
    raw = [b"\xff" if part is None else part.encode("utf-8", "surrogatepass") for part in parts]
    # Lengths first: what follows can be cut in one way only. No text is encoded with the byte that stands for none.
    lengths = ",".join([str(len(piece)) for piece in raw])
    return hashlib.blake2b(b"%b:%b" % (lengths.encode(), b"".join(raw)), digest_size=16).digest()
