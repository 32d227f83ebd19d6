//! Moments against naive counts, enumeration of all derivations, and huge samples.

use gardenpath::{
    Chart, Corpus, Ensemble, Error, ExpectedMoments, Grammar, Moments, PositionedTriples, Recognition, RuleCount,
    Sampler, Seed, Symbol, Tuples,
};

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn corpora_count_like_sentences_on_any_number_of_threads() {
    // 5 symbols fit the cache, 20 are sorted by root; neither may show.
    for vocab in [5usize, 20] {
        let grammar = Ensemble::new(vocab, 3).sample(Seed::new(7)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(1), 0..40_000);
        let mut naive = Moments::new(vocab, vocab).unwrap();
        for (sentence, &root) in corpus.sentences().zip(corpus.roots()) {
            naive.add(sentence, root).unwrap();
        }
        for threads in [1, 3] {
            let counted = in_pool(threads, || {
                let mut moments = Moments::new(vocab, vocab).unwrap();
                moments.add_corpus(&corpus).unwrap();
                moments
            });
            assert_eq!(counted, naive);
        }
        let mut merged = Moments::new(vocab, vocab).unwrap();
        for numbers in [0..123, 123..40_000] {
            let mut part = Moments::new(vocab, vocab).unwrap();
            part.add_sampled(&Sampler::new(&grammar), Seed::new(1), numbers).unwrap();
            merged.merge(&part).unwrap();
        }
        assert_eq!(merged, naive);
    }
}

#[test]
fn short_sentences_and_bad_input() {
    let mut moments = Moments::new(3, 2).unwrap();
    let mut corpus = Corpus::default();
    for sentence in [&[][..], &[2], &[2, 1], &[0, 1, 2]] {
        corpus.push(sentence, 1);
    }
    moments.add_corpus(&corpus).unwrap();
    assert_eq!((moments.pair_total(), moments.triple_total()), (3, 1));
    assert_eq!((moments.pair_count(2, 1, 1), moments.triple_count(0, 1, 2, 1)), (1, 1));
    assert!(matches!(moments.add(&[0, 3], 0), Err(Error::UnknownToken { position: 1, token: 3, vocab: 3 })));
    assert!(matches!(moments.add(&[0, 1], 2), Err(Error::Parameter { name: "root", .. })));
    assert!(moments.merge(&Moments::new(3, 3).unwrap()).is_err());
    // Nothing is allocated for tables that cannot fit: 255^4 counts of 8 bytes are 34 GB.
    let message = Moments::new(255, 255).unwrap_err().to_string();
    assert!(message.contains("255^3 triples by 255 roots") && message.contains("GB"), "{message}");
    assert!(Moments::new(0, 1).is_err());
    assert!(Moments::new(2, 2).unwrap().covariance().pair_vector(1, 1).iter().all(|&x| x == 0.0));
}

#[test]
fn candidates_are_counted_as_defined() {
    let grammar = Ensemble::new(5, 3).fraction(0.6).sample(Seed::new(3)).unwrap();
    let corpus = Corpus::sample(&grammar, Seed::new(1), 0..60);
    for level in 1..=3 {
        for tuples in [Tuples::Adjacent, Tuples::Complete] {
            let mut moments = Moments::new(5, 5).unwrap();
            let mut naive = std::collections::HashMap::<(Vec<Symbol>, Symbol), u64>::new();
            for (sentence, &root) in corpus.sentences().zip(corpus.roots()) {
                let chart = Chart::<Recognition>::parse(&grammar, sentence).unwrap();
                moments.add_candidates(&chart, level, root, tuples).unwrap();
                let all: Vec<(usize, usize, Symbol)> = chart
                    .cells(level)
                    .flat_map(|cell| cell.values.iter().map(move |v| (cell.span.start, cell.span.end(), v.0)))
                    .collect();
                let whole = |start, end| tuples == Tuples::Adjacent || (start == 0 && end == sentence.len());
                for x in &all {
                    for y in all.iter().filter(|y| y.0 == x.1) {
                        if whole(x.0, y.1) {
                            *naive.entry((vec![x.2, y.2], root)).or_default() += 1;
                        }
                        for z in all.iter().filter(|z| z.0 == y.1 && whole(x.0, z.1)) {
                            *naive.entry((vec![x.2, y.2, z.2], root)).or_default() += 1;
                        }
                    }
                }
            }
            let total: u64 = naive.values().sum();
            assert_eq!(total, moments.pair_total() + moments.triple_total());
            // Only the children of the root cover every sentence.
            assert!(total > 0 || (level > 1 && tuples == Tuples::Complete));
            for ((tuple, root), count) in naive {
                let found = match tuple[..] {
                    [a, b] => moments.pair_count(a, b, root),
                    [a, b, c] => moments.triple_count(a, b, c, root),
                    _ => unreachable!(),
                };
                assert_eq!(found, count, "{tuple:?}");
            }
        }
    }
}

