"""NLTK, genlm-grammar, scikit-learn and SciPy agree."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2, chisquare
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.preprocessing import normalize

import gardenpath
from gardenpath import Corpus, Grammar, theory

with warnings.catch_warnings():
    # These imports have invalid escapes in their docstrings.
    warnings.simplefilter("ignore")
    from genlm.grammar import CFG, Earley, Float
    from nltk import PCFG, Tree
    from nltk.parse.pchart import InsideChartParser

# Seeds are fixed, so the result is reproducible. A correct sampler fails for one seed in 10,000.
P_VALUE = 1e-4

Sentence = Sequence[int]


def spell(grammar: Grammar, sentence: Sentence) -> list[str]:
    return [grammar.name(grammar.depth, token) for token in sentence]


@pytest.fixture(scope="module")
def strings(grammar: Grammar) -> list[list[int]]:
    """Sentences, and strings of the same tokens that need not be sentences."""
    sentences = [sentence.tolist() for sentence in grammar.corpus(12, seed=1)]
    return [*sentences, *(sentence[::-1] for sentence in sentences)]


# NLTK: all trees of a sentence.


@pytest.fixture(scope="module")
def nltk_trees(grammar: Grammar, strings: list[list[int]]) -> list[list[Tree]]:
    """All trees of each string, without the start symbol. They know their probabilities."""
    parser = InsideChartParser(PCFG.fromstring(grammar.to_text()))
    return [[tree[0] for tree in parser.parse(spell(grammar, string))] for string in strings]


def on_one_line(tree: Tree) -> str:
    return str(tree.pformat(margin=10**9))


def test_all_trees_are_found(grammar: Grammar, strings: list[list[int]], nltk_trees: list[list[Tree]]) -> None:
    assert all(nltk_trees[: len(strings) // 2]), "a sampled sentence has no tree"
    for string, trees in zip(strings, nltk_trees, strict=True):
        assert grammar.tree_count(string) == grammar.chart(string).tree_count == len(trees)
        assert Counter(map(str, grammar.trees(string))) == Counter(map(on_one_line, trees))


def test_likelihoods_are_sums_over_trees(grammar: Grammar, strings: list[list[int]], nltk_trees: list[list[Tree]]) -> None:
    names = [grammar.name(0, root) for root in range(grammar.classes)]
    log_likelihood, posterior = grammar.inside(strings)
    for logs, shares, trees in zip(log_likelihood, posterior, nltk_trees, strict=True):
        sums = [sum(tree.prob() for tree in trees if tree.label() == name) for name in names]
        assert np.exp(logs) == pytest.approx(sums, rel=1e-10)
        joint = grammar.prior * sums
        assert shares == pytest.approx(joint / joint.sum() if trees else joint)


def test_best_trees_are_the_most_probable(grammar: Grammar, strings: list[list[int]], nltk_trees: list[list[Tree]]) -> None:
    prior = {grammar.name(0, root): grammar.prior[root] for root in range(grammar.classes)}
    for string, trees in zip(strings, nltk_trees, strict=True):
        best = grammar.best_tree(string)
        if best is None:
            assert trees == []
            continue
        probabilities = {on_one_line(tree): tree.prob() for tree in trees}
        assert math.exp(best.log_probability()) == pytest.approx(probabilities[str(best)])
        joint = prior[grammar.name(0, best.root)] * probabilities[str(best)]
        assert joint == pytest.approx(max(prior[tree.label()] * tree.prob() for tree in trees))
        read = Tree.fromstring(str(best))
        assert (read.label(), read.leaves()) == (grammar.name(0, best.root), spell(grammar, string))


def test_the_garden_path_has_two_meanings(garden_path: Grammar) -> None:
    sentence = "the old man the boats"
    trees = list(InsideChartParser(PCFG.fromstring(garden_path.to_text())).parse(sentence.split()))
    assert {tree[0].label() for tree in trees} == {"Statement", "Fragment"}
    assert {garden_path.name(0, tree.root) for tree in garden_path.trees(sentence)} == {"Statement", "Fragment"}
    assert garden_path.tree_count(sentence) == len(trees) == 2


# genlm-grammar: probabilities without enumerating trees.


@pytest.fixture(scope="module")
def cfg(grammar: Grammar) -> CFG:
    pcfg = PCFG.fromstring(grammar.to_text())
    words = {grammar.name(grammar.depth, token) for token in range(grammar.vocab)}
    cfg = CFG(R=Float, S=str(pcfg.start()), V=words)
    for rule in pcfg.productions():
        cfg.add(rule.prob(), str(rule.lhs()), *map(str, rule.rhs()))
    return cfg


def test_inside_is_what_earley_computes(grammar: Grammar, strings: list[list[int]], cfg: CFG) -> None:
    likelihood = np.exp(grammar.inside(strings)[0])
    words = [spell(grammar, string) for string in strings]
    for root in range(grammar.classes):
        earley = Earley(cfg[grammar.name(0, root)])
        assert likelihood[:, root] == pytest.approx([earley(sentence) for sentence in words], rel=1e-10)
    earley = Earley(cfg)
    assert likelihood @ grammar.prior == pytest.approx([earley(sentence) for sentence in words], rel=1e-10)


def test_the_whole_language_has_probability_one(grammar: Grammar, cfg: CFG) -> None:
    assert cfg.treesum() == pytest.approx(1)
    number = {grammar.name(grammar.depth, token): token for token in range(grammar.vocab)}
    language = dict(cfg.language(grammar.depth + 2))
    likelihood = np.exp(grammar.inside([[number[word] for word in words] for words in language])[0])
    assert likelihood @ grammar.prior == pytest.approx(list(language.values()), rel=1e-10)
    assert (likelihood @ grammar.prior).sum() == pytest.approx(1)


def test_mean_lengths_are_expected_lengths(grammar: Grammar, cfg: CFG) -> None:
    assert grammar.mean_length == pytest.approx(cfg.expected_length)


# scikit-learn: clusters.


def covariances(grammar: Grammar, table: NDArray[np.float64], arity: int) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Vectors of norm 1 of the true pairs or triples above the tokens, and their parents."""
    rules = grammar.rules(grammar.depth - 1)
    rules = rules[rules["arity"] == arity]
    return normalize(table[tuple(rules["children"][:, :arity].T)]), rules["parent"]


