//! `gardenpath train`: trains a network on the sentences of a grammar, up to its best test loss.

mod curve;
mod line;
mod task;

use super::Answer;
use crate::cli::ensemble::{LawOptions, LevelOptions, RANDOM_GRAMMAR, RuleOptions};
use crate::cli::rounding::{EffectiveFractions, note_rounding};
use crate::cli::{SeedOption, choice, size, whole_number};
use crate::progress;
use crate::signals::{Interrupt, LastWord};
use anyhow::Result;
use clap::Args;
use gardenpath_lab::choice::Choice;
use gardenpath_lab::draw::table::{grouped, short};
use gardenpath_lab::files;
use gardenpath_lab::outcome::Interrupted;
use gardenpath_lab::training::choices::{Choices, Model, Rule, Scale};
use gardenpath_lab::training::report::Report;
use gardenpath_lab::training::run_directory::{RESULT, RunDirectory};
use gardenpath_lab::training::session::Session;
use gardenpath_lab::training::{Device, Outcome, Recipe};
use gardenpath_nn::Task as Told;
use gardenpath_nn::train::{Progress, Settings};
use line::StatusLine;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use task::{Task, TestSet};

/// The arguments of `train`.
#[derive(Args, Debug)]
#[command(after_help = "\
The grammar is that of 'grammar sample' with the same seed, and the training set consists of the first sentences of 'corpus sample' with \
the same seed, so training sets nest. Training stops when the test loss rises, or plateaus below that of guessing; the best network is kept. \
With --task next or masked, a transformer predicts tokens instead of roots and needs no labels; losses are per token, and the floor of the \
same test set is printed next to them.
With -o the run is kept in a directory: weights (safetensors), measurements and a plot. The same command resumes it.

Examples:
  gardenpath train --model cnn --vocab 8 --depth 2 --fraction 0.125 --samples 4096 --width 256 --seed 1
  gardenpath train --model inn --vocab 16 --depth 3 --fraction 0.0625 --samples 3e4 --width 128 -o run
  gardenpath train --model transformer --grammar g.pcfg --samples 1e4 --width 128 --json
  gardenpath train --model transformer --task next --vocab 8 --depth 2 --fraction 0.125 --samples 1e4 --width 64 --json
  gardenpath train --model cnn --corpus mine.jsonl --test others.jsonl --depth 3 --width 128 -o run")]
