"""The recipe of `gardenpath train`: the same sentences, batches, learning rates, measurements and stopping rule."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim import SGD, Adam, Optimizer

from .._core import Corpus, Grammar
from ._seed import Seed, shuffled
from ._shape import check_at_least
from .networks import Network
from .transformer import Transformer

__all__ = ["Ending", "Record", "Run", "paper_optimizer", "train"]

Ending = Literal["rise", "plateau", "steps", "diverged"]

# The program's constants, explained in crates/gardenpath-nn/src/train.rs.
_TEST_BATCH = 512
_FIRST_MEASUREMENT = 32
_SPACING = 1.12
_IMPROVEMENT = 0.998
_GUESSES = 0.99
_RISE = 0.05
_RISE_RECORDS = 4


@dataclass(frozen=True)
class Record:
    """One measurement of the test loss."""

    step: int
    """Number of steps so far."""
    epoch: float
    """Number of epochs so far."""
    train_loss: float
    """The mean loss of the batches since the last record."""
    test_loss: float
    """The mean cross-entropy on the test set, in nats."""
    test_accuracy: float
    """The accuracy on the test set."""


@dataclass(frozen=True, eq=False)
class Run:
    """The outcome of a run: the best network by test loss."""

    test_loss: float
    """The mean cross-entropy on the test set, in nats."""
    normalized_loss: float
    """The test loss relative to guessing: divided by `ln classes`."""
    test_accuracy: float
    """The accuracy on the test set."""
    bayes_loss: float
    """The loss of exact parsing on the same test set: no network has a lower one on average."""
    bayes_accuracy: float
    """The accuracy of exact parsing on the same test set."""
    train_loss: float
    """The mean training loss before the best measurement."""
    best_step: int
    """The step of the best measurement."""
    steps: int
    """Number of steps."""
    epochs: float
    """Number of epochs until the last measurement."""
    ending: Ending
    """Why training ended: rising test loss, plateau, maximum number of steps, or NaN loss."""
    curve: list[Record] = field(repr=False)
    """All measurements."""
    weights: dict[str, Tensor] = field(repr=False)
    """The state of the best network, in host memory, for `load_state_dict`."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        same = all(getattr(self, own.name) == getattr(other, own.name) for own in fields(self) if own.name != "weights")
        return same and self.weights.keys() == other.weights.keys() and all(
            torch.equal(tensor, other.weights[name]) for name, tensor in self.weights.items()
        )

    __hash__ = None  # type: ignore[assignment]


def paper_optimizer(network: Network, learning_rate: float | None = None) -> Optimizer:
    """The paper's optimizer: SGD with a learning rate equal to the width, or Adam for a transformer.

    Adam's learning rate, by default 5e-4, is for a width of 512; that of a hidden matrix is multiplied by
    `sqrt(512 / inputs)`.

    >>> from gardenpath.torch import CNN, paper_optimizer
    >>> paper_optimizer(CNN(vocab=4, classes=4, depth=2, width=8)).param_groups[0]["lr"]
    8.0
    """
    if learning_rate is not None and not (learning_rate > 0 and math.isfinite(learning_rate)):
        raise ValueError(f"learning_rate is {learning_rate}, expected a positive number")
    if not isinstance(network, Transformer):
        return SGD(network.parameters(), lr=float(network.width) if learning_rate is None else learning_rate)
    by_rate: dict[float, list[Tensor]] = {}
    for parameter in network.parameters_of_files():
        by_rate.setdefault(parameter.rate, []).append(network.weight(parameter.name))
    rate = 5e-4 if learning_rate is None else learning_rate
    return Adam([{"params": weights, "lr": factor * rate} for factor, weights in by_rate.items()])