@pytest.mark.parametrize("sentences", [300, 10_000])
def test_clusters_are_as_tight_as_those_of_scikit_learn(sentences: int) -> None:
    moments = gardenpath.Moments(Grammar.sample(8, 2, fraction=0.5, seed=1).corpus(sentences, seed=2))
    for rows in (moments.pair_covariance(), moments.triple_covariance()):
        rows = normalize(rows.reshape(-1, 8))
        labels, centroids, inertia = gardenpath.kmeans(rows, 8)
        assert inertia == pytest.approx(((rows - centroids[labels]) ** 2).sum())
        assert inertia <= 1.01 * KMeans(8, n_init=10, random_state=0).fit(rows).inertia_


def test_separated_clusters_are_those_of_scikit_learn() -> None:
    rows, groups = make_blobs(500, 6, centers=12, cluster_std=0.3, random_state=0)
    labels = gardenpath.kmeans(rows, 12)[0]
    assert adjusted_rand_score(KMeans(12, n_init=10, random_state=0).fit_predict(rows), labels) > 0.999
    assert adjusted_rand_score(groups, labels) > 0.999


def test_purity_is_that_of_the_contingency_matrix() -> None:
    grammar = Grammar.sample(8, 2, fraction=0.25, seed=3)
    corpus = grammar.corpus(1500, seed=4)
    moments = gardenpath.Moments(corpus)
    tables = [moments.pair_covariance(), moments.triple_covariance(corrected=True), moments.triple_covariance()]
    expected = []
    for arity, table in zip([2, 3, 3], tables, strict=True):
        rows, parents = covariances(grammar, table, arity)
        counts = contingency_matrix(parents, gardenpath.kmeans(rows, 8, restarts=5, seed=6)[0])
        expected.append((counts.max(axis=1) / counts.sum(axis=1)).mean())
    assert len(set(expected)) == 3
    assert gardenpath.rule_purity(grammar, corpus, restarts=5, seed=6) == pytest.approx(expected)


# SciPy: samples have the right frequencies.


@pytest.fixture(scope="module")
def skewed() -> Grammar:
    """A grammar whose roots and rules are not equally likely."""
    uniform = Grammar.sample(3, 3, fraction=0.5, seed=5, p_binary=0.4, zipf=1.0)
    return Grammar.from_rules([uniform.rules(level) for level in range(3)], prior=[0.5, 0.3, 0.2])


@pytest.fixture(scope="module")
def sample(skewed: Grammar) -> Corpus:
    return skewed.corpus(8000, seed=6)


def p_value(observed: ArrayLike, expected: ArrayLike) -> float:
    """Chi-square; outcomes expected fewer than ten times share a bin."""
    observed, expected = np.asarray(observed), np.asarray(expected)
    rare = expected < 10
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    kept = expected > 0
    return float(chisquare(observed[kept], expected[kept]).pvalue)


def test_roots_follow_the_prior(skewed: Grammar, sample: Corpus) -> None:
    assert p_value(np.bincount(sample.roots), len(sample) * skewed.prior) > P_VALUE


@pytest.mark.parametrize("level", range(3))
def test_rules_are_used_as_often_as_their_probabilities_say(skewed: Grammar, sample: Corpus, level: int) -> None:
    applied = np.concatenate([tree.rules(level) for tree in sample.trees()])
    uses = Counter((parent, arity, *children) for parent, arity, children, _ in applied.tolist())
    rules = skewed.rules(level)
    observed = np.array([uses.pop((parent, arity, *children), 0) for parent, arity, children, _ in rules.tolist()])
    assert not uses, "these are no rules"
    parents = np.bincount(applied["parent"], minlength=3)
    expected = parents[rules["parent"]] * rules["probability"]
    assert expected.min() > 5, "too few draws for a chi-square test"
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert chi2.sf(statistic, len(rules) - np.count_nonzero(parents)) > P_VALUE


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_lengths_follow_their_law(depth: int) -> None:
    lengths = Grammar.sample(4, depth, fraction=0.5, seed=7, p_binary=0.4).corpus(20_000, seed=8).lengths
    law = theory.length_distribution(depth, p_binary=0.4)
    observed = np.bincount(lengths, minlength=law.lengths[-1] + 1)[law.lengths]
    assert observed.sum() == len(lengths)
    assert p_value(observed, len(lengths) * law.values) > P_VALUE
