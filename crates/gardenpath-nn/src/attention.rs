//! Attention within each sentence, head by head.
//!
//! Sentences are ragged and short: scores are made for one sentence and head at a time, in lanes of eight, from a transposed
//! copy of the keys. The score is `q·k / d_head`, the scale for which updates stay of order one at any width.

mod lanes;

pub use lanes::Group;

use crate::dispatch::dispatch;
use crate::error::Result;
use crate::scalar::Scalar;
use gardenpath::{Symbol, memory};
use lanes::{Head, LANES, Transposed, sum, total};
use rayon::prelude::*;

/// Rejects sentences whose scores do not fit into memory: in so many layers every position asks every other.
pub fn check_memory(sentences: &[&[Symbol]], layers: usize, heads: usize) -> Result<()> {
    let pairs: u128 = sentences.iter().map(|sentence| (sentence.len() as u128 + 1).pow(2)).sum();
    let tokens: usize = sentences.iter().map(|sentence| sentence.len()).sum();
    let bytes = pairs.saturating_mul((layers * heads * size_of::<f32>()) as u128);
    Ok(memory::check(format_args!("attention over {tokens} tokens"), bytes)?)
}

/// The queries, keys and values of a batch: rows of `width` numbers, all sentences one after another.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a, T> {
    /// Queries, `queries` rows for each sentence.
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
    /// Queries of each sentence.
    pub queries: Vec<usize>,
    /// Whether a query sees its own position and those before it only. Then every position asks.
    pub causal: bool,
    /// The number of channels.
    pub width: usize,
    /// The number of heads.
    pub heads: usize,
}

impl Layout {
    /// Queries and positions of each sentence.
    fn sizes(&self) -> impl Iterator<Item = (usize, usize)> {
        self.queries.iter().copied().zip(self.positions.iter().copied())
    }

    /// Groups of attention weights.
    pub fn weight_groups(&self) -> usize {
        self.sizes().map(|(q, n)| self.heads * q * n.div_ceil(LANES)).sum()
    }

    /// Cuts a buffer into the parts of the sentences, of the size that `size` finds from queries and positions.
    fn cut<'a, T>(&self, mut buffer: &'a [T], size: impl Fn(usize, usize) -> usize) -> Vec<&'a [T]> {
        let part = |(q, n)| buffer.split_off(..size(q, n)).expect("the buffer fits the layout");
        self.sizes().map(part).collect()
    }

    fn cut_mut<'a, T>(&self, mut buffer: &'a mut [T], size: impl Fn(usize, usize) -> usize) -> Vec<&'a mut [T]> {
        let part = |(q, n)| buffer.split_off_mut(..size(q, n)).expect("the buffer fits the layout");
        self.sizes().map(part).collect()
    }
}

/// Fills the attention weights (`[head][query][position]` for each sentence, positions in groups) and the mixed values of all
/// queries.
pub fn forward<T: Scalar>(layout: &Layout, packed: Packed<'_, T>, weights: &mut [Group<T>], mixed: &mut [T]) {
    let Layout { width, heads, causal, .. } = *layout;
    let (query, key, value) = layout.cut_inputs(packed);
    let weights = layout.cut_mut(weights, |q, n| heads * q * n.div_ceil(LANES));
    let mixed = layout.cut_mut(mixed, |q, _| q * width);
    let outputs = weights.into_par_iter().zip(mixed);
    let inputs = query.into_par_iter().zip(key).zip(value);
    outputs.zip(inputs).for_each(|((weights, mixed), ((query, key), value))| {
        forward_sentence((width, heads), causal, Packed { query, key, value }, weights, mixed);
    });
}

