//! `Tree`: a derivation tree.

use crate::arrays::{NodeRecord, records, rule_records};
use crate::error::{OrValueError, value_error};
use crate::grammar::PyGrammar;
use crate::numbers::natural;
use gardenpath::{Children, Grammar, Node, Rule, Tree};
use gardenpath_lab::draw::tree;
use numpy::PyArray1;
use pyo3::prelude::*;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A derivation tree of uniform depth. `str(tree)` is bracketed text, which NLTK's `Tree.fromstring` can read.
///
/// >>> import gardenpath
/// >>> grammar = gardenpath.Grammar.sample(vocab=4, depth=2, seed=1)
/// >>> tree = gardenpath.Tree.from_text("(A0_0 (A1_0 3 2) (A1_3 0 0))", grammar)
/// >>> tree.root, tree.depth, tree.sentence.tolist()
/// (0, 2, [3, 2, 0, 0])
#[pyclass(frozen, name = "Tree", module = "gardenpath")]
pub struct PyTree {
    tree: Tree,
    grammar: Arc<Grammar>,
}

impl PyTree {
    pub fn new(tree: Tree, grammar: Arc<Grammar>) -> Self {
        PyTree { tree, grammar }
    }

    fn check_level(&self, level: usize, last: usize) -> PyResult<()> {
        if level > last {
            return Err(value_error(format!("level is {level}, expected 0 to {last}")));
        }
        Ok(())
    }
}

#[pymethods]
impl PyTree {
    /// Parses bracketed text with the names of a grammar.
    #[staticmethod]
    fn from_text(text: &str, grammar: &Bound<'_, PyGrammar>) -> PyResult<Self> {
        let grammar = grammar.get().grammar.clone();
        Ok(PyTree { tree: Tree::from_text(text, &grammar).or_value_error()?, grammar })
    }

    /// The root symbol.
    #[getter]
    fn root(&self) -> u8 {
        self.tree.root()
    }

    /// The number of layers of rules.
    #[getter]
    fn depth(&self) -> usize {
        self.tree.depth()
    }

    /// The tokens.
    #[getter]
    fn sentence<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        PyArray1::from_slice(py, self.tree.sentence())
    }

    /// The symbols of a level from left to right; level 0 is the root, level `depth` the tokens.
    fn level<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = natural)] level: usize,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        self.check_level(level, self.tree.depth())?;
        Ok(PyArray1::from_slice(py, self.tree.level(level)))
    }

    /// The nodes of a level: records of `start`, `span` (number of tokens) and `symbol`.
    ///
    /// >>> import gardenpath
    /// >>> tree = gardenpath.Grammar.sample(4, 2, seed=1).corpus(1, seed=2).trees()[0]
    /// >>> tree.nodes(0)["span"].tolist() == [len(tree.sentence)]
    /// True
    fn nodes<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = natural)] level: usize,
    ) -> PyResult<Bound<'py, PyArray1<NodeRecord>>> {
        self.check_level(level, self.tree.depth())?;
        let record =
            |node: Node| NodeRecord { start: node.span.start as i64, span: node.span.len as i64, symbol: node.symbol };
        Ok(records(py, self.tree.nodes(level).into_iter().map(record).collect()))
    }

    /// The rules applied at the nodes of a level, with the fields of `Grammar.rules`; a nonexistent rule has
    /// probability 0.
    fn rules<'py>(&self, py: Python<'py>, #[pyo3(from_py_with = natural)] level: usize) -> PyResult<Bound<'py, PyAny>> {
        self.check_level(level, self.tree.depth() - 1)?;
        let layer = self.grammar.layer(level);
        let probability = |parent: u8, children: Children| {
            let mut rules = layer.rules_with(children).map(|rule| layer.rules()[rule]);
            rules.find(|rule| rule.parent == parent).map_or(0.0, |rule| rule.probability)
        };
        let rule = |(parent, children)| Rule { parent, children, probability: probability(parent, children) };
        rule_records(py, layer, &self.tree.rules(level).map(rule).collect::<Vec<_>>())
    }

    /// The log probability of the tree given its root; minus infinity if it uses a nonexistent rule.
    fn log_probability(&self) -> f64 {
        self.tree.log_probability(&self.grammar).unwrap_or(f64::NEG_INFINITY)
    }

    /// The tree as SVG, with a caption.
    #[pyo3(signature = (caption=""))]
    fn to_svg(&self, caption: &str) -> String {
        tree::draw(&self.grammar, &[(&self.tree, caption.to_owned())]).svg()
    }

    fn _repr_svg_(&self) -> String {
        self.to_svg("")
    }

    fn __str__(&self) -> String {
        self.tree.to_text(&self.grammar)
    }

    fn __repr__(&self) -> String {
        format!("<Tree {}>", self.__str__())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().tree == self.tree)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.tree.hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, PyGrammar))> {
        let maker = py.get_type::<Self>().getattr("from_text")?;
        Ok((maker, (self.__str__(), PyGrammar::new(self.grammar.clone()))))
    }
}
