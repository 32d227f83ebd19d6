//! `gardenpath floor`: the lowest loss that any predictor can reach.

use super::Answer;
use super::predict::check_rates;
use crate::cli::{SeedOption, refuse, whole_number};
use crate::progress;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use gardenpath::{Corpus, Estimate, Floor, Grammar, Task, level_floor_formula};
use gardenpath_lab::draw::table::{Table, counted, short};
use gardenpath_lab::files::{self, Whole};
use serde::Serialize;
use std::path::PathBuf;

/// The arguments of `floor`.
#[derive(Args, Debug)]
#[command(after_help = "\
The loss is the mean entropy of the exact predictions, in nats: per token for next (with the prediction of the end), next-known and noisy, \
per masked token for masked and masked-one, per sentence for root. Sentences are sampled from the grammar or read from --corpus; \
the grammar must be able to produce them.

With --levels, also prints the losses of predictors that know only the lowest 0, 1, … layers of rules and the frequencies of the symbols above them, \
next to a formula for large vocabularies.

Examples:
  gardenpath floor g.pcfg --task next --levels
  gardenpath floor g.pcfg --task masked --mask 0.5 --samples 1e5 --seed 1 --json
  gardenpath floor g.pcfg --task root --corpus c.parquet")]
pub struct Arguments {
    /// The grammar (.pcfg or .json)
    grammar: PathBuf,
    /// What to predict: next, next-known, masked, masked-one, noisy or root
    #[arg(long, value_enum, hide_possible_values = true)]
    task: TaskName,
    /// Also report the floors of predictors that know only the lowest levels
    #[arg(long)]
    levels: bool,
    /// Mask each token with this probability [default: 0.15]
    #[arg(long, value_name = "P")]
    mask: Option<f64>,
    /// Replace each token by a random one with this probability [default: 0.1]
    #[arg(long, value_name = "P")]
    noise: Option<f64>,
    /// Number of sentences to sample [default: 10,000]
    #[arg(long, value_parser = whole_number, value_name = "N", conflicts_with = "corpus")]
    samples: Option<u64>,
    #[command(flatten)]
    seed: SeedOption,
    /// The sentences (.parquet, .jsonl or .tsv), or - for JSON lines on standard input
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
}

/// What is to be predicted.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum TaskName {
    /// The next token, or the end of the sentence
    Next,
    /// The next token of a sentence of known length
    NextKnown,
    /// Masked tokens
    Masked,
    /// One random token of each sentence
    MaskedOne,
    /// Tokens observed through a noisy channel
    Noisy,
    /// The root
    Root,
}

/// The output.
#[derive(Serialize)]
struct Report {
    task: String,
    loss: f64,
    /// `None` for a single sentence.
    stderr: Option<f64>,
    per: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<Vec<Level>>,
    /// Absent for the next token: there is no evidence about a whole sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    root_accuracy: Option<f64>,
    by_position: Vec<Position>,
}

/// A predictor that knows only the lowest layers.
#[derive(Serialize)]
struct Level {
    known: usize,
    loss: f64,
    stderr: Option<f64>,
    formula: f64,
}

#[derive(Serialize)]
struct Position {
    position: usize,
    /// `None` where nothing was predicted.
    loss: Option<f64>,
    stderr: Option<f64>,
}

/// Default number of sampled sentences.
const SAMPLES: u64 = 10_000;

