//! Networks for trees with other numbers of children, against the plain sums by which they are defined, in double precision.

use gardenpath::{Arities, Seed, Shape, Symbol};
use gardenpath_nn::engine::{Cpu, Engine, initial_state};
use gardenpath_nn::{Architecture, Model, Network, Normalization, Optimizer, Tensors};
use std::collections::HashMap;

/// Single sets of arities at depths 1 and 2, and mixes of them.
fn shapes() -> Vec<Shape> {
    let sets: [&[usize]; 9] = [&[1], &[2], &[3], &[4], &[1, 2], &[2, 3], &[2, 4], &[1, 2, 3], &[2, 3, 4]];
    let sets = sets.map(|set| set.iter().copied().collect::<Arities>());
    let mixes: [&[&[usize]]; 6] = [
        &[&[2, 3], &[1], &[2, 4]],
        &[&[1, 2, 3], &[2], &[1, 2]],
        &[&[3], &[2, 4], &[1, 2]],
        &[&[4], &[1, 3]],
        &[&[2, 8], &[1, 2]],
        &[&[5, 6, 7], &[1, 2]],
    ];
    let mixes = mixes.map(|layers| layers.iter().map(|set| set.iter().copied().collect()).collect::<Vec<Arities>>());
    sets.iter().flat_map(|&set| [vec![set], vec![set; 2]]).chain(mixes).map(|layers| Shape::new(&layers)).collect()
}

fn architectures() -> Vec<Architecture> {
    let both = [Normalization::FanIn, Normalization::Width];
    let filters = both.map(|normalization| [Architecture::Cnn { normalization }, Architecture::Inn { normalization }]);
    let others = [
        Architecture::Inn { normalization: Normalization::Splits },
        Architecture::Transformer { layers: 2, heads: 2, mlp: 5 },
    ];
    [&filters.concat()[..], &others].concat()
}

/// A sentence of every length up to 16 tokens: longer ones have too many splits for plain sums.
fn sentences(shape: &Shape, vocab: usize) -> Vec<Vec<Symbol>> {
    let mut stream = Seed::new(3).stream(0);
    let lengths = shape.lengths().filter(|&len| shape.has_length(len) && len <= 16);
    lengths.map(|len| (0..len).map(|_| stream.below(vocab as u64) as Symbol).collect()).collect()
}

/// The weights of a network by name, row-major, and their factors.
struct Weights {
    tensors: HashMap<String, Vec<f64>>,
    width: usize,
    normalization: Normalization,
}

impl Weights {
    /// Adds `row` times matrix `index` of a tensor that is shared by `taps` places.
    fn add(&self, sum: &mut [f64], row: &[f64], tensor: &str, index: usize, taps: usize) {
        let inputs = if self.normalization == Normalization::Width { row.len() } else { taps * row.len() };
        let matrix = &self.tensors[tensor][index * row.len() * self.width..];
        for (x, weights) in row.iter().zip(matrix.chunks(self.width)) {
            sum.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += x * weight / (inputs as f64).sqrt());
        }
    }

    fn logits(&self, top: &[f64], classes: usize) -> Vec<f64> {
        let logit = |class| {
            let products = top.iter().enumerate().map(|(k, x)| x * self.tensors["readout"][k * classes + class]);
            products.sum::<f64>() / self.width as f64
        };
        (0..classes).map(logit).collect()
    }
}

fn whitened(token: Symbol, vocab: usize) -> Vec<f64> {
    let mean = 1.0 / vocab as f64;
    let value = |i| (if i == usize::from(token) { 1.0 - mean } else { -mean }) / (mean * (1.0 - mean)).sqrt();
    (0..vocab).map(value).collect()
}

fn relu(row: Vec<f64>) -> Vec<f64> {
    row.into_iter().map(|x| x.max(0.0)).collect()
}

