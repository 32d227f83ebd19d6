//! What a cell of a sweep measures: a pure function of its parameters.
//!
//! The parameters, with all defaults filled in, and the version of the code that matters are the identity of a cell. Whoever
//! changes what a measure computes raises its version: cells that were stored before are then measured anew.

mod entropy;
mod learn;
mod probe;
mod purity;
mod snr;
mod train;
mod vectors;

pub use entropy::Entropy;
pub use learn::{Learn, Mode};
pub use probe::Probe;
pub use purity::Purity;
pub use snr::Snr;
pub use train::{Model, Train};
pub use vectors::Vectors;

use anyhow::{Result, bail};
use gardenpath::{Ensemble, Grammar, Seed};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// What is measured, with all parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "measure", rename_all = "lowercase")]
pub enum Measure {
    /// The class entropy of one grammar.
    Entropy(Entropy),
    /// The rules that a learner finds.
    Learn(Learn),
    /// How well k-means groups the true tuples.
    Purity(Purity),
    /// The signal-to-noise ratio of triples against the number of sentences.
    Snr(Snr),
    /// A trained network.
    Train(Train),
    /// What the layers of a trained network encode.
    Probe(Probe),
    /// Root-to-triple vectors projected on a plane.
    Vectors(Vectors),
}

/// The names of all measures.
pub const NAMES: [&str; 7] = ["entropy", "learn", "purity", "snr", "train", "probe", "vectors"];

/// The names of the parameters of a measure; those that are texts are in [`TEXTS`].
pub fn parameters(measure: &str) -> &'static [&'static str] {
    match measure {
        "entropy" => entropy::PARAMETERS,
        "learn" => learn::PARAMETERS,
        "purity" => purity::PARAMETERS,
        "snr" => snr::PARAMETERS,
        "train" => train::PARAMETERS,
        "probe" => probe::PARAMETERS,
        "vectors" => vectors::PARAMETERS,
        _ => &[],
    }
}

/// Parameters that are texts, not numbers.
pub const TEXTS: [&str; 2] = ["model", "mode"];

impl Measure {
    /// A measure from the values of its parameters.
    pub fn new(name: &str, mut values: Map<String, Value>) -> Result<Self> {
        if !NAMES.contains(&name) {
            bail!("there is no measure {name}, expected one of {}", NAMES.join(", "));
        }
        values.insert("measure".into(), name.into());
        Ok(serde_json::from_value(values.into())?)
    }

    /// All parameters, `measure` among them.
    pub fn parameters(&self) -> Map<String, Value> {
        let Ok(Value::Object(map)) = serde_json::to_value(self) else { unreachable!("a measure is an object") };
        map
    }

    /// The version of the code that the result depends on.
    fn version(&self) -> u32 {
        match self {
            Measure::Entropy(_) => 1,
            // 2: random order of the sentences, prior of the labels, new verdict.
            Measure::Learn(_) => 2,
            Measure::Purity(_) => 1,
            Measure::Snr(_) => 1,
            Measure::Train(_) => 1,
            Measure::Probe(_) => 1,
            Measure::Vectors(_) => 1,
        }
    }

