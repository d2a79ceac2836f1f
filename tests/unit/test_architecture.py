"""The house rules that a machine can see: who imports whom, what stays free of Prefect, what ships."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import oort_flows

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "oort_flows"

# Lowest first. A module may import from its own layer and from those below.
LAYERS: list[set[str]] = [
    {"errors", "models", "scrubbing", "config", "calling", "git"},
    {"ports"},
    {"files", "storage"},
    {"mechanics", "engine"},
    {"ledger"},
    {"identity", "context"},
    {"worktrees"},
    {"runtime", "blocks", "artifacts", "tasks", "settings"},
    {"flows", "demo"},
    {"cli", "mcp", "__main__"},
]
FREE_OF_PREFECT = {name for layer in LAYERS[:7] for name in layer} | {"__init__", "testing"}
# The one place where the step's memory reaches Prefect, when there is one.
EXCEPTIONS = {("context", "runtime")}


def modules() -> Iterator[tuple[Path, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        yield path, relative.parts[0].removesuffix(".py")


def imports_of(path: Path) -> Iterator[tuple[str, bool]]:
    """Every absolute module that *path* imports, and whether it does so only for the type checker."""
    tree = ast.parse(path.read_text())
    for_checker = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in for_checker
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "oort_flows":
                for alias in node.names:  # a noun of the root counts as the module that it comes from
                    yield f"oort_flows.{oort_flows._HOMES.get(alias.name, alias.name)}", id(node) in for_checker
            else:
                yield node.module or "", id(node) in for_checker


def layer_of(name: str) -> int:
    return next(i for i, layer in enumerate(LAYERS) if name in layer)


def test_every_module_has_a_layer() -> None:
    """Each module and package below oort_flows stands in the table of layers."""
    known = {name for layer in LAYERS for name in layer} | {"__init__", "testing"}
    assert {name for _, name in modules()} <= known


def test_imports_go_one_way() -> None:
    """No module imports from a layer above its own, and nothing but the tests imports the testing package."""
    wrong = []
    for path, name in modules():
        for imported, checker_only in imports_of(path):
            if not imported.startswith("oort_flows.") or checker_only:
                continue
            target = imported.split(".")[1]
            if target == "__version__":
                continue
            if target == "testing":
                if name != "testing":
                    wrong.append(f"{name} imports testing")
            elif (
                name not in ("testing", "__init__")
                and (name, target) not in EXCEPTIONS
                and layer_of(target) > layer_of(name)
            ):
                wrong.append(f"{name} imports {target}")
    assert wrong == []


def test_the_core_does_not_name_prefect() -> None:
    """No module up to the work trees imports Prefect, not even inside a function."""
    wrong = [
        f"{path.relative_to(ROOT)} imports {imported}"
        for path, name in modules()
        if name in FREE_OF_PREFECT
        for imported, _ in imports_of(path)
        if imported.split(".")[0].startswith("prefect")
    ]
    assert wrong == []


def test_private_parts_of_prefect_are_not_used() -> None:
    """Nothing imports prefect._internal or its sync_compatible."""
    wrong = [
        f"{path.relative_to(ROOT)} imports {imported}"
        for path, _ in modules()
        for imported, _ in imports_of(path)
        if imported.startswith("prefect._internal")
    ]
    assert wrong == []
    assert not [path for path, _ in modules() if "sync_compatible" in path.read_text()]


@pytest.mark.parametrize(
    "statement",
    [
        "import oort_flows; oort_flows.memory_context; oort_flows.current_memory; oort_flows.isolated",
        "import oort_flows.files, oort_flows.mechanics, oort_flows.worktrees, oort_flows.context, oort_flows.testing",
    ],
)
def test_importing_the_core_does_not_load_prefect(statement: str) -> None:
    """A process that uses the core alone never pays for importing Prefect."""
    code = f"{statement}\nimport sys\nprint([m for m in sys.modules if m.split('.')[0] == 'prefect'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_root_offers_nouns_and_no_verbs() -> None:
    """The root names what a pipeline author needs; the verbs come from tasks and mechanics."""
    for name in oort_flows.__all__:
        assert getattr(oort_flows, name) is not None
    assert not {"ground", "curate", "consolidate", "pick", "observe", "recall"} & set(oort_flows.__all__)
    assert {"memory_context", "current_memory", "isolated", "GitMemory", "InProcessMemory"} <= set(oort_flows.__all__)
    assert set(oort_flows.__all__) <= set(dir(oort_flows))
    with pytest.raises(AttributeError):
        oort_flows.no_such_name  # noqa: B018


def test_no_module_is_called_after_nothing() -> None:
    """There is no utils, helpers or common module, and no TODO is left behind."""
    names = {path.stem for path, _ in modules()}
    assert not names & {"utils", "helpers", "common", "base"}


def test_no_folder_at_the_top_is_a_package_by_accident() -> None:
    """Only the library and the tests are importable; documents and deployments are not packages."""
    for folder in ("blocks", "deployments", "examples"):
        assert not (ROOT / folder / "__init__.py").exists()


def test_the_wheel_holds_the_package_only(tmp_path: Path) -> None:
    """A built wheel ships oort_flows with py.typed, and nothing beside it."""
    import zipfile

    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"oort_flows"}
    assert "oort_flows/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_no_package_index_is_named() -> None:
    """Pinned versions are names, versions and markers; no file says where to download from."""
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert not line.startswith("-"), line
        assert "://" not in line, line
    assert not (ROOT / "uv.lock").exists() or "uv.lock" in (ROOT / ".gitignore").read_text()


def test_extras_cover_what_the_tests_need() -> None:
    """The extra called test brings everything that the suites import."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert any("all" in requirement for requirement in extras["test"])
    assert project["entry-points"]["prefect.collections"] == {"oort_flows": "oort_flows.blocks"}
