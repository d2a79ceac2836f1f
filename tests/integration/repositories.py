"""A back door to memories in git repositories: written and read by pygit2 alone, and git run without its surroundings."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pygit2

FILE, EXECUTABLE, LINK, TREE, COMMIT = 0o100644, 0o100755, 0o120000, 0o40000, 0o160000
BLOB_KIND, TREE_KIND = pygit2.enums.ObjectType.BLOB, pygit2.enums.ObjectType.TREE


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without any GIT_* variable, and without the configuration of user and system."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return environment | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **more}


def git(repository, *arguments: str, feed: str | None = None, check: bool = True) -> str:
    """Run git in *repository* with an identity of its own, and return what it prints."""
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.invalid", "-c", "init.defaultBranch=main"]
    command = ["git", "-C", str(repository), *identity, *arguments]
    done = subprocess.run(command, input=feed, capture_output=True, text=True, env=clean_environment(), check=False)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout


def make_repository(path: Path, *, commit: bool = True, bare: bool = False) -> Path:
    """Make a repository at *path*, with one commit and one ignored file unless told otherwise."""
    path.mkdir(parents=True)
    git(path, "init", "-q", *(["--bare"] if bare else []))
    if commit and not bare:
        (path / "README.md").write_text("# A project\n")
        git(path, "add", ".")
        git(path, "commit", "-q", "-m", "first")
    return path


def digest(scope: str) -> str:
    return hashlib.sha256(scope.encode()).hexdigest()


def memory_reference(scope: str) -> str:
    return f"refs/oort/memory/v1/{digest(scope)}"


def tree_bytes(children: list[tuple[int, bytes | str, object]]) -> bytes:
    """Write a tree exactly as told, however wrong it is."""
    rows = [(mode, name.encode() if isinstance(name, str) else name, oid) for mode, name, oid in children]
    return b"".join(b"%o %s\0%s" % (mode, name, oid if isinstance(oid, bytes) else oid.raw) for mode, name, oid in rows)


def metadata_for(scope: str, sizes: dict[str, int], /, **changed) -> dict:
    """The metadata of files that were written in the order they are given."""
    metadata = {
        "format": 1,
        "scope": scope,
        "scope_digest": digest(scope),
        "last_write": len(sizes),
        "total_bytes": sum(sizes.values()),
        "entries": sorted(
            ({"path": path, "byte_length": size, "written": number} for number, (path, size) in enumerate(sizes.items(), 1)),
            key=lambda row: row["path"],
        ),
    }
    return metadata | changed


def write_files(repository: pygit2.Repository, bodies: dict[str, bytes]) -> pygit2.Oid:
    """Store the trees of *bodies*, whose keys are memory paths, and return the one of the root."""
    nested: dict = {}
    for path, body in bodies.items():
        *parents, name = path.split("/")[2:]
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
        place[name] = repository.write(BLOB_KIND, body)

    def store(children: dict) -> pygit2.Oid:
        builder = repository.TreeBuilder()
        for name, child in children.items():
            if isinstance(child, dict):
                builder.insert(name, store(child), TREE)
            else:
                builder.insert(name, child, FILE)
        return builder.write()

    return store(nested)


def write_root(repository: pygit2.Repository, metadata: dict | bytes, files: pygit2.Oid, *more) -> pygit2.Oid:
    body = metadata if isinstance(metadata, bytes) else json.dumps(metadata).encode()
    described = repository.write(BLOB_KIND, body)
    rows = sorted([(FILE, ".oort-memory.json", described), (TREE, "memories", files), *more], key=lambda row: row[1])
    return repository.write(TREE_KIND, tree_bytes(rows))


def write_memory(repository: pygit2.Repository, scope: str, bodies: dict[str, bytes], **changed) -> pygit2.Oid:
    """Let the reference of *scope* hold *bodies*, in the order of their stamps."""
    metadata = metadata_for(scope, {path: len(body) for path, body in bodies.items()}, **changed)
    root = write_root(repository, metadata, write_files(repository, bodies))
    repository.references.create(memory_reference(scope), root, force=True)
    return root


def read_memory(repository: pygit2.Repository, scope: str) -> tuple[dict, dict[str, bytes]]:
    """Return metadata and texts of *scope*, with every mode as it should be."""
    root = repository[repository.references[memory_reference(scope)].target]
    assert {entry.name: int(entry.filemode) for entry in root} == {".oort-memory.json": FILE, "memories": TREE}
    bodies: dict[str, bytes] = {}

    def walk(tree: pygit2.Tree, above: str) -> None:
        for entry in tree:
            if entry.type_str == "tree":
                assert int(entry.filemode) == TREE
                assert len(entry) > 0
                walk(entry, f"{above}/{entry.name}")
            else:
                assert int(entry.filemode) == FILE
                bodies[f"{above}/{entry.name}"] = entry.data

    walk(root["memories"], "/memories")
    return json.loads(root[".oort-memory.json"].data), bodies


def snapshot_of(place: Path) -> dict[str, bytes]:
    """Every file below *place* with its bytes."""
    return {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}
