//! Records of networks of which everything is known, for the tests.

use crate::record::Record;
use serde_json::{Value, json};

/// The seeds of a point, and how far each has moved ln P*: evenly around 0, so that their mean is not moved.
const MOVES: [f64; 5] = [-0.1, -0.05, 0.0, 0.05, 0.1];

fn record(parameters: Value, result: Value) -> Record {
    let object = |value: Value| value.as_object().cloned().unwrap_or_default();
    Record { parameters: object(parameters), result: object(result) }
}

/// A trained network.
pub fn network(model: &str, depth: u32, (vocab, fraction): (f64, f64), samples: f64, seed: usize, loss: f64) -> Record {
    record(
        json!({"measure": "train", "model": model, "depth": depth, "vocab": vocab, "fraction": fraction,
               "samples": samples, "seed": seed}),
        json!({"normalized_loss": loss}),
    )
}

/// Networks whose loss falls as a sigmoid in ln P around ln P*, at powers of 2 around it.
pub fn networks(model: &str, depth: u32, vocabs: &[f64], star: impl Fn(f64) -> f64) -> Vec<Record> {
    let mut all = Vec::new();
    for &vocab in vocabs {
        for power in -4..=4 {
            for (seed, moved) in MOVES.iter().enumerate() {
                let samples = star(vocab) * 2f64.powi(power);
                let loss = 1.0 / (1.0 + samples / star(vocab) * moved.exp());
                all.push(network(model, depth, (vocab, 1.0 / vocab), samples, seed + 1, loss));
            }
        }
    }
    all
}

/// Signal and noise of grammars whose inverse ratio is 1/2 at P*.
pub fn ratios(depth: u32, vocabs: &[f64], star: impl Fn(f64) -> f64) -> Vec<Record> {
    let of_seed = |vocab: f64, seed: usize| {
        let sizes: Vec<f64> = (-5..=4).map(|power| star(vocab) * 2f64.powi(power)).collect();
        // Grammars differ in both, and only the ratio of the means is right.
        let signal = 0.1 + 0.02 * MOVES[seed];
        let noise: Vec<f64> = sizes.iter().map(|size| 0.05 * star(vocab) / size * (1.0 + MOVES[seed])).collect();
        record(
            json!({"measure": "snr", "depth": depth, "vocab": vocab, "seed": seed + 1}),
            json!({"sizes": sizes, "signal": signal, "noise": noise}),
        )
    };
    let seeds = |vocab: &f64| (0..MOVES.len()).map(|seed| of_seed(*vocab, seed)).collect::<Vec<_>>();
    vocabs.iter().flat_map(seeds).collect()
}
