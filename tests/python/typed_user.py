"""A program that uses most of the package. A type checker verifies each `assert_type`, and the tests run it too.

`test_types` replaces `assert_type` by a function that looks at the value: what the stubs promise must also be true.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, Literal

import numpy as np
import typing_extensions
from numpy.typing import NDArray

import gardenpath
from gardenpath import (
    BayesFloor,
    Cell,
    Chart,
    Corpus,
    ExpectedMoments,
    Experiment,
    Grammar,
    Learned,
    LearnedLevel,
    LevelScore,
    Moments,
    SignalStudy,
    Store,
    Tree,
    theory,
)

assert_type = typing_extensions.assert_type

EXPERIMENT = """
measure = "entropy"
expects = "Ambiguity grows with the fraction of grammatical tuples."
[[grid]]
vocab = 4
depth = 2
fraction = [0.25, 0.5]
sentences = 50
seed = 1
"""


def grammars(directory: str) -> Grammar:
    grammar = Grammar.sample(vocab=4, depth=2, fraction=0.5, seed=1)
    assert_type(grammar, Grammar)
    assert_type(
        Grammar.sample(4, 2, binary_rules=1, ternary_rules=2, p_binary=0.3, zipf=1.0, non_overlapping=True), Grammar
    )
    assert_type(grammar.rules(0), NDArray[np.void])
    assert_type(Grammar.from_rules([grammar.rules(0), grammar.rules(1)], prior=[0.25] * 4, vocab=4), Grammar)
    assert_type(Grammar.from_rules([grammar.rules(0), grammar.rules(1)], prior=grammar.prior), Grammar)
    path = os.path.join(directory, "grammar.pcfg")
    grammar.write(path)
    assert_type(Grammar.read(path), Grammar)
    assert_type(grammar.to_text(), str)
    assert_type(Grammar.from_text(grammar.to_text()), Grammar)
    assert_type(grammar.depth, int)
    assert_type(grammar.vocab, int)
    assert_type(grammar.classes, int)
    assert_type(grammar.sizes, list[int])
    assert_type(grammar.prior, NDArray[np.float64])
    assert_type(grammar.mean_length, float)
    assert_type(grammar.fingerprint, str)
    assert_type(grammar.name(0, 0), str)
    assert_type(grammar == grammar, bool)
    assert_type(hash(grammar), int)
    assert_type(grammar._repr_html_(), str)
    return grammar


def corpora(grammar: Grammar, directory: str) -> Corpus:
    corpus = grammar.corpus(100, seed=1, start=5)
    assert_type(corpus, Corpus)
    assert_type(Corpus([[0, 1], [2, 3, 1]], roots=[0, 1], vocab=4), Corpus)
    assert_type(Corpus([np.array([0, 1]), np.array([2], dtype=np.uint8)], roots=np.array([0, 1])), Corpus)
    assert_type(Corpus(np.array([[0, 1], [2, -1]])), Corpus)
    assert_type(Corpus.from_arrays(corpus.tokens, corpus.offsets, corpus.roots, vocab=4), Corpus)
    path = os.path.join(directory, "corpus.parquet")
    corpus.write(path)
    assert_type(Corpus.read(path, vocab=4), Corpus)
    assert_type(corpus.tokens, NDArray[np.uint8])
    assert_type(corpus.offsets, NDArray[np.int64])
    assert_type(corpus.roots, NDArray[np.uint8])
    assert_type(corpus.lengths, NDArray[np.int64])
    assert_type(corpus.vocab, int)
    assert_type(corpus.classes, int)
    assert_type(len(corpus), int)
    assert_type(corpus.padded(), NDArray[np.int64])
    assert_type(corpus.padded(-2), NDArray[np.int64])
    assert_type(corpus.padded(-1, "int32"), NDArray[np.int32])
    assert_type(corpus.padded(dtype="int32"), NDArray[np.int32])
    assert_type(corpus.padded(dtype="int16"), NDArray[np.int16])
    assert_type(corpus.padded(255, "uint8"), NDArray[np.uint8])
    assert_type(corpus.padded(fill=255, dtype="uint8"), NDArray[np.uint8])
    assert_type(corpus.one_hot(), NDArray[np.float32])
    assert_type(corpus[0], NDArray[np.uint8])
    assert_type(corpus[corpus.lengths.argmax()], NDArray[np.uint8])
    assert_type(corpus[::2], Corpus)
    assert_type(corpus[[0, 3, 5]], Corpus)
    assert_type(corpus[np.array([0, 3, 5])], Corpus)
    assert_type(corpus[corpus.lengths > 5], Corpus)
    assert_type(next(iter(corpus)), NDArray[np.uint8])
    assert_type(list(corpus), list[NDArray[np.uint8]])
    assert_type(corpus.trees(), list[Tree])
    return corpus


def parsing(grammar: Grammar, corpus: Corpus) -> None:
    sentence = corpus[0]
    assert_type(grammar.inside(corpus), tuple[NDArray[np.float64], NDArray[np.float64]])
    assert_type(grammar.inside([[0, 1, 2, 3]]), tuple[NDArray[np.float64], NDArray[np.float64]])
    assert_type(grammar.inside(list(corpus)), tuple[NDArray[np.float64], NDArray[np.float64]])
    assert_type(grammar.entropy(corpus.padded()), NDArray[np.float64])
    floor = grammar.bayes_floor(corpus)
    assert_type(floor, BayesFloor)
    assert_type(floor.loss, float)
    assert_type(floor.accuracy, float)
    assert_type(floor.parse_rate, float)
    assert_type(floor.guessing, float)
    assert_type(grammar.best_tree(sentence), Tree | None)
    assert_type(grammar.sample_tree(sentence.tolist(), seed=1), Tree | None)
    assert_type(grammar.trees("0 1 2 3", limit=5), list[Tree])
    assert_type(grammar.tree_count(sentence), int)
    assert_type(grammar.tree_entropy(sentence), float)
    assert_type(grammar.marginals(sentence), tuple[list[NDArray[np.void]], list[NDArray[np.float64]]])
    chart = grammar.chart(sentence)
    assert_type(chart, Chart)
    assert_type(chart.sentence, NDArray[np.uint8])
    assert_type(chart.depth, int)
    assert_type(chart.tree_count, int)
    assert_type(chart.candidates(1), NDArray[np.void])
    assert_type(chart.trees(limit=3), list[Tree])
    assert_type(chart.to_svg(), str)


def trees(grammar: Grammar, corpus: Corpus) -> None:
    tree = corpus.trees()[0]
    assert_type(tree, Tree)
    assert_type(Tree.from_text(str(tree), grammar), Tree)
    assert_type(tree.root, int)
    assert_type(tree.depth, int)
    assert_type(tree.sentence, NDArray[np.uint8])
    assert_type(tree.level(1), NDArray[np.uint8])
    assert_type(tree.nodes(1), NDArray[np.void])
    assert_type(tree.rules(1), NDArray[np.void])
    assert_type(tree.log_probability(), float)
    assert_type(tree.to_svg(caption="a tree"), str)


def statistics(grammar: Grammar, corpus: Corpus) -> None:
    moments = Moments(corpus)
    assert_type(moments, Moments)
    assert_type(moments + moments, Moments)
    assert_type(moments.pairs, NDArray[np.uint64])
    assert_type(moments.triples, NDArray[np.uint64])
    assert_type(moments.pair_covariance(), NDArray[np.float64])
    assert_type(moments.triple_covariance(corrected=True), NDArray[np.float64])
    expected = grammar.expected_moments(level=1)
    assert_type(expected, ExpectedMoments)
    assert_type(expected.pairs, NDArray[np.float64])
    assert_type(expected.triples, NDArray[np.float64])
    assert_type(expected.triple_covariance(), NDArray[np.float64])
    study = gardenpath.snr(4, 2, grammars=2, samples=[10, 1000], seed=1)
    assert_type(study, SignalStudy)
    assert_type(study.samples, NDArray[np.uint64])
    assert_type(study.signal, NDArray[np.float64])
    assert_type(study.noise, NDArray[np.float64])
    assert_type(study.ratio, NDArray[np.float64])
    assert_type(study.inverse("mean_of_ratios"), NDArray[np.float64])
    assert_type(study.sample_complexity(0.5, average="ratio_of_means"), float | None)
    assert_type(study.interval(confidence=0.5), tuple[float, float] | None)
    assert_type(gardenpath.class_entropy(4, 2, 0.5, grammars=2, sentences=50), tuple[float, float])
    assert_type(gardenpath.fraction_for_entropy(4, 2, 0.1, grammars=2, sentences=50), tuple[float, float])
    assert_type(
        gardenpath.kmeans(np.zeros((3, 2)), 2, restarts=1), tuple[NDArray[np.int64], NDArray[np.float64], float]
    )


def learning() -> None:
    truth = Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=3)
    corpus = truth.corpus(3000, seed=4)
    lines: list[str] = []
    learned = gardenpath.learn(corpus, 2, mode="exact", progress=lines.append)
    assert_type(learned, Learned)
    assert_type(learned.grammar, Grammar)
    assert_type(learned.verdict, str)
    assert_type(learned.converged, bool)
    assert_type(learned.levels, list[LearnedLevel])
    assert_type(learned.levels[0].level, int)
    assert_type(learned.levels[0].binary_rules, int)
    assert_type(learned.levels[0].ternary_rules, int)
    assert_type(learned.levels[0].p_binary, float)
    assert_type(learned.levels[0].empty_symbols, int)
    assert_type(lines, list[str])
    assert_type(gardenpath.learn(corpus, 2, mode="paper", alignment="cosine"), Learned)
    scores = gardenpath.score_rules(learned.grammar, truth)
    assert_type(scores, list[LevelScore])
    assert_type(scores[0].binary_precision, float)
    assert_type(scores[0].ternary_purity, float)
    assert_type(scores[0].exact, bool)
    assert_type(gardenpath.rule_purity(truth, corpus, restarts=1), tuple[float, float, float])


def sweeps(directory: str) -> None:
    experiment = Experiment.parse(EXPERIMENT)
    assert_type(experiment, Experiment)
    assert_type(experiment.expects, str)
    cells = experiment.cells("quick")
    assert_type(cells, list[Cell])
    assert_type(cells[0].identity, str)
    assert_type(cells[0].parameters, dict[str, Any])
    store = Store(directory)
    assert_type(store.state(cells[0]), Literal["done", "running", "failed", "missing"])
    assert_type(store.read(cells[0]), dict[str, Any] | None)
    assert_type(store.failure(cells[0]), str | None)
    events: list[str] = []

    def report(cell: Cell, event: str) -> None:
        assert_type(cell, Cell)
        events.append(event)

    store.measure(cells, threads=2, report=report)
    assert_type(events, list[str])
    assert_type(gardenpath.sweep(experiment, directory), list[dict[str, Any]])


def formulas() -> None:
    law = theory.length_distribution(2, p_binary=0.5)
    assert_type(law, theory.ByLength)
    assert_type(law.lengths, NDArray[np.int64])
    assert_type(law.values, NDArray[np.float64])
    assert_type(law.logs, NDArray[np.float64])
    assert_type(len(law), int)
    assert_type(theory.mean_branching(), float)
    assert_type(theory.typical_length(3), int)
    assert_type(theory.mean_internal_nodes(3), float)
    assert_type(theory.tree_count(3), dict[int, int])
    assert_type(theory.grammatical_fraction(2, 0.5, ternary_fraction=0.25), theory.ByLength)
    assert_type(theory.mean_candidates(2, 0.5), theory.ByLength)
    assert_type(theory.class_entropy(0.5), float)
    assert_type(theory.paper_class_entropy(0.5), float)
    assert_type(theory.critical_fraction(3), float)
    assert_type(theory.splits(6, height=2), tuple[int, int])
    assert_type(theory.median_splits(2), tuple[float, float])
    assert_type(theory.sample_complexity(2, 8, 1, 8), tuple[float, float])
    assert_type(theory.two_level_topologies(), list[tuple[tuple[int, ...], float]])
    assert_type(theory.length_distribution(2, arities={1: 0.5, 4: 0.5}), theory.ByLength)
    assert_type(theory.tree_count(2, arities=(2, 4)), dict[int, int])
    assert_type(theory.class_entropy(arities={1: 0.5, 2: 0.5}, fractions={1: 1.0, 2: 0.5}), float)
    assert_type(theory.splits(6, height=2, arities=[2, 4]), dict[int, int])
    assert_type(theory.median_splits(2, arities=[2, 4]), dict[int, float])
    assert_type(theory.sample_complexity(2, 8, arities={4: 1.0}, rules={4: 8}), tuple[float, float])


def main() -> None:
    assert_type(gardenpath.__version__, str)
    assert_type(gardenpath.threads(), int)
    gardenpath.set_threads(gardenpath.threads())
    with tempfile.TemporaryDirectory() as directory:
        grammar = grammars(directory)
        corpus = corpora(grammar, directory)
        parsing(grammar, corpus)
        trees(grammar, corpus)
        statistics(grammar, corpus)
        learning()
        sweeps(directory)
        formulas()


if __name__ == "__main__":
    main()
