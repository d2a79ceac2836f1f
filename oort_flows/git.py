"""
Running the ``git`` program: one place that neutralises the environment and turns failures into one error.

libgit2 serves the file memory; what a repository's owner configures (hooks, signing, filters, merge drivers) only git itself
honours, so work trees, commits and merges go through here.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from oort_flows.errors import ConfigurationError

__all__ = ["GitCommandError", "git_environment", "run_git", "run_git_bytes"]

# Identity, ssh and editor settings are the user's to make; these redirect git to another repository, index or configuration.
_REDIRECTING = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CEILING_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INDEX_VERSION",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NAMESPACE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)


class GitCommandError(Exception):
    """``git`` ended with an error; ``returncode``, ``stdout`` and ``stderr`` are kept for whoever tells the kinds apart."""

    def __init__(self, command: str, returncode: int, stdout: str, stderr: str) -> None:
        super().__init__(f"git {command} ended with exit code {returncode}")
        self.command = command
        self.returncode = returncode
        self.stdout = stdout
        self.stderr = stderr


def git_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a git process: nothing that redirects it, no prompt, messages in English."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _REDIRECTING and not name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))
    }
    return kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"} | dict(extra or {})


def run_git(
    directory: str | os.PathLike[str],
    *arguments: str,
    stdin: str | None = None,
    environment: Mapping[str, str] | None = None,
    own_group: bool = False,
) -> str:
    """
    Run git in *directory* and return what it prints, without the final newline.

    Parameters
    ----------
    stdin:
        What git reads; without it git finds an empty input.
    environment:
        Variables on top of :func:`git_environment`.
    own_group:
        Run git in a process group of its own, so that Ctrl-C in a terminal does not reach it.

    Raises
    ------
    GitCommandError
        If git ends with an error.
    ConfigurationError
        If there is no ``git`` on the path.
    """
    data = None if stdin is None else stdin.encode("utf-8", "surrogateescape")
    done = run_git_bytes(directory, *arguments, stdin=data, environment=environment, own_group=own_group)
    return _text(done).removesuffix("\n")


def run_git_bytes(
    directory: str | os.PathLike[str],
    *arguments: str,
    stdin: bytes | None = None,
    environment: Mapping[str, str] | None = None,
    own_group: bool = False,
) -> bytes:
    """Run git as :func:`run_git` does and return exactly the bytes that it prints."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=directory,
            env=git_environment(environment),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            check=False,
            process_group=0 if own_group else None,
        )
    except FileNotFoundError as error:
        if error.filename == "git":
            raise ConfigurationError("git is not installed, or not on the PATH") from None
        raise
    if done.returncode:
        raise GitCommandError(_command_among(arguments), done.returncode, _text(done.stdout), _text(done.stderr))
    return done.stdout


def _command_among(arguments: tuple[str, ...]) -> str:
    """Name git's command: the first word that is neither an option nor the setting that follows ``-c``."""
    before = ("", *arguments)
    return next((word for last, word in zip(before, arguments, strict=False) if last != "-c" and word[:1] != "-"), "")


def _text(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape")
