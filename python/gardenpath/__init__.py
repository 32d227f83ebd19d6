"""A laboratory for languages with hidden trees.

Sample a random context-free grammar of uniform depth with a chosen ambiguity, generate sentences, parse them exactly, learn the
grammar back from sentences and labels, and compare your own network with the best possible result.

>>> import gardenpath
>>> grammar = gardenpath.Grammar.sample(vocab=16, depth=3, fraction=0.25, seed=7)
>>> corpus = grammar.corpus(100_000, seed=1)
>>> log_likelihood, posterior = grammar.inside(corpus)
>>> posterior.shape
(100000, 16)

Arrays are NumPy arrays, views of the corpus where possible. Calls use all cores, release the GIL, and stop at Ctrl-C. What
is sampled from a seed is the same on every machine, for any number of threads.
"""

from typing import TYPE_CHECKING, Any

from . import fit, theory
from ._core import (
    UNKNOWN_ROOT,
    BayesFloor,
    Cell,
    Chart,
    Corpus,
    ExpectedMoments,
    Experiment,
    Figure,
    Grammar,
    Learned,
    LearnedLevel,
    LevelScore,
    Moments,
    Probe,
    Reader,
    Results,
    Run,
    SignalStudy,
    Store,
    Tree,
    __version__,
    class_entropy,
    divergence,
    fraction_for_entropy,
    kmeans,
    learn,
    rule_purity,
    score_rules,
    set_threads,
    snr,
    threads,
)
from ._measure import measure
from ._records import Records
from ._sweep import sweep
from ._train import Record, train

if TYPE_CHECKING:
    from .learner import GrammarLearner as GrammarLearner

__all__ = [
    "UNKNOWN_ROOT",
    "BayesFloor",
    "Cell",
    "Chart",
    "Corpus",
    "ExpectedMoments",
    "Experiment",
    "Figure",
    "Grammar",
    "Learned",
    "LearnedLevel",
    "LevelScore",
    "Moments",
    "Probe",
    "Reader",
    "Record",
    "Records",
    "Results",
    "Run",
    "SignalStudy",
    "Store",
    "Tree",
    "__version__",
    "class_entropy",
    "divergence",
    "fit",
    "fraction_for_entropy",
    "kmeans",
    "learn",
    "measure",
    "rule_purity",
    "score_rules",
    "set_threads",
    "snr",
    "sweep",
    "theory",
    "threads",
    "train",
]


def __getattr__(name: str) -> Any:
    # Imported on first use, and not in __all__, because it needs scikit-learn.
    if name == "GrammarLearner":
        from .learner import GrammarLearner

        return GrammarLearner
    raise AttributeError(f"module 'gardenpath' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "GrammarLearner", "__all__", "__doc__", "__file__", "__name__", "__path__"])
