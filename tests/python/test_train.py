"""`gardenpath.train`: the program's numbers and run directories."""

from __future__ import annotations

import json
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gardenpath
import numpy as np
import pytest
from gardenpath import Grammar, Record, Run

SIZES: dict[str, Any] = {"samples": 500, "test": 1000, "width": 32, "seed": 1, "max_steps": 70}


@pytest.fixture(scope="module")
def language() -> Grammar:
    return Grammar.sample(vocab=8, depth=2, fraction=0.125, seed=1)


@pytest.fixture(scope="module")
def run(language: Grammar) -> Run:
    return gardenpath.train(language, "cnn", **SIZES)


def of_program(program: Callable[..., str], directory: Path, model: str, **options: Any) -> dict[str, Any]:
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    words = ["--test-samples" if word == "--test" else word for word in words]
    grammar = ("--vocab", 8, "--depth", 2, "--fraction", 0.125)
    result: dict[str, Any] = json.loads(
        program("train", "--model", model, *grammar, *words, "-o", directory, "--json")
    )
    return result


@pytest.mark.parametrize("model", ["cnn", "inn", "transformer"])
def test_numbers_are_those_of_the_program(
    model: Any, language: Grammar, program: Callable[..., str], tmp_path: Path
) -> None:
    sizes: dict[str, Any] = {"heads": 4, "learning_rate": 0.001} if model == "transformer" else {}
    result = of_program(program, tmp_path / "program", model, **SIZES, **sizes)
    run = gardenpath.train(language, model, **SIZES, **sizes, output=tmp_path / "python")
    for name in ("test_loss", "normalized_loss", "test_accuracy", "train_loss", "best_step", "steps", "epochs", "ending"):
        assert getattr(run, name) == result[name], name
    assert run.floor is not None and (run.floor.loss, run.floor.accuracy) == (result["bayes_loss"], result["bayes_accuracy"])
    for name in ("best.safetensors", "checkpoint.safetensors", "log.jsonl", "run.json", "curve.svg"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "program" / name).read_bytes(), name
    assert Run.read(tmp_path / "program") == run == Run.read(tmp_path / "python")


TRANSFORMER: dict[str, Any] = {**SIZES, "heads": 4, "learning_rate": 0.01}
TASKS: dict[str, dict[str, Any]] = {"next": {}, "masked": {"mask": 0.3}}


@pytest.mark.parametrize("task", TASKS)
def test_tasks_and_their_floors_are_those_of_the_program(
    task: Any, language: Grammar, program: Callable[..., str], tmp_path: Path
) -> None:
    options: dict[str, Any] = {**TRANSFORMER, "task": task, **TASKS[task]}
    result = of_program(program, tmp_path / "program", "transformer", **options)
    run = gardenpath.train(language, "transformer", **options, output=tmp_path / "python")
    assert run.task == task and run.options["task"] == task and f"transformer ({task})" in repr(run)
    for name in ("test_loss", "normalized_loss", "test_accuracy", "train_loss"):
        assert getattr(run, name) == result[name], name
    assert run.normalized_loss == pytest.approx(run.test_loss / math.log(8))
    assert run.floor is not None and (run.floor.loss, run.floor.accuracy) == (result["bayes_loss"], result["bayes_accuracy"])
    assert run.expected_floor == result["floor"]
    if task == "next":
        assert run.level_floors is not None and run.level_floors.tolist() == result["level_floors"]
        # Each additional known layer lowers the loss, and with all layers it is the floor.
        assert (np.diff(run.level_floors) < 0).all() and run.level_floors[2] == run.expected_floor
    else:
        assert run.level_floors is None and "level_floors" not in result
    for name in ("best.safetensors", "log.jsonl", "run.json"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "program" / name).read_bytes(), name
    assert Run.read(tmp_path / "program") == run == pickle.loads(pickle.dumps(run))


def test_runs_that_tell_roots_have_no_other_floors(run: Run) -> None:
    assert run.task == "root" and run.expected_floor is None and run.level_floors is None


