"""Sweeps on executors: results, files and failures are those of the command-line program."""

import json
import multiprocessing
import os
import signal
import time
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext, suppress
from math import prod
from pathlib import Path
from typing import Any

import dask
import pytest
import submitit
from distributed import Client, KilledWorker, LocalCluster

import gardenpath

REPOSITORY = Path(__file__).resolve().parents[2]

# Newer Pythons warn about forking a process with threads, which is exactly what is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

EXPERIMENT = """
measure = "entropy"
expects = "Ambiguity grows with the fraction of grammatical tuples."

[parameters]
depth = 2
sentences = 50

[[quick]]
vocab = [4, 6]
fraction = [0.25, 1.0]
seed = 1

[[full]]
vocab = 5
fraction = [0.25, 0.5]
seed = "1..2"
"""

# Long enough for a worker to be killed in the middle of one.
SLOW = """
measure = "entropy"
expects = ""
[[grid]]
vocab = 16
depth = 3
fraction = 1.0
sentences = 20_000
seed = "1..12"
"""


@pytest.fixture(scope="session")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("experiment") / "small.toml"
    path.write_text(EXPERIMENT)
    return path


@pytest.fixture(scope="session")
def by_program(program: Callable[..., str], experiment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store filled by the program."""
    store = tmp_path_factory.mktemp("program")
    program("sweep", "run", experiment, "--store", store)
    return store


def processes(method: str) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method))


@pytest.fixture(params=["here", "threads", "fork", "spawn", "local", "auto", "debug"])
def executor(request: pytest.FixtureRequest, tmp_path: Path) -> AbstractContextManager[Any]:
    """Each kind of executor except dask, and none."""
    jobs = tmp_path / "jobs"
    match request.param:
        case "here":
            return nullcontext()
        case "threads":
            return ThreadPoolExecutor(2)
        case "fork" | "spawn" as method:
            return processes(method)
        case "local":
            return nullcontext(submitit.LocalExecutor(jobs))
        case "auto":
            return nullcontext(submitit.AutoExecutor(jobs, cluster="local"))
        case _:
            return nullcontext(submitit.DebugExecutor(jobs))


def contents(store: Path, part: str = "cells") -> dict[str, bytes]:
    """The files of a part of a store."""
    return {path.name: path.read_bytes() for path in (store / part).iterdir()}


def stamps(store: Path) -> dict[str, tuple[int, int]]:
    """What would change if a cell were written again. A worker killed while writing leaves a file `.….tmp`."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in (store / "cells").glob("*.json")}


def records(store: Path, cells: list[gardenpath.Cell]) -> list[dict[str, Any]]:
    """The results in the files of a store."""
    files = [json.loads((store / "cells" / f"{cell.identity}.json").read_text()) for cell in cells]
    return [file["parameters"] | file["result"] for file in files]


def check_that_the_sweep_is_that_of_the_program(
    executor: AbstractContextManager[Any], batch: int, experiment: Path, by_program: Path, store: Path
) -> None:
    """Measures everything, and compares results, files and reports."""
    calls: list[tuple[int, int]] = []
    with executor as workers:
        results = gardenpath.sweep(
            experiment, store, workers, batch=batch, progress=lambda *counts: calls.append(counts)
        )
    assert results == records(by_program, gardenpath.Experiment.read(experiment).cells())
    assert contents(store) == contents(by_program)
    assert not contents(store, "running"), "marks are left behind"
    # The program counts cells by their files.
    total = len(contents(by_program))
    finished = [done for done, _ in calls]
    assert {all_cells for _, all_cells in calls} == {total}
    assert finished[0] == 0 and finished[-1] == total and finished == sorted(set(finished))


# The debugging executor of submitit leaves its logs open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("batch", [1, 3])
def test_every_executor_gives_the_results_and_the_files_of_the_program(
    executor: AbstractContextManager[Any], batch: int, experiment: Path, by_program: Path, tmp_path: Path
) -> None:
    check_that_the_sweep_is_that_of_the_program(executor, batch, experiment, by_program, tmp_path / "store")


MEASURES = {
    "entropy": "sentences = 100",
    "learn": 'mode = ["exact", "paper", "em"]\nsamples = 400\ntest = 100',
    "snr": "first = 100\nlast = 1000\npoints = 3",
    "purity": "samples = 1000",
    "vectors": "samples = 1000",
    "topologies": "",
    "inference": 'alignment = ["inner-product", "cosine"]',
    "candidates": "samples = 1000",
    "prediction": "first = 100\nlast = 1000\npoints = 3",
    "train": 'model = ["cnn", "inn", "transformer"]\nsamples = 64\nwidth = 16\ntest = 50\nmax_steps = 20',
    "probe": 'model = "inn"\nsamples = 64\nwidth = 8\ntest = 50\nmax_steps = 20',
}


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_gives_the_bytes_of_the_program(
    measure: str, program: Callable[..., str], tmp_path: Path
) -> None:
    path = tmp_path / "experiment.toml"
    grid = f"[[grid]]\nvocab = 4\ndepth = 2\nfraction = 0.5\nseed = 1\n{MEASURES[measure]}"
    path.write_text(f'measure = "{measure}"\nexpects = ""\n{grid}')
    gardenpath.sweep(path, tmp_path / "python")
    program("sweep", "run", path, "--store", tmp_path / "program")
    assert contents(tmp_path / "python") == contents(tmp_path / "program") != {}


def test_a_forked_worker_does_not_need_the_threads_of_its_parent(experiment: Path, tmp_path: Path) -> None:
    gardenpath.class_entropy(4, 2, 0.5, grammars=2, sentences=50)
    with processes("fork") as workers:
        assert len(gardenpath.sweep(experiment, tmp_path, workers)) == 4


def test_python_continues_a_store_of_the_program(program: Callable[..., str], experiment: Path, tmp_path: Path) -> None:
    program("sweep", "run", experiment, "--store", tmp_path, "--shard", "2/2")
    before = stamps(tmp_path)
    calls = []
    with ThreadPoolExecutor(2) as workers:
        gardenpath.sweep(experiment, tmp_path, workers, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(2, 4), (3, 4), (4, 4)]
    after = stamps(tmp_path)
    assert len(before) == 2 and before.items() <= after.items()
    found = json.loads(program("sweep", "run", experiment, "--store", tmp_path, "--json").splitlines()[-1])
    assert found == {"cells": 4, "found": 4, "measured": 0, "failed": 0}


def test_the_program_continues_a_store_of_python(program: Callable[..., str], experiment: Path, tmp_path: Path) -> None:
    half = EXPERIMENT.replace("vocab = [4, 6]", "vocab = 6")
    with processes("spawn") as workers:
        gardenpath.sweep(gardenpath.Experiment.parse(half), tmp_path, workers)
    before = stamps(tmp_path)
    lines = program("sweep", "run", experiment, "--store", tmp_path, "--json").splitlines()
    assert json.loads(lines[-1]) == {"cells": 4, "found": 2, "measured": 2, "failed": 0}
    after = stamps(tmp_path)
    assert len(before) == 2 and before.items() <= after.items()
    gardenpath.sweep(experiment, tmp_path)
    assert stamps(tmp_path) == after


def test_a_finished_sweep_submits_nothing(experiment: Path, by_program: Path) -> None:
    class Refusing:
        def submit(self, *arguments: object) -> None:
            raise AssertionError("nothing is missing")

    assert len(gardenpath.sweep(experiment, by_program, Refusing())) == 4


def test_a_damaged_cell_is_named_and_measured_again(experiment: Path, by_program: Path, tmp_path: Path) -> None:
    gardenpath.sweep(experiment, tmp_path)
    [damaged, foreign, *_] = gardenpath.Experiment.read(experiment).cells()
    paths = [tmp_path / "cells" / f"{cell.identity}.json" for cell in (damaged, foreign)]
    paths[1].write_bytes(paths[0].read_bytes())
    paths[0].write_text("{}")
    store = gardenpath.Store(tmp_path)
    assert [store.state(cell) for cell in (damaged, foreign)] == ["missing", "missing"]
    with pytest.raises(ValueError, match=f"{damaged.identity}.json: is damaged"):
        store.read(damaged)
    calls = []
    with pytest.warns(RuntimeWarning, match="is damaged|another cell") as warnings:
        gardenpath.sweep(experiment, tmp_path, progress=lambda done, total: calls.append((done, total)))
    assert len(warnings) == 2 and calls == [(2, 4), (3, 4), (4, 4)]
    assert contents(tmp_path) == contents(by_program)
    assert len(contents(tmp_path, "damaged")) == 2, "nothing is lost"


def test_the_full_scale_has_cells_of_its_own(program: Callable[..., str], experiment: Path, tmp_path: Path) -> None:
    results = gardenpath.sweep(experiment, tmp_path, scale="full")
    pairs = [(result["fraction"], result["seed"]) for result in results]
    assert sorted(pairs) == [(0.25, 1), (0.25, 2), (0.5, 1), (0.5, 2)]
    assert {result["vocab"] for result in results} == {5}
    status = json.loads(program("sweep", "status", experiment, "--store", tmp_path, "--scale", "full", "--json"))
    assert (status["done"], status["missing"]) == (4, 0)


FAILING = {
    # The learners give the reasons, before they start.
    "too few sentences": 'mode = "exact"\nvocab = 4\nsamples = [5, 500]',
    "too many symbols": 'mode = "em"\nvocab = [4, 40]\nsamples = 200',
}


@pytest.mark.parametrize("kind", FAILING)
@pytest.mark.parametrize("workers", [None, 2])
def test_cells_that_fail_are_recorded_and_the_others_are_done(
    kind: str, workers: int | None, program: Callable[..., str], tmp_path: Path
) -> None:
    path = tmp_path / "experiment.toml"
    grid = f"[[grid]]\ndepth = 2\nfraction = 0.25\ntest = 50\nseed = 1\n{FAILING[kind]}"
    path.write_text(f'measure = "learn"\nexpects = ""\n{grid}')
    calls = []
    with ThreadPoolExecutor(workers) if workers else nullcontext() as executor:
        with pytest.raises(ValueError, match="1 of 2 cells failed, the first because ") as caught:
            gardenpath.sweep(path, tmp_path / "a", executor, progress=lambda done, total: calls.append(done))
    assert calls == [0, 1, 2]
    status = json.loads(program("sweep", "status", path, "--store", tmp_path / "a", "--json"))
    assert (status["done"], status["failed"], status["missing"]) == (1, 1, 0)
    [failure] = status["failures"]
    assert str(caught.value).endswith(failure["error"]) and "\n" not in str(caught.value)
    program("sweep", "run", path, "--store", tmp_path / "b", check=False)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert contents(tmp_path / "a", "failed") == contents(tmp_path / "b", "failed")


def process_at_work(store: Path) -> int:
    """Waits for a process that is measuring a cell."""
    for _ in range(60_000):
        for mark in (store / "running").iterdir():
            # A mark contains machine, ID and start of the process. It is gone when the cell is done.
            with suppress(IndexError, ValueError, FileNotFoundError):
                return int(mark.read_text().split("-")[1])
        time.sleep(0.001)
    raise TimeoutError("no process is at work")


def kill_a_worker_at(store: Path, count: int) -> Callable[[int, int], None]:
    """A progress callback that kills a worker after this many cells."""

    def report(done: int, _: int) -> None:
        if done == count:
            os.kill(process_at_work(store), signal.SIGKILL)

    return report


def check_that_the_rest_is_measured(store: Path, workers: Any) -> None:
    before = stamps(store)
    assert 3 <= len(before) < 12, "the worker was killed in the middle of the sweep"
    calls = []
    experiment = gardenpath.Experiment.parse(SLOW)
    results = gardenpath.sweep(experiment, store, workers, progress=lambda done, _: calls.append(done))
    assert calls == list(range(len(before), 13))
    assert before.items() <= stamps(store).items()
    assert [result["seed"] for result in results] == list(range(1, 13))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_what_was_stored_before_a_worker_was_killed_is_kept(method: str, tmp_path: Path) -> None:
    with processes(method) as workers, pytest.raises(BrokenProcessPool):
        gardenpath.sweep(gardenpath.Experiment.parse(SLOW), tmp_path, workers, progress=kill_a_worker_at(tmp_path, 3))
    with processes(method) as workers:
        check_that_the_rest_is_measured(tmp_path, workers)


def test_a_lost_worker_is_reported_after_all_others_are_done(experiment: Path, tmp_path: Path) -> None:
    class LosesTheFirst(ThreadPoolExecutor):
        submitted = 0

        def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
            self.submitted += 1
            if self.submitted > 1:
                return super().submit(function, *arguments, **options)
            future: Future[Any] = Future()
            future.set_exception(RuntimeError("the first worker is lost"))
            return future

    with LosesTheFirst(1) as workers, pytest.raises(RuntimeError, match="the first worker is lost"):
        gardenpath.sweep(experiment, tmp_path, workers)
    assert len(stamps(tmp_path)) == 3


def interrupt_at_3(done: int, _: int) -> None:
    """A progress callback that simulates Ctrl-C."""
    if done == 3:
        raise KeyboardInterrupt


def test_an_interrupted_sweep_cancels_what_has_not_begun(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as workers, pytest.raises(KeyboardInterrupt):
        gardenpath.sweep(gardenpath.Experiment.parse(SLOW), tmp_path, workers, progress=interrupt_at_3)
    # Three were done, and another one was running.
    check_that_the_rest_is_measured(tmp_path, None)


def test_a_report_that_raises_ends_a_sweep_without_an_executor(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        gardenpath.sweep(gardenpath.Experiment.parse(SLOW), tmp_path, progress=interrupt_at_3)
    assert not contents(tmp_path, "running"), "somebody is at work"
    check_that_the_rest_is_measured(tmp_path, None)


def test_a_worker_that_stores_elsewhere_is_noticed(experiment: Path, tmp_path: Path) -> None:
    class Forgetful:
        def submit(self, *arguments: object) -> Future[None]:
            future: Future[None] = Future()
            future.set_result(None)
            return future

    with pytest.raises(ValueError, match="has no result: can the workers"):
        gardenpath.sweep(experiment, tmp_path, Forgetful())


def test_bad_arguments_are_refused_in_one_line(experiment: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    refused: list[tuple[str, dict[str, Any]]] = [
        ("batch is 0, expected", {"batch": 0}),
        ("batch is 1.5, expected", {"batch": 1.5}),
        ("unknown scale medium; the experiment has quick, full", {"scale": "medium"}),
        ("executor is 2, expected", {"executor": 2}),
        ("absent.toml", {"experiment": tmp_path / "absent.toml"}),
        ("file", {"store": file}),
        ("measure", {"experiment": file}),
    ]
    for words, arguments in refused:
        with pytest.raises((ValueError, OSError)) as caught:
            gardenpath.sweep(**{"experiment": experiment, "store": tmp_path / "store"} | arguments)
        text = str(caught.value)
        assert words in text and "\n" not in text, text


def count(values: object) -> int:
    """The number of values that a parameter of an experiment takes."""
    match values:
        case list():
            return len(values)
        case {"points": points}:
            return int(points)
        case str() if ".." in values:
            first, last = map(int, values.split(".."))
            return last - first + 1
        case _:
            return 1


@pytest.mark.parametrize("path", sorted((REPOSITORY / "experiments").glob("*.toml")), ids=lambda path: path.stem)
def test_the_experiments_of_the_repository_have_the_cells_of_their_grids(path: Path) -> None:
    file = tomllib.loads(path.read_text())
    experiment = gardenpath.Experiment.read(path)
    assert experiment.expects == file["expects"]
    for scale in ("quick", "full"):
        cells = experiment.cells(scale)
        assert len({cell.identity for cell in cells}) == len(cells) > 0
        if "uses" in file:
            # It has the cells of others too.
            assert {cell.parameters["measure"] for cell in cells} == set(experiment.measures)
            continue
        grids = [file.get("parameters", {}) | grid for grid in file["grid" if "grid" in file else scale]]
        assert len(cells) == sum(prod(map(count, grid.values())) for grid in grids)
        assert {cell.parameters["measure"] for cell in cells} == {file["measure"]}


# Tests of dask come last: its client has its own threads, and the processes above are forked without them.
@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A cluster of two worker processes on this machine, none of which may be lost."""
    directory = str(tmp_path_factory.mktemp("dask"))
    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(processes=True, local_directory=directory, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("kind", ["executor", "client"])
def test_dask_gives_the_results_and_the_files_of_the_program(
    kind: str, batch: int, client: Client, experiment: Path, by_program: Path, tmp_path: Path
) -> None:
    executor = client.get_executor() if kind == "executor" else nullcontext(client)
    check_that_the_sweep_is_that_of_the_program(executor, batch, experiment, by_program, tmp_path)


def test_cells_of_a_lost_worker_of_dask_are_measured_by_the_next_call(client: Client, tmp_path: Path) -> None:
    # The exception is kept, as an interactive session keeps its last one, with the futures of the lost cells.
    with pytest.raises(KilledWorker) as held:
        gardenpath.sweep(gardenpath.Experiment.parse(SLOW), tmp_path, client, progress=kill_a_worker_at(tmp_path, 3))
    client.wait_for_workers(2)
    check_that_the_rest_is_measured(tmp_path, client)
    del held
