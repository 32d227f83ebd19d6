"""Corpora: every reader sees the same sentences, and the trees are trees."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ENSEMBLES, Program
from nltk import Tree
from reference import Reference

COUNT = 300
SEED = 11


@dataclass(frozen=True)
class Files:
    """One corpus in both formats, and the sentences as plain JSON has them."""

    grammar: Path
    parquet: Path
    jsonl: Path
    sentences: list[dict[str, Any]]


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "trees"])
def files(request: pytest.FixtureRequest, program: Program, directory: Path) -> Files:
    """Write a corpus without and with trees."""
    name = "corpus.trees" if request.param else "corpus"
    options = ["--trees"] if request.param else []
    grammar = ENSEMBLES["zipf"].sample(program, directory / f"{name}.pcfg")
    paths = {ending: directory / f"{name}.{ending}" for ending in ("parquet", "jsonl")}
    for path in paths.values():
        program(
            "corpus", "sample", grammar, "--samples", COUNT, "--seed", SEED, *options,
            "-o", path,
        )  # fmt: skip
    lines = paths["jsonl"].read_text().splitlines()
    sentences = [json.loads(line) for line in lines]
    assert len(sentences) == COUNT
    keys = {"tokens", "root", "tree"} if request.param else {"tokens", "root"}
    assert all(sentence.keys() == keys for sentence in sentences)
    return Files(grammar, paths["parquet"], paths["jsonl"], sentences)


def test_standard_output_is_the_same_corpus(program: Program, files: Files) -> None:
    """`-o -` writes the JSON lines of `-o corpus.jsonl`."""
    options = ["--trees"] if "tree" in files.sentences[0] else []
    assert program.corpus(files.grammar, COUNT, SEED, *options) == files.sentences


def test_parquet_has_the_promised_types(files: Files) -> None:
    """Lists of small integers, a small integer, and text."""
    schema = pq.read_schema(files.parquet)
    tokens = schema.field("tokens").type
    assert pa.types.is_list(tokens)
    assert tokens.value_type == pa.uint8()
    assert schema.field("root").type == pa.uint8()
    if "tree" in files.sentences[0]:
        assert schema.field("tree").type == pa.string()


def test_parquet_says_where_it_comes_from(
    program: Program, files: Files, directory: Path
) -> None:
    """Seed, sizes, and a fingerprint that belongs to the grammar alone."""
    origin = pq.read_metadata(files.parquet).metadata
    ensemble = ENSEMBLES["zipf"]
    assert origin[b"gardenpath.seed"] == str(SEED).encode()
    assert origin[b"gardenpath.count"] == str(COUNT).encode()
    assert origin[b"gardenpath.vocab"] == str(ensemble.vocab).encode()

    fingerprints = []
    for name, seed in (("zipf", SEED + 1), ("wide", SEED)):
        grammar = ENSEMBLES[name].sample(program, directory / f"{name}.origin.pcfg")
        path = directory / f"{name}.origin.parquet"
        program(
            "corpus", "sample", grammar, "--samples", 3, "--seed", seed, "-o", path
        )  # fmt: skip
        fingerprints.append(pq.read_metadata(path).metadata[b"gardenpath.grammar"])
    assert fingerprints[0] == origin[b"gardenpath.grammar"] != fingerprints[1]


def test_pandas_reads_the_same_sentences(files: Files) -> None:
    """pandas.read_parquet and read_json agree with plain JSON."""
    for frame in (
        pd.read_parquet(files.parquet),
        pd.read_json(files.jsonl, lines=True),
    ):
        assert set(frame.columns) == files.sentences[0].keys()
        for column in frame.columns:
            expected = [sentence[column] for sentence in files.sentences]
            values = frame[column]
            if column == "tokens":
                values = values.map(list)
            assert values.tolist() == expected


def test_datasets_reads_the_same_sentences(files: Files, tmp_path: Path) -> None:
    """Hugging Face datasets, with no network and a cache of its own."""
    import datasets

    datasets.disable_progress_bars()
    for kind, path in (("parquet", files.parquet), ("json", files.jsonl)):
        dataset = datasets.load_dataset(
            kind, data_files=str(path), split="train", cache_dir=str(tmp_path / kind)
        )
        assert dataset.to_list() == files.sentences
        assert len(dataset.filter(lambda row: row["root"] == 0)) == sum(
            sentence["root"] == 0 for sentence in files.sentences
        )


def test_trees_derive_the_sentences(program: Program, directory: Path) -> None:
    """Trees have the grammar's rules only, the tokens as leaves, and one depth."""
    for name, ensemble in ENSEMBLES.items():
        path = ensemble.sample(program, directory / f"{name}.derive.pcfg")
        reference = Reference(path.read_text())
        for line in program.corpus(path, 100, 5, "--trees"):
            tree = Tree.fromstring(line["tree"])
            assert tree.label() == f"A0_{line['root']}"
            assert [int(leaf) for leaf in tree.leaves()] == line["tokens"]
            assert reference.probability(tree) > 0
            leaves = tree.treepositions("leaves")
            assert {len(position) for position in leaves} == {ensemble.depth}


def test_trees_do_not_change_the_sentences(program: Program, directory: Path) -> None:
    """A corpus with trees has the sentences of the corpus without them."""
    path = ENSEMBLES["wide"].sample(program, directory / "same.pcfg")
    with_trees = program.corpus(path, 50, 5, "--trees")
    for line in with_trees:
        del line["tree"]
    assert with_trees == program.corpus(path, 50, 5)
