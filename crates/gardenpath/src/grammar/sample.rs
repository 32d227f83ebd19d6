//! The paper's ensemble of random grammars (`def:varying-tree-RHM`), and its relatives.

use super::{Children, Grammar, Rule, Symbol};
use crate::arity::PerArity;
use crate::error::{Counts, Error, Reals, Result};
use crate::seed::{Seed, Stream};
use crate::shape::Shape;
use crate::tuple::TupleCode;
use std::collections::{HashMap, HashSet};

/// How many rules of one arity each symbol has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RuleCount {
    /// As a fraction of all tuples (the paper's `f_s`): with `v` symbols per level, `round(f v^(s-1))` rules, at least one.
    Fraction(f64),
    /// As a number (the paper's `m_s`).
    Number(usize),
}

/// A random ensemble of layered grammars.
///
/// The symbols of a level have the same numbers of rules, whose right-hand sides are drawn without replacement across all parents, so that
/// a tuple has at most one parent. By default every level has `vocab` symbols, and a node has two or three children with probability 1/2
/// each. With a single arity this is the fixed-tree Random Hierarchy Model.
///
/// ```
/// use gardenpath::{Ensemble, Seed};
///
/// let ensemble = Ensemble::new(16, 3).fraction(0.25);
/// let rules = ensemble.rules_per_symbol(0)?;
/// assert_eq!((rules[2], rules[3]), (4, 64));
/// let grammar = ensemble.sample(Seed::new(7))?;
/// assert_eq!(grammar, ensemble.sample(Seed::new(7))?);
///
/// // Three classes, twelve tokens, and trees in which every node has four children.
/// let fixed = Ensemble::new(8, 2).arities([(4, 1.0)]).fraction(0.01).sizes(&[3, 8, 12]);
/// assert_eq!(fixed.sample(Seed::new(1))?.shape().lengths(), 16..=16);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    vocab: usize,
    depth: usize,
    /// The sizes of all levels, where they are not all `vocab`.
    sizes: Option<Vec<usize>>,
    probabilities: PerArity<f64>,
    /// What was asked for, for each arity, used or not.
    counts: [RuleCount; Children::MAX],
    zipf: f64,
    non_overlapping: bool,
    cover: bool,
}

/// Tuples beyond this number are not listed to be chosen from.
const LISTED: usize = 1 << 25;

impl Ensemble {
    /// Grammars with `vocab` symbols per level and `depth` layers; a quarter of all tuples grammatical, two or three children with
    /// probability 1/2 each.
    pub fn new(vocab: usize, depth: usize) -> Self {
        Ensemble {
            vocab,
            depth,
            sizes: None,
            probabilities: PerArity::from([(2, 0.5), (3, 0.5)]),
            counts: [RuleCount::Fraction(0.25); Children::MAX],
            zipf: 0.0,
            non_overlapping: false,
            cover: false,
        }
    }

    /// The same fraction of grammatical tuples for all arities.
    pub fn fraction(mut self, fraction: f64) -> Self {
        self.counts = [RuleCount::Fraction(fraction); Children::MAX];
        self
    }

    /// The number of rules of one arity.
    ///
    /// # Panics
    /// If `arity` is not between 1 and [`Children::MAX`].
    pub fn rules(mut self, arity: usize, count: RuleCount) -> Self {
        self.counts[arity - 1] = count;
        self
    }

    /// The probability of each number of children; those that are not named never occur.
    ///
    /// # Panics
    /// If a number of children is not between 1 and [`Children::MAX`].
    pub fn arities(mut self, probabilities: impl Into<PerArity<f64>>) -> Self {
        self.probabilities = probabilities.into();
        self
    }

    /// The probability that a node has two children, and otherwise three.
    pub fn p_binary(self, p_binary: f64) -> Self {
        self.arities([(2, p_binary), (3, 1.0 - p_binary)])
    }

