"""Storage that breaks the format is reported, never repaired, never guessed at, and never waited for."""

from __future__ import annotations

import json
import os
import time
import zlib
from pathlib import Path

import pygit2
import pytest

from oort_flows.files import GitFileMemory
from tests.integration.repositories import (
    BLOB_KIND,
    COMMIT,
    EXECUTABLE,
    FILE,
    LINK,
    TREE,
    TREE_KIND,
    git,
    make_repository,
    memory_reference,
    metadata_for,
    snapshot_of,
    tree_bytes,
    write_files,
    write_memory,
    write_root,
)

SCOPE = "project:docs"
REFERENCE = memory_reference(SCOPE)
A, B = "/memories/a.md", "/memories/d/b.md"
BODIES = {A: b"alpha\n", B: b"beta\n"}
SIZES = {path: len(body) for path, body in BODIES.items()}
BOUND_S = 5


@pytest.fixture
def place(tmp_path) -> Path:
    return make_repository(tmp_path / "memory.git", bare=True)


@pytest.fixture
def store(place) -> pygit2.Repository:
    return pygit2.Repository(place)


def point_at(store: pygit2.Repository, target) -> None:
    store.references.create(REFERENCE, target, force=True)


def tree(store, *children) -> pygit2.Oid:
    return store.write(TREE_KIND, tree_bytes(list(children)))


def blob(store, body: bytes = b"alpha\n") -> pygit2.Oid:
    return store.write(BLOB_KIND, body)


def assert_unsafe(place: Path, *, path: str = A) -> None:
    """Every command says UNSAFE_STORAGE in bounded time and leaves storage alone; a bad path is still a bad path."""
    before = snapshot_of(place)
    began = time.monotonic()
    memory = GitFileMemory(place, SCOPE)
    for command in (
        {"command": "view", "path": path},
        {"command": "str_replace", "path": path, "old_text": "alpha", "new_text": "x"},
        {"command": "insert", "path": path, "insert_line": 0, "text": "x"},
    ):
        answer = memory.execute(command)
        assert not answer.ok
        assert (answer.error.code, answer.error.path) == ("UNSAFE_STORAGE", path), answer
        assert str(place) not in answer.error.message
    assert memory.execute({"command": "view", "path": "/memories/../x"}).error.code == "INVALID_PATH"
    assert memory.execute({"command": "create", "path": "/memories/x.ts", "text": ""}).error.code == "INVALID_EXTENSION"
    assert time.monotonic() - began < BOUND_S
    assert snapshot_of(place) == before


def assert_unsafe_to_write(place: Path) -> None:
    """Where the whole state is unsafe, writes that read no text are refused too."""
    memory = GitFileMemory(place, SCOPE)
    for command in (
        {"command": "view", "path": "/memories"},
        {"command": "create", "path": "/memories/new.md", "text": "x"},
        {"command": "delete", "path": A},
        {"command": "rename", "old_path": A, "new_path": "/memories/moved.md"},
    ):
        assert memory.execute(command).error.code == "UNSAFE_STORAGE"
    assert_unsafe(place)


class TestTheReference:
    def test_symbolic_reference(self, place, store):
        """A reference that points at another one is not followed, even where that leads to a sound memory."""
        root = write_memory(store, SCOPE, BODIES)
        store.references.create("refs/heads/elsewhere", root)
        store.references[REFERENCE].delete()
        store.references.create(REFERENCE, "refs/heads/elsewhere")
        assert_unsafe_to_write(place)

    def test_commit_blob_and_tag_instead_of_a_tree(self, place, store):
        """The reference points at a tree and at nothing that leads to one."""
        root = write_memory(store, SCOPE, BODIES)
        who = pygit2.Signature("Tester", "tester@example.invalid")
        commit = store.create_commit(None, who, who, "a commit", root, [])
        tag = store.create_tag("v1", root, pygit2.enums.ObjectType.TREE, who, "a tag")
        for target in (commit, blob(store), tag):
            point_at(store, target)
            assert_unsafe_to_write(place)

    def test_missing_object(self, place, store):
        """A reference to an object that is not there is no empty memory."""
        write_memory(store, SCOPE, BODIES)
        (place / REFERENCE).write_text("12" * 20 + "\n")
        assert_unsafe_to_write(place)

    @pytest.mark.parametrize("content", [b"", b"nonsense\n", b"\0" * 41, b"0" * 40 + b"\n"])
    def test_reference_file_that_a_crash_left(self, place, store, content):
        """An empty or torn reference is no missing one."""
        write_memory(store, SCOPE, BODIES)
        (place / REFERENCE).write_bytes(content)
        assert_unsafe_to_write(place)


