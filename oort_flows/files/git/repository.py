"""
Finding a repository, and opening it for every thread that uses it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from oort_flows.errors import ConfigurationError

__all__ = ["Repository", "locate"]


def locate(repository: object) -> str:
    """
    Return the common git directory of *repository*, without a slash at its end.

    Parameters
    ----------
    repository:
        The top of a work tree, any directory inside it, a linked work tree, or a bare repository. No ``GIT_*`` variable
        is asked.

    Raises
    ------
    ConfigurationError
        If there is no repository, or one that cannot be used; the message says what to do.
    """
    if not isinstance(repository, (str, Path)) or not str(repository).strip() or "\0" in str(repository):
        raise ConfigurationError("repository must be the path of a git repository")
    import pygit2

    start = os.path.abspath(repository)
    try:
        found = pygit2.discover_repository(start)
    except (KeyError, ValueError, OSError, pygit2.GitError):
        found = None
    if not found:
        if not os.path.isdir(start):
            raise ConfigurationError("repository: there is no such directory")
        raise ConfigurationError("repository: there is no git repository here or above; create one with `git init`")
    git_directory = found.rstrip("/")
    common = _common_directory(git_directory)
    for directory in dict.fromkeys((git_directory, common)):
        try:
            _open(directory)
        except (KeyError, ValueError, OSError, pygit2.GitError) as error:
            raise _refusal(start, common) from error
    return common


def _common_directory(git_directory: str) -> str:
    """Follow ``commondir``, by which the git directory of a linked work tree names the one it shares."""
    try:
        with open(f"{git_directory}/commondir", encoding="utf-8") as file:
            shared = file.read().rstrip("\n")
    except FileNotFoundError:
        return git_directory
    except (OSError, ValueError) as error:
        raise ConfigurationError("repository: its link to the main repository cannot be read") from error
    return os.path.realpath(os.path.join(git_directory, shared))


def _refusal(start: str, common: str) -> ConfigurationError:
    """Find out why libgit2 will not open a repository; the text of its error is no ground to stand on."""
    object_format, extensions = _extensions(common)
    if object_format not in ("", "sha1"):
        return ConfigurationError(
            f"repository: its object format is {object_format.upper().replace('SHA', 'SHA-')}, and only SHA-1 is supported; "
            "use a repository made by `git init --object-format=sha1`"
        )
    if extensions:
        return ConfigurationError(f"repository: it uses extensions that are not supported: {', '.join(extensions)}")
    owner = _owner(start, common)
    if owner is not None and owner != os.geteuid():
        return ConfigurationError(
            "repository: it is owned by somebody else, and git refuses it; run as its owner, or trust it with "
            "`git config --global --add safe.directory <path>`"
        )
    return ConfigurationError("repository: git cannot open it; `git status` there tells why")


def _extensions(common: str) -> tuple[str, list[str]]:
    """Read the object format and the other extensions that the configuration of the repository declares."""
    import pygit2

    object_format, others = "", []
    try:
        for entry in pygit2.Config(f"{common}/config"):
            section, _, key = entry.name.lower().partition(".")
            if section == "extensions" and key == "objectformat":
                object_format = (entry.value or "").lower()
            elif section == "extensions" and key not in ("noop", "preciousobjects", "worktreeconfig", "partialclone"):
                others.append(key)
    except (KeyError, ValueError, OSError, pygit2.GitError):
        pass
    return object_format, others


def _owner(start: str, common: str) -> int | None:
    """Return the owner of the first place that is not ours, of those git looks at."""
    for place in (start, os.path.dirname(common), common):
        try:
            owner = os.stat(place).st_uid
        except OSError:
            continue
        if owner != os.geteuid():
            return owner
    return None


def _open(directory: str) -> Any:
    import pygit2

    return pygit2.Repository(directory, pygit2.enums.RepositoryOpenFlag.NO_SEARCH)


class Repository:
    """
    A repository, opened once for each thread and anew in every forked process: libgit2's handles are for one thread.

    Parameters
    ----------
    common:
        Its common git directory, see :func:`locate`.
    """

    def __init__(self, common: str) -> None:
        self.common = common
        self._local = threading.local()

    def handle(self) -> Any:
        """Return the ``pygit2.Repository`` of the calling thread."""
        return self._mine("repository", partial(_open, self.common))

    def packs(self, places: tuple[str, ...], *, anew: bool = False) -> Any:
        """
        Return a ``pygit2.Odb`` over the packs below *places*, for the calling thread; it sees no loose object.

        It finds packs that appear later, and goes on looking into those that have disappeared: then it is opened *anew*.
        """
        return self._mine("packs", partial(_open_packs, places), anew=anew)

    def _mine(self, name: str, make: Callable[[], Any], *, anew: bool = False) -> Any:
        local = self._local
        if getattr(local, "pid", None) != os.getpid():
            local.__dict__.clear()
            local.pid = os.getpid()
        if anew or name not in local.__dict__:
            local.__dict__[name] = make()
        return local.__dict__[name]


def _open_packs(places: tuple[str, ...]) -> Any:
    import pygit2

    odb = pygit2.Odb()
    for priority, place in enumerate(reversed(places), 1):
        odb.add_backend(pygit2.OdbBackendPack(place), priority)
    return odb
