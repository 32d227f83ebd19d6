"""A laboratory for languages with hidden trees.

Sample a random context-free grammar of uniform depth whose ambiguity you choose, write its sentences, parse them exactly, learn the
grammar back from sentences and labels, and compare your own network with the best that is possible.

>>> import gardenpath
>>> grammar = gardenpath.Grammar.sample(vocab=16, depth=3, fraction=0.25, seed=7)
>>> corpus = grammar.corpus(100_000, seed=1)
>>> log_likelihood, posterior = grammar.inside(corpus)
>>> posterior.shape
(100000, 16)

Arrays are NumPy's, views of the corpus where that is possible. Calls use all cores, release the interpreter, and stop at Ctrl-C. What
is sampled from a seed is the same on every machine, for any number of threads.
"""

import sys
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import (
    UNKNOWN_ROOT,
    BayesFloor,
    Cell,
    Chart,
    Corpus,
    ExpectedMoments,
    Experiment,
    Grammar,
    Learned,
    LearnedLevel,
    LevelScore,
    Moments,
    SignalStudy,
    Store,
    Tree,
    __version__,
    class_entropy,
    fraction_for_entropy,
    kmeans,
    learn,
    rule_purity,
    score_rules,
    set_threads,
    snr,
    theory,
    threads,
)
from ._sweep import sweep

if TYPE_CHECKING:
    from .learner import GrammarLearner as GrammarLearner

# The compiled module holds `theory` as an attribute; this lets `import gardenpath.theory` find it too.
sys.modules["gardenpath.theory"] = theory
# So do its functions know where they are, which pickle asks for.
for _function in vars(theory).values():
    if callable(_function) and not isinstance(_function, type):
        _function.__module__ = "gardenpath.theory"

__all__ = [
    "UNKNOWN_ROOT",
    "BayesFloor",
    "Cell",
    "Chart",
    "Corpus",
    "ExpectedMoments",
    "Experiment",
    "Grammar",
    "Learned",
    "LearnedLevel",
    "LevelScore",
    "Moments",
    "SignalStudy",
    "Store",
    "Tree",
    "__version__",
    "class_entropy",
    "fraction_for_entropy",
    "kmeans",
    "learn",
    "rule_purity",
    "score_rules",
    "set_threads",
    "snr",
    "sweep",
    "theory",
    "threads",
]


def __getattr__(name: str) -> Any:
    # Imported when it is asked for, and not in __all__: it needs scikit-learn, the rest does not.
    if name == "GrammarLearner":
        from .learner import GrammarLearner

        return GrammarLearner
    raise AttributeError(f"module 'gardenpath' has no attribute {name!r}")
