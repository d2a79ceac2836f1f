"""Release notes: what is told, how it reads, what is left out and why, and what the next run finds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oort_flows.demo import commits, conventions, notebook, release_notes
from oort_flows.demo.commits import Commit, clean, read_history
from oort_flows.demo.conventions import DEFAULT_CONVENTIONS, parse_conventions
from oort_flows.demo.notebook import CONVENTIONS, ENDING, SESSIONS, SUMMARY, Ending, fold_sessions, parse_ending
from oort_flows.demo.release_notes import Notes, choose, plan_notes, render_section, with_section, write_section
from oort_flows.errors import ConfigurationError, StorageError
from oort_flows.files import FileMemory, GitFileMemory, InProcessFileMemory, Limits
from oort_flows.git import run_git
from oort_flows.models.mechanics import Document
from oort_flows.models.runs import IsolatedRun

WHEN = datetime(2026, 11, 30, 19, 45, tzinfo=UTC)
SCOPE = "project:release-notes"
GITHUB_TOKEN = "ghp_" + "016C7mP4bXk9QzL2vR8sT5wY1uE3oA6dF0gH"


def commit(repository: Path, message: str, date: str = "2026-11-01T10:00:00+01:00", **files: str) -> str:
    """Commit by git itself, with a date of its own, and return the id."""
    for name, text in files.items():
        (repository / name).write_text(text)
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    run_git(repository, "add", "-A")
    run_git(repository, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", "-", stdin=message, environment=dates)
    return run_git(repository, "rev-parse", "HEAD")


def plan(repository: Path, known: Mapping[str, str] | None = None) -> Notes:
    return plan_notes(repository, known or {}, scope=SCOPE, when=WHEN)


def after(notes: Notes, landed: str | None = None) -> dict[str, str]:
    """What the next run finds in its memory."""
    return {ENDING: notes.ending(landed).text()}


def subjects(notes: Notes) -> list[str]:
    return [commit.subject for commit in notes.commits]


def reasons(notes: Notes) -> str:
    return "\n".join(notes.reasons())


# ----------------------------------------------------------------------------------------------------------- conventions


@pytest.mark.parametrize(
    ("subject", "group"),
    [
        ("feat: read dates", "New"),
        ("FEAT(parser): read dates", "New"),
        ("Add a clock", "New"),
        ("add", "New"),
        ("Address the clock", "Changed"),
        ("fix(clock): stop", "Fixed"),
        ('Revert "Add a clock"', "Fixed"),
        ("perf: less copying", "Faster"),
        ("Speed up the scan", "Faster"),
        ("Remove the old port", "Removed"),
        ("docs: say how", "Documentation"),
        ("build(deps): bump x", "Housekeeping"),
        ("Build the house", "Changed"),
        ("chore!: drop 3.10", "Breaking changes"),
        ("Anything else", "Changed"),
        ("", "Changed"),
    ],
)
def test_default_conventions_group_types_and_plain_english(subject: str, group: str) -> None:
    """A commit goes to the first group that lists its type or the way its subject starts."""
    assert parse_conventions(DEFAULT_CONVENTIONS).group_of(subject) == group


def test_edited_conventions_are_followed_in_their_order() -> None:
    """Groups are tried in the order of the file, words are separated by commas, whatever case and quotes they have."""
    rules = parse_conventions("## Groups\r\n* Machines : `CI`, Deploy the\n- People: *\n\n## leave OUT\n+ noise,  *\n")
    assert [rules.group_of(s) for s in ("ci: x", "deploy the thing", "deploy thing")] == ["Machines", "Machines", "People"]
    assert rules.left_out_by("Noise: x") == "noise"
    assert rules.left_out_by("signal") is None


def test_conventions_without_groups_fall_back_to_the_default_groups() -> None:
    """A file that names no group loses no commit; what it leaves out still counts."""
    rules = parse_conventions("My rules\n\n## Leave out\n\n- noise\n")
    assert rules.group_of("Fix it") == "Fixed"
    assert rules.leave_out == ("noise",)


@given(st.text(), st.text())
def test_conventions_take_any_text(text: str, subject: str) -> None:
    """Neither a file that people wrote nor a subject can break the grouping."""
    rules = parse_conventions(text)
    assert rules.group_of(subject) is None or isinstance(rules.group_of(subject), str)
    rules.left_out_by(subject)
    conventions.split_subject(subject)


# -------------------------------------------------------------------------------------------------------------- history


def test_first_run_tells_the_whole_history_newest_first(repository: Path) -> None:
    """Without a memory the notes tell of all commits."""
    commit(repository, "Add a clock")
    commit(repository, "Fix the clock", "2026-11-02T10:00:00+01:00")
    notes = plan(repository)
    assert notes.after is None
    assert subjects(notes) == ["Add a clock", "Fix the clock", "Start"]
    assert notes.newest.subject == "Fix the clock"
    assert notes.headline == f"3 changes up to {notes.newest.short} (1 New, 1 Fixed, 1 Changed)"
    assert "nothing was remembered yet" in notes.start


def test_next_run_tells_only_what_came_since(repository: Path) -> None:
    """A run starts after the commit up to which the last one has read, and says which that is."""
    commit(repository, "Add a clock")
    first = plan(repository)
    commit(repository, "Add hands", "2026-11-03T10:00:00+01:00")
    second = plan(repository, after(first))
    assert subjects(second) == ["Add hands"]
    assert second.start == f"after commit {first.newest.short} (2026-11-01, 'Add a clock'), where the last run ended"


def test_run_without_news_says_where_the_last_one_ended(repository: Path) -> None:
    """Where nothing came since, there is nothing to tell, and the ending stays with the commit that carries the notes."""
    first = plan(repository)
    second = plan(repository, after(first, "a" * 40))
    assert second.commits == ()
    assert second.headline == f"nothing new after {first.newest.short}"
    assert second.ending(None) == Ending(first.newest, first.head, "a" * 40)


def test_merges_and_own_commits_are_left_out_with_the_reason(repository: Path) -> None:
    """Merges and the commits of the pipeline itself are counted, and the reason is given."""
    first = plan(repository)
    run_git(repository, "switch", "-q", "-c", "side")
    commit(repository, "Add from the side")
    run_git(repository, "switch", "-q", "main")
    commit(repository, f"Release notes\n\nWhy\n\nOort-Scope: {SCOPE}\n")
    commit(repository, "Add by another pipeline\n\nOort-Scope: project:billing\n")
    run_git(repository, "merge", "-q", "--no-ff", "-m", "Merge side", "side")
    notes = plan(repository, after(first))
    assert sorted(subjects(notes)) == ["Add by another pipeline", "Add from the side"]
    assert "1 merge: what was merged is told itself" in reasons(notes)
    assert "1 commit of this pipeline: the notes do not tell of themselves" in reasons(notes)


def test_merges_that_the_demo_made_itself_are_not_told_of(repository: Path) -> None:
    """Neither the merge that lands notes nor the one that brings the kept clone up to date counts as one of the history."""
    for number, (author, trailer) in enumerate(
        {"a@b.example": f"Oort-Scope: {SCOPE}", commits.KEEPER_EMAIL: "Plain: merge", "c@d.example": "Plain: merge"}.items()
    ):
        run_git(repository, "switch", "-q", "-c", f"side-{number}")
        commit(repository, f"Add {number}")
        run_git(repository, "switch", "-q", "main")
        message = f"Merge\n\n{trailer}\n"
        run_git(repository, "-c", f"user.email={author}", "merge", "-q", "--no-ff", "-m", message, f"side-{number}")
    assert [str(left) for left in plan(repository).left_out] == ["1 merge: what was merged is told itself"]


def test_run_that_was_cut_off_after_landing_is_not_told_again(repository: Path) -> None:
    """Commits below one of the pipeline's own are told already, even if the memory was never written."""
    clock = commit(repository, "Add a clock")
    landed = commit(repository, f"Release notes\n\nOort-Scope: {SCOPE}\n")
    nothing_new = plan(repository)
    assert nothing_new.commits == ()
    assert (nothing_new.newest.sha, nothing_new.ending(None).landed) == (clock, landed)
    commit(repository, "Add hands")
    notes = plan(repository)
    assert subjects(notes) == ["Add hands"]
    assert notes.ending("d" * 40).landed == "d" * 40
    assert "2 commits: told already, by earlier notes in this history" in reasons(notes)


