"""Parsing: probabilities, numbers of trees and best trees, compared with NLTK and genlm."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest
from conftest import Case, Program, write_sentences
from nltk import Tree
from reference import Reference, entropy, posterior
from scipy.stats import chisquare

CLOSE = 1e-10


def log(probability: float) -> float | None:
    """Take the logarithm as the program writes it: null for what is impossible."""
    return math.log(probability) if probability > 0 else None


def approx(value: object) -> object:
    """Compare with this value up to rounding."""
    return pytest.approx(value, rel=CLOSE, abs=CLOSE)


def bracketed(tree: str) -> Tree:
    """Read a tree, and check that it is written on one line as NLTK would."""
    read = Tree.fromstring(tree)
    assert read.pformat(margin=10**9) == tree
    return read


def test_the_strings_are_worth_parsing(case: Case) -> None:
    """The other tests would pass easily without ambiguous and impossible strings."""
    counts = [sum(map(len, trees)) for trees in case.trees]
    assert min(counts[: case.sampled]) >= 1, "a sampled sentence has no tree"
    assert 0 in counts[case.sampled :]
    if case.name in ("uniform", "own_names"):
        assert max(counts) > 1
        assert any(sum(map(bool, trees)) > 1 for trees in case.trees)


def test_inside_is_the_sum_over_all_trees(case: Case) -> None:
    """P(sentence | root), posterior, entropy and root."""
    prior = case.reference.prior
    for tokens, by_root, line in zip(
        case.strings, case.trees, case.parsed("inside"), strict=True
    ):
        inside = [sum(parse.probability for parse in trees) for trees in by_root]
        assert line["len"] == len(tokens)
        assert line["logprob"] == [
            None if p == 0 else approx(math.log(p)) for p in inside
        ]
        if any(inside):
            expected = posterior(prior, inside)
            assert line["posterior"] == approx(expected)
            assert line["entropy"] == approx(entropy(expected))
            assert expected[line["root"]] == approx(max(expected))


def test_inside_is_what_earley_computes(case: Case) -> None:
    """P(sentence | root) of each root, and P(sentence), by genlm-grammar."""
    prior = case.reference.prior
    for tokens, line in zip(case.strings, case.parsed("inside"), strict=True):
        ours = [0.0 if p is None else math.exp(p) for p in line["logprob"]]
        theirs = case.reference.earley_inside(tokens)
        assert ours == pytest.approx(theirs, rel=CLOSE, abs=0)
        total = sum(p * q for p, q in zip(prior, ours, strict=True))
        assert total == pytest.approx(
            case.reference.earley_total(tokens), rel=CLOSE, abs=0
        )


def test_counts_are_the_numbers_of_trees(case: Case) -> None:
    """The exact number of trees per root, as decimal text."""
    for by_root, line in zip(case.trees, case.parsed("count"), strict=True):
        assert line["trees"] == [str(len(trees)) for trees in by_root]


def test_recognized_roots_are_those_with_a_tree(case: Case) -> None:
    """The roots from which a string can be derived."""
    for by_root, line in zip(case.trees, case.parsed("recognize"), strict=True):
        assert line["roots"] == [k for k, trees in enumerate(by_root) if trees]


def test_best_trees_are_the_most_probable(case: Case) -> None:
    """The best tree of all roots weighted by the prior, by enumeration and Viterbi."""
    reference = case.reference
    for tokens, by_root, line in zip(
        case.strings, case.trees, case.parsed("best"), strict=True
    ):
        joint = [
            prior * max((parse.probability for parse in trees), default=0)
            for prior, trees in zip(reference.prior, by_root, strict=True)
        ]
        if not any(joint):
            assert line["tree"] is None
            assert line["logprob"] is None
            continue
        root = line["root"]
        assert log(joint[root]) == approx(log(max(joint)))
        assert log(joint[root]) == approx(log(reference.viterbi(tokens)))
        tree = bracketed(line["tree"])
        assert tree.label() == reference.classes[root]
        assert tree.leaves() == reference.spell(tokens)
        assert line["logprob"] == approx(math.log(reference.probability(tree)))
        assert line["logprob"] == approx(math.log(joint[root] / reference.prior[root]))


def test_sampled_trees_follow_the_posterior(case: Case, directory: Path) -> None:
    """Trees drawn for one ambiguous sentence, against the trees NLTK enumerates."""
    index = max(range(len(case.trees)), key=lambda k: sum(map(len, case.trees[k])))
    weights = {
        parse.tree.pformat(margin=10**9): prior * parse.probability
        for prior, trees in zip(case.reference.prior, case.trees[index], strict=True)
        for parse in trees
    }
    draws = 2000
    corpus = directory / f"{case.name}.repeated.jsonl"
    write_sentences(corpus, [case.strings[index]] * draws)
    lines = case.program.parse(case.path, corpus, "sample")
    seen = Counter(line["tree"] for line in lines)
    assert seen.keys() <= weights.keys()
    assert seen.total() == draws
    for line in lines:
        root = case.reference.classes[line["root"]]
        assert line["tree"].startswith(f"({root} ")
    if len(weights) > 1:
        expected = [draws * w / sum(weights.values()) for w in weights.values()]
        assert chisquare([seen[tree] for tree in weights], expected).pvalue > 1e-5


def test_a_whole_language_has_probability_one(
    program: Program, directory: Path
) -> None:
    """Every sentence of a hand-written grammar, as genlm-grammar enumerates them."""
    path = Path(__file__).parent / "fixtures" / "own_names.pcfg"
    reference = Reference(path.read_text())
    language = reference.language()
    assert sum(language.values()) == pytest.approx(1)
    corpus = directory / "language.jsonl"
    write_sentences(corpus, ([int(word) for word in words] for words in language))
    totals = [
        sum(
            prior * math.exp(p)
            for prior, p in zip(reference.prior, line["logprob"], strict=True)
            if p is not None
        )
        for line in program.parse(path, corpus, "inside")
    ]
    assert totals == pytest.approx(list(language.values()), rel=CLOSE)
    assert sum(totals) == pytest.approx(1)


def test_class_entropy_agrees_with_earley(program: Program, directory: Path) -> None:
    """The mean class entropy of an ensemble, against an independent estimate.

    The grammars and sentences differ, so the two agree up to sampling errors only.
    """
    vocab, depth, fraction = 4, 2, 0.5
    ours = json.loads(
        program(
            "entropy", "--vocab", vocab, "--depth", depth, "--fraction", fraction,
            "--grammars", 60, "--samples", 200, "--seed", 0, "--json",
        )
    )  # fmt: skip
    means = []
    for seed in range(1000, 1024):
        path = directory / f"entropy.{seed}.pcfg"
        program(
            "grammar", "sample", "--vocab", vocab, "--depth", depth,
            "--fraction", fraction, "--seed", seed, "-o", path,
        )  # fmt: skip
        reference = Reference(path.read_text())
        values = [
            entropy(posterior(reference.prior, reference.earley_inside(line["tokens"])))
            for line in program.corpus(path, 60, seed)
        ]
        means.append(sum(values) / len(values))
    mean = sum(means) / len(means)
    variance = sum((m - mean) ** 2 for m in means) / (len(means) - 1)
    error = math.hypot(math.sqrt(variance / len(means)), ours["stderr"])
    assert 0 < error < 0.1, "too coarse to tell anything"
    assert abs(ours["entropy"] - mean) < 4.5 * error
    assert ours["normalized"] == approx(ours["entropy"] / math.log(vocab))
