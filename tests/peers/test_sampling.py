"""Sampling: sentences, roots and rules have the right frequencies.

The seeds are fixed, so a test that passes once passes always; the bound on the p-value
is so low that a correct sampler fails for one seed in 10,000.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from conftest import ENSEMBLES, Ensemble, Program
from nltk import Nonterminal, Tree
from reference import Reference, rule_counts
from scipy.stats import chi2, chisquare

P_VALUE = 1e-4


@pytest.mark.parametrize("name", ["uniform", "zipf", "deep"])
def test_roots_and_rules_have_their_probabilities(
    program: Program, directory: Path, name: str
) -> None:
    """Chi-square of the roots, and of every level's rules given their parents."""
    path = ENSEMBLES[name].sample(program, directory / f"{name}.frequencies.pcfg")
    reference = Reference(path.read_text())
    count = 6000
    lines = program.corpus(path, count, 21, "--trees")

    roots = Counter(line["root"] for line in lines)
    observed = [roots[k] for k in range(len(reference.classes))]
    expected = [count * p for p in reference.prior]
    assert chisquare(observed, expected).pvalue > P_VALUE

    counts = rule_counts(Tree.fromstring(line["tree"]) for line in lines)
    assert counts.keys() <= reference.rules.keys()
    for level, parents in enumerate(reference.layers):
        statistic, freedom = 0.0, 0
        for parent in parents:
            value, degrees = rules_against_probabilities(reference, counts, parent)
            statistic += value
            freedom += degrees
        assert chi2.sf(statistic, freedom) > P_VALUE, f"level {level}"


def rules_against_probabilities(
    reference: Reference, counts: Counter, parent: Nonterminal
) -> tuple[float, int]:
    """Chi-square statistic and degrees of freedom of one symbol's rules."""
    rules = {key: p for key, p in reference.rules.items() if key[0] == parent}
    observed = [counts[key] for key in rules]
    total = sum(observed)
    # Probabilities as written sum to one up to rounding.
    scale = total / sum(rules.values())
    expected = [p * scale for p in rules.values()]
    assert min(expected) > 5, "too few draws for a chi-square test"
    return chisquare(observed, expected).statistic, len(rules) - 1


@pytest.mark.parametrize("zipf", [0.0, 1.0])
def test_sentences_have_their_probabilities(
    program: Program, directory: Path, zipf: float
) -> None:
    """Chi-square over the whole language, which genlm-grammar enumerates."""
    ensemble = Ensemble(vocab=2, depth=2, fraction=0.5, seed=3, p_binary=0.6, zipf=zipf)
    path = ensemble.sample(program, directory / f"language.{zipf}.pcfg")
    language = Reference(path.read_text()).language()
    assert sum(language.values()) == pytest.approx(1)

    count = 20000
    lines = program.corpus(path, count, 22)
    seen = Counter(tuple(map(str, line["tokens"])) for line in lines)
    assert seen.keys() <= language.keys()
    # Sentences that are expected fewer than 10 times share a bin.
    rare = {words for words, p in language.items() if count * p < 10}
    bins = [[words] for words in language if words not in rare]
    if rare:
        bins.append(sorted(rare))
    assert len(bins) > 20
    observed = [sum(seen[words] for words in group) for group in bins]
    expected = [count * sum(language[words] for words in group) for group in bins]
    assert chisquare(observed, expected).pvalue > P_VALUE
