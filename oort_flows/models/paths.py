"""
The grammar of memory paths: what a path below ``/memories`` may look like.

Nothing is normalised. A path is either valid exactly as written or refused, so two spellings never mean one file and no
spelling reaches outside the root.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = [
    "ALLOWED_EXTENSIONS",
    "MAX_PATH_BYTES",
    "ROOT",
    "PathProblem",
    "ancestors",
    "extension",
    "is_below",
    "path_problem",
]

ROOT = "/memories"
MAX_PATH_BYTES = 1_024
ALLOWED_EXTENSIONS = frozenset({".txt", ".md", ".json", ".py", ".yaml", ".yml"})

_PREFIX = ROOT + "/"
# One to 128 characters: an ASCII letter or digit, then letters, digits, dot, underscore, hyphen. Everything that is
# refused by name elsewhere (backslash, percent, control characters, dot files, "..") falls outside of this alphabet.
_VALID = re.compile(r"/memories(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,127})+", re.ASCII)


@dataclass(frozen=True, slots=True)
class PathProblem:
    """Why a path is refused; ``too_long`` tells the one case that has a limit to report."""

    message: str
    too_long: bool = False


def path_problem(path: str) -> PathProblem | None:
    """
    Say what is wrong with *path*, or ``None`` if it is valid.

    >>> path_problem("/memories/notes/today.md") is None
    True
    >>> path_problem("/memories/../etc/passwd").message
    'every segment starts with a letter or digit and holds 1 to 128 letters, digits, dots, underscores or hyphens'
    """
    try:
        size = len(path) if path.isascii() else len(path.encode())
    except UnicodeEncodeError:
        return PathProblem("the path holds half a surrogate pair")
    if size > MAX_PATH_BYTES:
        return PathProblem(f"the path is longer than {MAX_PATH_BYTES} bytes", too_long=True)
    if path == ROOT or _VALID.fullmatch(path):
        return None
    if not path.startswith(_PREFIX):
        return PathProblem(f"a path is {ROOT} or starts with {_PREFIX}")
    if any(c in "\\%\x7f" or c < " " for c in path):
        return PathProblem("backslashes, percent signs and control characters are not allowed in a path")
    return PathProblem(
        "every segment starts with a letter or digit and holds 1 to 128 letters, digits, dots, underscores or hyphens"
    )


def extension(path: str) -> str:
    """
    Return what follows the last dot of the last segment, dot included; empty without a dot.

    >>> extension("/memories/x.tar.yml"), extension("/memories/noext"), extension("/memories/x.")
    ('.yml', '', '.')
    """
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:] if dot >= 0 else ""


def ancestors(path: str) -> list[str]:
    """
    List the directories above *path*, nearest the root first, the root itself left out.

    >>> ancestors("/memories/a/b/c.md")
    ['/memories/a', '/memories/a/b']
    """
    found: list[str] = []
    end = path.find("/", len(_PREFIX))
    while end >= 0:
        found.append(path[:end])
        end = path.find("/", end + 1)
    return found


def is_below(path: str, directory: str) -> bool:
    """
    Tell whether *path* lies inside *directory*; a shared prefix of names is not enough.

    >>> is_below("/memories/a/x.md", "/memories/a"), is_below("/memories/ab", "/memories/a")
    (True, False)
    """
    return path.startswith(directory + "/")
