//! Every network against PyTorch: logits, gradients, and the weights after four steps, on committed dumps.
//!
//! `tests/reference/make.py` makes the dumps, in double precision and by PyTorch's own differentiation.

use gardenpath::{Shape, Symbol};
use gardenpath_nn::model::Model;
use gardenpath_nn::optimizer::Adam;
use gardenpath_nn::{Architecture, Network, Normalization, Sink, Tensors};
use safetensors::SafeTensors;
use std::collections::HashMap;
use std::path::PathBuf;

/// A committed dump.
struct Dump {
    network: Network,
    doubles: HashMap<String, Vec<f64>>,
    sentences: Vec<Vec<Symbol>>,
    labels: Vec<Symbol>,
}

impl Dump {
    fn read(name: &str) -> Self {
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

    fn tensors(&self, prefix: &str) -> Tensors<f64> {
        let of = |parameter: gardenpath_nn::Parameter| self.doubles[&format!("{prefix}.{}", parameter.name)].clone();
        Tensors::from_values(self.network.parameters().into_iter().map(of).collect())
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
    let shape = Shape::mixed(number("depth"));
    Network::new(number("vocab"), number("classes"), shape, number("width"), architecture).unwrap()
}

fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(0.0f64, |size, x| size.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-10 * (size + 1e-3), "{what}[{i}]: {a} is not {b}");
    }
}

fn check(name: &str) {
    let dump = Dump::read(name);
    let parameters = dump.network.parameters();
    let sentences: Vec<&[Symbol]> = dump.sentences.iter().map(Vec::as_slice).collect();
    let mut model = Model::<f64>::new(&dump.network);
    let mut weights = dump.tensors("weight");
    assert_close("logits", model.logits(&weights, &sentences), &dump.doubles["logits"]);

    let mut gradient = Tensors::zeros(&parameters);
    let loss = model.learn(&mut weights, &sentences, &dump.labels, &mut Sink::Gradient(&mut gradient));
    assert_close("loss", &[loss], &dump.doubles["losses"][..1]);
    let expected = dump.tensors("gradient");
    for (parameter, (found, expected)) in parameters.iter().zip(gradient.iter().zip(expected.iter())) {
        assert_close(&format!("gradient of {}", parameter.name), found, expected);
    }
}

/// Four steps in the precision and with the code of training: descent in place, or Adam at the rate of the dump.
fn check_steps(name: &str) {
    let dump = Dump::read(name);
    let parameters = dump.network.parameters();
    let sentences: Vec<&[Symbol]> = dump.sentences.iter().map(Vec::as_slice).collect();
    let narrow = |tensor: &[f64]| tensor.iter().map(|&value| value as f32).collect();
    let mut weights = Tensors::from_values(dump.tensors("weight").iter().map(narrow).collect());
    let mut model = Model::<f32>::new(&dump.network);
    let mut adam = Adam::new(&parameters);
    for &expected in &dump.doubles["losses"] {
        let loss = match dump.network.architecture {
            Architecture::Transformer { .. } => {
                let mut gradient = Tensors::zeros(&parameters);
                let sink = &mut Sink::Gradient(&mut gradient);
                let loss = model.learn(&mut weights, &sentences, &dump.labels, sink);
                adam.step(&mut weights, &gradient, &vec![0.01; parameters.len()]);
                loss
            }
            _ => {
                let rate = dump.network.width as f32;
                model.learn(&mut weights, &sentences, &dump.labels, &mut Sink::Descent(rate))
            }
        };
        assert!((loss - expected).abs() < 1e-4 * expected, "{name}: loss {loss}, not {expected}");
    }
    let expected = dump.tensors("final");
    for (parameter, (found, expected)) in parameters.iter().zip(weights.iter().zip(expected.iter())) {
        for (a, b) in found.iter().zip(expected) {
            assert!((f64::from(*a) - b).abs() < 2e-3, "{name}: {} has {a}, not {b}", parameter.name);
        }
    }
}

#[test]
fn training_steps() {
    ["cnn-depth2", "cnn-depth3", "inn-depth2", "inn-depth3", "transformer-depth2", "transformer-depth3"]
        .into_iter()
        .for_each(check_steps);
}

#[test]
fn cnn() {
    ["cnn-depth2", "cnn-depth3", "cnn-depth4", "cnn-width-depth2"].into_iter().for_each(check);
}

#[test]
fn inn() {
    ["inn-depth2", "inn-depth3", "inn-width-depth2"].into_iter().for_each(check);
}

#[test]
fn transformer() {
    ["transformer-depth2", "transformer-depth3"].into_iter().for_each(check);
}
