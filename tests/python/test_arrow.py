"""Corpora as Arrow tables: nothing is lost or copied on the way to pyarrow, pandas, Hugging Face datasets and back."""

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mistakes import value_error

from gardenpath import Corpus, Grammar

# Before `datasets` is imported: nothing here may use the network.
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")
datasets = pytest.importorskip("datasets")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Sentences of 4 to 9 tokens."""
    return Grammar.sample(vocab=6, depth=2, fraction=0.5, seed=3).corpus(200, seed=1)


@pytest.fixture(scope="module")
def sentences(corpus: Corpus) -> list[list[int]]:
    return [sentence.tolist() for sentence in corpus]


def address(array: Any) -> int:
    """The memory address of a NumPy array's values."""
    return int(array.__array_interface__["data"][0])


def test_a_table_has_the_sentences_and_the_roots(corpus: Corpus, sentences: list[list[int]]) -> None:
    table = corpus.to_arrow()
    assert table.to_pydict() == {"tokens": sentences, "root": corpus.roots.tolist()}
    assert Corpus.from_arrow(table) == corpus
    assert Corpus.from_arrow(table, vocab=9).vocab == 9


def test_tokens_and_roots_are_shared_not_copied(corpus: Corpus) -> None:
    table = corpus.to_arrow()
    tokens = table.column("tokens").chunk(0).values
    assert tokens.buffers()[1].address == address(corpus.tokens)
    assert table.column("root").chunk(0).buffers()[1].address == address(corpus.roots)


def test_a_table_keeps_the_memory_of_its_corpus(sentences: list[list[int]]) -> None:
    table = Grammar.sample(vocab=6, depth=2, fraction=0.5, seed=3).corpus(200, seed=1).to_arrow()
    # Would reuse the memory if it were freed.
    Grammar.sample(vocab=6, depth=2, fraction=0.5, seed=4).corpus(200, seed=1)
    assert table.column("tokens").to_pylist() == sentences


def test_an_empty_corpus_is_an_empty_table(corpus: Corpus) -> None:
    table = corpus[:0].to_arrow()
    assert len(table) == 0
    assert len(Corpus.from_arrow(table)) == 0
    assert len(Corpus.from_arrow(table.schema.empty_table())) == 0


def test_unknown_roots_are_nulls(sentences: list[list[int]]) -> None:
    roots = [0, 255, 2]
    corpus = Corpus(sentences[:3], roots=roots)
    table = corpus.to_arrow()
    assert table.column("root").to_pylist() == [0, None, 2]
    assert Corpus.from_arrow(table) == corpus
    assert Corpus.from_arrow(table.drop_columns("root")) == Corpus(sentences[:3])


