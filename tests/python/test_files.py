"""Errors of the operating system are OSErrors, with the subclass that Python's own functions raise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gardenpath import Corpus, Experiment, Grammar, Store

READERS: dict[str, Callable[[Path], object]] = {
    "missing.pcfg": Grammar.read,
    "missing.parquet": Corpus.read,
    "missing.jsonl": Corpus.read,
    "missing.tsv": Corpus.read,
    "missing.toml": Experiment.read,
}


@pytest.mark.parametrize("name", READERS)
def test_missing_files_are_not_found(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=name) as caught:
        READERS[name](tmp_path / name)
    assert caught.value.errno is not None and "\n" not in str(caught.value)


def test_directories_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "a.pcfg").mkdir()
    with pytest.raises(IsADirectoryError, match="a.pcfg"):
        Grammar.read(tmp_path / "a.pcfg")


def test_a_store_needs_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((OSError, ValueError), match="file"):
        Store(tmp_path / "file" / "store")


def test_contents_are_value_errors(tmp_path: Path) -> None:
    (tmp_path / "bad.pcfg").write_text("nonsense")
    with pytest.raises(ValueError, match="bad.pcfg"):
        Grammar.read(tmp_path / "bad.pcfg")
