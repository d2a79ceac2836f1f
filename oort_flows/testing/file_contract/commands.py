"""
Commands as plain mappings, short enough that a test is read at a glance.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ROOT", "M", "create", "delete", "insert", "rename", "str_replace", "view"]

ROOT = "/memories"
M = "/memories/"


def view(path: object, **fields: object) -> dict[str, Any]:
    """Build a ``view``."""
    return {"command": "view", "path": path, **fields}


def create(path: object, text: object = "", **fields: object) -> dict[str, Any]:
    """Build a ``create``."""
    return {"command": "create", "path": path, "text": text, **fields}


def str_replace(path: object, old_text: object, new_text: object, **fields: object) -> dict[str, Any]:
    """Build a ``str_replace``."""
    return {"command": "str_replace", "path": path, "old_text": old_text, "new_text": new_text, **fields}


def insert(path: object, insert_line: object, text: object, **fields: object) -> dict[str, Any]:
    """Build an ``insert``."""
    return {"command": "insert", "path": path, "insert_line": insert_line, "text": text, **fields}


def delete(path: object, **fields: object) -> dict[str, Any]:
    """Build a ``delete``."""
    return {"command": "delete", "path": path, **fields}


def rename(old_path: object, new_path: object, **fields: object) -> dict[str, Any]:
    """Build a ``rename``."""
    return {"command": "rename", "old_path": old_path, "new_path": new_path, **fields}