def build(store, case: str) -> pygit2.Oid:
    """Return the root of a memory of A and B that is wrong in one respect."""
    a, b = blob(store, BODIES[A]), blob(store, BODIES[B])
    d = tree(store, (FILE, "b.md", b))
    good = [(FILE, "a.md", a), (TREE, "d", d)]
    metadata = metadata_for(SCOPE, SIZES)
    deep = tree(store, (FILE, "b.md", b), (TREE, "empty", tree(store)))
    files = {
        "a symbolic link": [(LINK, "a.md", a), good[1]],
        "an executable": [(EXECUTABLE, "a.md", a), good[1]],
        "a group-writable file": [(0o100664, "a.md", a), good[1]],
        "a submodule": [good[0], (COMMIT, "d", d)],
        "an empty directory": [*good, (TREE, "e", tree(store))],
        "a deep empty directory": [good[0], (TREE, "d", deep)],
        "an unexpected directory": [*good, (TREE, "e", tree(store, (FILE, "x.md", a)))],
        "a file without metadata": [*good, (FILE, "x.md", a)],
        "metadata without its file": [good[0]],
        "a directory where a file should be": [(TREE, "a.md", d), good[1]],
        "a file where a directory should be": [good[0], (FILE, "d", b)],
        "a tree where a text should be": [(FILE, "a.md", d), good[1]],
        "a text where a tree should be": [good[0], (TREE, "d", b)],
        "a missing text": [(FILE, "a.md", b"\x12" * 20), good[1]],
        "a missing tree": [good[0], (TREE, "d", b"\x12" * 20)],
        "a name given twice": [(FILE, "a.md", a), *good],
        "a name that is not UTF-8": [*good, (FILE, b"\xff.md", a)],
        "an invalid name": [*good, (FILE, ".hidden.md", a)],
        "a name with a slash": [good[0], (FILE, "d/b.md", b)],
        "a text of another size": [(FILE, "a.md", blob(store, b"alpha!\n")), good[1]],
    }.get(case, good)
    rows = tree_bytes(files)
    rows = {"a torn tree": rows[:-3], "a mode that is no number": b"10x644 z.md\0" + bytes(20)}.get(case, rows)
    described = blob(store, json.dumps(metadata).encode())
    inner = store.write(TREE_KIND, rows)
    roots = {
        "an extra file in the root": [(FILE, ".oort-memory.json", described), (FILE, "extra", a), (TREE, "memories", inner)],
        "no metadata": [(TREE, "memories", inner)],
        "no files": [(FILE, ".oort-memory.json", described)],
        "executable metadata": [(EXECUTABLE, ".oort-memory.json", described), (TREE, "memories", inner)],
        "a directory of metadata": [(TREE, ".oort-memory.json", inner), (TREE, "memories", inner)],
        "files that are no directory": [(FILE, ".oort-memory.json", described), (FILE, "memories", a)],
        "an empty root": [],
    }
    return tree(store, *roots.get(case, [(FILE, ".oort-memory.json", described), (TREE, "memories", inner)]))


@pytest.mark.parametrize(
    "case",
    [
        "a symbolic link",
        "an executable",
        "a group-writable file",
        "a submodule",
        "an empty directory",
        "a deep empty directory",
        "an unexpected directory",
        "a file without metadata",
        "metadata without its file",
        "a directory where a file should be",
        "a file where a directory should be",
        "a tree where a text should be",
        "a text where a tree should be",
        "a missing text",
        "a missing tree",
        "a name given twice",
        "a name that is not UTF-8",
        "an invalid name",
        "a name with a slash",
        "a text of another size",
        "a torn tree",
        "a mode that is no number",
        "an extra file in the root",
        "no metadata",
        "no files",
        "executable metadata",
        "a directory of metadata",
        "files that are no directory",
        "an empty root",
    ],
)
def test_tree_that_breaks_the_format(place, store, case):
    """Anything but the metadata and plain files in directories that are not empty makes the storage unsafe."""
    point_at(store, build(store, "nothing"))
    assert GitFileMemory(place, SCOPE).execute({"command": "view", "path": B}).value.text == "beta\n"
    point_at(store, build(store, case))
    assert_unsafe_to_write(place)


