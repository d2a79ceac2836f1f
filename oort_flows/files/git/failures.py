"""What the operating system says, told as one of our errors: what happened, and whether waiting helps."""

from __future__ import annotations

import errno
import os
from typing import Final

from oort_flows.errors import StorageError, StorageUnavailableError

__all__ = ["storage_failure"]

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_PASSING: Final = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EBUSY, errno.ESTALE, errno.ETIMEDOUT}
)


def storage_failure(error: OSError) -> StorageError:
    """
    Translate *error*, naming no path of the host.

    >>> import errno
    >>> str(storage_failure(OSError(errno.EROFS, "")))
    'the repository cannot be written: it is read-only, or its permissions forbid it'
    """
    if error.errno in _FULL:
        return StorageError("there is no space left for the repository: free some, or raise the quota")
    if error.errno in _FORBIDDEN:
        return StorageError("the repository cannot be written: it is read-only, or its permissions forbid it")
    reason = os.strerror(error.errno) if error.errno else "no reason given"
    message = f"the operating system refused to read or write the repository: {reason}"
    return StorageUnavailableError(message) if error.errno in _PASSING else StorageError(message)
