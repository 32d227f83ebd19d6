//! Every option of every command has an effect or is refused: one table row each.

mod common;

use clap::CommandFactory;
use common::Lab;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fs;

/// A command, one of its options, the other arguments, and the option with a value that changes the output.
type Row = (&'static str, &'static str, &'static str, &'static str);

const SAMPLE: &str = "--vocab 8 --depth 2";
const ENTROPY: &str = "--vocab 4 --depth 2 --fraction 3/4 --grammars 2 --samples 20";
const SNR: &str = "--vocab 4 --depth 2 --grammars 2";
const LEARN: &str = "c.jsonl --vocab 4 --depth 2";
const TRAIN: &str =
    "--model cnn --vocab 4 --depth 2 --samples 200 --width 8 --max-steps 60 --min-steps 30 --test-samples 100";
const TRANSFORMER: &str =
    "--model transformer --vocab 4 --depth 2 --samples 200 --width 16 --max-steps 60 --min-steps 30 --test-samples 100";
const MASKED: &str = "--model transformer --task masked --vocab 4 --depth 2 --samples 200 --width 16 --max-steps 60 --min-steps 30 --test-samples 100";
const PROBE: &str = "run --samples 100 --test-samples 50 --exchanged 20";
const MUP: &str = "--model cnn --widths 8,16 --steps 2";

