//! `gardenpath grammar`: sample, inspect and convert grammars.

mod info;

use super::Answer;
use crate::cli::ensemble::{LawOptions, LevelOptions, RuleOptions};
use crate::cli::rounding::{EffectiveFractions, note_rounding};
use crate::cli::{SeedOption, size};
use crate::progress;
use anyhow::Result;
use clap::{Args, Subcommand};
use gardenpath::{Arities, Ensemble, Grammar, fraction_for_entropy};
use gardenpath_lab::ensemble::Choices;
use gardenpath_lab::files;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The subcommands of `grammar`.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Sample a random grammar
    #[command(after_help = "\
Examples:
  gardenpath grammar sample --vocab 16 --depth 3 --fraction 0.25 --seed 7 -o g.pcfg
  gardenpath grammar sample --vocab 8 --depth 2 --binary-rules 2 --ternary-rules 16 --zipf 1
  gardenpath grammar sample --vocab 8 --depth 2 --arities 1:0.2,2:0.4,4:0.4 --rules 4:10
  gardenpath grammar sample --sizes 3,8,8,20 --arities 2:1 --cover
  gardenpath grammar sample --vocab 16 --depth 2 --class-entropy 0.3 --seed 7 -o ambiguous.pcfg")]
    Sample(Box<Sample>),
    /// Describe a grammar: sizes, rules, lengths, ambiguity
    Info {
        /// The grammar (.pcfg text or published .json), or - for standard input
        grammar: PathBuf,
    },
    /// Convert a published JSON grammar (or any readable one) to .pcfg text
    #[command(after_help = "\
Examples:
  gardenpath grammar convert cfg3b.json -o cfg3b.pcfg
  gardenpath grammar convert rounded.pcfg -o exact.pcfg --normalize")]
    Convert {
        /// The grammar to read (.pcfg or .json), or - for standard input
        grammar: PathBuf,
        /// The .pcfg file to write, or - for standard output
        #[arg(short, long, default_value = "-", value_name = "FILE")]
        output: PathBuf,
        /// Rescale probabilities that sum to within 1% of 1
        #[arg(long)]
        normalize: bool,
    },
}

/// The arguments of `grammar sample`.
#[derive(Args, Debug)]
pub struct Sample {
    /// Number of layers of rules
    #[arg(long, value_parser = size, required_unless_present = "sizes")]
    depth: Option<usize>,
    /// Number of symbols per level, tokens included
    #[arg(long, value_parser = size, required_unless_present = "sizes")]
    vocab: Option<usize>,
    #[command(flatten)]
    levels: LevelOptions,
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    law: LawOptions,
    /// Instead of a fraction: search for the fraction whose ensemble has this mean class entropy, in nats
    #[arg(
        long,
        value_name = "H",
        conflicts_with_all =
            ["fraction", "fractions", "rules", "binary_fraction", "ternary_fraction", "binary_rules", "ternary_rules"]
    )]
    class_entropy: Option<f64>,
    #[command(flatten)]
    seed: SeedOption,
    /// The .pcfg file to write, or - for standard output
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    output: PathBuf,
}

/// What `--json` prints about a grammar that was written.
#[derive(Serialize)]
struct Written<'g> {
    output: Option<&'g Path>,
    fingerprint: String,
    depth: usize,
    sizes: &'g [usize],
    rules: Vec<usize>,
    /// Only for sampled grammars.
    #[serde(skip_serializing_if = "Option::is_none")]
    effective_fractions: Option<EffectiveFractions>,
    remarks: &'g [String],
    /// The grammar itself, if it was not written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Grammars, and sentences per grammar, for estimating the class entropy while searching for a fraction.
const SEARCH: (u64, u64) = (8, 256);

/// Runs the subcommand.
pub fn run(command: &Command, answer: &mut Answer) -> Result<()> {
    let output = match command {
        Command::Sample(sample) => Some(&sample.output),
        Command::Convert { output, .. } => Some(output),
        Command::Info { .. } => None,
    };
    if let Some(output) = output {
        files::grammar::check_output(output)?;
    }
    match command {
        Command::Sample(arguments) => {
            let (grammar, fractions) = sample(arguments)?;
            write(&grammar, Some(fractions), &arguments.output, answer)
        }
        Command::Info { grammar } => info::run(&files::grammar::read(grammar)?, answer),
        Command::Convert { grammar, output, normalize } => {
            let read = if *normalize { files::grammar::read_normalized } else { files::grammar::read };
            write(&read(grammar)?, None, output, answer)
        }
    }
}

