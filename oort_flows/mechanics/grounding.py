"""Ground: read what a step should know, within a budget, as data and never as instructions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from oort_flows.errors import GroundError
from oort_flows.mechanics.prompts import grounded_prompt
from oort_flows.mechanics.reading import Refused, SeenDirectory, SeenFile, port_error, view
from oort_flows.mechanics.settings import check_count, check_memory, merged_sources
from oort_flows.models.mechanics import Document, Grounded, Skipped, Source
from oort_flows.models.paths import is_below
from oort_flows.models.results import EntryKind, FileError
from oort_flows.ports import FileMemory

__all__ = ["Budget", "ground", "read_sources"]


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be read: files, characters of one file, characters of all together."""

    max_files: int = 20
    max_file_chars: int = 4_000
    max_total_chars: int = 16_000

    def __post_init__(self) -> None:
        for name in self.__slots__:
            check_count(name, getattr(self, name))


def ground(
    memory: FileMemory,
    sources: Iterable[str | Source],
    *,
    max_files: int = 20,
    max_file_chars: int = 4_000,
    max_total_chars: int = 16_000,
) -> Grounded:
    """
    Read *sources* for a step; nothing is written.

    Every path is viewed at most once and always whole. All sources are viewed before the budget is spent, so a required
    one that is missing is an error wherever it stands. Directories are expanded, however deep; then the files, sorted by
    full path, spend the budget in that order. Once it is gone, children of directories are not read any more, so an empty
    one is skipped like any other.

    Parameters
    ----------
    memory:
        Any file memory.
    sources:
        Paths of files and directories, or :class:`Source` for optional ones. Equal paths count once; required wins. A child
        that vanishes while its directory is read is tolerated below an optional source, not below a required one.
    max_files:
        Most documents.
    max_file_chars:
        Most characters of one document; a longer one is cut.
    max_total_chars:
        Most characters of all documents together; the last one that fits in part is cut.

    Returns
    -------
    The documents in the order of their paths, what did not fit, what is missing, and all of it as a prompt.

    Raises
    ------
    GroundError
        ``read_failed``, with the path and the port's error, if a required source is missing, or the memory cannot be read
        or answers what cannot be trusted.
    ConfigurationError
        If a setting is unusable.

    Example
    -------
    >>> from oort_flows.files import InProcessFileMemory
    >>> memory = InProcessFileMemory("docs")
    >>> _ = memory.execute({"command": "create", "path": "/memories/a.md", "text": "The parser is shared."})
    >>> grounded = ground(memory, ["/memories/a.md", Source("/memories/b.md", optional=True)])
    >>> [document.text for document in grounded.documents], grounded.missing
    (['The parser is shared.'], ('/memories/b.md',))
    """
    budget = Budget(max_files, max_file_chars, max_total_chars)
    check_memory(memory)
    return read_sources(memory, merged_sources(sources), budget)


def read_sources(memory: FileMemory, sources: dict[str, bool], budget: Budget, leave_out: str | None = None) -> Grounded:
    """
    Read *sources*, a mapping from path to whether it is optional, as :func:`ground` does.

    Parameters
    ----------
    leave_out:
        A file that is not read, neither as a source nor inside a directory.
    """
    reading = _Reading(memory, sources, leave_out)
    documents: list[Document] = []
    skipped: list[Skipped] = []
    left = budget.max_total_chars
    for path in reading.files():
        if len(documents) == budget.max_files:
            skipped.append(Skipped(path=path, reason="max_files"))
        elif left == 0:
            skipped.append(Skipped(path=path, reason="max_total_chars"))
        else:
            text = reading.text(path)
            if text is None:
                continue
            document = _document(path, text, min(left, budget.max_file_chars))
            left -= len(document.text)
            documents.append(document)
    return Grounded(
        documents=tuple(documents),
        skipped=tuple(skipped),
        missing=tuple(sorted(reading.missing)),
        prompt=grounded_prompt(documents),
    )


def _document(path: str, text: str, most: int) -> Document:
    if len(text) <= most:
        return Document(path=path, text=text)
    return Document(path=path, text=text[:most], truncated=True, total_chars=len(text))


class _Reading:
    """Views each path at most once, and knows whose absence is tolerated."""

    def __init__(self, memory: FileMemory, sources: dict[str, bool], leave_out: str | None) -> None:
        self._memory = memory
        self._sources = {path: optional for path, optional in sources.items() if path != leave_out}
        self._leave_out = leave_out
        self._seen: dict[str, SeenFile | SeenDirectory | None] = {}
        self.missing: set[str] = set()

    def files(self) -> list[str]:
        """View all sources, expand directories, and list the files by full path."""
        for path in self._sources:
            self._view(path)
        files = {path for path, seen in self._seen.items() if isinstance(seen, SeenFile)}
        directories = [path for path, seen in self._seen.items() if isinstance(seen, SeenDirectory)]
        while directories:
            seen = self._view(directories.pop(), "directory")
            for path, kind in seen.entries.items() if isinstance(seen, SeenDirectory) else ():
                if path == self._leave_out:
                    continue
                if path in self._seen:
                    self._view(path, kind)  # a source, too: viewed before, and expanded on its own account
                elif kind == "directory":
                    directories.append(path)
                else:
                    files.add(path)
        return sorted(files)

    def text(self, path: str) -> str | None:
        """Return the text of a file; ``None`` if it is gone by now and that is tolerated."""
        seen = self._view(path, "file")
        return seen.text if isinstance(seen, SeenFile) else None

    def _view(self, path: str, kind: EntryKind | None = None) -> SeenFile | SeenDirectory | None:
        if path not in self._seen:
            self._seen[path] = self._asked(path)
        seen = self._seen[path]
        if seen is not None and kind is not None and isinstance(seen, SeenFile) != (kind == "file"):
            error = port_error("STORAGE_ERROR", "the port shows another kind than its listing", path, {"retryable": False})
            raise _failure(path, error)
        return seen

    def _asked(self, path: str) -> SeenFile | SeenDirectory | None:
        try:
            return view(self._memory, path)
        except Refused as refused:
            if refused.error.code != "NOT_FOUND" or not self._may_be_missing(path):
                raise _failure(path, refused.error) from refused.__cause__
        self.missing.add(path)
        return None

    def _may_be_missing(self, path: str) -> bool:
        if path in self._sources:
            return self._sources[path]
        return all(optional for source, optional in self._sources.items() if is_below(path, source))


def _failure(path: str, error: FileError) -> GroundError:
    return GroundError("read_failed", f"reading {path} failed: {error.message}", path=path, error=error)