/// What each option changes. If the other arguments contain the option already, the second value replaces it.
const EFFECTS: &[Row] = &[
    ("grammar sample", "--vocab", "--vocab 8 --depth 2", "--vocab 6"),
    ("grammar sample", "--depth", "--vocab 8 --depth 2", "--depth 3"),
    ("grammar sample", "--fraction", SAMPLE, "--fraction 1/vocab"),
    (
        "grammar sample",
        "--binary-fraction",
        "--vocab 8 --depth 2 --binary-fraction 0.25 --ternary-fraction 0.25",
        "--binary-fraction 1/2",
    ),
    (
        "grammar sample",
        "--ternary-fraction",
        "--vocab 8 --depth 2 --binary-fraction 0.25 --ternary-fraction 0.25",
        "--ternary-fraction 0.5",
    ),
    ("grammar sample", "--binary-rules", "--vocab 8 --depth 2 --binary-rules 2 --ternary-rules 2", "--binary-rules 3"),
    (
        "grammar sample",
        "--ternary-rules",
        "--vocab 8 --depth 2 --binary-rules 2 --ternary-rules 2",
        "--ternary-rules 3",
    ),
    ("grammar sample", "--p-binary", SAMPLE, "--p-binary 0.3"),
    ("grammar sample", "--zipf", SAMPLE, "--zipf 1"),
    ("grammar sample", "--non-overlapping", SAMPLE, "--non-overlapping"),
    ("grammar sample", "--arities", SAMPLE, "--arities 2:0.4,4:0.6 --fraction 0.1"),
    ("grammar sample", "--fractions", SAMPLE, "--fractions 3:1/2"),
    ("grammar sample", "--rules", SAMPLE, "--rules 2:3"),
    ("grammar sample", "--classes", SAMPLE, "--classes 3"),
    ("grammar sample", "--sizes", "--sizes 3,4,5", "--sizes 3,5,5"),
    ("grammar sample", "--cover", "--vocab 20 --depth 2 --arities 2:1 --rules 2:1", "--cover"),
    ("grammar sample", "--class-entropy", SAMPLE, "--class-entropy 0.2"),
    ("grammar sample", "--seed", SAMPLE, "--seed 1"),
    ("grammar sample", "--output", SAMPLE, "--output new.pcfg"),
    ("grammar convert", "--output", "g.pcfg", "--output new.pcfg"),
    ("grammar convert", "--normalize", "rounded.pcfg", "--normalize"),
    ("corpus sample", "--samples", "g.pcfg --samples 10", "--samples 11"),
    ("corpus sample", "--seed", "g.pcfg --samples 10", "--seed 1"),
    ("corpus sample", "--first", "g.pcfg --samples 10", "--first 1"),
    ("corpus sample", "--trees", "g.pcfg --samples 10", "--trees"),
    ("corpus sample", "--output", "g.pcfg --samples 10", "--output new.parquet"),
    ("corpus info", "--samples", "g.pcfg --samples 10", "--samples 11"),
    ("corpus info", "--seed", "g.pcfg --samples 10", "--seed 1"),
    ("corpus info", "--first", "g.pcfg --samples 10", "--first 10"),
    ("parse", "--mode", "g.pcfg c.jsonl", "--mode count"),
    ("parse", "--seed", "g.pcfg c.jsonl --mode sample", "--seed 1"),
    ("parse", "--sentence", "g.pcfg --sentence \"0 1 2 3\"", "--sentence \"0 1 2 2\""),
    ("parse", "--limit", "ambiguous.pcfg c.jsonl --mode kbest", "--limit 1"),
    ("parse", "--limit", "ambiguous.pcfg --sentence \"0 1 2 3 3 2\"", "--limit 1"),
    ("parse", "--svg", "ambiguous.pcfg --sentence \"0 1 2 3 3 2\"", "--svg new.svg"),
    ("predict", "--task", "g.pcfg c.jsonl --task next", "--task next-known"),
    ("predict", "--mask", "g.pcfg c.jsonl --task masked", "--mask 0.5"),
    ("predict", "--mask-at", "g.pcfg c.jsonl --task masked", "--mask-at 1,3"),
    ("predict", "--noise", "g.pcfg c.jsonl --task noisy", "--noise 0.5"),
    ("predict", "--level", "g.pcfg c.jsonl --task hidden", "--level 1"),
    ("predict", "--prefix", "g.pcfg c.jsonl --task hidden", "--prefix"),
    ("predict", "--seed", "g.pcfg c.jsonl --task masked", "--seed 1"),
    ("floor", "--task", "g.pcfg --task next --samples 50", "--task next-known"),
    ("floor", "--levels", "g.pcfg --task next --samples 50", "--levels"),
    ("floor", "--mask", "g.pcfg --task masked --samples 50", "--mask 0.5"),
    ("floor", "--noise", "g.pcfg --task noisy --samples 50", "--noise 0.5"),
    ("floor", "--samples", "g.pcfg --task next --samples 50", "--samples 60"),
    ("floor", "--seed", "g.pcfg --task next --samples 50", "--seed 1"),
    ("floor", "--corpus", "g.pcfg --task root", "--corpus c.jsonl"),
    ("read", "--sentence", "g.pcfg --sentence \"0 1 2 3\"", "--sentence \"0 1 2 2\""),
    ("read", "--svg", "g.pcfg --sentence \"0 1 2 3\"", "--svg new.svg"),
    ("entropy", "--depth", ENTROPY, "--depth 1"),
    ("entropy", "--vocab", ENTROPY, "--vocab 5"),
    ("entropy", "--fraction", ENTROPY, "--fraction 1/2,1/vocab"),
    ("entropy", "--p-binary", ENTROPY, "--p-binary 0.3"),
    ("entropy", "--zipf", ENTROPY, "--zipf 1"),
    ("entropy", "--non-overlapping", "--vocab 8 --depth 2 --grammars 2 --samples 50", "--non-overlapping"),
    ("entropy", "--arities", ENTROPY, "--arities 2:0.4,4:0.6 --fraction 0.1"),
    ("entropy", "--fractions", ENTROPY, "--fractions 3:1/2"),
    ("entropy", "--rules", ENTROPY, "--rules 2:2"),
    ("entropy", "--classes", ENTROPY, "--classes 3"),
    ("entropy", "--sizes", "--sizes 3,4,5 --fraction 3/4 --grammars 2 --samples 20", "--sizes 3,5,5"),
    (
        "entropy",
        "--cover",
        "--sizes 3,12,12 --arities 1:0.5,2:0.5 --rules 1:1,2:3 --grammars 4 --samples 200",
        "--cover",
    ),
    ("entropy", "--grammars", ENTROPY, "--grammars 3"),
    ("entropy", "--samples", ENTROPY, "--samples 30"),
    ("entropy", "--seed", ENTROPY, "--seed 1"),
    ("learn", "--grammar", "--grammar g.pcfg --samples 2000", "--grammar ambiguous.pcfg"),
    ("learn", "--samples", "--grammar g.pcfg --samples 2000", "--samples 100"),
    ("learn", "--seed", "--grammar g.pcfg --samples 500", "--seed 1"),
    ("learn", "--vocab", LEARN, "--vocab 3"),
    ("learn", "--depth", "longer.jsonl --vocab 4 --depth 2", "--depth 3"),
    ("learn", "--arities", LEARN, "--arities 2,3,4"),
    ("learn", "--p-binary", "c.jsonl --vocab 4 --depth 2 --mode paper -o learned.pcfg", "--p-binary 0.3"),
    ("learn", "--noise", "noisy.jsonl --vocab 4 --depth 2", "--noise 0.0001"),
    ("learn", "--strict", "odd.jsonl --vocab 4 --depth 2", "--strict"),
    ("learn", "--unlabelled", LEARN, "--unlabelled"),
    ("learn", "--mode", LEARN, "--mode em"),
    ("learn", "--alignment", "c.jsonl --vocab 4 --depth 2 --mode paper -o learned.pcfg", "--alignment cosine"),
    ("learn", "--gamma-binary", "c.jsonl --vocab 4 --depth 2 --mode paper -o learned.pcfg", "--gamma-binary 1.1"),
    ("learn", "--gamma-ternary", "c.jsonl --vocab 4 --depth 2 --mode paper -o learned.pcfg", "--gamma-ternary 5"),
    ("learn", "--starts", "c.jsonl --vocab 4 --depth 2 --mode em --rounds 2 --starts 1 -o learned.pcfg", "--starts 6"),
    ("learn", "--rounds", "c.jsonl --vocab 4 --depth 2 --mode em -o learned.pcfg", "--rounds 2"),
    ("learn", "--truth", LEARN, "--truth g.pcfg"),
    ("learn", "--test", LEARN, "--test odd.jsonl"),
    ("learn", "--output", LEARN, "--output learned.pcfg"),
    ("moments", "--samples", "g.pcfg --samples 10 -o m.safetensors", "--samples exact"),
    ("moments", "--seed", "g.pcfg --samples 10 -o m.safetensors", "--seed 1"),
    ("moments", "--output", "g.pcfg --samples 10 --output m.safetensors", "--output n.safetensors"),
    ("snr", "--vocab", SNR, "--vocab 4,5"),
    ("snr", "--depth", SNR, "--depth 1"),
    ("snr", "--fraction", SNR, "--fraction 1/2"),
    (
        "snr",
        "--binary-fraction",
        "--vocab 4 --depth 2 --grammars 2 --binary-fraction 0.25 --ternary-fraction 0.25",
        "--binary-fraction 1/2",
    ),
    (
        "snr",
        "--ternary-fraction",
        "--vocab 4 --depth 2 --grammars 2 --binary-fraction 0.25 --ternary-fraction 0.25",
        "--ternary-fraction 1/2",
    ),
    (
        "snr",
        "--binary-rules",
        "--vocab 4 --depth 2 --grammars 2 --binary-rules 1 --ternary-rules 2",
        "--binary-rules 2",
    ),
    (
        "snr",
        "--ternary-rules",
        "--vocab 4 --depth 2 --grammars 2 --binary-rules 1 --ternary-rules 2",
        "--ternary-rules 3",
    ),
    ("snr", "--p-binary", SNR, "--p-binary 0.3"),
    ("snr", "--zipf", SNR, "--zipf 1"),
    ("snr", "--non-overlapping", SNR, "--non-overlapping"),
    ("snr", "--arities", SNR, "--arities 2:0.4,3:0.6"),
    ("snr", "--fractions", SNR, "--fractions 3:1/2"),
    ("snr", "--rules", SNR, "--rules 2:2"),
    ("snr", "--classes", SNR, "--classes 3"),
    ("snr", "--sizes", "--sizes 3,4,5 --grammars 2", "--sizes 3,5,5"),
    ("snr", "--cover", "--sizes 4,12,4 --rules 2:1,3:1 --grammars 2", "--cover"),
    ("snr", "--grammars", SNR, "--grammars 3"),
    ("snr", "--seed", SNR, "--seed 1"),
    ("theory lengths", "--depth", "--depth 3", "--depth 2"),
    ("theory lengths", "--p-binary", "--depth 3", "--p-binary 0.3"),
    ("theory lengths", "--arities", "--depth 3", "--arities 2:0.5,4:0.5"),
    ("theory trees", "--depth", "--depth 3", "--depth 2"),
    ("theory trees", "--arities", "--depth 3", "--arities 2,4"),
    ("theory fraction", "--depth", "--depth 3", "--depth 2"),
    ("theory fraction", "--p-binary", "--depth 3", "--p-binary 0.3"),
    ("theory fraction", "--arities", "--depth 3", "--arities 2:0.5,4:0.5"),
    ("theory fraction", "--fractions", "--depth 3", "--fractions 3:0.1"),
    ("theory fraction", "--fraction", "--depth 3", "--fraction 1/3"),
    (
        "theory fraction",
        "--binary-fraction",
        "--depth 3 --binary-fraction 0.5 --ternary-fraction 0.5",
        "--binary-fraction 1/3",
    ),
    (
        "theory fraction",
        "--ternary-fraction",
        "--depth 3 --binary-fraction 0.5 --ternary-fraction 0.5",
        "--ternary-fraction 1/3",
    ),
    ("theory candidates", "--depth", "--depth 3", "--depth 2"),
    ("theory candidates", "--p-binary", "--depth 3", "--p-binary 0.3"),
    ("theory candidates", "--arities", "--depth 3", "--arities 2:0.5,4:0.5"),
    ("theory candidates", "--fractions", "--depth 3", "--fractions 3:0.1"),
    ("theory candidates", "--fraction", "--depth 3", "--fraction 1/3"),
    (
        "theory candidates",
        "--binary-fraction",
        "--depth 3 --binary-fraction 0.5 --ternary-fraction 0.5",
        "--binary-fraction 1/3",
    ),
    (
        "theory candidates",
        "--ternary-fraction",
        "--depth 3 --binary-fraction 0.5 --ternary-fraction 0.5",
        "--ternary-fraction 1/3",
    ),
    ("theory splits", "--depth", "--depth 3", "--depth 2"),
    ("theory splits", "--arities", "--depth 3", "--arities 2,4"),
    ("theory entropy", "--fraction", "", "--fraction 1/2"),
    ("theory entropy", "--p-binary", "", "--p-binary 0.3"),
    ("theory entropy", "--arities", "", "--arities 1:0.5,2:0.5"),
    ("theory entropy", "--fractions", "", "--fractions 3:0.5"),
    ("theory complexity", "--depth", "--vocab 8 --depth 2", "--depth 3"),
    ("theory complexity", "--vocab", "--vocab 8 --depth 2", "--vocab 9"),
    ("theory complexity", "--fraction", "--vocab 8 --depth 2", "--fraction 1/vocab"),
    (
        "theory complexity",
        "--binary-fraction",
        "--vocab 8 --depth 2 --binary-fraction 0.25 --ternary-fraction 0.25",
        "--binary-fraction 1/2",
    ),
    (
        "theory complexity",
        "--ternary-fraction",
        "--vocab 8 --depth 2 --binary-fraction 0.25 --ternary-fraction 0.25",
        "--ternary-fraction 1/2",
    ),
    (
        "theory complexity",
        "--binary-rules",
        "--vocab 8 --depth 2 --binary-rules 1 --ternary-rules 2",
        "--binary-rules 2",
    ),
    (
        "theory complexity",
        "--ternary-rules",
        "--vocab 8 --depth 2 --binary-rules 1 --ternary-rules 2",
        "--ternary-rules 3",
    ),
    ("theory complexity", "--fractions", "--vocab 8 --depth 2", "--fractions 3:1/2"),
    ("theory complexity", "--rules", "--vocab 8 --depth 2", "--rules 2:1"),
    ("theory complexity", "--p-binary", "--vocab 8 --depth 2", "--p-binary 0.3"),
    ("theory complexity", "--arities", "--vocab 8 --depth 2", "--arities 2:0.5,4:0.5"),
    ("theory complexity", "--fractions", "--vocab 8 --depth 2", "--fractions 3:0.5"),
    ("train", "--model", TRAIN, "--model inn"),
    (
        "train",
        "--grammar",
        "--model cnn --grammar g.pcfg --samples 200 --width 8 --max-steps 60 --min-steps 30",
        "--grammar ambiguous.pcfg",
    ),
    ("train", "--vocab", TRAIN, "--vocab 5"),
    ("train", "--depth", TRAIN, "--depth 1"),
    ("train", "--fraction", TRAIN, "--fraction 1/2"),
    ("train", "--binary-fraction", TRAIN, "--binary-fraction 0.5 --ternary-fraction 0.25"),
    ("train", "--ternary-fraction", TRAIN, "--binary-fraction 0.25 --ternary-fraction 0.5"),
    ("train", "--binary-rules", TRAIN, "--binary-rules 2 --ternary-rules 4"),
    ("train", "--ternary-rules", TRAIN, "--binary-rules 1 --ternary-rules 5"),
    ("train", "--p-binary", TRAIN, "--p-binary 0.3"),
    ("train", "--zipf", TRAIN, "--zipf 1"),
    ("train", "--non-overlapping", TRAIN, "--non-overlapping"),
    ("train", "--arities", TRAIN, "--arities 2:0.4,4:0.6 --fraction 0.1"),
    ("train", "--fractions", TRAIN, "--fractions 3:1/2"),
    ("train", "--rules", TRAIN, "--rules 2:2"),
    ("train", "--classes", TRAIN, "--classes 3"),
    (
        "train",
        "--sizes",
        "--model cnn --sizes 3,4,5 --samples 200 --width 8 --max-steps 60 --min-steps 30 --test-samples 100",
        "--sizes 3,5,5",
    ),
    (
        "train",
        "--cover",
        "--model cnn --vocab 20 --depth 2 --arities 2:1 --rules 2:1 --samples 200 --width 8 --max-steps 60 --min-steps 30 --test-samples 100",
        "--cover",
    ),
    ("train", "--samples", TRAIN, "--samples 300"),
    ("train", "--test-samples", TRAIN, "--test-samples 50"),
    ("train", "--width", TRAIN, "--width 16"),
    ("train", "--seed", TRAIN, "--seed 1"),
    ("train", "--batch", TRAIN, "--batch 16"),
    ("train", "--learning-rate", TRAIN, "--learning-rate 1"),
    ("train", "--optimizer", TRAIN, "--optimizer adam --learning-rate 0.1"),
    ("train", "--normalization", TRAIN, "--normalization width"),
    ("train", "--task", TRANSFORMER, "--task next"),
    ("train", "--mask", MASKED, "--mask 0.5"),
    ("train", "--layers", TRANSFORMER, "--layers 1"),
    ("train", "--heads", TRANSFORMER, "--heads 4"),
    ("train", "--mlp", TRANSFORMER, "--mlp 8"),
    ("train", "--max-steps", TRAIN, "--max-steps 50"),
    ("train", "--min-steps", TRAIN, "--min-steps 10"),
    ("train", "--patience", TRAIN, "--patience 1.1"),
    ("train", "--device", TRAIN, "--device gpu"),
    ("train", "--output", TRAIN, "--output run2"),
    ("probe", "--initial", PROBE, "--initial"),
    ("probe", "--samples", PROBE, "--samples 60"),
    ("probe", "--test-samples", PROBE, "--test-samples 60"),
    ("probe", "--exchanged", PROBE, "--exchanged 30"),
    ("probe", "--seed", PROBE, "--seed 1"),
    ("mup-check", "--model", MUP, "--model inn"),
    ("mup-check", "--widths", MUP, "--widths 8,24"),
    ("mup-check", "--vocab", MUP, "--vocab 6"),
    ("mup-check", "--depth", MUP, "--depth 1"),
    ("mup-check", "--steps", MUP, "--steps 3"),
    ("mup-check", "--batch", MUP, "--batch 16"),
    ("mup-check", "--seed", MUP, "--seed 1"),
    ("man", "--output", "", "--output man"),
];

