"""
Why git did not do what it was asked: told by what it ran and what state it left, and only then by what it says.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from oort_flows.errors import ConfigurationError
from oort_flows.git import GitCommandError, run_git
from oort_flows.scrubbing import scrub

__all__ = ["Kind", "Refusal", "explain", "missing_identity", "said", "traced_git"]

Kind = Literal[
    "no_repository",
    "no_commit",
    "worktree_failed",
    "own_commit",
    "no_identity",
    "hook_refused",
    "signing_failed",
    "dirty_parent",
    "conflict",
    "git_failed",
]

_SAID_LIMIT = 2_000

_HOW_TO_IDENTIFY = (
    "git does not know whose commit this is. Tell it, in the repository or with --global:\n"
    '    git config user.name "Your Name"\n'
    '    git config user.email "you@example.org"'
)


class Refusal(Exception):
    """A step cannot land; becomes an IsolationError once it is known what was kept of its work."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message


@dataclass(frozen=True, slots=True)
class Child:
    """A program that git started: the hook it was, if any, its path, and how it ended."""

    hook: str | None
    program: str
    code: int


class TracedGitError(GitCommandError):
    """``git`` ended with an error; ``children`` are the programs it ran, in the order in which they ended."""

    def __init__(self, error: GitCommandError, children: tuple[Child, ...]) -> None:
        super().__init__(error.command, error.returncode, error.stdout, error.stderr)
        self.children = children


def traced_git(directory: str | os.PathLike[str], *arguments: str, stdin: str | None = None, own_group: bool = False) -> str:
    """
    Run git as :func:`~oort_flows.git.run_git` does, and know which programs it ran.

    Raises
    ------
    TracedGitError
        If git ends with an error.
    """
    with tempfile.TemporaryDirectory(prefix="oort-trace-") as folder:
        trace = Path(folder, "events")
        try:
            return run_git(
                directory, *arguments, stdin=stdin, environment={"GIT_TRACE2_EVENT": str(trace)}, own_group=own_group
            )
        except GitCommandError as error:
            raise TracedGitError(error, tuple(_children(trace))) from None


def _children(trace: Path) -> Iterator[Child]:
    """Read the children of the outermost git process (git's api-trace2: a nested one has a slash in its session id)."""
    started: dict[int, tuple[str | None, str]] = {}
    try:
        lines = trace.read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if "/" in event.get("sid", ""):
            continue
        if event.get("event") == "child_start":
            program = (event.get("argv") or [""])[0]
            started[event["child_id"]] = (event.get("hook_name"), program)
        elif event.get("event") == "child_exit" and event["child_id"] in started:
            hook, program = started[event["child_id"]]
            yield Child(hook, program, event["code"])


def explain(error: GitCommandError, directory: str | os.PathLike[str], doing: str) -> Refusal:
    """
    Tell why a commit or a merge failed in *directory*: a hook, no identity, a signature, or something else.

    Parameters
    ----------
    doing:
        What was attempted, such as ``the commit``; part of the message.
    """
    children = getattr(error, "children", ())
    hook = next((child.hook for child in children if child.hook and child.code), None)
    if hook is not None:
        return Refusal("hook_refused", f"the repository's {hook} hook refused {doing}{said(error)}")
    nobody = missing_identity(directory)
    if nobody is not None:
        return nobody
    if _signs(directory) and _failed_to_sign(error, children, directory):
        return Refusal("signing_failed", f"git could not sign {doing}; see commit.gpgSign and gpg.program{said(error)}")
    return Refusal("git_failed", f"git failed at {doing}{said(error)}")


def said(error: GitCommandError) -> str:
    """Return what git said, scrubbed and cut, as the end of a sentence."""
    text = (error.stderr.strip() or error.stdout.strip()).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    text = scrub(text)
    if not text:
        return f" (exit code {error.returncode})"
    return f":\n{text[:_SAID_LIMIT]}" + (" [...]" if len(text) > _SAID_LIMIT else "")


def missing_identity(directory: str | os.PathLike[str]) -> Refusal | None:
    """Tell that git knows no name to commit under in *directory*, and what to do about it; ``None`` where it does."""
    try:
        run_git(directory, "var", "GIT_AUTHOR_IDENT")
        run_git(directory, "var", "GIT_COMMITTER_IDENT")
    except GitCommandError:
        return Refusal("no_identity", _HOW_TO_IDENTIFY)
    return None


def _setting(directory: str | os.PathLike[str], *question: str) -> str:
    try:
        return run_git(directory, "config", *question)
    except (GitCommandError, ConfigurationError):
        return ""


def _signs(directory: str | os.PathLike[str]) -> bool:
    return _setting(directory, "--type=bool", "commit.gpgSign") == "true"


def _failed_to_sign(error: GitCommandError, children: tuple[Child, ...], directory: str | os.PathLike[str]) -> bool:
    signers = {"gpg", "gpgsm", "ssh-keygen"}
    signers |= {
        _setting(directory, key) for key in ("gpg.program", "gpg.openpgp.program", "gpg.x509.program", "gpg.ssh.program")
    }
    if any(child.code and child.hook is None and child.program in signers for child in children):
        return True
    # Without a key git does not even start the program, so nothing but its words is left.
    return "sign" in error.stderr.lower()