/// All sequences of nodes of one level below one root, with their probabilities.
fn enumerate(grammar: &Grammar, root: Symbol, level: usize) -> Vec<(f64, Vec<Symbol>)> {
    let mut all = vec![(grammar.prior()[usize::from(root)], vec![root])];
    for layer in &grammar.layers()[..level] {
        let mut next = Vec::new();
        for (probability, nodes) in all {
            let mut rewritten = vec![(probability, Vec::new())];
            for node in nodes {
                let mut longer = Vec::new();
                for (p, children) in &rewritten {
                    for rule in &layer.rules()[layer.rules_of(node)] {
                        longer.push((p * rule.probability, [children, rule.children.as_slice()].concat()));
                    }
                }
                rewritten = longer;
            }
            next.extend(rewritten);
        }
        all = next;
    }
    all
}

fn tiny_grammars() -> Vec<Grammar> {
    let ensembles = [
        Ensemble::new(2, 3).rules(2, RuleCount::Number(1)).rules(3, RuleCount::Number(1)).p_binary(0.3),
        Ensemble::new(3, 2).rules(2, RuleCount::Number(2)).rules(3, RuleCount::Number(2)).zipf(0.7).p_binary(0.6),
        Ensemble::new(3, 1).rules(2, RuleCount::Number(2)).rules(3, RuleCount::Number(3)),
        Ensemble::new(2, 3).rules(2, RuleCount::Number(1)).rules(3, RuleCount::Number(1)).p_binary(1.0),
        Ensemble::new(2, 2).rules(2, RuleCount::Number(1)).rules(3, RuleCount::Number(2)).p_binary(0.0),
    ];
    ensembles.iter().flat_map(|ensemble| (0..3).map(|seed| ensemble.sample(Seed::new(seed)).unwrap())).collect()
}

