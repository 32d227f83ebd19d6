"""The inside algorithm: gardenpath side by side with NLTK, genlm-grammar and PyTorch.

Draws a grammar and sentences with the program, checks that everybody computes the same
probabilities, then times the program and each peer in turns on the same sentences.
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
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

import torch
from genlm.grammar import CFG, Earley, EarleyLM, Float
from genlm.grammar.cfglm import EOS
from nltk import PCFG
from nltk.parse.chart import EdgeI, LeafEdge
from nltk.parse.earleychart import IncrementalLeftCornerChartParser
from nltk.parse.pchart import InsideChartParser
from results import processor
from torch_inside import Batches, LayeredRules, TorchInside

REPOSITORY = Path(__file__).resolve().parents[1]

Sentence = list[int]
Run = Callable[[], Sequence[float]]
"""Computes ln P(sentence) of the sentences it was made for."""


@dataclass(frozen=True)
class Grammar:
    """A sampled grammar: its file, and NLTK's reading of it."""

    path: Path
    pcfg: PCFG
    vocab: int
    depth: int

    def layered(self) -> LayeredRules:
        """The rules as dense tensors."""
        shape = [self.vocab] * 4
        zeros = torch.zeros
        binary = [zeros(shape[:3], dtype=torch.float64) for _ in range(self.depth)]
        ternary = [zeros(shape, dtype=torch.float64) for _ in range(self.depth)]
        for rule in self.pcfg.productions():
            if rule.lhs() == self.pcfg.start():
                continue
            level, parent = map(int, rule.lhs().symbol()[1:].split("_"))
            children = [int(str(child).split("_")[-1]) for child in rule.rhs()]
            layer = (binary if len(children) == 2 else ternary)[level]
            layer[(parent, *children)] = rule.prob()
        return LayeredRules(binary, ternary)


# The peers. Each gets its sentences and prepares what it can before the clock starts.


def torch_dense(grammar: Grammar, sentences: list[Sentence]) -> Run:
    """The paper's tensor form in PyTorch, batched over sentences of one length."""
    inside = TorchInside(grammar.layered())
    batches = Batches(sentences, size={2: 128, 3: 64}.get(grammar.depth, 16))
    batches.run(inside)  # The indices of every length are now known.

    def run() -> Sequence[float]:
        # The prior over the classes is uniform.
        return batches.run(inside).mean(dim=1).log().tolist()

    return run


def rules_of(grammar: Grammar) -> CFG:
    """The rules for genlm-grammar."""
    words = {str(k) for k in range(grammar.vocab)}
    cfg = CFG(R=Float, S=grammar.pcfg.start().symbol(), V=words)
    for rule in grammar.pcfg.productions():
        cfg.add(rule.prob(), rule.lhs().symbol(), *map(str, rule.rhs()))
    return cfg


def genlm_earley(grammar: Grammar, sentences: list[Sentence]) -> Run:
    """Earley's algorithm of genlm-grammar."""
    earley = Earley(rules_of(grammar))
    spelled = [list(map(str, sentence)) for sentence in sentences]

    def run() -> Sequence[float]:
        earley.clear_cache()  # Otherwise the second run would only look up.
        return [math.log(earley(words)) for words in spelled]

    return run


def genlm_next_token(grammar: Grammar, sentences: list[Sentence]) -> Run:
    """genlm-grammar's language model: the next token after each beginning."""
    model = EarleyLM(rules_of(grammar))
    spelled = [tuple(map(str, sentence)) for sentence in sentences]

    def log_probability(words: tuple[str, ...]) -> float:
        rows = [model.p_next(words[:n]) for n in range(len(words) + 1)]
        chosen = zip(rows, (*words, EOS), strict=True)
        return sum(math.log(row[word]) for row, word in chosen)

    def run() -> Sequence[float]:
        model.clear_cache()
        return list(map(log_probability, spelled))

    return run


def nltk_left_corner(grammar: Grammar, sentences: list[Sentence]) -> Run:
    """NLTK's quickest chart parser, and a sum over its packed chart."""
    parser = IncrementalLeftCornerChartParser(grammar.pcfg, max_time=None)
    start = grammar.pcfg.start()
    rules = {(r.lhs(), r.rhs()): r.prob() for r in grammar.pcfg.productions()}
    spelled = [list(map(str, sentence)) for sentence in sentences]

    def probability(words: list[str]) -> float:
        chart = parser.chart_parse(words)
        known: dict[EdgeI, float] = {}

        def inside(edge: EdgeI) -> float:
            if isinstance(edge, LeafEdge):
                return 1.0
            if edge not in known:
                trees = chart.child_pointer_lists(edge)
                total = sum(math.prod(map(inside, children)) for children in trees)
                known[edge] = rules[edge.lhs(), edge.rhs()] * total
            return known[edge]

        span = chart.select(start=0, end=len(words), lhs=start, is_complete=True)
        return sum(map(inside, span))

    return lambda: [math.log(probability(words)) for words in spelled]


