"""What a user of NumPy, PyTorch and scikit-learn expects, for every class and function of the package."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gardenpath
import numpy as np
import pytest
from gardenpath import Cell, Corpus, Experiment, Grammar, Moments, Store, Tree, _core, theory
from stub_docs import STUBS, written

GRAMMAR = Grammar.sample(vocab=4, depth=2, fraction=0.5, seed=1)
CORPUS = GRAMMAR.corpus(200, seed=1)
ENTROPY = 'measure = "entropy"\n[[grid]]\nvocab = 4\ndepth = 2\nfraction = {}\nsentences = 10\nseed = 1\n'


def learned(samples: int) -> Any:
    return gardenpath.learn(GRAMMAR.corpus(samples, seed=1), 2, mode="em", starts=1, rounds=2)


# Every class that a function returns, created twice in the same way and once differently.
OBJECTS: dict[type, tuple[Callable[[], Any], Callable[[], Any]]] = {
    _core.BayesFloor: (lambda: GRAMMAR.bayes_floor(CORPUS), lambda: GRAMMAR.bayes_floor(GRAMMAR.corpus(9, seed=2))),
    Cell: (lambda: Experiment.parse(ENTROPY.format(0.5)).cells()[0], lambda: Experiment.parse(ENTROPY.format(1)).cells()[0]),
    _core.Chart: (lambda: GRAMMAR.chart(CORPUS[0]), lambda: GRAMMAR.chart(CORPUS[1])),
    Corpus: (lambda: GRAMMAR.corpus(9, seed=1), lambda: GRAMMAR.corpus(9, seed=2)),
    _core.ExpectedMoments: (lambda: GRAMMAR.expected_moments(), lambda: GRAMMAR.expected_moments(1)),
    Experiment: (lambda: Experiment.parse(ENTROPY.format(0.5)), lambda: Experiment.parse(ENTROPY.format(1))),
    _core.Figure: (lambda: gardenpath.Figure("<svg/>"), lambda: gardenpath.Figure("<svg></svg>")),
    Grammar: (lambda: Grammar.sample(4, 2, seed=1), lambda: Grammar.sample(4, 2, seed=2)),
    _core.Learned: (lambda: learned(200), lambda: learned(300)),
    _core.LearnedLevel: (lambda: learned(200).levels[0], lambda: learned(200).levels[1]),
    _core.LevelScore: (
        lambda: gardenpath.score_rules(GRAMMAR, GRAMMAR)[0],
        lambda: gardenpath.score_rules(GRAMMAR, GRAMMAR)[1],
    ),
    Moments: (lambda: Moments(CORPUS), lambda: Moments(CORPUS[:100])),
    _core.Probe: (lambda: run(32).probe(samples=20, test=20, exchanged=5), lambda: run(32).probe(samples=30, test=20, exchanged=5)),
    _core.Results: (
        lambda: Experiment.parse(ENTROPY.format(0.5)).run("results"),
        lambda: Experiment.parse(ENTROPY.format(1)).run("results"),
    ),
    _core.Run: (lambda: run(32), lambda: run(1)),
    _core.SignalStudy: (
        lambda: gardenpath.snr(4, 2, grammars=2, samples=[10, 100]),
        lambda: gardenpath.snr(4, 2, grammars=2, samples=[10, 200]),
    ),
    Store: (lambda: Store("a"), lambda: Store("b")),
    Tree: (lambda: CORPUS.trees()[0], lambda: CORPUS.trees()[1]),
    theory.ByLength: (lambda: theory.mean_candidates(2, 0.5), lambda: theory.mean_candidates(2, 0.25)),
}


def run(steps: int) -> gardenpath.Run:
    return gardenpath.train(GRAMMAR, "cnn", samples=20, test=20, width=4, max_steps=steps)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_no_class_is_forgotten() -> None:
    values = [value for module in (_core, theory) for value in vars(module).values()]
    classes = {value for value in values if isinstance(value, type) and value.__module__.startswith("gardenpath")}
    # Iterators are consumed by use, and tasks are internal.
    assert classes - {_core.CorpusIterator, _core.Reader, _core._Task} == set(OBJECTS)


@pytest.mark.parametrize("kind", OBJECTS, ids=lambda kind: kind.__name__)
def test_results_pickle_compare_and_have_a_repr(kind: type) -> None:
    one, same, other = OBJECTS[kind][0](), OBJECTS[kind][0](), OBJECTS[kind][1]()
    assert type(one) is kind and kind.__module__ in ("gardenpath", "gardenpath.theory")
    assert one == same and not one != same and one != other and one != "something else"
    copy = pickle.loads(pickle.dumps(one))
    assert type(copy) is kind and copy == one and copy != other
    assert kind.__name__ in repr(one) and " object at 0x" not in repr(one) and repr(copy) == repr(one)
    if kind.__hash__ is not None:
        assert hash(one) == hash(same) == hash(copy)


def test_answers_of_several_parts_have_names() -> None:
    answers = {
        ("log_likelihood", "posterior"): GRAMMAR.inside(CORPUS),
        ("spans", "uses"): GRAMMAR.marginals(CORPUS[0]),
        ("mean", "error"): gardenpath.class_entropy(4, 2, 0.5, grammars=2, sentences=10),
        ("fraction", "entropy"): gardenpath.fraction_for_entropy(4, 2, 0.2, grammars=2, sentences=10),
        ("labels", "centroids", "inertia"): gardenpath.kmeans([[0.0], [1.0]], 2),
        ("binary", "ternary", "ternary_uncorrected"): gardenpath.rule_purity(GRAMMAR, CORPUS),
        ("binary", "ternary"): theory.splits(6, 2),
        ("paper", "size_biased"): theory.sample_complexity(2, 4, 1, 1),
        ("arities", "probability"): theory.two_level_topologies()[0],
    }
    for names, answer in answers.items():
        assert answer._fields == names and isinstance(answer, tuple) and getattr(answer, names[0]) is answer[0]
        assert repr(pickle.loads(pickle.dumps(answer))) == repr(answer)


NEGATIVE: list[Callable[[], object]] = [
    lambda: Grammar.sample(-4, 2),
    lambda: Grammar.sample(4, -2),
    lambda: Grammar.sample(4, 2, seed=-1),
    lambda: Grammar.sample(4, 2, binary_rules=-1, ternary_rules=1),
    lambda: GRAMMAR.corpus(-1),
    lambda: GRAMMAR.corpus(1, seed=-1),
    lambda: GRAMMAR.corpus(1, start=-1),
    lambda: GRAMMAR.rules(-1),
    lambda: GRAMMAR.name(-1, 0),
    lambda: GRAMMAR.expected_moments(-1),
    lambda: GRAMMAR.trees(CORPUS[0], limit=-1),
    lambda: GRAMMAR.sample_tree(CORPUS[0], seed=-1),
    lambda: GRAMMAR.chart(CORPUS[0]).candidates(-1),
    lambda: GRAMMAR.chart(CORPUS[0]).trees(-1),
    lambda: CORPUS.trees()[0].level(-1),
    lambda: CORPUS.trees()[0].nodes(-1),
    lambda: CORPUS.trees()[0].rules(-1),
    lambda: Corpus([[1, 2]], vocab=-1),
    lambda: Corpus.from_arrays([0], [0, 1], [0], vocab=-1),
    lambda: gardenpath.class_entropy(4, 2, 0.5, grammars=-1),
    lambda: gardenpath.class_entropy(4, 2, 0.5, sentences=-1),
    lambda: gardenpath.fraction_for_entropy(4, 2, 0.5, grammars=-1),
    lambda: gardenpath.snr(4, 2, grammars=-1),
    lambda: gardenpath.snr(4, 2, samples=[-1]),
    lambda: gardenpath.learn(CORPUS, -2),
    lambda: gardenpath.learn(CORPUS, 2, mode="em", starts=-1),
    lambda: gardenpath.kmeans([[0.0]], -1),
    lambda: gardenpath.kmeans([[0.0]], 1, restarts=-1),
    lambda: gardenpath.rule_purity(GRAMMAR, CORPUS, restarts=-1),
    lambda: gardenpath.set_threads(-1),
    lambda: gardenpath.train(GRAMMAR, samples=-1),
    lambda: gardenpath.train(GRAMMAR, samples=1, width=-1),
    lambda: gardenpath.sweep(Experiment.parse(ENTROPY.format(1)), "store", batch=-1),
    lambda: Store("store").measure([], threads=-1),
    lambda: theory.length_distribution(-1),
    lambda: theory.typical_length(-1),
    lambda: theory.tree_count(-1),
    lambda: theory.splits(-1, 2),
    lambda: theory.critical_fraction(-1),
    lambda: theory.sample_complexity(2, -4, 1, 1),
]


@pytest.mark.parametrize("number", range(len(NEGATIVE)))
def test_negative_counts_are_value_errors(number: int) -> None:
    with pytest.raises(ValueError, match="-[0-9]|expected"):
        NEGATIVE[number]()


def test_too_large_counts_are_value_errors_and_wrong_types_type_errors() -> None:
    with pytest.raises(ValueError, match=f"the number is {2**70}, which is too large"):
        GRAMMAR.corpus(2**70)
    with pytest.raises(TypeError):
        GRAMMAR.corpus(1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        GRAMMAR.corpus("ten")  # type: ignore[arg-type]
    assert len(GRAMMAR.corpus(np.int64(3))) == 3  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["int64", np.int64, np.dtype("int64"), int, "i8", np.int32, np.int16])
def test_types_of_numpy_are_types(dtype: Any) -> None:
    padded = CORPUS.padded(dtype=dtype)
    assert padded.dtype == np.dtype(dtype) and (padded == CORPUS.padded()).all()
    with pytest.raises(ValueError, match="dtype is float32, expected int64"):
        CORPUS.padded(dtype=np.float32)  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        CORPUS.padded(dtype="no type")  # type: ignore[call-overload]


@pytest.mark.parametrize("fill", [0, 3])
def test_a_token_is_no_padding(fill: int) -> None:
    with pytest.raises(ValueError, match=f"fill is {fill}, which is a token; expected -1, or at least 4"):
        CORPUS.padded(fill)
    assert CORPUS.padded(4).max() == 4 and CORPUS.padded(-100).min() == -100


def test_dir_shows_what_is_meant_for_users() -> None:
    names = {name for name in dir(gardenpath) if not name.startswith("__")}
    assert names == set(gardenpath.__all__) - {"__version__"} | {"GrammarLearner"}
    assert all(hasattr(gardenpath, name) for name in dir(gardenpath))
    assert dir(theory) == sorted(theory.__all__)


def test_theory_takes_arrays() -> None:
    fractions = np.array([[0.125, 0.25], [0.5, 1.0]])
    entropies = theory.class_entropy(fractions, p_binary=0.4)
    assert entropies.shape == (2, 2) and entropies.dtype == np.float64
    assert entropies[1, 0] == theory.class_entropy(0.5, p_binary=0.4)
    assert theory.paper_class_entropy([0.25, 0.5]).tolist() == [theory.paper_class_entropy(f) for f in (0.25, 0.5)]
    grid = theory.class_entropy(np.array([0.25, 0.5])[:, None], ternary_fraction=np.array([0.1, 0.2, 0.3]))
    assert grid.shape == (2, 3) and grid[1, 2] == theory.class_entropy(0.5, ternary_fraction=0.3)
    assert theory.mean_branching(p_binary=np.array([0.0, 1.0])).tolist() == [3, 2]
    assert theory.typical_length(np.arange(1, 4)).tolist() == [theory.typical_length(d) for d in (1, 2, 3)]
    assert theory.mean_internal_nodes([1, 2]).shape == theory.critical_fraction([2, 3]).shape == (2,)
    splits = theory.splits(np.array([4, 6]), 2)
    assert splits.binary.tolist() == [1, 1] and splits.ternary.tolist() == [0, 1]
    assert theory.median_splits([1, 2]).binary.shape == (2,)
    complexity = theory.sample_complexity(2, np.array([8, 16]), 1, np.array([8, 16]))
    assert complexity.paper[1] == theory.sample_complexity(2, 16, 1, 16).paper
    with pytest.raises(ValueError, match="fraction"):
        theory.class_entropy([0.5, 2.0])


def test_exceptions_in_callbacks_are_raised() -> None:
    class Enough(Exception):
        pass

    def fail(*news: object) -> None:
        raise Enough(news)

    for mode in ("exact", "em"):
        with pytest.raises(Enough):
            gardenpath.learn(CORPUS, 2, mode=mode, progress=fail)  # type: ignore[arg-type]
    with pytest.raises(Enough):
        gardenpath.train(GRAMMAR, samples=10, test=10, width=4, progress=fail)
    cells = Experiment.parse(ENTROPY.format(1)).cells()
    with pytest.raises(Enough):
        Store("store").measure(cells, report=fail)
    with pytest.raises(Enough):
        gardenpath.sweep(Experiment.parse(ENTROPY.format(1)), "store", progress=fail)


WRITERS: dict[str, Callable[[Path], object]] = {
    "g.pcfg": GRAMMAR.write,
    "c.parquet": CORPUS.write,
    "c.jsonl": CORPUS.write,
    "c.tsv": CORPUS.write,
    "f.svg": gardenpath.Figure("<svg/>").write,
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_cannot_be_written_is_an_os_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no directory"):
        WRITERS[name](tmp_path / "nowhere" / name)
    (tmp_path / name).mkdir()
    with pytest.raises(IsADirectoryError, match="is a directory, expected a file"):
        WRITERS[name](tmp_path / name)


@pytest.mark.parametrize("path", STUBS, ids=lambda path: path.name)
def test_stubs_have_the_docstrings(path: Path) -> None:
    assert path.read_text() == written(path), "run `python tests/python/stub_docs.py`"
    assert inspect.getdoc(Grammar.inside) and '"""The inside algorithm on a batch' in STUBS_TEXT


STUBS_TEXT = "".join(path.read_text() for path in STUBS)
