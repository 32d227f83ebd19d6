//! The memory layout of weight matrices: panels of sixteen columns.
//!
//! Products read a matrix panel by panel and updates write it the same way, so in this layout it is
//! accessed sequentially and never copied. Padding columns of the last panel are zero.

use crate::scalar::Scalar;

/// Columns of a panel.
pub const COLUMNS: usize = 16;

/// One row of a panel.
pub type PanelRow<T> = [T; COLUMNS];

/// The smallest number of columns in whole panels that is not less than `columns`.
pub fn whole_panels(columns: usize) -> usize {
    columns.next_multiple_of(COLUMNS)
}

/// Matrices of this size, given row-major one after another, in panels.
pub fn from_rows<T: Scalar>(rows: &[T], inputs: usize, outputs: usize) -> Vec<T> {
    let mut panels = vec![T::ZERO; rows.len() / outputs * whole_panels(outputs)];
    let matrices = panels.chunks_exact_mut(inputs * whole_panels(outputs)).zip(rows.chunks_exact(inputs * outputs));
    for (panels, rows) in matrices {
        for (i, row) in rows.chunks_exact(outputs).enumerate() {
            for (panel, columns) in panels.chunks_exact_mut(inputs * COLUMNS).zip(row.chunks(COLUMNS)) {
                panel[i * COLUMNS..][..columns.len()].copy_from_slice(columns);
            }
        }
    }
    panels
}

/// The inverse of [`from_rows`].
pub fn to_rows<T: Scalar>(panels: &[T], inputs: usize, outputs: usize) -> Vec<T> {
    let mut rows = vec![T::ZERO; panels.len() / whole_panels(outputs) * outputs];
    let matrices = panels.chunks_exact(inputs * whole_panels(outputs)).zip(rows.chunks_exact_mut(inputs * outputs));
    for (panels, rows) in matrices {
        for (i, row) in rows.chunks_exact_mut(outputs).enumerate() {
            for (panel, columns) in panels.chunks_exact(inputs * COLUMNS).zip(row.chunks_mut(COLUMNS)) {
                columns.copy_from_slice(&panel[i * COLUMNS..][..columns.len()]);
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_hold_all_columns() {
        for (count, inputs, outputs) in [(1, 1, 1), (3, 5, 16), (2, 7, 40)] {
            let rows: Vec<f64> = (1..=count * inputs * outputs).map(|i| i as f64).collect();
            let panels = from_rows(&rows, inputs, outputs);
            assert_eq!(panels.iter().sum::<f64>(), rows.iter().sum::<f64>());
            assert_eq!(to_rows(&panels, inputs, outputs), rows);
            let last = (outputs - 1) / COLUMNS * inputs * COLUMNS + (outputs - 1) % COLUMNS;
            assert_eq!(panels[last], outputs as f64);
        }
    }
}