pub struct Arguments {
    /// Network architecture
    #[arg(long, value_parser = choice::<Model>())]
    model: Model,
    /// What the network predicts
    #[arg(long, value_parser = choice::<Told>(), default_value = "root")]
    task: Told,
    /// Mask each token with this probability (task masked) [default: 0.15]
    #[arg(long, value_name = "P")]
    mask: Option<f64>,
    /// Train on the sentences of this grammar instead of a random one; with --corpus, the grammar of the corpus, if
    /// known
    #[arg(long, value_name = "FILE", conflicts_with_all = ["vocab", "depth"], conflicts_with_all = RANDOM_GRAMMAR)]
    grammar: Option<PathBuf>,
    /// Train on your own sentences (.parquet, .jsonl or .tsv), with their roots if the task is root; needs --test
    #[arg(long, value_name = "FILE", conflicts_with = "vocab", conflicts_with_all = RANDOM_GRAMMAR)]
    corpus: Option<PathBuf>,
    /// Number of symbols per level, tokens included
    #[arg(long, value_parser = size, required_unless_present_any = ["grammar", "corpus", "sizes"], requires = "depth")]
    vocab: Option<usize>,
    /// Number of layers of rules; with --corpus, the assumed depth of the trees
    #[arg(long, value_parser = size, required_unless_present_any = ["grammar", "sizes"])]
    depth: Option<usize>,
    #[command(flatten)]
    levels: LevelOptions,
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    law: LawOptions,
    /// Number of training sentences [default: all of --corpus]
    #[arg(long, value_parser = whole_number, value_name = "N", required_unless_present = "corpus")]
    samples: Option<u64>,
    /// Number of fresh test sentences [default: 20000]
    #[arg(long, value_parser = whole_number, value_name = "N", conflicts_with_all = ["corpus", "test"])]
    test_samples: Option<u64>,
    /// Test sentences for --corpus (.parquet, .jsonl or .tsv)
    #[arg(long, value_parser = task::test_set, value_name = "FILE")]
    test: Option<TestSet>,
    /// Channels per layer [default: 512]
    #[arg(long, default_value = "512", value_parser = size, hide_default_value = true)]
    width: usize,
    #[command(flatten)]
    seed: SeedOption,
    /// Sentences per batch
    #[arg(long, default_value = "128", value_parser = size, value_name = "N")]
    batch: usize,
    /// Optimizer [default: sgd (cnn, inn), adam (transformer)]; a different one needs --learning-rate
    #[arg(long, value_parser = choice::<Rule>())]
    optimizer: Option<Rule>,
    /// Learning rate [default: the width (cnn, inn), 0.0005 (transformer)]
    #[arg(long, value_name = "R")]
    learning_rate: Option<f64>,
    /// Scaling of hidden layers (cnn, inn) [default: fan-in]
    #[arg(long, value_parser = choice::<Scale>())]
    normalization: Option<Scale>,
    /// Layers of a transformer [default: the depth]
    #[arg(long, value_parser = size, value_name = "N")]
    layers: Option<usize>,
    /// Heads of a transformer [default: 16]
    #[arg(long, value_parser = size, value_name = "N")]
    heads: Option<usize>,
    /// Hidden size of a transformer's MLPs [default: four times the width]
    #[arg(long, value_parser = size, value_name = "N")]
    mlp: Option<usize>,
    /// Maximum number of steps
    #[arg(long, default_value = "100000", value_parser = whole_number, value_name = "N")]
    max_steps: u64,
    /// Number of steps before a plateau can end training
    #[arg(long, default_value = "2000", value_parser = whole_number, value_name = "N")]
    min_steps: u64,
    /// Stop after this factor more steps without a better test loss
    #[arg(long, default_value_t = 2.0, value_name = "X")]
    patience: f64,
    /// Device to train on
    #[arg(long, value_parser = choice::<Device>(), default_value = "cpu")]
    device: Device,
    /// Run directory to write, or to resume from
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    let mut task = Task::of(arguments)?;
    let recipe = arguments.recipe(&task)?;
    let network = task.network(&recipe)?;
    let prepare = |path: &PathBuf| RunDirectory::prepare(path, &recipe, task.grammar.as_ref());
    let directory = arguments.output.as_ref().map(prepare).transpose()?;
    if let Some(remark) = directory.as_ref().and_then(RunDirectory::remark) {
        progress::note(remark);
    }
    if let Some(result) = directory.as_ref().map(RunDirectory::result).transpose()?.flatten() {
        crate::progress::note("this run has already finished; here is its result");
        return if answer.json { answer.json_line(&result) } else { answer.text(&(result_text(&result) + "\n")) };
    }
    if let Some(directory) = &directory {
        files::atomic::check(&directory.file(RESULT))?;
    }
    let _last_word = LastWord::new(match directory {
        Some(_) => || Interrupted("the same command resumes".into()),
        None => || Interrupted("nothing was saved; -o DIR makes a run resumable".into()),
    });
    let clock = Instant::now();
    let data = task.take_data(&recipe)?;
    let session = Session {
        recipe: &recipe,
        network: &network,
        data: &data,
        device: arguments.device,
        directory: directory.as_ref(),
    };
    let progress = train(&session, &task)?;

