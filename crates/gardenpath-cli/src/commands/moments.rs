//! `gardenpath moments`: the covariances of adjacent tokens with the root, as tensors.

use super::Answer;
use crate::cli::{SeedOption, whole_number};
use crate::progress;
use anyhow::{Context, Result, bail};
use clap::Args;
use gardenpath::{Covariance, ExpectedMoments, Grammar, Moments, Sampler, Seed, Symbol};
use gardenpath_lab::draw::table::{grouped, short};
use gardenpath_lab::files::{self, Format, Names, Output, Whole, atomic};
use gardenpath_lab::training::Floor;
use safetensors::tensor::{Dtype, TensorView};
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The arguments of `moments`.
#[derive(Args, Debug)]
#[command(after_help = "\
The file contains the tensors pair_covariance [v, v, classes] and triple_covariance [v, v, v, classes] (float64): the covariances \
of adjacent tokens with the root, pooled over positions. --samples exact gives the limit of infinitely many sentences. \
A corpus needs a root for each sentence; words are numbered in sorted order, or as in --grammar, and listed in the file.

Examples:
  gardenpath moments c.parquet -o moments.safetensors
  gardenpath moments words.jsonl --grammar g.pcfg -o moments.safetensors
  gardenpath moments g.pcfg --samples 1e6 --seed 1 -o moments.safetensors
  gardenpath moments g.pcfg --samples exact -o population.safetensors")]
pub struct Arguments {
    /// A grammar (.pcfg or .json) to sample from, or a corpus (.parquet, .jsonl or .tsv); - reads JSON lines, or a
    /// grammar with --samples
    #[arg(value_name = "GRAMMAR|CORPUS")]
    source: PathBuf,
    /// Number of sentences to sample from the grammar, or 'exact'
    #[arg(long, value_parser = samples, value_name = "N|exact")]
    samples: Option<Samples>,
    #[command(flatten)]
    seed: SeedOption,
    /// The grammar of the corpus, to number its words and to report the Bayes loss of its roots
    #[arg(long, value_name = "FILE", conflicts_with = "samples")]
    grammar: Option<PathBuf>,
    /// The .safetensors file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// The number of sentences.
#[derive(Clone, Copy, Debug)]
enum Samples {
    Number(u64),
    Exact,
}

fn samples(text: &str) -> Result<Samples, String> {
    if text == "exact" { Ok(Samples::Exact) } else { whole_number(text).map(Samples::Number) }
}

/// What `--json` prints about the file.
#[derive(Serialize)]
struct Written<'a> {
    output: &'a Path,
    sentences: Option<u64>,
    vocab: usize,
    classes: usize,
    /// `null` if unknown.
    grammar: Option<String>,
    #[serde(flatten)]
    corpus: Option<OfCorpus<'a>>,
}

/// Additional information about a corpus.
#[derive(Serialize)]
struct OfCorpus<'a> {
    corpus: &'a Path,
    /// The Bayes loss of the roots; `null` if the grammar is unknown.
    bayes_loss: Option<f64>,
    bayes_accuracy: Option<f64>,
}

/// The metadata of the file, as JSON; `sentences` is `null` for exact moments.
#[derive(Serialize)]
struct Origin {
    grammar: Option<String>,
    sentences: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// The hash of the sentences of a corpus file.
    #[serde(skip_serializing_if = "Option::is_none")]
    corpus: Option<String>,
    /// The names of tokens and roots.
    #[serde(flatten)]
    names: Names,
}

/// Moments with their origin.
struct Counted {
    covariance: Covariance,
    vocab: usize,
    classes: usize,
    origin: Origin,
    floor: Option<Floor>,
}

/// Sentences per step of the progress bar.
const PIECE: u64 = 1 << 20;

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    let output = &arguments.output;
    atomic::check_name(output, "safetensors")?;
    let counted = match arguments.samples {
        Some(samples) => of_grammar(arguments, samples)?,
        None => of_corpus(arguments)?,
    };
    write(&counted, output)?;
    let Counted { vocab, classes, origin, floor, .. } = counted;
    let Origin { sentences, grammar, .. } = origin;
    if answer.json {
        let corpus = origin.corpus.is_some().then(|| OfCorpus {
            corpus: &arguments.source,
            bayes_loss: floor.map(|floor| floor.loss),
            bayes_accuracy: floor.map(|floor| floor.accuracy),
        });
        return answer.json_line(&Written { output, sentences, vocab, classes, grammar, corpus });
    }
    let source = sentences.map_or("exact moments".to_owned(), |n| format!("moments of {} sentences", grouped(n)));
    progress::note(&format!("wrote the {source} to {}", output.display()));
    match floor {
        Some(Floor { loss, accuracy }) => {
            answer.text(&format!("Bayes     {}, accuracy {:.1}%\n", short(loss), 100.0 * accuracy))
        }
        None => Ok(()),
    }
}

