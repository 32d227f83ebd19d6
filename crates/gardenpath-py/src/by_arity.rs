//! Dicts of values by number of children.

use crate::error::value_error;
use crate::numbers::natural;
use gardenpath_lab::by_arity::ByArity;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

/// A dict such as `{2: 0.5, 4: 0.5}`, or `None`.
pub fn by_arity<'py, T: Copy + for<'a> FromPyObject<'a, 'py, Error = PyErr>>(
    object: &Bound<'py, PyAny>,
) -> PyResult<Option<ByArity<T>>> {
    if object.is_none() {
        return Ok(None);
    }
    let mut values = Vec::new();
    for item in object.cast::<PyMapping>()?.items()?.iter() {
        let (arity, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = item.extract()?;
        values.push((natural(&arity)?, natural(&value)?));
    }
    ByArity::new(values).map(Some).map_err(value_error)
}

/// Fractions of tuples that are grammatical.
pub enum Fractions {
    /// The same for all.
    Common(f64),
    /// By number of children.
    ByArity(ByArity<f64>),
}

/// A number, a dict, or `None`.
pub fn fractions(object: &Bound<'_, PyAny>) -> PyResult<Option<Fractions>> {
    match object.cast::<PyMapping>() {
        Ok(_) => Ok(by_arity(object)?.map(Fractions::ByArity)),
        Err(_) => Ok(object.extract::<Option<f64>>()?.map(Fractions::Common)),
    }
}
