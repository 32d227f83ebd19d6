//! The fast kernel against the paper's equation, the plain recursion, and itself with other thread counts.

mod oracle;

use gardenpath::*;
use oracle::{
    Exact, assert_close, literal_chart, literal_inside, random_grammar, random_sentence, steep_grammar,
    unlikely_sentence,
};

#[test]
fn the_kernel_is_the_papers_equation() {
    let cases = [(4, 2, 0.3), (4, 2, 1.0), (6, 2, 0.5), (9, 2, 1.0), (3, 3, 0.5), (3, 3, 1.0), (9, 3, 1.0)];
    for (case, (vocab, depth, fraction)) in cases.into_iter().enumerate() {
        let grammar = Ensemble::new(vocab, depth).fraction(fraction).zipf(0.5).sample(Seed::new(case as u64)).unwrap();
        let inside = Inside::new(&grammar);
        let corpus = Corpus::sample(&grammar, Seed::new(1), 0..if depth == 3 { 6 } else { 40 });
        let mut stream = Seed::new(2).stream(case as u64);
        let random = (0..10).map(|k| random_sentence(&mut stream, vocab, 2 + 3 * k));
        let sentences: Vec<Vec<u8>> = corpus.sentences().map(<[u8]>::to_vec).chain(random).collect();
        for sentence in sentences {
            let posterior = inside.posterior(&sentence).unwrap();
            for (root, p) in literal_inside::<f64>(&grammar, &sentence).into_iter().enumerate() {
                let found = posterior.log_likelihood(root as u8).map_or(0.0, f64::exp);
                assert_close(found, p, &format!("{vocab} {depth} {fraction}"));
            }
        }
    }
}

#[test]
fn any_layered_grammar_is_parsed() {
    for seed in 0..60 {
        let grammar = random_grammar(1000 + seed, 3, 9, 14, &[2, 3]);
        let inside = Inside::new(&grammar);
        let corpus = Corpus::sample(&grammar, Seed::new(seed), 0..20);
        for sentence in corpus.sentences() {
            let posterior = inside.posterior(sentence).unwrap();
            let chart = Chart::<LogProbability>::parse(&grammar, sentence).unwrap();
            assert!(!chart.root_entries().is_empty(), "a sampled sentence is grammatical");
            assert_eq!(posterior.possible_roots().count(), chart.root_entries().len());
            for (root, LogProbability(log)) in chart.root_entries() {
                assert!((posterior.log_likelihood(*root).unwrap() - log).abs() < 1e-10);
            }
        }
    }
}

/// Probabilities far below the smallest `f64`, in cells that are full and in cells that are sparse.
#[test]
fn deep_charts_do_not_underflow() {
    for (vocab, depth, fraction, zipf) in [(4, 6, 1.0, 0.0), (16, 6, 0.2, 0.0), (8, 5, 1.0, 2.0), (6, 7, 0.17, 1.0)] {
        let grammar = Ensemble::new(vocab, depth).fraction(fraction).zipf(zipf).sample(Seed::new(3)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(1), 0..2);
        let inside = Inside::new(&grammar);
        for (sentence, root) in corpus.sentences().zip(corpus.roots()) {
            let posterior = inside.posterior(sentence).unwrap();
            let log = posterior.log_likelihood(*root).expect("the true root is possible");
            let chart = Chart::<LogProbability>::parse(&grammar, sentence).unwrap();
            let expected = chart.value(0, Node { span: Span::new(0, sentence.len()), symbol: *root }).unwrap().0;
            assert!((log - expected).abs() < 1e-10 * expected.abs(), "{log} {expected}");
        }
    }
}

