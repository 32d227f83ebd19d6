//! The coordinate check of maximal update parametrisation: do activations and their updates stay of order one at any width?
//!
//! A network takes a few steps on one batch; what its hidden layers hold for this batch is compared before and after. If the
//! scales of layers and learning rates are right, neither the typical size of a coordinate nor its typical change depends on the
//! width. (The logits begin near zero: the readout is scaled by `1 / width`; their change must be of order one.)

use crate::engine::{Cpu, Engine, initial_state};
use crate::error::Result;
use crate::network::Network;
use crate::optimizer::Optimizer;
use gardenpath::{Corpus, Seed, Symbol};
use serde::Serialize;

/// Typical sizes in one layer at one width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coordinates {
    /// The layer, from the tokens up; `logits` is the last.
    pub layer: String,
    /// The number of channels.
    pub width: usize,
    /// The root mean square of the coordinates of the new network.
    pub size: f64,
    /// The root mean square of their change.
    pub change: f64,
}

/// Measures all layers of a network that takes `steps` steps on `batch`.
///
/// ```
/// use gardenpath::{Corpus, Ensemble, Seed, Shape};
/// use gardenpath_nn::{Architecture, Network, mup};
///
/// let grammar = Ensemble::new(8, 2).fraction(0.125).sample(Seed::new(1))?;
/// let batch = Corpus::sample(&grammar, Seed::new(2), 0..32);
/// let change = |width| -> Result<f64, gardenpath_nn::Error> {
///     let network = Network::new(8, 8, Shape::mixed(2), width, Architecture::cnn())?;
///     Ok(mup::coordinates(&network, &batch, 4, Seed::new(3))?.last().unwrap().change)
/// };
/// let ratio = change(256)? / change(64)?;
/// assert!(ratio > 0.5 && ratio < 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn coordinates(network: &Network, batch: &Corpus, steps: usize, seed: Seed) -> Result<Vec<Coordinates>> {
    let sentences: Vec<&[Symbol]> = batch.sentences().collect();
    let mut engine = Cpu::new(network, Optimizer::of_paper(network), &initial_state(network, seed))?;
    let before = engine.layers(&sentences)?;
    for _ in 0..steps {
        engine.step(&sentences, batch.roots())?;
    }
    let after = engine.layers(&sentences)?;
    let of_layer = |((layer, before), (_, after)): ((String, Vec<f32>), (_, Vec<f32>))| Coordinates {
        layer,
        width: network.width,
        size: root_mean_square(before.iter().copied()),
        change: root_mean_square(before.iter().zip(&after).map(|(before, after)| after - before)),
    };
    Ok(before.into_iter().zip(after).map(of_layer).collect())
}

impl Cpu {
    /// The rows of all hidden layers, and the logits.
    fn layers(&mut self, sentences: &[&[Symbol]]) -> Result<Vec<(String, Vec<f32>)>> {
        let hidden = self.activations(sentences)?.into_iter().map(|layer| (layer.layer, layer.values));
        let mut layers: Vec<_> = hidden.collect();
        layers.push(("logits".into(), self.logits(sentences)?));
        Ok(layers)
    }
}

fn root_mean_square(values: impl ExactSizeIterator<Item = f32>) -> f64 {
    let count = values.len() as f64;
    (values.map(|x| f64::from(x) * f64::from(x)).sum::<f64>() / count).sqrt()
}

/// The exponent with which a size grows with the width: the slope of a straight line through the logarithms.
pub fn exponent(points: &[(usize, f64)]) -> f64 {
    let logarithms: Vec<(f64, f64)> = points.iter().map(|&(width, size)| ((width as f64).ln(), size.ln())).collect();
    let count = logarithms.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logarithms.iter().map(of).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let covariance: f64 = logarithms.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = logarithms.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    covariance / variance
}
