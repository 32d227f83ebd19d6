"""The notebooks of examples/ run from top to bottom, and are stored with their outputs."""

import json
import os
import re
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import gardenpath

REPOSITORY = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((REPOSITORY / "examples").glob("*.ipynb"))

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)

# Home directories, and where interpreters install packages.
FOREIGN_PATH = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|usr|opt|var|mnt|private|Users)/|\b[A-Z]:\\\\|site-packages")


def read(path: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_there_are_notebooks() -> None:
    assert {"ambiguity", "learning"} <= {path.stem for path in NOTEBOOKS}


@each_notebook
def test_a_notebook_runs_without_errors(path: Path, tmp_path: Path) -> None:
    if "import torch" in path.read_text() and find_spec("torch") is None:
        pytest.skip("torch is not installed: pip install torch")
    # The kernel must import the package that is tested here, wherever that is.
    package = Path(gardenpath.__file__).resolve().parents[1]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])}
    resources = {"metadata": {"path": str(tmp_path)}}
    client = NotebookClient(read(path), timeout=300, kernel_name="python3", resources=resources)
    client.execute(env=environment)


@each_notebook
def test_a_notebook_is_kept_as_it_was_run_from_top_to_bottom(path: Path) -> None:
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert any("data" in output for output in outputs), "outputs are not stored"
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output.text for output in outputs if output.get("name") == "stderr"], "there are warnings"


@each_notebook
def test_a_notebook_does_not_tell_where_it_was_run(path: Path) -> None:
    notebook = read(path)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            # Encoded images may contain any letters.
            output.get("data", {}).pop("image/png", None)
        text = json.dumps(cell, ensure_ascii=False)
        assert not FOREIGN_PATH.search(text) and str(REPOSITORY) not in text, cell.id
        assert "execution" not in cell.metadata, "times are kept, which change with every run"
    assert notebook.metadata.kernelspec.name == "python3"
