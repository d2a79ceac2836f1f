"""Names of scopes, and the identity of a repository."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oort_flows.errors import ConfigurationError
from oort_flows.git import run_git
from oort_flows.identity import check_name, encode, join_scope, repository_identity

NAMES = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1).filter(lambda text: text.strip())


def origin(repository: Path, url: str) -> str | None:
    run_git(repository, "config", "remote.origin.url", url)
    return repository_identity(repository)


@given(st.tuples(NAMES, st.none() | NAMES, st.none() | NAMES), st.tuples(NAMES, st.none() | NAMES, st.none() | NAMES))
def test_two_contexts_have_one_scope_only_if_their_parts_are_equal(
    one: tuple[str, str | None, str | None], other: tuple[str, str | None, str | None]
) -> None:
    """No two contexts differ only by where a separator stands."""

    def scope(parts: tuple[str, str | None, str | None]) -> str:
        return join_scope(f"project:{encode(parts[0])}", user=parts[1], agent=parts[2])

    assert (scope(one) == scope(other)) == (one == other)


def test_a_separator_inside_a_name_makes_another_scope() -> None:
    """A user called a/agent:b is not user a with agent b."""
    assert join_scope("project:p", user="a/agent:b") != join_scope("project:p", user="a", agent="b")
    assert join_scope("project:p", user="a%2Fb") != join_scope("project:p", user="a/b")


def test_the_parts_of_a_scope_stand_in_one_order() -> None:
    """Base, user, agent, run: whatever is left out is left out of the name."""
    assert join_scope("project:p", run="7", agent="b", user="a") == "project:p/user:a/agent:b/run:7"
    assert join_scope("project:p", agent="b") == "project:p/agent:b"


@pytest.mark.parametrize("value", ["", "  ", "a\nb", "a\x00", "\ud800", 5, None, b"x"])
def test_an_unusable_name_is_refused_and_not_repeated(value: object) -> None:
    """The message names the field and never the value."""
    with pytest.raises(ConfigurationError, match=r"^user must") as caught:
        check_name("user", value)
    assert not isinstance(value, str) or not value.strip() or value not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "git@example.org:team/app.git",
        "git@example.org:/team/app.git",
        "ssh://git@example.org/team/app.git",
        "ssh://git@example.org:22/team/app.git",
        "https://example.org/team/app",
        "https://siv:hunter2@EXAMPLE.org/team/app.git/",
        "https://example.org:443/team/app.git",
        "git+ssh://example.org/team/app",
    ],
)
def test_every_spelling_of_one_origin_is_one_repository(repository: Path, url: str) -> None:
    """User, password, default port, letter case of the host and the ending do not count."""
    assert origin(repository, url) == "repository:example.org/team/app"


def test_origins_that_differ_are_different_repositories(repository: Path) -> None:
    """Host, port and path tell repositories apart, also where a separator is part of a name."""
    urls = ["https://a.org/x", "https://b.org/x", "https://a.org/y", "https://a.org:8443/x", "https://a.org/x/user:bob"]
    assert len({origin(repository, url) for url in urls}) == len(urls)
    assert origin(repository, "https://a.org/x/user:bob") == "repository:a.org/x/user%3Abob"


@pytest.mark.parametrize("url", ["/srv/app.git", "../app", "file:///srv/app.git", "file://host/srv/app.git", "C:/app"])
def test_an_origin_on_the_local_disk_counts_as_none(repository: Path, url: str) -> None:
    """Such a repository is named after its oldest commit, like one without origin."""
    root = run_git(repository, "rev-list", "--max-parents=0", "HEAD")
    assert origin(repository, url) == f"repository:{root}"


def test_e06_two_checkouts_are_one_project_and_two_repositories_of_one_name_are_two(tmp_path: Path) -> None:
    """A clone, a linked work tree and a folder inside of either share the identity; a namesake elsewhere does not."""
    identities = []
    for parent, text in (("one", "a"), ("two", "b")):
        path = tmp_path / parent / "app"
        path.mkdir(parents=True)
        run_git(path, "init", "-q", "-b", "main")
        (path / "inner").mkdir()
        (path / "inner" / "file").write_text(text)
        run_git(path, "add", "-A")
        run_git(path, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", text)
        run_git(tmp_path, "clone", "-q", str(path), f"{parent}-clone")
        run_git(path, "worktree", "add", "-q", str(tmp_path / f"{parent}-tree"), "-b", "side")
        places = [path, path / "inner", path / ".git", tmp_path / f"{parent}-clone", tmp_path / f"{parent}-tree"]
        found = {repository_identity(place) for place in places}
        assert len(found) == 1
        identities.append(found.pop())
    assert None not in identities
    assert identities[0] != identities[1]


def test_a_repository_of_several_roots_is_named_after_the_smallest(repository: Path) -> None:
    """Which branch is checked out does not change the name."""
    before = repository_identity(repository)
    run_git(repository, "checkout", "-q", "--orphan", "pages")
    run_git(repository, "commit", "-q", "-m", "Another start")
    roots = run_git(repository, "rev-list", "--max-parents=0", "--all").split()
    run_git(repository, "clone", "-q", str(repository), str(repository.parent / "clone"))
    assert len(roots) == 2
    assert repository_identity(repository.parent / "clone") == f"repository:{min(roots)}"
    assert before is not None


def test_without_commits_there_is_no_identity_until_the_first(tmp_path: Path) -> None:
    """An empty repository has nothing to be named after; neither has a plain folder."""
    assert repository_identity(tmp_path) is None
    run_git(tmp_path, "init", "-q")
    assert repository_identity(tmp_path) is None
    run_git(tmp_path, "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "x")
    assert repository_identity(tmp_path) == f"repository:{run_git(tmp_path, 'rev-parse', 'HEAD')}"
