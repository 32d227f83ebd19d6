"""The paper's clustering: gardenpath side by side with NumPy and scikit-learn.

Draws a grammar of depth 2 and a corpus with the program, checks that both sides find
the same rules, then times them in turns on the same Parquet file.
Prints a Markdown table; README.md says how to run it and what is compared.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from results import processor
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

REPOSITORY = Path(__file__).resolve().parents[1]

DEPTH = 2
GAMMA_BINARY, GAMMA_TERNARY = 0.85, 1.5
"""The factors of the paper's thresholds tau_2 and tau_3."""

PIECE = 1 << 14
"""Sentences counted at a time: their codes stay in a cache, which is quicker."""

BINARY_TOLERANCE = 2
"""Binary rules that may be found by one side only."""

TOLERANCE = 0.02
"""Share of the other rules that may be found by one side only."""

Counts = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Rules = dict[tuple[int, ...], int]
"""The parent of each tuple of tokens."""

Layer = tuple[Rules, Rules]
"""The binary and the ternary rules above the tokens."""

RootRules = set[tuple[int, tuple[int, ...]]]
"""Roots and what they are rewritten into."""


@dataclass(frozen=True)
class Corpus:
    """Sentences one after the other, where each begins and ends, and their roots."""

    tokens: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int32]
    roots: npt.NDArray[np.uint8]

    @classmethod
    def read(cls, path: Path, threads: int) -> Corpus:
        """Read a Parquet file."""
        table = pq.read_table(path, use_threads=threads > 1)
        lists = table["tokens"].combine_chunks()
        tokens, offsets = lists.values.to_numpy(), lists.offsets.to_numpy()
        return cls(tokens, offsets, table["root"].to_numpy())


# The peer, step by step.


def count(corpus: Corpus, vocab: int) -> tuple[Counts, Counts]:
    """Count pairs `[root, a, b]` and triples `[root, a, b, c]` of adjacent tokens.

    A pair is a triple without its last token, so only triples are counted, and the last
    pair of each sentence. Triples across two sentences get the code of a root too many.
    """
    v = np.uint32(vocab)
    across = v**4
    triples = np.zeros((vocab + 1) * vocab**3, dtype=np.int64)
    last_pairs = np.zeros(vocab**3, dtype=np.int64)
    for first in range(0, len(corpus.roots), PIECE):
        offsets = corpus.offsets[first : first + PIECE + 1]
        tokens = corpus.tokens[offsets[0] : offsets[-1]].astype(np.uint32)
        roots = corpus.roots[first : first + PIECE].astype(np.uint32)
        ends = offsets[1:] - offsets[0]
        codes = np.repeat(roots * v**3, np.diff(offsets))[:-2]
        codes += tokens[:-2] * v**2
        codes += tokens[1:-1] * v
        codes += tokens[2:]
        codes[ends[:-1] - 1] = across
        codes[ends[:-1] - 2] = across
        triples += np.bincount(codes, minlength=triples.size)
        codes = roots * v**2 + tokens[ends - 2] * v + tokens[ends - 1]
        last_pairs += np.bincount(codes, minlength=last_pairs.size)
    triples = triples[:across].reshape([vocab] * 4)
    return triples.sum(axis=3) + last_pairs.reshape([vocab] * 3), triples


def covariance(counts: Counts) -> Reals:
    """Compute N(t, y) / N - N(t) / N * N(y) / N, the roots y along the last axis."""
    joint = counts.reshape(len(counts), -1).T / counts.sum()
    centred = joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return centred.reshape(*counts.shape[1:], len(counts))


def infer_binary(pairs: Reals, seed: int) -> tuple[Rules, Reals]:
    """Cluster the long vectors by direction: the binary rules and unit centroids."""
    v = len(pairs)
    norms = np.linalg.norm(pairs, axis=2)
    kept = np.argwhere(norms > GAMMA_BINARY / v * np.sqrt(np.square(pairs).sum()))
    a, b = kept.T
    kmeans = KMeans(n_clusters=v, n_init=10, random_state=seed)
    kmeans.fit(pairs[a, b] / norms[a, b, None])
    centroids = kmeans.cluster_centers_
    centroids /= np.linalg.norm(centroids, axis=1, keepdims=True)
    return as_rules(kept, kmeans.labels_), centroids


