"""
Judges of values: what stands behind ``password:`` may be a password, or the word "required".

A judge gets a match and answers where in the text the secret is, or ``None``. They look at shape, never at meaning: kinds of
characters, length, entropy, and a list of words that are no secrets.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

__all__ = ["LONGEST_JUDGED", "lower", "named", "span_of"]

LONGEST_JUDGED: Final = 256
"""Values of this many characters or more are not judged by shape; patterns stop there, and the rest goes with them."""

Span = tuple[int, int]
_Judge = Callable[["re.Match[str]"], "Span | None"]

_TRAILING: Final = ".,:;)]}>。，、！？；：）】』"
_QUOTED_REST: Final = {
    "dq": re.compile(r'(?:[^"\\\r\n]|\\[^\r\n])*+'),
    "sq": re.compile(r"(?:[^'\\\r\n]|\\[^\r\n])*+"),
    "eq": re.compile(r'(?:[^"\\\r\n]|\\(?!\\{0,6}"))*+'),
    "bq": re.compile(r"[^`\r\n]*+"),
    "tq": re.compile(r"[^”’»」\r\n]*+"),
    "element": re.compile(r"[^<>\r\n]*+"),
}
_BARE_REST: Final = re.compile(r"[^\s\"'`<>,;&\\]*+")

# What is filled in later or points elsewhere: ${NAME}, $(command), {{ name }}, %(name)s, <name>, $NAME, ****, our marker.
_TEMPLATE = re.compile(
    r"""\$[({]|\{\{|\{[A-Za-z_][\w.]*\}|\{\}|%\(|%[sdr]\b|%[A-Z_]{2,}%|<[^<>]*>?$|\$[A-Z_][A-Z0-9_]*$|\$[a-z_][a-z_0-9]*$
    |\$env:|(.)\1{3,}$|\.{2,}$|\[secret:|!(?:vault|secret|Ref|Sub|env|ImportValue)\b|(?:op|vault|env|file|ref|arn|ssm|sops|keyring):""",
    re.VERBOSE,
)
_FILL_IN = re.compile(
    r"(?i)(?:your|my|the|some|insert|enter|replace|change|put|todo)[-_ ]?[a-z_-]*|x{3,}|.*(?:-here|_here|goes-here)"
)
_CALL_OR_INDEX = re.compile(r"[A-Za-z_][A-Za-z_.]*(?:\d[\w.]*)?[(\[]")
_DOTTED_NAME = re.compile(r"[A-Za-z_]+(?:\??\.[A-Za-z_]+)+")
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[A-Z]?[a-z0-9_.@ -]*[/\\])*[A-Z]?[a-z0-9_.@ -]*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_NUMBER = re.compile(r"[+-]?[\d.,_]+(?:e[+-]?\d+)?(?:%|[kmgt]i?b?|m?s|min|h|d)?", re.IGNORECASE)
_DATE_OR_TIME = re.compile(
    r"\d{4}-\d\d(?:-\d\d(?:[T ][\d:.]+(?:Z|[+-][\d:]+)?)?)?|\d{1,2}[:.]\d\d(?::\d\d)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
)
_VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:[-+.]?[a-z]+\.?\d*)?", re.IGNORECASE)
# my-app-secret-2, utf8mb4_bin, worker01: words with a number behind them, joined.
_NAME = re.compile(r"[a-z]+\d{0,4}(?:[-_./:][a-z]*\d{0,4})*")
_DIGEST = re.compile(r"[0-9a-fA-F]{7,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAMED_DIGEST = re.compile(r"(?i)(?:sha-?\d{1,3}|md5|blake\w{1,3})[:=-]")
_CAMEL = re.compile(r"[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)*\d?")
_TYPE_NAME = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Key|Token)(?:Types?|s)?")
# Between two pieces of a key: white space, escapes of it, and what quotes a line or goes on in the next one.
_GAP = r"(?:\s|\\[nrt\\]|[\"'`>+|,])"
_KEY_RUN = re.compile(r"[A-Za-z0-9+/=]{16,}+")
_KEY_HEADERS = re.compile(rf"(?:{_GAP}{{0,8}}+[A-Z][A-Za-z-]{{2,30}}: [^\r\n\\]{{0,200}}+){{1,8}}+")
_KEY_LINES = re.compile(rf"(?:{_GAP}{{0,8}}+[A-Za-z0-9+/=]{{16,}}+)*+")
# A short piece of a key, alone on its line: no word has a digit, a sign, or upper case behind its first letters.
_KEY_REST = re.compile(
    r"""(?:\s|\\[nrt\\]|[>+|]){0,8}+=?(?=[A-Za-z]{0,15}(?:[A-Za-z][0-9]|[0-9][A-Za-z]|[+/]|[a-z][A-Z]|[A-Z]{3}|=))
    [A-Za-z0-9+/]{3,15}+={0,2}(?=[^\S\r\n]*(?:[\r\n\"'`\\…]|\.\.|\Z))""",
    re.VERBOSE,
)
_KEY_TEMPLATE = re.compile(r"(?i)\$?\{{1,2}[a-z_.]{0,60}\}{1,2}|<[a-z_.-]{1,60}>|%s|%\([a-z_]{1,60}\)s|\[secret:.{0,80}")
_KEY_PROSE = re.compile(r"(?i)[\s\"'`,]*(?:and|or|to|until|till|through|then|up to|ends?)\b")
_KEY_LIMIT: Final = 4_000  # characters between the lines around it that are a key without looking like one
_KEYWORD = re.compile(r"(?i)pass|pwd|secret|token|key|cred|wort|пароль|密码|パスワード")
_STRONG = re.compile(r"[!@#$%^&*+=~?|]")


def lower(text: str) -> str:
    """
    Return *text* in lower case and of the same length, so that places in one are places in the other.

    >>> len(lower("İstanbul")), lower("PASSWORD")
    (8, 'password')
    """
    # U+0130 is the only character whose lower case is two.
    return text.replace("\u0130", "i").lower()


def span_of(match: re.Match[str]) -> Span:
    """Return where the secret of *match* is: its last group that took part, else all of it."""
    return match.span(match.lastindex or 0)


def named(words: Mapping[str, list[str]]) -> dict[str | None, _Judge]:
    """Build the judges that rules name, over the word lists of the rules file."""
    judge = _Words(words)
    return {
        "mixed": _mixed,
        "literal": judge.literal,
        "opaque": judge.opaque,
        "no-digest": judge.no_digest,
        "basic": _basic,
        "key-block": _key_block,
        "curl": judge.curl,
        "mysql": judge.mysql,
        "flag": judge.flag,
        "password": judge.password,
        "prose": judge.prose,
        "credential": judge.credential,
    }


def _value(match: re.Match[str]) -> tuple[Span, str]:
    """Return span and text of the value: grown past the bound of the pattern, without the end of the sentence around it."""
    start, end = span_of(match)
    if end - start >= LONGEST_JUDGED and match.lastgroup:
        grown = (_QUOTED_REST.get(match.lastgroup) or _BARE_REST).match(match.string, end)
        end = grown.end() if grown else end
    value = match.string[start : min(end, start + LONGEST_JUDGED)]
    if match.lastgroup == "bare" and end - start < LONGEST_JUDGED and not value.startswith(("${", "$(", "{{")):
        value = value.rstrip(_TRAILING)
        end = start + len(value)
    return (start, end), value


def _is_quoted(match: re.Match[str]) -> bool:
    return (match.lastgroup or "") in _QUOTED_REST


def _entropy(value: str) -> float:
    """Return the Shannon entropy of *value*, in bits a character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


def _kinds(value: str) -> set[str]:
    kinds = set()
    for c in value:
        if c.isdigit():
            kinds.add("digit")
        elif c.isupper():
            kinds.add("upper")
        elif c.isalpha():
            kinds.add("lower")
        else:
            kinds.add("symbol")
    return kinds


def _mixed(match: re.Match[str]) -> Span | None:
    """Accept what mixes upper case, lower case and digits: a hex digest of 40 characters does not."""
    value = match[match.lastindex or 0]
    return span_of(match) if {"upper", "lower", "digit"} <= _kinds(value) else None


def _basic(match: re.Match[str]) -> Span | None:
    """Accept base64 of ``user:password``."""
    value = match[match.lastindex or 0]
    try:
        text = base64.b64decode(value + "=" * (-len(value) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return span_of(match) if ":" in text and text.isprintable() else None


def _key_block(match: re.Match[str]) -> Span | None:
    """Accept a block with its end, whatever stands in between; without an end the lines that a key is made of."""
    body = match["body"]
    if match["end"] and _is_key(body):
        return match.span()
    at = _KEY_HEADERS.match(body)
    begin = at.end() if at else 0
    lines = _KEY_LINES.match(body, begin)
    end = lines.end() if lines else begin
    if _is_constant(body):
        end = end if {"upper", "lower", "digit"} <= _kinds(body[begin:end]) else begin
    else:
        rest = _KEY_REST.match(body, end)
        end = rest.end() if rest else end
    return None if end == begin else (match.start(), match.start("body") + end)


def _is_key(body: str) -> bool:
    """Tell what stands in a block from what stands between two mentions of its first and last line."""
    text = "".join(re.sub(r"\\[nrt]", " ", body).split())
    if not any(c.isalnum() for c in text) or _KEY_TEMPLATE.fullmatch(text):
        return False
    runs = _KEY_RUN.findall(body)
    if 2 * sum(map(len, runs)) >= len(text):
        return True
    if len(text) > _KEY_LIMIT or _KEY_PROSE.match(body):
        return False
    # Lines of a key that are quoted one by one have nothing but signs between them.
    between = "".join(text.split(text[0])[1::2]) if _is_constant(body) else ""
    return not any(c.isalnum() for c in between)


def _is_constant(body: str) -> bool:
    """Tell a first line that is quoted by itself, as a constant in code or in a sentence; code or words follow."""
    return body[:1] in ('"', "'", "`", ")")


class _Words:
    """Judges that know the word lists."""

    def __init__(self, words: Mapping[str, list[str]]) -> None:
        self._placeholders = frozenset(words["placeholders"])
        self._prose = frozenset(words["prose"])
        self._technical = frozenset(words["technical"])

    def literal(self, match: re.Match[str]) -> Span | None:
        """Accept everything but templates."""
        span, value = _value(match)
        return None if _TEMPLATE.match(value) else span

    def flag(self, match: re.Match[str]) -> Span | None:
        """Accept what a command line gives as a password: anything but templates, paths and words of explanation."""
        span, value = _value(match)
        return None if len(value) < 3 or self._stands_for_something(value) else span

    def curl(self, match: re.Match[str]) -> Span | None:
        """Accept ``-u user:password`` behind curl and its like; elsewhere that is a user and a group."""
        return self.flag(match) if self._line_before(match, "curl", "wget", "http ", "https ") else None

    def mysql(self, match: re.Match[str]) -> Span | None:
        """Accept ``-p`` with a value glued on behind the MySQL clients; elsewhere that is a port or a path."""
        return self.flag(match) if self._line_before(match, "mysql", "mariadb") else None

    def password(self, match: re.Match[str]) -> Span | None:
        """Accept an assigned password, the quoted ones and those of environment files more freely."""
        span, value = _value(match)
        if len(value) >= LONGEST_JUDGED:
            return span
        if len(value) < 3 or self._stands_for_something(value):
            return None
        if self._is_environment(match, span[0]) and not _NUMBER.fullmatch(value):
            return span
        if any(c.isspace() for c in value):
            return None if self._is_sentence(value) else span
        if self._is_variable(value):
            return None
        if _NUMBER.fullmatch(value):
            return span if value.isdigit() and len(value) >= 4 else None
        free = _is_quoted(match) or self._is_parameter(match, span[1])
        return span if free or self._has_shape(value, least=4) else None

    def prose(self, match: re.Match[str]) -> Span | None:
        """Accept in running text only what no word looks like."""
        span, value = _value(match)
        if len(value) >= LONGEST_JUDGED:
            return span
        if len(value) < 6 or any(c.isspace() for c in value) or self._stands_for_something(value):
            return None
        pieces = re.split(r"[-_./+:]", value.lower())
        if any(piece in self._technical for piece in pieces) or (len(pieces) > 1 and _NAME.fullmatch(value)):
            return None
        return span if self._has_shape(value, least=6) else None

    def credential(self, match: re.Match[str]) -> Span | None:
        """Accept an assigned token or key: long, and mixing letters and digits or random by its entropy."""
        span, value = _value(match)
        if len(value) < 8 or any(c.isspace() for c in value) or self._stands_for_something(value):
            return None
        if len(value) >= LONGEST_JUDGED or (self._is_environment(match, span[0]) and value.isalpha() and len(value) >= 12):
            return span
        return span if self._is_random(value) else None

    def opaque(self, match: re.Match[str]) -> Span | None:
        """Accept in running text a token of 16 characters or more that looks random."""
        span, value = _value(match)
        if len(value) < 16 or any(c.isspace() for c in value) or self._stands_for_something(value):
            return None
        return span if len(value) >= LONGEST_JUDGED or self._is_random(value) else None

    def no_digest(self, match: re.Match[str]) -> Span | None:
        """Accept what :meth:`opaque` does, except digests and UUIDs, which follow such words by chance."""
        return None if _DIGEST.fullmatch(_value(match)[1]) else self.opaque(match)

    # What the judges ask ---------------------------------------------------------------------------------------------

    def _stands_for_something(self, value: str) -> bool:
        """Tell placeholders, references, paths, addresses, dates and versions."""
        if value.lower().strip("<>[](){}.!?*_-") in self._placeholders:
            return True
        begins = (_TEMPLATE, _NAMED_DIGEST, _CALL_OR_INDEX, _URL)
        is_whole = (_FILL_IN, _DOTTED_NAME, _PATH, _DATE_OR_TIME, _VERSION)
        return any(form.match(value) for form in begins) or any(form.fullmatch(value) for form in is_whole)

    @staticmethod
    def _is_variable(value: str) -> bool:
        """Tell user_password, newToken: the name of a variable that holds one."""
        return bool(_KEYWORD.search(value)) and all(c.isalpha() or c in "_-." for c in value)

    def _is_sentence(self, value: str) -> bool:
        words = re.findall(r"[^\W\d_]+", value.lower())
        plain = len(words) < 3 and not _STRONG.search(value) and not any(c.isdigit() for c in value)
        return plain or any(word in self._prose or _KEYWORD.search(word) for word in words)

    @staticmethod
    def _is_environment(match: re.Match[str], start: int) -> bool:
        """Tell ``NAME=value``: an upper-case name and no space around the sign."""
        name, sign, rest = match.string[match.start() : start].partition("=")
        return bool(sign) and name.isupper() and not rest.strip("\"'")

    @staticmethod
    def _is_parameter(match: re.Match[str], end: int) -> bool:
        """Tell a part of a query or connection string, which begins or ends at a mark of its own."""
        text = match.string
        return text[max(0, match.start() - 1) : match.start()] in {";", "?", "&"} or text[end : end + 1] in {";", "&"}

    @staticmethod
    def _has_shape(value: str, *, least: int) -> bool:
        """Tell a password from a word: digits among letters, a strong symbol, or case that no word has."""
        kinds = _kinds(value)
        if len(value) < least or not kinds & {"lower", "upper"}:
            return False
        if "digit" in kinds or _STRONG.search(value):
            return True
        return {"upper", "lower"} <= kinds and len(value) >= 8 and not _CAMEL.fullmatch(value) and "symbol" not in kinds

    @staticmethod
    def _is_random(value: str) -> bool:
        """Tell letters mixed with digits, or enough of both cases without a pattern, from names of things and types."""
        kinds = _kinds(value)
        if _TYPE_NAME.fullmatch(value):
            return False
        if _NAME.fullmatch(value) and not (len(value) >= 16 and _DIGEST.fullmatch(value)):
            return False
        if "digit" in kinds and kinds & {"lower", "upper"}:
            return True
        mixed = {"upper", "lower"} <= kinds and not _CAMEL.fullmatch(value)
        return mixed and len(value) >= 16 and _entropy(value) >= 3.5

    @staticmethod
    def _line_before(match: re.Match[str], *programs: str) -> bool:
        """Tell whether one of *programs* is named on the line, in the 300 characters before the match or within it."""
        text = match.string
        near = text[max(0, match.start() - 300) : match.end()]
        return any(program in near.rpartition("\n")[2].lower() for program in programs)
