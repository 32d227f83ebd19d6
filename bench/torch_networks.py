"""The three networks in PyTorch, each in two forms.

The "paper" form is what the paper describes, written down with the functions PyTorch
has for it: padded batches, `conv1d`, dilated filters, `scaled_dot_product_attention`.
The "tuned" form computes the same logits and gradients with as little work as eager
mode allows:

- only positions and cells that matter are computed, packed without padding;
- what depends on a batch but not on the weights is prepared once: one-hot inputs of the
  first layer, gather indices, sparse matrices of the splits;
- convolutions are one gather and one matrix product;
- the INN sums over splits with sparse matrices, before or after the matrix product,
  whichever leaves it fewer rows;
- the transformer lets sentences of one length attend together, and its last layer has
  only the query of the CLS token, unless every position predicts the next token;
- the constant factors of layers before a ReLU are moved behind it;
- the optimizers are the fused ones.

Weights come in with the names and shapes of the engine, `[.., in, out]`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import one_hot
from torch.optim import SGD, Adam, Optimizer

Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Config:
    """A network and its sizes; `heads`, `mlp` and `layers` are the transformer's."""

    model: str
    vocab: int
    classes: int
    depth: int
    width: int
    heads: int = 0
    mlp: int = 0
    layers: int = 0
    normalization: str = "fan-in"
    task: str = "root"
    """Of the transformer: "root", or "next" for every token and the end."""

    def scale(self, taps: int, channels: int) -> float:
        """The factor in front of a hidden layer of the CNN or the INN."""
        return (taps * channels if self.normalization == "fan-in" else channels) ** -0.5

    def spans(self, level: int) -> range:
        """The numbers of tokens that a node of this level can have."""
        height = self.depth - level
        return range(2**height, 3**height + 1)


@dataclass(frozen=True)
class Batch:
    """Sentences, one after the other, and the right answers: roots, or next tokens."""

    tokens: Tensor
    lengths: Tensor
    labels: Tensor

    def sentences(self) -> tuple[Tensor, ...]:
        """The tokens of each sentence."""
        return self.tokens.split(self.lengths.tolist())


class Network(ABC):
    """One form of a network, with its own weights."""

    fused = False
    """Whether the optimizer is the fused one."""

    def __init__(self, config: Config, weights: Weights) -> None:
        """Copy the weights."""
        self.config = config
        self.weights = {
            name: self.arranged(name, weight).clone().requires_grad_()
            for name, weight in weights.items()
        }
        self.dtype = self.weights["readout"].dtype

    def arranged(self, name: str, weight: Tensor) -> Tensor:
        """A weight in the layout of this form; the inverse is the same operation."""
        del name
        return weight

    @abstractmethod
    def prepare(self, batch: Batch) -> Any:
        """Make of a batch what `logits` takes. This is not timed."""

    def labels(self, batch: Batch) -> Tensor:
        """The right answers, in the order of the logits."""
        return batch.labels

    @abstractmethod
    def logits(self, inputs: Any) -> Tensor:
        """The logits, shape (batch, classes), or (rows, outputs) of next tokens."""

    def optimizer(self, rates: dict[str, float]) -> Optimizer:
        """Adam with a learning rate per weight, or SGD with the width."""
        if self.config.model != "transformer":
            rate = float(self.config.width)
            return SGD(self.weights.values(), lr=rate, fused=self.fused)
        by_rate: dict[float, list[Tensor]] = {}
        for name, weight in self.weights.items():
            by_rate.setdefault(rates[name], []).append(weight)
        groups = [{"params": group, "lr": rate} for rate, group in by_rate.items()]
        return Adam(groups, fused=self.fused)


def whitened(tokens: Tensor, vocab: int, dtype: torch.dtype) -> Tensor:
    """One-hot vectors with mean 0 and variance 1; a zero vector for tokens < 0."""
    mean = 1 / vocab
    onehot = one_hot(tokens.clamp(min=0), vocab).to(dtype)
    white = (onehot - mean) / math.sqrt(mean * (1 - mean))
    return white * (tokens >= 0)[..., None]


