"""Results with several parts, as named tuples."""

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
    """The result of the inside algorithm: arrays `[sentence, root]`. See `Grammar.inside`."""

    log_likelihood: NDArray[np.float64]
    """The log probability of the sentence given the root."""
    posterior: NDArray[np.float64]
    """The probability of the root given the sentence."""


class Marginals(NamedTuple):
    """Posterior marginals given a sentence. See `Grammar.marginals`."""

    spans: list[NDArray[np.void]]
    """For each level, records of `start`, `span`, `symbol` and `probability`."""
    uses: list[NDArray[np.float64]]
    """For each layer, the expected number of uses of each rule."""


class NextToken(NamedTuple):
    """Next-token probabilities for a batch of sentences. See `Grammar.next_token`."""

    rows: NDArray[np.float64]
    """One row per position of each sentence."""
    offsets: NDArray[np.int64]
    """The rows of sentence i are `rows[offsets[i]:offsets[i + 1]]`."""


class SymbolPosterior(NamedTuple):
    """The posterior given evidence about a sentence. See `Grammar.posterior`."""

    tokens: NDArray[np.float64]
    """The posterior over each token, `[position, token]`."""
    levels: list[NDArray[np.float64]]
    """For each level from the root down, the posterior over the symbol above each token, `[position, symbol]`."""
    log_evidence: float
    """The log probability of the evidence."""


class Floor(NamedTuple):
    """The lowest loss that any predictor can reach, in nats. See `Grammar.floor`."""

    loss: float
    """Per token, masked token or sentence."""
    stderr: float
    """Its standard error over sentences."""
    by_position: NDArray[np.float64]
    """The mean loss at each position."""
    formula: float | None
    """The formula for large vocabularies, for task "next"."""


class Entropy(NamedTuple):
    """A class entropy, in nats. See `class_entropy`."""

    mean: float
    """The mean over grammars."""
    error: float
    """Its standard error."""


class EntropyFraction(NamedTuple):
    """A fraction of grammatical tuples, with its class entropy. See `fraction_for_entropy`."""

    fraction: float
    """The fraction."""
    entropy: float
    """The entropy measured there, in nats."""


class Clusters(NamedTuple):
    """The result of k-means. See `kmeans`."""

    labels: NDArray[np.int64]
    """The cluster of each row."""
    centroids: NDArray[np.float64]
    """The mean of each cluster."""
    inertia: float
    """The sum of squared distances from the centroids."""


class Purity(NamedTuple):
    """Mean purity of clusters of tuples with respect to their parents. See `rule_purity`."""

    binary: float
    """Of pairs."""
    ternary: float
    """Of triples, corrected for pairs."""
    ternary_uncorrected: float
    """Of triples, uncorrected."""


class Splits(NamedTuple):
    """The number of ways to split a span. See `theory.splits` and `theory.median_splits`."""

    binary: Any
    """Into two."""
    ternary: Any
    """Into three."""


class SampleComplexity(NamedTuple):
    """The number of sentences that learning needs, up to a constant. See `theory.sample_complexity`."""

    paper: Any
    """With the paper's factor per level."""
    size_biased: Any
    """With that of a uniformly chosen token."""


class Topology(NamedTuple):
    """A tree of depth 2 without its symbols. See `theory.two_level_topologies`."""

    arities: tuple[int, ...]
    """The number of children of each child of the root."""
    probability: float
    """Its probability."""


class Fit(NamedTuple):
    """A fit of an experiment for one group of its cells. See `Results.fit`."""

    fit: str
    """The name of the fit."""
    group: dict[str, Any]
    """The values that identify the group."""
    value: float | None
    """The estimate, or None."""
    interval: tuple[float, float] | None
    """The 95% interval over seeds, or None."""
    seeds: int
    """The number of seeds."""
    because: str | None
    """Why there is no number, no interval, or an unbounded one."""
    misfit: float | None
    """The deviation of the groups from their law, in units of seed noise."""


class Judgement(NamedTuple):
    """The verdict on a claim of an experiment for one group of its cells. See `Results.judge`."""

    id: str
    """The ID of the claim."""
    statement: str
    """The claim."""
    group: dict[str, Any]
    """The values that identify the group."""
    verdict: str
    """agrees, differs, corrected or inconclusive."""
    value: float | None
    """The measured value."""
    interval: tuple[float, float] | None
    """The 95% interval over seeds, or None."""
    because: str
    """The reason and, if inconclusive, what would settle it."""