def altered(**changed) -> bytes:
    return json.dumps(metadata_for(SCOPE, SIZES, **changed)).encode()


def entries(*rows: tuple) -> list[dict]:
    return [{"path": path, "byte_length": size, "written": written} for path, size, written in rows]


GOOD = altered()
BROKEN_METADATA = {
    "no JSON": b"{",
    "no object": b"[]",
    "not UTF-8": GOOD.replace(b"project", b"proj\xffct"),
    "UTF-16": GOOD.decode().encode("utf-16"),
    "empty": b"",
    "nested without end": b"[" * 200_000,
    "a number without end": GOOD.replace(b'"last_write": 2', b'"last_write": ' + b"9" * 10_000),
    "another format": altered(format=2),
    "a format that is no integer": altered(format=True),
    "a format that is a float": altered(format=1.0),
    "no format": GOOD.replace(b"format", b"formal"),
    "another scope": altered(scope="project:other"),
    "the digest of another scope": altered(scope_digest="0" * 64),
    "no scope": GOOD.replace(b'"scope":', b'"scape":'),
    "a last write that is no integer": altered(last_write=2.0),
    "a negative last write": altered(last_write=-1, entries=[]),
    "a last write past the end": altered(last_write=2**53),
    "a last write that is a truth value": altered(last_write=True),
    "a stamp above the last write": altered(last_write=1),
    "a negative stamp": altered(entries=entries((A, 6, -1), (B, 5, 2))),
    "a larger total": altered(total_bytes=12),
    "a smaller total": altered(total_bytes=10),
    "a total that is text": altered(total_bytes="11"),
    "another size": altered(entries=entries((A, 5, 1), (B, 6, 2))),
    "a negative size": altered(entries=entries((A, -6, 1), (B, 5, 2)), total_bytes=-1),
    "entries that are no list": altered(entries={}),
    "no entries": GOOD.replace(b'"entries"', b'"entrees"'),
    "an entry that is no object": altered(entries=[A, B]),
    "an entry without a path": altered(entries=[*entries((A, 6, 1)), {"byte_length": 5, "written": 2}]),
    "a path given twice": altered(entries=entries((A, 6, 1), (A, 6, 1), (B, 5, 2))),
    "an invalid path": altered(entries=entries(("/memories/../a.md", 6, 1), (B, 5, 2))),
    "the root as a file": altered(entries=entries(("/memories", 6, 1), (B, 5, 2))),
    "a path with half a surrogate pair": altered(entries=entries(("/memories/\ud800.md", 6, 1), (B, 5, 2))),
    "overlapping paths": altered(entries=entries((A, 6, 1), (B, 5, 2), ("/memories/d", 0, 1))),
    "over its cap": GOOD[:-1] + b', "padding": "' + b"x" * (16 * 1024 * 1024) + b'"}',
}


@pytest.mark.parametrize("case", BROKEN_METADATA)
def test_metadata_that_does_not_add_up(place, store, case):
    """Metadata is believed only if it is of this format and scope, and agrees with itself and with the tree."""
    point_at(store, write_root(store, BROKEN_METADATA[case], write_files(store, BODIES)))
    assert_unsafe_to_write(place)


