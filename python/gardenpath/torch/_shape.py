"""The shape of the trees for which a network is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .._core import Grammar

__all__ = ["Arities", "Shape", "check_at_least"]

Arities = tuple[int, int]

_MAX_DEPTH = 10


@dataclass(frozen=True)
class Shape:
    """The smallest and the largest number of children of a node of each level, from the root down."""

    arities: tuple[Arities, ...]

    @staticmethod
    def new(depth: int, arities: Sequence[Arities] | None) -> Shape:
        """The shape of trees of this depth; unless arities are given, all nodes have two or three children."""
        if not 1 <= depth <= _MAX_DEPTH:
            raise ValueError(f"depth is {depth}, expected 1 to {_MAX_DEPTH}")
        shape = Shape(((2, 3),) * depth if arities is None else tuple((least, most) for least, most in arities))
        if len(shape.arities) != depth:
            raise ValueError(f"there are arities of {len(shape.arities)} levels, expected {depth}")
        for pair in shape.arities:
            if pair not in ((2, 2), (2, 3), (3, 3)):
                raise ValueError(f"arities of a level are {pair}, expected (2, 2), (2, 3) or (3, 3)")
        return shape

    @staticmethod
    def of(grammar: Grammar) -> Shape:
        """The shape of the trees of a grammar."""
        found = (grammar.rules(level)["arity"] for level in range(grammar.depth))
        return Shape(tuple((int(arities.min()), int(arities.max())) for arities in found))

    @property
    def depth(self) -> int:
        """The number of layers of rules."""
        return len(self.arities)

    @cached_property
    def spans(self) -> tuple[range, ...]:
        """The numbers of tokens below a node of each level, tokens included."""
        spans = [range(1, 2)]
        for least, most in reversed(self.arities):
            below = spans[0]
            spans.insert(0, range(least * below[0], most * below[-1] + 1))
        return tuple(spans)

    @cached_property
    def nodes(self) -> tuple[range, ...]:
        """The numbers of nodes of each level."""
        nodes = [range(1, 2)]
        for least, most in self.arities:
            nodes.append(range(least * nodes[-1][0], most * nodes[-1][-1] + 1))
        return tuple(nodes)

    @property
    def longest(self) -> int:
        """The largest number of tokens."""
        return self.spans[0][-1]

    @cached_property
    def lengths(self) -> frozenset[int]:
        """The numbers of tokens of trees; there may be gaps between the smallest and the largest."""
        return frozenset(length for length in self.spans[0] if self._has_length(length))

    def _has_length(self, length: int) -> bool:
        # Upwards, the possible numbers of nodes of a level are always an interval.
        fewest = most = length
        for low, high in reversed(self.arities):
            fewest, most = -(-fewest // high), most // low
            if fewest > most:
                return False
        return fewest <= 1 <= most

    def reachable(self, level: int, length: int, start: int, span: int) -> bool:
        """Whether a tree over `length` tokens has a node of `level` on `start` to `start + span`."""
        spans, nodes = self.spans[level], self.nodes[level]
        right = length - start - span
        if span not in spans or right < 0:
            return False
        fewest = [-(-tokens // spans[-1]) for tokens in (start, right)]
        most = [tokens // spans[0] for tokens in (start, right)]
        possible = all(few <= many for few, many in zip(fewest, most, strict=True))
        return possible and sum(fewest) + 1 <= nodes[-1] and sum(most) + 1 >= nodes[0]


def check_at_least(name: str, value: int, least: int) -> None:
    """Refuses a size that is too small."""
    if value < least:
        raise ValueError(f"{name} is {value}, expected at least {least}")
