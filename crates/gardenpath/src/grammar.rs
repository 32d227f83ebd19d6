//! Layered probabilistic context-free grammars with rules of one to eight children.
//!
//! A [`Grammar`] of depth `L` has levels `0..=L`. Level 0 holds the root symbols (the classes) with a prior, level `L`
//! the tokens. The rules of [`Layer`] `l` rewrite a symbol of level `l` into symbols of level `l + 1`.
//! Sampled, read and learned grammars are all of this one type.

mod automaton;
mod layer;
mod published;
mod published_errors;
mod rule;
mod sample;
mod text;

pub(crate) use automaton::{Automaton, State};
pub use layer::Layer;
pub use rule::Rule;
pub use sample::{Ensemble, RuleCount};

pub use crate::symbols::{Children, Symbol};

use crate::error::{Counts, Error, Result};
use crate::shape::Shape;
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// How far a sum of probabilities may be from 1: grammars written with six digits must remain readable.
pub(crate) const SUM_TOLERANCE: f64 = 1e-5;

/// A layered grammar of uniform depth.
///
/// ```
/// use gardenpath::{Ensemble, Grammar, Seed};
///
/// let grammar = Ensemble::new(8, 2).fraction(0.25).sample(Seed::new(7))?;
/// assert_eq!(grammar.depth(), 2);
/// assert_eq!(grammar.sizes(), [8, 8, 8]);
/// // Eight symbols per level with 2 binary and 16 ternary rules each.
/// assert_eq!(grammar.layer(0).rules().len(), 8 * (2 + 16));
/// assert_eq!(Grammar::from_text(&grammar.to_text())?, grammar);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Grammar {
    sizes: Vec<usize>,
    prior: Vec<f64>,
    layers: Vec<Layer>,
    names: Option<Vec<Vec<String>>>,
    remarks: Vec<String>,
}

impl Grammar {
    /// The largest number of symbols of a level.
    pub const MAX_VOCAB: usize = 255;

    /// A grammar with `sizes[level]` symbols per level, a prior over the root symbols, and one list of rules per layer.
    ///
    /// Every symbol above the tokens needs rules whose probabilities sum to one, except for root symbols with a prior of
    /// zero: those may have none. One right-hand side may have several parents.
    pub fn new(sizes: Vec<usize>, prior: Vec<f64>, layers: Vec<Vec<Rule>>) -> Result<Self> {
        let depth = layers.len();
        if !(1..=Shape::MAX_DEPTH).contains(&depth) {
            return Err(Error::count("depth", depth, Counts::Between(1, Shape::MAX_DEPTH)));
        }
        if sizes.len() != depth + 1 {
            return Err(Error::Levels { found: sizes.len(), depth });
        }
        if let Some(size) = sizes.iter().find(|size| !(1..=Self::MAX_VOCAB).contains(*size)) {
            return Err(Error::count("vocab", *size, Counts::Between(1, Self::MAX_VOCAB)));
        }
        check_prior(&prior, sizes[0])?;
        let layers = layers
            .into_iter()
            .enumerate()
            .map(|(level, rules)| {
                let occurs = |symbol: usize| level > 0 || prior[symbol] > 0.0;
                Layer::new(level, sizes[level], sizes[level + 1], rules, occurs)
            })
            .collect::<Result<Vec<_>>>()?;
        let longest = Shape::longest(&layers.iter().map(Layer::arities).collect::<Vec<_>>());
        if longest > Shape::MAX_LEN {
            return Err(Error::LongestSentence { longest });
        }
        Ok(Grammar { sizes, prior, layers, names: None, remarks: Vec::new() })
    }

    /// The same grammar with names for the symbols of each level.
    ///
    /// Names must be such that the text format can write them and read them back: those above the tokens are words of letters,
    /// digits and `_ / ^ < > -` that do not begin with one of the last four and are all different; those of tokens are different,
    /// without control characters, and do not have both kinds of quotes.
    pub fn with_names(mut self, names: Vec<Vec<String>>) -> Result<Self> {
        let counts: Vec<usize> = names.iter().map(Vec::len).collect();
        if counts != self.sizes {
            return Err(Error::NameCounts { found: counts, expected: self.sizes });
        }
        text::check_names(&names).map_err(|reason| Error::Names { reason })?;
        let canonical = (0..=self.depth()).all(|level| {
            names[level].iter().enumerate().all(|(k, name)| *name == canonical_name(level, self.depth(), k))
        });
        self.names = (!canonical).then_some(names);
        Ok(self)
    }

