//! The page docs/json.md describes every command's JSON: its commands are run, and every field must be present with its
//! type.

mod common;

use common::{Lab, words};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A part of the page: commands, and the fields of their output.
#[derive(Default)]
struct Part {
    commands: Vec<String>,
    fields: BTreeMap<String, Field>,
}

struct Field {
    kind: String,
    /// Whether it is optional.
    optional: bool,
}

/// Names with two types, which the page mentions.
const EXCEPTIONS: [&str; 6] = ["logprob", "value", "binary", "ternary", "tokens", "levels"];

fn page() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md")).unwrap()
}

/// The parts of the page, in order: a block of commands begins a part.
fn parts(page: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut in_commands = false;
    for line in page.lines() {
        match line {
            "```sh" => {
                parts.push(Part::default());
                in_commands = true;
            }
            "```" => in_commands = false,
            _ if in_commands => parts.last_mut().unwrap().commands.push(line.to_owned()),
            _ if line.starts_with("| ") && !line.starts_with("| field") => {
                let cells: Vec<&str> = line.split('|').map(str::trim).collect();
                for name in cells[1].split(", ") {
                    let (name, optional) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
                    let field = Field { kind: cells[2].to_owned(), optional };
                    assert!(parts.last_mut().unwrap().fields.insert(name.to_owned(), field).is_none(), "{name} twice");
                }
            }
            _ => {}
        }
    }
    parts
}

/// Whether a value has a type such as `[number or null] or null`.
fn is(value: &Value, kind: &str) -> bool {
    let mut depth = 0;
    let mut alternatives = vec![String::new()];
    for word in kind.split_inclusive(' ') {
        depth += word.matches('[').count() as i64 - word.matches(']').count() as i64;
        if word == "or " && depth == 0 {
            alternatives.push(String::new());
        } else {
            *alternatives.last_mut().unwrap() += word;
        }
    }
    alternatives.iter().map(|kind| kind.trim()).any(|kind| match kind {
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => {
            let inner = kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']'));
            let inner = inner.unwrap_or_else(|| panic!("there is no type {kind}"));
            value.as_array().is_some_and(|list| list.iter().all(|value| is(value, inner)))
        }
    })
}

/// Checks all fields of an object, and those of the objects in it. `found` collects the names.
fn check(object: &Value, path: &str, part: &Part, found: &mut BTreeSet<String>) {
    for (name, value) in object.as_object().unwrap() {
        let path = format!("{path}{name}");
        let field = part.fields.get(&path).unwrap_or_else(|| panic!("{path} is not on the page"));
        assert!(is(value, &field.kind), "{path} is {value}, expected {}", field.kind);
        match value {
            // An object without listed fields can have any.
            Value::Object(_) if part.fields.keys().any(|known| known.starts_with(&format!("{path}."))) => {
                check(value, &format!("{path}."), part, found);
            }
            Value::Array(list) => {
                for item in list.iter().filter(|item| item.is_object()) {
                    check(item, &format!("{path}[]."), part, found);
                }
            }
            _ => {}
        }
        found.insert(path);
    }
    let inside = |known: &str| known.strip_prefix(path).is_some_and(|rest| !rest.contains('.'));
    for (name, field) in part.fields.iter().filter(|(name, field)| inside(name) && !field.optional) {
        assert!(found.contains(name), "{name} ({}) is missing in {object}", field.kind);
    }
}

#[test]
fn the_page_says_what_commands_print() {
    let lab = Lab::new();
    let named = "S -> who [0.5] | do [0.5]\nwho -> 'the' 'old' 'man' [1]\ndo -> 'man' 'the' 'boats' [1]\n";
    std::fs::write(lab.path("named.pcfg"), named).unwrap();
    for part in parts(&page()) {
        let mut found = BTreeSet::new();
        for command in &part.commands {
            let arguments = command.strip_prefix("gardenpath ").unwrap_or_else(|| panic!("{command}"));
            let text = lab.run(arguments);
            if arguments.contains("words.jsonl") && !lab.path("predictions.jsonl").exists() {
                write_predictions(&lab);
            }
            if !words(arguments).contains(&"--json".to_owned()) {
                continue;
            }
            assert!(!text.is_empty(), "{command}");
            for line in text.lines() {
                let mut seen = BTreeSet::new();
                check(&serde_json::from_str(line).unwrap(), "", &part, &mut seen);
                found.extend(seen);
            }
        }
        let never: Vec<&String> = part.fields.keys().filter(|name| !found.contains(*name)).collect();
        assert!(never.is_empty(), "{:?} never print {never:?}", part.commands);
    }
}

/// Predictions for the sentences of `words.jsonl`: the exact ones.
fn write_predictions(lab: &Lab) {
    let lines = lab.run("predict named.pcfg words.jsonl --task next --json");
    std::fs::write(lab.path("predictions.jsonl"), lines).unwrap();
}

#[test]
fn a_field_has_one_type() {
    let mut types: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for part in parts(&page()) {
        for (path, field) in part.fields {
            let name = path.rsplit(['.', ']']).next().unwrap().to_owned();
            let kind = field.kind.replace(" or null", "").replace("integer", "number");
            types.entry(name).or_default().insert(kind);
        }
    }
    let several: Vec<&String> = types.iter().filter(|(_, kinds)| kinds.len() > 1).map(|(name, _)| name).collect();
    let mut expected = EXCEPTIONS.to_vec();
    expected.sort_unstable();
    assert_eq!(several, expected, "{types:?}");
    assert!(EXCEPTIONS.iter().all(|name| page().contains(&format!("`{name}`"))));
}

#[test]
fn every_command_is_on_the_page() {
    use clap::CommandFactory;
    let page = page();
    let mut commands = vec![(String::new(), gardenpath_cli::program::Cli::command())];
    while let Some((name, command)) = commands.pop() {
        let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
        let inner: Vec<_> = inner.map(|inner| (format!("{name} {}", inner.get_name()), inner.clone())).collect();
        if inner.is_empty() && ![" completions", " man"].contains(&name.as_str()) {
            assert!(page.contains(&format!("gardenpath{name} ")), "{name}");
        }
        commands.extend(inner);
    }
}