/// Options whose effect is shown by other tests, with the file of those tests.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("explore", "--store", "explore/results.rs"),
    ("explore", "--port", "explore/program.rs"),
    ("explore", "--no-browser", "explore/program.rs"),
    ("reproduce", "--dry-run", "estimates.rs"),
    ("sweep run", "--dry-run", "estimates.rs"),
    ("reproduce", "--list", "reproduce.rs"),
    ("reproduce", "--scale", "reproduce.rs"),
    ("reproduce", "--output", "reproduce.rs"),
    ("reproduce", "--store", "reproduce.rs"),
    ("reproduce", "--missing", "reproduce.rs"),
    ("reproduce", "--formats", "reproduce.rs"),
    ("reproduce", "--page-only", "reproduce.rs"),
    ("corpus sample", "--words", "words.rs"),
    ("predict", "--compare", "predict.rs"),
    ("moments", "--grammar", "own_moments.rs"),
    ("train", "--corpus", "own_corpus.rs"),
    ("train", "--test", "own_corpus.rs"),
    ("report", "--output", "analysis.rs"),
    ("report", "--scale", "analysis.rs"),
    ("report", "--store", "analysis.rs"),
    ("sweep fit", "--scale", "analysis.rs"),
    ("sweep fit", "--store", "analysis.rs"),
    ("sweep judge", "--scale", "analysis.rs"),
    ("sweep judge", "--store", "analysis.rs"),
    ("sweep plot", "--output", "analysis.rs"),
    ("sweep plot", "--scale", "analysis.rs"),
    ("sweep plot", "--store", "analysis.rs"),
    ("sweep collect", "--output", "sweep_input.rs"),
    ("sweep collect", "--partial", "sweep_input.rs"),
    ("sweep collect", "--scale", "sweep_input.rs"),
    ("sweep collect", "--store", "sweep_input.rs"),
    ("sweep run", "--store", "sweep_input.rs"),
    ("sweep run", "--scale", "sweep_input.rs"),
    ("sweep run", "--only", "experiments_page.rs"),
    ("sweep run", "--shard", "sweep.rs"),
    ("sweep run", "--skip-failed", "slurm.rs"),
    ("sweep status", "--scale", "sweep_input.rs"),
    ("sweep status", "--store", "sweep_input.rs"),
    ("sweep submit", "--account", "slurm.rs"),
    ("sweep submit", "--array-size", "slurm.rs"),
    ("sweep submit", "--at-once", "slurm.rs"),
    ("sweep submit", "--constraint", "slurm.rs"),
    ("sweep submit", "--cpus-per-task", "slurm.rs"),
    ("sweep submit", "--detach", "slurm.rs"),
    ("sweep submit", "--gres", "slurm.rs"),
    ("sweep submit", "--mem", "slurm.rs"),
    ("sweep submit", "--only", "experiments_page.rs"),
    ("sweep submit", "--partition", "slurm.rs"),
    ("sweep submit", "--qos", "slurm.rs"),
    ("sweep submit", "--retries", "slurm.rs"),
    ("sweep submit", "--scale", "slurm.rs"),
    ("sweep submit", "--time", "slurm.rs"),
    ("sweep submit", "--slurm", "slurm/sweep.rs"),
    ("sweep submit", "--poll", "slurm/sweep.rs"),
    ("sweep submit", "--store", "slurm/sweep.rs"),
];

