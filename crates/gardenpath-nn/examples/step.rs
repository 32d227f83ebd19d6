//! Times one step of training, and compares it with what the processor could do. `bench/networks.py` runs it side by side with PyTorch.
//!
//! `flops` is the number of additions and multiplications of a step that follows from its shapes (see [`flops`]), `peak` the fused
//! multiply-adds that all threads manage in registers, in FLOP per second, and `percent_of_peak` the share of it that a step reaches.
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
    let flops: Option<f64> = batches.iter().map(|(sentences, _)| flops(&arguments, sentences)).sum();
    let (flops, peak) = (flops.map(|flops| flops / BATCHES as f64), peak(arguments.threads));
    let share = milliseconds.zip(flops).zip(peak).map(|((time, flops), peak)| 100.0 * flops / (time * 1e-3) / peak);
    let report = serde_json::json!({
        "milliseconds": milliseconds,
        "losses": losses,
        "steps": times.len(),
        "flops": flops,
        "peak": peak,
        "percent_of_peak": share,
    });
    println!("{report}");
}

/// The additions and multiplications of the matrix products of a step: forward, the gradient of the rows, and that of the weights, two for
/// each weight and row. What is done row by row, softmax, normalisation and Adam, is not counted. None for the INN, whose products depend
/// on which parts of sentences are equal.
fn flops(arguments: &Arguments, sentences: &[Vec<Symbol>]) -> Option<f64> {
    let &Arguments { vocab, depth, width, .. } = arguments;
    let mlp = arguments.mlp.unwrap_or(4 * width);
    let layers = arguments.layers.unwrap_or(depth);
    let lengths = sentences.iter().map(Vec::len);
    let weights: usize = match arguments.model.as_str() {
        "cnn" => {
            // Rows of a layer meet those of the next along the taps 2p - 1 .. 2p + 2. The first layer is made of tokens: few rows.
            let longest = Shape::mixed(depth).lengths().into_inner().1;
            let padded = (longest * 10).div_ceil(9).max(2 << depth);
            let of_sentence = |length: usize| {
                let (mut rows, mut links) = (length, 0);
                for layer in 0..=depth {
                    let above = (rows / 2 + 1).min(padded >> (layer + 1));
                    if layer > 0 {
                        let inputs = |p: usize| (2 * p..2 * p + 4).filter(|&i| i > 0 && i <= rows).count();
                        links += (0..above).map(inputs).sum::<usize>();
                    }
                    rows = above;
                }
                links
            };
            lengths.map(of_sentence).sum::<usize>() * width * width + sentences.len() * width * vocab
        }
        "transformer" => {
            let is_causal = arguments.task == "next";
            let of_sentence = |length: usize| {
                let rows = length + 1;
                let asking = if is_causal { rows } else { 1 };
                let layer = |asking: usize, pairs: usize| {
                    // Scores and mixed values are products too: of two activations, with a gradient for each of them.
                    2 * (rows + asking) * width * width + 2 * asking * width * mlp + 2 * pairs * width
                };
                let pairs = |asking: usize| if is_causal { rows * (rows + 1) / 2 } else { asking * rows };
                (layers - 1) * layer(rows, pairs(rows)) + layer(asking, pairs(asking)) + asking * width * vocab
            };
            lengths.map(of_sentence).sum()
        }
        _ => return None,
    };
    Some(6.0 * weights as f64)
}

/// The fused multiply-adds of AVX2 in single precision that all threads manage together, in FLOP per second. AVX-512 may be faster: on
/// processors that split it into halves it is not.
fn peak(threads: usize) -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        use std::arch::x86_64::{__m256, _mm256_fmadd_ps, _mm256_set1_ps};
        use std::hint::black_box;
        const SUMS: usize = 12;
        const TURNS: usize = 200_000;
        #[target_feature(enable = "avx2,fma")]
        fn turns() {
            let (factor, term) = black_box((_mm256_set1_ps(0.5), _mm256_set1_ps(0.25)));
            let mut sums: [__m256; SUMS] = [_mm256_set1_ps(0.0); SUMS];
            for _ in 0..TURNS {
                for sum in &mut sums {
                    *sum = _mm256_fmadd_ps(*sum, factor, term);
                }
            }
            black_box(sums);
        }
        let measure = |_| {
            let start = Instant::now();
            // SAFETY: the processor has AVX2 and FMA, all that `turns` needs beyond a safe function.
            unsafe { turns() };
            (TURNS * SUMS * 8 * 2) as f64 / start.elapsed().as_secs_f64()
        };
        let best = rayon::broadcast(|_| (0..50).map(measure).fold(0.0, f64::max));
        return Some(best.into_iter().take(threads).sum());
    }
    let _ = threads;
    None
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
