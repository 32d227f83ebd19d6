//! The parameters of an ensemble of random grammars, as given to the program, experiments and Python.

use crate::by_arity::ByArity;
use anyhow::{Result, bail};
use gardenpath::{Ensemble, PerArity, RuleCount, Shape};

/// All parameters. Those without a value are as in the paper.
///
/// ```
/// use gardenpath_lab::ensemble::Choices;
///
/// let choices = Choices { sizes: Some(vec![3, 8, 16]), arities: Some("2:0.5,4:0.5".parse().unwrap()), ..Choices::default() };
/// let ensemble = choices.ensemble(&str::to_owned)?;
/// assert_eq!(ensemble.level_sizes()?, [3, 8, 16]);
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// Symbols per level.
    pub vocab: Option<usize>,
    /// Layers of rules.
    pub depth: Option<usize>,
    /// Symbols of each level from classes to tokens, instead of `vocab`.
    pub sizes: Option<Vec<usize>>,
    /// Symbols of level 0, if different from other levels.
    pub classes: Option<usize>,
    /// The probability of each number of children.
    pub arities: Option<ByArity<f64>>,
    /// The probability of two children, if nodes have two or three.
    pub p_binary: Option<f64>,
    /// The default fraction of all tuples that are grammatical.
    pub fraction: Option<f64>,
    /// The fraction by number of children.
    pub fractions: Option<ByArity<f64>>,
    /// The number of rules per symbol, by number of children.
    pub rules: Option<ByArity<usize>>,
    /// The Zipf exponent.
    pub zipf: f64,
    /// Whether to exclude rules that begin or end with a shorter one.
    pub non_overlapping: bool,
    /// Whether every symbol must occur in some rule.
    pub cover: bool,
}

impl Choices {
    /// Builds the ensemble. `named` maps a parameter to its name in error messages. Fails if parameters are missing,
    /// contradictory, out of range or without effect.
    pub fn ensemble(&self, named: &dyn Fn(&str) -> String) -> Result<Ensemble> {
        let ensemble = self.levels(named)?.arities(self.probabilities(named)?);
        let ensemble = self.count_rules(ensemble, named)?;
        Ok(ensemble.zipf(self.zipf).non_overlapping(self.non_overlapping).cover(self.cover))
    }

    /// The number of tokens; 0 if unspecified.
    pub fn tokens(&self) -> usize {
        self.sizes.as_ref().and_then(|sizes| sizes.last().copied()).or(self.vocab).unwrap_or(0)
    }

    /// An ensemble with these numbers of symbols.
    fn levels(&self, named: &dyn Fn(&str) -> String) -> Result<Ensemble> {
        let Some(sizes) = &self.sizes else {
            let (Some(vocab), Some(depth)) = (self.vocab, self.depth) else {
                bail!("expected {} and {}, or {}", named("vocab"), named("depth"), named("sizes"));
            };
            let ensemble = Ensemble::new(vocab, depth);
            let Some(classes) = self.classes else { return Ok(ensemble) };
            if !(1..=Shape::MAX_DEPTH).contains(&depth) {
                bail!("depth is {depth}, expected 1 to {}", Shape::MAX_DEPTH);
            }
            let mut sizes = vec![vocab; depth + 1];
            sizes[0] = classes;
            return Ok(ensemble.sizes(&sizes));
        };
        let &[first, .., tokens] = &sizes[..] else {
            bail!("{} has {} levels, expected classes and tokens at least", named("sizes"), sizes.len());
        };
        for (name, given, found) in
            [("classes", self.classes, first), ("vocab", self.vocab, tokens), ("depth", self.depth, sizes.len() - 1)]
        {
            if let Some(given) = given.filter(|given| *given != found) {
                bail!("{} is {given}, but {} says {found}", named(name), named("sizes"));
            }
        }
        Ok(Ensemble::new(tokens, sizes.len() - 1).sizes(sizes))
    }

    /// The probability of each number of children.
    fn probabilities(&self, named: &dyn Fn(&str) -> String) -> Result<PerArity<f64>> {
        let Some(arities) = &self.arities else {
            let p_binary = self.p_binary.unwrap_or(0.5);
            return Ok(PerArity::from([(2, p_binary), (3, 1.0 - p_binary)]));
        };
        if self.p_binary.is_some() {
            bail!("{} has no effect here: {} sets it", named("p_binary"), named("arities"));
        }
        let sum: f64 = arities.iter().map(|(_, p)| p).sum();
        if arities.iter().any(|(_, p)| !(0.0..=1.0).contains(&p)) || (sum - 1.0).abs() > 1e-9 {
            bail!("{} is {arities}, expected probabilities that sum to 1", named("arities"));
        }
        Ok(arities.iter().collect())
    }