/// The gradients of queries, keys and values, given that of the mixed values.
pub fn backward<T: Scalar>(
    layout: &Layout,
    packed: Packed<'_, T>,
    weights: &[Group<T>],
    mixed: &[T],
    gradient: [&mut [T]; 3],
) {
    let Layout { width, heads, causal, .. } = *layout;
    let (query, key, value) = layout.cut_inputs(packed);
    let weights = layout.cut(weights, |q, n| heads * q * n.div_ceil(LANES));
    let mixed = layout.cut(mixed, |q, _| q * width);
    let [d_query, d_key, d_value] = gradient;
    let d_query = layout.cut_mut(d_query, |q, _| q * width);
    let d_key = layout.cut_mut(d_key, |_, n| n * width);
    let d_value = layout.cut_mut(d_value, |_, n| n * width);
    let outputs = d_query.into_par_iter().zip(d_key).zip(d_value);
    let inputs = query.into_par_iter().zip(key).zip(value).zip(weights).zip(mixed);
    outputs.zip(inputs).for_each(|(((d_query, d_key), d_value), ((((query, key), value), weights), mixed))| {
        let packed = Packed { query, key, value };
        backward_sentence((width, heads), causal, packed, weights, mixed, [d_query, d_key, d_value]);
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

/// Scales the scores of some positions and replaces them by their softmax.
#[inline(always)]
fn softmax<T: Scalar>(scores: &mut [Group<T>], positions: usize, scale: T) {
    // Lanes beyond the last position get no weight.
    let nothing = T::of(-1e30);
    scores.as_flattened_mut()[positions..].fill(nothing);
    let mut most = [nothing; LANES];
    for group in scores.iter_mut() {
        *group = group.map(|score| score * scale);
        most.iter_mut().zip(group).for_each(|(most, score)| *most = if *score > *most { *score } else { *most });
    }
    let most = most.into_iter().fold(nothing, |a, b| if b > a { b } else { a });
    for group in scores.iter_mut() {
        *group = group.map(|score| (score - most).exp());
    }
    let inverse = T::ONE / total(scores.len(), |i| scores[i]);
    for group in scores {
        *group = group.map(|weight| weight * inverse);
    }
}

/// How many positions, from the first on, query `i` sees.
#[inline(always)]
fn seen(causal: bool, i: usize, positions: usize) -> usize {
    if causal { i + 1 } else { positions }
}

dispatch! {
    fn forward_sentence(
        sizes: (usize, usize),
        causal: bool,
        packed: Packed<'_, T>,
        weights: &mut [Group<T>],
        mixed: &mut [T],
    ) = forward_kernel
}

#[inline(always)]
fn forward_kernel<T: Scalar, const FUSED: bool>(
    (width, heads): (usize, usize),
    causal: bool,
    packed: Packed<'_, T>,
    weights: &mut [Group<T>],
    mixed: &mut [T],
) {
    let head = width / heads;
    let positions = packed.key.len() / width;
    let queries = packed.query.len() / width;
    let scale = T::of(1.0 / head as f64);
    let mut keys = Transposed::new(positions, head);
    let (mut query, mut value) = (Head::new(queries, head), Head::new(positions, head));
    let mut sums = Head::new(queries, head);
    for h in 0..heads {
        let first = h * head;
        let weights = &mut weights[h * queries * keys.groups..][..queries * keys.groups];
        keys.take(packed.key, width, first, head);
        query.take(packed.query, width, first, head);
        value.take(packed.value, width, first, head);
        for (i, weights) in weights.chunks_exact_mut(keys.groups).enumerate() {
            let seen = seen(causal, i, positions);
            let weights = &mut weights[..seen.div_ceil(LANES)];
            keys.dot::<FUSED>(query.row(i), weights);
            softmax(weights, seen, scale);
            let weights = &weights.as_flattened()[..seen];
            for (group, sums) in sums.row_mut(i).iter_mut().enumerate() {
                *sums = sum::<T, FUSED>(weights, value.column(group));
            }
        }
        sums.put(mixed, width, first, head);
    }
}

dispatch! {
    fn backward_sentence(
        sizes: (usize, usize),
        causal: bool,
        packed: Packed<'_, T>,
        weights: &[Group<T>],
        mixed: &[T],
        gradient: [&mut [T]; 3],
    ) = backward_kernel
}

#[inline(always)]
fn backward_kernel<T: Scalar, const FUSED: bool>(
    (width, heads): (usize, usize),
    causal: bool,
    packed: Packed<'_, T>,
    weights: &[Group<T>],
    mixed: &[T],
    [d_query, d_key, d_value]: [&mut [T]; 3],
) {
    let head = width / heads;
    let positions = packed.key.len() / width;
    let queries = packed.query.len() / width;
    let scale = T::of(1.0 / head as f64);
    let mut values = Transposed::new(positions, head);
    let mut slopes = vec![[T::ZERO; LANES]; values.groups];
    let of = |rows| Head::new(rows, head);
    let (mut query, mut d_mixed, mut key) = (of(queries), of(queries), of(positions));
    let (mut query_sums, mut key_sums, mut value_sums) = (of(queries), of(positions), of(positions));
    for h in 0..heads {
        let first = h * head;
        let weights = &weights[h * queries * values.groups..][..queries * values.groups];
        values.take(packed.value, width, first, head);
        query.take(packed.query, width, first, head);
        key.take(packed.key, width, first, head);
        d_mixed.take(mixed, width, first, head);
        [&mut key_sums, &mut value_sums].into_iter().for_each(Head::clear);
        for (i, weights) in weights.chunks_exact(values.groups).enumerate() {
            let seen = seen(causal, i, positions);
            let groups = seen.div_ceil(LANES);
            let (weights, slopes) = (&weights[..groups], &mut slopes[..groups]);
            values.dot::<FUSED>(d_mixed.row(i), slopes);
            let mean = total(weights.len(), |g| std::array::from_fn(|lane| weights[g][lane] * slopes[g][lane]));
            for (slopes, weights) in slopes.iter_mut().zip(weights) {
                *slopes = std::array::from_fn(|lane| weights[lane] * (slopes[lane] - mean) * scale);
            }
            let slopes = &slopes.as_flattened()[..seen];
            for (group, sums) in query_sums.row_mut(i).iter_mut().enumerate() {
                *sums = sum::<T, FUSED>(slopes, key.column(group));
            }
            key_sums.add_outer::<FUSED>(slopes, query.row(i));
            value_sums.add_outer::<FUSED>(&weights.as_flattened()[..seen], d_mixed.row(i));
        }
        query_sums.put(d_query, width, first, head);
        key_sums.put(d_key, width, first, head);
        value_sums.put(d_value, width, first, head);
    }
}
