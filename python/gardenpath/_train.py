"""Trains one of the paper's networks with the program's engine."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal, NamedTuple

from ._core import Grammar, Run, _train
from ._progress import Bar

__all__ = ["Record", "train"]


class Record(NamedTuple):
    """One measurement of the test loss."""

    step: int
    """Number of steps so far."""
    epoch: float
    """Number of epochs so far."""
    train_loss: float
    """The mean loss of the batches since the last record."""
    test_loss: float
    """The cross-entropy on the test set in nats: per sentence, per token (next) or per masked token."""
    test_accuracy: float
    """The accuracy on the roots or tokens of the test set."""


def train(
    grammar: Grammar,
    model: Literal["cnn", "inn", "transformer"] = "cnn",
    *,
    samples: int,
    test: int = 20_000,
    width: int = 512,
    seed: int = 0,
    batch: int = 128,
    max_steps: int = 100_000,
    min_steps: int = 2_000,
    patience: float = 2.0,
    optimizer: Literal["sgd", "adam"] | None = None,
    learning_rate: float | None = None,
    normalization: Literal["fan-in", "width", "splits"] | None = None,
    layers: int | None = None,
    heads: int | None = None,
    mlp: int | None = None,
    task: Literal["root", "next", "masked"] = "root",
    mask: float | None = None,
    output: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[Record], object] = True,
) -> Run:
    """Trains a network to predict roots or tokens, up to its best test loss, with the results of `gardenpath train`.

    The training set is `grammar.corpus(samples, seed)`; the test set, weights and batches are determined by the seed too.
    Defaults are as in the paper. The test loss is measured at geometrically growing steps. Training ends when the number of
    steps has grown by the factor `patience` without a better test loss, but neither before `min_steps` nor at the loss of
    guessing roots, or when the test loss has clearly risen, or after `max_steps`.

    With `task="next"` a transformer predicts each token given those before it, and the end of the sentence; with "masked" it
    predicts masked tokens given all others. Each token is masked with probability `mask` (default 0.15); the masks of the
    training set change every epoch, those of the test set are fixed.

    With `output` the run is stored in a directory, in the format of `gardenpath train -o`: a run that was killed or
    interrupted resumes when it is called again, with the same results. Ctrl-C saves the last step.

    Progress is shown in terminals and notebooks, unless `progress` is False. If it is a function, it is called with the
    `Record` of each measurement instead; an exception in it stops the run and is propagated.

    >>> import gardenpath
    >>> grammar = gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.125, seed=1)
    >>> run = gardenpath.train(grammar, "cnn", samples=1000, test=1000, width=32, seed=1, max_steps=200)
    >>> run.curve["step"].tolist()
    [0, 32, 64, 96, 128, 160, 192, 200]
    >>> run.floor.loss < run.test_loss < run.floor.guessing
    True
    >>> {name: weight.shape for name, weight in run.weights.items()}
    {'conv.0': (4, 8, 32), 'conv.1': (4, 32, 32), 'conv.2': (4, 32, 32), 'readout': (32, 8)}
    >>> fresh = grammar.corpus(1000, seed=2)
    >>> float((run.predict(fresh) == fresh.roots).mean()) > 2 / 8
    True
    >>> run.probe(samples=500, test=200, exchanged=50).accuracy.shape     # [layer, level]
    (3, 2)

    A next-token network, and the expected losses of predictors that know 0, 1 or 2 layers of rules:

    >>> run = gardenpath.train(grammar, "transformer", task="next", samples=1000, test=500, width=32, seed=1, max_steps=64)
    >>> run.level_floors.round(2).tolist()
    [2.32, 1.63, 1.32]
    >>> run.level_floors[-1] == run.expected_floor < run.test_loss
    True
    """
    with Bar(f"training {model}", shown=progress is True) as bar:
        latest = [""]

        def report(step: int, last: int, values: tuple[int, float, float, float, float] | None) -> None:
            if values is not None:
                record = Record(*values)
                latest[0] = f"test loss {record.test_loss:.4g}"
                if callable(progress):
                    progress(record)
            bar.show(step, last, latest[0])

        return _train(
            grammar,
            model,
            samples,
            test,
            width,
            seed,
            batch,
            max_steps,
            min_steps,
            patience,
            optimizer,
            learning_rate,
            normalization,
            layers,
            heads,
            mlp,
            task,
            mask,
            output,
            report,
        )
