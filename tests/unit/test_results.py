"""Answers of the file port that raise when they are asked to."""

from __future__ import annotations

import pytest

from oort_flows.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    StorageCorruptError,
    StorageError,
    StorageUnavailableError,
)
from oort_flows.files import Failure, FileError, InProcessFileMemory


def failure(code: str, **details: object) -> Failure:
    return Failure(
        command="create", error=FileError(code=code, message="why", path="/memories/a.md", details=details or None)
    )


def test_a_success_gives_its_value() -> None:
    """unwrap saves the question whether it is ok."""
    memory = InProcessFileMemory("m")
    answer = memory.execute({"command": "create", "path": "/memories/a.md", "text": "x"})
    assert answer.unwrap() is answer.value


@pytest.mark.parametrize(
    ("answer", "kind", "retryable"),
    [
        (failure("NOT_FOUND"), NotFoundError, False),
        (failure("CONFLICT", reason="contention"), ConflictError, True),
        (failure("UNSAFE_STORAGE"), StorageCorruptError, False),
        (failure("STORAGE_ERROR", retryable=False), StorageError, False),
        (failure("STORAGE_ERROR", retryable=True), StorageUnavailableError, True),
        (failure("INVALID_EXTENSION"), InvalidInputError, False),
        (failure("LIMIT_EXCEEDED"), InvalidInputError, False),
    ],
)
def test_a_failure_raises_what_the_caller_can_act_on(answer: Failure, kind: type[Exception], retryable: bool) -> None:
    """The kind follows the code; the message has code, reason and path."""
    with pytest.raises(kind, match=f"{answer.error.code}: why") as caught:
        answer.unwrap()
    assert type(caught.value) is kind
    assert caught.value.retryable is retryable  # type: ignore[attr-defined]
    assert "/memories/a.md" in str(caught.value)
