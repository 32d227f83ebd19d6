//! Networks learn what they should from as many sentences as they should. Run by `./test long`.

use gardenpath::learn::score::answers;
use gardenpath::{Corpus, Ensemble, Seed};
use gardenpath_nn::engine::{Cpu, initial_state};
use gardenpath_nn::train::{Event, Progress, Settings, Trainer};
use gardenpath_nn::{Architecture, Network, Optimizer};

/// The best test loss of a network and the floor of its test set, both in units of guessing.
struct Run {
    loss: f64,
    floor: f64,
}

fn run(vocab: usize, fraction: f64, samples: usize, width: usize, architecture: Architecture, seed: u64) -> Run {
    let seed = Seed::new(seed);
    let grammar = Ensemble::new(vocab, 2).fraction(fraction).sample(seed).unwrap();
    let train = Corpus::sample(&grammar, seed.child("train"), 0..samples as u64);
    let test = Corpus::sample(&grammar, seed.child("test"), 0..20_000);
    let network = Network::new(vocab, vocab, grammar.shape(), width, architecture).unwrap();
    let state = initial_state(&network, seed.child("weights"));
    let engine = Cpu::new(&network, Optimizer::of_paper(&network), &state).unwrap();
    let settings = Settings { max_steps: 12_000, ..Settings::default() };
    let order = seed.child("order");
    let mut trainer = Trainer::new(engine, settings, [&train, &test], order, Progress::default()).unwrap();
    while !matches!(trainer.advance().unwrap(), Event::Ended(_)) {}
    let guessing = (vocab as f64).ln();
    let best = trainer.progress().best().unwrap().test_loss;
    Run { loss: best / guessing, floor: answers(&grammar, &test).unwrap().cross_entropy / guessing }
}

/// The mean over seeds of the loss after `ratio * vocab^2` sentences at f = 1/v.
fn mean_loss(vocab: usize, ratio: usize, width: usize, architecture: Architecture) -> f64 {
    let seeds = 3u64;
    let samples = ratio * vocab * vocab;
    let loss = |seed| run(vocab, 1.0 / vocab as f64, samples, width, architecture, 100 + seed).loss;
    let mean = (0..seeds).map(loss).sum::<f64>() / seeds as f64;
    println!("{} v={vocab} P={ratio} v^2: {mean:.3}", architecture.name());
    mean
}

#[test]
#[ignore = "some minutes"]
fn cnn_needs_about_32_v_squared_sentences() {
    for (vocab, width) in [(8, 128), (16, 256)] {
        assert!(mean_loss(vocab, 16, width, Architecture::cnn()) > 0.5);
        assert!(mean_loss(vocab, 64, width, Architecture::cnn()) < 0.5);
    }
}

#[test]
#[ignore = "some minutes"]
fn inn_needs_about_12_v_squared_sentences() {
    for (vocab, width) in [(8, 128), (16, 256)] {
        assert!(mean_loss(vocab, 6, width, Architecture::inn()) > 0.5);
        assert!(mean_loss(vocab, 24, width, Architecture::inn()) < 0.5);
    }
}

#[test]
#[ignore = "some minutes"]
fn transformer_learns_from_128_v_squared_sentences() {
    let architecture = Architecture::Transformer { layers: 2, heads: 8, mlp: 256 };
    let loss = run(8, 0.125, 128 * 64, 64, architecture, 1).loss;
    println!("transformer: {loss:.3}");
    assert!(loss < 0.4);
}

/// Where sentences are ambiguous no network does better than Bayes, and with more sentences it comes closer.
#[test]
#[ignore = "some minutes"]
fn ambiguity_is_a_floor() {
    for fraction in [0.6, 0.8] {
        let gap = |samples| {
            let Run { loss, floor } = run(8, fraction, samples, 128, Architecture::cnn(), 7);
            println!("f={fraction} P={samples}: {loss:.3}, Bayes {floor:.3}");
            assert!(loss > floor && floor > 0.05);
            loss - floor
        };
        let gaps = [1 << 14, 1 << 16, 1 << 18].map(gap);
        assert!(gaps[0] > gaps[1] && gaps[1] > gaps[2] && gaps[2] < 0.7 * gaps[0]);
    }
}
