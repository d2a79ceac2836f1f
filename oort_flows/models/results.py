"""
What the file port answers: a :class:`Success` with a value, or a :class:`Failure` with one of fifteen codes.

``model_dump()`` gives snake_case, ``model_dump(by_alias=True)`` camelCase. Optional keys that are absent are left out of
every dump; there is never a null.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, SerializationInfo, SerializerFunctionWrapHandler, model_serializer
from pydantic.alias_generators import to_camel

from oort_flows.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    OortError,
    StorageCorruptError,
    StorageError,
    StorageUnavailableError,
)

__all__ = [
    "Created",
    "Deleted",
    "DirectoryEntry",
    "DirectoryView",
    "Edited",
    "EntryKind",
    "ErrorCode",
    "Failure",
    "FileError",
    "FileView",
    "LineSpan",
    "Renamed",
    "Result",
    "Success",
    "Value",
]

EntryKind = Literal["file", "directory"]

ErrorCode = Literal[
    "INVALID_COMMAND",
    "INVALID_ARGUMENT",
    "INVALID_PATH",
    "ROOT_PROTECTED",
    "INVALID_EXTENSION",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PATH_CONFLICT",
    "INVALID_RANGE",
    "MATCH_NOT_FOUND",
    "MATCH_NOT_UNIQUE",
    "LIMIT_EXCEEDED",
    "CONFLICT",
    "UNSAFE_STORAGE",
    "STORAGE_ERROR",
]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True, alias_generator=to_camel)


class LineSpan(_Answer):
    """Lines ``start`` to ``end`` of ``total``, 1-based and inclusive; all zero for an empty file."""

    start: int
    end: int
    total: int


class FileView(_Answer):
    """A file, or the lines asked for. ``byte_length`` is that of ``text``; ``digest`` that of the whole file."""

    kind: Literal["file"] = "file"
    path: str
    text: str
    byte_length: int
    lines: LineSpan
    digest: str


class DirectoryEntry(_Answer):
    """An immediate child of a directory."""

    name: str
    path: str
    kind: EntryKind


class DirectoryView(_Answer):
    """The immediate children of a directory, sorted by name in code-point order."""

    kind: Literal["directory"] = "directory"
    path: str
    entries: tuple[DirectoryEntry, ...]


class Created(_Answer):
    """A file was created, or replaced; ``evicted`` names the files that had to go for it, in the order they went."""

    path: str
    byte_length: int
    digest: str
    overwritten: bool
    evicted: tuple[str, ...] = ()


class Edited(_Answer):
    """A file was changed by ``str_replace`` or ``insert``; sizes and digest are those of the whole file afterwards."""

    path: str
    byte_length: int
    digest: str
    evicted: tuple[str, ...] = ()


class Deleted(_Answer):
    """A file, or a directory with all below it, is gone."""

    path: str
    kind: EntryKind
    deleted_files: int
    freed_bytes: int


class Renamed(_Answer):
    """A file or directory has a new path."""

    old_path: str
    new_path: str
    kind: EntryKind
    moved_files: int


_RAISED: Final[dict[str, type[OortError]]] = {
    "NOT_FOUND": NotFoundError,
    "CONFLICT": ConflictError,
    "UNSAFE_STORAGE": StorageCorruptError,
    "STORAGE_ERROR": StorageError,
}

Value = FileView | Created | Edited | DirectoryView | Deleted | Renamed


class FileError(_Answer):
    """
    Why a command was refused.

    Attributes
    ----------
    code:
        One of the fifteen codes.
    message:
        For people. It names a field or a path and never holds file content, a secret or a path of the host.
    path:
        The memory path it is about, where there is one.
    details:
        Machine-readable extras, see the table in the documentation of :class:`~oort_flows.files.FileMemory`.
    """

    code: ErrorCode
    message: str
    path: str | None = None
    details: dict[str, str | int | bool] | None = None

    @property
    def retryable(self) -> bool:
        """Whether the very same command may succeed later: lost races and passing trouble of the storage."""
        details = self.details or {}
        if self.code == "CONFLICT":
            return details.get("reason") == "contention"
        return self.code == "STORAGE_ERROR" and details.get("retryable") is True

    @model_serializer(mode="wrap")
    def _leave_out_absent(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        dumped: dict[str, Any] = {key: value for key, value in handler(self).items() if value is not None}
        if info.by_alias and "details" in dumped:
            dumped["details"] = {to_camel(key): value for key, value in dumped["details"].items()}
        return dumped


class Success(_Answer):
    """The command did what it says."""

    ok: Literal[True] = True
    command: str
    value: Value

    def unwrap(self) -> Any:
        """Return the value; on a :class:`Failure` this raises, so that a refused command cannot go unseen."""
        return self.value


class Failure(_Answer):
    """The command changed nothing."""

    ok: Literal[False] = False
    command: str
    error: FileError

    def unwrap(self) -> NoReturn:
        """
        Raise the error: code, message and path.

        Raises
        ------
        NotFoundError
            For NOT_FOUND.
        ConflictError
            For CONFLICT.
        StorageCorruptError
            For UNSAFE_STORAGE.
        StorageError
            For STORAGE_ERROR; StorageUnavailableError where the same command may work later.
        InvalidInputError
            For everything that is wrong with the command itself.
        """
        error = self.error
        said = f"{error.code}: {error.message}" + (f" ({error.path})" if error.path is not None else "")
        kind = StorageUnavailableError if error.retryable and error.code == "STORAGE_ERROR" else _RAISED.get(error.code)
        raise InvalidInputError(self.command, said) if kind is None else kind(said)


Result = Success | Failure
