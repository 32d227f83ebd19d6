//! The engine on a graphics card: against the dumps of PyTorch (`tests/reference`), and against the engine on the CPU.
//!
//! With `GARDENPATH_ADAPTER=llvmpipe` the tests insist on Vulkan in software.
#![cfg(feature = "gpu")]

mod common;
#[path = "common/refusals.rs"]
mod refusals;

use common::Dump;
use gardenpath::{Arities, Corpus, Ensemble, Seed, Shape, Symbol};
use gardenpath_nn::engine::{Cpu, Engine, NamedTensor, initial_state};
use gardenpath_nn::gpu::{Gpu, description};
use gardenpath_nn::{Architecture, Error, Masked, Network, Optimizer, Parameter, Task};

/// The weights with which a dump begins.
fn weights(dump: &Dump) -> Vec<NamedTensor> {
    let named = |parameter: Parameter| {
        let values = dump.doubles(&format!("weight.{}", parameter.name));
        let values = values.iter().map(|&value| value as f32).collect();
        NamedTensor { name: parameter.name, shape: parameter.shape, values }
    };
    dump.network.parameters().into_iter().map(named).collect()
}

/// The losses of some steps on the batch of a dump.
fn train(dump: &Dump, engine: &mut impl Engine, steps: usize) -> Vec<f64> {
    (0..steps).map(|_| engine.step(&dump.sentences(), &dump.labels).unwrap()).collect()
}

/// Panics if numbers differ by more than 1e-4, relative to those above 1; 32 bits give about 1e-6.
fn assert_close(what: &str, found: impl IntoIterator<Item = f64>, expected: &[f64]) {
    let found: Vec<f64> = found.into_iter().collect();
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-4 * b.abs().max(1.0), "{what}[{i}]: {a} is not {b}");
    }
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| value.into()).collect()
}

/// Panics if the tensors of two states differ.
fn assert_same_state(what: &str, found: &[NamedTensor], expected: &[NamedTensor]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!((&found.name, &found.shape), (&expected.name, &expected.shape), "{what}");
        assert_close(&format!("{what}: {}", found.name), wide(&found.values), &wide(&expected.values));
    }
}

/// Logits and gradients, and what is left of the run of the dump: losses and weights of gradient descent.
fn check(name: &str) {
    let dump = Dump::read(name);
    let engine = |learning_rate| Gpu::new(&dump.network, Optimizer::Sgd { learning_rate }, &weights(&dump)).unwrap();

    // A step of this rate moves each weight by its gradient.
    let mut moved = engine(1.0);
    assert_close(&format!("{name}: logits"), wide(&moved.logits(&dump.sentences()).unwrap()), dump.doubles("logits"));
    assert_close(&format!("{name}: loss"), train(&dump, &mut moved, 1), &dump.doubles("losses")[..1]);
    for tensor in moved.state() {
        let weights = dump.doubles(&format!("weight.{}", tensor.name));
        let gradient = weights.iter().zip(&tensor.values).map(|(&before, &after)| before - f64::from(after));
        let expected = dump.doubles(&format!("gradient.{}", tensor.name));
        assert_close(&format!("{name}: gradient of {}", tensor.name), gradient, expected);
    }

    // The rates of the transformer's dump are not those of an engine; see the test of Adam.
    if !matches!(dump.network.architecture, Architecture::Transformer { .. }) {
        let mut engine = engine(dump.network.width as f64);
        assert_close(&format!("{name}: losses"), train(&dump, &mut engine, 4), dump.doubles("losses"));
        for tensor in engine.state() {
            let expected = dump.doubles(&format!("final.{}", tensor.name));
            assert_close(&format!("{name}: {}", tensor.name), wide(&tensor.values), expected);
        }
    }
}

#[test]
fn cnn() {
    common::CNN.into_iter().for_each(check);
}

#[test]
fn inn() {
    common::INN.into_iter().for_each(check);
}

#[test]
fn transformer() {
    common::TRANSFORMER.into_iter().for_each(check);
}

#[test]
fn adam_as_on_the_cpu() {
    let dump = Dump::read("transformer-depth2");
    let optimizer = Optimizer::Adam { learning_rate: 1e-3 };
    let mut cpu = Cpu::new(&dump.network, optimizer, &weights(&dump)).unwrap();
    let mut gpu = Gpu::new(&dump.network, optimizer, &weights(&dump)).unwrap();
    let losses = train(&dump, &mut cpu, 4);
    assert_close("losses", train(&dump, &mut gpu, 4), &losses);
    assert_same_state("adam", &gpu.state(), &cpu.state());
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
            let losses = [cpu.step(&sentences, roots).unwrap(), gpu.step(&sentences, roots).unwrap()];
            assert!((losses[0] / losses[1] - 1.0).abs() < 1e-4, "{}: {losses:?}", architecture.name());
        }
        assert_same_state(architecture.name(), &gpu.state(), &cpu.state());
    }
}

