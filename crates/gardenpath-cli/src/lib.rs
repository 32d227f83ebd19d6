//! The program `gardenpath`: grammars, corpora, exact parsing, learning, networks and theory on the command line.
//!
//! Data flows one way: [`program`] parses the arguments, and a command calls the core or the laboratory and writes text
//! or a drawing. Results go to standard output, notes and progress to standard error. Errors print one line, `error:
//! …`, and exit with code 2, or 1 if results are merely [incomplete](gardenpath_lab::outcome::Incomplete). An
//! [interrupted](gardenpath_lab::outcome::Interrupted) command says how to resume and exits with 130.

pub mod cli;
pub mod commands;
pub mod program;
pub mod progress;
pub mod signals;
mod slurm;
mod terminal;

use clap::Parser;
use clap::error::ErrorKind;
use gardenpath_lab::message::one_line;
use gardenpath_lab::outcome::{Incomplete, Interrupted};
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};

/// Runs the program with these arguments, the first of which is its name, and returns the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match program::Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return refuse_arguments(&error),
    };
    signals::obey();
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let result = program::run(&cli, &mut out).and_then(|()| Ok(out.flush()?));
    if result.as_ref().is_err_and(|error| !is_closed_pipe(error)) {
        // Lines finished before the error are still results.
        let _ = out.flush();
    }
    // Flushing the buffer on drop would only fail again.
    drop(out.into_parts());
    ending(result)
}

/// Prints the error, if any, and returns the exit code. A closed output pipe is not an error.
fn ending(result: anyhow::Result<()>) -> u8 {
    match result {
        Err(error) if error.is::<Interrupted>() => {
            progress::note(&error.to_string());
            Interrupted::CODE
        }
        Err(error) if !is_closed_pipe(&error) => {
            report(&format!("{error:#}"));
            if error.is::<Incomplete>() { Incomplete::CODE } else { 2 }
        }
        _ => 0,
    }
}

/// Prints help and version as clap formats them, and reduces errors to one line.
fn refuse_arguments(error: &clap::Error) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            ending(error.print().and_then(|()| io::stdout().flush()).map_err(Into::into))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            2
        }
        _ => {
            let text = error.to_string();
            let explained =
                text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
            let words: Vec<&str> = explained.flat_map(str::split_whitespace).collect();
            let message = words.join(" ");
            report(message.strip_prefix("error: ").unwrap_or(&message));
            2
        }
    }
}

fn report(message: &str) {
    let _ = writeln!(io::stderr(), "error: {}", one_line(message));
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(closed)
}
