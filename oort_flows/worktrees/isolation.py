"""
Running a step in a work tree of its own, and landing what it did.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from oort_flows.context import StepMemory, current_memory, step_memory
from oort_flows.errors import ConfigurationError, IsolationError
from oort_flows.git import GitCommandError
from oort_flows.models.runs import IsolatedRun
from oort_flows.worktrees import messages
from oort_flows.worktrees.finishing import finish
from oort_flows.worktrees.landing import Landing, commit_changes, merge
from oort_flows.worktrees.parents import commit_of, common_directory, find_parent, folder_of, queue
from oort_flows.worktrees.records import Outcome, ReasoningRecord
from oort_flows.worktrees.refusals import Refusal, said
from oort_flows.worktrees.rescue import Kept, RescueError, rescue
from oort_flows.worktrees.steps import Ended, name_of, run_step
from oort_flows.worktrees.trees import Worktree, add_worktree, remove_worktree, slug_of, strike

__all__ = ["isolated"]

_logger = logging.getLogger("oort_flows.worktrees")


def isolated(
    step: Callable[..., Any],
    *,
    repository: str | os.PathLike[str] | None = None,
    label: str | None = None,
    record: bool | ReasoningRecord = False,
    on_conflict: Literal["fail", "synthesize"] = "fail",
    resolve: Callable[..., Any] | None = None,
) -> Callable[..., IsolatedRun]:
    r"""
    Return a callable that runs *step* in a work tree of its own and lands what it did as one commit, merged.

    The step finds the work tree as its ``worktree`` argument, if it takes one, and as ``current_memory().worktree``. The
    current directory does not change. ``worktree`` is filled in unless the caller gives it by keyword, and positional
    arguments go to the other parameters in order, wherever ``worktree`` stands; only if they are then one too many, the
    caller has given it among them.

    Parameters
    ----------
    step:
        A function, plain or async, or a Prefect task or flow. It declines to land by returning a state that says it failed,
        crashed or was cancelled, such as Prefect's ``Failed(message=...)``.
    repository:
        Any folder in the repository; left out, the current one. Inside of an isolated step of the same repository the result
        lands in that step's work tree.
    label:
        Names the branch, ``oort/<label>-<n>``, and the commit; left out, the step's own name does.
    record:
        Whether the commit says why. ``True`` opens a :class:`ReasoningRecord` for each call; or give one of your own. The
        step writes to it by ``current_memory().record``. With a record, the step must make no commits of its own.
    on_conflict:
        What happens when the parent has changed the same lines meanwhile: ``fail`` lands nothing, ``synthesize`` asks
        *resolve*.
    resolve:
        ``resolve(path, ours, theirs, base)``, plain or async, returns the text of a conflicted file: *ours* is the parent's,
        *theirs* the step's, *base* what both came from; ``None`` where the file does not exist. One fence around the whole
        answer is stripped. Binary files, links and submodules are not asked about: they stay conflicts.

    Returns
    -------
    Callable[..., IsolatedRun]
        Takes what the step takes.

    Raises
    ------
    ConfigurationError
        If a setting is unusable.
    IsolationError
        From the call: if the step could not be run apart or did not land; ``kind`` says why, ``run`` what was kept.
    BaseException
        From the call: what the step itself raises, unchanged, with a note that names what was kept.

    Notes
    -----
    git itself makes the work tree, the commit and the merge, so identity, hooks, signing and filters are the repository's
    own. Where there is no Git work tree, the step runs in place, with a warning, unless it is to leave a record. Without a
    record the commit's subject is the label and the first line of what the step returns, if it returns a text.

    Whatever does not land is kept under ``refs/oort/rescue/<label>-<n>``; only ignored files go. In the repository,
    ``git diff HEAD...<ref>`` shows it, ``git merge --squash <ref>`` takes it over, ``git checkout <ref> -- <path>`` only
    some of it, and ``git update-ref -d <ref>`` forgets it.

    The result lands on the branch that was checked out when the step began; if the parent has another one by then, it does
    not land. While it is merged, Ctrl-C waits.

    Example
    -------
    ::

        def implement(brief: str, worktree: Path) -> str:
            current_memory().record.note("Tried patching in place; dropped it, the parser is shared.")
            (worktree / "limits.toml").write_text("max_retries = 5\n")
            return "Raised the retry limit"

        run = isolated(implement, repository=repository, label="implement", record=True)("Raise it.")
        why(repository, "limits.toml", 1).subject     # implement: Raised the retry limit

    The subject is ``record(implement): Raised the retry limit`` if the step leaves no note: see :class:`ReasoningRecord`.
    """
    _check(step, label, record, on_conflict, resolve)
    folder = None if repository is None else folder_of(repository)
    name = name_of(step) if label is None else label
    plan = _Plan(step, folder, name, record, resolve if on_conflict == "synthesize" else None)

    def run(*args: Any, **kwargs: Any) -> IsolatedRun:
        return _call(plan, args, kwargs)

    run.__name__ = run.__qualname__ = f"isolated_{slug_of(name).replace('-', '_')}"
    return run


def _check(step: object, label: object, record: object, on_conflict: object, resolve: object) -> None:
    """Raise a ConfigurationError that names the setting for the first one that cannot be used."""
    if not callable(step):
        raise ConfigurationError("step must be callable")
    if label is not None and not isinstance(label, str):
        raise ConfigurationError("label must be a string")
    if not isinstance(record, (bool, ReasoningRecord)):
        raise ConfigurationError("record must be True, False or a ReasoningRecord")
    if record is True and label is not None and not messages.clean_subject(label):
        raise ConfigurationError("label must not be blank where record=True, since it names the reason in the commit")
    if not isinstance(on_conflict, str) or on_conflict not in ("fail", "synthesize"):
        raise ConfigurationError("on_conflict must be 'fail' or 'synthesize'")
    if resolve is not None and not callable(resolve):
        raise ConfigurationError("resolve must be callable")
    if on_conflict == "synthesize" and resolve is None:
        raise ConfigurationError("on_conflict='synthesize' needs resolve=, a callable that returns the text of a file")


@dataclass(frozen=True, slots=True)
class _Plan:
    step: Callable[..., Any]
    repository: Path | None
    label: str
    record: bool | ReasoningRecord
    resolve: Callable[..., Any] | None

    def warn(self, warning: str) -> None:
        _logger.warning("%s: %s", messages.clean_subject(self.label) or "step", warning)


@dataclass(slots=True)
class _Story:
    """What has come of a call so far."""

    branch: str | None = None
    status: Literal["landed", "unchanged", "in_place", "declined", "failed"] = "failed"
    value: Any = None
    summary: str | None = None
    commit: str | None = None
    merge: str | None = None
    message: str | None = None
    kept: Kept = field(default_factory=Kept)
    kept_branch: str | None = None
    warnings: list[str] = field(default_factory=list)
    refusal: Refusal | None = None
    raised: BaseException | None = None
    step_raised: bool = False

    def told(self) -> IsolatedRun:
        return IsolatedRun(
            status=self.status,
            value=self.value,
            summary=self.summary,
            branch=self.branch,
            commit=self.commit,
            merge=self.merge,
            message=self.message,
            discarded=self.kept.discarded,
            rescued=self.kept.rescued,
            kept_branch=self.kept_branch,
            warnings=tuple(self.warnings),
        )

    def places(self) -> str:
        """Say in a sentence where the work is that did not land; empty if there is none."""
        refs = {d.rescue for d in self.kept.discarded} | ({self.kept.rescued} if self.kept.rescued else set())
        kept = [f"the branch {self.kept_branch}"] if self.kept_branch else []
        kept += sorted(refs)
        if not kept:
            return ""
        ref = kept[-1].removeprefix("the branch ")
        take = f"`git merge --squash {ref}` takes it over, `git checkout {ref} -- <path>` only some of it"
        return f"The step's work is kept at {' and '.join(kept)}: `git diff HEAD...{ref}` shows it, {take}."


def _call(plan: _Plan, args: tuple[Any, ...], kwargs: dict[str, Any]) -> IsolatedRun:
    directory = _directory(plan.repository)
    try:
        parent = find_parent(directory)
        if parent is None:
            return _in_place(plan, directory, args, kwargs)
        fork = parent.head()
        if fork is None:
            raise Refusal("no_commit", "the repository has no commit yet that a work tree could be made from")
        branch = parent.branch()
        tree = add_worktree(parent, slug_of(plan.label), fork)
    except Refusal as refusal:
        raise IsolationError(refusal.kind, refusal.message, run=IsolatedRun(status="failed")) from refusal.__cause__
    return _in_worktree(plan, tree, branch, args, kwargs)


def _directory(repository: Path | None) -> Path:
    """Return where the result is to land: the given folder, or the work tree of the isolated step around this one."""
    directory = Path.cwd() if repository is None else repository
    if not os.path.isdir(directory):  # unlike Path.is_dir, it says no for a name that is too long
        message = "repository must be an existing folder inside of a Git work tree"
        raise IsolationError("no_repository", message, run=IsolatedRun(status="failed"))
    outer = None
    with suppress(ConfigurationError):
        outer = current_memory().worktree
    if outer is None or not outer.is_dir():
        return directory
    around = common_directory(outer)
    same = around is not None and (repository is None or common_directory(directory) == around)
    return outer if same else directory


def _in_place(plan: _Plan, directory: Path, args: tuple[Any, ...], kwargs: dict[str, Any]) -> IsolatedRun:
    if plan.record:
        raise Refusal("no_repository", "a record needs a Git work tree to commit to; this folder is in none")
    warning = "there is no Git work tree here, so the step ran in place and nothing was committed"
    plan.warn(warning)
    with step_memory():
        ended = run_step(plan.step, args, kwargs, directory.resolve())
    story = _Story(value=ended.value, summary=ended.summary, warnings=[warning])
    story.status = "declined" if ended.declined else "in_place"
    return story.told()


def _in_worktree(
    plan: _Plan, tree: Worktree, branch: str | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> IsolatedRun:
    story = _Story(branch=tree.entry.branch)
    interruptions: list[BaseException] = []
    try:
        _run_and_land(plan, tree, branch, args, kwargs, story, interruptions)
    except Refusal as refusal:
        story.refusal = refusal
    except BaseException as error:  # noqa: BLE001 - raised again once everything is in order
        story.raised = error
    if story.refusal or story.raised:
        story.status = "failed"
    finish(lambda: _leave(tree, story), interruptions)
    for warning in story.warnings:
        plan.warn(warning)
    return _hand_over(story, interruptions)


def _hand_over(story: _Story, interruptions: list[BaseException]) -> IsolatedRun:
    """Return what came of the call, or raise what has to be raised."""
    error = interruptions[0] if interruptions else story.raised
    if error is not None:
        landed = f"The step has landed as {story.merge}." if story.merge else ""
        for note in (landed, story.places(), *story.warnings):
            if note:
                error.add_note(note)
        raise error
    run = story.told()
    if story.refusal is not None:
        parts = [part for part in (_sentence(story.refusal.message), story.places(), *story.warnings) if part]
        message = ("\n" if "\n" in parts[0] else " ").join(parts)  # what ends in a command goes on in a line of its own
        raise IsolationError(story.refusal.kind, message, run=run) from story.refusal.__cause__
    return run


def _sentence(text: str) -> str:
    return text if text.endswith((".", "\n")) or "\n" in text else f"{text}."


# ------------------------------------------------------------------------------------------------ the step and its landing


def _run_and_land(
    plan: _Plan,
    tree: Worktree,
    branch: str | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    story: _Story,
    interruptions: list[BaseException],
) -> None:
    record = ReasoningRecord(plan.label) if plan.record is True else (plan.record or None)
    with ExitStack() as stack:
        memory = stack.enter_context(step_memory(worktree=tree.path, record=record))
        if record is not None:
            stack.enter_context(record.listening())
        try:
            ended = run_step(plan.step, args, kwargs, tree.path)
        except BaseException:
            story.step_raised = True
            raise
        story.value, story.summary = ended.value, ended.summary
        if ended.declined:
            story.status = "declined"
            return
        outcome = _outcome(ended, memory)
    try:
        _land(plan, tree, branch, record, outcome, story, interruptions)
    except GitCommandError as error:
        raise Refusal("git_failed", f"git {error.command} failed{said(error)}") from error
    except OSError as error:
        raise Refusal("git_failed", f"the result could not be landed: {error.strerror}") from error


def _outcome(ended: Ended, memory: StepMemory) -> Outcome:
    """Gather what the commit's message tells of the run."""
    try:
        scope: str | None = memory.scope
    except Exception:  # noqa: BLE001 - a scope that cannot be named is left out, whatever the reason
        scope = None
    return Outcome(
        summary=ended.summary,
        value=ended.value,
        flow_run=ended.flow_run or memory.run.flow_run_id(),
        task_run=ended.task_run or memory.run.task_run_id(),
        scope=scope,
    )


