"""
Keeping what would be lost with a work tree: uncommitted work, and commits that nothing else reaches.

All of it goes under one reference, ``refs/oort/rescue/<slug>-<n>``, made by plumbing: no hooks, no signature, a neutral
identity.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from oort_flows.git import GitCommandError, run_git
from oort_flows.models.runs import Discarded
from oort_flows.worktrees.parents import commit_of
from oort_flows.worktrees.trees import Entry

__all__ = ["Kept", "RescueError", "rescue"]

_NEUTRAL = {
    "GIT_AUTHOR_NAME": "oort_flows",
    "GIT_AUTHOR_EMAIL": "oort_flows@localhost",
    "GIT_COMMITTER_NAME": "oort_flows",
    "GIT_COMMITTER_EMAIL": "oort_flows@localhost",
}
# Nothing of the repository's own runs, and no line ending is a reason to leave a file behind.
_PLAIN = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "core.safecrlf=false",
    "-c", "i18n.commitEncoding=UTF-8",
    "-c", "advice.addEmbeddedRepo=false",
)  # fmt: skip
# Where an interrupted rebase or merge keeps changes that it has put aside (git's sequencer.c, builtin/merge.c).
_PUT_ASIDE = ("MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash")


class RescueError(Exception):
    """Something in a work tree could not be kept elsewhere, so the work tree has to stay."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What was kept: the reference with uncommitted work, if there was some, and the commits that did not land."""

    rescued: str | None = None
    discarded: tuple[Discarded, ...] = ()


def rescue(common: Path, entry: Entry, admin: Path | None, *, reached: str | None, keep_branch: bool = False) -> Kept:
    """
    Keep what would be lost if a work tree and its branch were removed.

    Parameters
    ----------
    admin:
        git's own folder for the work tree; ``None`` if git has already forgotten it.
    reached:
        The commit that the parent's HEAD is at; what it reaches has landed.
    keep_branch:
        Whether the branch stays, so that its commits need no keeping.

    Raises
    ------
    RescueError
        If something could not be kept; nothing has been removed.
    """
    try:
        return _Rescue(common, entry, admin).run(reached, keep_branch)
    except GitCommandError as error:
        raise RescueError(f"git {error.command} failed: {error.stderr.strip()[:500]}") from error
    except OSError as error:
        raise RescueError(error.strerror or type(error).__name__) from error


