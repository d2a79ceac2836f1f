"""
Landing what a step did: one commit in its work tree, and a merge into the parent's.

git itself makes both, so identity, hooks, signing, filters and merge drivers are the repository's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tenacity import RetryError, retry, retry_if_result, stop_after_delay, wait_random

from oort_flows.git import GitCommandError, run_git
from oort_flows.worktrees.conflicts import Resolutions, conflicted_paths, resolve_in
from oort_flows.worktrees.finishing import finish
from oort_flows.worktrees.parents import Parent, queue, unfinished
from oort_flows.worktrees.refusals import Refusal, TracedGitError, explain, said, traced_git
from oort_flows.worktrees.trees import Worktree, entry_at, write_entry

__all__ = ["Landing", "commit_changes", "merge"]

# The message as it is: a setting such as commit.cleanup or commit.verbose would take headings for comments, or cut it.
_VERBATIM = ("--cleanup=verbatim", "--no-verbose", "-F", "-")
_ENCODED = ("-c", "i18n.commitEncoding=UTF-8")
_INDEX_PATIENCE = 5  # seconds
_ROUNDS = 5  # how often conflicts may turn out to have changed while they were being resolved
_MESSAGE_PATHS = 10


# ---------------------------------------------------------------------------------------------------------- the commit


def commit_changes(tree: Worktree, message: Callable[[], str]) -> tuple[str, str] | None:
    """
    Commit everything in a work tree that is not ignored; return the commit and its message, ``None`` if nothing changed.

    *message* is asked only if there is something to commit.

    Raises
    ------
    Refusal
        If the commit cannot be made.
    """
    _check_usable(tree)
    try:
        run_git(tree.path, "add", "-A", "--sparse")
    except GitCommandError as error:
        raise Refusal("git_failed", f"git could not add the step's changes{said(error)}") from error
    if not is_staged(tree.path):
        return None
    text = message()
    try:
        traced_git(tree.path, *_ENCODED, "commit", "-q", *_VERBATIM, stdin=text)
    except TracedGitError as error:
        raise explain(error, tree.path, "the commit") from error
    head = tree.head()
    if head is None:
        raise Refusal("git_failed", "the commit was made, and a hook of the repository has taken it back")
    return head, text


def _check_usable(tree: Worktree) -> None:
    if not tree.is_intact():
        raise Refusal("git_failed", "the step has removed its work tree, or unlinked it from its repository")
    operation = unfinished(tree.admin)
    if operation is not None:
        raise Refusal("git_failed", f"the step has left a {operation} unfinished in its work tree")
    head = tree.head()
    if head is None:
        raise Refusal("git_failed", "the step has put its work tree on a branch without commits")
    try:
        branch = run_git(tree.path, "symbolic-ref", "-q", "HEAD")
    except GitCommandError:
        return
    if branch != f"refs/heads/{tree.entry.branch}":
        # Another branch, perhaps the user's own, is not to move; what the step left is committed beside it.
        run_git(tree.path, "update-ref", "--no-deref", "HEAD", head)


def is_staged(directory: Path) -> bool:
    """Whether the index holds something else than HEAD."""
    try:
        run_git(directory, "diff-index", "--cached", "--quiet", "HEAD", "--")
    except GitCommandError as error:
        if error.returncode == 1:
            return True
        raise
    return False


# ----------------------------------------------------------------------------------------------------------- the merge


@dataclass(frozen=True, slots=True)
class Landing:
    """
    What is to be merged, and how.

    Attributes
    ----------
    tip:
        The commit to merge.
    branch:
        The branch that was checked out in the parent when the work tree was made; ``None`` if HEAD was detached.
    message:
        Message of the merge commit.
    resolve:
        Resolves a conflicted file, as :func:`isolated` describes it; ``None``: a conflict is not resolved.
    """

    tip: str
    branch: str | None
    message: str
    resolve: Callable[..., object] | None = None


def merge(parent: Parent, landing: Landing, interruptions: list[BaseException]) -> str | None:
    """
    Merge into the parent's work tree; return the merge commit, ``None`` if everything was there already.

    Nothing interrupts a merge in the middle: what asks to is appended to *interruptions*. While a conflict is being resolved
    nothing is locked and the parent is clean; if it has moved by then, the merge begins anew.

    Raises
    ------
    Refusal
        If it cannot be merged; the parent is as it was.
    """
    resolutions = Resolutions(landing.resolve)
    for _ in range(_ROUNDS):
        with queue(parent.common):
            attempt = _Attempt(parent, landing, resolutions)
            open_conflicts = finish(attempt.run, interruptions)
        if not open_conflicts:
            return attempt.merged
        if interruptions:
            raise Refusal("conflict", "interrupted before the conflicts were resolved")
        resolutions.work_out(parent, open_conflicts)
    raise Refusal("conflict", "the parent changed again and again while conflicts were being resolved")


class _Attempt:
    """One attempt to merge, while it is our turn in the repository."""

    def __init__(self, parent: Parent, landing: Landing, resolutions: Resolutions) -> None:
        self.parent = parent
        self.landing = landing
        self.resolutions = resolutions
        self.merged: str | None = None
        self.before = ""

    def run(self) -> list[str]:
        """Merge; return the paths whose conflicts have to be resolved first, none if it is merged."""
        parent, tip = self.parent, self.landing.tip
        before = self._check_parent()
        if _is_ancestor(parent, tip, before):
            return []
        self.before = before
        in_the_way = _hidden_in_the_way(parent, before, tip)
        if in_the_way:
            raise _dirty("files that are not tracked are in the way", in_the_way)
        try:
            self._merge()
        except TracedGitError as error:
            open_conflicts = self._after_failure(error)
            if open_conflicts:
                return open_conflicts
        self.merged = parent.head()
        with suppress(OSError):  # it has landed, whatever becomes of the register
            _tell_outer(parent, before, self.merged)
        return []

    def _check_parent(self) -> str:
        parent = self.parent
        operation = unfinished(parent.git_dir)
        if operation is not None:
            raise Refusal("dirty_parent", f"a {operation} is unfinished in the parent; conclude or abort it first")
        branch = parent.branch()
        if branch != self.landing.branch:
            raise Refusal("git_failed", "another branch has been checked out in the parent while the step ran")
        before = parent.head()
        if before is None:
            raise Refusal("git_failed", "the parent has no commit any more")
        return before

    def _merge(self) -> None:
        # Whatever the user has set for merges that they make by hand (autostash, squash, log, ff) is not for this one.
        settings = (*_ENCODED, "-c", "merge.autoStash=false")
        options = (
            "--no-ff",
            "--commit",
            "--no-squash",
            "--no-log",
            "--no-stat",
            "--no-edit",
            "--no-rerere-autoupdate",
            "-q",
        )
        what = ("--cleanup=verbatim", "-m", self.landing.message, self.landing.tip)
        self._wait_for_index()
        traced_git(self.parent.top, *settings, "merge", *options, *what, own_group=True)

    def _wait_for_index(self) -> None:
        """Wait while another program, such as an editor that shows the status, holds the parent's index."""
        lock = self.parent.git_dir / "index.lock"
        free = retry(retry=retry_if_result(bool), stop=stop_after_delay(_INDEX_PATIENCE), wait=wait_random(0.02, 0.1))(
            lock.exists
        )
        try:
            free()
        except RetryError:
            raise Refusal("git_failed", "the parent's index.lock stays; see which program holds it, or remove it") from None

    def _after_failure(self, error: TracedGitError) -> list[str]:
        """Take the merge back and say why, or conclude it with what has been resolved; return what is still open."""
        try:
            paths = conflicted_paths(self.parent.top)
            if not paths:
                raise self._refused(error) from error
            if self.landing.resolve is None:
                raise _conflict(paths) from error
            open_conflicts = resolve_in(self.parent.top, paths, self.resolutions)
            if not open_conflicts:
                self._conclude()
        except Refusal as refusal:
            self._take_back(refusal)
            raise
        except GitCommandError as failed:
            broken = Refusal("git_failed", f"git failed at the merge{said(failed)}")
            self._take_back(broken)
            raise broken from failed
        if open_conflicts:
            self._take_back(None)
        return open_conflicts

    def _conclude(self) -> None:
        try:
            message = self.landing.message
            traced_git(self.parent.top, *_ENCODED, "commit", "-q", *_VERBATIM, stdin=message, own_group=True)
        except TracedGitError as error:
            raise explain(error, self.parent.top, "the merge commit") from error

    def _refused(self, error: TracedGitError) -> Refusal:
        refusal = explain(error, self.parent.top, "the merge")
        if refusal.kind == "git_failed" and not (self.parent.git_dir / "MERGE_HEAD").exists():
            return self._if_dirty() or refusal
        return refusal

    def _if_dirty(self) -> Refusal | None:
        """Tell whether git refused to merge over what is not committed in the parent."""
        top = self.parent.top
        if is_staged(top):
            return _dirty(
                "changes are staged", _listed(run_git(top, "diff-index", "--cached", "--name-only", "-z", "HEAD", "--"))
            )
        edited = _listed(run_git(top, "diff", "--no-ext-diff", "--name-only", "-z"))
        untracked = _listed(run_git(top, "ls-files", "--others", "-z", "--exclude-standard"))
        incoming = _incoming(self.parent, self.before, self.landing.tip, "--no-renames")
        clashing = _clashing([*edited, *untracked], incoming)
        return _dirty("changes that are not committed are in the way", clashing) if clashing else None

    def _take_back(self, refusal: Refusal | None) -> None:
        parent = self.parent
        try:
            if (parent.git_dir / "MERGE_HEAD").exists():
                self._wait_for_index()
                run_git(parent.top, "merge", "--abort", own_group=True)
            if parent.head() == self.before:
                return
            problem = "HEAD of the parent has moved"
        except GitCommandError as error:
            problem = f"the merge could not be taken back; do so by git merge --abort{said(error)}"
        kind = refusal.kind if refusal else "conflict"
        raise Refusal(kind, f"{refusal.message}; {problem}" if refusal else problem)


