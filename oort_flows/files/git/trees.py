"""Git trees as bytes: entries of mode, name and object id, in git's own order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from oort_flows.errors import StorageCorruptError

__all__ = ["EMPTY_TREE", "MAX_ENTRY_BYTES", "Node", "decode_tree", "encode_tree"]

EMPTY_TREE: Final = bytes.fromhex("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

MAX_ENTRY_BYTES: Final = len("100644 ") + 128 + 1 + 20
"""Most bytes of one entry whose name is a valid segment of a memory path."""

_FILE_MODE: Final = 0o100644
_TREE_MODE: Final = 0o40000
_KINDS: Final = {
    0o120000: "a symbolic link",
    0o160000: "a submodule",
    0o100755: "an executable file",
}


class Node(NamedTuple):
    """What a name in a tree stands for."""

    oid: bytes
    directory: bool


def encode_tree(children: Mapping[str, Node]) -> bytes:
    r"""
    Write *children* as git does: a directory sorts as if its name ended in a slash.

    >>> encode_tree({"a": Node(b"1" * 20, True), "a.md": Node(b"2" * 20, False)})
    b'100644 a.md\x002222222222222222222240000 a\x0011111111111111111111'
    """
    rows = sorted((name + "/" if node.directory else name, node) for name, node in children.items())
    return b"".join(
        [
            b"40000 %s\0%s" % (name[:-1].encode(), node.oid)
            if node.directory
            else b"100644 %s\0%s" % (name.encode(), node.oid)
            for name, node in rows
        ]
    )


def decode_tree(body: bytes) -> dict[str, Node]:
    """
    Read the entries of a tree.

    Raises
    ------
    StorageCorruptError
        If it is torn, names something twice, or holds anything but plain files and directories.
    """
    children: dict[str, Node] = {}
    at, end = 0, len(body)
    while at < end:
        space = body.find(b" ", at, at + 8)
        name_end = body.find(b"\0", space + 1)
        after = name_end + 21
        if space < 0 or name_end < 0 or after > end:
            raise StorageCorruptError("a tree of the memory is damaged")
        try:
            mode = int(body[at:space], 8)
            name = body[space + 1 : name_end].decode()
        except ValueError:
            raise StorageCorruptError("a tree of the memory holds a mode or a name that cannot be read") from None
        if mode not in (_FILE_MODE, _TREE_MODE):
            raise StorageCorruptError(f"{_KINDS.get(mode, 'something with another mode')} stands where a plain file belongs")
        if name in children:
            raise StorageCorruptError("a tree of the memory names something twice")
        children[name] = Node(body[name_end + 1 : after], mode == _TREE_MODE)
        at = after
    return children
