"""Exact parsing, compared with the enumeration of all derivations."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from brute_force import Derivation, Language, inside, tree_shapes
from conftest import SHAPES
from mistakes import value_error
from numpy.typing import NDArray

from gardenpath import Corpus, Grammar, Tree

OLD_MAN = "the old man the boats"


def bayes(grammar: Grammar, log_likelihood: NDArray[np.float64]) -> NDArray[np.float64]:
    """The posterior over roots of each sentence; all 0 for impossible sentences."""
    joint = np.exp(log_likelihood) * grammar.prior
    total = joint.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0))


def entropies(posterior: NDArray[np.float64]) -> NDArray[np.float64]:
    logs = np.log(posterior, out=np.zeros_like(posterior), where=posterior > 0)
    return np.asarray(-(posterior * logs).sum(axis=1))


def of_length(symbols: int, length: int) -> list[list[int]]:
    """All strings of a length."""
    return np.indices((symbols,) * length).reshape(length, -1).T.tolist()


def as_text(derivation: Derivation, grammar: Grammar) -> str:
    """A derivation in brackets."""
    parts = [grammar.name(grammar.depth, token) for token in derivation.sentence]
    for level in reversed(range(grammar.depth)):
        below = iter(parts)
        parts = [
            f"({grammar.name(level, rule.parent)} {' '.join(next(below) for _ in rule.children)})"
            for rule in derivation.rules[level]
        ]
    return parts[0]


# Batches


def test_inside_is_the_sum_over_all_derivations(language: Language) -> None:
    log_likelihood, posterior = language.grammar.inside(language.sentences)
    expected = np.array([language.likelihoods(sentence) for sentence in language.sentences])
    np.testing.assert_allclose(np.exp(log_likelihood), expected, rtol=1e-12)
    np.testing.assert_array_equal(np.isneginf(log_likelihood), expected == 0)
    np.testing.assert_allclose(posterior, bayes(language.grammar, log_likelihood), rtol=1e-12)
    # Complete: the sentences of each root have total probability 1.
    np.testing.assert_allclose(np.exp(log_likelihood).sum(axis=0), 1.0, rtol=1e-12)


def test_inside_of_a_deep_grammar_is_that_of_a_plain_recursion(deep: Grammar) -> None:
    corpus = deep.corpus(40, seed=2)
    log_likelihood, posterior = deep.inside(corpus)
    np.testing.assert_allclose(
        np.exp(log_likelihood), [inside(deep, sentence.tolist()) for sentence in corpus], rtol=1e-11
    )
    np.testing.assert_allclose(posterior, bayes(deep, log_likelihood), rtol=1e-12)
    assert (posterior.max(axis=1) < 0.99).any(), "no sentence is ambiguous"


def test_strings_that_are_no_sentences_are_impossible() -> None:
    language = Language(SHAPES["garden path"])
    strings = of_length(4, 5)
    log_likelihood, posterior = language.grammar.inside(strings)
    impossible = [tuple(string) not in language.derivations for string in strings]
    assert 0 < sum(impossible) < len(strings)
    assert np.isneginf(log_likelihood[impossible]).all()
    assert (posterior[impossible] == 0).all()
    np.testing.assert_allclose(posterior[~np.array(impossible)].sum(axis=1), 1.0)


@pytest.mark.parametrize("length", [1, 3, 10, 500])
def test_sentences_of_impossible_lengths_are_impossible(length: int) -> None:
    grammar = SHAPES["every tuple is grammatical"]
    log_likelihood, posterior = grammar.inside([[0] * length])
    assert np.isneginf(log_likelihood).all()
    assert (posterior == 0).all()
    assert grammar.best_tree([0] * length) is None
    assert grammar.sample_tree([0] * length) is None
    assert grammar.tree_count([0] * length) == 0
    assert grammar.trees([0] * length) == []
    assert math.isnan(grammar.tree_entropy([0] * length))
    with pytest.raises(ValueError, match="does not derive"):
        grammar.marginals([0] * length)


def test_entropy_is_that_of_the_posterior(language: Language) -> None:
    _, posterior = language.grammar.inside(language.sentences)
    np.testing.assert_allclose(language.grammar.entropy(language.sentences), entropies(posterior), atol=1e-12)


def object_array(corpus: Corpus) -> NDArray[np.object_]:
    array = np.empty(len(corpus), dtype=object)
    array[:] = list(corpus)
    return array


FORMS: dict[str, Callable[[Corpus], Any]] = {
    "padded": lambda corpus: corpus.padded(),
    "padded bytes": lambda corpus: corpus.padded(255, "uint8"),
    "padded int16": lambda corpus: corpus.padded(-7, "int16"),
    "lists": lambda corpus: [sentence.tolist() for sentence in corpus],
    "arrays": lambda corpus: list(corpus),
    "wide arrays": lambda corpus: [sentence.astype(np.int64) for sentence in corpus],
    "objects": object_array,
    "without roots": lambda corpus: Corpus(corpus.padded()),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_all_forms_of_a_batch_give_the_same_numbers(deep: Grammar, form: Callable[[Corpus], Any]) -> None:
    corpus = deep.corpus(200, seed=3)
    for expected, found in zip(deep.inside(corpus), deep.inside(form(corpus)), strict=True):
        assert found.tobytes() == expected.tobytes()
    assert deep.entropy(form(corpus)).tobytes() == deep.entropy(corpus).tobytes()


def test_a_pandas_column_is_a_batch(deep: Grammar) -> None:
    pandas = pytest.importorskip("pandas")
    corpus = deep.corpus(50, seed=3)
    column = pandas.DataFrame({"tokens": [sentence.tolist() for sentence in corpus]})["tokens"]
    assert deep.inside(column)[0].tobytes() == deep.inside(corpus)[0].tobytes()


def test_no_sentences_give_no_rows(deep: Grammar) -> None:
    assert [array.shape for array in deep.inside([])] == [(0, 4), (0, 4)]
    assert deep.entropy(Corpus([])).shape == (0,)


@pytest.mark.parametrize("fraction", [0.25, 0.5, 1.0])
def test_the_bayes_floor_is_that_of_the_posterior(fraction: float) -> None:
    grammar = Grammar.sample(6, 2, fraction=fraction, seed=4)
    corpus = grammar.corpus(3000, seed=5)
    _, posterior = grammar.inside(corpus)
    floor = grammar.bayes_floor(corpus)
    assert floor.loss == pytest.approx(-np.log(posterior[np.arange(3000), corpus.roots]).mean())
    assert floor.accuracy == pytest.approx((posterior.argmax(axis=1) == corpus.roots).mean())
    assert floor.parse_rate == 1.0
    assert floor.guessing == pytest.approx(np.log(6))
    # The loss is the class entropy, up to the noise of 3000 roots.
    assert floor.loss == pytest.approx(grammar.entropy(corpus).mean(), abs=0.05)


def test_the_bayes_floor_counts_the_sentences_that_parse(garden_path: Grammar) -> None:
    own = garden_path.corpus(30, seed=1)
    nonsense = Corpus([[0, 0, 0, 0]] * 10, roots=[0] * 10)
    assert np.isneginf(garden_path.inside(nonsense)[0]).all()
    both = Corpus([*own, *nonsense], roots=[*own.roots, *nonsense.roots])
    assert garden_path.bayes_floor(both).parse_rate == 0.75


# Single sentences


def test_trees_are_all_derivations_with_their_probabilities(language: Language) -> None:
    grammar = language.grammar
    for sentence in language.sentences[:: max(1, len(language.sentences) // 50)]:
        trees = grammar.trees(sentence)
        found = {str(tree): tree.log_probability() for tree in trees}
        expected = {as_text(d, grammar): math.log(d.probability) for d in language.derivations[sentence]}
        assert found == pytest.approx(expected)
        assert grammar.tree_count(sentence) == len(trees) == len(found)
        assert len(grammar.trees(sentence, limit=1)) == 1


def test_the_best_tree_is_the_most_probable_one_with_its_root(language: Language) -> None:
    grammar = language.grammar
    for sentence in language.sentences[:: max(1, len(language.sentences) // 50)]:
        best = grammar.best_tree(sentence)
        assert best is not None
        joint = {tree: tree.log_probability() + math.log(grammar.prior[tree.root]) for tree in grammar.trees(sentence)}
        assert joint[best] == pytest.approx(max(joint.values()))


def test_tree_entropy_is_that_of_the_posterior_over_trees(language: Language) -> None:
    for sentence in language.sentences[:: max(1, len(language.sentences) // 50)]:
        shares = np.array([[share for _, share in language.shares(sentence)]])
        assert language.grammar.tree_entropy(sentence) == pytest.approx(entropies(shares)[0], abs=1e-12)


def test_trees_are_sampled_from_the_posterior() -> None:
    language = Language(SHAPES["frequent and rare rules"])
    grammar, draws = language.grammar, 2000
    sentence = language.most_ambiguous()
    expected = {as_text(derivation, grammar): draws * share for derivation, share in language.shares(sentence)}
    found = Counter(str(grammar.sample_tree(sentence, seed)) for seed in range(draws))
    assert found.keys() == expected.keys()
    chi_square = sum((found[tree] - count) ** 2 / count for tree, count in expected.items())
    freedom = len(expected) - 1
    assert freedom > 0
    assert chi_square < freedom + 4 * math.sqrt(2 * freedom)
    assert grammar.sample_tree(sentence, seed=3) == grammar.sample_tree(sentence, seed=3)


def expected_spans(language: Language, sentence: tuple[int, ...], level: int) -> dict[tuple[int, int, int], float]:
    """The posterior probability of each node of a level."""
    spans: dict[tuple[int, int, int], float] = defaultdict(float)
    for derivation, share in language.shares(sentence):
        for node in derivation.nodes(level):
            spans[node] += share
    return spans


def test_marginals_are_those_of_all_derivations(language: Language) -> None:
    grammar, sentence = language.grammar, language.most_ambiguous()
    spans, uses = grammar.marginals(sentence)
    assert (len(spans), len(uses)) == (grammar.depth + 1, grammar.depth)
    for level, records in enumerate(spans):
        found = {(r["start"].item(), r["span"].item(), r["symbol"].item()): r["probability"].item() for r in records}
        possible = {node: probability for node, probability in found.items() if probability > 0}
        assert possible == pytest.approx(expected_spans(language, sentence, level))
    for level, counts in enumerate(uses):
        expected = np.zeros(len(grammar.rules(level)))
        for derivation, share in language.shares(sentence):
            for rule in derivation.rules[level]:
                expected[rule.number] += share
        np.testing.assert_allclose(counts, expected, atol=1e-12)
        # Each node has one rule, and rules have the nodes below as children.
        assert counts.sum() == pytest.approx(spans[level]["probability"].sum())
        assert counts @ grammar.rules(level)["arity"] == pytest.approx(spans[level + 1]["probability"].sum())


def test_charts_have_the_marginals_and_the_inside_probabilities(deep: Grammar) -> None:
    sentence = max(deep.corpus(50, seed=2), key=deep.tree_count)
    chart, (spans, _) = deep.chart(sentence), deep.marginals(sentence)
    np.testing.assert_array_equal(chart.sentence, sentence)
    assert chart.depth == deep.depth
    assert chart.tree_count == deep.tree_count(sentence) > 1
    assert chart.trees(limit=7) == deep.trees(sentence, limit=7)
    for level in range(4):
        candidates = chart.candidates(level)
        for field in ("start", "span", "symbol", "probability"):
            np.testing.assert_array_equal(candidates[field], spans[level][field])
    # Some symbols derive a span but belong to no tree.
    assert (chart.candidates(2)["probability"] == 0).any()
    roots = chart.candidates(0)
    log_likelihood, posterior = deep.inside([sentence])
    whole = roots[(roots["start"] == 0) & (roots["span"] == len(sentence))]
    np.testing.assert_allclose(whole["log_inside"], log_likelihood[0, whole["symbol"]])
    np.testing.assert_allclose(whole["probability"], posterior[0, whole["symbol"]])


def test_candidates_are_the_symbols_that_derive_a_span() -> None:
    language = Language(SHAPES["garden path"])
    grammar = language.grammar
    chart = grammar.chart(OLD_MAN)
    found = {
        (r["start"].item(), r["span"].item(), r["symbol"].item()): r["log_inside"].item() for r in chart.candidates(1)
    }
    sentence, expected = chart.sentence.tolist(), {}
    for parent, rules in language.layers[1].items():
        for rule in rules:
            for start in range(len(sentence) - len(rule.children) + 1):
                if tuple(sentence[start : start + len(rule.children)]) == rule.children:
                    expected[start, len(rule.children), parent] = math.log(rule.probability)
    assert found == pytest.approx(expected)


def test_the_old_man_has_two_trees_of_two_roots(garden_path: Grammar) -> None:
    trees = {str(tree): math.exp(tree.log_probability()) for tree in garden_path.trees(OLD_MAN)}
    assert trees == pytest.approx(
        {
            "(Statement (Noun the old) (Verb man the boats))": 0.5 * 0.5 * 0.4,
            "(Fragment (Noun the old man) (Noun the boats))": 0.25 * 0.25 * 0.25,
        }
    )
    tokens = garden_path.chart(OLD_MAN).sentence
    assert garden_path.best_tree(OLD_MAN) == garden_path.best_tree(tokens) == garden_path.best_tree(tokens.tolist())
    _, posterior = garden_path.inside([tokens])
    statement, fragment = 0.75 * 0.1, 0.25 * 0.25**3
    np.testing.assert_allclose(posterior, [[statement / (statement + fragment), fragment / (statement + fragment)]])


def test_numbers_of_trees_are_exact_beyond_64_bits() -> None:
    grammar = Grammar.sample(2, 6, fraction=1.0, seed=1)
    # Every tuple has one parent, so a string has one tree of each shape.
    count = tree_shapes(6)[240]
    assert count > 2**64
    assert grammar.tree_count([0, 1] * 120) == grammar.chart([1, 1] * 120).tree_count == count


# Trees


def test_trees_know_their_levels_nodes_and_rules(language: Language) -> None:
    grammar, sentence = language.grammar, language.most_ambiguous()
    for derivation in language.derivations[sentence]:
        tree = Tree.from_text(as_text(derivation, grammar), grammar)
        assert (tree.root, tree.depth, tuple(tree.sentence.tolist())) == (derivation.root, grammar.depth, sentence)
        for level in range(grammar.depth + 1):
            assert tuple(tree.level(level).tolist()) == derivation.levels[level]
            assert tree.nodes(level).tolist() == derivation.nodes(level)
        for level in range(grammar.depth):
            numbers = [rule.number for rule in derivation.rules[level]]
            np.testing.assert_array_equal(tree.rules(level), grammar.rules(level)[numbers])
        assert tree.log_probability() == pytest.approx(math.log(derivation.probability))


def test_a_tree_with_a_rule_that_does_not_exist_is_impossible(garden_path: Grammar) -> None:
    tree = Tree.from_text("(Statement (Noun the old) (Verb the old))", garden_path)
    assert tree.log_probability() == -math.inf
    assert tree.rules(1)["probability"].tolist() == [0.5, 0.0]


def test_trees_are_equal_by_shape_and_symbols(garden_path: Grammar) -> None:
    trees = garden_path.trees(OLD_MAN)
    again = [Tree.from_text(str(tree), garden_path) for tree in trees]
    assert again == trees
    assert trees[0] != trees[1]
    assert trees[0] != str(trees[0])
    assert len({*trees, *again}) == 2
    for tree in trees:
        assert pickle.loads(pickle.dumps(tree)) == copy.deepcopy(tree) == tree
        assert str(pickle.loads(pickle.dumps(tree))) == str(tree)
        assert repr(tree) == f"<Tree {tree}>"


# Pictures


def words(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return "".join(f" {text} " for text in root.itertext()).split()


def test_pictures_of_trees_are_svg_with_all_names_and_the_caption(garden_path: Grammar) -> None:
    tree = garden_path.trees(OLD_MAN)[0]
    names = str(tree).replace("(", " ").replace(")", " ").split()
    assert Counter(names) <= Counter(words(tree._repr_svg_()))
    assert "a<b" in words(tree.to_svg(caption="a<b & c"))


def test_pictures_of_charts_are_svg_with_all_candidates(garden_path: Grammar) -> None:
    chart = garden_path.chart(OLD_MAN)
    assert chart._repr_svg_() == chart.to_svg()
    shown = words(chart.to_svg())
    assert set(OLD_MAN.split()) <= set(shown)
    for level in range(2):
        for symbol in set(chart.candidates(level)["symbol"].tolist()):
            assert any(garden_path.name(level, symbol) in word for word in shown)


# Mistakes


GRAMMAR = SHAPES["garden path"]


def parse(sentence: Any) -> Callable[[], object]:
    return lambda: GRAMMAR.best_tree(sentence)


def batch(sentences: Any) -> Callable[[], object]:
    return lambda: GRAMMAR.inside(sentences)


MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "unknown token": (parse([0, 4]), "the sentence: token 4 at position 1 is not one of the 4 tokens"),
    "unknown byte": (
        parse(np.array([0, 4], dtype=np.uint8)),
        "the sentence: token 4 at position 1 is not one of the 4",
    ),
    "negative token": (parse([-1, 0]), "the sentence: token -1 at position 0 is not one of the 4 tokens"),
    "unknown name": (parse("the old woman"), '"woman" is not one of the 4 tokens of the grammar'),
    "empty": (parse([]), "the sentence is empty, expected tokens"),
    "empty text": (parse("  "), "the sentence is empty, expected tokens"),
    "floats": (parse([0.5, 1.5]), "the sentence is not a list of integers"),
    "a batch for a sentence": (parse([[0, 1]]), "the sentence is not a list of integers"),
    "a sentence for a batch": (batch([0, 1]), "single list of tokens, expected a batch"),
    "unknown token in a batch": (
        batch([[0, 1], [0, 4]]),
        "sentence 1: token 4 at position 1 is not one of the 4 tokens",
    ),
    "unknown token in a corpus": (batch(Corpus([[0, 1], [0, 4]])), "sentence 1: token 4 at position 1"),
    "unknown token in a matrix": (batch(np.array([[0, 1], [0, 4]])), "sentence 1: token 4 at position 1"),
    "roots unknown": (
        lambda: GRAMMAR.bayes_floor(Corpus([[0, 1]])),
        "sentence 0 has the root 255, expected one below 2",
    ),
    "a root too many": (
        lambda: GRAMMAR.bayes_floor(Corpus([[0, 1]], [2])),
        "sentence 0 has the root 2, expected one below 2",
    ),
    "level of a chart": (lambda: GRAMMAR.chart(OLD_MAN).candidates(3), "level is 3, expected 0 to 2"),
    "level of a tree": (lambda: GRAMMAR.trees(OLD_MAN)[0].level(3), "level is 3, expected 0 to 2"),
    "level of rules": (lambda: GRAMMAR.trees(OLD_MAN)[0].rules(2), "level is 2, expected 0 to 1"),
    "half a tree": (lambda: Tree.from_text("(Statement (Noun the old)", GRAMMAR), "line 1: "),
    "a tree of other names": (lambda: Tree.from_text("(X (Y 0 1) (Z 2 3))", GRAMMAR), "line 1: "),
}


@pytest.mark.parametrize(("mistake", "text"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_value_errors_of_one_line(mistake: Callable[[], object], text: str) -> None:
    with value_error(text):
        mistake()
