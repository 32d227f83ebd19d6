//! The convolutional network: filters of size 4 and stride 2, one layer more than the tree has levels.
//!
//! Each convolution is padded by one zero on both sides; a map of `n` positions is followed by one of `n / 2`. The input
//! is padded to 10 positions at depth 2 and to 30 at depth 3, as in the paper, and in the same proportion beyond; the readout is the mean over
//! the positions that are left, of which there are more the more children nodes have. Since there are no biases, a position that sees only padding is zero: only the others are rows.

use crate::activations::Place;
use crate::filter_network::{Filter, FilterNetwork, Plan};
use crate::network::{Network, Normalization};
use crate::scalar::Scalar;
use crate::wiring::{Gather, Input, Wiring};
use gardenpath::{Shape, Span, Symbol};

/// The size of a filter.
pub const TAPS: usize = 4;

/// The length of the padded input.
pub fn padded_length(shape: &Shape) -> usize {
    (shape.lengths().end() * 10).div_ceil(9).max(2 << shape.depth())
}

/// The passes of the network.
pub fn passes<T: Scalar>(network: &Network, normalization: Normalization) -> FilterNetwork<T> {
    let inputs = |layer| if layer == 0 { network.vocab } else { network.width };
    let depth = network.shape.depth();
    let filters: Vec<Vec<Filter>> = (0..=depth)
        .map(|layer| vec![Filter { roles: TAPS, scale: normalization.scale(TAPS, inputs(layer)) }])
        .collect();
    let positions_read = padded_length(&network.shape) >> (depth + 1);
    FilterNetwork::new(network.vocab, network.classes, network.width, &filters, positions_read)
}

/// The positions of sentences of these lengths that are not zero: on the input, and after each layer.
pub fn positions(shape: &Shape, lengths: &[usize]) -> Vec<Vec<usize>> {
    let mut padded = padded_length(shape);
    let mut maps = vec![lengths.to_vec()];
    for layer in 0..=shape.depth() {
        padded /= 2;
        maps.push(maps[layer].iter().map(|n| (n / 2 + 1).min(padded)).collect());
    }
    maps
}

/// The tokens for which the rows of each layer stand: a position of layer `l` advances by `2^(l+1)` tokens.
pub fn places(shape: &Shape, lengths: &[usize]) -> Vec<Vec<Vec<Place>>> {
    let of_layer = |(layer, positions): (usize, &Vec<usize>)| {
        let stride = 2 << layer;
        let mut row = 0;
        let of_sentence = |&positions: &usize| {
            let first = row;
            row += positions;
            (0..positions).map(|i| Place { row: first + i, span: Span::new(i * stride, stride) }).collect()
        };
        positions.iter().map(of_sentence).collect()
    };
    positions(shape, lengths)[1..].iter().enumerate().map(of_layer).collect()
}

/// The inputs of all rows of a layer, given the positions of each sentence in the map below and in its own.
pub fn inputs(below: &[usize], above: &[usize]) -> Vec<(u32, Input)> {
    let mut inputs = Vec::with_capacity(TAPS * above.iter().sum::<usize>());
    let (mut base, mut target) = (0, 0);
    for (&below, &above) in below.iter().zip(above) {
        for position in 0..above {
            for tap in 0..TAPS {
                if let Some(input) = (2 * position + tap).checked_sub(1).filter(|&input| input < below) {
                    inputs.push((target, Input { role: tap as u32, child: (base + input) as u32, times: 1.0 }));
                }
            }
            target += 1;
        }
        base += below;
    }
    inputs
}

/// The wiring of a batch.
pub fn plan(network: &Network, sentences: &[&[Symbol]]) -> Plan {
    let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
    let maps = positions(&network.shape, &lengths);
    let wire = |(layer, map): (usize, &[Vec<usize>])| {
        let mut inputs = inputs(&map[0], &map[1]);
        let [mut children, targets] = [&map[0], &map[1]].map(|map| map.iter().sum());
        if layer == 0 {
            // Equal tokens have one row.
            let tokens = sentences.concat();
            inputs.iter_mut().for_each(|(_, input)| input.child = tokens[input.child as usize].into());
            children = network.vocab;
        }
        Wiring::new(TAPS, children, targets, &inputs)
    };
    let layers = maps.windows(2).enumerate().map(wire).collect();
    let positions = maps.last().expect("there are layers");
    let rows = positions.iter().sum();
    let of_sentence = positions.iter().enumerate().flat_map(|(i, &n)| std::iter::repeat_n(i as u32, n));
    let terms = of_sentence.zip(0..).map(|(sentence, row)| (sentence, row, 1.0));
    Plan { layers, top: Gather::new(sentences.len(), rows, terms) }
}
