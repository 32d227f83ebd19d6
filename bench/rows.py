"""The rows of `bench/run`: what is measured, how, and what limits it.

Nothing is timed here that a benchmark of its own times already: the core by
`cargo bench -p gardenpath`, steps of training by the example `step` of gardenpath-nn, peers
by peers.py and networks.py. Commands of the program are timed from start to end.
"""

from __future__ import annotations

import json
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from results import REPOSITORY

CHILDREN = 2.5
"""The mean number of children of a node, with as many binary as ternary rules."""


class Failure(Exception):
    """A command failed; the message is one line."""


@dataclass
class Entry:
    """A line of the table. A limit has the unit of the value."""

    work: str
    value: float
    unit: str
    limit: float | None = None
    limited_by: str = ""
    peer: str = ""
    peer_ratio: float | None = None


@dataclass(frozen=True)
class Row:
    """What can be asked for by name."""

    about: str
    measure: Callable[[Bench], Iterator[Entry]]
    expensive: bool = False


def default_python() -> Path:
    """The environment that ./test makes, if it is there."""
    environment = REPOSITORY / "target/python/bin/python"
    return environment if environment.exists() else Path(sys.executable)


def threads_named(threads: int) -> str:
    """How many threads, in words."""
    return "one thread" if threads == 1 else f"{threads} threads"


class Bench:
    """The program, the limits of the machine, and files that rows share."""

    def __init__(self, rounds: int, python: Path | None) -> None:
        """Measure so often, with peers if there is an interpreter for them."""
        self.rounds = rounds
        self.python = python
        self.temporary = tempfile.TemporaryDirectory(prefix="gardenpath-bench-")
        self.directory = Path(self.temporary.name)

    def __enter__(self) -> Bench:
        """Nothing is done before it is needed."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove all files."""
        self.temporary.cleanup()

    # Commands.

    def run(self, *command: object, output: bool = True) -> str:
        """Run a command, which must succeed, in the repository."""
        words = [str(word) for word in command]
        where = subprocess.PIPE if output else subprocess.DEVNULL
        try:
            done = subprocess.run(
                words, cwd=REPOSITORY, stdout=where, stderr=subprocess.PIPE, text=True, check=False
            )
        except OSError as error:
            raise Failure(f"{words[0]}: {error.strerror}") from None
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise Failure(f"{' '.join(words)}: {last}")
        return done.stdout or ""

    def cargo(self, *words: object) -> str:
        """Run cargo."""
        return self.run("cargo", *words)

    @cached_property
    def program(self) -> Path:
        """The program, built from these sources unless GARDENPATH_BIN names another."""
        if named := os.environ.get("GARDENPATH_BIN"):
            return Path(named).resolve()
        self.cargo("build", "--release", "--quiet")
        return REPOSITORY / "target/release/gardenpath"

    def seconds(self, *words: object) -> float:
        """The median time of a command of the program, its output thrown away."""
        times = []
        for _ in range(self.rounds):
            begin = time.perf_counter()
            self.run(self.program, *words, output=False)
            times.append(time.perf_counter() - begin)
        return statistics.median(times)

    # What rows share.

    @cached_property
    def limits(self) -> dict[str, float]:
        """What one core can do at best, per second."""
        limits: dict[str, float] = json.loads(self.cargo("run", "-q", "--release", "-p", "gardenpath", "--example", "limits"))
        return limits

    def speed(self, *names: str) -> dict[str, float]:
        """Lines of `cargo bench -p gardenpath`, by the beginning of their names."""
        text = self.cargo("bench", "-q", "-p", "gardenpath", "--bench", "speed", "--", *names)
        return speeds(text)

    @cached_property
    def kernels(self) -> dict[str, float]:
        """Speeds of the core that several rows are compared with."""
        return self.speed("sample", "inside", "outside")

    @cached_property
    def grammar(self) -> Path:
        """v = 16, L = 3, f = 1/4."""
        path = self.directory / "grammar.pcfg"
        self.run(self.program, "grammar", "sample", "--vocab", 16, "--depth", 3, "--fraction", 0.25, "--seed", 7, "-o", path)
        return path

    @cached_property
    def corpus(self) -> Path:
        """A million of its sentences."""
        path = self.directory / "corpus.parquet"
        self.run(self.program, "corpus", "sample", self.grammar, "--samples", "1e6", "--seed", 1, "-o", path)
        return path

    def peer(self, script: str, *words: object) -> list[dict[str, Any]]:
        """Results of a script with peers; none if they are not installed."""
        if self.python is None:
            return []
        needed = "import torch, safetensors" if script == "networks.py" else "import torch, nltk, genlm.grammar"
        installed = subprocess.run([str(self.python), "-c", needed], capture_output=True, check=False)
        if installed.returncode != 0:
            print(f"{script}: {self.python} lacks packages of bench/requirements.txt", file=sys.stderr)
            return []
        path = self.directory / "peer.json"
        self.run(self.python, REPOSITORY / "bench" / script, *words, "--rounds", self.rounds, "--json", path)
        found: list[dict[str, Any]] = json.loads(path.read_text())["results"]
        return found