    /// The number of symbols of each level, from the classes to the tokens.
    pub fn sizes(mut self, sizes: &[usize]) -> Self {
        self.sizes = Some(sizes.to_vec());
        self
    }

    /// The exponent of Zipf's law: the k-th rule of a symbol and arity has a probability proportional to `k^-exponent`.
    pub fn zipf(mut self, exponent: f64) -> Self {
        self.zipf = exponent;
        self
    }

    /// Whether rules are excluded that begin or end with a shorter rule of at least two symbols: no local ambiguity.
    pub fn non_overlapping(mut self, exclude: bool) -> Self {
        self.non_overlapping = exclude;
        self
    }

    /// Whether every symbol below the root occurs in some rule. Where chance left symbols out, children of random rules are replaced by
    /// them.
    pub fn cover(mut self, cover: bool) -> Self {
        self.cover = cover;
        self
    }

    /// The number of symbols per level, as it was given to [`Ensemble::new`].
    pub fn vocab(&self) -> usize {
        self.vocab
    }

    /// The number of layers of rules.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The probability of each number of children.
    pub fn probabilities(&self) -> PerArity<f64> {
        self.probabilities
    }

    /// The number of symbols of each level, after all checks of the parameters that do not concern rules.
    pub fn level_sizes(&self) -> Result<Vec<usize>> {
        let most = Grammar::MAX_VOCAB;
        if !(1..=Shape::MAX_DEPTH).contains(&self.depth) {
            return Err(Error::count("depth", self.depth, Counts::Between(1, Shape::MAX_DEPTH)));
        }
        let sizes = self.sizes.clone().unwrap_or_else(|| vec![self.vocab; self.depth + 1]);
        if sizes.len() != self.depth + 1 {
            return Err(Error::Levels { found: sizes.len(), depth: self.depth });
        }
        if let Some(size) = sizes.iter().find(|size| !(1..=most).contains(*size)) {
            return Err(Error::count("vocab", *size, Counts::Between(1, most)));
        }
        if let Some((arity, p)) = self.probabilities.nonzero().find(|(_, p)| !(0.0..=1.0).contains(p)) {
            let name = if arity == 2 { "p_binary" } else { "probability of an arity" };
            return Err(Error::real(name, p, Reals::Probability));
        }
        let sum: f64 = self.probabilities.nonzero().map(|(_, p)| p).sum();
        if (sum - 1.0).abs() > 1e-9 {
            return Err(Error::real("sum of the probabilities of all arities", sum, Reals::Exactly(1.0)));
        }
        if !(0.0..=20.0).contains(&self.zipf) {
            return Err(Error::real("zipf", self.zipf, Reals::Between(0.0, 20.0)));
        }
        let longest = self.probabilities.arities().most().saturating_pow(self.depth as u32);
        if longest > Shape::MAX_LEN {
            return Err(Error::LongestSentence { longest });
        }
        Ok(sizes)
    }

    /// The numbers of rules of each symbol of a level (`m_s`), after all checks.
    ///
    /// # Panics
    /// If there are no rules at `level`.
    pub fn rules_per_symbol(&self, level: usize) -> Result<PerArity<usize>> {
        let sizes = self.level_sizes()?;
        assert!(level < self.depth, "there are rules at the levels below {}", self.depth);
        let (parents, children) = (sizes[level], sizes[level + 1]);
        let mut rules = PerArity::default();
        for (arity, _) in self.probabilities.nonzero() {
            // Enough for every number of rules that fits into memory.
            let all = children.saturating_pow(arity as u32);
            rules[arity] = match self.counts[arity - 1] {
                RuleCount::Number(number) => number,
                RuleCount::Fraction(fraction) => {
                    if !(fraction > 0.0 && fraction <= 1.0) {
                        return Err(Error::real("fraction", fraction, Reals::PositiveProbability));
                    }
                    let number = match parents == children {
                        true => fraction * children.saturating_pow(arity as u32 - 1) as f64,
                        false => fraction * all as f64 / parents as f64,
                    };
                    (number.round() as usize).max(1)
                }
            };
            let wanted = parents.saturating_mul(rules[arity]);
            if wanted > all {
                return Err(Error::TooManyRules { arity, wanted, available: all });
            }
            if rules[arity] == 0 {
                return Err(Error::count("number of rules per symbol", 0u64, Counts::AtLeast(1)));
            }
            crate::memory::check(
                format_args!("a layer of {wanted} rules of {arity} symbols"),
                wanted as u128 * (size_of::<Rule>() as u128 + 64),
            )?;
        }
        Ok(rules)
    }

