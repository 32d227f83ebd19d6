"""Releases are consistent: versions, extras, and the files of continuous integration."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))

# Modules whose distribution has another name.
DISTRIBUTIONS = {"sklearn": "scikit-learn"}


def toml(path: str) -> dict[str, Any]:
    return tomllib.loads((REPOSITORY / path).read_text())


def yaml(path: Path) -> Any:
    return pytest.importorskip("yaml").safe_load(path.read_text())


def imported(source: Path) -> set[str]:
    """The top-level modules that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        match node:
            case ast.Import():
                names.update(alias.name for alias in node.names)
            case ast.ImportFrom(module=str(module), level=0):
                names.add(module)
            case ast.Call(func=ast.Name("import_module"), args=[ast.Constant(str(module))]):
                names.add(module)
    return {name.split(".")[0] for name in names}


def distribution(requirement: str) -> str:
    found = re.match(r"[\w-]+", requirement)
    assert found, requirement
    return found[0]


def test_every_import_is_a_dependency_or_an_extra() -> None:
    project = toml("pyproject.toml")["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    everything = extras.pop("all")
    offered = {distribution(r) for rs in [project["dependencies"], *extras.values()] for r in rs}
    sources = sorted((REPOSITORY / "python" / "gardenpath").rglob("*.py"))
    foreign = {name for source in sources for name in imported(source)} - sys.stdlib_module_names - {"gardenpath"}
    assert {"numpy", "pyarrow", "sklearn", "torch"} <= foreign
    assert {DISTRIBUTIONS.get(name, name) for name in foreign} <= offered
    assert everything == [f"gardenpath[{','.join(sorted(extras))}]"]


def test_there_is_one_version() -> None:
    workspace = toml("Cargo.toml")["workspace"]
    version, ours = workspace["package"]["version"], ("gardenpath", "gardenpath-cli", "gardenpath-lab", "gardenpath-nn", "gardenpath-plot")
    dependencies = workspace["dependencies"]
    assert {dependencies[name]["version"] for name in ours if name in dependencies} == {version}
    locked = {package["name"]: package["version"] for package in toml("Cargo.lock")["package"]}
    assert {locked[name] for name in (*ours, "gardenpath-py")} == {version}
    assert toml("pyproject.toml")["project"]["version"] == version
    assert yaml(REPOSITORY / "CITATION.cff")["version"] == version


def test_the_oldest_compiler_is_the_same_everywhere() -> None:
    oldest = toml("Cargo.toml")["workspace"]["package"]["rust-version"]
    assert toml("clippy.toml")["msrv"] == oldest
    steps = yaml(REPOSITORY / ".github/workflows/tests.yml")["jobs"]["oldest-compiler"]["steps"]
    assert f"cargo +{oldest} check" in steps[-1]["run"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_name_files_that_exist(path: Path) -> None:
    jobs = yaml(path)["jobs"]
    commands = "\n".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    assert commands.strip()
    for name in re.findall(r"(?:\./|tests/)[\w./-]+", commands):
        assert (REPOSITORY / name).is_file(), name