@pytest.mark.parametrize(
    "metadata",
    [
        "\ufeff".encode() + GOOD,
        GOOD.replace(b'"entries": [{', b'"later": {"x": [null]}, "entries": [{"colour": "blue", '),
        json.dumps(json.loads(GOOD), indent=4).encode(),
        altered(entries=entries((B, 5, 2), (A, 6, 1))),
        altered(last_write=9, entries=entries((A, 6, 3), (B, 5, 3))),
        altered(last_write=2**53 - 1),
    ],
    ids=["byte order mark", "unknown keys", "indented", "unsorted", "equal stamps", "the last stamp"],
)
def test_metadata_that_looks_odd_and_is_sound(place, store, metadata):
    """A byte order mark, unknown keys, blanks, another order and equal stamps do no harm."""
    point_at(store, write_root(store, metadata, write_files(store, BODIES)))
    assert GitFileMemory(place, SCOPE).execute({"command": "view", "path": A}).value.text == "alpha\n"


def test_texts_that_start_with_a_byte_order_mark_are_plain_texts(place, store):
    """U+FEFF at the start of a text is part of it."""
    write_memory(store, SCOPE, {A: "\ufeffalpha".encode()})
    assert GitFileMemory(place, SCOPE).execute({"command": "view", "path": A}).value.text == "\ufeffalpha"


def test_text_that_is_not_utf8_spoils_only_itself(place, store):
    """Texts are judged when they are read; the others stay readable, and the bad one can be replaced."""
    write_memory(store, SCOPE, {A: b"\xff\xfe", B: b"beta\n"})
    assert_unsafe(place)
    memory = GitFileMemory(place, SCOPE)
    assert memory.execute({"command": "view", "path": B}).value.text == "beta\n"
    assert memory.execute({"command": "create", "path": A, "text": "good"}).ok


def loose_path(place: Path, oid: pygit2.Oid) -> Path:
    return place / "objects" / str(oid)[:2] / str(oid)[2:]


