//! The pages docs/reference/commands/ describe every command as its `--help` does. `UPDATE_GOLDEN=1` generates them.

use clap::{Arg, Command, CommandFactory};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

const NOTE: &str = "<!-- Generated from the program's help: UPDATE_GOLDEN=1 cargo test --release --workspace --test commands_page -->\n\n";

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/commands")
}

fn program() -> Command {
    let mut program = gardenpath_cli::program::Cli::command();
    program.build();
    program
}

fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set())
}

/// Text of the help as Markdown prose: options are code, and angle brackets are not tags.
fn prose(text: &str) -> String {
    let word = |word: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let start = word.find("--").filter(|start| !word[..*start].contains(is_part));
        let Some(start) = start else { return word.replace('<', "\\<") };
        let end = word[start..].find(|c| !is_part(c)).map_or(word.len(), |length| start + length);
        if end == start + 2 {
            word.to_owned()
        } else {
            format!("{}`{}`{}", &word[..start], &word[start..end], &word[end..])
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The help of an option as a sentence, its default as another.
fn sentence(text: &str) -> String {
    let (text, default) = match text.trim().split_once(" [default: ") {
        Some((text, rest)) => match rest.split_once(']') {
            Some((default, rest)) => (format!("{text}{rest}"), format!(" Default: {}.", prose(default))),
            None => (text.to_owned(), String::new()),
        },
        None => (text.trim().to_owned(), String::new()),
    };
    let end = if text.is_empty() || text.ends_with(['.', ':']) { "" } else { "." };
    prose(&text) + end + &default
}

/// An option as an item of a list, with its values and its default.
fn item(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let values: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
    let takes_value = argument.get_action().takes_values();
    let mut name = match (argument.get_short(), argument.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        _ => String::new(),
    };
    if takes_value {
        name = format!("{name} {}", values.join(" ")).trim().to_owned();
    }
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = format!("- `{name}`: {}", sentence(&help).replace('\n', " "));
    let possible: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|_| takes_value)
        .map(|value| match value.get_help() {
            Some(help) => format!("\n  - `{}`: {}", value.get_name(), sentence(&help.to_string())),
            None => format!("\n  - `{}`", value.get_name()),
        })
        .collect();
    let defaults: Vec<&str> = argument.get_default_values().iter().filter_map(|value| value.to_str()).collect();
    if takes_value && !defaults.is_empty() && !help.contains("[default: ") {
        text += &format!(" Default: `{}`.", defaults.join(" "));
    }
    text + &possible.concat()
}

/// What stands below the options: paragraphs, and indented lines as blocks.
fn remarks(text: &str) -> String {
    let mut parts = Vec::new();
    for paragraph in text.split("\n\n") {
        let (indented, plain): (Vec<&str>, Vec<&str>) = paragraph.lines().partition(|line| line.starts_with("  "));
        if indented.is_empty() {
            parts.push(prose(&plain.join(" ")));
            continue;
        }
        let leading: Vec<&str> = paragraph.lines().take_while(|line| !line.starts_with("  ")).collect();
        let trailing: Vec<&str> = paragraph.lines().rev().take_while(|line| !line.starts_with("  ")).collect();
        let lines = indented.iter().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect::<Vec<_>>();
        if !leading.is_empty() {
            parts.push(prose(&leading.join(" ")));
        }
        parts.push(format!("```text\n{}\n```", lines.join("\n")));
        if !trailing.is_empty() {
            parts.push(prose(&trailing.into_iter().rev().collect::<Vec<_>>().join(" ")));
        }
    }
    parts.join("\n\n")
}

/// The section of a command, and those of its subcommands.
fn section(command: &Command, name: &str, depth: usize) -> String {
    let mut parts = vec![format!("{} {name}", "#".repeat(depth))];
    let about = command.get_long_about().or(command.get_about());
    parts.extend(about.map(|about| sentence(&about.to_string())));
    let inner: Vec<&Command> = subcommands(command).collect();
    if inner.is_empty() {
        let usage = command.clone().render_usage().to_string();
        parts.push(format!("```text\n{}\n```", usage.trim_start_matches("Usage: ")));
    }
    let shown = |argument: &&Arg| !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str());
    let own = |argument: &&Arg| shown(argument) && !argument.is_global_set();
    let list = |arguments: Vec<&Arg>| arguments.into_iter().map(item).collect::<Vec<_>>().join("\n");
    let flags =
        command.get_arguments().filter(|argument| !argument.is_positional() && !argument.get_action().takes_values());
    parts.push(list(command.get_positionals().chain(command.get_opts()).chain(flags).filter(own).collect()));
    parts.extend(command.get_after_help().map(|text| remarks(&text.to_string())));
    for command in inner {
        parts.push(section(command, &format!("{name} {}", command.get_name()), depth + 1));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// The page that lists all commands.
fn overview(program: &Command) -> String {
    let rows = subcommands(program).map(|command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let name = command.get_name();
        format!("| [{name}]({name}.md) | {} |", prose(about.trim_end_matches('.')))
    });
    let rows = rows.collect::<Vec<_>>().join("\n");
    let globals = program.get_arguments().filter(|argument| argument.is_global_set());
    let globals = globals.map(item).collect::<Vec<_>>().join("\n");
    let remarks = remarks(&program.get_after_help().map(ToString::to_string).unwrap_or_default());
    format!(
        "# Commands\n\n| command | what it does |\n|---|---|\n{rows}\n\nEvery command also takes:\n\n{globals}\n\n{remarks}"
    )
}

fn pages() -> BTreeMap<String, String> {
    let program = program();
    let page = |text: String| format!("{NOTE}{text}\n");
    let commands = subcommands(&program).map(|command| {
        let name = command.get_name();
        (format!("{name}.md"), page(section(command, &format!("gardenpath {name}"), 1)))
    });
    let overview = ("README.md".to_owned(), page(overview(&program)));
    commands.chain([overview]).collect()
}

#[test]
fn the_pages_of_commands_are_current() {
    let pages = pages();
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(directory()).unwrap();
        for (name, text) in &pages {
            fs::write(directory().join(name), text).unwrap();
        }
    }
    for (name, text) in &pages {
        let path = directory().join(name);
        let written = fs::read_to_string(&path).unwrap_or_default().replace('\r', "");
        assert!(written == *text, "{} is out of date: UPDATE_GOLDEN=1 generates it", path.display());
    }
    let written = fs::read_dir(directory()).unwrap().count();
    assert_eq!(written, pages.len(), "a page of a command that does not exist");
}
