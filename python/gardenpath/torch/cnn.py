"""The convolutional network."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from .networks import FilterNetwork, Parameter, Sentences, scale_of, whitened

__all__ = ["CNN"]

_TAPS = 4


class CNN(FilterNetwork):
    """The paper's convolutional network: filters of size 4 and stride 2, with one layer more than the tree has levels.

    Each convolution is padded by one zero on both sides; the input is padded to 10 positions at depth 2, to 30 at depth 3,
    and in the same proportion beyond. Only positions that can be non-zero are computed, packed without padding; a
    convolution is one gather and one matrix product. The scale factors of layers are moved past their ReLUs and combined
    into one factor of the logits: activations are large numbers, too large for float16, but not for bfloat16.

    `arities` are the numbers of children of the nodes of each level, from the root down, unless all have two or three.
    `seed` is the program's: see `reset`.

    >>> from gardenpath import Grammar
    >>> from gardenpath.torch import CNN, SentenceStream
    >>> grammar = Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=7)
    >>> network = CNN(vocab=8, classes=8, depth=2, width=64, seed=1)
    >>> for tokens, roots in SentenceStream(grammar, batch=32, count=64):
    ...     print(network(tokens).shape)
    torch.Size([32, 8])
    torch.Size([32, 8])
    """

    def parameters_of_files(self) -> list[Parameter]:
        """All parameters, in the order in which they are initialized."""
        inputs = [self.vocab] + [self.width] * self.depth
        filters = [Parameter(f"conv.{k}", (_TAPS, channels, self.width)) for k, channels in enumerate(inputs)]
        return [*filters, Parameter("readout", (self.width, self.classes))]

    def _logits(self, batch: Sentences) -> Tensor:
        readout = self.weight("readout")
        (rows, taps), *layers, (last, _) = self._windows(batch.lengths)
        tokens = functional.pad(batch.tokens, (0, 1), value=self.vocab)[rows]
        columns = functional.embedding(tokens.to(readout.device), whitened(self.vocab, readout)).flatten(1)
        maps = torch.relu(columns @ self.weight("conv.0")[taps].flatten(0, 1))
        scale = scale_of(self.normalization, _TAPS, self.vocab) / self.width
        for k, (rows, taps) in enumerate(layers, start=1):
            columns = functional.embedding(rows.to(readout.device), maps).flatten(1)
            maps = torch.relu(columns @ self.weight(f"conv.{k}")[taps].flatten(0, 1))
            scale *= scale_of(self.normalization, _TAPS, self.width)
        mean = functional.embedding(last.to(readout.device), maps).mean(dim=1)
        return (scale * mean) @ readout

    def _windows(self, lengths: Tensor) -> list[tuple[Tensor, slice]]:
        """For each layer, the rows below that its windows read, and the taps that read them; then the rows of the mean.

        The row after the last one is zero and stands for everything outside.
        """
        sentences = torch.arange(len(lengths))
        positions = max(-(-10 * self.shape.longest // 9), 2 ** (self.depth + 1))
        layers = []
        for _ in range(self.depth + 1):
            positions //= 2
            above = (lengths // 2 + 1).clamp(max=positions)
            owners = sentences.repeat_interleave(above)
            places = torch.arange(len(owners)) - (above.cumsum(0) - above)[owners]
            rows = _rows(lengths, owners, 2 * places[:, None] + torch.arange(-1, _TAPS - 1))
            used = (rows != int(lengths.sum())).any(dim=0).nonzero().flatten().tolist()
            taps = slice(used[0], used[-1] + 1)
            layers.append((functional.pad(rows[:, taps], (0, 0, 0, 1), value=int(lengths.sum())), taps))
            lengths = above
        last = torch.arange(positions).expand(len(sentences), -1)
        return [*layers, (_rows(lengths, sentences, last), slice(None))]


def _rows(counts: Tensor, sentences: Tensor, places: Tensor) -> Tensor:
    """The row indices of positions in sentences with these numbers of rows."""
    inside = (places >= 0) & (places < counts[sentences, None])
    starts = counts.cumsum(0) - counts
    return torch.where(inside, starts[sentences, None] + places, counts.sum())
