"""Grammar files: NLTK reads what the program writes, and the other way round."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from pathlib import Path

import pytest
from conftest import ENSEMBLES, FIXTURES, REPOSITORY, Program, write_sentences
from nltk import Nonterminal
from reference import Reference

PUBLISHED = REPOSITORY.parent / "shared" / "grammars"


@pytest.mark.parametrize("name", ENSEMBLES)
def test_nltk_reads_a_sampled_grammar(
    program: Program, directory: Path, name: str
) -> None:
    """Layers, numbers of rules and probabilities are those that were asked for."""
    ensemble = ENSEMBLES[name]
    path = ensemble.sample(program, directory / f"{name}.read.pcfg")
    text = path.read_text()
    assert text.startswith("#")
    reference = Reference(text)

    assert reference.pcfg.start() == Nonterminal("S")
    assert reference.classes == [f"A0_{k}" for k in range(ensemble.vocab)]
    assert reference.prior == pytest.approx([1 / ensemble.vocab] * ensemble.vocab)

    levels = {
        f"A{level}_{k}": level
        for level in range(ensemble.depth)
        for k in range(ensemble.vocab)
    }
    tokens = {str(k) for k in range(ensemble.vocab)}
    rules: dict[tuple[str, int], list[float]] = defaultdict(list)
    parents: dict[tuple[int, tuple], str] = {}
    for (lhs, rhs), probability in reference.rules.items():
        parent = lhs.symbol()
        if parent == "S":
            continue
        level = levels[parent]
        if level == ensemble.depth - 1:
            assert set(rhs) <= tokens
        else:
            assert all(levels[child.symbol()] == level + 1 for child in rhs)
        assert (level, rhs) not in parents, "two parents of one right-hand side"
        parents[level, rhs] = parent
        rules[parent, len(rhs)].append(probability)

    arities = ensemble.rules_per_symbol
    assert rules.keys() == {(symbol, arity) for symbol in levels for arity in arities}
    for (_, arity), probabilities in rules.items():
        expected = ensemble.rule_probabilities(arity)
        assert sorted(probabilities, reverse=True) == pytest.approx(expected, rel=1e-14)


def test_sampled_grammars_differ_by_seed(program: Program, directory: Path) -> None:
    """The same seed gives the same rules, another seed others."""
    rules = []
    for number, seed in enumerate([1, 1, 2]):
        path = directory / f"seed.{number}.pcfg"
        program("grammar", "sample", "--vocab", 4, "--depth", 2, "--fraction", 0.5,
                "--seed", seed, "-o", path)  # fmt: skip
        rules.append(Reference(path.read_text()).rules)
    assert rules[0] == rules[1] != rules[2]


def published_rules(path: Path) -> dict[tuple[int, int, tuple[int, ...]], float]:
    """Read the rules of a published grammar: level, parent, children as numbers."""
    return {
        (level, parent, tuple(children)): 1 / len(symbol["children"])
        for level, symbols in enumerate(json.loads(path.read_text())["all"][:-1])
        for parent, symbol in enumerate(symbols)
        for children in symbol["children"]
    }


def numbered_rules(
    reference: Reference, source: Path
) -> dict[tuple[int, int, tuple[int, ...]], float]:
    """Replace the names of a converted grammar by numbers, as its source has them."""
    place: dict[object, tuple[int, int]] = {}
    levels = json.loads(source.read_text())["all"]
    for level, symbols in enumerate(levels):
        for number, symbol in enumerate(symbols):
            last = level == len(levels) - 1
            name = str(symbol["id"]) if last else Nonterminal(symbol["name"])
            place[name] = (level, number)
    rules = {}
    for (lhs, rhs), probability in reference.rules.items():
        if lhs == reference.pcfg.start():
            continue
        level, parent = place[lhs]
        assert {place[child][0] for child in rhs} == {level + 1}
        rules[level, parent, tuple(place[child][1] for child in rhs)] = probability
    return rules


@pytest.mark.parametrize(
    "source",
    [FIXTURES / "published.json", *sorted(PUBLISHED.glob("*.json"))],
    ids=lambda path: path.stem,
)
def test_published_grammars_are_converted(
    program: Program, directory: Path, source: Path
) -> None:
    """JSON in, the same rules out through NLTK; Earley agrees on a sentence."""
    path = directory / f"{source.stem}.pcfg"
    program("grammar", "convert", source, "-o", path)
    reference = Reference(path.read_text())
    assert numbered_rules(reference, source) == pytest.approx(published_rules(source))

    corpus = directory / f"{source.stem}.jsonl"
    sentences = [line["tokens"] for line in program.corpus(path, 20, 3)]
    # Short ones: genlm-grammar's probabilities must not underflow.
    sentences = sorted(sentences, key=len)[:5]
    write_sentences(corpus, sentences)
    for tokens, line in zip(
        sentences, program.parse(path, corpus, "inside"), strict=True
    ):
        expected = [math.log(p) if p else None for p in reference.earley_inside(tokens)]
        assert [p is None for p in line["logprob"]] == [p is None for p in expected]
        assert [p for p in line["logprob"] if p is not None] == pytest.approx(
            [p for p in expected if p is not None], rel=1e-10
        )


def test_the_text_that_nltk_prints_is_read(program: Program, directory: Path) -> None:
    """NLTK prints six digits, so that probabilities do not sum to one exactly."""
    source = Reference((FIXTURES / "own_names.pcfg").read_text())
    text = "\n".join(map(str, source.pcfg.productions()))
    # Left has three rules: give them thirds.
    text = re.sub(r"(Left -> .*) \[.*\]", r"\1 [0.333333]", text)
    path = directory / "printed.pcfg"
    path.write_text(text)
    reference = Reference(text)
    program("grammar", "info", path)

    tokens = [0, 1, 0, 1, 1]
    corpus = directory / "printed.jsonl"
    write_sentences(corpus, [tokens])
    (line,) = program.parse(path, corpus, "inside")
    expected = reference.earley_inside(tokens)
    assert min(expected) > 0
    # The program may normalise what it reads: six digits are certain.
    assert list(map(math.exp, line["logprob"])) == pytest.approx(expected, rel=1e-5)


def test_own_names_are_kept(program: Program, directory: Path) -> None:
    """Names of a hand-written grammar come back in the trees of a corpus."""
    path = FIXTURES / "own_names.pcfg"
    program("grammar", "info", path)
    line = program.corpus(path, 1, 1, "--trees")[0]
    names = set(re.findall(r"\((\S+)", line["tree"]))
    assert names <= {"Left", "Right", "Ping", "Pong"}