    /// The fractions of the tuples that are grammatical, once the numbers of rules of the symbols of a level are whole: `m_s / v^(s-1)`
    /// with `v` symbols per level. Zero for arities that are not used.
    ///
    /// ```
    /// use gardenpath::Ensemble;
    ///
    /// // A tenth of 16 pairs is 1.6 rules: there are 2. Of 256 triples there are 26.
    /// let fractions = Ensemble::new(16, 2).fraction(0.1).effective_fractions(0)?;
    /// assert_eq!((fractions[2], fractions[3]), (2.0 / 16.0, 26.0 / 256.0));
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there are no rules at `level`.
    pub fn effective_fractions(&self, level: usize) -> Result<PerArity<f64>> {
        let (sizes, rules) = (self.level_sizes()?, self.rules_per_symbol(level)?);
        let share = sizes[level] as f64 / sizes[level + 1] as f64;
        Ok(rules.map(|arity, rules| share * rules as f64 / (sizes[level + 1] as f64).powi(arity as i32 - 1)))
    }

    /// The effective fractions of a level, if rounding to whole numbers of rules changes one that was asked for, and is used, by more
    /// than 1%.
    ///
    /// # Panics
    /// If there are no rules at `level`.
    pub fn rounded_fractions(&self, level: usize) -> Result<Option<PerArity<f64>>> {
        let effective = self.effective_fractions(level)?;
        let moved = |(arity, found): (usize, f64)| match self.counts[arity - 1] {
            RuleCount::Fraction(wanted) => (found / wanted - 1.0).abs() > 0.01,
            RuleCount::Number(_) => false,
        };
        Ok(effective.nonzero().any(moved).then_some(effective))
    }

    /// Draws a grammar.
    pub fn sample(&self, seed: Seed) -> Result<Grammar> {
        let sizes = self.level_sizes()?;
        let seed = seed.child("grammar");
        let layers = (0..self.depth)
            .map(|level| {
                let rules = self.rules_per_symbol(level)?;
                self.sample_layer(sizes[level], sizes[level + 1], rules, &mut seed.stream(level as u64))
            })
            .collect::<Result<Vec<_>>>()?;
        let prior = vec![1.0 / sizes[0] as f64; sizes[0]];
        Grammar::new(sizes, prior, layers)
    }

    fn sample_layer(
        &self,
        parents: usize,
        symbols: usize,
        rules: PerArity<usize>,
        stream: &mut Stream,
    ) -> Result<Vec<Rule>> {
        let mut chosen: Vec<(usize, Vec<Children>)> = Vec::new();
        for (arity, per_symbol) in rules.nonzero() {
            let count = parents * per_symbol;
            let tuples = if self.non_overlapping && chosen.iter().any(|(shorter, _)| *shorter > 1) {
                let shorter: HashSet<Children> =
                    chosen.iter().filter(|(arity, _)| *arity > 1).flat_map(|(_, tuples)| tuples).copied().collect();
                let lengths: Vec<usize> = chosen.iter().map(|(arity, _)| *arity).filter(|&arity| arity > 1).collect();
                choose_among(without_overlaps(arity, symbols, &shorter, &lengths)?, arity, count, stream)?
            } else {
                choose(arity, symbols, count, stream)
            };
            chosen.push((arity, tuples));
        }
        if self.cover {
            cover(&mut chosen, symbols, stream)?;
        }
        let mut all = Vec::with_capacity(chosen.iter().map(|(_, tuples)| tuples.len()).sum());
        for (arity, tuples) in chosen {
            let per_symbol = rules[arity];
            let weights: Vec<f64> = (1..=per_symbol).map(|rank| libm::pow(rank as f64, -self.zipf)).collect();
            let sum: f64 = weights.iter().sum();
            let total = self.probabilities[arity];
            for (position, children) in tuples.into_iter().enumerate() {
                let (parent, rank) = ((position / per_symbol) as Symbol, position % per_symbol);
                all.push(Rule { parent, children, probability: total * weights[rank] / sum });
            }
        }
        Ok(all)
    }
}