/// Networks that tell tokens take the same steps too, with Adam, and say the same about sentences they have not seen, which are more than
/// are computed together; some have no mask.
#[test]
fn tasks_as_on_the_cpu() {
    let grammar = Ensemble::new(6, 3).fraction(0.2).sample(Seed::new(1)).unwrap();
    let corpus = Corpus::sample(&grammar, Seed::new(2), 0..240);
    let transformer = Architecture::Transformer { layers: 2, heads: 4, mlp: 48 };
    for task in [Task::Next, Task::Masked] {
        let what = task.name();
        let network = Network::for_task(task, 6, 6, grammar.shape(), 24, transformer).unwrap();
        let state = initial_state(&network, Seed::new(3));
        let optimizer = Optimizer::Adam { learning_rate: 1e-2 };
        let mut cpu = Cpu::new(&network, optimizer, &state).unwrap();
        let mut gpu = Gpu::new(&network, optimizer, &state).unwrap();
        let question = |i: usize| match task {
            Task::Masked => Masked::random(6, corpus.sentence(i), 0.1, Seed::new(5), i as u64),
            _ => Masked { sentence: corpus.sentence(i).to_vec(), answers: task.answers(6, corpus.sentence(i)) },
        };
        let questions: Vec<Masked> = (0..corpus.len()).map(question).collect();
        let (batches, fresh) = questions.split_at(96);
        for batch in batches.chunks(32) {
            let sentences: Vec<&[Symbol]> = batch.iter().map(|question| &*question.sentence).collect();
            let answers: Vec<Symbol> = batch.iter().flat_map(|question| question.answers.clone()).collect();
            let expected = cpu.step(&sentences, &answers).unwrap();
            assert_close(what, [gpu.step(&sentences, &answers).unwrap()], &[expected]);
        }
        let sentences: Vec<&[Symbol]> = fresh.iter().map(|question| &*question.sentence).collect();
        let found = gpu.logits(&sentences).unwrap();
        let asked: usize = fresh.iter().map(|question| question.answers.len()).sum();
        assert_eq!(found.len(), asked * network.outputs(), "{what}");
        assert_near(what, &found, &cpu.logits(&sentences).unwrap());
        assert!(task == Task::Next || fresh.iter().any(|question| question.answers.is_empty()));
    }
}

/// Panics if logits after some steps differ by more than a hundredth: Adam makes much of gradients that are nearly zero.
fn assert_near(what: &str, found: &[f32], expected: &[f32]) {
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 0.01, "{what}[{i}]: {a} is not {b}");
    }
}

/// Grammars with other numbers of children, the same in a layer or several.
#[test]
fn other_shapes_as_on_the_cpu() {
    let [two, three, both] = [Arities::from([2]), Arities::from([3]), Arities::PAPER];
    let [one_to_three, two_or_four, one_or_two, many] =
        [Arities::from([1, 2, 3]), Arities::from([2, 4]), Arities::from([1, 2]), Arities::from([5, 8])];
    for (layers, lengths) in [
        (vec![both, both, two], [8, 14, 18]),
        (vec![three, both], [6, 8, 9]),
        (vec![one_to_three; 2], [1, 5, 9]),
        (vec![two_or_four; 2], [4, 10, 16]),
        (vec![many, one_or_two], [5, 11, 16]),
    ] {
        let shape = Shape::new(&layers);
        let sentence = |length: usize| (0..length).map(move |place| ((length + place * place) % 4) as Symbol).collect();
        let sentences = lengths.map(|length| -> Vec<Symbol> { sentence(length) });
        let sentences = sentences.each_ref().map(Vec::as_slice);
        let transformer = Architecture::Transformer { layers: 1, heads: 2, mlp: 8 };
        for architecture in [Architecture::cnn(), Architecture::inn(), transformer] {
            let what = format!("{} for {layers:?}", architecture.name());
            let network = Network::new(4, 3, shape.clone(), 6, architecture).unwrap();
            let state = initial_state(&network, Seed::new(1));
            let optimizer = Optimizer::Sgd { learning_rate: 1.0 };
            let mut cpu = Cpu::new(&network, optimizer, &state).unwrap();
            let mut gpu = Gpu::new(&network, optimizer, &state).unwrap();
            let labels = [0, 1, 2];
            for _ in 0..2 {
                let expected = cpu.step(&sentences, &labels).unwrap();
                assert_close(&what, [gpu.step(&sentences, &labels).unwrap()], &[expected]);
            }
            assert_same_state(&what, &gpu.state(), &cpu.state());
        }
    }
}

