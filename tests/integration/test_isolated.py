"""Steps in work trees of their own: how they run, what lands, and how."""

from __future__ import annotations

import asyncio
import functools
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from oort_flows import current_memory, memory_context
from oort_flows.errors import ConfigurationError, IsolationError
from oort_flows.files import InProcessFileMemory
from oort_flows.git import run_git
from oort_flows.worktrees import ReasoningRecord, isolated, why
from tests.integration.work_trees import add_hook, content, git, leftovers, raise_limit, state

pytestmark = pytest.mark.usefixtures("temporary")


def nothing(worktree: Path) -> None:
    """A step that changes nothing."""


# ------------------------------------------------------------------------------------------------------- the happy path


def test_step_lands_as_one_commit_that_blame_finds(repository: Path, temporary: Path) -> None:
    """A step that writes a file ran elsewhere, its file is in the parent, and blame leads to the commit and its why."""
    seen: list[Path] = []

    def step(brief: str, worktree: Path) -> str:
        seen.append(worktree)
        assert (repository / "limits.toml").read_text() == "max_retries = 3\n"
        current_memory().record.note(f"{brief} The parser is shared.")
        return raise_limit(worktree)

    before = git(repository, "rev-parse", "HEAD")
    run = isolated(step, repository=repository, label="implement", record=True)("Raise it.")

    assert run.status == "landed"
    assert run.value == run.summary == "Raised the retry limit"
    assert run.branch == "oort/implement-1"
    assert (run.discarded, run.rescued, run.kept_branch, run.warnings) == ((), None, None, ())
    assert seen[0] != repository
    assert not seen[0].exists()
    assert (repository / "limits.toml").read_text() == "max_retries = 5\n"
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "rev-parse", "HEAD") == run.merge
    assert git(repository, "rev-parse", f"{run.merge}^@").split() == [before, run.commit]
    assert git(repository, "rev-parse", f"{run.commit}^@") == before
    assert leftovers(repository) == []
    assert list(temporary.iterdir()) == []
    reason = why(repository, "limits.toml", 1)
    assert reason.commit == run.commit
    assert reason.subject == "implement: Raised the retry limit"
    assert reason.body == "## Why\n\nRaise it. The parser is shared."
    assert git(repository, "log", "-1", "--format=%an <%ae>", str(run.commit)) == "Ada <ada@example.org>"


def test_step_sees_head_without_what_is_not_committed(repository: Path) -> None:
    """The work tree is HEAD as it is committed; edits and untracked files of the parent stay in the parent."""
    (repository / "limits.toml").write_text("max_retries = 4\n")
    (repository / "scratch.txt").write_text("mine\n")

    def step(worktree: Path) -> None:
        assert (worktree / "limits.toml").read_text() == "max_retries = 3\n"
        assert not (worktree / "scratch.txt").exists()
        (worktree / "new.txt").write_text("new\n")

    assert isolated(step, repository=repository)().status == "landed"
    assert (repository / "limits.toml").read_text() == "max_retries = 4\n"
    assert (repository / "scratch.txt").read_text() == "mine\n"
    assert (repository / "new.txt").read_text() == "new\n"


def test_unchanged_step_makes_no_commit(repository: Path) -> None:
    """A step that changes nothing leaves no commit and no merge, and its record is not asked."""
    asked: list[str] = []
    record = ReasoningRecord("implement", compose=lambda *_: asked.append("asked"))
    before = state(repository)
    run = isolated(nothing, repository=repository, record=record)()
    assert (run.status, run.commit, run.merge, run.message) == ("unchanged", None, None, None)
    assert asked == []
    assert state(repository) == before
    assert leftovers(repository) == []


def test_step_that_writes_what_was_there_is_unchanged(repository: Path) -> None:
    """Writing the same bytes again is no change."""
    run = isolated(lambda worktree: (worktree / "limits.toml").write_text("max_retries = 3\n"), repository=repository)()
    assert run.status == "unchanged"


