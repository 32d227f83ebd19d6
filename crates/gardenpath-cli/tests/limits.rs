//! Absurd numbers for every option of every command and every parameter of every measure: an error line or normal work,
//! but never a crash, and never more memory than allowed.
// Other systems refuse or ignore memory limits.
#![cfg(target_os = "linux")]

mod common;

use clap::{Arg, Command as Clap, CommandFactory};
use common::Lab;
use gardenpath_lab::experiment::{Experiment, Scale};
use gardenpath_lab::measure::descriptions;
use rayon::prelude::*;
use std::any::TypeId;
use std::hint::black_box;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A small run of each command. `--max-steps` and the like keep it short.
const SMALL: &[(&str, &str)] = &[
    ("grammar sample", "--vocab 4 --depth 2"),
    ("grammar info", "g.pcfg"),
    ("grammar convert", "g.pcfg"),
    ("corpus sample", "g.pcfg --samples 10"),
    ("corpus info", "g.pcfg --samples 10"),
    ("parse", "g.pcfg --sentence [0,1,2,3]"),
    ("predict", "g.pcfg c.jsonl --task next"),
    ("floor", "g.pcfg --task next --samples 10"),
    ("read", "g.pcfg --sentence [0,1,2,3]"),
    ("entropy", "--vocab 4 --depth 2 --fraction 0.5 --grammars 2 --samples 10"),
    ("learn", "--grammar g.pcfg --samples 200"),
    ("moments", "g.pcfg --samples 100 -o m.safetensors"),
    ("snr", "--vocab 4 --depth 2 --grammars 2"),
    ("theory lengths", "--depth 2"),
    ("theory trees", "--depth 2"),
    ("theory fraction", "--depth 2"),
    ("theory candidates", "--depth 2"),
    ("theory splits", "--depth 2"),
    ("theory entropy", "--fraction 0.5"),
    ("theory complexity", "--vocab 4 --depth 2"),
    ("train", "--model cnn --vocab 4 --depth 2 --samples 50 --test 50 --width 16 --max-steps 5"),
    ("probe", "run --samples 50 --test-samples 20 --exchanged 10"),
    ("reproduce", "--list"),
    ("sweep run", "e.toml --store s"),
    ("sweep submit", "e.toml --store s --slurm"),
    ("sweep status", "e.toml --store s"),
    ("sweep collect", "e.toml --store s -o r.parquet"),
    ("sweep fit", "e.toml --store s"),
    ("sweep judge", "e.toml --store s"),
    ("sweep plot", "e.toml --store s -o f.svg"),
    ("report", "e.toml --store s -o r.html"),
    ("mup-check", "--model cnn --widths 8,16 --steps 1 --batch 4"),
];

/// Options that require others.
const TOGETHER: &[(&str, &str, &str)] = &[
    ("", "binary-rules", "--ternary-rules 2"),
    ("", "ternary-rules", "--binary-rules 2"),
    ("", "binary-fraction", "--ternary-fraction 0.5"),
    ("", "ternary-fraction", "--binary-fraction 0.5"),
    ("predict", "mask", "--task masked"),
    ("predict", "mask-at", "--task masked"),
    ("predict", "noise", "--task noisy"),
    ("predict", "level", "--task hidden"),
    ("floor", "mask", "--task masked"),
    ("floor", "noise", "--task noisy"),
    ("learn", "starts", "--mode em --rounds 2"),
    ("learn", "rounds", "--mode em --starts 1"),
    ("learn", "gamma-binary", "--mode paper"),
    ("learn", "gamma-ternary", "--mode paper"),
    ("train", "layers", "--model transformer"),
    ("train", "heads", "--model transformer"),
    ("train", "mlp", "--model transformer"),
];

const ABSURD: [&str; 11] = ["0", "1", "1e12", "1e15", "1e18", "18446744073709551615", "-1", "nan", "inf", "1e400", ""];

/// The memory limit of a run: less than the program allows itself for a single table.
const MEMORY: u64 = 6 << 30;

/// Long runs are stopped after this time.
const PATIENCE: Duration = Duration::from_millis(500);

/// The outcome of a run.
enum Outcome {
    Ended(Option<i32>, String),
    Stopped,
}

