"""The type stubs agree with the compiled module, with the rest of the package, and with what a program sees."""

from __future__ import annotations

import configparser
import importlib.util
import os
import re
import subprocess
import sys
import types
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gardenpath

pytest.importorskip("mypy")

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "python"

# Files of the package that can only be checked if an optional library is installed.
EXTENSIONS = {"gardenpath.learner": "sklearn", "gardenpath.torch": "torch"}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where mypy runs, with its own cache and settings."""
    directory = tmp_path_factory.mktemp("mypy")
    settings = configparser.ConfigParser()
    settings["mypy"] = {"strict": "True"}
    for module, library in EXTENSIONS.items():
        if importlib.util.find_spec(library) is None:
            settings[f"mypy-{module}.*"] = {"ignore_errors": "True"}
    with (directory / "mypy.ini").open("w") as file:
        settings.write(file)
    return directory


def run(directory: Path, *arguments: object) -> tuple[int, str]:
    """Runs a module of mypy; returns its exit code and output."""
    command = [sys.executable, "-m", *map(str, arguments)]
    environment = {**os.environ, "MYPYPATH": str(SOURCES)}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, f"{done.stdout}\n{done.stderr}"


def check(directory: Path, *arguments: object) -> None:
    """Runs a module of mypy, which must report nothing."""
    code, said = run(directory, *arguments)
    assert code == 0, said


def test_the_package_is_free_of_type_errors(directory: Path) -> None:
    check(directory, "mypy", "--config-file", "mypy.ini", "--package", "gardenpath")


def test_a_program_sees_the_types_that_it_expects(directory: Path) -> None:
    check(directory, "mypy", "--config-file", "mypy.ini", HERE / "typed_user.py")


def test_the_stubs_agree_with_the_compiled_module(directory: Path) -> None:
    check(directory, "mypy.stubtest", "--mypy-config-file", "mypy.ini", "gardenpath._core", "gardenpath.theory")


MISUSES = [
    "gardenpath.Corpus(np.zeros((2, 3)))",
    "grammar.inside([0, 1, 2])",
    "grammar.best_tree(0)",
    "gardenpath.learn(corpus, 2, mode='quick')",
    "gardenpath.learn(corpus, 2, progress=print, alignment='sine')",
    "corpus.padded(0, 'float32')",
    "corpus.padded(dtype='uint8')",
    "corpus['first']",
    "gardenpath.snr(4, 2).inverse('median')",
    "gardenpath.Experiment.parse('').cells(3)",
    "grammar.best_tree([0, 1]).root",
    "grammar.depth = 3",
    "key: Hashable = corpus",
    "class Mine(gardenpath.Grammar): ...",
    "gardenpath.Moments(corpus) + 1",
    "gardenpath.theory.splits(6)",
]


def test_misuse_is_a_type_error(directory: Path) -> None:
    preparation = [
        "from collections.abc import Hashable",
        "import numpy as np",
        "import gardenpath",
        "grammar = gardenpath.Grammar.sample(4, 2)",
        "corpus = grammar.corpus(5)",
    ]
    (directory / "misuse.py").write_text("\n".join(preparation + MISUSES) + "\n")
    code, said = run(directory, "mypy", "--config-file", "mypy.ini", "misuse.py")
    assert code == 1
    wrong = {int(line) for line in re.findall(r"^misuse\.py:(\d+): error", said, re.MULTILINE)}
    assert wrong == set(range(len(preparation) + 1, len(preparation) + len(MISUSES) + 1)), said


def conforms(value: object, expected: Any) -> bool:
    """Whether a value has a type, including element types and array dtypes."""
    origin, arguments = typing.get_origin(expected), typing.get_args(expected)
    if expected is Any:
        return True
    if expected is None:
        return value is None
    if origin is None:
        # In Python a bool is a number, but not here.
        return isinstance(value, expected) and isinstance(value, bool) == (expected is bool)
    if origin is typing.Literal:
        return value in arguments
    if origin in (typing.Union, types.UnionType):
        return any(conforms(value, argument) for argument in arguments)
    if not isinstance(value, origin):
        return False
    if origin is np.ndarray:
        (scalar,) = typing.get_args(arguments[1])
        return bool(value.dtype.type is scalar)
    if origin is list:
        return all(conforms(item, arguments[0]) for item in value)
    if origin is dict:
        return all(conforms(key, arguments[0]) and conforms(item, arguments[1]) for key, item in value.items())
    if origin is tuple and arguments[1:] != (Ellipsis,):
        return len(value) == len(arguments) and all(map(conforms, value, arguments))
    if origin is tuple:
        return all(conforms(item, arguments[0]) for item in value)
    raise TypeError(f"{expected} is a type that this function does not know")


def test_values_are_of_the_types_that_the_stubs_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    import typed_user

    checked = 0

    def look(value: object, expected: Any) -> None:
        nonlocal checked
        checked += 1
        assert conforms(value, expected), f"{value!r} is a {type(value)}, expected {expected}"

    monkeypatch.setattr(typed_user, "assert_type", look)
    typed_user.main()
    assert checked > 100


def test_a_value_of_another_type_would_be_noticed() -> None:
    assert not conforms(np.zeros(3), np.typing.NDArray[np.float32])
    assert not conforms((1.0, None), tuple[float, float])
    assert not conforms([1, "2"], list[int])
    assert not conforms(True, int)
    assert not conforms(None, float)
    assert not conforms("lost", typing.Literal["done", "failed"])
