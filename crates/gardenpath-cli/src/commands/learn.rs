//! `gardenpath learn`: a grammar from sentences and their root labels.

mod names;
mod report;
mod sentences;

use super::Answer;
use crate::cli::{SeedOption, refuse, size, whole_number};
use crate::progress;
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use gardenpath::learn::paper::{self, PaperLearner};
use gardenpath::learn::{em, exact};
use gardenpath::{Corpus, Error, Grammar, Symbol};
use gardenpath_lab::draw::table::{counted, grouped};
use gardenpath_lab::files;
use report::Report;
use sentences::Sentences;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The arguments of `learn`.
#[derive(Args, Debug)]
#[command(after_help = "\
The exact learner recovers every rule, or says why it did not: it tests its grammar on the sentences, without knowing the \
truth. The algorithm of the paper and EM from random starts are there to compare with. Tokens and classes are those of the \
corpus; words become the names of the learned tokens and classes.

Examples:
  gardenpath learn c.parquet --vocab 16 --depth 3 -o learned.pcfg
  gardenpath learn c.parquet --vocab 16 --depth 3 --truth g.pcfg --test t.parquet --json
  gardenpath learn --grammar g.pcfg --samples 1e5 --seed 1")]
pub struct Arguments {
    /// The sentences with their roots (.jsonl, .parquet or .tsv), or - for JSON lines on standard input
    #[arg(required_unless_present = "grammar", conflicts_with = "grammar")]
    corpus: Option<PathBuf>,
    /// Sample the sentences from this grammar, on the fly; it is the truth to compare with
    #[arg(long, requires = "samples", value_name = "FILE", conflicts_with = "truth")]
    grammar: Option<PathBuf>,
    /// Number of sentences to sample from --grammar
    #[arg(long, value_parser = whole_number, requires = "grammar", value_name = "N")]
    samples: Option<u64>,
    #[command(flatten)]
    seed: SeedOption,
    /// Number of symbols of each level between root and tokens [default: the most that a level of --grammar has]
    #[arg(long, value_parser = size, required_unless_present = "grammar")]
    vocab: Option<usize>,
    /// Number of layers of rules [default: that of --grammar]
    #[arg(long, value_parser = size, required_unless_present = "grammar")]
    depth: Option<usize>,
    /// Probability that a node has two children [default: learned in mode exact, 0.5 in mode paper]
    #[arg(long, value_name = "P")]
    p_binary: Option<f64>,
    /// Share of labels and tokens that may be wrong before mode exact distrusts underivable sentences [default: 0.02]
    #[arg(long, value_name = "P")]
    noise: Option<f64>,
    /// In mode exact, refuse sentences whose length no tree has, instead of skipping them
    #[arg(long)]
    strict: bool,
    /// How to learn
    #[arg(long, value_enum, default_value = "exact")]
    mode: Mode,
    /// How mode paper compares triples with the centroids of the pairs [default: inner-product]
    #[arg(long, value_enum)]
    alignment: Option<Alignment>,
    /// Factor of the threshold for pairs in mode paper [default: 0.85]
    #[arg(long, value_name = "G")]
    gamma_binary: Option<f64>,
    /// Factor of the threshold for triples in mode paper [default: 1.5]
    #[arg(long, value_name = "G")]
    gamma_ternary: Option<f64>,
    /// Random starts of mode em [default: 3]
    #[arg(long, value_parser = size, value_name = "N")]
    starts: Option<usize>,
    /// Steps of each start of mode em [default: 50]
    #[arg(long, value_parser = size, value_name = "N")]
    rounds: Option<usize>,
    /// The true grammar, to score the learned rules
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Other sentences with their roots, to score the answers [default: fresh ones of the true grammar, if it is known]
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Where to write the learned grammar (.pcfg)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// How to learn.
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

/// A learned grammar, and what mode exact says about it.
struct Outcome {
    grammar: Grammar,
    judged: Option<Judged>,
}

/// What only the exact learner can tell.
struct Judged {
    verdict: exact::Verdict,
    skipped: usize,
    underivable: usize,
}

/// The sizes that the learner is told, and those that corpora and truth have at least.
struct Sizes {
    vocab: usize,
    depth: usize,
    tokens: usize,
    classes: usize,
}

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    arguments.refuse_options_without_effect()?;
    if let Some(output) = &arguments.output {
        files::grammar::check_output(output)?;
    }
    let truth_path = arguments.truth.as_ref().or(arguments.grammar.as_ref());
    let truth = truth_path.map(|path| files::grammar::read(path)).transpose()?;
    let given = |option: Option<usize>, of_truth: fn(&Grammar) -> usize| option.or(truth.as_ref().map(of_truth));
    let (Some(vocab), Some(depth)) = (given(arguments.vocab, hidden_symbols), given(arguments.depth, Grammar::depth))
    else {
        bail!("expected --vocab and --depth");
    };
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
    let (tokens, classes) = (most(Grammar::vocab, Corpus::tokens), most(Grammar::classes, Corpus::roots));
    let clock = Instant::now();
    let outcome = learn(&corpus, &Sizes { vocab, depth, tokens, classes }, arguments);
    let mut outcome = outcome.map_err(|error| in_file(error, arguments.corpus.as_deref()))?;
    let seconds = clock.elapsed().as_secs_f64();
    if let Some(Judged { skipped, .. }) = outcome.judged
        && skipped > 0
    {
        progress::note(&format!("warning: skipped {} whose length no tree has", counted(skipped, "sentence")));
    }
    outcome.grammar = names::give(outcome.grammar, &names)?;
    if let Some(output) = &arguments.output {
        let remark = format!("learned from {} sentences by mode {:?}", grouped(corpus.len() as u64), arguments.mode);
        let grammar = outcome.grammar.clone().with_remarks(vec![remark.to_lowercase()]);
        files::grammar::write(&grammar, output, answer.out)?;
    }
    let report = Report::new(&outcome, truth.as_ref(), test.as_ref(), corpus.len(), seconds)?;
    if let (Some(path), Some(rate)) = (&arguments.test, report.parse_rate.filter(|rate| *rate < FEW_PARSED)) {
        let (name, percent) = (files::shown(path), 100.0 * rate);
        progress::note(&format!("warning: the learned grammar derives {percent:.1}% of {name}: another language?"));
    }
    if answer.json { answer.json_line(&report) } else { answer.text(&report.to_text()) }
}

