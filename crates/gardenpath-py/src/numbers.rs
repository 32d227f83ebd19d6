//! Non-negative integers from Python: negative ones are a ValueError, as in NumPy and PyTorch.

use crate::error::value_error;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

/// Reads a non-negative integer. With `#[pyo3(from_py_with = natural)]` on an argument, a note on the exception has its
/// name.
pub fn natural<'py, T: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(object: &Bound<'py, PyAny>) -> PyResult<T> {
    object.extract().map_err(|error: PyErr| {
        let is_negative = || object.lt(0).unwrap_or(false);
        match error.is_instance_of::<PyOverflowError>(object.py()) {
            true if is_negative() => value_error(format!("the number is {object}, expected at least 0")),
            true => value_error(format!("the number is {object}, which is too large")),
            false => error,
        }
    })
}

/// The same, or `None`.
pub fn optional<'py, T: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(
    object: &Bound<'py, PyAny>,
) -> PyResult<Option<T>> {
    if object.is_none() { Ok(None) } else { natural(object).map(Some) }
}

/// A list of non-negative integers, or `None`.
pub fn optional_list<'py, T: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(
    object: &Bound<'py, PyAny>,
) -> PyResult<Option<Vec<T>>> {
    if object.is_none() {
        return Ok(None);
    }
    object.try_iter()?.map(|item| natural(&item?)).collect::<PyResult<_>>().map(Some)
}
