//! What a network cannot read is refused, by name, and before anything is computed.

#[path = "common/refusals.rs"]
mod refusals;

use gardenpath::{Arities, Corpus, Ensemble, Seed, Shape};
use gardenpath_nn::engine::{Cpu, initial_state};
use gardenpath_nn::train::{Masks, Progress, Settings, Trainer, evaluate};
use gardenpath_nn::{Architecture, Network, Optimizer};

fn networks(shape: &Shape) -> Vec<Network> {
    [Architecture::cnn(), Architecture::inn(), Architecture::Transformer { layers: 2, heads: 4, mlp: 32 }]
        .map(|architecture| Network::new(8, 8, shape.clone(), 16, architecture).unwrap())
        .to_vec()
}

fn engine(network: &Network) -> Cpu {
    Cpu::new(network, Optimizer::of_paper(network), &initial_state(network, Seed::new(1))).unwrap()
}

#[test]
fn batches_that_cannot_be_read_are_refused() {
    for network in networks(&Shape::mixed(2)) {
        let mut engine = engine(&network);
        refusals::check_refusals(&mut engine);
        assert!(engine.activations(&[&[0, 0, 0, 8]]).is_err() && engine.activations(&[&[0, 0, 0]]).is_err());
        assert!(engine.activations(&[]).is_err() && engine.activations(&[&[0, 0, 0, 7]]).is_ok());
    }
}

/// Two or three nodes of three tokens each: lengths between have no tree.
#[test]
fn gaps_between_lengths_are_refused() {
    use gardenpath_nn::engine::Engine;
    for network in networks(&Shape::new(&[Arities::PAPER, Arities::from([3])])) {
        let mut engine = engine(&network);
        assert!(engine.logits(&[&[0; 7]]).is_err() && engine.logits(&[&[0; 6], &[0; 9]]).is_ok());
    }
}

#[test]
fn data_that_cannot_be_learned_from_are_refused_at_once() {
    let grammar = Ensemble::new(8, 2).fraction(0.125).sample(Seed::new(4)).unwrap();
    let network = &networks(&grammar.shape())[0];
    let (good, empty) = (Corpus::sample(&grammar, Seed::new(1), 0..10), Corpus::default());
    let mut bad = good.clone();
    bad.push(&[0, 1, 2, 9], 0);
    let message = |train: &Corpus, test: &Corpus, batch: usize| {
        let settings = Settings { batch, ..Settings::default() };
        let trainer = Trainer::new(engine(network), settings, [train, test], Seed::new(3), Progress::default());
        trainer.err().map(|error| error.to_string())
    };
    assert_eq!(message(&good, &good, 5), None);
    let too_small = |what: &str| Some(format!("a {what} of 0 is too small, at least 1 is needed"));
    assert_eq!(message(&good, &empty, 5), too_small("number of test sentences"));
    assert_eq!(message(&empty, &good, 5), too_small("number of training sentences"));
    assert_eq!(message(&good, &good, 0), too_small("batch"));
    let unknown = "sentence 10: token 9 at position 3 is not one of the 8 tokens of the network";
    assert_eq!(message(&bad, &good, 5).as_deref(), Some(unknown));
    assert_eq!(message(&good, &bad, 5).as_deref(), Some(unknown));
    let masks = Masks { rate: 0.5, seed: Seed::new(1) };
    assert!(evaluate(&mut engine(network), &empty, masks).is_err());
    assert!(evaluate(&mut engine(network), &good, masks).is_ok());
}