def test_answers_about_tokens_are_those_that_were_measured(language: Grammar) -> None:
    pytest.importorskip("torch")
    from gardenpath._core import _masks
    from gardenpath.torch._seed import Seed

    seed = Seed.new(1)
    test = language.corpus(1000, seed.child("test").number)
    run = gardenpath.train(language, "transformer", **TRANSFORMER, task="next")
    shares, told = run.predict_proba(test), run.predict(test)
    answers = np.concatenate([[*sentence, 8] for sentence in test])
    assert run.logits(test).shape == (len(test.tokens) + 1000, 9) and told.shape == answers.shape
    assert (told == answers).mean() == pytest.approx(run.test_accuracy, abs=1e-12)
    surprisal = -np.log(shares[np.arange(len(answers)), answers])
    assert surprisal.sum() / len(test.tokens) == pytest.approx(run.test_loss, abs=1e-6)

    run = gardenpath.train(language, "transformer", **TRANSFORMER, task="masked", mask=0.3)
    masks = _masks(test, 0.3, seed.child("order").child("test masks").number, 0)
    hidden = np.where(masks, 8, test.tokens)
    sentences = [hidden[a:b].tolist() for a, b in zip(test.offsets[:-1], test.offsets[1:])]
    answers = test.tokens[masks]
    shares, told = run.predict_proba(sentences), run.predict(sentences)
    assert shares.shape == (len(answers), 8)
    assert (told == answers).mean() == pytest.approx(run.test_accuracy, abs=1e-12)
    assert -np.log(shares[np.arange(len(answers)), answers]).mean() == pytest.approx(run.test_loss, abs=1e-6)
    with pytest.raises(ValueError, match="token 9"):
        run.predict([[0, 1, 9, 0]])


def test_the_program_reads_what_python_keeps(language: Grammar, program: Callable[..., str], tmp_path: Path) -> None:
    directory = tmp_path / "run"
    run = gardenpath.train(language, "inn", **SIZES, output=directory)
    sizes = {"samples": 300, "test": 100, "exchanged": 20}
    said = json.loads(
        program("probe", directory, "--samples", 300, "--test-samples", 100, "--exchanged", 20, "--seed", 3, "--json")
    )
    probe = run.probe(**sizes, seed=3)
    assert probe.layers == said["layer_names"]
    assert probe.accuracy.tolist() == said["probe_accuracy"] and probe.sensitivity.tolist() == said["sensitivity"]
    assert run.probe(**sizes, seed=3, initial=True) != probe
    language.write(tmp_path / "g.pcfg")
    words = "--model inn --samples 500 --test-samples 1000 --width 32 --seed 1 --max-steps 70 --json".split()
    again = json.loads(program("train", "--grammar", tmp_path / "g.pcfg", *words, "-o", directory))
    assert again["test_loss"] == run.test_loss


def test_curve_and_weights_are_views(run: Run, language: Grammar) -> None:
    assert run.curve["step"].tolist() == [0, 32, 64, 70] and run.curve.dtype.names == Record._fields
    assert run.curve["test_loss"].min() == run.test_loss
    assert not run.curve.flags.writeable and run.curve.base is not None
    assert {name: weight.shape for name, weight in run.weights.items()} == {
        "conv.0": (4, 8, 32),
        "conv.1": (4, 32, 32),
        "conv.2": (4, 32, 32),
        "readout": (32, 8),
    }
    weight = run.weights["conv.1"]
    assert weight.dtype == np.float32 and not weight.flags.writeable
    assert np.shares_memory(weight, run.weights["conv.1"])
    assert run.model == "cnn" and run.grammar == language and run.options["samples"] == 500


