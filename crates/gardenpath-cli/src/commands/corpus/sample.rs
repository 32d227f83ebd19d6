//! `gardenpath corpus sample`: streams sentences from the sampler to the file.

use super::{Sample, numbers};
use crate::commands::Answer;
use crate::progress;
use anyhow::{Result, bail};
use gardenpath::{Corpus, Grammar, Sampler, Seed};
use gardenpath_lab::draw::table::grouped;
use gardenpath_lab::files::parquet::{Writer, keys};
use gardenpath_lab::files::{self, Format, Names, Output, jsonl, tsv};
use rayon::prelude::*;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// What `--json` prints about a corpus that was written to a file.
#[derive(Serialize)]
struct Written<'a> {
    output: &'a Path,
    sentences: u64,
    #[serde(rename = "token_count")]
    tokens: u64,
    first: u64,
    seed: u64,
    grammar: String,
}

/// Tokens held in memory at a time: 4 MB, since a token is one byte.
const PIECE_TOKENS: f64 = (1u64 << 22) as f64;

/// A piece of the corpus on its way to the file.
struct Piece {
    corpus: Corpus,
    trees: Option<Vec<String>>,
}

/// Where the pieces are written.
enum Sink<'o> {
    Standard(&'o mut dyn Write, Names),
    Jsonl(Output, Names),
    Parquet(Box<Writer>),
    Tsv(Output, Names),
}

/// Samples the corpus.
pub fn run(arguments: &Sample, answer: &mut Answer) -> Result<()> {
    let numbers = numbers(arguments.first, arguments.samples)?;
    let format = Format::of(&arguments.output)?;
    let to_file = !files::is_standard(&arguments.output);
    let grammar = files::grammar::read(&arguments.grammar)?;
    let names = names(&grammar, arguments, format)?;
    let mut sink = match format {
        Format::Jsonl if !to_file => Sink::Standard(&mut *answer.out, names),
        Format::Jsonl => Sink::Jsonl(Output::create(&arguments.output)?, names),
        Format::Parquet => {
            refuse_terminal(&arguments.output)?;
            let origin = origin(&grammar, arguments);
            Sink::Parquet(Box::new(Writer::create_with(&arguments.output, &origin, arguments.trees, names)?))
        }
        Format::Tsv => Sink::Tsv(Output::create(&arguments.output)?, names),
    };
    let (sampler, seed) = (Sampler::new(&grammar), arguments.seed.get());
    let size = (PIECE_TOKENS / grammar.mean_length()).clamp(1.0, 262_144.0) as u64;
    let bar = progress::bar(arguments.samples, "sampling");
    let bar = if to_file { bar } else { progress::beside_results(bar) };
    let mut first = numbers.start;
    let pieces = Corpus::stream(&sampler, seed, numbers, size).map(|corpus| {
        let trees = arguments.trees.then(|| trees(&sampler, &grammar, seed, first, corpus.len()));
        first += corpus.len() as u64;
        Piece { corpus, trees }
    });
    let mut tokens = 0;
    for piece in pieces {
        tokens += piece.corpus.tokens().len() as u64;
        bar.inc(piece.corpus.len() as u64);
        sink.write(piece)?;
    }
    sink.finish()?;
    bar.finish_and_clear();
    if to_file && answer.json {
        let Sample { output, samples, first, seed, .. } = arguments;
        let fingerprint = grammar.fingerprint();
        answer.json_line(&Written {
            output,
            sentences: *samples,
            tokens,
            first: *first,
            seed: seed.number(),
            grammar: fingerprint,
        })?;
    } else if to_file {
        let counts = format!("{} sentences, {} tokens", grouped(arguments.samples), grouped(tokens));
        progress::note(&format!("wrote {counts} to {}", arguments.output.display()));
    }
    Ok(())
}

fn trees(sampler: &Sampler, grammar: &Grammar, seed: Seed, first: u64, count: usize) -> Vec<String> {
    (0..count as u64).into_par_iter().map(|i| sampler.tree(seed, first + i).to_text(grammar)).collect()
}

/// The names to write: TSV always has the grammar's names, other formats have numbers unless `--words` is given.
fn names(grammar: &Grammar, arguments: &Sample, format: Format) -> Result<Names> {
    if format == Format::Tsv {
        if arguments.trees {
            bail!("{}: --trees needs .parquet or .jsonl", arguments.output.display());
        }
        let names = Names::of(grammar);
        tsv::check_names(&names)?;
        return Ok(names);
    }
    if !arguments.words {
        return Ok(Names::default());
    }
    let names = Names::of(grammar);
    if names.are_numbers() {
        bail!("--words: {} has no names for tokens and classes", files::shown(&arguments.grammar));
    }
    Ok(names)
}

/// The metadata of the file.
fn origin(grammar: &Grammar, arguments: &Sample) -> Vec<(&'static str, String)> {
    vec![
        (keys::GRAMMAR, grammar.fingerprint()),
        (keys::SEED, arguments.seed.number().to_string()),
        (keys::FIRST, arguments.first.to_string()),
        (keys::COUNT, arguments.samples.to_string()),
        (keys::REMARKS, grammar.remarks().join("\n")),
        (keys::CLASSES, grammar.classes().to_string()),
        (keys::VOCAB, grammar.vocab().to_string()),
    ]
}

/// Parquet is binary, and the file is renamed when it is complete, so standard output cannot hold it.
fn refuse_terminal(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() && path != Path::new("/dev/null") => {
            bail!(
                "{}: Parquet can only be written to regular files, expected a name ending in .parquet",
                path.display()
            )
        }
        _ => Ok(()),
    }
}

impl Sink<'_> {
    fn write(&mut self, piece: Piece) -> Result<()> {
        let Piece { corpus, trees } = piece;
        match self {
            Sink::Standard(out, names) => Ok(jsonl::write_with(*out, &corpus, trees.as_deref(), names)?),
            Sink::Jsonl(output, names) => Ok(jsonl::write_with(output, &corpus, trees.as_deref(), names)?),
            Sink::Parquet(writer) => writer.write(&corpus, trees),
            Sink::Tsv(output, names) => Ok(tsv::write(output, &corpus, names)?),
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Sink::Standard(out, _) => Ok(out.flush()?),
            Sink::Jsonl(output, _) | Sink::Tsv(output, _) => output.finish(),
            Sink::Parquet(writer) => writer.finish(),
        }
    }
}