/// Options that cannot have an effect: all are refused by name.
const REFUSED: &[(&str, &str)] = &[
    ("learn c.jsonl --vocab 4 --depth 2 --samples 10", "--samples"),
    ("learn c.jsonl --vocab 4 --depth 2 --gamma-binary 1", "--gamma-binary"),
    ("learn c.jsonl --vocab 4 --depth 2 --gamma-ternary 1", "--gamma-ternary"),
    ("learn c.jsonl --vocab 4 --depth 2 --alignment cosine", "--alignment"),
    ("learn c.jsonl --vocab 4 --depth 2 --starts 1", "--starts"),
    ("learn c.jsonl --vocab 4 --depth 2 --rounds 1", "--rounds"),
    ("learn c.jsonl --vocab 4 --depth 2 --mode paper --noise 0.1", "--noise"),
    ("learn c.jsonl --vocab 4 --depth 2 --mode em --strict", "--strict"),
    ("learn c.jsonl --vocab 4 --depth 2 --mode em --unlabelled", "--unlabelled"),
    ("learn c.jsonl --vocab 4 --depth 2 --mode paper --unlabelled", "--unlabelled"),
    ("learn c.jsonl --vocab 4 --depth 2 --mode em --p-binary 0.3", "--p-binary"),
    ("train --model cnn --grammar g.pcfg --samples 10 --fraction 0.5", "--fraction"),
    (
        "train --model cnn --grammar g.pcfg --samples 10 --binary-fraction 0.5 --ternary-fraction 0.5",
        "--binary-fraction",
    ),
    ("train --model cnn --grammar g.pcfg --samples 10 --binary-rules 1 --ternary-rules 1", "--binary-rules"),
    ("train --model cnn --grammar g.pcfg --samples 10 --p-binary 0.3", "--p-binary"),
    ("train --model cnn --grammar g.pcfg --samples 10 --zipf 1", "--zipf"),
    ("train --model cnn --grammar g.pcfg --samples 10 --arities 2:1", "--arities"),
    ("train --model cnn --grammar g.pcfg --samples 10 --cover", "--cover"),
    ("train --model cnn --grammar g.pcfg --samples 10 --sizes 4,4", "--sizes"),
    ("train --model cnn --grammar g.pcfg --samples 10 --classes 4", "--classes"),
    ("train --model cnn --grammar g.pcfg --samples 10 --rules 2:1", "--rules"),
    ("train --model cnn --grammar g.pcfg --samples 10 --fractions 2:0.5", "--fractions"),
    ("train --model cnn --grammar g.pcfg --samples 10 --non-overlapping", "--non-overlapping"),
    ("train --model cnn --vocab 4 --depth 2 --samples 10 --task next", "--task"),
    ("train --model inn --vocab 4 --depth 2 --samples 10 --task masked --mask 0.2", "--task"),
    ("train --model transformer --vocab 4 --depth 2 --samples 10 --task next --mask 0.2", "--mask"),
    ("train --model cnn --vocab 4 --depth 2 --samples 10 --mask 0.2", "--mask"),
    ("train --model cnn --vocab 4 --depth 2 --samples 10 --heads 2", "--heads"),
    ("train --model inn --vocab 4 --depth 2 --samples 10 --layers 2", "--layers"),
    ("train --model inn --vocab 4 --depth 2 --samples 10 --mlp 2", "--mlp"),
    ("train --model transformer --vocab 4 --depth 2 --samples 10 --normalization width", "--normalization"),
    ("theory lengths --depth 3 --fraction 0.5", "--fraction"),
    ("theory trees --depth 3 --p-binary 0.5", "--p-binary"),
    ("theory splits --depth 3 --p-binary 0.5", "--p-binary"),
    ("parse g.pcfg c.jsonl --limit 3", "--limit"),
    ("parse g.pcfg c.jsonl --svg new.svg", "--svg"),
    ("parse g.pcfg c.jsonl --seed 3", "--seed"),
    ("parse g.pcfg --sentence \"0 1 2 3\" --seed 3", "--seed"),
    ("parse g.pcfg --sentence \"0 1 2 3\" --mode best", "--mode"),
    ("predict g.pcfg c.jsonl --task next --mask 0.5", "--mask"),
    ("predict g.pcfg c.jsonl --task noisy --mask-at 1", "--mask-at"),
    ("predict g.pcfg c.jsonl --task masked --mask 0.5 --mask-at 1", "--mask"),
    ("predict g.pcfg c.jsonl --task masked --noise 0.5", "--noise"),
    ("predict g.pcfg c.jsonl --task next --level 1", "--level"),
    ("predict g.pcfg c.jsonl --task next --prefix", "--prefix"),
    ("predict g.pcfg c.jsonl --task next --seed 1", "--seed"),
    ("predict g.pcfg c.jsonl --task masked --mask-at 1 --seed 1", "--seed"),
    ("predict g.pcfg c.jsonl --task hidden --compare c.jsonl", "--compare"),
    ("floor g.pcfg --task root --levels", "--levels"),
    ("floor g.pcfg --task next --mask 0.5", "--mask"),
    ("floor g.pcfg --task next --noise 0.5", "--noise"),
    ("floor g.pcfg --task next --corpus c.jsonl --seed 1", "--seed"),
    ("floor g.pcfg --task next --corpus c.jsonl --samples 5", "--samples"),
    ("moments g.pcfg --samples exact --seed 3 -o new.safetensors", "--seed"),
    ("corpus info c.jsonl --seed 3", "--seed"),
    ("corpus info c.jsonl --first 3", "--samples"),
    ("grammar sample --vocab 4 --depth 2 --class-entropy 0.1 --fraction 0.5", "--fraction"),
    ("grammar sample --vocab 4 --depth 2 --binary-rules 1 --ternary-rules 1 --fraction 0.5", "--fraction"),
    ("grammar sample --vocab 4 --depth 2 --class-entropy 0.1 --rules 2:1", "--rules"),
    ("grammar sample --vocab 4 --depth 2 --class-entropy 0.1 --fractions 2:1", "--fractions"),
    ("grammar sample --vocab 4 --depth 2 --rules 4:1", "--rules"),
    ("grammar sample --vocab 4 --depth 2 --arities 3:1 --rules 2:1", "--rules"),
    ("grammar sample --vocab 4 --depth 2 --arities 3:1 --fractions 2:0.5", "--fractions"),
    ("grammar sample --vocab 4 --depth 2 --rules 2:1,3:1 --fraction 0.5", "--fraction"),
    ("grammar sample --vocab 4 --depth 2 --rules 2:1 --fractions 2:0.5", "--fractions"),
    ("grammar sample --vocab 4 --depth 2 --rules 2:1 --binary-rules 1 --ternary-rules 1", "--rules"),
    ("grammar sample --vocab 4 --depth 2 --arities 2:1 --p-binary 0.5", "--p-binary"),
    ("grammar sample --vocab 4 --depth 2 --arities 2:1 --binary-rules 1 --ternary-rules 1", "--binary-rules"),
    ("grammar sample --vocab 4 --depth 2 --arities 2:1 --binary-fraction 1 --ternary-fraction 1", "--binary-fraction"),
    ("grammar sample --vocab 4 --sizes 4,4,4", "--vocab"),
    ("grammar sample --sizes 4,4,4 --classes 4", "--classes"),
    ("grammar sample --sizes 4,4,4 --depth 3", "--depth"),
    ("entropy --vocab 4 --depth 2 --rules 2:1,3:1 --fraction 0.5", "--fraction"),
    ("entropy --sizes 4,4,4 --depth 2,3", "--depth"),
    ("theory complexity --vocab 4 --depth 2 --rules 4:1", "--rules"),
    ("reproduce --list --scale full", "--scale"),
    ("reproduce --list --store results", "--store"),
    ("reproduce --dry-run --missing skip", "--missing"),
    ("reproduce --dry-run --formats svg", "--formats"),
    ("reproduce --page-only --formats svg", "--formats"),
    ("reproduce --dry-run --page-only", "--page-only"),
    ("reproduce --list --page-only", "--page-only"),
    ("sweep status vectors --store s --scale full", "--scale"),
    ("completions bash --json", "--json"),
    ("man --json", "--json"),
];

