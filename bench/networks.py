"""One training step of the networks: the engine of gardenpath-nn beside PyTorch.

Takes weights and batches from the engine, checks that PyTorch has the same losses in
both of its forms, then times the engine and each form in turns on the same batches.
Prints a Markdown table; README.md says how to run it and what is compared.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from results import processor
from safetensors import safe_open
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch_networks import FORMS, Batch, Config, Network, Weights

REPOSITORY = Path(__file__).resolve().parents[1]

VOCAB = 16
BATCHES = 8
"""The batches that both sides go through, again and again."""
CHECKED = 3
"""The steps whose losses must agree before anything is timed."""

CASES = [
    Config("cnn", VOCAB, VOCAB, depth=2, width=512),
    Config("cnn", VOCAB, VOCAB, depth=3, width=256),
    Config("cnn", VOCAB, VOCAB, depth=3, width=512),
    Config("inn", VOCAB, VOCAB, depth=2, width=256),
    Config("inn", VOCAB, VOCAB, depth=3, width=64),
    Config(
        "transformer", VOCAB, VOCAB, depth=3, width=128, heads=16, mlp=512, layers=3
    ),
]
CASES.append(replace(CASES[-1], task="next"))
SCALING = [
    Config("cnn", VOCAB, VOCAB, depth=3, width=512),
    Config("inn", VOCAB, VOCAB, depth=3, width=64),
    Config("inn", VOCAB, VOCAB, depth=3, width=256),
]
"""What is also timed with one thread, if wanted."""


def named(case: Config) -> str:
    """A short name of a case."""
    name = f"{case.model}-depth{case.depth}-width{case.width}"
    return name if case.task == "root" else f"{name}-{case.task}"


@dataclass(frozen=True)
class Dump:
    """What the engine starts from, and its losses."""

    config: Config
    weights: Weights
    rates: dict[str, float]
    batches: list[Batch]
    losses: list[float]

    @staticmethod
    def read(path: Path, case: Config, losses: list[float]) -> Dump:
        """Read a file of the engine."""
        with safe_open(path, framework="pt") as file:
            tensors: dict[str, Tensor] = {n: file.get_tensor(n) for n in file.keys()}
            metadata = file.metadata() or {}
        normalization = metadata.get("normalization", case.normalization)

        def those(prefix: str) -> dict[str, Tensor]:
            found = {n: t for n, t in tensors.items() if n.startswith(prefix)}
            return {name.removeprefix(prefix): t for name, t in found.items()}

        batches = [
            Batch(
                tensors[f"tokens.{b}"].long(),
                tensors[f"lengths.{b}"].long(),
                tensors[f"labels.{b}"].long(),
            )
            for b in range(BATCHES)
        ]
        rates = {name: rate.item() for name, rate in those("learning_rate.").items()}
        config = replace(case, normalization=normalization)
        return Dump(config, those("weight."), rates, batches, losses)


@dataclass(frozen=True)
class Engine:
    """The example `step` of gardenpath-nn."""

    batch: int
    seconds: float

    def run(self, case: Config, threads: int, *more: object) -> dict[str, Any]:
        """Run it; it must succeed and print one line of JSON."""
        options: dict[str, object] = {
            "model": case.model,
            "depth": case.depth,
            "vocab": case.vocab,
            "width": case.width,
            "batch": self.batch,
            "threads": threads,
            "seconds": self.seconds,
        }
        if case.model == "transformer":
            sizes = {"heads": case.heads, "layers": case.layers, "mlp": case.mlp}
            options |= sizes | {"task": case.task}
        words = [
            str(w) for name, value in options.items() for w in (f"--{name}", value)
        ]
        command = ["cargo", "run", "--release", "-q", "-p", "gardenpath-nn"]
        command += ["--example", "step", "--", *words, *map(str, more)]
        done = subprocess.run(
            command, cwd=REPOSITORY, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return json.loads(done.stdout)

    def dump(self, case: Config, threads: int) -> Dump:
        """Ask for weights and batches."""
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "dump.safetensors"
            losses = self.run(case, threads, "--dump", path)["losses"]
            return Dump.read(path, case, losses[:CHECKED])

    def milliseconds(self, case: Config, threads: int) -> float:
        """The median time of a step."""
        return self.run(case, threads)["milliseconds"]


class Trainer:
    """Trains one form of a network in PyTorch."""

    def __init__(self, form: type[Network], dump: Dump) -> None:
        """Prepare the batches."""
        self.form = form
        self.dump = dump
        self.reset()
        self.inputs = [self.network.prepare(batch) for batch in dump.batches]
        self.labels = [self.network.labels(batch) for batch in dump.batches]

    def reset(self) -> None:
        """Start anew from the weights of the dump."""
        self.network = self.form(self.dump.config, self.dump.weights)
        self.optimizer = self.network.optimizer(self.dump.rates)

    def step(self, number: int) -> Tensor:
        """Forward, backward, update; the loss is that before the update."""
        batch = number % BATCHES
        self.optimizer.zero_grad()
        logits = self.network.logits(self.inputs[batch])
        loss = cross_entropy(logits, self.labels[batch])
        if self.dump.config.task == "next":  # per token, though ends are asked for too
            loss = loss * (len(logits) / len(self.dump.batches[batch].tokens))
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def check(self, name: str) -> None:
        """Stop if the losses of the first steps are not those of the engine."""
        theirs = [self.step(number).item() for number in range(CHECKED)]
        ours = self.dump.losses
        pairs = zip(ours, theirs, strict=True)
        if not all(math.isclose(a, b, rel_tol=1e-3) for a, b in pairs):
            sys.exit(f"{name}: the losses are {ours} in the engine and {theirs} here")

    def milliseconds(self, seconds: float) -> float:
        """The median time of a step, without the first one if there are others."""
        self.reset()
        times: list[float] = []
        begin = now = time.perf_counter()
        while now < begin + seconds:
            self.step(len(times))
            before, now = now, time.perf_counter()
            times.append(now - before)
        return 1000 * statistics.median(times[1:] or times)


@dataclass
class Result:
    """Milliseconds per step of two sides, in every round."""

    case: Config
    side: str
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """How many times as long the other side takes, in every round."""
        return [b / a for a, b in zip(self.ours, self.theirs, strict=True)]

    def row(self) -> str:
        """The result as a row of the table."""
        ratios = self.ratios
        cells = [
            f"{'causal ' if self.case.task == 'next' else ''}{self.case.model}, "
            f"L = {self.case.depth}, width {self.case.width}",
            self.side,
            shown(statistics.median(self.ours)),
            shown(statistics.median(self.theirs)),
            shown(statistics.median(ratios)),
            f"{shown(min(ratios))}-{shown(max(ratios))}",
        ]
        return "| " + " | ".join(cells) + " |"


HEADER = """\
| network | other side | gardenpath, ms | other side, ms | ratio | range |
|---|---|---|---|---|---|"""


def shown(value: float) -> str:
    """Write a positive number with three digits or as a whole number."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def progress(text: str) -> None:
    """Say what is done."""
    print(text, file=sys.stderr, flush=True)