def test_first_run_is_bounded_and_says_so(repository: Path) -> None:
    """A first run tells of the newest commits only, and how many older ones there are."""
    stream = [
        f"commit refs/heads/main\ncommitter Ada <ada@example.org> {1_790_000_000 + n} +0000\ndata 7\nAdd {n:03d}\n"
        + ("from refs/heads/main^0\n" if n == 0 else "")
        for n in range(commits.MOST_AT_FIRST + 5)
    ]
    run_git(repository, "fast-import", "--quiet", stdin="\n".join(stream))
    notes = plan(repository)
    assert len(notes.commits) == commits.MOST_AT_FIRST
    assert notes.commits[0].subject == f"Add {commits.MOST_AT_FIRST + 4:03d}"
    assert "6 older commits: the first run tells of the newest 200 only" in reasons(notes)
    assert "\n\n200 changes: the newest 200 commits, older ones are not told.\n" in render_section(notes)
    assert notes.start == "with the newest 200 commits, nothing was remembered yet"
    run_git(repository, "checkout", "-q", "HEAD~5")
    whole = plan(repository, {CONVENTIONS: "## Groups\n- New: add\n- Rest: *\n"})
    assert "6 older commits" not in reasons(whole)


def test_first_run_on_a_shallow_clone_says_so(repository: Path, tmp_path: Path) -> None:
    """Where the repository holds only the newest part of its history, that is what the notes claim to tell of."""
    assert "\n\n1 change: the whole history so far.\n" in render_section(plan(repository))
    commit(repository, "Add a clock")
    run_git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    notes = plan(tmp_path / "shallow")
    assert "\n\n1 change: what a shallow clone holds of the history.\n" in render_section(notes)
    assert notes.start == "at the beginning of what this shallow clone holds, nothing was remembered yet"
    gone = Ending(Commit("b" * 40, "2026-10-01T10:15:00Z", "Add a face"), "c" * 40)
    (remark,) = plan(tmp_path / "shallow", {ENDING: gone.text()}).remarks
    assert remark.startswith("The shallow clone does not reach back to the last run")


