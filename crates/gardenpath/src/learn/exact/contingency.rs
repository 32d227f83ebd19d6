//! Pearson's test of independence for sparse tables, with the exact mean and variance of its statistic.

/// Pearson's statistic of a table, or of several, with its mean and variance if rows and columns are independent.
///
/// Given its margins, the statistic of a table has a known mean and variance however small the expected counts are (Haldane 1940,
/// Dawson 1954). Statistics of several tables add up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pearson {
    statistic: f64,
    mean: f64,
    variance: f64,
}

impl Pearson {
    /// The statistic of one table, given as (row, column, count) with counts above zero.
    pub fn new(cells: &[(u32, u32, u32)]) -> Self {
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        for &(row, column, count) in cells {
            add(&mut rows, row, count);
            add(&mut columns, column, count);
        }
        let total: f64 = rows.iter().sum();
        let squares: f64 = cells
            .iter()
            .map(|&(row, column, count)| f64::from(count).powi(2) / (rows[row as usize] * columns[column as usize]))
            .sum();
        let used = |margin: &[f64]| margin.iter().filter(|count| **count > 0.0).count() as f64;
        let (height, width) = (used(&rows), used(&columns));
        // Tables without freedom, and those too small for the variance to exist, say nothing.
        if height < 2.0 || width < 2.0 || total < 4.0 {
            return Pearson::default();
        }
        let spread = |margin: &[f64], size: f64| {
            let inverse: f64 = margin.iter().filter(|count| **count > 0.0).map(|count| total / count).sum();
            let v = (total - size) * (size - 1.0) / (total - 1.0);
            (v, (inverse - size * size) / (total - 2.0))
        };
        let ((v1, w1), (v2, w2)) = (spread(&rows, height), spread(&columns, width));
        Pearson {
            statistic: total * (squares - 1.0),
            mean: total / (total - 1.0) * (height - 1.0) * (width - 1.0),
            variance: 2.0 * total / (total - 3.0) * (v1 - w1) * (v2 - w2) + total * total / (total - 1.0) * w1 * w2,
        }
    }

    /// Several tables as one.
    pub fn merge(self, other: Self) -> Self {
        Pearson {
            statistic: self.statistic + other.statistic,
            mean: self.mean + other.mean,
            variance: self.variance + other.variance,
        }
    }

    /// How surprising the statistic is, as the quantile of a normal law: a gamma law with the same mean and variance, by the
    /// cube root of Wilson and Hilferty. Negative infinity if there was nothing to test.
    pub fn deviation(&self) -> f64 {
        if !(self.variance > 0.0 && self.mean > 0.0) {
            return f64::NEG_INFINITY;
        }
        let spread = self.variance / (9.0 * self.mean * self.mean);
        ((self.statistic / self.mean).cbrt() - (1.0 - spread)) / spread.sqrt()
    }
}

fn add(margin: &mut Vec<f64>, place: u32, count: u32) {
    let place = place as usize;
    if margin.len() <= place {
        margin.resize(place + 1, 0.0);
    }
    margin[place] += f64::from(count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn table(rows: &[u32], columns: &[u32]) -> Vec<(u32, u32, u32)> {
        let mut counts = std::collections::BTreeMap::new();
        rows.iter().zip(columns).for_each(|(&row, &column)| *counts.entry((row, column)).or_insert(0) += 1);
        counts.into_iter().map(|((row, column), count)| (row, column, count)).collect()
    }

    #[test]
    fn the_statistic_is_pearsons() {
        // Expected counts 3, 3, 2, 2 for 4, 2, 1, 3.
        let cells = [(0, 0, 4), (0, 1, 2), (1, 0, 1), (1, 1, 3)];
        let expected = 2.0 / 3.0 + 2.0 / 2.0;
        assert!((Pearson::new(&cells).statistic - expected).abs() < 1e-12);
    }

    /// Mean and variance over random permutations, for margins with expected counts far below one.
    #[test]
    fn mean_and_variance_are_those_of_random_tables() {
        let mut rows = Vec::new();
        (0..12).for_each(|row| rows.extend(std::iter::repeat_n(row, 1 + row as usize)));
        let mut columns: Vec<u32> = (0..rows.len() as u32).map(|k| (k * k) % 9).collect();
        let mut stream = Seed::new(1).stream(0);
        let (mut sum, mut squares, rounds) = (0.0, 0.0, 20_000);
        for _ in 0..rounds {
            for k in (1..columns.len()).rev() {
                columns.swap(k, stream.below(k as u64 + 1) as usize);
            }
            let found = Pearson::new(&table(&rows, &columns)).statistic;
            sum += found;
            squares += found * found;
        }
        let mean = sum / f64::from(rounds);
        let variance = squares / f64::from(rounds) - mean * mean;
        let expected = Pearson::new(&table(&rows, &columns));
        assert!((mean / expected.mean - 1.0).abs() < 0.01, "{mean} {expected:?}");
        assert!((variance / expected.variance - 1.0).abs() < 0.05, "{variance} {expected:?}");
    }

    #[test]
    fn dependence_is_surprising_and_independence_is_not() {
        let mut stream = Seed::new(2).stream(0);
        let rows: Vec<u32> = (0..4000).map(|_| stream.below(20) as u32).collect();
        let free: Vec<u32> = (0..4000).map(|_| stream.below(8) as u32).collect();
        let bound: Vec<u32> =
            rows.iter().zip(&free).map(|(row, free)| if *free < 2 { row % 8 } else { *free }).collect();
        assert!(Pearson::new(&table(&rows, &free)).deviation().abs() < 4.0);
        assert!(Pearson::new(&table(&rows, &bound)).deviation() > 10.0);
        let nothing = Pearson::new(&table(&[0, 0, 0, 0, 0], &[1, 2, 3, 4, 5]));
        assert_eq!(nothing.deviation(), f64::NEG_INFINITY);
    }
}
