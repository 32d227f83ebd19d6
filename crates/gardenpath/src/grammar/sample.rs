//! The paper's ensemble of random grammars (`def:varying-tree-RHM`), and its relatives.

use super::{Children, Grammar, Rule, Symbol};
use crate::error::{Error, Result};
use crate::seed::{Seed, Stream};
use crate::shape::Shape;

/// How many rules each symbol has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RuleCounts {
    /// As fractions of all pairs and triples: `round(f2 v)` binary and `round(f3 v^2)` ternary rules, at least one.
    Fractions {
        /// The fraction of the pairs that are grammatical (the paper's `f_2`).
        binary: f64,
        /// The fraction of the triples that are grammatical (the paper's `f_3`).
        ternary: f64,
    },
    /// As numbers of rules per symbol (the paper's `m_2` and `m_3`).
    Numbers {
        /// Binary rules per symbol.
        binary: usize,
        /// Ternary rules per symbol.
        ternary: usize,
    },
}

/// A random ensemble of layered grammars.
///
/// Every level has `vocab` symbols; every symbol above the tokens has the same number of binary and ternary rules,
/// whose right-hand sides are drawn without replacement across all parents, so that a tuple has at most one parent.
/// Binary rules have total probability `p_binary`. With `p_binary` 1 or 0 there are only binary or only ternary rules: the
/// fixed-tree Random Hierarchy Model.
///
/// ```
/// use gardenpath::{Ensemble, Seed};
///
/// let ensemble = Ensemble::new(16, 3).fraction(0.25);
/// assert_eq!(ensemble.rules_per_symbol()?, (4, 64));
/// let grammar = ensemble.sample(Seed::new(7))?;
/// assert_eq!(grammar, ensemble.sample(Seed::new(7))?);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    vocab: usize,
    depth: usize,
    counts: RuleCounts,
    p_binary: f64,
    zipf: f64,
    non_overlapping: bool,
}

impl Ensemble {
    /// Grammars with `vocab` symbols per level and `depth` layers; a quarter of all tuples grammatical, `p_binary` 1/2.
    pub fn new(vocab: usize, depth: usize) -> Self {
        let counts = RuleCounts::Fractions { binary: 0.25, ternary: 0.25 };
        Ensemble { vocab, depth, counts, p_binary: 0.5, zipf: 0.0, non_overlapping: false }
    }

    /// The same fraction of grammatical pairs and triples.
    pub fn fraction(self, fraction: f64) -> Self {
        self.counts(RuleCounts::Fractions { binary: fraction, ternary: fraction })
    }

    /// The numbers of rules.
    pub fn counts(mut self, counts: RuleCounts) -> Self {
        self.counts = counts;
        self
    }

    /// The probability that a node has two children.
    pub fn p_binary(mut self, p_binary: f64) -> Self {
        self.p_binary = p_binary;
        self
    }

    /// The exponent of Zipf's law: the k-th rule of a symbol and arity has a probability proportional to `k^-exponent`.
    pub fn zipf(mut self, exponent: f64) -> Self {
        self.zipf = exponent;
        self
    }

    /// Whether ternary rules whose first or last two symbols form a binary rule are excluded: no local ambiguity.
    pub fn non_overlapping(mut self, exclude: bool) -> Self {
        self.non_overlapping = exclude;
        self
    }

    /// The number of symbols per level.
    pub fn vocab(&self) -> usize {
        self.vocab
    }

    /// The number of layers of rules.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The numbers of binary and ternary rules of each symbol (`m_2`, `m_3`), after all checks.
    pub fn rules_per_symbol(&self) -> Result<(usize, usize)> {
        let vocab = self.vocab;
        if !(1..=Grammar::MAX_VOCAB).contains(&vocab) {
            return Err(Error::parameter("vocab", vocab, format!("1 to {}", Grammar::MAX_VOCAB)));
        }
        if !(1..=Shape::MAX_DEPTH).contains(&self.depth) {
            return Err(Error::parameter("depth", self.depth, format!("1 to {}", Shape::MAX_DEPTH)));
        }
        if !(0.0..=1.0).contains(&self.p_binary) {
            return Err(Error::parameter("p_binary", self.p_binary, "a probability"));
        }
        if !(0.0..=20.0).contains(&self.zipf) {
            return Err(Error::parameter("zipf", self.zipf, "an exponent between 0 and 20"));
        }
        let number = |fraction: f64, all: usize| ((fraction * all as f64).round() as usize).max(1);
        let (binary, ternary) = match self.counts {
            RuleCounts::Numbers { binary, ternary } => (binary, ternary),
            RuleCounts::Fractions { binary, ternary } => {
                if let Some(fraction) = [binary, ternary].into_iter().find(|f| !(*f > 0.0 && *f <= 1.0)) {
                    return Err(Error::parameter("fraction", fraction, "more than 0 and at most 1"));
                }
                (number(binary, vocab), number(ternary, vocab * vocab))
            }
        };
        let binary = if self.p_binary == 0.0 { 0 } else { binary };
        let ternary = if self.p_binary == 1.0 { 0 } else { ternary };
        for (arity, rules, p) in [(2, binary, self.p_binary), (3, ternary, 1.0 - self.p_binary)] {
            let available = vocab.pow(arity as u32 - 1);
            if rules > available {
                return Err(Error::TooManyRules {
                    arity,
                    wanted: vocab.saturating_mul(rules),
                    available: vocab * available,
                });
            }
            if rules == 0 && p > 0.0 {
                return Err(Error::parameter("number of rules per symbol", 0, "at least 1 of each arity that is used"));
            }
        }
        Ok((binary, ternary))
    }

