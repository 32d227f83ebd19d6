"""The inside neural network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from .._core import _inside_layers
from ._shape import Shape
from .networks import FilterNetwork, Normalization, Parameter, Sentences, scale_of, whitened

__all__ = ["INN"]

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


class INN(FilterNetwork):
    """The paper's inside neural network: filters for each number of children, shared by the cells of the inside chart.

    Only cells that some tree over the sentence can use are computed, packed without padding. They depend only on the
    length, so they are computed once per length. Sums over splits are taken before or after the products with the
    filters, whichever leaves fewer rows to multiply.

    `arities` are the numbers of children of the nodes of each level, from the root down, unless all have two or three.
    With `normalization="splits"`, which deep trees need, cells are divided by the square root of their number of splits.
    `seed` is the program's: see `reset`.

    >>> from gardenpath import Grammar
    >>> from gardenpath.torch import INN, SentenceStream
    >>> grammar = Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=7)
    >>> network = INN(vocab=8, classes=8, depth=2, width=64, seed=1)
    >>> tokens, roots = next(iter(SentenceStream(grammar, batch=32)))
    >>> network(tokens).shape
    torch.Size([32, 8])
    """

    _NORMALIZATIONS: ClassVar[tuple[Normalization, ...]] = ("fan-in", "width", "splits")

    def parameters_of_files(self) -> list[Parameter]:
        """All parameters, in the order in which they are initialized."""
        filters = [
            Parameter(_filter_name(level, arity), (arity, self._channels(level), self.width))
            for level in reversed(range(self.depth))
            for arity in self.shape.arities[level]
        ]
        return [*filters, Parameter("readout", (self.width, self.classes))]

    def _channels(self, level: int) -> int:
        return self.vocab if level + 1 == self.depth else self.width

    def _filters(self, level: int) -> Tensor:
        """The matrices of all roles of a level, `[roles, inputs, outputs]`, with their scale factors."""
        channels = self._channels(level)
        scaled = [
            scale_of(self.normalization, arity, channels) * self.weight(_filter_name(level, arity))
            for arity in self.shape.arities[level]
        ]
        return torch.cat(scaled)

    def _logits(self, batch: Sentences) -> Tensor:
        readout = self.weight("readout")
        groups = _groups(self.shape, self.normalization == "splits", batch.lengths)
        tokens = functional.pad(batch.tokens, (0, 1), value=self.vocab)[_lowest(groups, batch.lengths)]
        columns = functional.embedding(tokens.to(readout.device), whitened(self.vocab, readout)).flatten(1)
        cells = torch.relu(columns @ self._filters(self.depth - 1).flatten(0, 1))
        for level in reversed(range(self.depth - 1)):
            filters = self._filters(level)
            sums = _Sums.of(groups, level, len(filters), readout)
            if sums.sums_first:
                cells = sums(cells).view(-1, len(filters) * self.width) @ filters.flatten(0, 1)
            else:
                products = cells @ filters.transpose(0, 1).flatten(1)
                cells = sums(products.view(-1, self.width))
            cells = torch.relu(cells)
        places = torch.from_numpy(np.argsort(np.concatenate([group.sentences for group in groups])))
        return (cells / self.width @ readout)[places.to(readout.device)]


def _filter_name(level: int, arity: int) -> str:
    names = {1: "unary", 2: "binary", 3: "ternary"}
    return f"level.{level}.{names.get(arity, f'arity{arity}')}"


@dataclass(frozen=True)
class _Lists:
    """Lists of rows to sum: the contents of a sparse matrix."""

    sizes: Integers
    items: Integers
    times: Numbers

    @staticmethod
    def of(lists: Integers, items: Integers, times: Numbers, count: int) -> _Lists:
        order = np.lexsort((items, lists))
        return _Lists(np.bincount(lists, minlength=count), items[order], times[order])


@dataclass(frozen=True)
class _Level:
    """The sums that lead to the cells of a level, in both orders, each with the sums of its gradient."""

    above: int
    below: int
    sums_first: tuple[_Lists, _Lists]
    products_first: tuple[_Lists, _Lists]

    @staticmethod
    def of(roles: int, above: int, below: int, inputs: Integers, times: Numbers) -> _Level:
        target, role, child = inputs.T
        sums, products = target * roles + role, child * roles + role
        return _Level(
            above,
            below,
            (_Lists.of(sums, child, times, above * roles), _Lists.of(child, sums, times, below)),
            (_Lists.of(target, products, times, above), _Lists.of(products, target, times, below * roles)),
        )


@dataclass(frozen=True)
class _Template:
    """The cells of all sentences of one length."""

    lowest: Integers
    """The position of the token in each role of a cell just above the tokens, or -1: `[cells, roles]`."""
    levels: list[_Level]
    """All levels except the lowest, from the root down."""


@lru_cache(maxsize=1024)
def _template(shape: Shape, over_splits: bool, length: int) -> _Template:
    # Left and right of two parts, then left, middle and right of three, and so on.
    roles = [sum(arities) for arities in shape.arities]
    (below, inputs, _), *layers = _inside_layers(shape.arities, length, over_splits)
    lowest = np.full((below, roles[-1]), -1, dtype=np.int64)
    target, role, place = inputs.T
    lowest[target, role] = place
    levels: list[_Level] = []
    for above, inputs, times in layers:
        levels.insert(0, _Level.of(roles[shape.depth - 2 - len(levels)], above, below, inputs, times))
        below = above
    return _Template(lowest, levels)


@dataclass(frozen=True)
class _Group:
    """The sentences of a batch with the same length."""

    sentences: Integers
    template: _Template


def _groups(shape: Shape, over_splits: bool, lengths: Tensor) -> list[_Group]:
    order = np.argsort(lengths.numpy(), kind="stable")
    ends = np.flatnonzero(np.diff(lengths.numpy()[order])) + 1
    parts = np.split(order, ends)
    return [_Group(part, _template(shape, over_splits, int(lengths[part[0]]))) for part in parts]


def _lowest(groups: list[_Group], lengths: Tensor) -> Tensor:
    """The token in each role of all cells just above the tokens; one past the last token means none."""
    starts, none = (lengths.cumsum(0) - lengths).numpy(), int(lengths.sum())

    def places(group: _Group) -> Integers:
        relative = group.template.lowest
        absolute = np.where(relative < 0, none, starts[group.sentences, None, None] + relative)
        return absolute.reshape(-1, relative.shape[1])

    return torch.from_numpy(np.concatenate([places(group) for group in groups]))


@dataclass(frozen=True)
class _Bags:
    """The lists of a batch, in the form of `embedding_bag`."""

    items: Tensor
    offsets: Tensor
    times: Tensor

    @staticmethod
    def of(parts: Iterable[tuple[_Lists, int, int]], like: Tensor) -> _Bags:
        """Lists for this many sentences with this many rows each, one after another."""
        items, sizes, times = [], [np.zeros(1, dtype=np.int64)], []
        base = 0
        for lists, sentences, rows in parts:
            shifts = base + rows * np.arange(sentences)
            items.append((shifts[:, None] + lists.items).ravel())
            sizes.append(np.tile(lists.sizes, sentences))
            times.append(np.tile(lists.times, sentences))
            base += rows * sentences
        arrays = np.concatenate(items), np.cumsum(np.concatenate(sizes)), np.concatenate(times)
        index, offsets, counts = (torch.from_numpy(array).to(like.device) for array in arrays)
        return _Bags(index, offsets, counts.to(like.dtype))

    def __call__(self, rows: Tensor) -> Tensor:
        return functional.embedding_bag(
            self.items,
            rows,
            self.offsets,
            mode="sum",
            # In mixed precision, rows have lower precision than weights.
            per_sample_weights=self.times.to(rows.dtype),
            include_last_offset=True,
        )


class _SumOfRows(torch.autograd.Function):
    """Sums of rows; the gradient is a sum of rows too."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, bags: _Bags, back: _Bags) -> Tensor:
        ctx.bags = bags, back
        return bags(rows.contiguous())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        bags, back = ctx.bags
        gradient: Tensor = _SumOfRows.apply(gradients[0], back, bags)
        return gradient, None, None


@dataclass(frozen=True)
class _Sums:
    """The sums over the splits of a level, before or after the products with the filters."""

    sums_first: bool
    bags: _Bags
    back: _Bags

    @staticmethod
    def of(groups: list[_Group], level: int, roles: int, like: Tensor) -> _Sums:
        parts = [(group.template.levels[level], len(group.sentences)) for group in groups]
        first = sum(part.above * n for part, n in parts) <= sum(part.below * n for part, n in parts)
        if first:
            bags = _Bags.of(((part.sums_first[0], n, part.below) for part, n in parts), like)
            back = _Bags.of(((part.sums_first[1], n, part.above * roles) for part, n in parts), like)
        else:
            bags = _Bags.of(((part.products_first[0], n, part.below * roles) for part, n in parts), like)
            back = _Bags.of(((part.products_first[1], n, part.above) for part, n in parts), like)
        return _Sums(first, bags, back)

    def __call__(self, rows: Tensor) -> Tensor:
        sums: Tensor = _SumOfRows.apply(rows, self.bags, self.back)
        return sums
