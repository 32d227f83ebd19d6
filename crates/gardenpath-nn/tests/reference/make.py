"""Writes the reference dumps beside this file: the networks in PyTorch, in float64.

    python make.py

It needs `torch` and `numpy`, and writes the same files each time. The networks are
written down as they are defined, with padding, masks and loops over cells, and the
gradients are PyTorch's own.

Each file has the weights (`weight.*`), one batch (`tokens`, one sentence after the
other, `lengths` and `labels`, the right answers to all questions), its `logits`, the gradient of the mean loss
(`gradient.*`), the `losses` of four steps of training on this same batch, and the
weights after them (`final.*`). Steps are plain gradient descent with the width as
learning rate (CNN, INN) or Adam with 0.01 for every tensor (transformer). The
configuration is in the metadata.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

Weights = dict[str, Tensor]

STEPS = 4
LENGTHS = {
    2: [7, 4, 9, 5, 8, 6, 7],
    3: [17, 8, 27, 12, 21, 26, 9],
    4: [40, 16, 81, 55, 23, 80, 64],
}
"""Lengths of the sentences of the batch, by depth: from 2^depth to 3^depth."""


@dataclass(frozen=True)
class Config:
    """A network and its sizes."""

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

    @property
    def outputs(self) -> int:
        """The numbers of a row of logits."""
        outputs = {"next": self.vocab + 1, "masked": self.vocab}
        return outputs.get(self.task, self.classes)

    def scale(self, taps: int, channels: int) -> float:
        """The factor in front of a hidden layer of the CNN or the INN."""
        return (taps * channels if self.normalization == "fan-in" else channels) ** -0.5


CONFIGS = {
    "cnn-depth2": Config("cnn", 5, 5, 2, 6),
    "cnn-depth3": Config("cnn", 5, 4, 3, 6),
    "cnn-depth4": Config("cnn", 5, 5, 4, 4),
    "cnn-width-depth2": Config("cnn", 5, 5, 2, 6, normalization="width"),
    "inn-depth2": Config("inn", 5, 5, 2, 6),
    "inn-depth3": Config("inn", 5, 4, 3, 6),
    "inn-width-depth2": Config("inn", 5, 5, 2, 6, normalization="width"),
    "transformer-depth2": Config("transformer", 5, 5, 2, 8, 2, 12, 2),
    "transformer-depth3": Config("transformer", 5, 4, 3, 8, 2, 12, 2),
    "causal-depth2": Config("transformer", 5, 5, 2, 8, 2, 12, 2, task="next"),
    "causal-depth3": Config("transformer", 5, 4, 3, 8, 2, 12, 2, task="next"),
    "masked-depth2": Config("transformer", 5, 5, 2, 8, 2, 12, 2, task="masked"),
    "masked-depth3": Config("transformer", 5, 4, 3, 8, 2, 12, 2, task="masked"),
}


@dataclass(frozen=True)
class Batch:
    """Sentences and the right answers to all questions about them."""

    sentences: list[Tensor]
    labels: Tensor

    @staticmethod
    def random(config: Config) -> Batch:
        """Draw tokens and labels, or masks; the last sentence has none."""
        lengths = LENGTHS[config.depth]
        sentences = [torch.randint(config.vocab, (length,)) for length in lengths]
        if config.task == "next":
            end = torch.tensor([config.vocab])
            labels = torch.cat([part for tokens in sentences for part in (tokens, end)])
            return Batch(sentences, labels)
        if config.task == "masked":
            masks = [torch.rand(length) < 0.3 for length in lengths]
            masks[-1][:] = False
            pairs = list(zip(sentences, masks, strict=True))
            labels = torch.cat([tokens[mask] for tokens, mask in pairs])
            return Batch([t.masked_fill(m, config.vocab) for t, m in pairs], labels)
        return Batch(sentences, torch.randint(config.classes, (len(lengths),)))

    @property
    def lengths(self) -> Tensor:
        """The numbers of tokens."""
        return torch.tensor([len(tokens) for tokens in self.sentences])


def whitened(tokens: Tensor, vocab: int) -> Tensor:
    """One-hot vectors with mean 0 and variance 1, along a new last axis."""
    mean = 1 / vocab
    onehot = functional.one_hot(tokens, vocab).double()
    return (onehot - mean) / math.sqrt(mean * (1 - mean))


# The convolutional network.


def cnn_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """The weights of the CNN."""
    width = config.width
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in range(config.depth + 1):
        channels = config.vocab if layer == 0 else width
        shapes[f"conv.{layer}"] = (4, channels, width)
    shapes["readout"] = (width, config.classes)
    return shapes


def cnn_logits(config: Config, weights: Weights, batch: Batch) -> Tensor:
    """The logits of the CNN, shape (batch, classes)."""
    length = max(math.ceil(10 * 3**config.depth / 9), 2 ** (config.depth + 1))
    maps = torch.zeros(len(batch.sentences), length, config.vocab, dtype=torch.float64)
    for row, tokens in zip(maps, batch.sentences, strict=True):
        row[: len(tokens)] = whitened(tokens, config.vocab)
    maps = maps.transpose(1, 2)  # (batch, channels, positions), as PyTorch has it
    for layer in range(config.depth + 1):
        filters = weights[f"conv.{layer}"]
        scale = config.scale(4, filters.shape[1])
        filters = filters.permute(2, 1, 0)  # (out, in, tap), as PyTorch has it
        maps = functional.conv1d(maps, filters, stride=2, padding=1)
        maps = torch.relu(scale * maps)
    return maps.mean(dim=2) @ weights["readout"] / config.width


# The inside network.


def inn_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """The weights of the INN."""
    width = config.width
    shapes: dict[str, tuple[int, ...]] = {}
    for level in reversed(range(config.depth)):
        channels = config.vocab if level == config.depth - 1 else width
        shapes[f"level.{level}.binary"] = (2, channels, width)
        shapes[f"level.{level}.ternary"] = (3, channels, width)
    shapes["readout"] = (width, config.classes)
    return shapes


def inn_top(config: Config, weights: Weights, tokens: Tensor) -> Tensor:
    """The cell of a whole sentence, shape (width,)."""

    def spans(level: int) -> range:
        return range(2 ** (config.depth - level), 3 ** (config.depth - level) + 1)

    inputs = whitened(tokens, config.vocab)
    below = {(i, 1): inputs[i] for i in range(len(tokens))}
    for level in reversed(range(config.depth)):
        binary = weights[f"level.{level}.binary"]
        ternary = weights[f"level.{level}.ternary"]
        channels = binary.shape[1]
        scale2, scale3 = config.scale(2, channels), config.scale(3, channels)
        parts = spans(level + 1)
        cells = {}
        for span in spans(level):
            for i in range(len(tokens) - span + 1):
                total = torch.zeros(config.width, dtype=torch.float64)
                for q in parts:
                    if span - q in parts:
                        left, right = below[i, q], below[i + q, span - q]
                        total = total + scale2 * (left @ binary[0] + right @ binary[1])
                    for r in parts:
                        if span - q - r in parts:
                            first, second = below[i, q], below[i + q, r]
                            third = below[i + q + r, span - q - r]
                            total = total + scale3 * (
                                first @ ternary[0]
                                + second @ ternary[1]
                                + third @ ternary[2]
                            )
                cells[i, span] = torch.relu(total)
        below = cells
    return below[0, len(tokens)]


def inn_logits(config: Config, weights: Weights, batch: Batch) -> Tensor:
    """The logits of the INN, shape (batch, classes)."""
    tops = [inn_top(config, weights, tokens) for tokens in batch.sentences]
    return torch.stack(tops) @ weights["readout"] / config.width


# The transformer.


def transformer_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """The weights of the transformer."""
    width, mlp = config.width, config.mlp
    shapes: dict[str, tuple[int, ...]] = {
        "embedding": (config.vocab + (2 if config.task == "masked" else 1), width),
        "position": (3**config.depth + 1, width),
    }
    for i in range(config.layers):
        shapes[f"layer.{i}.attention_norm.gain"] = (width,)
        shapes[f"layer.{i}.attention_norm.bias"] = (width,)
        for name in ("query", "key", "value", "output"):
            shapes[f"layer.{i}.{name}"] = (width, width)
        shapes[f"layer.{i}.mlp_norm.gain"] = (width,)
        shapes[f"layer.{i}.mlp_norm.bias"] = (width,)
        shapes[f"layer.{i}.up"] = (width, mlp)
        shapes[f"layer.{i}.down"] = (mlp, width)
    shapes["final_norm.gain"] = (width,)
    shapes["final_norm.bias"] = (width,)
    shapes["readout"] = (width, config.outputs)
    return shapes


def norm(x: Tensor, weights: Weights, name: str) -> Tensor:
    """Layer normalization over the last axis."""
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.var(dim=-1, correction=0, keepdim=True)
    unit = (x - mean) / torch.sqrt(variance + 1e-5)
    return unit * weights[f"{name}.gain"] + weights[f"{name}.bias"]


def attention(
    config: Config, weights: Weights, layer: int, u: Tensor, seen: Tensor
) -> Tensor:
    """Concatenated heads, shape (batch, positions, width); `seen` marks the keys."""
    batch, positions, width = u.shape
    size = width // config.heads

    def heads(name: str) -> Tensor:
        """Shape (batch, heads, positions, size)."""
        x = width**-0.5 * u @ weights[f"layer.{layer}.{name}"]
        return x.view(batch, positions, config.heads, size).transpose(1, 2)

    scores = heads("query") @ heads("key").transpose(2, 3) / size
    scores = scores.masked_fill(~seen[:, None], -math.inf)
    mixed = torch.softmax(scores, dim=-1) @ heads("value")
    return mixed.transpose(1, 2).reshape(batch, positions, width)


def transformer_logits(config: Config, weights: Weights, batch: Batch) -> Tensor:
    """The logits of the transformer, shape (questions, outputs)."""
    width, mlp = config.width, config.mlp
    positions = 3**config.depth + 1
    tokens = torch.zeros(len(batch.sentences), positions, dtype=torch.int64)
    for row, sentence in zip(tokens, batch.sentences, strict=True):
        row[0] = config.vocab
        # In sentences, the number of tokens stands for the mask.
        row[1 : len(sentence) + 1] = sentence + (sentence == config.vocab)
    real = torch.arange(positions) <= batch.lengths[:, None]
    seen = real[:, None, :].expand(-1, positions, -1)
    if config.task == "next":
        seen = seen & torch.ones(positions, positions, dtype=torch.bool).tril()
    x = weights["embedding"][tokens] + weights["position"]
    for i in range(config.layers):
        u = norm(x, weights, f"layer.{i}.attention_norm")
        o = attention(config, weights, i, u, seen)
        x = x + width**-0.5 * o @ weights[f"layer.{i}.output"]
        u = norm(x, weights, f"layer.{i}.mlp_norm")
        hidden = torch.relu(width**-0.5 * u @ weights[f"layer.{i}.up"])
        x = x + mlp**-0.5 * hidden @ weights[f"layer.{i}.down"]
    asked = {"next": real, "masked": tokens == config.vocab + 1}
    x = x[asked[config.task]] if config.task in asked else x[:, 0]
    return norm(x, weights, "final_norm") @ weights["readout"] / width


# The dumps.


@dataclass(frozen=True)
class Model:
    """How to make the weights of a network, and its logits."""

    shapes: Callable[[Config], dict[str, tuple[int, ...]]]
    logits: Callable[[Config, Weights, Batch], Tensor]


MODELS = {
    "cnn": Model(cnn_shapes, cnn_logits),
    "inn": Model(inn_shapes, inn_logits),
    "transformer": Model(transformer_shapes, transformer_logits),
}


def random_weights(config: Config) -> Weights:
    """Unit Gaussians; gains and biases of norms are near 1 and 0, but not there."""
    weights = {}
    for name, shape in MODELS[config.model].shapes(config).items():
        values = torch.randn(shape, dtype=torch.float64)
        if name.endswith(".gain"):
            values = 1 + 0.3 * values
        elif name.endswith(".bias"):
            values = 0.3 * values
        weights[name] = values.requires_grad_()
    return weights


def optimizer(config: Config, weights: Weights) -> torch.optim.Optimizer:
    """The optimizer of a network."""
    if config.model == "transformer":
        return torch.optim.Adam(weights.values(), lr=0.01)
    return torch.optim.SGD(weights.values(), lr=config.width)


def reference(config: Config) -> dict[str, Tensor]:
    """Train on one batch; the tensors of the dump."""
    torch.manual_seed(1)
    weights = random_weights(config)
    batch = Batch.random(config)
    tensors = {
        "tokens": torch.cat(batch.sentences),
        "lengths": batch.lengths,
        "labels": batch.labels,
    }
    tensors |= {f"weight.{name}": w.detach().clone() for name, w in weights.items()}
    descent = optimizer(config, weights)
    losses = []
    for step in range(STEPS):
        logits = MODELS[config.model].logits(config, weights, batch)
        loss = functional.cross_entropy(logits, batch.labels)
        if config.task == "next":  # per token, though the end is asked for as well
            loss = loss * (len(batch.labels) / int(batch.lengths.sum()))
        descent.zero_grad()
        loss.backward()
        if step == 0:
            tensors["logits"] = logits.detach()
            tensors |= {f"gradient.{name}": w.grad for name, w in weights.items()}
        descent.step()
        losses.append(loss.item())
    tensors["losses"] = torch.tensor(losses, dtype=torch.float64)
    tensors |= {f"final.{name}": w.detach() for name, w in weights.items()}
    return tensors


def write(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    """Write a safetensors file.

    The `safetensors` package writes metadata in an order that changes from run to run.
    """
    types = {torch.float64: ("F64", "<f8"), torch.int64: ("I64", "<i8")}
    header: dict[str, object] = {"__metadata__": metadata}
    data = b""
    for name, tensor in sorted(tensors.items()):
        dtype, layout = types[tensor.dtype]
        content = tensor.numpy().astype(layout).tobytes()
        header[name] = {
            "dtype": dtype,
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def main() -> None:
    """Write all dumps."""
    torch.set_num_threads(1)
    for name, config in CONFIGS.items():
        tensors = reference(config)
        # Dumps that are older than the other tasks do not name theirs.
        values = asdict(config).items()
        metadata = {k: str(value) for k, value in values if (k, value) != ("task", "root")}
        path = Path(__file__).with_name(f"{name}.safetensors")
        write(path, tensors, metadata)
        losses = " ".join(f"{loss:.6f}" for loss in tensors["losses"].tolist())
        print(f"{path.name}: losses {losses}")


if __name__ == "__main__":
    main()