/// Cells whose values differ by far more than the range of an `f64`: none may vanish.
#[test]
fn rules_of_very_different_probabilities_are_exact() {
    let cases = [(4, 2, 300.0), (5, 2, 30.0), (4, 3, 300.0), (4, 3, 150.0), (3, 3, 30.0)];
    for (case, (vocab, depth, smallest)) in cases.into_iter().enumerate() {
        let grammar = steep_grammar(case as u64, vocab, depth, smallest);
        let (inside, shape) = (Inside::new(&grammar), grammar.shape());
        let mut stream = Seed::new(5).stream(case as u64);
        for _ in 0..if depth == 2 { 5 } else { 2 } {
            let sentence = unlikely_sentence(&grammar, &mut stream);
            let (posterior, chart) = (inside.posterior(&sentence).unwrap(), inside.chart(&sentence).unwrap());
            let check = |found: Option<f64>, exact: &Exact| {
                assert_eq!(found.is_some(), !exact.is_zero(), "{sentence:?}: {found:?}, not {exact:?}");
                let near = |found: f64| (found - exact.ln()).abs() < 1e-11 * exact.ln().abs().max(1.0);
                assert!(found.is_none_or(near), "{found:?}, not {}", exact.ln());
            };
            let levels = literal_chart::<Exact>(&grammar, &sentence);
            for (level, cells) in levels.iter().enumerate() {
                let used = cells.iter().filter(|((i, span), _)| shape.reachable(level, sentence.len(), *i, *span));
                for (&(i, span), values) in used {
                    for (symbol, exact) in (0..).zip(values) {
                        let node = Node { span: Span::new(i, span), symbol };
                        check(chart.value(level, node).map(|value| value.ln()), exact);
                    }
                }
            }
            let roots = &levels[0][&(0, sentence.len())];
            (0..).zip(roots).for_each(|(root, exact)| check(posterior.log_likelihood(root), exact));
        }
    }
}

/// The same in long sentences, against the recursion in logarithms, cell by cell.
#[test]
fn no_cell_of_a_steep_grammar_loses_a_candidate() {
    let zipf = Ensemble::new(8, 4).fraction(1.0).zipf(20.0).sample(Seed::new(1)).unwrap();
    for (case, grammar) in [steep_grammar(1, 4, 4, 300.0), steep_grammar(2, 6, 4, 20.0), zipf].iter().enumerate() {
        let (inside, parser) = (Inside::new(grammar), Parser::<LogProbability>::new(grammar));
        let mut stream = Seed::new(6).stream(case as u64);
        for _ in 0..3 {
            let sentence = unlikely_sentence(grammar, &mut stream);
            let (found, expected) = (inside.chart(&sentence).unwrap(), parser.parse(&sentence).unwrap());
            for level in 0..=grammar.depth() {
                for (found, expected) in found.cells(level).zip(expected.cells(level)) {
                    assert_eq!(found.span, expected.span, "level {level}");
                    assert_eq!(found.values.len(), expected.values.len(), "level {level}, {:?}", found.span);
                    for ((symbol, value), (other, LogProbability(log))) in found.values.iter().zip(expected.values) {
                        assert!(symbol == other && (value.ln() - log).abs() < 1e-10 * log.abs().max(1.0));
                    }
                }
            }
            assert!(inside.posterior(&sentence).unwrap().root().is_some());
        }
    }
}

/// A root whose prior is below the smallest normal number, and the only one that derives the sentence.
#[test]
fn a_root_with_hardly_any_prior_can_be_certain() {
    let rule = |parent, a, b| Rule { parent, children: Children::from([a, b]), probability: 1.0 };
    let grammar = Grammar::new(vec![2, 2], vec![1.0, 1e-310], vec![vec![rule(0, 0, 0), rule(1, 1, 1)]]).unwrap();
    let posterior = Inside::new(&grammar).posterior(&[1, 1]).unwrap();
    assert_close(posterior.probability(1), 1.0, "the only possible root");
}

/// No probability exceeds 1, not by the last bit, whatever the prior; the only possible root has exactly 1.
#[test]
fn posteriors_are_probabilities() {
    let sampled = Ensemble::new(8, 2).fraction(0.3).sample(Seed::new(3)).unwrap();
    let weights: Vec<f64> = (1..=8).map(|k| 1.0 / f64::from(k)).collect();
    let prior = weights.iter().map(|weight| weight / weights.iter().sum::<f64>()).collect();
    let layers = sampled.layers().iter().map(|layer| layer.rules().to_vec()).collect();
    let grammar = Grammar::new(sampled.sizes().to_vec(), prior, layers).unwrap();
    let corpus = Corpus::sample(&grammar, Seed::new(4), 0..5000);
    for posterior in Inside::new(&grammar).batch(&corpus).unwrap() {
        let probabilities: Vec<f64> = posterior.possible_roots().map(|root| posterior.probability(root)).collect();
        assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)), "{probabilities:?}");
        assert!(probabilities.len() > 1 || probabilities == [1.0], "{probabilities:?}");
    }
}

