"""A scikit-learn classifier that learns a grammar from labelled sentences and predicts by exact parsing."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._core import UNKNOWN_ROOT, Corpus, Grammar, LearnedLevel, learn

try:
    from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped]
    from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]
    from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d  # type: ignore[import-untyped]
except ImportError as error:
    raise ImportError("GrammarLearner needs scikit-learn: pip install scikit-learn") from error


class GrammarLearner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns the grammar of labelled sentences. A label is the root of the tree of its sentence.

    Sentences are a `Corpus`, a padded array of integers (negative values are padding), a list of lists or an array of arrays. Tokens in
    lists can be words, which are numbered in sorted order. Labels can be of any kind; for a `Corpus` without labels, its roots are used.

    >>> import gardenpath
    >>> grammar = gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=3)
    >>> train, test = grammar.corpus(10_000, seed=4), grammar.corpus(1000, seed=5)
    >>> learner = gardenpath.GrammarLearner(vocab=8, depth=2).fit(train)
    >>> learner.verdict_
    'converged'
    >>> all(level.exact for level in gardenpath.score_rules(learner.grammar_, grammar))
    True
    >>> learner.score(test, test.roots) > 0.95
    True

    Parameters
    ----------
    vocab : the number of symbols of each level between labels and tokens: one for all, or one per level from the labels down. If
        None: the number of tokens.
    depth : the number of layers of rules.
    mode : "exact" recovers every rule, or says why not; "paper" is the paper's algorithm; "em" is inside-outside from
        random starts.
    arities : the numbers of children that nodes may have, from 2 to 4, or a mapping from them to their probabilities. Without
        probabilities, mode exact learns them and mode paper assumes equal ones.
    p_binary : the probability of two children, if nodes have two or three: the same as arities {2: p, 3: 1 - p}.
    noise : the fraction of wrong labels and tokens that mode exact tolerates.
    strict : whether sentences whose length no tree has are an error. Otherwise mode exact skips them.
    seed : the seed of random starts.
    starts, rounds : the number of random starts of mode em, and of steps per start.
    verbose : whether to print progress to stderr.

    Attributes
    ----------
    grammar_ : the learned `Grammar`. Root `k` is the label `classes_[k]`, and its prior is the frequency of that label.
    verdict_ : the self-check: "converged", or why the grammar cannot be trusted. Only mode exact has one.
    converged_ : whether the self-check passed.
    levels_ : the learned rules of each level, from the root down: a list of `LearnedLevel`.
    classes_ : the labels in sorted order.
    tokens_ : the words in sorted order if the sentences were words, where token `k` is `tokens_[k]`; otherwise None.
    n_features_in_ : the width of the array, if the sentences were one. Other arrays may be wider or narrower.
    """

    grammar_: Grammar
    verdict_: str
    converged_: bool
    levels_: list[LearnedLevel]
    classes_: NDArray[Any]
    tokens_: list[str] | None
    n_features_in_: int

    def __init__(
        self,
        vocab: int | Sequence[int] | None = None,
        depth: int = 2,
        mode: Literal["exact", "paper", "em"] = "exact",
        *,
        arities: Sequence[int] | Mapping[int, float] = (2, 3),
        p_binary: float | None = None,
        noise: float = 0.02,
        strict: bool = False,
        seed: int = 0,
        starts: int = 3,
        rounds: int = 50,
        verbose: bool = False,
    ) -> None:
        self.vocab = vocab
        self.depth = depth
        self.mode = mode
        self.arities = arities
        self.p_binary = p_binary
        self.noise = noise
        self.strict = strict
        self.seed = seed
        self.starts = starts
        self.rounds = rounds
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> GrammarLearner:
        """Learns a grammar from sentences and their labels.

        >>> import gardenpath
        >>> sentences = [[0, 1, 0, 1], [1, 1, 0, 0], [0, 1, 0, 1, 0]] * 10
        >>> gardenpath.GrammarLearner(mode="em", rounds=5).fit(sentences, ["even", "even", "odd"] * 10).classes_.tolist()
        ['even', 'odd']
        >>> words = [["the", "old", "man"], ["man", "the", "boats"]] * 20
        >>> learner = gardenpath.GrammarLearner(depth=1, mode="em", rounds=5).fit(words, ["who", "do"] * 20)
        >>> learner.tokens_, learner.predict([["man", "the", "boats"]]).tolist()
        (['boats', 'man', 'old', 'the'], ['do'])
        """
        words = _words(X) if _has_words(X) else None
        corpus, width = _read(X) if words is None else (_numbered(X, words), None)
        labels = _labels(corpus, y if y is not None or not isinstance(X, Corpus) else _roots(X))
        classes, roots = np.unique(labels, return_inverse=True)
        learned = learn(
            Corpus(corpus, roots, vocab=corpus.vocab),
            self.depth,
            vocab=self.vocab,
            arities=self.arities,
            mode=self.mode,
            p_binary=self.p_binary,
            noise=self.noise,
            strict=self.strict,
            seed=self.seed,
            starts=self.starts,
            rounds=self.rounds,
            progress=partial(print, file=sys.stderr) if self.verbose else None,
        )
        self.grammar_ = learned.grammar
        self.verdict_, self.converged_, self.levels_ = learned.verdict, learned.converged, learned.levels
        self.classes_, self.tokens_ = classes, words
        self.__dict__.pop("n_features_in_", None)
        if width is not None:
            self.n_features_in_ = width
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each label given each sentence: exact if the learned grammar is correct.

        Sentences that the grammar cannot derive, including those with unknown tokens, carry no information about their label:
        their probabilities are the label frequencies of the training set.
        """
        check_is_fitted(self)
        if self.tokens_ is None:
            corpus, _ = _read(X)
            unknown_before = np.concatenate([[0], np.cumsum(corpus.tokens >= self.grammar_.vocab)])
            known = np.diff(unknown_before[corpus.offsets]) == 0
            corpus = corpus[known]
        else:
            if len(X) > 0 and not _has_words(X):
                raise ValueError("the learned tokens are words, expected sentences of words")
            words = set(self.tokens_)
            known = np.array([words.issuperset(sentence) for sentence in X], dtype=bool)
            corpus = _numbered([sentence for sentence, is_known in zip(X, known) if is_known], self.tokens_)
        prior = self.grammar_.prior
        probabilities = np.tile(prior, (len(known), 1))
        posterior = self.grammar_.inside(corpus)[1]
        probabilities[known] = np.where(posterior.any(axis=1, keepdims=True), posterior, prior)
        return probabilities

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba`; minus infinity for impossible labels."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each sentence; the most frequent one for sentences that the grammar cannot derive."""
        most_probable = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[most_probable]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        # The generic classifier checks use points in the plane.
        tags.classifier_tags.poor_score = True
        return tags


