"""Sweeps from Python: the cells and the store of the program, on any executor."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from ._core import Cell, Experiment, Store, threads


class Future(Protocol):
    """What an executor returns: the futures of `concurrent.futures`, of dask and the jobs of submitit are such."""

    def done(self) -> bool: ...
    def result(self) -> Any: ...


class Executor(Protocol):
    """Anything that runs functions elsewhere: the executors of `concurrent.futures`, `dask.distributed` and submitit are such."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any: ...


def _measure(store: str, cells: Sequence[Cell]) -> None:
    """Measures cells in a worker. Failures are recorded in the store."""
    Store(store).measure(list(cells), threads=1)


def sweep(
    experiment: str | os.PathLike[str] | Experiment,
    store: str | os.PathLike[str],
    executor: Executor | None = None,
    *,
    scale: str = "quick",
    batch: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Measures the cells of an experiment that are missing in a store and returns the results of all, in the order of the cells.

    Without an executor the cells are measured here, on all cores. With one, `batch` cells at a time are submitted to it; its workers
    must see the directory of the store. Each cell is stored as soon as it is done: killed at any moment and started again, a sweep
    measures exactly what is missing, whether by this function or by `gardenpath sweep`. `progress` is called with the number of cells
    that are done and of all cells. If cells failed, a ValueError says why, after all others are done.

    >>> import gardenpath, tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> experiment = gardenpath.Experiment.parse('''
    ... measure = "entropy"
    ... expects = "Ambiguity grows with the fraction of grammatical tuples."
    ... [[grid]]
    ... vocab = 8
    ... depth = 2
    ... fraction = [0.25, 0.5]
    ... sentences = 200
    ... seed = 1
    ... ''')
    >>> with ThreadPoolExecutor() as executor:
    ...     results = gardenpath.sweep(experiment, tempfile.mkdtemp(), executor)
    >>> [result["fraction"] for result in results]
    [0.25, 0.5]
    """
    if batch < 1:
        raise ValueError(f"batch is {batch}, expected at least 1")
    if not isinstance(experiment, Experiment):
        experiment = Experiment.read(experiment)
    cells = experiment.cells(scale)
    directory = str(Path(store).absolute())
    results = Store(directory)
    missing = [cell for cell in cells if results.state(cell) != "done"]
    finished = len(cells) - len(missing)

    def advance(count: int) -> None:
        nonlocal finished
        finished += count
        if progress is not None:
            progress(finished, len(cells))

    advance(0)
    if executor is None:
        if missing:
            results.measure(missing, threads=threads(), report=lambda cell, event: advance(1))
    else:
        _submit(executor, directory, missing, batch, advance)
    return _collect(results, cells)


def _submit(executor: Executor, store: str, cells: list[Cell], batch: int, advance: Callable[[int], None]) -> None:
    parts = [cells[start : start + batch] for start in range(0, len(cells), batch)]
    waiting = [(executor.submit(_measure, store, part), len(part)) for part in parts]
    pause = 0.001
    while waiting:
        still_waiting = []
        for future, count in waiting:
            if future.done():
                future.result()
                advance(count)
            else:
                still_waiting.append((future, count))
        if len(still_waiting) == len(waiting):
            # Executors differ in how they wait; all can be asked.
            time.sleep(pause)
            pause = min(2 * pause, 0.5)
        else:
            pause = 0.001
        waiting = still_waiting


def _collect(store: Store, cells: list[Cell]) -> list[dict[str, Any]]:
    failures = [reason for cell in cells if (reason := store.failure(cell)) is not None and store.state(cell) == "failed"]
    if failures:
        raise ValueError(f"{len(failures)} of {len(cells)} cells failed, the first one because {failures[0]}")
    records = []
    for cell in cells:
        record = store.read(cell)
        if record is None:
            raise ValueError(f"{cell!r} has no result: its worker was lost; call again")
        records.append(record)
    return records