def _land(
    plan: _Plan,
    tree: Worktree,
    branch: str | None,
    record: ReasoningRecord | None,
    outcome: Outcome,
    story: _Story,
    interruptions: list[BaseException],
) -> None:
    if record is not None and tree.head() != tree.expected_head():
        raise Refusal(
            "own_commit", "the step made commits of its own; with a record, the one commit is the record's to explain"
        )
    committed = commit_changes(tree, lambda: record.message(outcome) if record is not None else _plain(plan.label, outcome))
    if committed is not None:
        story.commit, story.message = committed
    tip = tree.head()
    if tip is None or (committed is None and tip == tree.entry.fork):
        story.status = "unchanged"
        return
    subject = story.message.partition("\n")[0] if story.message else messages.clean_subject(plan.label)
    title = messages.clean_subject(f"Merge {tree.entry.branch}: {subject}")
    landing = Landing(tip, branch, messages.assemble(title, "", _trailers(outcome)), plan.resolve)
    story.merge = merge(tree.parent, landing, interruptions)
    story.status = "landed" if story.merge else "unchanged"
    if story.merge:
        story.commit = tip
        if record is not None and committed is not None:
            record.committed(tip)


def _plain(label: str, outcome: Outcome) -> str:
    """Return the message of a commit without a record."""
    subject = messages.clean_subject(f"{label}: {outcome.summary}" if outcome.summary else label)
    return messages.assemble(subject or "step", "", _trailers(outcome))