def speeds(text: str) -> dict[str, float]:
    """The speeds that the benchmark of the core prints, in units per second or in seconds."""
    factors = {"M": 1e6, "s": 1.0, "ms": 1e-3, "us": 1e-6}
    found = {}
    for line in text.splitlines():
        if match := re.match(r"(.+?)\s{2,}([\d.]+) (M|s|ms|us)\b", line):
            found[match[1]] = float(match[2]) * factors[match[3]]
    return found


def of(speeds: dict[str, float], beginning: str) -> float:
    """The speed whose name begins so."""
    for name, speed in speeds.items():
        if name.startswith(beginning):
            return speed
    raise Failure(f"cargo bench -p gardenpath does not print {beginning!r}")


# The rows.


def inside(bench: Bench) -> Iterator[Entry]:
    """Short sentences, where look-ups dominate."""
    ratios: dict[int, float] = {}
    for result in bench.peer("peers.py", "--only", "torch", "--depths", 2, 3, "--scale", 0.3):
        ratios[result["depth"]] = statistics.median(
            b / a for a, b in zip(result["program"], result["other"], strict=True)
        )
    for depth in (2, 3):
        rate = of(bench.kernels, f"inside, L = {depth}")
        yield Entry(f"inside, L = {depth}, f = 1/4, one thread", rate / 1e6, "million sentences/s",
                    peer="PyTorch, dense tensors (the whole program is timed)", peer_ratio=ratios.get(depth))


def deep(bench: Bench) -> Iterator[Entry]:
    """Full charts, where multiplications dominate."""
    measured = bench.speed("deep")
    # Multiplications and additions of all splits of all spans, each counted once.
    for depth, tokens, flops in ((6, 244, 0.71e9), (7, 610, 15e9)):
        seconds = of(measured, f"one sentence, L = {depth}")
        yield Entry(f"inside, L = {depth}, f = 1, {tokens} tokens, one thread", seconds, "s",
                    flops / bench.limits["f64_flops"], f"{flops / 1e9:.3g} GFLOP in double precision")


def entropy(bench: Bench) -> Iterator[Entry]:
    """The class entropy, by sentences of growing length."""
    before = None
    for depth, samples in ((2, 1_000_000), (3, 300_000), (4, 30_000), (5, 3000), (6, 300)):
        seconds = bench.seconds("entropy", "--vocab", 16, "--depth", depth, "--fraction", 0.5, "--grammars", 1,
                                "--samples", samples, "--threads", 1)
        entry = Entry(f"class entropy, L = {depth}, f = 1/2, one thread", 1e6 * seconds / samples, "us")
        entry.work += " (per sentence)"
        if before is not None:
            entry.limit = before * CHILDREN**3
            exponent = math.log(entry.value / before) / math.log(CHILDREN)
            entry.limited_by = f"cubic growth from L = {depth - 1}; the exponent is {exponent:.2f}"
        before = entry.value
        yield entry


def sampling(bench: Bench) -> Iterator[Entry]:
    """Sentences from a grammar."""
    rules = sum(CHILDREN**level for level in range(3))
    yield Entry("sampling, L = 3, f = 1/4, one thread", of(bench.kernels, "sampling") / 1e6, "million tokens/s",
                bench.limits["draws"] * CHILDREN**3 / rules / 1e6, "one random number per rule")


def counting(bench: Bench) -> Iterator[Entry]:
    """Pairs and triples of adjacent tokens."""
    rate = of(bench.speed("moments"), "pairs and triples")
    yield Entry("counting pairs and triples by root, L = 3, one thread", rate / 1e6, "million tokens/s",
                bench.limits["increments"] / 2e6, "two increments per token")


def parse(bench: Bench) -> Iterator[Entry]:
    """A million sentences of a Parquet file, with all that belongs to it."""
    kernel = 1e6 / of(bench.kernels, "inside, L = 3")
    for form, option in (("JSON", ["--json"]), ("text", [])):
        for threads in (1, 2):
            seconds = bench.seconds("parse", bench.grammar, bench.corpus, "--mode", "inside", *option, "--threads", threads)
            yield Entry(f"`parse --mode inside`, 1e6 sentences, L = 3, {form}, {threads_named(threads)}", seconds, "s",
                        kernel / threads, "the kernel alone")


def corpus(bench: Bench) -> Iterator[Entry]:
    """Ten million sentences into a Parquet file."""
    tokens = 1e7 * CHILDREN**3
    for threads in (1, 2):
        path = bench.directory / "large.parquet"
        seconds = bench.seconds("corpus", "sample", bench.grammar, "--samples", "1e7", "--seed", 1, "-o", path,
                                "--threads", threads)
        path.unlink()
        yield Entry(f"`corpus sample`, 1e7 sentences to Parquet, L = 3, {threads_named(threads)}", seconds, "s",
                    tokens / of(bench.kernels, "sampling") / threads, "sampling alone")


