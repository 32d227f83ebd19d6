//! `gardenpath completions` and `gardenpath man`: shell completions and manual pages.

use super::Answer;
use anyhow::{Context, Result, bail};
use clap::{Args, Command};
use clap_complete::{Generator, Shell};
use std::fs;
use std::path::PathBuf;

/// The arguments of `completions`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  gardenpath completions bash > ~/.local/share/bash-completion/completions/gardenpath
  gardenpath completions zsh > ~/.zfunc/_gardenpath
  gardenpath completions fish > ~/.config/fish/completions/gardenpath.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// The arguments of `man`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  gardenpath man | man -l -
  gardenpath man -o ~/.local/share/man/man1")]
pub struct Man {
    /// Write one page per command into this directory instead of the main page to standard output
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Writes the completion script for the whole program.
pub fn completions(arguments: &Completions, mut command: Command, answer: &mut Answer) -> Result<()> {
    refuse_json(answer)?;
    command.set_bin_name("gardenpath");
    command.build();
    let mut script = Vec::new();
    arguments.shell.try_generate(&command, &mut script)?;
    Ok(answer.out.write_all(&script)?)
}

/// Writes the manual pages of the whole program.
pub fn man(arguments: &Man, command: Command, answer: &mut Answer) -> Result<()> {
    refuse_json(answer)?;
    let Some(directory) = &arguments.output else {
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text)?;
        return Ok(answer.out.write_all(&text)?);
    };
    let name = directory.display();
    fs::create_dir_all(directory).with_context(|| format!("{name}: cannot create the directory"))?;
    clap_mangen::generate_to(command, directory).with_context(|| format!("{name}: cannot write"))?;
    answer.text(&format!("wrote the manual to {name}\n"))
}

fn refuse_json(answer: &Answer) -> Result<()> {
    if answer.json {
        bail!("--json has no effect here: the output is text for another program");
    }
    Ok(())
}