def test_rewritten_commits_are_not_told_twice(repository: Path) -> None:
    """After a rebase, commits that keep author, date and subject are known again; the new one is told."""
    commit(repository, "Add a clock", clock="1")
    commit(repository, "Add hands", hands="2")
    first = plan(repository)
    run_git(repository, "reset", "-q", "--hard", "HEAD~1")
    commit(repository, "Fix the start", "2026-10-01T10:00:00+01:00", start="0")
    commit(repository, "Add hands", hands="2")
    notes = plan(repository, after(first))
    assert subjects(notes) == ["Fix the start"]
    assert "told already, before the history was rewritten" in reasons(notes)
    assert notes.remarks == ("The history was rewritten since: known commits were told apart by what a rebase keeps.",)


def test_commits_are_known_by_date_where_the_last_one_is_gone(repository: Path) -> None:
    """Where the remembered commit is no object of the repository any more, only later commits are told."""
    commit(repository, "Add a clock", "2026-11-01T10:00:00+01:00")
    commit(repository, "Add hands", "2026-11-01T09:30:00Z")
    gone = Ending(Commit("b" * 40, "2026-11-01T10:15:00+01:00", "Add a face"), "c" * 40)
    assert subjects(plan(repository, {ENDING: gone.text()})) == ["Add hands", "Start"]


def test_conventions_leave_out_with_the_reason(repository: Path) -> None:
    """What the conventions leave out is listed by commit, with the word that did it; so is what fits no group."""
    sha = commit(repository, "fixup! Start")
    commit(repository, "Add a clock")
    known = {CONVENTIONS: "## Groups\n- New: add\n## Leave out\n- fixup!\n"}
    notes = plan(repository, known)
    assert subjects(notes) == ["Add a clock"]
    assert f"the conventions leave out what starts with 'fixup!'.\n- {sha[:7]} fixup! Start" in reasons(notes)
    assert "1 commit: they fit no group of the conventions." in reasons(notes)


def test_long_subjects_are_cut_where_they_are_only_mentioned(repository: Path) -> None:
    """A commit that is named in passing is named shortly; in the list of changes it has its whole subject."""
    commit(repository, "Add " + "x" * 100)
    notes = plan(repository)
    assert f"'Add {'x' * 67}…'" in str(notes.newest)
    assert f"- Add {'x' * 100} (" in render_section(notes)


