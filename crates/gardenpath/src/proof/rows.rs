//! The norms of the rows of the covariances: of rules, which the algorithm looks for, and of all other tuples.

use super::{energy, mean, tuples};
use crate::error::{Counts, Error, Result};
use crate::grammar::{Children, Grammar, Layer, Symbol};
use crate::moments::{Covariance, check_paper};

/// Mean squared norms of rows, and what the paper expects of them in the limit of large vocabularies.
///
/// ```
/// use gardenpath::proof::RowNorms;
/// use gardenpath::{Ensemble, ExpectedMoments, Seed};
///
/// let grammar = Ensemble::new(32, 2).sample(Seed::new(7))?;
/// let norms = RowNorms::new(&grammar, 2, &ExpectedMoments::new(&grammar)?.covariance())?;
/// assert!(norms.other_pairs < 0.1 * norms.binary, "rules stand out: {norms:?}");
/// let ratio = norms.binary / norms.binary_limit.size_biased;
/// assert!((ratio - 1.0).abs() < 0.2, "{ratio}");
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowNorms {
    /// Pairs that are rules: the mean of `|u_ab|^2`.
    pub binary: f64,
    /// Pairs that are not.
    pub other_pairs: f64,
    /// Triples that are rules, less what their pairs explain: the mean of `|w_abc|^2`.
    pub ternary: f64,
    /// Those among them that hold no pair that is a rule, and those that begin or end with one.
    pub free: f64,
    /// See `free`.
    pub overlapping: f64,
    /// Triples that are no rules.
    pub other_triples: f64,
    /// The limit of `binary`.
    pub binary_limit: Asymptote,
    /// The limit of `ternary`.
    pub ternary_limit: Asymptote,
}

/// The limit `(p / (v m))^2 (factor / m_2)^(l-1)` of the squared norm of the row of a rule, where `p` is the probability that
/// adjacent symbols are the children of one rule, with the factor of a level as the paper has it and with the right one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asymptote {
    /// With `p_2^2 / 2` per level.
    pub paper: f64,
    /// With `2 (p_2 / <s>)^2` per level: tokens are pooled, and ternary nodes have more of them (erratum 5).
    pub size_biased: f64,
}

impl RowNorms {
    /// The rows of the covariance of a level. Limits are those of grammars whose rules of one arity are equally likely. The mean over
    /// rows of which there are none is NaN.
    pub fn new(grammar: &Grammar, level: usize, covariance: &Covariance) -> Result<Self> {
        check_paper(grammar.layers())?;
        if !(1..=grammar.depth()).contains(&level) {
            return Err(Error::count("level", level, Counts::Between(1, grammar.depth())));
        }
        let layer = grammar.layer(level - 1);
        let symbols = covariance.symbols();
        if symbols != layer.children() {
            return Err(Error::Size {
                what: "number of symbols of the covariance",
                found: symbols,
                expected: layer.children(),
                of: "those of the level",
            });
        }
        let is_rule = |children: Children| layer.rules_with(children).next().is_some();
        let all = || 0..symbols as Symbol;
        let pair = |a, b| (is_rule(Children::from([a, b])), energy(covariance.pair_vector(a, b)));
        let pair_rows: Vec<(bool, f64)> =
            all().flat_map(|a| all().map(move |b| (a, b))).map(|(a, b)| pair(a, b)).collect();
        let is_pair = |a: Symbol, b: Symbol| pair_rows[usize::from(a) * symbols + usize::from(b)].0;
        // Of free rules, overlapping rules, and other triples: the number and the sum.
        let mut sums = [(0usize, 0.0f64); 3];
        let mut corrected = vec![0.0; covariance.classes()];
        for a in all() {
            for (b, c) in all().flat_map(|b| all().map(move |c| (b, c))) {
                covariance.correct_triple(a, b, c, &mut corrected);
                let kind = match is_rule(Children::from([a, b, c])) {
                    true if is_pair(a, b) || is_pair(b, c) => 1,
                    true => 0,
                    false => 2,
                };
                sums[kind].0 += 1;
                sums[kind].1 += energy(&corrected);
            }
        }
        let mean_of = |kinds: &[usize]| {
            let (count, sum) = kinds.iter().fold((0, 0.0), |(n, x), &kind| (n + sums[kind].0, x + sums[kind].1));
            sum / count as f64
        };
        let pairs_that = |is_rule: bool| mean(pair_rows.iter().filter(|row| row.0 == is_rule).map(|row| row.1));
        Ok(RowNorms {
            binary: pairs_that(true),
            other_pairs: pairs_that(false),
            ternary: mean_of(&[0, 1]),
            free: mean_of(&[0]),
            overlapping: mean_of(&[1]),
            other_triples: mean_of(&[2]),
            binary_limit: Asymptote::new(grammar, level, 2),
            ternary_limit: Asymptote::new(grammar, level, 3),
        })
    }
}

