"""The common base of the three networks: parameters with the names of the program's files, initialization, and input."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .._core import Grammar
from ._seed import Seed, gaussians
from ._shape import Arities, Shape, check_at_least
from .streams import tokens_of_vectors
from .weights import read_weights, write_weights

__all__ = ["FilterNetwork", "Network", "Normalization", "Parameter", "Sentences", "scale_of", "whitened"]

Normalization = Literal["fan-in", "width", "splits"]

Self = TypeVar("Self", bound="Network")


@dataclass(frozen=True)
class Parameter:
    """A learned tensor."""

    name: str
    """Its name in files."""
    shape: tuple[int, ...]
    """Its shape; for matrices, inputs and outputs."""
    start: Literal["gaussian", "one", "zero"] = "gaussian"
    """Its initialization."""
    rate: float = 1.0
    """Its learning rate relative to that of Adam."""


@dataclass(frozen=True)
class Sentences:
    """A batch without padding, in host memory."""

    tokens: Tensor
    """All tokens, one sentence after another."""
    lengths: Tensor
    """The length of each sentence."""


class Network(nn.Module, ABC):
    """A network that predicts the root of a sentence: `CNN`, `INN` or `Transformer`.

    Weights have the names and shapes of the program's safetensors files: `state_dict()` contains exactly the same tensors.
    """

    def __init__(
        self, vocab: int, classes: int, depth: int, width: int, *, arities: Sequence[Arities] | None, seed: int
    ) -> None:
        super().__init__()
        check_at_least("vocab", vocab, 2)
        check_at_least("classes", classes, 2)
        check_at_least("width", width, 1)
        self.shape = Shape.new(depth, arities)
        self.vocab = vocab
        self.classes = classes
        self.depth = depth
        self.width = width
        self._check()
        _check_memory(self._values())
        for parameter in self.parameters_of_files():
            *path, name = parameter.name.split(".")
            owner: nn.Module = self
            for part in path:
                if part not in owner._modules:
                    owner.add_module(part, nn.Module())
                owner = owner.get_submodule(part)
            owner.register_parameter(name, nn.Parameter(torch.empty(parameter.shape, dtype=torch.float32)))
        self.reset(seed)

    @classmethod
    def for_grammar(cls: type[Self], grammar: Grammar, width: int, **options: Any) -> Self:
        """A network for the sentences of a grammar; `options` are passed to the constructor.

        >>> from gardenpath import Grammar
        >>> from gardenpath.torch import INN
        >>> sorted(INN.for_grammar(Grammar.sample(vocab=8, depth=2, p_binary=1.0), width=32).state_dict())
        ['level.0.binary', 'level.1.binary', 'readout']
        """
        arities = Shape.of(grammar).arities
        return cls(grammar.vocab, grammar.classes, grammar.depth, width, arities=arities, **options)

    @abstractmethod
    def parameters_of_files(self) -> list[Parameter]:
        """All parameters, in the order in which they are initialized."""

    def _check(self) -> None:
        """Validates sizes that only this architecture has."""

    def _values(self) -> int:
        """The total number of weights."""
        return sum(math.prod(parameter.shape) for parameter in self.parameters_of_files())

    @abstractmethod
    def _logits(self, batch: Sentences) -> Tensor:
        """The logits of at least one sentence."""

    @abstractmethod
    def _sizes(self) -> dict[str, object]:
        """Sizes that only this architecture has, by name."""

    def reset(self, seed: int) -> None:
        """Sets the weights to the program's initial weights for this seed.

        Random weights are standard Gaussians, with one random stream per row. They agree with the program in all
        bits of float32, except for rare values where a logarithm or sine in NumPy rounds differently.

        >>> from gardenpath.torch import CNN
        >>> network = CNN(vocab=4, classes=4, depth=2, width=8, seed=1)
        >>> before = network.weight("readout").clone()
        >>> network.reset(2)
        >>> (network.weight("readout") == before).any().item()
        False
        """
        seeds = Seed.new(seed).child("weights")
        with torch.no_grad():
            for number, parameter in enumerate(self.parameters_of_files()):
                if parameter.start == "gaussian":
                    *rows, columns = parameter.shape
                    values = gaussians(seeds.nth(number), math.prod(rows), columns).astype(np.float32)
                    self.weight(parameter.name).copy_(torch.from_numpy(values).view(parameter.shape))
                else:
                    self.weight(parameter.name).fill_(1.0 if parameter.start == "one" else 0.0)

    def weight(self, name: str) -> Tensor:
        """The parameter with this name in files."""
        found = attrgetter(name)(self)
        assert isinstance(found, Tensor)
        return found

    def forward(self, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        """The logits `[batch, classes]` of a batch of `SentenceStream`, `collate` or `Corpus.padded`.

        Tokens are integers `[batch, longest]`, with negative numbers after the end of a sentence, or anything if `lengths`
        are given; or they are one-hot vectors `[batch, longest, vocab]`. Values after the end have no effect.
        The computation is planned on the host, so tokens on the host need not be copied.
        """
        batch = self._read(tokens, lengths)
        if len(batch.lengths) == 0:
            return self.weight("readout").new_zeros(0, self.classes)
        return self._logits(batch)

    def _read(self, tokens: Tensor, lengths: Tensor | None) -> Sentences:
        rows = tokens.detach().cpu()
        if rows.ndim == 3:
            rows = tokens_of_vectors(rows, self.vocab)
        if rows.ndim != 2 or rows.is_floating_point() or rows.dtype == torch.bool:
            shape = tuple(tokens.shape)
            raise ValueError(f"tokens are {tokens.dtype} of shape {shape}, expected integers of shape (batch, longest)")
        rows = rows.long()
        counts = (rows >= 0).sum(dim=1) if lengths is None else lengths.detach().cpu().long()
        if counts.shape != rows.shape[:1]:
            raise ValueError(f"lengths have shape {tuple(counts.shape)}, expected {tuple(rows.shape[:1])}")
        inside = torch.arange(rows.shape[1]) < counts[:, None]
        self._check_sentences(rows, counts, inside)
        return Sentences(rows[inside], counts)

    def _check_sentences(self, rows: Tensor, counts: Tensor, inside: Tensor) -> None:
        unknown = inside & ((rows < 0) | (rows >= self.vocab))
        if unknown.any():
            sentence, position = unknown.nonzero()[0].tolist()
            token = rows[sentence, position].item()
            expected = f"expected one of the {self.vocab} tokens of the network"
            raise ValueError(f"sentence {sentence}: token {token} at position {position}, {expected}")
        possible = torch.zeros(self.shape.longest + 2, dtype=torch.bool)
        possible[list(self.shape.lengths)] = True
        wrong = ~possible[counts.clamp(0, self.shape.longest + 1)] | (counts > rows.shape[1])
        if wrong.any():
            sentence = int(wrong.nonzero()[0].item())
            shortest, longest = self.shape.lengths[0], self.shape.longest
            expected = f"expected a length of the network's trees, {shortest} to {longest}"
            raise ValueError(f"sentence {sentence}: {counts[sentence].item()} tokens, {expected}")

    def load_weights(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        """Loads weights from a safetensors file of the program or `save_weights`, or from tensors by name.

        The optimizer state in the program's checkpoints is ignored. Nothing is changed if a tensor is missing, unknown,
        or of another shape.

        >>> import tempfile, torch
        >>> from gardenpath.torch import CNN
        >>> network, other = (CNN(vocab=4, classes=4, depth=2, width=8, seed=seed) for seed in (1, 2))
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     network.save_weights(f"{directory}/weights.safetensors")
        ...     other.load_weights(f"{directory}/weights.safetensors")
        >>> tokens = torch.tensor([[0, 1, 2, 3]])
        >>> torch.equal(network(tokens), other(tokens))
        True
        """
        found = source if isinstance(source, Mapping) else read_weights(source)[0]
        given = {name: torch.as_tensor(_writable(tensor)) for name, tensor in found.items() if not name.startswith("adam.")}
        expected = {parameter.name: parameter.shape for parameter in self.parameters_of_files()}
        for name, shape in expected.items():
            if name not in given:
                raise ValueError(f"no tensor '{name}', expected one of shape {shape}")
            if tuple(given[name].shape) != shape:
                raise ValueError(f"tensor '{name}' has shape {tuple(given[name].shape)}, expected {shape}")
        for name in given:
            if name not in expected:
                raise ValueError(f"tensor '{name}' does not belong to this network, expected {', '.join(expected)}")
        with torch.no_grad():
            for name in expected:
                self.weight(name).copy_(given[name])

    def save_weights(self, path: str | os.PathLike[str]) -> None:
        """Writes the weights as a float32 safetensors file, with the names and layouts of the program's files."""
        weights = {parameter.name: self.weight(parameter.name) for parameter in self.parameters_of_files()}
        write_weights(path, {name: weight.detach().cpu().float().numpy() for name, weight in weights.items()})

    def __repr__(self) -> str:
        sizes = {"vocab": self.vocab, "classes": self.classes, "depth": self.depth, "width": self.width, **self._sizes()}
        if self.shape != Shape.new(self.depth, None):
            sizes["arities"] = self.shape.arities
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in sizes.items())})"


