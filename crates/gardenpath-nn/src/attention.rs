//! Attention within each sentence, head by head.
//!
//! Sentences are ragged and short: scores are made for one sentence and head at a time, in lanes of eight, from a transposed
//! copy of the keys. The score is `q·k / d_head`, the scale for which updates stay of order one at any width.

use crate::loss::softmax;
use crate::scalar::Scalar;
use rayon::prelude::*;

/// The queries, keys and values of a batch: rows of `width` numbers, all sentences one after another.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a, T> {
    /// Queries, `queries(sentence)` rows for each sentence.
    pub query: &'a [T],
    /// Keys, one row for each position.
    pub key: &'a [T],
    /// Values, one row for each position.
    pub value: &'a [T],
}

/// The layout of a batch.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Positions of each sentence.
    pub positions: Vec<usize>,
    /// Whether only the first position of each sentence asks.
    pub first_only: bool,
    /// The number of channels.
    pub width: usize,
    /// The number of heads.
    pub heads: usize,
}

impl Layout {
    fn queries(&self, positions: usize) -> usize {
        if self.first_only { 1 } else { positions }
    }

    /// Rows of queries.
    pub fn query_rows(&self) -> usize {
        self.positions.iter().map(|&n| self.queries(n)).sum()
    }

    /// The number of attention weights.
    pub fn weights(&self) -> usize {
        self.positions.iter().map(|&n| self.heads * self.queries(n) * n).sum()
    }

    /// Cuts a buffer into the parts of the sentences, of the size that `size` finds from queries and positions.
    fn cut<'a, T>(&self, mut buffer: &'a [T], size: impl Fn(usize, usize) -> usize) -> Vec<&'a [T]> {
        let part = |&n: &usize| buffer.split_off(..size(self.queries(n), n)).expect("the buffer fits the layout");
        self.positions.iter().map(part).collect()
    }

    fn cut_mut<'a, T>(&self, mut buffer: &'a mut [T], size: impl Fn(usize, usize) -> usize) -> Vec<&'a mut [T]> {
        let part = |&n: &usize| buffer.split_off_mut(..size(self.queries(n), n)).expect("the buffer fits the layout");
        self.positions.iter().map(part).collect()
    }
}

/// Fills the attention weights (`[head][query][position]` for each sentence) and the mixed values of all queries.
pub fn forward<T: Scalar>(layout: &Layout, packed: Packed<'_, T>, weights: &mut [T], mixed: &mut [T]) {
    let Layout { width, heads, .. } = *layout;
    let (query, key, value) = layout.cut_inputs(packed);
    let weights = layout.cut_mut(weights, |q, n| heads * q * n);
    let mixed = layout.cut_mut(mixed, |q, _| q * width);
    let outputs = weights.into_par_iter().zip(mixed);
    let inputs = query.into_par_iter().zip(key).zip(value);
    outputs.zip(inputs).for_each(|((weights, mixed), ((query, key), value))| {
        forward_sentence(width, heads, Packed { query, key, value }, weights, mixed);
    });
}

/// The gradients of queries, keys and values, given that of the mixed values.
pub fn backward<T: Scalar>(
    layout: &Layout,
    packed: Packed<'_, T>,
    weights: &[T],
    mixed: &[T],
    gradient: [&mut [T]; 3],
) {
    let Layout { width, heads, .. } = *layout;
    let (query, key, value) = layout.cut_inputs(packed);
    let weights = layout.cut(weights, |q, n| heads * q * n);
    let mixed = layout.cut(mixed, |q, _| q * width);
    let [d_query, d_key, d_value] = gradient;
    let d_query = layout.cut_mut(d_query, |q, _| q * width);
    let d_key = layout.cut_mut(d_key, |_, n| n * width);
    let d_value = layout.cut_mut(d_value, |_, n| n * width);
    let outputs = d_query.into_par_iter().zip(d_key).zip(d_value);
    let inputs = query.into_par_iter().zip(key).zip(value).zip(weights).zip(mixed);
    outputs.zip(inputs).for_each(|(((d_query, d_key), d_value), ((((query, key), value), weights), mixed))| {
        let packed = Packed { query, key, value };
        backward_sentence(width, heads, packed, weights, mixed, [d_query, d_key, d_value]);
    });
}

/// The parts of each sentence of a buffer.
type Parts<'a, T> = Vec<&'a [T]>;

impl Layout {
    fn cut_inputs<'a, T>(&self, packed: Packed<'a, T>) -> (Parts<'a, T>, Parts<'a, T>, Parts<'a, T>) {
        let query = self.cut(packed.query, |q, _| q * self.width);
        let key = self.cut(packed.key, |_, n| n * self.width);
        let value = self.cut(packed.value, |_, n| n * self.width);
        (query, key, value)
    }
}

