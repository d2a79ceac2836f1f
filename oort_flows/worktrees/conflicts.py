"""Conflicts of a merge, and resolving them by what the user supplies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from oort_flows.calling import call
from oort_flows.git import run_git, run_git_bytes
from oort_flows.worktrees.parents import Parent
from oort_flows.worktrees.refusals import Refusal

__all__ = ["Resolutions", "conflicted_paths", "has_conflict_block", "resolve_in", "without_fence"]

_FENCE = re.compile(r"\s*(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_TEXT_MODES = {"100644", "100755"}


@dataclass(frozen=True, slots=True)
class _Sides:
    """The three versions of a conflicted file: blob ids, ``None`` where it does not exist, and the mode it is to have."""

    base: str | None
    ours: str | None
    theirs: str | None
    mode: str


def conflicted_paths(directory: Path) -> list[str]:
    """List the paths that the merge in progress could not settle."""
    return list(_stages(directory))


def _stages(directory: Path) -> dict[str, dict[int, tuple[str, str]]]:
    """Read path, stage, and (mode, blob) from the index: 1 is the base, 2 the parent's, 3 the step's (git-ls-files)."""
    stages: dict[str, dict[int, tuple[str, str]]] = {}
    for line in run_git(directory, "ls-files", "-u", "-z").split("\0"):
        if line:
            about, _, path = line.partition("\t")
            mode, blob, stage = about.split()
            stages.setdefault(path, {})[int(stage)] = (mode, blob)
    return stages


class Resolutions:
    """What has been resolved so far; kept by content, so that a merge begun anew does not ask twice."""

    def __init__(self, resolve: Callable[..., object] | None) -> None:
        self._resolve = resolve
        self._texts: dict[tuple[str, _Sides], bytes] = {}
        self._asked: dict[str, _Sides] = {}

    def find(self, path: str, sides: _Sides) -> bytes | None:
        """Return the resolution of a conflict that has been worked out; else remember that it has to be."""
        text = self._texts.get((path, sides))
        if text is None:
            self._asked[path] = sides
        return text

    def work_out(self, parent: Parent, paths: Iterable[str]) -> None:
        """
        Ask for the resolution of each conflict in *paths*.

        Raises
        ------
        Refusal
            ``conflict`` for the first one that is not resolved; the message names the file.
        """
        for path in paths:
            sides = self._asked.pop(path)
            self._texts[path, sides] = self._ask(parent, path, sides)

    def _ask(self, parent: Parent, path: str, sides: _Sides) -> bytes:
        if self._resolve is None:
            raise Refusal("conflict", f"nobody resolves the conflict in {path}")
        ours, theirs, base = (_text(parent, path, blob) for blob in (sides.ours, sides.theirs, sides.base))
        try:
            answer = call(self._resolve, path, ours, theirs, base)
        except Exception as error:
            raise Refusal("conflict", f"resolve raised {type(error).__name__} for {path}") from error
        if not isinstance(answer, str):
            raise Refusal("conflict", f"resolve returned no text for {path}")
        text = without_fence(answer)
        if has_conflict_block(text):
            raise Refusal("conflict", f"what resolve returned for {path} still holds a conflict")
        return text.encode("utf-8", "surrogateescape")


def _text(parent: Parent, path: str, blob: str | None) -> str | None:
    if blob is None:
        return None
    try:
        return run_git_bytes(parent.top, "cat-file", "blob", blob).decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal("conflict", f"the conflict in {path} is between files that are no text") from None


def resolve_in(directory: Path, paths: Iterable[str], resolutions: Resolutions) -> list[str]:
    """
    Put what has been worked out into the merge in progress; return the paths that have to be worked out first.

    Raises
    ------
    Refusal
        ``conflict`` if a path is in conflict as a link or a submodule, which no text can settle.
    """
    stages = _stages(directory)
    settled: dict[str, tuple[str, bytes]] = {}
    open_conflicts = []
    for path in paths:
        sides = _sides(path, stages[path])
        text = resolutions.find(path, sides)
        if text is None:
            open_conflicts.append(path)
        else:
            settled[path] = (sides.mode, text)
    if not open_conflicts:
        for path, (mode, text) in settled.items():
            blob = run_git_bytes(directory, "hash-object", "-w", "--stdin", "--no-filters", stdin=text).decode().strip()
            run_git(directory, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}", own_group=True)
            # By way of the index, so that line endings and filters are those of any checkout.
            run_git(directory, "checkout-index", "-f", "-q", "--", path, own_group=True)
    return open_conflicts


def _sides(path: str, stages: dict[int, tuple[str, str]]) -> _Sides:
    if not {mode for mode, _ in stages.values()} <= _TEXT_MODES:
        raise Refusal("conflict", f"the conflict in {path} is between links or submodules, which have no text")
    base, ours, theirs = (stages[stage][1] if stage in stages else None for stage in (1, 2, 3))
    mode = (stages.get(2) or stages.get(3) or stages[1])[0]
    return _Sides(base, ours, theirs, mode)


def without_fence(text: str) -> str:
    r"""
    Strip one fence that wraps the whole of *text*, as models like to put around an answer.

    >>> without_fence("```python\nx = 1\n```")
    'x = 1\n'
    """
    lines = text.strip().split("\n")
    opening = _FENCE.fullmatch(lines[0])
    if opening is None or len(lines) < 2:
        return text
    depth = 0
    for number, line in enumerate(lines):
        fence = _FENCE.fullmatch(line)
        if fence is None or fence["fence"][0] != opening["fence"][0] or len(fence["fence"]) < len(opening["fence"]):
            continue
        # A fence with an info string opens a block inside; one without closes the innermost.
        depth += 1 if number == 0 or fence["info"].strip() else -1
        if depth == 0:
            return "".join(f"{line}\n" for line in lines[1:-1]) if number == len(lines) - 1 else text
    return text


def has_conflict_block(text: str) -> bool:
    r"""
    Whether *text* holds a full conflict block: opening, separator and closing in this order, of one width, at least 7.

    >>> has_conflict_block("<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n"), has_conflict_block("Title\n=======\n")
    (True, False)
    """
    seen: dict[int, str] = {}
    for line in text.splitlines():
        found = re.match(r"(<{7,}|={7,}|>{7,})(?=\s|$)", line)
        if found is None:
            continue
        mark, width = found[1][0], len(found[1])
        if mark == "<":
            seen[width] = "<"
        elif mark == "=" and seen.get(width) == "<":
            seen[width] = "="
        elif mark == ">" and seen.get(width) == "=":
            return True
    return False
