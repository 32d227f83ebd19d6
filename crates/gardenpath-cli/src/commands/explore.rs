//! `gardenpath explore`: languages, sentences, learning and results on a page in the browser.

use super::Answer;
use crate::explore::{Server, Settings};
use crate::progress;
use crate::signals::Interrupt;
use anyhow::{Result, anyhow};
use clap::Args;
use gardenpath_lab::files;
use gardenpath_lab::outcome::Interrupted;
use gardenpath_lab::store::Store;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;

/// The arguments of `explore`.
#[derive(Args, Debug)]
#[command(after_help = "\
The page is served on 127.0.0.1 only, to whoever has the URL that is printed. It computes on this machine: languages and their ambiguity, all trees and \
the chart of a sentence, learners and networks at work next to the exact floors, and the results of a store. Ctrl-C ends it.

Examples:
  gardenpath explore
  gardenpath explore g.pcfg
  gardenpath explore --store results --port 8000 --no-browser")]
pub struct Arguments {
    /// The grammar that is shown first (.pcfg or .json) [default: a random one]
    grammar: Option<PathBuf>,
    /// The store whose results are shown [default: ./results, if it is one]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// The port of 127.0.0.1 [default: any that is free]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Print the URL, and open no browser
    #[arg(long)]
    no_browser: bool,
}

/// The store of a clone of the repository.
const RECORDED: &str = "results";

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    let grammar = arguments.grammar.as_deref().map(read).transpose()?;
    let store = match &arguments.store {
        Some(directory) => Some(Store::existing(directory)?),
        None => Store::existing(Path::new(RECORDED)).ok(),
    };
    let server = Server::new(Settings { grammar, store, port: arguments.port.unwrap_or(0) })?;
    let url = server.url();
    let interrupt = Interrupt::listen();
    if answer.json {
        answer.json_line(&json!({ "url": url }))?
    } else {
        answer.text(&format!("{url}\n"))?
    };
    // Nothing follows for a long time.
    answer.out.flush()?;
    if !arguments.no_browser && !open(&url) {
        progress::note("no browser could be opened; open the URL yourself");
    }
    let (stop, stopped) = oneshot::channel();
    let serving = thread::spawn(move || server.run(stopped));
    while !interrupt.within(Duration::from_millis(200)) {
        if serving.is_finished() {
            break;
        }
    }
    drop(stop);
    serving.join().map_err(|_| anyhow!("the server panicked"))??;
    Err(Interrupted("the explorer has ended".into()).into())
}

/// The name and the text of a grammar that can be read.
fn read(path: &Path) -> Result<(String, String)> {
    let text = files::grammar::read(path)?.to_text();
    let name =
        path.file_name().map_or_else(|| files::shown(path).to_string(), |name| name.to_string_lossy().into_owned());
    Ok((name, text))
}

/// Opens the URL in the browser of this desktop, and says whether there is one.
fn open(url: &str) -> bool {
    let has_screen = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        // `start` takes its first argument in quotes for the title of a window.
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else if has_screen("DISPLAY") || has_screen("WAYLAND_DISPLAY") {
        Command::new("xdg-open")
    } else {
        return false;
    };
    let child = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    // Whoever starts a process has to hear of its end.
    child.map(|mut child| thread::spawn(move || child.wait())).is_ok()
}
