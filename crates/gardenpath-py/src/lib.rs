//! The compiled part of the Python package `gardenpath`: a thin layer over the core and the laboratory.
//!
//! Every class is frozen, so that NumPy arrays can be views of its memory. Long-running work releases the GIL, uses all
//! cores and stops at Ctrl-C (`interrupt`). Errors are `ValueError`s with the text of the library.

// Public items are documented as Python docstrings; the rest is private to this crate.
#![allow(missing_docs)]

mod analysis;
mod answers;
mod arrays;
mod by_arity;
mod chart;
mod corpus;
mod ensemble;
mod error;
mod experiment;
mod figure;
mod fit;
mod grammar;
mod html;
mod interrupt;
mod learn;
mod measures;
mod moments;
mod numbers;
mod padded;
mod parse;
mod predict;
mod probe;
mod results;
mod run;
mod sentences;
mod shape;
mod sweep;
mod theory;
mod threads;
mod train;
mod tree;

use pyo3::prelude::*;

/// The compiled part of gardenpath.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::analysis::{_restore_results, PyResults};
    #[pymodule_export]
    use super::chart::PyChart;
    #[pymodule_export]
    use super::corpus::{_restore_corpus, CorpusIterator, PyCorpus};
    #[pymodule_export]
    use super::ensemble::{_restore_study, PySignalStudy, class_entropy, fraction_for_entropy, snr};
    #[pymodule_export]
    use super::experiment::PyExperiment;
    #[pymodule_export]
    use super::figure::PyFigure;
    #[pymodule_export]
    use super::fit::{_collapse, _exponent, _threshold};
    #[pymodule_export]
    use super::grammar::PyGrammar;
    #[pymodule_export]
    use super::learn::{_restore_learned, PyLearned, PyLevel, PyLevelScore, kmeans, learn, rule_purity, score_rules};
    #[pymodule_export]
    use super::measures::_register;
    #[pymodule_export]
    use super::moments::{_restore_expected, _restore_moments, PyExpectedMoments, PyMoments};
    #[pymodule_export]
    use super::parse::BayesFloor;
    #[pymodule_export]
    use super::predict::{_masks, _noise, PyReader, divergence};
    #[pymodule_export]
    use super::probe::{_restore_probe, PyProbe};
    #[pymodule_export]
    use super::run::{_restore_run, PyRun};
    #[pymodule_export]
    use super::shape::{_arities, _inside_layers, _lengths};
    #[pymodule_export]
    use super::sweep::{PyCell, PyStore, PyTask};
    #[pymodule_export]
    use super::threads::{set_threads, threads};
    #[pymodule_export]
    use super::train::_train;
    #[pymodule_export]
    use super::tree::PyTree;

    #[pymodule_export]
    use super::theory_module;

    /// The root of a sentence whose root is unknown.
    #[pymodule_export]
    const UNKNOWN_ROOT: u8 = gardenpath_lab::files::NO_ROOT;

    /// The default mask probability.
    #[pymodule_export]
    const _MASK: f64 = gardenpath::Task::MASK;

    /// The default noise of a channel.
    #[pymodule_export]
    const _NOISE: f64 = gardenpath::Task::NOISE;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// Theory of the ensemble: exact functions of its parameters, without sampling.
///
/// A `fraction` of all pairs and triples of symbols is produced by some rule; a node has two children with probability
/// `p_binary`, otherwise three. `arities` and `fractions` describe any numbers of children. Where the printed formula
/// and the model disagree, the plain name is the model's and `paper_…` is the printed one.
#[pymodule(name = "theory")]
mod theory_module {
    #[pymodule_export]
    use super::theory::{
        PyByLength, class_entropy, critical_fraction, grammatical_fraction, length_distribution, mean_branching,
        mean_candidates, mean_internal_nodes, median_splits, paper_class_entropy, paper_grammatical_fraction,
        sample_complexity, splits, tree_count, two_level_topologies, typical_length,
    };
}
