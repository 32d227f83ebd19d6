//! Moments against naive counts, enumeration of all derivations, and huge samples.

use gardenpath::snr::{self, PositionedTuples, PredictedSignal, SignalToNoise};
use gardenpath::{
    Arities, Chart, Children, Corpus, Ensemble, Error, ExpectedMoments, Grammar, Layer, Moments, Node, Recognition,
    Rule, Sampler, Seed, Symbol, TupleCode, Tuples,
};
use std::collections::{BTreeSet, HashMap};

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Sets of arities of rules, or of tuples.
const SETS: [&[usize]; 9] = [&[1], &[2], &[3], &[4], &[1, 2], &[2, 3], &[2, 4], &[1, 2, 3], &[2, 3, 4]];

fn arities(set: &[usize]) -> Arities {
    set.iter().copied().collect()
}

#[test]
fn corpora_count_like_sentences_on_any_number_of_threads() {
    // 5 symbols fit the cache, 20 are sorted by root; neither may show.
    let cases = SETS.iter().map(|set| (5usize, arities(set))).chain([(20, Arities::PAPER), (20, arities(&[2]))]);
    for (vocab, set) in cases {
        // With unary rules, some sentences are shorter than the tuples.
        let ensemble = Ensemble::new(vocab, 3).arities([(1, 0.4), (2, 0.3), (3, 0.3)]);
        let grammar = ensemble.sample(Seed::new(7)).unwrap();
        let sentences = if vocab == 20 { 40_000 } else { 5_000 };
        let corpus = Corpus::sample(&grammar, Seed::new(1), 0..sentences);
        assert!(corpus.sentences().any(|sentence| sentence.len() == 1));
        let empty = || Moments::with_arities(vocab, vocab, set).unwrap();
        let mut naive = empty();
        for (sentence, &root) in corpus.sentences().zip(corpus.roots()) {
            naive.add(sentence, root).unwrap();
        }
        for threads in [1, 3] {
            let counted = in_pool(threads, || {
                let mut moments = empty();
                moments.add_corpus(&corpus).unwrap();
                moments
            });
            assert_eq!(counted, naive, "{set:?}");
        }
        let mut merged = empty();
        for numbers in [0..123, 123..sentences] {
            let mut part = empty();
            part.add_sampled(&Sampler::new(&grammar), Seed::new(1), numbers).unwrap();
            merged.merge(&part).unwrap();
        }
        assert_eq!(merged, naive);
        for arity in set.iter() {
            let windows: usize = corpus.sentences().map(|sentence| sentence.windows(arity).count()).sum();
            assert_eq!(naive.total(arity), windows as u64);
        }
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
    assert!(matches!(moments.add(&[0, 1], 2), Err(Error::UnknownRoot { root: 2, classes: 2 })));
    assert!(moments.merge(&Moments::new(3, 3).unwrap()).is_err());
    assert!(moments.merge(&Moments::with_arities(3, 2, [2, 4]).unwrap()).is_err());
    // Nothing is allocated for tables that cannot fit: 255^4 counts of 8 bytes are 34 GB.
    let message = Moments::new(255, 255).unwrap_err().to_string();
    assert!(message.contains("255^3 triples by 255 roots") && message.contains("GB"), "{message}");
    let message = Moments::with_arities(30, 2, [8]).unwrap_err().to_string();
    assert!(message.contains("30^8 tuples by 2 roots"), "{message}");
    assert!(Moments::new(0, 1).is_err() && Moments::with_arities(2, 2, []).is_err());
    assert!(Moments::new(2, 2).unwrap().covariance().pair_vector(1, 1).iter().all(|&x| x == 0.0));
}

#[test]
fn candidates_are_counted_as_defined() {
    let paper = Ensemble::new(5, 3).fraction(0.6);
    let other = Ensemble::new(4, 3).arities([(1, 0.4), (2, 0.3), (4, 0.3)]).fraction(0.3);
    for (ensemble, set) in [(paper, Arities::PAPER), (other, arities(&[1, 2, 4]))] {
        let grammar = ensemble.sample(Seed::new(3)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(1), 0..60);
        for level in 1..=3 {
            for tuples in [Tuples::Adjacent, Tuples::Complete] {
                let mut moments = Moments::with_arities(grammar.sizes()[level], grammar.classes(), set).unwrap();
                let mut naive = HashMap::<(Vec<Symbol>, Symbol), u64>::new();
                for (sentence, &root) in corpus.sentences().zip(corpus.roots()) {
                    let chart = Chart::<Recognition>::parse(&grammar, sentence).unwrap();
                    moments.add_candidates(&chart, level, root, tuples).unwrap();
                    let all: Vec<Node> = chart
                        .cells(level)
                        .flat_map(|cell| cell.values.iter().map(move |v| Node { span: cell.span, symbol: v.0 }))
                        .collect();
                    // Sequences of candidates: where they begin and end, and their symbols.
                    let mut sequences: Vec<(usize, usize, Vec<Symbol>)> =
                        (0..sentence.len()).map(|start| (start, start, Vec::new())).collect();
                    for length in 1..=set.most() {
                        let longer = |(start, end, symbols): &(usize, usize, Vec<Symbol>)| {
                            let next = all.iter().filter(|node| node.span.start == *end);
                            let more = |node: &Node| (*start, node.span.end(), [symbols, &[node.symbol][..]].concat());
                            next.map(more).collect::<Vec<_>>()
                        };
                        sequences = sequences.iter().flat_map(longer).collect();
                        let whole = |start, end| tuples == Tuples::Adjacent || (start == 0 && end == sentence.len());
                        for (start, end, symbols) in sequences.iter().filter(|_| set.contains(length)) {
                            if whole(*start, *end) {
                                *naive.entry((symbols.clone(), root)).or_default() += 1;
                            }
                        }
                    }
                }
                let total: u64 = naive.values().sum();
                assert_eq!(total, set.iter().map(|arity| moments.total(arity)).sum::<u64>());
                // Only the children of the root cover every sentence.
                assert!(total > 0 || (level > 1 && tuples == Tuples::Complete));
                for ((tuple, root), count) in naive {
                    assert_eq!(moments.value(&tuple, root), count, "{tuple:?}");
                }
            }
        }
    }
}

/// All sequences of nodes of one level below one root, with their probabilities.
fn enumerate(grammar: &Grammar, root: Symbol, level: usize) -> HashMap<Vec<Symbol>, f64> {
    let mut all = HashMap::from([(vec![root], grammar.prior()[usize::from(root)])]);
    for layer in &grammar.layers()[..level] {
        let mut next = HashMap::new();
        for (nodes, probability) in all {
            let mut rewritten = vec![(probability, Vec::new())];
            for node in nodes {
                let longer = |(p, children): &(f64, Vec<Symbol>)| {
                    let rules = layer.rules()[layer.rules_of(node)].iter();
                    let more = |rule: &Rule| (p * rule.probability, [children, rule.children.as_slice()].concat());
                    rules.map(more).collect::<Vec<_>>()
                };
                rewritten = rewritten.iter().flat_map(longer).collect();
            }
            rewritten.into_iter().for_each(|(p, children)| *next.entry(children).or_default() += p);
        }
        all = next;
    }
    all
}

/// A grammar with rules of these arities in each layer, one or two of each for a symbol, and any probabilities: a tuple may have several
/// parents, and the arities of a node depend on its symbol.
fn any_grammar(seed: u64, sizes: &[usize], layers: &[&[usize]]) -> Grammar {
    let mut stream = Seed::new(seed).child("any grammar").stream(0);
    let mut below = |bound: usize| stream.below(bound as u64) as usize;
    let mut rules_of_layer = |layer: usize| {
        let mut rules = Vec::new();
        for parent in 0..sizes[layer] as Symbol {
            let mut sides = BTreeSet::new();
            for &arity in layers[layer] {
                for _ in 0..1 + below(2) {
                    let side: Vec<Symbol> = (0..arity).map(|_| below(sizes[layer + 1]) as Symbol).collect();
                    sides.insert(Children::from_slice(&side).unwrap());
                }
            }
            let weights: Vec<f64> = sides.iter().map(|_| 1.0 + below(9) as f64).collect();
            let total: f64 = weights.iter().sum();
            let rule = |(children, weight)| Rule { parent, children, probability: weight / total };
            rules.extend(sides.into_iter().zip(weights).map(rule));
        }
        rules
    };
    let layers = (0..layers.len()).map(&mut rules_of_layer).collect();
    let weights: Vec<f64> = (0..sizes[0]).map(|_| 1.0 + below(5) as f64).collect();
    let total: f64 = weights.iter().sum();
    Grammar::new(sizes.to_vec(), weights.iter().map(|w| w / total).collect(), layers).unwrap()
}

/// Grammars whose derivations can be enumerated, with all sets of arities and different sizes of levels.
fn tiny_grammars() -> Vec<Grammar> {
    let mut grammars = Vec::new();
    for seed in 0..3 {
        grammars.extend(SETS.iter().map(|set| any_grammar(seed, &[2, 3, 2], &[set, set])));
        let short = SETS.iter().filter(|set| set[set.len() - 1] < 3);
        grammars.extend(short.map(|set| any_grammar(seed, &[2, 3, 2, 3], &[*set; 3])));
        grammars.push(any_grammar(seed, &[1, 2, 3, 2], &[&[2], &[1, 3], &[2]]));
        grammars.push(any_grammar(seed, &[3, 2, 1, 3, 2], &[&[1, 2], &[2], &[1], &[1, 3]]));
        grammars.push(any_grammar(seed, &[3, 2], &[&[1, 5, 8]]));
    }
    grammars
}

/// All tuples of one arity.
fn all_tuples(symbols: usize, arity: usize) -> impl Iterator<Item = Children> {
    let code = TupleCode::new(symbols, Arities::from([arity]));
    (0..code.len()).map(move |number| code.children(number))
}

#[test]
fn expected_moments_are_those_of_all_derivations() {
    let mut several_parents = 0;
    for grammar in tiny_grammars() {
        let shared = |layer: &Layer| layer.rules().iter().any(|rule| layer.rules_with(rule.children).count() > 1);
        several_parents += usize::from(grammar.layers().iter().any(shared));
        for level in 1..=grammar.depth() {
            let moments = ExpectedMoments::with_arities(&grammar, level, [1, 2, 3, 4, 5]).unwrap();
            let paper = ExpectedMoments::of_level(&grammar, level).unwrap();
            assert_eq!((paper.pairs(), paper.triples()), (moments.pairs(), moments.triples()));
            for root in 0..grammar.classes() as Symbol {
                let all = enumerate(&grammar, root, level);
                for arity in 1..=5 {
                    let mut expected = HashMap::<&[Symbol], f64>::new();
                    for (nodes, p) in &all {
                        nodes.windows(arity).for_each(|tuple| *expected.entry(tuple).or_default() += p);
                    }
                    for tuple in all_tuples(grammar.sizes()[level], arity) {
                        let (found, expected) = (moments.value(tuple.as_slice(), root), expected.get(tuple.as_slice()));
                        let expected = expected.copied().unwrap_or(0.0);
                        assert!((found - expected).abs() < 1e-12, "{tuple:?}: {found} against {expected}");
                    }
                }
            }
        }
    }
    assert!(several_parents > 20, "{several_parents}");
}

/// Eight tokens may have eight parents, and each of them one of its own.
#[test]
fn the_longest_tuples_have_many_parents() {
    let grammar = any_grammar(4, &[2, 2, 2, 2], &[&[4], &[2], &[1, 2]]);
    let moments = ExpectedMoments::with_arities(&grammar, 3, [8]).unwrap();
    for root in 0..2 {
        let all = enumerate(&grammar, root, 3);
        for tuple in all_tuples(2, 8) {
            let count = |nodes: &[Symbol]| nodes.windows(8).filter(|window| *window == tuple.as_slice()).count() as f64;
            let expected: f64 = all.iter().map(|(nodes, p)| p * count(nodes)).sum();
            assert!((moments.value(tuple.as_slice(), root) - expected).abs() < 1e-12);
        }
    }
    assert!(moments.total(8) > 1.0, "{}", moments.total(8));
}

#[test]
fn positioned_tuples_are_those_of_all_derivations() {
    for grammar in tiny_grammars() {
        let longest = *grammar.shape().lengths().end();
        let all: Vec<HashMap<Vec<Symbol>, f64>> =
            (0..grammar.classes()).map(|root| enumerate(&grammar, root as Symbol, grammar.depth())).collect();
        for arity in 1..=4 {
            for position in 0..(longest + 1).saturating_sub(arity) {
                let found = PositionedTuples::new(&grammar, arity, position).unwrap();
                let mut expected = HashMap::<(&[Symbol], usize), f64>::new();
                for (root, sentences) in all.iter().enumerate() {
                    for (sentence, p) in sentences {
                        if let Some(tuple) = sentence.get(position..position + arity) {
                            *expected.entry((tuple, root)).or_default() += p;
                        }
                    }
                }
                for tuple in all_tuples(grammar.vocab(), arity) {
                    for (root, found) in found.joint(tuple.as_slice()).iter().enumerate() {
                        let expected = expected.get(&(tuple.as_slice(), root)).copied().unwrap_or(0.0);
                        assert!((found - expected).abs() < 1e-12, "position {position}: {found} against {expected}");
                    }
                }
            }
        }
        assert!([(1, longest), (0, 0), (9, 0)].iter().all(|&(a, p)| PositionedTuples::new(&grammar, a, p).is_err()));
    }
}

/// Pooled over all cells, squared deviations from the expectation are those of counts; correlations within a sentence
/// change that by a factor near 1.
#[test]
fn expected_moments_are_the_limit_of_samples() {
    let paper = Ensemble::new(6, 3).zipf(0.5);
    let other = Ensemble::new(6, 3).sizes(&[4, 5, 6, 6]).arities([(1, 0.2), (2, 0.4), (4, 0.4)]).zipf(0.5);
    let samples = 1_000_000u64;
    for (ensemble, set) in [(paper, Arities::PAPER), (other, arities(&[1, 2, 3, 4]))] {
        let grammar = ensemble.sample(Seed::new(5)).unwrap();
        let expected = ExpectedMoments::with_arities(&grammar, 3, set).unwrap();
        let mut moments = Moments::with_arities(grammar.vocab(), grammar.classes(), set).unwrap();
        moments.add_sampled(&Sampler::new(&grammar), Seed::new(2), 0..samples).unwrap();
        for arity in set.iter().filter(|&arity| arity > 1) {
            let chi = |(&count, &mean): (&u64, &f64)| {
                assert!(mean > 0.0 || count == 0, "what is impossible is never seen");
                let square = (count as f64 - samples as f64 * mean).powi(2);
                if mean > 0.0 { square / (samples as f64 * mean) } else { 1.0 }
            };
            let cells = moments.of_arity(arity).iter().zip(expected.of_arity(arity)).map(chi);
            let mean = cells.sum::<f64>() / moments.of_arity(arity).len() as f64;
            assert!((0.5..2.5).contains(&mean), "{arity}: {mean}");
            let (sampled, exact) = (moments.covariance(), expected.covariance());
            let both = sampled.of_arity(arity).iter().zip(exact.of_arity(arity));
            let (error, most) = both.fold((0.0f64, 0.0f64), |(e, m), (x, y)| (e.max((x - y).abs()), m.max(y.abs())));
            assert!(error < 1e-4 && error < 0.4 * most, "{arity}: {error} of {most}");
        }
    }
}

/// A first child that is often long moves its right siblings: positions are exact all the same.
#[test]
fn positions_need_no_equal_arities() {
    let rule = |parent, children: &[Symbol], probability| Rule {
        parent,
        children: Children::from_slice(children).unwrap(),
        probability,
    };
    let layers =
        vec![vec![rule(0, &[0, 1], 0.9), rule(0, &[0, 1, 1], 0.1), rule(1, &[1, 1], 0.2), rule(1, &[1, 1, 1], 0.8)]];
    let grammar = Grammar::new(vec![2, 2], vec![0.5, 0.5], layers).unwrap();
    let triples = PositionedTuples::new(&grammar, 3, 0).unwrap();
    assert_eq!((triples.joint(&[0, 1, 1]), triples.joint(&[1, 1, 1])), (&[0.05, 0.0][..], &[0.0, 0.4][..]));
    assert_eq!(triples.conditional(&[0, 0, 0]), None);
    assert!((ExpectedMoments::new(&grammar).unwrap().triple_total() - 0.45).abs() < 1e-12);
}

/// The predicted noise is the mean of what is measured, for any arity of the grammar.
#[test]
fn signals_of_other_arities_are_predicted() {
    let ensemble = Ensemble::new(5, 2).sizes(&[4, 5, 6]).arities([(1, 0.3), (2, 0.3), (4, 0.4)]).fraction(0.1);
    let grammar = ensemble.sample(Seed::new(3)).unwrap();
    assert_eq!((snr::arity(&grammar), snr::centre(&grammar)), (4, 2));
    for arity in [1, 2, 4] {
        let predicted = PredictedSignal::at(&grammar, arity, 2).unwrap();
        let measured: Vec<SignalToNoise> = (0..40)
            .map(|seed| SignalToNoise::measure_at(&grammar, arity, 2, &[3000], Seed::new(seed)).unwrap())
            .collect();
        let noise = measured.iter().map(|curve| curve.noise[0]).sum::<f64>() / 40.0;
        assert!((measured[0].signal - predicted.signal()).abs() < 1e-12);
        assert!((noise / predicted.noise(3000) - 1.0).abs() < 0.15, "{arity}: {noise} {}", predicted.noise(3000));
    }
    assert!(SignalToNoise::measure_at(&grammar, 3, 2, &[10], Seed::new(1)).is_err(), "no rule has three children");
    let samples = snr::expected_range(&ensemble, 5).unwrap();
    assert!(samples.len() == 5 && samples[4] > 1000 * samples[0] / 2, "{samples:?}");
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