#[test]
fn the_best_tree_is_not_better_than_all_trees() {
    let grammar = Ensemble::new(8, 4).fraction(0.5).sample(Seed::new(3)).unwrap();
    let sampler = Sampler::new(&grammar);
    let inside = Inside::new(&grammar);
    for i in 0..20 {
        let tree = sampler.tree(Seed::new(5), i);
        let (best, log) = grammar.best_tree(tree.sentence()).unwrap().unwrap();
        assert_close(best.log_probability(&grammar).unwrap(), log, "the best tree's probability");
        assert!(log >= tree.log_probability(&grammar).unwrap() - 1e-9, "at least as good as the true tree");
        assert!(log <= inside.posterior(tree.sentence()).unwrap().log_likelihood(best.root()).unwrap() + 1e-9);
    }
}

/// The expected number of uses of a rule is the derivative of the log-likelihood by the logarithm of its probability.
#[test]
fn expected_rule_counts_are_derivatives() {
    for (vocab, fraction) in [(3, 1.0), (6, 1.0), (6, 0.3)] {
        let grammar = Ensemble::new(vocab, 3).fraction(fraction).zipf(0.5).sample(Seed::new(5)).unwrap();
        let tree = Sampler::new(&grammar).tree(Seed::new(1), 3);
        let parser = Parser::<Magnitude>::new(&grammar);
        let marginals = parser.marginals(&parser.parse(tree.sentence()).unwrap()).unwrap().unwrap();
        let evidence = |grammar: &Grammar| {
            let roots = Inside::new(grammar).chart(tree.sentence()).unwrap().roots();
            let mut total = Magnitude::new(0.0);
            roots.iter().for_each(|root| total.add(*root));
            total.ln()
        };
        for level in 0..3 {
            let rules = grammar.layer(level).rules().len();
            for rule in (0..rules).step_by(1 + rules / 7) {
                let moved = |step: f64| {
                    let layers = grammar.layers().iter().map(|layer| layer.rules().to_vec());
                    let mut layers: Vec<Vec<Rule>> = layers.collect();
                    layers[level][rule].probability *= 1.0 + step;
                    Grammar::new(grammar.sizes().to_vec(), grammar.prior().to_vec(), layers).unwrap()
                };
                let slope = (evidence(&moved(5e-6)) - evidence(&moved(-5e-6))) / 1e-5;
                let found = marginals.rules[level][rule];
                assert!((found - slope).abs() < 1e-7, "level {level} rule {rule}: {found} {slope}");
            }
            let nodes: f64 = marginals.nodes[level].iter().map(|(_, p)| p).sum();
            assert_close(marginals.rules[level].iter().sum(), nodes, "one rule per node");
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let work = || {
        let grammar = Ensemble::new(16, 3).fraction(0.5).sample(Seed::new(7)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(1), 0..10_000);
        let posteriors = Inside::new(&grammar).batch(&corpus).unwrap();
        let entropy = class_entropy(&Ensemble::new(8, 3).fraction(0.5), 3, 600, Seed::new(1), &|_| ()).unwrap();
        (corpus, posteriors, entropy.mean.to_bits(), entropy.stderr.to_bits())
    };
    let expected = pool(1).install(work);
    for threads in [2, 8] {
        assert!(pool(threads).install(work) == expected, "{threads} threads");
    }
}

#[test]
fn tables_hold_the_posteriors_of_all_sentences() {
    let grammar = Ensemble::new(6, 3).fraction(0.5).sample(Seed::new(3)).unwrap();
    let mut corpus = Corpus::sample(&grammar, Seed::new(4), 0..100);
    corpus.push(&[0, 1], 0);
    let inside = Inside::new(&grammar);
    let (mut logs, mut shares) = (vec![f64::NAN; 101 * 6], vec![f64::NAN; 101 * 6]);
    let seen = std::sync::atomic::AtomicU64::new(0);
    let progress = |count| _ = seen.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
    inside.batch_into(&corpus, &mut logs, &mut shares, &progress).unwrap();
    assert_eq!(seen.into_inner(), 101);
    for (i, posterior) in inside.batch(&corpus).unwrap().iter().enumerate() {
        for root in 0..6 {
            let place = i * 6 + usize::from(root);
            assert_eq!(logs[place], posterior.log_likelihood(root).unwrap_or(f64::NEG_INFINITY));
            assert_eq!(shares[place], posterior.probability(root));
        }
    }
    corpus.push(&[6, 0, 0, 0, 0, 0, 0, 0], 0);
    let (mut logs, mut shares) = (vec![0.0; 102 * 6], vec![0.0; 102 * 6]);
    assert!(inside.batch_into(&corpus, &mut logs, &mut shares, &|_| ()).is_err());
}

#[test]
fn interrupted_work_is_left_at_once() {
    use gardenpath::interrupt::{Interrupted, obey};
    use gardenpath::learn::{Em, Learner, Outline};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};
    static STOP: AtomicBool = AtomicBool::new(false);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).start_handler(|_| obey(&STOP)).build().unwrap();
    let grammar = Ensemble::new(8, 4).fraction(1.0).sample(Seed::new(3)).unwrap();
    let corpus = Corpus::sample(&grammar, Seed::new(4), 0..200_000);
    type Work<'w> = Box<dyn Fn() + Sync + 'w>;
    let long: [(&str, Work<'_>); 4] = [
        ("sampling", Box::new(|| drop(Corpus::sample(&grammar, Seed::new(1), 0..1 << 26)))),
        ("inside", Box::new(|| drop(Inside::new(&grammar).batch(&corpus)))),
        (
            "snr",
            Box::new(|| {
                let ensemble = Ensemble::new(16, 3).fraction(0.1);
                drop(snr::SignalStudy::measure(&ensemble, 10_000, &[1_000, 1_000_000], Seed::new(1), &|_| ()));
            }),
        ),
        (
            "em",
            Box::new(|| {
                let em = Em { starts: 9, rounds: 999, seed: Seed::new(1), ..Em::new(Outline::new(8, 4)) };
                drop(em.learn(&corpus, &mut |_| ()));
            }),
        ),
    ];
    for (name, work) in &long {
        STOP.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            let clock = scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                STOP.store(true, Ordering::Relaxed);
                Instant::now()
            });
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.install(work)));
            let late = clock.join().unwrap().elapsed();
            assert!(
                outcome.is_err_and(|payload| payload.is::<Interrupted>()),
                "{name} ended before it was interrupted"
            );
            assert!(late < Duration::from_secs(2), "{name} went on for {late:?}");
        });
    }
}

