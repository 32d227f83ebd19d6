"""The classifier: what it recovers and predicts, and its compatibility with scikit-learn."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import validate_data

import gardenpath
from gardenpath import Corpus, Grammar, GrammarLearner

VOCAB, DEPTH = 8, 2
TRUTH = Grammar.sample(VOCAB, DEPTH, fraction=0.25, seed=3)
TRAIN = TRUTH.corpus(10_000, seed=4)
TEST = TRUTH.corpus(4000, seed=5)
BAYES = TRUTH.bayes_floor(TEST)

# The same sentences in every accepted form.
FORMS: dict[str, Callable[[Corpus], Any]] = {
    "corpus": lambda corpus: corpus,
    "integers": lambda corpus: corpus.padded(),
    "bytes": lambda corpus: corpus.padded(fill=255, dtype="uint8"),
    "floats": lambda corpus: corpus.padded().astype(np.float32),
    "objects": lambda corpus: corpus.padded().astype(object),
    "lists": lambda corpus: [sentence.tolist() for sentence in corpus],
    "arrays": lambda corpus: np.array([*corpus], dtype=object),
}


@pytest.fixture(scope="module")
def learner() -> GrammarLearner:
    return GrammarLearner(VOCAB, DEPTH).fit(TRAIN)


@pytest.fixture(scope="module")
def skewed() -> tuple[Corpus, GrammarLearner]:
    """Sentences with one missing and one rare root, and what is learned from them."""
    rare = (TRAIN.roots == 5) & (np.arange(len(TRAIN)) % 4 > 0)
    corpus = TRAIN[(TRAIN.roots != 2) & ~rare]
    return corpus, GrammarLearner(VOCAB, DEPTH).fit(corpus)


def test_every_rule_is_recovered(learner: GrammarLearner) -> None:
    assert learner.verdict_ == "converged"
    assert learner.converged_
    assert all(level.exact for level in gardenpath.score_rules(learner.grammar_, TRUTH))
    for level, found in enumerate(learner.levels_):
        arities = TRUTH.rules(level)["arity"]
        assert (found.level, found.binary_rules, found.ternary_rules) == (level, (arities == 2).sum(), (arities == 3).sum())


def test_the_verdict_says_why_there_is_no_trust() -> None:
    learner = GrammarLearner(VOCAB, DEPTH).fit(TRAIN[:400])
    assert not learner.converged_
    assert "too few sentences" in learner.verdict_
    assert not all(level.exact for level in gardenpath.score_rules(learner.grammar_, TRUTH))


def test_answers_are_as_good_as_those_of_the_true_grammar(learner: GrammarLearner) -> None:
    assert 0.9 < BAYES.accuracy < 1, "some sentences should be ambiguous"
    assert learner.score(TEST, TEST.roots) == pytest.approx(BAYES.accuracy, abs=0.01)
    assert log_loss(TEST.roots, learner.predict_proba(TEST)) == pytest.approx(BAYES.loss, abs=0.01)


def test_probabilities_follow_from_likelihoods_and_frequencies(skewed: tuple[Corpus, GrammarLearner]) -> None:
    corpus, learner = skewed
    classes, counts = np.unique(corpus.roots, return_counts=True)
    assert learner.classes_.tolist() == classes.tolist() == [0, 1, 3, 4, 5, 6, 7]
    sentences = TEST[np.isin(TEST.roots, classes)]
    joint = np.exp(learner.grammar_.inside(sentences)[0][:, : len(classes)]) * counts
    derived = joint.any(axis=1)
    assert derived.mean() > 0.95
    probabilities = learner.predict_proba(sentences)
    expected = joint[derived] / joint[derived].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probabilities[derived], expected, atol=1e-12)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(learner.predict(sentences), classes[probabilities.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(learner.predict_log_proba(sentences)), probabilities)


def test_sentences_that_cannot_be_derived_get_the_frequencies_of_the_labels(skewed: tuple[Corpus, GrammarLearner]) -> None:
    corpus, learner = skewed
    classes, counts = np.unique(corpus.roots, return_counts=True)
    sentence = TEST[0].tolist()
    others = np.random.default_rng(0).integers(0, VOCAB, size=(200, 6)).tolist()
    ungrammatical = next(other for other in others if TRUTH.tree_count(other) == 0)
    impossible = [[0], sentence * 9, [*sentence[1:], VOCAB], ungrammatical]
    probabilities = learner.predict_proba([*impossible, sentence])
    np.testing.assert_allclose(probabilities[:-1], np.tile(counts / len(corpus), (len(impossible), 1)))
    np.testing.assert_allclose(probabilities[-1:], learner.predict_proba([sentence]))
    assert set(learner.predict(impossible)) == {classes[counts.argmax()]}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_all_forms_of_sentences_are_the_same(learner: GrammarLearner, form: Callable[[Corpus], Any]) -> None:
    again = clone(learner).fit(form(TRAIN), TRAIN.roots)
    assert again.grammar_ == learner.grammar_
    np.testing.assert_array_equal(again.predict_proba(form(TEST)), learner.predict_proba(TEST))


def test_the_vocab_is_that_of_the_data(learner: GrammarLearner) -> None:
    assert GrammarLearner(depth=DEPTH).fit(TRAIN.padded(), TRAIN.roots).grammar_ == learner.grammar_
    more_labels_than_tokens = np.arange(60) % 5
    few_tokens = np.random.default_rng(0).integers(0, 2, size=(60, 4))
    grammar = GrammarLearner(mode="em", starts=1, rounds=1).fit(few_tokens, more_labels_than_tokens).grammar_
    assert grammar.sizes == [5, 2, 2]


def test_learn_and_the_estimator_agree(skewed: tuple[Corpus, GrammarLearner]) -> None:
    corpus, learner = skewed
    _, roots = np.unique(corpus.roots, return_inverse=True)
    learned = gardenpath.learn(Corpus(corpus, roots, vocab=VOCAB), DEPTH, vocab=VOCAB)
    assert learned.grammar == learner.grammar_
    np.testing.assert_allclose(learned.grammar.prior, np.bincount(roots) / len(roots))
    assert (learned.skipped, learned.underivable) == (0, 0)
    assert gardenpath.learn(corpus, DEPTH, mode="paper").skipped is None


def test_sentences_of_impossible_length_are_skipped_or_refused() -> None:
    sentences = [*(sentence.tolist() for sentence in TRAIN), [0, 1, 2]]
    corpus = Corpus(sentences, [*TRAIN.roots, 0], vocab=VOCAB)
    learned = gardenpath.learn(corpus, DEPTH)
    assert (learned.skipped, learned.verdict) == (1, "converged")
    with pytest.raises(ValueError, match=f"length is 3 in sentence {len(corpus)}, expected 4 to 9 tokens"):
        gardenpath.learn(corpus, DEPTH, strict=True)


def test_arities_and_sizes_reach_the_learner() -> None:
    named = clone(GrammarLearner([VOCAB], DEPTH, arities=[2, 3])).fit(TRAIN)
    assert named.grammar_ == GrammarLearner(VOCAB, DEPTH).fit(TRAIN).grammar_
    told = gardenpath.learn(TRAIN, DEPTH, vocab=VOCAB, arities={2: 0.5, 3: 0.5})
    assert told == gardenpath.learn(TRAIN, DEPTH, vocab=VOCAB, p_binary=0.5)
    for level in told.levels:
        assert level.rules == {2: level.binary_rules, 3: level.ternary_rules}
        assert level.probabilities[2] == level.p_binary == pytest.approx(0.5, abs=0.05)
    scores = gardenpath.score_rules(told.grammar, TRUTH)
    assert all(score.precision == score.recall == score.purity == {2: 1.0, 3: 1.0} for score in scores)
    em = gardenpath.learn(TRAIN[:200], DEPTH, vocab=3, arities=(2, 3, 4), mode="em", starts=1, rounds=1)
    assert em.levels[0].rules.keys() == {2, 3, 4} and em.log_likelihood is not None and em.log_likelihood < 0
    bare = Corpus(TRAIN, [gardenpath.UNKNOWN_ROOT] * len(TRAIN), vocab=VOCAB)
    assert gardenpath.learn(bare, DEPTH, vocab=VOCAB).grammar.classes == 1


def test_labels_can_be_words(learner: GrammarLearner) -> None:
    words = np.array(["owl", "ant", "fox", "bee", "elk", "cat", "hen", "dog"])
    named = clone(learner).fit(TRAIN, words[TRAIN.roots])
    assert named.classes_.tolist() == sorted(words)
    assert named.score(TEST, words[TEST.roots]) == pytest.approx(BAYES.accuracy, abs=0.01)


MODES: list[dict[str, Any]] = [
    {"mode": "exact", "seed": 1, "p_binary": 0.5},
    {"mode": "paper", "seed": 2, "p_binary": 0.3},
    {"mode": "em", "seed": 3, "starts": 2, "rounds": 12},
]


@pytest.mark.parametrize("options", MODES, ids=lambda options: options["mode"])
def test_parameters_reach_the_learner(options: dict[str, Any]) -> None:
    truth = Grammar.sample(4, 2, fraction=0.25, seed=3)
    corpus, fresh = truth.corpus(400, seed=2), truth.corpus(1000, seed=3)
    learner = GrammarLearner(4, 2, **options).fit(corpus)
    learned = gardenpath.learn(corpus, 2, **options)
    for level in range(2):
        np.testing.assert_array_equal(learner.grammar_.rules(level), learned.grammar.rules(level))
    assert learner.verdict_ == learned.verdict
    assert learner.score(fresh, fresh.roots) > 0.4, "guessing is right in a quarter of cases"


@pytest.mark.parametrize("form", ["corpus", "integers", "lists"])
def test_it_can_be_cross_validated(form: str) -> None:
    scores = cross_val_score(GrammarLearner(VOCAB, DEPTH), FORMS[form](TRAIN), TRAIN.roots, cv=3)
    assert scores == pytest.approx(BAYES.accuracy, abs=0.02)


def test_a_grid_search_finds_the_best_mode() -> None:
    search = GridSearchCV(GrammarLearner(VOCAB, DEPTH), {"mode": ["paper", "exact"]}, cv=2).fit(TRAIN.padded(), TRAIN.roots)
    assert search.best_params_ == {"mode": "exact"}
    paper, exact = search.cv_results_["mean_test_score"]
    assert paper < exact - 0.05
    assert search.best_estimator_.converged_


def test_it_can_be_the_end_of_a_pipeline() -> None:
    def split(lines: list[str]) -> list[list[int]]:
        return [list(map(int, line.split())) for line in lines]

    def text(corpus: Corpus) -> list[str]:
        return [" ".join(map(str, sentence)) for sentence in corpus]

    pipeline = make_pipeline(FunctionTransformer(split), GrammarLearner(depth=DEPTH)).fit(text(TRAIN), TRAIN.roots)
    assert pipeline.score(text(TEST), TEST.roots) == pytest.approx(BAYES.accuracy, abs=0.01)


def test_pickles_answer_alike(learner: GrammarLearner) -> None:
    again = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(again.predict_proba(TEST), learner.predict_proba(TEST))
    assert (again.verdict_, again.grammar_) == (learner.verdict_, learner.grammar_)
    assert list(map(repr, again.levels_)) == list(map(repr, learner.levels_))


def test_parameters_are_those_of_the_constructor(learner: GrammarLearner) -> None:
    copy = clone(learner).set_params(mode="em", seed=9)
    assert copy.get_params() == learner.get_params() | {"mode": "em", "seed": 9}
    assert not hasattr(copy, "grammar_")


def test_the_width_of_an_array_is_not_a_property_of_sentences(learner: GrammarLearner) -> None:
    padded = clone(learner).fit(TRAIN.padded(), TRAIN.roots)
    assert padded.n_features_in_ == TRAIN.lengths.max()
    short = TEST[TEST.lengths == 5]
    np.testing.assert_array_equal(padded.predict(short.padded()), learner.predict(short))
    assert not hasattr(padded.fit(TRAIN), "n_features_in_")


def test_it_tells_its_steps_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    GrammarLearner(VOCAB, DEPTH).fit(TRAIN)
    assert capsys.readouterr() == ("", "")
    GrammarLearner(VOCAB, DEPTH, verbose=True).fit(TRAIN)
    steps = capsys.readouterr()
    assert steps.out == ""
    assert len(steps.err.splitlines()) > 5
    assert "level 2" in steps.err


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_nothing_is_answered_before_learning(method: str) -> None:
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(GrammarLearner(), method)(TEST)


ROWS = TRAIN.padded()[:100]
BAD_INPUT = {
    "vocab is 300, expected 1 to 255": ({"vocab": 300}, TRAIN, None),
    "depth is 0, expected 1 to 7": ({"depth": 0}, TRAIN, None),
    "length is .* expected 8 to 27 tokens at depth 3": ({"depth": 3, "strict": True}, TRAIN, None),
    "mode is guess, expected exact, paper or em": ({"mode": "guess"}, TRAIN, None),
    "number of inner sizes is 2, expected 1, or 1 for depth 2": ({"vocab": [8, 8]}, TRAIN, None),
    "arities is 2,4, expected one or more from 2 to 3": ({"arities": (2, 4), "mode": "paper"}, TRAIN, None),
    "arities is 2,4, expected 2,3 with p_binary": ({"arities": (2, 4), "p_binary": 0.5}, TRAIN, None),
    "arities is 0,2, expected numbers of children such as 2,3": ({"arities": (0, 2)}, TRAIN, None),
    "sum of the probabilities of all arities is 0.9, expected 1": ({"arities": {2: 0.5, 4: 0.4}}, TRAIN, None),
    "number of sentences is 79, expected at least 80": ({"vocab": 8}, TRAIN[:79], None),
    "number of sentences is 0, expected at least 1": ({}, [], []),
    "number of labels is 2, expected 3": ({}, [[0, 1, 0, 1]] * 3, [0, 1]),
    "root of sentence 0 is unknown": ({}, Corpus([[0, 1, 0, 1]]), None),
    "requires y to be passed": ({}, ROWS, None),
    "a token at position . follows padding at 0": ({}, ROWS[:, ::-1], TRAIN.roots[:100]),
    "tokens are 0.5 and others, expected integers": ({}, ROWS + 0.5 * (ROWS == 0), TRAIN.roots[:100]),
    "Input X contains NaN": ({}, np.where(ROWS < 0, np.nan, ROWS), TRAIN.roots[:100]),
    "Reshape your data": ({}, TRAIN[0], [0] * len(TRAIN[0])),
    "Unknown label type: continuous": ({}, ROWS, TRAIN.roots[:100] + 0.5),
}


@pytest.mark.parametrize("text", BAD_INPUT)
def test_bad_input_is_refused(text: str) -> None:
    parameters, sentences, labels = BAD_INPUT[text]
    with pytest.raises(ValueError, match=text):
        GrammarLearner(**parameters).fit(sentences, labels)


def test_without_scikit_learn_the_rest_works() -> None:
    program = "import sys; sys.modules['sklearn'] = None; import gardenpath as g; print(g.threads() > 0); g.GrammarLearner"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "True\n"
    assert done.stderr.endswith("ImportError: GrammarLearner needs scikit-learn: pip install scikit-learn\n")


# scikit-learn checks that do not make sense for sentences.
FIXED_WIDTH = {
    "check_n_features_in_after_fitting": "an array is as wide as its longest sentence: other arrays have other widths",
    "check_classifiers_train": "it wants the transposed array to be refused: its rows are longer sentences",
}
NEGATIVE = {
    "check_positive_only_tag_during_fit": "it puts negative numbers anywhere: they are padding, which only ends a sentence",
}


class FixedWidth(GrammarLearner):
    """Refuses other widths, to show that nothing else fails."""

    def fit(self, X: Any, y: Any = None) -> GrammarLearner:
        return super().fit(validate_data(self, X), y)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return super().predict_proba(validate_data(self, X, reset=False))


@pytest.mark.parametrize(("kind", "cannot_pass"), [(GrammarLearner, FIXED_WIDTH | NEGATIVE), (FixedWidth, NEGATIVE)])
def test_it_passes_the_checks_of_scikit_learn(kind: type[GrammarLearner], cannot_pass: dict[str, str]) -> None:
    # Arrays there have few rows of two or three numbers. Mode exact refuses to learn from so few sentences.
    learner = kind(depth=1, mode="em", starts=1, rounds=3)
    results = check_estimator(learner, expected_failed_checks=cannot_pass, on_fail=None, on_skip=None)
    assert {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"} == {}
    passed = [result for result in results if result["status"] == "passed"]
    assert [result["check_name"] for result in passed if result["expected_to_fail"]] == []
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == cannot_pass.keys()
    assert len(passed) >= 45


def test_labels_can_be_ignored() -> None:
    grammar = gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=3)
    learned = gardenpath.learn(grammar.corpus(20_000, seed=4), 2, unlabelled=True)
    assert learned.verdict == "converged"
    assert learned.grammar.sizes == [1, 8, 8]
    assert all(level.exact for level in gardenpath.score_rules(learned.grammar, grammar))
    with pytest.raises(ValueError, match="mode is em, expected exact: unlabelled needs it"):
        gardenpath.learn(grammar.corpus(100, seed=4), 2, mode="em", unlabelled=True)
