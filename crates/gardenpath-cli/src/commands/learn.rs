//! `gardenpath learn`: learns a grammar from sentences and their root labels.

mod names;
mod report;
mod sentences;

use super::Answer;
use crate::cli::{SeedOption, refuse, size, whole_number};
use crate::progress;
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use gardenpath::learn::paper;
use gardenpath::learn::{Branching, Em, Exact, Learner, Outline, Paper};
use gardenpath::{Arities, Corpus, Error, Grammar, Layer, Symbol};
use gardenpath_lab::draw::table::{counted, grouped};
use gardenpath_lab::files;
use report::Report;
use sentences::Sentences;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The arguments of `learn`.
#[derive(Args, Debug)]
#[command(after_help = "\
The exact learner recovers every rule, or says why it did not: it tests its grammar on the sentences, without access to the true \
grammar. With --unlabelled it needs no labels: it recovers every rule below the root from sentences alone, the root is a single start \
symbol, and the next-token loss is reported next to its floor. The paper's algorithm and EM from random starts are available for comparison. Tokens and classes are those of the \
corpus; words become the names of the learned tokens and classes.

Examples:
  gardenpath learn c.parquet --vocab 16 --depth 3 -o learned.pcfg
  gardenpath learn c.parquet --vocab 16 --depth 3 --truth g.pcfg --test t.parquet --json
  gardenpath learn c.parquet --vocab 16 --depth 3 --unlabelled --truth g.pcfg
  gardenpath learn c.parquet --vocab 8,16 --depth 3 --arities 2,4
  gardenpath learn --grammar g.pcfg --samples 1e5 --seed 1")]
