"""The transformer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from ._shape import Arities, check_at_least
from .networks import Network, Parameter, Sentences

__all__ = ["Transformer"]

# The width that Adam's learning rate is for.
_ADAM_WIDTH = 512


class Transformer(Network):
    """The paper's encoder: a class token before the sentence, pre-norm attention and MLP blocks.

    By default it has one layer per level of the tree, and MLPs four times as wide as the model.
    Sentences of the same length attend together, without padding or masks; in the last layer, only the class token is a query.

    `arities` are the numbers of children of the nodes of each level, from the root down, unless all have two or three.
    `seed` is the program's: see `reset`.

    >>> from gardenpath import Grammar
    >>> from gardenpath.torch import SentenceStream, Transformer
    >>> grammar = Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=7)
    >>> network = Transformer(vocab=8, classes=8, depth=2, width=64, heads=4, seed=1)
    >>> tokens, roots = next(iter(SentenceStream(grammar, batch=32)))
    >>> network(tokens).shape
    torch.Size([32, 8])
    """

    def __init__(
        self,
        vocab: int,
        classes: int,
        depth: int,
        width: int,
        layers: int | None = None,
        heads: int = 16,
        mlp: int | None = None,
        *,
        arities: Sequence[Arities] | None = None,
        seed: int = 0,
    ) -> None:
        self.layers = depth if layers is None else layers
        self.heads = heads
        self.mlp = 4 * width if mlp is None else mlp
        super().__init__(vocab, classes, depth, width, arities=arities, seed=seed)

    def _check(self) -> None:
        check_at_least("layers", self.layers, 1)
        check_at_least("heads", self.heads, 1)
        check_at_least("mlp", self.mlp, 1)
        if self.width % self.heads != 0:
            raise ValueError(f"width is {self.width}, expected a multiple of the {self.heads} heads")

    def _values(self) -> int:
        # There may be too many layers to list.
        per_layer = 4 * self.width + 4 * self.width**2 + 2 * self.width * self.mlp
        rows = self.vocab + self.shape.longest + 2 + 2 + self.classes
        return rows * self.width + self.layers * per_layer

    def parameters_of_files(self) -> list[Parameter]:
        """All parameters, in the order in which they are initialized."""
        width, mlp = self.width, self.mlp

        def norm(name: str) -> list[Parameter]:
            return [Parameter(f"{name}.gain", (width,), "one"), Parameter(f"{name}.bias", (width,), "zero")]

        def matrix(name: str, inputs: int, outputs: int) -> Parameter:
            return Parameter(name, (inputs, outputs), rate=math.sqrt(_ADAM_WIDTH / inputs))

        parameters = [
            Parameter("embedding", (self.vocab + 1, width)),
            Parameter("position", (self.shape.longest + 1, width)),
        ]
        for k in range(self.layers):
            parameters += norm(f"layer.{k}.attention_norm")
            parameters += [matrix(f"layer.{k}.{name}", width, width) for name in ("query", "key", "value", "output")]
            parameters += norm(f"layer.{k}.mlp_norm")
            parameters += [matrix(f"layer.{k}.up", width, mlp), matrix(f"layer.{k}.down", mlp, width)]
        return [*parameters, *norm("final_norm"), Parameter("readout", (width, self.classes))]

    def _sizes(self) -> dict[str, object]:
        return {"layers": self.layers, "heads": self.heads, "mlp": self.mlp}

    def _logits(self, batch: Sentences) -> Tensor:
        readout = self.weight("readout")
        packed = _Packed.of(batch, self.vocab, readout.device)
        # As products with one-hot rows, so that the gradients of both tables are sums in a fixed order.
        onehots = (
            functional.one_hot(packed.tokens, self.vocab + 1),
            functional.one_hot(packed.positions, self.shape.longest + 1),
        )
        tables = torch.cat([self.weight("embedding"), self.weight("position")])
        x = torch.cat(onehots, dim=1).to(readout.dtype) @ tables
        for k in range(self.layers):
            x = self._layer(k, x, packed, only_class=k + 1 == self.layers)
        return (self._norm("final_norm", x) @ readout / self.width)[packed.places]

    def _norm(self, name: str, x: Tensor) -> Tensor:
        return functional.layer_norm(x, (self.width,), self.weight(f"{name}.gain"), self.weight(f"{name}.bias"), eps=1e-5)

    def _layer(self, k: int, x: Tensor, packed: _Packed, *, only_class: bool) -> Tensor:
        """A layer for all rows, or only for those of class tokens."""
        width, mlp = self.width, self.mlp
        names = ("query", "key", "value", "output", "up", "down")
        query, key, value, output, up, down = (self.weight(f"layer.{k}.{name}") for name in names)
        u = self._norm(f"layer.{k}.attention_norm", x)
        # Scores are scaled by the head size to the power -1, not -1/2, as in muP.
        query = self.heads / width * query
        if only_class:
            keys, values = torch.split(u @ (width**-0.5 * torch.cat([key, value], dim=1)), width, dim=1)
            queries = functional.embedding(packed.first, u) @ (width**-0.5 * query)
            x = functional.embedding(packed.first, x)
        else:
            maps = width**-0.5 * torch.cat([query, key, value], dim=1)
            queries, keys, values = torch.split(u @ maps, width, dim=1)
        mixed = self._attention(queries, keys, values, packed.groups)
        x = torch.addmm(x, mixed, output, alpha=width**-0.5)
        hidden = torch.relu(self._norm(f"layer.{k}.mlp_norm", x) @ up)
        return torch.addmm(x, hidden, down, alpha=(width * mlp) ** -0.5)

    def _attention(self, queries: Tensor, keys: Tensor, values: Tensor, groups: list[tuple[int, int]]) -> Tensor:
        """The concatenated heads of all queries, in rows."""
        rows = [sentences * positions for sentences, positions in groups]
        asking = rows if len(queries) == len(keys) else [sentences for sentences, _ in groups]
        mixed = []
        parts = zip(torch.split(queries, asking), torch.split(keys, rows), torch.split(values, rows), strict=True)
        for (sentences, _), part in zip(groups, parts, strict=True):
            # From rows to (sentences, heads, positions, size).
            q, k, v = (x.view(sentences, -1, self.heads, self.width // self.heads).transpose(1, 2) for x in part)
            heads = torch.softmax(q @ k.transpose(2, 3), dim=-1) @ v
            mixed.append(heads.transpose(1, 2).reshape(-1, self.width))
        return torch.cat(mixed)


@dataclass(frozen=True)
class _Packed:
    """A batch with its class tokens, sorted by length."""

    tokens: Tensor
    positions: Tensor
    first: Tensor
    """The rows of the class tokens."""
    places: Tensor
    """The index of each sentence of the batch among the sorted ones."""
    groups: list[tuple[int, int]]
    """The numbers of sentences and of positions for each length."""

    @staticmethod
    def of(batch: Sentences, class_token: int, device: torch.device) -> _Packed:
        lengths, order = batch.lengths.sort(stable=True)
        counts = lengths + 1
        first = counts.cumsum(0) - counts
        owners = torch.arange(len(counts)).repeat_interleave(counts)
        positions = torch.arange(len(owners)) - first[owners]
        starts = (batch.lengths.cumsum(0) - batch.lengths)[order]
        tokens = batch.tokens[(starts[owners] + positions - 1).clamp(min=0)]
        tokens = torch.where(positions == 0, class_token, tokens)
        sizes, repeats = torch.unique_consecutive(counts, return_counts=True)
        groups = list(zip(repeats.tolist(), sizes.tolist(), strict=True))
        places = order.argsort()
        return _Packed(tokens.to(device), positions.to(device), first.to(device), places.to(device), groups)
