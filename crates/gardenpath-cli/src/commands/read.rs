//! `gardenpath read`: one sentence token by token, so that a garden path can be seen.

mod picture;

use super::Answer;
use super::predict::found::most_probable;
use super::sentences::read_sentence;
use anyhow::Result;
use clap::Args;
use gardenpath::{Grammar, Inside, Predictor, Symbol};
use gardenpath_lab::draw::table::{Table, short};
use gardenpath_lab::files::{self, Names, atomic};
use serde::Serialize;
use std::path::PathBuf;

/// The arguments of `read`.
#[derive(Args, Debug)]
#[command(after_help = "\
A sentence leads up the garden path if the root that is most probable while it is read is not the one in the end.

Examples:
  gardenpath read g.pcfg --sentence \"9 9 15 6\"
  gardenpath read g.pcfg --sentence \"9 9 15 6\" --svg reading.svg")]
pub struct Arguments {
    /// The grammar (.pcfg or .json)
    grammar: PathBuf,
    /// Read this sentence: names of tokens, or their numbers as [0,3,1]
    #[arg(long, value_name = "TOKENS")]
    sentence: String,
    /// Draw the surprisals and the posteriors of the root as an SVG picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// What is found on the way.
#[derive(Serialize)]
struct Reading {
    tokens: Vec<Symbol>,
    len: usize,
    /// `ln P(sentence)`.
    logprob: Option<f64>,
    /// `-ln` of the probability of each token, and of the end.
    surprisal: Vec<Option<f64>>,
    /// Before the first token, after each, and after the end.
    #[serde(rename = "prefixes")]
    steps: Vec<Step>,
    /// The names of the tokens of the sentence and of all classes, if the grammar gives some.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_names: Option<Vec<String>>,
}

/// What is known about the root.
#[derive(Serialize)]
struct Step {
    /// The most probable one.
    root: Option<Symbol>,
    posterior: Option<Vec<f64>>,
    entropy: Option<f64>,
}

impl Step {
    fn of(posterior: &[f64]) -> Self {
        let likely = most_probable(posterior);
        let entropy = -posterior.iter().filter(|p| **p > 0.0).map(|p| p * p.ln()).sum::<f64>();
        Step {
            root: likely.map(|(root, _)| root as Symbol),
            posterior: likely.map(|_| posterior.to_vec()),
            // The entropy of a certain root is zero, not minus zero.
            entropy: likely.map(|_| entropy.max(0.0)),
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    if let Some(path) = &arguments.svg {
        atomic::check_name(path, "svg")?;
    }
    let grammar = files::grammar::read(&arguments.grammar)?;
    let reading = Reading::new(&grammar, read_sentence(&grammar, &arguments.sentence)?)?;
    if let Some(path) = &arguments.svg {
        atomic::write(path, picture::draw(&grammar, &reading)?.svg().as_bytes())?;
    }
    if answer.json { answer.json_line(&reading) } else { answer.text(&reading.to_text(&grammar)) }
}

impl Reading {
    fn new(grammar: &Grammar, tokens: Vec<Symbol>) -> Result<Self> {
        let predictor = Predictor::new(grammar);
        let mut reader = predictor.reader();
        let surprisal = |p: f64| Some(-p.ln()).filter(|surprisal| surprisal.is_finite());
        let (mut surprisals, mut steps) = (Vec::new(), vec![Step::of(grammar.prior())]);
        for &token in &tokens {
            surprisals.push(surprisal(reader.next()[usize::from(token)]));
            reader.push(token)?;
            steps.push(Step::of(&reader.hidden(0)));
        }
        let end = reader.next()[grammar.vocab()];
        surprisals.push(surprisal(end));
        let posterior = Inside::new(grammar).posterior(&tokens)?;
        let roots = (0..grammar.classes()).map(|root| posterior.probability(root as Symbol));
        steps.push(Step::of(&roots.collect::<Vec<_>>()));
        let names = Names::of(grammar);
        let words = |names: Vec<String>| tokens.iter().map(|&token| names[usize::from(token)].clone()).collect();
        Ok(Reading {
            len: tokens.len(),
            logprob: Some(reader.log_probability() + end.ln()).filter(|log| log.is_finite()),
            surprisal: surprisals,
            steps,
            words: names.tokens.map(words),
            root_names: names.roots,
            tokens,
        })
    }

    /// What was read before each step: nothing, the tokens, and the end.
    fn labels(&self, grammar: &Grammar) -> Vec<String> {
        let tokens = self.tokens.iter().map(|&token| grammar.name(grammar.depth(), token).into_owned());
        std::iter::once("start".to_owned()).chain(tokens).chain(["end".to_owned()]).collect()
    }

    fn to_text(&self, grammar: &Grammar) -> String {
        let mut table = Table::new(["token", "surprisal", "likely root", "posterior", "entropy"]);
        let number = |value: Option<f64>| value.map_or("–".to_owned(), short);
        for (place, (label, step)) in self.labels(grammar).into_iter().zip(&self.steps).enumerate() {
            let surprisal = place.checked_sub(1).and_then(|place| self.surprisal[place]);
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
        let end = match self.logprob {
            Some(log) => format!("ln P(sentence) {}; surprisals and entropies are in nats\n", short(log)),
            None => "no root derives the sentence\n".to_owned(),
        };
        format!("{table}\n{end}")
    }
}
