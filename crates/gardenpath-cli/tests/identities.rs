//! Stored results stay valid: identities of cells do not change unless the version of their measure does.

use gardenpath_lab::experiment::built_in::{ALL, find};
use gardenpath_lab::experiment::{Experiment, Scale};
use gardenpath_lab::measure::Measure;
use gardenpath_lab::store::{Found, Store};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;

/// A hash of the identities of all cells, in their order.
fn hash(experiment: &Experiment, scale: &Scale) -> String {
    let all: String = experiment.cells(scale).unwrap().iter().map(|cell| cell.identity() + "\n").collect();
    Sha256::digest(all.as_bytes())[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_cells_of_all_experiments_keep_their_identities() {
    let found: Vec<(&str, String, String)> = ALL
        .iter()
        .map(|(name, _)| {
            let experiment = find(name).unwrap();
            (*name, hash(&experiment, &Scale::QUICK), hash(&experiment, &Scale::FULL))
        })
        .collect();
    let found: Vec<(&str, &str, &str)> = found.iter().map(|(name, quick, full)| (*name, &**quick, &**full)).collect();
    assert_eq!(found, FROZEN);
}

/// Experiment, and hashes of the identities of its cells at the scales quick and full.
const FROZEN: &[(&str, &str, &str)] = &[
    ("architectures", "66bcd69afc0ca72f", "20be5e8d4e8cef69"),
    ("bifurcation", "925beacdadf4fba9", "925beacdadf4fba9"),
    ("candidates", "e1a81207c9488724", "ef7b73de24d0cf3e"),
    ("cnn", "8c274e51f1108d60", "317f63ae07978edb"),
    ("cnn-ambiguous", "7d90f5add939cde3", "ed24846dcd95308d"),
    ("cnn-quarter", "45370f46a833b38d", "e26914bf8805bed2"),
    ("floors", "ac248672621c3c0e", "b5618559fda86cb6"),
    ("inference", "e099386da1026c9e", "631afb8052baa85f"),
    ("inn", "488e2b0849b9c29d", "d19eb990cd2df973"),
    ("learners", "2b350a250ebcbb6f", "3335f88e53064dba"),
    ("levels", "0de8dc719ce62a5d", "1b9bf21064337a5e"),
    ("masked", "6df73d5bf2079fe3", "7c95804aa03fe509"),
    ("next-token", "f408903c0d73d6bd", "0bbb7ef620927d30"),
    ("prediction", "fc6ba343ca3ed733", "ba1d06c92b05a5af"),
    ("probes", "6a01e8b57694080c", "65962514f2f46fa8"),
    ("purity", "51960090be72492b", "587d710ccc659fd4"),
    ("rules", "e6850161a84e0c95", "3fe21effac29da86"),
    ("scaling", "6aab518c0a40b9e9", "6aab518c0a40b9e9"),
    ("signal", "b8fdf2aef3dda01e", "26c6198e744491b7"),
    ("snr", "aac9066c51eba6be", "974faf1ed37c2863"),
    ("sparsity", "248d3b2b47705c82", "248d3b2b47705c82"),
    ("splits", "248d3b2b47705c82", "248d3b2b47705c82"),
    ("topologies", "56ccc02b6a6297fc", "b468713260eed664"),
    ("transformer", "3c1086a745f25ad4", "b78ffddb57825039"),
    ("transition", "1154fbd7a881c793", "0cdef289d6270ba6"),
    ("translation", "6aab518c0a40b9e9", "6aab518c0a40b9e9"),
    ("tree-numbers", "84097facbd9ab543", "84097facbd9ab543"),
    ("unlabelled", "c7595f1ca71dd3db", "3758ff329a8c00f5"),
    ("vectors", "b793a35a388af992", "b793a35a388af992"),
    ("width", "a5658221bef3ed9f", "617898a7793b3f89"),
];

#[test]
fn the_results_of_this_repository_are_found() {
    let results = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/cells"));
    let mut names: Vec<_> = std::fs::read_dir(results).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    let mut found = 0;
    for path in names {
        let mut stored: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let Value::Object(mut values) = stored["parameters"].take() else { panic!("{}", path.display()) };
        let parameters = values.clone();
        let Some(Value::String(name)) = values.remove("measure") else { panic!("{}", path.display()) };
        let cell = Measure::new(&name, values).unwrap();
        assert_eq!(cell.parameters(), parameters);
        let file = path.file_name().unwrap();
        assert_eq!(format!("{}.json", cell.identity()), file.to_str().unwrap());
        std::fs::copy(&path, directory.path().join("cells").join(file)).unwrap();
        assert_eq!(store.look(&cell).unwrap(), Found::Whole(()));
        found += 1;
    }
    assert!(found >= 18, "{found} results");
}
