"""
Who a memory belongs to: the names of scopes, and the identity of a repository.

Two checkouts and all work trees of one repository have one identity; two repositories in folders of one name have two.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from oort_flows.errors import ConfigurationError

__all__ = ["check_name", "encode", "join_scope", "repository_identity"]

_known_roots: dict[str, str] = {}
_DEFAULT_PORTS = {"ssh": 22, "git": 9418, "http": 80, "https": 443}
# user@host:path, the short form of ssh. A slash before the colon means a local path (gitglossary, "Git URLs").
_SCP_LIKE = re.compile(r"(?:[^@/]*@)?(?P<host>\[[^\]]+\]|[^:/]+):(?P<path>.*)", re.DOTALL)


def check_name(field: str, value: object) -> str:
    """
    Return *value* if it can be part of a scope.

    Raises
    ------
    ConfigurationError
        If it is no string, blank, or holds control characters or half a surrogate pair. The message names *field*.
    """
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(f"{field} must be a string that is not blank")
    if any(c < " " or c == "\x7f" or "\ud800" <= c <= "\udfff" for c in value):
        raise ConfigurationError(f"{field} must not hold control characters or half a surrogate pair")
    return value


def encode(part: str) -> str:
    """
    Percent-encode the separators of scopes, so that no two names differ only by where a separator stands.

    >>> encode("a/b:c%d")
    'a%2Fb%3Ac%25d'
    """
    return part.replace("%", "%25").replace("/", "%2F").replace(":", "%3A")


def join_scope(base: str, *, user: str | None = None, agent: str | None = None, run: str | None = None) -> str:
    """
    Join a base and the parts that are given, always in the same order.

    >>> join_scope("project:billing", user="siv", run="0192")
    'project:billing/user:siv/run:0192'
    """
    parts = (("user", user), ("agent", agent), ("run", run))
    return base + "".join(f"/{kind}:{encode(name)}" for kind, name in parts if name is not None)


def repository_identity(path: str | os.PathLike[str]) -> str | None:
    """
    Name the repository that *path* lies in, the same for every clone and work tree of it.

    ``repository:<host>/<path>`` of ``origin``, without user, password, default port and ``.git``; where ``origin`` is
    missing or on the local disk, ``repository:<smallest root commit>``; ``None`` where there is neither, or no repository.
    A shallow clone of a repository without a remote ``origin`` is named after the oldest commit that it has.
    """
    common = _common_directory(path)
    if common is None:
        return None
    identity = _origin_identity(common) or _known_roots.get(common)
    if identity is None:
        identity = _root_identity(common)
        if identity is not None:
            _known_roots[common] = identity  # walking a long history takes seconds, and its root does not move
    return identity


def _common_directory(path: str | os.PathLike[str]) -> str | None:
    import pygit2

    try:
        found = pygit2.discover_repository(os.fspath(path))
    except (pygit2.GitError, KeyError):
        return None
    if not found:
        return None
    pointer = Path(found, "commondir")
    return str((Path(found) / pointer.read_text().strip()).resolve()) if pointer.is_file() else str(Path(found).resolve())


def _origin_identity(common: str) -> str | None:
    import pygit2

    try:
        url = pygit2.Config(os.path.join(common, "config"))["remote.origin.url"]
    except (pygit2.GitError, KeyError, OSError):
        return None
    place = _remote_place(url or "")
    if place is None:
        return None
    return "repository:" + "/".join(encode(segment) for segment in place.split("/"))


def _remote_place(url: str) -> str | None:
    """
    Reduce a Git URL to ``host/path``; ``None`` for a place on the local disk.

    >>> _remote_place("git@example.org:team/app.git"), _remote_place("https://u:p@example.org/team/app/")
    ('example.org/team/app', 'example.org/team/app')
    >>> _remote_place("/srv/app.git") is None, _remote_place("file:///srv/app.git") is None
    (True, True)
    """
    if "://" in url:
        try:
            split = urlsplit(url)
            host, port = split.hostname, split.port
        except ValueError:
            return None
        if split.scheme == "file" or not host:
            return None
        if port is not None and port != _DEFAULT_PORTS.get(split.scheme.rpartition("+")[2]):
            host = f"{host}:{port}"
        path = split.path
    else:
        short = _SCP_LIKE.fullmatch(url)
        if short is None or len(short["host"]) == 1:  # one letter before a colon is a drive
            return None
        host, path = short["host"].lower(), short["path"]
    path = path.strip("/").removesuffix(".git").rstrip("/")
    return f"{host}/{path}" if path else host


def _root_identity(common: str) -> str | None:
    from oort_flows.git import GitCommandError, run_git

    try:
        roots = run_git(common, "rev-list", "--max-parents=0", "--branches", "--remotes", "--tags", "HEAD").split()
    except GitCommandError:
        # HEAD names a branch without commits; other branches may have some.
        try:
            roots = run_git(common, "rev-list", "--max-parents=0", "--branches", "--remotes", "--tags").split()
        except GitCommandError:
            return None
    return f"repository:{min(roots)}" if roots else None
