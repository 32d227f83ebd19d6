//! Predictions against the enumeration of all derivations in rational numbers.

mod oracle;

use gardenpath::*;
use num_traits::{One, Zero};
use oracle::{
    ARITIES, Belief, Derivation, Exact, Rational, all_derivations, assert_all_near, assert_near, derivations_of,
    inside_and_outside, random_grammar, value,
};
use std::collections::BTreeMap;

/// Grammars with few enough derivations to list, for all sets of arities.
fn grammars() -> Vec<(Grammar, Vec<Derivation>)> {
    let mut grammars = Vec::new();
    for (k, arities) in ARITIES.iter().enumerate() {
        for (depth, size, rules) in [(1, 4, 5), (2, 3, 3), (2, 3, 2), (3, 2, 2), (3, 3, 1)] {
            let seeds = (0..2).map(|seed| 1000 * k as u64 + 10 * depth as u64 + seed);
            grammars.extend(seeds.map(|seed| random_grammar(seed, depth, size, rules, arities)));
        }
    }
    grammars.retain(|grammar| derivations_of(grammar) < 3000.0);
    assert!(grammars.len() > 60, "{}", grammars.len());
    grammars.into_iter().map(|grammar| (grammar.clone(), all_derivations(&grammar))).collect()
}

/// Some of all derivations.
fn some(all: &[Derivation], count: usize) -> impl Iterator<Item = &Derivation> {
    all.iter().step_by(1 + all.len() / count)
}

/// Evidence about a sentence of `len` tokens that begins with a prefix: the others are masked.
fn beginning(vocab: usize, prefix: &[u8], len: usize) -> Evidence {
    let mut sentence = prefix.to_vec();
    sentence.resize(len, 0);
    Evidence::with_masks(vocab, &sentence, prefix.len()..len).unwrap()
}

#[test]
fn next_tokens_are_sums_over_all_derivations() {
    let mut rows = 0;
    for (grammar, all) in grammars() {
        let predictor = Predictor::new(&grammar);
        let mut reader = predictor.reader();
        for d in some(&all, 8) {
            reader.restart();
            let mut product = Rational::one();
            for n in 0..=d.sentence.len() {
                let belief = Belief::of_prefix(&all, &d.sentence[..n]);
                let next = belief.next(grammar.vocab(), n);
                assert!(next.iter().sum::<Rational>().is_one() && product == belief.evidence);
                assert_all_near(reader.next(), &next, "next token");
                assert_near(reader.next().iter().sum(), &Rational::one(), "sum of a row");
                assert_near(reader.log_probability().exp(), &belief.evidence, "probability of a prefix");
                for (level, &size) in grammar.sizes().iter().enumerate() {
                    let hidden = match n {
                        0 => vec![Rational::zero(); size],
                        _ => belief.hidden(level, size, n - 1),
                    };
                    assert_all_near(&reader.hidden(level), &hidden, "hidden symbol given a prefix");
                }
                let token = d.sentence.get(n);
                token.iter().for_each(|&&token| reader.push(token).unwrap());
                product *= &next[token.map_or(grammar.vocab(), |&token| usize::from(token))];
                rows += 1;
            }
            let same = all.iter().filter(|other| other.sentence == d.sentence);
            assert_eq!(product, same.map(|d| &d.joint).sum(), "the product of all predictions");
        }
    }
    assert!(rows > 2000, "{rows}");
}

/// What is not read yet is masked, and may have any length: next tokens and hidden symbols once more, exactly, by the recursions over
/// whole sentences.
#[test]
fn what_is_not_read_yet_is_masked() {
    let mut rows = 0;
    for (grammar, all) in grammars() {
        let (vocab, depth, parser) = (grammar.vocab(), grammar.depth(), Parser::<Exact>::new(&grammar));
        for d in some(&all, 2) {
            for n in 1..=d.sentence.len() {
                let prefix = &d.sentence[..n];
                let mut next = vec![Rational::zero(); vocab + 1];
                let mut hidden: Vec<Vec<Rational>> =
                    grammar.sizes().iter().map(|&size| vec![Rational::zero(); size]).collect();
                for len in n.max(*grammar.shape().lengths().start())..=*grammar.shape().lengths().end() {
                    let (total, levels) = inside_and_outside(&parser, &beginning(vocab, prefix, len));
                    match levels[depth].get(n) {
                        None => next[vocab] += total,
                        Some(row) => add(&mut next, row),
                    }
                    hidden.iter_mut().zip(&levels).for_each(|(sums, rows)| add(sums, &rows[n - 1]));
                }
                let belief = Belief::of_prefix(&all, prefix);
                let conditional = |sums: &[Rational]| sums.iter().map(|sum| sum / &belief.evidence).collect::<Vec<_>>();
                assert_eq!(conditional(&next), belief.next(vocab, n));
                for (level, &size) in grammar.sizes().iter().enumerate() {
                    assert_eq!(conditional(&hidden[level]), belief.hidden(level, size, n - 1));
                }
                rows += 1;
            }
        }
    }
    assert!(rows > 500, "{rows}");
}