def _trailers(outcome: Outcome) -> list[str]:
    return messages.trailer_lines(outcome.flow_run, outcome.task_run, outcome.scope, ())


# ------------------------------------------------------------------------------------------------------------ clean-up


def _leave(tree: Worktree, story: _Story) -> None:
    """Keep what would be lost, then remove the work tree and its branch; whatever goes wrong here is a warning."""
    common, entry = tree.parent.common, tree.entry
    try:
        with queue(common):
            try:
                problems = _clear(tree, story)
                if not problems:
                    strike(common, entry.name)
                story.warnings += problems
            finally:
                tree.lock.release()
    except Exception as error:  # noqa: BLE001 - it never changes the outcome
        story.warnings.append(f"the work tree {entry.path} could not be cleaned up: {type(error).__name__}")


def _clear(tree: Worktree, story: _Story) -> list[str]:
    common, entry = tree.parent.common, tree.entry
    admin = tree.admin if tree.admin.is_dir() else None
    try:
        keep_branch = story.step_raised and _has_commits(tree)
        story.kept = rescue(common, entry, admin, reached=tree.parent.head(), keep_branch=keep_branch)
    except RescueError as error:
        return [f"the work tree {entry.path} stays, since not everything in it could be kept elsewhere: {error}"]
    problems = remove_worktree(common, entry, admin, keep_branch=keep_branch)
    if keep_branch:
        story.kept_branch = entry.branch
        story.warnings.append(f"branch {entry.branch} was kept: the step raised after committing to it")
    return problems


def _has_commits(tree: Worktree) -> bool:
    """Whether the step has committed to its branch."""
    return commit_of(tree.parent.common, f"refs/heads/{tree.entry.branch}") not in (None, tree.entry.fork)
