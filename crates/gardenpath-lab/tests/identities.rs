//! Stored results stay valid: the identities of cells never change while their measure has the same version.

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
    ("cnn", "1b422a871feb7149", "317f63ae07978edb"),
    ("cnn-ambiguous", "3109078e548d2ff8", "5a79e92c4370a668"),
    ("cnn-quarter", "aa7d434f6a394799", "24792608e3c44d5d"),
    ("inn", "5ca3d48912b5b404", "d19eb990cd2df973"),
    ("learners", "bc3859746fef221f", "a32ecd4cf840d0cc"),
    ("probes", "567477d69e880e34", "107626e99ff126f4"),
    ("purity", "73ad18d3f7dbadcb", "386d541929935160"),
    ("snr", "897327348c6b8777", "9fe8114105b95c07"),
    ("transformer", "3f13d05e1f958d81", "b1dafdb34a0b4e0a"),
    ("transition", "adf4c13af7ff372c", "0cdef289d6270ba6"),
    ("vectors", "0318404913886cfa", "0318404913886cfa"),
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