def test_everything_not_ignored_is_added(repository: Path) -> None:
    """New, changed, deleted, renamed, binary and unicode files land with their modes; ignored ones do not."""
    (repository / ".gitignore").write_text("*.log\n")
    (repository / "old.txt").write_text("old\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "More")

    def step(worktree: Path) -> None:
        (worktree / "old.txt").unlink()
        (worktree / "naïve – 日本.txt").write_text("ü\n")
        (worktree / "blob.bin").write_bytes(bytes(range(256)))
        (worktree / "crlf.txt").write_bytes(b"a\r\nb\r\n")
        (worktree / "run.sh").write_text("#!/bin/sh\n")
        (worktree / "run.sh").chmod(0o755)
        (worktree / "link").symlink_to("limits.toml")
        (worktree / "deep" / "er").mkdir(parents=True)
        (worktree / "deep" / "er" / "x y.txt").write_text("x\n")
        (worktree / "debug.log").write_text("noise\n")

    assert isolated(step, repository=repository)().status == "landed"
    assert not (repository / "old.txt").exists()
    assert (repository / "naïve – 日本.txt").read_text() == "ü\n"
    assert (repository / "blob.bin").read_bytes() == bytes(range(256))
    assert (repository / "crlf.txt").read_bytes() == b"a\r\nb\r\n"
    assert os.access(repository / "run.sh", os.X_OK)
    assert (repository / "link").readlink() == Path("limits.toml")
    assert (repository / "deep" / "er" / "x y.txt").read_text() == "x\n"
    assert not (repository / "debug.log").exists()
    assert git(repository, "status", "--porcelain") == ""


def test_line_endings_are_those_the_repository_sets(repository: Path) -> None:
    """With text=auto, CRLF is stored as LF, and lands so."""
    (repository / ".gitattributes").write_text("*.txt text=auto eol=crlf\n")
    git(repository, "config", "core.safecrlf", "true")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Attributes")
    run = isolated(lambda worktree: (worktree / "a.txt").write_bytes(b"a\r\nb\r\n"), repository=repository)()
    assert content(repository, str(run.commit), "a.txt") == "a\nb\n"
    assert (repository / "a.txt").read_bytes() == b"a\r\nb\r\n"


def test_submodule_of_the_parent_stays_as_it_is(repository: Path, tmp_path: Path) -> None:
    """A step in a repository with a submodule lands, and neither the submodule nor its entry changes."""
    library = tmp_path / "library"
    git(tmp_path, "clone", "-q", str(repository), str(library))
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "library")
    git(repository, "commit", "-q", "-m", "Add a submodule")
    entry = git(repository, "rev-parse", "HEAD:library")
    run = isolated(raise_limit, repository=repository)()
    assert run.status == "landed"
    assert run.warnings == ()
    assert git(repository, "rev-parse", "HEAD:library") == entry
    assert (repository / "library" / "limits.toml").exists()
    assert leftovers(repository) == []


def test_detached_parent_is_landed_on(repository: Path) -> None:
    """With a detached HEAD the merge moves HEAD, and no branch."""
    main = git(repository, "rev-parse", "main")
    git(repository, "checkout", "-q", "--detach")
    run = isolated(raise_limit, repository=repository)()
    assert run.status == "landed"
    assert git(repository, "rev-parse", "HEAD", "main").split() == [run.merge, main]


def test_linked_work_tree_is_a_parent_of_its_own(repository: Path, tmp_path: Path) -> None:
    """A step started in a linked work tree lands there; the main one stays."""
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "-q", "-b", "side", str(linked))
    main = git(repository, "rev-parse", "main")
    run = isolated(raise_limit, repository=linked)()
    assert git(linked, "rev-parse", "HEAD") == run.merge
    assert git(repository, "rev-parse", "main") == main


