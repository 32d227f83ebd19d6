//! `gardenpath corpus info`: exact counts of a corpus of any size, in constant memory.

use super::{Info, numbers};
use crate::commands::Answer;
use crate::progress;
use crate::terminal::plot::{bars, named_bars};
use anyhow::{Result, anyhow, bail};
use gardenpath::{Corpus, Grammar, Sampler, Symbol};
use gardenpath_lab::draw::table::{grouped, short};
use gardenpath_lab::files::{self, Alphabet, NO_ROOT, Names};
use rayon::prelude::*;
use serde::Serialize;

/// Counts of sentences. Merging is exact and independent of order.
#[derive(Clone, Default)]
struct Tally {
    /// Indexed by length.
    by_length: Vec<u64>,
    /// Indexed by root; the last entry counts sentences without a root.
    by_root: Vec<u64>,
    /// The names of tokens and roots, if the corpus has words.
    names: Names,
}

#[derive(Serialize)]
struct Summary {
    sentences: u64,
    #[serde(rename = "token_count")]
    tokens: u64,
    mean_length: f64,
    lengths: Vec<LengthCount>,
    roots: Vec<u64>,
    unlabelled: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_names: Option<Vec<String>>,
}

#[derive(Serialize)]
struct LengthCount {
    len: usize,
    count: u64,
}

/// Sentences sampled and counted by one task: enough to hide the cost of scheduling, few enough to balance threads.
const SHARD: u64 = 4096;

/// Writes the counts.
pub fn run(arguments: &Info, answer: &mut Answer) -> Result<()> {
    let tally = match arguments.samples {
        Some(count) => tally_sampled(&files::grammar::read(&arguments.file)?, arguments, count)?,
        None => tally_file(arguments)?,
    };
    let summary = tally.summary();
    if summary.sentences == 0 {
        bail!("{}: no sentences", files::shown(&arguments.file));
    }
    if answer.json { answer.json_line(&summary) } else { answer.text(&summary.to_text()) }
}

fn tally_sampled(grammar: &Grammar, arguments: &Info, count: u64) -> Result<Tally> {
    let numbers = numbers(arguments.first, count)?;
    let (sampler, seed) = (Sampler::new(grammar), arguments.seed.get());
    let bar = progress::bar(count, "sampling");
    let tally = (0..count.div_ceil(SHARD))
        .into_par_iter()
        .fold(Tally::default, |mut tally, shard| {
            let first = numbers.start + shard * SHARD;
            let corpus = Corpus::sample_with(&sampler, seed, first..numbers.end.min(first.saturating_add(SHARD)));
            tally.add(&corpus);
            bar.inc(corpus.len() as u64);
            tally
        })
        .reduce(Tally::default, Tally::merge);
    bar.finish_and_clear();
    Ok(tally)
}

fn tally_file(arguments: &Info) -> Result<Tally> {
    arguments.seed.refuse("the corpus is read from a file, not sampled")?;
    if arguments.file.extension().is_some_and(|extension| extension == "pcfg") {
        bail!("{}: this is a grammar; use --samples to sample from it", arguments.file.display());
    }
    let spinner = progress::counter("sentences read:");
    let mut tally = Tally::default();
    let mut pieces = files::corpus::read_with(&arguments.file, Alphabet::open())?;
    for piece in &mut pieces {
        let piece = piece?;
        tally.add(&piece);
        spinner.inc(piece.len() as u64);
    }
    spinner.finish_and_clear();
    let name = |e: String| anyhow!("{}: {e}", files::shown(&arguments.file));
    let Alphabet { tokens, roots } = pieces.alphabet();
    let (tokens, roots) = (tokens.settle().map_err(name)?, roots.settle().map_err(name)?);
    tally.rename(|symbols| roots.apply(symbols));
    tally.names = Names { tokens: tokens.into_words(), roots: roots.into_words() };
    Ok(tally)
}

impl Tally {
    fn add(&mut self, corpus: &Corpus) {
        self.by_root.resize(usize::from(NO_ROOT) + 1, 0);
        for &root in corpus.roots() {
            self.by_root[usize::from(root)] += 1;
        }
        let longest = corpus.sentences().map(<[u8]>::len).max().unwrap_or(0);
        self.by_length.resize(self.by_length.len().max(longest + 1), 0);
        for sentence in corpus.sentences() {
            self.by_length[sentence.len()] += 1;
        }
    }

    /// Renumbers the roots once the words of the whole file are known.
    fn rename(&mut self, apply: impl Fn(&mut [Symbol])) {
        let counts = std::mem::take(&mut self.by_root);
        self.by_root.resize(counts.len(), 0);
        for (root, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let mut root = [root as Symbol];
            apply(&mut root);
            self.by_root[usize::from(root[0])] += count;
        }
    }

    fn merge(mut self, other: Self) -> Self {
        for (mine, others) in [(&mut self.by_length, &other.by_length), (&mut self.by_root, &other.by_root)] {
            mine.resize(mine.len().max(others.len()), 0);
            mine.iter_mut().zip(others).for_each(|(mine, count)| *mine += count);
        }
        self
    }

    fn summary(&self) -> Summary {
        let lengths = || self.by_length.iter().enumerate().filter(|(_, count)| **count > 0);
        let sentences = self.by_length.iter().sum();
        let tokens = lengths().map(|(len, count)| len as u64 * count).sum();
        let mut roots = self.by_root.clone();
        let unlabelled = if roots.is_empty() { 0 } else { roots.remove(usize::from(NO_ROOT)) };
        roots.truncate(roots.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1));
        Summary {
            sentences,
            tokens,
            mean_length: tokens as f64 / sentences as f64,
            lengths: lengths().map(|(len, &count)| LengthCount { len, count }).collect(),
            roots,
            unlabelled,
            token_names: self.names.tokens.clone(),
            root_names: self.names.roots.clone(),
        }
    }
}

impl Summary {
    fn to_text(&self) -> String {
        let mut text = format!(
            "sentences    {}\ntokens       {}\nmean length  {}\n",
            grouped(self.sentences),
            grouped(self.tokens),
            short(self.mean_length)
        );
        if let Some(names) = &self.token_names {
            text += &format!("words        {}\n", names.join(" "));
        }
        text += "\nlength\n";
        let lengths: Vec<(usize, u64)> = self.lengths.iter().map(|entry| (entry.len, entry.count)).collect();
        text += &bars(&lengths);
        text += "\nroot\n";
        text += &match &self.root_names {
            Some(names) => named_bars(names, &self.roots),
            None => bars(&self.roots.iter().copied().enumerate().collect::<Vec<_>>()),
        };
        if self.unlabelled > 0 {
            text += &format!("without a root: {}\n", grouped(self.unlabelled));
        }
        text
    }
}