/// Old names that still work: the old call and the new one.
const OLD_NAMES: &[(&str, &str)] = &[
    ("corpus sample g.pcfg --count 5", "corpus sample g.pcfg --samples 5"),
    ("corpus info g.pcfg --count 5", "corpus info g.pcfg --samples 5"),
    (
        "entropy --vocab 4 --depth 2 --fraction 0.5 --grammars 2 --sentences 9",
        "entropy --vocab 4 --depth 2 --fraction 0.5 --grammars 2 --samples 9",
    ),
    ("probe run --train 90 --held-out 50 --exchanged 20", "probe run --samples 90 --test-samples 50 --exchanged 20"),
];

fn lab() -> Lab {
    let lab = Lab::with_grammar("--vocab 4 --depth 2 --fraction 0.25 --seed 7");
    lab.run("grammar sample --vocab 4 --depth 2 --fraction 1 --seed 7 -o ambiguous.pcfg");
    lab.run("corpus sample g.pcfg --samples 3000 -o c.jsonl");
    let corpus = fs::read_to_string(lab.path("c.jsonl")).unwrap();
    fs::write(lab.path("odd.jsonl"), format!("{corpus}{{\"tokens\":[0],\"root\":0}}\n")).unwrap();
    let longer: String =
        corpus.lines().filter(|line| line.matches(',').count() >= 8).map(|line| format!("{line}\n")).collect();
    fs::write(lab.path("longer.jsonl"), longer).unwrap();
    // One label in twenty is wrong.
    let noisy: Vec<String> = corpus
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let mut sentence: serde_json::Value = serde_json::from_str(line).unwrap();
            if i % 20 == 0 {
                sentence["root"] = ((sentence["root"].as_u64().unwrap() + 1) % 4).into();
            }
            sentence.to_string()
        })
        .collect();
    fs::write(lab.path("noisy.jsonl"), noisy.join("\n") + "\n").unwrap();
    let rounded = "S -> A A [1.0]\nA -> 'a' 'b' [0.333] | 'b' 'a' [0.333] | 'a' 'a' [0.333]\n";
    fs::write(lab.path("rounded.pcfg"), rounded).unwrap();
    lab.run(&format!("train {TRAIN} -o run"));
    lab
}