pub struct Arguments {
    /// The sentences with their roots (.jsonl, .parquet or .tsv), or - for JSON lines on standard input
    #[arg(required_unless_present = "grammar", conflicts_with = "grammar")]
    corpus: Option<PathBuf>,
    /// Sample the sentences from this grammar on the fly; it is also the truth to score against
    #[arg(long, requires = "samples", value_name = "FILE", conflicts_with = "truth")]
    grammar: Option<PathBuf>,
    /// Number of sentences to sample from --grammar
    #[arg(long, value_parser = whole_number, requires = "grammar", value_name = "N")]
    samples: Option<u64>,
    #[command(flatten)]
    seed: SeedOption,
    /// Number of symbols of the levels between root and tokens: one for all, or one per level from the root down, such
    /// as 8,16 [default: those of --grammar]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = size, required_unless_present = "grammar")]
    vocab: Option<Vec<usize>>,
    /// Number of layers of rules [default: that of --grammar]
    #[arg(long, value_parser = size, required_unless_present = "grammar")]
    depth: Option<usize>,
    /// Numbers of children that nodes may have, from 2 to 4, optionally with known probabilities, such as 2:0.5,4:0.5
    /// [default: 2,3, or those of --grammar if they differ]
    #[arg(long, value_name = "N,…", conflicts_with = "p_binary")]
    arities: Option<Branching>,
    /// Probability that a node has two children, not three: short for --arities 2:P,3:1-P [default: learned in mode
    /// exact, 0.5 in mode paper]
    #[arg(long, value_name = "P")]
    p_binary: Option<f64>,
    /// Fraction of wrong labels and tokens that mode exact tolerates [default: 0.02]
    #[arg(long, value_name = "P")]
    noise: Option<f64>,
    /// In mode exact, fail on sentences whose length no tree has instead of skipping them
    #[arg(long)]
    strict: bool,
    /// Learn from sentences alone: ignore labels and derive all sentences from one start symbol
    #[arg(long)]
    unlabelled: bool,
    /// Learning algorithm
    #[arg(long, value_enum, default_value = "exact")]
    mode: Mode,
    /// How mode paper compares triples with the centroids of pairs [default: inner-product]
    #[arg(long, value_enum)]
    alignment: Option<Alignment>,
    /// Threshold factor for pairs in mode paper [default: 0.85]
    #[arg(long, value_name = "G")]
    gamma_binary: Option<f64>,
    /// Threshold factor for triples in mode paper [default: 1.5]
    #[arg(long, value_name = "G")]
    gamma_ternary: Option<f64>,
    /// Number of random starts of mode em [default: 3]
    #[arg(long, value_parser = size, value_name = "N")]
    starts: Option<usize>,
    /// EM steps per start of mode em [default: 50]
    #[arg(long, value_parser = size, value_name = "N")]
    rounds: Option<usize>,
    /// The true grammar, to score the learned rules against
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Held-out sentences with their roots, to score predictions [default: fresh sentences of the true grammar, if
    /// known]
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Where to write the learned grammar (.pcfg)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Learning algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Segmentation, then clustering by label and context; recovers every rule
    Exact,
    /// Algorithms 1 to 3 of the paper
    Paper,
    /// Inside-outside from random starts
    Em,
}

/// How triples are compared with centroids.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Alignment {
    /// As the paper's proposition does
    #[default]
    InnerProduct,
    /// As the paper's Algorithm 3 does
    Cosine,
}

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    arguments.refuse_options_without_effect()?;
    if let Some(output) = &arguments.output {
        files::grammar::check_output(output)?;
    }
    let truth_path = arguments.truth.as_ref().or(arguments.grammar.as_ref());
    let truth = truth_path.map(|path| files::grammar::read(path)).transpose()?;
    let inner = arguments.vocab.clone().or(truth.as_ref().map(inner_sizes));
    let (Some(inner), Some(depth)) = (inner, arguments.depth.or(truth.as_ref().map(Grammar::depth))) else {
        bail!("expected --vocab and --depth");
    };
    let branching = arguments.arities.or(arguments.p_binary.map(Branching::binary));
    let branching = branching.unwrap_or_else(|| Branching::Learned(truth.as_ref().map_or(Arities::PAPER, arities)));
    if let (Some(truth), Some(path)) = (&truth, truth_path)
        && truth.depth() != depth
    {
        bail!("{} has depth {}, expected that of --depth, {depth}", files::shown(path), truth.depth());
    }
    let Sentences { corpus, test, names } = Sentences::gather(arguments, truth.as_ref())?;
    let most = |of_truth: fn(&Grammar) -> usize, of_test: fn(&Corpus) -> &[Symbol]| {
        let of_test =
            test.as_ref().and_then(|test| of_test(test).iter().max()).map_or(0, |&most| usize::from(most) + 1);
        truth.as_ref().map_or(0, of_truth).max(of_test)
    };
    let tokens = most(Grammar::vocab, Corpus::tokens);
    let classes = if arguments.unlabelled { 1 } else { most(Grammar::classes, Corpus::roots) };
    let clock = Instant::now();
    let spinner = progress::line("learning");
    let outline = Outline { depth, inner, branching, tokens, classes };
    let learned = learner(outline, arguments).learn(&corpus, &mut |step| spinner.set_message(step.to_string()));
    spinner.finish_and_clear();
    let mut learned = learned.map_err(|error| in_file(error, arguments.corpus.as_deref()))?;
    let seconds = clock.elapsed().as_secs_f64();
    if let Some(skipped) = learned.skipped.filter(|&skipped| skipped > 0) {
        progress::note(&format!("warning: skipped {} whose length no tree has", counted(skipped, "sentence")));
    }
    learned.grammar = names::give(learned.grammar, &names)?;
    if let Some(output) = &arguments.output {
        let labels = if arguments.unlabelled { " without labels" } else { "" };
        let sentences = grouped(corpus.len() as u64);
        let remark = format!("learned from {sentences} sentences by mode {:?}{labels}", arguments.mode);
        let grammar = learned.grammar.clone().with_remarks(vec![remark.to_lowercase()]);
        files::grammar::write(&grammar, output, answer.out)?;
    }
    let report = Report::new(&learned, truth.as_ref(), corpus.len(), seconds)?;
    let report = match &test {
        Some(test) if arguments.unlabelled => report.with_next_token(&learned, truth.as_ref(), test)?,
        Some(test) => report.with_roots(&learned, truth.as_ref(), test)?,
        None => report,
    };
    if let (Some(path), Some(rate)) = (&arguments.test, report.parse_rate.filter(|rate| *rate < FEW_PARSED)) {
        let (name, percent) = (files::shown(path), 100.0 * rate);
        progress::note(&format!(
            "warning: the learned grammar derives only {percent:.1}% of {name}: is it the same language?"
        ));
    }
    if answer.json { answer.json_line(&report) } else { answer.text(&report.to_text(!arguments.unlabelled)) }
}

