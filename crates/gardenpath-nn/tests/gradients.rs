//! Gradients against finite differences, in double precision, for shapes that the reference dumps do not have.

use gardenpath::{Arities, Seed, Shape, Symbol};
use gardenpath_nn::{Architecture, Masked, Model, Network, Normalization, Sink, Task, Tensors};

/// Random sentences of all lengths of a shape, the shortest and the longest among them.
fn sentences(shape: &Shape, vocab: usize, seed: Seed) -> Vec<Vec<Symbol>> {
    let mut stream = seed.stream(0);
    let possible: Vec<usize> = shape.lengths().filter(|&len| shape.has_length(len)).collect();
    let mut lengths = vec![possible[0], possible[possible.len() - 1]];
    lengths.extend((0..4).map(|_| possible[stream.below(possible.len() as u64) as usize]));
    lengths.iter().map(|&len| (0..len).map(|_| stream.below(vocab as u64) as Symbol).collect()).collect()
}

fn check(network: &Network) {
    let seed = Seed::new(5);
    let parameters = network.parameters();
    let mut owned = sentences(&network.shape, network.vocab, seed.child("sentences"));
    let mut stream = seed.child("roots").stream(0);
    let roots: Vec<Symbol> = match network.task {
        Task::Root => owned.iter().map(|_| stream.below(network.classes as u64) as Symbol).collect(),
        Task::Next => owned.iter().flat_map(|sentence| Task::Next.answers(network.vocab, sentence)).collect(),
        Task::Masked => {
            let mask = |(sentence, number): (&Vec<Symbol>, u64)| {
                Masked::random(network.vocab, sentence, 0.3, seed.child("masks"), number)
            };
            let masked: Vec<Masked> = owned.iter().zip(0..).map(mask).collect();
            owned = masked.iter().map(|masked| masked.sentence.clone()).collect();
            masked.into_iter().flat_map(|masked| masked.answers).collect()
        }
    };
    let sentences: Vec<&[Symbol]> = owned.iter().map(Vec::as_slice).collect();
    let mut weights = Tensors::<f64>::sample(&parameters, seed.child("weights"));
    let mut model = Model::new(network);
    let mut gradient = Tensors::zeros(&parameters);
    model.learn(&mut weights, &sentences, &roots, &mut Sink::Gradient(&mut gradient)).unwrap();
    let mut loss = |weights: &mut Tensors<f64>| {
        let mut ignored = Tensors::zeros(&parameters);
        model.learn(weights, &sentences, &roots, &mut Sink::Gradient(&mut ignored)).unwrap()
    };
    for (tensor, parameter) in parameters.iter().enumerate() {
        for _ in 0..12 {
            // As it lies in memory, with the zeros that fill up panels: the loss does not depend on those.
            let i = stream.below(weights.get(tensor).len() as u64) as usize;
            let value = weights.get(tensor)[i];
            let mut at = |x: f64| {
                weights.get_mut(tensor)[i] = x;
                loss(&mut weights)
            };
            let expected = gradient.get(tensor)[i];
            // Within a step a rectifier can open or close; then a smaller one decides.
            let mut difference = |step: f64| (at(value + step) - at(value - step)) / (2.0 * step);
            let agrees = |found: f64| (found - expected).abs() < 1e-6 * (1.0 + expected.abs());
            let is_right = [1e-5, 1e-7].into_iter().any(|step| agrees(difference(step)));
            assert!(
                is_right,
                "{} {}[{i}]: {expected}, by differences {}",
                network.architecture.name(),
                parameter.name,
                difference(1e-7)
            );
            at(value);
        }
    }
}

fn shapes() -> Vec<Shape> {
    let [two, three] = [2, 3].map(|arity| Arities::from([arity]));
    vec![
        Shape::mixed(1),
        Shape::mixed(2),
        Shape::mixed(3),
        Shape::new(&[two; 3]),
        Shape::new(&[three, Arities::PAPER, two]),
        Shape::new(&[Arities::from([1, 2, 3]); 2]),
        Shape::new(&[Arities::from([2, 4]); 2]),
        Shape::new(&[Arities::from([5, 8]), Arities::from([1, 2])]),
    ]
}

#[test]
fn of_all_architectures_and_shapes() {
    for shape in shapes() {
        for architecture in [
            Architecture::cnn(),
            Architecture::inn(),
            Architecture::Cnn { normalization: Normalization::Width },
            Architecture::Inn { normalization: Normalization::Width },
            Architecture::Inn { normalization: Normalization::Splits },
            Architecture::Transformer { layers: 1, heads: 3, mlp: 5 },
            Architecture::Transformer { layers: 3, heads: 2, mlp: 20 },
        ] {
            check(&Network::new(5, 3, shape.clone(), 18, architecture).unwrap());
        }
    }
}

#[test]
fn of_all_tasks_and_shapes() {
    for shape in shapes().into_iter().filter(|shape| *shape.lengths().end() <= 18) {
        for task in [Task::Next, Task::Masked] {
            let architecture = Architecture::Transformer { layers: 2, heads: 3, mlp: 5 };
            let network = Network::new(5, 3, shape.clone(), 18, architecture).unwrap();
            check(&network.with_task(task).unwrap());
        }
    }
}

#[test]
fn of_a_deep_inside_network() {
    check(&Network::new(4, 4, Shape::mixed(4), 3, Architecture::inn()).unwrap());
}
