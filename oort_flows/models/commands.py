"""
The six commands of the file port.

Callers that hold a tool call need none of these: the port takes the mapping as it came, in our spelling, in camelCase or
in that of Anthropic's memory tool. The models are for people who like their editor to know the fields.
"""

from __future__ import annotations

from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

__all__ = ["Command", "Create", "Delete", "Insert", "Rename", "StrReplace", "View"]


class _Command(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, populate_by_name=True, extra="ignore", defer_build=True)


def _named(*names: str) -> AliasChoices:
    return AliasChoices(*names)


class View(_Command):
    """Read a file, or list a directory. ``view_range`` is 1-based and inclusive; -1 as its end means the last line."""

    command: Literal["view"] = "view"
    path: str
    view_range: tuple[int, int] | list[int] | None = Field(default=None, validation_alias=_named("view_range", "viewRange"))


class Create(_Command):
    """Create a file, or replace the one that is there."""

    command: Literal["create"] = "create"
    path: str
    text: str = Field(validation_alias=_named("text", "file_text"))
    if_match: str | None = Field(default=None, validation_alias=_named("if_match", "ifMatch"))


class StrReplace(_Command):
    """Replace the only occurrence of ``old_text`` in a file."""

    command: Literal["str_replace"] = "str_replace"
    path: str
    old_text: str = Field(validation_alias=_named("old_text", "oldText", "old_str"))
    new_text: str = Field(validation_alias=_named("new_text", "newText", "new_str"))
    if_match: str | None = Field(default=None, validation_alias=_named("if_match", "ifMatch"))


class Insert(_Command):
    """Insert lines after line ``insert_line`` of a file; 0 puts them first."""

    command: Literal["insert"] = "insert"
    path: str
    insert_line: int = Field(validation_alias=_named("insert_line", "insertLine"))
    text: str = Field(validation_alias=_named("text", "insert_text"))
    if_match: str | None = Field(default=None, validation_alias=_named("if_match", "ifMatch"))


class Delete(_Command):
    """Delete a file, or a directory with all that is below it."""

    command: Literal["delete"] = "delete"
    path: str
    if_match: str | None = Field(default=None, validation_alias=_named("if_match", "ifMatch"))


class Rename(_Command):
    """Move a file or a directory; nothing is ever overwritten."""

    command: Literal["rename"] = "rename"
    old_path: str = Field(validation_alias=_named("old_path", "oldPath"))
    new_path: str = Field(validation_alias=_named("new_path", "newPath"))
    if_match: str | None = Field(default=None, validation_alias=_named("if_match", "ifMatch"))


Command = View | Create | StrReplace | Insert | Delete | Rename