def test_long_lists_of_reasons_are_cut(repository: Path) -> None:
    """Of many commits left out for one reason some are named and the rest is counted."""
    for n in range(13):
        commit(repository, f"wip {n}")
    assert "- and 3 more" in reasons(plan(repository))


def test_repository_without_commits_is_a_typed_error(tmp_path: Path) -> None:
    """There is nothing to tell of a repository without commits, and the error says what to do."""
    run_git(tmp_path, "init", "-q")
    with pytest.raises(ConfigurationError, match="no commit yet; make one"):
        read_history(tmp_path, scope=SCOPE)


def test_configuration_does_not_change_what_is_read(repository: Path) -> None:
    """Settings about how git shows its log have no effect."""
    sha = commit(repository, "Add a clöck")
    for name, value in {
        "log.showSignature": "true",
        "color.ui": "always",
        "log.decorate": "full",
        "i18n.logOutputEncoding": "ISO-8859-1",
        "format.pretty": "oneline",
    }.items():
        run_git(repository, "config", name, value)
    assert plan(repository).commits[0] == Commit(sha, "2026-11-01T10:00:00+01:00", "Add a clöck")


# ----------------------------------------------------------------------------------------------------- text from outside


def test_broken_encodings_survive(repository: Path) -> None:
    """A subject that is no UTF-8 is told with a mark in place of each broken byte."""
    body = run_git(repository, "cat-file", "commit", "HEAD").replace("\n\nStart", "\n\nAdd caf\udce9 and \udcff")
    sha = run_git(repository, "hash-object", "-t", "commit", "-w", "--stdin", stdin=body)
    run_git(repository, "update-ref", "HEAD", sha)
    assert plan(repository).commits[0].subject == "Add caf\ufffd and \ufffd"


def test_secrets_in_subjects_reach_neither_notes_nor_reasons_nor_memory(repository: Path) -> None:
    """A secret in a subject is replaced before anything keeps it."""
    commit(repository, f"wip with {GITHUB_TOKEN}")
    commit(repository, f"Add a clock with {GITHUB_TOKEN}")
    notes = plan(repository)
    texts = [render_section(notes), reasons(notes), notes.ending(None).text(), notes.headline]
    assert all(GITHUB_TOKEN not in text for text in texts)
    assert "\\[secret: github-token\\]" in texts[0]
    assert "[secret: github-token]" in texts[1]


def test_markdown_in_subjects_is_text(repository: Path) -> None:
    """Nothing in a subject can become a heading, a link, an element or a code span of the notes."""
    commit(repository, "Add [x](javascript:alert(1)) <img src=x> `a` *b* snake_case _c_ &lt; ~~d~~")
    commit(repository, "feat: # 1. heading")
    section = render_section(plan(repository))
    assert (
        "- Add \\[x\\](javascript:alert(1)) \\<img src=x> \\`a\\` \\*b\\* snake_case \\_c\\_ \\&lt; \\~\\~d\\~\\~ (`"
        in section
    )
    assert "- \\# 1. heading (`" in section


@pytest.mark.parametrize(
    ("subject", "item"),
    [
        ("See https://example.org/a_b?c=*d*.", "See `https://example.org/a_b?c=*d*.`"),
        ("Thanks @ada (and @bob-1/team)", "Thanks `@ada` (and `@bob-1/team`)"),
        ("By ada@example.org, WWW.example.org", "By `ada@example.org`, `WWW.example.org`"),
        ("feat(@ada): x", "**`@ada`:** x"),
        ("@ada`s *own*", "``@ada`s`` \\*own\\*"),
        ("`@ada", "`` `@ada ``"),
        ("Meet @ noon, #12", "Meet @ noon, #12"),
    ],
)
def test_links_and_names_in_subjects_are_code(repository: Path, subject: str, item: str) -> None:
    """What a site would turn into a link or a mention by itself stands in a code span; nobody is pinged by the notes."""
    commit(repository, subject)
    assert f"- {item} (`" in render_section(plan(repository))


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred\x1b(B", "red"),
        ("\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x07 here", "link here"),
        ("\x1b]0;never ended", "]0;never ended"),
        ("\x1bcreset\x1b7", "reset"),
        ("words " * 60, "words " * 32 + "words…"),
        ("a\tb\u2028c\x00d", "a b cd"),
        ("one\u202etwo\u200f", "onetwo"),
        ("lone \ud800 half", "lone ? half"),
        ("x" * 300, "x" * 199 + "…"),
    ],
)
def test_clean_makes_one_harmless_line(raw: str, told: str) -> None:
    """Control characters and half characters never reach a reader, and long subjects are cut."""
    assert clean(raw) == told


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_clean_takes_any_text(text: str) -> None:
    """Whatever git gives becomes one line of text that can be encoded; cleaning it again changes nothing."""
    told = clean(text)
    assert "\n" not in told.encode().decode()
    assert clean(told) == told


