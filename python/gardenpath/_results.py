"""Answers of several parts, as named tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Clusters",
    "Entropy",
    "EntropyFraction",
    "Fit",
    "Floor",
    "Inside",
    "Judgement",
    "Marginals",
    "NextToken",
    "Purity",
    "SampleComplexity",
    "Splits",
    "SymbolPosterior",
    "Topology",
]


class Inside(NamedTuple):
    """What the inside algorithm finds: arrays `[sentence, root]`. See `Grammar.inside`."""

    log_likelihood: NDArray[np.float64]
    """The logarithm of the probability of the sentence given the root."""
    posterior: NDArray[np.float64]
    """The probability of the root given the sentence."""


class Marginals(NamedTuple):
    """What is probable given a sentence. See `Grammar.marginals`."""

    spans: list[NDArray[np.void]]
    """For each level, records of `start`, `span`, `symbol` and `probability`."""
    uses: list[NDArray[np.float64]]
    """For each layer, how often each rule is expected to be used."""


class NextToken(NamedTuple):
    """The probabilities of the next token in a batch of sentences. See `Grammar.next_token`."""

    rows: NDArray[np.float64]
    """One row for each place of each sentence."""
    offsets: NDArray[np.int64]
    """The rows of sentence i are `rows[offsets[i]:offsets[i + 1]]`."""


class SymbolPosterior(NamedTuple):
    """What evidence says about a sentence. See `Grammar.posterior`."""

    tokens: NDArray[np.float64]
    """The posterior of each token, `[position, token]`."""
    levels: list[NDArray[np.float64]]
    """For each level from the root down, that of the symbol above each token, `[position, symbol]`."""
    log_evidence: float
    """The logarithm of the probability of the evidence."""


class Floor(NamedTuple):
    """The smallest loss that any predictor can reach, in nats. See `Grammar.floor`."""

    loss: float
    """Per token, masked token or sentence."""
    stderr: float
    """Its standard error over sentences."""
    by_position: NDArray[np.float64]
    """The mean loss at each position."""
    formula: float | None
    """What counting says for many symbols, for the next token."""


class Entropy(NamedTuple):
    """A class entropy, in nats. See `class_entropy`."""

    mean: float
    """The mean over grammars."""
    error: float
    """Its standard error."""


class EntropyFraction(NamedTuple):
    """A fraction of grammatical tuples, with the class entropy there. See `fraction_for_entropy`."""

    fraction: float
    """The fraction."""
    entropy: float
    """The entropy that was measured at it, in nats."""


class Clusters(NamedTuple):
    """What k-means finds. See `kmeans`."""

    labels: NDArray[np.int64]
    """The cluster of each row."""
    centroids: NDArray[np.float64]
    """The mean of each cluster."""
    inertia: float
    """The sum of the squared distances from the centroids."""


class Purity(NamedTuple):
    """How well clusters of tuples are those of their parents. See `rule_purity`."""

    binary: float
    """Of pairs."""
    ternary: float
    """Of triples less what their pairs explain."""
    ternary_uncorrected: float
    """Of plain triples."""


class Splits(NamedTuple):
    """Numbers of ways to cut a span. See `theory.splits` and `theory.median_splits`."""

    binary: Any
    """Into two."""
    ternary: Any
    """Into three."""


class SampleComplexity(NamedTuple):
    """The number of sentences that learning needs, up to a constant. See `theory.sample_complexity`."""

    paper: Any
    """By the paper's factor per level."""
    size_biased: Any
    """By that of a uniformly chosen token."""


class Topology(NamedTuple):
    """A tree of depth 2 without its symbols. See `theory.two_level_topologies`."""

    arities: tuple[int, ...]
    """How many tokens each child of the root has."""
    probability: float
    """Its probability."""


class Fit(NamedTuple):
    """What a fit of an experiment gives for a group of its cells. See `Results.fit`."""

    fit: str
    """The name of the fit."""
    group: dict[str, Any]
    """The values that tell the group apart."""
    value: float | None
    """The number, or None if there is none."""
    interval: tuple[float, float] | None
    """The 95% interval over seeds, or None."""
    seeds: int
    """The number of seeds."""
    because: str | None
    """Why there is no number, no interval, or an open one."""
    misfit: float | None
    """How far the groups are from their law, in units of seed noise."""


class Judgement(NamedTuple):
    """The verdict on a claim of an experiment for a group of its cells. See `Results.judge`."""

    id: str
    """The name of the claim."""
    statement: str
    """What is claimed."""
    group: dict[str, Any]
    """The values that tell the group apart."""
    verdict: str
    """agrees, differs, corrected or inconclusive."""
    value: float | None
    """What was measured."""
    interval: tuple[float, float] | None
    """The 95% interval over seeds, or None."""
    because: str
    """Why, and what would settle it if it is inconclusive."""