class FilterNetwork(Network):
    """A network of filters that are shared over a layer, with a scale for hidden layers."""

    _NORMALIZATIONS: ClassVar[tuple[Normalization, ...]] = ("fan-in", "width")

    def __init__(
        self,
        vocab: int,
        classes: int,
        depth: int,
        width: int,
        normalization: Normalization = "fan-in",
        *,
        arities: Sequence[Arities] | None = None,
        seed: int = 0,
    ) -> None:
        if normalization not in self._NORMALIZATIONS:
            expected = " or ".join(map(repr, self._NORMALIZATIONS))
            raise ValueError(f"normalization is {normalization!r}, expected {expected}")
        self.normalization: Normalization = normalization
        super().__init__(vocab, classes, depth, width, arities=arities, seed=seed)

    def _sizes(self) -> dict[str, object]:
        return {"normalization": self.normalization}


def _check_memory(values: int) -> None:
    """Raises a ValueError if the weights do not fit into host memory."""
    needed, total = 4 * values, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > total:
        raise ValueError(f"the network has {needed / 1e9:.0f} GB of weights, expected at most {total / 1e9:.0f} GB")


def _writable(tensor: Tensor | NDArray[Any]) -> Tensor | NDArray[Any]:
    """A writable array, since PyTorch warns about read-only ones."""
    return tensor.copy() if isinstance(tensor, np.ndarray) else tensor


def scale_of(normalization: Normalization, taps: int, channels: int) -> float:
    """The scale factor of a hidden layer that sums over this many taps and channels."""
    return float((channels if normalization == "width" else taps * channels) ** -0.5)


def whitened(vocab: int, like: Tensor) -> Tensor:
    """One row per token, its one-hot vector with mean 0 and variance 1, and a last row of zeros for no token."""
    mean = 1 / vocab
    onehot = torch.eye(vocab, dtype=like.dtype, device=like.device)
    return nn.functional.pad((onehot - mean) / math.sqrt(mean * (1 - mean)), (0, 0, 0, 1))
