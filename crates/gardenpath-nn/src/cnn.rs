//! The convolutional network: filters of size 4 and stride 2, one layer more than the tree has levels.
//!
//! Each convolution is padded by one zero on both sides; a map of `n` positions is followed by one of `n / 2`. The input
//! is padded to 10 positions at depth 2 and to 30 at depth 3, as in the paper, and in the same proportion beyond. Since there
//! are no biases, a position that sees only padding is zero: only the others are rows.

use crate::activations::Place;
use crate::network::{Network, Normalization};
use crate::scalar::Scalar;
use crate::wired::{Filter, Plan, Wired};
use crate::wiring::{Gather, Input, Wiring};
use gardenpath::{Shape, Symbol};

/// The size of a filter.
pub const TAPS: usize = 4;

/// The length of the padded input.
pub fn padded_length(shape: &Shape) -> usize {
    (shape.lengths().end() * 10).div_ceil(9).max(2 << shape.depth())
}

/// The engine of the network.
pub fn engine<T: Scalar>(network: &Network, normalization: Normalization) -> Wired<T> {
    let inputs = |layer| if layer == 0 { network.vocab } else { network.width };
    let depth = network.shape.depth();
    let filters: Vec<Vec<Filter>> = (0..=depth)
        .map(|layer| vec![Filter { roles: TAPS, scale: normalization.scale(TAPS, inputs(layer)) }])
        .collect();
    let positions_read = padded_length(&network.shape) >> (depth + 1);
    Wired::new(network.vocab, network.classes, network.width, &filters, positions_read)
}

/// The positions of each sentence that are not zero: on the input, and after each layer.
fn positions(network: &Network, sentences: &[&[Symbol]]) -> Vec<Vec<usize>> {
    let mut padded = padded_length(&network.shape);
    let mut maps: Vec<Vec<usize>> = vec![sentences.iter().map(|sentence| sentence.len()).collect()];
    for layer in 0..=network.shape.depth() {
        padded /= 2;
        maps.push(maps[layer].iter().map(|n| (n / 2 + 1).min(padded)).collect());
    }
    maps
}

/// The tokens for which the rows of each layer stand: a position of layer `l` advances by `2^(l+1)` tokens.
pub fn places(network: &Network, sentences: &[&[Symbol]]) -> Vec<Vec<Vec<Place>>> {
    let of_layer = |(layer, positions): (usize, &Vec<usize>)| {
        let stride = 2 << layer;
        let mut row = 0;
        let of_sentence = |&positions: &usize| {
            let first = row;
            row += positions;
            (0..positions).map(|i| Place { row: first + i, start: i * stride, len: stride }).collect()
        };
        positions.iter().map(of_sentence).collect()
    };
    positions(network, sentences)[1..].iter().enumerate().map(of_layer).collect()
}

/// The wiring of a batch.
pub fn plan(network: &Network, sentences: &[&[Symbol]]) -> Plan {
    let maps = positions(network, sentences);
    let mut layers = Vec::new();
    for (layer, map) in maps.windows(2).enumerate() {
        let [below, above] = [&map[0], &map[1]];
        let mut inputs = Vec::with_capacity(TAPS * above.iter().sum::<usize>());
        let (mut base, mut target) = (0, 0);
        for ((&below, &above), sentence) in below.iter().zip(above).zip(sentences) {
            for position in 0..above {
                for tap in 0..TAPS {
                    if let Some(input) = (2 * position + tap).checked_sub(1).filter(|&input| input < below) {
                        let child = if layer == 0 { u32::from(sentence[input]) } else { (base + input) as u32 };
                        inputs.push((target, Input { role: tap as u32, child }));
                    }
                }
                target += 1;
            }
            base += below;
        }
        let children = if layer == 0 { network.vocab } else { base };
        layers.push(Wiring::new(TAPS, children, target as usize, &inputs));
    }
    let positions = maps.last().expect("there are layers");
    let rows = positions.iter().sum();
    let of_sentence = positions.iter().enumerate().flat_map(|(i, &n)| std::iter::repeat_n(i as u32, n));
    Plan { layers, top: Gather::new(sentences.len(), rows, of_sentence.zip(0..)) }
}
