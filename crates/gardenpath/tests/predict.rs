//! Predictions against the enumeration of all derivations.

mod oracle;

use gardenpath::*;
use oracle::{ARITIES, Derivation, all_derivations, assert_close, grammar_of_arities, random_grammar};
use std::collections::BTreeMap;

/// Grammars with few enough derivations to list, for all sets of arities.
fn grammars() -> Vec<(Grammar, Vec<Derivation>)> {
    let mut grammars: Vec<Grammar> = (0..12).map(|seed| random_grammar(seed, 2, 3, 3)).collect();
    for (k, arities) in ARITIES.iter().enumerate() {
        for (depth, size, rules) in [(1, 4, 5), (2, 3, 3), (2, 3, 2), (3, 2, 2), (3, 3, 1)] {
            let seeds = (0..2).map(|seed| 1000 * k as u64 + 10 * depth as u64 + seed);
            grammars.extend(seeds.map(|seed| grammar_of_arities(seed, depth, size, rules, arities)));
        }
    }
    let number = |grammar: &Grammar| {
        let mut counts = vec![1.0; grammar.vocab()];
        for layer in grammar.layers().iter().rev() {
            let mut above = vec![0.0; layer.parents()];
            for rule in layer.rules() {
                above[usize::from(rule.parent)] +=
                    rule.children.iter().map(|c| counts[usize::from(c)]).product::<f64>();
            }
            counts = above;
        }
        counts.iter().sum::<f64>()
    };
    grammars.retain(|grammar| number(grammar) < 3000.0);
    assert!(grammars.len() > 60, "{}", grammars.len());
    grammars.into_iter().map(|grammar| (grammar.clone(), all_derivations(&grammar))).collect()
}

/// The probability of a derivation and its root.
fn weight(grammar: &Grammar, d: &Derivation) -> f64 {
    d.probability * grammar.prior()[usize::from(d.root)]
}

/// The derivations whose sentences begin with these tokens.
fn beginning<'d>(all: &'d [Derivation], prefix: &[u8]) -> Vec<&'d Derivation> {
    all.iter().filter(|d| d.sentence.starts_with(prefix)).collect()
}

#[test]
fn next_tokens_are_sums_over_all_derivations() {
    let mut rows = 0;
    for (grammar, all) in grammars() {
        let predictor = Predictor::new(&grammar);
        let mut reader = predictor.reader();
        for d in all.iter().step_by(1 + all.len() / 12) {
            reader.restart();
            for n in 0..=d.sentence.len() {
                let possible = beginning(&all, &d.sentence[..n]);
                let total: f64 = possible.iter().map(|d| weight(&grammar, d)).sum();
                let mut expected = vec![0.0; grammar.vocab() + 1];
                for other in &possible {
                    let next = other.sentence.get(n).map_or(grammar.vocab(), |&token| usize::from(token));
                    expected[next] += weight(&grammar, other) / total;
                }
                for (found, expected) in reader.next().iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
                }
                assert!((reader.log_probability() - total.ln()).abs() < 1e-11);
                for level in 0..=grammar.depth() {
                    let mut expected = vec![0.0; grammar.sizes()[level]];
                    for other in possible.iter().filter(|_| n > 0) {
                        let over = |(l, node): &&(usize, Node)| *l == level && node.span.range().contains(&(n - 1));
                        let (_, node) = other.nodes.iter().find(over).expect("every token has an ancestor");
                        expected[usize::from(node.symbol)] += weight(&grammar, other) / total;
                    }
                    for (found, expected) in reader.hidden(level).iter().zip(&expected) {
                        assert!((found - expected).abs() < 1e-12, "level {level}: {found} {expected}");
                    }
                }
                rows += 1;
                if let Some(&token) = d.sentence.get(n) {
                    reader.push(token).unwrap();
                }
            }
        }
    }
    assert!(rows > 2000, "{rows}");
}

