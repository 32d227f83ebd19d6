//! Probes of a network: which hidden layer encodes which level of the true tree?
//!
//! Sentences are sampled with their trees. There are two measures for every hidden layer and every level above the tokens:
//!
//! - The accuracy of a linear classifier that reads the symbol of a true node off the rows which stand for its span. It is high
//!   once the symbol is there in a form that a next layer could use. The classifier is a ridge regression on one-hot targets:
//!   it has one solution, but can be a little worse than the network's own readout.
//! - The sensitivity to exchanging the synonyms of a level, as in Cagnetta et al., "How deep neural networks learn
//!   compositional data" (2024). It is low once the layer no longer sees by which rules the symbols were rewritten.
//!
//! Each accuracy comes with its upper bound: that of the most probable symbol given everything the network sees. A causal
//! network sees the tokens up to the one in question, and probes read the symbols above it off its row.
//!
//! In an inside network only the cells of the true tree count, for both: the others stand for spans without a symbol.

mod bound;
mod linear;
mod questions;
mod ridge;
mod spans;
mod synonyms;

use crate::error::{Error, Result};
use crate::model::Model;
use crate::network::Network;
use crate::scalar::Scalar;
use crate::tensors::Tensors;
use gardenpath::{Grammar, Seed, memory};
use questions::Questions;
use serde::{Deserialize, Serialize};

/// Sentences that are held in memory at a time, with all that the network makes of them.
const BATCH: usize = 64;

/// How much to sample for a probe.
///
/// ```
/// use gardenpath::{Ensemble, Seed};
/// use gardenpath_nn::probe::Probe;
/// use gardenpath_nn::{Architecture, Model, Network, Tensors};
///
/// let grammar = Ensemble::new(4, 2).sample(Seed::new(1))?;
/// let network = Network::new(4, 4, grammar.shape(), 32, Architecture::inn())?;
/// let weights = Tensors::sample(&network.parameters(), Seed::new(2));
/// let probe = Probe { train: 400, held_out: 200, exchanged: 50 };
/// let report = probe.run(&mut Model::<f32>::new(&network), &weights, &grammar, Seed::new(3))?;
/// assert_eq!(report.layers, ["level.1", "level.0"]);
/// // Even without training, a pair or triple of tokens gives away its symbol: there are few of them, and many channels.
/// assert!(report.accuracy[0][1] > report.levels[1].chance);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Sentences to which linear classifiers are fitted. Each gives one node of each level.
    pub train: usize,
    /// Sentences on which they are tested.
    pub held_out: usize,
    /// Sentences in which synonyms are exchanged.
    pub exchanged: usize,
}

impl Default for Probe {
    /// Enough for widths up to 1024, with four nodes for each channel; accuracies are certain to about 0.01.
    fn default() -> Self {
        Probe { train: 4000, held_out: 2000, exchanged: 1000 }
    }
}

/// The questions about a level of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The level: 0 is the root.
    pub level: usize,
    /// The number of symbols of the level.
    pub symbols: usize,
    /// The number of nodes to which classifiers were fitted.
    pub train: usize,
    /// The number of nodes on which they were tested.
    pub held_out: usize,
    /// The accuracy of always answering the most common symbol of the nodes to fit.
    pub chance: f64,
    /// The accuracy that exact inference expects of itself, from what the network sees and on the same nodes: no probe has a better one, up to
    /// noise. The rows of an inside network are those of the true tree, which can tell a little more if sentences are ambiguous.
    pub bound: f64,
    /// The entropy that exact inference leaves, in nats.
    pub entropy: f64,
}

/// The results of the probes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// The hidden layers, from the tokens up.
    pub layers: Vec<String>,
    /// The levels above the tokens, from the root down.
    pub levels: Vec<Level>,
    /// `[layer][level]`: the share of held-out nodes whose symbol was read off the layer.
    pub accuracy: Vec<Vec<f64>>,
    /// `[layer][level]`: how far the layer moves when the synonyms of the level are exchanged, as a mean square relative to an
    /// unrelated sentence of the same topology. 0: not at all. 1: as if the sentence were another. `None`: the layer never moves.
    pub sensitivity: Vec<Vec<Option<f64>>>,
}

impl Probe {
    /// Probes a network with sentences of its grammar. The seed should not be that of its training set.
    pub fn run<T: Scalar>(
        &self,
        model: &mut Model<T>,
        weights: &Tensors<T>,
        grammar: &Grammar,
        seed: Seed,
    ) -> Result<ProbeReport> {
        check_grammar(model.network(), grammar)?;
        self.check::<T>(model.network())?;
        let seed = seed.child("probe");
        let questions = Questions::new(model.network(), grammar, seed.child("linear"));
        let count = self.train + self.held_out;
        let nodes = linear::Nodes::sample(model, weights, &questions, count)?;
        let accuracy = nodes.accuracy(self.train, grammar);
        let sensitivity = synonyms::sensitivity(model, weights, grammar, seed.child("synonyms"), self.exchanged)?;
        let bounds = bound::bounds(&questions, self.train as u64..count as u64)?;
        let levels = nodes.levels(self.train, grammar, &bounds);
        Ok(ProbeReport { layers: nodes.layers, levels, accuracy, sensitivity })
    }

    fn check<T>(&self, network: &Network) -> Result<()> {
        let sizes = [
            ("number of nodes to fit", self.train),
            ("number of nodes to test", self.held_out),
            ("number of sentences with synonyms", self.exchanged),
        ];
        if let Some((what, value)) = sizes.into_iter().find(|&(_, value)| value == 0) {
            return Err(Error::TooSmall { what, value, least: 1 });
        }
        // A row of each hidden layer for a node of each level of each sentence, and its target.
        let sentences = self.train as u128 + self.held_out as u128;
        let row = (network.width * size_of::<T>() + network.classes * size_of::<f64>()) as u128;
        let rows = sentences * (network.hidden_layers() * network.shape.depth()) as u128;
        Ok(memory::check(format_args!("probing {sentences} sentences"), rows.saturating_mul(row))?)
    }
}

/// Rejects a grammar whose sentences the network cannot read.
fn check_grammar(network: &Network, grammar: &Grammar) -> Result<()> {
    let shape = grammar.shape();
    let arities = |shape: &gardenpath::Shape| {
        let layers: Vec<_> = (0..shape.depth()).map(|layer| shape.arities(layer)).collect();
        format!("{layers:?}")
    };
    let differ = |what, network, grammar| Err(Error::OtherGrammar { what, network, grammar });
    if network.vocab != grammar.vocab() {
        return differ("number of tokens", network.vocab.to_string(), grammar.vocab().to_string());
    }
    if network.shape != shape {
        return differ("numbers of children by level", arities(&network.shape), arities(&shape));
    }
    Ok(())
}