def _conflict(paths: Iterable[str]) -> Refusal:
    return Refusal("conflict", f"the parent has changed the same lines meanwhile, in {_named(paths)}")


def _dirty(what: str, paths: Iterable[str]) -> Refusal:
    return Refusal("dirty_parent", f"in the parent's work tree {what}: {_named(paths)}")


def _named(paths: Iterable[str]) -> str:
    names = [path.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for path in sorted(set(paths))]
    more = f" and {len(names) - _MESSAGE_PATHS} more" if len(names) > _MESSAGE_PATHS else ""
    return ", ".join(names[:_MESSAGE_PATHS]) + more


def _is_ancestor(parent: Parent, tip: str, head: str) -> bool:
    try:
        run_git(parent.top, "merge-base", "--is-ancestor", tip, head)
    except GitCommandError as error:
        if error.returncode == 1:
            return False
        raise
    return True


def _listed(output: str) -> list[str]:
    return [path for path in output.split("\0") if path]


def _incoming(parent: Parent, before: str, tip: str, *options: str) -> list[str]:
    """List the paths that the step changed since it and the parent went apart."""
    try:
        base = run_git(parent.top, "merge-base", before, tip).splitlines()[0]
    except GitCommandError:  # nothing in common; git will say so itself
        return []
    return _listed(run_git(parent.top, "diff-tree", "-r", "--name-only", "-z", *options, base, tip))


