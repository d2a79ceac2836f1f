"""The command as people type it: on a machine with an empty home, twice, over a repository that is only read."""

from __future__ import annotations

import hashlib
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tenacity import retry, stop_after_delay, wait_fixed

import oort_flows
from oort_flows.git import run_git


def environment(home: Path) -> dict[str, str]:
    """What a fresh machine has: a path, a home, and nothing set."""
    return {"PATH": os.environ["PATH"], "HOME": str(home)}


def oort_flows_command(*arguments: str, cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "oort_flows", *arguments],
        cwd=cwd,
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
    )


def everything_in(folder: Path) -> dict[str, str]:
    """All that is in a folder, git's own files included, with the time of the last change."""
    return {
        str(path.relative_to(folder)): f"{path.stat().st_mtime_ns} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def interrupted(repository: Path, home: Path, line: str, number: signal.Signals) -> str:
    """Send a signal to the whole process group, as a terminal does, when *line* appears; give all that the command said."""
    command = [sys.executable, "-u", "-m", "oort_flows", "demo"]
    with subprocess.Popen(
        command,
        cwd=repository,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        process_group=0,
    ) as process:
        assert process.stdout is not None
        seen = ""
        for said in process.stdout:
            seen += said
            if line in said:
                break
        os.killpg(process.pid, number)
        seen += process.communicate(timeout=20)[0]
    assert process.returncode == 128 + number, seen
    assert processes(home) == []
    return seen


def processes(home: Path) -> list[int]:
    """The processes that are left of those with this home, servers included."""
    found = psutil.process_iter(["environ"])
    return [process.pid for process in found if (process.info["environ"] or {}).get("HOME") == str(home)]


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("Starting a temporary Prefect server", signal.SIGINT),
        ("read what earlier runs kept", signal.SIGINT),
        ("chose what matters", signal.SIGTERM),
    ],
)
def test_demo_that_is_stopped_ends_in_one_line(repository: Path, tmp_path: Path, line: str, number: signal.Signals) -> None:
    """Stopped at any moment it ends within seconds, says so in its last line, and leaves no server; a later run goes on."""
    home = tmp_path / "home"
    home.mkdir()
    said = interrupted(repository, home, line, number)
    assert said.endswith("\nStopped. What was written stays whole; run the same command again.\n")
    for noise in ("Traceback", "Error", "Aborted", "prefect | "):
        assert noise not in said


def test_server_ends_with_a_command_that_is_killed(repository: Path, tmp_path: Path) -> None:
    """Even a command that has no chance to stop anything leaves no server behind."""
    command = [sys.executable, "-u", "-m", "oort_flows", "demo"]
    with subprocess.Popen(command, cwd=repository, env=environment(tmp_path), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if "started a temporary Prefect server" in line)
        assert len(processes(tmp_path)) >= 2
        process.kill()
    _wait_until_gone(tmp_path)


@retry(stop=stop_after_delay(20), wait=wait_fixed(0.1), reraise=True)
def _wait_until_gone(home: Path) -> None:
    assert processes(home) == []