/// A test corpus of which a smaller fraction is derived probably belongs to another language.
const FEW_PARSED: f64 = 0.5;

/// The numbers of symbols between root and tokens.
fn inner_sizes(grammar: &Grammar) -> Vec<usize> {
    grammar.sizes()[1..grammar.depth()].to_vec()
}

/// Two and three, or the grammar's numbers of children if it has others.
fn arities(grammar: &Grammar) -> Arities {
    let own: Arities = grammar.layers().iter().map(Layer::arities).flat_map(Arities::iter).collect();
    if own.iter().all(|arity| Arities::PAPER.contains(arity)) { Arities::PAPER } else { own }
}

impl Arguments {
    fn refuse_options_without_effect(&self) -> Result<()> {
        if self.corpus.is_some() {
            refuse("--samples", self.samples, "it needs --grammar to sample from")?;
        }
        let Arguments { mode, strict, unlabelled, .. } = *self;
        if mode != Mode::Exact {
            refuse("--noise", self.noise, "only mode exact tolerates noise")?;
            refuse("--strict", strict.then_some(()), "only mode exact skips sentences of impossible length")?;
            refuse("--unlabelled", unlabelled.then_some(()), "only mode exact learns without labels")?;
        }
        if mode != Mode::Paper {
            let why = "it needs --mode paper";
            refuse("--alignment", self.alignment, why)?;
            refuse("--gamma-binary", self.gamma_binary, why)?;
            refuse("--gamma-ternary", self.gamma_ternary, why)?;
        }
        if mode != Mode::Em {
            refuse("--starts", self.starts, "it needs --mode em")?;
            refuse("--rounds", self.rounds, "it needs --mode em")?;
        } else {
            let why = "mode em learns the probabilities of all rules";
            refuse("--p-binary", self.p_binary, why)?;
            let probabilities = self.arities.filter(|branching| matches!(branching, Branching::Given(_)));
            refuse("--arities with probabilities", probabilities, why)?;
        }
        Ok(())
    }
}

/// The counts of a corpus that a learner checks.
const OF_CORPUS: [&str; 3] = ["number of sentences", "number of tokens", "number of classes"];

/// Adds the name of the corpus to errors about it.
fn in_file(error: Error, path: Option<&Path>) -> anyhow::Error {
    let is_of_corpus = match &error {
        Error::Count { what, .. } => OF_CORPUS.contains(what),
        Error::Length { .. } | Error::PartlyLabelled { .. } => true,
        _ => false,
    };
    match path {
        Some(path) if is_of_corpus => anyhow!("{}: {error}", files::shown(path)),
        _ => error.into(),
    }
}

fn learner(outline: Outline, arguments: &Arguments) -> Box<dyn Learner> {
    let seed = arguments.seed.get();
    match arguments.mode {
        Mode::Exact => {
            let usual = Exact::new(outline);
            let noise = arguments.noise.unwrap_or(usual.noise);
            Box::new(Exact { noise, strict: arguments.strict, seed, ..usual })
        }
        Mode::Paper => {
            let alignment = match arguments.alignment.unwrap_or_default() {
                Alignment::InnerProduct => paper::Alignment::InnerProduct,
                Alignment::Cosine => paper::Alignment::Cosine,
            };
            let usual = Paper::new(outline);
            let gamma_binary = arguments.gamma_binary.unwrap_or(usual.gamma_binary);
            let gamma_ternary = arguments.gamma_ternary.unwrap_or(usual.gamma_ternary);
            Box::new(Paper { gamma_binary, gamma_ternary, alignment, seed, ..usual })
        }
        Mode::Em => {
            let usual = Em::new(outline);
            let starts = arguments.starts.unwrap_or(usual.starts);
            let rounds = arguments.rounds.unwrap_or(usual.rounds);
            Box::new(Em { starts, rounds, seed, ..usual })
        }
    }
}