    /// The fractions of the pairs and of the triples that are grammatical, once the numbers of rules are whole: `m_2 / v` and
    /// `m_3 / v^2`. Zero for an arity that is not used.
    ///
    /// ```
    /// use gardenpath::Ensemble;
    ///
    /// // A tenth of 16 pairs is 1.6 rules: there are 2. Of 256 triples there are 26.
    /// let (binary, ternary) = Ensemble::new(16, 2).fraction(0.1).effective_fractions()?;
    /// assert_eq!((binary, ternary), (2.0 / 16.0, 26.0 / 256.0));
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn effective_fractions(&self) -> Result<(f64, f64)> {
        let (binary, ternary) = self.rules_per_symbol()?;
        let vocab = self.vocab as f64;
        Ok((binary as f64 / vocab, ternary as f64 / (vocab * vocab)))
    }

    /// The effective fractions, if rounding to whole numbers of rules changes one that was asked for, and is used, by more than 1%.
    pub fn rounded_fractions(&self) -> Result<Option<(f64, f64)>> {
        let effective = self.effective_fractions()?;
        let RuleCounts::Fractions { binary, ternary } = self.counts else { return Ok(None) };
        let moved = |wanted: f64, found: f64| found > 0.0 && (found / wanted - 1.0).abs() > 0.01;
        Ok((moved(binary, effective.0) || moved(ternary, effective.1)).then_some(effective))
    }

    /// Draws a grammar.
    pub fn sample(&self, seed: Seed) -> Result<Grammar> {
        let (binary, ternary) = self.rules_per_symbol()?;
        let seed = seed.child("grammar");
        let layers = (0..self.depth)
            .map(|level| self.sample_layer(binary, ternary, &mut seed.stream(level as u64)))
            .collect::<Result<Vec<_>>>()?;
        let prior = vec![1.0 / self.vocab as f64; self.vocab];
        Grammar::new(vec![self.vocab; self.depth + 1], prior, layers)
    }

    fn sample_layer(&self, binary: usize, ternary: usize, stream: &mut Stream) -> Result<Vec<Rule>> {
        let vocab = self.vocab;
        let symbol = |number: usize| number as Symbol;
        let all_pairs = (0..vocab * vocab).map(|n| Children::pair(symbol(n / vocab), symbol(n % vocab))).collect();
        let pairs = choose(all_pairs, vocab * binary, stream)?;
        let mut excluded = vec![false; vocab * vocab];
        if self.non_overlapping {
            for pair in &pairs {
                let [a, b] = *pair.as_slice() else { unreachable!("pairs have two symbols") };
                excluded[usize::from(a) * vocab + usize::from(b)] = true;
            }
        }
        let all_triples = (0..if ternary == 0 { 0 } else { vocab.pow(3) })
            .filter(|n| !excluded[n / vocab] && !excluded[n % (vocab * vocab)])
            .map(|n| Children::triple(symbol(n / vocab / vocab), symbol(n / vocab % vocab), symbol(n % vocab)))
            .collect();
        let triples = choose(all_triples, vocab * ternary, stream)?;
        let mut rules = Vec::with_capacity(vocab * (binary + ternary));
        for (tuples, per_symbol, total) in [(pairs, binary, self.p_binary), (triples, ternary, 1.0 - self.p_binary)] {
            let weights: Vec<f64> = (1..=per_symbol).map(|rank| libm::pow(rank as f64, -self.zipf)).collect();
            let sum: f64 = weights.iter().sum();
            for (position, children) in tuples.into_iter().enumerate() {
                let (parent, rank) = (symbol(position / per_symbol), position % per_symbol);
                rules.push(Rule { parent, children, probability: total * weights[rank] / sum });
            }
        }
        Ok(rules)
    }
}