    /// Adds the numbers of rules. Parameters without effect are errors.
    fn count_rules(&self, mut ensemble: Ensemble, named: &dyn Fn(&str) -> String) -> Result<Ensemble> {
        // Even with a probability of 0 or 1, binary and ternary rules count together.
        let used = match self.arities {
            Some(_) => ensemble.probabilities().arities(),
            None => gardenpath::Arities::PAPER,
        };
        let fractions = self.fractions.iter().flat_map(ByArity::iter).map(|(arity, f)| (arity, RuleCount::Fraction(f)));
        let numbers = self.rules.iter().flat_map(ByArity::iter).map(|(arity, n)| (arity, RuleCount::Number(n)));
        let all = fractions.map(|one| ("fractions", one)).chain(numbers.map(|one| ("rules", one)));
        let mut said = Vec::new();
        if let Some(fraction) = self.fraction {
            ensemble = ensemble.fraction(fraction);
        }
        for (name, (arity, count)) in all {
            if !used.contains(arity) {
                let named = (named(name), named("arities"));
                bail!("{} has no effect on {arity} children: {} never gives a node that many", named.0, named.1);
            }
            if said.contains(&arity) {
                bail!("{} and {} both set the rules of {arity} children", named("fractions"), named("rules"));
            }
            said.push(arity);
            ensemble = ensemble.rules(arity, count);
        }
        if self.fraction.is_some() && used.iter().all(|arity| said.contains(&arity)) {
            bail!("{} has no effect here: all rules are given by number of children", named("fraction"));
        }
        Ok(ensemble)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::Seed;

    fn usual() -> Choices {
        Choices { vocab: Some(8), depth: Some(2), ..Choices::default() }
    }

    fn refusal(choices: Choices) -> String {
        choices.ensemble(&|name| format!("--{name}")).unwrap_err().to_string()
    }

    #[test]
    fn nothing_said_is_the_paper() {
        let sample = |ensemble: Ensemble| ensemble.sample(Seed::new(1)).unwrap();
        let expected = sample(Ensemble::new(8, 2));
        assert_eq!(sample(usual().ensemble(&str::to_owned).unwrap()), expected);
        let arities = Some("2:0.5,3:0.5".parse().unwrap());
        for same in [
            Choices { arities, ..usual() },
            Choices { p_binary: Some(0.5), fraction: Some(0.25), ..usual() },
            Choices { sizes: Some(vec![8; 3]), ..Choices::default() },
            Choices { classes: Some(8), ..usual() },
            Choices { rules: Some("2:2,3:16".parse().unwrap()), ..usual() },
            Choices { fractions: Some("2:1/4".parse().unwrap()), rules: Some("3:16".parse().unwrap()), ..usual() },
        ] {
            assert_eq!(sample(same.ensemble(&str::to_owned).unwrap()), expected, "{same:?}");
        }
    }

    #[test]
    fn what_is_not_said_by_number_of_children_is_the_common_fraction() {
        let arities = Some("1:0.25,2:0.25,4:0.5".parse().unwrap());
        let rules = Some("4:3".parse().unwrap());
        let choices = Choices { arities, rules, fraction: Some(0.5), classes: Some(3), ..usual() };
        let ensemble = choices.ensemble(&str::to_owned).unwrap();
        assert_eq!(ensemble.level_sizes().unwrap(), [3, 8, 8]);
        let rules = ensemble.rules_per_symbol(1).unwrap();
        assert_eq!(rules.nonzero().collect::<Vec<_>>(), [(1, 1), (2, 4), (4, 3)]);
    }

    #[test]
    fn what_has_no_effect_is_refused_with_its_name() {
        let (arities, rules): (Option<ByArity<f64>>, _) = (Some("2:1".parse().unwrap()), Some("4:1".parse().unwrap()));
        for (choices, message) in [
            (Choices { p_binary: Some(0.5), arities: arities.clone(), ..usual() }, "--p_binary has no effect here"),
            (Choices { rules, ..usual() }, "--rules has no effect on 4 children: --arities never"),
            (
                Choices { fractions: Some("3:0.5".parse().unwrap()), arities: arities.clone(), ..usual() },
                "--fractions has no effect on 3 children",
            ),
            (
                Choices { arities, fraction: Some(0.5), fractions: Some("2:0.5".parse().unwrap()), ..usual() },
                "--fraction has no effect here",
            ),
            (
                Choices { fractions: Some("2:0.5".parse().unwrap()), rules: Some("2:1".parse().unwrap()), ..usual() },
                "--fractions and --rules both set the rules of 2 children",
            ),
            (
                Choices { sizes: Some(vec![8; 3]), depth: Some(3), ..Choices::default() },
                "--depth is 3, but --sizes says 2",
            ),
            (Choices { sizes: Some(vec![8]), ..Choices::default() }, "--sizes has 1 levels"),
            (Choices { depth: Some(2), ..Choices::default() }, "expected --vocab and --depth, or --sizes"),
            (Choices { classes: Some(2), depth: Some(1 << 60), ..usual() }, "depth is 1152921504606846976"),
        ] {
            let found = refusal(choices);
            assert!(found.starts_with(message), "{found}");
        }
        for text in ["2:0.5", "2:0.5,3:0.6", "2:1.5,3:-0.5", "2:nan"] {
            let message = refusal(Choices { arities: Some(text.parse().unwrap()), ..usual() });
            assert!(message.ends_with("expected probabilities that sum to 1"), "{message}");
        }
    }
}
