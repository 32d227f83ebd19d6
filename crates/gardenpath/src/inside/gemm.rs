//! Small matrix products, the same to the last bit on every machine.
//!
//! The matrices here have a few dozen rows and columns, and lie scattered over a chart: a general library would spend its
//! time on packing, and its fused multiply-adds would make results depend on the processor. Products are therefore rounded
//! before they are added, in a fixed order; wider registers only do more of the same at once.

/// Columns of a tile: two registers of four numbers. Rows of values are padded to a multiple of this.
pub(super) const COLUMNS: usize = 8;

/// Rows of a tile.
const ROWS: usize = 4;

/// Calls the version for AVX2 where the processor has it.
macro_rules! dispatch {
    ($wide:ident, $anywhere:ident, $arguments:tt) => {{
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, the only thing that the function needs beyond its safe twin.
            return unsafe { $wide $arguments };
        }
        $anywhere $arguments
    }};
}

/// Two adjacent cells whose values are multiplied: where their rows begin, and a factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub first: u32,
    pub second: u32,
    pub scale: f64,
}

/// `sum[a][b] = Σ scale * values[first + a] * values[second + b]` over the splits; `width` values per row.
///
/// `sum` has `width` columns; `width` is a multiple of [`COLUMNS`].
pub(super) fn sum_splits(sum: &mut [f64], values: &[f64], splits: &[Split], width: usize) {
    dispatch!(sum_splits_avx2, sum_splits_anywhere, (sum, values, splits, width));
}

/// `sum[row][z] += scales[row] * Σ_c thirds[row][c] * matrix[c][z]`.
///
/// The rows of `thirds` have `third_width` values, those of `sum` and `matrix` have `width`, a multiple of [`COLUMNS`].
pub(super) fn add_thirds(
    sum: &mut [f64],
    thirds: &[f64],
    third_width: usize,
    scales: &[f64],
    matrix: &[f64],
    width: usize,
) {
    dispatch!(add_thirds_avx2, add_thirds_anywhere, (sum, thirds, third_width, scales, matrix, width));
}

/// `sums[position] += probability * pairs[pair]` over all rules, for all lanes.
pub(super) fn sum_rules<const LANES: usize>(
    rules: &[(u32, u32, f64)],
    pairs: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
) {
    dispatch!(sum_rules_avx2, sum_rules_anywhere, (rules, pairs, sums));
}

