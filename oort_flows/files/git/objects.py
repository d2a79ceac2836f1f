"""
Objects of a repository: loose ones read and written here, packed ones read by libgit2.

libgit2 has been seen to spin on a loose object that was cut short, and it takes the mere presence of a loose file for the
object itself. So every loose object is inflated, measured and hashed here, and libgit2 is shown nothing but packs.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import zlib
from collections.abc import Callable, Container
from hashlib import sha1
from typing import Any, Final, Protocol

from oort_flows.errors import StorageCorruptError
from oort_flows.files.git.failures import storage_failure

__all__ = ["BLOB", "TREE", "Objects", "flush_directory", "open_below", "write_all"]

BLOB: Final = b"blob"
TREE: Final = b"tree"

_KINDS: Final = {1: b"commit", 2: TREE, 3: BLOB, 4: b"tag"}
_HEADER: Final = re.compile(rb"(commit|tree|blob|tag) (0|[1-9][0-9]{0,18})\0")
_HEADER_BYTES: Final = 64
_FIRST_READ: Final = 4_096
# Deflate never shrinks below about a thousandth; anything longer than its content plus this is no object git wrote.
_SLACK: Final = 4_096
_DEEPEST_ALTERNATE: Final = 5
_MOST_REMOVALS: Final = 100
_READ_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class Packs(Protocol):
    """Gives a ``pygit2.Odb`` over the packs of some directories, for the calling thread, and opens it *anew* if need be."""

    def __call__(self, places: tuple[str, ...], *, anew: bool = False) -> Any: ...


class Objects:
    """
    The object database below one ``objects`` directory, its alternates included.

    Parameters
    ----------
    directory:
        Path of the ``objects`` directory.
    packs:
        Opens packs.
    durable:
        Flush every new object, and the directory that names it, to disk.
    """

    def __init__(self, directory: str, packs: Packs, *, durable: bool = False) -> None:
        self._directory = directory
        self._places = _with_alternates(directory)
        self._packs = packs
        self._durable = durable
        mode = os.stat(directory).st_mode
        self._directory_mode = stat.S_IMODE(mode)
        self._file_mode = mode & 0o444
        self.written = 0

    def read(self, oid: bytes, kind: bytes, *, most: int, size: int | None = None) -> bytes:
        """
        Return the content of an object.

        Parameters
        ----------
        most:
            Largest size in bytes that is accepted; nothing larger is inflated.
        size:
            The exact size, where it is known.

        Raises
        ------
        StorageCorruptError
            If it is missing, damaged, of another kind, or of another size.
        """
        body: bytes = self._find(
            oid,
            lambda data: _check_hash(oid, _inflate(data, kind, most, size), kind),
            lambda odb, key: _read_packed(odb, key, kind, most, size),
            whole=True,
        )
        return body

    def size(self, oid: bytes, kind: bytes) -> int:
        """Return the size that an object declares, without inflating it; raises what :meth:`read` raises."""
        size: int = self._find(
            oid,
            lambda data: _checked(_parse_header(data)[:2], kind),
            lambda odb, key: _checked(_packed_header(odb, key), kind),
            whole=False,
        )
        return size

    def _find(self, oid: bytes, loose: Callable[[bytes], Any], packed: Callable[[Any, Any], Any], *, whole: bool) -> Any:
        damage: StorageCorruptError | None = None
        name = oid.hex()
        # Two rounds, the second on packs opened anew: meanwhile git may have packed an object, unpacked it, or merged packs.
        for anew in (False, True):
            data = self._read_loose(name, whole=whole)
            try:
                if data is not None:
                    return loose(data)
            except StorageCorruptError as error:
                damage = error
            odb, key = self._packs(self._places, anew=anew), _oid(oid)
            try:
                if key in odb:
                    return packed(odb, key)
            except StorageCorruptError as error:
                damage = error
        raise damage or StorageCorruptError("an object of the memory is missing from the repository")

    def _read_loose(self, name: str, *, whole: bool) -> bytes | None:
        for place in self._places:
            try:
                descriptor = os.open(f"{place}/{name[:2]}/{name[2:]}", _READ_FLAGS)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise storage_failure(error) from error
            try:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise StorageCorruptError("a stored object is no regular file")
                return _read_all(descriptor, status.st_size if whole else min(status.st_size, _FIRST_READ))
            except OSError as error:
                raise storage_failure(error) from error
            finally:
                os.close(descriptor)
        return None

    def write(self, kind: bytes, body: bytes, *, unless: Container[bytes] = ()) -> bytes:
        """
        Store an object and return its id.

        One that is there already is kept, and its time of change is renewed so that no collection takes it; a damaged one
        is replaced.

        Parameters
        ----------
        unless:
            Ids of objects that are known to be stored and reachable: these are left as they are.

        Raises
        ------
        StorageError
            If the file system refuses.
        """
        content = b"%s %d\0%s" % (kind, len(body), body)
        digest = sha1(content, usedforsecurity=False)
        oid, name = digest.digest(), digest.hexdigest()
        if oid in unless:
            return oid
        directory = f"{self._directory}/{name[:2]}"
        try:
            if not self._renew(f"{directory}/{name[2:]}", kind, body):
                self._store(directory, name[2:], zlib.compress(content, 1))
        except OSError as error:
            raise storage_failure(error) from error
        return oid

    def _renew(self, path: str, kind: bytes, body: bytes) -> bool:
        try:
            os.utime(path)
        except FileNotFoundError:
            return False
        except PermissionError:
            pass
        try:
            with open(path, "rb") as file:
                if self._durable:
                    os.fsync(file.fileno())
                return _inflate(file.read(len(body) + _SLACK), kind, len(body), len(body)) == body
        except (OSError, StorageCorruptError):
            return False

    def _store(self, directory: str, name: str, data: bytes) -> None:
        # Git's own name for unfinished objects: its prune removes what a killed process leaves behind.
        temporary = f"{directory}/tmp_obj_{os.urandom(8).hex()}"  # noqa: S108 - no temporary directory
        descriptor = open_below(temporary, _WRITE_FLAGS, 0o444, lambda: self._make_directory(directory))
        try:
            try:
                write_all(descriptor, data)
                os.fchmod(descriptor, self._file_mode)
                if self._durable:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.rename(temporary, f"{directory}/{name}")
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        if self._durable:
            flush_directory(directory)
        self.written += 1

    def _make_directory(self, directory: str) -> None:
        try:
            os.mkdir(directory)
        except FileExistsError:
            return
        with contextlib.suppress(FileNotFoundError):
            os.chmod(directory, self._directory_mode)
        if self._durable:
            flush_directory(self._directory)


def open_below(path: str, flags: int, mode: int, make_directory: Callable[[], None]) -> int:
    """Open a new file in a directory that may not be there, and that git removes whenever it finds it empty."""
    for _ in range(_MOST_REMOVALS):
        try:
            return os.open(path, flags, mode)
        except FileNotFoundError:
            make_directory()
    return os.open(path, flags, mode)


def flush_directory(directory: str) -> None:
    """Flush the names in *directory* to disk."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _with_alternates(directory: str, depth: int = 0) -> tuple[str, ...]:
    """List *directory* and the object directories it borrows from, as ``info/alternates`` names them."""
    found = [directory]
    try:
        with open(f"{directory}/info/alternates", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return (directory,)
    for line in lines:
        if line and not line.startswith(b"#") and depth < _DEEPEST_ALTERNATE:
            place = os.path.normpath(os.path.join(directory, os.fsdecode(line)))
            found += (more for more in _with_alternates(place, depth + 1) if more not in found)
    return tuple(found)


def _oid(raw: bytes) -> Any:
    import pygit2

    return pygit2.Oid(raw=raw)


def _read_all(descriptor: int, size: int) -> bytes:
    data = os.read(descriptor, size)
    while len(data) < size:
        more = os.read(descriptor, size - len(data))
        if not more:
            break
        data += more
    return data


def write_all(descriptor: int, data: bytes) -> None:
    """Write *data*, however many calls it takes."""
    done = os.write(descriptor, data)
    while done < len(data):
        done += os.write(descriptor, data[done:])


def _parse_header(data: bytes) -> tuple[bytes, int, Any, bytes]:
    """Inflate the start of a loose object: its kind, its size, the inflater, and what follows the header so far."""
    inflater = zlib.decompressobj()
    try:
        start = inflater.decompress(data, _HEADER_BYTES)
    except zlib.error:
        raise StorageCorruptError("a stored object is damaged") from None
    header = _HEADER.match(start)
    if header is None:
        raise StorageCorruptError("a stored object is damaged or cut short")
    return header[1], int(header[2]), inflater, start[header.end() :]


def _checked(header: tuple[bytes, int], kind: bytes, most: int | None = None, size: int | None = None) -> int:
    found, found_size = header
    if found != kind:
        raise StorageCorruptError(f"a {found.decode()} stands where a {kind.decode()} belongs")
    if size is not None and found_size != size:
        raise StorageCorruptError("a stored text has another size than the one noted for it")
    if most is not None and found_size > most:
        raise StorageCorruptError(f"a {kind.decode()} of the memory is larger than the format allows")
    return found_size


def _inflate(data: bytes, kind: bytes, most: int, size: int | None) -> bytes:
    found, declared, inflater, body = _parse_header(data)
    _checked((found, declared), kind, most, size)
    missing = declared - len(body)
    try:
        if missing >= 0:
            # One byte more than declared is asked for: it would betray an object that is longer than it says.
            body += inflater.decompress(inflater.unconsumed_tail, missing + 1)
    except zlib.error:
        raise StorageCorruptError("a stored object is damaged") from None
    if len(body) != declared or not inflater.eof or inflater.unused_data:
        raise StorageCorruptError("a stored object is damaged or cut short")
    return body


def _check_hash(oid: bytes, body: bytes, kind: bytes) -> bytes:
    if sha1(b"%s %d\0%s" % (kind, len(body), body), usedforsecurity=False).digest() != oid:
        raise StorageCorruptError("a stored object is not the one its name stands for")
    return body


def _packed_header(odb: Any, key: Any) -> tuple[bytes, int]:
    import pygit2

    try:
        kind, size = odb.read_header(key)
    except (KeyError, OSError, ValueError, pygit2.GitError):
        raise StorageCorruptError("a packed object cannot be read") from None
    return _KINDS.get(int(kind), b"object"), size


def _read_packed(odb: Any, key: Any, kind: bytes, most: int, size: int | None) -> bytes:
    import pygit2

    _checked(_packed_header(odb, key), kind, most, size)
    try:
        body: bytes = odb.read(key)[1]
    except (KeyError, OSError, ValueError, pygit2.GitError):
        raise StorageCorruptError("a packed object cannot be read") from None
    return body