/// `count` of the `tuples` in random order: the beginning of a Fisher-Yates shuffle.
fn choose(mut tuples: Vec<Children>, count: usize, stream: &mut Stream) -> Result<Vec<Children>> {
    let available = tuples.len();
    if count > available {
        return Err(Error::TooManyRules { arity: 3, wanted: count, available });
    }
    for position in 0..count {
        let other = position + stream.below((available - position) as u64) as usize;
        tuples.swap(position, other);
    }
    tuples.truncate(count);
    Ok(tuples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_tuple_has_one_parent() {
        for (vocab, fraction) in [(3, 1.0), (8, 0.25), (16, 1.0 / 16.0), (5, 0.6)] {
            let grammar = Ensemble::new(vocab, 2).fraction(fraction).sample(Seed::new(3)).unwrap();
            for layer in grammar.layers() {
                let tuples: HashSet<_> = layer.rules().iter().map(|rule| rule.children).collect();
                assert_eq!(tuples.len(), layer.rules().len());
            }
        }
    }

    #[test]
    fn numbers_of_rules_follow_the_paper() {
        let rules = |vocab, fraction| Ensemble::new(vocab, 2).fraction(fraction).rules_per_symbol().unwrap();
        assert_eq!(rules(16, 0.25), (4, 64));
        assert_eq!(rules(16, 1.0 / 16.0), (1, 16));
        assert_eq!(rules(8, 1.0), (8, 64));
        assert_eq!(rules(3, 0.01), (1, 1), "at least one of each");
        assert_eq!(Ensemble::new(8, 2).p_binary(1.0).rules_per_symbol().unwrap(), (2, 0));
        assert_eq!(Ensemble::new(8, 2).p_binary(0.0).rules_per_symbol().unwrap(), (0, 16));
    }

    #[test]
    fn rounded_fractions_are_told() {
        let rounded = |ensemble: Ensemble| ensemble.rounded_fractions().unwrap();
        assert_eq!(rounded(Ensemble::new(16, 2).fraction(0.25)), None);
        assert_eq!(rounded(Ensemble::new(16, 2).fraction(0.1)), Some((0.125, 26.0 / 256.0)));
        assert_eq!(rounded(Ensemble::new(16, 2).fraction(0.1).p_binary(0.0)), Some((0.0, 26.0 / 256.0)));
        // 26 of 256 triples are 1.6% too many, 51 are 0.4% too few, and pairs do not matter without binary rules.
        assert_eq!(rounded(Ensemble::new(16, 2).fraction(0.2).p_binary(0.0)), None);
        assert_eq!(rounded(Ensemble::new(16, 2).counts(RuleCounts::Numbers { binary: 2, ternary: 5 })), None);
        assert_eq!(rounded(Ensemble::new(3, 1).fraction(0.01)), Some((1.0 / 3.0, 1.0 / 9.0)), "at least one of each");
        assert!(Ensemble::new(16, 2).fraction(2.0).rounded_fractions().is_err());
    }

    #[test]
    fn non_overlapping_rules_do_not_overlap() {
        let grammar = Ensemble::new(10, 2).fraction(0.3).non_overlapping(true).sample(Seed::new(5)).unwrap();
        for layer in grammar.layers() {
            for rule in layer.rules().iter().filter(|rule| rule.children.len() == 3) {
                let [a, b, c] = *rule.children.as_slice() else { unreachable!() };
                for pair in [Children::pair(a, b), Children::pair(b, c)] {
                    assert_eq!(layer.rules_with(pair).count(), 0);
                }
            }
        }
        let too_many = Ensemble::new(10, 2).fraction(0.9).non_overlapping(true).sample(Seed::new(5));
        assert!(matches!(too_many, Err(Error::TooManyRules { arity: 3, .. })));
    }

    #[test]
    fn zipf_weights_fall_by_rank() {
        let grammar = Ensemble::new(8, 1).fraction(0.5).zipf(1.0).sample(Seed::new(5)).unwrap();
        let mut pairs: Vec<f64> = grammar.layer(0).rules()[grammar.layer(0).rules_of(3)]
            .iter()
            .filter(|rule| rule.children.len() == 2)
            .map(|rule| rule.probability)
            .collect();
        pairs.sort_by(|x, y| y.total_cmp(x));
        let expected = [1.0, 0.5, 1.0 / 3.0, 0.25].map(|w| 0.5 * w / (25.0 / 12.0));
        assert!(pairs.iter().zip(expected).all(|(p, q)| (p - q).abs() < 1e-15), "{pairs:?}");
    }

    #[test]
    fn bad_parameters_are_named() {
        let message = |ensemble: Ensemble| ensemble.sample(Seed::new(0)).unwrap_err().to_string();
        assert_eq!(message(Ensemble::new(0, 2)), "vocab is 0, expected 1 to 255");
        assert_eq!(message(Ensemble::new(8, 11)), "depth is 11, expected 1 to 10");
        assert_eq!(message(Ensemble::new(8, 2).fraction(1.5)), "fraction is 1.5, expected more than 0 and at most 1");
        assert_eq!(message(Ensemble::new(8, 2).p_binary(f64::NAN)), "p_binary is NaN, expected a probability");
        let counts = RuleCounts::Numbers { binary: 9, ternary: 1 };
        assert!(message(Ensemble::new(8, 2).counts(counts)).starts_with("72 distinct rules of 2 symbols"));
    }
}