/// Runs the program with limited memory and time.
fn limited(mut command: Command) -> Outcome {
    command.env("RAYON_NUM_THREADS", "2").env("RUST_BACKTRACE", "0");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let limit = || {
        for (resource, most) in [(libc::RLIMIT_AS, MEMORY), (libc::RLIMIT_CORE, 0)] {
            let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
            // SAFETY: the limit outlives the call, which affects only this process.
            if unsafe { libc::setrlimit(resource, &limit) } != 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: only system calls are made between fork and exec.
    unsafe { command.pre_exec(limit) };
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            let mut errors = String::new();
            child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
            return Outcome::Ended(status.code(), errors);
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return Outcome::Stopped;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The fault of the outcome, if any. An error is one line, optionally preceded by a line about a failed cell.
fn fault(outcome: Outcome) -> Option<String> {
    let Outcome::Ended(code, errors) = outcome else { return None };
    let lines: Vec<&str> = errors.lines().collect();
    let described = match code {
        Some(0) => true,
        Some(1 | 2) => {
            let (last, before) = lines.split_last()?;
            last.starts_with("error: ") && before.iter().all(|line| line.starts_with("failed: "))
        }
        _ => false,
    };
    let panicked = errors.contains("panicked");
    (!described || panicked).then(|| format!("exit code {code:?}: {errors}"))
}

/// All commands without subcommands, with the words that call them.
fn leaves(command: &Clap, words: &str) -> Vec<(String, Clap)> {
    if !command.has_subcommands() {
        return vec![(words.trim().to_owned(), command.clone())];
    }
    command.get_subcommands().flat_map(|sub| leaves(sub, &format!("{words} {}", sub.get_name()))).collect()
}

/// Whether an option is a number or similar: not a path, a string or a choice.
fn is_number(argument: &Arg) -> bool {
    let parser = argument.get_value_parser().type_id();
    let texts = [TypeId::of::<PathBuf>(), TypeId::of::<String>()];
    argument.get_action().takes_values()
        && argument.get_possible_values().is_empty()
        && !texts.iter().any(|text| parser == *text)
}

/// The small run of a command with one option changed.
fn changed(command: &str, option: &str, value: &str) -> String {
    let small = SMALL.iter().find(|(name, _)| *name == command).map(|(_, small)| *small);
    let small = small.unwrap_or_else(|| panic!("{command} has no small run in this test"));
    let together = TOGETHER.iter().find(|(name, other, _)| command.contains(name) && *other == option);
    let mut words: Vec<&str> = small.split(' ').collect();
    if let Some(place) = words.iter().position(|word| *word == format!("--{option}")) {
        words.drain(place..place + 2);
    }
    let mut text = format!("{command} {}", words.join(" "));
    for extra in together.iter().flat_map(|(_, _, extra)| extra.split(" --")) {
        let extra = format!("--{}", extra.trim_start_matches("--"));
        let name = extra.split(' ').next().unwrap().to_owned();
        let kept: Vec<String> = text.split(' ').map(str::to_owned).collect();
        text = match kept.iter().position(|word| *word == name) {
            Some(place) => [&kept[..place], &[extra], &kept[place + 2..]].concat().join(" "),
            None => format!("{text} {extra}"),
        };
    }
    format!("{text} --{option}={value}")
}

#[test]
fn no_number_on_the_command_line_is_a_way_to_crash() {
    let lab = Lab::with_grammar("--vocab 4 --depth 2 --fraction 0.5 --seed 1");
    lab.run("corpus sample g.pcfg --samples 10 -o c.jsonl");
    lab.run("train --model cnn --vocab 4 --depth 2 --samples 50 --test 50 --width 8 --max-steps 5 -o run");
    let experiment =
        "measure = 'entropy'\nexpects = ''\n[[grid]]\nvocab = 4\ndepth = 2\nfraction = 0.5\nsentences = 10\nseed = 1";
    std::fs::write(lab.path("e.toml"), experiment).unwrap();
    let cli = gardenpath_cli::program::Cli::command();
    let mut runs = Vec::new();
    for (command, leaf) in leaves(&cli, "") {
        let global: Vec<&Arg> = if command == "theory lengths" { cli.get_arguments().collect() } else { Vec::new() };
        for argument in leaf.get_arguments().chain(global).filter(|argument| is_number(argument)) {
            let option = argument.get_long().unwrap_or_else(|| panic!("{command} {argument} is no option"));
            runs.extend(ABSURD.map(|value| changed(&command, option, value)));
        }
    }
    assert!(runs.len() > 1000, "{} runs", runs.len());
    let faults: Vec<String> = runs
        .par_iter()
        .filter_map(|run| fault(limited(lab.command(run))).map(|fault| format!("gardenpath {run}: {fault}")))
        .collect();
    assert!(faults.is_empty(), "{} of {} runs:\n{}", faults.len(), runs.len(), faults.join("\n"));
}

/// A small cell of each measure, as the lines of an experiment.
fn small_cell(measure: &str) -> Vec<(&'static str, &'static str)> {
    let mut values = vec![("vocab", "4"), ("depth", "2"), ("fraction", "0.5"), ("seed", "1")];
    values.extend(match measure {
        "entropy" => vec![("sentences", "20")],
        "learn" => vec![("mode", "'paper'"), ("samples", "200"), ("test", "100")],
        "purity" | "vectors" | "candidates" => vec![("samples", "200")],
        "topologies" | "inference" => vec![],
        "snr" | "prediction" => vec![("first", "50"), ("last", "500"), ("points", "3")],
        _ => vec![("model", "'cnn'"), ("samples", "100"), ("width", "8"), ("test", "100"), ("max_steps", "20")],
    });
    values
}

#[test]
fn no_number_of_an_experiment_is_a_way_to_crash() {
    let values = ["0", "1", "1e12", "1e15", "1e18", "9223372036854775807", "-1", "nan", "inf", "1e308", "''", "0.5"];
    let mut texts = Vec::new();
    for description in descriptions() {
        let measure = &*description.name;
        for parameter in description.parameters.iter().filter(|own| !own.kind.is_text()).map(|own| &*own.name) {
            for value in values {
                let mut lines = small_cell(measure);
                lines.retain(|(name, _)| *name != parameter);
                lines.push((parameter, value));
                let lines: Vec<String> = lines.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                texts.push(format!("measure = '{measure}'\nexpects = ''\n[[grid]]\n{}\n", lines.join("\n")));
            }
        }
    }
    let lab = Lab::new();
    let check = |(number, text): (usize, &String)| {
        if let Ok(experiment) = Experiment::parse(text) {
            // What `sweep status` needs.
            for cell in experiment.cells(&Scale::QUICK).unwrap() {
                black_box(cell.work());
            }
        }
        let name = format!("{number}.toml");
        std::fs::write(lab.path(&name), text).unwrap();
        let run = lab.command(&format!("sweep run {name} --store s{number} --threads 1"));
        fault(limited(run)).map(|fault| format!("{text}{fault}"))
    };
    let faults: Vec<String> = texts.par_iter().enumerate().filter_map(check).collect();
    assert!(faults.is_empty(), "{} of {} cells:\n{}", faults.len(), texts.len(), faults.join("\n"));
}
