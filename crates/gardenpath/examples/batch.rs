//! What sampling and parsing a batch take without any border to cross: `bench/python.py` compares it with the same calls from Python.
//!
//! `cargo run --release -p gardenpath --example batch -- DEPTH SENTENCES` samples at each line `corpus` on standard input, parses at each
//! line `inside`, and answers with the seconds it took.

use gardenpath::{Corpus, Ensemble, Inside, Result, Sampler, Seed};
use std::hint::black_box;
use std::time::Instant;

fn main() -> Result<()> {
    let number =
        |place: usize, default: u64| std::env::args().nth(place).and_then(|n| n.parse().ok()).unwrap_or(default);
    let (depth, sentences) = (number(1, 2), number(2, 1_000_000));
    let grammar = Ensemble::new(16, depth as usize).fraction(0.25).sample(Seed::new(7))?;
    let sampler = Sampler::new(&grammar);
    let corpus = Corpus::sample_with(&sampler, Seed::new(1), 0..sentences);
    for line in std::io::stdin().lines().map_while(std::result::Result::ok) {
        let clock = Instant::now();
        if line == "corpus" {
            black_box(Corpus::sample_with(&sampler, Seed::new(1), 0..sentences));
        } else {
            let entries = corpus.len() * grammar.classes();
            let (mut logs, mut shares) = (vec![0.0; entries], vec![0.0; entries]);
            Inside::new(&grammar).batch_into(&corpus, &mut logs, &mut shares, &|_| ())?;
            black_box((logs, shares));
        }
        println!("{}", clock.elapsed().as_secs_f64());
    }
    Ok(())
}
