//! Corpora that are not what the learner is told: it must notice, or cope.

use crate::language::{Handling, Language};
use crate::{FIRST_SEED, Row};
use gardenpath::learn::{Branching, Outline};
use gardenpath::{Arities, Corpus, Result, Seed};

struct Misfit {
    name: &'static str,
    language: Language,
    vocab: usize,
    /// Sentences for each rule of the layer that has most.
    each: usize,
    handling: Handling,
    arities: Option<Arities>,
}

/// The grammars of each misfit.
const GRAMMARS: u64 = 5;

/// Prints the table.
pub fn table() -> Result<()> {
    println!(
        "| | sentences | every rule right | converged | wrongly trusted | accuracy below Bayes, if converged | if not |"
    );
    println!("|-|-|-|-|-|-|-|");
    for misfit in misfits() {
        let Misfit { name, language, vocab, each, handling, arities } = &misfit;
        let sentences = language.sentences(*each);
        let mut row = Row::default();
        for seed in (FIRST_SEED..FIRST_SEED + GRAMMARS).map(Seed::new) {
            let truth = language.sample(seed)?;
            let corpus = handling.apply(&Corpus::sample(&truth, seed.child("training"), 0..sentences), &truth, seed);
            let usual = Outline::new(*vocab, truth.depth());
            let branching = arities.map_or(usual.branching, Branching::Learned);
            let outline = Outline { branching, tokens: truth.vocab(), classes: truth.classes(), ..usual };
            row.learn(&corpus, &truth, outline, seed)?;
        }
        let Row { exact, converged, trusted, .. } = row;
        let (gap, rest) = (row.converged_gap(), row.rejected_gap());
        println!("| {name} | {sentences} | {exact} of {GRAMMARS} | {converged} | {trusted} | {gap} | {rest} |");
    }
    Ok(())
}

fn misfits() -> Vec<Misfit> {
    let plain =
        |name, language, vocab| Misfit { name, language, vocab, each: 160, handling: Handling::Plain, arities: None };
    let usual = || Language::new(&[8, 8, 8], 2, 16);
    let handled = |name, handling| Misfit { handling, each: 80, ..plain(name, usual(), 8) };
    vec![
        plain("9 hidden symbols, told 8", Language::new(&[8, 9, 8], 2, 16), 8),
        plain("10 hidden symbols, told 8", Language::new(&[8, 10, 8], 2, 16), 8),
        plain("16 hidden symbols, told 8", Language::new(&[8, 16, 8], 2, 16), 8),
        plain("16 hidden symbols, told 16; 8 tokens and classes", Language::new(&[8, 16, 8], 2, 16), 16),
        plain("9 symbols of level 1, told 8, L = 3", Language::new(&[8, 9, 8, 8], 2, 16), 8),
        plain("6 hidden symbols, told 8", Language::new(&[8, 6, 8], 2, 12), 8),
        plain("one arity: binary trees", Language::fixed(8, &[2, 2]), 8),
        plain("one arity: ternary trees, L = 3", Language::fixed(8, &[3, 3, 3]), 8),
        Misfit { arities: Some([2].into()), ..plain("binary trees, told so", Language::fixed(8, &[2, 2, 2]), 8) },
        plain("fixed trees of arities 3 and 2", Language::fixed(8, &[3, 2]), 8),
        plain("fixed trees of arities 3, 2 and 3", Language::fixed(8, &[3, 2, 3]), 8),
        plain(
            "classes of frequency .85, .05, .05, .05",
            Language { prior: vec![0.85, 0.05, 0.05, 0.05], ..Language::new(&[4, 8, 8], 2, 16) },
            8,
        ),
        plain("4 classes, told 8 symbols", Language::new(&[4, 8, 8], 2, 16), 8),
        plain("12 classes, told 8 symbols", Language::new(&[12, 8, 8], 2, 16), 8),
        handled("1% wrong labels", Handling::WrongLabels(0.01)),
        handled("1% wrong tokens", Handling::WrongTokens(0.01)),
        plain("tuples with two parents", Language { shared: 6, ..usual() }, 8),
        handled("sorted by label", Handling::Sorted(|_, root| (root.into(), Vec::new()))),
        handled("sorted by length", Handling::Sorted(|sentence, _| (sentence.len(), Vec::new()))),
        handled("sorted by tokens", Handling::Sorted(|sentence, _| (0, sentence.to_vec()))),
    ]
}
