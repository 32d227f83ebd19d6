//! Charts, posteriors, trees and marginals against the enumeration of all derivations.

mod oracle;

use gardenpath::*;
use num_traits::{One, Zero};
use oracle::{
    ARITIES, Belief, Derivation, Exact, Rational, all_derivations, assert_all_near, assert_close, assert_near,
    by_sentence, derivations_of, exact, random_grammar, value,
};
use std::collections::{BTreeMap, BTreeSet};

/// Small enough to enumerate, odd enough to find mistakes.
fn tiny_grammars() -> Vec<Grammar> {
    let mut grammars: Vec<Grammar> = (0..40).map(|seed| random_grammar(seed, 2, 3, 3, &[2, 3])).collect();
    grammars.extend((0..6).map(|seed| random_grammar(100 + seed, 1, 4, 6, &[2, 3])));
    grammars.extend((0..4).map(|seed| random_grammar(200 + seed, 3, 2, 1, &[2, 3])));
    let ensemble = |seed| Ensemble::new(2, 2).fraction(0.5).sample(Seed::new(seed)).unwrap();
    grammars.extend((0..5).map(ensemble));
    for (k, arities) in ARITIES.iter().enumerate() {
        let mut own: Vec<Grammar> = Vec::new();
        for (depth, max_size, max_rules) in [(1, 4, 5), (2, 3, 3), (2, 3, 2), (3, 2, 2), (3, 3, 1)] {
            own.extend((0..4).map(|seed| {
                random_grammar(1000 + 100 * k as u64 + 10 * depth as u64 + seed, depth, max_size, max_rules, arities)
            }));
        }
        own.retain(|grammar| derivations_of(grammar) < 20_000.0 && *grammar.shape().lengths().end() < 40);
        let arities: Arities = arities.iter().copied().collect();
        let depths: BTreeSet<usize> = own.iter().map(Grammar::depth).collect();
        assert!(own.len() > 9 && depths.len() > 1, "{arities:?}: {} grammars", own.len());
        assert!(own.iter().any(|grammar| grammar.layers().iter().any(|layer| layer.arities() == arities)));
        grammars.extend(own);
    }
    grammars.retain(|grammar| derivations_of(grammar) < 60_000.0);
    assert!(grammars.len() > 130, "{}", grammars.len());
    grammars
}

fn sum_by_root(derivations: &[Derivation], classes: usize) -> Vec<Rational> {
    let mut sums = vec![Rational::zero(); classes];
    derivations.iter().for_each(|d| sums[usize::from(d.root)] += &d.probability);
    sums
}

#[test]
fn inside_is_the_sum_over_all_derivations() {
    for grammar in tiny_grammars() {
        let inside = Inside::new(&grammar);
        let mut total = Rational::zero();
        for (sentence, derivations) in by_sentence(&grammar) {
            let expected = sum_by_root(&derivations, grammar.classes());
            let rational = Chart::<Exact>::parse(&grammar, &sentence).unwrap().roots();
            assert_eq!(rational.into_iter().map(|Exact(root)| root).collect::<Vec<_>>(), expected);
            assert_all_near(&Chart::<f64>::parse(&grammar, &sentence).unwrap().roots(), &expected, "plain");
            let posterior = inside.posterior(&sentence).unwrap();
            let logs = Chart::<LogProbability>::parse(&grammar, &sentence).unwrap().roots();
            let scaled = Chart::<Magnitude>::parse(&grammar, &sentence).unwrap().roots();
            for (root, p) in expected.iter().map(value).enumerate() {
                assert_close(logs[root].0.exp(), p, "logarithm");
                assert_close(scaled[root].ln().exp(), p, "scaled");
                assert_close(posterior.log_likelihood(root as u8).map_or(0.0, f64::exp), p, "kernel");
            }
            let joint: Vec<Rational> =
                expected.iter().zip(grammar.prior()).map(|(p, &prior)| p * exact(prior)).collect();
            let evidence: Rational = joint.iter().sum();
            let shares: Vec<Rational> = joint.iter().map(|joint| joint / &evidence).collect();
            let found: Vec<f64> = (0..grammar.classes()).map(|root| posterior.probability(root as u8)).collect();
            assert_all_near(&found, &shares, "posterior");
            let terms = shares.iter().map(value).filter(|&share| share > 0.0);
            assert!((posterior.entropy() + terms.map(|share| share * share.ln()).sum::<f64>()).abs() < 1e-12);
            assert_eq!(Some(&joint[usize::from(posterior.root().unwrap())]), joint.iter().max(), "Bayes-optimal root");
            total += evidence;
        }
        assert!(total.is_one(), "the probabilities of all sentences");
    }
}