def learn(bench: Bench) -> Iterator[Entry]:
    """The grammar of a million sentences, back from them."""
    one_pass = 1e6 / of(bench.kernels, "inside and outside")
    for threads in (1, 2):
        seconds = bench.seconds("learn", bench.corpus, "--vocab", 16, "--depth", 3, "--threads", threads)
        yield Entry(f"`learn` (exact), 1e6 sentences, L = 3, {threads_named(threads)}", seconds, "s",
                    one_pass / threads, "one pass of inside and outside")


def evaluation(bench: Bench) -> Iterator[Entry]:
    """The share of training that goes into measuring the test loss."""
    common = ["train", "--model", "cnn", "--vocab", 8, "--depth", 2, "--fraction", 0.125, "--samples", 4096,
              "--width", 128, "--seed", 1, "--threads", 1, "--json"]

    def per_step(*options: object) -> float:
        runs = [json.loads(bench.run(bench.program, *common, *options)) for _ in range(bench.rounds)]
        return statistics.median(run["seconds"] / run["steps"] for run in runs)

    # With a small test set training would end elsewhere; a step costs the same.
    whole, without = per_step(), per_step("--test-samples", 100, "--max-steps", 600)
    yield Entry("evaluation's share of the README's training run, one thread", 100 * (1 - without / whole), "%")


def step(model: str, width: int) -> Callable[[Bench], Iterator[Entry]]:
    """A step of training."""

    def measure(bench: Bench) -> Iterator[Entry]:
        bench.cargo("build", "-q", "--release", "-p", "gardenpath-nn", "--example", "step")
        program = REPOSITORY / "target/release/examples/step"
        for threads in (1, 2):
            command = [program, "--model", model, "--depth", 3, "--width", width, "--threads", threads, "--seconds", 1]
            steps = [json.loads(bench.run(*command)) for _ in range(bench.rounds)]
            entry = Entry(f"{model} step, L = 3, width {width}, {threads_named(threads)}",
                          statistics.median(run["milliseconds"] for run in steps), "ms")
            if flops := steps[0].get("flops"):
                entry.limit = 1e3 * flops / (bench.limits["f32_flops"] * threads)
                entry.limited_by = f"{flops / 1e9:.3g} GFLOP in single precision"
            for result in bench.peer("networks.py", "--only", f"{model}-depth3-width{width}", "--forms", "tuned",
                                     "--threads", threads, "--seconds", 1):
                if result["case"]["task"] == "root":
                    entry.peer = "PyTorch, tuned by hand"
                    entry.peer_ratio = statistics.median(result["ratios"])
            yield entry

    return measure


def timed(bench: Bench, *command: object) -> tuple[float, float]:
    """Seconds of real time and of all cores together."""

    def used() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    begin, before = time.perf_counter(), used()
    bench.run(*command)
    return time.perf_counter() - begin, used() - before


def build(bench: Bench) -> Iterator[Entry]:
    """The program from nothing; downloads are done before."""
    bench.cargo("fetch", "--quiet")
    target = bench.directory / "target"
    real, used = timed(bench, "cargo", "build", "--release", "--quiet", "--target-dir", target)
    yield Entry("clean build of the program", real, "s", used / (os.cpu_count() or 1), "all cores busy")


def reproduce(bench: Bench) -> Iterator[Entry]:
    """Every figure at the quick scale."""
    real, used = timed(bench, bench.program, "reproduce", "-o", bench.directory / "reproduction")
    yield Entry("`reproduce` at quick scale", real / 60, "min", used / 60 / (os.cpu_count() or 1), "all cores busy")


ROWS = {
    "inside": Row("the inside algorithm on short sentences, L = 2 and 3", inside),
    "deep": Row("one sentence with a full chart, L = 6 and 7", deep),
    "entropy": Row("the class entropy, L = 2 to 6, and how it grows", entropy),
    "sampling": Row("sampling sentences", sampling),
    "counting": Row("counting pairs and triples of tokens", counting),
    "parse": Row("`gardenpath parse`, as JSON and as text", parse),
    "corpus": Row("`gardenpath corpus sample` to Parquet", corpus),
    "learn": Row("`gardenpath learn`", learn),
    "evaluation": Row("the share of training that evaluates the test set", evaluation),
    "transformer": Row("a step of training of a transformer", step("transformer", 128)),
    "cnn": Row("a step of training of a CNN", step("cnn", 256)),
    "build": Row("a clean build of the program", build, expensive=True),
    "reproduce": Row("`gardenpath reproduce` at quick scale", reproduce, expensive=True),
}
"""By name, in the order of the table."""
