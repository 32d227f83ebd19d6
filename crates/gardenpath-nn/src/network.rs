//! The architecture of a network, and the parameters that follow from it.

use crate::error::{Error, Result};
use crate::task::Task;
use gardenpath::{Grammar, Shape, memory};
use serde::{Deserialize, Serialize};

/// How hidden layers are scaled, so that their activations stay of order one for unit Gaussian weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalization {
    /// By the number of inputs of a neuron, to the power -1/2.
    #[default]
    FanIn,
    /// By the number of channels below (the paper's `H`), to the power -1/2, whatever the size of the filter.
    Width,
    /// As [`FanIn`](Self::FanIn), counting the inputs of all splits of a cell, whose number grows with its length. Only for inside
    /// networks. Without it they do not train in trees of four levels: the untrained network is sure of a random class.
    Splits,
}

impl Normalization {
    /// The factor of a hidden layer that sums over `taps` places of `channels` channels.
    pub fn scale(self, taps: usize, channels: usize) -> f64 {
        let inputs = match self {
            Normalization::FanIn | Normalization::Splits => taps * channels,
            Normalization::Width => channels,
        };
        1.0 / (inputs as f64).sqrt()
    }
}

/// The kind of a network, with what only this kind has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "lowercase")]
pub enum Architecture {
    /// Convolutions with filters of size 4 and stride 2.
    Cnn {
        /// The scale of hidden layers.
        normalization: Normalization,
    },
    /// The inside neural network: filters for each number of children, shared by the cells of the inside chart.
    Inn {
        /// The scale of hidden layers.
        normalization: Normalization,
    },
    /// A class token and the sentence after it, layers of attention and perceptrons. It sees all tokens, or in the task
    /// [`Task::Next`] those before.
    Transformer {
        /// The number of layers.
        layers: usize,
        /// The number of heads, a divisor of the width.
        heads: usize,
        /// The hidden size of the perceptrons.
        mlp: usize,
    },
}

impl Architecture {
    /// The paper's convolutional network.
    pub fn cnn() -> Self {
        Architecture::Cnn { normalization: Normalization::FanIn }
    }

    /// The paper's inside neural network.
    pub fn inn() -> Self {
        Architecture::Inn { normalization: Normalization::FanIn }
    }

    /// The paper's transformer: 16 heads, perceptrons four times as wide, one layer for each level of the tree.
    pub fn transformer(depth: usize, width: usize) -> Self {
        Architecture::Transformer { layers: depth, heads: 16, mlp: width.saturating_mul(4) }
    }

    /// The name of the kind.
    pub fn name(&self) -> &'static str {
        match self {
            Architecture::Cnn { .. } => "cnn",
            Architecture::Inn { .. } => "inn",
            Architecture::Transformer { .. } => "transformer",
        }
    }
}

/// A network for the sentences of one kind of grammar.
///
/// ```
/// use gardenpath::Shape;
/// use gardenpath_nn::{Architecture, Network};
///
/// let network = Network::new(16, 16, Shape::mixed(2), 512, Architecture::cnn())?;
/// let names: Vec<String> = network.parameters().into_iter().map(|p| p.name).collect();
/// assert_eq!(names, ["conv.0", "conv.1", "conv.2", "readout"]);
/// # Ok::<(), gardenpath_nn::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The number of tokens.
    pub vocab: usize,
    /// The number of classes: the roots of the grammar.
    pub classes: usize,
    /// The shape of the trees, from which the network is generated.
    pub shape: Shape,
    /// The number of channels of each layer (the paper's `H` or `d_emb`).
    pub width: usize,
    /// The kind of network.
    pub architecture: Architecture,
    /// What it tells.
    pub task: Task,
}

/// The values with which a parameter begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Unit Gaussians.
    Gaussian,
    /// Ones.
    One,
    /// Zeros.
    Zero,
}

/// What a parameter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Matrices by which rows are multiplied; the last two sizes are inputs and outputs.
    Matrix,
    /// Rows that are looked up or act number by number.
    Rows,
}

