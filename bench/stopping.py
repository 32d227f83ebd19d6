#!/usr/bin/env python3
"""How much earlier could training stop? Trains networks to the end of the usual stopping rule, and applies shorter patience to their curves.

    bench/stopping.py PROGRAM DIRECTORY [--seeds 11,12]

Runs are kept in DIRECTORY, so that a second call only reads them. A shorter patience never changes a step, only the last one: reading off
where it would have stopped is exact.
"""
import argparse
import json
import math
import subprocess
from pathlib import Path

# Model, depth, vocabulary, fraction, sentences, width, further options: two seeds of each.
SETTINGS = [
    ("cnn", 2, 8, 1 / 8, 512, 64), ("cnn", 2, 8, 1 / 8, 2048, 64), ("cnn", 2, 16, 1 / 16, 8192, 64), ("cnn", 2, 12, 1 / 12, 9216, 128),
    ("inn", 2, 8, 1 / 8, 512, 64), ("inn", 2, 16, 1 / 16, 4096, 64), ("inn", 2, 12, 1 / 12, 9216, 128),
    ("cnn", 2, 4, 0.6, 4096, 64), ("cnn", 2, 4, 0.6, 16384, 64), ("cnn", 2, 5, 0.8, 16384, 64),
    ("cnn", 3, 4, 1 / 4, 4096, 64), ("cnn", 3, 5, 1 / 4, 6250, 64), ("cnn", 3, 8, 1 / 8, 12800, 64), ("cnn", 3, 8, 1 / 8, 51200, 64),
    ("inn", 3, 8, 1 / 8, 12800, 64), ("inn", 3, 8, 1 / 8, 25600, 64),
    ("transformer", 2, 8, 1 / 8, 2048, 64), ("transformer", 2, 8, 1 / 8, 8192, 64), ("transformer", 2, 12, 1 / 12, 4608, 64),
]
USUAL, SHORTER = 2.0, (1.5, 1.4, 1.3)
# As in crates/gardenpath-nn/src/train.rs.
MIN_STEPS, IMPROVEMENT, GUESSES, RISE, RISE_RECORDS = 2000, 0.998, 0.99, 0.05, 4


def curve(program: str, directory: Path, setting: tuple, seed: int) -> list[dict]:
    """The measurements of a run."""
    model, depth, vocab, fraction, samples, width = setting
    run = directory / f"{model}-{depth}-{vocab}-{fraction:.3f}-{samples}-{width}-{seed}"
    subprocess.run(
        [program, "train", "--model", model, "--depth", str(depth), "--vocab", str(vocab), "--fraction", repr(fraction), "--samples",
         str(samples), "--width", str(width), "--seed", str(seed), "--test-samples", "5000", "-o", run],
        check=True, capture_output=True)
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


def stopped(records: list[dict], patience: float) -> list[dict]:
    """The measurements up to where training stops with this patience."""
    lowest, improved = math.inf, 0
    for number, record in enumerate(records, 1):
        if record["normalized_loss"] < lowest * IMPROVEMENT:
            lowest, improved = record["normalized_loss"], record["step"]
        recent = [one["normalized_loss"] for one in records[max(0, number - RISE_RECORDS):number]]
        has_risen = len(recent) == RISE_RECORDS and min(recent) > best(records[:number]) + RISE
        if has_risen or lowest <= GUESSES and record["step"] >= max(int(improved * patience), MIN_STEPS):
            return records[:number]
    return records


def best(records: list[dict]) -> float:
    """The lowest loss, relative to guessing."""
    return min(record["normalized_loss"] for record in records)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--seeds", default="11,12")
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    curves = [curve(arguments.program, arguments.directory, setting, int(seed))
              for setting in SETTINGS for seed in arguments.seeds.split(",")]
    steps = sum(records[-1]["step"] for records in curves)
    waiting = 1 - sum(min(records, key=lambda one: one["test_loss"])["step"] for records in curves) / steps
    assert all(stopped(records, USUAL) == records for records in curves), "this is not the program's stopping rule"
    print(f"{len(curves)} runs of {steps:,} steps; {waiting:.0%} of them after the best loss\n")
    print("| patience | steps saved | best loss, mean change | largest | runs that change |\n|---|---|---|---|---|")
    for patience in SHORTER:
        shorter = [stopped(records, patience) for records in curves]
        saved = 1 - sum(records[-1]["step"] for records in shorter) / steps
        changes = [best(short) - best(records) for short, records in zip(shorter, curves)]
        print(f"| {patience} | {saved:.0%} | {sum(changes) / len(changes):+.4f} | {max(changes):+.4f} "
              f"| {sum(change > 0 for change in changes)} |")


if __name__ == "__main__":
    main()