def nltk_inside(grammar: Grammar, sentences: list[Sentence]) -> Run:
    """NLTK's probabilistic chart parser; the probabilities of all trees are summed."""
    parser = InsideChartParser(grammar.pcfg)
    spelled = [list(map(str, sentence)) for sentence in sentences]
    return lambda: [
        math.log(sum(tree.prob() for tree in parser.parse(words))) for words in spelled
    ]


@dataclass(frozen=True)
class Peer:
    """A peer, and how many sentences it gets at each depth."""

    name: str
    prepare: Callable[[Grammar, list[Sentence]], Run]
    sentences: dict[int, int]
    next_token: bool = False
    """Whether it predicts the next token after each beginning; otherwise it parses."""


PEERS = [
    Peer("PyTorch, dense tensors", torch_dense, {2: 50_000, 3: 8_000, 4: 600}),
    Peer("genlm-grammar Earley", genlm_earley, {2: 100, 3: 40, 4: 15}),
    Peer(
        "NLTK IncrementalLeftCornerChartParser", nltk_left_corner, {2: 60, 3: 20, 4: 8}
    ),
    Peer("NLTK InsideChartParser", nltk_inside, {2: 15, 3: 3}),
    Peer("genlm-grammar EarleyLM", genlm_next_token, {2: 12, 3: 4}, next_token=True),
]

PROGRAM_SENTENCES = {2: 500_000, 3: 100_000, 4: 20_000}
"""What the program parses at least in one run: the peer's sentences, repeated."""


@dataclass
class Result:
    """Times of the program and one peer, in seconds per sentence and round."""

    depth: int
    peer: str
    peer_sentences: int
    program_sentences: int
    program: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """How many times quicker the program is, in every round."""
        return [b / a for a, b in zip(self.program, self.other, strict=True)]

    def row(self) -> str:
        """The result as a row of the table."""
        ours, theirs = map(statistics.median, (self.program, self.other))
        ratios = self.ratios
        middle = shown(statistics.median(ratios))
        ends = f"{shown(min(ratios))}-{shown(max(ratios))}"
        cells = [
            self.depth,
            self.peer,
            shown(1 / ours),
            shown(1 / theirs),
            middle,
            ends,
        ]
        return "| " + " | ".join(map(str, cells)) + " |"


HEADER = """\
| depth | peer | gardenpath, sentences/s | peer, sentences/s | ratio | range |
|---|---|---|---|---|---|"""


