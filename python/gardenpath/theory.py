"""Theory of the ensemble: exact functions of its parameters, without sampling.

A `fraction` of all pairs and triples of symbols is produced by some rule; a node has two children with probability
`p_binary`, otherwise three. Any numbers of children from 1 to 8 are described by `arities={2: 0.5, 4: 0.5}`, their
probabilities, and `fractions={2: 0.25, 4: 0.01}`. Where the printed formula and the model disagree, the plain name is the
model's and `paper_…` is the printed one. Functions that return a number also accept arrays, and broadcast them.

>>> from gardenpath import theory
>>> theory.class_entropy([0.125, 0.25, 0.5]).round(3)
array([0.001, 0.01 , 0.085])
>>> theory.mean_branching(arities={1: 0.25, 2: 0.5, 4: 0.25})
2.25
"""

import functools
from collections.abc import Callable as _Callable
from typing import Any

import numpy as np

from ._core import theory as _compiled

ByLength = _compiled.ByLength


# Arguments by number of children, which are the same for all elements of arrays.
_BY_ARITY = ("arities", "fractions", "rules")


def _exported(function: Any) -> Any:
    # pickle and doctest look up where a function is defined.
    function.__module__ = __name__
    return function


def _vectorised(function: _Callable[..., Any]) -> Any:
    """The same function for numbers and arrays; results with several parts have arrays as parts."""

    @functools.wraps(function)
    def vectorised(*arguments: Any, **options: Any) -> Any:
        by_arity = {name: options.pop(name) for name in _BY_ARITY if name in options}
        names = list(options)
        given = [*arguments, *options.values()]
        if all(value is None or np.ndim(value) == 0 for value in given):
            return function(*arguments, **options, **by_arity)
        count = len(arguments)
        broadcast = np.broadcast(*(np.asarray(value) for value in given))
        calls = [function(*row[:count], **dict(zip(names, row[count:])), **by_arity) for row in _rows(broadcast)]
        if calls and isinstance(calls[0], tuple):
            return type(calls[0])(*(np.array(column).reshape(broadcast.shape) for column in zip(*calls)))
        if calls and isinstance(calls[0], dict):
            return {key: np.array([call[key] for call in calls]).reshape(broadcast.shape) for key in calls[0]}
        return np.array(calls).reshape(broadcast.shape)

    return _exported(vectorised)


def _rows(broadcast: np.broadcast) -> Any:
    for row in broadcast:
        yield [value.item() if isinstance(value, np.generic) else value for value in row]


class_entropy = _vectorised(_compiled.class_entropy)
critical_fraction = _vectorised(_compiled.critical_fraction)
mean_branching = _vectorised(_compiled.mean_branching)
mean_internal_nodes = _vectorised(_compiled.mean_internal_nodes)
median_splits = _vectorised(_compiled.median_splits)
paper_class_entropy = _vectorised(_compiled.paper_class_entropy)
sample_complexity = _vectorised(_compiled.sample_complexity)
splits = _vectorised(_compiled.splits)
typical_length = _vectorised(_compiled.typical_length)

grammatical_fraction = _exported(_compiled.grammatical_fraction)
length_distribution = _exported(_compiled.length_distribution)
mean_candidates = _exported(_compiled.mean_candidates)
paper_grammatical_fraction = _exported(_compiled.paper_grammatical_fraction)
tree_count = _exported(_compiled.tree_count)
two_level_topologies = _exported(_compiled.two_level_topologies)

__all__ = [
    "ByLength",
    "class_entropy",
    "critical_fraction",
    "grammatical_fraction",
    "length_distribution",
    "mean_branching",
    "mean_candidates",
    "mean_internal_nodes",
    "median_splits",
    "paper_class_entropy",
    "paper_grammatical_fraction",
    "sample_complexity",
    "splits",
    "tree_count",
    "two_level_topologies",
    "typical_length",
]


def __dir__() -> list[str]:
    return sorted(__all__)