const LANES: usize = 8;

/// Numbers of all positions in groups of eight, one channel after another.
struct Transposed<T> {
    groups: usize,
    lanes: Vec<[T; LANES]>,
}

impl<T: Scalar> Transposed<T> {
    fn new(positions: usize, head: usize) -> Self {
        let groups = positions.div_ceil(LANES);
        Transposed { groups, lanes: vec![[T::ZERO; LANES]; groups * head] }
    }

    /// Takes the channels `first..` of the rows.
    #[inline(always)]
    fn fill(&mut self, rows: &[T], width: usize, first: usize) {
        let head = self.lanes.len() / self.groups;
        for (position, row) in rows.chunks_exact(width).enumerate() {
            let (group, lane) = (position / LANES, position % LANES);
            for (channel, &value) in row[first..first + head].iter().enumerate() {
                self.lanes[channel * self.groups + group][lane] = value;
            }
        }
    }

    /// The inner products of one row with all positions.
    #[inline(always)]
    fn dot(&self, row: &[T], products: &mut [[T; LANES]]) {
        products.fill([T::ZERO; LANES]);
        for (&factor, lanes) in row.iter().zip(self.lanes.chunks_exact(self.groups)) {
            for (products, lanes) in products.iter_mut().zip(lanes) {
                for (product, &value) in products.iter_mut().zip(lanes) {
                    *product += factor * value;
                }
            }
        }
    }
}

fn forward_sentence<T: Scalar>(
    width: usize,
    heads: usize,
    packed: Packed<'_, T>,
    weights: &mut [T],
    mixed: &mut [T],
) {
    let head = width / heads;
    let positions = packed.key.len() / width;
    let queries = packed.query.len() / width;
    let scale = T::of(1.0 / head as f64);
    let mut keys = Transposed::new(positions, head);
    let mut scores = vec![[T::ZERO; LANES]; keys.groups];
    mixed.fill(T::ZERO);
    for (h, weights) in weights.chunks_exact_mut(queries * positions).enumerate() {
        let channels = h * head..(h + 1) * head;
        keys.fill(packed.key, width, channels.start);
        for (i, weights) in weights.chunks_exact_mut(positions).enumerate() {
            keys.dot(&packed.query[i * width..][channels.clone()], &mut scores);
            weights.iter_mut().zip(scores.as_flattened()).for_each(|(weight, &score)| *weight = score * scale);
            softmax(weights);
            let mixed = &mut mixed[i * width..][channels.clone()];
            for (&weight, value) in weights.iter().zip(packed.value.chunks_exact(width)) {
                add_scaled(mixed, weight, &value[channels.clone()]);
            }
        }
    }
}

fn backward_sentence<T: Scalar>(
    width: usize,
    heads: usize,
    packed: Packed<'_, T>,
    weights: &[T],
    mixed: &[T],
    [d_query, d_key, d_value]: [&mut [T]; 3],
) {
    let head = width / heads;
    let positions = packed.key.len() / width;
    let queries = packed.query.len() / width;
    let scale = T::of(1.0 / head as f64);
    let mut values = Transposed::new(positions, head);
    let mut slopes = vec![[T::ZERO; LANES]; values.groups];
    d_query.fill(T::ZERO);
    d_key.fill(T::ZERO);
    d_value.fill(T::ZERO);
    for (h, weights) in weights.chunks_exact(queries * positions).enumerate() {
        let channels = h * head..(h + 1) * head;
        values.fill(packed.value, width, channels.start);
        for (i, weights) in weights.chunks_exact(positions).enumerate() {
            let row = |rows: &'_ [T]| -> Vec<T> { rows[i * width..][channels.clone()].to_vec() };
            let (query, d_mixed) = (row(packed.query), row(mixed));
            values.dot(&d_mixed, &mut slopes);
            let slopes = slopes.as_flattened();
            let mean: T = weights.iter().zip(slopes).map(|(&weight, &slope)| weight * slope).sum();
            let d_query = &mut d_query[i * width..][channels.clone()];
            for (position, (&weight, &slope)) in weights.iter().zip(slopes).enumerate() {
                let d_score = weight * (slope - mean) * scale;
                let place = position * width + channels.start..position * width + channels.end;
                add_scaled(d_query, d_score, &packed.key[place.clone()]);
                add_scaled(&mut d_key[place.clone()], d_score, &query);
                add_scaled(&mut d_value[place], weight, &d_mixed);
            }
        }
    }
}

#[inline(always)]
fn add_scaled<T: Scalar>(sum: &mut [T], factor: T, row: &[T]) {
    sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum += factor * value);
}
