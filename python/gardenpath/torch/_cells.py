"""Cells of measure `train` with `device = "cuda"`: the paper's networks, trained by PyTorch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .._core import Grammar
from .cnn import CNN
from .inn import INN
from .networks import Network
from .training import paper_optimizer, train
from .transformer import Transformer

__all__ = ["measure_train"]

_KINDS: dict[str, type[Network]] = {"cnn": CNN, "inn": INN, "transformer": Transformer}
_OPTIONS = ("normalization", "layers", "heads", "mlp")


def measure_train(parameters: Mapping[str, Any], grammar: Grammar) -> dict[str, Any]:
    """Runs measure `train` on the PyTorch device named by GARDENPATH_CUDA_DEVICE, or the default one."""
    if parameters["measure"] != "train":
        raise ValueError(f"measure {parameters['measure']} does not run on cuda, expected train")
    if "optimizer" in parameters:
        raise ValueError("optimizer is not the default of the network, which cuda does not support")
    device = os.environ.get("GARDENPATH_CUDA_DEVICE", "cuda")
    options = {name: parameters[name] for name in _OPTIONS if name in parameters}
    network = _KINDS[parameters["model"]].for_grammar(grammar, parameters["width"], seed=parameters["seed"], **options)
    network.to(device)
    limits = {name: parameters[name] for name in ("test", "batch", "max_steps", "min_steps", "patience") if name in parameters}
    optimizer = paper_optimizer(network, parameters.get("learning_rate"))
    run = train(network, grammar, samples=parameters["samples"], seed=parameters["seed"], optimizer=optimizer, **limits)
    classes = grammar.classes
    names = "test_loss normalized_loss test_accuracy bayes_loss bayes_accuracy train_loss best_step steps epochs ending"
    result = {name: getattr(run, name) for name in names.split()}
    result["normalized_error"] = (1 - run.test_accuracy) / (1 - 1 / classes)
    result["bayes_normalized_loss"] = run.bayes_loss * run.normalized_loss / run.test_loss
    return result
