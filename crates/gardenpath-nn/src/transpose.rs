//! Squares of sixteen by sixteen numbers, transposed.

/// A square of numbers.
pub type Square<T> = [[T; 16]; 16];

/// Number by number.
pub fn plain<T: Copy>(result: &mut Square<T>, rows: &Square<T>) {
    for (i, row) in rows.iter().enumerate() {
        result.iter_mut().zip(row).for_each(|(result, &value)| result[i] = value);
    }
}

/// Within registers, where the processor has AVX2: the compiler does not find this by itself, and a gradient needs every weight
/// transposed.
pub fn single(result: &mut Square<f32>, rows: &Square<f32>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, all that `wide` needs beyond a safe function.
        return unsafe { wide(result, rows) };
    }
    plain(result, rows);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide(result: &mut Square<f32>, rows: &Square<f32>) {
    use std::arch::x86_64::{
        __m256, _mm256_loadu_ps, _mm256_permute2f128_ps, _mm256_shuffle_ps, _mm256_storeu_ps, _mm256_unpackhi_ps,
        _mm256_unpacklo_ps,
    };
    let load = |row: usize, column: usize| -> __m256 {
        let values: &[f32; 8] = rows[row][column..].first_chunk().expect("eight of sixteen columns");
        // SAFETY: eight numbers are read, as many as there are.
        unsafe { _mm256_loadu_ps(values.as_ptr()) }
    };
    for i in [0, 8] {
        for j in [0, 8] {
            let r: [__m256; 8] = std::array::from_fn(|k| load(i + k, j));
            // Pairs of numbers from two rows, then fours from four, within each half; then the halves.
            let pairs: [__m256; 8] = std::array::from_fn(|k| match k % 2 {
                0 => _mm256_unpacklo_ps(r[k], r[k + 1]),
                _ => _mm256_unpackhi_ps(r[k - 1], r[k]),
            });
            let fours: [__m256; 8] = std::array::from_fn(|k| {
                let (low, high) = (pairs[k / 4 * 4 + k % 4 / 2], pairs[k / 4 * 4 + k % 4 / 2 + 2]);
                if k % 2 == 0 { _mm256_shuffle_ps::<0x44>(low, high) } else { _mm256_shuffle_ps::<0xee>(low, high) }
            });
            for (k, row) in result[j..j + 8].iter_mut().enumerate() {
                let (low, high) = (fours[k % 4], fours[k % 4 + 4]);
                let column = if k < 4 {
                    _mm256_permute2f128_ps::<0x20>(low, high)
                } else {
                    _mm256_permute2f128_ps::<0x31>(low, high)
                };
                let values: &mut [f32; 8] = row[i..].first_chunk_mut().expect("eight of sixteen columns");
                // SAFETY: eight numbers are written, as many as there are.
                unsafe { _mm256_storeu_ps(values.as_mut_ptr(), column) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let rows: Square<f32> = std::array::from_fn(|i| std::array::from_fn(|j| (16 * i + j) as f32));
        for transpose in [plain::<f32>, single] {
            let mut result = [[0.0; 16]; 16];
            transpose(&mut result, &rows);
            assert!((0..256).all(|k| result[k % 16][k / 16] == k as f32));
        }
    }
}
