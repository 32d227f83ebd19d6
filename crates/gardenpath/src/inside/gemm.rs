//! Small matrix products, the same to the last bit on every machine.
//!
//! The matrices here are a few dozen rows and columns: a general library spends its time on packing, and its fused
//! multiply-adds would make results depend on the processor. Products are therefore rounded before they are added, in a
//! fixed order; wider registers only do more of the same at once.

/// Columns of a tile: two registers of four numbers. Matrices are padded to a multiple of this.
pub(super) const COLUMNS: usize = 8;

/// Rows of a tile.
const ROWS: usize = 4;

/// A view of the left factor: element (row, k) is `data[row * row_stride + k * k_stride]`.
#[derive(Clone, Copy)]
pub(super) struct Left<'m> {
    pub data: &'m [f64],
    pub row_stride: usize,
    pub k_stride: usize,
}

/// `sum[row][column] += Σ_k left[row][k] * right[k][column]`; `right` and `sum` are dense with `width` columns.
///
/// `width` must be a multiple of [`COLUMNS`]; the number of rows follows from `sum`, that of terms from `right`.
pub(super) fn add_product(sum: &mut [f64], left: Left, right: &[f64], width: usize) {
    assert!(width.is_multiple_of(COLUMNS));
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { add_product_avx2(sum, left, right, width) };
    }
    add_product_anywhere(sum, left, right, width);
}

/// The same loop, compiled for registers of four numbers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_product_avx2(sum: &mut [f64], left: Left, right: &[f64], width: usize) {
    add_product_anywhere(sum, left, right, width);
}

#[inline(always)]
fn add_product_anywhere(sum: &mut [f64], left: Left, right: &[f64], width: usize) {
    let mut chunks = sum.chunks_exact_mut(ROWS * width);
    let mut row = 0;
    for rows in &mut chunks {
        add_rows::<ROWS>(rows, left, row, right, width);
        row += ROWS;
    }
    for rows in chunks.into_remainder().chunks_exact_mut(width) {
        add_rows::<1>(rows, left, row, right, width);
        row += 1;
    }
}

#[inline(always)]
fn add_rows<const R: usize>(sum: &mut [f64], left: Left, row: usize, right: &[f64], width: usize) {
    for column in (0..width).step_by(COLUMNS) {
        let mut tile = [[0.0; COLUMNS]; R];
        for (k, right) in right.chunks_exact(width).enumerate() {
            let right: &[f64; COLUMNS] = right[column..column + COLUMNS].try_into().expect("a tile is full");
            for (r, tile) in tile.iter_mut().enumerate() {
                let factor = left.data[(row + r) * left.row_stride + k * left.k_stride];
                for (sum, value) in tile.iter_mut().zip(right) {
                    *sum += factor * value;
                }
            }
        }
        for (r, tile) in tile.iter().enumerate() {
            for (sum, value) in sum[r * width + column..][..COLUMNS].iter_mut().zip(tile) {
                *sum += value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test]
    fn products_are_right_and_the_same_with_any_registers() {
        let mut stream = Seed::new(1).stream(0);
        for (rows, terms, width) in [(1, 1, 8), (4, 3, 8), (16, 20, 16), (7, 5, 24)] {
            let left: Vec<f64> = (0..rows * terms).map(|_| stream.unit()).collect();
            let right: Vec<f64> = (0..terms * width).map(|_| stream.unit()).collect();
            let view = Left { data: &left, row_stride: 1, k_stride: rows };
            let mut sum = vec![1.0; rows * width];
            add_product(&mut sum, view, &right, width);
            let mut portable = vec![1.0; rows * width];
            add_product_anywhere(&mut portable, view, &right, width);
            assert_eq!(sum, portable);
            for row in 0..rows {
                for column in 0..width {
                    let terms = (0..terms).map(|k| left[k * rows + row] * right[k * width + column]);
                    assert!((sum[row * width + column] - 1.0 - terms.sum::<f64>()).abs() < 1e-12);
                }
            }
        }
    }
}
