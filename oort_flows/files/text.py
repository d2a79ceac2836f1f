"""
Lines of a text: CRLF, lone CR and LF end a line, and nothing else does.

``str.splitlines`` is out of the question: it also breaks at U+2028, U+0085, vertical tab and form feed, which ordinary
texts and code contain.
"""

from __future__ import annotations

import re

__all__ = ["replace_surrogates", "slice_lines", "split_lines"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def split_lines(text: str) -> list[str]:
    r"""
    Cut *text* into lines without their ends; a final empty piece does not count.

    >>> split_lines("a\r\nc\rd\r\n"), split_lines("a\n\n"), split_lines("")
    (['a', 'c', 'd'], ['a', ''], [])
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    pieces = text.split("\n")
    if not pieces[-1]:
        pieces.pop()
    return pieces


def slice_lines(text: str, lines: list[str], start: int, end: int) -> str:
    r"""
    Join lines *start* to *end* (1-based, inclusive) of *text*, whose lines are *lines*.

    A final LF follows if the slice stops before the last line or the text itself ends in a line end.

    >>> slice_lines("one\ntwo", ["one", "two"], 1, 1), slice_lines("one\ntwo", ["one", "two"], 2, 2)
    ('one\n', 'two')
    """
    joined = "\n".join(lines[start - 1 : end])
    return joined + "\n" if end < len(lines) or text.endswith(("\n", "\r")) else joined


def replace_surrogates(text: str) -> str:
    """Replace every half of a surrogate pair by U+FFFD, so that *text* can be written to JSON."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
