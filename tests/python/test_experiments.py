"""`Experiment`: loaded, run, fitted, judged and drawn, with the program's numbers."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gardenpath
import numpy as np
import pytest
from gardenpath import Experiment, Records, Results

JUDGED = """
measure = "entropy"
expects = "Where sentences become ambiguous hardly depends on the vocabulary."
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
[[claim]]
id = "half"
statement = "Sentences become ambiguous where half of all tuples are rules."
fit = "place"
expected = 0.5
margin = 0.1
reason = "Grammars of few symbols differ from one another."
source = "ours"
[[panel]]
x = "fraction"
y = "normalized"
color = "vocab"
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("experiments") / "store"


@pytest.fixture(scope="module")
def results(store: Path) -> Results:
    return Experiment.parse(JUDGED).run(store)


def test_experiments_are_loaded_by_path_or_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.toml").write_text(JUDGED)
    mine = Experiment.load(tmp_path / "mine.toml")
    assert mine == Experiment.parse(JUDGED) == Experiment.read(tmp_path / "mine.toml") and mine.measures == ["entropy"]
    built_in = Experiment.load("cnn")
    assert built_in.measures == ["train"] and "full" in built_in.scales and mine.scales == []
    assert len(built_in.cells()) == len(built_in.cells("quick")) < len(built_in.cells("full"))
    for experiment in (mine, built_in):
        assert pickle.loads(pickle.dumps(experiment)) == experiment
    with pytest.raises(FileNotFoundError, match="no file cnnn, and no built-in experiment with that name; did you mean cnn"):
        Experiment.load("cnnn")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        Experiment.read("cnn")
    with pytest.raises(ValueError, match="unknown scale huge"):
        built_in.cells("huge")


def test_experiments_that_use_others_pickle(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(JUDGED)
    (tmp_path / "both.toml").write_text('uses = ["one.toml"]\n[[panel]]\nx = "fraction"\ny = "normalized"\n')
    both = Experiment.load(tmp_path / "both.toml")
    assert pickle.loads(pickle.dumps(both)) == both and len(both.cells()) == 60


def test_records_are_tables(results: Results, store: Path) -> None:
    records = results.records()
    rows = gardenpath.sweep(Experiment.parse(JUDGED), store)
    assert isinstance(records, Records) and len(results) == len(rows) == 60 and results.missing == 0
    assert records["vocab"].dtype == np.int64 and records["entropy"].tolist() == [row["entropy"] for row in rows]
    assert records.rows()[7]["normalized"] == rows[7]["normalized"]
    assert pickle.loads(pickle.dumps(records)) == records and repr(records).startswith("<Records: 60 rows of ")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_other_libraries_take_the_records(library: str, results: Results) -> None:
    module = pytest.importorskip(library)
    records = results.records()
    if library == "pyarrow":
        table = records.to_arrow()
        assert table.schema.field("vocab").type == module.int64() and table.schema.field("entropy").type == module.float64()
        assert module.table(records) == table
        assert table.column("seed").to_pylist() == records["seed"].tolist()
        return
    frame = records.to_pandas() if library == "pandas" else records.to_polars()
    assert list(frame.columns) == list(records) and len(frame) == 60
    assert frame["entropy"].to_numpy().tolist() == records["entropy"].tolist()


def test_what_is_missing_is_null() -> None:
    records = Records({"a": ("int", [1, None]), "b": ("list", [[1.0, None], 2.0]), "c": ("str", ["x", None]), "d": ("bool", [True, None])})
    assert np.isnan(records["a"][1]) and records["b"][0] == [1.0, None] and records["c"].tolist() == ["x", None]
    pyarrow = pytest.importorskip("pyarrow")
    table = records.to_arrow()
    assert table.column("b").to_pylist() == [[1.0, None], [2.0]] and table.column("d").type == pyarrow.bool_()
    assert table.column("a").null_count == 1


def test_fits_and_verdicts_are_those_of_the_program(
    results: Results, store: Path, program: Callable[..., str], tmp_path: Path
) -> None:
    path = tmp_path / "judged.toml"
    path.write_text(JUDGED)
    said = [json.loads(line) for line in program("sweep", "fit", path, "--store", store, "--json").splitlines()]
    fits = results.fit()
    assert [(fit.fit, fit.group, fit.value, fit.seeds, fit.because) for fit in fits] == [
        (line["fit"], line["group"], line["value"], line["seeds"], line["because"]) for line in said
    ]
    for fit, line in zip(fits, said):
        assert fit.interval is None if line["interval"] is None else fit.interval == tuple(line["interval"])
    claims = json.loads(program("sweep", "judge", path, "--store", store, "--json"))["claims"]
    judged = results.judge()
    assert [(claim.id, claim.group, claim.verdict, claim.because) for claim in judged] == [
        (claim["id"], claim["group"], claim["verdict"], claim["because"]) for claim in claims
    ]
    assert len(judged) == 3 and pickle.loads(pickle.dumps(judged)) == judged
    program("sweep", "plot", path, "--store", store, "-o", tmp_path / "figure.svg")
    assert results.figure().svg() == (tmp_path / "figure.svg").read_text() == results._repr_svg_()


def test_results_of_what_is_there(results: Results, store: Path, tmp_path: Path) -> None:
    experiment = Experiment.parse(JUDGED.replace('seed = "1..5"', 'seed = "1..6"'))
    part = experiment.results(store)
    assert (len(part), part.missing) == (60, 12) and repr(part) == "<Results of 60 cells, 12 are missing>"
    assert part != results and experiment.run(store).missing == 0
    assert pickle.loads(pickle.dumps(results)) == results == Experiment.parse(JUDGED).results(store)
    gardenpath.Store(tmp_path / "empty")
    empty = experiment.results(tmp_path / "empty")
    assert len(empty) == 0
    with pytest.raises(ValueError, match="no results, expected some"):
        empty.fit()
    with pytest.raises((FileNotFoundError, ValueError), match="nowhere"):
        experiment.results(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"no \[\[panel\]\]"):
        Experiment.parse(JUDGED[: JUDGED.index("[[panel]]")]).results(store).figure()


def test_executors_and_progress(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    with ThreadPoolExecutor(2) as executor:
        results = Experiment.parse(JUDGED).run(tmp_path / "s", executor, batch=7, progress=lambda *news: seen.append(news))
    assert len(results) == 60 and seen[0] == (0, 60) and seen[-1] == (60, 60)
    with pytest.raises(ValueError, match="batch is 0"):
        Experiment.parse(JUDGED).run(tmp_path / "s", batch=0)
