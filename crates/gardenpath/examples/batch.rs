//! How long the core takes for a batch, without any border to cross: `bench/python.py` compares it with the same calls from Python.
//!
//! `cargo run --release -p gardenpath --example batch -- DEPTH SENTENCES` answers each line on standard input with the seconds
//! that sampling and parsing took.

use gardenpath::{Corpus, Ensemble, Inside, Result, Sampler, Seed};
use std::hint::black_box;
use std::time::Instant;

fn main() -> Result<()> {
    let number = |place: usize, default: u64| std::env::args().nth(place).and_then(|n| n.parse().ok()).unwrap_or(default);
    let (depth, sentences) = (number(1, 2), number(2, 1_000_000));
    let grammar = Ensemble::new(16, depth as usize).fraction(0.25).sample(Seed::new(7))?;
    for _ in std::io::stdin().lines() {
        let clock = Instant::now();
        let corpus = Corpus::sample_with(&Sampler::new(&grammar), Seed::new(1), 0..sentences);
        let sampling = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let entries = corpus.len() * grammar.classes();
        let (mut logs, mut shares) = (vec![0.0; entries], vec![0.0; entries]);
        Inside::new(&grammar).batch_into(&corpus, &mut logs, &mut shares, &|_| ())?;
        let parsing = clock.elapsed().as_secs_f64();
        black_box((logs, shares));
        println!("{sampling} {parsing}");
    }
    Ok(())
}