# ------------------------------------------------------------------------------------------------------------- rendering


def example() -> Notes:
    old, new = (
        Commit("1" * 40, "2026-11-20T10:00:00Z", "Start"),
        Commit("2" * 40, "2026-11-29T10:00:00Z", "feat(ui): dark mode"),
    )
    return Notes(WHEN, Ending(old, old.sha), new, new.sha, "v1.2.0", (("New", (new,)),))


def test_section_is_dated_and_names_where_it_starts() -> None:
    """A section says when it was written, up to which commit and tag, after which commit, and what is new by group."""
    assert render_section(example()) == (
        "## v1.2.0 · 2026-11-30 · up to 2222222\n\n"
        "1 change: after `1111111` (2026-11-20, “Start”).\n\n"
        "### New\n\n"
        "- **ui:** dark mode (`2222222`)\n"
    )


@pytest.mark.parametrize(
    ("existing", "expected"),
    [
        ("", "# Release notes\n\n## New\n"),
        ("\n\n", "# Release notes\n\n## New\n"),
        ("# Release notes\n\n## Old\n", "# Release notes\n\n## New\n\n## Old\n"),
        ("# Title\n\nAbout.\n\n## Old\n", "# Title\n\nAbout.\n\n## New\n\n## Old\n"),
        ("# Title\n\nText only.", "# Title\n\n## New\n\nText only."),
        ("# Title", "# Title\n\n## New\n"),
        ("Old words\n", "## New\n\nOld words\n"),
        ("# 2.0\n\n- x\n\n# 1.0\n", "## New\n\n# 2.0\n\n- x\n\n# 1.0\n"),
        ("# T\r\n\r\n## Old\r\n", "# T\r\n\r\n## New\r\n\r\n## Old\r\n"),
        ("\ufeff# T\n\n## Old\n", "\ufeff# T\n\n## New\n\n## Old\n"),
        ("# T\n\n```\n## no heading\n```\n\n## Old\n", "# T\n\n```\n## no heading\n```\n\n## New\n\n## Old\n"),
        ("~~~\n# x\n```\n## y\n", "## New\n\n~~~\n# x\n```\n## y\n"),
    ],
)
def test_section_goes_on_top_of_the_earlier_ones(existing: str, expected: str) -> None:
    """A new section comes below the title and before the first one; everything that was there stays."""
    assert with_section(existing, "## New\n") == expected


@given(st.text(alphabet="# \n\r`~-ab", max_size=60))
def test_section_leaves_every_line_of_the_file(existing: str) -> None:
    """Whatever the file holds, its words are all there afterwards, in their order."""
    merged = with_section(existing, "## SECTION\n")
    assert merged.count("## SECTION") == 1
    assert merged.replace("## SECTION", "").replace("# Release notes", "").split() == existing.split()


def test_file_keeps_bytes_that_are_no_text(repository: Path) -> None:
    """Broken bytes in the file of the repository are written back as they were."""
    path = repository / "RELEASE_NOTES.md"
    path.write_bytes(b"# T\n\n## caf\xe9\n")
    write_section(repository, example())
    assert path.read_bytes().startswith(b"# T\n\n## v1.2.0")
    assert path.read_bytes().endswith(b"\n\n## caf\xe9\n")


def test_no_file_is_written_without_news(repository: Path) -> None:
    """A run without news leaves the file alone."""
    write_section(repository, Notes(WHEN, None, example().newest, "1" * 40, None, ()))
    assert not (repository / "RELEASE_NOTES.md").exists()