fn sample(arguments: &Sample) -> Result<(Grammar, EffectiveFractions)> {
    let Sample { vocab, depth, levels, law, .. } = arguments;
    let levels = levels.choices(*vocab, *depth);
    let ensemble = law.ensemble(match arguments.class_entropy {
        Some(wanted) => Choices { fraction: Some(search_fraction(arguments, &levels, wanted)?), ..levels },
        None => arguments.rules.choices(law, levels)?,
    })?;
    let mut remark = describe(&ensemble)?;
    if law.zipf != 0.0 {
        remark += &format!(", zipf {}", law.zipf);
    }
    if law.non_overlapping {
        remark += ", non-overlapping";
    }
    if law.cover {
        remark += ", cover";
    }
    remark += &format!(", seed {}", arguments.seed.number());
    let spinner = progress::spinner("sampling the grammar");
    let grammar = ensemble.sample(arguments.seed.get())?.with_remarks(vec![remark]);
    spinner.finish_and_clear();
    note_rounding([&ensemble])?;
    Ok((grammar, EffectiveFractions::of(&ensemble)?))
}

/// Sizes, rules and arities of an ensemble on one line.
fn describe(ensemble: &Ensemble) -> Result<String> {
    let (sizes, depth, probabilities) = (ensemble.level_sizes()?, ensemble.depth(), ensemble.probabilities());
    let is_even = sizes.iter().all(|size| *size == sizes[0]);
    let mut rules = (0..depth).map(|level| Ok(ensemble.rules_per_symbol(level)?)).collect::<Result<Vec<_>>>()?;
    if is_even && probabilities.arities().iter().all(|arity| Arities::PAPER.contains(arity)) {
        let (vocab, binary, ternary, p_binary) = (sizes[0], rules[0][2], rules[0][3], probabilities[2]);
        return Ok(format!(
            "gardenpath grammar: vocab {vocab}, depth {depth}, binary rules {binary}, ternary rules {ternary}, p_binary {p_binary}"
        ));
    }
    rules.dedup();
    let rules = rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(" then ");
    let sizes = match is_even {
        true => format!("vocab {}, depth {depth}", sizes[0]),
        false => format!("sizes {}", sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",")),
    };
    Ok(format!("gardenpath grammar: {sizes}, rules {rules}, arities {probabilities}"))
}

fn search_fraction(arguments: &Sample, levels: &Choices, wanted: f64) -> Result<f64> {
    let ensemble = arguments.law.ensemble(Choices { fraction: Some(1.0), ..levels.clone() })?;
    let spinner = progress::spinner("searching for the fraction");
    let (grammars, sentences) = SEARCH;
    let found = fraction_for_entropy(&ensemble, wanted, grammars, sentences, arguments.seed.get());
    spinner.finish_and_clear();
    let (fraction, entropy) = found?;
    progress::note(&format!(
        "fraction {fraction} has class entropy {:.4} ± {:.4} nats ({grammars} grammars, {sentences} sentences each)",
        entropy.mean, entropy.stderr
    ));
    Ok(fraction)
}

fn write(
    grammar: &Grammar,
    effective_fractions: Option<EffectiveFractions>,
    output: &Path,
    answer: &mut Answer,
) -> Result<()> {
    let to_file = !files::is_standard(output);
    if to_file || !answer.json {
        let spinner = progress::spinner("writing the grammar");
        let spinner = if to_file { spinner } else { progress::beside_results(spinner) };
        files::grammar::write(grammar, output, answer.out)?;
        spinner.finish_and_clear();
    }
    if answer.json {
        answer.json_line(&Written {
            output: to_file.then_some(output),
            fingerprint: grammar.fingerprint(),
            depth: grammar.depth(),
            sizes: grammar.sizes(),
            rules: grammar.layers().iter().map(|layer| layer.rules().len()).collect(),
            effective_fractions,
            remarks: grammar.remarks(),
            text: (!to_file).then(|| grammar.to_text()),
        })?;
    }
    Ok(())
}
