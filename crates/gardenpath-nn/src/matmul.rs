//! Matrix products along links: the one kernel in which all networks spend their time.
//!
//! A [`Link`] says which row of the input meets which row of the output. With it a convolution needs no copy of its
//! patches, padding is never multiplied, and rows that nobody uses cost nothing. Every number of a result is a sum in an order
//! that depends on the links alone, never on how the work was divided, so results are the same for any number of threads.
//!
//! The tile of 6 x 16 keeps twelve registers of AVX2 busy, or six of AVX-512, and the loops around it follow the matrix libraries: weights
//! lie in [panels](crate::panels) of sixteen columns, of which a part stays in the first-level cache while a group of rows passes by.

use crate::dispatch::{dispatch, multiply_add};
use crate::panels::{COLUMNS, PanelRow};
use crate::scalar::Scalar;
use rayon::prelude::*;

/// Rows of a tile.
const ROWS: usize = 6;

/// Terms that are summed in registers before the result is updated: a panel of this length fits the first-level cache.
pub const TERMS: usize = 256;

/// Panels that are gone through at a time: they fit the second-level cache.
const PANELS: usize = 8;

/// Rows that pass these panels together: they and their results fit beside them.
const GROUP: usize = 12 * ROWS;

/// Most rows of a weight matrix that one task updates: enough to pay for the packing.
const UPDATE_ROWS: usize = 192;

/// Added to the length of packed panels and blocks, so that rows of neighbours do not compete for the same lines of a cache.
const GAP: usize = 3;

/// A row of the input that contributes to a row of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The row of the input.
    pub from: u32,
    /// The row of the output.
    pub to: u32,
}

/// Links from each row to the row with the same number.
pub fn identity(rows: usize) -> Vec<Link> {
    (0..rows as u32).map(|i| Link { from: i, to: i }).collect()
}

/// A weight matrix in panels, `inputs` x `outputs`, with the factor by which its products are scaled.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// The numbers.
    pub values: &'a [T],
    /// The number of rows.
    pub inputs: usize,
    /// The number of columns.
    pub outputs: usize,
    /// The factor of the products.
    pub scale: T,
}

/// Which way rows are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `output[to] += scale * input[from] W`.
    Forward,
    /// `input[from] += scale * output[to] Wᵀ`: the gradient of the other.
    Backward,
}

dispatch! {
    /// Adds the products of linked rows to `result`, or to zero if it `replaces` what is there. It is a part of a matrix: pieces of the same
    /// columns of some rows, which begin at the row and column `first`. The rows that links reach must differ.
    pub fn multiply(
        direction: Direction,
        result: &mut [&mut [T]],
        first: (usize, usize),
        source: &[T],
        links: &[Link],
        weights: Weights<'_, T>,
        replaces: bool,
    ) = multiply_kernel
}

