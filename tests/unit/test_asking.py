"""A question is read for its mode, its time and its terms, in seven languages; what only looks like a time is left alone."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oort_flows.engine.asking import Asked, infer
from oort_flows.models.clocks import Interval
from tests.unit.questions_asked import MEANT, TRAPS

NOON = datetime(2026, 6, 17, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def rows(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def ask(query: str, now: datetime = NOON, zone: timezone | ZoneInfo = UTC) -> Asked:
    return infer(query, now=now, zone=zone)


def stamp(side: datetime | None) -> str:
    if side is None:
        return ".."
    assert side.utcoffset() == timedelta()
    return side.isoformat(timespec="minutes").removesuffix("+00:00").removesuffix("T00:00")


def told(asked: Asked) -> str:
    interval = asked.interval
    return f"{asked.relation} {stamp(interval.start)}/{stamp(interval.end)}" if interval else "-"


def interval(start: str | None, end: str | None) -> Interval:
    first, last = (datetime.fromisoformat(side).astimezone(UTC) if side else None for side in (start, end))
    return Interval(first, last)


@pytest.mark.parametrize("row", [row for text in MEANT.values() for row in rows(text)])
def test_a_question_is_read_for_its_mode_and_its_time(row: str) -> None:
    """Each question of the table has its mode, its relation and exactly its period."""
    mode, expected, query = (part.strip() for part in row.split("|", 2))
    asked = ask(query)
    assert (asked.mode, told(asked)) == (mode, expected)


@pytest.mark.parametrize("query", rows(TRAPS))
def test_what_only_looks_like_a_time_asks_for_the_present(query: str) -> None:
    """A verb, a name, a version, a port, a quotation or an identifier is no time, and a topic is no history."""
    asked = ask(query)
    assert (asked.mode, asked.interval, asked.relation, asked.about) == ("current", None, None, None)


def test_the_tables_are_large_enough_to_mean_something() -> None:
    """There are well over 150 questions and over 60 traps, all different."""
    questions = [row.split("|", 2)[2].strip() for text in MEANT.values() for row in rows(text)]
    assert len(set(questions)) == len(questions) >= 300
    assert len(set(rows(TRAPS))) == len(rows(TRAPS)) >= 120


@pytest.mark.parametrize(
    ("query", "mode"),
    [
        ("which port was it in March", "as_of"),
        ("what did we think in March", "known_at"),
        ("how has the port changed", "history"),
        ("which port", "current"),
    ],
)
def test_b17_the_four_modes_are_read_from_the_question(query: str, mode: str) -> None:
    """One question each for what held, what was thought, how it changed and what holds."""
    assert ask(query).mode == mode


def test_b05_today_is_the_day_of_the_caller() -> None:
    """At 21:30 three hours west of UTC, today is that local day, though UTC is a day ahead."""
    west = timezone(timedelta(hours=-3))
    asked = ask("what was deployed today", datetime(2026, 6, 17, 21, 30, tzinfo=west), west)
    assert asked.interval == interval("2026-06-17T00:00-03:00", "2026-06-18T00:00-03:00")


def test_b04_a_moment_without_a_zone_is_utc() -> None:
    """A clock that tells no zone tells UTC; so does a written time of day in a question asked in UTC."""
    naive = infer("what was deployed yesterday", now=datetime(2026, 6, 17, 12), zone=UTC)
    assert naive == ask("what was deployed yesterday")
    assert ask("the port at 2026-03-01T10:00").interval == interval("2026-03-01T10:00+00:00", "2026-03-01T10:01+00:00")


def test_a_written_time_without_a_zone_is_that_of_the_caller() -> None:
    """Days and times of day are meant on the wall clock of the caller; a written offset outweighs it."""
    assert ask("the port on 2026-03-01", zone=BERLIN).interval == interval(
        "2026-03-01T00:00+01:00", "2026-03-02T00:00+01:00"
    )
    assert ask("the port at 2026-07-01T10:00", zone=BERLIN).interval == interval("2026-07-01T08:00Z", "2026-07-01T08:01Z")
    assert ask("the port at 2026-07-01T10:00Z", zone=BERLIN).interval == interval("2026-07-01T10:00Z", "2026-07-01T10:01Z")


@pytest.mark.parametrize(
    ("now", "zone", "query", "hours"),
    [
        ("2026-03-30T12:00+00:00", "Europe/Berlin", "what ran yesterday", 23),
        ("2026-10-26T12:00+00:00", "Europe/Berlin", "what ran yesterday", 25),
        ("2026-03-29T12:00+00:00", "Asia/Beirut", "what ran today", 23),
        ("2026-04-15T12:00+00:00", "Europe/Berlin", "which port in March", 31 * 24 - 1),
    ],
)
def test_a_day_is_as_long_as_its_transition_makes_it(now: str, zone: str, query: str, hours: int) -> None:
    """Local days and months meet without a hole or an overlap where the clock is put forward or back."""
    asked = ask(query, datetime.fromisoformat(now), ZoneInfo(zone))
    assert asked.interval is not None
    assert asked.interval.start is not None
    assert asked.interval.end is not None
    assert asked.interval.end - asked.interval.start == timedelta(hours=hours)


def test_hours_are_counted_in_real_time() -> None:
    """Two hours ago is two real hours ago, also across a repeated hour."""
    asked = ask("which host was it two hours ago", datetime(2026, 10, 25, 2, 30, tzinfo=UTC), BERLIN)
    assert asked.interval == interval("2026-10-25T00:00Z", "2026-10-25T01:00Z")


@pytest.mark.parametrize(
    ("now", "query", "expected"),
    [
        ("2026-01-01T00:00Z", "which port in January", "in 2026-01-01/2026-02-01"),
        ("2025-12-31T23:59Z", "which port in January", "in 2025-01-01/2025-02-01"),
        ("2026-01-05T10:00Z", "which port last month", "in 2025-12-01/2026-01-01"),
        ("2026-01-05T10:00Z", "which port last quarter", "in 2025-10-01/2026-01-01"),
        ("2026-01-05T10:00Z", "which port two months ago", "in 2025-11-01/2025-12-01"),
        ("2026-03-31T10:00Z", "which port one month ago", "in 2026-02-01/2026-03-01"),
        ("2024-02-29T10:00Z", "which port a year ago", "in 2023-01-01/2024-01-01"),
        ("2024-02-29T10:00Z", "errors in the last 12 months", "since 2023-02-28/.."),
        ("2026-02-10T10:00Z", "who was on call on 29 February", "in 2024-02-29/2024-03-01"),
        ("2026-06-15T10:00Z", "who was on call on Monday", "in 2026-06-15/2026-06-16"),
        ("2026-06-14T10:00Z", "who was on call last weekend", "in 2026-06-06/2026-06-08"),
        ("2026-06-14T10:00Z", "what ran this week", "in 2026-06-08/2026-06-15"),
    ],
)
def test_a_relative_time_is_counted_from_the_moment_of_the_question(now: str, query: str, expected: str) -> None:
    """Turns of the year, ends of months, leap days and Sundays come out as a calendar has them."""
    assert told(ask(query, datetime.fromisoformat(now))) == expected


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("which port was it in March", "which port was it"),
        ("in March 2025, which port was it?", "which port was it"),
        ("how has the port changed since March", "the port"),
        ("what did we think about the port last week", "what we about the port"),
        ("which port do we use right now", "which port do we use"),
        ("port between 2025-03-03 and 2025-04-07 on staging", "port on staging"),
        ("may we deploy port 2024", "may we deploy port 2024"),
        ("  Straße   im März  ", "Straße"),
        ("去年三月用的哪个端口", "用的哪个端口"),
        ("in March", ""),
    ],
)
def test_the_terms_are_the_question_without_its_time_words(query: str, terms: str) -> None:
    """What is left to search for holds every other word in its order, and none that told the time or the mode."""
    assert ask(query).terms == terms


def test_the_reason_names_the_words_and_the_period() -> None:
    """Why a mode was chosen is one sentence for people: the words, the local days they mean, and what is asked."""
    asked = ask("which port was it in March", zone=BERLIN)
    assert asked.why == '"in March" means 2026-03-01 until before 2026-04-01, so this asks what held then.'
    assert ask("since May: what did we know").why.endswith("2026-05-01 or later, so this asks what was believed then.")
    assert ask("the port before May").why == '"before May" means any time before 2026-05-01, so this asks what held then.'
    assert "names no time" in ask("how has the port changed").why
    assert ask("which port").why == "The question names no time that was understood, so this asks what holds now."


def test_a_date_that_can_be_read_in_two_ways_is_not_guessed() -> None:
    """3/4/2025 is March or April in English, so the answer says how to write it; elsewhere the day comes first."""
    asked = ask("which port was it on 3/4/2025")
    assert (asked.mode, asked.interval) == ("current", None)
    assert "2026-03-04" in asked.why
    assert told(ask("quel était le port le 03/04/2025")) == "in 2025-04-03/2025-04-04"


def test_a_belief_about_another_time_has_both() -> None:
    """What was thought in May about January: May is when it was believed, January what it was about."""
    asked = ask("what did we think in May the port had been in January")
    assert asked.mode == "known_at"
    assert asked.interval == interval("2026-05-01T00:00Z", "2026-06-01T00:00Z")
    assert asked.about == interval("2026-01-01T00:00Z", "2026-02-01T00:00Z")


def test_a_quoted_question_is_still_a_question() -> None:
    """Quotes around all of it change nothing; quotes around a part of it make that part mute."""
    assert ask('"which port was it in March?"').mode == "as_of"
    assert ask('which port was "in March"').mode == "current"


@pytest.mark.parametrize(
    "query", ["welcher Port war es im Marz", "WELCHER PORT WAR ES IM MÄRZ", "welcher Port war es im Ma\u0308rz"]
)
def test_spelling_and_unicode_forms_do_not_matter(query: str) -> None:
    """Case, composed and decomposed letters, and missing accents are read alike."""
    assert told(ask(query)) == "in 2026-03-01/2026-04-01"


def test_full_width_digits_are_digits() -> None:
    """Digits as Japanese keyboards type them are read as digits."""
    assert told(ask("２０２５年３月のポート")) == "in 2025-03-01/2025-04-01"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "\x00",
        "\ud800 in March \udfff",
        "9999 years ago",
        "999 years ago",
        "on 31 February 2025",
        "on 30 February",
        "in 0000-00",
        "2025-13-45",
        "at 99:99 yesterday",
        "the end of " * 50,
        "二〇二五年十三月",
        "²³ days ago",
        "٣ days ago",
        "1" * 5000 + " days ago",
        "between and from to until",
        "99/99/2025",
        "week 99 of 2025",
        "calendar week 99",
        "2025-W60",
    ],
)
def test_no_text_is_an_error(query: str) -> None:
    """Dates that no calendar has, half surrogates and nonsense are not understood, and nothing is raised."""
    assert isinstance(ask(query), Asked)


WORDS = """
    in March 2025 last week the of and to from until since before between ago two 3 days , . ? May quarter end half first
    second Q1 H2 2025-03-03 2025-03 3. letzten vor zwei Wochen hace días il y a jours 去年 三月 3日 前 から まで
    " ' „ ‘ - / – 😀 yesterday evening 14:30 how has changed ever 3/4 25/12/2025 9am
