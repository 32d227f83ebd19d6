//! Floors: those on record, formulas, and limits that are known.

mod oracle;

use gardenpath::*;
use oracle::assert_close;

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
            let floors = Floor::of_lowest_levels(&grammar, 0..=depth, &corpus, &|_| ()).unwrap();
            let exact = Floor::measure(&grammar, &corpus, Task::Next, Seed::new(1), &|_| ()).unwrap();
            assert_eq!(exact.loss, floors[depth].loss, "all levels known is exact");
            let alone = Floor::of_lowest_levels(&grammar, 1..=1, &corpus, &|_| ()).unwrap();
            assert_eq!((alone.len(), alone[0].loss), (1, floors[1].loss));
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
    assert!(Floor::of_lowest_levels(&grammar, 0..=0, &corpus, &|_| ()).is_err());
    assert_eq!(Floor::measure(&grammar, &corpus, Task::Masked(1.0), Seed::new(1), &|_| ()).unwrap().loss.mean, 0.0);
}

/// Masked tokens of an ensemble, in nats, by a slow and independent program: .062 ± .003 for one of a sentence, .344 ± .017 at 15%,
/// 1.362 ± .024 at 50%. And limits that are known.
#[test]
fn floors_of_masks_and_noise() {
    let (mut one, mut few, mut many) = (0.0, 0.0, 0.0);
    for seed in 0..4 {
        let grammar = Ensemble::new(16, 2).fraction(1.0 / 16.0).sample(Seed::new(seed)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(50 + seed), 0..1500);
        let floor = |task| Floor::measure(&grammar, &corpus, task, Seed::new(7), &|_| ()).unwrap().loss.mean;
        one += floor(Task::MaskedOne) / 4.0;
        few += floor(Task::Masked(Task::MASK)) / 4.0;
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
    for (found, expected, margin) in [(one, 0.062, 0.012), (few, 0.344, 0.05), (many, 1.362, 0.07)] {
        assert!(f64::abs(found - expected) < margin, "{one} {few} {many}");
    }
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