impl Asymptote {
    fn new(grammar: &Grammar, level: usize, arity: usize) -> Self {
        // Expected numbers of nodes of the level above, and of tuples of this level.
        let branchings: Vec<Branching> = grammar.layers()[..level].iter().map(Branching::new).collect();
        let nodes: f64 = branchings[..level - 1].iter().map(|layer| layer.children).product();
        let tuples = nodes * branchings[level - 1].children - (arity - 1) as f64;
        let own = &branchings[level - 1];
        let (share, rules) = if arity == 2 { (own.binary, own.pairs) } else { (1.0 - own.binary, own.triples) };
        let row = nodes * share / tuples / (grammar.classes() as f64 * rules);
        let path = |factor: &dyn Fn(&Branching) -> f64| -> f64 {
            branchings[..level - 1].iter().map(|layer| factor(layer) / layer.pairs).product()
        };
        Asymptote {
            paper: row * row * path(&|layer| layer.binary.powi(2) / 2.0),
            size_biased: row * row * path(&|layer| 2.0 * (layer.binary / layer.children).powi(2)),
        }
    }
}

/// How the symbols of a layer branch, on average.
struct Branching {
    /// The probability of two children.
    binary: f64,
    /// The mean number of children.
    children: f64,
    /// Binary and ternary rules of a symbol.
    pairs: f64,
    triples: f64,
}

impl Branching {
    fn new(layer: &Layer) -> Self {
        let parents = layer.parents() as f64;
        let binary = layer.rules().iter().filter(|rule| rule.children.len() == 2);
        let binary = binary.map(|rule| rule.probability).sum::<f64>() / parents;
        let [pairs, triples] = [2, 3].map(|arity| tuples(layer, arity).count() as f64 / parents);
        Branching { binary, children: 3.0 - binary, pairs, triples }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ensemble, ExpectedMoments, Seed};

    #[test]
    fn norms_are_means_over_the_rows() {
        let grammar = Ensemble::new(5, 2).fraction(0.4).sample(Seed::new(2)).unwrap();
        let covariance = ExpectedMoments::new(&grammar).unwrap().covariance();
        let norms = RowNorms::new(&grammar, 2, &covariance).unwrap();
        let layer = grammar.layer(1);
        let binary = mean(tuples(layer, 2).map(|t| energy(covariance.vector(t.as_slice()))));
        assert!((norms.binary - binary).abs() < 1e-18);
        let corrected =
            |t: Children| energy(&covariance.corrected_triple(t.as_slice()[0], t.as_slice()[1], t.as_slice()[2]));
        assert!((norms.ternary - mean(tuples(layer, 3).map(corrected))).abs() < 1e-18);
        let (rules, all) = (tuples(layer, 2).count() as f64, 25.0);
        let total = norms.binary * rules + norms.other_pairs * (all - rules);
        assert!((total - covariance.pair_energy()).abs() < 1e-15);
        assert!(norms.free < norms.ternary && norms.ternary < norms.overlapping, "{norms:?}");
        assert!(RowNorms::new(&grammar, 0, &covariance).is_err() && RowNorms::new(&grammar, 3, &covariance).is_err());
    }

    /// The paper's eq. `root-to-pair-bin-norm` with `p_bin`: written out for depth 3.
    #[test]
    fn limits_written_out() {
        let grammar = Ensemble::new(8, 3).fraction(0.25).sample(Seed::new(2)).unwrap();
        let limit = Asymptote::new(&grammar, 3, 2);
        let p_binary_siblings = 6.25 * 0.5 / (15.625 - 1.0);
        let expected = (p_binary_siblings / (8.0 * 2.0f64)).powi(2);
        assert!((limit.paper / (expected * (0.125f64 / 2.0).powi(2)) - 1.0).abs() < 1e-12);
        assert!((limit.size_biased / (expected * (0.08f64 / 2.0).powi(2)) - 1.0).abs() < 1e-12);
        let ternary = Asymptote::new(&grammar, 3, 3);
        let expected = (6.25 * 0.5 / (15.625 - 2.0) / (8.0 * 16.0f64)).powi(2);
        assert!((ternary.paper / (expected * (0.125f64 / 2.0).powi(2)) - 1.0).abs() < 1e-12);
    }
}
