"""User-defined measures: functions that learn from sentences, run in the stores and on the executors of experiments."""

from __future__ import annotations

import inspect
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ._core import Cell, Store, _register

__all__ = ["measure"]

_Function = TypeVar("_Function", bound=Callable[..., Mapping[str, Any]])

# The functions by measure name.
REGISTRY: dict[str, Callable[..., Mapping[str, Any]]] = {}

# Seconds between renewals of the mark of a running cell, and between checks of cells held by other workers.
_RENEWAL = 5.0
_PAUSE = 0.2


def measure(*, version: int, name: str | None = None) -> Callable[[_Function], _Function]:
    """Registers a function `(train, test, seed) -> {"test_loss": …}` as a measure that experiments can use.

    `train` and `test` are corpora, the same as for built-in measures with the same parameters; `seed` is for the
    function's own random numbers. Further arguments are parameters of the measure: int, float, bool or str, by their
    annotations. The function returns `test_loss`, the mean cross-entropy on the test set in nats, and any other
    results; the normalized loss and the Bayes loss are added. Raise the version when the function changes: stored
    results are then measured again.

    >>> import gardenpath, numpy, tempfile
    >>> @gardenpath.measure(version=1)
    ... def first_token(train, test, seed, *, prior: float = 1.0):
    ...     "The loss of looking at the first token alone."
    ...     counts = numpy.full((train.vocab, train.classes), prior)
    ...     numpy.add.at(counts, (train.tokens[train.offsets[:-1]], train.roots), 1)
    ...     shares = counts / counts.sum(axis=1, keepdims=True)
    ...     return {"test_loss": -numpy.log(shares[test.tokens[test.offsets[:-1]], test.roots]).mean()}
    >>> experiment = gardenpath.Experiment.parse('''
    ... measure = "first_token"
    ... [[grid]]
    ... vocab = 8
    ... depth = 2
    ... fraction = 0.125
    ... samples = [100, 10_000]
    ... test = 1000
    ... seed = 1
    ... ''')
    >>> records = experiment.run(tempfile.mkdtemp()).records()
    >>> bool((records["bayes_loss"] < records["test_loss"]).all()), bool(records["normalized_loss"][1] < 1)
    (True, True)
    """

    def decorate(function: _Function) -> _Function:
        own = name or function.__name__
        function.__gardenpath__ = (own, version)  # type: ignore[attr-defined]
        register(function)
        return function

    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ValueError(f"version is {version!r}, expected a whole number of at least 1")
    return decorate


def register(function: Callable[..., Mapping[str, Any]]) -> None:
    """Registers a decorated function in this process."""
    name, version = function.__gardenpath__  # type: ignore[attr-defined]
    arguments = list(inspect.signature(function, eval_str=True).parameters.values())
    if [argument.name for argument in arguments[:3]] != ["train", "test", "seed"]:
        raise ValueError(f"{name} takes {inspect.signature(function)}, expected train, test and seed first")
    parameters = []
    for argument in arguments[3:]:
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            raise ValueError(f"{name} takes {argument}, expected named arguments only")
        known = argument.default is not argument.empty
        kind = argument.annotation if argument.annotation is not argument.empty else type(argument.default)
        default = json.dumps(argument.default) if known else None
        parameters.append((argument.name, getattr(kind, "__name__", str(kind)), default))
    meaning = (inspect.getdoc(function) or name).splitlines()[0]
    _register(name, version, meaning, parameters)
    REGISTRY[name] = function


def functions_of(cells: Sequence[Cell]) -> list[Callable[..., Mapping[str, Any]]]:
    """The functions that some cells need."""
    names = {cell.parameters["measure"] for cell in cells if cell._needs_python}
    return [REGISTRY[name] for name in sorted(names) if name in REGISTRY]


def run(store: Store, cells: Sequence[Cell], report: Callable[[Cell, str], object]) -> None:
    """Measures cells in this thread, one after another. Failures are recorded in the store, and the others continue."""
    waiting = list(cells)
    while waiting:
        held = []
        for cell in waiting:
            if store.state(cell) == "done":
                report(cell, "found")
            elif store._claim(cell):
                try:
                    report(cell, _measured(store, cell))
                finally:
                    store._release(cell)
            else:
                held.append(cell)
        waiting = held
        time.sleep(_PAUSE if waiting else 0)


def _measured(store: Store, cell: Cell) -> str:
    """Measures a marked cell; returns what happened to it."""
    done = threading.Event()

    def renew() -> None:
        while not done.wait(_RENEWAL):
            store._renew(cell)

    renewing = threading.Thread(target=renew, daemon=True)
    renewing.start()
    try:
        began = time.monotonic()
        task = cell._task()
        parameters = cell.parameters
        function = REGISTRY.get(parameters["measure"])
        if function is None:
            from .torch._cells import measure_train

            result: Mapping[str, Any] = measure_train(parameters, task.grammar)
        else:
            names = list(inspect.signature(function).parameters)[3:]
            own = {name: parameters[name] for name in names if name in parameters}
            result = function(task.train, task.test, parameters["seed"], **own)
        store._keep(task, _json(result), time.monotonic() - began)
    except Exception as error:
        store._fail(cell, f"{type(error).__name__}: {error}")
        return "failed"
    finally:
        done.set()
        renewing.join()
    return "measured"


def _json(result: Mapping[str, Any]) -> str:
    """The result with NumPy and PyTorch numbers converted to plain ones."""
    if not isinstance(result, Mapping):
        raise TypeError(f"the result is {result!r}, expected a dict with test_loss")

    def plain(value: Any) -> Any:
        if hasattr(value, "tolist"):
            return value.tolist()
        raise TypeError(f"a result is {value!r}, expected numbers, strings, booleans or lists of numbers")

    return json.dumps(dict(result), default=plain, allow_nan=False)
