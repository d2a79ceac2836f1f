"""File memories for tests: one that keeps a list of what it was asked, and one whose answers cannot be trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from oort_flows.files import InProcessFileMemory


def keep(memory: Any, **texts: str) -> None:
    """Write files by name; ``__`` stands for a slash and ``.md`` is added."""
    for name, text in texts.items():
        assert memory.execute({"command": "create", "path": path(name), "text": text}).ok


def path(name: str) -> str:
    return f"/memories/{name.replace('__', '/')}.md"


def text_of(memory: Any, where: str) -> str | None:
    seen = memory.execute({"command": "view", "path": where})
    return seen.value.text if seen.ok and seen.value.kind == "file" else None


class Listening:
    """A real memory behind a bare port that notes each command; ``before`` runs ahead of the one it is given for."""

    def __init__(self, scope: str = "tests", inner: Any = None) -> None:
        self.inner = inner or InProcessFileMemory(scope)
        self.asked: list[tuple[str, str]] = []
        self.before: dict[tuple[str, str], Callable[[], object]] = {}

    @property
    def scope(self) -> str:
        return str(self.inner.scope)

    def execute(self, command: Any) -> Any:
        key = (command["command"], command["path"])
        self.asked.append(key)
        if key in self.before:
            self.before.pop(key)()
        return self.inner.execute(command)

    async def aexecute(self, command: Any) -> Any:
        return self.execute(command)

    def viewed(self) -> list[str]:
        return [where for name, where in self.asked if name == "view"]


class Hostile(Listening):
    """
    A memory that lies: for some paths it gives the answer it was told to, or raises it.

    An answer is a mapping, as no honest port of ours gives; so a mapping has to be understood and its content distrusted.
    """

    def __init__(self, lies: Mapping[tuple[str, str], Any], inner: Any = None) -> None:
        super().__init__(inner=inner)
        self.lies = lies

    def execute(self, command: Any) -> Any:
        honest = super().execute(command)
        lie = self.lies.get((command["command"], command["path"]), honest)
        if isinstance(lie, BaseException):
            raise lie
        return lie(honest) if callable(lie) else lie


class Unreadable:
    """An answer whose every attribute raises."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("do not look at me")


def good_file(where: str, text: Any = "x", digest: Any = "0" * 64, **others: Any) -> dict[str, Any]:
    return {"ok": True, "value": {"kind": "file", "path": where, "text": text, "digest": digest, **others}}


def good_directory(where: str, *entries: Any) -> dict[str, Any]:
    return {"ok": True, "value": {"kind": "directory", "path": where, "entries": list(entries)}}


def entry(where: str, kind: str = "file", name: str | None = None) -> dict[str, str]:
    return {"name": where.rpartition("/")[2] if name is None else name, "path": where, "kind": kind}


def refusal(code: Any, where: Any = None, message: Any = "no", **details: Any) -> dict[str, Any]:
    error = {"code": code, "message": message, "path": where, "details": details or None}
    return {"ok": False, "error": error}


# Answers to "view /memories/a.md" that no one may believe, by what is wrong with them.
A = "/memories/a.md"
NONSENSE: dict[str, Any] = {
    "none": None,
    "text": "ok",
    "empty mapping": {},
    "neither success nor failure": {"ok": 1},
    "no value": {"ok": True},
    "another path": good_file("/memories/b.md"),
    "path of a child": good_file("/memories/a.md/b.md"),
    "another kind": {"ok": True, "value": {"kind": "link", "path": A}},
    "no text": {"ok": True, "value": {"kind": "file", "path": A, "digest": "0" * 64}},
    "bytes as text": good_file(A, b"x"),
    "half a surrogate pair": good_file(A, "\ud800"),
    "no digest": good_file(A, digest=None),
    "short digest": good_file(A, digest="abc"),
    "error without code": {"ok": False, "error": {"message": "no"}},
    "unknown code": refusal("TEAPOT"),
    "error without message": refusal("NOT_FOUND", message=None),
    "not found, elsewhere": refusal("NOT_FOUND", "/memories/b.md"),
    "failure without error": {"ok": False},
    "unreadable": Unreadable(),
    "details of nonsense": refusal("NOT_FOUND", A, details=object()),
    "exception": RuntimeError("secret path /root"),
}
# The same for "view /memories/d", a directory.
D = "/memories/d"
NONSENSE_ENTRIES: dict[str, Any] = {
    "no list": {"ok": True, "value": {"kind": "directory", "path": D, "entries": "abc"}},
    "no entries": {"ok": True, "value": {"kind": "directory", "path": D}},
    "an entry of None": good_directory(D, None),
    "an entry without path": good_directory(D, {"name": "x.md", "kind": "file"}),
    "an entry of another kind": good_directory(D, entry(f"{D}/x.md", "link")),
    "an entry twice": good_directory(D, entry(f"{D}/x.md"), entry(f"{D}/x.md")),
    "a file and directory in one": good_directory(D, entry(f"{D}/x"), entry(f"{D}/x", "directory")),
    "outside of its parent": good_directory(D, entry("/memories/x.md")),
    "beside its parent": good_directory(D, entry("/memories/dx.md")),
    "deeper than its parent": good_directory(D, entry(f"{D}/e/x.md", name="e/x.md")),
    "a name that is not in the path": good_directory(D, entry(f"{D}/x.md", name="y.md")),
    "the directory itself": good_directory(D, entry(D, "directory")),
    "dots": good_directory(D, entry(f"{D}/..", "directory")),
    "a line break in the name": good_directory(D, entry(f"{D}/x\n## y.md")),
    "half a surrogate pair in the name": good_directory(D, entry(f"{D}/\ud800")),
}