def train(
    model: nn.Module,
    grammar: Grammar,
    *,
    samples: int,
    test: int = 20_000,
    batch: int = 128,
    seed: int = 0,
    device: str | torch.device | None = None,
    max_steps: int = 100_000,
    min_steps: int = 2_000,
    patience: float = 2.0,
    optimizer: Optimizer | None = None,
    progress: Callable[[Record], object] | None = None,
) -> Run:
    """Trains a network to predict the root of sentences, like `gardenpath train` with the same options.

    The training set is `grammar.corpus(samples, seed)`; the seeds of the test set and of the batches, which are taken from
    shuffled epochs, are derived from `seed`. The test loss is measured at geometrically growing steps.
    Training ends when the number of steps has grown by the factor `patience` without a better test loss, but neither before
    `min_steps` nor at the loss of guessing, or when the test loss has clearly risen, or after `max_steps`. `progress` is called with each measurement.

    The network starts with its current weights: for the program's run with `--seed 1`, create the network and call this
    function with `seed=1`. It ends with its last weights; `run.weights` are the best. It is moved to `device`, if given, and
    stays there. The optimizer is by default the paper's, `paper_optimizer(model)`; another one must be created for the
    network on its device.

    Your own network can be trained as well, with an optimizer: it is called with tokens `[batch, longest]`, integers
    followed by -1 after the end of a sentence, and returns logits `[batch, classes]`.

    >>> from gardenpath import Grammar
    >>> from gardenpath.torch import INN, train
    >>> grammar = Grammar.sample(vocab=8, depth=2, fraction=0.125, seed=1)
    >>> network = INN(vocab=8, classes=8, depth=2, width=32, seed=1)
    >>> run = train(network, grammar, samples=1024, test=1000, seed=1, max_steps=200)
    >>> [record.step for record in run.curve]
    [0, 32, 64, 96, 128, 160, 192, 200]
    >>> run.bayes_loss < run.test_loss < 0.9 * run.curve[0].test_loss
    True
    >>> _ = network.load_state_dict(run.weights)
    """
    check_at_least("samples", samples, 1)
    check_at_least("test", test, 1)
    check_at_least("batch", batch, 1)
    check_at_least("max_steps", max_steps, 0)
    check_at_least("min_steps", min_steps, 0)
    if not (patience > 1 and math.isfinite(patience)):
        raise ValueError(f"patience is {patience}, expected more than 1")
    _check_network(model, grammar)
    if device is not None:
        model.to(device)
    if optimizer is None:
        if not isinstance(model, Network):
            raise ValueError(f"the model is a {type(model).__name__}, expected an optimizer for it")
        optimizer = paper_optimizer(model)
    seeds = Seed.new(seed)
    learned = grammar.corpus(samples, seed)
    tested = grammar.corpus(test, seeds.child("test").number)
    trainer = _Trainer(model, optimizer, _Data(learned, model), _Data(tested, model), min(batch, samples), seeds.child("order"))
    rule = _Rule(math.log(grammar.classes), min_steps, patience)
    ending: Ending | None = None
    best: dict[str, Tensor] = {}
    records = rule.records
    while ending is None:
        due = min(_next_measurement(records[-1].step), max_steps) if records else 0
        if records and due == records[-1].step:
            ending = "steps"
        elif (record := trainer.until(due)) is None:
            ending = "diverged"
        else:
            if not records or record.test_loss < rule.best.test_loss:
                best = {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}
            records.append(record)
            if progress is not None:
                progress(record)
            ending = rule.ending()
    if not records:
        raise ValueError("the first test loss is NaN, expected a network with finite weights")
    floor = grammar.bayes_floor(tested)
    return Run(
        test_loss=rule.best.test_loss,
        normalized_loss=rule.best.test_loss / rule.guessing,
        test_accuracy=rule.best.test_accuracy,
        bayes_loss=floor.loss,
        bayes_accuracy=floor.accuracy,
        train_loss=rule.best.train_loss,
        best_step=rule.best.step,
        steps=trainer.step,
        epochs=records[-1].epoch,
        ending=ending,
        curve=records,
        weights=best,
    )


def _check_network(model: nn.Module, grammar: Grammar) -> None:
    if not isinstance(model, Network):
        return
    of_grammar = {"vocab": grammar.vocab, "classes": grammar.classes, "depth": grammar.depth}
    for name, value in of_grammar.items():
        if getattr(model, name) != value:
            raise ValueError(f"{name} of the network is {getattr(model, name)}, expected {value} as in the grammar")


def _next_measurement(step: int) -> int:
    return max(int(step * _SPACING), step + _FIRST_MEASUREMENT)


