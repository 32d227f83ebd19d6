"""What it costs to call the core from Python: the same sampling and parsing by Rust alone and through the package, in random order.

    cargo build --release -p gardenpath --example batch && pip install . && python bench/python.py

Rust and Python are compared by the time of the processor, of all threads together, which other work on the machine disturbs less.
Linux only.
"""

import argparse
import os
import random
import statistics
import subprocess
import time
from pathlib import Path

import gardenpath

BATCH = Path(__file__).parent.parent / "target" / "release" / "examples" / "batch"
SENTENCES = 1_000_000
TICK = 1 / os.sysconf("SC_CLK_TCK")


def processor_seconds(process):
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def cost(process, call):
    before = processor_seconds(process)
    call()
    return processor_seconds(process) - before


def real_seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(depth, rounds):
    grammar = gardenpath.Grammar.sample(vocab=16, depth=depth, fraction=0.25, seed=7)
    corpus = grammar.corpus(SENTENCES, seed=1)
    padded = corpus.padded(fill=255, dtype="uint8")
    process = subprocess.Popen([BATCH, str(depth), str(SENTENCES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def rust(command):
        process.stdin.write(command + "\n")
        process.stdin.flush()
        process.stdout.readline()

    rust("inside")
    rows = {
        "corpus": ("corpus", lambda: grammar.corpus(SENTENCES, seed=1)),
        "inside of a Corpus": ("inside", lambda: grammar.inside(corpus)),
        "inside of a padded array": ("inside", lambda: grammar.inside(padded)),
    }
    for name, (command, call) in rows.items():
        sides = {"rust": (process.pid, lambda command=command: rust(command)), "python": (os.getpid(), call)}
        costs = {side: [] for side in sides}
        for _ in range(rounds):
            for side in random.sample(list(sides), 2):
                costs[side].append(cost(*sides[side]))
        median = {side: statistics.median(values) for side, values in costs.items()}
        low, high = (f(p / r for p, r in zip(costs["python"], costs["rust"], strict=True)) for f in (min, max))
        ratio = median["python"] / median["rust"]
        print(f"L={depth} {name:25} Rust {median['rust']:.3f} s, Python {median['python']:.3f} s: {ratio:.3f} ({low:.2f} to {high:.2f})")
    process.stdin.close()
    process.wait()
    for dtype, fill in {"uint8": 255, "int32": -1, "int64": -1}.items():
        padded = corpus.padded(fill, dtype)
        shares = []
        for _ in range(rounds):
            whole = real_seconds(lambda: grammar.inside(corpus))
            shares.append(real_seconds(lambda padded=padded: gardenpath.Corpus(padded, vocab=16)) / whole)
        low, high = min(shares), max(shares)
        print(f"L={depth} reading padded {dtype:6} takes {statistics.median(shares):.1%} ({low:.1%} to {high:.1%}) of an inside call")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"{gardenpath.threads()} threads, {rounds} rounds, 16 symbols, f = 1/4, {SENTENCES:,} sentences; processor time, load {os.getloadavg()[0]:.1f}")
    for depth in (2, 3):
        compare(depth, rounds)
    grammar = gardenpath.Grammar.sample(vocab=16, depth=2, fraction=0.25, seed=7)
    times = [real_seconds(lambda: grammar.corpus(10**7, seed=1)) for _ in range(rounds)]
    print(f"corpus(10**7) at L=2: {statistics.median(times):.3f} s of real time ({min(times):.3f} to {max(times):.3f})")


if __name__ == "__main__":
    main()
