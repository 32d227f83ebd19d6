"""Sweeps from Python: the program's cells and stores, on any executor."""

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from . import _measure as _own
from ._core import Cell, Experiment, Store, threads
from ._progress import Bar

# Seconds between polls of futures: short after something has finished, growing while nothing does.
_SHORTEST_PAUSE = 0.001
_LONGEST_PAUSE = 0.5


class Future(Protocol):
    """What an executor returns: a future of `concurrent.futures` or dask, or a job of submitit."""

    def done(self) -> bool: ...
    def result(self) -> Any: ...
    def cancel(self) -> Any: ...


class Executor(Protocol):
    """Anything that runs functions elsewhere: an executor of `concurrent.futures`, dask or submitit."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any: ...


def _measure(store: str, functions: Sequence[Callable[..., Any]], cells: Sequence[str], call: str) -> None:
    """Measures cells in a worker. Failures are recorded in the store.

    Cells that need functions can only be created after these are registered, so cells are passed as JSON. `call` is different
    for every sweep: dask deduplicates calls with equal arguments, and would return the failure of an earlier one.
    """
    for function in functions:
        _own.register(function)
    _measure_here(Store(store), [Cell.from_json(text) for text in cells], 1, lambda cell, event: None)


def _measure_here(store: Store, cells: Sequence[Cell], threads: int, report: Callable[[Cell, str], object]) -> None:
    """Measures cells in this process: built-in measures on this many threads, then those in Python."""
    ours = [cell for cell in cells if not cell._needs_python]
    if ours:
        store.measure(ours, threads=threads, report=report)
    _own.run(store, [cell for cell in cells if cell._needs_python], report)


def sweep(
    experiment: str | os.PathLike[str] | Experiment,
    store: str | os.PathLike[str],
    executor: Executor | None = None,
    *,
    scale: str | None = None,
    batch: int = 1,
    progress: bool | Callable[[int, int], object] | None = None,
) -> list[dict[str, Any]]:
    """Measures the cells of an experiment that are missing in a store, and returns all results in order.

    Without an executor, cells are measured in this process, on all cores. With one, cells are submitted to it in batches of
    `batch`; its workers must see the directory of the store. A dask client works as an executor. Each cell is stored as soon
    as it is done: a sweep that was killed measures only what is missing when it is started again, with this function or with
    `gardenpath sweep`. User-defined measures, and cells of `train` with `device = "cuda"`, are measured by Python, one after
    another in each worker. `progress` is True for a progress line in terminals and notebooks, or a function that is
    called with the number of finished cells and the number of all cells.

    If cells fail, a ValueError gives the reason; if workers are lost, the executor's exception is raised. Both happen
    after all other cells are done.

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
    if not isinstance(batch, int) or batch < 1:
        raise ValueError(f"batch is {batch!r}, expected a number of cells, at least 1")
    if executor is not None and not hasattr(executor, "submit"):
        raise ValueError(f"executor is {executor!r}, expected an object with a method submit")
    if not isinstance(experiment, Experiment):
        experiment = Experiment.load(experiment)
    cells = experiment.cells(scale)
    directory = str(Path(store).absolute())
    results = Store(directory)
    missing = [cell for cell in cells if results.state(cell) != "done"]
    finished = len(cells) - len(missing)

    with Bar("measuring", shown=progress is True) as bar:

        def advance(count: int) -> None:
            nonlocal finished
            finished += count
            bar.show(finished, len(cells), "cells")
            if callable(progress):
                progress(finished, len(cells))

        advance(0)
        if executor is not None:
            _submit(executor, directory, missing, batch, advance)
        else:
            _measure_here(results, missing, threads(), lambda cell, event: advance(1))
    return _collect(results, cells)


def _submit(executor: Executor, store: str, cells: list[Cell], batch: int, advance: Callable[[int], None]) -> None:
    """Has workers measure the cells, and waits for all of them."""
    call = uuid4().hex
    waiting: list[tuple[Future, int]] = []
    lost: Exception | None = None
    pause = _SHORTEST_PAUSE
    try:
        for start in range(0, len(cells), batch):
            part = cells[start : start + batch]
            texts = [json.dumps(cell.parameters) for cell in part]
            waiting.append((executor.submit(_measure, store, _own.functions_of(part), texts, call), len(part)))
        while waiting:
            # Executors differ in how they wait, but all can be polled.
            still_waiting = []
            for future, count in waiting:
                if not future.done():
                    still_waiting.append((future, count))
                    continue
                try:
                    future.result()
                except Exception as error:
                    lost = lost or error
                else:
                    advance(count)
            pause = min(2 * pause, _LONGEST_PAUSE) if len(still_waiting) == len(waiting) else _SHORTEST_PAUSE
            waiting = still_waiting
            time.sleep(pause if waiting else 0)
    except BaseException:
        # Interrupted: the executor would otherwise continue to the last cell, and wait for it on shutdown.
        for future, _ in waiting:
            future.cancel()
        raise
    if lost is not None:
        raise lost


def _collect(store: Store, cells: list[Cell]) -> list[dict[str, Any]]:
    records = [store.read(cell) for cell in cells]
    without = [cell for cell, record in zip(cells, records, strict=True) if record is None]
    failures = [reason for cell in without if (reason := store.failure(cell)) is not None]
    if failures:
        raise ValueError(f"{len(failures)} of {len(cells)} cells failed, the first because {failures[0]}")
    if without:
        raise ValueError(f"{without[0]!r} has no result: can the workers see the store's directory?")
    return [record for record in records if record is not None]