/// The convolutional network, with all its padding.
fn cnn(network: &Network, weights: &Weights, sentence: &[Symbol]) -> Vec<f64> {
    let depth = network.shape.depth();
    let padded = (network.shape.lengths().end() * 10).div_ceil(9).max(2 << depth);
    let mut map: Vec<Vec<f64>> = sentence.iter().map(|&token| whitened(token, network.vocab)).collect();
    map.resize(padded, vec![0.0; network.vocab]);
    for layer in 0..=depth {
        let position = |p: usize| {
            let mut sum = vec![0.0; network.width];
            for tap in 0..4 {
                if let Some(row) = (2 * p + tap).checked_sub(1).and_then(|input| map.get(input)) {
                    weights.add(&mut sum, row, &format!("conv.{layer}"), tap, 4);
                }
            }
            relu(sum)
        };
        map = (0..map.len() / 2).map(position).collect();
    }
    let mean = |k: usize| map.iter().map(|row| row[k]).sum::<f64>() / map.len() as f64;
    weights.logits(&(0..network.width).map(mean).collect::<Vec<f64>>(), network.classes)
}

/// All ways to write a number as a sum of so many positive ones.
fn compositions(number: usize, parts: usize) -> Vec<Vec<usize>> {
    if parts == 1 {
        return if number > 0 { vec![vec![number]] } else { vec![] };
    }
    let with_first =
        |first| compositions(number - first, parts - 1).into_iter().map(move |rest| [vec![first], rest].concat());
    (1..number).flat_map(with_first).collect()
}

/// The cell of an inside network on a span, if a tree can have a node there: a sum over all splits, cell by cell.
struct Inside<'a> {
    network: &'a Network,
    weights: &'a Weights,
    sentence: &'a [Symbol],
    cells: HashMap<(usize, usize, usize), Option<Vec<f64>>>,
}

impl Inside<'_> {
    fn cell(&mut self, level: usize, start: usize, len: usize) -> Option<Vec<f64>> {
        if level == self.network.shape.depth() {
            return (len == 1).then(|| whitened(self.sentence[start], self.network.vocab));
        }
        if let Some(cell) = self.cells.get(&(level, start, len)) {
            return cell.clone();
        }
        let (mut sum, mut splits) = (vec![0.0; self.network.width], 0);
        for arity in self.network.shape.arities(level).iter() {
            let names = ["unary", "binary", "ternary"].map(String::from);
            let name = names.get(arity - 1).cloned().unwrap_or_else(|| format!("arity{arity}"));
            for lengths in compositions(len, arity) {
                let starts: Vec<usize> = (0..arity).map(|k| start + lengths[..k].iter().sum::<usize>()).collect();
                let parts: Option<Vec<Vec<f64>>> =
                    starts.iter().zip(&lengths).map(|(&start, &len)| self.cell(level + 1, start, len)).collect();
                splits += usize::from(parts.is_some());
                for (index, part) in parts.iter().flatten().enumerate() {
                    self.weights.add(&mut sum, part, &format!("level.{level}.{name}"), index, arity);
                }
            }
        }
        if self.weights.normalization == Normalization::Splits {
            sum.iter_mut().for_each(|sum| *sum /= (splits as f64).sqrt());
        }
        let cell = (splits > 0).then(|| relu(sum));
        self.cells.insert((level, start, len), cell.clone());
        cell
    }
}

fn inn(network: &Network, weights: &Weights, sentence: &[Symbol]) -> Vec<f64> {
    let mut inside = Inside { network, weights, sentence, cells: HashMap::new() };
    let root = inside.cell(0, 0, sentence.len()).expect("a tree");
    weights.logits(&root, network.classes)
}

/// The logits of a sentence.
type Plain = fn(&Network, &Weights, &[Symbol]) -> Vec<f64>;

