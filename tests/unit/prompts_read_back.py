"""Reading a prompt as a model's renderer would: which headings and code blocks does CommonMark see?"""

from __future__ import annotations

from markdown_it import MarkdownIt


def blocks(prompt: str) -> list[tuple[str, str]]:
    """List the top-level blocks of *prompt* as (kind, content); headings as ``h2`` and the like."""
    found: list[tuple[str, str]] = []
    kind = ""
    for token in MarkdownIt("commonmark").parse(prompt):
        if token.type in {"heading_open", "paragraph_open"}:
            kind = token.tag
        elif token.type == "inline":
            found.append((kind, token.content))
        elif token.type not in {"heading_close", "paragraph_close"}:
            found.append((token.type, token.content))
    return found


def as_rendered(text: str) -> str:
    """What a fence shows of *text*: with an end of line, line ends as LF, and no NUL, as CommonMark has it."""
    shown = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
    return shown if not shown or shown.endswith("\n") else shown + "\n"
