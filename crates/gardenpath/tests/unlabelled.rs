//! Learning without labels: every rule below the root from sentences alone, and a verdict as strict as with labels.

use gardenpath::learn::score::{score_next_token, score_rules};
use gardenpath::learn::{Exact, Learned, Learner, Outline, Verdict};
use gardenpath::{Corpus, Ensemble, Grammar, Seed, random_noise};
use std::ops::Range;

/// A kind of grammars: symbols, layers and the fraction of tuples that are rules.
#[derive(Clone, Copy, Debug)]
struct Setting {
    vocab: usize,
    depth: usize,
    fraction: f64,
}

const fn setting(vocab: usize, depth: usize, fraction: f64) -> Setting {
    Setting { vocab, depth, fraction }
}

/// A random grammar, and `per_rule` of its sentences for each ternary rule of a level, without their labels.
fn task(Setting { vocab, depth, fraction }: Setting, per_rule: usize, seed: u64) -> (Grammar, Corpus) {
    let ensemble = Ensemble::new(vocab, depth).fraction(fraction);
    let sentences = per_rule * vocab * ensemble.rules_per_symbol(0).unwrap()[3];
    let truth = ensemble.sample(Seed::new(seed)).unwrap();
    let corpus = Corpus::sample(&truth, Seed::new(seed).child("training"), 0..sentences as u64);
    (truth, corpus.with_roots(vec![255; sentences]).unwrap())
}

fn learn(setting: Setting, corpus: &Corpus) -> Learned {
    Exact::new(Outline::new(setting.vocab, setting.depth)).learn(corpus, &mut |_| ()).unwrap()
}

/// Whether every rule below the root is right.
fn is_exact(learned: &Learned, truth: &Grammar) -> bool {
    score_rules(&learned.grammar, truth).unwrap()[1..].iter().all(|level| level.is_exact())
}

/// The number of grammars whose rules below the root are all right; no other may be trusted.
fn exact(setting: Setting, per_rule: usize, seeds: Range<u64>) -> usize {
    let is_right = |&seed: &u64| {
        let (truth, corpus) = task(setting, per_rule, seed);
        let learned = learn(setting, &corpus);
        let right = is_exact(&learned, &truth);
        assert!(right || learned.verdict != Verdict::Converged, "{setting:?}, seed {seed}: wrongly trusted");
        right
    };
    seeds.filter(is_right).count()
}

#[test]
fn every_rule_below_the_root_is_recovered() {
    for (setting, per_rule, least) in [
        (setting(8, 2, 0.125), 160, 4),
        (setting(8, 3, 0.125), 160, 2),
        (setting(16, 2, 0.0625), 160, 1),
        (setting(8, 2, 0.25), 400, 1),
    ] {
        let found = exact(setting, per_rule, 100..101 + least);
        assert!(found as u64 >= least, "{setting:?}: {found} of {}", least + 1);
    }
}

/// One start symbol has the tuples of all classes, and next tokens are predicted as well as they can be.
#[test]
fn the_root_has_all_tuples_and_the_loss_is_near_the_floor() {
    let setting = setting(8, 2, 0.25);
    let (truth, corpus) = task(setting, 160, 120);
    let learned = learn(setting, &corpus);
    assert_eq!(learned.verdict, Verdict::Converged);
    let root = &score_rules(&learned.grammar, &truth).unwrap()[0];
    assert!(root.is_exact() && root.rules[3].truth == 8 * 16 && learned.grammar.sizes() == [1, 8, 8]);
    let test = Corpus::sample(&truth, Seed::new(1), 0..5000);
    let score = score_next_token(&learned.grammar, Some(&truth), &test).unwrap();
    let above = score.loss.unwrap() - score.floor.unwrap();
    assert!(score.parse_rate > 0.999 && (-0.002..0.01).contains(&above), "{score:?}");
    // A grammar that does not know the sentences has no loss; the truth must know them.
    let none = Corpus::from_parts(vec![0; 4], vec![0, 4], vec![0]).unwrap();
    let strange = Grammar::from_text("S -> A [1]\nA -> 'a' 'b' [1]\n").unwrap();
    let score = score_next_token(&strange, None, &none).unwrap();
    assert_eq!((score.loss, score.floor, score.parse_rate), (None, None, 0.0));
    let (other, _) = task(setting, 1, 121);
    assert!(score_next_token(&other, None, &test).unwrap().parse_rate < 0.9);
    assert!(score_next_token(&learned.grammar, Some(&other), &test).is_err());
    assert!(score_next_token(&truth, None, &Corpus::default()).is_err());
}