/// `count` of all tuples in random order: the beginning of a Fisher-Yates shuffle of their numbers.
fn choose(arity: usize, symbols: usize, count: usize, stream: &mut Stream) -> Vec<Children> {
    let (all, code) = ((symbols as u64).saturating_pow(arity as u32), TupleCode::new(symbols, [arity].into()));
    let mut draw = |position: u64| position + stream.below(all - position);
    if all <= LISTED as u64 {
        let mut numbers: Vec<u32> = (0..all as u32).collect();
        (0..count).for_each(|position| numbers.swap(position, draw(position as u64) as usize));
        return numbers[..count].iter().map(|&number| code.children(number as usize)).collect();
    }
    // The same shuffle, in which only numbers that have moved are written down.
    let mut moved: HashMap<u64, u64> = HashMap::new();
    (0..count as u64)
        .map(|position| {
            let other = draw(position);
            let here = moved.remove(&position).unwrap_or(position);
            let number = if other == position { here } else { moved.insert(other, here).unwrap_or(other) };
            code.children(number as usize)
        })
        .collect()
}

/// `count` of the `tuples` in random order: the beginning of a Fisher-Yates shuffle.
fn choose_among(mut tuples: Vec<Children>, arity: usize, count: usize, stream: &mut Stream) -> Result<Vec<Children>> {
    let available = tuples.len();
    if count > available {
        return Err(Error::TooManyRules { arity, wanted: count, available });
    }
    for position in 0..count {
        let other = position + stream.below((available - position) as u64) as usize;
        tuples.swap(position, other);
    }
    tuples.truncate(count);
    Ok(tuples)
}

/// All tuples that neither begin nor end with one of the `shorter` ones, whose lengths these are.
fn without_overlaps(
    arity: usize,
    symbols: usize,
    shorter: &HashSet<Children>,
    lengths: &[usize],
) -> Result<Vec<Children>> {
    let all = symbols.saturating_pow(arity as u32);
    if all > LISTED {
        return Err(Error::TooManyTuples { tuples: all, arity, most: LISTED });
    }
    let is_rule = |part: &[Symbol]| Children::from_slice(part).is_some_and(|part| shorter.contains(&part));
    let overlaps = |children: &Children| {
        let side = children.as_slice();
        lengths.iter().any(|&len| is_rule(&side[..len]) || is_rule(&side[side.len() - len..]))
    };
    let code = TupleCode::new(symbols, [arity].into());
    Ok((0..all).map(|number| code.children(number)).filter(|children| !overlaps(children)).collect())
}

