"""`gardenpath.fit`: fits of columns, with the program's estimates."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gardenpath import fit

VOCABS = [8, 16, 32]
HARDNESS = [0.8, 0.9, 1.0, 1.1, 1.25]


def table(seeds: int = 5, vocabs: list[int] = VOCABS) -> dict[str, list[float]]:
    rows = [
        (vocab, seed, samples, 1 / (1 + samples / (4 * HARDNESS[seed] * vocab**2)))
        for vocab in vocabs
        for seed in range(seeds)
        for samples in 2.0 ** np.arange(4, 16)
    ]
    return {name: list(column) for name, column in zip(("vocab", "seed", "samples", "loss"), zip(*rows))}


TABLE = table()
NAMES: dict[str, Any] = {"x": "samples", "y": "loss", "seed": "seed"}


def test_thresholds_of_groups() -> None:
    found = fit.threshold(TABLE, **NAMES, by="vocab", level=0.5)
    assert list(found) == VOCABS
    for vocab, threshold in found.items():
        assert threshold.value == pytest.approx(4 * vocab**2, rel=0.01)
        assert threshold.contains(4 * vocab**2) and not threshold.contains(5.5 * vocab**2)
        assert np.allclose(threshold.crossings, 4 * np.array(HARDNESS) * vocab**2, rtol=0.01)
        assert (threshold.seeds, threshold.because) == (5, None)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_of_all_kinds_are_read(library: str) -> None:
    module = pytest.importorskip(library)
    frame = module.table(TABLE) if library == "pyarrow" else module.DataFrame(TABLE)
    expected = fit.threshold(TABLE, **NAMES, by="vocab", level=0.5)
    assert fit.threshold(frame, **NAMES, by="vocab", level=0.5) == expected
    arrays = {name: frame[column] for name, column in NAMES.items()}
    assert fit.threshold(**arrays, by=frame["vocab"], level=0.5) == expected
    assert fit.collapse(frame, **NAMES, by="vocab", predicted=2) == fit.collapse(TABLE, **NAMES, by="vocab", predicted=2)


def test_exponents() -> None:
    thresholds = fit.threshold(TABLE, **NAMES, by="vocab", level=0.5)
    law = fit.exponent(thresholds)
    assert law.exponent.value == pytest.approx(2, abs=0.01) and law.exponent.contains(2) and not law.exponent.contains(2.3)
    assert law.at(10) == pytest.approx(400, rel=0.02) and law.misfit is not None and law.misfit < 1
    rows = [(vocab, crossing) for vocab, found in thresholds.items() for crossing in found.crossings]
    vocab, crossing = zip(*rows)
    assert fit.exponent(x=vocab, y=crossing) == law == fit.exponent({v: t.crossings for v, t in thresholds.items()})
    assert fit.exponent({"v": vocab, "p": crossing}, x="v", y="p") == law


def test_collapses() -> None:
    found = fit.collapse(TABLE, **NAMES, by="vocab", predicted=2)
    assert found.exponent.contains(2) and found.predicted == 2.0
    assert found.predicted_misfit is not None and found.predicted_misfit < 1
    wrong = fit.collapse(TABLE, **NAMES, by="vocab", predicted=3)
    assert wrong.predicted_misfit is not None and wrong.predicted_misfit > 10


def test_what_is_missing_is_said() -> None:
    few = fit.threshold(table(3), **NAMES, by="vocab", level=0.5)[8]
    assert (few.interval, few.because) == (None, "3 seeds; an interval needs at least 5")
    never = fit.threshold(table(5, [32]), **NAMES, level=1e-6)
    assert never.value is None and never.because is not None and never.because.startswith("5 of 5 curves do not fall")
    assert set(never.crossings) == {np.inf}
    law = fit.exponent(fit.threshold(table(5, [8, 16]), **NAMES, by="vocab", level=0.5))
    assert law.exponent.interval is None and law.exponent.because is not None and law.exponent.because.startswith("2 sizes")
    none = fit.exponent({})
    assert none.exponent == (None, None, 0, "no measurements") and none.prefactor is None
    with pytest.raises(ValueError, match="no power law: no measurements"):
        none.at(1)
    rising = fit.threshold(x=[1, 10, 100], y=[0, 0.5, 1], level=0.5, direction="rises")
    assert rising.value == pytest.approx(10)


def test_results_pickle_and_compare() -> None:
    for found in (
        fit.threshold(TABLE, **NAMES, by="vocab", level=0.5)[8],
        fit.exponent({}),
        fit.exponent({8: [1.0], 16: [2.0]}),
        fit.collapse(TABLE, **NAMES, by="vocab"),
        fit.collapse(x=[1], y=[1], by=[1]),
    ):
        assert pickle.loads(pickle.dumps(found)) == found
        assert repr(found).startswith(type(found).__name__ + "(")


def test_mistakes_are_value_errors() -> None:
    for words, call in {
        "x is the name 'samples'": lambda: fit.threshold(x="samples", y=[1], level=1),
        "y is 'lost', which is not a column": lambda: fit.threshold(TABLE, x="samples", y="lost", level=1),
        "different lengths: x 2, y 1": lambda: fit.threshold(x=[1, 2], y=[1], level=1),
        "direction is sinks": lambda: fit.threshold(x=[1], y=[1], level=1, direction="sinks"),  # type: ignore[call-overload]
        "x has 2 dimensions": lambda: fit.threshold(x=[[1]], y=[1], level=1),
        "expected columns x and y": lambda: fit.exponent(TABLE, x="samples"),
    }.items():
        with pytest.raises(ValueError, match=words):
            call()


def test_fits_are_those_of_experiment_files(program: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text("""
measure = "entropy"
[[grid]]
vocab = [4, 6, 8]
depth = 2
fraction = [0.25, 0.5, 0.75, 1]
sentences = 50
seed = "1..5"
[[fit]]
name = "place"
kind = "threshold"
of = "normalized"
along = "fraction"
level = 0.1
direction = "rises"
groups = ["vocab"]
[[fit]]
name = "trend"
kind = "exponent"
of = "place"
in = "vocab"
[[fit]]
name = "together"
kind = "collapse"
of = "normalized"
along = "fraction"
by = "vocab"
""")
    store = ("--store", tmp_path / "store")
    program("sweep", "run", tmp_path / "e.toml", *store)
    program("sweep", "collect", tmp_path / "e.toml", *store, "-o", tmp_path / "r.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    columns = {name: [row[name] for row in rows] for name in ("vocab", "seed", "fraction", "normalized")}
    said = [json.loads(line) for line in program("sweep", "fit", tmp_path / "e.toml", *store, "--json").splitlines()]
    names: dict[str, Any] = {"x": "fraction", "y": "normalized", "seed": "seed", "by": "vocab"}
    places = fit.threshold(columns, **names, level=0.1, direction="rises")
    trend, together = fit.exponent(places), fit.collapse(columns, **names)
    found = [*places.values(), trend.exponent, together.exponent]
    assert len(found) == len(said) == 5
    for one, other in zip(found, said):
        assert one.value == pytest.approx(other["value"], rel=1e-12) and one.seeds == other["seeds"]
        assert (one.interval is None) == (other["interval"] is None) and one.because == other["because"]
        if one.interval is not None:
            assert one.interval == pytest.approx(other["interval"], rel=1e-9)
    assert trend.misfit == pytest.approx(said[3]["misfit"]) and together.misfit == pytest.approx(said[4]["misfit"])