#[test]
fn trees_are_counted_found_and_ranked() {
    for grammar in tiny_grammars() {
        for (sentence, derivations) in by_sentence(&grammar).into_iter().take(300) {
            let counts = Chart::<Count>::parse(&grammar, &sentence).unwrap().roots();
            let recognised = Chart::<Recognition>::parse(&grammar, &sentence).unwrap().roots();
            for root in 0..grammar.classes() {
                let expected = derivations.iter().filter(|d| usize::from(d.root) == root).count();
                assert_eq!(counts[root].to_string(), expected.to_string());
                assert_eq!(recognised[root].0, expected > 0);
            }
            let found: BTreeSet<String> =
                grammar.trees(&sentence, 10_000).unwrap().iter().map(|tree| tree.to_text(&grammar)).collect();
            let expected: BTreeSet<String> = derivations.iter().map(|d| d.text.clone()).collect();
            assert_eq!(found, expected);

            let mut ranked: Vec<f64> = derivations.iter().map(|d| value(&d.joint)).collect();
            ranked.sort_by(|x, y| y.total_cmp(x));
            let (tree, log) = grammar.best_tree(&sentence).unwrap().unwrap();
            let prior = grammar.prior()[usize::from(tree.root())];
            assert_close(log.exp() * prior, ranked[0], "best tree");
            assert_close(tree.log_probability(&grammar).unwrap(), log, "its own probability");
            assert_eq!(tree.sentence(), sentence);

            for count in [1, 3, 10_000] {
                let trees = grammar.best_trees(&sentence, count).unwrap();
                assert_eq!(trees.len(), derivations.len().min(count));
                let texts: BTreeSet<String> = trees.iter().map(|(tree, _)| tree.to_text(&grammar)).collect();
                assert_eq!(texts.len(), trees.len(), "no tree twice");
                assert!(texts.is_subset(&expected));
                for ((tree, log), &expected) in trees.iter().zip(&ranked) {
                    assert_close(log.exp() * grammar.prior()[usize::from(tree.root())], expected, "the next best tree");
                    assert!((tree.log_probability(&grammar).unwrap() - log).abs() < 1e-11);
                }
            }
        }
    }
}

