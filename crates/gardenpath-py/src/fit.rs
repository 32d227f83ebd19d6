//! Fits of thresholds, exponents and collapses. `gardenpath.fit` builds curves from columns, and names these tuples.

use crate::interrupt;
use gardenpath_lab::fit::{self, Curve, Direction, Estimate, Group};
use pyo3::prelude::*;

/// Value, interval, number of seeds, and the reason for missing parts. NaN becomes None.
type Parts = (Option<f64>, Option<(f64, f64)>, usize, Option<String>);

/// The x and the y of a curve.
type Points = (Vec<f64>, Vec<f64>);

fn parts(estimate: Estimate) -> Parts {
    (known(estimate.value), estimate.interval, estimate.seeds, estimate.because)
}

fn known(value: f64) -> Option<f64> {
    (!value.is_nan()).then_some(value)
}

fn group((at, curves): (f64, Vec<Points>)) -> Group<Curve> {
    Group::new(at, curves.into_iter().map(|(x, y)| Curve::new(x.into_iter().zip(y))))
}

/// The crossing of a level: an estimate, and the crossing of each curve.
#[pyfunction]
pub fn _threshold(curves: Vec<Points>, level: f64, falls: bool) -> (Parts, Vec<f64>) {
    let group = group((1.0, curves));
    let direction = if falls { Direction::Falls } else { Direction::Rises };
    (parts(fit::threshold(&group, level, direction)), fit::crossings(&group, level, direction).replicates)
}

/// A power law through groups of values: exponent, prefactor and misfit.
#[pyfunction]
pub fn _exponent(groups: Vec<(f64, Vec<f64>)>) -> (Parts, Option<f64>, Option<f64>) {
    let groups: Vec<Group<f64>> = groups.into_iter().map(|(at, values)| Group::new(at, values)).collect();
    let law = fit::exponent(&groups);
    (parts(law.exponent), known(law.prefactor), known(law.misfit))
}

/// The exponent at which groups of curves collapse, the misfit, and the misfit at the predicted exponent.
#[pyfunction]
pub fn _collapse(
    py: Python<'_>,
    groups: Vec<(f64, Vec<Points>)>,
    predicted: f64,
) -> PyResult<(Parts, Option<f64>, Option<f64>)> {
    let groups: Vec<Group<Curve>> = groups.into_iter().map(group).collect();
    let found = interrupt::run(py, || fit::collapse(&groups, predicted))?;
    Ok((parts(found.exponent), known(found.misfit), known(found.predicted_misfit)))
}
