"""Finds the program and prepares grammars and sentences for the tests.

    python -m venv .venv && .venv/bin/pip install -r tests/peers/requirements.txt
    cargo build --release
    .venv/bin/pytest tests/peers

The program is target/release/gardenpath, or what GARDENPATH_BIN names.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest
from reference import Parse, Reference

REPOSITORY = Path(__file__).resolve().parents[2]
FIXTURES = Path(__file__).resolve().parent / "fixtures"

# Before `datasets` is imported: nothing here may use the network.
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")


@dataclass(frozen=True)
class Program:
    """The program under test."""

    path: Path

    def __call__(self, *arguments: object) -> str:
        """Run the program and return what it printed; it must succeed."""
        command = [str(self.path), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            shown = " ".join(command)
            pytest.fail(f"exit code {done.returncode} of {shown}\n{done.stderr}")
        return done.stdout

    def json_lines(self, *arguments: object) -> list[dict[str, Any]]:
        """Run the program and read the JSON lines it printed."""
        return [json.loads(line) for line in self(*arguments).splitlines()]

    def corpus(
        self, grammar: Path, count: int, seed: int, *options: str
    ) -> list[dict[str, Any]]:
        """Sample sentences."""
        return self.json_lines(
            "corpus", "sample", grammar, "--samples", count, "--seed", seed, *options,
            "-o", "-",
        )  # fmt: skip

    def parse(self, grammar: Path, corpus: Path, mode: str) -> list[dict[str, Any]]:
        """Parse a file of sentences."""
        return self.json_lines("parse", grammar, corpus, "--mode", mode, "--json")


@pytest.fixture(scope="session")
def program() -> Program:
    """Find the program, or fail and say where it was expected."""
    named = os.environ.get("GARDENPATH_BIN")
    path = Path(named) if named else REPOSITORY / "target" / "release" / "gardenpath"
    if not path.is_file():
        pytest.fail(
            f"the program is not at {path}: run `cargo build --release`, "
            "or set GARDENPATH_BIN to the program's path",
            pytrace=False,
        )
    return Program(path.resolve())


@dataclass(frozen=True)
class Ensemble:
    """The parameters of a sampled grammar."""

    vocab: int
    depth: int
    fraction: float
    seed: int
    p_binary: float = 0.5
    zipf: float = 0.0
    arities: str | None = None

    @property
    def rules_per_symbol(self) -> dict[int, int]:
        """The number of rules of a symbol by their length."""
        return {
            arity: round(self.fraction * self.vocab ** (arity - 1)) for arity in (2, 3)
        }

    def rule_probabilities(self, arity: int) -> list[float]:
        """List the probabilities of a symbol's rules of one length, largest first."""
        total = self.p_binary if arity == 2 else 1 - self.p_binary
        ranks = range(1, self.rules_per_symbol[arity] + 1)
        weights = [rank**-self.zipf for rank in ranks]
        return [total * weight / sum(weights) for weight in weights]

    def sample(self, program: Program, path: Path) -> Path:
        """Let the program draw the grammar into a file."""
        branching = ["--p-binary", self.p_binary]
        if self.arities:
            branching = ["--arities", self.arities, "--cover"]
        program(
            "grammar", "sample", "--vocab", self.vocab, "--depth", self.depth,
            "--fraction", self.fraction, "--seed", self.seed,
            *branching, "--zipf", self.zipf, "-o", path,
        )  # fmt: skip
        return path


ENSEMBLES = {
    # So many rules that many sentences have several trees and several roots.
    "uniform": Ensemble(vocab=4, depth=2, fraction=0.75, seed=7),
    "zipf": Ensemble(vocab=4, depth=2, fraction=0.5, seed=8, p_binary=0.3, zipf=1.0),
    "wide": Ensemble(vocab=8, depth=2, fraction=0.25, seed=9),
    "deep": Ensemble(vocab=4, depth=3, fraction=0.25, seed=10, zipf=0.5),
}

# Rules of one to four symbols, for all tests of parsing.
OTHER_ARITIES = {
    "only_children": Ensemble(4, 2, 0.6, seed=11, arities="1:0.3,2:0.7"),
    "pairs": Ensemble(4, 3, 0.5, seed=12, arities="2:1"),
    "fours": Ensemble(3, 2, 0.2, seed=13, arities="4:1"),
    "even": Ensemble(3, 2, 0.4, seed=14, zipf=0.5, arities="2:0.6,4:0.4"),
    "up_to_three": Ensemble(3, 2, 0.5, seed=15, arities="1:0.2,2:0.4,3:0.4"),
    "two_to_four": Ensemble(3, 2, 0.4, seed=16, arities="2:0.4,3:0.3,4:0.3"),
}


class Case:
    """A grammar, some of its sentences and other strings, and their parses."""

    def __init__(
        self, name: str, program: Program, grammar: Path, directory: Path
    ) -> None:
        """Take a grammar file and choose the strings to parse."""
        self.name = name
        self.program = program
        self.path = grammar
        self.reference = Reference(grammar.read_text())
        self.corpus = directory / f"{name}.jsonl"
        lines = program.corpus(grammar, 24, 1)
        self.strings: list[list[int]] = [line["tokens"] for line in lines]
        self.sampled = len(self.strings)
        self.strings += others(self.strings, len(self.reference.words))
        write_sentences(self.corpus, self.strings)
        self.parsed = cache(self._parsed)

    def _parsed(self, mode: str) -> list[dict[str, Any]]:
        lines = self.program.parse(self.path, self.corpus, mode)
        assert len(lines) == len(self.strings)
        return lines

    @cached_property
    def trees(self) -> list[list[list[Parse]]]:
        """For every string and root, all parse trees according to NLTK."""
        return [self.reference.trees(tokens) for tokens in self.strings]


def others(sentences: list[list[int]], vocab: int) -> list[list[int]]:
    """Make strings that need not be sentences.

    Random tokens, sentences with one wrong token, and lengths that no sentence has.
    """
    rng = random.Random(0)
    random_tokens = [[rng.randrange(vocab) for _ in s] for s in sentences[:12]]
    one_wrong = [list(sentence) for sentence in sentences[:12]]
    for tokens in one_wrong:
        place = rng.randrange(len(tokens))
        tokens[place] = (tokens[place] + 1) % vocab
    too_long = max(sentences, key=len) * 3
    return [*random_tokens, *one_wrong, [0], [0, 1, 0], too_long]


def write_sentences(path: Path, sentences: Iterable[list[int]]) -> None:
    """Write a corpus for `parse`; the roots are unknown, so they are all 0."""
    lines = [json.dumps({"tokens": tokens, "root": 0}) + "\n" for tokens in sentences]
    path.write_text("".join(lines))


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a directory for all files of this run."""
    return tmp_path_factory.mktemp("peers")


@pytest.fixture(scope="session", params=[*ENSEMBLES, *OTHER_ARITIES, "own_names"])
def case(request: pytest.FixtureRequest, program: Program, directory: Path) -> Case:
    """Take each sampled grammar, and one written by hand for NLTK."""
    name = request.param
    ensembles = ENSEMBLES | OTHER_ARITIES
    if name in ensembles:
        path = ensembles[name].sample(program, directory / f"{name}.pcfg")
    else:
        path = FIXTURES / f"{name}.pcfg"
    return Case(name, program, path, directory)
