"""Next tokens, compared with genlm-grammar's language model."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Case, write_sentences
from genlm.grammar import EarleyLM
from genlm.grammar.cfglm import EOS


def test_next_tokens_are_those_of_a_language_model(case: Case, tmp_path: Path) -> None:
    """The probabilities of the next token and of the end, after each beginning."""
    sentences = case.strings[: case.sampled][:6]
    path = tmp_path / "sentences.jsonl"
    write_sentences(path, sentences)
    lines = case.program.json_lines(
        "predict", case.path, path, "--task", "next", "--json"
    )
    model = EarleyLM(case.reference.cfg)
    words = case.reference.words
    for tokens, line in zip(sentences, lines, strict=True):
        context = tuple(case.reference.spell(tokens))
        assert len(line["next"]) == len(context) + 1
        for n, row in enumerate(line["next"]):
            theirs = model.p_next(context[:n])
            expected = [theirs[word] for word in [*words, EOS]]
            assert row == pytest.approx(expected, rel=0, abs=1e-12)