def test_link_in_the_place_of_the_file_is_refused(repository: Path, tmp_path: Path) -> None:
    """A repository cannot make the demo write through a link to somewhere else."""
    target = tmp_path / "target"
    os.symlink(target, repository / "RELEASE_NOTES.md")
    with pytest.raises(ConfigurationError, match="is a link or a folder"):
        write_section(repository, example())
    assert not target.exists()


def test_ignored_file_is_a_typed_error(repository: Path) -> None:
    """Notes that git would not commit are refused, not written in vain."""
    (repository / ".gitignore").write_text("*.md\n")
    with pytest.raises(ConfigurationError, match="git ignores"):
        write_section(repository, example())


# -------------------------------------------------------------------------------------------------------------- decision


def test_decision_takes_conventions_and_ending_and_leaves_the_summary_aside() -> None:
    """The rules choose what the notes need, and the brief says where to start."""
    ending = Ending(Commit("1" * 40, "2026-11-20T10:00:00Z", "Start"), "1" * 40)
    documents = [
        Document(path=CONVENTIONS, text="c"),
        Document(path=ENDING, text=ending.text()),
        Document(path=SUMMARY, text="s"),
    ]
    decision = choose("write", documents, "prompt")
    assert decision["sources"] == [CONVENTIONS, ENDING]
    assert decision["brief"].startswith("Start after commit 1111111 (2026-11-20, 'Start').")
    assert choose("write", documents[:1], "prompt")["brief"].startswith("Nothing was written yet")


def test_everything_grounded_counts_where_there_is_no_usable_decision() -> None:
    """Without a decision the notes are made from all that was read."""
    grounded = SimpleNamespace(documents=[Document(path=CONVENTIONS, text="c"), Document(path=SUMMARY, text="s")])
    curated = SimpleNamespace(mode="curated", sources=(CONVENTIONS,))
    assert release_notes.what_matters(grounded, curated) == {CONVENTIONS: "c"}  # type: ignore[arg-type]
    curated = SimpleNamespace(mode="grounded", sources=())
    assert set(release_notes.what_matters(grounded, curated)) == {CONVENTIONS, SUMMARY}  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------------------------- memory


def texts_of(memory: InProcessFileMemory, folder: str) -> list[str]:
    answer = memory.execute({"command": "view", "path": folder})
    return [entry.path for entry in answer.value.entries] if answer.ok else []


def text_of(memory: FileMemory, path: str) -> str:
    answer = memory.execute({"command": "view", "path": path})
    assert answer.ok, answer
    return str(answer.value.text)


@pytest.mark.parametrize("broken", ["", "- newest commit: main\n- read up to: HEAD\n", "- newest commit: " + "1" * 40])
def test_ending_that_somebody_broke_counts_as_none(broken: str) -> None:
    """Only full commit ids are believed; anything else starts at the beginning."""
    assert parse_ending(broken) is None


def test_conventions_that_are_there_stay() -> None:
    """The default is written once; what people made of it is never overwritten."""
    memory = InProcessFileMemory("notes")
    notebook.remember_conventions(memory)
    assert text_of(memory, CONVENTIONS) == DEFAULT_CONVENTIONS
    memory.execute({"command": "create", "path": CONVENTIONS, "text": "mine"})
    notebook.remember_conventions(memory)
    assert text_of(memory, CONVENTIONS) == "mine"


def test_run_leaves_its_ending_and_a_note_of_its_session() -> None:
    """After a run that landed, the memory says where it ended and what it did."""
    memory, notes = InProcessFileMemory("notes"), example()
    notebook.remember(memory, notes, IsolatedRun(status="landed", commit="d" * 40))
    assert parse_ending(text_of(memory, ENDING)) == Ending(notes.newest, notes.head, "d" * 40)
    (session,) = texts_of(memory, SESSIONS)
    assert session == f"{SESSIONS}/20261130T194500Z-2222222.md"
    assert "- 2026-11-30 19:45 UTC: 1 change up to 2222222 (1 New), landed as ddddddd\n" in text_of(memory, session)


def test_notes_that_did_not_land_are_told_again() -> None:
    """Where there was news and no commit, the ending stays where it was."""
    memory = InProcessFileMemory("notes")
    notebook.remember(memory, example(), IsolatedRun(status="unchanged"))
    assert texts_of(memory, "/memories/release-notes") == []
    assert ", not landed\n" in text_of(memory, texts_of(memory, SESSIONS)[0])


