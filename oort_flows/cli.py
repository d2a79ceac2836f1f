"""
The command line: parse, call, print.

Prefect takes seconds to import, so nothing of it is loaded before a command needs it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from oort_flows import __version__
from oort_flows.errors import OortError

__all__ = ["app", "main"]

app = typer.Typer(
    name="oort-flows",
    help="Memory for Prefect pipelines: every step remembers, and every change carries its reason.",
    add_completion=False,
    rich_markup_mode=None,  # with markup, flags are shown as if they took a value
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line and leave the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr] # a terminal may not know every character
    app()


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"oort-flows {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def demo(
    repository: Annotated[
        Path,
        typer.Option("--repository", metavar="PATH", help="Any folder of a Git repository.", show_default="this folder"),
    ] = Path(),
    land: Annotated[
        bool, typer.Option("--land", help="Work in the repository itself: memory in its refs/oort, commit on its branch.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show Prefect's log, and where an error came from.")] = False,
) -> None:
    """
    Write the release notes of a repository with a pipeline that remembers where it ended. Run it twice.

    Without --land everything happens in a clone that is kept in your data folder; your repository is only read.
    """
    from oort_flows.demo.interruption import Interruption

    interruption = Interruption()
    try:
        _demo(repository, land=land, verbose=verbose)
    except BaseException as error:
        # Code that was interrupted may fail in its own words; and it may catch the exception, but not the fact.
        if interruption.code is None:
            if verbose or not isinstance(error, OortError):
                raise
            typer.echo(f"oort-flows: {error}", err=True)
            raise typer.Exit(1) from None
    finally:
        interruption.end()
    if interruption.code is not None:
        interruption.tell()
        raise typer.Exit(interruption.code)


def _demo(repository: Path, *, land: bool, verbose: bool) -> None:
    from contextlib import ExitStack

    from rich.console import Console

    from oort_flows.demo.clone import workplace
    from oort_flows.demo.printing import print_report
    from oort_flows.demo.progress import Progress
    from oort_flows.demo.report import describe
    from oort_flows.demo.running import run_pipeline

    progress = Progress(Console(stderr=True))
    with ExitStack() as held:
        with progress.doing("Looking at the repository"):
            place = held.enter_context(workplace(repository, land=land))
        clone = "made a clone of it, to be kept" if place.new else "brought the kept clone up to date"
        progress.done("found the repository" if land else clone)
        done, server = run_pipeline(place, progress, verbose=verbose)
    print_report(Console(highlight=False), describe(done, place, server))
