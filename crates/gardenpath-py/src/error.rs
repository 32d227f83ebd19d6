//! Errors of Rust as exceptions of Python, with the same text.

use pyo3::PyErr;
use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use std::fmt::Display;

/// Turns any error into a `ValueError`.
pub trait OrValueError<T> {
    /// The value, or the error as an exception.
    fn or_value_error(self) -> PyResult<T>;
}

impl<T, E: Display> OrValueError<T> for Result<T, E> {
    fn or_value_error(self) -> PyResult<T> {
        // The alternate form of an error of the program has all its causes in one line.
        self.map_err(|error| value_error(format!("{error:#}")))
    }
}

/// A `ValueError` with this text.
pub fn value_error(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}
