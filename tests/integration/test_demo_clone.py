"""The clone that the demo keeps: brought up to date from any repository, which itself is only read."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from oort_flows.demo.clone import BRANCH, Workplace, workplace
from oort_flows.errors import ConfigurationError, ConflictError, IsolationError
from oort_flows.git import run_git

NOTES = "RELEASE_NOTES.md"


def git(path: Path, *arguments: str, **options: str) -> str:
    return run_git(path, *arguments, **options)


def commit(repository: Path, message: str, **files: str | None) -> str:
    for name, text in files.items():
        path = repository / name.replace("_md", ".md")
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "--allow-empty", "-m", message)
    return git(repository, "rev-parse", "HEAD")


def enter(repository: Path, data: Path, *, land: bool = False) -> Workplace:
    """Enter the workplace once, as a run does."""
    with workplace(repository, land=land, data_folder=data) as place:
        return place


def everything_in(folder: Path) -> dict[str, str]:
    """All that is in a folder, git's own files included: kinds, modes, times of change and contents."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        if path.is_symlink():
            content = os.readlink(path)
        else:
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        times = (status.st_mtime_ns, status.st_nlink) if path.is_file() else ()
        found[str(path.relative_to(folder))] = f"{status.st_mode:o} {times} {content}"
    return found


def add_notes(place: Workplace, text: str) -> str:
    """Commit notes on the branch of the clone, as the pipeline does."""
    return commit(place.path, "Notes", RELEASE_NOTES_md=text)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_clone_stands_on_its_own_branch_at_the_head_of_the_source(repository: Path, data: Path) -> None:
    """The first run makes a clone with the history of the source and a branch of its own."""
    place = enter(repository, data)
    assert place.source == repository
    assert place.path.parent == data / "demo"
    assert place.path.name.startswith("repository-")
    assert git(place.path, "symbolic-ref", "--short", "HEAD") == place.branch == BRANCH
    assert git(place.path, "rev-parse", "HEAD") == git(repository, "rev-parse", "HEAD")
    assert git(place.path, "status", "--porcelain") == ""
    assert git(place.path, "config", "--local", "user.name") == "oort demo"


def test_source_is_not_touched(repository: Path, data: Path) -> None:
    """Nothing in the source changes, not even the time or the links of a file, whatever is uncommitted there."""
    (repository / "limits.toml").write_text("max_retries = 9\n")
    os.utime(repository / "limits.toml", (1, 1))
    (repository / "untracked").write_text("x")
    before = everything_in(repository)
    enter(repository, data)
    enter(repository, data)
    assert everything_in(repository) == before


def test_clone_is_kept_and_brought_up_to_date(repository: Path, data: Path) -> None:
    """A later run finds the same clone, with its own commits and with what is new in the source."""
    place = enter(repository, data)
    notes = add_notes(place, "# Notes\n")
    sha = commit(repository, "Add a clock", clock="1")
    again = enter(repository, data)
    assert again.path == place.path
    assert (place.new, again.new) == (True, False)
    assert git(place.path, "rev-parse", "HEAD^1") == notes
    assert git(place.path, "rev-parse", "HEAD^2") == sha
    assert (place.path / "clock").read_text() == "1"
    assert (place.path / NOTES).read_text() == "# Notes\n"
    assert git(place.path, "status", "--porcelain") == ""
    assert enter(repository, data).remarks == ()


def test_clone_without_commits_of_its_own_just_follows(repository: Path, data: Path) -> None:
    """As long as nothing was landed there is no merge commit."""
    place = enter(repository, data)
    sha = commit(repository, "Add a clock", clock="1")
    enter(repository, data)
    assert git(place.path, "rev-parse", "HEAD") == sha


def test_source_that_went_back_changes_nothing(repository: Path, data: Path) -> None:
    """A source whose HEAD is part of the branch already brings nothing."""
    commit(repository, "Add a clock", clock="1")
    place = enter(repository, data)
    head = git(place.path, "rev-parse", "HEAD")
    git(repository, "reset", "-q", "--hard", "HEAD~1")
    enter(repository, data)
    assert git(place.path, "rev-parse", "HEAD") == head


def test_source_with_notes_of_its_own_is_merged_without_conflict(repository: Path, data: Path) -> None:
    """Where both sides wrote release notes the lines of both stay, and the run says so."""
    commit(repository, "Notes of the project", RELEASE_NOTES_md="# Notes\n\n## 1.0\n")
    place = enter(repository, data)
    add_notes(place, "# Notes\n\n## Ours\n\n## 1.0\n")
    sha = commit(repository, "More notes", RELEASE_NOTES_md="# Notes\n\n## 1.1\n\n## 1.0\n", clock="1")
    again = enter(repository, data)
    text = (place.path / NOTES).read_text()
    assert all(line in text.split("\n") for line in ("# Notes", "## Ours", "## 1.1", "## 1.0"))
    assert again.remarks == (f"{NOTES} has changed in the source too; what either side wrote was kept.",)
    changed = git(place.path, "diff", "--name-only", sha, "HEAD")
    assert changed == NOTES