/// Maximum number of positions shown as text.
const SHOWN: usize = 24;

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    check(arguments)?;
    let grammar = files::grammar::read(&arguments.grammar)?;
    let corpus = sentences(arguments, &grammar)?;
    let (task, per) = match arguments.task {
        TaskName::Next => (Task::Next, "token"),
        TaskName::NextKnown => (Task::NextKnown, "token"),
        TaskName::Masked => (Task::Masked(arguments.mask.unwrap_or(Task::MASK)), "masked token"),
        TaskName::MaskedOne => (Task::MaskedOne, "masked token"),
        TaskName::Noisy => (Task::Noisy(arguments.noise.unwrap_or(Task::NOISE)), "token"),
        TaskName::Root => (Task::Root, "sentence"),
    };
    let bar = progress::bar(corpus.len() as u64, "predicting sentences");
    let progress = |sentences: u64| bar.inc(sentences);
    let level = |(known, floor): (usize, &Floor)| -> Result<Level> {
        let Estimate { mean, stderr } = floor.loss;
        Ok(Level { known, loss: mean, stderr: finite(stderr), formula: level_floor_formula(&grammar, known)? })
    };
    let (floor, levels) = if arguments.levels {
        let mut floors = Floor::of_lowest_levels(&grammar, 0..=grammar.depth(), &corpus, &progress)?;
        let levels = floors.iter().enumerate().map(level).collect::<Result<_>>()?;
        (floors.swap_remove(grammar.depth()), Some(levels))
    } else {
        (Floor::measure(&grammar, &corpus, task, arguments.seed.get(), &progress)?, None)
    };
    let Floor { loss, by_position, root_accuracy } = floor;
    bar.finish_and_clear();
    let place =
        |(position, at): (usize, &Estimate)| Position { position, loss: finite(at.mean), stderr: finite(at.stderr) };
    let report = Report {
        task: arguments.task.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned()),
        loss: loss.mean,
        stderr: finite(loss.stderr),
        per,
        levels,
        root_accuracy: root_accuracy.map(|accuracy| accuracy.mean),
        by_position: by_position.iter().enumerate().map(place).collect(),
    };
    if answer.json { answer.json_line(&report) } else { answer.text(&report.to_text(corpus.len())) }
}

/// Refuses options of other tasks, and numbers out of range.
fn check(arguments: &Arguments) -> Result<()> {
    let Arguments { task, levels, mask, noise, seed, corpus, .. } = arguments;
    if *task != TaskName::Next {
        refuse("--levels", levels.then_some(()), "it needs --task next")?;
    }
    if *task != TaskName::Masked {
        refuse("--mask", mask.as_ref(), "only --task masked masks tokens")?;
    }
    if *task != TaskName::Noisy {
        refuse("--noise", noise.as_ref(), "only --task noisy has a noisy channel")?;
    }
    if corpus.is_some() && !matches!(task, TaskName::Masked | TaskName::MaskedOne | TaskName::Noisy) {
        seed.refuse("with --corpus, only masks and noise are random")?;
    }
    check_rates(*mask, *noise)
}

fn sentences(arguments: &Arguments, grammar: &Grammar) -> Result<Corpus> {
    let Some(path) = &arguments.corpus else {
        return match arguments.samples.unwrap_or(SAMPLES) {
            0 => bail!("--samples is 0, expected at least 1"),
            count => Ok(Corpus::try_sample(grammar, arguments.seed.get(), 0..count)?),
        };
    };
    if files::is_standard(path) && files::is_standard(&arguments.grammar) {
        bail!("the grammar and the corpus cannot both come from standard input");
    }
    let corpus = Whole::read_of(path, grammar)?.corpus;
    if corpus.is_empty() {
        bail!("{}: no sentences", files::shown(path));
    }
    Ok(corpus)
}

/// A number that JSON can represent.
fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

impl Report {
    fn to_text(&self, sentences: usize) -> String {
        let error = |stderr: Option<f64>| stderr.map_or("–".to_owned(), short);
        let Report { task, loss, stderr, per, .. } = self;
        let sentences = counted(sentences, "sentence");
        let mut text = format!("{task}: {} ± {} nats per {per}, on {sentences}\n", short(*loss), error(*stderr));
        if let Some(accuracy) = self.root_accuracy {
            text += &format!(
                "the best guess of the root from the same evidence is right with probability {}\n",
                short(accuracy)
            );
        }
        if let Some(levels) = &self.levels {
            let mut table = Table::new(["known levels", "loss", "error", "formula"]);
            for Level { known, loss, stderr, formula } in levels {
                table.row([known.to_string(), short(*loss), error(*stderr), short(*formula)]);
            }
            text += &format!("\n{table}");
        }
        if self.by_position.len() > 1 {
            let mut table = Table::new(["position", "loss", "error"]);
            for Position { position, loss, stderr } in self.by_position.iter().take(SHOWN) {
                table.row([position.to_string(), error(*loss), error(*stderr)]);
            }
            text += &format!("\n{table}");
        }
        if let Some(more) = self.by_position.len().checked_sub(SHOWN).filter(|&more| more > 0) {
            text += &format!("and {}; --json has them all\n", counted(more, "more position"));
        }
        text
    }
}
