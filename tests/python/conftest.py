"""Small grammars of several shapes, and everything they derive.

The package must be importable: install it, or name its directory in PYTHONPATH.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from brute_force import Language

import gardenpath
from gardenpath import Grammar

# Levels of two, three and four symbols, custom names, and a non-uniform prior and rules.
GARDEN_PATH = """
Sentence -> Statement [0.75] | Fragment [0.25]
Statement -> Noun Verb [0.5] | Noun Verb Noun [0.5]
Fragment -> Noun Noun [0.25] | Verb Noun [0.5] | Noun Place Noun [0.25]
Noun -> 'the' 'old' [0.5] | 'the' 'boats' [0.25] | 'the' 'old' 'man' [0.25]
Verb -> 'man' 'the' 'boats' [0.4] | 'boats' 'man' [0.6]
Place -> 'old' 'boats' [0.5] | 'the' 'old' 'boats' [0.5]
"""

# All can be enumerated. Names say what is special.
SHAPES = {
    "every tuple is grammatical": Grammar.sample(2, 2, fraction=1.0, seed=1),
    "two thirds of the tuples": Grammar.sample(3, 2, fraction=2 / 3, seed=2),
    "frequent and rare rules": Grammar.sample(3, 2, fraction=0.4, seed=3, p_binary=0.3, zipf=1.0),
    "binary only": Grammar.sample(2, 3, fraction=1.0, seed=4, p_binary=1.0),
    "ternary only": Grammar.sample(2, 2, fraction=0.5, seed=5, p_binary=0.0),
    "depth 1": Grammar.sample(4, 1, fraction=0.5, seed=6),
    "garden path": Grammar.from_text(GARDEN_PATH),
}


@pytest.fixture(scope="session", params=SHAPES.values(), ids=list(SHAPES))
def language(request: pytest.FixtureRequest) -> Language:
    """A grammar with all its derivations."""
    return Language(request.param)


@pytest.fixture(scope="session")
def grammar(language: Language) -> Grammar:
    """The grammar of `language`."""
    return language.grammar


@pytest.fixture(scope="session")
def garden_path() -> Grammar:
    """*The old man the boats* has two trees with different roots."""
    return SHAPES["garden path"]


@pytest.fixture(scope="session")
def deep() -> Grammar:
    """A grammar that is too large to enumerate."""
    return Grammar.sample(4, 3, fraction=0.5, seed=7)


@pytest.fixture(autouse=True)
def same_threads() -> Iterator[None]:
    """Restores the number of threads after each test."""
    before = gardenpath.threads()
    yield
    gardenpath.set_threads(before)


@pytest.fixture(scope="session")
def program() -> Callable[..., str]:
    """Runs the program and returns its output; callers that expect a failure say so."""
    target = os.environ.get("CARGO_TARGET_DIR", Path(__file__).resolve().parents[2] / "target")
    path = Path(target) / "release" / "gardenpath"
    if not path.is_file():
        pytest.skip(f"{path} is not there: run `cargo build --release`")

    def run(*arguments: object, check: bool = True) -> str:
        return subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, check=check).stdout

    return run
