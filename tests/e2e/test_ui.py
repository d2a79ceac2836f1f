"""The pages that people read, in a real browser on a real server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from oort_flows.git import run_git

from .conftest import Server

# Without these, Chromium talks to its maker at every start.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
]

PIPELINE = """
import sys
from pathlib import Path
from prefect import flow, task
from prefect.runtime import flow_run
from oort_flows import GitMemory, current_memory, memory_context
from oort_flows.artifacts import publish_memory
from oort_flows.tasks import consolidate, curate, ground, run_isolated

HOSTILE = "# Not a heading\\n<script>document.title = 'owned'</script>\\n```\\n| a | b |\\n"

@task
def implement(prompt: str, worktree: Path) -> str:
    current_memory().record.note("Tried patching in place; dropped it, the parser is shared.")
    (worktree / "limits.toml").write_text("max_retries = 5\\n")
    return "Raised the retry limit"

@flow(name="deliver")
def deliver(repository: str) -> None:
    print(flow_run.id)
    with memory_context(GitMemory(repository=repository), project="billing"):
        files = current_memory().files
        files.execute({"command": "create", "path": "/memories/conventions.md", "text": HOSTILE})
        grounded = ground(["/memories/conventions.md"])
        curated = curate(grounded, "Raise the retry limit",
                         lambda intent, documents, prompt: {"brief": "Mind the parser.", "sources": []})
        run_isolated(implement, curated.prompt, repository=repository, label="implement", record=True)
        consolidate("/memories/summary.md", ["/memories/conventions.md"], lambda *_: "Retries are 5 now.")
        publish_memory(files)

deliver(sys.argv[1])
"""


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def run_id(server: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of the pipeline above, on the server."""
    path = tmp_path_factory.mktemp("ui")
    repository = path / "repository"
    repository.mkdir()
    run_git(repository, "init", "-q", "-b", "main")
    run_git(repository, "config", "user.name", "Ada")
    run_git(repository, "config", "user.email", "ada@example.org")
    run_git(repository, "commit", "-q", "--allow-empty", "-m", "Start")
    script = path / "pipeline.py"
    script.write_text(PIPELINE)
    return server.python(str(script), str(repository)).split()[0]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1400, "height": 1800})
    yield opened
    opened.close()


def keep(page: Page, name: str) -> None:
    """Keep a picture of the page for whoever wants to look at it."""
    folder = os.environ.get("OORT_TESTS_SCREENSHOTS")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def test_a_run_shows_its_artifacts(server: Server, page: Page, run_id: str) -> None:
    """The tab of the run lists what was grounded, the brief, the commit, the fold and the memory."""
    page.goto(f"{server.url}/v2/runs/flow-run/{run_id}?tab=Artifacts")
    for kind in ("grounded-deliver", "brief-deliver", "commit-deliver-implement", "folded-deliver", "memory-deliver"):
        expect(page.get_by_text(f"oort-{kind}").first).to_be_visible(timeout=30_000)
    keep(page, "run")


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("grounded-deliver", ["/memories/conventions.md", "read"]),
        ("brief-deliver", ["What this step was told", "Mind the parser.", "Raise the retry limit"]),
        ("commit-deliver-implement", ["What the step did", "landed", "the parser is shared"]),
        ("folded-deliver", ["What was folded", "Retries are 5 now."]),
        ("memory-deliver", ["The memory after this run", "/memories/summary.md", "project:billing"]),
    ],
)
def test_each_page_says_what_happened(server: Server, page: Page, run_id: str, kind: str, texts: list[str]) -> None:
    """The page of an artifact shows its facts, and nothing that a memory holds runs or is taken for markup."""
    wanted = {"artifacts": {"flow_run_id": {"any_": [run_id]}, "key": {"any_": [f"oort-{kind}"]}}}
    (artifact,) = httpx.post(f"{server.url}/api/artifacts/filter", json=wanted).raise_for_status().json()
    page.goto(f"{server.url}/v2/artifacts/artifact/{artifact['id']}")
    for text in texts:
        expect(page.get_by_text(text).first).to_be_visible(timeout=30_000)
    assert page.title() != "owned"
    assert page.get_by_role("heading", name="Not a heading").count() == 0
    keep(page, kind)


def test_a_fresh_server_knows_our_blocks(server: Server, page: Page) -> None:
    """The entry point registers them when the server starts, and the block catalogue shows them."""
    page.goto(f"{server.url}/v2/blocks/catalog/oort-git-memory")
    expect(page.get_by_text("Oort Git Memory").first).to_be_visible(timeout=30_000)
    keep(page, "block")
