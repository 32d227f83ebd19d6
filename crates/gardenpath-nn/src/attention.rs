//! Attention within each sentence, head by head.
//!
//! Sentences are ragged and short: scores are made for one sentence and head at a time, for eight queries at once, one in each
//! lane. The score is `q·k / d_head`, the scale for which updates stay of order one at any width.

mod lanes;

pub use lanes::Block;

use crate::dispatch::dispatch;
use crate::error::Result;
use crate::scalar::Scalar;
use gardenpath::{Symbol, memory};
use lanes::{Head, LANES, POSITIONS, add_rows, square, square_mut, sums, total, transposed};
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

    /// Blocks of attention weights: one for eight queries and four positions.
    pub fn weight_blocks(&self) -> usize {
        self.sizes().map(|(q, n)| self.heads * blocks(q, n)).sum()
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

/// Blocks of attention weights of a head.
fn blocks(queries: usize, positions: usize) -> usize {
    queries.div_ceil(LANES) * positions.div_ceil(POSITIONS)
}

/// Fills the attention weights (`[head][query][position]` for each sentence, with queries in groups) and the mixed values of all
/// queries.
pub fn forward<T: Scalar>(layout: &Layout, packed: Packed<'_, T>, weights: &mut [Block<T>], mixed: &mut [T]) {
    let Layout { width, heads, causal, .. } = *layout;
    let (query, key, value) = layout.cut_inputs(packed);
    let weights = layout.cut_mut(weights, |q, n| heads * blocks(q, n));
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
    weights: &[Block<T>],
    mixed: &[T],
    gradient: [&mut [T]; 3],
) {
    let Layout { width, heads, causal, .. } = *layout;
    let (query, key, value) = layout.cut_inputs(packed);
    let weights = layout.cut(weights, |q, n| heads * blocks(q, n));
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

/// Scales scores and replaces them by their softmax.
#[inline(always)]
fn softmax<T: Scalar>(scores: &mut [Block<T>], view: View, scale: T) {
    // Who takes no part does not count.
    let nothing = T::of(-1e30);
    for group in scores.as_flattened_mut() {
        *group = group.map(|score| score * scale);
    }
    view.hide(scores, nothing);
    let mut most = [nothing; LANES];
    for group in scores.as_flattened() {
        most = std::array::from_fn(|lane| if group[lane] > most[lane] { group[lane] } else { most[lane] });
    }
    for group in scores.as_flattened_mut() {
        *group = std::array::from_fn(|lane| group[lane] - most[lane]);
    }
    // Apart from the rest: a plain loop over all numbers is what the compiler makes vector code of.
    scores.as_flattened_mut().as_flattened_mut().iter_mut().for_each(|score| *score = score.exp());
    let inverse = total(scores.iter().copied()).map(|total| T::ONE / total);
    for group in scores.as_flattened_mut() {
        *group = std::array::from_fn(|lane| group[lane] * inverse[lane]);
    }
    // Exactly no weight, so that sums need not know who takes part.
    view.hide(scores, T::ZERO);
}

/// What eight queries see.
#[derive(Clone, Copy)]
struct View {
    /// Blocks of positions that any of them sees.
    blocks: usize,
    /// Positions that all of them see.
    full: usize,
    /// The first lane that sees the position after these; the lane after it is the first to see the next, and so on.
    lane: usize,
}

impl View {
    /// The view of the query `first` and those after it.
    #[inline(always)]
    fn new(causal: bool, first: usize, positions: usize) -> Self {
        let (seen, full, lane) =
            if causal { (positions.min(first + LANES), first, 0) } else { (positions, positions, LANES) };
        View { blocks: seen.div_ceil(POSITIONS), full, lane }
    }

    /// Gives a value to the pairs that do not see each other.
    #[inline(always)]
    fn hide<T: Scalar>(self, blocks: &mut [Block<T>], value: T) {
        for (group, lane) in blocks.as_flattened_mut()[self.full..].iter_mut().zip(self.lane..) {
            *group = std::array::from_fn(|i| if i >= lane { group[i] } else { value });
        }
    }
}

dispatch! {
    fn forward_sentence(
        sizes: (usize, usize),
        causal: bool,
        packed: Packed<'_, T>,
        weights: &mut [Block<T>],
        mixed: &mut [T],
    ) = forward_kernel up to Avx2
}

#[inline(always)]
fn forward_kernel<T: Scalar, const FUSED: bool>(
    (width, heads): (usize, usize),
    causal: bool,
    packed: Packed<'_, T>,
    weights: &mut [Block<T>],
    mixed: &mut [T],
) {
    let head = width / heads;
    let positions = packed.key.len() / width;
    let queries = packed.query.len() / width;
    let scale = T::of(1.0 / head as f64);
    let of = |rows| Head::new(rows, head);
    let (mut query, mut result) = (of(queries), of(queries));
    let (mut key, mut value) = (of(positions), of(positions));
    for h in 0..heads {
        let first = h * head;
        query.take(packed.query, width, first, head);
        key.take(packed.key, width, first, head);
        value.take(packed.value, width, first, head);
        let weights = &mut weights[h * blocks(queries, positions)..][..blocks(queries, positions)];
        for (weights, i) in weights.chunks_exact_mut(positions.div_ceil(POSITIONS)).zip((0..).step_by(LANES)) {
            let view = View::new(causal, i, positions);
            let weights = &mut weights[..view.blocks];
            weights.fill([[T::ZERO; LANES]; POSITIONS]);
            for (query, key) in query.parts().zip(key.parts()) {
                add_rows::<T, FUSED>(weights, key.as_chunks().0, &transposed(square(query, i)));
            }
            softmax(weights, view, scale);
            for (result, value) in result.parts_mut().zip(value.parts()) {
                *square_mut(result, i) = sums::<T, FUSED>(weights.as_flattened(), value);
            }
        }
        result.put(mixed, width, first, head);
    }
}

dispatch! {
    fn backward_sentence(
        sizes: (usize, usize),
        causal: bool,
        packed: Packed<'_, T>,
        weights: &[Block<T>],
        mixed: &[T],
        gradient: [&mut [T]; 3],
    ) = backward_kernel up to Avx2
}

#[inline(always)]
fn backward_kernel<T: Scalar, const FUSED: bool>(
    (width, heads): (usize, usize),
    causal: bool,
    packed: Packed<'_, T>,
    weights: &[Block<T>],
    mixed: &[T],
    [d_query, d_key, d_value]: [&mut [T]; 3],
) {
    let head = width / heads;
    let positions = packed.key.len() / width;
    let queries = packed.query.len() / width;
    let scale = T::of(1.0 / head as f64);
    let mut slopes = vec![[[T::ZERO; LANES]; POSITIONS]; positions.div_ceil(POSITIONS)];
    let of = |rows| Head::new(rows, head);
    let (mut query, mut d_mixed, mut query_sums) = (of(queries), of(queries), of(queries));
    let (mut key, mut value) = (of(positions), of(positions));
    let (mut key_sums, mut value_sums) = (of(positions), of(positions));
    for h in 0..heads {
        let first = h * head;
        query.take(packed.query, width, first, head);
        key.take(packed.key, width, first, head);
        value.take(packed.value, width, first, head);
        d_mixed.take(mixed, width, first, head);
        [&mut key_sums, &mut value_sums].into_iter().for_each(Head::clear);
        let weights = &weights[h * blocks(queries, positions)..][..blocks(queries, positions)];
        for (weights, i) in weights.chunks_exact(positions.div_ceil(POSITIONS)).zip((0..).step_by(LANES)) {
            let View { blocks, .. } = View::new(causal, i, positions);
            let (weights, slopes) = (&weights[..blocks], &mut slopes[..blocks]);
            slopes.fill([[T::ZERO; LANES]; POSITIONS]);
            for (d_mixed, value) in d_mixed.parts().zip(value.parts()) {
                add_rows::<T, FUSED>(slopes, value.as_chunks().0, &transposed(square(d_mixed, i)));
            }
            let product = |(a, b): (&Block<T>, &Block<T>)| {
                std::array::from_fn(|i| std::array::from_fn(|lane| a[i][lane] * b[i][lane]))
            };
            let mean = total(weights.iter().zip(&*slopes).map(product));
            for (slopes, weights) in slopes.as_flattened_mut().iter_mut().zip(weights.as_flattened()) {
                *slopes = std::array::from_fn(|lane| weights[lane] * (slopes[lane] - mean[lane]) * scale);
            }
            for (result, key) in query_sums.parts_mut().zip(key.parts()) {
                *square_mut(result, i) = sums::<T, FUSED>(slopes.as_flattened(), key);
            }
            for (result, query) in key_sums.parts_mut().zip(query.parts()) {
                add_rows::<T, FUSED>(result.as_chunks_mut().0, slopes, square(query, i));
            }
            for (result, d_mixed) in value_sums.parts_mut().zip(d_mixed.parts()) {
                add_rows::<T, FUSED>(result.as_chunks_mut().0, weights, square(d_mixed, i));
            }
        }
        query_sums.put(d_query, width, first, head);
        key_sums.put(d_key, width, first, head);
        value_sums.put(d_value, width, first, head);
    }
}