/// A run that is saved and continued, here or on the CPU, is the same run; here to the last bit.
#[test]
fn resume() {
    for (name, optimizer) in [
        ("cnn-depth2", Optimizer::Sgd { learning_rate: 6.0 }),
        ("inn-depth2", Optimizer::Sgd { learning_rate: 6.0 }),
        ("transformer-depth2", Optimizer::Adam { learning_rate: 1e-3 }),
    ] {
        let dump = Dump::read(name);
        let engine = |state: &[NamedTensor]| Gpu::new(&dump.network, optimizer, state).unwrap();
        let mut whole = engine(&weights(&dump));
        let losses = train(&dump, &mut whole, 4);
        let mut half = engine(&weights(&dump));
        assert_eq!(train(&dump, &mut half, 2), losses[..2], "{name}");
        let mut rest = engine(&half.state());
        assert_eq!(train(&dump, &mut rest, 2), losses[2..], "{name}");
        assert_eq!(rest.state(), whole.state(), "{name}");

        let mut elsewhere = Cpu::new(&dump.network, optimizer, &half.state()).unwrap();
        assert_close(name, train(&dump, &mut elsewhere, 2), &losses[2..]);
        assert_same_state(name, &elsewhere.state(), &whole.state());
    }
}

/// More sentences than are computed together keep their order, and do not change with their company.
#[test]
fn many_sentences() {
    let grammar = Ensemble::new(5, 3).fraction(0.25).sample(Seed::new(1)).unwrap();
    let corpus = Corpus::sample(&grammar, Seed::new(2), 0..140);
    let sentences: Vec<&[Symbol]> = corpus.sentences().collect();
    for name in ["cnn-depth3", "inn-depth3", "transformer-depth3"] {
        let dump = Dump::read(name);
        let optimizer = Optimizer::Sgd { learning_rate: 1.0 };
        let mut cpu = Cpu::new(&dump.network, optimizer, &weights(&dump)).unwrap();
        let mut gpu = Gpu::new(&dump.network, optimizer, &weights(&dump)).unwrap();
        let expected = wide(&cpu.logits(&sentences).unwrap());
        assert_close(name, wide(&gpu.logits(&sentences).unwrap()), &expected);
        assert_close(name, wide(&gpu.logits(&sentences[..1]).unwrap()), &expected[..dump.network.classes]);
        assert!(gpu.logits(&[]).unwrap().is_empty());
    }
}

#[test]
fn batches_that_cannot_be_read_are_refused() {
    let network = Network::new(8, 8, Shape::mixed(2), 16, Architecture::inn()).unwrap();
    let state = initial_state(&network, Seed::new(1));
    refusals::check_refusals(&mut Gpu::new(&network, Optimizer::of_paper(&network), &state).unwrap());
}

#[test]
fn wrong_tensors_are_named() {
    let dump = Dump::read("transformer-depth2");
    let (weights, optimizer) = (weights(&dump), Optimizer::Adam { learning_rate: 1e-3 });
    let without: Vec<_> = weights.iter().filter(|tensor| tensor.name != "layer.1.up").cloned().collect();
    let error = Gpu::new(&dump.network, optimizer, &without).err().unwrap();
    assert!(matches!(error, Error::Missing { name } if name == "layer.1.up"));
    let mut other = weights.clone();
    other.iter_mut().filter(|tensor| tensor.name == "readout").for_each(|tensor| tensor.shape.reverse());
    let error = Gpu::new(&dump.network, optimizer, &other).err().unwrap();
    assert!(matches!(error, Error::WrongShape { name, .. } if name == "readout"));
}

/// The card is the one that is meant: without its driver another could stand in for it, silently.
#[test]
fn adapter() {
    let description = description().unwrap();
    println!("{description}");
    if let Ok(expected) = std::env::var("GARDENPATH_ADAPTER") {
        assert!(description.contains(&expected) && description.contains("Vulkan"), "{description}");
    }
}
