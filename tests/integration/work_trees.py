"""A back door to repositories in which isolated steps have run."""

from __future__ import annotations

from pathlib import Path

import pytest

from oort_flows.errors import IsolationError
from oort_flows.git import run_git, run_git_bytes
from oort_flows.worktrees import IsolatedRun, isolated


def git(directory: Path, *arguments: str) -> str:
    return run_git(directory, *arguments)


def leftovers(repository: Path) -> list[str]:
    """Everything that an isolated step has left: work trees, branches, rescue references, notes in the register."""
    others = git(repository, "worktree", "list", "--porcelain").split("\n\n")[1:]
    found = [
        line.removeprefix("worktree ") for block in others for line in block.splitlines() if line.startswith("worktree ")
    ]
    found += git(repository, "for-each-ref", "--format=%(refname)", "refs/heads/oort", "refs/oort/rescue").splitlines()
    register = repository / ".git" / "oort" / "runs"
    return found + sorted(path.name for path in register.glob("*"))


def add_hook(repository: Path, name: str, script: str) -> None:
    hook = repository / ".git" / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)


def everything_in(repository: Path) -> bytes:
    """The bytes of all objects, reachable or not."""
    return run_git_bytes(repository, "cat-file", "--batch-all-objects", "--batch", "--unordered")


def content(repository: Path, revision: str, path: str) -> str:
    return run_git_bytes(repository, "show", f"{revision}:{path}").decode()


def state(repository: Path) -> tuple[str, str, str]:
    """HEAD, its tree, and what is not committed."""
    return (
        git(repository, "rev-parse", "HEAD"),
        git(repository, "rev-parse", "HEAD^{tree}"),
        git(repository, "status", "--porcelain", "--ignored"),
    )


def raise_limit(worktree: Path) -> str:
    """A step that changes one file."""
    (worktree / "limits.toml").write_text("max_retries = 5\n")
    return "Raised the retry limit"


def refused(repository: Path, step=raise_limit, **settings) -> IsolationError:
    """Run a step that is not going to land, and return the error."""
    with pytest.raises(IsolationError) as caught:
        isolated(step, repository=repository, label="implement", **settings)()
    run = caught.value.run
    assert isinstance(run, IsolatedRun)
    assert run.status == "failed"
    return caught.value
