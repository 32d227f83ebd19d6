//! Runs of adjacent cells of a chart level: what may be the children of one node.

use crate::chart::{Filled, Level};
use crate::grammar::Children;
use crate::semiring::Semiring;

/// Calls `visit` with every run of up to `most` adjacent cells that begins at `start`, and with the position after it. A run comes before
/// those that it begins; these are left out if `visit` returns false.
pub(crate) fn for_each_run<S: Semiring>(
    level: &Level<S>,
    start: usize,
    most: usize,
    visit: &mut impl FnMut(&[Filled], usize) -> bool,
) {
    extend(level, start, most, &mut [Filled { span: 0, cell: 0 }; Children::MAX], 0, visit);
}

fn extend<S: Semiring>(
    level: &Level<S>,
    start: usize,
    most: usize,
    run: &mut [Filled; Children::MAX],
    len: usize,
    visit: &mut impl FnMut(&[Filled], usize) -> bool,
) {
    for &cell in level.filled(start) {
        run[len] = cell;
        let end = start + cell.span as usize;
        if visit(&run[..=len], end) && len + 1 < most {
            extend(level, end, most, run, len + 1, visit);
        }
    }
}
