//! Uses the words of a corpus as the names of a learned grammar.

use anyhow::{Result, anyhow, bail};
use gardenpath::{Children, Grammar, Rule, Symbol};
use gardenpath_lab::files::{Names, Whole, shown};

/// Refuses, before learning, words that cannot be names in a grammar, and corpora that share no word with the true
/// grammar.
pub(super) fn check(whole: &Whole, truth: Option<&Grammar>) -> Result<()> {
    let Whole { corpus, names, path, vocab, classes } = whole;
    // Without labels there is one start symbol.
    let classes = &(*classes).max(1);
    if names.are_numbers() || *vocab == 0 {
        return Ok(());
    }
    let rule = |parent: usize| Rule { parent: parent as Symbol, children: Children::from([0, 0]), probability: 1.0 };
    let rules = (0..*classes).map(rule).collect();
    let smallest = Grammar::new(vec![*classes, *vocab], vec![1.0 / *classes as f64; *classes], vec![rules])?;
    give(smallest, names)
        .map_err(|e| anyhow!("{}: {e:#}; labels may have letters, digits and _ / ^ < > -", shown(path)))?;
    let known = truth.map_or(0, Grammar::vocab);
    if truth.is_some() && names.tokens.is_some() && corpus.tokens().iter().all(|&token| usize::from(token) >= known) {
        bail!("{}: none of its words is a token of the true grammar", shown(path));
    }
    Ok(())
}

/// Renames the tokens and classes of a grammar; symbols without a name keep their default one.
pub(super) fn give(grammar: Grammar, names: &Names) -> Result<Grammar> {
    if names.are_numbers() {
        return Ok(grammar);
    }
    let depth = grammar.depth();
    let named = |names: &Option<Vec<String>>, level: usize, default: &dyn Fn(usize) -> String| -> Vec<String> {
        let name = |k: usize| names.as_ref().and_then(|names| names.get(k)).cloned().unwrap_or_else(|| default(k));
        (0..grammar.sizes()[level]).map(name).collect()
    };
    let classes = named(&names.roots, 0, &|k| format!("A0_{k}"));
    // No symbol between root and tokens may share a name with a class.
    let mut prefix = "A".to_owned();
    let inner = loop {
        let inner: Vec<Vec<String>> =
            (1..depth).map(|level| named(&None, level, &|k| format!("{prefix}{level}_{k}"))).collect();
        if inner.iter().flatten().all(|name| !classes.contains(name)) {
            break inner;
        }
        prefix.push('A');
    };
    let tokens = named(&names.tokens, depth, &|k| k.to_string());
    let levels = std::iter::once(classes).chain(inner).chain([tokens]).collect();
    Ok(grammar.with_names(levels)?)
}
