"""User-defined measures, and cells that PyTorch measures on CUDA."""

from __future__ import annotations

import runpy
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gardenpath
import numpy as np
import pytest
from gardenpath import Corpus, Experiment

@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Networks are so small here that threads would mostly wait for each other."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


REPOSITORY = Path(__file__).resolve().parents[2]

GRID = """
measure = "{measure}"
[[grid]]
vocab = 4
depth = 2
fraction = 0.25
samples = [50, 200]
test = 100
seed = "1..2"
{options}
"""


@gardenpath.measure(version=1)
def last_token(train: Corpus, test: Corpus, seed: int, *, prior: float = 1.0, note: str = "none") -> dict[str, Any]:
    """The loss of a predictor that sees only the last token."""
    counts = np.full((train.vocab, train.classes), prior)
    np.add.at(counts, (train.tokens[train.offsets[1:] - 1], train.roots), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    told = shares[test.tokens[test.offsets[1:] - 1]]
    loss = -np.log(told[np.arange(len(test)), test.roots]).mean()
    return {"test_loss": loss, "test_accuracy": (told.argmax(axis=1) == test.roots).mean(), "own_seed": seed, "note_kept": note}


def experiment(options: str = "", measure: str = "last_token") -> Experiment:
    return Experiment.parse(GRID.format(measure=measure, options=options))


def test_an_own_measure_sees_the_sentences_of_the_networks(tmp_path: Path) -> None:
    records = experiment().run(tmp_path / "store").records()
    for row in records.rows():
        grammar = gardenpath.Grammar.sample(4, 2, 0.25, seed=row["seed"])
        train, (_, test) = grammar.corpus(row["samples"], row["seed"]), sentences(grammar, row["seed"])
        expected = last_token(train, test, row["seed"])
        assert row["test_loss"] == expected["test_loss"] and row["own_seed"] == row["seed"]
        floor = grammar.bayes_floor(test)
        assert row["bayes_loss"] == floor.loss and row["bayes_accuracy"] == floor.accuracy
        assert row["normalized_loss"] == pytest.approx(row["test_loss"] / floor.guessing)
    trained = experiment('model = "cnn"\nwidth = 4\nmax_steps = 1', "train").run(tmp_path / "store").records()
    assert trained["bayes_loss"].tolist() == records["bayes_loss"].tolist()


def sentences(grammar: gardenpath.Grammar, seed: int) -> tuple[Corpus, Corpus]:
    from gardenpath.torch._seed import Seed

    return grammar.corpus(50, seed), grammar.corpus(100, Seed.new(seed).child("test").number)


def test_parameters_are_those_of_the_function(tmp_path: Path) -> None:
    results = experiment('prior = [1, 10]\nnote = "kept"').run(tmp_path / "store")
    records = results.records()
    assert sorted(set(records["prior"])) == [1.0, 10.0] and set(records["note_kept"]) == {"kept"}
    assert len({row["test_loss"] for row in records.rows()}) == 8
    with pytest.raises(ValueError, match="colour is not a parameter of last_token"):
        experiment("colour = 1")


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors_measure_the_same(kind: Any, tmp_path: Path) -> None:
    here = experiment().run(tmp_path / "here")
    with warnings.catch_warnings(), kind(2) as executor:
        # Python 3.12 warns of forks in processes with threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        assert experiment().run(tmp_path / "there", executor).records() == here.records()


def test_dask_takes_functions_along(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        assert experiment().run(tmp_path / "store", client).records() == experiment().run(tmp_path / "here").records()


def test_a_version_is_part_of_the_identity(tmp_path: Path) -> None:
    calls: list[int] = []

    def counted(train: Corpus, test: Corpus, seed: int) -> dict[str, float]:
        calls.append(seed)
        return {"test_loss": 1.0}

    first = gardenpath.measure(version=1, name="counted")(counted)
    old = experiment(measure="counted")
    old.run(tmp_path / "store")
    old.run(tmp_path / "store")
    assert len(calls) == 4 and first is counted
    gardenpath.measure(version=2, name="counted")(counted)
    new = experiment(measure="counted")
    assert old.cells()[0].identity != new.cells()[0].identity
    new.run(tmp_path / "store")
    assert len(calls) == 8


def test_failures_are_recorded_and_the_others_go_on(tmp_path: Path) -> None:
    @gardenpath.measure(version=1)
    def moody(train: Corpus, test: Corpus, seed: int) -> dict[str, float]:
        if len(train) == 50:
            raise ArithmeticError("no numbers today")
        return {"test_loss": 0.5}

    moods = experiment(measure="moody")
    with pytest.raises(ValueError, match="2 of 4 cells failed, the first because ArithmeticError: no numbers today"):
        moods.run(tmp_path / "store")
    assert len(moods.results(tmp_path / "store")) == 2
    store = gardenpath.Store(tmp_path / "store")
    assert [store.state(cell) for cell in moods.cells()].count("failed") == 2


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({}, "test_loss is missing"),
        ({"test_loss": float("nan")}, "Out of range float values|not JSON compliant"),
        ({"test_loss": "much"}, "test_loss is \"much\", expected a number"),
        ({"test_loss": 1.0, "samples": 3}, "samples is a parameter of odd"),
        ({"test_loss": 1.0, "what": object()}, "expected numbers, strings"),
        (3, "expected a dict with test_loss"),
    ],
)
def test_odd_results_are_failures(result: Any, words: str, tmp_path: Path) -> None:
    gardenpath.measure(version=1, name="odd")(lambda train, test, seed: result)
    with pytest.raises(ValueError, match=words):
        experiment(measure="odd").run(tmp_path / "store")


