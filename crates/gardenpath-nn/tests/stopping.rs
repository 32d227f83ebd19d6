//! When training stops.

use gardenpath::{Corpus, Ensemble, Seed};
use gardenpath_nn::engine::{Cpu, initial_state};
use gardenpath_nn::train::{Ending, Event, Progress, Settings, Trainer};
use gardenpath_nn::{Architecture, Network, Optimizer};

/// Why training ends at this learning rate, if a plateau may end it after the first step.
fn ending(learning_rate: f64) -> (Ending, u64) {
    let seed = Seed::new(1);
    let grammar = Ensemble::new(4, 2).fraction(0.25).sample(seed).unwrap();
    let [train, test] = [0..4_000, 4_000..4_500].map(|range| Corpus::sample(&grammar, seed, range));
    let network = Network::new(4, 4, grammar.shape(), 16, Architecture::cnn()).unwrap();
    let state = initial_state(&network, seed.child("weights"));
    let engine = Cpu::new(&network, Optimizer::Sgd { learning_rate }, &state).unwrap();
    let settings = Settings { max_steps: 2_000, min_steps: 1, patience: 1.4, ..Settings::default() };
    let mut trainer = Trainer::new(engine, settings, [&train, &test], seed, Progress::default()).unwrap();
    loop {
        if let Event::Ended(ending) = trainer.advance().unwrap() {
            return (ending, trainer.progress().step);
        }
    }
}

/// Networks can stay at the loss of guessing for thousands of steps before they learn: such a plateau is not the end.
#[test]
fn a_plateau_at_guessing_does_not_end_training() {
    assert_eq!(ending(1e-6), (Ending::Steps, 2_000));
    let (learned, step) = ending(16.0);
    assert!(learned == Ending::Plateau && step < 2_000, "{learned:?} at step {step}");
}