def padded(batch: Batch, length: int) -> Tensor:
    """The tokens, shape (batch, length), and -1 behind the end of a sentence."""
    rows = torch.full((len(batch.lengths), length), -1)
    for row, tokens in zip(rows, batch.sentences(), strict=True):
        row[: len(tokens)] = tokens
    return rows


class Convolutional(Network):
    """A network whose filters PyTorch's convolutions take as they are."""

    def arranged(self, name: str, weight: Tensor) -> Tensor:
        """Filters are (out, in, tap)."""
        if name == "readout":
            return weight
        return weight.permute(2, 1, 0).contiguous()


# The convolutional network.


def cnn_positions(depth: int) -> list[int]:
    """The lengths of the maps of the CNN, from the input to the last layer."""
    lengths = [max(math.ceil(10 * 3**depth / 9), 2 ** (depth + 1))]
    for _ in range(depth + 1):
        lengths.append(lengths[-1] // 2)
    return lengths


class PaperCnn(Convolutional):
    """`conv1d` on padded inputs."""

    def prepare(self, batch: Batch) -> Tensor:
        """The whitened input, shape (batch, vocab, positions)."""
        tokens = padded(batch, cnn_positions(self.config.depth)[0])
        white = whitened(tokens, self.config.vocab, self.dtype)
        return white.transpose(1, 2).contiguous()

    def logits(self, inputs: Tensor) -> Tensor:
        """The logits, shape (batch, classes)."""
        maps = inputs
        for layer in range(self.config.depth + 1):
            filters = self.weights[f"conv.{layer}"]
            scale = self.config.scale(4, filters.shape[1])
            maps = functional.conv1d(maps, filters, stride=2, padding=1)
            maps = torch.relu(scale * maps)
        return maps.mean(dim=2) @ self.weights["readout"] / self.config.width


@dataclass(frozen=True)
class Windows:
    """What a convolution reads, without taps that no window has inside of the map."""

    rows: Tensor
    """The row below of each window and tap."""
    taps: slice

    @staticmethod
    def trimmed(rows: Tensor, outside: int) -> Windows:
        """Leave out taps at both ends, as far as they are always outside."""
        used = (rows != outside).any(dim=0).nonzero().flatten().tolist()
        taps = slice(used[0], used[-1] + 1)
        return Windows(rows[:, taps].contiguous(), taps)


class TunedCnn(Network):
    """Packed rows: a map has a row for each position that is not zero by necessity.

    An additional last row of every map is zero and stands for everything outside.
    """

    fused = True

    def prepare(self, batch: Batch) -> tuple[Tensor, list[Windows], Tensor]:
        """The input of the first layer, windows of the others, rows of the mean."""
        positions = cnn_positions(self.config.depth)
        sentences = torch.arange(len(batch.lengths))
        counts = batch.lengths
        layers = []
        for length in positions[1:]:
            above = (counts // 2 + 1).clamp(max=length)
            owners = sentences.repeat_interleave(above)
            places = torch.arange(len(owners)) - (above.cumsum(0) - above)[owners]
            taps = 2 * places[:, None] + torch.arange(-1, 3)
            outside = int(counts.sum())
            rows = functional.pad(
                self._rows(counts, owners, taps), (0, 0, 0, 1), value=outside
            )
            layers.append(Windows.trimmed(rows, outside))
            counts = above
        tokens = functional.pad(batch.tokens, (0, 1), value=-1)
        white = whitened(tokens[layers[0].rows], self.config.vocab, self.dtype)
        last = torch.arange(positions[-1]).expand(len(sentences), -1)
        return white.flatten(1), layers[1:], self._rows(counts, sentences, last)

    @staticmethod
    def _rows(counts: Tensor, sentences: Tensor, places: Tensor) -> Tensor:
        """The rows of places in sentences that have so many rows each."""
        inside = (places >= 0) & (places < counts[sentences, None])
        starts = counts.cumsum(0) - counts
        return torch.where(inside, starts[sentences, None] + places, counts.sum())

    def logits(self, inputs: tuple[Tensor, list[Windows], Tensor]) -> Tensor:
        """The logits, shape (batch, classes)."""
        white, layers, last = inputs
        scale = self.config.scale(4, self.config.vocab) / self.config.width
        maps = torch.relu_(white @ self.weights["conv.0"].flatten(0, 1))
        for layer, windows in enumerate(layers, start=1):
            filters = self.weights[f"conv.{layer}"]
            scale *= self.config.scale(4, filters.shape[1])
            if windows.rows.shape[1] < len(filters):
                filters = filters[windows.taps]
            columns = functional.embedding(windows.rows, maps).flatten(1)
            maps = torch.relu_(columns @ filters.flatten(0, 1))
        mean = functional.embedding(last, maps).mean(dim=1)
        return (scale * mean) @ self.weights["readout"]


# The inside network.


@cache
def splits(parts: range, span: int) -> list[tuple[int, ...]]:
    """All ways to split a span into two or three parts."""
    pairs: list[tuple[int, ...]] = [(q, span - q) for q in parts if span - q in parts]
    triples: list[tuple[int, ...]] = [
        (q, r, span - q - r) for q in parts for r in parts if span - q - r in parts
    ]
    return pairs + triples


class PaperInn(Convolutional):
    """Dilated filters and `conv1d` with stride, for one span length after the other."""

    def prepare(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The whitened input, shape (batch, vocab, positions), and the rows to read."""
        tokens = padded(batch, 3**self.config.depth)
        white = whitened(tokens, self.config.vocab, self.dtype)
        tops = batch.lengths - self.config.spans(0)[0]
        return white.transpose(1, 2).contiguous(), tops

    def logits(self, inputs: tuple[Tensor, Tensor]) -> Tensor:
        """The logits, shape (batch, classes)."""
        maps, tops = inputs
        for level in reversed(range(self.config.depth)):
            positions = 3**self.config.depth if level else 1
            rows = []
            for span in self.config.spans(level):
                row = self._row(level, span, maps)
                rows.append(functional.pad(row, (0, positions - row.shape[2])))
            # Span lengths are interleaved: (batch, channels, positions x spans).
            maps = torch.relu(torch.stack(rows, dim=3)).flatten(2)
        top = maps[torch.arange(len(tops)), :, tops]
        return top @ self.weights["readout"] / self.config.width

    def _row(self, level: int, span: int, maps: Tensor) -> Tensor:
        """The cells of one span length, shape (batch, width, positions)."""
        parts = self.config.spans(level + 1)
        if level == 0:
            maps = maps[:, :, : len(parts) * span]
        filters = [self._dilated(level, span, split) for split in splits(parts, span)]
        sums = functional.conv1d(maps, torch.cat(filters), stride=len(parts))
        return sums.unflatten(1, (len(filters), -1)).sum(dim=1)

    def _dilated(self, level: int, span: int, split: tuple[int, ...]) -> Tensor:
        """The filter of one split, shape (width, in, kernel)."""
        kind = "binary" if len(split) == 2 else "ternary"
        base = self.weights[f"level.{level}.{kind}"]
        width, channels, taps = base.shape
        parts = self.config.spans(level + 1)
        places = [
            len(parts) * sum(split[:k]) + split[k] - parts[0] for k in range(taps)
        ]
        empty = base.new_zeros(width, channels, len(parts) * span)
        scale = self.config.scale(taps, channels)
        return empty.index_copy(2, torch.tensor(places), scale * base)


Cell = tuple[int, int, int]
"""Number of tokens, sentence and start."""


class SparseProduct(torch.autograd.Function):
    """A constant sparse matrix times a dense one."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transposed: Tensor, dense: Tensor) -> Tensor:
        """The product; the transposed matrix is for the gradient."""
        ctx.transposed = transposed
        return matrix @ dense

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, Tensor]:
        """The gradient of the dense matrix."""
        return None, None, ctx.transposed @ gradient


@dataclass(frozen=True)
class Sums:
    """The sums over splits of a level, as a sparse matrix and its transpose."""

    sum_first: bool
    """Whether children are summed before they meet the filters, or after."""
    matrix: Tensor
    transposed: Tensor

    def __call__(self, dense: Tensor) -> Tensor:
        """Sum rows."""
        return SparseProduct.apply(self.matrix, self.transposed, dense)


class TunedInn(Network):
    """Packed cells, only those that are part of some tree of the whole sentence.

    A child has one of five roles: left or right of a pair, first to third of a triple.
    """

    fused = True

    def prepare(self, batch: Batch) -> tuple[Tensor, Tensor, list[Sums]]:
        """The pairs and triples of tokens, then the sums from there up to the root."""
        cells = [[(n, b, 0) for b, n in enumerate(batch.lengths.tolist())]]
        sums: list[Sums] = []
        for level in range(self.config.depth - 1):
            below, step = self._step(level, cells[-1])
            cells.append(below)
            sums.insert(0, step)
        starts = (batch.lengths.cumsum(0) - batch.lengths).tolist()
        lowest = []
        for span in (2, 3):
            rows = [starts[b] + i for n, b, i in cells[-1] if n == span]
            tokens = batch.tokens[torch.tensor(rows)[:, None] + torch.arange(span)]
            white = whitened(tokens, self.config.vocab, self.dtype)
            lowest.append(self.config.scale(span, self.config.vocab) * white.flatten(1))
        return *lowest, sums

    def _step(self, level: int, above: list[Cell]) -> tuple[list[Cell], Sums]:
        """The cells of the level below, sorted by span, and the sums over them."""
        found: Counter[tuple[int, int, Cell]] = Counter()
        parts = self.config.spans(level + 1)
        for k, (span, sentence, start) in enumerate(above):
            for split in splits(parts, span):
                place = start
                for j, part in enumerate(split):
                    role = j if len(split) == 2 else 2 + j
                    found[k, role, (part, sentence, place)] += 1
                    place += part
        below = sorted({cell for _, _, cell in found})
        number = {cell: k for k, cell in enumerate(below)}
        sum_first = len(above) <= len(below)
        if sum_first:
            shape = 5 * len(above), len(below)
            places = [(5 * k + role, number[cell]) for k, role, cell in found]
        else:
            shape = len(above), 5 * len(below)
            places = [(k, role * len(below) + number[cell]) for k, role, cell in found]
        scales = [
            self.config.scale(taps, self.config.width) for taps in (2, 2, 3, 3, 3)
        ]
        values = [scales[role] * times for (_, role, _), times in found.items()]
        matrix = torch.sparse_coo_tensor(
            torch.tensor(places).t(), torch.tensor(values, dtype=self.dtype), shape
        )
        step = Sums(sum_first, matrix.to_sparse_csr(), matrix.t().to_sparse_csr())
        return below, step

    def logits(self, inputs: tuple[Tensor, Tensor, list[Sums]]) -> Tensor:
        """The logits, shape (batch, classes)."""
        pairs, triples, sums = inputs
        level = self.config.depth - 1
        binary, ternary = self._filters(level)
        cells = torch.relu_(torch.cat([pairs @ binary, triples @ ternary]))
        for step in sums:
            level -= 1
            binary, ternary = self._filters(level)
            if step.sum_first:
                roles = step(cells).view(-1, 5 * self.config.width)
                two, three = roles.split([len(binary), len(ternary)], dim=1)
                cells = torch.addmm(two @ binary, three, ternary)
            else:
                filters = torch.cat([binary, ternary]).unflatten(0, (5, -1))
                roles = torch.bmm(cells.expand(5, -1, -1), filters)
                cells = step(roles.flatten(0, 1))
            cells = torch.relu_(cells)
        return cells @ self.weights["readout"] / self.config.width

    def _filters(self, level: int) -> tuple[Tensor, Tensor]:
        """The binary and the ternary filters of a level as matrices."""
        binary = self.weights[f"level.{level}.binary"]
        ternary = self.weights[f"level.{level}.ternary"]
        return binary.flatten(0, 1), ternary.flatten(0, 1)


# The transformer.


class Transformer(Network):
    """What both forms of the transformer share."""

    def norm(self, x: Tensor, name: str) -> Tensor:
        """Layer normalization."""
        gain, bias = self.weights[f"{name}.gain"], self.weights[f"{name}.bias"]
        return functional.layer_norm(x, gain.shape, gain, bias, eps=1e-5)

    def heads(self, x: Tensor) -> Tensor:
        """From (batch, positions, width) to (batch, heads, positions, size)."""
        return x.unflatten(2, (self.config.heads, -1)).transpose(1, 2)

    def readout(self, x: Tensor) -> Tensor:
        """The logits from the last CLS rows."""
        return self.norm(x, "final_norm") @ self.weights["readout"] / self.config.width


class PaperTransformer(Transformer):
    """All sentences are padded to the longest possible one."""

    def prepare(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Tokens, shape (batch, positions), and the mask of the keys."""
        tokens = padded(batch, 3**self.config.depth)
        tokens = functional.pad(tokens, (1, 0), value=self.config.vocab)
        mask = (tokens >= 0)[:, None, None, :]
        if self.config.task == "next":
            mask = mask & torch.ones(2 * tokens.shape[1:], dtype=torch.bool).tril()
        return tokens.clamp(min=0), mask

    def logits(self, inputs: tuple[Tensor, Tensor]) -> Tensor:
        """The logits, shape (batch, classes)."""
        tokens, mask = inputs
        weights, width, mlp = self.weights, self.config.width, self.config.mlp
        x = functional.embedding(tokens, weights["embedding"]) + weights["position"]
        for i in range(self.config.layers):
            u = self.norm(x, f"layer.{i}.attention_norm")
            q, k, v = (
                self.heads(width**-0.5 * (u @ weights[f"layer.{i}.{name}"]))
                for name in ("query", "key", "value")
            )
            mixed = functional.scaled_dot_product_attention(
                q, k, v, attn_mask=mask, scale=self.config.heads / width
            )
            o = mixed.transpose(1, 2).flatten(2)
            x = x + width**-0.5 * (o @ weights[f"layer.{i}.output"])
            u = self.norm(x, f"layer.{i}.mlp_norm")
            hidden = torch.relu(width**-0.5 * (u @ weights[f"layer.{i}.up"]))
            x = x + mlp**-0.5 * (hidden @ weights[f"layer.{i}.down"])
        if self.config.task == "next":
            return self.readout(x[mask[:, 0, -1]])
        return self.readout(x[:, 0])


@dataclass(frozen=True)
class Packed:
    """A batch without padding, its sentences sorted by length."""

    onehot: Tensor
    """Token and position of each row, side by side: (rows, tokens + positions)."""
    groups: list[tuple[int, int]]
    """The numbers of sentences and positions for each length."""
    cls: Tensor
    """The rows of the CLS tokens."""
    places: Tensor
    """Where each sentence of the batch is among the sorted ones."""
    masks: list[Tensor]
    """What is added to the scores of each length, if positions see those before only."""


class TunedTransformer(Transformer):
    """Packed rows; the last layer has only the CLS query.

    Sentences of one length attend together, without padding or masks. Heads and
    sentences are small here: matrix products were quicker than
    `scaled_dot_product_attention`.
    """

    fused = True

    def prepare(self, batch: Batch) -> Packed:
        """Sort and pack a batch."""
        vocab, positions = self.config.vocab, 3**self.config.depth + 1
        lengths, order = batch.lengths.sort(stable=True)
        sentences = batch.sentences()
        cls = torch.tensor([vocab])
        tokens = torch.cat([part for b in order for part in (cls, sentences[b])])
        counts = lengths + 1
        first = counts.cumsum(0) - counts
        place = torch.arange(len(tokens)) - first.repeat_interleave(counts)
        onehots = one_hot(tokens, vocab + 1), one_hot(place, positions)
        values, sizes = counts.unique(return_counts=True)
        groups = list(zip(sizes.tolist(), values.tolist(), strict=True))
        onehot = torch.cat(onehots, dim=1).to(self.dtype)
        masks = []
        if self.config.task == "next":
            full = [torch.full((n, n), -math.inf, dtype=self.dtype) for _, n in groups]
            masks = [mask.triu(1) for mask in full]
        return Packed(onehot, groups, first, order.argsort(), masks)

    def labels(self, batch: Batch) -> Tensor:
        """The right answers, of next tokens in the order of the sorted sentences."""
        if self.config.task == "root":
            return batch.labels
        answers = batch.labels.split((batch.lengths + 1).tolist())
        return torch.cat([answers[b] for b in batch.lengths.sort(stable=True)[1]])

    def logits(self, inputs: Packed) -> Tensor:
        """The logits, shape (batch, classes), or those of all rows."""
        tables = [self.weights["embedding"], self.weights["position"]]
        x = inputs.onehot @ torch.cat(tables)
        is_root = self.config.task == "root"
        for i in range(self.config.layers):
            kept = inputs.cls if is_root and i + 1 == self.config.layers else None
            x = self._layer(i, x, inputs, kept)
        return self.readout(x)[inputs.places] if is_root else self.readout(x)

    def _layer(self, i: int, x: Tensor, inputs: Packed, kept: Tensor | None) -> Tensor:
        """A layer for all rows, or for the CLS rows only if they are `kept`."""
        width, mlp = self.config.width, self.config.mlp
        query, key, value, output, up, down = (
            self.weights[f"layer.{i}.{name}"]
            for name in ("query", "key", "value", "output", "up", "down")
        )
        u = self.norm(x, f"layer.{i}.attention_norm")
        query = self.config.heads / width * query
        if kept is None:
            maps = width**-0.5 * torch.cat([query, key, value], dim=1)
            q, k, v = (u @ maps).split(width, dim=1)
        else:
            maps = width**-0.5 * torch.cat([key, value], dim=1)
            k, v = (u @ maps).split(width, dim=1)
            q = functional.embedding(kept, u) @ (width**-0.5 * query)
            x = functional.embedding(kept, x)
        o = self._attention(q, k, v, inputs)
        x = torch.addmm(x, o, output, alpha=width**-0.5)
        hidden = torch.relu_(self.norm(x, f"layer.{i}.mlp_norm") @ up)
        return torch.addmm(x, hidden, down, alpha=(width * mlp) ** -0.5)

    def _attention(
        self, q: Tensor, k: Tensor, v: Tensor, inputs: Packed
    ) -> Tensor:
        """The concatenated heads of all queries, in rows."""
        groups = inputs.groups
        rows = [sentences * positions for sentences, positions in groups]
        queries = rows if len(q) == len(k) else [sentences for sentences, _ in groups]
        parts = zip(q.split(queries), k.split(rows), v.split(rows), strict=True)
        mixed = []
        for i, ((sentences, _), part) in enumerate(zip(groups, parts, strict=True)):
            a, b, c = (self.heads(x.unflatten(0, (sentences, -1))) for x in part)
            scores = a @ b.transpose(2, 3)
            if inputs.masks:
                scores = scores + inputs.masks[i]
            o = torch.softmax(scores, dim=-1) @ c
            mixed.append(o.transpose(1, 2).reshape(-1, self.config.width))
        return torch.cat(mixed)


FORMS: dict[str, dict[str, type[Network]]] = {
    "cnn": {"paper": PaperCnn, "tuned": TunedCnn},
    "inn": {"paper": PaperInn, "tuned": TunedInn},
    "transformer": {"paper": PaperTransformer, "tuned": TunedTransformer},
}
"""The forms of each network."""
