//! Every network against PyTorch: logits, gradients, and the weights after four steps, on committed dumps.
//!
//! `tests/reference/make.py` makes the dumps, in double precision and by PyTorch's own differentiation.

mod common;

use common::Dump;
use gardenpath_nn::{Adam, Architecture, Model, Parameter, Sink, Tensors};

fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(0.0f64, |size, x| size.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-10 * (size + 1e-3), "{what}[{i}]: {a} is not {b}");
    }
}

/// The tensors of all parameters in a dump: `weight`, `gradient` or `final`.
fn tensors(dump: &Dump, prefix: &str) -> Tensors<f64> {
    let parameters = dump.network.parameters();
    let of = |parameter: &Parameter| dump.doubles(&format!("{prefix}.{}", parameter.name)).to_vec();
    Tensors::from_row_major(&parameters, parameters.iter().map(of))
}

fn check(name: &str) {
    let dump = Dump::read(name);
    let parameters = dump.network.parameters();
    let sentences = dump.sentences();
    let mut model = Model::<f64>::new(&dump.network);
    let mut weights = tensors(&dump, "weight");
    assert_close("logits", model.logits(&weights, &sentences).unwrap(), dump.doubles("logits"));

    let mut gradient = Tensors::zeros(&parameters);
    let loss = model.learn(&mut weights, &sentences, &dump.labels, &mut Sink::Gradient(&mut gradient)).unwrap();
    assert_close("loss", &[loss], &dump.doubles("losses")[..1]);
    let expected = tensors(&dump, "gradient");
    for (parameter, (found, expected)) in parameters.iter().zip(gradient.iter().zip(expected.iter())) {
        assert_close(&format!("gradient of {}", parameter.name), found, expected);
    }
}

/// Four steps in the precision and with the code of training: descent in place, or Adam at the rate of the dump.
fn check_steps(name: &str) {
    let dump = Dump::read(name);
    let parameters = dump.network.parameters();
    let sentences = dump.sentences();
    let start = tensors(&dump, "weight");
    let narrow = |i: usize| start.row_major(i).iter().map(|&value| value as f32).collect();
    let mut weights = Tensors::from_row_major(&parameters, (0..start.len()).map(narrow));
    let mut model = Model::<f32>::new(&dump.network);
    let mut adam = Adam::new(&parameters);
    for &expected in dump.doubles("losses") {
        let loss = match dump.network.architecture {
            Architecture::Transformer { .. } => {
                let mut gradient = Tensors::zeros(&parameters);
                let sink = &mut Sink::Gradient(&mut gradient);
                let loss = model.learn(&mut weights, &sentences, &dump.labels, sink).unwrap();
                adam.step(&mut weights, &gradient, &vec![0.01; parameters.len()]);
                loss
            }
            _ => {
                let rate = dump.network.width as f32;
                model.learn(&mut weights, &sentences, &dump.labels, &mut Sink::Descent(rate)).unwrap()
            }
        };
        assert!((loss - expected).abs() < 1e-4 * expected, "{name}: loss {loss}, not {expected}");
    }
    let expected = tensors(&dump, "final");
    for (parameter, (found, expected)) in parameters.iter().zip(weights.iter().zip(expected.iter())) {
        for (a, b) in found.iter().zip(expected) {
            assert!((f64::from(*a) - b).abs() < 2e-3, "{name}: {} has {a}, not {b}", parameter.name);
        }
    }
}

#[test]
fn training_steps() {
    let filters = ["cnn-depth2", "cnn-depth3", "inn-depth2", "inn-depth3"];
    filters.into_iter().chain(common::TRANSFORMER).for_each(check_steps);
}

#[test]
fn cnn() {
    common::CNN.into_iter().for_each(check);
}

#[test]
fn inn() {
    common::INN.into_iter().for_each(check);
}

#[test]
fn transformer() {
    common::TRANSFORMER.into_iter().for_each(check);
}