#[test]
fn impossible_sentences_and_unknown_tokens() {
    let grammar = Ensemble::new(5, 2).fraction(0.2).sample(Seed::new(7)).unwrap();
    let inside = Inside::new(&grammar);
    for sentence in [vec![], vec![0], vec![0; 3], vec![0; 10], vec![1; 1000]] {
        let posterior = inside.posterior(&sentence).unwrap();
        assert_eq!((posterior.root(), posterior.entropy(), posterior.len()), (None, 0.0, sentence.len()));
        assert!(grammar.best_tree(&sentence).unwrap().is_none());
        assert!(grammar.trees(&sentence, 10).unwrap().is_empty());
    }
    let error = inside.posterior(&[0, 1, 5, 2]).unwrap_err();
    assert_eq!(error.to_string(), "token 5 at position 2 is not one of the 5 tokens of the grammar");
    let deep = Ensemble::new(255, 10).fraction(0.001).sample(Seed::new(7)).unwrap();
    let error = Inside::new(&deep).posterior(&vec![0; 20_000]).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
}

#[test]
fn wanted_ambiguity_is_found() {
    let ensemble = Ensemble::new(8, 2);
    let (fraction, entropy) = fraction_for_entropy(&ensemble, 0.2, 6, 300, Seed::new(1)).unwrap();
    assert!((entropy.mean - 0.2).abs() < 0.05, "{fraction}: {entropy:?}");
    let again = class_entropy(&ensemble.fraction(fraction), 20, 300, Seed::new(2), &|_| ()).unwrap();
    assert!((again.mean - 0.2).abs() < 0.08, "{fraction}: {again:?}");
    assert!(fraction_for_entropy(&Ensemble::new(8, 2), 5.0, 2, 50, Seed::new(1)).is_err());
}
