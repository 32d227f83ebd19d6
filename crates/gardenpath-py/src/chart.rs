//! `Chart`: the exact parse chart of one sentence.

use crate::arrays::{CandidateRecord, records, whole_number};
use crate::error::{OrValueError, value_error};
use crate::grammar::PyGrammar;
use crate::numbers::natural;
use crate::results::Reduced;
use crate::tree::PyTree;
use gardenpath::{Count, Grammar, Magnitude, Parser, Symbol};
use gardenpath_lab::draw::chart;
use num_bigint::BigUint;
use numpy::PyArray1;
use pyo3::prelude::*;
use std::sync::Arc;

/// All candidates of all spans of one sentence, with their probabilities.
///
/// >>> import gardenpath
/// >>> grammar = gardenpath.Grammar.sample(vocab=3, depth=2, fraction=1.0, seed=1)
/// >>> chart = grammar.chart([0, 1, 2, 0, 1, 2, 0])
/// >>> chart.tree_count        # 2+2+3 in any order
/// 3
/// >>> chart.candidates(0)["probability"].sum().round(12).item()
/// 1.0
#[pyclass(frozen, name = "Chart", module = "gardenpath")]
pub struct PyChart {
    grammar: Arc<Grammar>,
    sentence: Vec<Symbol>,
    levels: Vec<Vec<CandidateRecord>>,
    trees: BigUint,
}

impl PyChart {
    /// Parses a sentence.
    pub fn new(grammar: Arc<Grammar>, sentence: Vec<Symbol>) -> gardenpath::Result<Self> {
        let parser = Parser::<Magnitude>::new(&grammar);
        let chart = parser.parse(&sentence)?;
        // Both iterate over the candidates in the same order.
        let mut nodes = parser.marginals(&chart)?.map(|marginals| marginals.nodes.into_iter());
        let mut levels = Vec::new();
        for level in 0..=grammar.depth() {
            let mut shares = nodes.as_mut().and_then(Iterator::next).unwrap_or_default().into_iter();
            let mut found = Vec::new();
            for cell in chart.cells(level) {
                let (start, span) = (cell.span.start as i64, cell.span.len as i64);
                for &(symbol, inside) in cell.values {
                    let probability = shares.next().map_or(0.0, |share| share.1);
                    found.push(CandidateRecord { start, span, symbol, log_inside: inside.ln(), probability });
                }
            }
            levels.push(found);
        }
        let counts = Parser::<Count>::new(&grammar).parse(&sentence)?.roots();
        let trees = counts.iter().map(Count::to_big).sum();
        drop(parser);
        Ok(PyChart { grammar, sentence, levels, trees })
    }

    fn level(&self, level: usize) -> PyResult<&[CandidateRecord]> {
        let unknown = || value_error(format!("level is {level}, expected 0 to {}", self.grammar.depth()));
        self.levels.get(level).map(Vec::as_slice).ok_or_else(unknown)
    }
}

#[pymethods]
impl PyChart {
    /// The tokens.
    #[getter]
    fn sentence<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        PyArray1::from_slice(py, &self.sentence)
    }

    /// The number of layers of rules.
    #[getter]
    fn depth(&self) -> usize {
        self.grammar.depth()
    }

    /// The exact number of trees of the sentence.
    #[getter]
    fn tree_count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        whole_number(py, &self.trees)
    }

    /// The candidates of a level: records of `start`, `span`, `symbol`, `log_inside` (the log probability that the
    /// symbol derives the span) and `probability` (that the derivation of the sentence contains it; 0 for spurious
    /// candidates).
    fn candidates<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = natural)] level: usize,
    ) -> PyResult<Bound<'py, PyArray1<CandidateRecord>>> {
        Ok(records(py, self.level(level)?.to_vec()))
    }

    /// All trees of the sentence, up to a limit.
    #[pyo3(signature = (limit=1000))]
    fn trees(&self, #[pyo3(from_py_with = natural)] limit: usize) -> PyResult<Vec<PyTree>> {
        let trees = self.grammar.trees(&self.sentence, limit).or_value_error()?;
        Ok(trees.into_iter().map(|tree| PyTree::new(tree, self.grammar.clone())).collect())
    }

    /// The chart as SVG: candidates that occur in some tree of the sentence in blue, darker if more probable; the
    /// others in gray.
    fn to_svg(&self) -> String {
        let candidate = |c: &CandidateRecord| chart::Candidate {
            start: c.start as usize,
            span: c.span as usize,
            symbol: c.symbol,
            probability: c.probability,
        };
        let levels: Vec<Vec<chart::Candidate>> =
            self.levels.iter().map(|level| level.iter().map(candidate).collect()).collect();
        chart::draw(&self.grammar, &levels).svg()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let same = |other: &PyChart| other.sentence == self.sentence && other.grammar == self.grammar;
        other.cast::<Self>().is_ok_and(|other| same(other.get()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (Bound<'py, PyArray1<u8>>,)> {
        let grammar = Bound::new(py, PyGrammar::new(self.grammar.clone()))?;
        Ok((grammar.getattr("chart")?, (self.sentence(py),)))
    }

    fn _repr_svg_(&self) -> String {
        self.to_svg()
    }

    fn __repr__(&self) -> String {
        let candidates: usize = self.levels.iter().map(Vec::len).sum();
        let trees = if self.trees == BigUint::from(1u8) { "tree" } else { "trees" };
        format!("<Chart of {} tokens, {candidates} candidates, {} {trees}>", self.sentence.len(), self.trees)
    }
}