def test_old_session_notes_go() -> None:
    """Only the newest session notes stay, so that the memory never evicts what people edited."""
    memory = InProcessFileMemory("notes", Limits(max_files=20))
    notebook.remember_conventions(memory)
    for hour in range(24):
        notes = example()
        when = WHEN.replace(hour=hour)
        notebook.remember(
            memory, Notes(when, notes.after, notes.newest, notes.head, None, ()), IsolatedRun(status="unchanged")
        )
    assert [path[len(SESSIONS) + 1 :][9:11] for path in texts_of(memory, SESSIONS)] == [str(hour) for hour in range(14, 24)]
    assert text_of(memory, CONVENTIONS) == DEFAULT_CONVENTIONS


def test_journal_of_a_run_that_was_killed_is_closed(repository: Path) -> None:
    """What a dead process left in the journal of the memory is settled, since the next fold makes up for it."""
    code = (
        "import sys; from oort_flows.files import GitFileMemory\n"
        "command = {'command': 'create', 'path': sys.argv[2], 'text': 'half'}\n"
        "GitFileMemory(sys.argv[1], 'notes').execute_undoable(command, operation='cut-off')"
    )
    subprocess.run([sys.executable, "-c", code, str(repository), SUMMARY], check=True)
    memory = GitFileMemory(repository, "notes")
    alive = {"command": "create", "path": CONVENTIONS, "text": "mine"}
    memory.execute_undoable(alive, operation="at-work")
    assert len(memory.journal()) == 2
    notebook.remember(memory, example(), IsolatedRun(status="landed", commit="d" * 40))
    assert [entry.undo.operation for entry in memory.journal()] == ["at-work"]
    assert text_of(memory, SUMMARY) == "half"


def test_memory_that_refuses_is_a_typed_error() -> None:
    """A write that the memory refuses is raised, with the path and without the text."""
    with pytest.raises(StorageError, match=r"/memories/conventions\.md"):
        notebook.remember_conventions(InProcessFileMemory("notes", Limits(max_file_bytes=10)))


def session(line: str) -> Document:
    return Document(path=f"{SESSIONS}/x.md", text=f"# Heading\n\n{line}\n\nStarted somewhere.\n")


def test_fold_keeps_one_line_for_each_run_newest_first() -> None:
    """The summary grows on top, says nothing twice, and folding the same notes again changes nothing."""
    first, second = "- 2026-11-29 10:00 UTC: 3 changes up to 1", "- 2026-11-30 10:00 UTC: 1 change up to 2"
    prior = fold_sessions(None, [session(first)], "")
    text = fold_sessions(prior, [session(first), session(second)], "")
    assert [line for line in text.split("\n") if line.startswith("- ")] == [second, first]
    assert fold_sessions(text, [session(first), session(second)], "") == text


def test_fold_keeps_the_last_of_the_runs_that_found_nothing() -> None:
    """Runs that found nothing after the same commit are one line, dated as the last of them."""
    lines = [f"- 2026-11-{day} 10:00 UTC: nothing new after abc1234" for day in (28, 29, 30)]
    other = "- 2026-11-27 10:00 UTC: nothing new after 0000000"
    text = fold_sessions("\n".join([*lines[:2], other]), [session(lines[2])], "")
    assert [line for line in text.split("\n") if line.startswith("- ")] == [lines[2], other]


def test_fold_is_bounded_and_drops_the_oldest() -> None:
    """A summary of many years still fits, without its oldest lines."""
    lines = [f"- {2000 + n // 12:04d}-{n % 12 + 1:02d}-01 10:00 UTC: {n} changes {'x' * 100}" for n in range(300)]
    text = fold_sessions("\n".join(lines), [], "")
    assert len(text) <= 12_000
    assert lines[-1] in text
    assert lines[0] not in text


@given(st.none() | st.text(), st.lists(st.text().map(lambda t: Document(path=f"{SESSIONS}/x.md", text=t))))
def test_fold_takes_any_text(prior: str | None, documents: list[Document]) -> None:
    """Whatever people wrote into summary and notes, the fold returns text that may be written, and is stable."""
    text = fold_sessions(prior, documents, "")
    assert text.strip()
    assert fold_sessions(text, documents, "") == text