def test_predictions_are_those_that_were_measured(run: Run, language: Grammar) -> None:
    torch = pytest.importorskip("torch")
    from gardenpath.torch import CNN
    from gardenpath.torch._seed import Seed

    test = language.corpus(1000, Seed.new(1).child("test").number)
    told, shares = run.predict(test), run.predict_proba(test)
    assert (told == test.roots).mean() == pytest.approx(run.test_accuracy, abs=1e-12)
    assert -np.log(shares[np.arange(1000), test.roots]).mean() == pytest.approx(run.test_loss, abs=1e-6)
    assert np.allclose(shares.sum(axis=1), 1) and (shares.argmax(axis=1) == told).all()
    network = CNN.for_grammar(language, width=32)
    network.load_state_dict({name: torch.tensor(weight) for name, weight in run.weights.items()})
    with torch.no_grad():
        assert np.allclose(network(torch.from_numpy(test.padded())).numpy(), run.logits(test), atol=1e-4)
    assert (run.predict(test.padded()) == told).all() and (run.predict([list(test[0])]) == told[:1]).all()
    with pytest.raises(ValueError, match="token 8"):
        run.predict([[0, 1, 8, 0]])


def test_runs_pickle_compare_and_have_a_repr(run: Run, language: Grammar) -> None:
    copy = pickle.loads(pickle.dumps(run))
    assert copy == run and repr(copy) == repr(run)
    assert copy.predict([[0, 1, 2, 3]]) == run.predict([[0, 1, 2, 3]])
    assert run != gardenpath.train(language, "cnn", **{**SIZES, "max_steps": 32}) and run != 1
    assert repr(run).startswith("<Run of cnn: test loss ") and repr(run).endswith("70 steps, ended by steps>")
    probe = run.probe(samples=100, test=50, exchanged=10)
    assert pickle.loads(pickle.dumps(probe)) == probe and probe.chance.shape == (2,)
    assert run._repr_svg_().startswith("<svg") and run.figure() == pickle.loads(pickle.dumps(run.figure()))