def _has_words(X: Any) -> bool:
    """Whether the sentences are lists of words."""
    if isinstance(X, (Corpus, str)) or not hasattr(X, "__len__") or getattr(X, "ndim", 1) != 1:
        return False
    tokens = (token for sentence in X if isinstance(sentence, (list, tuple, np.ndarray)) for token in sentence)
    return isinstance(next(tokens, None), str)


def _words(X: Any) -> list[str]:
    """The distinct words in sorted order."""
    words = {word for sentence in X for word in sentence}
    other = next((word for word in words if not isinstance(word, str)), None)
    if other is not None:
        raise ValueError(f"tokens are words and {other!r}, expected one kind")
    return sorted(words)


def _numbered(X: Any, words: list[str]) -> Corpus:
    """The sentences with words replaced by numbers."""
    numbers = {word: number for number, word in enumerate(words)}
    return Corpus([[numbers[word] for word in sentence] for sentence in X], vocab=len(words))


def _read(X: Any) -> tuple[Corpus, int | None]:
    """The sentences, and the width if they are a numeric array."""
    if not (hasattr(X, "__array__") or hasattr(X, "shape")):
        return Corpus(X), None
    array = np.asarray(X)
    if array.ndim == 1 and array.dtype == object:
        return Corpus(array), None
    table = check_array(X, input_name="X", estimator="GrammarLearner")
    if table.dtype.kind not in "iu":
        # Other tools convert integers to floats.
        with np.errstate(invalid="ignore"):
            whole = table.astype(np.int64)
        if (whole != table).any():
            raise ValueError(f"tokens are {table[whole != table][0]} and others, expected integers")
        table = whole
    return Corpus(table), table.shape[1]


def _roots(corpus: Corpus) -> NDArray[np.uint8]:
    unknown = np.flatnonzero(corpus.roots == UNKNOWN_ROOT)
    if len(unknown):
        raise ValueError(f"root of sentence {unknown[0]} is unknown, expected known roots, or labels")
    return corpus.roots


def _labels(corpus: Corpus, y: Any) -> NDArray[Any]:
    """One label per sentence."""
    if y is None:
        raise ValueError("GrammarLearner requires y to be passed, but the target y is None")
    if len(corpus) == 0:
        raise ValueError("number of sentences is 0, expected at least 1")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if len(labels) != len(corpus):
        raise ValueError(f"number of labels is {len(labels)}, expected {len(corpus)}, one per sentence")
    check_classification_targets(labels)
    return labels
