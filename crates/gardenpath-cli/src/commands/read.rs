//! `gardenpath read`: reads a sentence token by token, to see a garden path.

use super::Answer;
use super::sentences::read_sentence;
use anyhow::{Context, Result};
use clap::Args;
use gardenpath::{Grammar, Symbol};
use gardenpath_lab::draw::reading;
use gardenpath_lab::draw::table::{Table, short};
use gardenpath_lab::files::{self, atomic};
use gardenpath_lab::reading::{Reading, most_probable};
use std::path::PathBuf;

/// The arguments of `read`.
#[derive(Args, Debug)]
#[command(after_help = "\
A sentence leads up the garden path if the most probable root while reading is not the most probable root at the end.

Examples:
  gardenpath read g.pcfg --sentence \"9 9 15 6\"
  gardenpath read g.pcfg --sentence \"9 9 15 6\" --svg reading.svg")]
pub struct Arguments {
    /// The grammar (.pcfg or .json)
    grammar: PathBuf,
    /// The sentence to read: names of tokens, or numbers as [0,3,1]
    #[arg(long, value_name = "TOKENS")]
    sentence: String,
    /// Draw the surprisals and the posterior over the root to this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    if let Some(path) = &arguments.svg {
        atomic::check_name(path, "svg")?;
    }
    let grammar = files::grammar::read(&arguments.grammar)?;
    let reading = Reading::new(&grammar, read_sentence(&grammar, &arguments.sentence)?)?;
    if let Some(path) = &arguments.svg {
        atomic::write(path, reading::draw(&grammar, &reading).context("--svg")?.svg().as_bytes())?;
    }
    if answer.json { answer.json_line(&reading) } else { answer.text(&to_text(&reading, &grammar)) }
}

fn to_text(reading: &Reading, grammar: &Grammar) -> String {
    let mut table = Table::new(["token", "surprisal", "likely root", "posterior", "entropy"]);
    let number = |value: Option<f64>| value.map_or("–".to_owned(), short);
    for (place, (label, step)) in reading.labels(grammar).into_iter().zip(&reading.steps).enumerate() {
        let surprisal = place.checked_sub(1).and_then(|place| reading.surprisal[place]);
        let surprisal = if place == 0 { String::new() } else { number(surprisal) };
        let likely = step.posterior.as_ref().and_then(|posterior| most_probable(posterior));
        table.row([
            label,
            surprisal,
            likely.map_or("–".to_owned(), |(root, _)| grammar.name(0, root as Symbol).into_owned()),
            likely.map_or("–".to_owned(), |(_, p)| format!("{}%", short(100.0 * p))),
            number(step.entropy),
        ]);
    }
    let end = match reading.logprob {
        Some(log) => format!("ln P(sentence) {}; surprisals and entropies are in nats\n", short(log)),
        None => "no root derives the sentence\n".to_owned(),
    };
    format!("{table}\n{end}")
}