/// The arguments with another value for the option of `change`.
fn changed(arguments: &str, change: &str) -> String {
    let words = common::words(arguments);
    let mut kept = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word.starts_with("--") && change.split(' ').any(|other| other == word) {
            rest.next();
        } else {
            kept.push(if word.contains(' ') { format!("\"{word}\"") } else { word.clone() });
        }
    }
    format!("{} {change}", kept.join(" "))
}

/// Everything that a command prints and writes, except times.
fn outcome(arguments: &str, lab: &Lab) -> String {
    let scratch = Lab::new();
    for entry in fs::read_dir(lab.path("")).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if path.is_file() {
            fs::copy(&path, scratch.path(name.to_str().unwrap())).unwrap();
        }
    }
    fs::create_dir(scratch.path("run")).unwrap();
    for entry in fs::read_dir(lab.path("run")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), scratch.path("run").join(entry.file_name())).unwrap();
    }
    let before = files(&scratch);
    let json = if arguments.starts_with("man") || arguments.starts_with("completions") { "" } else { "--json" };
    let output = scratch.try_run(&format!("{arguments} {json}"));
    let mut text = format!("{:?}\n{}", output.status.code(), String::from_utf8_lossy(&output.stdout));
    if !output.status.success() {
        text += &String::from_utf8_lossy(&output.stderr);
    }
    if let Some(at) = text.find("\"seconds\":") {
        let end = at + text[at..].find([',', '}']).unwrap();
        text.replace_range(at..end, "");
    }
    for (name, bytes) in files(&scratch).difference(&before) {
        text += &format!("{name}: {}\n", String::from_utf8_lossy(bytes));
    }
    text
}

