"""Moments, signal-to-noise ratios and clusters, compared with NumPy loops."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from brute_force import Language
from mistakes import value_error
from numpy.typing import NDArray

import gardenpath
from gardenpath import Corpus, Grammar, Moments


@pytest.fixture(scope="module")
def corpus(deep: Grammar) -> Corpus:
    return deep.corpus(500, seed=1)


def count(corpus: Corpus, arity: int) -> NDArray[np.uint64]:
    """Adjacent tuples of tokens by root, one sentence at a time."""
    table = np.zeros((corpus.classes, *(corpus.vocab,) * arity), dtype=np.uint64)
    for sentence, root in zip(corpus, corpus.roots, strict=True):
        places = len(sentence) - arity + 1
        columns = [sentence[k : k + places] for k in range(arity)]
        np.add.at(table, (np.full(places, root), *columns), 1)
    return table


def covariance(table: NDArray[np.float64] | NDArray[np.uint64]) -> NDArray[np.float64]:
    """N(t, y) / N - N(t) N(y) / N^2, with the root as the last axis."""
    joint = np.moveaxis(table, 0, -1) / table.sum()
    of_tuple = joint.sum(axis=-1, keepdims=True)
    of_root = joint.reshape(-1, joint.shape[-1]).sum(axis=0)
    return np.asarray(joint - of_tuple * of_root)


def test_pairs_and_triples_are_counted_by_root(corpus: Corpus) -> None:
    moments = Moments(corpus)
    np.testing.assert_array_equal(moments.pairs, count(corpus, 2))
    np.testing.assert_array_equal(moments.triples, count(corpus, 3))
    assert moments.pairs.sum() == (corpus.lengths - 1).sum()
    assert repr(moments) == f"<Moments of {moments.pairs.sum()} pairs and {moments.triples.sum()} triples>"


def test_roots_and_tokens_may_differ_in_number(garden_path: Grammar) -> None:
    corpus = garden_path.corpus(200, seed=1)
    moments = Moments(corpus)
    assert moments.pairs.shape == (2, 4, 4)
    np.testing.assert_array_equal(moments.triples, count(corpus, 3))


def test_moments_of_parts_add_up(corpus: Corpus) -> None:
    whole, parts = Moments(corpus), [Moments(corpus[i::3]) for i in range(3)]
    total = parts[0] + parts[1] + parts[2]
    assert total == whole
    assert parts[0] + parts[1] != whole
    np.testing.assert_array_equal(total.pairs, sum(part.pairs for part in parts))
    assert parts[0] == Moments(corpus[0::3]), "adding changed a part"


def test_tables_are_read_only_views(corpus: Corpus, deep: Grammar) -> None:
    for moments in (Moments(corpus), deep.expected_moments()):
        for name in ("pairs", "triples"):
            table = getattr(moments, name)
            assert np.shares_memory(table, getattr(moments, name))
            assert not table.flags.writeable
    table = Moments(corpus).pairs
    np.testing.assert_array_equal(table, count(corpus, 2))


def test_covariances_are_those_of_the_counts(corpus: Corpus) -> None:
    moments = Moments(corpus)
    pairs, triples = covariance(count(corpus, 2)), covariance(count(corpus, 3))
    np.testing.assert_allclose(moments.pair_covariance(), pairs, atol=1e-15)
    np.testing.assert_allclose(moments.triple_covariance(), triples, atol=1e-15)
    explained = (pairs[:, :, None, :] + pairs[None, :, :, :]) / corpus.vocab
    np.testing.assert_allclose(moments.triple_covariance(corrected=True), triples - explained, atol=1e-15)


def test_expected_moments_are_those_of_all_derivations(language: Language) -> None:
    grammar = language.grammar
    for level in range(1, grammar.depth + 1):
        symbols = grammar.sizes[level]
        pairs = np.zeros((grammar.classes, symbols, symbols))
        triples = np.zeros((grammar.classes, symbols, symbols, symbols))
        for derivations in language.derivations.values():
            for derivation in derivations:
                weight = grammar.prior[derivation.root] * derivation.probability
                row = derivation.levels[level]
                for a, b in pairwise(row):
                    pairs[derivation.root, a, b] += weight
                for a, b, c in zip(row, row[1:], row[2:], strict=False):
                    triples[derivation.root, a, b, c] += weight
        moments = grammar.expected_moments(level)
        np.testing.assert_allclose(moments.pairs, pairs, atol=1e-12)
        np.testing.assert_allclose(moments.triples, triples, atol=1e-12)
        np.testing.assert_allclose(moments.pair_covariance(), covariance(pairs), atol=1e-12)


def test_a_large_sample_comes_close_to_the_expected_moments(deep: Grammar) -> None:
    sentences = 100_000
    moments, expected = Moments(deep.corpus(sentences, seed=3)), deep.expected_moments()
    # Counts vary more than Poisson, since a sentence has several of a kind, but not by much.
    for found, mean in [(moments.pairs, expected.pairs), (moments.triples, expected.triples)]:
        deviation = (found - sentences * mean) / np.sqrt(sentences * mean + 1)
        assert np.abs(deviation).max() < 8
        assert np.sqrt((deviation**2).mean()) < 2
    np.testing.assert_allclose(moments.pair_covariance(), expected.pair_covariance(), atol=1e-3)


def test_tokens_are_the_level_of_moments_unless_another_is_named(deep: Grammar) -> None:
    np.testing.assert_array_equal(deep.expected_moments().triples, deep.expected_moments(3).triples)
    assert (deep.expected_moments().pairs != deep.expected_moments(2).pairs).any()


# Signal and noise


@pytest.fixture(scope="module")
def study() -> gardenpath.SignalStudy:
    return gardenpath.snr(vocab=6, depth=2, grammars=8, seed=1)


def test_the_sample_complexity_is_where_the_inverse_ratio_crosses(study: gardenpath.SignalStudy) -> None:
    inverse, samples = study.inverse(), study.samples
    complexity = study.sample_complexity()
    assert complexity is not None
    after = int(np.searchsorted(samples, complexity))
    assert inverse[after - 1] >= 0.5 >= inverse[after]
    interval = study.interval()
    assert interval is not None
    assert interval[0] < complexity < interval[1]
    narrower = study.interval(confidence=0.3)
    assert narrower is not None
    assert interval[0] <= narrower[0] < narrower[1] <= interval[1]


def test_averages_are_those_of_signal_noise_and_ratio(study: gardenpath.SignalStudy) -> None:
    assert study.noise.shape == study.ratio.shape == (8, len(study.samples)) == (len(study.signal), len(study.samples))
    np.testing.assert_allclose(study.inverse("ratio_of_means"), study.noise.mean(axis=0) / study.signal.mean())
    np.testing.assert_allclose(study.inverse("mean_of_ratios"), 1 / study.ratio.mean(axis=0))


def test_noise_is_a_squared_distance_and_falls_like_one_over_the_number_of_sentences(
    study: gardenpath.SignalStudy,
) -> None:
    # Only where every triple was seen: the estimate for an unseen one is uniform, however few the sentences.
    last = slice(len(study.samples) // 2, None)
    slope = np.polyfit(np.log(study.samples[last]), np.log(study.noise[:, last].mean(axis=0)), 1)[0]
    assert -1.1 < slope < -0.9


def test_what_does_not_cross_has_no_sample_complexity() -> None:
    study = gardenpath.snr(vocab=6, depth=2, grammars=2, samples=[2, 4], seed=1)
    assert study.samples.tolist() == [2, 4]
    assert study.sample_complexity(threshold=1e-6) is None


def test_class_entropy_is_the_mean_of_that_of_grammars() -> None:
    mean, error = gardenpath.class_entropy(vocab=6, depth=2, fraction=0.5, grammars=20, sentences=300, seed=3)
    grammars = [Grammar.sample(6, 2, fraction=0.5, seed=seed) for seed in range(20)]
    other = [grammar.entropy(grammar.corpus(300, seed=1)).mean() for grammar in grammars]
    other_error = np.std(other) / np.sqrt(19)
    assert error == pytest.approx(other_error, rel=0.5)
    assert abs(mean - np.mean(other)) < 4 * np.hypot(error, other_error)


def test_the_fraction_for_an_entropy_has_it() -> None:
    fraction, entropy = gardenpath.fraction_for_entropy(
        vocab=6, depth=2, entropy=0.3, grammars=4, sentences=300, seed=1
    )
    again, error = gardenpath.class_entropy(vocab=6, depth=2, fraction=fraction, grammars=8, sentences=500, seed=2)
    assert abs(again - entropy) < 4 * error + 0.05


# Clusters


@pytest.fixture(scope="module")
def points() -> NDArray[np.float64]:
    rng = np.random.default_rng(1)
    return np.concatenate([rng.normal(centre, 0.3, size=(40, 3)) for centre in (0.0, 2.0, 5.0, 9.0)])


def test_labels_centroids_and_inertia_agree(points: NDArray[np.float64]) -> None:
    labels, centroids, inertia = gardenpath.kmeans(points, clusters=4, seed=1)
    distances = ((points[:, None, :] - centroids[None, :, :]) ** 2).sum(axis=-1)
    np.testing.assert_array_equal(labels, distances.argmin(axis=1))
    np.testing.assert_allclose(centroids, [points[labels == label].mean(axis=0) for label in range(4)])
    assert inertia == pytest.approx(distances.min(axis=1).sum())
    # The groups are so far apart that nothing else is possible.
    assert [len(set(labels[start : start + 40].tolist())) for start in range(0, 160, 40)] == [1] * 4
    assert sorted(np.bincount(labels).tolist()) == [40] * 4


def test_rows_are_any_matrix_of_numbers(points: NDArray[np.float64]) -> None:
    labels, _, _ = gardenpath.kmeans(points, clusters=4, seed=1)
    for rows in (points.tolist(), np.asfortranarray(points), np.repeat(points, 2, axis=0)[::2]):
        np.testing.assert_array_equal(gardenpath.kmeans(rows, clusters=4, seed=1)[0], labels)
    assert gardenpath.kmeans(np.array([[0], [1], [50]]), clusters=2)[2] == pytest.approx(0.5)


def lloyd(rows: NDArray[np.float64], clusters: int, rng: np.random.Generator) -> float:
    """The inertia of plain k-means from random rows."""
    centroids = rows[rng.choice(len(rows), clusters, replace=False)]
    for _ in range(100):
        distances = ((rows[:, None, :] - centroids[None, :, :]) ** 2).sum(axis=-1)
        labels = distances.argmin(axis=1)
        present = np.unique(labels)
        centroids[present] = [rows[labels == label].mean(axis=0) for label in present]
    return float(distances.min(axis=1).sum())


def test_rows_without_groups_are_clustered_at_least_as_well_as_by_plain_restarts() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(200, 4))
    plain = min(lloyd(rows, 12, rng) for _ in range(10))
    for seed in range(5):
        assert gardenpath.kmeans(rows, clusters=12, seed=seed)[2] < 1.01 * plain


# Not one of the averages, for which a type checker would be enough.
MEDIAN: Any = "median"

MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "unknown roots": (lambda: Moments(Corpus([[0, 1, 2]])), "root is 255, expected below"),
    "other sizes": (
        lambda: Moments(Grammar.sample(4, 2).corpus(3)) + Moments(Grammar.sample(5, 2).corpus(3)),
        "5 symbols and 5 roots, {2, 3} at a time, expected 4 symbols and 4 roots",
    ),
    "the root as a level": (lambda: Grammar.sample(4, 2).expected_moments(0), "level is 0, expected 1 to 2"),
    "an unknown average": (
        lambda: gardenpath.snr(4, 2, samples=[9], grammars=1).inverse(MEDIAN),
        "average is median, expected",
    ),
    "falling numbers": (
        lambda: gardenpath.snr(4, 2, samples=[20, 10]),
        "are [20, 10], expected positive and increasing",
    ),
    "no grammars": (lambda: gardenpath.class_entropy(4, 2, 0.5, grammars=0), "is 0, expected at least 1"),
    "an impossible entropy": (
        lambda: gardenpath.fraction_for_entropy(4, 2, 50.0),
        "class entropy is 50, expected between",
    ),
    "a flat list": (lambda: gardenpath.kmeans([1.0, 2.0], 1), "rows are not a matrix, expected two dimensions"),
    "no clusters": (lambda: gardenpath.kmeans([[1.0]], 0), "expected at least 1"),
    "not a number": (lambda: gardenpath.kmeans([[float("nan")]], 1), "expected finite numbers"),
}


@pytest.mark.parametrize(("mistake", "text"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_value_errors_of_one_line(mistake: Callable[[], object], text: str) -> None:
    with value_error(text):
        mistake()


def test_only_moments_are_added_to_moments(corpus: Corpus) -> None:
    with pytest.raises(TypeError):
        Moments(corpus) + 1  # type: ignore[operator]
