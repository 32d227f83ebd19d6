"""The shape of the trees that a network is built for."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from .._core import Grammar, _arities, _lengths

__all__ = ["Arities", "Shape", "check_at_least"]

Arities = Collection[int]
"""The numbers of children of the nodes of one level."""

_MAX_DEPTH = 10
_MAX_CHILDREN = 8
_MAX_TOKENS = 59_049


@dataclass(frozen=True)
class Shape:
    """The numbers of children of the nodes of each level, from the root down."""

    arities: tuple[tuple[int, ...], ...]

    @staticmethod
    def new(depth: int, arities: Sequence[Arities] | None) -> Shape:
        """The shape of trees of this depth; by default all nodes have two or three children."""
        if not 1 <= depth <= _MAX_DEPTH:
            raise ValueError(f"depth is {depth}, expected 1 to {_MAX_DEPTH}")
        shape = Shape(((2, 3),) * depth if arities is None else tuple(tuple(sorted(set(level))) for level in arities))
        if len(shape.arities) != depth:
            raise ValueError(f"arities has {len(shape.arities)} levels, expected {depth}")
        for level in shape.arities:
            if not level or level[0] < 1 or level[-1] > _MAX_CHILDREN:
                raise ValueError(f"arities of a level are {level}, expected numbers from 1 to {_MAX_CHILDREN}")
        if (most := math.prod(level[-1] for level in shape.arities)) > _MAX_TOKENS:
            raise ValueError(f"sentences have up to {most} tokens, expected at most {_MAX_TOKENS}")
        return shape

    @staticmethod
    def of(grammar: Grammar) -> Shape:
        """The shape of the trees of a grammar."""
        return Shape(tuple(tuple(level) for level in _arities(grammar)))

    @property
    def depth(self) -> int:
        """The number of layers of rules."""
        return len(self.arities)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The possible numbers of tokens, in increasing order; there may be gaps."""
        return tuple(_lengths(self.arities))

    @property
    def longest(self) -> int:
        """The largest number of tokens."""
        return self.lengths[-1]


def check_at_least(name: str, value: int, least: int) -> None:
    """Raises a ValueError if a size is too small."""
    if value < least:
        raise ValueError(f"{name} is {value}, expected at least {least}")