fn files(lab: &Lab) -> BTreeSet<(String, Vec<u8>)> {
    let entries = fs::read_dir(lab.path("")).unwrap().map(|entry| entry.unwrap());
    let bytes = |entry: &fs::DirEntry| fs::read(entry.path()).unwrap_or_default();
    entries.map(|entry| (entry.file_name().into_string().unwrap(), bytes(&entry))).collect()
}

#[test]
fn every_option_changes_something() {
    let lab = lab();
    let idle: Vec<String> = EFFECTS
        .par_iter()
        .filter_map(|(command, option, rest, change)| {
            let (old, new) = (format!("{command} {rest}"), format!("{command} {}", changed(rest, change)));
            let (before, after) = (outcome(&old, &lab), outcome(&new, &lab));
            let fails = |outcome: &str| !outcome.starts_with("Some(0)");
            let wrong = if before == after {
                "changes nothing".to_owned()
            } else if fails(&before) && *option != "--normalize" {
                format!("fails without it: {before}")
            } else if fails(&after) && !["--device", "--strict"].contains(option) {
                format!("fails: {after}")
            } else {
                return None;
            };
            Some(format!("{new}: {}", wrong.chars().take(300).collect::<String>()))
        })
        .collect();
    assert!(idle.is_empty(), "{}", idle.join("\n"));
}

