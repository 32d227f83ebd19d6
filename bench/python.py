"""What it costs to call the core from Python: the same sampling and parsing, by Rust alone and through the package, in turns.

    cargo build --release -p gardenpath --example batch && pip install . && python bench/python.py
"""

import argparse
import statistics
import subprocess
import time
from pathlib import Path

import gardenpath

BATCH = Path(__file__).parent.parent / "target" / "release" / "examples" / "batch"


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def rust(process):
    process.stdin.write("again\n")
    process.stdin.flush()
    return [float(word) for word in process.stdout.readline().split()]


def compare(depth, sentences, rounds):
    grammar = gardenpath.Grammar.sample(vocab=16, depth=depth, fraction=0.25, seed=7)
    corpus = grammar.corpus(sentences, seed=1)
    padded = corpus.padded(fill=255, dtype="uint8")
    command = [str(BATCH), str(depth), str(sentences)]
    names = ["corpus", "inside of a Corpus", "inside of a padded array"]
    ratios, python_times = {name: [] for name in names}, {name: [] for name in names}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        rust(process)
        for _ in range(rounds):
            sampling, parsing = rust(process)
            calls = [lambda: grammar.corpus(sentences, seed=1), lambda: grammar.inside(corpus), lambda: grammar.inside(padded)]
            for name, call, alone in zip(names, calls, [sampling, parsing, parsing], strict=True):
                python_times[name].append(seconds(call))
                ratios[name].append(python_times[name][-1] / alone)
    for name in names:
        median, low, high = statistics.median(ratios[name]), min(ratios[name]), max(ratios[name])
        print(f"L={depth} {name:25} {statistics.median(python_times[name]):7.3f} s, {median:.3f} times Rust alone ({low:.3f} to {high:.3f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    print(f"{gardenpath.threads()} threads, medians of {rounds} interleaved rounds, 16 symbols, f = 1/4, 1,000,000 sentences")
    for depth in (2, 3):
        compare(depth, 1_000_000, rounds)
    grammar = gardenpath.Grammar.sample(vocab=16, depth=2, fraction=0.25, seed=7)
    times = [seconds(lambda: grammar.corpus(10**7, seed=1)) for _ in range(rounds)]
    print(f"corpus(10**7) at L=2: {statistics.median(times):.3f} s ({min(times):.3f} to {max(times):.3f})")


if __name__ == "__main__":
    main()
