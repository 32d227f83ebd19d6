//! The engine on a graphics card against the dumps of PyTorch (`tests/reference`).
#![cfg(feature = "gpu")]

use gardenpath::{Arities, Corpus, Ensemble, Seed, Shape, Symbol};
use gardenpath_nn::engine::{Cpu, Engine, NamedTensor, initial_state};
use gardenpath_nn::gpu::{Gpu, description};
use gardenpath_nn::{Architecture, Network, Normalization, Optimizer};
use safetensors::SafeTensors;
use std::collections::HashMap;

/// The file of a dump.
struct Dump {
    name: String,
    bytes: Vec<u8>,
}

impl Dump {
    /// Reads the dump of this name.
    fn read(name: &str) -> Self {
        let path = format!("{}/tests/reference/{name}.safetensors", env!("CARGO_MANIFEST_DIR"));
        Self { name: name.into(), bytes: std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}")) }
    }

    /// All dumps of networks of this kind.
    fn all(kind: &str) -> Vec<Self> {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference")).expect("the dumps");
        let names = folder.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
        let mut names = names.filter(|name| name.starts_with(kind)).collect::<Vec<_>>();
        names.sort();
        assert!(!names.is_empty(), "no dumps of {kind}");
        names.iter().filter_map(|name| name.strip_suffix(".safetensors")).map(Self::read).collect()
    }

    fn tensors(&self) -> SafeTensors<'_> {
        SafeTensors::deserialize(&self.bytes).expect("a dump")
    }

    /// The eight bytes of each number of a tensor.
    fn numbers(&self, name: &str) -> Vec<[u8; 8]> {
        self.tensors().tensor(name).expect("a tensor").data().as_chunks().0.to_vec()
    }

    fn floats(&self, name: &str) -> Vec<f64> {
        self.numbers(name).into_iter().map(f64::from_le_bytes).collect()
    }

    fn symbols(&self, name: &str) -> Vec<Symbol> {
        self.numbers(name).into_iter().map(|bytes| i64::from_le_bytes(bytes) as Symbol).collect()
    }

    /// The sentences of the batch.
    fn sentences(&self) -> Vec<Vec<Symbol>> {
        let mut tokens = self.symbols("tokens").into_iter();
        self.symbols("lengths").into_iter().map(|length| tokens.by_ref().take(length.into()).collect()).collect()
    }

    /// The tensors whose names begin with `prefix`, which is taken away.
    fn named(&self, prefix: &str) -> Vec<NamedTensor> {
        let tensors = self.tensors();
        let named = tensors.iter().filter_map(|(full, view)| {
            let name = full.strip_prefix(prefix)?.to_string();
            let values = self.floats(full).into_iter().map(|value| value as f32).collect();
            Some(NamedTensor { name, shape: view.shape().to_vec(), values })
        });
        named.collect()
    }

    /// The network.
    fn network(&self) -> Network {
        let (_, header) = SafeTensors::read_metadata(&self.bytes).expect("a header");
        let metadata: HashMap<String, String> = header.metadata().clone().expect("a configuration");
        let number = |key: &str| metadata[key].parse::<usize>().expect("a number");
        let normalization = match metadata["normalization"].as_str() {
            "fan-in" => Normalization::FanIn,
            "width" => Normalization::Width,
            other => panic!("normalization {other}"),
        };
        let architecture = match metadata["model"].as_str() {
            "cnn" => Architecture::Cnn { normalization },
            "inn" => Architecture::Inn { normalization },
            "transformer" => {
                Architecture::Transformer { layers: number("layers"), heads: number("heads"), mlp: number("mlp") }
            }
            other => panic!("model {other}"),
        };
        let [vocab, classes, depth, width] = ["vocab", "classes", "depth", "width"].map(number);
        Network::new(vocab, classes, Shape::mixed(depth), width, architecture).expect("a network")
    }

    /// Gradient descent as in the dumps. Adam has other rates there: it is compared with the engine of the CPU.
    fn optimizer(&self) -> Optimizer {
        Optimizer::of_paper(&self.network())
    }

    /// An engine that continues from this state.
    fn engine(&self, state: &[NamedTensor]) -> Gpu {
        Gpu::new(&self.network(), self.optimizer(), state).expect("an engine")
    }

    /// The losses of some steps on the batch.
    fn train(&self, engine: &mut Gpu, steps: usize) -> Vec<f64> {
        let (sentences, labels) = (self.sentences(), self.symbols("labels"));
        let sentences = sentences.iter().map(Vec::as_slice).collect::<Vec<_>>();
        (0..steps).map(|_| engine.step(&sentences, &labels)).collect()
    }
}

/// Panics if numbers differ by more than `tolerance`, relative to those above 1.
fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs() / expected.abs().max(1.0);
        assert!(error <= tolerance, "{what}[{place}] is {found}, expected {expected}");
    }
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| value.into()).collect()
}

