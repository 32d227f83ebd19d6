//! What learners read from a corpus: its tokens and labels, and the usable sentences in an order that does not depend on that of the
//! file.

use crate::corpus::Corpus;
use crate::error::{Counts, Error, Result};
use crate::grammar::{Grammar, Symbol};
use crate::learn::outline::Outline;
use crate::seed::{Seed, Stream};
use crate::shape::Shape;
use rayon::prelude::*;
use std::borrow::Cow;

/// Tokens and classes of a corpus.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Census {
    /// The number of tokens: one more than the largest, or more if the caller knows of more.
    pub tokens: usize,
    /// How often each class occurs, as shares that sum to one. Numbers that are no label have a share of zero.
    pub prior: Vec<f64>,
}

impl Census {
    /// Counts tokens and labels; there are at least as many of them as the outline says.
    pub fn new(corpus: &Corpus, outline: &Outline) -> Result<Self> {
        if corpus.is_empty() {
            return Err(Error::count("number of sentences", 0u64, Counts::AtLeast(1)));
        }
        let beyond = |largest: Option<&Symbol>| largest.map_or(0, |&symbol| usize::from(symbol) + 1);
        let tokens = outline.tokens.max(beyond(corpus.tokens().iter().max())).max(1);
        let classes = outline.classes.max(beyond(corpus.roots().iter().max()));
        for (name, count) in [("number of tokens", tokens), ("number of classes", classes)] {
            if count > Grammar::MAX_VOCAB {
                return Err(Error::count(name, count, Counts::AtMost(Grammar::MAX_VOCAB as u64)));
            }
        }
        let mut counts = vec![0u64; classes];
        corpus.roots().iter().for_each(|&root| counts[usize::from(root)] += 1);
        let prior = counts.iter().map(|&count| count as f64 / corpus.len() as f64).collect();
        Ok(Census { tokens, prior })
    }

    pub fn classes(&self) -> usize {
        self.prior.len()
    }
}

/// Whether labels tell sentences apart, given the share of each class: whether more than one occurs.
pub(crate) fn labels_differ(prior: &[f64]) -> bool {
    prior.iter().filter(|share| **share > 0.0).count() > 1
}

/// The corpus with a label for every sentence: one and the same, if none has any.
pub(crate) fn labelled(corpus: &Corpus) -> Result<Cow<'_, Corpus>> {
    let is_unknown = |&root: &Symbol| usize::from(root) >= Grammar::MAX_VOCAB;
    let Some(i) = corpus.roots().iter().position(is_unknown) else { return Ok(Cow::Borrowed(corpus)) };
    if corpus.roots().iter().all(is_unknown) {
        return corpus.clone().with_roots(vec![0; corpus.len()]).map(Cow::Owned);
    }
    Err(Error::PartlyLabelled { sentence: i + 1 })
}

/// The sentences whose length some tree of this shape has, in random order, and the number of the others.
///
/// The order depends on the sentences and on the seed, not on the order in which they come: they are sorted first.
pub(crate) fn shuffled(corpus: &Corpus, shape: &Shape, seed: Seed) -> (Corpus, usize) {
    // The first tokens decide about nearly all pairs of sentences: they stand beside the number of each.
    let usable = (0..corpus.len()).filter(|&i| shape.has_length(corpus.sentence(i).len()));
    let mut order: Vec<(u64, u32)> = usable.map(|i| (beginning(corpus.sentence(i)), i as u32)).collect();
    let key = |i: u32| (corpus.sentence(i as usize), corpus.roots()[i as usize]);
    order.par_sort_unstable_by(|x, y| x.0.cmp(&y.0).then_with(|| key(x.1).cmp(&key(y.1))));
    shuffle(&mut order, &mut seed.child("order").stream(0));
    let mut sentences = Corpus::default();
    order.iter().for_each(|&(_, i)| sentences.push(key(i).0, key(i).1));
    (sentences, corpus.len() - order.len())
}

/// The first eight tokens as one number, ordered as the sentences are. Sentences with equal numbers are to be compared themselves.
fn beginning(sentence: &[Symbol]) -> u64 {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(sentence).for_each(|(byte, token)| *byte = *token);
    u64::from_be_bytes(bytes)
}

/// Brings items into random order, by Fisher and Yates.
fn shuffle<T>(items: &mut [T], stream: &mut Stream) {
    for k in (1..items.len()).rev() {
        items.swap(k, stream.below(k as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ensemble;

    #[test]
    fn the_order_of_a_corpus_does_not_matter() {
        let grammar = Ensemble::new(4, 2).sample(Seed::new(1)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(2), 0..500);
        let mut reversed = Corpus::default();
        (0..500).rev().for_each(|i| reversed.push(corpus.sentence(i), corpus.roots()[i]));
        reversed.push(&[0], 1);
        let (expected, none) = shuffled(&corpus, &grammar.shape(), Seed::new(3));
        let (found, skipped) = shuffled(&reversed, &grammar.shape(), Seed::new(3));
        assert!(found == expected && (none, skipped) == (0, 1) && found != corpus);
        assert_ne!(shuffled(&corpus, &grammar.shape(), Seed::new(4)).0, expected);
    }

    #[test]
    fn classes_are_counted() {
        let corpus = Corpus::from_parts(vec![0, 5, 1, 1], vec![0, 2, 4], vec![3, 3]).unwrap();
        let outline = Outline::new(8, 2);
        let census = Census::new(&corpus, &outline).unwrap();
        assert_eq!(census, Census { tokens: 6, prior: vec![0.0, 0.0, 0.0, 1.0] });
        let census = Census::new(&corpus, &Outline { tokens: 9, classes: 5, ..outline.clone() }).unwrap();
        assert_eq!(census, Census { tokens: 9, prior: vec![0.0, 0.0, 0.0, 1.0, 0.0] });
        assert!(Census::new(&Corpus::default(), &outline).is_err());
    }

    #[test]
    fn all_sentences_have_a_label_or_none() {
        let corpus = |roots| Corpus::from_parts(vec![0, 5, 1, 1], vec![0, 2, 4], roots).unwrap();
        assert_eq!(labelled(&corpus(vec![3, 1])).unwrap().roots(), [3, 1]);
        assert_eq!(labelled(&corpus(vec![255, 255])).unwrap().roots(), [0, 0]);
        let message = labelled(&corpus(vec![3, 255])).unwrap_err().to_string();
        assert_eq!(message, "root is unknown in sentence 2, expected a label for every sentence, or for none");
    }
}