@pytest.mark.parametrize("new", [None, "# Notes\n"])
def test_notes_of_the_branch_stay_where_the_source_did_not_write_any(repository: Path, data: Path, new: str | None) -> None:
    """Where the source has no notes, or left them as they were, those of the branch stay."""
    if new is not None:
        commit(repository, "Notes of the project", RELEASE_NOTES_md=new)
    place = enter(repository, data)
    add_notes(place, "# Notes\n\n## Ours\n")
    commit(repository, "Add a clock", clock="1")
    assert enter(repository, data).remarks == ()
    assert (place.path / NOTES).read_text() == "# Notes\n\n## Ours\n"


def test_folder_in_the_place_of_the_notes_is_taken_over(repository: Path, data: Path) -> None:
    """The source wins wherever the two cannot be merged, and the run says so."""
    place = enter(repository, data)
    add_notes(place, "# Notes\n")
    (repository / NOTES).mkdir()
    (repository / NOTES / "x").write_text("x")
    commit(repository, "A folder")
    assert enter(repository, data).remarks == (f"{NOTES} is a link or a folder in the source now, which was taken over.",)
    assert (place.path / NOTES / "x").read_text() == "x"


def test_binary_notes_of_the_source_are_taken_over(repository: Path, data: Path) -> None:
    """A file that is no text is not merged line by line."""
    place = enter(repository, data)
    add_notes(place, "# Notes\n")
    (repository / NOTES).write_bytes(b"\0\1\2")
    commit(repository, "Binary")
    assert enter(repository, data).remarks == (f"{NOTES} is no text in the source; it was taken over as it is.",)
    assert (place.path / NOTES).read_bytes() == b"\0\1\2"


def test_rewritten_source_is_merged(repository: Path, data: Path) -> None:
    """A source whose history was rewritten, here even to an unrelated one, brings its files."""
    place = enter(repository, data)
    add_notes(place, "# Notes\n")
    git(repository, "checkout", "-q", "--orphan", "new")
    commit(repository, "Start anew", fresh="1")
    enter(repository, data)
    assert (place.path / "fresh").exists()
    assert (place.path / NOTES).read_text() == "# Notes\n"


def test_shallow_source_works_and_may_grow_deeper(repository: Path, tmp_path: Path, data: Path) -> None:
    """A shallow clone is a source like any other, before and after it was deepened or made anew."""
    for n in range(4):
        commit(repository, f"Add {n}", file=str(n))
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{repository}", str(shallow))
    place = enter(shallow, data)
    assert git(place.path, "rev-list", "--count", "HEAD") == "2"
    add_notes(place, "# Notes\n")
    commit(repository, "Add 4", file="4")
    commit(repository, "Add 5", file="5")
    git(shallow, "fetch", "-q", "--depth", "1", "origin", "main")
    git(shallow, "reset", "-q", "--hard", "FETCH_HEAD")
    enter(shallow, data)
    assert (place.path / "file").read_text() == "5"
    git(shallow, "fetch", "-q", "--unshallow", "origin")
    enter(shallow, data)
    assert git(place.path, "status", "--porcelain") == ""


def test_tags_of_the_source_are_known(repository: Path, data: Path) -> None:
    """A tag on what was fetched comes along."""
    git(repository, "tag", "v1.0")
    place = enter(repository, data)
    assert git(place.path, "tag", "--points-at", "HEAD") == "v1.0"


@pytest.mark.parametrize(
    "kind", ["bare", "mirror of nothing checked out", "linked work tree", "detached", "subfolder", "git folder"]
)
def test_every_kind_of_repository_is_a_source(repository: Path, tmp_path: Path, data: Path, kind: str) -> None:
    """Bare repositories, linked work trees, a detached HEAD and any folder inside serve as sources."""
    head = commit(repository, "Add a clock", clock="1")
    source = tmp_path / "source"
    if kind in ("bare", "mirror of nothing checked out"):
        git(tmp_path, "clone", "-q", "--bare" if kind == "bare" else "--mirror", str(repository), str(source))
    elif kind == "linked work tree":
        git(repository, "worktree", "add", "-q", "-b", "side", str(source))
        head = commit(source, "Add from the side", side="1")
    elif kind == "detached":
        source = repository
        head = git(repository, "rev-parse", "HEAD~1")
        git(repository, "checkout", "-q", "--detach", head)
    elif kind == "git folder":
        source = repository / ".git"
    else:
        source = repository / "folder with space"
        source.mkdir()
    place = enter(source, data)
    assert git(place.path, "rev-parse", "HEAD") == head
    if kind == "subfolder":
        assert place.path == enter(repository, data).path


