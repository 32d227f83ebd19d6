//! Small matrix products, the same to the last bit on every machine.
//!
//! The matrices here have a few dozen columns and lie in bands of charts: a general library would spend its time on packing, and its
//! fused multiply-adds would make results depend on the processor. Products are therefore rounded before they are added, in a fixed
//! order; wider registers only do more of the same at once.

/// Columns of a tile: two registers of four numbers. Rows of values are padded to a multiple of this.
pub(crate) const COLUMNS: usize = 8;

/// The number of values in a row for so many symbols.
pub(crate) fn padded(symbols: usize) -> usize {
    symbols.next_multiple_of(COLUMNS)
}

/// Rows of a tile.
const ROWS: usize = 4;

/// How many parts of a sentence have their sums over the rules computed side by side.
pub(crate) const LANES: usize = 8;

/// Makes a function that calls its portable twin, compiled for AVX2 where the processor has it.
macro_rules! dispatch {
    ($(#[$doc:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),*) = $twin:ident) => {
        $(#[$doc])*
        $visibility fn $name($($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($argument: $type),*) {
                    $twin($($argument),*);
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has AVX2, the only thing that the function needs beyond its twin.
                    return unsafe { avx2($($argument),*) };
                }
            }
            $twin($($argument),*);
        }
    };
}

dispatch! {
    /// `sums[a * width + b][lane] = Σ_j firsts[j][a] * seconds[j][b]` over some rows `j` of `width` values, a multiple of [`COLUMNS`].
    pub(crate) fn sum_splits(
        sums: &mut [[f64; LANES]], lane: usize, firsts: &[f64], seconds: &[f64], rows: &[u32], width: usize
    ) = sum_splits_anywhere
}

dispatch! {
    /// The same over all rows.
    pub(crate) fn sum_all_splits(
        sums: &mut [[f64; LANES]], lane: usize, firsts: &[f64], seconds: &[f64], width: usize
    ) = sum_all_splits_anywhere
}

dispatch! {
    /// `sums[r][z] += Σ_x values[rows[r] + x] * matrix[x][z]`, for as many `x` as `matrix` has rows of `width` values, a multiple of
    /// [`COLUMNS`].
    pub(crate) fn add_product(
        sums: &mut [f64], values: &[f64], rows: &[usize], matrix: &[f64], width: usize
    ) = add_product_anywhere
}

dispatch! {
    /// `sum[c] += factor * Σ_z weights[z] * matrix[z][c]`; the rows of `matrix` are as long as `sum`.
    pub(crate) fn add_weighted_rows(
        sum: &mut [f64], factor: f64, weights: &[f64], matrix: &[f64]
    ) = add_weighted_rows_anywhere
}

dispatch! {
    fn sum_pairs(rules: &PairSums, pairs: &[[f64; LANES]], sums: &mut [[f64; LANES]]) = sum_pairs_anywhere
}

/// Weighted sums over pairs of children: `sums[k] = Σ weight * pairs[pair]` over the terms of `k`, for all lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairSums {
    /// The terms of sum `k` are `terms[first[k]..first[k + 1]]`.
    first: Vec<u32>,
    /// (pair, weight)
    terms: Vec<(u32, f64)>,
}