"""
PIECES = st.sampled_from([*WORDS.split(), "\ud800", "\x00"])
ZONES = st.sampled_from(
    [UTC, BERLIN, ZoneInfo("America/Sao_Paulo"), ZoneInfo("Asia/Kathmandu"), timezone(timedelta(hours=14))]
)
NOWS = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1))


@given(st.one_of(st.text(st.characters(), max_size=80), st.lists(PIECES, max_size=12).map(" ".join)), NOWS, ZONES)
def test_any_text_is_read_alike_and_never_raises(query: str, now: datetime, zone: ZoneInfo) -> None:
    """Whatever the text: an answer, the same one twice, whose period runs forward in UTC and belongs to its mode."""
    asked = infer(query, now=now, zone=zone)
    assert asked == infer(query, now=now, zone=zone)
    assert asked.mode in ("current", "as_of", "history", "known_at")
    assert (asked.interval is None) == (asked.relation is None)
    if asked.mode in ("as_of", "known_at"):
        assert asked.interval is not None
    if asked.mode == "current":
        assert asked.interval is None
    if asked.interval is not None:
        start, end = asked.interval.start, asked.interval.end
        assert (start or end) is not None
        assert start is None or end is None or start < end
        assert all(side is None or side.utcoffset() == timedelta() for side in (start, end))
    assert len(asked.terms) <= len(query)


RELATIVE = st.sampled_from(
    [
        "what ran today",
        "what ran yesterday evening",
        "which port last week",
        "which port since January",
        "which port before March 2025",
        "which port on Friday",
        "errors in the last 3 days",
        "welcher Port war es im letzten Quartal",
        "去年三月用的哪个端口",
        "先週の月曜日のポート",
    ]
)


@given(RELATIVE, NOWS, st.integers(-14 * 4, 14 * 4))
def test_another_zone_only_moves_the_answer(query: str, now: datetime, quarters: int) -> None:
    """The same wall clock in a zone that is some hours off gives the same local period, moved by those hours."""
    offset = timedelta(minutes=15 * quarters)
    here = infer(query, now=now.replace(tzinfo=UTC), zone=UTC).interval
    there = infer(query, now=now.replace(tzinfo=timezone(offset)), zone=timezone(offset)).interval
    assert here is not None
    assert there is not None
    assert (there.start, there.end) == tuple(side and side - offset for side in (here.start, here.end))


@given(NOWS, ZONES, st.integers(1, 12))
def test_a_month_without_a_year_is_the_most_recent_that_has_begun(now: datetime, zone: ZoneInfo, month: int) -> None:
    """It has begun on the caller's wall clock, and the same month a year later has not."""
    local = now.replace(tzinfo=UTC).astimezone(zone)
    found = infer(f"which port was it in {datetime(2000, month, 1):%B}", now=now, zone=zone).interval
    assert found is not None
    assert found.start is not None
    start = found.start.astimezone(zone)
    assert (start.month, start.day, start.hour) == (month, 1, 0)
    assert start <= local
    assert start.replace(year=start.year + 1) > local


@pytest.mark.parametrize(
    "piece",
    [
        "which port in March ",
        "the end of ",
        "„",
        "“a",
        "'",
        "may-",
        "how has the ",
        "三月的端口",
        "March 3 to ",
        "two weeks before ",
    ],
)
def test_time_grows_no_faster_than_the_text(piece: str) -> None:
    """Eight times the text takes far less than the sixty-four times of a quadratic reading."""

    def took(length: int) -> float:
        text = (piece * (length // len(piece) + 1))[:length]
        best = float("inf")
        for _ in range(3):
            before = time.process_time()
            ask(text)
            best = min(best, time.process_time() - before)
        return best

    ask(piece)
    assert took(24_000) < 32 * max(took(3_000), 0.0005)
