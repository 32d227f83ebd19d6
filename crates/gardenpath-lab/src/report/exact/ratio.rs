//! The ratio of the lengths of neighbouring levels of a tree.

use gardenpath::theory::lengths::LengthLaw;

/// The logarithm of the ratio of the lengths of a level and the next.
pub(super) struct Ratio {
    pub mean: f64,
    pub variance: f64,
    /// The mean of 1/d.
    pub inverse_length: f64,
}

impl Ratio {
    /// From the law of the lengths of the level; none for the root.
    pub fn new(law: Option<&LengthLaw>) -> Self {
        let lengths: Vec<(usize, f64)> = law.map_or(vec![(1, 1.0)], |law| law.iter().collect());
        let (mut first, mut second) = (0.0, 0.0);
        let inverse_length = lengths.iter().map(|&(len, probability)| probability / len as f64).sum();
        for (len, probability) in lengths {
            for (ternary, weight) in halves(len).into_iter().enumerate() {
                let log = (2.0 + ternary as f64 / len as f64).ln();
                first += probability * weight * log;
                second += probability * weight * log.powi(2);
            }
        }
        Ratio { mean: first, variance: second - first.powi(2), inverse_length }
    }
}

/// The probabilities of the numbers of heads of so many fair coins, from the middle outwards: the tails underflow, the
/// middle does not.
fn halves(coins: usize) -> Vec<f64> {
    let mut weights = vec![1.0; coins + 1];
    for k in coins / 2 + 1..=coins {
        weights[k] = weights[k - 1] * (coins + 1 - k) as f64 / k as f64;
    }
    for k in (0..coins / 2).rev() {
        weights[k] = weights[k + 1] * (k + 1) as f64 / (coins - k) as f64;
    }
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins() {
        assert_eq!(halves(1), [0.5, 0.5]);
        assert_eq!(halves(4), [1.0, 4.0, 6.0, 4.0, 1.0].map(|ways| ways / 16.0));
        let (many, mean) = (halves(2001), 1000.5);
        let variance: f64 = many.iter().enumerate().map(|(k, weight)| weight * (k as f64 - mean).powi(2)).sum();
        assert!((variance - 2001.0 / 4.0).abs() < 1e-8);
    }

    #[test]
    fn the_root_has_two_or_three_children() {
        let Ratio { mean, variance, inverse_length } = Ratio::new(None);
        assert!((mean - 6f64.ln() / 2.0).abs() < 1e-12 && inverse_length == 1.0);
        assert!((variance - (1.5f64.ln() / 2.0).powi(2)).abs() < 1e-12);
    }
}