/// Replaces children of random rules by symbols that no rule has, until all occur. Symbols that occur once keep their place.
fn cover(chosen: &mut [(usize, Vec<Children>)], symbols: usize, stream: &mut Stream) -> Result<()> {
    let mut uses = vec![0usize; symbols];
    chosen
        .iter()
        .flat_map(|(_, tuples)| tuples)
        .flat_map(|tuple| tuple.as_slice())
        .for_each(|&s| uses[usize::from(s)] += 1);
    let places: usize = uses.iter().sum();
    if places < symbols {
        return Err(Error::Cover { places, symbols });
    }
    let mut taken: HashSet<Children> = chosen.iter().flat_map(|(_, tuples)| tuples).copied().collect();
    for missing in 0..symbols {
        // Random places are tried until one can be spared; some place always can, since there are as many as symbols.
        while uses[missing] == 0 {
            let mut place = stream.below(places as u64) as usize;
            let (_, tuples) = chosen
                .iter_mut()
                .find(|(arity, tuples)| {
                    let inside = place < arity * tuples.len();
                    place -= if inside { 0 } else { arity * tuples.len() };
                    inside
                })
                .expect("a place among the children of all rules");
            let arity = tuples[0].len();
            let old = tuples[place / arity];
            let spared = usize::from(old.as_slice()[place % arity]);
            let mut side = old.as_slice().to_vec();
            side[place % arity] = missing as Symbol;
            let new = Children::from_slice(&side).expect("the arity has not changed");
            if uses[spared] > 1 && !taken.contains(&new) {
                taken.remove(&old);
                taken.insert(new);
                tuples[place / arity] = new;
                uses[spared] -= 1;
                uses[missing] += 1;
            }
        }
    }
    Ok(())
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
        let both = |ensemble: Ensemble| {
            let rules = ensemble.rules_per_symbol(0).unwrap();
            (rules[2], rules[3])
        };
        let rules = |vocab, fraction| both(Ensemble::new(vocab, 2).fraction(fraction));
        assert_eq!(rules(16, 0.25), (4, 64));
        assert_eq!(rules(16, 1.0 / 16.0), (1, 16));
        assert_eq!(rules(8, 1.0), (8, 64));
        assert_eq!(rules(3, 0.01), (1, 1), "at least one of each");
        assert_eq!(both(Ensemble::new(8, 2).p_binary(1.0)), (2, 0));
        assert_eq!(both(Ensemble::new(8, 2).p_binary(0.0)), (0, 16));
    }

    #[test]
    fn rounded_fractions_are_told() {
        let rounded =
            |ensemble: Ensemble| ensemble.rounded_fractions(0).unwrap().map(|fractions| (fractions[2], fractions[3]));
        assert_eq!(rounded(Ensemble::new(16, 2).fraction(0.25)), None);
        assert_eq!(rounded(Ensemble::new(16, 2).fraction(0.1)), Some((0.125, 26.0 / 256.0)));
        assert_eq!(rounded(Ensemble::new(16, 2).fraction(0.1).p_binary(0.0)), Some((0.0, 26.0 / 256.0)));
        // 26 of 256 triples are 1.6% too many, 51 are 0.4% too few, and pairs do not matter without binary rules.
        assert_eq!(rounded(Ensemble::new(16, 2).fraction(0.2).p_binary(0.0)), None);
        assert_eq!(rounded(Ensemble::new(16, 2).rules(2, RuleCount::Number(2)).rules(3, RuleCount::Number(5))), None);
        assert_eq!(rounded(Ensemble::new(3, 1).fraction(0.01)), Some((1.0 / 3.0, 1.0 / 9.0)), "at least one of each");
        assert!(Ensemble::new(16, 2).fraction(2.0).rounded_fractions(0).is_err());
    }

    #[test]
    fn non_overlapping_rules_do_not_overlap() {
        let grammar = Ensemble::new(10, 2).fraction(0.3).non_overlapping(true).sample(Seed::new(5)).unwrap();
        for layer in grammar.layers() {
            for rule in layer.rules().iter().filter(|rule| rule.children.len() == 3) {
                let [a, b, c] = *rule.children.as_slice() else { unreachable!() };
                for pair in [[a, b], [b, c]].map(Children::from) {
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
        assert!(
            message(Ensemble::new(8, 2).rules(2, RuleCount::Number(9))).starts_with("72 distinct rules of 2 symbols")
        );
    }

    #[test]
    fn every_symbol_occurs_if_asked_for() {
        let ensemble = Ensemble::new(20, 3).arities([(2, 1.0)]).rules(2, RuleCount::Number(1));
        let missing = |grammar: &Grammar| -> usize {
            let of_layer = |layer: &super::super::Layer| {
                let used: HashSet<Symbol> =
                    layer.rules().iter().flat_map(|rule| rule.children.iter().collect::<Vec<_>>()).collect();
                layer.children() - used.len()
            };
            grammar.layers().iter().map(of_layer).sum()
        };
        let (mut with, mut without) = (0, 0);
        for seed in 0..20 {
            let grammar = ensemble.clone().cover(true).sample(Seed::new(seed)).unwrap();
            with += missing(&grammar);
            without += missing(&ensemble.sample(Seed::new(seed)).unwrap());
            let tuples: HashSet<_> = grammar.layer(0).rules().iter().map(|rule| rule.children).collect();
            assert_eq!(tuples.len(), 20, "a tuple still has one parent");
        }
        assert!(with == 0 && without > 100, "{with} {without}");
        let too_few = Ensemble::new(4, 1).sizes(&[1, 9]).arities([(2, 1.0)]).rules(2, RuleCount::Number(4)).cover(true);
        assert!(too_few.sample(Seed::new(1)).unwrap_err().to_string().starts_with("cover needs at least 9 children"));
    }

    #[test]
    fn any_arities_and_sizes_can_be_sampled() {
        let probabilities = [(1, 0.1), (2, 0.2), (4, 0.3), (8, 0.4)];
        let ensemble = Ensemble::new(9, 2).sizes(&[2, 5, 7]).arities(probabilities).fraction(1e-6);
        let grammar =
            ensemble.rules(1, RuleCount::Number(1)).rules(8, RuleCount::Number(3)).sample(Seed::new(1)).unwrap();
        assert_eq!(grammar.sizes(), [2, 5, 7]);
        for layer in grammar.layers() {
            for parent in 0..layer.parents() {
                for (arity, expected) in probabilities {
                    let rules = &layer.rules()[layer.rules_of(parent as Symbol)];
                    let own = rules.iter().filter(|rule| rule.children.len() == arity);
                    assert!((own.map(|rule| rule.probability).sum::<f64>() - expected).abs() < 1e-12);
                }
            }
        }
        // 200^8 tuples cannot be listed.
        let rare =
            Ensemble::new(200, 1).arities([(8, 1.0)]).rules(8, RuleCount::Number(5)).sample(Seed::new(2)).unwrap();
        assert_eq!(rare.layer(0).rules().iter().map(|rule| rule.children).collect::<HashSet<_>>().len(), 1000);
        let deep = Ensemble::new(4, 6).arities([(8, 1.0)]).fraction(1e-3).sample(Seed::new(1));
        assert_eq!(deep.unwrap_err().to_string(), "longest sentence is 262144, expected at most 59049 tokens");
    }

    /// Numbers that are only written down once they move are shuffled as those in a list.
    #[test]
    fn long_lists_are_shuffled_like_short_ones() {
        let mut stream = Seed::new(1).stream(0);
        let count = 3000;
        let (arity, symbols) = (5, 40);
        let found = choose(arity, symbols, count, &mut stream);
        let mut stream = Seed::new(1).stream(0);
        let all = (symbols as u64).pow(5);
        assert!(all > LISTED as u64);
        let mut numbers: Vec<u32> = (0..all as u32).collect();
        for position in 0..count {
            numbers.swap(position, position + stream.below(all - position as u64) as usize);
        }
        let expected: Vec<Children> = numbers[..count]
            .iter()
            .map(|&number| TupleCode::new(symbols, [arity].into()).children(number as usize))
            .collect();
        assert_eq!(found, expected);
    }
}