/// Logits, losses and trained weights of all dumps of a kind.
fn check(kind: &str) {
    for dump in Dump::all(kind) {
        let name = &dump.name;
        let mut engine = dump.engine(&dump.named("weight."));
        let sentences = dump.sentences();
        let sentences = sentences.iter().map(Vec::as_slice).collect::<Vec<_>>();
        assert_close(&format!("{name}: logits"), &wide(&engine.logits(&sentences)), &dump.floats("logits"), 1e-4);
        if kind == "transformer" {
            continue;
        }
        let losses = dump.train(&mut engine, 4);
        for (step, (found, expected)) in losses.iter().zip(dump.floats("losses")).enumerate() {
            assert!((found / expected - 1.0).abs() < 1e-4, "{name}: loss {step} is {found}, expected {expected}");
        }
        let state = engine.state();
        for expected in dump.named("final.") {
            let found = state.iter().find(|tensor| tensor.name == expected.name).expect("a weight");
            assert_eq!(found.shape, expected.shape, "{name}: {}", expected.name);
            let what = format!("{name}: {}", expected.name);
            assert_close(&what, &wide(&found.values), &wide(&expected.values), 1e-4);
        }
    }
}

#[test]
fn cnn() {
    check("cnn");
}

#[test]
fn inn() {
    check("inn");
}

#[test]
fn transformer() {
    check("transformer");
}

/// A run that is saved and continued is the same run, to the last bit.
#[test]
fn resume() {
    for name in ["cnn-depth2", "inn-depth2", "transformer-depth2"] {
        let dump = Dump::read(name);
        let mut whole = dump.engine(&dump.named("weight."));
        let losses = dump.train(&mut whole, 4);
        let mut half = dump.engine(&dump.named("weight."));
        assert_eq!(dump.train(&mut half, 2), losses[..2], "{name}");
        let mut rest = dump.engine(&half.state());
        assert_eq!(dump.train(&mut rest, 2), losses[2..], "{name}");
        assert_eq!(rest.state(), whole.state(), "{name}");
    }
}

/// More sentences than are computed together keep their order, and do not change with their company.
#[test]
fn many_sentences() {
    for name in ["cnn-depth3", "inn-depth3", "transformer-depth3"] {
        let dump = Dump::read(name);
        let mut engine = dump.engine(&dump.named("weight."));
        let sentences = dump.sentences();
        let many = sentences.iter().map(Vec::as_slice).cycle().take(20 * sentences.len()).collect::<Vec<_>>();
        let expected = dump.floats("logits");
        assert_close(name, &wide(&engine.logits(&many)), &expected.repeat(20), 1e-4);
        let alone = &expected[..dump.network().classes];
        assert_close(name, &wide(&engine.logits(&many[..1])), alone, 1e-4);
    }
}

/// Same weights, same batches: the losses of the first steps are those of the CPU, and so are the weights after them.
#[test]
fn both_engines_take_the_same_steps() {
    let grammar = Ensemble::new(8, 3).fraction(0.125).sample(Seed::new(1)).expect("a grammar");
    let corpus = Corpus::sample(&grammar, Seed::new(2), 0..96);
    let transformer = Architecture::Transformer { layers: 2, heads: 4, mlp: 48 };
    for architecture in [Architecture::cnn(), Architecture::inn(), transformer] {
        let network = Network::new(8, 8, grammar.shape(), 24, architecture).expect("a network");
        let optimizer = Optimizer::of_paper(&network);
        let state = initial_state(&network, Seed::new(3));
        let mut cpu = Cpu::new(&network, optimizer, &state).expect("an engine");
        let mut gpu = Gpu::new(&network, optimizer, &state).expect("an engine");
        for batch in 0..3 {
            let numbers = batch * 32..(batch + 1) * 32;
            let sentences: Vec<&[Symbol]> = numbers.clone().map(|i| corpus.sentence(i)).collect();
            let roots = &corpus.roots()[numbers];
            let losses = [cpu.step(&sentences, roots), gpu.step(&sentences, roots)];
            assert!((losses[0] / losses[1] - 1.0).abs() < 1e-4, "{}: {losses:?}", architecture.name());
        }
        for (cpu, gpu) in cpu.state().iter().zip(gpu.state()) {
            assert_eq!((&cpu.name, &cpu.shape), (&gpu.name, &gpu.shape));
            assert_close(&cpu.name, &wide(&gpu.values), &wide(&cpu.values), 2e-3);
        }
    }
}

/// What is missing is named.
#[test]
fn errors() {
    let dump = Dump::read("transformer-depth2");
    let error =
        |state: &[NamedTensor]| Gpu::new(&dump.network(), dump.optimizer(), state).err().expect("an error").to_string();
    let state = dump.named("weight.");
    let without = |name: &str| state.iter().filter(|tensor| tensor.name != name).cloned().collect::<Vec<_>>();
    assert_eq!(error(&without("layer.1.up")), "there is no tensor 'layer.1.up'");
    let mut other = state.clone();
    other.iter_mut().filter(|tensor| tensor.name == "readout").for_each(|tensor| tensor.shape.reverse());
    assert_eq!(error(&other), "tensor 'readout' has the shape [5, 8], the network needs [8, 5]");
    let shape = Shape::new(&[Arities { min: 2, max: 2 }; 2]);
    let binary = Network::new(5, 5, shape, 8, Architecture::cnn()).expect("a network");
    let refused = Gpu::new(&binary, Optimizer::of_paper(&binary), &[]).err().expect("an error").to_string();
    assert!(refused.contains("binary and ternary"), "{refused}");
}

/// The card is the one that is meant: without its driver another could stand in for it, silently.
#[test]
fn adapter() {
    let description = description().expect("a card");
    println!("{description}");
    if let Ok(expected) = std::env::var("GARDENPATH_ADAPTER") {
        assert!(description.contains(&expected) && description.contains("Vulkan"), "{description}");
    }
}