#[test]
fn the_table_has_every_option() {
    let mut known: BTreeSet<(String, String)> =
        EFFECTS.iter().map(|(command, option, ..)| ((*command).into(), (*option).into())).collect();
    known.extend(ELSEWHERE.iter().map(|(command, option, _)| ((*command).into(), (*option).into())));
    let mut all = BTreeSet::new();
    collect(&gardenpath_cli::program::Cli::command(), "", &mut all);
    let missing: Vec<_> = known.symmetric_difference(&all).collect();
    assert!(missing.is_empty(), "not in the table, or gone: {missing:?}");
    for (_, option, file) in ELSEWHERE {
        let path = format!("{}/tests/{file}", env!("CARGO_MANIFEST_DIR"));
        assert!(fs::read_to_string(path).unwrap().contains(option), "{file}: {option}");
    }
}

fn collect(command: &clap::Command, name: &str, options: &mut BTreeSet<(String, String)>) {
    for argument in command.get_arguments().filter(|argument| !argument.is_global_set() && !argument.is_hide_set()) {
        if let Some(long) = argument.get_long().filter(|long| !["help", "version"].contains(long)) {
            options.insert((name.to_owned(), format!("--{long}")));
        }
    }
    for inner in command.get_subcommands() {
        collect(inner, format!("{name} {}", inner.get_name()).trim(), options);
    }
}

#[test]
fn options_without_effect_are_refused() {
    let lab = lab();
    for (arguments, option) in REFUSED {
        let message = lab.refusal(arguments);
        assert!(message.contains(option), "{arguments}: {message}");
    }
}

#[test]
fn old_names_still_work() {
    let lab = lab();
    for (old, new) in OLD_NAMES {
        assert_eq!(outcome(old, &lab), outcome(new, &lab), "{old}");
    }
    // They are hidden.
    for help in ["corpus sample --help", "entropy --help", "probe --help", "reproduce --help"] {
        let text = lab.run(help);
        for old in ["--count", "--sentences", "--held-out", "--out "] {
            assert!(!text.contains(old), "{help}: {old}");
        }
    }
}