def infer_ternary(pairs: Reals, triples: Reals, centroids: Reals) -> Rules:
    """Align what the pairs leave of the triples with the centroids."""
    corrected = triples - (pairs[:, :, None] + pairs[None]) / len(pairs)
    scores = corrected @ centroids.T
    best = scores.max(axis=3)
    kept = best > GAMMA_TERNARY * best.mean()
    return as_rules(np.argwhere(kept), scores[kept].argmax(axis=1))


def as_rules(
    children: npt.NDArray[np.int64], parents: npt.NDArray[np.integer]
) -> Rules:
    """Pair tuples of tokens with their parents."""
    tuples = map(tuple, children.tolist())
    return dict(zip(tuples, parents.tolist(), strict=True))


def count_complete(corpus: Corpus, layer: Layer, vocab: int) -> tuple[Counts, Counts]:
    """Count pairs and triples of symbols above the tokens that cover whole sentences.

    A symbol too many stands for tokens without a parent.
    """
    v, base = np.uint32(vocab), np.uint32(vocab + 1)
    above = {2: np.full(vocab**2, v), 3: np.full(vocab**3, v)}
    for rules, table in zip(layer, above.values(), strict=True):
        for children, parent in rules.items():
            table[np.ravel_multi_index(children, [vocab] * len(children))] = parent
    cuts = {arity: list(itertools.product((2, 3), repeat=arity)) for arity in (2, 3)}
    tables = {n: np.zeros(vocab * (vocab + 1) ** n, dtype=np.int64) for n in cuts}
    for first in range(0, len(corpus.roots), PIECE):
        offsets = corpus.offsets[first : first + PIECE + 1]
        tokens = corpus.tokens[offsets[0] : offsets[-1]].astype(np.uint32)
        roots = corpus.roots[first : first + PIECE].astype(np.uint32)
        lengths = np.diff(offsets)
        pairs = tokens[:-1] * v + tokens[1:]
        parents = {2: above[2][pairs], 3: above[3][pairs[:-1] * v + tokens[2:]]}
        of_length = {
            n: (roots[chosen], offsets[:-1][chosen] - offsets[0])
            for n in range(4, 10)
            if len(chosen := np.flatnonzero(lengths == n))
        }
        for arity, table in tables.items():
            pieces = [np.zeros(0, dtype=np.uint32)]
            for cut in cuts[arity]:
                if sum(cut) in of_length:
                    codes, at = of_length[sum(cut)]
                    for width in cut:
                        codes = codes * base + parents[width][at]
                        at = at + width
                    pieces.append(codes)
            table += np.bincount(np.concatenate(pieces), minlength=table.size)
    known = slice(vocab)
    pairs, triples = (t.reshape(-1, *[vocab + 1] * n) for n, t in tables.items())
    return pairs[:, known, known], triples[:, known, known, known]


def infer_root(counts: tuple[Counts, Counts]) -> RootRules:
    """Find the tuples whose covariance with a root is large, by the program's rule."""
    rules: RootRules = set()
    for arity, table in enumerate(counts, start=2):
        values = covariance(table)
        largest = np.maximum(values.max(axis=-1), 0)
        threshold = GAMMA_TERNARY * largest.mean()
        if arity == 2:
            threshold = GAMMA_BINARY * np.sqrt(np.square(largest).mean())
        found = np.argwhere(values > threshold).tolist()
        rules.update((root, tuple(children)) for *children, root in found)
    return rules


def learn(corpus: Corpus, vocab: int, seed: int) -> Layer:
    """Learn the binary and ternary rules above the tokens."""
    pair_counts, triple_counts = count(corpus, vocab)
    pairs, triples = covariance(pair_counts), covariance(triple_counts)
    binary, centroids = infer_binary(pairs, seed)
    return binary, infer_ternary(pairs, triples, centroids)


