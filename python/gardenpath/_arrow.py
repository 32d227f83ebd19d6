"""Corpora as Apache Arrow tables: columns `tokens` and `root`, as in the program's Parquet files."""

from importlib import import_module
from typing import Any

import numpy as np

from ._core import UNKNOWN_ROOT, Corpus


def _pyarrow() -> Any:
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise ImportError("this needs pyarrow: pip install pyarrow") from error


def to_arrow(corpus: Corpus) -> Any:
    """A table that shares the memory of the corpus."""
    pa = _pyarrow()
    offsets, roots = corpus.offsets, corpus.roots
    # Other programs expect lists with 32-bit offsets; only more than 2^31 tokens need the large kind.
    small = int(offsets[-1]) <= np.iinfo(np.int32).max
    kind, array = (pa.list_, pa.ListArray) if small else (pa.large_list, pa.LargeListArray)
    lists = kind(pa.field("element", pa.uint8(), nullable=False))
    places = pa.array(offsets.astype(np.int32) if small else offsets)
    tokens = array.from_arrays(places, pa.array(corpus.tokens), type=lists)
    unknown = roots == UNKNOWN_ROOT
    fields = [pa.field("tokens", lists, nullable=False), pa.field("root", pa.uint8())]
    return pa.table([tokens, pa.array(roots, mask=unknown if unknown.any() else None)], schema=pa.schema(fields))


def from_arrow(table: Any, vocab: int | None) -> Corpus:
    """A corpus from a table, or anything that pyarrow can convert to one; missing roots are unknown."""
    pa = _pyarrow()
    try:
        table = pa.table(table)
    except TypeError:
        raise ValueError(f"the table is a {type(table).__name__}, expected an Apache Arrow table") from None
    names = table.column_names
    if names.count("tokens") != 1 or names.count("root") > 1:
        raise ValueError(f"the columns of the table are {', '.join(names)}, expected tokens and root")
    tokens, offsets = _sentences(pa, table.column("tokens"))
    roots = np.full(len(table), UNKNOWN_ROOT, dtype=np.uint8)
    if "root" in names:
        column = table.column("root")
        if not pa.types.is_integer(column.type):
            raise ValueError(f"the column root is of type {column.type}, expected integers")
        roots = np.asarray(column.cast(pa.int64()).fill_null(UNKNOWN_ROOT))
    return Corpus.from_arrays(tokens, offsets, roots, vocab=vocab)


def _sentences(pa: Any, column: Any) -> tuple[Any, Any]:
    """The tokens of a column of lists of any kind, one sentence after another, and the start of each."""
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if not any(is_kind(column.type) for is_kind in kinds) or not pa.types.is_integer(column.type.value_type):
        raise ValueError(f"the column tokens is of type {column.type}, expected lists of integers")
    if column.null_count:
        raise ValueError(f"the column tokens is null in {column.null_count} rows, expected lists of integers")
    # Chunk by chunk: the memory of a slice does not start at its offset, and all chunks together may be too long for one list array.
    tokens = pa.chunked_array([chunk.flatten() for chunk in column.chunks], type=column.type.value_type)
    if tokens.null_count:
        raise ValueError(f"{tokens.null_count} tokens are null, expected integers")
    lengths = np.asarray(import_module("pyarrow.compute").list_value_length(column))
    return np.asarray(tokens), np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
