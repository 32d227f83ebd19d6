//! From languages that name their class to languages that hide it: the class entropy of an ensemble against the fraction of tuples that are
//! rules.

use anyhow::Result;
use gardenpath::theory::candidates::critical_fraction;
use gardenpath::theory::entropy::{class_entropy as limit, paper_class_entropy};
use gardenpath::{Ensemble, Estimate, PerArity, Seed, class_entropy};
use rayon::prelude::*;

/// How much is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The number of fractions, before those that round to the same numbers of rules are joined.
    pub points: usize,
    /// Grammars of each of them.
    pub grammars: u64,
    /// Sentences of each grammar.
    pub sentences: u64,
}

/// A point of the crossover.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The fraction of tuples that are rules, for the largest number of children, once the numbers of rules are whole.
    pub fraction: f64,
    /// The class entropy, in nats.
    pub entropy: Estimate,
}

/// A point of the limit of many symbols.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TheoryPoint {
    /// The fraction of tuples that are rules.
    pub fraction: f64,
    /// The class entropy, in nats.
    pub entropy: f64,
    /// The same by the paper's formula as it is printed, which exists for two and three children at even odds.
    pub paper: Option<f64>,
}

/// The class entropy of an ensemble at fractions from the smallest, one rule for each symbol, to 1, equally spaced in their logarithm. The
/// fraction of the ensemble itself does not matter. Fractions that no grammar can have, such as large ones without overlapping rules, are
/// left out.
///
/// The same seed is used at every fraction: neighbouring points have the same noise where they have the same rules.
///
/// ```
/// use gardenpath::{Ensemble, Seed};
/// use gardenpath_lab::crossover::{Effort, crossover};
///
/// let effort = Effort { points: 6, grammars: 2, sentences: 50 };
/// let points = crossover(&Ensemble::new(8, 2), effort, Seed::new(1))?;
/// assert_eq!(points.last().unwrap().fraction, 1.0);
/// assert!(points.windows(2).all(|pair| pair[0].fraction < pair[1].fraction));
/// assert!(points[0].entropy.mean < points.last().unwrap().entropy.mean);
/// # Ok::<(), anyhow::Error>(())
/// ```
pub fn crossover(ensemble: &Ensemble, effort: Effort, seed: Seed) -> Result<Vec<Point>> {
    let (sizes, most) = (ensemble.level_sizes()?, ensemble.probabilities().arities().most());
    let smallest = sizes[1..].iter().fold(1.0, |least: f64, &size| least.min((size as f64).powi(1 - most as i32)));
    let last = effort.points.max(2) - 1;
    let at = |k: usize| smallest.powf(1.0 - k as f64 / last as f64);
    let mut ensembles: Vec<(f64, Ensemble)> = Vec::new();
    for fraction in (0..=last).map(at) {
        // An ensemble without such a fraction has no point; what is wrong with all of them was found above.
        let Ok(effective) = ensemble.clone().fraction(fraction).effective_fractions(0) else { continue };
        let fraction = effective[most];
        if ensembles.last().is_none_or(|(before, _)| fraction > *before) {
            ensembles.push((fraction, ensemble.clone().fraction(fraction)));
        }
    }
    let measure = |(fraction, ensemble): &(f64, Ensemble)| {
        let entropy = class_entropy(ensemble, effort.grammars, effort.sentences, seed, &|_| ()).ok()?;
        Some(Point { fraction: *fraction, entropy })
    };
    Ok(ensembles.par_iter().filter_map(measure).collect())
}

/// The limit of many symbols, which is known at depth 2 for few numbers of children.
pub fn theory(ensemble: &Ensemble, points: usize) -> Option<Vec<TheoryPoint>> {
    let probabilities = ensemble.probabilities();
    if ensemble.depth() != 2 {
        return None;
    }
    let is_printed = probabilities == PerArity::paper(0.5);
    let point = |k: usize| {
        let fraction = (k + 1) as f64 / points as f64;
        let entropy = limit([PerArity::all(fraction); 2], probabilities).ok()?;
        let paper = if is_printed { paper_class_entropy(fraction).ok() } else { None };
        Some(TheoryPoint { fraction, entropy, paper })
    };
    (0..points).map(point).collect()
}

/// The fraction at which the mean number of candidates neither shrinks nor grows with the last level.
pub fn critical(ensemble: &Ensemble) -> Option<f64> {
    critical_fraction(ensemble.depth(), ensemble.probabilities()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_the_entropies_of_their_ensembles() {
        let effort = Effort { points: 5, grammars: 2, sentences: 40 };
        let ensemble = Ensemble::new(6, 2).fraction(0.5);
        let points = crossover(&ensemble, effort, Seed::new(4)).unwrap();
        for point in &points {
            let expected = class_entropy(&ensemble.clone().fraction(point.fraction), 2, 40, Seed::new(4), &|_| ());
            assert_eq!(point.entropy, expected.unwrap());
        }
        assert_eq!(points[0].fraction, 1.0 / 36.0);
    }

    #[test]
    fn many_symbols_come_near_the_limit() {
        let effort = Effort { points: 4, grammars: 4, sentences: 4000 };
        let ensemble = Ensemble::new(32, 2);
        let found = crossover(&ensemble, effort, Seed::new(1)).unwrap().pop().unwrap();
        let limit = theory(&ensemble, 4).unwrap().pop().unwrap();
        assert_eq!((found.fraction, limit.fraction), (1.0, 1.0));
        assert!((found.entropy.mean - limit.entropy).abs() < 0.05, "{found:?} {limit:?}");
        assert!(theory(&Ensemble::new(4, 3), 4).is_none());
    }

    #[test]
    fn impossible_ensembles_are_errors_and_impossible_fractions_are_left_out() {
        let effort = Effort { points: 6, grammars: 1, sentences: 10 };
        assert!(crossover(&Ensemble::new(0, 2), effort, Seed::new(1)).is_err());
        let sparse = Ensemble::new(6, 2).non_overlapping(true);
        let points = crossover(&sparse, effort, Seed::new(1)).unwrap();
        assert!(!points.is_empty() && points.last().unwrap().fraction < 1.0, "{points:?}");
    }
}