@dataclass(frozen=True)
class Program:
    """The program, its threads, and the size of the vocabulary."""

    path: Path
    threads: int
    vocab: int

    def __call__(self, *arguments: object) -> str:
        """Run the program, which must succeed; returns its standard output."""
        command = [str(self.path), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return done.stdout

    def sample(self, directory: Path, fraction: float, samples: int) -> Path:
        """Draw a grammar and a corpus."""
        grammar, corpus = directory / "g.pcfg", directory / "c.parquet"
        self(
            "grammar", "sample", "--vocab", self.vocab, "--depth", DEPTH,
            "--fraction", fraction, "--seed", 7, "-o", grammar,
        )  # fmt: skip
        self("corpus", "sample", grammar, "--samples", samples, "--seed", 1, "-o", corpus)
        return corpus

    def learn(self, corpus: Path, *options: object) -> dict[str, object]:
        """Learn a grammar; returns the program's report."""
        report = self(
            "learn", corpus, "--vocab", self.vocab, "--depth", DEPTH, "--mode", "paper",
            "--threads", self.threads, "--json", *options,
        )  # fmt: skip
        return json.loads(report)

    def rules(self, corpus: Path, learned: Path) -> tuple[Layer, RootRules]:
        """Learn a grammar; returns its rules."""
        self.learn(corpus, "-o", learned)
        layer: Layer = ({}, {})
        top: RootRules = set()
        for line in learned.read_text().splitlines():
            if found := re.match(r"A([01])_(\d+) -> (.*) \[", line):
                names = found[3].split()
                children = tuple(int(name.strip("'").split("_")[-1]) for name in names)
                if found[1] == "0":
                    top.add((int(found[2]), children))
                else:
                    layer[len(children) - 2][children] = int(found[2])
        return layer, top


def check_counts(corpus: Corpus, vocab: int, samples: int) -> None:
    """Stop if the peer's counts are not those of the corpus."""
    pairs, triples = count(corpus, vocab)
    lengths = np.diff(corpus.offsets)
    if len(corpus.roots) != samples or lengths.min() < 2:
        sys.exit(
            f"{len(corpus.roots)} sentences, the shortest of {lengths.min()} tokens"
        )
    # Sentence by sentence on the first ones; totals by root on all.
    few = 2000
    plain = np.zeros_like(pairs), np.zeros_like(triples)
    for i in range(min(few, samples)):
        words = corpus.tokens[corpus.offsets[i] : corpus.offsets[i + 1]].tolist()
        for arity, table in enumerate(plain, start=2):
            for k in range(len(words) - arity + 1):
                table[(corpus.roots[i], *words[k : k + arity])] += 1
    head = Corpus(corpus.tokens, corpus.offsets[: few + 1], corpus.roots[:few])
    if not all(map(np.array_equal, count(head, vocab), plain)):
        sys.exit(f"the counts of the first {few} sentences are wrong")
    for arity, table in enumerate((pairs, triples), start=2):
        windows = np.maximum(lengths - arity + 1, 0)
        expected = np.bincount(corpus.roots, weights=windows, minlength=vocab)
        if not np.array_equal(table.reshape(vocab, -1).sum(axis=1), expected):
            sys.exit(f"the counts of tuples of {arity} do not add up")


def same_rules(ours: Rules, theirs: Rules, names: dict[int, int]) -> int:
    """Count the tuples that both give the same parent, whose names may differ."""
    shared = ours.keys() & theirs.keys()
    return sum(names.get(theirs[children]) == ours[children] for children in shared)


def check_rules(
    ours: tuple[Layer, RootRules], theirs: tuple[Layer, RootRules]
) -> list[str]:
    """Stop if the program and the peer disagree; returns how far they agree."""
    (layer, top), (other_layer, other_top) = ours, theirs
    # A cluster of the peer is called what most of its pairs are called by the program.
    called: dict[int, list[int]] = {}
    for children, parent in other_layer[0].items():
        if children in layer[0]:
            called.setdefault(parent, []).append(layer[0][children])
    names = {parent: statistics.mode(names) for parent, names in called.items()}
    other_top = {(y, tuple(names.get(c, -1) for c in cs)) for y, cs in other_top}
    found = {
        f"{arity} rules": (len(left), len(right), same_rules(left, right, names))
        for arity, left, right in zip(
            ("binary", "ternary"), layer, other_layer, strict=True
        )
    }
    found["rules of the root"] = len(top), len(other_top), len(top & other_top)
    lines = []
    for what, (left, right, same) in found.items():
        line = f"{what}: {left} by gardenpath, {right} by the peer, {same} the same"
        print(line, file=sys.stderr)
        lines.append(line)
        most = max(left, right)
        allowed = BINARY_TOLERANCE if what == "binary rules" else TOLERANCE * most
        if same == 0 or most - same > allowed:
            sys.exit("the program and the peer disagree")
    return lines


@dataclass
class Result:
    """Times of the program and the peer, in seconds per round."""

    what: str
    program: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """How many times quicker the program is, in every round."""
        return [b / a for a, b in zip(self.program, self.peer, strict=True)]

    def row(self) -> str:
        """The result as a row of the table."""
        ratios = self.ratios
        cells = [
            self.what,
            *(f"{statistics.median(s) * 1000:.0f}" for s in (self.program, self.peer)),
            f"{statistics.median(ratios):.3g}",
            f"{min(ratios):.3g}-{max(ratios):.3g}",
        ]
        return "| " + " | ".join(cells) + " |"


HEADER = """\
| timed | gardenpath, ms | NumPy and scikit-learn, ms | ratio | range |
|---|---|---|---|---|"""


def compare(program: Program, path: Path, rounds: int) -> list[Result]:
    """Time both sides in turns."""
    names = [
        "learning; peer without the root's rules",
        "learning, the whole grammar",
        "reading and learning; peer without the root's rules",
        "reading and learning, the whole grammar",
    ]
    results = [Result(name) for name in names]

    def ours() -> None:
        begin = time.perf_counter()
        report = program.learn(path)
        whole = time.perf_counter() - begin
        learning = float(str(report["seconds"]))
        for result, seconds in zip(
            results, (learning, learning, whole, whole), strict=True
        ):
            result.program.append(seconds)

    def theirs(turn: int) -> None:
        begin = time.perf_counter()
        corpus = Corpus.read(path, program.threads)
        read = time.perf_counter()
        layer = learn(corpus, program.vocab, seed=turn)
        layered = time.perf_counter()
        infer_root(count_complete(corpus, layer, program.vocab))
        end = time.perf_counter()
        times = layered - read, end - read, layered - begin, end - begin
        for result, seconds in zip(results, times, strict=True):
            result.peer.append(seconds)

    for turn in range(rounds):
        if turn % 2 == 0:
            ours()
            theirs(turn)
        else:
            theirs(turn)
            ours()
        print(f"round {turn + 1} of {rounds}", file=sys.stderr)
    return results


def whole_number(text: str) -> int:
    """Read a whole number, also as 1e6."""
    number = float(text)
    if number < 1 or number != int(number):
        raise argparse.ArgumentTypeError(f"expected a whole number, not {text}")
    return int(number)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("GARDENPATH_BIN", REPOSITORY / "target/release/gardenpath")
    parser.add_argument("--program", type=Path, default=Path(default))
    parser.add_argument("--vocab", type=int, default=16)
    parser.add_argument("--fraction", type=float, default=0.25)
    parser.add_argument(
        "--samples", type=whole_number, default=1_000_000, help="sentences, also as 8e6"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1, help="of both sides")
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
    pa.set_cpu_count(options.threads)
    program = Program(options.program.resolve(), options.threads, options.vocab)
    with (
        tempfile.TemporaryDirectory() as directory,
        threadpool_limits(options.threads),
    ):
        path = program.sample(Path(directory), options.fraction, options.samples)
        corpus = Corpus.read(path, options.threads)
        check_counts(corpus, options.vocab, options.samples)
        layer = learn(corpus, options.vocab, seed=0)
        top = infer_root(count_complete(corpus, layer, options.vocab))
        ours = program.rules(path, Path(directory) / "learned.pcfg")
        agreement = check_rules(ours, (layer, top))
        del corpus
        results = compare(program, path, options.rounds)
    setting = {
        "vocab": options.vocab,
        "fraction": options.fraction,
        "samples": options.samples,
        "rounds": options.rounds,
        "threads": options.threads,
        "processor": processor(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scikit-learn", "pyarrow")},
    }
    print(HEADER)
    for result in results:
        print(result.row())
    print()
    print(", ".join(f"{name} {value}" for name, value in setting.items()))
    for line in agreement:
        print(line)
    if options.json:
        document = {
            "setting": setting,
            "agreement": agreement,
            "results": [{**asdict(r), "ratios": r.ratios} for r in results],
        }
        options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
