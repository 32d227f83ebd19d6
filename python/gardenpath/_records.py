"""Results of an experiment as columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Records"]


class Records(Mapping[str, NDArray[Any]]):
    """Results as columns, one row per cell: `records["test_loss"]` is an array. See `Results.records`.

    >>> import gardenpath, tempfile
    >>> experiment = gardenpath.Experiment.parse('''
    ... measure = "entropy"
    ... [[grid]]
    ... vocab = [4, 8]
    ... depth = 2
    ... fraction = 0.5
    ... sentences = 100
    ... seed = 1
    ... ''')
    >>> records = experiment.run(tempfile.mkdtemp()).records()
    >>> records["vocab"]
    array([4, 8])
    >>> records.to_pandas()[["vocab", "seed"]].shape
    (2, 2)
    """

    def __init__(self, columns: Mapping[str, tuple[str, Sequence[Any]]]) -> None:
        """Columns by name: their kind (int, float, bool, str or list) and their values, None where missing."""
        self._columns = {name: (kind, list(values)) for name, (kind, values) in columns.items()}

    @classmethod
    def _of(cls, columns: Sequence[tuple[str, str, str]]) -> Records:
        return cls({name: (kind, json.loads(text)) for name, kind, text in columns})

    def __getitem__(self, name: str) -> NDArray[Any]:
        kind, values = self._columns[name]
        if kind in ("int", "float", "bool") and None not in values:
            return np.array(values, dtype={"int": np.int64, "float": np.float64, "bool": np.bool_}[kind])
        if kind in ("int", "float"):
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and other._columns == self._columns

    __hash__ = None  # type: ignore[assignment]

    def _plain(self) -> dict[str, list[Any]]:
        """The values of all columns; a single number in a column of lists becomes a list of one."""
        columns = {name: values for name, (_, values) in self._columns.items()}
        for name, (kind, values) in self._columns.items():
            if kind == "list":
                columns[name] = [v if v is None or isinstance(v, list) else [v] for v in values]
        return columns

    def rows(self) -> list[dict[str, Any]]:
        """One dict per cell."""
        columns = [values for _, values in self._columns.values()]
        return [dict(zip(self._columns, row)) for row in zip(*columns)]

    def to_arrow(self) -> Any:
        """An Apache Arrow table with typed columns."""
        pa = import_module("pyarrow")
        types = {
            "int": pa.int64(),
            "float": pa.float64(),
            "bool": pa.bool_(),
            "str": pa.string(),
            "list": pa.list_(pa.float64()),
        }
        columns = self._plain()
        return pa.table({name: pa.array(columns[name], types[kind]) for name, (kind, _) in self._columns.items()})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """A pandas DataFrame."""
        return import_module("pandas").DataFrame({name: self[name] for name in self})

    def to_polars(self) -> Any:
        """A polars DataFrame."""
        pl = import_module("polars")
        types = {"int": pl.Int64, "float": pl.Float64, "bool": pl.Boolean, "str": pl.String, "list": pl.List(pl.Float64)}
        return pl.DataFrame(self._plain(), schema={name: types[kind] for name, (kind, _) in self._columns.items()})

    def _repr_html_(self) -> str:
        html: str = self.to_pandas()._repr_html_()
        return html

    def __repr__(self) -> str:
        rows = len(next(iter(self._columns.values()))[1]) if self._columns else 0
        return f"<Records: {rows} rows of {', '.join(self._columns)}>"
