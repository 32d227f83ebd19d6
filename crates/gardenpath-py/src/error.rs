//! Converts Rust errors to Python exceptions with the same text.

use gardenpath_lab::files::SystemError;
use pyo3::PyErr;
use pyo3::PyResult;
use pyo3::exceptions::{PyOSError, PyValueError};
use std::fmt::Display;
use std::io;

/// Converts any error to a `ValueError`.
pub trait OrValueError<T> {
    /// The value, or the error as an exception.
    fn or_value_error(self) -> PyResult<T>;
}

impl<T, E: Display> OrValueError<T> for Result<T, E> {
    fn or_value_error(self) -> PyResult<T> {
        // The alternate format has all causes on one line.
        self.map_err(|error| value_error(format!("{error:#}")))
    }
}

/// Converts errors to exceptions: errors of the operating system to `OSError`, others to `ValueError`.
pub trait OrFileError<T> {
    /// The value, or the error as an exception.
    fn or_file_error(self) -> PyResult<T>;
}

impl<T> OrFileError<T> for anyhow::Result<T> {
    fn or_file_error(self) -> PyResult<T> {
        self.map_err(|error| {
            let text = format!("{error:#}");
            match error.downcast_ref::<SystemError>().and_then(|SystemError(error)| number(error)) {
                // Python chooses the subclass by the number: FileNotFoundError, PermissionError, ...
                Some(number) => PyOSError::new_err((number, text)),
                None => value_error(text),
            }
        })
    }
}

/// The errno of an error, or the equivalent one.
fn number(error: &io::Error) -> Option<i32> {
    error.raw_os_error().or(match error.kind() {
        io::ErrorKind::NotFound => Some(2),
        io::ErrorKind::PermissionDenied => Some(13),
        io::ErrorKind::IsADirectory => Some(21),
        _ => None,
    })
}

/// A `ValueError` with this text.
pub fn value_error(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}
