"""Exact predictions, compared with the enumeration of all derivations."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from brute_force import Language

import gardenpath

GRAMMARS = [
    gardenpath.Grammar.sample(vocab=3, depth=2, binary_rules=1, ternary_rules=1, seed=1),
    gardenpath.Grammar.sample(vocab=3, depth=2, binary_rules=2, ternary_rules=1, p_binary=0.7, zipf=0.5, seed=2),
    gardenpath.Grammar.sample(vocab=4, depth=1, fraction=0.5, seed=3),
]


@pytest.fixture(scope="module", params=range(len(GRAMMARS)))
def language(request: pytest.FixtureRequest) -> Language:
    return Language(GRAMMARS[request.param])


def weights(language: Language) -> dict[tuple[int, ...], float]:
    prior = language.grammar.prior
    return {sentence: float(prior @ language.likelihoods(sentence)) for sentence in language.sentences}


def conditional(language: Language, prefix: tuple[int, ...], length: int | None) -> np.ndarray:
    vocab = language.grammar.vocab
    row = np.zeros(vocab + 1)
    for sentence, weight in weights(language).items():
        if sentence[: len(prefix)] == prefix and length in (None, len(sentence)):
            row[sentence[len(prefix)] if len(sentence) > len(prefix) else vocab] += weight
    return row / row.sum()


def test_next_tokens(language: Language) -> None:
    sentences = language.sentences[:: max(1, len(language.sentences) // 4)]
    grammar = language.grammar
    unknown, known = grammar.next_token(sentences), grammar.next_token(sentences, length="known")
    assert unknown.rows.shape == (sum(map(len, sentences)) + len(sentences), grammar.vocab + 1)
    assert known.rows.shape == (sum(map(len, sentences)), grammar.vocab)
    for i, sentence in enumerate(sentences):
        rows = unknown.rows[unknown.offsets[i] : unknown.offsets[i + 1]]
        of_length = known.rows[known.offsets[i] : known.offsets[i + 1]]
        reader = grammar.reader()
        for n in range(len(sentence) + 1):
            expected = conditional(language, sentence[:n], None)
            np.testing.assert_allclose(rows[n], expected, atol=1e-12)
            np.testing.assert_array_equal(reader.next(), rows[n])
            if n < len(sentence):
                expected = conditional(language, sentence[:n], len(sentence))
                np.testing.assert_allclose(of_length[n], expected[:-1], atol=1e-12)
                reader.push(sentence[n])
        total = reader.log_probability + math.log(reader.next()[-1])
        assert total == pytest.approx(math.log(weights(language)[sentence]), abs=1e-11)
        assert len(reader) == len(sentence)


def test_posteriors_and_hidden_symbols(language: Language) -> None:
    grammar = language.grammar
    sentence = language.most_ambiguous()
    evidence = np.random.default_rng(1).random((len(sentence), grammar.vocab))
    masked = [None if k % 2 else token for k, token in enumerate(sentence)]
    ones = np.array([np.ones(grammar.vocab) if t is None else np.eye(grammar.vocab)[t] for t in masked])
    for given, likelihoods in [(evidence, evidence), (masked, ones), ([-1 if t is None else t for t in masked], ones)]:
        found = grammar.posterior(given)
        assert found is not None
        expected = [np.zeros((len(sentence), size)) for size in grammar.sizes]
        for other, derivations in language.derivations.items():
            if len(other) != len(sentence):
                continue
            likelihood = math.prod(likelihoods[k][token] for k, token in enumerate(other))
            for derivation in derivations:
                weight = likelihood * derivation.probability * grammar.prior[derivation.root]
                for level in range(grammar.depth + 1):
                    for start, span, symbol in derivation.nodes(level):
                        expected[level][start : start + span, symbol] += weight
        total = expected[0][0].sum()
        assert found.log_evidence == pytest.approx(math.log(total), abs=1e-11)
        for level, array in zip([*found.levels, found.tokens], expected, strict=True):
            np.testing.assert_allclose(level, array / total, atol=1e-12)
    reader = grammar.reader()
    reader.push(sentence[0])
    hidden = np.zeros(grammar.classes)
    for other, derivations in language.derivations.items():
        for derivation in derivations if other[0] == sentence[0] else []:
            hidden[derivation.root] += derivation.probability * grammar.prior[derivation.root]
    np.testing.assert_allclose(reader.hidden(level=0), hidden / hidden.sum(), atol=1e-12)


def test_floors() -> None:
    grammar = gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.125, seed=1)
    corpus = grammar.corpus(300, seed=2)
    rows, _ = grammar.next_token(corpus)
    entropy = -(rows * np.log(np.where(rows > 0, rows, 1))).sum()
    floor = grammar.floor(corpus)
    assert floor.loss == pytest.approx(entropy / len(corpus.tokens), abs=1e-12)
    assert floor.formula is not None and abs(floor.formula / floor.loss - 1) < 0.1
    known = [grammar.floor(corpus, levels=levels).loss for levels in range(3)]
    assert known[0] > known[1] > known[2] == pytest.approx(floor.loss, abs=1e-12)
    lowest, _ = grammar.next_token(corpus, levels=1)
    excess = gardenpath.divergence(rows, lowest) * len(rows) / len(corpus.tokens)
    assert floor.loss + excess == pytest.approx(known[1], abs=1e-10)
    assert grammar.floor(corpus, "root").loss == pytest.approx(grammar.entropy(corpus).mean(), abs=1e-12)
    assert grammar.floor(corpus, "masked", mask=0.5).loss > grammar.floor(corpus, "masked").loss
    assert grammar.floor(corpus, "noisy", noise=0.0).loss == 0
    assert grammar.floor(corpus, "next-known").loss < floor.loss
    assert pickle.loads(pickle.dumps(floor)).loss == floor.loss


def test_mistakes() -> None:
    grammar = GRAMMARS[0]
    reader = grammar.reader()
    for mistake in [
        lambda: reader.push(3),
        lambda: reader.push(-1),
        lambda: reader.hidden(level=3),
        lambda: grammar.next_token([[0, 1]], length="long"),
        lambda: grammar.next_token([[0, 1]], length="known", levels=1),
        lambda: grammar.next_token([[0, 1]], levels=3),
        lambda: grammar.posterior([0, 7]),
        lambda: grammar.posterior(np.ones((2, 4))),
        lambda: grammar.floor(grammar.corpus(3), "other"),
        lambda: grammar.floor(grammar.corpus(3), "next", mask=0.5),
        lambda: grammar.floor([[0]]),
        lambda: gardenpath.divergence(np.ones((1, 2)) / 2, np.ones((1, 3)) / 3),
    ]:
        with pytest.raises(ValueError):
            mistake()
    assert grammar.posterior([0]) is None