FORMS: dict[str, Callable[[Any], Any]] = {
    "several chunks": lambda table: pa.concat_tables([table[:50], table[50:51], table[51:51], table[51:]]),
    "chunks of one row": lambda table: pa.Table.from_batches(table.to_batches(max_chunksize=1)),
    "a record batch": lambda table: table.to_batches()[0],
    "a data frame of pandas": lambda table: table.to_pandas(),
    "a dictionary of arrays": lambda table: {"tokens": table.column("tokens"), "root": table.column("root")},
    "other columns besides": lambda table: table.append_column("tree", pa.array(["()"] * len(table))),
    "the other order": lambda table: table.select(["root", "tokens"]),
} | {
    f"{kind} and {root}": lambda table, kind=kind, root=root: table.cast(
        pa.schema([pa.field("tokens", kind), pa.field("root", root)])
    )
    for kind, root in [
        (pa.list_(pa.int64()), pa.int64()),
        (pa.large_list(pa.uint8()), pa.int8()),
        (pa.list_(pa.uint64()), pa.uint64()),
        (pa.large_list(pa.int8()), pa.int32()),
    ]
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_sentences_are_read_from_any_form_of_table(form: str, corpus: Corpus) -> None:
    assert Corpus.from_arrow(FORMS[form](corpus.to_arrow())) == corpus


@pytest.mark.parametrize("form", FORMS)
def test_slices_of_tables_are_slices_of_corpora(form: str, corpus: Corpus) -> None:
    table = FORMS[form](corpus.to_arrow())
    if isinstance(table, dict):
        table = pa.table(table)
    assert Corpus.from_arrow(table[40:160][7:]) == corpus[47:160]


def test_sentences_of_one_length_may_be_of_a_fixed_size() -> None:
    tokens = pa.FixedSizeListArray.from_arrays(pa.array(range(12), pa.uint8()), 4)
    assert Corpus.from_arrow(pa.table({"tokens": tokens})) == Corpus([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])
    assert Corpus.from_arrow(pa.table({"tokens": tokens})[1:2]) == Corpus([[4, 5, 6, 7]])


REFUSED: dict[str, tuple[Any, str]] = {
    "no table": (3, "the table is a int, expected an Apache Arrow table"),
    "no tokens": ({"words": [[1]], "root": [1]}, "the columns of the table are words, root, expected tokens and root"),
    "two columns of one name": (
        pa.table([pa.array([[1]]), pa.array([[2]])], names=["tokens", "tokens"]),
        "the columns of the table are tokens, tokens, expected tokens and root",
    ),
    "no lists": ({"tokens": [1, 2]}, "the column tokens is of type int64, expected lists of integers"),
    "lists of text": ({"tokens": [["a"]]}, "expected lists of integers"),
    "lists of numbers with fractions": ({"tokens": [[0.5]]}, "expected lists of integers"),
    "lists of lists": ({"tokens": [[[1]]]}, "expected lists of integers"),
    "a sentence that is null": ({"tokens": [[1], None]}, "the column tokens is null in 1 rows, expected"),
    "a token that is null": ({"tokens": [[1, None], [None]]}, "2 tokens are null, expected"),
    "a token that is negative": ({"tokens": [[1, -1]]}, "tokens have the value -1, expected"),
    "a token that is too large": ({"tokens": [[1, 300]]}, "tokens have the value 300, expected"),
    "a token beyond the vocabulary": ({"tokens": [[1, 8]]}, "8"),
    "a root that is text": ({"tokens": [[1]], "root": ["a"]}, "the column root is of type string, expected integers"),
    "a root with a fraction": ({"tokens": [[1]], "root": [0.5]}, "the column root is of type double, expected"),
    "a root that is negative": ({"tokens": [[1]], "root": [-2]}, "roots have the value -2, expected"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_other_tables_are_refused_in_one_line(kind: str) -> None:
    table, words = REFUSED[kind]
    with value_error(words):
        Corpus.from_arrow(table if isinstance(table, int) else pa.table(table), vocab=8)


def test_nulls_outside_of_a_slice_do_no_harm() -> None:
    table = pa.table({"tokens": [[1, None], [2, 3], None], "root": [0, 1, 2]})
    assert Corpus.from_arrow(table[1:2]) == Corpus([[2, 3]], roots=[1])


def test_parquet_of_pyarrow_is_read_here_and_by_the_program(
    corpus: Corpus, program: Callable[..., str], tmp_path: Path
) -> None:
    path = tmp_path / "corpus.parquet"
    pq.write_table(corpus.to_arrow(), path, row_group_size=64)
    assert Corpus.read(path) == corpus
    info = json.loads(program("corpus", "info", path, "--json"))
    assert {entry["len"]: entry["count"] for entry in info["lengths"]} == Counter(corpus.lengths.tolist())
    assert info["roots"] == np.bincount(corpus.roots).tolist()


def test_a_written_corpus_is_the_table(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "corpus.parquet"
    corpus.write(path)
    table = pq.read_table(path)
    # Types and all, so that tables can be joined.
    assert pa.concat_tables([table, corpus.to_arrow()]).num_rows == 400
    assert Corpus.from_arrow(table) == corpus


def test_pandas_reads_a_written_corpus(corpus: Corpus, sentences: list[list[int]], tmp_path: Path) -> None:
    path = tmp_path / "corpus.parquet"
    corpus.write(path)
    frame = pd.read_parquet(path)
    assert [row.tolist() for row in frame["tokens"]] == sentences
    assert frame["root"].tolist() == corpus.roots.tolist()
    by_root = frame.groupby("root").size()
    assert by_root.to_dict() == {root: int(np.sum(corpus.roots == root)) for root in np.unique(corpus.roots).tolist()}


@pytest.fixture
def loaded(corpus: Corpus, tmp_path: Path) -> Any:
    """A written corpus as `load_dataset` gives it."""
    path = tmp_path / "corpus.parquet"
    corpus.write(path)
    datasets.disable_progress_bars()
    return datasets.load_dataset("parquet", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))


def test_hugging_face_loads_a_written_corpus(loaded: Any, corpus: Corpus, sentences: list[list[int]]) -> None:
    assert loaded["tokens"][:] == sentences
    assert loaded["root"][:] == corpus.roots.tolist()
    assert Corpus.from_arrow(loaded.data.table) == corpus
    assert Corpus.from_arrow(loaded.with_format("arrow")[:]) == corpus


def test_what_hugging_face_selects_is_selected(loaded: Any, corpus: Corpus) -> None:
    shuffled = loaded.shuffle(seed=5).select(range(20))
    order = loaded.add_column("number", list(range(len(loaded)))).shuffle(seed=5)["number"][:20]
    assert Corpus.from_arrow(shuffled.with_format("arrow")[:]) == corpus[order]
    some = loaded.filter(lambda row: row["root"] == 2)
    assert Corpus.from_arrow(some.with_format("arrow")[:]) == corpus[corpus.roots == 2]


def test_tables_and_frames_are_datasets(corpus: Corpus, sentences: list[list[int]]) -> None:
    for dataset in (datasets.Dataset(corpus.to_arrow()), datasets.Dataset.from_pandas(corpus.to_arrow().to_pandas())):
        assert dataset["tokens"][:] == sentences
        assert dataset["root"][:] == corpus.roots.tolist()
        assert Corpus.from_arrow(dataset.with_format("arrow")[:]) == corpus
