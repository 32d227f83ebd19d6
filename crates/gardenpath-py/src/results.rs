//! Results with several parts as named tuples, whose classes are in `gardenpath._results`.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

/// The pickled state of an object: a function and its arguments.
pub type Reduced<'py, T> = PyResult<(Bound<'py, PyAny>, T)>;

/// A named tuple of this class.
pub fn named<'py>(py: Python<'py>, class: &str, parts: impl PyCallArgs<'py>) -> PyResult<Bound<'py, PyAny>> {
    py.import("gardenpath._results")?.getattr(class)?.call1(parts)
}
