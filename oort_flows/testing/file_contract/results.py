"""
Answers and spellings: what a caller sees, and how a caller may ask.
"""

from __future__ import annotations

from collections import ChainMap, OrderedDict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from oort_flows.models.commands import Create, Delete, Insert, Rename, StrReplace, View
from oort_flows.models.limits import Limits
from oort_flows.ports import FileMemory
from oort_flows.testing.file_contract.answers import plain_camel
from oort_flows.testing.file_contract.commands import ROOT, M, create, delete, insert, rename, str_replace, view
from oort_flows.testing.file_contract.place import FileMemoryPlace, sha

__all__ = ["ResultRules", "SpellingRules"]

FILE, OTHER = M + "f.md", M + "g.md"
TEXT = "one\ntwo\n"
SENTINEL = "S3ntinel-7f1c-content"
LONG = M + "x" * 2_000


class ResultRules(FileMemoryPlace):
    """Answers are plain data in two spellings."""

    def test_memory_satisfies_the_protocol(self) -> None:
        """A file memory has a scope and the two ways to carry out a command."""
        memory = self.memory()
        assert isinstance(memory, FileMemory)
        assert memory.scope == self.scope

    def test_successes_are_shown_in_camel_case_by_alias(self) -> None:
        """Every value has both spellings of its keys."""
        memory = self.memory({FILE: TEXT}, Limits(max_files=1))

        def camel(command: dict[str, Any]) -> Any:
            return plain_camel(memory.execute(command))

        assert camel(view(FILE, view_range=[1, 1])) == {
            "ok": True,
            "command": "view",
            "value": {
                "kind": "file",
                "path": FILE,
                "text": "one\n",
                "byteLength": 4,
                "lines": {"start": 1, "end": 1, "total": 2},
                "digest": sha(TEXT),
            },
        }
        assert camel(view(ROOT))["value"] == {
            "kind": "directory",
            "path": ROOT,
            "entries": [{"name": "f.md", "path": FILE, "kind": "file"}],
        }
        assert camel(str_replace(FILE, "two", "2"))["value"] == {
            "path": FILE,
            "byteLength": 6,
            "digest": sha("one\n2\n"),
            "evicted": [],
        }
        assert camel(insert(FILE, 2, "3"))["value"] == {
            "path": FILE,
            "byteLength": 8,
            "digest": sha("one\n2\n3\n"),
            "evicted": [],
        }
        assert camel(create(OTHER, "g"))["value"] == {
            "path": OTHER,
            "byteLength": 1,
            "digest": sha("g"),
            "overwritten": False,
            "evicted": [FILE],
        }
        assert camel(rename(OTHER, FILE))["value"] == {"oldPath": OTHER, "newPath": FILE, "kind": "file", "movedFiles": 1}
        assert camel(delete(FILE)) == {
            "ok": True,
            "command": "delete",
            "value": {"path": FILE, "kind": "file", "deletedFiles": 1, "freedBytes": 1},
        }

    @pytest.mark.parametrize(
        ("command", "code", "path", "details"),
        [
            (view(LONG), "INVALID_PATH", LONG, {"maxBytes": 1_024}),
            (view(FILE, view_range=[9, 9]), "INVALID_RANGE", FILE, {"totalLines": 2}),
            (insert(FILE, 9, "x"), "INVALID_RANGE", FILE, {"maxInsertLine": 2}),
            (create(FILE, "x" * 11), "LIMIT_EXCEEDED", FILE, {"byteLength": 11, "maxFileBytes": 10, "maxTotalBytes": 20}),
            (delete(FILE, if_match="0" * 64), "CONFLICT", FILE, {"reason": "if_match", "digest": sha(TEXT)}),
            (rename(M + "d", M + "d/e"), "CONFLICT", M + "d/e", {"reason": "into_itself"}),
            (view(M + "no.md"), "NOT_FOUND", M + "no.md", None),
            (view(5), "INVALID_ARGUMENT", None, None),
        ],
    )
    def test_failures_are_shown_in_camel_case_by_alias(
        self, command: dict[str, Any], code: str, path: str | None, details: dict[str, object] | None
    ) -> None:
        """Keys of the details are spelled like all others; what is absent is left out, never null."""
        memory = self.memory({FILE: TEXT, M + "d/x.md": ""}, Limits(max_file_bytes=10, max_total_bytes=20))
        answer = plain_camel(memory.execute(command))
        assert answer["error"].pop("message")
        expected = {"code": code, "path": path, "details": details}
        assert answer == {
            "ok": False,
            "command": command["command"],
            "error": {key: value for key, value in expected.items() if value is not None},
        }

    def test_error_repeats_neither_content_nor_old_text_nor_host_paths(self) -> None:
        """Whatever is refused, no text of the caller and none that is stored comes back."""
        stored = f"{SENTINEL}-stored and {SENTINEL}-stored"
        memory = self.memory({FILE: stored, M + "d/x.md": stored}, Limits(max_file_bytes=200, max_total_bytes=500))
        refused = [
            create(FILE, SENTINEL * 20),
            create(FILE, SENTINEL, if_match="0" * 64),
            create(FILE, SENTINEL, if_match=SENTINEL),
            create(FILE, SENTINEL + "\ud800"),
            create(FILE + "/x.md", SENTINEL),
            create(M + "d", SENTINEL),
            create(M + "x.ts", SENTINEL),
            create(ROOT, SENTINEL),
            str_replace(FILE, SENTINEL + " nowhere", SENTINEL),
            str_replace(FILE, SENTINEL, SENTINEL),
            str_replace(M + "d", SENTINEL, SENTINEL),
            str_replace(FILE, [SENTINEL], {SENTINEL: SENTINEL}),
            insert(FILE, 99, SENTINEL),
            insert(FILE, SENTINEL, SENTINEL),
            insert(FILE, 0, [SENTINEL]),
            view(FILE, view_range=[SENTINEL, SENTINEL]),
            view(FILE, view_range=[7, 9]),
            view([SENTINEL]),
            {"command": [SENTINEL], "path": SENTINEL},
            [SENTINEL],
            SENTINEL,
        ]
        for command in refused:
            answer = self.answer(memory, command)
            assert not answer["ok"]
            assert SENTINEL not in str(answer)

    def test_message_of_an_invalid_path_does_not_quote_it(self) -> None:
        """The path stands in its own field; the message says what is wrong with it."""
        answer = self.answer(self.memory(), view("/home/somebody/" + SENTINEL))
        assert answer["error"]["path"] == "/home/somebody/" + SENTINEL
        assert SENTINEL not in answer["error"]["message"]