/// Below this share of derived sentences, a test corpus is suspected to be of another language.
const FEW_PARSED: f64 = 0.5;

/// The most symbols that a level between root and tokens has, or the tokens if there is none.
fn hidden_symbols(grammar: &Grammar) -> usize {
    let inner = &grammar.sizes()[1..grammar.depth()];
    inner.iter().copied().max().unwrap_or(grammar.vocab())
}

impl Arguments {
    fn refuse_options_without_effect(&self) -> Result<()> {
        if self.corpus.is_some() {
            refuse("--samples", self.samples, "it is the number of sentences to sample from --grammar")?;
        }
        let Arguments { mode, strict, .. } = *self;
        if mode != Mode::Exact {
            refuse("--noise", self.noise, "only mode exact tolerates noise")?;
            refuse("--strict", strict.then_some(()), "only mode exact skips sentences of impossible length")?;
        }
        if mode != Mode::Paper {
            let why = "it belongs to --mode paper";
            refuse("--alignment", self.alignment, why)?;
            refuse("--gamma-binary", self.gamma_binary, why)?;
            refuse("--gamma-ternary", self.gamma_ternary, why)?;
        }
        if mode != Mode::Em {
            refuse("--starts", self.starts, "it belongs to --mode em")?;
            refuse("--rounds", self.rounds, "it belongs to --mode em")?;
        } else {
            refuse("--p-binary", self.p_binary, "mode em learns the probabilities of all rules")?;
        }
        Ok(())
    }
}

/// The parameters of a learner that are properties of the corpus.
const OF_CORPUS: [&str; 4] = ["length", "number of sentences", "number of tokens", "number of classes"];

/// An error with the name of the corpus, if it is about that.
fn in_file(error: anyhow::Error, path: Option<&Path>) -> anyhow::Error {
    match (error.downcast_ref::<Error>(), path) {
        (Some(Error::Parameter { name, .. }), Some(path)) if OF_CORPUS.contains(name) => {
            anyhow!("{}: {error}", files::shown(path))
        }
        _ => error,
    }
}

fn learn(corpus: &Corpus, sizes: &Sizes, arguments: &Arguments) -> Result<Outcome> {
    let seed = arguments.seed.get();
    let &Sizes { vocab, depth, tokens, classes } = sizes;
    let spinner = progress::line("learning");
    let outcome = match arguments.mode {
        Mode::Exact => {
            let Arguments { p_binary, strict, .. } = *arguments;
            let noise = arguments.noise.unwrap_or(exact::Options::NOISE);
            let options = exact::Options { vocab, depth, p_binary, seed, tokens, classes, noise, strict };
            let learned = exact::learn(corpus, &options, &mut |step| spinner.set_message(step.to_owned()))?;
            let exact::Learned { grammar, verdict, skipped, underivable, .. } = learned;
            Outcome { grammar, judged: Some(Judged { verdict, skipped, underivable }) }
        }
        Mode::Paper => {
            let alignment = match arguments.alignment.unwrap_or_default() {
                Alignment::InnerProduct => paper::Alignment::InnerProduct,
                Alignment::Cosine => paper::Alignment::Cosine,
            };
            let learner = PaperLearner::new(vocab, depth)
                .p_binary(arguments.p_binary.unwrap_or(0.5))
                .gammas(arguments.gamma_binary.unwrap_or(0.85), arguments.gamma_ternary.unwrap_or(1.5))
                .alignment(alignment)
                .sizes(tokens, classes);
            Outcome { grammar: learner.clustering(10, seed).learn(corpus)?.grammar, judged: None }
        }
        Mode::Em => {
            let mut options = em::Options { seed, tokens, classes, ..em::Options::new(vocab, depth) };
            options.starts = arguments.starts.unwrap_or(options.starts);
            options.rounds = arguments.rounds.unwrap_or(options.rounds);
            let found = em::learn(corpus, &options, &mut |start, round, likelihood| {
                let (start, round) = (start + 1, round + 1);
                spinner.set_message(format!("start {start}, step {round}, likelihood {likelihood:.4}"));
            })?;
            Outcome { grammar: found.grammar, judged: None }
        }
    };
    spinner.finish_and_clear();
    Ok(outcome)
}
