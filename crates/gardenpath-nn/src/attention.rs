//! Attention within each sentence, head by head.
//!
//! Sentences are ragged and short: scores are made for one sentence and head at a time, for eight queries at once, one in each
//! lane. The score is `q·k / d_head`, the scale for which updates stay of order one at any width.

mod lanes;

pub use lanes::Group;

use crate::dispatch::dispatch;
use crate::error::Result;
use crate::scalar::Scalar;
use gardenpath::{Symbol, memory};
use lanes::{Channels, Eight, Head, LANES, Total};
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

    /// Groups of attention weights: one for eight queries and a position.
    pub fn weight_groups(&self) -> usize {
        self.sizes().map(|(q, n)| self.heads * groups(q, n)).sum()
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

/// Groups of attention weights of a head. Positions are filled up to a multiple of eight.
fn groups(queries: usize, positions: usize) -> usize {
    queries.div_ceil(LANES) * positions.next_multiple_of(LANES)
}

/// Fills the attention weights (`[head][query][position]` for each sentence, with queries in groups) and the mixed values of all
/// queries.
pub fn forward<T: Scalar>(layout: &Layout, packed: Packed<'_, T>, weights: &mut [Group<T>], mixed: &mut [T]) {
    let Layout { width, heads, causal, .. } = *layout;
    let (query, key, value) = layout.cut_inputs(packed);
    let weights = layout.cut_mut(weights, |q, n| heads * groups(q, n));
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
    let weights = layout.cut(weights, |q, n| heads * groups(q, n));
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

/// Scales scores and replaces them by their softmax. From position `full` on, lane `i` takes part up to position `full + i`.
#[inline(always)]
fn softmax<T: Scalar>(scores: &mut [Group<T>], positions: usize, full: usize, scale: T) {
    // Who takes no part gets no weight.
    let nothing = T::of(-1e30);
    scores[positions..].fill([nothing; LANES]);
    let mut most = [nothing; LANES];
    for group in scores.iter_mut() {
        *group = group.map(|score| score * scale);
    }
    for (lane, group) in scores.iter_mut().skip(full).enumerate() {
        *group = lanes::from_lane(lane, *group, [nothing; LANES]);
    }
    for group in scores.iter() {
        most = std::array::from_fn(|lane| if group[lane] > most[lane] { group[lane] } else { most[lane] });
    }
    let mut total = Total::new();
    for eight in scores.chunks_exact_mut(LANES) {
        for group in eight.iter_mut() {
            *group = std::array::from_fn(|lane| (group[lane] - most[lane]).exp());
        }
        total.add(eight.iter().copied());
    }
    let inverse = total.sum().map(|total| T::ONE / total);
    for group in scores {
        *group = std::array::from_fn(|lane| group[lane] * inverse[lane]);
    }
}

/// What eight queries see, of which `first` is the first: so many positions, and the number of those that all of them see.
#[inline(always)]
fn seen(causal: bool, first: usize, positions: usize) -> (usize, usize) {
    if causal { (positions.min(first + LANES), first) } else { (positions, positions.next_multiple_of(LANES)) }
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
    let padded = positions.next_multiple_of(LANES);
    let (mut query, mut sums) = (Eight::new(head), Eight::new(head));
    for h in 0..heads {
        let first = h * head;
        let channels = |rows| Channels { rows, width, first };
        let weights = &mut weights[h * groups(queries, positions)..][..groups(queries, positions)];
        for (weights, i) in weights.chunks_exact_mut(padded).zip((0..).step_by(LANES)) {
            let (seen, full) = seen(causal, i, positions);
            let weights = &mut weights[..seen.next_multiple_of(LANES)];
            query.take(channels(packed.query), i);
            query.dot::<FUSED>(channels(packed.key), &mut weights[..seen]);
            softmax(weights, seen, full, scale);
            sums.sum::<FUSED>(channels(packed.value), &weights[..seen], full);
            sums.put(mixed, width, first, i);
        }
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
    let padded = positions.next_multiple_of(LANES);
    let mut slopes = vec![[T::ZERO; LANES]; padded];
    let (mut lanes, mut query_sums) = (Eight::new(head), Eight::new(head));
    let of = |rows| Head::new(rows, head);
    let (mut query, mut d_mixed) = (of(queries), of(queries));
    let (mut key_sums, mut value_sums) = (of(positions), of(positions));
    for h in 0..heads {
        let first = h * head;
        let channels = |rows| Channels { rows, width, first };
        let weights = &weights[h * groups(queries, positions)..][..groups(queries, positions)];
        query.take(packed.query, width, first, head);
        d_mixed.take(mixed, width, first, head);
        [&mut key_sums, &mut value_sums].into_iter().for_each(Head::clear);
        for (weights, i) in weights.chunks_exact(padded).zip((0..).step_by(LANES)) {
            let (seen, full) = seen(causal, i, positions);
            let (weights, slopes) = (&weights[..seen], &mut slopes[..seen]);
            lanes.take(channels(mixed), i);
            lanes.dot::<FUSED>(channels(packed.value), slopes);
            let mut total = Total::new();
            for (weights, slopes) in weights.chunks(LANES).zip(slopes.chunks(LANES)) {
                let product = |(a, b): (&Group<T>, &Group<T>)| std::array::from_fn(|lane| a[lane] * b[lane]);
                total.add(weights.iter().zip(slopes).map(product));
            }
            let mean = total.sum();
            for (slopes, weights) in slopes.iter_mut().zip(weights) {
                *slopes = std::array::from_fn(|lane| weights[lane] * (slopes[lane] - mean[lane]) * scale);
            }
            query_sums.sum::<FUSED>(channels(packed.key), slopes, full);
            query_sums.put(d_query, width, first, i);
            key_sums.add_rows::<FUSED>(slopes, &query, i, full);
            value_sums.add_rows::<FUSED>(weights, &d_mixed, i, full);
        }
        key_sums.put(d_key, width, first, head);
        value_sums.put(d_value, width, first, head);
    }
}
