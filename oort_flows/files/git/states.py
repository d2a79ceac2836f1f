"""
One state of a memory as git holds it: the tree that a reference points at, checked once and then remembered.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from oort_flows.errors import StorageCorruptError
from oort_flows.files.git.metadata import MAX_METADATA_BYTES, Metadata, decode_metadata, encode_metadata
from oort_flows.files.git.objects import BLOB, TREE, Objects
from oort_flows.files.git.trees import EMPTY_TREE, MAX_ENTRY_BYTES, Node, decode_tree, encode_tree
from oort_flows.files.snapshot import Changes, Entry
from oort_flows.models.paths import ROOT, path_problem

__all__ = ["METADATA_NAME", "NOTHING", "GitState", "StateCache", "metadata_of", "read_state", "write_state"]

METADATA_NAME: Final = ".oort-memory.json"
_FILES_NAME: Final = ROOT[1:]
_ROOT_TREE_BYTES: Final = 256


@dataclass(frozen=True, slots=True)
class GitState:
    """
    A checked tree.

    Parameters
    ----------
    tree:
        Its id; ``None`` where nothing has been stored yet.
    entries, last_write, total_bytes:
        What the metadata says.
    directories:
        The children of every directory, by the path of the directory.
    """

    tree: bytes | None
    entries: Mapping[str, Entry]
    last_write: int
    total_bytes: int
    directories: Mapping[str, Mapping[str, Node]]

    def blob(self, path: str) -> bytes:
        """Return the object id of the file at *path*."""
        parent, _, name = path.rpartition("/")
        return self.directories[parent][name].oid


NOTHING: Final = GitState(None, {}, 0, 0, {ROOT: {}})


def metadata_of(objects: Objects, tree: bytes) -> tuple[bytes, Node]:
    """
    Return the raw metadata below the root *tree* of a memory, and the node of its files.

    Raises
    ------
    StorageCorruptError
        If the root holds anything else, or less.
    """
    root = decode_tree(objects.read(tree, TREE, most=_ROOT_TREE_BYTES))
    metadata, files = root.get(METADATA_NAME), root.get(_FILES_NAME)
    if len(root) != 2 or metadata is None or files is None or metadata.directory or not files.directory:
        raise StorageCorruptError(f"the tree of a memory holds {METADATA_NAME} and {_FILES_NAME}, and nothing else")
    return objects.read(metadata.oid, BLOB, most=MAX_METADATA_BYTES), files


def read_state(objects: Objects, scope: str, tree: bytes, known: GitState | None = None) -> GitState:
    """
    Read and check everything about *tree* but the texts.

    Parameters
    ----------
    known:
        An earlier state of the same scope: sizes of the blobs it shares with *tree* are not looked up again.

    Raises
    ------
    StorageCorruptError
        If anything breaks the format.
    """
    body, files = metadata_of(objects, tree)
    metadata = decode_metadata(body, scope)
    directories = _read_directories(objects, files, metadata.entries)
    found = 0
    for directory, children in directories.items():
        before = known.directories.get(directory, {}) if known else {}
        for name, node in children.items():
            if node.directory:
                continue
            path = f"{directory}/{name}"
            found += 1
            size = metadata.entries[path].byte_length
            if known and before.get(name) == node and known.entries[path].byte_length == size:
                continue
            if objects.size(node.oid, BLOB) != size:
                raise StorageCorruptError("a stored text has another size than the one noted for it")
    if found != len(metadata.entries):
        raise StorageCorruptError("the metadata names a file that is not there")
    return GitState(tree, metadata.entries, metadata.last_write, metadata.total_bytes, directories)


def _read_directories(objects: Objects, files: Node, entries: Mapping[str, Entry]) -> dict[str, dict[str, Node]]:
    """
    Walk the trees below the root, deepest first, and stop at the first thing that the metadata does not know.

    Directories are not empty, so a walk into the depth meets a file soon: a tree that repeats itself a thousandfold
    costs no more than the metadata that vouches for it.
    """
    most = MAX_ENTRY_BYTES * len(entries)
    directories: dict[str, dict[str, Node]] = {}
    waiting = [(ROOT, files.oid)]
    while waiting:
        directory, oid = waiting.pop()
        children = {} if oid == EMPTY_TREE else decode_tree(objects.read(oid, TREE, most=most))
        if not children and directory != ROOT:
            raise StorageCorruptError("an empty directory stands among the files of the memory")
        for name, node in children.items():
            path = f"{directory}/{name}"
            if "/" in name or path_problem(path) is not None:
                raise StorageCorruptError("a file or directory of the memory has an invalid name")
            if node.directory:
                waiting.append((path, node.oid))
            elif path not in entries:
                raise StorageCorruptError("a file of the memory is not named in the metadata")
        directories[directory] = children
    return directories


def write_state(objects: Objects, scope: str, state: GitState, changes: Changes) -> GitState:
    """
    Store what *changes* make of *state*: new texts, the trees above them, the metadata, the root.

    Raises
    ------
    StorageError
        If the repository cannot be written.
    """
    directories: dict[str, Mapping[str, Node]] = dict(state.directories)
    touched: dict[str, dict[str, Node]] = {}

    def children(directory: str) -> dict[str, Node]:
        if directory not in touched:
            touched[directory] = dict(directories.get(directory, {}))
        return touched[directory]

    for path in changes.removed:
        parent, _, name = path.rpartition("/")
        del children(parent)[name]
    for new, old in changes.moved.items():
        parent, _, name = new.rpartition("/")
        children(parent)[name] = Node(state.blob(old), False)
    for path, body in changes.bodies.items():
        parent, _, name = path.rpartition("/")
        children(parent)[name] = Node(objects.write(BLOB, body), False)

    files = _write_directories(objects, state, directories, touched)
    metadata = Metadata(changes.entries, changes.last_write, changes.total_bytes)
    described = objects.write(BLOB, encode_metadata(scope, metadata))
    root = {METADATA_NAME: Node(described, False), _FILES_NAME: Node(files, True)}
    tree = objects.write(TREE, encode_tree(root))
    return GitState(tree, changes.entries, changes.last_write, changes.total_bytes, directories)


def _write_directories(
    objects: Objects, state: GitState, directories: dict[str, Mapping[str, Node]], touched: dict[str, dict[str, Node]]
) -> bytes:
    """Store every touched directory, the deepest first, drop those that became empty, and return the id of the root."""
    # A directory that moves as a whole keeps its tree; what is stored already is not stored again.
    stored = {node.oid for known in state.directories.values() for node in known.values() if node.directory}
    root = EMPTY_TREE
    depths: dict[int, list[str]] = {}

    def plan(directory: str) -> None:
        depths.setdefault(directory.count("/"), []).append(directory)

    for directory in touched:
        plan(directory)
    for depth in range(max(depths, default=1), 0, -1):
        for directory in depths.get(depth, ()):
            children = touched[directory]
            if directory == ROOT:
                directories[ROOT] = children
                root = _store_tree(objects, children, stored)
                continue
            parent, _, name = directory.rpartition("/")
            if parent not in touched:
                touched[parent] = dict(directories.get(parent, {}))
                plan(parent)
            if children:
                directories[directory] = children
                touched[parent][name] = Node(_store_tree(objects, children, stored), True)
            else:
                directories.pop(directory, None)
                touched[parent].pop(name, None)
    return root


def _store_tree(objects: Objects, children: Mapping[str, Node], stored: set[bytes]) -> bytes:
    body = encode_tree(children)
    return objects.write(TREE, body, unless=stored)


class StateCache:
    """
    Checked states, by repository, reference and tree; the least recently used go first.

    It is bounded by the number of files that all states together hold, so a process that serves many scopes, or large ones,
    does not grow with every write.
    """

    def __init__(self, most_files: int) -> None:
        self._most = most_files
        self._files = 0
        self._states: OrderedDict[tuple[str, str], GitState] = OrderedDict()
        self._lock = threading.Lock()
        # A fork may happen while another thread holds the lock; nobody would ever release it in the child.
        os.register_at_fork(after_in_child=self._renew_lock)

    def _renew_lock(self) -> None:
        self._lock = threading.Lock()

    def get(self, repository: str, reference: str) -> GitState | None:
        """Return the latest known state of a reference."""
        with self._lock:
            key = (repository, reference)
            state = self._states.get(key)
            if state is not None:
                self._states.move_to_end(key)
            return state

    def put(self, repository: str, reference: str, state: GitState) -> None:
        """Remember *state* as the latest one of a reference."""
        with self._lock:
            key = (repository, reference)
            before = self._states.pop(key, None)
            self._files += _weight(state) - (_weight(before) if before else 0)
            self._states[key] = state
            while self._files > self._most and len(self._states) > 1:
                _, gone = self._states.popitem(last=False)
                self._files -= _weight(gone)


def _weight(state: GitState) -> int:
    return len(state.entries) + len(state.directories) + 1
