"""Estimates with intervals from the curves of several seeds: where they cross a level, how that scales, whether they collapse.

Columns are arrays, or names of columns of a pandas, polars or Arrow table. Seeds are replicates: with at least five
there is a 95% interval, otherwise the reason why there is none. These are the fits of experiment files.

>>> import numpy as np
>>> from gardenpath import fit
>>> hardness, vocab, samples = np.meshgrid([0.8, 0.9, 1.0, 1.1, 1.25], [8, 16, 32], 2.0 ** np.arange(4, 16), indexing="ij")
>>> table = {"samples": samples.ravel(), "vocab": vocab.ravel(), "seed": (100 * hardness).ravel()}
>>> table["loss"] = 1 / (1 + table["samples"] / (0.04 * table["seed"] * table["vocab"] ** 2))
>>> thresholds = fit.threshold(table, x="samples", y="loss", seed="seed", by="vocab", level=0.5)
>>> [round(found.value, -1) for found in thresholds.values()]
[260.0, 1020.0, 4090.0]
>>> law = fit.exponent(thresholds)
>>> round(law.exponent.value, 3), law.exponent.contains(2.0), law.exponent.contains(2.5)
(2.0, True, False)
>>> collapse = fit.collapse(table, x="samples", y="loss", seed="seed", by="vocab", predicted=2)
>>> collapse.exponent.contains(2.0), collapse.exponent.seeds
(True, 5)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core

__all__ = ["Collapse", "Estimate", "PowerLaw", "Threshold", "collapse", "exponent", "threshold"]

# The name of a column of a table, or the column itself.
Column: TypeAlias = str | ArrayLike
Interval: TypeAlias = tuple[float, float]


class Estimate(NamedTuple):
    """A number with its 95% interval over seeds, or the reason why there is none."""

    value: float | None
    """The number, or None."""
    interval: Interval | None
    """The interval, or None; an unbounded end is infinite, or 0."""
    seeds: int
    """The number of seeds, or the smallest of several groups."""
    because: str | None
    """Why there is no number, no interval, or an unbounded one."""

    def contains(self, number: float) -> bool:
        """Whether a number lies in the interval; False if there is none."""
        return self.interval is not None and self.interval[0] <= number <= self.interval[1]


class Threshold(NamedTuple):
    """Where the curves of several seeds cross a level: the geometric mean over seeds."""

    value: float | None
    """The x at which they cross, or None if unknown."""
    interval: Interval | None
    """The 95% interval, or None."""
    seeds: int
    """The number of seeds."""
    because: str | None
    """Why there is no number, no interval, or an unbounded one."""
    crossings: tuple[float, ...]
    """The crossing of each seed's curve: infinity if it does not cross within its range, 0 if it crossed before."""

    def contains(self, number: float) -> bool:
        """Whether a number lies in the interval; False if there is none."""
        return self.interval is not None and self.interval[0] <= number <= self.interval[1]


class PowerLaw(NamedTuple):
    """A law `prefactor * x ** exponent`."""

    exponent: Estimate
    """The exponent."""
    prefactor: float | None
    """The value at x = 1."""
    misfit: float | None
    """The mean square deviation from the law, in units of seed noise: about 1 for a power law, more if the points bend."""

    def at(self, x: float) -> float:
        """The value of the law at x."""
        if self.exponent.value is None or self.prefactor is None:
            raise ValueError(f"no power law: {self.exponent.because}")
        return float(self.prefactor * x**self.exponent.value)


class Collapse(NamedTuple):
    """The power of a parameter by which x must be divided for the curves to collapse."""

    exponent: Estimate
    """The power."""
    misfit: float | None
    """The mean square distance between the curves, in units of seed noise: about 1 if they coincide."""
    predicted: float
    """The predicted power."""
    predicted_misfit: float | None
    """The misfit at the predicted power; infinite if the curves hardly overlap there."""