def compare(
    engine: Engine, case: Config, forms: Sequence[str], threads: int, rounds: int
) -> list[Result]:
    """Check and time the forms of PyTorch for one network."""
    dump = engine.dump(case, threads)
    trainers: dict[str, Trainer] = {}
    for form in forms:
        trainers[form] = Trainer(FORMS[case.model][form], dump)
        trainers[form].check(f"{named(case)}, {form}")
        progress(f"{named(case)}: {form} has the losses of the engine")

    sides = ["engine", *forms]
    times: dict[str, list[float]] = {side: [] for side in sides}
    for turn in range(rounds):
        first = turn % len(sides)
        for side in sides[first:] + sides[:first]:
            if side == "engine":
                times[side].append(engine.milliseconds(case, threads))
            else:
                times[side].append(trainers[side].milliseconds(engine.seconds))
        latest = ", ".join(f"{side} {shown(times[side][-1])} ms" for side in sides)
        progress(f"{named(case)}: round {turn + 1} of {rounds}: {latest}")
    return [
        Result(case, f"PyTorch, {form}", times["engine"], times[form]) for form in forms
    ]


def scaling(engine: Engine, case: Config, threads: int, rounds: int) -> Result:
    """Time the engine with all threads and with one, in turns."""
    result = Result(case, "gardenpath, one thread")
    turns = [(threads, result.ours), (1, result.theirs)]
    for turn in range(rounds):
        for count, times in turns if turn % 2 == 0 else turns[::-1]:
            times.append(engine.milliseconds(case, count))
        progress(f"{named(case)}: round {turn + 1} of {rounds} with 1 and {threads}")
    return result


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    forms = ["paper", "tuned"]
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2, help="of both sides")
    parser.add_argument("--batch", type=int, default=128, help="sentences of a step")
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="of each side in a round, at least"
    )
    parser.add_argument(
        "--only", default="", help="networks with this in their name, as inn-depth3"
    )
    parser.add_argument("--forms", nargs="*", choices=forms, default=forms)
    parser.add_argument(
        "--scaling", action="store_true", help="also time the engine with one thread"
    )
    parser.add_argument("--json", type=Path, help="write all measurements to a file")
    return parser.parse_args()


def main() -> None:
    """Run the comparison."""
    options = arguments()
    warnings.filterwarnings("ignore", message="Sparse")
    torch.set_num_threads(options.threads)
    engine = Engine(options.batch, options.seconds)
    load = round(os.getloadavg()[0], 2)
    waiting = os.environ.get("OMP_WAIT_POLICY", "default")
    if load > 0.5 and options.threads > 1 and waiting != "PASSIVE":
        progress(
            f"the machine is busy (load {load}): PyTorch will lose much time waiting "
            "for its own threads; OMP_WAIT_POLICY=PASSIVE or --threads 1 helps"
        )
    results: list[Result] = []
    for case in CASES if options.forms else []:
        if options.only in named(case):
            results += compare(
                engine, case, options.forms, options.threads, options.rounds
            )
    for case in SCALING if options.scaling else []:
        if options.only in named(case):
            results.append(scaling(engine, case, options.threads, options.rounds))
    setting = {
        "batch": options.batch,
        "vocab": VOCAB,
        "rounds": options.rounds,
        "threads": options.threads,
        "processor": processor(),
        "load before": load,
        "OMP_WAIT_POLICY": waiting,
        "python": platform.python_version(),
        "torch": version("torch"),
    }
    print(HEADER)
    for result in results:
        print(result.row())
    print()
    print(", ".join(f"{name} {value}" for name, value in setting.items()))
    if options.json:
        document = {
            "setting": setting,
            "results": [{**asdict(r), "ratios": r.ratios} for r in results],
        }
        options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
