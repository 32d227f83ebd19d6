//! Linear probes: can the symbol of a true node be read off a hidden layer?

use super::bound::Bound;
use super::questions::{Question, Questions};
use super::ridge::Ridge;
use super::spans::{feature, true_places};
use super::{BATCH, Level};
use crate::activations::Activations;
use crate::error::Result;
use crate::model::Model;
use crate::network::Network;
use crate::scalar::Scalar;
use crate::tensors::Tensors;
use gardenpath::interrupt::checkpoint;
use gardenpath::{Grammar, Node, Symbol};
use rayon::prelude::*;

/// The penalty of the classifiers: small enough for symbols that few directions carry, and enough for channels that are nearly
/// the same. At widths of 512 and 1024, accuracies change by no more than 0.05 from a tenth to ten times of it.
const PENALTY: f64 = 1e-3;

/// What the layers of a network hold about true nodes of each level.
pub struct Nodes<T> {
    /// The names of the layers, from the tokens up.
    pub layers: Vec<String>,
    width: usize,
    /// `[layer][level]`: a row of channels for each node.
    rows: Vec<Vec<Vec<T>>>,
    /// `[level]`: the symbol of each node.
    symbols: Vec<Vec<Symbol>>,
}

impl<T: Scalar> Nodes<T> {
    /// What the layers hold about the nodes of the first questions.
    pub fn sample(model: &mut Model<T>, weights: &Tensors<T>, questions: &Questions<'_>, count: usize) -> Result<Self> {
        let symbols = vec![Vec::with_capacity(count); questions.grammar().depth()];
        let mut nodes = Nodes { layers: Vec::new(), width: model.network().width, rows: Vec::new(), symbols };
        for first in (0..count).step_by(BATCH) {
            checkpoint();
            let numbers = first as u64..count.min(first + BATCH) as u64;
            let asked: Vec<Question> = numbers.map(|i| questions.get(i)).collect();
            let sentences: Vec<&[Symbol]> = asked.iter().map(|question| question.tree.sentence()).collect();
            let activations = model.activations(weights, &sentences)?;
            nodes.add(model.network(), &activations, &asked);
        }
        Ok(nodes)
    }

    fn add(&mut self, network: &Network, activations: &[Activations<T>], questions: &[Question]) {
        for Question { nodes, .. } in questions {
            self.symbols.iter_mut().zip(nodes).for_each(|(symbols, node)| symbols.push(node.symbol));
        }
        self.layers = activations.iter().map(|layer| layer.layer.clone()).collect();
        self.rows.resize(self.layers.len(), vec![Vec::new(); self.symbols.len()]);
        for (i, (layer, levels)) in activations.iter().zip(&mut self.rows).enumerate() {
            for (Question { tree, nodes }, places) in questions.iter().zip(&layer.places) {
                let places = true_places(network, i, places, tree);
                for (rows, &Node { span, .. }) in levels.iter_mut().zip(nodes) {
                    rows.extend(feature(layer, &places, span));
                }
            }
        }
    }

    /// Fits classifiers to the first `train` nodes and tests them on the others: accuracies `[layer][level]`.
    pub fn accuracy(&self, train: usize, grammar: &Grammar) -> Vec<Vec<f64>> {
        let of_layer = |levels: &Vec<Vec<T>>| {
            let levels = levels.par_iter().zip(&self.symbols).zip(grammar.sizes());
            levels.map(|((rows, symbols), &classes)| self.accuracy_of(train, rows, symbols, classes)).collect()
        };
        self.rows.par_iter().map(of_layer).collect()
    }

    fn accuracy_of(&self, train: usize, rows: &[T], symbols: &[Symbol], classes: usize) -> f64 {
        checkpoint();
        let (known, asked) = symbols.split_at(train);
        let (fitted, tested) = rows.split_at(train * self.width);
        let mut targets = vec![0.0; train * classes];
        for (target, &symbol) in targets.chunks_exact_mut(classes).zip(known) {
            target[usize::from(symbol)] = 1.0;
        }
        let ridge = Ridge::fit(fitted, self.width, &targets, classes, PENALTY);
        let right = |(row, &symbol): (&[T], &Symbol)| {
            let answer = ridge.predict(row);
            let best = (0..classes).max_by(|&a, &b| answer[a].total_cmp(&answer[b]));
            best == Some(usize::from(symbol))
        };
        share(tested.chunks_exact(self.width).zip(asked).map(right))
    }

    /// What is asked about each level when the first `train` nodes are known.
    pub fn levels(&self, train: usize, grammar: &Grammar, bounds: &[Bound]) -> Vec<Level> {
        let level = |(level, symbols): (usize, &Vec<Symbol>)| {
            let Bound { accuracy: bound, entropy } = bounds[level];
            let (known, asked) = symbols.split_at(train);
            let common = most_common(known);
            let chance = share(asked.iter().map(|&symbol| symbol == common));
            let (train, held_out) = (known.len(), asked.len());
            Level { level, symbols: grammar.sizes()[level], train, held_out, chance, bound, entropy }
        };
        self.symbols.iter().enumerate().map(level).collect()
    }
}

fn most_common(symbols: &[Symbol]) -> Symbol {
    let mut counts = [0; Grammar::MAX_VOCAB];
    symbols.iter().for_each(|&symbol| counts[usize::from(symbol)] += 1);
    (0..Grammar::MAX_VOCAB).max_by_key(|&symbol| counts[symbol]).unwrap_or(0) as Symbol
}

/// The share of answers that are right.
fn share(answers: impl ExactSizeIterator<Item = bool>) -> f64 {
    let count = answers.len();
    answers.filter(|&right| right).count() as f64 / count as f64
}