fn of_grammar(arguments: &Arguments, samples: Samples) -> Result<Counted> {
    let path = &arguments.source;
    if !files::is_standard(path) && Format::of(path).is_ok() {
        bail!("{}: this is a corpus, and all its sentences are counted; remove --samples", path.display());
    }
    let grammar = files::grammar::read(path)?;
    let (covariance, sentences) = match samples {
        Samples::Exact => {
            arguments.seed.refuse("exact moments are not sampled")?;
            (ExpectedMoments::new(&grammar)?.covariance(), None)
        }
        Samples::Number(0) => bail!("--samples is 0, expected at least 1"),
        Samples::Number(count) => (count_sampled(&grammar, count, arguments.seed.get())?, Some(count)),
    };
    let (seed, corpus, names) = (Some(arguments.seed.number()), None, Names::default());
    let origin = Origin { grammar: Some(grammar.fingerprint()), sentences, seed, corpus, names };
    Ok(Counted { covariance, vocab: grammar.vocab(), classes: grammar.classes(), origin, floor: None })
}

fn of_corpus(arguments: &Arguments) -> Result<Counted> {
    let path = &arguments.source;
    if !files::is_standard(path) && Format::of(path).is_err() {
        bail!("{}: not a corpus (.parquet, .jsonl or .tsv); a grammar needs --samples", path.display());
    }
    arguments.seed.refuse("all sentences of a corpus are counted")?;
    let grammar = match &arguments.grammar {
        Some(grammar) if files::is_standard(grammar) && files::is_standard(path) => {
            bail!("the grammar and the corpus cannot both come from standard input")
        }
        grammar => grammar.as_ref().map(|grammar| files::grammar::read(grammar)).transpose()?,
    };
    let whole = match &grammar {
        Some(grammar) => Whole::read_of(path, grammar)?.labelled()?,
        None => Whole::read(path)?.labelled()?,
    };
    let Whole { corpus, vocab, classes, .. } = &whole;
    let (vocab, classes) = (*vocab, *classes);
    let mut moments = Moments::new(vocab, classes)?;
    moments.add_corpus(corpus).with_context(|| files::shown(path).to_string())?;
    let floor = grammar.as_ref().map(|grammar| Floor::of(grammar, corpus)).transpose()?;
    let origin = Origin {
        grammar: grammar.map(|grammar| grammar.fingerprint()),
        sentences: Some(corpus.len() as u64),
        seed: None,
        corpus: Some(whole.fingerprint()),
        names: whole.names.clone(),
    };
    Ok(Counted { covariance: moments.covariance(), vocab, classes, origin, floor })
}

fn count_sampled(grammar: &Grammar, count: u64, seed: Seed) -> Result<Covariance> {
    let mut moments = Moments::new(grammar.vocab(), grammar.classes())?;
    let sampler = Sampler::new(grammar);
    let bar = progress::bar(count, "counting");
    for first in (0..count).step_by(PIECE as usize) {
        let numbers = first..count.min(first + PIECE);
        bar.inc(numbers.end - numbers.start);
        moments.add_sampled(&sampler, seed, numbers)?;
    }
    bar.finish_and_clear();
    Ok(moments.covariance())
}

fn write(counted: &Counted, output: &Path) -> Result<()> {
    let &Counted { ref covariance, vocab, classes, ref origin, .. } = counted;
    let symbols = || (0..vocab).map(|symbol| symbol as Symbol);
    let (mut pairs, mut triples) = (Vec::new(), Vec::new());
    let bytes = |vector: &[f64], to: &mut Vec<u8>| to.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
    for a in symbols() {
        for b in symbols() {
            bytes(covariance.pair_vector(a, b), &mut pairs);
            symbols().for_each(|c| bytes(covariance.triple_vector(a, b, c), &mut triples));
        }
    }
    let views = [
        ("pair_covariance", TensorView::new(Dtype::F64, vec![vocab, vocab, classes], &pairs)?),
        ("triple_covariance", TensorView::new(Dtype::F64, vec![vocab, vocab, vocab, classes], &triples)?),
    ];
    // A single entry: several would be written in the random order of a hash table.
    let metadata = HashMap::from([("gardenpath".to_owned(), serde_json::to_string(origin)?)]);
    let file = safetensors::serialize(views, Some(metadata))?;
    let mut output = Output::create(output)?;
    output.write_all(&file)?;
    output.finish()
}