def test_folder_inside_of_the_repository_names_it(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any folder of the repository will do, and without one the current folder does; it does not change."""
    inner = repository / "inner"
    inner.mkdir()
    assert isolated(raise_limit, repository=inner)().status == "landed"
    monkeypatch.chdir(inner)

    def step(worktree: Path) -> None:
        assert Path.cwd() == inner
        (worktree / "b.txt").write_text("b\n")

    assert isolated(step)().status == "landed"
    assert (repository / "b.txt").exists()


def test_variables_of_git_do_not_lead_elsewhere(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GIT_DIR and its kin, as in a hook, do not redirect anything."""
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", "-b", "main", str(other))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    assert isolated(raise_limit, repository=repository)().status == "landed"
    assert git(other, "for-each-ref") == ""


# ----------------------------------------------------------------------------------------------------- names of branches


@pytest.mark.parametrize(
    ("label", "branch"),
    [
        ("Raise the Limit!", "oort/raise-the-limit-1"),
        ("日本", "oort/step-1"),
        ("  ", "oort/step-1"),
        ("a..b/c", "oort/a-b-c-1"),
        ("x" * 300, f"oort/{'x' * 60}-1"),
    ],
)
def test_branch_is_made_of_the_label(repository: Path, label: str, branch: str) -> None:
    """Lower case, everything but a-z and 0-9 becomes a hyphen, and what is empty then is a step."""
    assert isolated(nothing, repository=repository, label=label)().branch == branch


def test_step_without_a_label_gives_its_name(repository: Path) -> None:
    """A function, a partial and a callable object without a name have names of their own."""

    class Quiet:
        def __call__(self, worktree: Path) -> None:
            pass

    assert isolated(nothing, repository=repository)().branch == "oort/nothing-1"
    assert isolated(functools.partial(nothing), repository=repository)().branch == "oort/nothing-1"
    assert isolated(Quiet(), repository=repository)().branch == "oort/step-1"


def test_taken_names_are_skipped_and_left_alone(repository: Path) -> None:
    """A number whose branch or rescue reference exists is not used, and neither moves."""
    head = git(repository, "rev-parse", "HEAD")
    git(repository, "branch", "oort/nothing-1")
    git(repository, "update-ref", "refs/oort/rescue/nothing-2", head)
    git(repository, "branch", "oort/nothing-3/below")
    assert isolated(nothing, repository=repository)().branch == "oort/nothing-4"
    refs = git(repository, "for-each-ref", "--format=%(refname)", "refs/heads/oort", "refs/oort").split()
    assert refs == ["refs/heads/oort/nothing-1", "refs/heads/oort/nothing-3/below", "refs/oort/rescue/nothing-2"]


# -------------------------------------------------------------------------------------------------------- how a step is run


def test_step_finds_its_work_tree_where_it_takes_one(repository: Path) -> None:
    """The work tree comes as an argument only to a step that names it, and always by the memory."""
    with memory_context(files=InProcessFileMemory("docs")):
        assert isolated(lambda: current_memory().worktree, repository=repository)().value is not None
        assert isolated(lambda *, worktree: worktree == current_memory().worktree, repository=repository)().value
        assert isolated(lambda **rest: rest, repository=repository)(a=1).value == {"a": 1}


class _Callable:
    def __call__(self, worktree: object, n: int) -> object:
        return n, worktree

    def method(self, n: int, worktree: object) -> object:
        return n, worktree


def _last(n: int, worktree: object) -> object:
    return n, worktree


def _first(worktree: object, n: int) -> object:
    return n, worktree


async def _async_first(worktree: object, n: int) -> object:
    return n, worktree


def _positional_only(worktree: object, n: int, /) -> object:
    return n, worktree


def _keyword_only(n: int, *, worktree: object) -> object:
    return n, worktree


def _more_arguments(worktree: object, *rest: int) -> object:
    return rest[0], worktree


def _after_more_arguments(*rest: int, worktree: object) -> object:
    return rest[0], worktree


@functools.wraps(_first)
def _wrapped(*args: object, **kwargs: object) -> object:
    return _first(*args, **kwargs)


TAKING_ONE = [
    _first,
    _last,
    _async_first,
    _positional_only,
    _keyword_only,
    _more_arguments,
    _after_more_arguments,
    _wrapped,
    _Callable(),
    _Callable().method,
    functools.partial(_first),
    lambda worktree, n, more=None: (n, worktree),
    memory_context(files=InProcessFileMemory("docs"))(_first),
]


@pytest.mark.parametrize("step", TAKING_ONE)
def test_positional_argument_goes_past_the_work_tree(repository: Path, step) -> None:
    """The work tree is filled in wherever the step takes it, and what the caller gives goes to the other parameters."""
    n, worktree = isolated(step, repository=repository, label="step")(3).value
    assert n == 3
    assert isinstance(worktree, Path)
    assert "oort-step-1" in worktree.name


@pytest.mark.parametrize("step", [_first, _last, _async_first, _keyword_only, _wrapped, _Callable()])
def test_arguments_by_name_go_beside_the_work_tree(repository: Path, step) -> None:
    """An argument that is given by name stays where it is."""
    n, worktree = isolated(step, repository=repository)(n=3).value
    assert n == 3
    assert isinstance(worktree, Path)


def test_arguments_of_a_partial_make_room(repository: Path) -> None:
    """What a partial holds by position or by name counts as given by the caller."""

    def step(a: int, worktree: object, b: int, *, c: int = 0) -> object:
        return a, b, c, isinstance(worktree, Path)

    assert isolated(functools.partial(step, 1), repository=repository)(2).value == (1, 2, 0, True)
    assert isolated(functools.partial(step, 1, 2, c=3), repository=repository)().value == (1, 2, 3, True)
    assert isolated(functools.partial(step, b=2), repository=repository)(1).value == (1, 2, 0, True)
    assert isolated(functools.partial(step, 1, "mine", 2), repository=repository)().value == (1, 2, 0, False)
    assert isolated(functools.partial(step, worktree="mine"), repository=repository)(1, b=2).value == (1, 2, 0, False)


def test_worktree_of_the_caller_is_not_replaced(repository: Path) -> None:
    """A caller who gives worktree by name, or so many arguments that it must be among them, is obeyed."""
    step = isolated(lambda worktree: worktree, repository=repository)
    assert step(worktree="mine").value == "mine"
    assert step("mine").value == "mine"
    assert isolated(_first, repository=repository)("mine", 3).value == (3, "mine")
    assert isolated(_first, repository=repository)("mine", n=3).value == (3, "mine")
    assert isolated(_last, repository=repository)(3, "mine").value == (3, "mine")
    assert isolated(_positional_only, repository=repository)("mine", 3).value == (3, "mine")


def test_call_that_does_not_fit_is_the_steps_own_error(repository: Path) -> None:
    """Too many, too few or unknown arguments raise what the step itself would raise."""
    for args, kwargs in [((1, 2, 3), {}), ((), {}), ((1,), {"unknown": 2})]:
        with pytest.raises(TypeError, match="_first"):
            isolated(_first, repository=repository)(*args, **kwargs)
    assert leftovers(repository) == []


def test_step_has_the_memory_around_it(repository: Path) -> None:
    """The memory of the context is that of the step; outside of one it is that of the repository."""
    with memory_context(files=InProcessFileMemory("docs")):
        assert isolated(lambda: current_memory().files.scope, repository=repository)().value == "docs"
    scope = isolated(lambda: current_memory().files.scope, repository=repository)().value
    assert scope == f"repository:{git(repository, 'rev-list', '--max-parents=0', 'HEAD')}"
    with pytest.raises(ConfigurationError):
        current_memory()


def test_async_step_is_awaited_under_a_running_loop(repository: Path) -> None:
    """An async step runs to its end, also when its caller stands in a loop."""

    async def step(worktree: Path) -> str:
        await asyncio.sleep(0)
        (worktree / "a.txt").write_text("a\n")
        return str(current_memory().worktree)

    async def caller() -> str:
        return isolated(step, repository=repository)().value

    assert "oort-step-1" in asyncio.run(caller())
    assert (repository / "a.txt").exists()


def test_first_line_of_a_text_is_the_summary(repository: Path) -> None:
    """A step without a record commits with its label and the first line of what it returns."""

    def step(worktree: Path) -> str:
        raise_limit(worktree)
        return "\n  Raised the limit \nand more"

    run = isolated(step, repository=repository, label="implement")()
    assert run.summary == "Raised the limit"
    assert git(repository, "log", "-1", "--format=%s", str(run.commit)) == "implement: Raised the limit"
    assert git(repository, "log", "-1", "--format=%s") == "Merge oort/implement-1: implement: Raised the limit"


def test_own_commits_land_without_a_record(repository: Path) -> None:
    """Commits of the step's own land as they are, with what it left uncommitted on top."""

    def step(worktree: Path) -> None:
        (worktree / "a.txt").write_text("a\n")
        git(worktree, "add", "-A")
        git(worktree, "commit", "-q", "-m", "Mine")
        (worktree / "b.txt").write_text("b\n")

    run = isolated(step, repository=repository, label="implement")()
    subjects = git(repository, "log", "--format=%s", "--first-parent", str(run.commit)).splitlines()
    assert subjects == ["implement", "Mine", "Start"]
    assert leftovers(repository) == []


def test_step_that_only_commits_lands_that_commit(repository: Path) -> None:
    """With nothing left to commit, the step's last commit is the one that is merged."""

    def step(worktree: Path) -> str:
        (worktree / "a.txt").write_text("a\n")
        git(worktree, "add", "-A")
        git(worktree, "commit", "-q", "-m", "Mine")
        return git(worktree, "rev-parse", "HEAD")

    run = isolated(step, repository=repository)()
    assert (run.status, run.commit, run.message) == ("landed", run.value, None)


def test_other_branch_in_the_work_tree_does_not_move(repository: Path) -> None:
    """A step that checks out a branch of the user leaves that branch where it is."""
    git(repository, "branch", "users")

    def step(worktree: Path) -> None:
        git(worktree, "checkout", "-q", "users")
        raise_limit(worktree)

    before = git(repository, "rev-parse", "users")
    assert isolated(step, repository=repository)().status == "landed"
    assert git(repository, "rev-parse", "users") == before


# --------------------------------------------------------------------------------------------------------------- nesting


def test_nested_step_lands_in_the_work_tree_around_it(repository: Path) -> None:
    """An isolated step inside of another lands in the outer work tree, and with that in the parent."""

    def inner(worktree: Path) -> None:
        (worktree / "inner.txt").write_text("inner\n")

    def outer(worktree: Path) -> str:
        first = isolated(inner)()
        assert (worktree / "inner.txt").exists()
        assert not (repository / "inner.txt").exists()
        (worktree / "outer.txt").write_text("outer\n")
        return str(first.merge)

    run = isolated(outer, repository=repository, label="outer", record=True)()
    assert run.status == "landed"
    assert (repository / "inner.txt").exists()
    assert (repository / "outer.txt").exists()
    assert git(repository, "rev-parse", f"{run.commit}^") == run.value
    assert leftovers(repository) == []


def test_nested_step_of_a_named_repository_lands_around_it_too(repository: Path, tmp_path: Path) -> None:
    """Naming the same repository changes nothing; naming another one lands there."""
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(repository), str(other))
    git(other, "config", "user.name", "Ada")
    git(other, "config", "user.email", "ada@example.org")

    def outer(worktree: Path) -> None:
        isolated(raise_limit, repository=repository)()
        assert (worktree / "limits.toml").read_text() == "max_retries = 5\n"
        assert (repository / "limits.toml").read_text() == "max_retries = 3\n"
        isolated(raise_limit, repository=other)()
        assert (other / "limits.toml").read_text() == "max_retries = 5\n"

    run = isolated(outer, repository=repository, label="outer", record=True)()
    assert run.status == "landed"
    assert (repository / "limits.toml").read_text() == "max_retries = 5\n"