class SpellingRules(FileMemoryPlace):
    """Three sets of names are understood, and our models."""

    @pytest.mark.parametrize(
        ("spelled", "ours"),
        [
            ({"command": "view", "path": FILE, "viewRange": [2, 2]}, view(FILE, view_range=[2, 2])),
            ({"command": "create", "path": FILE, "file_text": "new"}, create(FILE, "new")),
            ({"command": "create", "path": FILE, "text": "new", "ifMatch": "0" * 64},
            create(FILE, "new", if_match="0" * 64)),
            ({"command": "str_replace", "path": FILE, "oldText": "one", "newText": "1"}, str_replace(FILE, "one", "1")),
            ({"command": "str_replace", "path": FILE, "old_str": "one", "new_str": "1"}, str_replace(FILE, "one", "1")),
            ({"command": "str_replace", "path": FILE, "old_text": "one", "new_str": "1"}, str_replace(FILE, "one", "1")),
            ({"command": "insert", "path": FILE, "insertLine": 1, "text": "x"}, insert(FILE, 1, "x")),
            ({"command": "insert", "path": FILE, "insert_line": 1, "insert_text": "x"}, insert(FILE, 1, "x")),
            ({"command": "delete", "path": FILE, "ifMatch": sha(TEXT)}, delete(FILE, if_match=sha(TEXT))),
            ({"command": "rename", "oldPath": FILE, "newPath": OTHER}, rename(FILE, OTHER)),
            ({"command": "rename", "old_path": FILE, "newPath": OTHER, "ifMatch": "x"}, rename(FILE, OTHER, if_match="x")),
            # The leftmost spelling wins, whatever it holds; an optional field given as None is not there.
            ({"command": "view", "path": FILE, "view_range": [1, 1], "viewRange": [2, 2]}, view(FILE, view_range=[1, 1])),
            ({"command": "view", "path": FILE, "view_range": None, "viewRange": [2, 2]}, view(FILE, view_range=[2, 2])),
            ({"command": "create", "path": FILE, "text": "ours", "file_text": "theirs"}, create(FILE, "ours")),
            ({"command": "create", "path": FILE, "text": None, "file_text": "theirs"}, create(FILE, None)),
            ({"command": "create", "path": FILE, "text": "", "file_text": "theirs"}, create(FILE, "")),
            ({**str_replace(FILE, "one", "1"), "oldText": "two", "newText": "2", "old_str": "no", "new_str": "no"},
             str_replace(FILE, "one", "1")),
            ({"command": "str_replace", "path": FILE, "oldText": "two", "newText": "2", "old_str": "no", "new_str": "no"},
             str_replace(FILE, "two", "2")),
            ({**insert(FILE, 0, "ours"), "insertLine": 1, "insert_text": "theirs"}, insert(FILE, 0, "ours")),
            ({**insert(FILE, None, "ours"), "insertLine": 1}, insert(FILE, None, "ours")),
            ({**delete(FILE), "if_match": None, "ifMatch": "0" * 64}, delete(FILE, if_match="0" * 64)),
            ({**delete(FILE), "if_match": sha(TEXT), "ifMatch": "0" * 64}, delete(FILE, if_match=sha(TEXT))),
            ({**rename(FILE, OTHER), "oldPath": M + "no.md", "newPath": M + "h.md"}, rename(FILE, OTHER)),
            # A name of another command's field is a field nobody knows.
            ({"command": "insert", "path": FILE, "insert_line": 0, "file_text": "x"}, insert(FILE, 0, None)),
            ({"command": "create", "path": FILE, "insert_text": "x"}, create(FILE, None)),
            ({**view(FILE), "nobody": 1, "knows": None, "text": "x"}, view(FILE)),
            (dict([*view(FILE).items(), (5, 6), (None, 7), (("a",), {})]), view(FILE)),
            ({"command": "delete", "path": FILE, "old_path": OTHER, "recursive": True}, delete(FILE)),
        ],
    )  # fmt: skip
    def test_spelling_of_fields_makes_no_difference(self, spelled: dict[Any, Any], ours: dict[str, Any]) -> None:
        """A command in any spelling is answered, and does, what it would in ours."""
        self.seed("ours", {FILE: TEXT})
        expected = self.answer(self.open_memory("ours"), ours)
        assert self.answer(self.memory({FILE: TEXT}), spelled) == expected
        assert self.peek(self.scope) == self.peek("ours")

    @pytest.mark.parametrize(
        ("model", "ours"),
        [
            (View(path=ROOT), view(ROOT)),
            (View(path=FILE, view_range=[1, 1]), view(FILE, view_range=[1, 1])),
            (View(path=FILE, view_range=(2, -1)), view(FILE, view_range=[2, -1])),
            (Create(path=OTHER, text="g"), create(OTHER, "g")),
            (Create(path=FILE, text="g", if_match="absent"), create(FILE, "g", if_match="absent")),
            (StrReplace(path=FILE, old_text="one", new_text="1"), str_replace(FILE, "one", "1")),
            (Insert(path=FILE, insert_line=1, text="x"), insert(FILE, 1, "x")),
            (Insert(path=FILE, insert_line=-1, text="x"), insert(FILE, -1, "x")),
            (Delete(path=FILE, if_match=sha(TEXT)), delete(FILE, if_match=sha(TEXT))),
            (Delete(path="/etc/passwd"), delete("/etc/passwd")),
            (Rename(old_path=FILE, new_path=OTHER), rename(FILE, OTHER)),
            (Rename(old_path=FILE, new_path=OTHER, if_match="0" * 64), rename(FILE, OTHER, if_match="0" * 64)),
            (Create.model_validate({"path": OTHER, "file_text": "g", "ifMatch": "absent"}),
            create(OTHER, "g", if_match="absent")),
            (Rename.model_validate({"oldPath": FILE, "newPath": OTHER}), rename(FILE, OTHER)),
            (View.model_construct(path=5), view(5)),
            (Create.model_construct(path=FILE, text=b"x"), create(FILE, b"x")),
        ],
    )  # fmt: skip
    def test_model_is_answered_as_the_mapping_is(self, model: object, ours: dict[str, Any]) -> None:
        """Commands may be built or written down; every rule is checked again."""
        self.seed("ours", {FILE: TEXT})
        expected = self.answer(self.open_memory("ours"), ours)
        assert self.answer(self.memory({FILE: TEXT}), model) == expected
        assert self.peek(self.scope) == self.peek("ours")

    @pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType, ChainMap])
    def test_any_mapping_will_do(self, kind: Any) -> None:
        """A command need not be a ``dict``."""
        mapping: Mapping[str, Any] = kind(create(FILE, "text"))
        self.succeed(self.memory(), mapping)
        assert self.peek(self.scope) == {FILE: b"text"}

    @pytest.mark.parametrize(
        ("command", "name"),
        [
            ({"command": "write", "path": FILE, "text": "x"}, "write"),
            ({"command": "VIEW", "path": FILE}, "VIEW"),
            ({"command": "view ", "path": FILE}, "view "),
            ({"command": ""}, ""),
            ({"command": "\ud800view\udfff"}, "\ufffdview\ufffd"),
            ({"command": "étude \U0001f9e0"}, "étude \U0001f9e0"),
            ({"command": "unknown"}, "unknown"),
            (None, "unknown"),
            ([], "unknown"),
            ([("command", "view"), ("path", ROOT)], "unknown"),
            ("view", "unknown"),
            (b'{"command": "view"}', "unknown"),
            (5, "unknown"),
            (1.5, "unknown"),
            (float("nan"), "unknown"),
            (True, "unknown"),
            (object(), "unknown"),
            (View, "unknown"),
            (Limits(), "unknown"),
            ({}, "unknown"),
            ({"path": FILE}, "unknown"),
            ({"command": None, "path": FILE}, "unknown"),
            ({"command": 5, "path": FILE}, "unknown"),
            ({"command": b"view", "path": FILE}, "unknown"),
            ({"command": ["view"], "path": FILE}, "unknown"),
            ({"Command": "view", "path": FILE}, "unknown"),
        ],
    )
    def test_unknown_command_is_invalid_and_named_where_it_has_a_name(self, command: object, name: str) -> None:
        """The answer repeats the name that was given, and says ``unknown`` where there was none."""
        memory = self.memory({FILE: TEXT})
        answer = self.answer(memory, command)
        assert answer["error"].pop("message")
        assert answer == {"ok": False, "command": name, "error": {"code": "INVALID_COMMAND"}}
        assert self.peek(self.scope) == {FILE: TEXT.encode()}
