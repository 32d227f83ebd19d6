//! `Figure`: a figure that notebooks display and that can be written to a file.

use crate::error::{OrFileError, OrValueError, value_error};
use gardenpath_lab::files::atomic;
use gardenpath_plot::{Figure, pdf, png};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A figure, which notebooks display; `figure.write("figure.pdf")` saves it.
///
/// >>> import gardenpath
/// >>> grammar = gardenpath.Grammar.sample(vocab=4, depth=2, seed=1)
/// >>> run = gardenpath.train(grammar, "cnn", samples=100, test=100, width=8, max_steps=40)
/// >>> run.figure().svg().startswith("<svg")
/// True
#[pyclass(frozen, eq, hash, name = "Figure", module = "gardenpath")]
#[derive(PartialEq, Hash)]
pub struct PyFigure {
    svg: String,
}

impl From<&Figure> for PyFigure {
    fn from(figure: &Figure) -> Self {
        PyFigure { svg: figure.svg() }
    }
}

/// PNG files are for high-resolution screens.
const PNG_SCALE: f64 = 2.0;

#[pymethods]
impl PyFigure {
    #[new]
    fn new(svg: String) -> Self {
        PyFigure { svg }
    }

    /// The figure as SVG.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// The figure as PNG, at `scale` times 96 dots per inch.
    #[pyo3(signature = (scale=2.0))]
    fn png<'py>(&self, py: Python<'py>, scale: f64) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &png(&self.svg, scale).or_value_error()?))
    }

    /// The figure as PDF, in print size.
    fn pdf<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &pdf(&self.svg).or_value_error()?))
    }

    /// Writes the figure (.svg, .png or .pdf).
    fn write(&self, path: PathBuf) -> PyResult<()> {
        let bytes = match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(self.svg.clone().into_bytes()),
            Some("png") => png(&self.svg, PNG_SCALE),
            Some("pdf") => pdf(&self.svg),
            _ => {
                let shown = path.display();
                return Err(value_error(format!("{shown}: expected a name ending in .svg, .png or .pdf")));
            }
        };
        atomic::write(&path, &bytes.or_value_error()?).or_file_error()
    }

    fn _repr_svg_(&self) -> &str {
        &self.svg
    }

    fn __getnewargs__(&self) -> (&str,) {
        (&self.svg,)
    }

    fn __repr__(&self) -> String {
        format!("<Figure: {} bytes of SVG>", self.svg.len())
    }
}
