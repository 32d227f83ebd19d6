"""Sentences of words: in files, and as lists for the learner."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from gardenpath import Corpus, Grammar, GrammarLearner

TEXT = """
S -> question [0.5] | answer [0.5]
question -> NP VP [0.6] | VP NP [0.4]
answer -> NP NP VP [0.5] | VP VP [0.5]
NP -> 'DET' 'N' [0.7] | 'N' 'N' [0.3]
VP -> 'V' 'N' [0.5] | 'V' 'DET' 'N' [0.5]
"""
GRAMMAR = Grammar.from_text(TEXT)


def words(corpus: Corpus) -> list[list[str]]:
    return [[GRAMMAR.name(2, int(token)) for token in sentence] for sentence in corpus]


def labels(corpus: Corpus) -> list[str]:
    return [GRAMMAR.name(0, int(root)) for root in corpus.roots]


@pytest.mark.parametrize("name", ["c.tsv", "c.jsonl", "c.parquet"])
def test_words_survive_files(tmp_path: Path, name: str) -> None:
    text = "".join(
        f"{label}\t{' '.join(sentence)}\n"
        for label, sentence in zip(labels(GRAMMAR.corpus(50)), words(GRAMMAR.corpus(50)), strict=True)
    )
    (tmp_path / "first.tsv").write_text(text)
    corpus = Corpus.read(tmp_path / "first.tsv")
    assert corpus.token_names == ["DET", "N", "V"] and corpus.root_names == ["answer", "question"]
    corpus.write(tmp_path / name)
    assert Corpus.read(tmp_path / name) == corpus
    of_grammar = Corpus.read(tmp_path / name, grammar=GRAMMAR)
    assert (of_grammar.tokens == GRAMMAR.corpus(50).tokens).all()
    assert (of_grammar.roots == GRAMMAR.corpus(50).roots).all()
    assert of_grammar.root_names == ["question", "answer"]
    assert (corpus.roots == 1 - of_grammar.roots).all()
    part = pickle.loads(pickle.dumps(corpus[3:7]))
    assert part == corpus[3:7] and part.token_names == corpus.token_names
    GRAMMAR.corpus(50).write(tmp_path / name)
    assert Corpus.read(tmp_path / name).token_names is None


def test_bad_words_are_named(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"tokens":["DET","N"]}\n{"tokens":["DET","X"]}\n')
    with pytest.raises(ValueError, match='c.jsonl: sentence 2: "X" is not one of the 3 tokens DET N V'):
        Corpus.read(path, grammar=GRAMMAR)
    with pytest.raises(ValueError, match='token "DET" at position 0 is not a whole number from 0 to 3'):
        Corpus.read(path, vocab=4)
    with pytest.raises(ValueError, match="expected one of them"):
        Corpus.read(path, vocab=4, grammar=GRAMMAR)


def test_the_learner_takes_words() -> None:
    train, test = GRAMMAR.corpus(2000, seed=1), GRAMMAR.corpus(200, seed=2)
    learner = GrammarLearner(vocab=2, depth=2).fit(words(train), labels(train))
    assert learner.converged_ and learner.tokens_ == ["DET", "N", "V"]
    assert learner.classes_.tolist() == ["answer", "question"]
    assert learner.score(words(test), labels(test)) == 1.0
    numbers = GrammarLearner(vocab=2, depth=2).fit(train, train.roots)
    assert numbers.tokens_ is None
    assert np.allclose(learner.predict_proba(words(test)), numbers.predict_proba(test)[:, ::-1])
    unknown = learner.predict_proba([["DET", "ADJ", "V", "N"], ["DET", "N", "V", "N"]])
    assert np.allclose(unknown[0], learner.grammar_.prior) and unknown[1].tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="expected sentences of words"):
        learner.predict([[0, 1, 2, 1]])
    with pytest.raises(ValueError, match="tokens are words and 3, expected one kind"):
        GrammarLearner(depth=1).fit([["a", "b"], ["a", 3]], [0, 1])


def test_rounded_probabilities_are_rescaled(tmp_path: Path) -> None:
    thirds = "S -> A [1]\nA -> 'a' 'b' [0.33] | 'b' 'a' [0.33] | 'a' 'a' [0.33]\n"
    path = tmp_path / "thirds.pcfg"
    path.write_text(thirds)
    for refused in (lambda: Grammar.read(path), lambda: Grammar.from_text(thirds)):
        with pytest.raises(ValueError, match="0.99"):
            refused()
    grammar = Grammar.read(path, normalize=True)
    assert grammar == Grammar.from_text(thirds, normalize=True)
    assert np.allclose(grammar.rules(0)["probability"], 1 / 3)
