//! Sensitivity to exchanging synonyms: does a hidden layer still see which rule a symbol was rewritten by?

use super::BATCH;
use super::spans::true_places;
use crate::activations::Activations;
use crate::error::Result;
use crate::model::Model;
use crate::network::Network;
use crate::scalar::Scalar;
use crate::tensors::Tensors;
use gardenpath::interrupt::checkpoint;
use gardenpath::{Grammar, Sampler, Seed, Stream, Symbol, Tree};
use rayon::prelude::*;

/// `[layer][level]`: how far the rows of a layer move when the synonyms of a level are exchanged, relative to an unrelated
/// sentence of the same topology. `None` where nothing moves them.
pub fn sensitivity<T: Scalar>(
    model: &mut Model<T>,
    weights: &Tensors<T>,
    grammar: &Grammar,
    seed: Seed,
    count: usize,
) -> Result<Vec<Vec<Option<f64>>>> {
    let sampler = Sampler::new(grammar);
    let depth = grammar.depth();
    // Sums over all rows, `[variant][layer]`; the last variant is the unrelated sentence.
    let mut moved: Vec<Vec<f64>> = vec![Vec::new(); depth + 1];
    for first in (0..count).step_by(BATCH) {
        checkpoint();
        let numbers: Vec<u64> = (first as u64..count.min(first + BATCH) as u64).collect();
        let trees: Vec<Tree> = numbers.par_iter().map(|&i| sampler.tree(seed, i)).collect();
        let original = activations(model, weights, &trees)?;
        for (level, moved) in moved.iter_mut().enumerate() {
            let seed = seed.child("variants").nth(level as u64);
            let vary = |(&i, tree): (&u64, &Tree)| variant(tree, grammar, level, &mut seed.stream(i));
            let variants: Vec<Tree> = numbers.par_iter().zip(&trees).map(vary).collect();
            let changed = activations(model, weights, &variants)?;
            moved.resize(original.len(), 0.0);
            for (layer, sum) in moved.iter_mut().enumerate() {
                *sum += distance(model.network(), layer, [&original[layer], &changed[layer]], &trees);
            }
        }
    }
    let (unrelated, levels) = moved.split_last().expect("there is an unrelated sentence");
    let ratio = |layer: usize, level: &Vec<f64>| (unrelated[layer] > 0.0).then(|| level[layer] / unrelated[layer]);
    Ok((0..unrelated.len()).map(|layer| levels.iter().map(|level| ratio(layer, level)).collect()).collect())
}

/// The tree with the synonyms of a level exchanged; beyond the last level of rules, an unrelated tree.
fn variant(tree: &Tree, grammar: &Grammar, level: usize, stream: &mut Stream) -> Tree {
    let variant = if level < tree.depth() {
        tree.exchange_synonyms(grammar, level, stream)
    } else {
        tree.redraw(grammar, stream)
    };
    variant.expect("the tree was sampled from the grammar")
}

fn activations<T: Scalar>(model: &mut Model<T>, weights: &Tensors<T>, trees: &[Tree]) -> Result<Vec<Activations<T>>> {
    let sentences: Vec<&[Symbol]> = trees.iter().map(Tree::sentence).collect();
    model.activations(weights, &sentences)
}

/// The squared distance of the rows that matter. Sentences of one topology have the same places.
fn distance<T: Scalar>(network: &Network, layer: usize, [one, other]: [&Activations<T>; 2], trees: &[Tree]) -> f64 {
    let of_sentence = |(i, tree): (usize, &Tree)| -> f64 {
        let [places, others] = [one, other].map(|layers| true_places(network, layer, &layers.places[i], tree));
        let squared = |(a, b): (&T, &T)| (a.wide() - b.wide()).powi(2);
        let pairs = places.iter().zip(&others);
        pairs.map(|(a, b)| one.row(a.row).iter().zip(other.row(b.row)).map(squared).sum::<f64>()).sum()
    };
    trees.iter().enumerate().map(of_sentence).sum()
}
