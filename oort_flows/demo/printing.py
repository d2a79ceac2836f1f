"""
Printing the report: prose is wrapped to the terminal, what is to be copied stays on one line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from oort_flows.demo.report import Line

__all__ = ["print_report"]

_LABEL_CHARS: Final = 11


def print_report(console: Console, lines: Iterable[Line]) -> None:
    """Print *lines*; where there is no terminal, such as in a file or a pipe, each stays one line."""
    for line in lines:
        if line.kind == "title":
            console.print(Text(f"\n{line.text}", style="bold"), soft_wrap=not console.is_terminal)
        elif line.kind == "command":
            console.print(Text(f"    {line.text}", style="cyan"), soft_wrap=True)
        elif not console.is_terminal:
            label = f"{line.label:<{_LABEL_CHARS}}" if line.kind == "fact" else ""
            console.print(Text(line.text and f"  {label}{line.text}"), soft_wrap=True)
        elif line.kind == "fact":
            grid = Table.grid()
            grid.add_column(width=_LABEL_CHARS, style="dim")
            grid.add_column(overflow="fold")
            grid.add_row(Text(line.label), Text(line.text))
            console.print(Padding(grid, (0, 0, 0, 2), expand=False))
        else:
            console.print(Padding(Text(line.text, overflow="fold"), (0, 0, 0, 2), expand=False))