class _Rescue:
    def __init__(self, common: Path, entry: Entry, admin: Path | None) -> None:
        self.common = common
        self.entry = entry
        self.git_dir = admin or common
        self.path = Path(entry.path)
        branch = commit_of(common, f"refs/heads/{entry.branch}")
        self.head = (commit_of(admin, "HEAD") if admin else None) or branch
        self.tips = [tip for tip in dict.fromkeys((self.head, branch, *self._seen(admin))) if tip]

    def git(self, *arguments: str, stdin: str | None = None, environment: Mapping[str, str] | None = None) -> str:
        where = (f"--git-dir={self.git_dir}", f"--work-tree={self.path}")
        folder = self.path if self.path.is_dir() else self.common
        return run_git(folder, *where, *_PLAIN, *arguments, stdin=stdin, environment=environment, own_group=True)

    def _seen(self, admin: Path | None) -> list[str]:
        """List the commits that HEAD of the work tree has been at, and changes that were put aside."""
        if admin is None:
            return []
        text = ""
        for file in ("logs/HEAD", *_PUT_ASIDE):
            path = admin / file
            text += path.read_text(encoding="utf-8", errors="replace") + "\n" if path.is_file() else ""
        # A reflog line begins with the old and the new id (git's refs/files-backend.c); the other files hold one id.
        ids = re.findall(r"^(?:[0-9a-f]{40,64} )?([0-9a-f]{40,64})\b", text, re.MULTILINE)
        own = run_git(self.common, f"--git-dir={admin}", "for-each-ref", "--format=%(objectname)", "refs/worktree").split()
        return [sha for sha in dict.fromkeys((*ids, *own)) if set(sha) != {"0"}]

    def run(self, reached: str | None, keep_branch: bool) -> Kept:
        lost = self._unreached(reached, keep_branch)
        trees = self._uncommitted()
        if not lost and not trees:
            return Kept()
        kept = self._commit(lost, trees)
        self.git("update-ref", "--create-reflog", "-m", "oort: rescue", self.entry.rescue, kept, "")
        discarded = (Discarded(branch=self.entry.branch, sha=sha, rescue=self.entry.rescue) for sha in lost)
        return Kept(rescued=self.entry.rescue if trees else None, discarded=tuple(discarded))

    def _unreached(self, reached: str | None, keep_branch: bool) -> list[str]:
        """Return the youngest of the commits that neither the parent's HEAD nor any other reference reaches."""
        branch = f"refs/heads/{self.entry.branch}"
        known = [sha for sha in (reached, self.entry.fork) if sha]
        others = ["--all"] if keep_branch else [f"--exclude={branch}", "--all"]
        if not self.tips:
            return []
        # --all includes HEAD, also of other work trees; that of this one must not count.
        asked = ("--single-worktree", *self.tips, "--not", *known, *others)
        unreached = set(run_git(self.common, f"--git-dir={self.common}", "rev-list", *asked, own_group=True).split())
        lost = [tip for tip in self.tips if tip in unreached]
        return self.git("merge-base", "--independent", *lost).split() if len(lost) > 1 else lost

    def _uncommitted(self) -> list[str]:
        """Write what is not committed as trees: the files, and the index where it holds something else again."""
        if not self.path.is_dir():
            return []
        committed = {self.git("rev-parse", f"{self.head}^{{tree}}") if self.head else self.git("mktree", stdin="")}
        with tempfile.TemporaryDirectory(prefix="oort-rescue-") as folder:
            index = Path(folder, "index")
            environment = {"GIT_INDEX_FILE": str(index)}
            if (self.git_dir != self.common) and (self.git_dir / "index").is_file():
                # With its time: git looks into files that are not older than the index (its racy-git.txt).
                shutil.copy2(self.git_dir / "index", index)
            elif self.head:
                self.git("read-tree", self.head, environment=environment)
            staged = self._staged(environment)
            self.git("add", "-A", "--sparse", environment=environment)
            files = self.git("write-tree", environment=environment)
            self._refuse_nested(self.git("ls-files", "-s", "-z", environment=environment))
        return [tree for tree in dict.fromkeys((files, staged)) if tree and tree not in committed]

    def _staged(self, environment: Mapping[str, str]) -> str | None:
        try:
            return self.git("write-tree", environment=environment)
        except GitCommandError:  # in the middle of a merge the index is no tree
            return None

    def _refuse_nested(self, listing: str) -> None:
        """Raise for a repository inside of the work tree whose commits or changes exist nowhere else."""
        for line in listing.split("\0"):
            mode, _, name = line.partition("\t")
            nested = self.path / name
            if not mode.startswith("160000") or not os.path.lexists(nested / ".git"):
                continue
            unpushed = run_git(nested, "rev-list", "--max-count=1", "HEAD", "--all", "--not", "--remotes", own_group=True)
            if unpushed or run_git(nested, "status", "--porcelain", own_group=True):
                raise RescueError(f"{name!r} is a repository of its own, with work that is nowhere else")

    def _commit(self, lost: list[str], trees: list[str]) -> str:
        """Tie trees and commits together: files on top of HEAD, everything else as further parents."""
        if not trees and len(lost) == 1:
            return lost[0]
        parents = [*([self.head] if self.head else []), *(sha for sha in lost if sha != self.head)]
        for tree in trees[1:]:
            parents.append(self._commit_tree(tree, parents[:1], "what was staged"))
        top = trees[0] if trees else self.git("rev-parse", f"{parents[0]}^{{tree}}")
        return self._commit_tree(top, parents, "what was not committed" if trees else "what did not land")

    def _commit_tree(self, tree: str, parents: list[str], what: str) -> str:
        named = [word for parent in parents for word in ("-p", parent)]
        message = f"rescue({self.entry.name}): {what}\n"
        return self.git("commit-tree", tree, *named, stdin=message, environment=_NEUTRAL)