    let report = Report {
        vocab: task.vocab,
        depth: task.shape.depth(),
        fraction: task.ensemble.as_ref().and_then(|_| arguments.rules.fraction(task.vocab)),
        effective_fractions: task.ensemble.as_ref().map(EffectiveFractions::of).transpose()?,
        weights: network.parameters().iter().map(|parameter| parameter.len()).sum(),
        device: arguments.device.name(),
        outcome: Outcome::new(&network, &data, &progress),
        seconds: clock.elapsed().as_secs_f64(),
        recipe: &recipe,
    };
    if let Some(directory) = &directory {
        report.save(directory, &progress.records, &network)?;
    }
    if answer.json {
        return answer.json_line(&report);
    }
    let result = result_text(&serde_json::to_value(&report)?);
    answer.text(&format!("{}\n{result}\n", curve::in_terminal(&progress.records, &network, &data)))
}

/// Trains to the end, with a status line on the terminal. A run with a directory is saved when interrupted.
fn train(session: &Session<'_>, task: &Task) -> Result<Progress> {
    let mut status = StatusLine::new(session.network, session.data.bayes_loss());
    let interrupt = session.directory.map(|_| Interrupt::listen());
    // Printed once training has begun, so that an error is the only line.
    let mut is_first = true;
    let outcome = session.train(&mut |event, trainer| {
        if std::mem::take(&mut is_first) {
            let _ = note_rounding(&task.ensemble);
        }
        status.show(event, trainer.progress(), trainer.last_step());
        interrupt.as_ref().is_some_and(|interrupt| interrupt.within(Duration::ZERO))
    })?;
    if outcome.progress.ending.is_none() {
        crate::progress::clear();
        let step = grouped(outcome.progress.step);
        return Err(Interrupted(format!("step {step} is saved; the same command resumes")).into());
    }
    Ok(outcome.progress)
}

impl Arguments {
    fn recipe(&self, task: &Task) -> Result<Recipe> {
        let Arguments { model, width, batch, max_steps, min_steps, patience, .. } = *self;
        let Arguments { optimizer, learning_rate, normalization, layers, heads, mlp, .. } = *self;
        let settings = Settings { batch, max_steps, min_steps, patience, mask: self.mask };
        let choices = Choices {
            model,
            task: self.task,
            width,
            samples: task.samples,
            test: task.test,
            seed: self.seed.number(),
            settings,
            optimizer,
            learning_rate,
            normalization,
            layers,
            heads,
            mlp,
        };
        let recipe = choices.recipe(task.shape.depth(), &|name| format!("--{}", name.replace('_', "-")))?;
        Ok(Recipe { corpora: task.corpora(), ..recipe })
    }
}

fn result_text(result: &serde_json::Value) -> String {
    let number = |key: &str| result[key].as_f64().unwrap_or(f64::NAN);
    let count = |key: &str| grouped(result[key].as_u64().unwrap_or_default());
    let percent = |key: &str| format!("{:.1}%", 100.0 * number(key));
    let bayes = match result["bayes_loss"].as_f64() {
        Some(loss) => format!("\nBayes     {}, accuracy {}", short(loss), percent("bayes_accuracy")),
        None => String::new(),
    };
    let floor = match result["floor"].as_f64() {
        Some(floor) => format!("\nfloor     {}{}", short(floor), known_levels(&result["level_floors"])),
        None => String::new(),
    };
    format!(
        "test loss {} ({} of guessing), accuracy {}{bayes}{floor}\nbest at step {} of {} ({} epochs), {} s\nended by {}",
        short(number("test_loss")),
        short(number("normalized_loss")),
        percent("test_accuracy"),
        count("best_step"),
        count("steps"),
        short(number("epochs")),
        short(number("seconds")),
        match result["ending"].as_str() {
            Some("rise") => "rising test loss",
            Some("plateau") => "plateau of the test loss",
            Some("diverged") => "NaN loss; try a smaller --learning-rate",
            _ => "maximum number of steps",
        },
    )
}

/// The floors of predictors that know only the lowest levels.
fn known_levels(floors: &serde_json::Value) -> String {
    let floors: Vec<String> = floors.as_array().into_iter().flatten().filter_map(|x| x.as_f64().map(short)).collect();
    let Some((_, below)) = floors.split_last() else { return String::new() };
    format!(" (with the lowest 0, 1, … levels known: {})", below.join(", "))
}
