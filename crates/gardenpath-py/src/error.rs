//! Errors of Rust as exceptions of Python, with the same text.

use gardenpath_lab::files::SystemError;
use pyo3::PyErr;
use pyo3::PyResult;
use pyo3::exceptions::{PyOSError, PyValueError};
use std::fmt::Display;
use std::io;

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

/// Turns errors of the program into exceptions: what the operating system refused into an `OSError`, anything else into a `ValueError`.
pub trait OrFileError<T> {
    /// The value, or the error as an exception.
    fn or_file_error(self) -> PyResult<T>;
}

impl<T> OrFileError<T> for anyhow::Result<T> {
    fn or_file_error(self) -> PyResult<T> {
        self.map_err(|error| {
            let text = format!("{error:#}");
            match error.downcast_ref::<SystemError>().and_then(|SystemError(error)| number(error)) {
                // Python chooses the class by the number: FileNotFoundError, PermissionError, ...
                Some(number) => PyOSError::new_err((number, text)),
                None => value_error(text),
            }
        })
    }
}

/// The number of an error of the operating system, or of what amounts to one.
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