#[test]
fn expected_moments_are_those_of_all_derivations() {
    for grammar in tiny_grammars() {
        for level in 1..=grammar.depth() {
            let moments = ExpectedMoments::of_level(&grammar, level).unwrap();
            let size = grammar.sizes()[level] as Symbol;
            for root in 0..grammar.classes() as Symbol {
                let all = enumerate(&grammar, root, level);
                let expect = |tuple: &[Symbol]| -> f64 {
                    let count = |nodes: &Vec<Symbol>| nodes.windows(tuple.len()).filter(|w| *w == tuple).count();
                    all.iter().map(|(p, nodes)| p * count(nodes) as f64).sum()
                };
                for a in 0..size {
                    for b in 0..size {
                        assert!((moments.pair(a, b, root) - expect(&[a, b])).abs() < 1e-12);
                        for c in 0..size {
                            assert!((moments.triple(a, b, c, root) - expect(&[a, b, c])).abs() < 1e-12);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn positioned_triples_are_those_of_all_derivations() {
    for grammar in tiny_grammars() {
        let longest = *grammar.shape().lengths().end();
        for position in 0..longest.saturating_sub(2) {
            let triples = PositionedTriples::new(&grammar, 3, position).unwrap();
            let size = grammar.vocab() as Symbol;
            for root in 0..grammar.classes() as Symbol {
                let all = enumerate(&grammar, root, grammar.depth());
                for number in 0..size.pow(3) {
                    let (a, b, c) = (number / size / size, number / size % size, number % size);
                    let there = |s: &Vec<Symbol>| s.get(position..position + 3) == Some(&[a, b, c]);
                    let expected: f64 = all.iter().filter(|(_, s)| there(s)).map(|(p, _)| p).sum();
                    let found = triples.joint(&[a, b, c])[usize::from(root)];
                    assert!((found - expected).abs() < 1e-12, "position {position}: {found} against {expected}");
                }
            }
        }
        assert!(PositionedTriples::new(&grammar, 3, longest).is_err());
    }
}

/// Pooled over all cells, squared deviations from the expectation are those of counts; correlations within a sentence
/// change that by a factor near 1.
#[test]
fn expected_moments_are_the_limit_of_samples() {
    let (grammar, samples) = (Ensemble::new(6, 3).zipf(0.5).sample(Seed::new(5)).unwrap(), 1_000_000u64);
    let expected = ExpectedMoments::new(&grammar).unwrap();
    let mut moments = Moments::new(6, 6).unwrap();
    moments.add_sampled(&Sampler::new(&grammar), Seed::new(2), 0..samples).unwrap();
    let (mut pairs, mut triples) = (Vec::new(), Vec::new());
    let chi = |count: u64, mean: f64| {
        assert!(mean > 0.0 || count == 0, "what is impossible is never seen");
        if mean > 0.0 { (count as f64 - samples as f64 * mean).powi(2) / (samples as f64 * mean) } else { 1.0 }
    };
    for root in 0..6 {
        for a in 0..6 {
            for b in 0..6 {
                pairs.push(chi(moments.pair_count(a, b, root), expected.pair(a, b, root)));
                for c in 0..6 {
                    triples.push(chi(moments.triple_count(a, b, c, root), expected.triple(a, b, c, root)));
                }
            }
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    assert!((0.5..2.5).contains(&mean(&pairs)), "{}", mean(&pairs));
    assert!((0.7..1.5).contains(&mean(&triples)), "{}", mean(&triples));
    let (sampled, exact) = (moments.covariance(), expected.covariance());
    let error = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(error(sampled.pair_vector(1, 2), exact.pair_vector(1, 2)) < 1e-4);
    assert!(error(&sampled.corrected_triple(1, 2, 3), &exact.corrected_triple(1, 2, 3)) < 1e-4);
}

#[test]
fn positions_need_equal_arities() {
    let rule = |parent, children, probability| gardenpath::Rule { parent, children, probability };
    use gardenpath::Children;
    let layers = vec![vec![
        rule(0, Children::from([0, 1]), 0.9),
        rule(0, Children::from([0, 1, 1]), 0.1),
        rule(1, Children::from([1, 1]), 0.2),
        rule(1, Children::from([1, 1, 1]), 0.8),
    ]];
    let grammar = Grammar::new(vec![2, 2], vec![0.5, 0.5], layers).unwrap();
    let message = PositionedTriples::new(&grammar, 3, 0).unwrap_err().to_string();
    assert!(message.contains("p_binary"), "{message}");
    // The pooled moments do not need it.
    assert!((ExpectedMoments::new(&grammar).unwrap().triple_total() - 0.45).abs() < 1e-12);
}

/// What is too large does not depend on the machine.
#[test]
fn tables_are_refused_by_their_size_alone() {
    for threads in [1, 2, 64] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // Memory that is never written costs nothing.
        assert!(pool.install(|| Moments::new(255, 16)).is_ok(), "{threads} threads");
        assert!(pool.install(|| Moments::new(255, 22)).is_err(), "{threads} threads");
    }
}
