//! Named tensors: weights, gradients, and the state of an optimiser.

use crate::network::{Parameter, Purpose, Start};
use crate::panels;
use crate::scalar::Scalar;
use gardenpath::{Seed, Stream};
use rayon::prelude::*;

/// The values of all parameters of a network, in the order of [`Network::parameters`](crate::Network::parameters).
///
/// Matrices lie in panels of sixteen columns, as the kernels read them; [`Tensors::row_major`] has them as they stand in files.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensors<T> {
    tensors: Vec<Tensor<T>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Tensor<T> {
    values: Vec<T>,
    /// The sizes of its matrices, if it has any.
    matrix: Option<(usize, usize)>,
}

impl<T: Scalar> Tensors<T> {
    /// The initial weights: unit Gaussians, with one stream of random numbers for each row of each tensor.
    pub fn sample(parameters: &[Parameter], seed: Seed) -> Self {
        let sample = |(i, parameter): (usize, &Parameter)| {
            let mut values = vec![T::ZERO; parameter.len()];
            match parameter.start {
                Start::Zero => {}
                Start::One => values.fill(T::ONE),
                Start::Gaussian => {
                    let seed = seed.nth(i as u64);
                    let width = parameter.shape.last().copied().unwrap_or(1).max(1);
                    values.par_chunks_mut(width).enumerate().for_each(|(row, values)| {
                        fill_gaussian(values, &mut seed.stream(row as u64));
                    });
                }
            }
            values
        };
        Self::from_row_major(parameters, parameters.iter().enumerate().map(sample))
    }

    /// Zeros.
    pub fn zeros(parameters: &[Parameter]) -> Self {
        Self::from_row_major(parameters, parameters.iter().map(|parameter| vec![T::ZERO; parameter.len()]))
    }

    /// Tensors with these values, as they stand in files.
    pub fn from_row_major(parameters: &[Parameter], values: impl IntoIterator<Item = Vec<T>>) -> Self {
        let tensor = |(parameter, values): (&Parameter, Vec<T>)| match (parameter.purpose, parameter.shape.as_slice()) {
            (Purpose::Matrix, &[.., inputs, outputs]) => {
                Tensor { values: panels::from_rows(&values, inputs, outputs), matrix: Some((inputs, outputs)) }
            }
            _ => Tensor { values, matrix: None },
        };
        Tensors { tensors: parameters.iter().zip(values).map(tensor).collect() }
    }

    /// The values of tensor `i`, as they stand in files.
    pub fn row_major(&self, i: usize) -> Vec<T> {
        let Tensor { values, matrix } = &self.tensors[i];
        matrix.map_or_else(|| values.clone(), |(inputs, outputs)| panels::to_rows(values, inputs, outputs))
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there is no tensor.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// The values of tensor `i`, as they lie in memory.
    pub fn get(&self, i: usize) -> &[T] {
        &self.tensors[i].values
    }

    /// The values of tensor `i`, to be changed.
    pub fn get_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.tensors[i].values
    }

    /// All tensors in order, as they lie in memory.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.tensors.iter().map(|tensor| tensor.values.as_slice())
    }

    /// All tensors in order, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        self.tensors.iter_mut().map(|tensor| tensor.values.as_mut_slice())
    }
}

/// Where a backward pass puts the gradient.
pub enum Sink<'a, T> {
    /// It is added to these tensors.
    Gradient(&'a mut Tensors<T>),
    /// The weights themselves move against it, by this rate: a step of gradient descent without memory for the gradient.
    Descent(T),
}

impl<T: Scalar> Sink<'_, T> {
    /// What tensor `i` of the gradient is added to, and the factor with which it is added.
    pub fn of<'b>(&'b mut self, weights: &'b mut Tensors<T>, i: usize) -> (&'b mut [T], T) {
        match self {
            Sink::Gradient(gradient) => (gradient.get_mut(i), T::ONE),
            Sink::Descent(rate) => (weights.get_mut(i), -*rate),
        }
    }
}

/// Fills a row with unit Gaussians by the method of Box and Muller. The functions are those of `libm`, the same on every machine.
fn fill_gaussian<T: Scalar>(values: &mut [T], stream: &mut Stream) {
    for pair in values.chunks_mut(2) {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.unit()));
        let (sine, cosine) = libm::sincos(std::f64::consts::TAU * stream.unit());
        pair[0] = T::of(radius * cosine);
        if let Some(second) = pair.get_mut(1) {
            *second = T::of(radius * sine);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaussian(rows: usize, width: usize) -> Tensors<f64> {
        let (shape, purpose, start) = (vec![rows, width], Purpose::Rows, Start::Gaussian);
        let parameter = Parameter { name: "w".into(), shape, purpose, start, rate: 1.0 };
        Tensors::sample(&[parameter], Seed::new(3))
    }

    #[test]
    fn initial_weights_are_unit_gaussians() {
        let weights = gaussian(1000, 101);
        let values = weights.get(0);
        let moment = |power: i32| values.iter().map(|x| x.powi(power)).sum::<f64>() / values.len() as f64;
        for (power, expected, tolerance) in [(1, 0.0, 0.01), (2, 1.0, 0.02), (3, 0.0, 0.05), (4, 3.0, 0.12)] {
            assert!((moment(power) - expected).abs() < tolerance, "moment {power}: {}", moment(power));
        }
        let within = values.iter().filter(|x| x.abs() < 1.0).count() as f64 / values.len() as f64;
        assert!((within - 0.682_689).abs() < 0.005, "{within}");
    }

    /// Weights are a function of the seed alone: these bits must never change.
    #[test]
    fn initial_weights_are_frozen() {
        let weights = gaussian(2, 3);
        assert_eq!([weights.get(0)[0], weights.get(0)[5]].map(f64::to_bits), FROZEN);
    }
    const FROZEN: [u64; 2] = [4604859319169262057, 13831944921702379302];
}
