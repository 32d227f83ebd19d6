//! Which rows of a network see which: its wiring as it is computed with, for one sentence.

pub use crate::wiring::Input;

use crate::cells::Cells;
use crate::cnn;
use crate::error::Result;
use crate::network::{Architecture, Network};
use gardenpath::Span;

/// A layer of a CNN or an INN on one sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The tokens for which each row stands.
    pub places: Vec<Span>,
    /// What each row is made of, as pairs of a row and an input, in the order of rows, matrices and what they multiply. An input is
    /// a row of the layer below, or a token by its position, and the matrix that multiplies it: the tap of the filter of a CNN; in
    /// an INN left and right of the binary filter, then left, middle and right of the ternary one, and so on. An input that has
    /// its role in several splits comes several times, or once with their number, where splits have more than three parts, and with
    /// [`Normalization::Splits`](crate::Normalization::Splits), which divides the number by the square root of that of all splits.
    pub inputs: Vec<(u32, Input)>,
}

/// The layers from the tokens up, for sentences of this length. There are none for a transformer, in which everything is
/// connected, and for lengths that no sentence has.
///
/// ```
/// use gardenpath::Shape;
/// use gardenpath_nn::connections::layers;
/// use gardenpath_nn::{Architecture, Network};
///
/// let network = Network::new(8, 8, Shape::mixed(2), 16, Architecture::inn())?;
/// let layers = layers(&network, 6)?;
/// let places: Vec<(usize, usize)> = layers[0].places.iter().map(|place| (place.start, place.len)).collect();
/// assert_eq!(places, [(0, 2), (0, 3), (2, 2), (3, 3), (4, 2)], "six tokens are cut as 3-3 and as 2-2-2");
/// assert_eq!((layers[1].places.len(), layers[1].inputs.len()), (1, 5), "the root sees all five");
/// # Ok::<(), gardenpath_nn::Error>(())
/// ```
///
/// # Errors
/// The connections do not fit into memory.
pub fn layers(network: &Network, len: usize) -> Result<Vec<Layer>> {
    let Network { shape, architecture, .. } = network;
    if !shape.has_length(len) {
        return Ok(Vec::new());
    }
    let mut layers: Vec<Layer> = match architecture {
        Architecture::Cnn { .. } => {
            let maps = cnn::positions(shape, &[len]);
            let inputs = maps.windows(2).map(|map| cnn::inputs(&map[0], &map[1]));
            let places = cnn::places(shape, &[len]).into_iter();
            let places = places.map(|layer| layer.concat().iter().map(|place| place.span).collect());
            places.zip(inputs).map(|(places, inputs)| Layer { places, inputs }).collect()
        }
        &Architecture::Inn { normalization } => {
            let Cells { spans, inputs } = Cells::new(shape, len, 1, normalization)?;
            spans.into_iter().zip(inputs).map(|(places, inputs)| Layer { places, inputs }).rev().collect()
        }
        Architecture::Transformer { .. } => Vec::new(),
    };
    for layer in &mut layers {
        layer.inputs.sort_by_key(|&(row, Input { role, child, .. })| (row, role, child));
    }
    Ok(layers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::{Arities, Shape, Template};
    use std::collections::BTreeMap;

    fn network(shape: Shape, architecture: Architecture) -> Network {
        Network::new(8, 8, shape, 16, architecture).unwrap()
    }

    #[test]
    fn every_cell_of_an_inside_network_sees_the_parts_of_its_splits() {
        let others = [Arities::from([1, 4]), Arities::from([2, 4]), Arities::from([2, 3])];
        for shape in [Shape::mixed(3), Shape::new(&others), Shape::new(&[Arities::from([2, 8]), Arities::from([1, 3])])]
        {
            let network = network(shape.clone(), Architecture::inn());
            for len in shape.lengths().filter(|&len| shape.has_length(len)) {
                let template = Template::new(&shape, len);
                let layers = layers(&network, len).unwrap();
                for (number, layer) in layers.iter().enumerate() {
                    let level = shape.depth() - 1 - number;
                    assert_eq!(layer.places, template.cells(level).collect::<Vec<_>>());
                    let below: Vec<Span> = template.cells(level + 1).collect();
                    let mut found: BTreeMap<(Span, u32, Span), f32> = BTreeMap::new();
                    for (row, input) in &layer.inputs {
                        let key = (layer.places[*row as usize], input.role, below[input.child as usize]);
                        *found.entry(key).or_default() += input.times;
                    }
                    let mut expected: BTreeMap<(Span, u32, Span), f32> = BTreeMap::new();
                    for &cell in &layer.places {
                        for split in template.splits(level, cell) {
                            let fewer = shape.arities(level).iter().filter(|&arity| arity < split.len());
                            for (role, &part) in (fewer.sum::<usize>() as u32..).zip(&split) {
                                *expected.entry((cell, role, part)).or_default() += 1.0;
                            }
                        }
                    }
                    assert_eq!(found, expected, "{shape:?}: {len} tokens, level {level}");
                }
            }
        }
    }

    #[test]
    fn every_position_of_a_convolution_sees_four_neighbours() {
        let layers = layers(&network(Shape::mixed(2), Architecture::cnn()), 9).unwrap();
        assert_eq!(layers.iter().map(|layer| layer.places.len()).collect::<Vec<_>>(), [5, 2, 1]);
        let inputs: Vec<(u32, u32)> =
            layers[0].inputs.iter().filter(|(row, _)| *row == 1).map(|(_, input)| (input.role, input.child)).collect();
        assert_eq!(inputs, [(0, 1), (1, 2), (2, 3), (3, 4)]);
    }

    #[test]
    fn what_has_no_wiring_has_no_layers() {
        let of = |architecture, len| layers(&network(Shape::mixed(2), architecture), len).unwrap();
        assert!(of(Architecture::transformer(2, 16), 6).is_empty());
        assert!(of(Architecture::inn(), 10).is_empty());
    }
}
