//! Which rows of a network see which: its wiring as it is computed with, for one sentence.

use crate::activations::Place;
use crate::network::{Architecture, Network};
use crate::wiring::Input;
use crate::{cnn, inn};
use gardenpath::Symbol;

/// A layer of a CNN or an INN on one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The tokens for which each row stands: `places[row].row == row`.
    pub places: Vec<Place>,
    /// What each row is made of, as pairs of a row and an input, in this order. An input is a row of the layer below, or a
    /// token by its position, and the matrix that multiplies it: the tap of the filter of a CNN; in an INN left and right of
    /// the binary filter, then left, middle and right of the ternary one.
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
/// let layers = layers(&network, 6);
/// let places: Vec<(usize, usize)> = layers[0].places.iter().map(|place| (place.start, place.len)).collect();
/// assert_eq!(places, [(0, 2), (0, 3), (2, 2), (3, 3), (4, 2)], "six tokens are cut as 3-3 and as 2-2-2");
/// assert_eq!((layers[1].places.len(), layers[1].inputs.len()), (1, 5), "the root sees all five");
/// # Ok::<(), gardenpath_nn::Error>(())
/// ```
pub fn layers(network: &Network, len: usize) -> Vec<Layer> {
    if !network.shape.has_length(len) || len > usize::from(Symbol::MAX) {
        return Vec::new();
    }
    // In a sentence in which no token occurs twice, tokens are positions and no row stands for two places.
    let network = Network { vocab: len, ..network.clone() };
    let sentence: Vec<Symbol> = (0..len as Symbol).collect();
    let sentences: &[&[Symbol]] = &[&sentence];
    let (plan, places) = match network.architecture {
        Architecture::Cnn { .. } => (cnn::plan(&network, sentences), cnn::places(&network, sentences)),
        Architecture::Inn { .. } => inn::Planner::new(&network).plan_with_places(sentences),
        Architecture::Transformer { .. } => return Vec::new(),
    };
    let layer = |(wiring, mut places): (&crate::wiring::Wiring, Vec<Vec<Place>>)| {
        let mut places = places.swap_remove(0);
        places.sort_by_key(|place| place.row);
        Layer { places, inputs: wiring.inputs() }
    };
    plan.layers.iter().zip(places).map(layer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::splits::splits;
    use gardenpath::Shape;

    fn network(depth: usize, architecture: Architecture) -> Network {
        Network::new(8, 8, Shape::mixed(depth), 16, architecture).unwrap()
    }

    #[test]
    fn every_cell_of_an_inside_network_sees_the_parts_of_its_splits() {
        let network = network(3, Architecture::inn());
        for len in network.shape.lengths() {
            let layers = layers(&network, len);
            for (number, layer) in layers.iter().enumerate() {
                let level = 2 - number;
                for (row, place) in layer.places.iter().enumerate() {
                    assert_eq!(place.row, row);
                    let span = |child: u32| match number {
                        0 => (child as usize, 1),
                        _ => (
                            layers[number - 1].places[child as usize].start,
                            layers[number - 1].places[child as usize].len,
                        ),
                    };
                    let own = layer.inputs.iter().filter(|(target, _)| *target as usize == row);
                    let mut found: Vec<_> = own.map(|(_, input)| (input.role as usize, span(input.child))).collect();
                    let parts = splits(&network.shape, level, place.start, place.len).into_iter().flatten();
                    let mut expected: Vec<_> = parts.map(|part| (part.role, (part.start, part.len))).collect();
                    found.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(found, expected);
                }
            }
        }
    }

    #[test]
    fn every_position_of_a_convolution_sees_four_neighbours() {
        let layers = layers(&network(2, Architecture::cnn()), 9);
        assert_eq!(layers.iter().map(|layer| layer.places.len()).collect::<Vec<_>>(), [5, 2, 1]);
        let inputs: Vec<(u32, u32)> =
            layers[0].inputs.iter().filter(|(row, _)| *row == 1).map(|(_, input)| (input.role, input.child)).collect();
        assert_eq!(inputs, [(0, 1), (1, 2), (2, 3), (3, 4)]);
    }

    #[test]
    fn what_has_no_wiring_has_no_layers() {
        assert!(layers(&network(2, Architecture::transformer(2, 16)), 6).is_empty());
        assert!(layers(&network(2, Architecture::inn()), 10).is_empty());
    }
}