/// Leaves that are tokens, and leaves that are likelihoods: the share of the derivations that have a node, and how often they use a rule,
/// among all derivations of any sentence of this length, each weighed by its tokens.
#[test]
fn marginals_are_sums_over_derivations() {
    let mut checked = 0;
    for (case, grammar) in tiny_grammars().into_iter().enumerate() {
        let all = all_derivations(&grammar);
        let mut stream = Seed::new(3).stream(case as u64);
        let vocab = grammar.vocab();
        let (parser, rational, inside) = (Parser::new(&grammar), Parser::<Exact>::new(&grammar), Inside::new(&grammar));
        let prior: Vec<Exact> = grammar.prior().iter().map(|&p| Exact(exact(p))).collect();
        for d in all.iter().step_by(1 + all.len() / 4) {
            let tokens = Evidence::tokens(vocab, &d.sentence).unwrap();
            let position = stream.below(d.sentence.len() as u64) as usize;
            let masked = Evidence::with_masks(vocab, &d.sentence, [position]).unwrap();
            let noisy = Evidence::noisy(vocab, &d.sentence, 0.25).unwrap();
            let any = (0..d.sentence.len() * vocab).map(|_| (1 + stream.below(9)) as f64 / 8.0);
            let any = Evidence::new(vocab, any.collect()).unwrap();
            for (kind, evidence) in [&tokens, &tokens, &masked, &noisy, &any].into_iter().enumerate() {
                let belief = Belief::of_evidence(&all, evidence);
                let (chart, exact_chart) = match kind {
                    0 => (parser.parse(&d.sentence).unwrap(), rational.parse(&d.sentence).unwrap()),
                    _ => (parser.parse_evidence(evidence).unwrap(), rational.parse_evidence(evidence).unwrap()),
                };
                let (mut nodes, mut rules) = (BTreeMap::new(), BTreeMap::new());
                for (d, p) in &belief.joint {
                    d.nodes.iter().for_each(|node| *nodes.entry(*node).or_insert_with(Rational::zero) += p);
                    d.rules.iter().for_each(|rule| *rules.entry(*rule).or_insert_with(Rational::zero) += p);
                }
                let outside = rational.outside(&exact_chart, &prior);
                let marginals = parser.marginals(&chart).unwrap().unwrap();
                for (level, found) in marginals.nodes.iter().enumerate() {
                    for &(node, p) in found {
                        let expected = nodes.remove(&(level, node)).unwrap_or_default();
                        assert_near(p, &(&expected / &belief.evidence), "marginal of a node");
                        let Exact(inside) = exact_chart.value(level, node).unwrap();
                        let Exact(outside) = outside.value(&exact_chart, level, node).unwrap();
                        assert_eq!(inside * outside, expected);
                    }
                }
                assert!(nodes.is_empty(), "the chart lacks {nodes:?}");
                for (level, found) in marginals.rules.iter().enumerate() {
                    let mut uses = vec![Rational::zero(); found.len()];
                    outside.rule_uses(level).iter().for_each(|(rule, Exact(p))| uses[*rule as usize] += p);
                    let expected = (0..found.len()).map(|rule| rules.get(&(level, rule)).cloned().unwrap_or_default());
                    assert_eq!(uses, expected.collect::<Vec<_>>());
                    uses.iter_mut().for_each(|uses| *uses /= &belief.evidence);
                    assert_all_near(found, &uses, "uses of rules");
                }
                let posterior = inside.posterior_of(evidence).unwrap();
                let roots: Vec<f64> = (0..grammar.classes()).map(|root| posterior.probability(root as u8)).collect();
                assert_all_near(&roots, &belief.hidden(0, grammar.classes(), 0), "posterior of the root");
                checked += 1;
            }
        }
    }
    assert!(checked > 1000, "{checked}");
}

#[test]
fn bad_evidence_is_refused() {
    let message = |evidence: Result<Evidence>| evidence.unwrap_err().to_string();
    assert!(message(Evidence::new(3, vec![1.0; 4])).starts_with("number of likelihoods is 4"));
    assert!(message(Evidence::new(2, vec![1.0, f64::NAN])).starts_with("likelihood is NaN"));
    assert!(message(Evidence::new(2, vec![1.0, 0.5, 0.0, 0.0])).contains("position 1"));
    assert!(message(Evidence::noisy(2, &[0], 1.5)).starts_with("noise is 1.5"));
    assert!(message(Evidence::tokens(2, &[2])).starts_with("token 2"));
    let grammar = Ensemble::new(3, 2).sample(Seed::new(1)).unwrap();
    assert!(Parser::<f64>::new(&grammar).parse_evidence(&Evidence::masked(4, 5)).is_err());
    assert!(Parser::<f64>::new(&grammar).parse_evidence(&Evidence::masked(3, 0)).unwrap().root_entries().is_empty());
}

