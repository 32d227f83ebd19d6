//! Tree shapes for PyTorch networks, with the lengths, cells and splits of the core.
//!
//! `arities` are the numbers of children of the nodes of each level, from the root down, as validated by `Shape` of
//! `gardenpath.torch`.

use crate::error::OrValueError;
use crate::grammar::PyGrammar;
use gardenpath::Shape;
use gardenpath_nn::connections::{Input, layers};
use gardenpath_nn::{Architecture, Network, Normalization};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

/// The inputs of a layer's rows: the number of rows; row, role and input of each connection; and its multiplicity.
type Inputs<'py> = (usize, Bound<'py, PyArray2<i64>>, Bound<'py, PyArray1<f64>>);

fn shape(arities: Vec<Vec<usize>>) -> Shape {
    Shape::new(&arities.into_iter().map(|level| level.into_iter().collect()).collect::<Vec<_>>())
}

/// The numbers of children of the nodes of each level of a grammar.
#[pyfunction]
pub fn _arities(grammar: &PyGrammar) -> Vec<Vec<usize>> {
    let shape = grammar.grammar.shape();
    (0..shape.depth()).map(|level| shape.arities(level).iter().collect()).collect()
}

/// The possible sentence lengths.
#[pyfunction]
pub fn _lengths(arities: Vec<Vec<usize>>) -> Vec<usize> {
    let shape = shape(arities);
    shape.lengths().filter(|&len| shape.has_length(len)).collect()
}

/// The layers of an inside network for sentences of one length, from the tokens up, normalized by the number of splits or not.
#[pyfunction]
pub fn _inside_layers<'py>(
    py: Python<'py>,
    arities: Vec<Vec<usize>>,
    length: usize,
    over_splits: bool,
) -> PyResult<Vec<Inputs<'py>>> {
    let normalization = if over_splits { Normalization::Splits } else { Normalization::FanIn };
    let network = Network::new(2, 2, shape(arities), 1, Architecture::Inn { normalization }).or_value_error()?;
    let key = |&(row, Input { role, child, .. }): &(u32, Input)| [row, role, child];
    let mut found = Vec::new();
    for layer in layers(&network, length).or_value_error()? {
        let (mut inputs, mut times) = (Vec::new(), Vec::new());
        for same in layer.inputs.chunk_by(|one, other| key(one) == key(other)) {
            inputs.push(key(&same[0]).map(i64::from).to_vec());
            times.push(same.iter().map(|(_, input)| f64::from(input.times)).sum());
        }
        let inputs = PyArray2::from_vec2(py, &inputs).or_value_error()?;
        found.push((layer.places.len(), inputs, PyArray1::from_vec(py, times)));
    }
    Ok(found)
}
