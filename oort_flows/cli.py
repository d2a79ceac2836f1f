"""
The command line: parse, call, print.

Prefect takes seconds to import, so nothing of it is loaded before a command needs it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oort_flows import __version__
from oort_flows.errors import OortError

if TYPE_CHECKING:
    from rich.console import Console

    from oort_flows.demo.report import Line

__all__ = ["app", "main"]

app = typer.Typer(
    name="oort-flows",
    help="Memory for Prefect pipelines: every step remembers, and every change carries its reason.",
    add_completion=False,
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
    from rich.console import Console

    try:
        _demo(repository, land=land, verbose=verbose, errors=Console(stderr=True))
    except KeyboardInterrupt:
        typer.echo("Stopped. What was written stays whole; run the same command again.", err=True)
        raise typer.Exit(130) from None
    except OortError as error:
        if verbose:
            raise
        typer.echo(f"oort-flows: {error}", err=True)
        raise typer.Exit(1) from None


def _demo(repository: Path, *, land: bool, verbose: bool, errors: Console) -> None:
    from contextlib import ExitStack

    from rich.console import Console

    from oort_flows.demo.clone import workplace
    from oort_flows.demo.progress import Progress
    from oort_flows.demo.report import describe
    from oort_flows.demo.running import run_pipeline

    progress = Progress(errors)
    with ExitStack() as held:
        with progress.doing("Looking at the repository"):
            place = held.enter_context(workplace(repository, land=land))
        progress.done("found the repository" if land else "brought the kept clone up to date")
        done, server = run_pipeline(place, progress, verbose=verbose)
    console = Console(soft_wrap=True, highlight=False)
    for line in describe(done, place, server):
        _print(console, line)


def _print(console: Console, line: Line) -> None:
    from rich.text import Text

    if line.kind == "title":
        console.print(Text(f"\n{line.text}", style="bold"))
    elif line.kind == "fact":
        console.print(Text(f"  {line.label:<11}", style="dim").append(line.text, style="not dim"))
    elif line.kind == "command":
        console.print(Text(f"    {line.text}", style="cyan"))
    else:
        console.print(Text(line.text and f"  {line.text}"))
