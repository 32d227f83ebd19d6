//! Speeds of the core on one thread, each checked for a right result first.
//!
//! `cargo bench -p gardenpath` prints a table. Machines differ and are noisy: every line is the best of several rounds.

use gardenpath::{
    Chart, Corpus, Ensemble, Grammar, Inside, LogProbability, Moments, Node, Parser, Predictor, Reader, Sampler, Seed,
    Span, class_entropy,
};
use std::time::Instant;

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the pool is made once");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let chosen = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str()));
    println!("{:<44} {:>14} {:>14}", "one thread, v = 16", "measured", "at least");
    if chosen("sample") {
        sampling();
    }
    if chosen("moments") {
        moments();
    }
    if chosen("inside") {
        inside(2, 1.0e6);
        inside(3, 0.3e6);
    }
    if chosen("outside") {
        outside();
    }
    if chosen("deep") {
        deep(6, 244, 0.2);
        deep(7, 610, 5.0);
    }
    if chosen("entropy") {
        entropy();
    }
    if chosen("next") {
        next_token(2, 1.0e6);
        next_token(3, 0.25e6);
        next_published(0.001);
    }
    if chosen("full") {
        next_full(6, 244, 2.5);
    }
}

fn sampling() {
    let sampler = Sampler::new(&grammar(3, 0.25));
    let corpus = Corpus::sample_with(&sampler, Seed::new(1), 0..1000);
    assert_eq!(corpus.sentence(999), sampler.tree(Seed::new(1), 999).sentence());
    let mut tokens = 0;
    let seconds = best_of(9, || tokens = Corpus::sample_with(&sampler, Seed::new(1), 0..400_000).tokens().len());
    report("sampling, L = 3, f = 1/4 (tokens/s)", tokens as f64 / seconds, "150.0 M");
}

fn moments() {
    let corpus = Corpus::sample(&grammar(3, 0.25), Seed::new(1), 0..400_000);
    let mut plain = Moments::new(16, 16).expect("the tables fit");
    let mut fast = plain.clone();
    let sample = Corpus::sample(&grammar(3, 0.25), Seed::new(1), 0..1000);
    sample.sentences().zip(sample.roots()).for_each(|(s, &root)| plain.add(s, root).expect("the tokens are right"));
    fast.add_corpus(&sample).expect("the tokens are right");
    assert!((0..16).all(|y| plain.triple_count(3, 1, 2, y) == fast.triple_count(3, 1, 2, y)));
    let mut moments = Moments::new(16, 16).expect("the tables fit");
    let seconds = best_of(7, || moments.add_corpus(&corpus).expect("the tokens are right"));
    report("pairs and triples by root, L = 3 (tokens/s)", corpus.tokens().len() as f64 / seconds, "100.0 M");
}

fn inside(depth: usize, at_least: f64) {
    let grammar = grammar(depth, 0.25);
    let inside = Inside::new(&grammar);
    let corpus = Corpus::sample(&grammar, Seed::new(1), 0..100_000);
    for i in 0..50 {
        check(&grammar, &inside, corpus.sentence(i));
    }
    let mut workspace = inside.workspace();
    let seconds = best_of(7, || {
        for sentence in corpus.sentences() {
            std::hint::black_box(inside.posterior_with(&mut workspace, sentence).expect("the tokens are right"));
        }
    });
    let name = format!("inside, L = {depth}, f = 1/4 (sentences/s)");
    report(&name, corpus.len() as f64 / seconds, &format!("{:.1} M", at_least / 1e6));
}

/// The probabilities of the next token at every position.
fn next_token(depth: usize, at_least: f64) {
    let grammar = grammar(depth, 0.25);
    let corpus = Corpus::sample(&grammar, Seed::new(1), 0..20_000);
    let predictor = Predictor::new(&grammar);
    let mut reader = predictor.reader();
    let (mut ends, mut rows) = (0.0, 0);
    let seconds = best_of(7, || {
        (ends, rows) = (0.0, 0);
        for sentence in corpus.sentences() {
            reader.restart();
            for &token in sentence {
                reader.push(token).expect("the tokens are right");
                rows += 1;
            }
            ends += reader.next()[16];
        }
    });
    assert!(rows == corpus.tokens().len() && ends > 0.0, "every sentence may end where it does");
    let name = format!("next-token rows, L = {depth}, f = 1/4 (sentences/s)");
    report(&name, corpus.len() as f64 / seconds, &format!("{:.2} M", at_least / 1e6));
}

/// A sentence of the published grammar cfg3f, about 300 tokens long.
fn next_published(at_most: f64) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/fixtures/cfg3f.json");
    let text = std::fs::read_to_string(path).expect("the repository has the file");
    let grammar = Grammar::from_lano_json(&text).expect("the file is a published grammar");
    let corpus = Corpus::sample(&grammar, Seed::new(1), 0..50);
    let predictor = Predictor::new(&grammar);
    let mut reader = predictor.reader();
    let first = [0.367863, 0.070385, 0.561753, 0.0];
    assert!(reader.next().iter().zip(first).all(|(p, expected)| (p - expected).abs() < 1e-6));
    let seconds = best_of(5, || corpus.sentences().for_each(|sentence| read(&mut reader, sentence))) / 50.0;
    let name = format!("next-token rows, cfg3f, {} tokens", corpus.tokens().len() / 50);
    println!("{name:<44} {:>11.2} ms {:>9.1} ms max", 1e3 * seconds, 1e3 * at_most);
}