def test_commits_around_a_nested_step_are_still_the_steps_own(repository: Path) -> None:
    """A nested landing does not excuse a commit that the outer step makes itself."""

    def outer(worktree: Path) -> None:
        isolated(raise_limit)()
        git(worktree, "commit", "-q", "--allow-empty", "-m", "Mine")

    with pytest.raises(IsolationError) as caught:
        isolated(outer, repository=repository, record=True)()
    assert caught.value.kind == "own_commit"


# ------------------------------------------------------------------------------------------------------------- at once


def test_four_threads_at_once_all_land(repository: Path, temporary: Path) -> None:
    """Four steps that run at the same time in one process land, and leave nothing over."""
    together = threading.Barrier(4, timeout=60)

    def step(n: int, worktree: Path) -> None:
        together.wait()
        (worktree / f"{n}.txt").write_text(f"{n}\n")

    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(isolated(step, repository=repository, record=True), range(4)))
    assert [run.status for run in runs] == ["landed"] * 4
    assert {run.branch for run in runs} == {f"oort/step-{n}" for n in (1, 2, 3, 4)}
    assert {path.name for path in repository.glob("*.txt")} == {"0.txt", "1.txt", "2.txt", "3.txt"}
    assert git(repository, "status", "--porcelain") == ""
    assert leftovers(repository) == []
    assert list(temporary.iterdir()) == []