def overwrite(path: Path, data: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(data)


CUTS = [0, 1, 2, 12, 16, "half", "all but one"]


def cut(path: Path, size: int | str) -> None:
    data = path.read_bytes()
    end = {"half": len(data) // 2, "all but one": len(data) - 1}.get(size, size)
    overwrite(path, data[:end])


@pytest.mark.parametrize("size", CUTS)
@pytest.mark.parametrize("which", ["root", "metadata", "files", "directory"])
def test_object_cut_short(place, store, which, size):
    """A root, a tree or metadata of which only some bytes were written is found out at once, however short it is."""
    root = store[write_memory(store, SCOPE, BODIES)]
    objects = {
        "root": root.id,
        "metadata": root[".oort-memory.json"].id,
        "files": root["memories"].id,
        "directory": root["memories"]["d"].id,
    }
    cut(loose_path(place, objects[which]), size)
    assert_unsafe_to_write(place)


@pytest.mark.parametrize("size", CUTS)
def test_text_cut_short(place, store, size):
    """A text that was cut short is unsafe to view and to edit, and a write of the same text heals it."""
    text = os.urandom(300).hex().encode()
    write_memory(store, SCOPE, {A: text, B: b"beta\n"})
    path = loose_path(place, pygit2.hash(text))
    whole = zlib.decompress(path.read_bytes())
    cut(path, size)
    assert_unsafe(place)
    if size in ("half", "all but one"):
        memory = GitFileMemory(place, SCOPE)
        assert memory.execute({"command": "create", "path": "/memories/copy.md", "text": text.decode()}).ok
        assert zlib.decompress(path.read_bytes()) == whole
        assert memory.execute({"command": "view", "path": A}).value.text == text.decode()


@pytest.mark.parametrize(
    "forge",
    [
        lambda body: zlib.compress(b"blob 6\0alphA\n"),
        lambda body: zlib.compress(b"blob 6\0alpha\n") + b"more",
        lambda body: zlib.compress(b"blob 6\0alpha\nmore"),
        lambda body: zlib.compress(b"blob 6\0al"),
        lambda body: zlib.compress(b"tree 6\0alpha\n"),
        lambda body: zlib.compress(b"blob 06\0alpha\n"),
        lambda body: zlib.compress(b"blob 99999999999999999999\0alpha\n"),
        lambda body: zlib.compress(b"blob 6\0" + bytes(50_000_000)),
        lambda body: b"alpha\n",
        lambda body: bytes(1_000),
        lambda body: body[:-1] + bytes([body[-1] ^ 1]),
    ],
    ids=[
        "another text",
        "bytes after the end",
        "longer than it says",
        "shorter than it says",
        "another kind",
        "a padded size",
        "a size without end",
        "a bomb",
        "not compressed",
        "zeros",
        "a wrong checksum",
    ],
)
def test_text_that_was_tampered_with(place, store, forge):
    """A text is what its name stands for, or it is not read."""
    write_memory(store, SCOPE, BODIES)
    path = loose_path(place, pygit2.hash(BODIES[A]))
    overwrite(path, forge(path.read_bytes()))
    assert_unsafe(place)


def test_pipe_in_place_of_an_object(place, store):
    """Nobody waits for a pipe that stands where an object belongs."""
    write_memory(store, SCOPE, BODIES)
    path = loose_path(place, pygit2.hash(BODIES[A]))
    path.unlink()
    os.mkfifo(path)
    memory = GitFileMemory(place, SCOPE)
    assert memory.execute({"command": "view", "path": A}).error.code == "UNSAFE_STORAGE"


def test_damaged_loose_copy_of_a_packed_object_does_no_harm(place, store):
    """Where a sound copy is packed, it is read."""
    root = write_memory(store, SCOPE, BODIES)
    git(place, "repack", "-adfq")
    path = loose_path(place, root)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"x\x01twelve byte")
    assert GitFileMemory(place, SCOPE).execute({"command": "view", "path": A}).value.text == "alpha\n"


@pytest.mark.parametrize("keep", [0.5, 0.1, 0.0])
def test_pack_cut_short(place, store, keep):
    """A pack of which the end is missing is unsafe storage too."""
    write_memory(store, SCOPE, BODIES)
    git(place, "repack", "-adfq")
    (pack,) = (place / "objects/pack").glob("*.pack")
    overwrite(pack, pack.read_bytes()[: int(pack.stat().st_size * keep)])
    memory = GitFileMemory(place, SCOPE)
    began = time.monotonic()
    assert memory.execute({"command": "view", "path": A}).error.code == "UNSAFE_STORAGE"
    assert memory.execute({"command": "create", "path": A, "text": "x"}).error.code == "UNSAFE_STORAGE"
    assert time.monotonic() - began < BOUND_S


def test_tree_that_repeats_itself_a_thousandfold(place, store):
    """A few small trees that unfold to billions of paths cost no more than the metadata that vouches for them."""
    inner = tree(store, (FILE, "f.md", blob(store)))
    for _ in range(60):
        inner = tree(store, *((TREE, f"{n:02}", inner) for n in range(10)))
    metadata = metadata_for(SCOPE, {f"/memories/{n}.md": 6 for n in range(1_000)})
    point_at(store, write_root(store, metadata, inner))
    assert_unsafe(place)


def test_checked_tree_is_not_checked_again(place, store):
    """A tree the process knows is taken as read; only the texts are read anew."""
    root = store[write_memory(store, SCOPE, BODIES)]
    memory = GitFileMemory(place, SCOPE)
    assert memory.execute({"command": "view", "path": A}).ok
    loose_path(place, root["memories"]["d"].id).unlink()
    assert memory.execute({"command": "view", "path": A}).value.text == "alpha\n"
    assert GitFileMemory(place, SCOPE).execute({"command": "view", "path": A}).ok
    loose_path(place, pygit2.hash(BODIES[A])).unlink()
    assert memory.execute({"command": "view", "path": A}).error.code == "UNSAFE_STORAGE"


def test_removed_repository_is_no_empty_memory(place, store, tmp_path):
    """When the repository goes away under an open memory, nothing is concluded from the reference that is not there."""
    write_memory(store, SCOPE, BODIES)
    used, unused = GitFileMemory(place, SCOPE), GitFileMemory(place, SCOPE)
    assert used.execute({"command": "view", "path": A}).ok
    place.rename(tmp_path / "moved.git")
    for memory in (used, unused):
        answer = memory.execute({"command": "view", "path": A})
        assert (answer.error.code, answer.error.details) == ("STORAGE_ERROR", {"retryable": False})
        assert memory.execute({"command": "create", "path": A, "text": "x"}).error.code == "STORAGE_ERROR"
    assert not place.exists()