impl PairSums {
    /// `terms` are (sum, pair, weight), and there are `count` sums.
    pub fn new(count: usize, mut terms: Vec<(u32, u32, f64)>) -> Self {
        terms.sort_by_key(|&(sum, pair, _)| (sum, pair));
        let first = (0..=count).map(|sum| terms.partition_point(|term| (term.0 as usize) < sum) as u32).collect();
        PairSums { first, terms: terms.into_iter().map(|(_, pair, weight)| (pair, weight)).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The number of sums.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// The weights, in the order of sums and pairs.
    pub fn weights_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        self.terms.iter_mut().map(|(_, weight)| weight)
    }

    /// Computes the sums.
    pub fn apply(&self, pairs: &[[f64; LANES]], sums: &mut [[f64; LANES]]) {
        sum_pairs(self, pairs, sums);
    }
}

#[inline(always)]
fn add_weighted_rows_anywhere(sum: &mut [f64], factor: f64, weights: &[f64], matrix: &[f64]) {
    let width = sum.len();
    let whole = width / COLUMNS * COLUMNS;
    for column in (0..whole).step_by(COLUMNS) {
        let mut tile = [0.0; COLUMNS];
        for (weight, row) in weights.iter().zip(matrix.chunks_exact(width)) {
            for (sum, value) in tile.iter_mut().zip(tile_of::<COLUMNS>(row, column)) {
                *sum += weight * value;
            }
        }
        for (sum, value) in sum[column..column + COLUMNS].iter_mut().zip(tile) {
            *sum += factor * value;
        }
    }
    for column in whole..width {
        let rows = weights.iter().zip(matrix.chunks_exact(width));
        sum[column] += factor * rows.map(|(weight, row)| weight * row[column]).sum::<f64>();
    }
}

#[inline(always)]
fn sum_splits_anywhere(
    sums: &mut [[f64; LANES]],
    lane: usize,
    firsts: &[f64],
    seconds: &[f64],
    rows: &[u32],
    width: usize,
) {
    let row = |j: &u32| {
        let row = *j as usize * width..(*j as usize + 1) * width;
        (&firsts[row.clone()], &seconds[row])
    };
    sum_rows(sums, lane, rows.iter().map(row), width);
}

#[inline(always)]
fn sum_all_splits_anywhere(sums: &mut [[f64; LANES]], lane: usize, firsts: &[f64], seconds: &[f64], width: usize) {
    sum_rows(sums, lane, firsts.chunks_exact(width).zip(seconds.chunks_exact(width)), width);
}

#[inline(always)]
fn sum_rows<'v>(
    sums: &mut [[f64; LANES]],
    lane: usize,
    splits: impl Iterator<Item = (&'v [f64], &'v [f64])> + Clone,
    width: usize,
) {
    for (tile_row, sums) in sums.chunks_exact_mut(ROWS * width).enumerate() {
        for column in (0..width).step_by(COLUMNS) {
            let mut tile = [[0.0; COLUMNS]; ROWS];
            for (first, second) in splits.clone() {
                let first = tile_of::<ROWS>(first, tile_row * ROWS);
                let second = tile_of::<COLUMNS>(second, column);
                for (tile, first) in tile.iter_mut().zip(first) {
                    for (sum, value) in tile.iter_mut().zip(second) {
                        *sum += first * value;
                    }
                }
            }
            for (row, tile) in sums.chunks_exact_mut(width).zip(&tile) {
                for (sum, value) in row[column..column + COLUMNS].iter_mut().zip(tile) {
                    sum[lane] = *value;
                }
            }
        }
    }
}

#[inline(always)]
fn add_product_anywhere(sums: &mut [f64], values: &[f64], rows: &[usize], matrix: &[f64], width: usize) {
    let whole = rows.len() / ROWS * ROWS;
    let (sums, last_sums) = sums.split_at_mut(whole * width);
    let (rows, last_rows) = rows.split_at(whole);
    add_rows::<ROWS, COLUMNS>(sums, values, rows, matrix, width);
    // A single row has registers to spare.
    if width.is_multiple_of(2 * COLUMNS) {
        add_rows::<1, { 2 * COLUMNS }>(last_sums, values, last_rows, matrix, width);
    } else {
        add_rows::<1, COLUMNS>(last_sums, values, last_rows, matrix, width);
    }
}

#[inline(always)]
fn add_rows<const R: usize, const C: usize>(
    sums: &mut [f64],
    values: &[f64],
    rows: &[usize],
    matrix: &[f64],
    width: usize,
) {
    let inner = matrix.len() / width;
    for (sums, rows) in sums.chunks_exact_mut(R * width).zip(rows.chunks_exact(R)) {
        let rows: [&[f64]; R] = std::array::from_fn(|r| &values[rows[r]..rows[r] + inner]);
        for column in (0..width).step_by(C) {
            let mut tile = [[0.0; C]; R];
            for (x, matrix) in matrix.chunks_exact(width).enumerate() {
                let matrix = tile_of::<C>(matrix, column);
                for (row, tile) in rows.iter().zip(&mut tile) {
                    let factor = row[x];
                    for (sum, value) in tile.iter_mut().zip(matrix) {
                        *sum += factor * value;
                    }
                }
            }
            for (row, tile) in sums.chunks_exact_mut(width).zip(&tile) {
                for (sum, value) in row[column..column + C].iter_mut().zip(tile) {
                    *sum += value;
                }
            }
        }
    }
}

#[inline(always)]
fn sum_pairs_anywhere(rules: &PairSums, pairs: &[[f64; LANES]], sums: &mut [[f64; LANES]]) {
    for (sum, bounds) in sums.iter_mut().zip(rules.first.windows(2)) {
        // Two sums at a time: an addition takes longer than it takes to begin the next.
        let mut totals = [[0.0; LANES]; 2];
        let (twos, last) = rules.terms[bounds[0] as usize..bounds[1] as usize].as_chunks::<2>();
        let mut add = |k: usize, (pair, weight): (u32, f64)| {
            for (total, value) in totals[k].iter_mut().zip(&pairs[pair as usize]) {
                *total += weight * value;
            }
        };
        for &[even, odd] in twos {
            add(0, even);
            add(1, odd);
        }
        last.iter().for_each(|&term| add(0, term));
        *sum = std::array::from_fn(|lane| totals[0][lane] + totals[1][lane]);
    }
}