#[inline(always)]
fn multiply_kernel<T: Scalar, const FUSED: bool>(
    direction: Direction,
    result: &mut [&mut [T]],
    (first_row, first_column): (usize, usize),
    source: &[T],
    links: &[Link],
    weights: Weights<'_, T>,
    replaces: bool,
) {
    let Some(columns) = result.first().map(|piece| piece.len()) else { return };
    let terms = if direction == Direction::Forward { weights.inputs } else { weights.outputs };
    let ends = |link: &Link| match direction {
        Direction::Forward => (link.from as usize, link.to as usize - first_row),
        Direction::Backward => (link.to as usize, link.from as usize - first_row),
    };
    let (stored, _) = weights.values.as_chunks::<COLUMNS>();
    // No more memory than is used: it has to be cleared.
    let most = TERMS.min(terms);
    let panels = if direction == Direction::Forward { 0 } else { PANELS.min(columns.div_ceil(COLUMNS)) };
    let mut transposed = vec![[T::ZERO; COLUMNS]; panels * most];
    for first_panel in (0..columns).step_by(PANELS * COLUMNS) {
        let starts = || (first_panel..columns.min(first_panel + PANELS * COLUMNS)).step_by(COLUMNS);
        for term in (0..terms).step_by(TERMS) {
            let count = TERMS.min(terms - term);
            if direction == Direction::Backward {
                for (panel, start) in transposed.chunks_exact_mut(most).zip(starts()) {
                    transpose(panel, stored, weights.inputs, first_column + start, (term, count));
                }
            }
            for group in links.chunks(GROUP) {
                for (i, start) in starts().enumerate() {
                    let panel = match direction {
                        Direction::Forward => {
                            &stored[(first_column + start) / COLUMNS * weights.inputs + term..][..count]
                        }
                        Direction::Backward => &transposed[i * most..][..count],
                    };
                    let width = COLUMNS.min(columns - start);
                    let row = |link: &Link| &source[ends(link).0 * terms + term..][..count];
                    let replaces = replaces && term == 0;
                    for block in group.chunks(ROWS) {
                        match block.first_chunk() {
                            // Apart from the others: so nothing but registers lies between a product and its result.
                            Some([a, b, c, d, e, f]) if width == COLUMNS => {
                                let rows = [row(a), row(b), row(c), row(d), row(e), row(f)];
                                let tile = row_tile::<T, FUSED>(rows, panel);
                                let mut put = |sums: [T; COLUMNS], link: &Link| {
                                    let target = result[ends(link).1][start..].first_chunk_mut();
                                    add_whole(target.expect("all columns"), sums, weights.scale, replaces);
                                };
                                put(tile[0], a);
                                put(tile[1], b);
                                put(tile[2], c);
                                put(tile[3], d);
                                put(tile[4], e);
                                put(tile[5], f);
                            }
                            _ => {
                                // A last block that is not full repeats its first row, whose product is not used.
                                let mut rows = [row(&block[0]); ROWS];
                                rows.iter_mut().zip(block).for_each(|(slot, link)| *slot = row(link));
                                let tile = row_tile::<T, FUSED>(rows, panel);
                                for (sums, link) in tile.iter().zip(block) {
                                    let target = &mut result[ends(link).1][start..start + width];
                                    add_scaled(target, sums, weights.scale, replaces);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Makes a panel whose columns are the sixteen rows of a matrix from `first` on, and whose rows some of its columns.
#[inline(always)]
fn transpose<T: Scalar>(
    panel: &mut [PanelRow<T>],
    stored: &[PanelRow<T>],
    inputs: usize,
    first: usize,
    (term, count): (usize, usize),
) {
    let height = COLUMNS.min(inputs - first);
    for (block, result) in panel[..count].chunks_mut(COLUMNS).enumerate() {
        let rows = &stored[(term / COLUMNS + block) * inputs + first..][..height];
        match (rows.first_chunk::<COLUMNS>(), result.first_chunk_mut::<COLUMNS>()) {
            (Some(rows), Some(result)) => T::transpose(result, rows),
            _ => {
                for (i, row) in rows.iter().enumerate() {
                    result.iter_mut().zip(row).for_each(|(result, &value)| result[i] = value);
                }
            }
        }
    }
}

/// A weight matrix that is changed by the products of linked rows.
#[derive(Debug)]
pub struct Update<'a, T> {
    /// The matrix, in panels.
    pub weights: &'a mut [T],
    /// The number of its rows: the width of the input.
    pub inputs: usize,
    /// The number of its columns: the width of the output.
    pub outputs: usize,
    /// The links of input and output.
    pub links: &'a [Link],
    /// The factor of the change.
    pub factor: T,
}

/// `W += factor * Σ input[from]ᵀ output[to]` over all links of each update, on all threads.
///
/// With `factor` = scale this adds the gradient to `W`; with `factor` = -rate * scale it is a step of gradient descent that
/// needs no memory for the gradient.
pub fn update<T: Scalar>(updates: Vec<Update<'_, T>>, input: &[T], output: &[T]) {
    let tasks: Vec<Rows<'_, T>> = updates.into_iter().flat_map(Update::divide).collect();
    tasks.into_par_iter().for_each(|rows| update_rows(rows, input, output));
}

/// Some rows of a weight matrix that is updated: a piece of each panel.
struct Rows<'a, T> {
    first: usize,
    pieces: Vec<&'a mut [PanelRow<T>]>,
    inputs: usize,
    outputs: usize,
    links: &'a [Link],
    factor: T,
}

impl<'a, T: Scalar> Update<'a, T> {
    fn divide(self) -> Vec<Rows<'a, T>> {
        let Update { weights, inputs, outputs, links, factor } = self;
        // As many tasks for each thread, so that none is left over at the end.
        let tasks = inputs.div_ceil(UPDATE_ROWS).next_multiple_of(rayon::current_num_threads());
        let share = inputs.div_ceil(tasks).next_multiple_of(ROWS);
        let rows = |first| Rows { first, pieces: Vec::new(), inputs, outputs, links, factor };
        let mut tasks: Vec<Rows<'a, T>> = (0..inputs).step_by(share).map(rows).collect();
        let (stored, _) = weights.as_chunks_mut::<COLUMNS>();
        for panel in stored.chunks_exact_mut(inputs) {
            tasks.iter_mut().zip(panel.chunks_mut(share)).for_each(|(task, piece)| task.pieces.push(piece));
        }
        tasks
    }
}

dispatch! {
    fn update_rows(rows: Rows<'_, T>, input: &[T], output: &[T]) = update_kernel
}

#[inline(always)]
fn update_kernel<T: Scalar, const FUSED: bool>(rows: Rows<'_, T>, input: &[T], output: &[T]) {
    let Rows { first, mut pieces, inputs, outputs, links, factor } = rows;
    let height = pieces.first().map_or(0, |piece| piece.len());
    let most = TERMS.min(links.len()) + GAP;
    let mut panels = vec![[T::ZERO; COLUMNS]; PANELS.min(pieces.len()) * most];
    let mut blocks = vec![[T::ZERO; ROWS]; height.div_ceil(ROWS) * most];
    for links in links.chunks(TERMS) {
        for (term, link) in links.iter().enumerate() {
            let row = &input[link.from as usize * inputs + first..][..height];
            let (whole, rest) = row.as_chunks::<ROWS>();
            for (block, values) in whole.iter().enumerate() {
                blocks[block * most + term] = *values;
            }
            if !rest.is_empty() {
                blocks[whole.len() * most + term][..rest.len()].copy_from_slice(rest);
            }
        }
        for (number, piece) in pieces.iter_mut().enumerate() {
            let panel = number % PANELS;
            if panel == 0 {
                // Several panels at a time, since rows are read fastest straight on.
                let columns = number * COLUMNS..outputs.min((number + PANELS) * COLUMNS);
                for (term, link) in links.iter().enumerate() {
                    let row = &output[link.to as usize * outputs..][columns.clone()];
                    let (whole, rest) = row.as_chunks::<COLUMNS>();
                    for (panel, values) in whole.iter().enumerate() {
                        panels[panel * most + term] = *values;
                    }
                    if !rest.is_empty() {
                        let packed = &mut panels[whole.len() * most + term];
                        *packed = [T::ZERO; COLUMNS];
                        packed[..rest.len()].copy_from_slice(rest);
                    }
                }
            }
            let panel = &panels[panel * most..][..links.len()];
            for (rows, left) in piece.chunks_mut(ROWS).zip(blocks.chunks_exact(most)) {
                let tile = column_tile::<T, FUSED>(&left[..links.len()], panel);
                match rows.first_chunk_mut::<ROWS>() {
                    Some(rows) => {
                        rows.iter_mut().zip(&tile).for_each(|(row, sums)| add_scaled(row, sums, factor, false))
                    }
                    None => rows.iter_mut().zip(&tile).for_each(|(row, sums)| add_scaled(row, sums, factor, false)),
                }
            }
        }
    }
}

/// The products of rows with a panel.
#[inline(always)]
fn row_tile<T: Scalar, const FUSED: bool>(
    [a, b, c, d, e, f]: [&[T]; ROWS],
    panel: &[PanelRow<T>],
) -> [[T; COLUMNS]; ROWS] {
    let mut tile = [[T::ZERO; COLUMNS]; ROWS];
    // Zipped, so that one length holds for all and nothing is checked within the loop.
    let left = a.iter().zip(b).zip(c.iter().zip(d)).zip(e.iter().zip(f));
    for ((((a, b), (c, d)), (e, f)), right) in left.zip(panel) {
        for (sums, factor) in tile.iter_mut().zip([*a, *b, *c, *d, *e, *f]) {
            *sums = add_product::<T, FUSED>(*sums, factor, right);
        }
    }
    tile
}

/// The sum of the outer products of packed columns with the rows of a panel.
#[inline(always)]
fn column_tile<T: Scalar, const FUSED: bool>(left: &[[T; ROWS]], panel: &[PanelRow<T>]) -> [[T; COLUMNS]; ROWS] {
    let mut tile = [[T::ZERO; COLUMNS]; ROWS];
    for (left, right) in left.iter().zip(panel) {
        for (sums, &factor) in tile.iter_mut().zip(left) {
            *sums = add_product::<T, FUSED>(*sums, factor, right);
        }
    }
    tile
}

/// `sums + factor * row`, by value: so the compiler keeps it in registers.
#[inline(always)]
fn add_product<T: Scalar, const FUSED: bool>(sums: [T; COLUMNS], factor: T, row: &PanelRow<T>) -> [T; COLUMNS] {
    std::array::from_fn(|i| multiply_add::<T, FUSED>(factor, row[i], sums[i]))
}

#[inline(always)]
fn add_scaled<T: Scalar>(result: &mut [T], sums: &[T; COLUMNS], scale: T, replaces: bool) {
    match result.first_chunk_mut() {
        Some(whole) => add_whole(whole, *sums, scale, replaces),
        None => {
            for (result, &sum) in result.iter_mut().zip(sums) {
                *result = if replaces { T::ZERO } else { *result } + scale * sum;
            }
        }
    }
}

/// By value: then the compiler sees that nothing overlaps, and takes whole registers.
#[inline(always)]
fn add_whole<T: Scalar>(result: &mut [T; COLUMNS], sums: [T; COLUMNS], scale: T, replaces: bool) {
    let old = if replaces { [T::ZERO; COLUMNS] } else { *result };
    *result = std::array::from_fn(|i| old[i] + scale * sums[i]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panels;
    use gardenpath::Seed;

    fn random(len: usize, seed: u64) -> Vec<f64> {
        let mut stream = Seed::new(seed).stream(0);
        (0..len).map(|_| stream.unit() - 0.5).collect()
    }

    /// Links between random rows; both ends increase.
    fn random_links(from: usize, to: usize, seed: u64) -> Vec<Link> {
        let mut stream = Seed::new(seed).stream(1);
        let mut rows = |count: usize| -> Vec<u32> { (0..count as u32).filter(|_| stream.below(3) > 0).collect() };
        rows(from).into_iter().zip(rows(to)).map(|(from, to)| Link { from, to }).collect()
    }

    /// Both kernels against three nested loops, for sizes around those of tiles and panels.
    #[test]
    fn products_are_sums_of_products() {
        for (rows, inputs, outputs) in
            [(1, 1, 1), (7, 5, 3), (25, 17, 40), (31, 300, 33), (600, 20, 16), (20, 270, 150)]
        {
            let (x, y, w) = (random(rows * inputs, 1), random(rows * outputs, 2), random(inputs * outputs, 3));
            let links = random_links(rows, rows, 4);
            let stored = panels::from_rows(&w, inputs, outputs);
            let weights = Weights { values: &stored, inputs, outputs, scale: 0.7 };
            let (mut up, mut down, mut change) = (y.clone(), x.clone(), w.clone());
            for link in &links {
                let (from, to) = (link.from as usize * inputs, link.to as usize * outputs);
                for i in 0..inputs {
                    for o in 0..outputs {
                        up[to + o] += 0.7 * x[from + i] * w[i * outputs + o];
                        down[from + i] += 0.7 * y[to + o] * w[i * outputs + o];
                        change[i * outputs + o] += 0.3 * x[from + i] * y[to + o];
                    }
                }
            }
            let near = |found: &[f64], expected: &[f64]| {
                assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{rows} {inputs} {outputs}");
            };
            for (direction, source, start, expected) in
                [(Direction::Forward, &x, &y, &up), (Direction::Backward, &y, &x, &down)]
            {
                let width = start.len() / rows;
                let mut found = start.clone();
                let mut pieces: Vec<&mut [f64]> = found.chunks_mut(width).collect();
                multiply(direction, &mut pieces, (0, 0), source, &links, weights, false);
                near(&found, expected);
                found.clone_from(start);
                // In two parts: some columns, and the others.
                let split = 16.min(width);
                let (mut left, mut right): (Vec<_>, Vec<_>) =
                    found.chunks_mut(width).map(|row| row.split_at_mut(split)).unzip();
                multiply_kernel::<f64, false>(direction, &mut left, (0, 0), source, &links, weights, false);
                multiply_kernel::<f64, false>(direction, &mut right, (0, split), source, &links, weights, false);
                near(&found, expected);
            }
            let mut found = stored.clone();
            update(vec![Update { weights: &mut found, inputs, outputs, links: &links, factor: 0.3 }], &x, &y);
            near(&panels::to_rows(&found, inputs, outputs), &change);
            found.clone_from(&stored);
            let parts = Update { weights: &mut found, inputs, outputs, links: &links, factor: 0.3 }.divide();
            parts.into_iter().for_each(|rows| update_kernel::<f64, false>(rows, &x, &y));
            near(&panels::to_rows(&found, inputs, outputs), &change);
        }
    }
}