_PROCESS = """
import sys
from oort_flows.worktrees import isolated

def step(worktree):
    (worktree / f"{sys.argv[2]}.txt").write_text("landed")
    print("ready", flush=True)
    sys.stdin.readline()

print(isolated(step, repository=sys.argv[1])().status)
"""


def test_four_processes_at_once_all_land(repository: Path, temporary: Path) -> None:
    """Four steps that run at the same time in processes of their own land, and leave nothing over."""
    command = [sys.executable, "-c", _PROCESS, str(repository)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([*command, str(n)], **pipes) for n in range(4)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate(timeout=60)[0] for process in processes] == ["landed\n"] * 4
    assert len(list(repository.glob("*.txt"))) == 4
    assert git(repository, "status", "--porcelain") == ""
    assert leftovers(repository) == []
    assert list(temporary.iterdir()) == []


# ---------------------------------------------------------------------------------------- the repository's own ways


def test_hooks_are_the_repositorys_own(repository: Path) -> None:
    """The hooks of a checkout, a commit and a merge run, and what they do to a message stays done."""
    log = repository / ".git" / "hooks.log"
    for name in ("post-checkout", "pre-commit", "post-commit", "pre-merge-commit", "post-merge"):
        add_hook(repository, name, f'echo {name} >> "{log}"')
    add_hook(repository, "commit-msg", 'printf "\\nReviewed-by: hook\\n" >> "$1"')
    run = isolated(raise_limit, repository=repository, record=True)()
    assert run.status == "landed"
    # A merge that git makes runs pre-merge-commit; the hook of plain commits is not for it.
    assert log.read_text().split() == ["post-checkout", "pre-commit", "post-commit", "pre-merge-commit", "post-merge"]
    assert "Reviewed-by: hook" in git(repository, "log", "-1", "--format=%B", str(run.commit))


