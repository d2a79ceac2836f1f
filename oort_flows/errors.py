"""
The error tree, grouped by what the caller can do about it.

::

    OortError
    ├── ConfigurationError            change the set-up: a setting, a repository, an installation
    ├── InvalidInputError (ValueError)   change the argument; the message names the field, never its value
    ├── NotFoundError (LookupError)   nothing there, or nothing there for you: the two look alike
    ├── ConflictError                 somebody else was faster: read again, then retry
    ├── StorageError                  the place where the memory is kept is unwell
    │   ├── StorageUnavailableError   ... for now: the same call may work later
    │   ├── StorageCorruptError       ... for good: what is stored cannot be trusted
    │   └── CapacityError             ... is full, and everything in it is protected
    ├── GroundError                   reading the sources of a step failed
    ├── ConsolidateError              folding sources into a target failed
    ├── WriterError                   turning a turn into facts failed
    └── IsolationError                a step in a work tree of its own did not land

Every error answers :attr:`OortError.retryable`: whether the very same call may succeed later. It follows from the
class, or for wrapping errors from the cause. Mistakes of the caller never become better by waiting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from oort_flows.models.results import FileError
    from oort_flows.models.runs import IsolatedRun

__all__ = [
    "CapacityError",
    "ConfigurationError",
    "ConflictError",
    "ConsolidateError",
    "GroundError",
    "InvalidInputError",
    "IsolationError",
    "MechanicsErrorCode",
    "NotFoundError",
    "OortError",
    "StorageCorruptError",
    "StorageError",
    "StorageUnavailableError",
    "WriterError",
    "is_retryable",
]

MechanicsErrorCode = Literal["read_failed", "callback_failed", "invalid_callback_result", "write_failed"]


class OortError(Exception):
    """Base of everything this package raises on purpose."""

    _retryable: ClassVar[bool] = False

    @property
    def retryable(self) -> bool:
        """Whether the very same call may succeed later."""
        return self._retryable


class ConfigurationError(OortError):
    """Something about the set-up has to change before this can work."""


class InvalidInputError(OortError, ValueError):
    """
    An argument is unusable.

    Parameters
    ----------
    field:
        Name of the offending argument.
    problem:
        What is wrong with it, without repeating its value.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.field, self.problem))


class NotFoundError(OortError, LookupError):
    """Nothing there, or nothing there for this caller: on purpose the two cannot be told apart."""


class ConflictError(OortError):
    """
    Somebody else changed the same thing: read it again, then retry.

    Parameters
    ----------
    message:
        What happened.
    retryable:
        ``False`` where the very same call can never succeed, such as one under a key that means something else.
    """

    def __init__(self, message: str = "", *, retryable: bool = True) -> None:
        super().__init__(message)
        self._may_pass = retryable

    @property
    def retryable(self) -> bool:
        """Whether the very same call may succeed later."""
        return self._may_pass


class StorageError(OortError):
    """The place where memory is kept answered with an error."""


class StorageUnavailableError(StorageError):
    """Storage cannot be reached or is busy at the moment; the same call may work later."""

    _retryable = True


class StorageCorruptError(StorageError):
    """What is stored breaks the rules of the format, so nothing is concluded from it and nothing is written to it."""


class CapacityError(StorageError):
    """There is no room left, and everything that is stored is protected."""


class _MechanicsError(OortError):
    """
    A step of ground or consolidate failed.

    Parameters
    ----------
    code:
        ``read_failed``, ``callback_failed``, ``invalid_callback_result`` or ``write_failed``.
    message:
        What happened, without file content.
    path:
        The memory path it happened at, where there is one.
    error:
        The file port's own error, where it was the cause. An exception that was the cause is ``__cause__``.
    """

    def __init__(
        self, code: MechanicsErrorCode, message: str, *, path: str | None = None, error: FileError | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.path = path
        self.error = error

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.args, dict(self.__dict__)))

    @property
    def retryable(self) -> bool:
        """Taken from the cause: the port's error where there is one, else the exception."""
        if self.error is not None:
            return self.error.retryable
        return self.__cause__ is not None and is_retryable(self.__cause__)


class GroundError(_MechanicsError):
    """Reading the sources of a step failed. See :class:`ConsolidateError` for the codes; here only ``read_failed``."""


class ConsolidateError(_MechanicsError):
    """
    Folding sources into a target failed; the target is as it was.

    ``read_failed`` while reading the prior or the sources, ``callback_failed`` when the fold raised or ran out of time,
    ``invalid_callback_result`` when it returned no usable text, ``write_failed`` when the port refused the new text.
    """

    @property
    def retryable(self) -> bool:
        """As for every wrapping error; a target that changed meanwhile counts too, since a new call reads it anew."""
        lost_race = self.error is not None and self.error.code == "CONFLICT"
        return lost_race or super().retryable


class WriterError(OortError):
    """A writer could not turn a turn into facts; the turn is kept for a retry."""

    _retryable = True


class IsolationError(OortError):
    """
    A step that ran in a work tree of its own did not land, through no fault of the step.

    Parameters
    ----------
    kind:
        What stood in the way: ``no_repository``, ``no_commit``, ``worktree_failed``, ``own_commit``, ``no_identity``,
        ``hook_refused``, ``signing_failed``, ``dirty_parent``, ``conflict`` or ``git_failed``.
    message:
        What happened and what to do about it.
    run:
        The :class:`~oort_flows.models.runs.IsolatedRun` so far: what was rescued, kept and discarded.
    """

    def __init__(self, kind: str, message: str, *, run: IsolatedRun | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.run = run

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.args, dict(self.__dict__)))


def _rebuild(cls: type[OortError], args: tuple[Any, ...], state: dict[str, Any]) -> OortError:
    """Unpickle an error whose constructor takes more than a message; results and states cross processes."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


def is_retryable(error: BaseException) -> bool:
    """
    Tell whether the call that raised *error* may succeed later.

    Ours answer for themselves; of the rest only the ones that by their nature pass (time-outs, dropped connections) count.
    """
    if isinstance(error, OortError):
        return error.retryable
    return isinstance(error, (TimeoutError, ConnectionError))