def test_server_that_cannot_start_is_one_clear_line(repository: Path, tmp_path: Path) -> None:
    """Why the temporary server did not start is said in one line, with what to do."""
    done = subprocess.run(
        [sys.executable, "-m", "oort_flows", "demo"],
        cwd=repository,
        env=environment(tmp_path) | {"PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{tmp_path}/missing/x.db"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    last = done.stderr.rstrip("\n").split("\n")[-1]
    assert last.startswith("oort-flows: a temporary Prefect server could not be started (")
    assert "unable to open database file" in last
    assert "Traceback" not in done.stderr


def test_help_shows_flags_as_flags(tmp_path: Path) -> None:
    """A flag takes no value, and its help does not look as if it did."""
    done = oort_flows_command("demo", "--help", cwd=tmp_path, home=tmp_path)
    assert done.returncode == 0
    assert "\n  --land             Work in" in done.stdout
    assert "bool" not in done.stdout


def test_demo_run_twice_starts_where_it_ended(repository: Path, tmp_path: Path) -> None:
    """The second run says where the first ended, and its command shows why."""
    home = tmp_path / "home"
    home.mkdir()
    before = everything_in(repository)

    first = oort_flows_command("demo", cwd=repository, home=home)
    assert first.returncode == 0, first.stderr
    assert "at the beginning of the history" in first.stdout
    assert "Landed     commit" in first.stdout
    for step in ("Starting a temporary Prefect server", "✓ read what earlier runs kept", "✓ brought back what it changed"):
        assert step in first.stderr
    assert "prefect | " not in first.stderr

    second = oort_flows_command("demo", "--repository", ".", cwd=repository, home=home)
    assert second.returncode == 0, second.stderr
    head = run_git(repository, "rev-parse", "--short=7", "HEAD")
    assert f"Started    after commit {head} (" in second.stdout
    assert "'Start'), where the last run ended" in second.stdout
    assert everything_in(repository) == before
    assert "made a clone of it" in first.stderr
    assert "brought the kept clone up to date" in second.stderr
    assert processes(home) == []

    for run in (first, second):
        (printed,) = [line.strip() for line in run.stdout.split("\n") if "--format=%B" in line]
        shown = subprocess.run(printed, shell=True, env=environment(home), capture_output=True, text=True, check=True).stdout
        subject, _, rest = shown.partition("\n\n")
        assert subject == f"release notes: 1 change up to {head} (1 Changed)"
        assert rest.startswith("## Why\n\nStarted at the beginning of the history")
        assert "\nOort-Flow-Run: " in rest
        assert "\nOort-Scope: project:release-notes" in rest
        for line in run.stdout.split("\n"):
            if line.strip().startswith("git "):
                assert subprocess.run(shlex.split(line), capture_output=True, check=True).stdout
    assert "/v2/runs/flow-run/" in second.stdout
    assert "server start" in second.stdout


def test_without_arguments_the_help_is_shown(tmp_path: Path) -> None:
    """The bare command explains itself and succeeds."""
    done = oort_flows_command(cwd=tmp_path, home=tmp_path)
    assert done.returncode == 0
    assert "demo" in done.stdout


def test_version_is_that_of_the_package(tmp_path: Path) -> None:
    """--version prints name and version."""
    done = oort_flows_command("--version", cwd=tmp_path, home=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"oort-flows {oort_flows.__version__}\n")


def test_unknown_option_is_a_usage_error(tmp_path: Path) -> None:
    """A mistake in the call ends with exit code 2."""
    assert oort_flows_command("demo", "--no-such-option", cwd=tmp_path, home=tmp_path).returncode == 2


def test_no_repository_is_one_clear_line(tmp_path: Path) -> None:
    """Where there is no repository the command says so in one line, without a traceback, before it starts anything."""
    done = oort_flows_command("demo", cwd=tmp_path, home=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    lines = [line for line in done.stderr.split("\n") if "…" not in line and line]
    assert lines == ["oort-flows: repository is no Git repository; stand in one, or name one with --repository PATH"]


def test_server_that_does_not_answer_is_one_clear_line(repository: Path, tmp_path: Path) -> None:
    """A server that is configured and down is named with what to do about it."""
    done = subprocess.run(
        [sys.executable, "-m", "oort_flows", "demo"],
        cwd=repository,
        env=environment(tmp_path) | {"PREFECT_API_URL": "http://127.0.0.1:9/api", "PREFECT_CLIENT_MAX_RETRIES": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert (
        done.stderr.rstrip("\n")
        .split("\n")[-1]
        .startswith("oort-flows: the Prefect server that is configured does not answer")
    )
    assert done.stderr.endswith("or do without it: `unset PREFECT_API_URL`\n")
    assert "Traceback" not in done.stderr


def test_command_line_does_not_load_prefect_for_its_help(tmp_path: Path) -> None:
    """Importing the command line costs no Prefect, and neither do its help and version."""
    code = "import sys, oort_flows.cli; print([name for name in sys.modules if name.split('.')[0] == 'prefect'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
