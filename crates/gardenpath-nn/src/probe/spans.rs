//! Which rows of a hidden layer stand for a span of the sentence.

use crate::activations::{Activations, Place};
use crate::network::{Architecture, Network};
use crate::scalar::Scalar;
use gardenpath::{Node, Span, Tree};

/// The places of a layer, counted from the tokens up, that matter for a sentence with this tree.
///
/// The cells of an inside network overlap, and most of them stand for spans that are no nodes: only the cells of the true tree,
/// on the layer's own level, have an answer that could be right. In other networks all rows count.
pub fn true_places(network: &Network, layer: usize, places: &[Place], tree: &Tree) -> Vec<Place> {
    if !matches!(network.architecture, Architecture::Inn { .. }) {
        return places.to_vec();
    }
    let level = tree.depth() - 1 - layer;
    let find = |Node { span, .. }| places.binary_search_by_key(&span, |place| place.span).ok();
    tree.nodes(level).into_iter().filter_map(find).map(|i| places[i]).collect()
}

/// What a layer holds about a span: the row that stands for exactly this span, or else the mean over its tokens of the rows that
/// stand for them.
///
/// If several rows stand for a token, the shortest one does: the class token of a transformer speaks for a part of the sentence
/// only where it is alone. A token beyond the last row of a convolution, whose maps are cut, is left to the nearest one.
pub fn feature<T: Scalar>(layer: &Activations<T>, places: &[Place], span: Span) -> Vec<T> {
    if let Some(exact) = places.iter().find(|place| place.span == span) {
        return layer.row(exact.row).to_vec();
    }
    let mut sum = vec![0.0; layer.width];
    for token in span.range() {
        let nearest = places.iter().min_by_key(|place| (distance(place.span, token), place.span.len));
        let row = nearest.map_or(&[][..], |place| layer.row(place.row));
        sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value.wide());
    }
    sum.into_iter().map(|sum| T::of(sum / span.len as f64)).collect()
}

/// How far a token is from a span.
fn distance(span: Span, token: usize) -> usize {
    span.start.saturating_sub(token) + (token + 1).saturating_sub(span.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::tensors::Tensors;
    use gardenpath::{Ensemble, Sampler, Seed};

    fn layer(places: &[(usize, usize)]) -> (Activations<f64>, Vec<Place>) {
        let places: Vec<Place> =
            places.iter().enumerate().map(|(row, &(start, len))| Place { row, span: Span::new(start, len) }).collect();
        // Row i holds 10^i: the digits of a mean say which rows are in it.
        let values = (0..places.len() as i32).map(|row| 10f64.powi(row)).collect();
        (Activations { layer: "layer".into(), width: 1, values, places: vec![places.clone()] }, places)
    }

    #[test]
    fn cells_of_an_inside_network_are_those_of_the_true_tree() {
        let grammar = Ensemble::new(4, 3).sample(Seed::new(1)).unwrap();
        let network = Network::new(4, 4, grammar.shape(), 2, Architecture::inn()).unwrap();
        let sampler = Sampler::new(&grammar);
        let trees: Vec<Tree> = (0..20).map(|i| sampler.tree(Seed::new(2), i)).collect();
        let sentences: Vec<_> = trees.iter().map(Tree::sentence).collect();
        let weights = Tensors::<f32>::sample(&network.parameters(), Seed::new(3));
        let activations = Model::new(&network).activations(&weights, &sentences).unwrap();
        for (i, layer) in activations.iter().enumerate() {
            for (tree, all) in trees.iter().zip(&layer.places) {
                let places = true_places(&network, i, all, tree);
                let spans: Vec<Span> = places.iter().map(|place| place.span).collect();
                let nodes: Vec<Span> = tree.nodes(2 - i).into_iter().map(|node| node.span).collect();
                assert_eq!(spans, nodes, "{}", layer.layer);
            }
        }
    }

    #[test]
    fn rows_count_by_their_overlap() {
        let (convolution, places) = layer(&[(0, 2), (2, 2), (4, 2)]);
        assert_eq!(feature(&convolution, &places, Span::new(1, 3)), [21.0 / 3.0]);
        assert_eq!(feature(&convolution, &places, Span::new(2, 2)), [10.0]);
        // Tokens 6 and 7 lie beyond the last row.
        assert_eq!(feature(&convolution, &places, Span::new(5, 3)), [100.0]);
    }

    #[test]
    fn the_class_token_stands_for_the_sentence() {
        let (encoder, places) = layer(&[(0, 3), (0, 1), (1, 1), (2, 1)]);
        assert_eq!(feature(&encoder, &places, Span::new(0, 3)), [1.0]);
        assert_eq!(feature(&encoder, &places, Span::new(0, 2)), [110.0 / 2.0]);
        let (last, places) = layer(&[(0, 3)]);
        assert_eq!(feature(&last, &places, Span::new(1, 2)), [1.0]);
    }
}
