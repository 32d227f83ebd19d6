//! The bundle that is part of the program belongs to the sources beside it.

use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

fn explorer() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("explorer")
}

/// The paths of all files below a folder of the page, with slashes.
fn below(folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(explorer().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() { below(&path, found) } else { found.push(path) }
    }
}

#[test]
fn the_bundle_is_not_stale() {
    let mut paths: Vec<String> =
        ["build.mjs", "package-lock.json", "package.json", "tsconfig.json"].map(str::to_owned).to_vec();
    below("src", &mut paths);
    paths.sort();
    let mut hash = Sha256::new();
    for path in &paths {
        let contents = fs::read(explorer().join(path)).unwrap();
        hash.update(format!("{path}\n{}\n", contents.len()));
        hash.update(&contents);
    }
    let found: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let built = fs::read_to_string(explorer().join("dist/sources.sha256")).unwrap();
    assert_eq!(built.trim(), found, "the bundle is that of other sources: cd explorer && npm ci && npm run build");
}