    /// The name of the cell: a hash of parameters and version.
    pub fn identity(&self) -> String {
        let text = serde_json::json!({"parameters": self.parameters(), "version": self.version()}).to_string();
        let digest = Sha256::digest(text.as_bytes());
        digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Measures. The result depends on the parameters alone.
    pub fn run(&self) -> Result<Map<String, Value>> {
        let result = match self {
            Measure::Entropy(entropy) => entropy.run()?,
            Measure::Learn(learn) => learn.run()?,
            Measure::Purity(purity) => purity.run()?,
            Measure::Snr(snr) => snr.run()?,
            Measure::Train(train) => train.run()?,
            Measure::Probe(probe) => probe.run()?,
            Measure::Vectors(vectors) => vectors.run()?,
        };
        match result {
            Value::Object(map) => Ok(map),
            _ => unreachable!("a result is an object"),
        }
    }

    /// About how long it takes, in units that agree within a measure: enough to tell how much of a sweep is left.
    pub fn work(&self) -> f64 {
        match self {
            Measure::Entropy(entropy) => entropy.work(),
            Measure::Learn(learn) => learn.work(),
            Measure::Purity(purity) => purity.work(),
            Measure::Snr(snr) => snr.work(),
            Measure::Train(train) => train.work(),
            Measure::Probe(probe) => probe.work(),
            Measure::Vectors(vectors) => vectors.work(),
        }
    }
}

/// The grammar of a cell: that of `grammar sample` with the same parameters.
fn grammar(vocab: usize, depth: usize, fraction: f64, seed: u64) -> Result<Grammar> {
    Ok(Ensemble::new(vocab, depth).fraction(fraction).sample(Seed::new(seed))?)
}

/// Sentences on which learners and networks are tested, as in the paper.
fn test_sentences() -> u64 {
    20_000
}

/// The mean length of sentences: the part of the work that grows with the depth.
fn length(depth: usize) -> f64 {
    2.5f64.powi(depth as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A small cell of each measure.
    fn small(name: &str) -> Measure {
        let mut values = json!({"vocab": 4, "depth": 2, "fraction": 0.5, "seed": 1});
        let more = match name {
            "entropy" => json!({"fraction": 1.0, "sentences": 20}),
            "learn" => json!({"mode": "paper", "samples": 500, "test": 100}),
            "purity" | "vectors" => json!({"samples": 500}),
            "snr" => json!({"first": 50, "last": 500, "points": 3}),
            _ => json!({"model": "cnn", "samples": 100, "width": 8, "test": 100, "max_steps": 50, "min_steps": 50}),
        };
        let (Value::Object(values), Value::Object(more)) = (&mut values, more) else { unreachable!() };
        values.extend(more);
        Measure::new(name, values.clone()).unwrap()
    }

    #[test]
    fn all_parameters_are_listed() {
        for name in NAMES {
            let mut found: Vec<String> = small(name).parameters().into_iter().map(|(name, _)| name).collect();
            let mut expected: Vec<&str> = parameters(name).to_vec();
            expected.push("measure");
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn unknown_parameters_are_refused() {
        for name in NAMES {
            let mut values = small(name).parameters();
            values.insert("colour".into(), 1.into());
            let error = Measure::new(name, values).unwrap_err().to_string();
            assert!(error.contains("colour"), "{name}: {error}");
        }
    }

    /// What a cell measures must not change without a new version: stored results would be wrong.
    #[test]
    fn results_belong_to_their_version() {
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for frozen in FROZEN {
            let (name, ..) = frozen;
            let cell = small(name);
            let [one, many] = [1, 3].map(|threads| pool(threads).install(|| cell.run().unwrap()));
            assert_eq!(one, many, "{name}: the number of threads");
            let (name, identity, place, expected, tolerance) = frozen;
            assert_eq!(cell.identity(), identity, "{name}");
            let found = Value::Object(one).pointer(place).and_then(Value::as_f64).unwrap();
            assert!((found - expected).abs() <= tolerance, "{name}: {found}, not {expected}");
        }
    }

    /// Measure, identity of the cell, a place in its result, what stands there, and how much processors may differ.
    const FROZEN: [(&str, &str, &str, f64, f64); 7] = [
        ("entropy", "d761ff9400511aeb6524e10e59dcaddd", "/entropy", 0.5290328889286465, 1e-12),
        ("learn", "a092734e4a1ec2c52cb657e760cefbb0", "/accuracy", 0.04, 1e-12),
        ("purity", "0248c6e900687e83233c92831a2a6e9f", "/ternary", 0.46875, 1e-12),
        ("snr", "b2b60ef3b11b34ab6ac8869ebe89d1a1", "/signal", 0.021134793603456898, 1e-12),
        ("train", "934dbfd26fe8a6b8090ea7f68ee1766b", "/test_loss", 1.3889660635126133, 1e-3),
        ("probe", "0b39fc6fe499f6685ab294cd6361d37e", "/accuracy/0/0", 0.328, 0.02),
        ("vectors", "31327261e7198e5a55f8f667d7a7b4f5", "/pairs/explained", 0.9022461923188033, 1e-9),
    ];
}