@dataclass
class _Rule:
    """The stopping rule."""

    guessing: float
    min_steps: int
    patience: float
    records: list[Record] = field(default_factory=list)

    @property
    def best(self) -> Record:
        return min(self.records, key=lambda record: record.test_loss)

    def ending(self) -> Ending | None:
        """The reason to stop after the records so far, if any."""
        risen = self.best.test_loss + _RISE * self.guessing
        recent = self.records[-_RISE_RECORDS:]
        if len(recent) == _RISE_RECORDS and all(record.test_loss > risen for record in recent):
            return "rise"
        lowest, improved = math.inf, 0
        for record in self.records:
            if record.test_loss < lowest * _IMPROVEMENT:
                lowest, improved = record.test_loss, record.step
        if lowest > _GUESSES * self.guessing:
            return None
        return "plateau" if self.records[-1].step >= max(int(improved * self.patience), self.min_steps) else None


class _Data:
    """Sentences and roots on the right device: the networks of this module expect tokens in host memory."""

    def __init__(self, corpus: Corpus, model: nn.Module) -> None:
        # Small integers, since there may be millions of sentences.
        self.tokens = corpus.padded(-1, "int16")
        self.lengths = corpus.lengths
        self.roots = corpus.roots.astype(np.int64)
        self.device = next(model.parameters()).device
        self.on_host = isinstance(model, Network)

    def __len__(self) -> int:
        return len(self.roots)

    def __getitem__(self, numbers: slice | NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        rows = self.tokens[numbers, : self.lengths[numbers].max()].astype(np.int64)
        tokens = torch.from_numpy(rows)
        return tokens if self.on_host else tokens.to(self.device), torch.from_numpy(self.roots[numbers]).to(self.device)


class _Trainer:
    """Takes steps and measures the test loss."""

    def __init__(
        self, model: nn.Module, optimizer: Optimizer, train: _Data, test: _Data, batch: int, order: Seed
    ) -> None:
        self.model = model
        self.optimizer = optimizer
        self.train = train
        self.test = test
        self.batch = batch
        self.order = _Order(order, len(train))
        self.step = 0

    def until(self, due: int) -> Record | None:
        """Takes steps until the next measurement, and measures; returns None if the loss is NaN."""
        first = self.step
        self.model.train()
        losses = [self._learn(step) for step in range(first, due)]
        # Checked together, so that there is no synchronization with the device at each step.
        values = torch.stack(losses).double().cpu().numpy() if losses else np.zeros(0)
        wrong = np.flatnonzero(~np.isfinite(values))
        self.step = first + int(wrong[0]) + 1 if len(wrong) else due
        if len(wrong):
            return None
        test_loss, test_accuracy = self._evaluate()
        if not math.isfinite(test_loss):
            return None
        train_loss = float(values.mean()) if len(values) else test_loss
        return Record(due, due * self.batch / len(self.train), train_loss, test_loss, test_accuracy)

    def _learn(self, step: int) -> Tensor:
        tokens, roots = self.train[self.order.batch(step, self.batch)]
        self.optimizer.zero_grad()
        loss = cross_entropy(self.model(tokens), roots)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.detach()

    @torch.no_grad()
    def _evaluate(self) -> tuple[float, float]:
        self.model.eval()
        loss, right = 0.0, 0
        for first in range(0, len(self.test), _TEST_BATCH):
            tokens, roots = self.test[first : first + _TEST_BATCH]
            logits = self.model(tokens).double()
            loss += cross_entropy(logits, roots, reduction="sum").item()
            # Among equal logits the last one wins, as in the program.
            told = logits.shape[1] - 1 - logits.flip(1).argmax(dim=1)
            right += int((told == roots).sum().item())
        return loss / len(self.test), right / len(self.test)


class _Order:
    """An endless sequence of shuffled epochs."""

    def __init__(self, seed: Seed, count: int) -> None:
        self.seed = seed
        self.count = count
        self.epoch = -1
        self.numbers: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def batch(self, number: int, size: int) -> NDArray[np.int64]:
        """The sentences of a batch, which may span two epochs."""
        place, end = number * size, (number + 1) * size
        parts = []
        while place < end:
            epoch, first = divmod(place, self.count)
            if epoch != self.epoch:
                self.epoch, self.numbers = epoch, shuffled(self.seed, epoch, self.count)
            part = self.numbers[first : first + end - place]
            parts.append(part)
            place += len(part)
        return np.concatenate(parts)