fn add(sums: &mut [Rational], terms: &[Rational]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}

#[test]
fn known_lengths_leave_out_all_other_sentences() {
    let mut rows = 0;
    for (grammar, all) in grammars() {
        let (vocab, depth) = (grammar.vocab(), grammar.depth());
        let (predictor, parser) = (Predictor::new(&grammar), Parser::<Exact>::new(&grammar));
        let known = KnownLength::new(&predictor);
        for d in some(&all, 6) {
            let len = d.sentence.len();
            let any = Belief::of_evidence(&all, &Evidence::masked(vocab, len));
            assert_near(known.length_probability(len), &any.evidence, "probability of the length");
            let (found, mut product) = (known.rows(&d.sentence).unwrap(), any.evidence);
            for (n, row) in found.chunks(vocab).enumerate() {
                let evidence = beginning(vocab, &d.sentence[..n], len);
                let belief = Belief::of_evidence(&all, &evidence);
                assert_eq!(product, belief.evidence);
                let expected = belief.hidden(depth, vocab, n);
                assert_all_near(row, &expected, "next token of a known length");
                assert_near(row.iter().sum(), &Rational::one(), "sum of a row");
                let (total, levels) = inside_and_outside(&parser, &evidence);
                assert_eq!(total, belief.evidence);
                assert!(levels[depth][n].iter().zip(&expected).all(|(joint, p)| *joint == p * &total));
                product *= &expected[usize::from(d.sentence[n])];
                if n + 1 == len {
                    let posteriors = SymbolPosteriors::new(&grammar, &evidence).unwrap().unwrap();
                    assert_all_near(posteriors.row(depth, n), &expected, "one mask at the end");
                }
                rows += 1;
            }
            let same = all.iter().filter(|other| other.sentence == d.sentence);
            assert_eq!(product, same.map(|d| &d.joint).sum(), "the product of all predictions");
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
        let (vocab, parser) = (grammar.vocab(), Parser::<Exact>::new(&grammar));
        let mut stream = Seed::new(5).stream(case as u64);
        for d in some(&all, 4) {
            let masked = (0..d.sentence.len()).filter(|_| stream.below(2) == 0);
            let masked = Evidence::with_masks(vocab, &d.sentence, masked).unwrap();
            let noisy = Evidence::noisy(vocab, &d.sentence, 0.375).unwrap();
            let random = Rational::new(3.into(), (8 * vocab).into());
            for (i, token) in d.sentence.iter().map(|&token| usize::from(token)).enumerate() {
                let mut channel = vec![random.clone(); vocab];
                channel[token] += Rational::new(5.into(), 8.into());
                assert_all_near(noisy.likelihoods(i), &channel, "a token, or a random one");
            }
            for evidence in [Evidence::tokens(vocab, &d.sentence).unwrap(), masked, noisy] {
                let belief = Belief::of_evidence(&all, &evidence);
                let (total, levels) = inside_and_outside(&parser, &evidence);
                assert_eq!(total, belief.evidence);
                let posteriors = SymbolPosteriors::new(&grammar, &evidence).unwrap().unwrap();
                assert_near(posteriors.log_evidence().exp(), &total, "probability of the evidence");
                for (level, rows) in levels.iter().enumerate() {
                    for (i, joint) in rows.iter().enumerate() {
                        assert_eq!(joint.iter().sum::<Rational>(), total, "all levels agree");
                        let expected = belief.hidden(level, joint.len(), i);
                        assert!(joint.iter().zip(&expected).all(|(joint, p)| *joint == p * &total));
                        assert_all_near(posteriors.row(level, i), &expected, "posterior of a symbol");
                        checked += 1;
                    }
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

/// Independent symbols of a level, as many as sentences have of them, and what they derive.
struct Blocks {
    /// (symbol, text, probability of both)
    texts: Vec<(usize, Vec<u8>, Rational)>,
    symbols: usize,
    /// The probability of each number of symbols.
    law: Vec<Rational>,
}

impl Blocks {
    fn new(grammar: &Grammar, all: &[Derivation], level: usize) -> Self {
        let symbols = grammar.sizes()[level];
        let (mut shares, mut law) = (vec![Rational::zero(); symbols], Vec::new());
        for d in all {
            let nodes: Vec<&(usize, Node)> = d.nodes.iter().filter(|(l, _)| *l == level).collect();
            nodes.iter().for_each(|(_, node)| shares[usize::from(node.symbol)] += &d.joint);
            law.resize(law.len().max(nodes.len() + 1), Rational::zero());
            law[nodes.len()] += &d.joint;
        }
        let total: Rational = shares.iter().sum();
        let mut texts = BTreeMap::new();
        for (symbol, share) in shares.iter().enumerate().filter(|(_, share)| !share.is_zero()) {
            for (text, p) in oracle::yields(grammar, level, symbol as u8) {
                *texts.entry((symbol, text)).or_insert_with(Rational::zero) += p * share / &total;
            }
        }
        Blocks { texts: texts.into_iter().map(|((symbol, text), p)| (symbol, text, p)).collect(), symbols, law }
    }

    /// For each end and number, the probability that the first so many blocks are the tokens before the end.
    fn ways(&self, tokens: &[u8]) -> Vec<Vec<Rational>> {
        let mut ways = vec![vec![Rational::zero(); self.law.len()]; tokens.len() + 1];
        ways[0][0] = Rational::one();
        for end in 1..=tokens.len() {
            let (before, own) = ways.split_at_mut(end);
            for (_, text, p) in self.texts.iter().filter(|(_, text, _)| tokens[..end].ends_with(text)) {
                let counts = own[0].iter_mut().skip(1).zip(&before[end - text.len()]);
                counts.filter(|(_, before)| !before.is_zero()).for_each(|(own, before)| *own += p * before);
            }
        }
        ways
    }

    /// The probability that a sentence begins with these tokens, by the symbol above the last of them, given the ways to read them.
    fn begin_with(&self, tokens: &[u8], ways: &[Vec<Rational>]) -> Vec<Rational> {
        let mut sums = vec![Rational::zero(); self.symbols];
        for (start, ways) in ways.iter().enumerate().take(tokens.len()) {
            let goes_on = |(count, ways): (usize, &Rational)| ways * self.law[count + 1..].iter().sum::<Rational>();
            let begun: Rational = ways.iter().enumerate().filter(|(_, ways)| !ways.is_zero()).map(goes_on).sum();
            for (symbol, _, p) in self.texts.iter().filter(|(_, text, _)| text.starts_with(&tokens[start..])) {
                sums[*symbol] += &begun * p;
            }
        }
        sums
    }
}

/// A predictor that knows the lowest levels only: symbols of the level above them come one by one.
#[test]
fn lowest_levels_make_independent_blocks() {
    let mut rows = 0;
    for (grammar, all) in grammars() {
        let (vocab, depth) = (grammar.vocab(), grammar.depth());
        let exact = Predictor::new(&grammar);
        for known in 0..depth {
            let blocks = Blocks::new(&grammar, &all, depth - known);
            let predictor = Predictor::of_lowest_levels(&grammar, known).unwrap();
            let mut reader = predictor.reader();
            for d in some(&all, 3) {
                reader.restart();
                let (ways, mut losses) = (blocks.ways(&d.sentence), 0.0);
                for n in 0..=d.sentence.len() {
                    let mut read = d.sentence[..n].to_vec();
                    let hidden = blocks.begin_with(&read, &ways);
                    let total = if n == 0 { Rational::one() } else { hidden.iter().sum() };
                    read.push(0);
                    let token = |token: usize| {
                        read[n] = token as u8;
                        blocks.begin_with(&read, &ways).iter().sum::<Rational>() / &total
                    };
                    let mut next: Vec<Rational> = (0..vocab).map(token).collect();
                    next.push(ways[n].iter().zip(&blocks.law).map(|(ways, p)| ways * p).sum::<Rational>() / &total);
                    assert!(next.iter().sum::<Rational>().is_one());
                    assert_all_near(reader.next(), &next, "next token of a predictor of few levels");
                    assert_near(reader.log_probability().exp(), &total, "probability of a prefix");
                    let hidden: Vec<Rational> = hidden.iter().map(|p| p / &total).collect();
                    assert_all_near(&reader.hidden(depth - known), &hidden, "symbol above the last token");
                    let truth = Belief::of_prefix(&all, &d.sentence[..n]).next(vocab, n);
                    let surprise = |(p, q): (&Rational, &Rational)| value(p) * value(q).ln();
                    losses -= truth.iter().zip(&next).filter(|(p, _)| !p.is_zero()).map(surprise).sum::<f64>();
                    d.sentence.get(n).iter().for_each(|&&token| reader.push(token).unwrap());
                    rows += 1;
                }
                let corpus = Corpus::from_parts(d.sentence.clone(), vec![0, d.sentence.len()], vec![0]).unwrap();
                let floor = Floor::of_lowest_levels(&grammar, known..=known, &corpus, &|_| ()).unwrap()[0].loss.mean;
                assert!((floor * d.sentence.len() as f64 - losses).abs() < 1e-12, "{floor} {losses}");
            }
        }
        let all_known = Predictor::of_lowest_levels(&grammar, depth).unwrap();
        for d in some(&all, 3) {
            assert_eq!(all_known.rows(&d.sentence).unwrap(), exact.rows(&d.sentence).unwrap());
        }
        assert!(Predictor::of_lowest_levels(&grammar, depth + 1).is_err());
    }
    assert!(rows > 1000, "{rows}");
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