    /// The same grammar with remarks, which are kept as comments by the text format.
    ///
    /// A remark of several lines becomes several remarks, without space around them. One that would be read as a part of the
    /// header (`sizes:`, `tokens:`) gets the word `remark:` before it.
    pub fn with_remarks(mut self, remarks: Vec<String>) -> Self {
        self.remarks = remarks.iter().flat_map(|remark| text::remark_lines(remark)).collect();
        self
    }

    /// The number of layers of rules.
    pub fn depth(&self) -> usize {
        self.layers.len()
    }

    /// The number of symbols of each level, from the root to the tokens.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The number of root symbols.
    pub fn classes(&self) -> usize {
        self.sizes[0]
    }

    /// The number of tokens.
    pub fn vocab(&self) -> usize {
        self.sizes[self.depth()]
    }

    /// The probability of each root symbol.
    pub fn prior(&self) -> &[f64] {
        &self.prior
    }

    /// The rules from level `level` to level `level + 1`.
    pub fn layer(&self, level: usize) -> &Layer {
        &self.layers[level]
    }

    /// All layers, from the root down.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Which span lengths each level can have.
    pub fn shape(&self) -> Shape {
        let arities: Vec<_> = self.layers.iter().map(Layer::arities).collect();
        Shape::new(&arities)
    }

    /// Remarks about the origin of the grammar: parameters and seed of a sampled one.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The name of a symbol: its own if the grammar was read with names, otherwise `A{level}_{k}`, or `k` for a token.
    pub fn name(&self, level: usize, symbol: Symbol) -> Cow<'_, str> {
        match &self.names {
            Some(names) => Cow::Borrowed(&names[level][usize::from(symbol)]),
            None => Cow::Owned(canonical_name(level, self.depth(), usize::from(symbol))),
        }
    }

    /// The names of all levels, if they are not the canonical ones.
    pub fn names(&self) -> Option<&[Vec<String>]> {
        self.names.as_deref()
    }

    /// The symbol of `level` with this name.
    pub fn symbol(&self, level: usize, name: &str) -> Option<Symbol> {
        (0..self.sizes[level]).map(|k| k as Symbol).find(|&k| self.name(level, k) == name)
    }

    /// The mean length of the sentences.
    pub fn mean_length(&self) -> f64 {
        let mut lengths = vec![1.0; self.vocab()];
        for layer in self.layers.iter().rev() {
            let mut above = vec![0.0; layer.parents()];
            for rule in layer.rules() {
                let below: f64 = rule.children.iter().map(|child| lengths[usize::from(child)]).sum();
                above[usize::from(rule.parent)] += rule.probability * below;
            }
            lengths = above;
        }
        self.prior.iter().zip(&lengths).map(|(p, length)| p * length).sum()
    }

    /// A hash of sizes, prior and rules (not of names and remarks), as 32 hexadecimal digits.
    ///
    /// Corpora carry it, so that a corpus and its grammar are known to belong together.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for size in &self.sizes {
            hash.update((*size as u64).to_le_bytes());
        }
        for p in &self.prior {
            hash.update(p.to_bits().to_le_bytes());
        }
        for rule in self.layers.iter().flat_map(Layer::rules) {
            hash.update([rule.parent, rule.children.len() as u8]);
            hash.update(rule.children.as_slice());
            hash.update(rule.probability.to_bits().to_le_bytes());
        }
        hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Rejects a sentence with tokens that the grammar does not have.
    pub fn check_sentence(&self, sentence: &[Symbol]) -> Result<()> {
        check_tokens(sentence, self.vocab())
    }
}

/// Rejects a sentence with a token that is not below `vocab`.
pub fn check_tokens(sentence: &[Symbol], vocab: usize) -> Result<()> {
    match sentence.iter().position(|&token| usize::from(token) >= vocab) {
        None => Ok(()),
        Some(position) => Err(Error::UnknownToken { position, token: usize::from(sentence[position]), vocab }),
    }
}

fn canonical_name(level: usize, depth: usize, symbol: usize) -> String {
    if level == depth { symbol.to_string() } else { format!("A{level}_{symbol}") }
}

fn check_prior(prior: &[f64], classes: usize) -> Result<()> {
    if prior.len() != classes {
        return Err(Error::Size {
            what: "length of the prior",
            found: prior.len(),
            expected: classes,
            of: "the number of root symbols",
        });
    }
    let sum: f64 = prior.iter().sum();
    if prior.iter().any(|p| !(0.0..=1.0 + SUM_TOLERANCE).contains(p)) || (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(Error::Prior { prior: prior.to_vec() });
    }
    Ok(())
}
