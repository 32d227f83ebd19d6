"""The examples in docstrings, of Python modules and of the compiled one, which doctest does not search itself."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Iterator
from types import GetSetDescriptorType, ModuleType

import pytest

import gardenpath
from gardenpath import _core, theory

# Modules that need an optional library.
OPTIONAL = {"gardenpath.learner": "sklearn", "gardenpath.torch": "torch"}

# With fewer examples than this, some were lost.
FLOOR = 35


def modules() -> Iterator[ModuleType]:
    """The modules of the package that can be imported here."""
    yield gardenpath
    for found in pkgutil.walk_packages(gardenpath.__path__, "gardenpath."):
        # Modules of a package that cannot be imported are not found.
        needed = OPTIONAL.get(found.name)
        if found.name != _core.__name__ and (needed is None or importlib.util.find_spec(needed) is not None):
            yield importlib.import_module(found.name)
    yield _core
    yield theory


def members(owner: object, name: str) -> Iterator[tuple[str, object]]:
    """The definitions of a module or class by full name, with the members of its classes."""
    for key, value in vars(owner).items():
        value = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        # The methods of a protocol are documented by the protocol.
        if key.startswith("_") or getattr(owner, "_is_protocol", False):
            continue
        if isinstance(owner, ModuleType) and not defines(owner, value):
            continue
        if callable(value) or isinstance(value, property | GetSetDescriptorType):
            yield f"{name}.{key}", value
        if isinstance(value, type):
            yield from members(value, f"{name}.{key}")


def defines(module: ModuleType, value: object) -> bool:
    """Whether an object was defined in a module, not imported by it."""
    return module in (_core, theory) or getattr(value, "__module__", None) == module.__name__ != "gardenpath"


def documented() -> dict[str, object]:
    """Everything that is public, by name."""
    found: dict[str, object] = {}
    for module in modules():
        name = "gardenpath.theory" if module is theory else module.__name__
        found[name] = module
        found.update(members(module, name))
    return found


PUBLIC = documented()


def examples() -> list[doctest.DocTest]:
    parser = doctest.DocTestParser()
    texts = {name: inspect.getdoc(value) or "" for name, value in PUBLIC.items()}
    # Without the names of the module: an example must work when pasted on its own.
    tests = [parser.get_doctest(text, {}, name, None, None) for name, text in texts.items()]
    return [test for test in tests if test.examples]


EXAMPLES = examples()


@pytest.mark.parametrize("example", EXAMPLES, ids=[test.name for test in EXAMPLES])
def test_an_example_prints_what_it_says(example: doctest.DocTest) -> None:
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    result = runner.run(example, out=said.append)
    assert result.failed == 0, "".join(said)
    assert result.attempted == len(example.examples)


def test_everything_public_has_a_docstring() -> None:
    # `getdoc` would find the docstring of a base class.
    assert [name for name, value in PUBLIC.items() if not value.__doc__] == []


def test_what_the_package_exports_is_among_it() -> None:
    known = {name.rpartition(".")[2] for name in PUBLIC}
    exported = set(gardenpath.__all__) - {"__version__", "UNKNOWN_ROOT"}
    assert exported - known == set()


def test_most_things_with_behaviour_have_an_example() -> None:
    assert len(EXAMPLES) >= FLOOR
    names = {test.name for test in EXAMPLES}
    classes = ["Grammar", "Corpus", "Tree", "Chart", "Moments", "ExpectedMoments", "BayesFloor", "Experiment"]
    functions = ["learn", "kmeans", "snr", "class_entropy", "fraction_for_entropy", "threads", "set_threads"]
    assert {f"gardenpath._core.{name}" for name in classes + functions} - names == set()
