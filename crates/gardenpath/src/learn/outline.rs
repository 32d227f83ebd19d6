//! What a learner is told about the grammar.

use crate::arity::{Arities, PerArity};
use crate::error::{Counts, Error, Reals, Result};
use crate::grammar::{Children, Grammar};
use crate::shape::Shape;
use std::fmt;
use std::str::FromStr;

/// The outline of a grammar that is to be learned: depth, numbers of symbols, and how nodes branch. Tokens and classes are read from the
/// corpus.
///
/// ```
/// use gardenpath::learn::{Branching, Outline};
///
/// // Three layers; 8 symbols of level 1 and 16 of level 2; nodes of two or four children.
/// let outline = Outline { inner: vec![8, 16], branching: Branching::Learned([2, 4].into()), ..Outline::new(8, 3) };
/// assert_eq!(outline.shape()?.lengths(), 8..=64);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// The number of layers of rules.
    pub depth: usize,
    /// The number of symbols of each level between root and tokens, from level 1 on. A single number holds for all of them.
    pub inner: Vec<usize>,
    /// How many children nodes have.
    pub branching: Branching,
    /// The least number of tokens. There are more if the corpus has more.
    pub tokens: usize,
    /// The least number of classes. There are more if the labels say so; classes that never occur get no rules.
    pub classes: usize,
}

/// What a learner is told about numbers of children.
///
/// ```
/// use gardenpath::learn::Branching;
///
/// assert_eq!("2,4".parse(), Ok(Branching::Learned([2, 4].into())));
/// assert_eq!("2:1/4, 3:0.75".parse(), Ok(Branching::binary(0.25)));
/// assert_eq!(Branching::binary(0.25).to_string(), "2:0.25,3:0.75");
/// assert!("2:0.5,3".parse::<Branching>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Branching {
    /// Any of these; how probable each is will be learned.
    Learned(Arities),
    /// These, each with its probability.
    Given(PerArity<f64>),
}

impl Branching {
    /// Two children with this probability, and otherwise three.
    pub fn binary(probability: f64) -> Self {
        Branching::Given([(2, probability), (3, 1.0 - probability)].into())
    }

    /// The numbers that are possible.
    pub fn arities(self) -> Arities {
        match self {
            Branching::Learned(arities) => arities,
            Branching::Given(probabilities) => probabilities.arities(),
        }
    }

    /// The probabilities that are given, or equal ones to begin with.
    pub fn probabilities(self) -> PerArity<f64> {
        match self {
            Branching::Learned(arities) => {
                arities.iter().map(|arity| (arity, 1.0 / arities.iter().count() as f64)).collect()
            }
            Branching::Given(probabilities) => probabilities,
        }
    }

    /// Returns an error unless the numbers of children are from 2 to `most` and the probabilities are valid.
    fn check(self, most: usize) -> Result<()> {
        if let Branching::Given(probabilities) = self {
            if let Some((arity, p)) = probabilities.nonzero().find(|(_, p)| !(0.0..=1.0).contains(p)) {
                let name = if arity == 2 { "p_binary" } else { "probability of an arity" };
                return Err(Error::real(name, p, Reals::Probability));
            }
            let sum: f64 = probabilities.nonzero().map(|(_, p)| p).sum();
            if (sum - 1.0).abs() > 1e-9 {
                return Err(Error::real("sum of the probabilities of all arities", sum, Reals::Exactly(1.0)));
            }
        }
        let arities = self.arities();
        if arities.is_empty() || arities.iter().any(|arity| !(2..=most).contains(&arity)) {
            return Err(Error::Arities { found: arities, most });
        }
        Ok(())
    }
}

impl FromStr for Branching {
    type Err = Error;

    /// Reads numbers of children, each with its probability or all without: `2,3` or `2:0.5,3:0.5`.
    fn from_str(text: &str) -> Result<Self> {
        let number = |text: &str| match text.split_once('/') {
            Some((part, whole)) => Some(part.parse::<f64>().ok()? / whole.parse::<f64>().ok()?),
            None => text.parse().ok(),
        };
        let arity = |text: &str| text.trim().parse().ok().filter(|arity| (1..=Children::MAX).contains(arity));
        let with_probability = |part: &str| {
            let (own, probability) = part.split_once(':')?;
            Some((arity(own)?, number(probability.trim())?))
        };
        let learned = text.split(',').map(arity).collect::<Option<Arities>>().map(Branching::Learned);
        let given = || text.split(',').map(with_probability).collect::<Option<PerArity<f64>>>().map(Branching::Given);
        let expected = "numbers of children such as 2,3, or with their probabilities, such as 2:0.5,3:0.5";
        learned.or_else(given).ok_or_else(|| Error::Text { what: "arities", text: text.to_owned(), expected })
    }
}

impl fmt::Display for Branching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Branching::Given(probabilities) => probabilities.fmt(f),
            Branching::Learned(arities) => arities.fmt(f),
        }
    }
}

impl Outline {
    /// `depth` layers, `vocab` symbols on each level between root and tokens, and nodes with two or three children.
    pub fn new(vocab: usize, depth: usize) -> Self {
        let branching = Branching::Learned(Arities::PAPER);
        Outline { depth, inner: vec![vocab], branching, tokens: 0, classes: 0 }
    }

    /// The shape of the grammars that are learned, after all checks.
    pub fn shape(&self) -> Result<Shape> {
        self.check(Shape::MAX_DEPTH, Children::MAX)?;
        Ok(Shape::new(&vec![self.branching.arities(); self.depth]))
    }

    /// The number of symbols of a level between root and tokens.
    pub(super) fn size(&self, level: usize) -> usize {
        if self.inner.len() == 1 { self.inner[0] } else { self.inner[level - 1] }
    }

    /// The largest number of symbols of a level between root and tokens; one if there is no such level.
    pub(super) fn most_symbols(&self) -> usize {
        self.inner.iter().copied().max().unwrap_or(1)
    }

    /// The number of symbols of each level, given those of the root and the tokens.
    pub(super) fn sizes(&self, classes: usize, tokens: usize) -> Vec<usize> {
        let inner = (1..self.depth).map(|level| self.size(level));
        std::iter::once(classes).chain(inner).chain([tokens]).collect()
    }

    /// Returns an error for outlines that no learner can handle, more than `deepest` layers, or more than `most` children.
    pub(super) fn check(&self, deepest: usize, most: usize) -> Result<()> {
        if !(1..=deepest).contains(&self.depth) {
            return Err(Error::count("depth", self.depth, Counts::Between(1, deepest)));
        }
        if self.inner.len() != 1 && self.inner.len() != self.depth - 1 {
            return Err(Error::InnerSizes { found: self.inner.len(), depth: self.depth });
        }
        if let Some(size) = self.inner.iter().find(|size| !(1..=Grammar::MAX_VOCAB).contains(*size)) {
            return Err(Error::count("vocab", *size, Counts::Between(1, Grammar::MAX_VOCAB)));
        }
        self.branching.check(most)?;
        let longest = self.branching.arities().most().saturating_pow(self.depth as u32);
        if longest > Shape::MAX_LEN {
            return Err(Error::LongestSentence { longest });
        }
        Ok(())
    }
}
