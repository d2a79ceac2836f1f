"""
References of a memory: read, swapped by compare-and-set, listed and removed.

They are read by libgit2 and written by git's own protocol: a lock file beside the reference, created by nobody else,
renamed into place. So a swap holds against every git program too, runs no hook, writes no reflog, and can be flushed to
disk. Around it our processes take turns by an operating-system lock that dies with its holder. The holder notes the
reference it works on; who finds such a note knows that its writer was killed, and clears away the lock file that nobody
would ever remove.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import random
import re
import stat
import time
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from oort_flows.errors import StorageCorruptError, StorageError, StorageUnavailableError
from oort_flows.files.git.failures import storage_failure
from oort_flows.files.git.objects import flush_directory, open_below, write_all
from oort_flows.files.git.repository import Repository

__all__ = ["References"]

_TURNS_NAME: Final = "oort-references.lock"
_PATIENCE_S: Final = 1.0
_FIRST_PAUSE_S: Final = 0.000_2
_LONGEST_PAUSE_S: Final = 0.01
# A lock file from before the note of the killed writer, or from longer after it than this, is somebody else's.
_SAME_MOMENT_S: Final = 2.0
_OURS: Final = re.compile(rb"refs/oort/[A-Za-z0-9/-]{1,200}")
_LOCK_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})

T = TypeVar("T")


class References:
    """
    The references below ``refs/oort`` of a repository, straight to trees.

    Parameters
    ----------
    durable:
        Flush every new value to disk.
    """

    def __init__(self, repository: Repository, *, durable: bool = False) -> None:
        self._repository = repository
        self._common = repository.common
        self._durable = durable

    def target(self, name: str) -> bytes | None:
        """
        Return the id that a reference points at; ``None`` only if there is positively no such reference.

        Raises
        ------
        StorageCorruptError
            If it is symbolic or cannot be understood.
        StorageError
            If the repository cannot be read.
        """
        import pygit2

        try:
            reference = self._repository.handle().references.get(name)
        except (ValueError, OSError, pygit2.GitError) as error:
            raise self._unreadable(name) from error
        if reference is None:
            if not os.path.exists(f"{self._common}/HEAD"):
                raise StorageError("the repository is not there any more")
            return None
        if isinstance(reference.target, str):
            raise StorageCorruptError("the reference of the memory is symbolic")
        raw: bytes = reference.target.raw
        return raw

    def _unreadable(self, name: str) -> StorageError:
        try:
            with open(f"{self._common}/{name}", "rb") as file:
                file.read(1)
        except OSError as error:
            return storage_failure(error)
        return StorageCorruptError("the reference of the memory is damaged")

    def swap(self, name: str, old: bytes | None, new: bytes) -> bool:
        """
        Let *name* point at *new* if it still points at *old*; ``None`` stands for no such reference.

        Returns
        -------
        False only if the reference really is another one by now.

        Raises
        ------
        StorageError
            If it cannot be written, or somebody holds the lock of the reference for more than a second.
        """

        def attempt() -> bool:
            with self._locked(name) as write:
                if self.target(name) != old:
                    return False
                write(new)
            return True

        return self._under_lock(name, attempt, lambda: self.target(name) == old, lost=False)

    def put(self, name: str, new: bytes) -> None:
        """Let *name* point at *new*, whatever it pointed at; raises what :meth:`swap` raises."""

        def attempt() -> None:
            with self._locked(name) as write:
                write(new)

        self._under_lock(name, attempt, lambda: True, lost=None)

    def remove(self, name: str) -> None:
        """Remove *name*; nothing happens if there is none. Raises what :meth:`swap` raises."""

        def attempt() -> None:
            with contextlib.suppress(KeyError):
                self._repository.handle().references.delete(name)

        self._under_lock(name, attempt, lambda: True, lost=None)

    def names(self, prefix: str) -> list[str]:
        """
        List the references directly below *prefix*, sorted.

        Loose ones are listed and packed ones searched for, since asking for all would cost a large repository dear.
        """
        found: set[str] = set()
        try:
            found.update(name for name in os.listdir(f"{self._common}/{prefix}") if not name.endswith(".lock"))
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            raise storage_failure(error) from error
        try:
            with open(f"{self._common}/packed-refs", "rb") as file:
                packed = file.read()
        except FileNotFoundError:
            packed = b""
        except OSError as error:
            raise storage_failure(error) from error
        found.update(match.decode() for match in re.findall(rb" %s/([^/\n]+)\n" % re.escape(prefix.encode()), packed))
        return sorted(f"{prefix}/{name}" for name in found)

    def _under_lock(self, name: str, attempt: Callable[[], T], still: Callable[[], bool], *, lost: T) -> T:
        """Run *attempt* in our turn; where git's lock is held, wait as long as *still* says that it is worth it."""
        import pygit2

        end = time.monotonic() + _PATIENCE_S
        pause = _FIRST_PAUSE_S
        while True:
            try:
                with self._turn(name, end):
                    return attempt()
            except (OSError, pygit2.GitError) as error:
                if not still():
                    return lost
                # libgit2 does not say why; whatever was in its way may have gone by now, as may a lock file.
                if isinstance(error, OSError) and error.errno not in (None, errno.EEXIST):
                    raise storage_failure(error) from error
                if time.monotonic() >= end:
                    raise self._obstacle(name) from error
            time.sleep(random.uniform(0, pause))
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _obstacle(self, name: str) -> StorageError:
        for locked in (name, "packed-refs"):
            if os.path.lexists(f"{self._common}/{locked}.lock"):
                return StorageUnavailableError(
                    f"somebody holds the lock of {locked}; if no git program is at work, remove {locked}.lock from the git "
                    "directory"
                )
        return StorageError("git refused to change a reference of the memory")

    @contextlib.contextmanager
    def _locked(self, name: str) -> Iterator[Callable[[bytes], None]]:
        """Hold git's lock of a reference, and give the function that writes it; without a call nothing changes."""
        path = f"{self._common}/{name}"
        lock = f"{path}.lock"
        descriptor = open_below(lock, _LOCK_FLAGS, 0o666, lambda: self._make_directories(os.path.dirname(path)))

        renamed = False

        def write(new: bytes) -> None:
            nonlocal renamed
            write_all(descriptor, new.hex().encode() + b"\n")
            if self._durable:
                os.fsync(descriptor)
            os.rename(lock, path)
            renamed = True
            if self._durable:
                flush_directory(os.path.dirname(path))

        try:
            yield write
        finally:
            os.close(descriptor)
            # Once renamed, a lock file of this name is somebody else's.
            if not renamed:
                os.unlink(lock)

    def _make_directories(self, directory: str) -> None:
        if os.path.isdir(directory):
            return
        if directory == self._common:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        parent = os.path.dirname(directory)
        self._make_directories(parent)
        with contextlib.suppress(FileExistsError, FileNotFoundError):
            os.mkdir(directory)
            # As the directory above: a repository shared by a group stays so.
            os.chmod(directory, stat.S_IMODE(os.stat(parent).st_mode))
        if self._durable:
            flush_directory(parent)

    @contextlib.contextmanager
    def _turn(self, name: str, end: float) -> Iterator[None]:
        descriptor = os.open(f"{self._common}/{_TURNS_NAME}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            if not _take(descriptor, end):
                yield
                return
            note = os.pread(descriptor, 1_024, 0)
            if note:
                self._clear_up(note, os.fstat(descriptor).st_mtime)
            os.pwrite(descriptor, name.encode().ljust(len(note), b"\0"), 0)
            try:
                yield
            finally:
                os.ftruncate(descriptor, 0)
                # Said aloud: a process forked meanwhile holds the same open file, and closing ours would not let go.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)

    def _clear_up(self, note: bytes, noted_at: float) -> None:
        """Remove the lock file of a writer that was killed in its turn."""
        name = note.rstrip(b"\0")
        if not _OURS.fullmatch(name):
            return
        lock = f"{self._common}/{name.decode()}.lock"
        with contextlib.suppress(FileNotFoundError):
            if noted_at <= os.stat(lock).st_mtime <= noted_at + _SAME_MOMENT_S:
                os.unlink(lock)


def _take(descriptor: int, end: float) -> bool:
    """Take the lock; False where the file system knows none, and git's own has to do."""
    pause = _FIRST_PAUSE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise StorageUnavailableError("another process is writing references of memories and does not end") from None
            time.sleep(random.uniform(0, pause))
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return False
            raise
        else:
            return True