/// All rows of a sentence whose chart is full, compared with its inside probability.
fn next_full(depth: usize, len: usize, at_most: f64) {
    let grammar = grammar(depth, 1.0);
    let sentence = sentence_of(&grammar, len);
    let (inside, predictor) = (Inside::new(&grammar), Predictor::new(&grammar));
    let posterior = inside.posterior(&sentence).expect("the tokens are right");
    let rows = predictor.rows(&sentence).expect("the tokens are right");
    let outcomes = sentence.iter().map(|&token| usize::from(token)).chain([16]);
    let log: f64 = rows.chunks(17).zip(outcomes).map(|(row, outcome)| row[outcome].ln()).sum();
    let likelihoods = (0..16).filter_map(|root| posterior.log_likelihood(root));
    let best = likelihoods.clone().fold(f64::NEG_INFINITY, f64::max);
    let total = best + (likelihoods.map(|log| (log - best).exp()).sum::<f64>() / 16.0).ln();
    assert!((log - total).abs() < 1e-9, "{log}, not {total}");
    let ratio = best_of(3, || {
        std::hint::black_box(predictor.rows(&sentence).expect("the tokens are right"));
    }) / best_of(3, || {
        std::hint::black_box(inside.posterior(&sentence).expect("the tokens are right"));
    });
    println!(
        "{:<44} {ratio:>6.2} x inside {at_most:>10.1} x max",
        format!("next-token rows, L = {depth}, f = 1, {len} tokens")
    );
}

fn read(reader: &mut Reader, sentence: &[u8]) {
    reader.restart();
    sentence.iter().for_each(|&token| reader.push(token).expect("the tokens are right"));
    assert!(reader.next().last() > Some(&0.0), "a sentence may end where it does");
}

/// Inside and outside, as learners count the uses of rules.
fn outside() {
    let grammar = grammar(3, 0.25);
    let corpus = Corpus::sample(&grammar, Seed::new(1), 0..10_000);
    let parser = Parser::<f64>::new(&grammar);
    let mut buffers = parser.buffers();
    let mut used = 0.0;
    let seconds = best_of(7, || {
        used = 0.0;
        for (sentence, &root) in corpus.sentences().zip(corpus.roots()) {
            let chart = parser.parse_with(&mut buffers, sentence).expect("the tokens are right");
            let total = *chart
                .value(0, Node { span: Span::new(0, chart.len()), symbol: root })
                .expect("the root derives its sentence");
            let mut roots = vec![0.0; 16];
            roots[usize::from(root)] = 1.0;
            let outside = parser.outside(chart, &roots);
            used += outside.rule_uses(0).iter().map(|(_, value)| value / total).sum::<f64>();
        }
    });
    assert!((used - 10_000.0).abs() < 1e-6, "every sentence uses one rule at its root, not {used}");
    report("inside and outside, L = 3, f = 1/4 (sentences/s)", corpus.len() as f64 / seconds, "0.1 M");
}

fn deep(depth: usize, len: usize, at_most: f64) {
    let grammar = grammar(depth, 1.0);
    let inside = Inside::new(&grammar);
    let sentence = sentence_of(&grammar, len);
    // With all rules grammatical, the sum over all sentences of one length is the law of the lengths times v^-n at most.
    let posterior = inside.posterior(&sentence).expect("the tokens are right");
    let log = posterior.log_likelihood(posterior.root().expect("all sentences are grammatical")).expect("possible");
    assert!((log + len as f64 * 16f64.ln()).abs() < 30.0, "{log}");
    let seconds = best_of(3, || {
        std::hint::black_box(inside.posterior(&sentence).expect("the tokens are right"));
    });
    println!(
        "{:<44} {:>12.3} s {:>10.1} s max",
        format!("one sentence, L = {depth}, f = 1, {len} tokens"),
        seconds,
        at_most
    );
}

fn entropy() {
    let ensemble = Ensemble::new(16, 4).fraction(0.5);
    let seconds = best_of(1, || {
        let entropy = class_entropy(&ensemble, 1, 1000, Seed::new(0), &|_| ()).expect("the parameters are right");
        assert!(entropy.mean > 0.0 && entropy.mean < 16f64.ln());
    });
    println!("{:<44} {:>12.3} s {:>10.1} s max", "class entropy, L = 4, f = 1/2, 1000 sentences", seconds, 10.0);
}

/// The first sentence of a length.
fn sentence_of(grammar: &Grammar, len: usize) -> Vec<u8> {
    let sampler = Sampler::new(grammar);
    let tree = (0..).map(|i| sampler.tree(Seed::new(1), i)).find(|tree| tree.sentence().len() == len);
    tree.expect("a typical length occurs").sentence().to_vec()
}

fn grammar(depth: usize, fraction: f64) -> Grammar {
    Ensemble::new(16, depth).fraction(fraction).sample(Seed::new(7)).expect("the parameters are right")
}

/// The fast kernel against the plain recursion in logarithms.
fn check(grammar: &Grammar, inside: &Inside, sentence: &[u8]) {
    let posterior = inside.posterior(sentence).expect("the tokens are right");
    let chart = Chart::<LogProbability>::parse(grammar, sentence).expect("the tokens are right");
    for (root, LogProbability(log)) in chart.root_entries() {
        assert!((posterior.log_likelihood(*root).expect("both find the root") - log).abs() < 1e-9);
    }
}

fn best_of(rounds: usize, mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let clock = Instant::now();
        work();
        clock.elapsed().as_secs_f64()
    };
    (0..rounds).map(time).fold(f64::INFINITY, f64::min)
}

fn report(name: &str, rate: f64, at_least: &str) {
    println!("{name:<44} {:>12.2} M {at_least:>14}", rate / 1e6);
}