#[test]
fn entropy_of_the_trees() {
    for grammar in tiny_grammars() {
        for (sentence, derivations) in by_sentence(&grammar).into_iter().take(200) {
            let mut sum = Expectation::zero();
            for (root, value) in Chart::<Expectation>::parse(&grammar, &sentence).unwrap().roots().iter().enumerate() {
                sum.add(value.weighted(grammar.prior()[root]));
            }
            let weights: Vec<f64> = derivations.iter().map(|d| value(&d.joint)).collect();
            let total: f64 = weights.iter().sum();
            let expected: f64 = weights.iter().map(|w| -(w / total) * (w / total).ln()).sum();
            assert!((sum.tree_entropy() - expected).abs() < 1e-11, "{} {expected}", sum.tree_entropy());
        }
    }
}

#[test]
fn candidates_are_those_of_some_tree_or_spurious() {
    let grammar = Ensemble::new(4, 3).fraction(0.6).sample(Seed::new(1)).unwrap();
    let sampler = Sampler::new(&grammar);
    let mut spurious = 0;
    for i in 0..50 {
        let tree = sampler.tree(Seed::new(3), i);
        let chart = Chart::<Recognition>::parse(&grammar, tree.sentence()).unwrap();
        for (level, candidates) in chart.candidates(&tree).iter().enumerate() {
            let mut genuine = candidates.genuine.clone();
            genuine.sort();
            assert_eq!(genuine, tree.nodes(level), "all nodes of the derivation are found");
            let all = chart.cells(level).map(|cell| cell.values.len()).sum::<usize>();
            assert_eq!(candidates.genuine.len() + candidates.spurious.len(), all);
            spurious += candidates.spurious.len();
        }
    }
    assert!(spurious > 0);
}

#[test]
fn sampled_trees_follow_the_posterior() {
    let grammar = Ensemble::new(2, 2).fraction(1.0).zipf(0.7).sample(Seed::new(4)).unwrap();
    let sentence = [0, 1, 0, 0, 1, 1, 0];
    let parser = Parser::<Magnitude>::new(&grammar);
    let chart = parser.parse(&sentence).unwrap();
    let all: Vec<Derivation> = all_derivations(&grammar).into_iter().filter(|d| d.sentence == sentence).collect();
    let total: f64 = all.iter().map(|d| value(&d.joint)).sum();
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    let draws = 20_000;
    for i in 0..draws {
        let tree = parser.sample_tree(&chart, &mut Seed::new(9).stream(i)).unwrap();
        *counts.entry(tree.to_text(&grammar)).or_default() += 1.0;
    }
    assert!(all.len() >= 3);
    let chi_square: f64 = all
        .iter()
        .map(|d| {
            let expected = draws as f64 * value(&d.joint) / total;
            (counts.get(&d.text).copied().unwrap_or(0.0) - expected).powi(2) / expected
        })
        .sum();
    // Five standard deviations above the mean of the distribution with `all.len() - 1` degrees of freedom.
    let freedom = (all.len() - 1) as f64;
    assert!(chi_square < freedom + 5.0 * (2.0 * freedom).sqrt(), "{chi_square} for {freedom} degrees of freedom");
}

#[test]
fn sampled_sentences_follow_their_probabilities() {
    let grammar = random_grammar(7, 2, 3, 3, &[2, 3]);
    let groups = by_sentence(&grammar);
    let corpus = Corpus::sample(&grammar, Seed::new(1), 0..200_000);
    let mut counts: BTreeMap<(&[u8], u8), f64> = BTreeMap::new();
    for (sentence, &root) in corpus.sentences().zip(corpus.roots()) {
        *counts.entry((sentence, root)).or_default() += 1.0;
    }
    let (mut chi_square, mut freedom, mut rest): (f64, f64, (f64, f64)) = (0.0, -1.0, (0.0, 0.0));
    for (sentence, derivations) in &groups {
        for (root, p) in sum_by_root(derivations, grammar.classes()).into_iter().enumerate() {
            let expected = corpus.len() as f64 * value(&p) * grammar.prior()[root];
            let found = counts.remove(&(sentence.as_slice(), root as u8)).unwrap_or(0.0);
            if expected >= 5.0 {
                chi_square += (found - expected).powi(2) / expected;
                freedom += 1.0;
            } else {
                rest = (rest.0 + found, rest.1 + expected);
            }
        }
    }
    assert!(counts.is_empty(), "sentences that cannot be: {counts:?}");
    if rest.1 > 0.0 {
        chi_square += (rest.0 - rest.1).powi(2) / rest.1;
        freedom += 1.0;
    }
    assert!(freedom > 5.0 && chi_square < freedom + 5.0 * (2.0 * freedom).sqrt(), "{chi_square} for {freedom}");
}

