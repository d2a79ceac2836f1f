"""The blocks, against a real server: registered, saved, loaded, refused."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from prefect import flow
from prefect.blocks.core import Block
from prefect.testing.standard_test_suites import BlockStandardTestSuite
from pydantic import ValidationError

from oort_flows import blocks
from oort_flows.blocks import GitMemory, InProcessMemory
from oort_flows.context import current_memory, memory_context
from oort_flows.errors import ConfigurationError
from oort_flows.files import Limits

OURS = [getattr(blocks, name) for name in blocks.__all__]

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.mark.parametrize("block", OURS)
class TestStandards(BlockStandardTestSuite):
    """Prefect's own suite for blocks, over each of ours."""

    @pytest.fixture
    def block(self, block: type[Block]) -> type[Block]:
        return block

    def test_has_a_valid_image(self, block: type[Block]) -> None:
        """Ours have no logo: the UI would fetch it from the network, and offline it is a broken image."""
        assert block._logo_url is None


def test_every_block_has_its_slug_and_a_required_field() -> None:
    """A block that may be a flow parameter needs a required field; its slug is the key on the server and never changes."""
    slugs = {block.__name__: block.get_block_type_slug() for block in OURS}
    assert slugs == {"GitMemory": "oort-git-memory", "InProcessMemory": "oort-in-process-memory"}
    for block in OURS:
        assert any(field.is_required() for field in block.model_fields.values())


def test_nothing_but_blocks_is_registered_from_the_module() -> None:
    """What `prefect block register -m oort_flows.blocks` finds is exactly what the module offers."""
    found = {
        value
        for value in vars(blocks).values()
        if isinstance(value, type) and issubclass(value, Block) and value is not Block
    }
    assert found == set(OURS)


def test_a_git_memory_survives_being_saved_and_loaded(repository: Path) -> None:
    """What was written through one document is read through the loaded one, with its limits."""
    GitMemory(repository=str(repository), limits=Limits(max_files=7)).save("roundtrip", overwrite=True)
    loaded = GitMemory.load("roundtrip", _sync=True)
    memory = loaded.open("project:p")
    assert memory.execute({"command": "create", "path": "/memories/a.md", "text": "kept"}).ok
    again = GitMemory(repository=str(repository)).open("project:p")
    assert again.execute({"command": "view", "path": "/memories/a.md"}).ok
    assert loaded.limits == Limits(max_files=7)


def test_a_loaded_block_works_inside_a_flow(repository: Path) -> None:
    """The documented two lines: load, and enter."""
    GitMemory(repository=str(repository)).save("in-flow", overwrite=True)

    @flow
    def remembers() -> str:
        with memory_context(files=GitMemory.load("in-flow"), project="billing"):
            return current_memory().files.scope

    @flow
    def by_name() -> str:
        with memory_context(files="oort-git-memory/in-flow", project="billing"):
            return current_memory().files.scope

    assert remembers() == by_name() == "project:billing"


def test_a_block_is_a_flow_parameter(repository: Path) -> None:
    """A flow takes the block itself; the server stores a reference to the saved document."""
    block = GitMemory(repository=str(repository))
    block.save("as-parameter", overwrite=True)

    @flow
    def takes(memory: GitMemory) -> str:
        with memory_context(files=memory, project="billing"):
            return current_memory().files.scope

    assert takes(GitMemory.load("as-parameter", _sync=True)) == "project:billing"


@pytest.mark.parametrize("name", ["oort-git-memory/nowhere", "no-such-slug/main", "main", "a/b/c", "secret/x"])
def test_a_name_that_leads_nowhere_is_a_configuration_error(name: str) -> None:
    """The message says what was expected."""
    with pytest.raises(ConfigurationError, match="files"), memory_context(files=name, project="p"):
        pass


def test_a_block_that_is_no_memory_is_refused() -> None:
    """Any saved block can be named; only one that opens a file memory is taken."""
    from prefect.blocks.system import Secret

    Secret(value="hunter2").save("not-a-memory", overwrite=True)
    with pytest.raises(ConfigurationError, match="opens no file memory"), memory_context(files="secret/not-a-memory"):
        pass


def test_a_misspelt_field_is_refused() -> None:
    """Prefect's blocks would keep it in silence."""
    with pytest.raises(ValidationError, match="pathh"):
        GitMemory(repository=".", pathh="x")  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        GitMemory()  # type: ignore[call-arg]


def test_bad_settings_are_refused_where_they_are_written() -> None:
    """Limits of zero, and empty names, never reach the server."""
    for wrong in ({"repository": ""}, {"repository": ".", "limits": {"max_files": "many"}}):
        with pytest.raises(ValidationError):
            GitMemory(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="max_files"):
        GitMemory(repository=".", limits={"max_files": 0})  # type: ignore[arg-type]


def test_a_repository_that_is_none_is_reported_when_it_is_opened(tmp_path: Path) -> None:
    """A block can be written on a machine that does not have the repository."""
    block = GitMemory(repository=str(tmp_path / "nowhere"))
    with pytest.raises(ConfigurationError):
        block.open("project:p")


def test_in_process_blocks_of_one_name_share_their_memory() -> None:
    """Scopes and names keep apart; threads share."""
    InProcessMemory(name="shared").open("s").execute({"command": "create", "path": "/memories/a.md", "text": "x"})

    def finds(name: str, scope: str) -> bool:
        return InProcessMemory(name=name).open(scope).execute({"command": "view", "path": "/memories/a.md"}).ok

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(finds, "shared", "s").result() is True
    assert not finds("other", "s")
    assert not finds("shared", "t")


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda b: b.model_copy(deep=True), lambda b: pickle.loads(pickle.dumps(b))]
)
def test_a_block_that_has_been_opened_can_be_copied_and_sent(copied: object, repository: Path) -> None:
    """No handle or lock lives in it."""
    block = GitMemory(repository=str(repository))
    block.open("project:p")
    other = copied(block)  # type: ignore[operator]
    assert other.open("project:p").scope == "project:p"
