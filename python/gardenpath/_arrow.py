"""Corpora as tables of Apache Arrow: columns `tokens` and `root`, as in the Parquet files of the program."""

from typing import Any

import numpy as np

from ._core import Corpus


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("this needs pyarrow: pip install pyarrow") from error
    return pyarrow


def to_arrow(corpus: Corpus) -> Any:
    """A table whose tokens are the memory of the corpus."""
    pa = _pyarrow()
    offsets = corpus.offsets
    # Lists with 32-bit offsets are what other programs expect; only more than 2^31 tokens need the large kind.
    small = int(offsets[-1]) <= np.iinfo(np.int32).max
    kind = pa.list_ if small else pa.large_list
    array = pa.ListArray if small else pa.LargeListArray
    item = pa.field("element", pa.uint8(), nullable=False)
    places = pa.array(offsets.astype(np.int32) if small else offsets)
    tokens = array.from_arrays(places, pa.array(corpus.tokens), type=kind(item))
    return pa.table({"tokens": tokens, "root": pa.array(corpus.roots)})


def from_arrow(table: Any, vocab: int | None) -> Corpus:
    """A corpus from a table; the roots are unknown if there is no column of them."""
    pa = _pyarrow()
    if "tokens" not in table.column_names:
        raise ValueError(f"the table has the columns {table.column_names}, expected tokens and root")
    column = table.column("tokens")
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        raise ValueError(f"the column tokens is of type {column.type}, expected lists of integers")
    lists = column.combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks) if lists.num_chunks else pa.array([], column.type)
    if lists.null_count:
        raise ValueError(f"the column tokens has {lists.null_count} rows without a sentence")
    offsets = np.asarray(lists.offsets).astype(np.int64)
    tokens = lists.values.slice(offsets[0], offsets[-1] - offsets[0])
    if not pa.types.is_integer(tokens.type) or tokens.null_count:
        raise ValueError(f"the tokens are of type {tokens.type}, expected integers")
    roots = np.full(len(lists), 255, dtype=np.uint8)
    if "root" in table.column_names:
        column = table.column("root")
        if column.null_count:
            raise ValueError(f"the column root has {column.null_count} rows without a root")
        roots = np.asarray(column)
    return Corpus.from_arrays(np.asarray(tokens), offsets - offsets[0], roots, vocab=vocab)