def test_own_settings_of_the_user_do_not_reach_the_clone(
    repository: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signing, hooks and large-file filters that the user has set up for all repositories stay out of the clone."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "pre-commit", "post-merge"):
        (hooks / name).write_text("#!/bin/sh\nexit 1\n")
        (hooks / name).chmod(0o755)
    configuration = tmp_path / "gitconfig"
    configuration.write_text(
        f'[core]\nhooksPath = {hooks}\n[commit]\ngpgSign = true\n[protocol "file"]\nallow = never\n'
        '[filter "lfs"]\nsmudge = no-such-program\nclean = no-such-program\nrequired = true\n'
    )
    commit(repository, "Large", big="x")
    (repository / ".gitattributes").write_text("big filter=lfs\n")
    commit(repository, "Filter")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    place = enter(repository, data)
    add_notes(place, "# Notes\n")
    assert (place.path / "big").read_text() == "x"


def test_second_run_on_one_repository_is_refused_while_the_first_works(repository: Path, data: Path) -> None:
    """Two runs on one repository do not mix; the lock goes with its holder."""
    with workplace(repository, data_folder=data):
        with (
            pytest.raises(ConflictError, match="another demo works on this repository"),
            workplace(repository, data_folder=data),
        ):
            pass
        with pytest.raises(ConflictError), workplace(repository, land=True, data_folder=data):
            pass
    enter(repository, data)


def test_half_a_clone_is_made_anew(repository: Path, data: Path) -> None:
    """What a killed run left of a clone is in nobody's way."""
    place = enter(repository, data)
    partial = place.path.with_name(place.path.name + ".partial")
    place.path.rename(partial)
    (partial / ".git" / "HEAD").write_text("garbage")
    assert git(enter(repository, data).path, "status", "--porcelain") == ""
    assert not partial.exists()


def test_edits_in_the_clone_that_are_in_the_way_are_refused_not_lost(repository: Path, data: Path) -> None:
    """What somebody wrote into the clone stays; the error says what to do."""
    place = enter(repository, data)
    (place.path / "limits.toml").write_text("mine")
    commit(repository, "Change", **{"limits.toml": "theirs"})
    with pytest.raises(ConfigurationError, match=r"git merge failed on the clone.*remove /.*run this again"):
        enter(repository, data)
    assert (place.path / "limits.toml").read_text() == "mine"


def test_another_branch_checked_out_in_the_clone_is_left(repository: Path, data: Path) -> None:
    """The pipeline goes back to its own branch."""
    place = enter(repository, data)
    git(place.path, "switch", "-q", "-c", "mine")
    enter(repository, data)
    assert git(place.path, "symbolic-ref", "--short", "HEAD") == BRANCH


def test_landing_works_in_the_repository_itself(repository: Path, data: Path) -> None:
    """With --land there is no clone."""
    assert enter(repository, data, land=True) == Workplace(repository, repository, "main")
    assert [path.name for path in (data / "demo").iterdir() if path.is_dir()] == []


def test_landing_without_an_identity_is_refused_before_anything_happens(repository: Path, data: Path) -> None:
    """Whoever has told git no name gets the commands that do, and the repository stays as it was."""
    git(repository, "config", "--remove-section", "user")
    git(repository, "config", "user.useConfigOnly", "true")
    before = everything_in(repository)
    with pytest.raises(IsolationError, match=r'git config user\.name "Your Name"') as caught:
        enter(repository, data, land=True)
    assert caught.value.kind == "no_identity"
    assert everything_in(repository) == before
    assert enter(repository, data).branch == BRANCH


@pytest.mark.parametrize(
    ("prepare", "land", "message"),
    [
        (
            "missing",
            False,
            "^repository /.*/source does not exist; stand in a Git repository, or name one with --repository PATH",
        ),
        ("file", False, "^repository /.*/source is a file, not a folder; stand in a Git repository"),
        ("empty folder", False, "is no Git repository; stand in one, or name one with --repository PATH"),
        ("no commit", False, "has no commit yet; make one, then run this again"),
        ("sha256", False, "keeps its objects as SHA256"),
        ("bare", True, "is bare.*leave --land out"),
        ("detached", True, "no branch is checked out to land on; run git switch first"),
    ],
)
def test_unusable_repositories_are_typed_errors(
    repository: Path, tmp_path: Path, data: Path, prepare: str, land: bool, message: str
) -> None:
    """Each repository that cannot serve is refused with one line that says what to do."""
    source = tmp_path / "source"
    if prepare == "file":
        source.write_text("x")
    elif prepare != "missing":
        source.mkdir()
    if prepare == "no commit":
        git(source, "init", "-q")
    elif prepare == "sha256":
        git(source, "init", "-q", "--object-format=sha256")
    elif prepare == "bare":
        git(tmp_path, "clone", "-q", "--bare", str(repository), str(source))
    elif prepare == "detached":
        source = repository
        git(repository, "checkout", "-q", "--detach")
    with pytest.raises(ConfigurationError, match=message):
        enter(source, data, land=land)


def test_repository_of_somebody_else_is_a_typed_error(repository: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that git refuses for its owner is named as such, with the command that allows it."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(ConfigurationError, match=r"belongs to somebody else.*safe\.directory"):
        enter(repository, data)


def test_data_folder_that_cannot_be_written_is_a_typed_error(repository: Path, tmp_path: Path) -> None:
    """Where the clone cannot be kept the error names the setting."""
    blocked = tmp_path / "data"
    blocked.write_text("a file")
    with pytest.raises(ConfigurationError, match="XDG_DATA_HOME"):
        enter(repository, blocked)
