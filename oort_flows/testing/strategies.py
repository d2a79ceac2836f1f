"""
Hypothesis strategies for the file port: paths, texts, and commands that are right, nearly right, or nonsense.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from oort_flows.models.limits import Limits

__all__ = ["contents", "invalid_paths", "limits", "memory_paths", "wild_commands", "wild_values"]

_NAMES = ("a", "b", "ab", "a.md", "b.md", "x.md")
_FAMILIAR = tuple(
    "/memories/" + path
    for path in ("a.md", "b.md", "a/a.md", "a/b.md", "a/b/x.md", "a", "a/b", "ab/x.md", "ab", "a.md/x.md")
)
_COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")
_FIELDS = (
    "path", "view_range", "viewRange", "text", "file_text", "insert_text", "old_text", "oldText", "old_str", "new_text",
    "newText",
    "new_str", "insert_line", "insertLine", "old_path", "oldPath", "new_path", "newPath", "if_match", "ifMatch",
)  # fmt: skip


def memory_paths() -> st.SearchStrategy[str]:
    """
    Draw valid paths from a pool small enough that they collide: as files, as directories, and as both.

    Endings are not always allowed ones, and the root is among them.
    """
    names = st.sampled_from(_NAMES)
    drawn = st.lists(names, max_size=3).map(lambda parts: "/".join(["/memories", *parts]))
    familiar = st.sampled_from(_FAMILIAR)
    return st.one_of(familiar, familiar, familiar, drawn)


def invalid_paths() -> st.SearchStrategy[str]:
    """Draw strings that are no path of a memory: outside of the root, malformed, too long, or not well-formed."""
    outside = st.sampled_from(["", "/", "memories/a.md", "/memoriesx/a.md", "/memories_backup/a.md", "/etc/passwd", "a.md"])
    segments = st.sampled_from(
        ["..", ".", "", ".git", "_x.md", "-x.md", "a%2Fb", "a\\b", "a b.md", "é.md", "a\n", "\x00", "s" * 129]
    )
    malformed = st.tuples(memory_paths(), segments).map("/".join)
    too_long = st.integers(600, 1_200).map(lambda depth: "/memories" + "/a" * depth)
    return st.one_of(outside, malformed, too_long, memory_paths().map(lambda path: path + "/\ud800"))


def contents(max_size: int = 12) -> st.SearchStrategy[str]:
    """Draw texts of few different characters, so that matches repeat and every kind of line end meets every other."""
    alphabet = st.sampled_from(["a", "b", "\n", "\r", "\r\n", "£", "\U0001f9e0", "\u2028", "\x0c", "\ufeff"])
    return st.lists(alphabet, max_size=max_size).map("".join)


def limits() -> st.SearchStrategy[Limits]:
    """Draw limits that a handful of short texts meets now and then."""
    return st.builds(
        Limits, max_file_bytes=st.integers(8, 60), max_total_bytes=st.integers(8, 150), max_files=st.integers(2, 8)
    )


def wild_values() -> st.SearchStrategy[Any]:
    """Draw values of all kinds, half surrogate pairs and nested containers included."""
    characters = st.characters(codec=None)
    leaves = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.binary(max_size=8), st.text(characters, max_size=12),
        contents(),
        memory_paths(), invalid_paths(), st.sampled_from(["absent", "0" * 64, "F" * 64, [1, 1], (1, -1), [0, 2], 10**400]),
    )  # fmt: skip
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    )


def wild_commands() -> st.SearchStrategy[Any]:
    """Draw things that look like commands more or less: a known name with fields that may be right, or anything at all."""
    fields = st.dictionaries(st.sampled_from(_FIELDS), wild_values(), max_size=6)
    names = st.sampled_from(_COMMANDS) | st.text(st.characters(codec=None), max_size=8)
    named = st.tuples(fields, memory_paths(), names).map(
        lambda drawn: {"path": drawn[1], "old_path": drawn[1], **drawn[0], "command": drawn[2]}
    )
    return st.one_of(named, named, named, wild_values(), fields)
