//! NumPy arrays: views of memory owned by Rust, and arrays of records.

use gardenpath::{Layer, Rule};
use num_bigint::BigUint;
use numpy::ndarray::{Array2, ArrayView, Dimension};
use numpy::{Element, PyArray, PyArray1, PyArrayDescr, PyArrayDescrMethods, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyInt};

/// A read-only array without a copy.
///
/// # Safety
/// `owner` must own the memory of `array`, and must not change, move or free it while it lives.
pub unsafe fn view<'py, T: Element, D: Dimension>(
    array: ArrayView<'_, T, D>,
    owner: Bound<'py, PyAny>,
) -> Bound<'py, PyArray<T, D>> {
    // SAFETY: as above; the array keeps `owner` alive.
    let array = unsafe { PyArray::borrow_from_array(&array, owner) };
    array.readwrite().make_nonwriteable();
    array
}

/// A record type: a Rust struct that is also a row of a structured array, with the same field names.
///
/// It is packed, like NumPy's own structured types: there are no undefined padding bytes.
macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty = $format:literal,)* }) => {
        $(#[$doc])*
        #[repr(C, packed)]
        #[derive(Clone, Copy)]
        pub struct $name {
            $(pub $field: $type,)*
        }

        // SAFETY: the fields of the dtype have the types, offsets and total size of the struct, and none is a Python
        // object.
        unsafe impl Element for $name {
            const IS_COPY: bool = true;

            fn get_dtype(py: Python<'_>) -> Bound<'_, PyArrayDescr> {
                static DTYPE: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
                let fields = [$((stringify!($field), $format, std::mem::offset_of!($name, $field)),)*];
                dtype(py, &DTYPE, &fields, size_of::<$name>())
            }

            fn clone_ref(&self, _py: Python<'_>) -> Self {
                *self
            }
        }
    };
}

record! {
    /// A node of a tree.
    NodeRecord {
        start: i64 = "i8",
        span: i64 = "i8",
        symbol: u8 = "u1",
    }
}

record! {
    /// A symbol on a span, with the probability that the derivation contains it.
    SpanRecord {
        start: i64 = "i8",
        span: i64 = "i8",
        symbol: u8 = "u1",
        probability: f64 = "f8",
    }
}

record! {
    /// A candidate of a chart.
    CandidateRecord {
        start: i64 = "i8",
        span: i64 = "i8",
        symbol: u8 = "u1",
        log_inside: f64 = "f8",
        probability: f64 = "f8",
    }
}

record! {
    /// A measurement of a run.
    CurveRecord {
        step: i64 = "i8",
        epoch: f64 = "f8",
        train_loss: f64 = "f8",
        test_loss: f64 = "f8",
        test_accuracy: f64 = "f8",
    }
}

fn dtype<'py>(
    py: Python<'py>,
    made: &PyOnceLock<Py<PyArrayDescr>>,
    fields: &[(&str, &str, usize)],
    size: usize,
) -> Bound<'py, PyArrayDescr> {
    let make = || -> PyResult<Py<PyArrayDescr>> {
        let layout = PyDict::new(py);
        layout.set_item("names", fields.iter().map(|field| field.0).collect::<Vec<_>>())?;
        layout.set_item("formats", fields.iter().map(|field| field.1).collect::<Vec<_>>())?;
        layout.set_item("offsets", fields.iter().map(|field| field.2).collect::<Vec<_>>())?;
        layout.set_item("itemsize", size)?;
        let dtype = PyArrayDescr::new(py, layout)?;
        assert_eq!(dtype.itemsize(), size);
        Ok(dtype.unbind())
    };
    made.get_or_try_init(py, make).expect("the layout of a record is a dtype").bind(py).clone()
}

/// An integer of any size.
pub fn whole_number<'py>(py: Python<'py>, number: &BigUint) -> PyResult<Bound<'py, PyAny>> {
    py.get_type::<PyInt>().call_method1("from_bytes", (PyBytes::new(py, &number.to_bytes_le()), "little"))
}

/// The rules of a layer as an array of records. Children are padded with zeros to the arity of the longest rule, at
/// least three.
pub fn rule_records<'py>(py: Python<'py>, layer: &Layer, rules: &[Rule]) -> PyResult<Bound<'py, PyAny>> {
    let width = layer.arities().most().max(3);
    let children = format!("({width},)u1");
    let dtype = vec![("parent", "u1"), ("arity", "u1"), ("children", children.as_str()), ("probability", "f8")];
    let array = py.import("numpy")?.call_method1("zeros", (rules.len(), dtype))?;
    let mut padded = Array2::<u8>::zeros((rules.len(), width));
    for (mut row, rule) in padded.rows_mut().into_iter().zip(rules) {
        row.iter_mut().zip(rule.children.iter()).for_each(|(place, child)| *place = child);
    }
    array.set_item("parent", PyArray1::from_iter(py, rules.iter().map(|rule| rule.parent)))?;
    array.set_item("arity", PyArray1::from_iter(py, rules.iter().map(|rule| rule.children.len() as u8)))?;
    array.set_item("children", PyArray::from_owned_array(py, padded))?;
    array.set_item("probability", PyArray1::from_iter(py, rules.iter().map(|rule| rule.probability)))?;
    Ok(array)
}

/// An array of records.
pub fn records<T: Element>(py: Python<'_>, rows: Vec<T>) -> Bound<'_, PyArray1<T>> {
    PyArray1::from_vec(py, rows)
}
