//! Times one step of training. `bench/networks.py` runs it side by side with PyTorch.
//!
//! ```text
//! cargo run --release -p gardenpath-nn --example step -- --model cnn --depth 2 --width 512 --threads 2
//! ```

use clap::Parser;
use gardenpath::{Corpus, Ensemble, Seed, Shape, Symbol};
use gardenpath_nn::engine::{Cpu, Engine, NamedTensor, initial_state};
use gardenpath_nn::{Architecture, Network, Optimizer, Task};
use safetensors::tensor::{Dtype, TensorView};
use std::path::PathBuf;
use std::time::Instant;

/// Times one step of training on a cycle of eight batches.
#[derive(Parser)]
struct Arguments {
    /// cnn, inn or transformer.
    #[arg(long)]
    model: String,
    /// The depth of the grammar.
    #[arg(long, default_value_t = 2)]
    depth: usize,
    /// Symbols of each level.
    #[arg(long, default_value_t = 16)]
    vocab: usize,
    /// Channels of each layer.
    #[arg(long, default_value_t = 512)]
    width: usize,
    /// Sentences of a batch.
    #[arg(long, default_value_t = 128)]
    batch: usize,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// How long to measure.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// What the transformer tells: root or next.
    #[arg(long, default_value = "root")]
    task: String,
    /// Heads of the transformer.
    #[arg(long, default_value_t = 16)]
    heads: usize,
    /// Layers of the transformer [default: the depth].
    #[arg(long)]
    layers: Option<usize>,
    /// Hidden size of the transformer's perceptrons [default: four times the width].
    #[arg(long)]
    mlp: Option<usize>,
    /// Write the initial weights and the batches here instead of measuring.
    #[arg(long)]
    dump: Option<PathBuf>,
}

/// A batch: its sentences, and their roots or the next tokens.
type Batch = (Vec<Vec<Symbol>>, Vec<Symbol>);

const BATCHES: usize = 8;

fn main() {
    let arguments = Arguments::parse();
    rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build_global().expect("the first pool");
    let network = network(&arguments);
    let optimizer = Optimizer::of_paper(&network);
    let state = initial_state(&network, Seed::new(1).child("weights"));
    let batches = batches(&arguments);
    if let Some(path) = &arguments.dump {
        std::fs::write(path, dump(&network, optimizer, &state, &batches)).expect("the file can be written");
    }
    let mut engine = Cpu::new(&network, optimizer, &state).expect("the state fits the network");
    let mut step = |number: usize| {
        let (sentences, answers) = &batches[number % BATCHES];
        let sentences: Vec<&[Symbol]> = sentences.iter().map(Vec::as_slice).collect();
        let start = Instant::now();
        let loss = engine.step(&sentences, answers).expect("the network can read its grammar");
        (loss, start.elapsed().as_secs_f64() * 1e3)
    };
    let losses: Vec<f64> = (0..3).map(|number| step(number).0).collect();
    let mut times = Vec::new();
    let start = Instant::now();
    while arguments.dump.is_none() && (times.len() < BATCHES || start.elapsed().as_secs_f64() < arguments.seconds) {
        times.push(step(times.len()).1);
    }
    times.sort_by(f64::total_cmp);
    let milliseconds = times.get(times.len() / 2);
    println!("{}", serde_json::json!({ "milliseconds": milliseconds, "losses": losses, "steps": times.len() }));
}

fn network(arguments: &Arguments) -> Network {
    let &Arguments { vocab, depth, width, heads, .. } = arguments;
    let architecture = match arguments.model.as_str() {
        "cnn" => Architecture::cnn(),
        "inn" => Architecture::inn(),
        "transformer" => Architecture::Transformer {
            layers: arguments.layers.unwrap_or(depth),
            heads,
            mlp: arguments.mlp.unwrap_or(4 * width),
        },
        other => panic!("there is no model {other}"),
    };
    let network = Network::for_task(task(arguments), vocab, vocab, Shape::mixed(depth), width, architecture);
    network.expect("sizes that make sense")
}

fn task(arguments: &Arguments) -> Task {
    match arguments.task.as_str() {
        "root" => Task::Root,
        "next" => Task::Next,
        other => panic!("there is no task {other}"),
    }
}

fn batches(arguments: &Arguments) -> Vec<Batch> {
    let ensemble = Ensemble::new(arguments.vocab, arguments.depth).fraction(1.0 / arguments.vocab as f64);
    let grammar = ensemble.sample(Seed::new(1)).expect("a grammar");
    let size = arguments.batch;
    let corpus = Corpus::sample(&grammar, Seed::new(2), 0..(BATCHES * size) as u64);
    let batch = |b: usize| {
        let numbers = b * size..(b + 1) * size;
        let sentences: Vec<Vec<Symbol>> = numbers.clone().map(|i| corpus.sentence(i).to_vec()).collect();
        let answers = match task(arguments) {
            Task::Root => corpus.roots()[numbers].to_vec(),
            task => sentences.iter().flat_map(|sentence| task.answers(arguments.vocab, sentence)).collect(),
        };
        (sentences, answers)
    };
    (0..BATCHES).map(batch).collect()
}

fn dump(network: &Network, optimizer: Optimizer, state: &[NamedTensor], batches: &[Batch]) -> Vec<u8> {
    let (Optimizer::Sgd { learning_rate } | Optimizer::Adam { learning_rate }) = optimizer;
    let mut bytes: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = Vec::new();
    for NamedTensor { name, shape, values } in state {
        let values = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        bytes.push((format!("weight.{name}"), Dtype::F32, shape.clone(), values));
    }
    for parameter in network.parameters() {
        let rate = (parameter.rate * learning_rate) as f32;
        bytes.push((format!("learning_rate.{}", parameter.name), Dtype::F32, vec![1], rate.to_le_bytes().to_vec()));
    }
    for (b, (sentences, answers)) in batches.iter().enumerate() {
        let tokens = sentences.concat();
        let lengths = sentences.iter().flat_map(|sentence| (sentence.len() as i64).to_le_bytes()).collect();
        bytes.push((format!("tokens.{b}"), Dtype::U8, vec![tokens.len()], tokens));
        bytes.push((format!("lengths.{b}"), Dtype::I64, vec![sentences.len()], lengths));
        bytes.push((format!("labels.{b}"), Dtype::U8, vec![answers.len()], answers.clone()));
    }
    let views = bytes.iter().map(|(name, kind, shape, bytes)| {
        (name.clone(), TensorView::new(*kind, shape.clone(), bytes).expect("bytes fit their shape"))
    });
    safetensors::serialize(views, None).expect("tensors in memory can be serialised")
}