#[test]
fn logits_are_those_of_plain_sums() {
    for shape in shapes() {
        for architecture in architectures() {
            let (normalization, plain): (_, Plain) = match architecture {
                Architecture::Cnn { normalization } => (normalization, cnn),
                Architecture::Inn { normalization } => (normalization, inn),
                Architecture::Transformer { .. } => continue,
            };
            let network = Network::new(5, 3, shape.clone(), 7, architecture).unwrap();
            let parameters = network.parameters();
            let tensors = Tensors::<f64>::sample(&parameters, Seed::new(2));
            let named = parameters.iter().enumerate().map(|(i, tensor)| (tensor.name.clone(), tensors.row_major(i)));
            let weights = Weights { tensors: named.collect(), width: network.width, normalization };
            let owned = sentences(&shape, network.vocab);
            let batch: Vec<&[Symbol]> = owned.iter().map(Vec::as_slice).collect();
            let expected = batch.iter().flat_map(|sentence| plain(&network, &weights, sentence));
            let mut model = Model::new(&network);
            let found = model.logits(&tensors, &batch).unwrap();
            assert_eq!(found.len(), 3 * batch.len());
            // Numbers of splits over a square root are rounded to single precision.
            let close = if normalization == Normalization::Splits { 1e-6 } else { 1e-11 };
            for (i, (&found, expected)) in found.iter().zip(expected).enumerate() {
                let what = format!("{architecture:?} for {shape:?}, sentence {}", i / 3);
                assert!((found - expected).abs() < close * (1.0 + expected.abs()), "{what}: {found}, not {expected}");
            }
        }
    }
}

/// What a network says of a sentence does not depend on its company.
#[test]
fn sentences_are_read_one_by_one() {
    for shape in shapes() {
        let owned = sentences(&shape, 5);
        let batch: Vec<&[Symbol]> = owned.iter().map(Vec::as_slice).collect();
        for architecture in architectures() {
            let network = Network::new(5, 3, shape.clone(), 8, architecture).unwrap();
            let weights = Tensors::<f64>::sample(&network.parameters(), Seed::new(2));
            let mut model = Model::new(&network);
            let together = model.logits(&weights, &batch).unwrap().to_vec();
            for (sentence, together) in batch.iter().zip(together.chunks(3)) {
                let alone = model.logits(&weights, &[sentence]).unwrap();
                let close = alone.iter().zip(together).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + a.abs()));
                assert!(close, "{architecture:?} for {shape:?}: {alone:?} and {together:?}");
            }
        }
    }
}

/// A fixed tree of 4,096 tokens, eight children to a node: cells are few, and splits are counted.
#[test]
fn long_sentences_of_eight_children_are_learned_from() {
    let shape = Shape::new(&[Arities::from([8]); 4]);
    let sentence: Vec<Symbol> = (0..4096u32).map(|i| (i * i % 7 % 4) as Symbol).collect();
    for architecture in
        [Architecture::cnn(), Architecture::inn(), Architecture::Transformer { layers: 1, heads: 1, mlp: 4 }]
    {
        let network = Network::new(4, 2, shape.clone(), 4, architecture).unwrap();
        let mut engine =
            Cpu::new(&network, Optimizer::of_paper(&network), &initial_state(&network, Seed::new(1))).unwrap();
        let losses: Vec<f64> = (0..20).map(|_| engine.step(&[&sentence], &[1]).unwrap()).collect();
        assert!(losses[19] < losses[0], "{}: {losses:?}", architecture.name());
    }
}

#[test]
fn sentences_that_do_not_fit_into_memory_are_refused() {
    let longest = vec![0; Shape::MAX_LEN];
    let message = |architecture| {
        let network = Network::new(2, 2, Shape::mixed(Shape::MAX_DEPTH), 2, architecture).unwrap();
        let mut engine =
            Cpu::new(&network, Optimizer::of_paper(&network), &initial_state(&network, Seed::new(1))).unwrap();
        engine.logits(&[&longest]).map(|logits| logits.len()).map_err(|error| error.to_string())
    };
    assert_eq!(message(Architecture::cnn()), Ok(2));
    let refused = |architecture, start: &str| {
        let message = message(architecture).unwrap_err();
        assert!(message.starts_with(start) && message.contains("the limit is"), "{message}");
    };
    refused(Architecture::inn(), "a chart for 59049 tokens needs about");
    refused(Architecture::Transformer { layers: 2, heads: 2, mlp: 2 }, "attention over 59049 tokens needs about");
}