/// A tensor that is learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in files.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// What it is for.
    pub(crate) purpose: Purpose,
    /// Its first values.
    pub(crate) start: Start,
    /// Its learning rate relative to that of the optimiser.
    pub rate: f64,
}

impl Parameter {
    /// Matrices of unit Gaussians.
    fn matrix(name: impl Into<String>, shape: Vec<usize>) -> Self {
        Parameter { name: name.into(), shape, purpose: Purpose::Matrix, start: Start::Gaussian, rate: 1.0 }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The width for which the learning rate of Adam is meant; other widths are scaled so that updates stay of the same order.
const ADAM_WIDTH: f64 = 512.0;

impl Network {
    /// A network that tells roots, if its sizes make sense.
    pub fn new(vocab: usize, classes: usize, shape: Shape, width: usize, architecture: Architecture) -> Result<Self> {
        Self::for_task(Task::Root, vocab, classes, shape, width, architecture)
    }

    /// A network for any task, if its sizes make sense. The number of classes matters only to networks that tell roots.
    pub fn for_task(
        task: Task,
        vocab: usize,
        classes: usize,
        shape: Shape,
        width: usize,
        architecture: Architecture,
    ) -> Result<Self> {
        let network = Network { vocab, classes, shape, width, architecture, task };
        network.check()?;
        Ok(network)
    }

    /// The same network for another task, which only transformers can have.
    ///
    /// ```
    /// use gardenpath::Shape;
    /// use gardenpath_nn::{Architecture, Network, Task};
    ///
    /// let of = |architecture| Network::new(16, 16, Shape::mixed(2), 64, architecture);
    /// let network = of(Architecture::transformer(2, 64))?.with_task(Task::Next)?;
    /// assert_eq!(network.outputs(), 17);
    /// assert!(of(Architecture::cnn())?.with_task(Task::Next).is_err());
    /// # Ok::<(), gardenpath_nn::Error>(())
    /// ```
    pub fn with_task(self, task: Task) -> Result<Self> {
        let network = Network { task, ..self };
        network.check()?;
        Ok(network)
    }

    fn check(&self) -> Result<()> {
        let at_least = |what, value, least: usize| {
            if value < least { Err(Error::TooSmall { what, value, least }) } else { Ok(()) }
        };
        at_least("vocabulary", self.vocab, 2)?;
        at_least("number of classes", self.classes, if self.task.is_root() { 2 } else { 0 })?;
        at_least("width", self.width, 1)?;
        if !self.task.is_root() {
            if !matches!(self.architecture, Architecture::Transformer { .. }) {
                return Err(Error::Task { model: self.architecture.name(), task: self.task.name() });
            }
            // One more number is needed, for the end of a sentence or the mask.
            if self.vocab > Grammar::MAX_VOCAB {
                return Err(Error::TooLarge { what: "vocabulary", value: self.vocab, most: Grammar::MAX_VOCAB });
            }
        }
        if let Architecture::Transformer { layers, heads, mlp } = self.architecture {
            at_least("number of layers", layers, 1)?;
            at_least("number of heads", heads, 1)?;
            at_least("perceptron", mlp, 1)?;
            if !self.width.is_multiple_of(heads) {
                return Err(Error::Heads { heads, width: self.width });
            }
        }
        if self.architecture == (Architecture::Cnn { normalization: Normalization::Splits }) {
            return Err(Error::Splits);
        }
        // Weights, gradients and two moments of the optimiser.
        let bytes = self.values().saturating_mul(4 * size_of::<f32>() as u128);
        Ok(memory::check(format_args!("training this network of width {}", self.width), bytes)?)
    }

    /// The number of all values of the parameters, whatever the sizes: they are not listed for each layer.
    fn values(&self) -> u128 {
        let size = |shape: &Vec<usize>| shape.iter().map(|&n| n as u128).fold(1, u128::saturating_mul);
        let all = |network: &Network| {
            network.parameters().iter().map(|parameter| size(&parameter.shape)).fold(0, u128::saturating_add)
        };
        let Architecture::Transformer { layers, heads, mlp } = self.architecture else { return all(self) };
        let with =
            |layers| all(&Network { architecture: Architecture::Transformer { layers, heads, mlp }, ..self.clone() });
        let (none, one) = (with(0), with(1));
        (one - none).saturating_mul(layers as u128).saturating_add(none)
    }

    /// About how many hidden layers there are.
    pub(crate) fn hidden_layers(&self) -> usize {
        match self.architecture {
            Architecture::Transformer { layers, .. } => layers,
            Architecture::Cnn { .. } | Architecture::Inn { .. } => self.shape.depth(),
        }
    }

    /// The numbers in a row of logits: classes, tokens and the end of the sentence, or tokens.
    pub fn outputs(&self) -> usize {
        match self.task {
            Task::Root => self.classes,
            Task::Next => self.vocab + 1,
            Task::Masked => self.vocab,
        }
    }

    /// The symbols that can stand in a sentence: tokens, and the mask if there is one.
    pub(crate) fn inputs(&self) -> usize {
        self.vocab + usize::from(self.task == Task::Masked)
    }

    /// The loss of guessing, the unit of normalised losses: `ln classes`, or `ln vocab` for tokens.
    pub fn guessing_loss(&self) -> f64 {
        let choices = if self.task.is_root() { self.classes } else { self.vocab };
        (choices as f64).ln()
    }

    /// All parameters, in the order of their tensors.
    pub fn parameters(&self) -> Vec<Parameter> {
        let depth = self.shape.depth();
        let mut parameters = Vec::new();
        match self.architecture {
            Architecture::Cnn { .. } => {
                for layer in 0..=depth {
                    let inputs = if layer == 0 { self.vocab } else { self.width };
                    parameters.push(Parameter::matrix(format!("conv.{layer}"), vec![4, inputs, self.width]));
                }
            }
            Architecture::Inn { .. } => {
                for level in (0..depth).rev() {
                    let inputs = if level + 1 == depth { self.vocab } else { self.width };
                    for arity in self.shape.arities(level).iter() {
                        let name = filter_name(arity);
                        parameters
                            .push(Parameter::matrix(format!("level.{level}.{name}"), vec![arity, inputs, self.width]));
                    }
                }
            }
            Architecture::Transformer { layers, mlp, .. } => self.encoder_parameters(layers, mlp, &mut parameters),
        }
        parameters.push(Parameter::matrix("readout", vec![self.width, self.outputs()]));
        parameters
    }

    fn encoder_parameters(&self, layers: usize, mlp: usize, parameters: &mut Vec<Parameter>) {
        let width = self.width;
        let rows = |name: &str, shape: Vec<usize>, start| Parameter {
            purpose: Purpose::Rows,
            start,
            ..Parameter::matrix(name, shape)
        };
        let norm = |name: String| {
            let part = |part, start| rows(&format!("{name}.{part}"), vec![width], start);
            [part("gain", Start::One), part("bias", Start::Zero)]
        };
        let matrix = |name: String, inputs: usize, outputs: usize| Parameter {
            rate: (ADAM_WIDTH / inputs as f64).sqrt(),
            ..Parameter::matrix(name, vec![inputs, outputs])
        };
        // The class token stands between the tokens and the mask.
        parameters.push(rows("embedding", vec![self.inputs() + 1, width], Start::Gaussian));
        parameters.push(rows("position", vec![self.shape.lengths().end() + 1, width], Start::Gaussian));
        for layer in 0..layers {
            parameters.extend(norm(format!("layer.{layer}.attention_norm")));
            for name in ["query", "key", "value", "output"] {
                parameters.push(matrix(format!("layer.{layer}.{name}"), width, width));
            }
            parameters.extend(norm(format!("layer.{layer}.mlp_norm")));
            parameters.push(matrix(format!("layer.{layer}.up"), width, mlp));
            parameters.push(matrix(format!("layer.{layer}.down"), mlp, width));
        }
        parameters.extend(norm("final_norm".into()));
    }
}

/// The name of the filter of the inside network for rules with so many children.
pub(crate) fn filter_name(arity: usize) -> String {
    match arity {
        1 => "unary".into(),
        2 => "binary".into(),
        3 => "ternary".into(),
        _ => format!("arity{arity}"),
    }
}