def test_figures_are_written(run: Run, tmp_path: Path) -> None:
    figure = run.figure()
    for name, start in {"a.svg": b"<svg", "a.png": b"\x89PNG", "a.pdf": b"%PDF"}.items():
        figure.write(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    assert figure.png(scale=1).startswith(b"\x89PNG") and figure.pdf().startswith(b"%PDF")
    with pytest.raises(ValueError, match=r"a\.gif: expected a name ending in"):
        figure.write(tmp_path / "a.gif")
    with pytest.raises(FileNotFoundError):
        figure.write(tmp_path / "nowhere" / "a.svg")


def test_a_callback_sees_each_measurement_and_may_raise(language: Grammar, run: Run, tmp_path: Path) -> None:
    seen: list[Record] = []
    assert gardenpath.train(language, "cnn", **SIZES, progress=seen.append) == run
    assert [tuple(record) for record in seen] == run.curve.tolist()
    assert all(isinstance(record, Record) for record in seen)

    def fail(record: Record) -> None:
        if record.step == 32:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        gardenpath.train(language, "cnn", **SIZES, progress=fail, output=tmp_path / "run")
    later: list[Record] = []
    assert gardenpath.train(language, "cnn", **SIZES, progress=later.append, output=tmp_path / "run") == run
    assert later and later[0].step > 32


SLOW = """
import gardenpath, sys
grammar = gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.125, seed=1)
def progress(record):
    print(record.step, flush=True)
try:
    gardenpath.train(grammar, "cnn", samples=4000, test=200, width=64, seed=1, max_steps=4000, min_steps=4000,
                     patience=100.0, output=sys.argv[1], progress=progress)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_keeps_the_last_step(language: Grammar, tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", SLOW, tmp_path / "run"], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    while int(child.stdout.readline()) < 128:
        pass
    time.sleep(0.3)
    os.kill(child.pid, signal.SIGINT)
    said = child.stdout.read().split()
    assert child.wait(timeout=60) == 0 and said[-1] == "interrupted"
    from gardenpath.torch.weights import read_weights

    kept = json.loads(read_weights(tmp_path / "run" / "checkpoint.safetensors")[1]["progress"])
    measured = max([128, *(int(step) for step in said[:-1])])
    # The step at which it was interrupted, not merely the last measurement.
    assert measured <= kept["step"] and len(kept["records"]) > 3
    options: dict[str, Any] = {
        "samples": 4000, "test": 200, "width": 64, "seed": 1, "max_steps": 4000, "min_steps": 4000, "patience": 100.0
    }
    later: list[Record] = []

    def stop(record: Record) -> None:
        later.append(record)
        raise StopIteration

    with pytest.raises(StopIteration):
        gardenpath.train(language, "cnn", **options, output=tmp_path / "run", progress=stop)
    assert later[0].step > measured


def test_mistakes_are_value_errors(language: Grammar, tmp_path: Path) -> None:
    train = gardenpath.train
    wrong: dict[str, dict[str, Any]] = {
        "model is rnn, expected cnn or inn or transformer": {"model": "rnn"},
        "the number is -5, expected at least 0": {"samples": -5},
        "expected at least one training and one test sentence": {"samples": 0},
        "patience is 1, expected more than 1": {"patience": 1},
        "heads has no effect here": {"heads": 4},
        "optimizer is adagrad": {"optimizer": "adagrad"},
        "learning_rate is -1": {"learning_rate": -1.0},
        "task is rot, expected root or next or masked": {"model": "transformer", "task": "rot"},
        "task next needs model transformer: cnn only predicts roots": {"task": "next"},
        "mask has no effect here: it needs task masked": {"model": "transformer", "task": "next", "mask": 0.2},
        "mask is 1.5, expected more than 0 and at most 1": {"model": "transformer", "task": "masked", "mask": 1.5},
    }
    for words, options in wrong.items():
        with pytest.raises(ValueError, match=words):
            train(language, **{"samples": 10, "test": 10, "width": 8, **options})
    train(language, samples=10, test=10, width=8, max_steps=1, output=tmp_path / "run")
    with pytest.raises(ValueError, match="contains another run"):
        train(language, samples=11, test=10, width=8, max_steps=1, output=tmp_path / "run")
    with pytest.raises(ValueError, match="not a run directory"):
        Run.read(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        train(language, samples=10, output=tmp_path / "file" / "run")


def test_runs_of_several_threads_do_not_disturb_each_other(language: Grammar, run: Run) -> None:
    found: list[Run] = []
    threads = [threading.Thread(target=lambda: found.append(gardenpath.train(language, "cnn", **SIZES))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [run, run]


class Terminal:
    """What was written to a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_line(language: Grammar, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    gardenpath.train(language, "cnn", **SIZES)
    assert "training cnn · " in terminal.text and " of 70 · test loss " in terminal.text
    assert terminal.text.endswith("\r\x1b[K") and "\n" not in terminal.text
    terminal.text = ""
    gardenpath.train(language, "cnn", **SIZES, progress=False)
    assert terminal.text == ""


def test_a_notebook_shows_a_bar(language: Grammar, monkeypatch: pytest.MonkeyPatch) -> None:
    display = pytest.importorskip("IPython.display")
    IPython = pytest.importorskip("IPython")
    shown: list[dict[str, str]] = []

    class Handle:
        def update(self, data: dict[str, str], raw: bool) -> None:
            assert raw
            shown.append(data)

    def show(data: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert raw and display_id and not shown
        shown.append(data)
        return Handle()

    monkeypatch.setattr(IPython, "get_ipython", lambda: type("Shell", (), {"kernel": None})())
    monkeypatch.setattr(display, "display", show)
    gardenpath.train(language, "cnn", **SIZES)
    assert len(shown) >= 3 and '<progress value="' in shown[0]["text/html"] and "training cnn" in shown[0]["text/plain"]
    assert shown[-1] == {"text/plain": ""}


def test_a_diverged_run_says_so(language: Grammar) -> None:
    run = gardenpath.train(language, "cnn", **{**SIZES, "learning_rate": 1e30})
    assert run.ending == "diverged" and math.isfinite(run.test_loss)
