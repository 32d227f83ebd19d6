//! `gardenpath parse`: exact parsing of a corpus or of a single sentence.

mod by_hand;
mod modes;
mod ranked;

use super::Answer;
use super::sentences::{Sentences, Workspaces};
use crate::cli::{SeedOption, refuse, size};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use gardenpath::Grammar;
use gardenpath_lab::files;
use modes::Engine;
use std::path::{Path, PathBuf};

/// The arguments of `parse`.
#[derive(Args, Debug)]
#[command(after_help = "\
With --json, one line per sentence, in order:
  inside     {\"len\",\"logprob\":[ln P(sentence | root), …],\"posterior\":[…],\"entropy\",\"root\"}
  best       {\"root\",\"logprob\",\"tree\"}: the most probable tree, with ln P(tree | root)
  kbest      {\"parses\":[{\"root\",\"share\",\"logprob\",\"tree\"}, …]}: the --limit most probable trees, with P(tree | sentence)
  count      {\"trees\":[\"…\", …]}: the exact number of trees of each root
  recognize  {\"roots\":[…]}: the roots that can derive the sentence
  sample     {\"root\",\"tree\"}: a tree sampled from the posterior; tree i depends only on the seed and i
Impossible values are null. If the grammar names its classes, root_name (recognize: root_names) is the name of the root.

Examples:
  gardenpath parse g.pcfg c.parquet --mode inside --json
  gardenpath corpus sample g.pcfg --samples 5 | gardenpath parse g.pcfg - --mode best
  gardenpath parse g.pcfg --sentence \"0 3 1 2 5\" --svg trees.svg")]
pub struct Arguments {
    /// The grammar (.pcfg or .json)
    grammar: PathBuf,
    /// The sentences (.jsonl, .parquet or .tsv), or - for JSON lines on standard input; words are names of tokens
    #[arg(required_unless_present = "sentence", conflicts_with = "sentence")]
    corpus: Option<PathBuf>,
    /// What to compute for each sentence: inside, best, kbest, count, recognize or sample (see below)
    #[arg(long, value_enum, default_value = "inside", hide_possible_values = true, conflicts_with = "sentence")]
    mode: Mode,
    #[command(flatten)]
    seed: SeedOption,
    /// Parse this sentence and show all its trees: names of tokens, or numbers as [0,3,1]
    #[arg(long, value_name = "TOKENS")]
    sentence: Option<String>,
    /// Maximum number of trees that --sentence draws or --mode kbest lists [default: 10]
    #[arg(long, value_parser = size, value_name = "N")]
    limit: Option<usize>,
    /// Draw the trees of --sentence side by side to this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// What to compute for each sentence.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Mode {
    /// The posterior over the root, by the inside algorithm
    Inside,
    /// The most probable tree
    Best,
    /// The most probable trees
    Kbest,
    /// The number of trees of each root
    Count,
    /// The roots that can derive the sentence
    Recognize,
    /// A tree sampled from the posterior
    Sample,
}

/// The largest value of `--limit`.
const MAX_LIMIT: usize = 10_000;

/// Approximate size of a bracketed tree per token.
const TREE_BYTES: usize = 64;

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    if arguments.sentence.is_some() || !matches!(arguments.mode, Mode::Sample) {
        arguments.seed.refuse("only --mode sample is random")?;
    }
    let limit = arguments.limit.unwrap_or(10);
    if limit > MAX_LIMIT {
        bail!("--limit is {limit}, expected at most {MAX_LIMIT} trees");
    }
    let grammar = files::grammar::read(&arguments.grammar)?;
    match (&arguments.sentence, &arguments.corpus) {
        (Some(sentence), _) => by_hand::run(&grammar, sentence, limit, arguments.svg.as_deref(), answer),
        (None, Some(corpus)) => {
            match arguments.mode {
                Mode::Kbest if limit == 0 => bail!("--limit is 0, expected at least one tree"),
                Mode::Kbest => {}
                _ => refuse("--limit", arguments.limit, "it needs --sentence or --mode kbest")?,
            }
            refuse("--svg", arguments.svg.as_ref(), "it draws the trees of one --sentence")?;
            parse_corpus(&grammar, corpus, arguments, limit, answer)
        }
        (None, None) => bail!("expected a corpus or --sentence"),
    }
}

fn parse_corpus(
    grammar: &Grammar,
    path: &Path,
    arguments: &Arguments,
    limit: usize,
    answer: &mut Answer,
) -> Result<()> {
    let sentences = Sentences::open(grammar, &arguments.grammar, path)?;
    let engine = Engine::new(grammar, arguments.mode, limit, arguments.seed.get());
    let (json, workspaces) = (answer.json, Workspaces::new(|| engine.workspace()));
    sentences.blocks("parsed", TREE_BYTES, |block| {
        block.write(&workspaces, answer, |workspace, number, sentence, text| {
            let found = engine.answer(workspace, number, sentence)?;
            if json {
                serde_json::to_writer(text, &found)?
            } else {
                found.write_text(grammar, number, text)?
            };
            Ok(())
        })
    })
}