/// A lost rule of the root, and a rule below it with a wrong parent, are seen in the scores.
#[test]
fn scores_do_not_depend_on_names_but_on_rules() {
    let setting = setting(8, 2, 0.25);
    let (truth, corpus) = task(setting, 160, 130);
    let found = learn(setting, &corpus).grammar;
    let with = |change: &dyn Fn(&mut Vec<Vec<gardenpath::Rule>>)| {
        let mut layers: Vec<Vec<_>> = found.layers().iter().map(|layer| layer.rules().to_vec()).collect();
        change(&mut layers);
        for rules in &mut layers {
            let mut totals = [0.0; 8];
            rules.iter().for_each(|rule| totals[usize::from(rule.parent)] += rule.probability);
            rules.iter_mut().for_each(|rule| rule.probability /= totals[usize::from(rule.parent)]);
        }
        let changed = Grammar::new(found.sizes().to_vec(), vec![1.0], layers).unwrap();
        score_rules(&changed, &truth).unwrap().iter().map(|level| level.is_exact()).collect::<Vec<bool>>()
    };
    assert_eq!(with(&|_| ()), [true, true]);
    assert_eq!(with(&|layers| layers[0].truncate(100)), [false, true]);
    assert_eq!(with(&|layers| layers[1][0].parent ^= 1), [true, false]);
}

/// Labels are not looked at, nor does the number of threads change anything.
#[test]
fn the_result_depends_on_the_sentences_alone() {
    let setting = setting(8, 2, 0.25);
    let (_, corpus) = task(setting, 40, 140);
    let one_class = corpus.clone().with_roots(vec![0; corpus.len()]).unwrap();
    let run = |threads: usize, corpus: &Corpus| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| learn(setting, corpus))
    };
    let expected = run(1, &corpus);
    assert!(run(2, &corpus) == expected && run(8, &corpus) == expected && run(2, &one_class) == expected);
}

/// Symbols that are merged, because the learner is told of fewer, leave two kinds of rules behind; of more, it does not find them.
#[test]
fn wrong_numbers_of_symbols_are_noticed() {
    let (_, corpus) = task(setting(8, 2, 0.25), 120, 150);
    for vocab in [6, 7, 9] {
        let learned = learn(setting(vocab, 2, 0.25), &corpus);
        assert_ne!(learned.verdict, Verdict::Converged, "told {vocab}");
    }
}

/// What cannot be derived is not blamed on labels that nobody gave.
#[test]
fn verdicts_do_not_speak_of_labels() {
    let setting = setting(8, 2, 0.125);
    let (_, corpus) = task(setting, 160, 100);
    let mut noisy = Corpus::default();
    for (i, sentence) in corpus.sentences().enumerate() {
        noisy.push(&random_noise(sentence, setting.vocab, 0.01, Seed::new(1), i as u64), 255);
    }
    let strict = Exact { noise: 0.0, ..Exact::new(Outline::new(setting.vocab, setting.depth)) };
    let Verdict::NotConverged(reason) = strict.learn(&noisy, &mut |_| ()).unwrap().verdict else {
        panic!("wrong tokens are noticed");
    };
    assert!(reason.ends_with("sentences are not derived, but 0% of wrong tokens explain at most 0"), "{reason}");
}

/// Small and dense grammars tempt the learner to merge symbols.
#[test]
fn a_wrong_grammar_is_never_trusted() {
    exact(setting(4, 2, 0.5), 30, 200..230);
    exact(setting(4, 2, 0.25), 40, 200..230);
    exact(setting(8, 2, 0.25), 26, 200..215);
}

/// Seeds that nothing was tuned on.
const FRESH: u64 = 5000;

#[test]
#[ignore = "takes minutes: the recovery rates and a hundred runs with too few sentences"]
fn every_rule_below_the_root_is_recovered_at_length() {
    for (setting, per_rule, least) in [
        (setting(8, 2, 0.125), 160, 9),
        (setting(8, 3, 0.125), 160, 9),
        (setting(16, 2, 0.0625), 160, 9),
        (setting(16, 3, 0.0625), 160, 9),
        (setting(8, 2, 0.25), 400, 8),
        (setting(8, 3, 0.25), 400, 8),
    ] {
        let found = exact(setting, per_rule, FRESH..FRESH + 10);
        println!("{setting:?}, {per_rule} sentences per rule: {found} of 10");
        assert!(found >= least, "{setting:?}: {found} of 10");
    }
    let mut wrong = 0;
    for (k, setting) in
        [setting(8, 2, 0.125), setting(8, 3, 0.125), setting(8, 2, 0.25), setting(8, 3, 0.25), setting(16, 2, 0.0625)]
            .into_iter()
            .enumerate()
    {
        for per_rule in [4, 8, 12, 16, 20, 24, 28, 32, 36, 40] {
            let first = FRESH + 100 * (k as u64 + 1) + per_rule as u64;
            wrong += 2 - exact(setting, per_rule, first..first + 2);
        }
    }
    println!("too few sentences: {wrong} of 100 grammars are wrong, none of them is trusted");
}