def test_settings_for_merges_by_hand_do_not_apply(repository: Path) -> None:
    """Squash, fast-forward, autostash and the shortlog of the user's own merges do not change how a step lands."""
    git(repository, "config", "branch.main.mergeOptions", "--squash")
    git(repository, "config", "merge.ff", "only")
    git(repository, "config", "merge.autoStash", "true")
    git(repository, "config", "merge.log", "true")
    run = isolated(raise_limit, repository=repository)()
    assert run.status == "landed"
    assert len(git(repository, "rev-parse", "HEAD^@").split()) == 2
    assert git(repository, "log", "-1", "--format=%b").splitlines()[1:] == []


def test_signing_program_of_the_repository_signs(repository: Path, tmp_path: Path) -> None:
    """With commit.gpgSign, the commit and the merge carry the signature of the repository's own program."""
    program = tmp_path / "signer"
    program.write_text(
        "#!/bin/sh\ncat > /dev/null\necho '[GNUPG:] SIG_CREATED D' >&2\n"
        "printf -- '-----BEGIN PGP SIGNATURE-----\\nmade up\\n-----END PGP SIGNATURE-----\\n'\n"
    )
    program.chmod(0o755)
    git(repository, "config", "commit.gpgSign", "true")
    git(repository, "config", "gpg.program", str(program))
    run = isolated(raise_limit, repository=repository)()
    for sha in (run.commit, run.merge):
        assert "gpgsig -----BEGIN PGP SIGNATURE-----" in git(repository, "cat-file", "commit", str(sha))