/// Any place may be asked for, also in a sentence that no tree covers.
#[test]
fn places_outside_a_chart_hold_nothing() {
    let grammar = Ensemble::new(4, 2).fraction(1.0).sample(Seed::new(1)).unwrap();
    for len in [0, 3, 10, 5] {
        let chart = Chart::<f64>::parse(&grammar, &vec![0; len]).unwrap();
        for level in 0..=2 {
            for (start, span) in [(0, 0), (1, 1), (2, 3), (len, 1), (len + 7, 1), (0, usize::MAX), (0, (1 << 32) + 5)] {
                let inside = span > 0 && start < len && span <= len - start;
                let span = Span::new(start, span);
                assert!(len == 5 && inside || chart.values(level, span).is_empty(), "{len}: {span:?}");
                assert!(len == 5 && inside || chart.value(level, Node { span, symbol: 0 }).is_none());
            }
        }
        assert_eq!(chart.roots().len(), 4);
    }
}

/// Buffers that one parser has filled, in the hands of another: the same charts as with new ones.
#[test]
fn buffers_serve_any_grammar() {
    let grammars = [
        Ensemble::new(4, 2).fraction(1.0).sample(Seed::new(1)).unwrap(),
        Ensemble::new(7, 2).fraction(0.5).p_binary(0.0).sample(Seed::new(2)).unwrap(),
        Ensemble::new(3, 3).fraction(1.0).sample(Seed::new(3)).unwrap(),
        Ensemble::new(9, 2).fraction(0.6).sample(Seed::new(4)).unwrap(),
    ];
    let parsers = grammars.each_ref().map(Parser::<f64>::new);
    let insides = grammars.each_ref().map(Inside::new);
    let (mut buffers, mut workspace) = (parsers[0].buffers(), insides[0].workspace());
    for (len, k) in [(9, 0), (9, 1), (9, 2), (8, 2), (9, 3), (9, 0), (8, 0), (8, 2), (8, 3)] {
        let sentence: Vec<u8> = (0..len).map(|i| (i * i % 3) as u8).collect();
        let expected = parsers[k].parse(&sentence).unwrap();
        let found = parsers[k].parse_with(&mut buffers, &sentence).unwrap();
        assert_eq!((found.depth(), found.roots()), (expected.depth(), expected.roots()), "grammar {k}");
        for level in 0..=found.depth() {
            let cells = |chart: &Chart<f64>| {
                chart.cells(level).map(|cell| (cell.span, cell.values.to_vec())).collect::<Vec<_>>()
            };
            assert_eq!(cells(found), cells(&expected), "grammar {k}, level {level}");
        }
        let posterior = insides[k].posterior_with(&mut workspace, &sentence).unwrap();
        assert_eq!(posterior, insides[k].posterior(&sentence).unwrap());
    }
}

/// Templates are kept from sentence to sentence, but a larger grammar needs more memory with the same ones.
#[test]
fn used_buffers_do_not_hide_the_size_of_a_chart() {
    let small = Ensemble::new(2, 10).fraction(0.01).sample(Seed::new(1)).unwrap();
    let large = Ensemble::new(255, 10).fraction(0.001).sample(Seed::new(1)).unwrap();
    assert_eq!(small.shape(), large.shape());
    let (small, large) = (Parser::<Recognition>::new(&small), Parser::<Recognition>::new(&large));
    let mut buffers = small.buffers();
    let sentence = vec![0; 6000];
    small.parse_with(&mut buffers, &sentence).unwrap();
    assert!(matches!(large.parse_with(&mut buffers, &sentence), Err(Error::TooLarge { .. })));
}