def test_ctrl_c_leaves_no_cell_marked(tmp_path: Path) -> None:
    @gardenpath.measure(version=1)
    def interrupted(train: Corpus, test: Corpus, seed: int) -> dict[str, float]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        experiment(measure="interrupted").run(tmp_path / "store")
    store = gardenpath.Store(tmp_path / "store")
    assert {store.state(cell) for cell in experiment(measure="interrupted").cells()} == {"missing"}


def test_mistakes_of_declarations() -> None:
    with pytest.raises(ValueError, match="version is 0"):
        gardenpath.measure(version=0)
    with pytest.raises(ValueError, match="expected train, test and seed first"):
        gardenpath.measure(version=1, name="wrong")(lambda samples: {"test_loss": 1.0})
    with pytest.raises(ValueError, match="expected named arguments only"):
        gardenpath.measure(version=1, name="wrong")(lambda train, test, seed, **others: {"test_loss": 1.0})
    with pytest.raises(ValueError, match="measure train already exists"):
        gardenpath.measure(version=1, name="train")(lambda train, test, seed: {"test_loss": 1.0})


def test_the_program_says_where_they_run(program: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(GRID.format(measure="last_token", options=""))
    (tmp_path / "cuda.toml").write_text(CUDA)
    for name, words in {"own": "run from Python", "cuda": "run the experiment from Python, with gardenpath.sweep"}.items():
        target = program.__closure__  # type: ignore[attr-defined]
        path = next(cell.cell_contents for cell in target if isinstance(cell.cell_contents, Path))
        command = [path, "sweep", "run", tmp_path / f"{name}.toml", "--store", tmp_path / "store"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr


CUDA = GRID.format(measure="train", options='model = ["cnn", "inn"]\nwidth = 8\nmax_steps = 40\ndevice = "cuda"')


def test_cuda_cells_are_measured_by_pytorch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    # There may be no CUDA here; the rest is the same.
    monkeypatch.setenv("GARDENPATH_CUDA_DEVICE", "cpu")
    cuda = Experiment.parse(CUDA)
    here = Experiment.parse(CUDA.replace('device = "cuda"', 'device = "cpu"'))
    assert not {cell.identity for cell in cuda.cells()} & {cell.identity for cell in here.cells()}
    one, other = cuda.run(tmp_path / "store").records(), here.run(tmp_path / "store").records()
    assert set(one["device"]) == {"cuda"} and set(other) <= set(one)
    assert one["model"].tolist() == other["model"].tolist() and set(other["device"]) == {"cpu"}
    for name in (name for name in other if other[name].dtype != object):
        assert np.allclose(one[name].astype(float), other[name].astype(float), atol=2e-3), name
    assert one["ending"].tolist() == other["ending"].tolist()


def test_cells_without_a_device_keep_their_identity() -> None:
    # As in existing stores: the device is part of an identity only if it is not the default.
    cells = experiment('model = "cnn"\nwidth = 8', "train").cells()
    told = experiment('model = "cnn"\nwidth = 8\ndevice = "cpu"', "train").cells()
    assert [cell.identity for cell in cells] == [cell.identity for cell in told]


def test_what_cuda_does_not_do_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("GARDENPATH_CUDA_DEVICE", "cpu")
    odd = GRID.format(measure="train", options='model = "cnn"\nwidth = 8\noptimizer = "adam"\nlearning_rate = 0.1\ndevice = "cuda"')
    with pytest.raises(ValueError, match="optimizer is not the default"):
        Experiment.parse(odd).run(tmp_path / "store")


def test_the_script_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["own_measure.py", str(tmp_path / "own")])
    runpy.run_path(str(REPOSITORY / "examples" / "own_measure.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9 and {line.split()[0] for line in lines} == {"cnn", "lstm", "mlp"}
    assert (tmp_path / "own" / "compared.svg").read_text().startswith("<svg")