def test_locked_index_of_the_parent_is_waited_for(repository: Path) -> None:
    """A program that holds the parent's index for a moment does not keep a step from landing."""
    lock = repository / ".git" / "index.lock"

    def step(worktree: Path) -> None:
        raise_limit(worktree)
        lock.touch()
        threading.Timer(0.2, lock.unlink).start()

    assert isolated(step, repository=repository)().status == "landed"


# ------------------------------------------------------------------------------------------------- no Git work tree


def test_step_runs_in_place_without_a_repository(tmp_path: Path) -> None:
    """Outside of any repository the step runs where it is, with a warning, and what it does stays."""
    run = isolated(lambda worktree: (worktree / "a.txt").write_text("a"), repository=tmp_path)()
    assert run.status == "in_place"
    assert run.value == 1
    assert len(run.warnings) == 1
    assert (tmp_path / "a.txt").read_text() == "a"


def test_bare_repository_has_no_work_tree(repository: Path, tmp_path: Path) -> None:
    """In a bare repository a step runs in place; with a record it does not run."""
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    assert isolated(lambda: 1, repository=bare)().status == "in_place"
    with pytest.raises(IsolationError) as caught:
        isolated(lambda: 1, repository=bare, record=True)()
    assert caught.value.kind == "no_repository"


def test_step_in_place_raises_and_declines_as_anywhere(tmp_path: Path) -> None:
    """In place, too, an exception comes out unchanged."""
    error = KeyError("mine")

    def step() -> None:
        raise error

    with pytest.raises(KeyError) as caught:
        isolated(step, repository=tmp_path)()
    assert caught.value is error


# ------------------------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    "settings",
    [
        {"on_conflict": "synthesize"},
        {"on_conflict": "synthesize", "resolve": "no callable"},
        {"on_conflict": "merge"},
        {"label": 5},
        {"label": " ", "record": True},
        {"record": "yes"},
        {"record": None},
        {"record": 1},
        {"repository": 5},
        {"repository": b"here"},
        {"repository": "a\0b"},
        {"repository": ["here"]},
        {"label": b"implement"},
        {"on_conflict": None},
        {"on_conflict": ["fail"]},
        {"resolve": 5},
        {"resolve": "mine", "on_conflict": "fail"},
        {"step": "step"},
        {"step": None},
    ],
)
def test_bad_setting_is_told_before_anything_runs(repository: Path, settings: dict) -> None:
    """A setting that cannot be used is a ConfigurationError from isolated itself, which names it and not its value."""
    named = "resolve" if settings.get("on_conflict") == "synthesize" else next(iter(settings))
    with pytest.raises(ConfigurationError, match=named) as caught:
        isolated(**{"step": nothing, "repository": repository, **settings})
    assert "mine" not in str(caught.value)


def test_folder_with_a_name_that_no_disk_takes(tmp_path: Path) -> None:
    """A name that is too long is a folder that does not exist."""
    with pytest.raises(IsolationError) as caught:
        isolated(nothing, repository=tmp_path / ("x" * 5000))()
    assert caught.value.kind == "no_repository"


def test_label_is_shown_on_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A label with line breaks, other control characters or a secret makes one clean line in the log."""
    label = "raise\nthe\t\x1b[31m  limit ghp_" + "a1B2" * 9
    assert isolated(nothing, repository=tmp_path, label=label)().status == "in_place"
    (message,) = [record.getMessage() for record in caplog.records if record.name == "oort_flows.worktrees"]
    assert message.startswith("raise the [31m limit [secret: github-token]: there is no Git work tree here")
    assert len(message.splitlines()) == 1


def test_repository_that_is_used_for_the_first_time_gets_no_untracked_files(repository: Path) -> None:
    """What the package keeps for itself stands inside of the git directory."""
    isolated(nothing, repository=repository)()
    assert run_git(repository, "status", "--porcelain", "--ignored") == ""
