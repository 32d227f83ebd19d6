//! Uncertain tokens: likelihoods as the leaves of a chart.

use crate::error::{Error, Reals, Result};
use crate::grammar::{Symbol, check_tokens};

/// For each position of a sentence, the likelihood of what was observed there given each token.
///
/// An observed token is one-hot; a mask is all ones; a token from a noisy channel is a row of the channel's matrix. Only
/// ratios within a position matter for posteriors.
///
/// ```
/// use gardenpath::Evidence;
///
/// let evidence = Evidence::with_masks(3, &[2, 0, 1], [1])?;
/// assert_eq!((evidence.likelihoods(0), evidence.likelihoods(1)), (&[0.0, 0.0, 1.0][..], &[1.0; 3][..]));
/// let noisy = Evidence::noisy(3, &[2, 0, 1], 0.3)?;
/// assert!((noisy.likelihoods(0)[2] - 0.8).abs() < 1e-15, "the true token with 1 - e + e/v");
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    vocab: usize,
    /// `[position][token]`
    likelihoods: Vec<f64>,
}

impl Evidence {
    /// Nothing is known about `len` tokens.
    pub fn masked(vocab: usize, len: usize) -> Self {
        Evidence { vocab, likelihoods: vec![1.0; vocab * len] }
    }

    /// The tokens themselves.
    pub fn tokens(vocab: usize, sentence: &[Symbol]) -> Result<Self> {
        Self::noisy(vocab, sentence, 0.0)
    }

    /// The tokens themselves, but for those at some positions.
    ///
    /// # Panics
    /// If the sentence has no such position.
    pub fn with_masks(vocab: usize, sentence: &[Symbol], positions: impl IntoIterator<Item = usize>) -> Result<Self> {
        let mut evidence = Self::tokens(vocab, sentence)?;
        for position in positions {
            evidence.likelihoods[position * vocab..][..vocab].fill(1.0);
        }
        Ok(evidence)
    }

    /// Tokens after a noisy channel that replaces each token, with probability `noise`, by a uniformly random one (possibly itself).
    pub fn noisy(vocab: usize, sentence: &[Symbol], noise: f64) -> Result<Self> {
        check_tokens(sentence, vocab)?;
        if !(0.0..=1.0).contains(&noise) {
            return Err(Error::real("noise", noise, Reals::Probability));
        }
        let mut likelihoods = vec![noise / vocab as f64; vocab * sentence.len()];
        for (row, &token) in likelihoods.chunks_mut(vocab).zip(sentence) {
            row[usize::from(token)] += 1.0 - noise;
        }
        Ok(Evidence { vocab, likelihoods })
    }

    /// Any likelihoods, `[position][token]`: finite, not negative, and not all zero at a position.
    pub fn new(vocab: usize, likelihoods: Vec<f64>) -> Result<Self> {
        if vocab == 0 || !likelihoods.len().is_multiple_of(vocab) {
            return Err(Error::Likelihoods { found: likelihoods.len(), vocab });
        }
        if let Some(wrong) = likelihoods.iter().find(|value| !(**value >= 0.0 && value.is_finite())) {
            return Err(Error::real("likelihood", *wrong, Reals::NotNegative));
        }
        if let Some(position) = likelihoods.chunks(vocab).position(|row| row.iter().all(|value| *value == 0.0)) {
            return Err(Error::NoLikelihood { position });
        }
        Ok(Evidence { vocab, likelihoods })
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.likelihoods.len() / self.vocab.max(1)
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.likelihoods.is_empty()
    }

    /// The number of tokens.
    pub fn vocab(&self) -> usize {
        self.vocab
    }

    /// The likelihood of each token at a position.
    ///
    /// # Panics
    /// If the sentence has no such position.
    pub fn likelihoods(&self, position: usize) -> &[f64] {
        &self.likelihoods[position * self.vocab..][..self.vocab]
    }

    /// Returns an error unless the evidence is about this many tokens.
    pub(super) fn check_vocab(&self, vocab: usize) -> Result<()> {
        if self.vocab == vocab {
            return Ok(());
        }
        Err(Error::Size {
            what: "number of tokens of the evidence",
            found: self.vocab,
            expected: vocab,
            of: "those of the grammar",
        })
    }
}
