//! The paper's empirical test of clustering (App. `app:empirical_implementation`): the true rules are given, their
//! groups are not.

use crate::cluster::{KMeans, normalize};
use crate::error::{Error, Result, TableSize};
use crate::grammar::{Children, Grammar};
use crate::learn::score::group_purity;
use crate::moments::Covariance;

/// Mean group purity: for each true group, the share of its tuples in the cluster that holds most of them.
///
/// It is at least `1 / m`, and merging groups costs nothing: see [`crate::learn::score`] for rules matched one to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupPurity {
    /// Of the binary rules; NaN without any.
    pub binary: f64,
    /// Of the ternary rules, after the pair correction; NaN without any.
    pub ternary: f64,
    /// Of the ternary rules by their plain covariances.
    pub ternary_uncorrected: f64,
}

/// Clusters the covariance vectors of the true rules above the tokens into as many groups as there are parents, by
/// k-means on vectors of norm 1, pairs and triples separately.
///
/// ```
/// use gardenpath::learn::paper::cluster_true_rules;
/// use gardenpath::{Ensemble, ExpectedMoments, KMeans, Seed};
///
/// let grammar = Ensemble::new(12, 2).sample(Seed::new(7))?;
/// let purity = cluster_true_rules(&grammar, &ExpectedMoments::new(&grammar)?.covariance(), &KMeans::new(12))?;
/// assert!(purity.binary > 0.9 && purity.ternary > 0.7, "{purity:?}");
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn cluster_true_rules(grammar: &Grammar, covariance: &Covariance, kmeans: &KMeans) -> Result<GroupPurity> {
    if (covariance.symbols(), covariance.classes()) != (grammar.vocab(), grammar.classes()) {
        let size = |symbols, classes| TableSize { symbols, classes, arities: crate::arity::Arities::PAPER };
        let found = size(covariance.symbols(), covariance.classes());
        return Err(Error::Tables { what: "covariances", found, expected: size(grammar.vocab(), grammar.classes()) });
    }
    let purity = |arity: usize, vector: &dyn Fn(Children) -> Vec<f64>| -> Result<f64> {
        let rules = grammar.layer(grammar.depth() - 1).rules().iter().filter(|rule| rule.children.len() == arity);
        let (mut groups, mut rows) = (Vec::new(), Vec::new());
        for rule in rules {
            let mut row = vector(rule.children);
            normalize(&mut row);
            rows.extend(row);
            groups.push(usize::from(rule.parent));
        }
        if groups.is_empty() {
            return Ok(f64::NAN);
        }
        let clustering = kmeans.fit(&rows, covariance.classes())?;
        let labels: Vec<Option<usize>> = clustering.labels().iter().copied().map(Some).collect();
        Ok(group_purity(&groups, &labels))
    };
    let triple = |children: Children| {
        let symbols = children.as_slice();
        (symbols[0], symbols[1], symbols[symbols.len() - 1])
    };
    Ok(GroupPurity {
        binary: purity(2, &|pair| covariance.pair_vector(pair.as_slice()[0], pair.as_slice()[1]).to_vec())?,
        ternary: purity(3, &|children| {
            let (a, b, c) = triple(children);
            covariance.corrected_triple(a, b, c)
        })?,
        ternary_uncorrected: purity(3, &|children| {
            let (a, b, c) = triple(children);
            covariance.triple_vector(a, b, c).to_vec()
        })?,
    })
}
