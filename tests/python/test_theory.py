"""Theory, compared with enumeration of trees, samples and other computations."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pytest
from brute_force import tree_shapes

import gardenpath
from gardenpath import Grammar, theory


def by_length(values: theory.ByLength) -> dict[int, float]:
    return dict(zip(values.lengths.tolist(), values.values.tolist(), strict=True))


def shapes(depth: int) -> Iterator[tuple[int, int, int]]:
    """The length and the numbers of binary and ternary nodes of every shape of tree."""
    if depth == 0:
        yield 1, 0, 0
        return
    below = list(shapes(depth - 1))
    for arity in (2, 3):
        for children in itertools.product(below, repeat=arity):
            length, binary, ternary = map(sum, zip(*children, strict=True))
            yield length, binary + (arity == 2), ternary + (arity == 3)


def sum_over_shapes(depth: int, weight: Callable[[int, int], float]) -> dict[int, float]:
    """The sum over the shapes of each length of a weight of their numbers of binary and ternary nodes."""
    sums: dict[int, float] = defaultdict(float)
    for length, binary, ternary in shapes(depth):
        sums[length] += weight(binary, ternary)
    return sums


@pytest.mark.parametrize("p_binary", [0.5, 0.2, 0.9])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_lengths_are_those_of_all_shapes(depth: int, p_binary: float) -> None:
    law = theory.length_distribution(depth, p_binary=p_binary)
    expected = sum_over_shapes(depth, lambda binary, ternary: p_binary**binary * (1 - p_binary) ** ternary)
    assert by_length(law) == pytest.approx(expected)
    assert len(law) == 3**depth - 2**depth + 1


@pytest.mark.parametrize("depth", range(1, 8))
def test_probabilities_of_lengths_sum_to_one_with_the_mean_of_a_branching_process(depth: int) -> None:
    law = theory.length_distribution(depth, p_binary=0.3)
    assert law.values.sum() == pytest.approx(1.0)
    assert law.lengths @ law.values == pytest.approx(theory.mean_branching(p_binary=0.3) ** depth)
    np.testing.assert_allclose(np.exp(law.logs), law.values, rtol=1e-9, atol=1e-300)
    assert np.isfinite(law.logs).all()


def test_lengths_of_a_corpus_follow_the_law() -> None:
    count = 50_000
    grammar = Grammar.sample(8, 3, fraction=0.25, seed=1, p_binary=0.4)
    law = theory.length_distribution(3, p_binary=0.4)
    found = np.bincount(grammar.corpus(count, seed=2).lengths, minlength=28)[8:]
    common = law.values * count > 10
    chi_square = ((found - law.values * count) ** 2 / (law.values * count))[common].sum()
    assert chi_square < common.sum() + 4 * math.sqrt(2 * common.sum())
    assert grammar.mean_length == pytest.approx(law.lengths @ law.values)


@pytest.mark.parametrize("p_binary", [0.0, 0.25, 1.0])
def test_branching_has_the_mean_of_two_and_three(p_binary: float) -> None:
    mean = 2 * p_binary + 3 * (1 - p_binary)
    assert theory.mean_branching(p_binary=p_binary) == pytest.approx(mean)
    for depth in (1, 4):
        assert theory.typical_length(depth, p_binary=p_binary) == math.floor(mean**depth + 1e-9)
        assert theory.mean_internal_nodes(depth, p_binary=p_binary) == pytest.approx(
            sum(mean**level for level in range(depth))
        )


def test_mean_internal_nodes_are_those_of_sampled_trees() -> None:
    trees = Grammar.sample(4, 3, seed=1, p_binary=0.3).corpus(4000, seed=1).trees()
    counts = [sum(len(tree.level(level)) for level in range(3)) for tree in trees]
    error = statistics.stdev(counts) / math.sqrt(len(counts))
    assert abs(statistics.mean(counts) - theory.mean_internal_nodes(3, p_binary=0.3)) < 4 * error


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_trees_are_counted_exactly(depth: int) -> None:
    assert theory.tree_count(depth) == tree_shapes(depth)


def test_shapes_of_a_sentence_are_what_a_parser_counts() -> None:
    grammar = Grammar.sample(2, 3, fraction=1.0, seed=1)
    counts = theory.tree_count(3)
    # Every tuple has one parent, so a string has one tree of each shape.
    assert {length: grammar.tree_count([0] * length) for length in range(8, 28)} == counts


@pytest.mark.parametrize(("binary_share", "ternary_share"), [(0.5, 0.5), (0.25, 0.1)])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_grammatical_fraction_averages_over_the_trees_of_a_length(
    depth: int, binary_share: float, ternary_share: float
) -> None:
    p = 0.3

    def probability(binary: int, ternary: int) -> float:
        return p**binary * (1 - p) ** ternary

    def written(binary: int, ternary: int) -> float:
        return probability(binary, ternary) * binary_share**binary * ternary_share**ternary

    total, grammatical = sum_over_shapes(depth, probability), sum_over_shapes(depth, written)
    found = theory.grammatical_fraction(depth, binary_share, ternary_fraction=ternary_share, p_binary=p)
    assert by_length(found) == pytest.approx({length: grammatical[length] / total[length] for length in total})


def test_the_printed_fraction_is_the_same_up_to_depth_two_and_another_at_three() -> None:
    def ratio(depth: int) -> np.ndarray:
        printed, correct = theory.paper_grammatical_fraction(depth, 0.25), theory.grammatical_fraction(depth, 0.25)
        return np.asarray(printed.values / correct.values)

    np.testing.assert_allclose(ratio(2), 1.0)
    assert np.abs(ratio(3) - 1).max() > 0.1


@pytest.mark.parametrize(("fraction", "ternary_fraction"), [(0.5, None), (0.3, 0.6)])
def test_mean_candidates_sum_over_all_shapes(fraction: float, ternary_fraction: float | None) -> None:
    of_triples = fraction if ternary_fraction is None else ternary_fraction
    expected = sum_over_shapes(3, lambda binary, ternary: fraction**binary * of_triples**ternary)
    assert by_length(theory.mean_candidates(3, fraction, ternary_fraction=ternary_fraction)) == pytest.approx(expected)


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_at_the_critical_fraction_candidates_neither_shrink_nor_grow(depth: int) -> None:
    def growth(fraction: float) -> float:
        above, below = (
            by_length(theory.mean_candidates(d, fraction))[theory.typical_length(d)] for d in (depth, depth - 1)
        )
        return above / below

    critical = theory.critical_fraction(depth)
    assert growth(critical) == pytest.approx(1.0)
    assert growth(0.99 * critical) < 1 < growth(1.01 * critical)


@pytest.mark.parametrize("height", [1, 2, 3])
def test_splits_are_counted_like_cuts_into_spans_of_possible_lengths(height: int) -> None:
    children = range(2 ** (height - 1), 3 ** (height - 1) + 1)
    found = [theory.splits(length, height) for length in range(2**height, 3**height + 1)]
    expected = [
        tuple(sum(sum(spans) == length for spans in itertools.product(children, repeat=arity)) for arity in (2, 3))
        for length in range(2**height, 3**height + 1)
    ]
    assert found == expected
    medians = tuple(statistics.median(column) for column in zip(*expected, strict=True))
    assert theory.median_splits(height) == medians


def test_the_topologies_of_depth_two_are_all_pairs_and_triples_of_arities() -> None:
    p = {2: 0.3, 3: 0.7}
    expected = {
        arities: p[len(arities)] * math.prod(p[arity] for arity in arities)
        for count in (2, 3)
        for arities in itertools.product((2, 3), repeat=count)
    }
    found = dict(theory.two_level_topologies(p_binary=0.3))
    assert found == pytest.approx(expected)
    assert sum(found.values()) == pytest.approx(1.0)


def class_entropy_at_large_vocab(fraction: float) -> tuple[float, float]:
    """Mean and error of the limit of measurements, assuming corrections of order 1 / vocab."""
    (small, small_error), (large, large_error) = (
        gardenpath.class_entropy(vocab, 2, fraction, grammars=4, sentences=4000, seed=1) for vocab in (16, 32)
    )
    return 2 * large - small, math.hypot(2 * large_error, small_error)


@pytest.mark.parametrize("fraction", [0.5, 0.75, 1.0])
def test_the_class_entropy_is_the_limit_of_large_vocabularies(fraction: float) -> None:
    mean, error = class_entropy_at_large_vocab(fraction)
    assert abs(mean - theory.class_entropy(fraction)) < 3 * error


def test_the_printed_class_entropy_is_not_that_limit() -> None:
    mean, error = class_entropy_at_large_vocab(0.5)
    assert abs(mean - theory.paper_class_entropy(0.5)) > 4 * error


def test_the_class_entropy_vanishes_without_a_choice_of_branching() -> None:
    assert theory.class_entropy(0.5, p_binary=1.0) == theory.class_entropy(0.5, p_binary=0.0) == 0.0
    assert theory.class_entropy(0.3, ternary_fraction=0.3) == theory.class_entropy(0.3)


def test_sample_complexity_is_the_largest_of_the_scales() -> None:
    vocab, binary, ternary = 8, 2, 16
    for depth in (1, 2, 4):
        expected = [
            max(
                vocab * m * (binary / factor) ** (level - 1) for level in range(1, depth + 1) for m in (binary, ternary)
            )
            for factor in (0.5**2 / 2, 2 * (0.5 / 2.5) ** 2)
        ]
        assert theory.sample_complexity(depth, vocab, binary, ternary) == pytest.approx(expected)


SETS = [{1: 1.0}, {4: 1.0}, {1: 0.5, 2: 0.5}, {2: 0.25, 4: 0.75}, {1: 0.2, 2: 0.3, 3: 0.5}]


def any_shapes(depth: int, arities: Iterable[int]) -> Iterator[tuple[int, Counter[int]]]:
    """The length and the number of nodes of each arity of every shape of tree."""
    if depth == 0:
        yield 1, Counter()
        return
    below = list(any_shapes(depth - 1, arities))
    for arity in arities:
        for children in itertools.product(below, repeat=arity):
            yield sum(length for length, _ in children), sum((nodes for _, nodes in children), Counter([arity]))


def any_sums(depth: int, weights: dict[int, float]) -> dict[int, float]:
    """The sum over the shapes of each length of the product of the weights of their nodes."""
    sums: dict[int, float] = defaultdict(float)
    for length, nodes in any_shapes(depth, weights):
        sums[length] += math.prod(weights[arity] ** count for arity, count in nodes.items())
    return sums


def nonzero(values: theory.ByLength) -> dict[int, float]:
    return {length: value for length, value in by_length(values).items() if value}


@pytest.mark.parametrize("arities", SETS)
@pytest.mark.parametrize("depth", [1, 2])
def test_any_arities_sum_over_all_shapes(depth: int, arities: dict[int, float]) -> None:
    fractions = {arity: 0.9 / arity for arity in arities}
    both = {arity: arities[arity] * fractions[arity] for arity in arities}
    lengths, grammatical = any_sums(depth, arities), any_sums(depth, both)
    assert nonzero(theory.length_distribution(depth, arities=arities)) == pytest.approx(lengths)
    assert theory.tree_count(depth, arities=arities) == any_sums(depth, dict.fromkeys(arities, 1))
    assert nonzero(theory.mean_candidates(depth, arities=arities, fractions=fractions)) == pytest.approx(
        any_sums(depth, fractions)
    )
    share = theory.grammatical_fraction(depth, arities=arities, fractions=fractions)
    assert nonzero(share) == pytest.approx({length: grammatical[length] / lengths[length] for length in lengths})
    assert theory.mean_branching(arities=arities) == pytest.approx(sum(s * p for s, p in arities.items()))
    if depth == 2:
        found = theory.two_level_topologies(arities=arities)
        expected = {
            children: arities[root] * math.prod(arities[child] for child in children)
            for root in arities
            for children in itertools.product(arities, repeat=root)
        }
        assert dict(found) == pytest.approx(expected)


def test_two_and_three_children_are_a_case_of_any() -> None:
    arities, fractions = {2: 0.3, 3: 0.7}, {2: 0.4, 3: 0.2}
    paper = {"ternary_fraction": 0.2, "p_binary": 0.3}
    assert theory.class_entropy(arities=arities, fractions=fractions) == theory.class_entropy(0.4, **paper)
    assert theory.class_entropy(0.4, arities=arities, fractions={3: 0.2}) == theory.class_entropy(0.4, **paper)
    assert theory.critical_fraction(4, arities=arities) == theory.critical_fraction(4, p_binary=0.3)
    assert theory.typical_length(5, arities=arities) == theory.typical_length(5, p_binary=0.3)
    for function in (theory.grammatical_fraction, theory.paper_grammatical_fraction):
        assert function(3, arities=arities, fractions=fractions) == function(3, 0.4, **paper)
    complexity = theory.sample_complexity(3, 8, arities=arities, rules={2: 2, 3: 16})
    assert complexity == theory.sample_complexity(3, 8, 2, 16, p_binary=0.3)
    assert theory.splits(15, 3, arities=(2, 3)) == dict(zip((2, 3), theory.splits(15, 3), strict=True))
    assert theory.median_splits(3, arities=(2, 3)) == dict(zip((2, 3), theory.median_splits(3), strict=True))


def test_values_by_arity_go_with_arrays() -> None:
    entropies = theory.class_entropy([0.25, 0.5], arities={1: 0.5, 2: 0.5}, fractions={1: 1.0})
    assert entropies.tolist() == [
        theory.class_entropy(arities={1: 0.5, 2: 0.5}, fractions={1: 1.0, 2: f}) for f in (0.25, 0.5)
    ]
    assert theory.typical_length([1, 2, 3], arities={2: 0.5, 4: 0.5}).tolist() == [2, 8, 26]
    splits = theory.splits(np.arange(1, 17), 2, arities=[1, 2, 4])
    for arity, counts in splits.items():
        expected = Counter(map(sum, itertools.product((1, 2, 4), repeat=arity)))
        assert counts.tolist() == [expected[length] for length in range(1, 17)]


MISTAKES: dict[str, Callable[[], object]] = {
    "no depth": lambda: theory.length_distribution(0),
    "too deep": lambda: theory.tree_count(50),
    "p_binary": lambda: theory.mean_branching(p_binary=1.5),
    "fraction": lambda: theory.class_entropy(-0.5),
    "ternary fraction": lambda: theory.grammatical_fraction(2, 0.5, ternary_fraction=2.0),
    "NaN": lambda: theory.mean_candidates(2, math.nan),
    "height": lambda: theory.splits(4, 0),
    "too many rules": lambda: theory.sample_complexity(2, 4, 5, 1),
    "no rules": lambda: theory.sample_complexity(2, 4, 1),
    "no fraction": lambda: theory.class_entropy(),
    "both": lambda: theory.length_distribution(2, p_binary=0.3, arities={2: 1.0}),
    "nine children": lambda: theory.tree_count(2, arities=[9]),
    "no children": lambda: theory.tree_count(2, arities=[]),
    "half": lambda: theory.mean_branching(arities={2: 0.5}),
    "unused fraction": lambda: theory.class_entropy(0.5, fractions={4: 0.1}),
    "too long": lambda: theory.length_distribution(5, arities={8: 1.0}),
    "too many trees": lambda: theory.class_entropy(0.5, arities=dict.fromkeys(range(1, 5), 0.25)),
    "too many topologies": lambda: theory.two_level_topologies(arities=dict.fromkeys(range(1, 9), 0.125)),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_value_errors_of_one_line(mistake: Callable[[], object]) -> None:
    with pytest.raises(ValueError) as caught:
        mistake()
    assert len(str(caught.value).splitlines()) == 1


def test_theory_is_a_module_that_can_be_imported() -> None:
    import gardenpath.theory as module

    assert module is theory is gardenpath.theory