def shown(value: float) -> str:
    """Write a positive number with three digits or as a whole number."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


@dataclass(frozen=True)
class Program:
    """The program, its threads, and a directory for its files."""

    path: Path
    threads: int
    directory: Path

    def __call__(self, *arguments: object) -> None:
        """Run the program; it must succeed."""
        command = [str(self.path), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")

    def grammar(self, vocab: int, depth: int, fraction: float, seed: int) -> Grammar:
        """Draw a grammar."""
        path = self.directory / f"depth{depth}.pcfg"
        self(
            "grammar", "sample", "--vocab", vocab, "--depth", depth,
            "--fraction", fraction, "--seed", seed, "-o", path,
        )  # fmt: skip
        return Grammar(path, PCFG.fromstring(path.read_text()), vocab, depth)

    def sentences(self, grammar: Grammar, count: int, seed: int) -> list[Sentence]:
        """Draw sentences."""
        path = self.directory / f"depth{grammar.depth}.jsonl"
        self("corpus", "sample", grammar.path, "--samples", count, "--seed", seed,
             "-o", path)  # fmt: skip
        with path.open() as lines:
            return [json.loads(line)["tokens"] for line in lines]

    def corpus(self, name: str, sentences: list[Sentence], times: int) -> Path:
        """Write sentences into a file, all of them several times."""
        path = self.directory / f"{name}.jsonl"
        lines = [json.dumps({"tokens": tokens, "root": 0}) for tokens in sentences]
        text = "\n".join(lines) + "\n"
        with path.open("w") as file:
            for _ in range(times):
                file.write(text)
        return path

    def command(self, grammar: Grammar, corpus: Path, next_token: bool) -> list[str]:
        """The command that is timed."""
        name, mode = ("predict", "--task=next") if next_token else ("parse", "--mode=inside")
        options = [mode, "--json", "--threads", str(self.threads)]
        return [str(self.path), name, str(grammar.path), str(corpus), *options]

    def logprobs(self, grammar: Grammar, corpus: Path, next_token: bool) -> list[float]:
        """Compute ln P(sentence) of every sentence of a file."""
        command = self.command(grammar, corpus, next_token)
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        values = []
        for line in done.stdout.splitlines():
            if next_token:
                values.append(json.loads(line)["logprob"])
                continue
            possible = [p for p in json.loads(line)["logprob"] if p is not None]
            top = max(possible)
            total = sum(math.exp(p - top) for p in possible)
            values.append(top + math.log(total / grammar.vocab))
        return values

    def seconds(self, grammar: Grammar, corpus: Path, next_token: bool) -> float:
        """Time the program from start to end, its output thrown away."""
        command = self.command(grammar, corpus, next_token)
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin


def check(peer: str, ours: Sequence[float], theirs: Sequence[float]) -> None:
    """Stop if the program and a peer disagree."""
    if len(ours) != len(theirs):
        sys.exit(f"{peer}: {len(ours)} and {len(theirs)} results")
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if not math.isclose(a, b, rel_tol=1e-10, abs_tol=1e-10):
            sys.exit(f"{peer}: sentence {k}: ln P is {a} here and {b} there")


def compare(
    program: Program, grammar: Grammar, peers: list[Peer], rounds: int, scale: float
) -> list[Result]:
    """Check and time all peers at one depth."""
    depth = grammar.depth
    counts = {
        peer.name: max(1, round(scale * peer.sentences[depth]))
        for peer in peers
        if depth in peer.sentences
    }
    least = max(1, round(scale * PROGRAM_SENTENCES.get(depth, 0)))
    pool = program.sentences(grammar, max(counts.values()), seed=1)
    turns: list[tuple[Result, Path, Run, bool]] = []
    for peer in peers:
        if peer.name not in counts:
            continue
        own = pool[: counts[peer.name]]
        times = math.ceil(least / len(own))
        run = peer.prepare(grammar, own)
        name = f"depth{depth}.{len(own)}"
        once = program.corpus(f"{name}.once", own, 1)
        check(peer.name, program.logprobs(grammar, once, peer.next_token), run())
        result = Result(depth, peer.name, len(own), len(own) * times)
        corpus = program.corpus(name, own, times)
        turns.append((result, corpus, run, peer.next_token))

    for turn in range(rounds):
        for result, corpus, run, next_token in turns:

            def ours(
                result: Result = result, corpus: Path = corpus, next_token: bool = next_token
            ) -> None:
                seconds = program.seconds(grammar, corpus, next_token)
                result.program.append(seconds / result.program_sentences)

            def theirs(result: Result = result, run: Run = run) -> None:
                begin = time.perf_counter()
                run()
                seconds = time.perf_counter() - begin
                result.other.append(seconds / result.peer_sentences)

            for part in (ours, theirs) if turn % 2 == 0 else (theirs, ours):
                part()
        print(f"depth {depth}: round {turn + 1} of {rounds}", file=sys.stderr)
    return [result for result, *_ in turns]


def startup(program: Program, grammar: Grammar) -> float:
    """Time the program on a single sentence: the smallest of five runs."""
    corpus = program.corpus("single", program.sentences(grammar, 1, seed=1), 1)
    return min(program.seconds(grammar, corpus, False) for _ in range(5))


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("GARDENPATH_BIN", REPOSITORY / "target/release/gardenpath")
    parser.add_argument("--program", type=Path, default=Path(default))
    parser.add_argument("--vocab", type=int, default=16)
    parser.add_argument("--fraction", type=float, default=0.25)
    parser.add_argument("--depths", type=int, nargs="+", default=[2, 3, 4])
    parser.add_argument("--seed", type=int, default=1, help="of the grammars")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1, help="program and PyTorch")
    parser.add_argument("--scale", type=float, default=1.0, help="of sentence numbers")
    parser.add_argument("--only", default="", help="peers whose name contains this")
    parser.add_argument("--json", type=Path, help="write all measurements to a file")
    return parser.parse_args()


def main() -> None:
    """Run the comparison."""
    options = arguments()
    if not options.program.is_file():
        sys.exit(
            f"the program is not at {options.program}: run `cargo build --release`, "
            "or name it with --program or GARDENPATH_BIN"
        )
    torch.set_num_threads(options.threads)
    peers = [peer for peer in PEERS if options.only.lower() in peer.name.lower()]
    results: list[Result] = []
    starts: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as directory:
        program = Program(options.program.resolve(), options.threads, Path(directory))
        for depth in options.depths:
            chosen = [peer for peer in peers if depth in peer.sentences]
            if not chosen:
                sys.exit(f"no peer for depth {depth}")
            grammar = program.grammar(
                options.vocab, depth, options.fraction, options.seed
            )
            starts[depth] = startup(program, grammar)
            results += compare(program, grammar, chosen, options.rounds, options.scale)
    setting = {
        "vocab": options.vocab,
        "fraction": options.fraction,
        "rounds": options.rounds,
        "threads": options.threads,
        "processor": processor(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "nltk", "genlm-grammar")},
    }
    print(HEADER)
    for result in results:
        print(result.row())
    print()
    print(", ".join(f"{name} {value}" for name, value in setting.items()))
    for depth, seconds in starts.items():
        print(f"depth {depth}: {seconds * 1000:.1f} ms for a single sentence")
    if options.json:
        document = {
            "setting": setting,
            "single_sentence_seconds": starts,
            "results": [{**asdict(r), "ratios": r.ratios} for r in results],
        }
        options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
