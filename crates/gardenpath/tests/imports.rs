//! The rule of DESIGN.md about imports: a file imports only what stands above it in the list of files.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The crates whose modules are listed one by one.
const CRATES: [&str; 4] = ["gardenpath", "gardenpath-nn", "gardenpath-lab", "gardenpath-cli"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The modules of each crate in the order of the list.
fn listed() -> HashMap<String, Vec<String>> {
    let design = fs::read_to_string(repository().join("DESIGN.md")).unwrap();
    let list = design.split("```").nth(1).expect("DESIGN.md lists the files");
    let mut crates: HashMap<String, Vec<String>> = HashMap::new();
    let mut current = String::new();
    for line in list.lines() {
        if let Some(rest) = line.strip_prefix("crates/") {
            current = rest.split('/').next().unwrap_or_default().to_owned();
        } else if !line.starts_with("  ") {
            current.clear();
        } else if !current.is_empty() && !line.starts_with("   ") {
            let names = line.trim().split("  ").next().unwrap_or_default().split(' ');
            let modules = names.filter_map(|name| name.strip_suffix(".rs")).map(str::to_owned);
            crates.entry(current.clone()).or_default().extend(modules);
        }
    }
    crates
}

/// All source files below a folder but those of tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && path.file_name().is_some_and(|name| name != "tests.rs")
        {
            found.push(path);
        }
    }
}

/// The code of a file without its tests and comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let own = text.split("#[cfg(test)]").next().unwrap_or_default();
    own.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The first names behind every `crate::`, also those in braces.
fn imports(code: &str) -> Vec<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut names = Vec::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => names.push(name(rest)),
            Some(group) => {
                let mut depth = 0;
                let mut start = true;
                for (at, c) in group.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => start = true,
                        _ if start && !c.is_whitespace() => {
                            names.push(name(&group[at..]));
                            start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    names
}

#[test]
fn files_import_what_stands_above_them() {
    let listed = listed();
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for name in CRATES {
        let order = &listed[name];
        let place: HashMap<&str, usize> = order.iter().map(String::as_str).zip(0..).collect();
        let root = repository().join("crates").join(name).join("src");
        let lib = fs::read_to_string(root.join("lib.rs")).unwrap();
        let declared =
            |line: &str| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned);
        let mut modules: Vec<String> = lib.lines().filter_map(declared).collect();
        let mut sorted = order.clone();
        modules.sort();
        sorted.sort();
        assert_eq!(sorted, modules, "the modules of {name} that DESIGN.md lists, and those that it has");
        // What the crate exports by name is imported from the module that has it.
        let mut exports: HashMap<String, String> = HashMap::new();
        for rest in lib.split("\npub use ").skip(1) {
            let (statement, _) = rest.split_once(';').unwrap_or_default();
            if let Some((module, names)) = statement.split_once("::") {
                for name in names.trim_matches(['{', '}']).split(',') {
                    exports.insert(name.trim().to_owned(), module.to_owned());
                }
            }
        }
        let mut files = Vec::new();
        sources(&root, &mut files);
        for file in files {
            let path = file.strip_prefix(&root).unwrap();
            let own = path.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_owned();
            let Some(&here) = place.get(own.as_str()) else { continue };
            for import in imports(&code(&file)) {
                let module = exports.get(&import).unwrap_or(&import);
                checked += 1;
                if place.get(module.as_str()).is_some_and(|&there| there > here) {
                    wrong.push(format!("{name}: {} imports {module}, which stands below it", path.display()));
                }
            }
        }
    }
    assert!(checked > 500, "{checked} imports");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
