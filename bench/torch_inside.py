"""The inside algorithm in PyTorch: the paper's tensor form, batched over sentences.

Equation `inside` of the paper fills a chart M[level][i, span][z] level by level from
rule tensors R2[z, a, b] and R3[z, a, b, c]. What is done here to make it quick:

- a batch holds sentences of one length, which share all indices; they are computed once
  per length and kept;
- only spans that can be part of a tree over the whole sentence are filled;
- the level above the tokens is a lookup in the rule tensors;
- ternary splits are factored: the sums over r of M[j, r][b] M[j + r, m - r][c], which
  the binary rules need anyway, are reused for every q;
- everything else is a batched matrix product in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

Cell = tuple[int, int]
"""Start and length of a span."""


@dataclass(frozen=True)
class LayeredRules:
    """The rule tensors of each level, from the classes down.

    `binary[level]` has the shape (v, v, v) and `ternary[level]` (v, v, v, v); the
    parent comes first.
    """

    binary: list[Tensor]
    ternary: list[Tensor]

    @property
    def depth(self) -> int:
        """The number of layers of rules."""
        return len(self.binary)


@dataclass
class Step:
    """How to fill one level from the level below, for one length of sentences."""

    pairs: list[tuple[Tensor, Tensor, int]] = field(default_factory=list)
    """For each length of a pair: cells on the left, cells on the right, splits."""
    binary: Tensor = field(default_factory=lambda: torch.empty(0))
    """For each cell of the level, its pair; an additional last pair is all zero."""
    ternary: list[tuple[Tensor, Tensor, Tensor, int]] = field(default_factory=list)
    """For each length: its cells, first children, pairs to their right, splits."""
    by_pair: bool = True
    """Whether to apply ternary rules to pairs (many cells) or to triples (few)."""


class TorchInside:
    """P(sentence | root) for batches of sentences of one length."""

    def __init__(self, rules: LayeredRules) -> None:
        """Arrange the rule tensors for matrix products."""
        self.depth = rules.depth
        self.vocab = v = rules.binary[0].shape[0]
        # (b c) x z, (b c) x (a z), (a b c) x z
        self.binary = [r.reshape(v, v * v).t().contiguous() for r in rules.binary]
        self.by_pair = [
            r.permute(2, 3, 1, 0).reshape(v * v, v * v).contiguous()
            for r in rules.ternary
        ]
        self.by_triple = [r.reshape(v, v**3).t().contiguous() for r in rules.ternary]
        self._plans: dict[int, tuple[Tensor, list[Step]]] = {}

    def spans(self, level: int) -> range:
        """The lengths that a symbol of this level can have."""
        height = self.depth - level
        return range(2**height, 3**height + 1)

    @torch.inference_mode()
    def __call__(self, tokens: Tensor) -> Tensor:
        """Compute P(sentence | root), shape (batch, v), of tokens (batch, length)."""
        length = tokens.shape[1]
        if length not in self.spans(0):
            return torch.zeros(len(tokens), self.vocab, dtype=torch.float64)
        if length not in self._plans:
            self._plans[length] = self._plan(length)
        bottom, steps = self._plans[length]
        chart = self._lowest(tokens, bottom)
        for level, step in zip(reversed(range(self.depth - 1)), steps, strict=True):
            chart = self._fill(level, step, chart)
        return chart[:, 0]

    def _lowest(self, tokens: Tensor, cells: Tensor) -> Tensor:
        """Look up the level above the tokens: shape (batch, cells, v)."""
        v = self.vocab
        starts, spans = cells
        padded = torch.nn.functional.pad(tokens, (0, 2))
        pairs = padded[:, starts] * v + padded[:, starts + 1]
        triples = pairs * v + padded[:, starts + 2]
        return torch.where(
            (spans == 2)[:, None],
            self.binary[-1][pairs],
            self.by_triple[-1][triples],
        )

    def _fill(self, level: int, step: Step, chart: Tensor) -> Tensor:
        """Fill a level: charts have the shape (batch, cells, v)."""
        batch, _, v = chart.shape
        blocks = []
        for left, right, splits in step.pairs:
            a = chart.index_select(1, left).view(-1, splits, v)
            b = chart.index_select(1, right).view(-1, splits, v)
            blocks.append(torch.bmm(a.transpose(1, 2), b).view(batch, -1, v * v))
        blocks.append(chart.new_zeros(batch, 1, v * v))
        pairs = torch.cat(blocks, dim=1)  # (batch, pairs, b c)

        above = pairs.index_select(1, step.binary) @ self.binary[level]
        if step.by_pair:
            applied = pairs @ self.by_pair[level]  # (batch, pairs, a z)
        for cells, first, rest, splits in step.ternary:
            a = chart.index_select(1, first)
            if step.by_pair:
                a = a.view(-1, 1, splits * v)
                rules = applied.index_select(1, rest).view(-1, splits * v, v)
                values = torch.bmm(a, rules)
            else:
                a = a.view(-1, splits, v).transpose(1, 2)
                bc = pairs.index_select(1, rest).view(-1, splits, v * v)
                triples = torch.bmm(a, bc).view(-1, v**3)
                values = triples @ self.by_triple[level]
            above.index_add_(1, cells, values.view(batch, -1, v))
        return above

    def _plan(self, length: int) -> tuple[Tensor, list[Step]]:
        """Find the cells of every level and the indices of their splits."""
        levels: list[list[Cell]] = [[(0, length)]]
        for level in range(self.depth - 1):
            levels.append(sorted(self._children(level + 1, levels[-1])))
        steps = [
            self._step(level, levels[level], levels[level + 1])
            for level in reversed(range(self.depth - 1))
        ]
        return torch.tensor(levels[-1]).t(), steps

    def _children(self, level: int, parents: list[Cell]) -> set[Cell]:
        """The cells of a level that are part of some split of a parent."""
        found: set[Cell] = set()
        for start, span in parents:
            for parts in self._splits(level, span):
                place = start
                for part in parts:
                    found.add((place, part))
                    place += part
        return found

    def _splits(self, level: int, span: int) -> list[tuple[int, ...]]:
        """All ways to split a span into two or three spans of a level."""
        spans = self.spans(level)
        pairs: list[tuple[int, ...]] = [
            (q, span - q) for q in spans if span - q in spans
        ]
        triples: list[tuple[int, ...]] = [
            (q, r, span - q - r) for q in spans for r in spans if span - q - r in spans
        ]
        return pairs + triples

    def _step(self, level: int, cells: list[Cell], below: list[Cell]) -> Step:
        """Find the indices for one level."""
        number = {cell: k for k, cell in enumerate(below)}
        spans = self.spans(level + 1)
        pair_spans = range(2 * spans[0], 2 * spans[-1] + 1)

        # A pair is a whole cell, or what is to the right of its first child.
        wanted = {(i, n) for i, n in cells if n in pair_spans}
        wanted |= {
            (i + q, n - q) for i, n in cells for q in spans if n - q in pair_spans
        }
        step = Step()
        pair: dict[Cell, int] = {}
        for span in pair_spans:
            starts = sorted(i for i, n in wanted if n == span)
            parts = [r for r in spans if span - r in spans]
            pair.update({(i, span): len(pair) + k for k, i in enumerate(starts)})
            left = [number[i, r] for i in starts for r in parts]
            right = [number[i + r, span - r] for i in starts for r in parts]
            if starts:
                step.pairs.append((torch.tensor(left), torch.tensor(right), len(parts)))
        step.binary = torch.tensor([pair.get(cell, len(pair)) for cell in cells])

        for span in sorted({n for _, n in cells}):
            members = [k for k, (_, n) in enumerate(cells) if n == span]
            starts = [cells[k][0] for k in members]
            parts = [q for q in spans if span - q in pair_spans]
            first = [number[i, q] for i in starts for q in parts]
            rest = [pair[i + q, span - q] for i in starts for q in parts]
            if parts:
                indices = torch.tensor(members), torch.tensor(first), torch.tensor(rest)
                step.ternary.append((*indices, len(parts)))
        step.by_pair = 2 * len(cells) > len(pair)
        return step


@dataclass(frozen=True)
class Batches:
    """Sentences grouped by length, so that each group is one tensor."""

    sentences: Sequence[Sequence[int]]
    size: int

    @cached_property
    def groups(self) -> list[tuple[list[int], Tensor]]:
        """Positions in the corpus and tokens of at most `size` sentences each."""
        by_length: dict[int, list[int]] = {}
        for k, sentence in enumerate(self.sentences):
            by_length.setdefault(len(sentence), []).append(k)
        groups = []
        for members in by_length.values():
            for first in range(0, len(members), self.size):
                part = members[first : first + self.size]
                groups.append((part, torch.tensor([self.sentences[k] for k in part])))
        return groups

    def run(self, inside: TorchInside) -> Tensor:
        """Compute P(sentence | root) of all sentences: shape (sentences, v)."""
        result = torch.empty(len(self.sentences), inside.vocab, dtype=torch.float64)
        for members, tokens in self.groups:
            result[members] = inside(tokens)
        return result
