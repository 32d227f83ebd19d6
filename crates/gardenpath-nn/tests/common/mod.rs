//! The dumps of PyTorch in `tests/reference`.

use gardenpath::{Shape, Symbol};
use gardenpath_nn::{Architecture, Network, Normalization, Task};
use safetensors::SafeTensors;
use std::collections::HashMap;
use std::path::PathBuf;

/// The dumps of each kind of network.
pub const CNN: [&str; 4] = ["cnn-depth2", "cnn-depth3", "cnn-depth4", "cnn-width-depth2"];
pub const INN: [&str; 3] = ["inn-depth2", "inn-depth3", "inn-width-depth2"];
pub const TRANSFORMER: [&str; 6] =
    ["transformer-depth2", "transformer-depth3", "causal-depth2", "causal-depth3", "masked-depth2", "masked-depth3"];

/// A committed dump.
pub struct Dump {
    pub network: Network,
    doubles: HashMap<String, Vec<f64>>,
    sentences: Vec<Vec<Symbol>>,
    pub labels: Vec<Symbol>,
}

impl Dump {
    pub fn read(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name);
        let bytes = std::fs::read(path.with_extension("safetensors")).unwrap();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let metadata = header.metadata().clone().unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let words = |name: &str| -> Vec<i64> {
            file.tensor(name).unwrap().data().as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect()
        };
        let doubles =
            file.iter().filter(|(_, tensor)| tensor.dtype() == safetensors::Dtype::F64).map(|(name, tensor)| {
                let values = tensor.data().as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
                (name.to_string(), values)
            });
        let tokens: Vec<Symbol> = words("tokens").into_iter().map(|token| token as Symbol).collect();
        let mut rest = tokens.as_slice();
        let take = |length: i64| {
            let (sentence, tail) = rest.split_at(length as usize);
            rest = tail;
            sentence.to_vec()
        };
        Dump {
            network: network(&metadata),
            doubles: doubles.collect(),
            sentences: words("lengths").into_iter().map(take).collect(),
            labels: words("labels").into_iter().map(|label| label as Symbol).collect(),
        }
    }

    /// The numbers of a tensor.
    pub fn doubles(&self, name: &str) -> &[f64] {
        &self.doubles[name]
    }

    pub fn sentences(&self) -> Vec<&[Symbol]> {
        self.sentences.iter().map(Vec::as_slice).collect()
    }
}

fn network(metadata: &HashMap<String, String>) -> Network {
    let number = |key: &str| metadata[key].parse::<usize>().unwrap();
    let normalization = || match metadata["normalization"].as_str() {
        "fan-in" => Normalization::FanIn,
        "width" => Normalization::Width,
        other => panic!("normalization {other}"),
    };
    let architecture = match metadata["model"].as_str() {
        "cnn" => Architecture::Cnn { normalization: normalization() },
        "inn" => Architecture::Inn { normalization: normalization() },
        "transformer" => {
            Architecture::Transformer { layers: number("layers"), heads: number("heads"), mlp: number("mlp") }
        }
        other => panic!("model {other}"),
    };
    let task = match metadata.get("task").map(String::as_str) {
        None => Task::Root,
        Some("next") => Task::Next,
        Some("masked") => Task::Masked,
        Some(other) => panic!("task {other}"),
    };
    let shape = Shape::mixed(number("depth"));
    let network = Network::new(number("vocab"), number("classes"), shape, number("width"), architecture);
    network.and_then(|network| network.with_task(task)).unwrap()
}