#[test]
fn known_lengths_leave_out_all_other_sentences() {
    let mut rows = 0;
    for (grammar, all) in grammars() {
        let predictor = Predictor::new(&grammar);
        let known = KnownLength::new(&predictor);
        for d in all.iter().step_by(1 + all.len() / 6) {
            let len = d.sentence.len();
            let same: Vec<&Derivation> = all.iter().filter(|other| other.sentence.len() == len).collect();
            let share: f64 = same.iter().map(|d| weight(&grammar, d)).sum();
            assert_close(known.length_probability(len), share, "probability of the length");
            let found = known.rows(&d.sentence).unwrap();
            for (n, row) in found.chunks(grammar.vocab()).enumerate() {
                let mut expected = vec![0.0; grammar.vocab()];
                let possible = same.iter().filter(|other| other.sentence.starts_with(&d.sentence[..n]));
                possible.for_each(|other| expected[usize::from(other.sentence[n])] += weight(&grammar, other));
                let total: f64 = expected.iter().sum();
                for (found, expected) in row.iter().zip(&expected) {
                    assert!((found - expected / total).abs() < 1e-12, "{found} {}", expected / total);
                }
                rows += 1;
            }
            // One mask at the end says the same.
            let mut evidence = Evidence::tokens(grammar.vocab(), &d.sentence).unwrap();
            evidence.mask(len - 1);
            let posteriors = SymbolPosteriors::new(&grammar, &evidence).unwrap().unwrap();
            let last = &found[(len - 1) * grammar.vocab()..];
            for (found, expected) in last.iter().zip(posteriors.row(grammar.depth(), len - 1)) {
                assert!((found - expected).abs() < 1e-12);
            }
        }
        assert!(known.rows(&[0; 100]).unwrap().iter().all(|&p| p == 0.0));
    }
    assert!(rows > 1000, "{rows}");
}

