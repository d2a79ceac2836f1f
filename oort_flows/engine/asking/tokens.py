"""
From a query to lexemes: its words with what they mean, and everything that only looks like a time made blind.

Quoted text, identifiers (``backup-2026-03-01.tar``, ``ADR-2025-11``), versions, paths and addresses never mean a time; they
become lexemes without a meaning, as any other word does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from oort_flows.engine.asking.calendars import Period, day_of, month_of, quarter_of
from oort_flows.engine.asking.languages import Language, alphabetic, choose, fold, ideographic

__all__ = ["Figures", "Lexeme", "Reading", "read"]

IDEOGRAPHIC = r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_KANA = re.compile(r"[\u3040-\u30ff]")
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHIC}]")
_WIDE = {0xFF10 + digit: 0x30 + digit for digit in range(10)} | {0xFF0F: 0x2F, 0xFF0D: 0x2D, 0x2019: 0x27}
_QUOTES = {'"': '"', "“": "”", "„": "“”", "«": "»", "‹": "›", "`": "`", "「": "」", "『": "』", "《": "》", "‘": "'’"}

_NUMERAL = r"[0-9]{1,4}|[〇零一二两兩三四五六七八九十]{1,4}"
_TOKEN = re.compile(
    rf"""
    (?P<space>\s+)
    | (?P<zh_week>(?P<which>上上|上|这|這|本|下)?(?:个|個)?(?:周|週|星期|礼拜|禮拜)
        (?P<weekday>[一二三四五六日天])(?![0-9个個]))
    | (?:第)?(?P<count>{_NUMERAL})(?P<unit>
        年(?=级|級)|个?季度|個季度|四半期|个月|個月|か月|ヶ月|ケ月|カ月|箇月|月份|月(?![天兔花])|年間|年间|年度|年
        |週間|个星期|個星期|星期|周|週|礼拜|日間|天|日|号|號|小时|個小時|小時|个小时|時間|分钟|分鐘|分間|時|点|點)
    | (?P<ideograph>[{IDEOGRAPHIC}])
    | (?P<dash>[–—~〜～]|-(?=\s))
    | (?P<comma>,)
    | (?P<stop>[.?!;:…。？！；：，、()\[\]{{}}<>|"“”„«»‹›`「」『』《》‘\u0000])
    | (?P<run>[^\s{IDEOGRAPHIC}–—~〜～,?!;…。？！；：，、()\[\]{{}}<>|"“”„«»‹›`「」『』《》‘\u0000]+)
    """,
    re.VERBOSE,
)
_CJK_UNITS = {
    "week": "週間 个星期 個星期 星期 周 週 礼拜",
    "month": "个月 個月 か月 ヶ月 ケ月 カ月 箇月",
    "year": "年間 年间 年",
    "day": "日間 天",
    "hour": "小时 個小時 小時 个小时 時間",
    "minute": "分钟 分鐘 分間",
    "quarter": "个季度 個季度",
}
_CJK_UNIT = {written: unit for unit, listed in _CJK_UNITS.items() for written in listed.split()}
_DIGITS = {
    numeral: value for value, numerals in enumerate(["〇零", "一", "二两兩", *"三四五六七八九"]) for numeral in numerals
}

_ISO = re.compile(
    r"(?P<year>[0-9]{4})(?P<mark>[-/])(?P<month>[0-9]{2})(?:(?P=mark)(?P<day>[0-9]{2})"
    r"(?:[T_](?P<hour>[0-9]{2}):?(?P<minute>[0-9]{2})(?::?(?P<second>[0-9]{2})(?:[.,][0-9]{1,9})?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?)?",
    re.IGNORECASE,
)
_ISO_WEEK = re.compile(r"([0-9]{4})-?w([0-9]{2})", re.IGNORECASE)
_QUARTER = re.compile(r"(?:([0-9]{4})[-/]?)?([qht])([1-4])(?:[-/]?([0-9]{4}))?", re.IGNORECASE)
_NUMERIC = re.compile(r"([0-9]{1,2})([./-])([0-9]{1,2})(?:\2([0-9]{4})?)?")
_MONTH_YEAR = re.compile(r"([0-9]{1,2})/([0-9]{4})")
_CLOCK = re.compile(r"([0-9]{1,2})(?:[:h]([0-9]{2})(?::([0-9]{2}))?(am|pm)?|(am|pm|uhr|h))", re.IGNORECASE)
_ORDINAL = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th|er|re|e|ème|º|ª|°)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f])*")
_SPAN = re.compile(r"([^.]+)(?:\.\.|/|--)([^.]+)")


@dataclass(frozen=True, slots=True)
class Lexeme:
    """
    A word with what it means in the grammar.

    Attributes
    ----------
    code:
        Its letter in the alphabet of the vocabularies; further ``I`` a written date, ``Y`` a year, ``#`` a number, ``Q`` a
        quarter or half, ``J`` a day of the month, ``F`` a duration, ``C`` a time of day, ``c`` a comma, ``.`` a stop and
        ``x`` anything else.
    strong:
        Whether it can mean nothing but a time.
    """

    code: str
    value: Any
    start: int
    end: int
    word: str = ""
    strong: bool = True
    possessive: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    """A date such as 3.4.2025, the day taken to be first; ``either`` where the month may be first too."""

    day: int
    month: int
    year: int | None
    either: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """A query made of lexemes: the language they were read in and the text in which quotations are blank."""

    lexemes: list[Lexeme]
    languages: tuple[Language, ...]
    masked: str


def mask(query: str) -> str:
    """
    Blank quoted text, keeping every position; a query that is quoted as a whole only loses its quotes.

    >>> mask('what does "in March" mean').count(chr(0))
    10
    """
    text = query.translate(_WIDE)
    pieces, done, at, missing = [], 0, 0, set[str]()
    whole = text.strip().rstrip(".?!")
    for found in re.finditer("[\"“„«‹`「『《‘]|(?<![^\\s(])'", text):
        at = found.start()
        if at < done:
            continue
        closers = _QUOTES.get(found[0], "'")
        end = _closing(text, at + 1, closers, missing)
        if end is None:
            continue
        inside = " " * (end - at - 1) if len(whole) < 2 or end - at + 1 < len(whole) else ""
        pieces += [text[done:at], "\0" + (inside.replace(" ", "\0") or text[at + 1 : end]) + "\0"]
        done = end + 1
    return "".join([*pieces, text[done:]])


def _closing(text: str, start: int, closers: str, missing: set[str]) -> int | None:
    """Find the quote that closes; one that was once not found is not looked for again, so that this stays linear."""
    ends = []
    for closer in closers:
        if closer in missing:
            continue
        at = text.find(closer, start)
        while closer == "'" and 0 <= at < len(text) - 1 and text[at + 1].isalnum():
            at = text.find(closer, at + 1)
        if at < 0:
            missing.add(closer)
        else:
            ends.append(at)
    return min(ends, default=None)


def read(query: str) -> Reading:
    """Turn *query* into lexemes."""
    masked = mask(query)
    matches = [found for found in _TOKEN.finditer(masked) if found.lastgroup != "space"]
    words = [fold(word) for found in matches if found["run"] for word in _WORD.findall(found["run"])]
    latin = choose(words, masked)
    languages: tuple[Language, ...] = (latin,)
    east = None
    if _IDEOGRAPH.search(masked):
        east = ideographic(bool(_KANA.search(masked)))
        languages = (east,) if latin is alphabetic()[0] and not words else (latin, east)
    lexemes: list[Lexeme] = []
    skip = 0
    for found in matches:
        if found.start() < skip:
            continue
        if found["ideograph"] or found["count"] or found["zh_week"]:
            assert east is not None
            skip = _read_ideographs(found, masked, east, lexemes)
        elif found["run"]:
            lexemes += _read_run(found["run"], found.start(), latin)
        else:
            code = {"dash": "t", "comma": "c"}.get(found.lastgroup or "", ".")
            lexemes.append(Lexeme(code, None, *found.span()))
    return Reading(_with_durations(_with_phrases(lexemes, latin)), languages, masked)


def _read_ideographs(found: re.Match[str], text: str, language: Language, lexemes: list[Lexeme]) -> int:
    """Append what stands at *found*, and answer where reading goes on."""
    start, end = found.span()
    for length in range(min(6, len(text) - start), 0, -1):
        entry = language.phrases.get(text[start : start + length])
        if entry and (length > 1 or not found["count"]) and (length > 2 or not found["zh_week"]):
            code, value = entry[0][1]
            word = text[start : start + length]
            lexemes.append(Lexeme(code, value, start, start + length, word, word not in language.weak))
            return start + length
    if found["zh_week"]:
        offsets = {"上上": -2, "上": -1, "下": 1, "这": 0, "這": 0, "本": 0}
        if found["which"]:
            lexemes.append(Lexeme("E", ("week", offsets[found["which"]]), start, end - 1))
        lexemes.append(Lexeme("W", min("一二三四五六日天".index(found["weekday"]), 6), end - 1, end))
    elif found["count"]:
        lexemes.append(_counted(found, text, lexemes))
    else:
        lexemes.append(Lexeme("x", None, start, end, found[0]))
    return end


def _number(written: str) -> int:
    """
    Read a number in digits or in Chinese numerals.

    >>> _number("12"), _number("十二"), _number("二十"), _number("二〇二五")
    (12, 12, 20, 2025)
    """
    if written.isdigit() and written.isascii():
        return int(written)
    if "十" in written:
        tens, _, ones = written.partition("十")
        return 10 * (_DIGITS.get(tens[-1:], 1) if tens else 1) + _DIGITS.get(ones[:1], 0)
    return int("".join(str(_DIGITS[numeral]) for numeral in written))


def _counted(found: re.Match[str], text: str, lexemes: list[Lexeme]) -> Lexeme:
    count, unit, ordinal = _number(found["count"]), found["unit"], found[0].startswith("第")
    span, follows = found.span(), text[found.end() : found.end() + 1]
    after_month = bool(lexemes) and lexemes[-1].code == "M" and lexemes[-1].end == span[0]
    if unit.startswith("年") and 1900 <= count < 2200:
        return Lexeme("Y", count, *span)
    if unit in ("月", "月份") and 1 <= count <= 12:
        return Lexeme("M", count, *span)
    if unit in ("日", "号", "號") and 1 <= count <= 31 and (after_month or not follows or follows not in "前間间"):
        return Lexeme("J", count, *span)
    if unit in ("季度", "四半期") and 1 <= count <= 4:
        return Lexeme("Q", ("quarter", count), *span)
    if unit in ("時", "点", "點") and count < 24:
        return Lexeme("C", (count, None, None), *span)
    written = "日間" if unit == "日" else unit
    if written in _CJK_UNIT and not ordinal:
        return Lexeme("F", (_CJK_UNIT[written], count), *span)
    return Lexeme("x", None, *span)


def _read_run(raw: str, start: int, language: Language) -> list[Lexeme]:
    """Read a stretch without spaces: a written date, a number, a word, or several of these joined by dashes."""
    text = raw.strip("'*_")
    start += raw.find(text) if text else 0
    stops = len(text) - len(text.rstrip(".:'"))
    body = text[: len(text) - stops] if stops else text
    if language.name == "German" and text.endswith(".") and body.isdigit() and body.isascii() and len(body) <= 2:
        return [Lexeme("O", int(body), start, start + len(text), text)]
    found = _written(body, text, start) if body and (body[0].isdigit() or body[-1].isdigit()) else None
    lexemes = _words(body, start, language) if found is None else found
    if text[len(body) :].strip("'"):
        lexemes.append(Lexeme(".", None, start + len(body), start + len(text)))
    return lexemes


def _written(body: str, text: str, start: int) -> list[Lexeme] | None:
    """Read digits: a date, a quarter, a clock, a year, a number; None if *body* is something else."""
    end = start + len(body)
    if body.isdigit() and body.isascii():
        if len(body) == 4 and 1900 <= int(body) < 2200:
            return [Lexeme("Y", int(body), start, end, body, strong=False)]
        return [Lexeme("#" if len(body) <= 3 else "x", int(body) if len(body) <= 3 else None, start, end, body)]
    try:
        value = _date(body if not text.startswith(body + ".") or not re.fullmatch(r"\d{1,2}\.\d{1,2}", body) else body + ".")
    except ValueError:
        return [Lexeme("x", None, start, end, body)]
    if value is not None:
        code, meaning = value
        return [Lexeme(code, meaning, start, end, body, strong=code != "I" or body[:4].isdigit())]
    if (match := _SPAN.fullmatch(body)) and (ends := [_written(side, side, start) for side in match.groups()]):
        first, second = ends
        if first and second and first[0].code == second[0].code == "I":
            middle = start + match.end(1)
            between = Lexeme("t", None, middle, start + match.start(2))
            return [replace(first[0], end=middle), between, replace(second[0], start=between.end, end=end)]
    return None


def _date(body: str) -> tuple[str, object] | None:
    """Read a date, quarter or time of day written in figures; ValueError for one that no calendar has."""
    if match := _ISO.fullmatch(body):
        return ("I", _iso(match))
    if match := _ISO_WEEK.fullmatch(body):
        monday = datetime.fromisocalendar(int(match[1]), int(match[2]), 1)
        return ("I", Period(monday, monday + timedelta(days=7), "week"))
    if match := _QUARTER.fullmatch(body):
        unit, number, year = {"h": "half"}.get(match[2].lower(), "quarter"), int(match[3]), match[1] or match[4]
        if unit == "half" and number > 2:
            return None
        if not year:
            return ("Q", (unit, number))
        return ("I", quarter_of(int(year), number) if unit == "quarter" else month_of(int(year), 6 * number - 5, 6, "half"))
    if match := _MONTH_YEAR.fullmatch(body):
        return ("I", month_of(int(match[2]), int(match[1])))
    if (match := _NUMERIC.fullmatch(body)) and (match[4] or body.endswith(".")) and (match[2] != "-" or match[4]):
        return ("I", _numeric(int(match[1]), match[2], int(match[3]), match[4]))
    if match := _CLOCK.fullmatch(body):
        hour, minute, second = int(match[1]), match[2], match[3]
        half = (match[4] or match[5] or "").lower()
        if half in ("am", "pm"):
            hour = hour % 12 + (12 if half == "pm" else 0)
        if hour > 23 or int(minute or 0) > 59 or int(second or 0) > 59:
            raise ValueError
        return ("C", (hour, None if minute is None else int(minute), None if second is None else int(second)))
    if match := _ORDINAL.fullmatch(body):
        return ("O", int(match[1]))
    return None


def _numeric(first: int, mark: str, second: int, year: str | None) -> Figures:
    """Read a date in figures whose year stands last or is missing; between dots the day is always first."""
    day, month = (second, first) if mark != "." and second > 12 else (first, second)
    figures = Figures(
        day, month, int(year) if year else None, mark != "." and first <= 12 and second <= 12 and first != second
    )
    day_of(figures.year or 2000, month, day)
    return figures


def _iso(match: re.Match[str]) -> Period:
    year, month = int(match["year"]), int(match["month"])
    if match["day"] is None:
        if match["mark"] == "/" or not 1900 <= year < 2200:
            raise ValueError
        return month_of(year, month)
    day = day_of(year, month, int(match["day"]))
    if match["hour"] is None:
        return day
    second = match["second"]
    start = day.start.replace(hour=int(match["hour"]), minute=int(match["minute"]), second=int(second or 0))
    if zone := match["zone"]:
        sign = -1 if zone[0] == "-" else 1
        digits = zone[1:].replace(":", "")
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:])) if digits else timedelta()
        start = start.replace(tzinfo=timezone(sign * offset))
    return Period(start, start + timedelta(seconds=1 if second else 60), "instant")


def _words(body: str, start: int, language: Language) -> list[Lexeme]:
    """Read a word, or words joined by apostrophes or dashes if each of them is one of the language's time words."""
    word = fold(body)
    end = start + len(body)
    if any(words == (word,) for words, _ in language.phrases.get(word, ())):
        return [Lexeme("w?", None, start, end, word)]
    if "'" in body:
        head, _, tail = body.partition("'")
        if fold(tail) == "s" and language.name == "English":
            return [replace(one, possessive=True) for one in _words(head, start, language)]
        if len(head) <= 5 and tail and "'" not in tail:
            cut = start + len(head)
            return [Lexeme("w?", None, start, cut, fold(head)), *_words(tail, cut + 1, language)]
    pieces = re.split(r"[-/]", body)
    if 1 < len(pieces) <= 3 and all(pieces) and (joined := _joined(pieces, body, start, language)):
        return joined
    plain = _WORD.fullmatch(body) is not None
    return [Lexeme("w?" if plain else "x", None, start, end, word if plain else "")]


def _joined(pieces: list[str], body: str, start: int, language: Language) -> list[Lexeme] | None:
    """Take ``mid-May``, ``Jan-Mar`` or ``3-5`` apart; None for an identifier."""
    lexemes: list[Lexeme] = []
    for piece in pieces:
        at = start + (lexemes[-1].end - start + 1 if lexemes else 0)
        word, end = fold(piece), at + len(piece)
        if piece.isdigit() and piece.isascii() and len(piece) <= 4:
            found: list[Lexeme] | None = _written(piece, piece, at)
        elif word in language.phrases or word == "pre":
            found = [Lexeme("b" if word == "pre" else "w?", None, at, end, word)]
        else:
            return None
        if lexemes and found:
            lead = language.phrases.get(lexemes[-1].word, ((("",), ("b" if lexemes[-1].word == "pre" else "x", None)),))
            codes = {meaning[0] for _, meaning in lead}
            if not codes & {"B", "b"}:
                lexemes.append(Lexeme("t", None, lexemes[-1].end, at))
        lexemes += found or []
    if all(one.code in "#Yx" or one.code == "t" for one in lexemes):
        return None if len(pieces) != 2 or "/" in body else lexemes
    return lexemes


def _with_phrases(lexemes: list[Lexeme], language: Language) -> list[Lexeme]:
    """Give every word its meaning, the longest phrase first."""
    out: list[Lexeme] = []
    at = 0
    while at < len(lexemes):
        one = lexemes[at]
        if one.code != "w?":
            out.append(one)
            at += 1
            continue
        for words, (code, value) in language.phrases.get(one.word, ()):
            parts = lexemes[at : at + len(words)]
            if tuple(part.word for part in parts) == words:
                strong = len(words) > 1 or one.word not in language.weak
                out.append(Lexeme(code, value, one.start, parts[-1].end, " ".join(words), strong, parts[-1].possessive))
                at += len(words)
                break
        else:
            out.append(replace(one, code="x"))
            at += 1
    return out


def _with_durations(lexemes: list[Lexeme]) -> list[Lexeme]:
    """Join a number and its unit: ``two weeks``, ``les 3 derniers jours``."""
    out: list[Lexeme] = []
    at = 0
    while at < len(lexemes):
        codes = "".join(one.code for one in lexemes[at : at + 3])
        one = lexemes[at]
        if codes[0:1] in "#N" and codes[1:2] == "U":
            out.append(Lexeme("F", (lexemes[at + 1].value, one.value), one.start, lexemes[at + 1].end, one.word))
            at += 2
        elif codes[0:1] in "#N" and codes[1:] == "LU":
            out += [
                lexemes[at + 1],
                Lexeme("F", (lexemes[at + 2].value, one.value), one.start, lexemes[at + 2].end, one.word),
            ]
            at += 3
        else:
            out.append(one)
            at += 1
    return out
