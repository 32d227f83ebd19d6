//! The program, started by the script that `pip` installs.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::iter::once;
use std::path::PathBuf;

/// Runs the program. Signals are the program's from now on: the interpreter does nothing else in this process.
#[pyfunction]
#[pyo3(name = "_main")]
pub fn main(py: Python<'_>, script: PathBuf, arguments: Vec<OsString>) -> u8 {
    let arguments = once(OsString::from("gardenpath")).chain(arguments);
    py.detach(|| gardenpath_lab::run_for(script, arguments))
}
