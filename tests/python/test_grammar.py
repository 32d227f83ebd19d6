"""Grammars: sampling, rules, text, files, equality."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from brute_force import Language
from conftest import GARDEN_PATH, SHAPES
from mistakes import value_error

from gardenpath import Grammar


def tuples(grammar: Grammar, level: int) -> list[tuple[int, ...]]:
    """The right-hand sides of the rules of a level."""
    return [tuple(children[:arity].tolist()) for _, arity, children, _ in grammar.rules(level).tolist()]


def test_a_seed_gives_the_same_grammar_again_and_another_gives_another() -> None:
    grammars = [Grammar.sample(8, 2, fraction=0.25, seed=seed) for seed in range(5)]
    again = [Grammar.sample(8, 2, fraction=0.25, seed=seed) for seed in range(5)]
    assert [g.to_text() for g in grammars] == [g.to_text() for g in again]
    assert len({g.to_text() for g in grammars}) == 5


@pytest.mark.parametrize(
    ("vocab", "depth", "fraction"), [(2, 1, 1.0), (5, 3, 0.3), (16, 2, 0.25), (7, 2, 0.01), (20, 1, 0.113)]
)
def test_every_symbol_has_its_share_of_all_pairs_and_triples(vocab: int, depth: int, fraction: float) -> None:
    grammar = Grammar.sample(vocab, depth, fraction, seed=1)
    binary, ternary = max(1, round(fraction * vocab)), max(1, round(fraction * vocab**2))
    assert grammar.sizes == [vocab] * (depth + 1)
    for level in range(depth):
        rules = grammar.rules(level)
        found = Counter(zip(rules["parent"].tolist(), rules["arity"].tolist(), strict=True))
        assert found == {(parent, arity): n for parent in range(vocab) for arity, n in [(2, binary), (3, ternary)]}


def test_numbers_of_rules_can_be_given_instead() -> None:
    grammar = Grammar.sample(6, 2, binary_rules=2, ternary_rules=5, seed=1)
    rules = grammar.rules(1)
    assert np.bincount(rules["parent"][rules["arity"] == 2]).tolist() == [2] * 6
    assert np.bincount(rules["parent"][rules["arity"] == 3]).tolist() == [5] * 6


def test_no_tuple_has_two_parents() -> None:
    grammar = Grammar.sample(9, 3, fraction=0.7, seed=3)
    for level in range(3):
        right_hand_sides = tuples(grammar, level)
        assert len(set(right_hand_sides)) == len(right_hand_sides)


def test_non_overlapping_triples_neither_begin_nor_end_with_a_pair() -> None:
    def overlaps(grammar: Grammar) -> int:
        right_hand_sides = set(tuples(grammar, 0))
        triples = [t for t in right_hand_sides if len(t) == 3]
        return sum(t[:2] in right_hand_sides or t[1:] in right_hand_sides for t in triples)

    assert overlaps(Grammar.sample(8, 1, fraction=0.25, seed=1)) > 0
    assert overlaps(Grammar.sample(8, 1, fraction=0.25, seed=1, non_overlapping=True)) == 0


@pytest.mark.parametrize(("p_binary", "zipf"), [(0.5, 0.0), (0.2, 0.0), (0.7, 1.5), (1.0, 1.0), (0.0, 0.5)])
def test_probabilities_follow_zipfs_law_and_sum_to_one(p_binary: float, zipf: float) -> None:
    grammar = Grammar.sample(5, 2, fraction=0.6, seed=2, p_binary=p_binary, zipf=zipf)
    for level in range(2):
        rules = grammar.rules(level)
        for parent in range(5):
            for arity, total in [(2, p_binary), (3, 1 - p_binary)]:
                mine = (rules["parent"] == parent) & (rules["arity"] == arity)
                found = np.sort(rules["probability"][mine])[::-1]
                weights = np.arange(1.0, len(found) + 1) ** -zipf
                np.testing.assert_allclose(found, total * weights / weights.sum(), rtol=1e-12)
                assert (len(found) > 0) == (total > 0)


def test_rules_are_sorted_by_parent_then_arity_then_children(grammar: Grammar) -> None:
    for level in range(grammar.depth):
        rows = [
            (parent, arity, children[:arity].tolist()) for parent, arity, children, _ in grammar.rules(level).tolist()
        ]
        assert rows == sorted(rows)


def test_from_rules_gives_the_grammar_back(grammar: Grammar) -> None:
    layers = [grammar.rules(level) for level in range(grammar.depth)]
    again = Grammar.from_rules(layers, prior=grammar.prior, vocab=grammar.vocab)
    assert again.fingerprint == grammar.fingerprint
    for level in range(grammar.depth):
        np.testing.assert_array_equal(again.rules(level), grammar.rules(level))


def test_rules_have_the_same_bytes_every_time() -> None:
    # Including the bytes between fields, since arrays are saved and hashed with them.
    grammar = Grammar.sample(5, 2, fraction=0.5, seed=1)
    assert len({grammar.rules(0).tobytes() for _ in range(20)}) == 1


def test_edited_probabilities_arrive() -> None:
    grammar = Grammar.sample(3, 2, fraction=0.5, seed=1)
    layers = [grammar.rules(level) for level in range(2)]
    first = layers[1]["parent"] == 0
    layers[1]["probability"][first] = np.arange(1, first.sum() + 1) / np.arange(1, first.sum() + 1).sum()
    edited = Grammar.from_rules(layers, prior=[0.2, 0.3, 0.5])
    np.testing.assert_array_equal(edited.rules(1)["probability"], layers[1]["probability"])
    np.testing.assert_array_equal(edited.rules(0), grammar.rules(0))
    assert edited.prior.tolist() == [0.2, 0.3, 0.5]
    assert edited != grammar


def test_rules_can_be_made_from_nothing() -> None:
    rules = np.zeros(3, dtype=Grammar.sample(2, 1).rules(0).dtype)
    rules["parent"], rules["arity"] = [0, 0, 1], [2, 3, 2]
    rules["children"] = [[0, 1, 0], [2, 2, 2], [1, 0, 0]]
    rules["probability"] = [0.25, 0.75, 1.0]
    grammar = Grammar.from_rules([rules])
    assert (grammar.sizes, grammar.classes, grammar.vocab, grammar.depth) == ([2, 3], 2, 3, 1)
    assert grammar.prior.tolist() == [0.5, 0.5]
    assert grammar.mean_length == pytest.approx(0.5 * (0.25 * 2 + 0.75 * 3) + 0.5 * 2)


def test_arrays_of_a_grammar_are_copies() -> None:
    grammar = Grammar.sample(3, 2, seed=1)
    text = grammar.to_text()
    grammar.rules(0)["probability"] = 0.0
    grammar.prior[:] = 0.0
    grammar.sizes.clear()
    assert grammar.to_text() == text


def test_text_pickle_and_copies_keep_everything(grammar: Grammar) -> None:
    twins = [
        Grammar.from_text(grammar.to_text()),
        *(pickle.loads(pickle.dumps(grammar, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)),
        copy.copy(grammar),
        copy.deepcopy(grammar),
    ]
    for twin in twins:
        assert twin == grammar
        assert hash(twin) == hash(grammar)
        assert twin.to_text() == grammar.to_text()
        np.testing.assert_array_equal(twin.rules(0), grammar.rules(0))
        assert twin.name(0, 0) == grammar.name(0, 0)


def test_files_keep_everything(grammar: Grammar, tmp_path: Path) -> None:
    path = tmp_path / "grammar.pcfg"
    grammar.write(path)
    assert path.read_text() == grammar.to_text()
    assert Grammar.read(path) == grammar
    assert Grammar.read(str(path)) == grammar


def test_grammars_are_equal_only_to_the_same_grammar() -> None:
    grammars = [*SHAPES.values(), Grammar.sample(2, 2, fraction=1.0, seed=2)]
    for i, one in enumerate(grammars):
        assert [one == other for other in grammars] == [i == j for j in range(len(grammars))]
        assert one != "a grammar"
        assert one != one.to_text()
    assert len(set(grammars)) == len(grammars) == len({g.fingerprint for g in grammars})


def test_names_are_those_of_the_text(garden_path: Grammar) -> None:
    names = [
        [garden_path.name(level, symbol) for symbol in range(size)] for level, size in enumerate(garden_path.sizes)
    ]
    assert names[:2] == [["Statement", "Fragment"], ["Noun", "Verb", "Place"]]
    assert sorted(names[2]) == ["boats", "man", "old", "the"]
    assert garden_path.prior.tolist() == [0.75, 0.25]
    by_name = {
        (names[1][parent], *(names[2][child] for child in children[:arity])): probability
        for parent, arity, children, probability in garden_path.rules(1).tolist()
    }
    assert by_name == {
        ("Noun", "the", "old"): 0.5,
        ("Noun", "the", "boats"): 0.25,
        ("Noun", "the", "old", "man"): 0.25,
        ("Verb", "man", "the", "boats"): 0.4,
        ("Verb", "boats", "man"): 0.6,
        ("Place", "old", "boats"): 0.5,
        ("Place", "the", "old", "boats"): 0.5,
    }


def test_the_mean_length_is_that_of_all_derivations(language: Language) -> None:
    grammar = language.grammar
    lengths = sum(
        grammar.prior[derivation.root] * derivation.probability * len(sentence)
        for sentence, derivations in language.derivations.items()
        for derivation in derivations
    )
    assert grammar.mean_length == pytest.approx(lengths, rel=1e-12)


def test_a_notebook_shows_a_table_of_the_levels(grammar: Grammar) -> None:
    html = ElementTree.fromstring(grammar._repr_html_().replace("&nbsp;", " "))
    rows = [[cell.text for cell in row.iter("td")] for row in html.iter("tr")][1:]
    rules = [grammar.rules(level) for level in range(grammar.depth)]
    assert [[int(cell or "") for cell in row[:4]] for row in rows] == [
        [level, grammar.sizes[level], (layer["arity"] == 2).sum(), (layer["arity"] == 3).sum()]
        for level, layer in enumerate(rules)
    ]
    assert grammar.name(0, 0) in (rows[0][5] or "")


def test_a_notebook_shows_names_as_they_are() -> None:
    grammar = Grammar.from_text("S -> A [1.0]\nA -> '<b>' '&' [1.0]\n")
    assert "<b>" in "".join(ElementTree.fromstring(grammar._repr_html_().replace("&nbsp;", " ")).itertext())


def test_the_repr_is_about_this_grammar(garden_path: Grammar) -> None:
    rules = sum(len(garden_path.rules(level)) for level in range(2))
    assert repr(garden_path) == f"<Grammar of depth 2, 4 tokens, 2 classes, {rules} rules>"


def edited(edit: Callable[[np.ndarray], None]) -> Callable[[], Grammar]:
    """Tries to build a grammar after editing its rules."""

    def make() -> Grammar:
        layers = [Grammar.sample(3, 2, fraction=0.5, seed=1).rules(level) for level in range(2)]
        edit(layers[1])
        return Grammar.from_rules(layers)

    return make


def set_field(field: str, row: int, value: object) -> Callable[[np.ndarray], None]:
    def edit(rules: np.ndarray) -> None:
        rules[field][row] = value

    return edit


def repeat(rules: np.ndarray) -> None:
    rules[1] = rules[0]


MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "no symbols": (lambda: Grammar.sample(0, 2), "vocab is 0, expected 1 to "),
    "too many symbols": (lambda: Grammar.sample(1000, 2), "vocab is 1000, expected 1 to "),
    "no levels": (lambda: Grammar.sample(4, 0), "depth is 0, expected 1 to "),
    "no tuples": (lambda: Grammar.sample(4, 2, 0.0), "fraction is 0, expected more than 0 and at most 1"),
    "more than all tuples": (lambda: Grammar.sample(4, 2, 1.5), "fraction is 1.5, expected more than 0 and at most 1"),
    "NaN": (lambda: Grammar.sample(4, 2, float("nan")), "fraction is NaN, expected"),
    "p_binary": (lambda: Grammar.sample(4, 2, p_binary=-0.1), "p_binary is -0.1, expected a probability"),
    "zipf": (lambda: Grammar.sample(4, 2, zipf=-1.0), "zipf is -1, expected"),
    "half the numbers": (lambda: Grammar.sample(4, 2, binary_rules=1), "expected either fraction, or"),
    "too many rules": (lambda: Grammar.sample(4, 2, binary_rules=5, ternary_rules=1), "20"),
    "arity": (edited(set_field("arity", 0, 4)), "rule 0 has arity 4, expected 1 to 3"),
    "sum": (edited(set_field("probability", 0, 0.9)), "sum to"),
    "negative": (edited(set_field("probability", 0, -0.5)), "probability -0.5, expected more than 0"),
    "twice": (edited(repeat), "the same rule twice"),
    "not rules": (
        lambda: Grammar.from_rules([np.zeros(3, dtype=[("parent", "u1")])]),
        "rules are an array with the fields parent",
    ),
    "no layers": (lambda: Grammar.from_rules([]), "depth is 0, expected 1 to "),
    "unknown level": (lambda: Grammar.sample(4, 2).rules(2), "level is 2, expected 0 to 1"),
    "unknown level of moments": (lambda: Grammar.sample(4, 2).expected_moments(3), "level is 3, expected"),
    "unknown symbol": (lambda: Grammar.sample(4, 2).name(0, 4), "symbol is 4, but level 0 has 4 symbols"),
    "text": (lambda: Grammar.from_text("S -> A [1.0]\nA -> B [oops]\n"), "line 2: "),
    "empty text": (lambda: Grammar.from_text(""), ""),
    "too many sentences": (lambda: Grammar.sample(4, 2).corpus(2**63), "this needs "),
    "sentences beyond the last": (
        lambda: Grammar.sample(4, 2).corpus(2**63, start=2**63),
        "count is 9223372036854775808",
    ),
}


@pytest.mark.parametrize(("mistake", "text"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_value_errors_of_one_line(mistake: Callable[[], object], text: str) -> None:
    with value_error(text):
        mistake()


@pytest.mark.parametrize("index", [-1, 2**70, 0.5, "0"])
def test_levels_are_whole_numbers(index: object) -> None:
    with pytest.raises(ValueError if isinstance(index, int) else TypeError):
        Grammar.sample(4, 2).rules(index)  # type: ignore[arg-type]


def test_the_text_of_a_grammar_is_read_as_it_was_written() -> None:
    assert (
        Grammar.from_text(GARDEN_PATH).to_text()
        == Grammar.from_text(Grammar.from_text(GARDEN_PATH).to_text()).to_text()
    )
