"""The pages that a run publishes, built without a run."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from oort_flows import artifacts
from oort_flows.files import InProcessFileMemory
from oort_flows.mechanics import Consolidated, Curated, Skipped, curate, ground
from oort_flows.models.runs import Discarded, IsolatedRun
from oort_flows.models.undo import UndoReport

SECRET = "ghp" + "_" + "aB3dE5gH7jK9mN2pQ4sT6vX8zC1fL0wR5yU7"
HOSTILE = f"# Fake\n```\n</details><script>x</script> | `a` | {SECRET}\n[x](javascript:y)\n"


def headings(page: str) -> list[str]:
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(page)
    return [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]


def pages() -> dict[str, str]:
    memory = InProcessFileMemory(HOSTILE.replace("\n", " "))
    memory.execute({"command": "create", "path": "/memories/a.md", "text": HOSTILE})
    grounded = ground(memory, ["/memories"])
    curated = curate(grounded, HOSTILE, lambda *_: {"brief": HOSTILE, "sources": ["/memories/a.md"]})
    failed = curate(grounded, HOSTILE, lambda *_: 1 / 0)
    folded = Consolidated(
        target="/memories/s.md", text=HOSTILE, prompt=HOSTILE, digest="0" * 64, evicted=("/memories/b.md",)
    )
    run = IsolatedRun(
        status="declined",
        summary=HOSTILE,
        branch="oort/x-1",
        message=HOSTILE,
        warnings=(HOSTILE,),
        rescued="refs/oort/rescue/x-1",
        discarded=(Discarded(branch="oort/x-1", sha="1" * 40, rescue="refs/oort/rescue/x-1"),),
    )
    error = ValueError(SECRET)
    error.add_note(HOSTILE)
    assert isinstance(curated, Curated)
    assert curated.mode == "curated"
    return {
        "brief": artifacts.build_brief(curated, HOSTILE),
        "no brief": artifacts.build_brief(failed, HOSTILE),
        "fold": artifacts.build_fold(folded),
        "commit": artifacts.build_commit(run, HOSTILE),
        "raised": artifacts.build_raised(error, HOSTILE),
        "memory": artifacts.build_memory(memory.scope, artifacts.read_memory(memory)),
        "rollback": artifacts.build_rollback(UndoReport("x", ("/memories/a.md",), ("/memories/b.md",))),
    }


@pytest.mark.parametrize("name", pages())
def test_d01_no_page_holds_a_secret(name: str) -> None:
    """Whatever a memory, a brief, an intent, a label or a warning holds, the page has a marker in its place."""
    page = pages()[name]
    assert SECRET not in page
    assert name == "rollback" or "[secret: " in page


@pytest.mark.parametrize("name", pages())
def test_nothing_quoted_is_taken_for_markup(name: str) -> None:
    """Text out of a memory makes no heading, no link, no HTML, and closes no fold."""
    page = pages()[name]
    assert "Fake" not in headings(page)
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(page)
    html = [token.content for token in tokens if token.type == "html_block"]
    inline = [child for token in tokens for child in token.children or () if child.type in ("html_inline", "link_open")]
    assert inline == []
    assert all("script" not in piece for piece in html)
    assert page.count("<details>") == sum("<details>" in piece for piece in html)


def test_the_table_of_what_was_grounded_has_a_row_for_each_file() -> None:
    """Read, cut, left out and missing are told apart; cells are flat."""
    memory = InProcessFileMemory("m")
    for name, text in (("a", "x" * 10), ("b", "y"), ("c", "z")):
        memory.execute({"command": "create", "path": f"/memories/{name}.md", "text": text})
    grounded = ground(memory, ["/memories"], max_files=2, max_file_chars=4)
    assert artifacts.build_grounded(grounded) == [
        {"path": "/memories/a.md", "status": "cut to fit", "characters": 4},
        {"path": "/memories/b.md", "status": "read", "characters": 1},
        {"path": "/memories/c.md", "status": "left out: max_files", "characters": 0},
    ]


def test_the_page_on_a_fold_names_what_had_to_go() -> None:
    """Evicted, skipped and missing files each have their place."""
    folded = Consolidated(
        target="/memories/s.md",
        text="new",
        prompt="",
        digest="ab" * 32,
        evicted=("/memories/old.md",),
        skipped=(Skipped(path="/memories/big.md", reason="max_total_chars"),),
        missing=("/memories/gone.md",),
    )
    page = artifacts.build_fold(folded)
    assert headings(page) == ["What was folded", "Evicted to make room", "Left out", "Missing", "The new text"]
    for path in ("/memories/old.md", "/memories/big.md", "/memories/gone.md"):
        assert f"`{path}`" in page


def test_a_large_memory_makes_a_page_that_can_be_opened() -> None:
    """Every file has its line; the texts stop where the page would become slow, and it says so."""
    files = [
        artifacts.StoredText(path=f"/memories/{i:03}.md", byte_length=60_000, digest="0" * 64, text="x" * 60_000)
        for i in range(256)
    ]
    page = artifacts.build_memory("m", files)
    assert page.count("| `/memories/") == 256
    assert len(page) < 300_000
    assert "not shown" in page


def test_an_empty_memory_says_so() -> None:
    """Nothing remembered is an answer too."""
    assert "Nothing is remembered yet." in artifacts.build_memory("m", artifacts.read_memory(InProcessFileMemory("m")))


def test_a_memory_is_read_whole_and_in_order() -> None:
    """Files in folders are found, sorted by path."""
    memory = InProcessFileMemory("m")
    for name in ("b/c.md", "a.md", "b/a/z.md"):
        memory.execute({"command": "create", "path": f"/memories/{name}", "text": name})
    assert [(file.path, file.text) for file in artifacts.read_memory(memory)] == [
        ("/memories/a.md", "a.md"),
        ("/memories/b/a/z.md", "b/a/z.md"),
        ("/memories/b/c.md", "b/c.md"),
    ]