#[inline(always)]
fn tile_of<const N: usize>(values: &[f64], start: usize) -> &[f64; N] {
    values[start..start + N].try_into().expect("the slice has this length")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut stream = Seed::new(seed).stream(0);
        (0..count).map(|_| stream.unit()).collect()
    }

    #[test]
    fn weighted_rows_are_right_and_the_same_with_any_registers() {
        for (rows, width) in [(1, 1), (3, 8), (5, 13), (16, 16)] {
            let (weights, matrix, start) = (numbers(rows, 1), numbers(rows * width, 2), numbers(width, 3));
            let (mut wide, mut portable) = (start.clone(), start.clone());
            add_weighted_rows(&mut wide, 0.3, &weights, &matrix);
            add_weighted_rows_anywhere(&mut portable, 0.3, &weights, &matrix);
            assert_eq!(wide, portable);
            for (c, (found, start)) in wide.iter().zip(&start).enumerate() {
                let expected: f64 = start + 0.3 * (0..rows).map(|z| weights[z] * matrix[z * width + c]).sum::<f64>();
                assert!((found - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn sums_over_splits_are_right_and_the_same_with_any_registers() {
        for (width, count) in [(8, 1), (16, 5), (24, 40)] {
            let (firsts, seconds) = (numbers(count * width, 1), numbers(count * width, 2));
            let [all, some]: [Vec<u32>; 2] = [1, 3].map(|step| (0..count as u32).step_by(step).collect());
            for rows in [&all, &some] {
                let [mut wide, mut portable] = [(); 2].map(|()| vec![[0.0; LANES]; width * width]);
                sum_splits(&mut wide, 3, &firsts, &seconds, rows, width);
                sum_splits_anywhere(&mut portable, 3, &firsts, &seconds, rows, width);
                assert_eq!(wide, portable);
                for (pair, found) in wide.iter().enumerate() {
                    let term = |&j: &u32| {
                        firsts[j as usize * width + pair / width] * seconds[j as usize * width + pair % width]
                    };
                    assert!((found[3] - rows.iter().map(term).sum::<f64>()).abs() < 1e-12);
                    assert!(found.iter().enumerate().all(|(lane, value)| lane == 3 || *value == 0.0));
                }
                if rows == &all {
                    sum_all_splits(&mut portable, 3, &firsts, &seconds, width);
                    assert_eq!(wide, portable);
                }
            }
        }
    }

    #[test]
    fn products_are_right_and_the_same_with_any_registers() {
        for (count, inner, width) in [(1, 8, 8), (4, 16, 8), (7, 8, 24), (6, 24, 16)] {
            let (values, matrix) = (numbers(3 * count + inner, 2), numbers(inner * width, 3));
            let rows: Vec<usize> = (0..count).map(|row| 3 * row).collect();
            let (mut wide, mut portable) = (vec![1.0; count * width], vec![1.0; count * width]);
            add_product(&mut wide, &values, &rows, &matrix, width);
            add_product_anywhere(&mut portable, &values, &rows, &matrix, width);
            assert_eq!(wide, portable);
            for (k, found) in wide.iter().enumerate() {
                let term = |x: usize| values[rows[k / width] + x] * matrix[x * width + k % width];
                assert!((found - 1.0 - (0..inner).map(term).sum::<f64>()).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn sums_over_rules_are_right_and_the_same_with_any_registers() {
        let terms = vec![(3, 1, 0.5), (0, 2, 0.25), (3, 0, 2.0)];
        let sums = PairSums::new(5, terms.clone());
        let pairs: Vec<[f64; LANES]> = numbers(3 * LANES, 1).chunks(LANES).map(|c| c.try_into().unwrap()).collect();
        let [mut wide, mut portable] = [(); 2].map(|()| vec![[7.0; LANES]; sums.len()]);
        sums.apply(&pairs, &mut wide);
        sum_pairs_anywhere(&sums, &pairs, &mut portable);
        assert_eq!(wide, portable);
        for (k, lane) in (0..5).flat_map(|k| (0..LANES).map(move |lane| (k, lane))) {
            let own = terms.iter().filter(|term| term.0 == k as u32);
            let expected: f64 = own.map(|&(_, pair, weight)| weight * pairs[pair as usize][lane]).sum();
            assert!((wide[k][lane] - expected).abs() < 1e-15);
        }
    }
}