def _hidden_in_the_way(parent: Parent, before: str, tip: str) -> list[str]:
    """List untracked files where the merge will write; ignored ones too, which git overwrites without a word."""
    incoming = _incoming(parent, before, tip, "--no-renames", "--diff-filter=d")
    places = {place for path in incoming for place in _places(parent.top, path)}
    found: list[str] = []
    ordered = sorted(places)
    for start in range(0, len(ordered), 500):
        found += _listed(
            run_git(parent.top, "--literal-pathspecs", "ls-files", "--others", "-z", "--", *ordered[start : start + 500])
        )
    return _clashing(found, incoming)


def _places(top: Path, path: str) -> list[str]:
    """Return *path* if something stands there, else the file that stands where one of its folders has to be."""
    folder = ""
    for part in path.split("/"):
        folder = f"{folder}/{part}" if folder else part
        full = top / folder
        if not os.path.lexists(full):
            return []
        if folder == path or full.is_symlink() or not full.is_dir():
            return [folder]
    return []


def _clashing(ours: Iterable[str], theirs: Iterable[str]) -> list[str]:
    """Return those of *ours* that cannot stand beside one of *theirs*: equal paths, or a file where a folder has to be."""
    wanted = set(theirs)
    folders = {"/".join(parts[:n]) for path in wanted for parts in [path.split("/")] for n in range(1, len(parts))}
    clashing = []
    for path in ours:
        parts = path.rstrip("/").split("/")
        above = {"/".join(parts[:n]) for n in range(1, len(parts) + 1)}
        if above & wanted or "/".join(parts) in folders:
            clashing.append(path)
    return clashing


def _tell_outer(parent: Parent, before: str, merged: str | None) -> None:
    """Let an isolated step around this one know that HEAD of its work tree has moved through no commit of its own."""
    entry = entry_at(parent.common, parent.top)
    if entry is not None and entry.head == before and merged is not None:
        write_entry(parent.common, replace(entry, head=merged))
