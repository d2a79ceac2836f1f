"""
The meaning of the six commands, written once for every adapter.

:func:`judge` is a pure function from a snapshot, a request and limits to an answer and the changes that make it true. An
adapter only loads a snapshot before and swaps it afterwards, so an in-process, a Git and an S3 memory cannot disagree.
The order of the checks below is the order in which errors win.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from oort_flows.errors import StorageCorruptError
from oort_flows.files.parsing import ABSENT, Refusal, Request, check_extension
from oort_flows.files.snapshot import Changes, Entry, Snapshot
from oort_flows.files.text import slice_lines, split_lines
from oort_flows.models.limits import MAX_COUNT, Limits
from oort_flows.models.paths import MAX_PATH_BYTES, ROOT, ancestors, is_below, path_problem
from oort_flows.models.results import (
    Created,
    Deleted,
    DirectoryView,
    Edited,
    FileView,
    LineSpan,
    Renamed,
    Value,
)

__all__ = ["digest", "evict", "is_directory", "judge"]


def digest(body: bytes) -> str:
    """Return the lower-case hex SHA-256 of *body*, the digest that receipts and ``if_match`` speak of."""
    return sha256(body).hexdigest()


def judge(snapshot: Snapshot, request: Request, limits: Limits) -> tuple[Value, Changes | None]:
    """
    Decide what *request* does to *snapshot*.

    Returns
    -------
    The value of the success, and the changes to be swapped in; ``None`` for a view.

    Raises
    ------
    Refusal
        With the code that answers the caller; nothing is to be changed.
    StorageCorruptError
        If a stored text is not UTF-8.
    """
    match request.command:
        case "view":
            return _view(snapshot, request), None
        case "create":
            return _create(snapshot, request, limits)
        case "str_replace":
            return _str_replace(snapshot, request, limits)
        case "insert":
            return _insert(snapshot, request, limits)
        case "delete":
            return _delete(snapshot, request)
        case _:
            return _rename(snapshot, request)


def is_directory(entries: Mapping[str, Entry], path: str) -> bool:
    """Tell whether *path* is a directory: the root, or anything with a file below it."""
    if path == ROOT:
        return True
    prefix = path + "/"
    return any(known.startswith(prefix) for known in entries)


# ---------------------------------------------------------------------------------------------------------------- view


def _view(snapshot: Snapshot, request: Request) -> FileView | DirectoryView:
    path, view_range = request.path, request.view_range
    if path not in snapshot.entries:
        if not is_directory(snapshot.entries, path):
            raise Refusal("NOT_FOUND", "there is nothing at this path", path)
        if view_range is not None:
            raise Refusal("INVALID_RANGE", "view_range is for files; this is a directory", path)
        # One validation of plain dictionaries costs a third of a model per entry.
        return DirectoryView.model_validate({"path": path, "entries": _children(snapshot.entries, path)})
    body = snapshot.read(path)
    text = _decode(body)
    lines = split_lines(text)
    total = len(lines)
    if view_range is None:
        span = LineSpan(start=min(1, total), end=total, total=total)
        return FileView(path=path, text=text, byte_length=len(body), lines=span, digest=digest(body))
    start, end = _bounds(view_range, total, path)
    part = slice_lines(text, lines, start, end)
    span = LineSpan(start=start, end=end, total=total)
    return FileView(path=path, text=part, byte_length=len(part.encode()), lines=span, digest=digest(body))


def _children(entries: Mapping[str, Entry], directory: str) -> list[dict[str, str]]:
    prefix = directory + "/"
    names: dict[str, bool] = {}
    for path in entries:
        if path.startswith(prefix):
            name, slash, _ = path[len(prefix) :].partition("/")
            names[name] = bool(slash)
    return [{"name": name, "path": prefix + name, "kind": "directory" if names[name] else "file"} for name in sorted(names)]


def _bounds(view_range: tuple[int, ...], total: int, path: str) -> tuple[int, int]:
    if len(view_range) != 2:
        raise Refusal("INVALID_RANGE", "view_range must be a list of two integers", path)
    start, end = view_range
    if end == -1:
        end = total
    if not 1 <= start <= end <= total:
        raise Refusal("INVALID_RANGE", "view_range is outside of the file", path, {"total_lines": total})
    return start, end


def _decode(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise StorageCorruptError("a stored text is not UTF-8") from None


# -------------------------------------------------------------------------------------------------------------- writes


def _create(snapshot: Snapshot, request: Request, limits: Limits) -> tuple[Created, Changes]:
    path, entries = request.path, snapshot.entries
    overwritten = path in entries
    if not overwritten:
        if is_directory(entries, path):
            raise Refusal("PATH_CONFLICT", "there is a directory at this path", path)
        _check_parents(entries, path)
    _check_match(snapshot, request)
    changes = _put(snapshot, path, request.body, limits)
    receipt = Created(
        path=path,
        byte_length=len(request.body),
        digest=digest(request.body),
        overwritten=overwritten,
        evicted=changes.evicted,
    )
    return receipt, changes


def _str_replace(snapshot: Snapshot, request: Request, limits: Limits) -> tuple[Edited, Changes]:
    path, old = request.path, request.old_text
    text = _text_to_edit(snapshot, request)
    first = text.find(old)
    if first < 0:
        raise Refusal("MATCH_NOT_FOUND", "old_text does not occur in the file", path)
    if text.find(old, first + len(old)) >= 0:
        raise Refusal("MATCH_NOT_UNIQUE", "old_text occurs more than once in the file", path)
    return _edit(snapshot, path, text[:first] + request.text + text[first + len(old) :], limits)


def _insert(snapshot: Snapshot, request: Request, limits: Limits) -> tuple[Edited, Changes]:
    lines = split_lines(_text_to_edit(snapshot, request))
    slot = request.insert_line
    if slot > len(lines):
        details: dict[str, str | int | bool] = {"max_insert_line": len(lines)}
        raise Refusal("INVALID_RANGE", "insert_line is past the end of the file", request.path, details)
    lines[slot:slot] = split_lines(request.text)
    return _edit(snapshot, request.path, "\n".join(lines) + "\n", limits)


def _text_to_edit(snapshot: Snapshot, request: Request) -> str:
    path = request.path
    if path not in snapshot.entries:
        if is_directory(snapshot.entries, path):
            raise Refusal("PATH_CONFLICT", "there is a directory at this path", path)
        raise Refusal("NOT_FOUND", "there is no file at this path", path)
    _check_match(snapshot, request)
    return _decode(snapshot.read(path))


def _edit(snapshot: Snapshot, path: str, text: str, limits: Limits) -> tuple[Edited, Changes]:
    body = text.encode()
    changes = _put(snapshot, path, body, limits)
    receipt = Edited(path=path, byte_length=len(body), digest=digest(body), evicted=changes.evicted)
    return receipt, changes


def _delete(snapshot: Snapshot, request: Request) -> tuple[Deleted, Changes]:
    path = request.path
    gone = _files_at(snapshot.entries, path)
    if not gone:
        raise Refusal("NOT_FOUND", "there is nothing at this path", path)
    _check_match(snapshot, request)
    freed = sum(snapshot.entries[file].byte_length for file in gone)
    kept = {file: entry for file, entry in snapshot.entries.items() if file not in gone}
    receipt = Deleted(
        path=path,
        kind="file" if path in snapshot.entries else "directory",
        deleted_files=len(gone),
        freed_bytes=freed,
    )
    return receipt, Changes(kept, snapshot.last_write, snapshot.total_bytes - freed, removed=tuple(gone))


def _rename(snapshot: Snapshot, request: Request) -> tuple[Renamed, Changes]:
    old, new, entries = request.path, request.new_path, snapshot.entries
    files = _files_at(entries, old)
    if not files:
        raise Refusal("NOT_FOUND", "there is nothing at the old path", old)
    is_file = old in entries
    _check_match(snapshot, request)
    if new in entries or is_directory(entries, new):
        raise Refusal("ALREADY_EXISTS", "there is something at the new path already", new)
    if not is_file and is_below(new, old):
        raise Refusal("CONFLICT", "a directory cannot move into itself", new, {"reason": "into_itself"})
    if is_file:
        check_extension(new)
    _check_parents(entries, new)
    moved = {new + file[len(old) :]: file for file in files}
    for target in moved:
        problem = path_problem(target)
        if problem is not None:
            details: dict[str, str | int | bool] | None = {"max_bytes": MAX_PATH_BYTES} if problem.too_long else None
            raise Refusal("INVALID_PATH", f"new_path: {problem.message}", target, details)
    kept = {file: entry for file, entry in entries.items() if file not in files}
    kept.update((target, entries[source]) for target, source in moved.items())
    receipt = Renamed(old_path=old, new_path=new, kind="file" if is_file else "directory", moved_files=len(moved))
    return receipt, Changes(kept, snapshot.last_write, snapshot.total_bytes, moved=moved, removed=tuple(files))


# ----------------------------------------------------------------------------------------------------- shared by writes


def _files_at(entries: Mapping[str, Entry], path: str) -> dict[str, None]:
    """Name the file at *path*, or every file below it, in stored order."""
    if path in entries:
        return {path: None}
    prefix = path + "/"
    return dict.fromkeys(file for file in entries if file.startswith(prefix))


def _check_parents(entries: Mapping[str, Entry], path: str) -> None:
    for parent in ancestors(path):
        if parent in entries:
            raise Refusal("PATH_CONFLICT", "there is a file among the directories above this path", parent)


def _check_match(snapshot: Snapshot, request: Request) -> None:
    """Compare ``if_match`` with what is there. Part of the judging, so it holds against other processes too."""
    wanted, path = request.if_match, request.path
    if wanted is None:
        return
    details: dict[str, str | int | bool] = {"reason": "if_match"}
    if path not in snapshot.entries:
        if wanted == ABSENT:
            return
        raise Refusal("CONFLICT", "if_match names the digest of a file, and there is no file at this path", path, details)
    current = digest(snapshot.read(path))
    if wanted != current:
        details["digest"] = current
        raise Refusal("CONFLICT", "the file is not the one that if_match asks for", path, details)


def _put(snapshot: Snapshot, path: str, body: bytes, limits: Limits) -> Changes:
    """Store *body* at *path* as the latest write, and let others go until everything fits."""
    size = len(body)
    if size > limits.max_file_bytes or size > limits.max_total_bytes:
        details: dict[str, str | int | bool] = {
            "byte_length": size,
            "max_file_bytes": limits.max_file_bytes,
            "max_total_bytes": limits.max_total_bytes,
        }
        raise Refusal("LIMIT_EXCEEDED", "the file would be larger than the limits allow", path, details)
    stamp = snapshot.last_write + 1
    if stamp > MAX_COUNT:
        raise Refusal("STORAGE_ERROR", "the write counter of this scope is used up", path, {"retryable": False})
    entries = dict(snapshot.entries)
    before = entries.get(path)
    entries[path] = Entry(size, stamp)
    total = snapshot.total_bytes + size - (before.byte_length if before else 0)
    evicted, total = evict(entries, total, limits, keep=path)
    return Changes(entries, stamp, total, bodies={path: body}, removed=evicted, evicted=evicted)


def evict(entries: dict[str, Entry], total: int, limits: Limits, *, keep: str) -> tuple[tuple[str, ...], int]:
    """
    Remove the least recently written files from *entries*, never *keep*, until count and bytes fit the limits.

    Equal stamps, which only damaged or foreign metadata holds, go by path. Stops as soon as it fits; seeks no best fit.

    Returns
    -------
    The paths that went, in order, and the bytes that remain.
    """
    if len(entries) <= limits.max_files and total <= limits.max_total_bytes:
        return (), total
    oldest_first = sorted((entry.written, path) for path, entry in entries.items() if path != keep)
    gone: list[str] = []
    for _, path in oldest_first:
        if len(entries) <= limits.max_files and total <= limits.max_total_bytes:
            break
        total -= entries.pop(path).byte_length
        gone.append(path)
    return tuple(gone), total