/// `sum[c] += factor * Σ_z weights[z] * matrix[z][c]`; the rows of `matrix` are as long as `sum`.
pub(crate) fn add_weighted_rows(sum: &mut [f64], factor: f64, weights: &[f64], matrix: &[f64]) {
    dispatch!(add_weighted_rows_avx2, add_weighted_rows_anywhere, (sum, factor, weights, matrix));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_weighted_rows_avx2(sum: &mut [f64], factor: f64, weights: &[f64], matrix: &[f64]) {
    add_weighted_rows_anywhere(sum, factor, weights, matrix);
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

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_splits_avx2(sum: &mut [f64], values: &[f64], splits: &[Split], width: usize) {
    sum_splits_anywhere(sum, values, splits, width);
}

#[inline(always)]
fn sum_splits_anywhere(sum: &mut [f64], values: &[f64], splits: &[Split], width: usize) {
    for (tile_row, rows) in sum.chunks_exact_mut(ROWS * width).enumerate() {
        for column in (0..width).step_by(COLUMNS) {
            let mut tile = [[0.0; COLUMNS]; ROWS];
            for split in splits {
                let first = tile_of::<ROWS>(values, split.first as usize + tile_row * ROWS);
                let second = tile_of::<COLUMNS>(values, split.second as usize + column);
                for (tile, first) in tile.iter_mut().zip(first) {
                    let factor = first * split.scale;
                    for (sum, value) in tile.iter_mut().zip(second) {
                        *sum += factor * value;
                    }
                }
            }
            for (row, tile) in rows.chunks_exact_mut(width).zip(&tile) {
                row[column..column + COLUMNS].copy_from_slice(tile);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_thirds_avx2(sum: &mut [f64], thirds: &[f64], third_width: usize, scales: &[f64], matrix: &[f64], width: usize) {
    add_thirds_anywhere(sum, thirds, third_width, scales, matrix, width);
}

#[inline(always)]
fn add_thirds_anywhere(
    sum: &mut [f64],
    thirds: &[f64],
    third_width: usize,
    scales: &[f64],
    matrix: &[f64],
    width: usize,
) {
    let whole = scales.len() / ROWS * ROWS;
    let (sum, last_sum) = sum.split_at_mut(whole * width);
    let (thirds, last_thirds) = thirds.split_at(whole * third_width);
    let (scales, last_scales) = scales.split_at(whole);
    add_rows::<ROWS>(sum, thirds, third_width, scales, matrix, width);
    add_rows::<1>(last_sum, last_thirds, third_width, last_scales, matrix, width);
}

#[inline(always)]
fn add_rows<const R: usize>(
    sum: &mut [f64],
    thirds: &[f64],
    third_width: usize,
    scales: &[f64],
    matrix: &[f64],
    width: usize,
) {
    let rows = sum.chunks_exact_mut(R * width).zip(thirds.chunks_exact(R * third_width)).zip(scales.chunks_exact(R));
    for ((sum, thirds), scales) in rows {
        for column in (0..width).step_by(COLUMNS) {
            let mut tile = [[0.0; COLUMNS]; R];
            for (c, matrix) in matrix.chunks_exact(width).enumerate() {
                let matrix = tile_of::<COLUMNS>(matrix, column);
                for (r, tile) in tile.iter_mut().enumerate() {
                    let factor = thirds[r * third_width + c];
                    for (sum, value) in tile.iter_mut().zip(matrix) {
                        *sum += factor * value;
                    }
                }
            }
            for ((row, tile), scale) in sum.chunks_exact_mut(width).zip(&tile).zip(scales) {
                for (sum, value) in row[column..column + COLUMNS].iter_mut().zip(tile) {
                    *sum += scale * value;
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_rules_avx2<const LANES: usize>(rules: &[(u32, u32, f64)], pairs: &[[f64; LANES]], sums: &mut [[f64; LANES]]) {
    sum_rules_anywhere(rules, pairs, sums);
}

#[inline(always)]
fn sum_rules_anywhere<const LANES: usize>(
    rules: &[(u32, u32, f64)],
    pairs: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
) {
    for &(pair, position, probability) in rules {
        let (sums, pairs) = (&mut sums[position as usize], &pairs[pair as usize]);
        for (sum, pair) in sums.iter_mut().zip(pairs) {
            *sum += probability * pair;
        }
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
            let values = numbers(50 * width, 1);
            let split = |k: usize| Split {
                first: (k * width) as u32,
                second: ((49 - k) * width) as u32,
                scale: 0.5f64.powi(k as i32 % 3),
            };
            let splits: Vec<Split> = (0..count).map(split).collect();
            let (mut wide, mut portable) = (vec![0.0; width * width], vec![0.0; width * width]);
            sum_splits(&mut wide, &values, &splits, width);
            sum_splits_anywhere(&mut portable, &values, &splits, width);
            assert_eq!(wide, portable);
            for (a, row) in wide.chunks(width).enumerate() {
                for (b, found) in row.iter().enumerate() {
                    let term = |s: &Split| s.scale * values[s.first as usize + a] * values[s.second as usize + b];
                    let expected: f64 = splits.iter().map(term).sum();
                    assert!((found - expected).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn products_with_thirds_are_right_and_the_same_with_any_registers() {
        for (rows, third_width, width) in [(1, 8, 8), (4, 16, 8), (7, 8, 24)] {
            let (thirds, matrix) = (numbers(rows * third_width, 2), numbers(third_width * width, 3));
            let scales = numbers(rows, 4);
            let (mut wide, mut portable) = (vec![1.0; rows * width], vec![1.0; rows * width]);
            add_thirds(&mut wide, &thirds, third_width, &scales, &matrix, width);
            add_thirds_anywhere(&mut portable, &thirds, third_width, &scales, &matrix, width);
            assert_eq!(wide, portable);
            for row in 0..rows {
                for z in 0..width {
                    let term = |c: usize| thirds[row * third_width + c] * matrix[c * width + z];
                    let expected = 1.0 + scales[row] * (0..third_width).map(term).sum::<f64>();
                    assert!((wide[row * width + z] - expected).abs() < 1e-12);
                }
            }
        }
    }
}