/// Masked and noisy tokens and the symbols above them, against all derivations of the same length.
#[test]
fn posteriors_are_sums_over_all_derivations() {
    let mut checked = 0;
    for (case, (grammar, all)) in grammars().into_iter().enumerate() {
        let mut stream = Seed::new(5).stream(case as u64);
        for d in all.iter().step_by(1 + all.len() / 4) {
            let (vocab, len) = (grammar.vocab(), d.sentence.len());
            let mut masked = Evidence::tokens(vocab, &d.sentence).unwrap();
            (0..len).filter(|_| stream.below(2) == 0).collect::<Vec<_>>().into_iter().for_each(|i| masked.mask(i));
            for evidence in [masked, Evidence::noisy(vocab, &d.sentence, 0.4).unwrap()] {
                let likelihood = |d: &Derivation| -> f64 {
                    d.sentence.iter().enumerate().map(|(i, &t)| evidence.likelihoods(i)[usize::from(t)]).product()
                };
                let same: Vec<(&Derivation, f64)> = all
                    .iter()
                    .filter(|other| other.sentence.len() == len)
                    .map(|d| (d, weight(&grammar, d) * likelihood(d)))
                    .collect();
                let total: f64 = same.iter().map(|(_, weight)| weight).sum();
                let posteriors = SymbolPosteriors::new(&grammar, &evidence).unwrap().unwrap();
                assert!((posteriors.log_evidence() - total.ln()).abs() < 1e-11);
                for (level, i) in (0..=grammar.depth()).flat_map(|level| (0..len).map(move |i| (level, i))) {
                    let mut expected = vec![0.0; grammar.sizes()[level]];
                    for (d, weight) in &same {
                        let over = |(l, node): &&(usize, Node)| *l == level && node.span.range().contains(&i);
                        let (_, node) = d.nodes.iter().find(over).expect("every token has an ancestor");
                        expected[usize::from(node.symbol)] += weight / total;
                    }
                    for (found, expected) in posteriors.row(level, i).iter().zip(&expected) {
                        assert!((found - expected).abs() < 1e-11, "{found} {expected}");
                    }
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 1000, "{checked}");
}

/// The probability of a sentence is the product of what was predicted at every place, also where it is far below the smallest number.
#[test]
fn predictions_multiply_to_the_probability_of_the_sentence() {
    for (vocab, depth, fraction) in [(8, 2, 0.25), (16, 3, 0.25), (6, 4, 0.5), (4, 6, 1.0), (6, 7, 0.17)] {
        let grammar = Ensemble::new(vocab, depth).fraction(fraction).sample(Seed::new(3)).unwrap();
        let (inside, predictor) = (Inside::new(&grammar), Predictor::new(&grammar));
        let corpus = Corpus::sample(&grammar, Seed::new(4), 0..if depth > 4 { 1 } else { 20 });
        let mut reader = predictor.reader();
        for sentence in corpus.sentences() {
            reader.restart();
            for &token in sentence {
                assert!((reader.next().iter().sum::<f64>() - 1.0).abs() < 1e-9);
                reader.push(token).unwrap();
            }
            let posterior = inside.posterior(sentence).unwrap();
            let logs = (0..vocab).filter_map(|root| posterior.log_likelihood(root as u8));
            let most = logs.clone().fold(f64::NEG_INFINITY, f64::max);
            let log = most + logs.map(|log| (log - most).exp() / vocab as f64).sum::<f64>().ln();
            let found = reader.log_probability() + reader.next()[vocab].ln();
            assert!((found - log).abs() < 1e-9 * log.abs(), "{found} {log}");
        }
    }
}

/// A predictor that knows the lowest levels only: symbols of the level above them come one by one.
#[test]
fn lowest_levels_make_independent_blocks() {
    for (grammar, all) in grammars().into_iter().step_by(3) {
        for known in 0..=grammar.depth() {
            let level = grammar.depth() - known;
            // From the list of derivations: how often each symbol occurs, how many there are, and what each derives.
            let (mut shares, mut law) = (vec![0.0; grammar.sizes()[level]], BTreeMap::<usize, f64>::new());
            for d in &all {
                let nodes: Vec<&(usize, Node)> = d.nodes.iter().filter(|(l, _)| *l == level).collect();
                nodes.iter().for_each(|(_, node)| shares[usize::from(node.symbol)] += weight(&grammar, d));
                *law.entry(nodes.len()).or_default() += weight(&grammar, d);
            }
            let total: f64 = shares.iter().sum();
            let mut blocks = BTreeMap::<Vec<u8>, f64>::new();
            for (symbol, share) in shares.iter().enumerate() {
                for (text, p) in oracle::yields(&grammar, level, symbol as u8) {
                    *blocks.entry(text).or_default() += share / total * p;
                }
            }
            let predictor = Predictor::of_lowest_levels(&grammar, known).unwrap();
            let mut reader = predictor.reader();
            for d in all.iter().step_by(1 + all.len() / 4) {
                let expected = if known == grammar.depth() {
                    all.iter().filter(|other| other.sentence == d.sentence).map(|d| weight(&grammar, d)).sum()
                } else {
                    blocks_probability(&d.sentence, &blocks, &law)
                };
                reader.restart();
                d.sentence.iter().for_each(|&token| reader.push(token).unwrap());
                let found = reader.log_probability().exp() * reader.next()[grammar.vocab()];
                assert_close(found, expected, "independent blocks");
            }
        }
    }
    let grammar = Ensemble::new(4, 2).sample(Seed::new(1)).unwrap();
    assert!(Predictor::of_lowest_levels(&grammar, 3).is_err());
}

/// The probability of a sentence that is cut into independent blocks, whose number follows a law.
fn blocks_probability(sentence: &[u8], blocks: &BTreeMap<Vec<u8>, f64>, law: &BTreeMap<usize, f64>) -> f64 {
    let most = law.keys().max().copied().unwrap_or(0);
    let mut ways = vec![vec![0.0; most + 1]; sentence.len() + 1];
    ways[0][0] = 1.0;
    for end in 1..=sentence.len() {
        for (block, p) in blocks.iter().filter(|(block, _)| sentence[..end].ends_with(block)) {
            for count in 0..most {
                ways[end][count + 1] += ways[end - block.len()][count] * p;
            }
        }
    }
    law.iter().map(|(&count, p)| p * ways[sentence.len()][count]).sum()
}

#[test]
fn what_no_sentence_begins_with_predicts_nothing() {
    let grammar = Grammar::from_text("S -> A [1]\nA -> 'a' 'b' [1]\n").unwrap();
    let predictor = Predictor::new(&grammar);
    let mut reader = predictor.reader();
    assert_eq!(reader.next(), [1.0, 0.0, 0.0]);
    reader.push(1).unwrap();
    assert_eq!((reader.next(), reader.log_probability()), (&[0.0; 3][..], f64::NEG_INFINITY));
    assert_eq!(reader.hidden(0), [0.0]);
    reader.push(0).unwrap();
    assert_eq!((reader.len(), reader.next()), (2, &[0.0; 3][..]));
    assert!(reader.push(2).is_err());
    reader.restart();
    assert!(reader.is_empty());
    reader.push(0).unwrap();
    assert_eq!(reader.next(), [0.0, 1.0, 0.0]);
}

/// The measured floors of 0, 1, … known levels that are on record, in nats per token, for several grammars of an ensemble.
#[test]
fn floors_are_those_on_record() {
    let cases: [(usize, usize, f64, &[f64]); 3] = [
        (8, 2, 1.0 / 8.0, &[2.303, 1.614, 1.303]),
        (16, 2, 0.25, &[3.025, 2.590, 2.378]),
        (16, 3, 1.0 / 16.0, &[2.907, 2.027, 1.652, 1.482]),
    ];
    for (vocab, depth, fraction, recorded) in cases {
        let mut sums = vec![0.0; depth + 1];
        let grammars = 6;
        for seed in 0..grammars {
            let grammar = Ensemble::new(vocab, depth).fraction(fraction).sample(Seed::new(seed)).unwrap();
            let corpus = Corpus::sample(&grammar, Seed::new(100 + seed), 0..400);
            let floors = (0..=depth).map(|known| Floor::of_lowest_levels(&grammar, known, &corpus, &|_| ()).unwrap());
            let floors: Vec<Floor> = floors.collect();
            let exact = Floor::measure(&grammar, &corpus, Task::Next, Seed::new(1), &|_| ()).unwrap();
            assert!((exact.loss.mean - floors[depth].loss.mean).abs() < 1e-12, "all levels known is exact");
            assert!(floors.windows(2).all(|pair| pair[0].loss.mean > pair[1].loss.mean), "knowledge helps");
            sums.iter_mut().zip(&floors).for_each(|(sum, floor)| *sum += floor.loss.mean / grammars as f64);
        }
        for (found, expected) in sums.iter().zip(recorded) {
            assert!((found / expected - 1.0).abs() < 0.025, "{vocab} {depth} {fraction}: {found} {expected}");
        }
    }
}

/// The counting formula lies within 3% of the measured floors that are on record, for the ensemble's usual grammars.
#[test]
fn formula_of_level_floors() {
    let cases: [(usize, usize, f64, &[f64]); 5] = [
        (8, 2, 1.0 / 8.0, &[2.303, 1.614, 1.303]),
        (16, 2, 1.0 / 16.0, &[2.976, 2.030, 1.604]),
        (16, 2, 0.25, &[3.025, 2.590, 2.378]),
        (16, 3, 1.0 / 16.0, &[2.907, 2.027, 1.652, 1.482]),
        (16, 3, 0.25, &[2.929, 2.583, 2.413, 2.330]),
    ];
    for (vocab, depth, fraction, recorded) in cases {
        let grammar = Ensemble::new(vocab, depth).fraction(fraction).sample(Seed::new(1)).unwrap();
        for (known, expected) in recorded.iter().enumerate() {
            let found = level_floor_formula(&grammar, known).unwrap();
            assert!((found / expected - 1.0).abs() < 0.03, "{vocab} {depth} {fraction} {known}: {found} {expected}");
        }
        assert!(level_floor_formula(&grammar, depth + 1).is_err());
    }
    // By hand: one root, two rules of which one ends in three tokens. Nothing is known, or everything.
    let grammar = Grammar::from_text("S -> 'a' 'b' [0.25] | 'b' 'a' 'a' [0.75]\n").unwrap();
    let law = -(0.25f64 * 0.25f64.ln() + 0.75 * 0.75f64.ln());
    assert_close(level_floor_formula(&grammar, 1).unwrap(), law / 2.75, "the rules of the root");
    assert_close(
        level_floor_formula(&grammar, 0).unwrap(),
        law / 2.75 + 2f64.ln(),
        "the number of tokens, and each of them",
    );
}

/// A floor is about sentences of the grammar: others have none.
#[test]
fn impossible_sentences_have_no_floor() {
    let grammar = Grammar::from_text("S -> A [1]\nA -> 'a' 'b' [1]\n").unwrap();
    let corpus = Corpus::from_parts(vec![0, 1, 0, 0], vec![0, 2, 4], vec![0, 0]).unwrap();
    for task in [Task::Next, Task::NextKnown, Task::Noisy(0.0), Task::Masked(1e-9), Task::Root] {
        let found = Floor::measure(&grammar, &corpus, task, Seed::new(1), &|_| ());
        assert_eq!(found, Err(Error::Impossible { sentence: 2 }), "{task:?}");
    }
    assert!(Floor::of_lowest_levels(&grammar, 0, &corpus, &|_| ()).is_err());
    assert_eq!(Floor::measure(&grammar, &corpus, Task::Masked(1.0), Seed::new(1), &|_| ()).unwrap().loss.mean, 0.0);
}

/// Masked tokens of an ensemble whose floors are on record: .31 nats at 15%, 1.44 at 50%. And limits that are known.
#[test]
fn floors_of_masks_and_noise() {
    let (mut one, mut few, mut many) = (0.0, 0.0, 0.0);
    for seed in 0..4 {
        let grammar = Ensemble::new(16, 2).fraction(1.0 / 16.0).sample(Seed::new(seed)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(50 + seed), 0..1500);
        let floor = |task| Floor::measure(&grammar, &corpus, task, Seed::new(7), &|_| ()).unwrap().loss.mean;
        one += floor(Task::MaskedOne) / 4.0;
        few += floor(Task::Masked(0.15)) / 4.0;
        many += floor(Task::Masked(0.5)) / 4.0;
        assert_eq!(floor(Task::Noisy(0.0)), 0.0);
        let (all_masked, all_noise) = (floor(Task::Masked(1.0)), floor(Task::Noisy(1.0)));
        assert!((all_masked - all_noise).abs() < 1e-9, "noise of 1 says nothing but the length, as masks do");
        let accuracy = |task| Floor::measure(&grammar, &corpus, task, Seed::new(7), &|_| ()).unwrap().root_accuracy;
        let bayes = accuracy(Task::Root).unwrap().mean;
        assert!((accuracy(Task::Noisy(0.0)).unwrap().mean - bayes).abs() < 1e-12 && bayes > 0.95);
        assert!(
            (accuracy(Task::Noisy(1.0)).unwrap().mean - 1.0 / 16.0).abs() < 1e-9,
            "lengths say nothing about the root"
        );
        let half = accuracy(Task::Noisy(0.5)).unwrap().mean;
        assert!(half > 1.0 / 16.0 && half < bayes && accuracy(Task::Next).is_none());
        let known = floor(Task::NextKnown);
        let next = floor(Task::Next);
        assert!(known < next, "the length helps");
        let bayes = Inside::new(&grammar).batch(&corpus).unwrap();
        let entropy = bayes.iter().map(Posterior::entropy).sum::<f64>() / corpus.len() as f64;
        assert!((floor(Task::Root) - entropy).abs() < 1e-12);
    }
    assert!(one > 0.02 && one < few / 2.0, "a single token is nearly told by the others: {one}");
    assert!((few - 0.31).abs() < 0.05 && (many - 1.44).abs() < 0.1, "{few} {many}");
    let grammar = Ensemble::new(4, 2).sample(Seed::new(1)).unwrap();
    let corpus = Corpus::sample(&grammar, Seed::new(2), 0..3);
    for task in [Task::Masked(0.0), Task::Masked(f64::NAN), Task::Noisy(1.5)] {
        assert!(Floor::measure(&grammar, &corpus, task, Seed::new(1), &|_| ()).is_err());
    }
    assert!(Floor::measure(&grammar, &Corpus::default(), Task::Next, Seed::new(1), &|_| ()).is_err());
}

#[test]
fn divergence_compares_rows() {
    assert_eq!(mean_divergence(&[1.0, 0.0], &[0.0, 1.0], 2).unwrap(), f64::INFINITY);
    for (predicted, width) in
        [(vec![0.5; 3], 2), (vec![0.5, 0.6], 2), (vec![-0.5, 1.5], 2), (vec![], 2), (vec![0.5, 0.5], 0)]
    {
        assert!(mean_divergence(&[0.5, 0.5], &predicted, width).is_err(), "{predicted:?}");
    }
}
