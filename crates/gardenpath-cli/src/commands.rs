//! The subcommands: each reads its input, calls the core and writes its answer.

pub mod corpus;
pub mod entropy;
pub mod floor;
pub mod grammar;
pub mod learn;
pub mod manual;
pub mod moments;
pub mod mup_check;
pub mod parse;
pub mod predict;
pub mod probe;
pub mod read;
pub mod report;
pub mod reproduce;
pub mod sentences;
pub mod snr;
pub mod sweep;
pub mod theory;
pub mod train;

use crate::cli::{Cli, Command};
use anyhow::{Context, Result};
use serde::Serialize;
use std::io::Write;

/// What every command writes to, and in which form.
pub struct Answer<'o> {
    /// Standard output.
    pub out: &'o mut dyn Write,
    /// Whether JSON was asked for.
    pub json: bool,
}

impl Answer<'_> {
    /// Writes one line of JSON.
    pub fn json_line(&mut self, value: &impl Serialize) -> Result<()> {
        // Made whole first: an error of the stream must stay an error of the stream, by which a closed pipe is known.
        let mut text = serde_json::to_vec(value)?;
        text.push(b'\n');
        Ok(self.out.write_all(&text)?)
    }

    /// Writes text for people.
    pub fn text(&mut self, text: &str) -> Result<()> {
        Ok(self.out.write_all(text.as_bytes())?)
    }
}

/// Runs what was asked for.
pub fn run(cli: &Cli, out: &mut dyn Write) -> Result<()> {
    if let Some(threads) = cli.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().with_context(|| format!("cannot start {threads} threads"))?;
    }
    let answer = &mut Answer { out, json: cli.json };
    match &cli.command {
        Command::Grammar(command) => grammar::run(command, answer),
        Command::Corpus(command) => corpus::run(command, answer),
        Command::Parse(arguments) => parse::run(arguments, answer),
        Command::Entropy(arguments) => entropy::run(arguments, answer),
        Command::Floor(arguments) => floor::run(arguments, answer),
        Command::Learn(arguments) => learn::run(arguments, answer),
        Command::Moments(arguments) => moments::run(arguments, answer),
        Command::Completions(arguments) => manual::completions(arguments, answer),
        Command::Man(arguments) => manual::man(arguments, answer),
        Command::MupCheck(arguments) => mup_check::run(arguments, answer),
        Command::Probe(arguments) => probe::run(arguments, answer),
        Command::Predict(arguments) => predict::run(arguments, answer),
        Command::Read(arguments) => read::run(arguments, answer),
        Command::Report(arguments) => report::run(arguments, answer),
        Command::Reproduce(arguments) => reproduce::run(arguments, answer),
        Command::Snr(arguments) => snr::run(arguments, answer),
        Command::Sweep(command) => sweep::run(command, answer),
        Command::Theory(command) => theory::run(command, answer),
        Command::Train(arguments) => train::run(arguments, answer),
    }
}