@overload
def threshold(
    data: Any = None,
    *,
    x: Column,
    y: Column,
    level: float,
    seed: Column | None = None,
    by: None = None,
    direction: Literal["falls", "rises"] = "falls",
) -> Threshold: ...
@overload
def threshold(
    data: Any = None,
    *,
    x: Column,
    y: Column,
    level: float,
    seed: Column | None = None,
    by: Column,
    direction: Literal["falls", "rises"] = "falls",
) -> dict[Any, Threshold]: ...
def threshold(
    data: Any = None,
    *,
    x: Column,
    y: Column,
    level: float,
    seed: Column | None = None,
    by: Column | None = None,
    direction: Literal["falls", "rises"] = "falls",
) -> Threshold | dict[Any, Threshold]:
    """The x at which curves cross a level, with an interval over seeds; with `by`, one per value of that column.

    Each seed's crossing is read off its own curve, along log x. Curves that do not cross are not dropped: they open the
    interval or prevent an estimate, and `because` counts them.

    >>> from gardenpath import fit
    >>> found = fit.threshold(x=[100, 10_000], y=[1.0, 0.0], level=0.5)
    >>> round(found.value, 9), found.interval, found.because
    (1000.0, None, 'one seed; an interval needs at least 5')
    """
    if direction not in ("falls", "rises"):
        raise ValueError(f"direction is {direction}, expected falls or rises")
    columns = _columns(data, x=x, y=y, seed=seed, by=by)

    def of(rows: NDArray[np.bool_]) -> Threshold:
        estimate, crossings = _core._threshold(_curves(columns, rows), level, direction == "falls")
        return Threshold(*estimate, tuple(crossings))

    if by is None:
        return of(np.ones(len(columns["x"]), dtype=np.bool_))
    return {value.item(): of(columns["by"] == value) for value in np.unique(columns["by"])}


def exponent(data: Any = None, *, x: Column | None = None, y: Column | None = None) -> PowerLaw:
    """The exponent with which a positive quantity grows, by least squares through the geometric means at each x.

    Rows with the same x are replicates. Instead of columns, a mapping can give the values at each x, or the thresholds of
    `threshold(…, by=…)`.

    >>> from gardenpath import fit
    >>> law = fit.exponent(x=[8, 16, 32], y=[128, 512, 2048])
    >>> round(law.exponent.value, 9), law.exponent.because
    (2.0, 'one seed; an interval needs at least 5')
    >>> round(law.at(10), 9)
    200.0
    """
    if x is None or y is None:
        if not isinstance(data, Mapping) or x is not None or y is not None:
            raise ValueError("expected columns x and y, or a mapping of values at each x")
        groups = [(float(at), _values(values)) for at, values in data.items()]
    else:
        columns = _columns(data, x=x, y=y)
        groups = [(float(at), columns["y"][columns["x"] == at].tolist()) for at in np.unique(columns["x"])]
    estimate, prefactor, misfit = _core._exponent(groups)
    return PowerLaw(Estimate(*estimate), prefactor, misfit)


def collapse(
    data: Any = None, *, x: Column, y: Column, by: Column, seed: Column | None = None, predicted: float = 1.0
) -> Collapse:
    """The power of the column `by` by which x must be divided for the curves of all its values to collapse.

    >>> from gardenpath import fit
    >>> curves = [(vocab, 2.0**k, 1 / (1 + 2.0**k / vocab**2)) for vocab in (4, 8, 16) for k in range(12)]
    >>> vocab, samples, loss = zip(*curves)
    >>> found = fit.collapse(x=samples, y=loss, by=vocab, predicted=2)
    >>> round(found.exponent.value, 2), found.exponent.because
    (2.0, 'one seed; an interval needs at least 5')
    """
    columns = _columns(data, x=x, y=y, seed=seed, by=by)
    groups = [(float(at), _curves(columns, columns["by"] == at)) for at in np.unique(columns["by"])]
    estimate, misfit, predicted_misfit = _core._collapse(groups, predicted)
    return Collapse(Estimate(*estimate), misfit, float(predicted), predicted_misfit)


def _columns(data: Any, **wanted: Column | None) -> dict[str, NDArray[Any]]:
    """The columns by role, all of the same length."""
    columns: dict[str, NDArray[Any]] = {}
    for name, column in wanted.items():
        if column is None:
            continue
        if isinstance(column, str):
            if data is None:
                raise ValueError(f"{name} is the name {column!r}, expected a table with that column")
            try:
                column = data[column]
            except (KeyError, LookupError, TypeError) as error:
                raise ValueError(f"{name} is {column!r}, which is not a column of the table") from error
        array = np.asarray(column)
        if name in ("x", "y"):
            array = array.astype(np.float64)
        if array.ndim != 1:
            raise ValueError(f"{name} has {array.ndim} dimensions, expected a column")
        columns[name] = array
    lengths = {name: len(array) for name, array in columns.items()}
    if len(set(lengths.values())) > 1:
        words = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"columns have different lengths: {words}")
    columns.setdefault("seed", np.zeros(len(columns["x"]), dtype=np.int64))
    return columns


def _curves(columns: Mapping[str, NDArray[Any]], rows: NDArray[np.bool_]) -> list[tuple[list[float], list[float]]]:
    """The curve of each seed among some rows."""
    x, y, seeds = (columns[name][rows] for name in ("x", "y", "seed"))
    return [(x[seeds == seed].tolist(), y[seeds == seed].tolist()) for seed in np.unique(seeds)]


def _values(values: Any) -> list[float]:
    replicates: Iterable[float] = values.crossings if isinstance(values, Threshold) else values
    return [float(value) for value in replicates]
