//! Floors: the smallest loss that any predictor can reach, on the sentences of a corpus.
//!
//! The average is over the entropies of the exact predictions, not over the surprisals of the observed tokens: both have the
//! same mean, and entropies have a smaller error.

use super::known_length::KnownLength;
use super::posterior::SymbolPosteriors;
use super::reader::Predictor;
use crate::ambiguity::Estimate;
use crate::chart::{Evidence, Parser};
use crate::corpus::Corpus;
use crate::error::{Counts, Error, Reals, Result};
use crate::grammar::{Grammar, Symbol};
use crate::inside::Inside;
use crate::interrupt::checkpoint;
use crate::magnitude::Magnitude;
use crate::memory;
use crate::seed::Seed;
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// What is to be predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Task {
    /// Every token from those before it, and the end of the sentence.
    Next,
    /// Every token from those before it and the length of the sentence.
    NextKnown,
    /// Tokens that are masked, each with this probability, from all others.
    Masked(f64),
    /// One random token of each sentence from all others.
    MaskedOne,
    /// Every token from what a channel made of the sentence: with this probability a token was replaced by a random one.
    Noisy(f64),
    /// The root from the whole sentence.
    Root,
}

impl Task {
    /// The usual probability of a mask.
    pub const MASK: f64 = 0.15;
    /// The usual noise of a channel.
    pub const NOISE: f64 = 0.1;
}

/// The smallest loss that a predictor can reach, in nats.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    /// Per token of the corpus (per masked token, or per sentence for the root).
    pub loss: Estimate,
    /// By position; for the root there is one.
    pub by_position: Vec<Estimate>,
    /// The accuracy that the best guess of the root can expect from the same evidence, if that is about whole sentences: not for the next
    /// token.
    pub root_accuracy: Option<Estimate>,
}

/// The expected losses in one sentence: (position, loss) of everything that was predicted, and by how many it counts.
struct Losses {
    items: Vec<(usize, f64)>,
    count: f64,
    root_accuracy: Option<f64>,
}

impl Floor {
    /// The floor of a task on the sentences of a corpus. Masks and noise are functions of the seed and the number of the sentence.
    ///
    /// A sentence that the grammar cannot produce is an error: nothing can be predicted there.
    ///
    /// `progress` is called, from any thread, with the number of sentences that were finished since its last call.
    ///
    /// ```
    /// use gardenpath::{Corpus, Ensemble, Floor, Seed, Task};
    ///
    /// let grammar = Ensemble::new(8, 2).fraction(0.125).sample(Seed::new(1))?;
    /// let corpus = Corpus::sample(&grammar, Seed::new(2), 0..500);
    /// let floor = Floor::measure(&grammar, &corpus, Task::Next, Seed::new(3), &|_| ())?;
    /// assert!(floor.loss.mean < 8f64.ln() && floor.loss.stderr < 0.05);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn measure(
        grammar: &Grammar,
        corpus: &Corpus,
        task: Task,
        seed: Seed,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Self> {
        check(corpus, task, 1)?;
        let (predictor, parser, inside) =
            (Predictor::new(grammar), Parser::<Magnitude>::new(grammar), Inside::new(grammar));
        let known = KnownLength::new(&predictor);
        let vocab = grammar.vocab();
        let of_sentence = |i: usize| -> Result<Losses> {
            checkpoint();
            let sentence = corpus.sentence(i);
            let impossible = || Error::Impossible { sentence: i + 1 };
            let entropies =
                |rows: &[f64], width: usize| rows.chunks(width).map(entropy).enumerate().collect::<Vec<_>>();
            let losses = match task {
                Task::Next => {
                    let rows = predictor.rows(sentence)?;
                    rows.last().filter(|&&end| end > 0.0).ok_or_else(impossible)?;
                    Losses { items: entropies(&rows, vocab + 1), count: sentence.len() as f64, root_accuracy: None }
                }
                Task::NextKnown => {
                    let rows = known.rows(sentence)?;
                    let mut chosen = rows.chunks(vocab).zip(sentence).map(|(row, &token)| row[usize::from(token)]);
                    if sentence.is_empty() || chosen.any(|p| p == 0.0) {
                        return Err(impossible());
                    }
                    Losses { items: entropies(&rows, vocab), count: sentence.len() as f64, root_accuracy: None }
                }
                Task::Root => {
                    let posterior = inside.posterior(sentence)?;
                    let root = posterior.root().ok_or_else(impossible)?;
                    let root_accuracy = Some(posterior.probability(root));
                    Losses { items: vec![(0, posterior.entropy())], count: 1.0, root_accuracy }
                }
                Task::Masked(_) | Task::MaskedOne => {
                    let masked = match task {
                        Task::Masked(rate) => random_mask(sentence.len(), rate, seed, i as u64),
                        _ if sentence.is_empty() => Vec::new(),
                        _ => vec![seed.child("task").stream(i as u64).below(sentence.len() as u64) as usize],
                    };
                    let evidence = Evidence::with_masks(vocab, sentence, masked.iter().copied())?;
                    posterior_losses(&parser, &evidence, &masked)?.ok_or_else(impossible)?
                }
                Task::Noisy(noise) => {
                    let observed = random_noise(sentence, vocab, noise, seed, i as u64);
                    let evidence = Evidence::noisy(vocab, &observed, noise)?;
                    let all: Vec<usize> = (0..sentence.len()).collect();
                    posterior_losses(&parser, &evidence, &all)?.ok_or_else(impossible)?
                }
            };
            progress(1);
            Ok(losses)
        };
        let all = (0..corpus.len()).into_par_iter().map(of_sentence).collect::<Result<Vec<_>>>()?;
        if all.iter().all(|losses| losses.items.is_empty()) {
            return Err(Error::count("number of masked tokens", 0u64, Counts::AtLeast(1)));
        }
        Ok(Floor::of(&all.iter().collect::<Vec<_>>()))
    }

    /// The expected losses, under the exact prediction, of predictors that know only the lowest layers, one for each number of layers in `known`,
    /// at predicting the next token and the end of the sentence. A predictor that knows all layers is exact.
    ///
    /// ```
    /// use gardenpath::{Corpus, Ensemble, Floor, Seed, Task};
    ///
    /// let grammar = Ensemble::new(8, 2).fraction(0.125).sample(Seed::new(1))?;
    /// let corpus = Corpus::sample(&grammar, Seed::new(2), 0..500);
    /// let floors = Floor::of_lowest_levels(&grammar, 0..=2, &corpus, &|_| ())?;
    /// assert!(floors[0].loss.mean > floors[1].loss.mean && floors[1].loss.mean > floors[2].loss.mean);
    /// assert_eq!(floors[2].loss, Floor::measure(&grammar, &corpus, Task::Next, Seed::new(3), &|_| ())?.loss);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn of_lowest_levels(
        grammar: &Grammar,
        known: RangeInclusive<usize>,
        corpus: &Corpus,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<Self>> {
        let predictors = known.map(|known| Predictor::of_lowest_levels(grammar, known)).collect::<Result<Vec<_>>>()?;
        check(corpus, Task::Next, predictors.len())?;
        let exact = Predictor::new(grammar);
        let of_sentence = |i: usize| -> Result<Vec<Losses>> {
            checkpoint();
            let (sentence, width) = (corpus.sentence(i), grammar.vocab() + 1);
            let rows = exact.rows(sentence)?;
            rows.last().filter(|&&end| end > 0.0).ok_or(Error::Impossible { sentence: i + 1 })?;
            let losses = |predictor: &Predictor| -> Result<Losses> {
                let of_few = if predictor.knows_root() { None } else { Some(predictor.rows(sentence)?) };
                let predicted = of_few.as_ref().unwrap_or(&rows).chunks(width);
                let losses = rows.chunks(width).zip(predicted).map(|(p, q)| cross_entropy(p, q));
                Ok(Losses { items: losses.enumerate().collect(), count: sentence.len() as f64, root_accuracy: None })
            };
            let losses = predictors.iter().map(losses).collect();
            progress(1);
            losses
        };
        let all = (0..corpus.len()).into_par_iter().map(of_sentence).collect::<Result<Vec<_>>>()?;
        let of_predictor = |k: usize| Floor::of(&all.iter().map(|losses| &losses[k]).collect::<Vec<_>>());
        Ok((0..predictors.len()).map(of_predictor).collect())
    }

    fn of(sentences: &[&Losses]) -> Self {
        let sums: Vec<f64> = sentences.iter().map(|s| s.items.iter().map(|(_, loss)| loss).sum()).collect();
        let count: f64 = sentences.iter().map(|s| s.count).sum();
        let mean = sums.iter().sum::<f64>() / count;
        // The standard error of a ratio of sums, by linearisation: that of the residual of each sentence.
        let n = sentences.len() as f64;
        let squares: f64 = sums.iter().zip(sentences).map(|(sum, s)| (sum - mean * s.count).powi(2)).sum();
        let stderr = if n > 1.0 { (squares * n / (n - 1.0)).sqrt() / count } else { f64::NAN };
        let mut by_position: Vec<Vec<f64>> = Vec::new();
        for &(position, loss) in sentences.iter().flat_map(|s| &s.items) {
            if by_position.len() <= position {
                by_position.resize(position + 1, Vec::new());
            }
            by_position[position].push(loss);
        }
        let accuracies: Option<Vec<f64>> = sentences.iter().map(|s| s.root_accuracy).collect();
        Floor {
            loss: Estimate { mean, stderr },
            by_position: by_position.iter().map(|losses| Estimate::of(losses)).collect(),
            root_accuracy: accuracies.map(|accuracies| Estimate::of(&accuracies)),
        }
    }
}

/// The entropies of the posteriors of some tokens; `None` if the evidence is impossible.
fn posterior_losses(parser: &Parser<Magnitude>, evidence: &Evidence, positions: &[usize]) -> Result<Option<Losses>> {
    let depth = parser.grammar().depth();
    let Some(posteriors) = SymbolPosteriors::with_parser(parser, evidence)? else { return Ok(None) };
    let loss = |&position: &usize| (position, entropy(posteriors.row(depth, position)));
    let root_accuracy = posteriors.row(0, 0).iter().copied().fold(0.0, f64::max);
    let (items, count) = (positions.iter().map(loss).collect(), positions.len() as f64);
    Ok(Some(Losses { items, count, root_accuracy: Some(root_accuracy) }))
}

/// The positions of a sentence that [`Task::Masked`] masks: each with probability `rate`, a function of the seed and the number of the
/// sentence.
///
/// ```
/// use gardenpath::{Seed, random_mask};
///
/// assert_eq!(random_mask(5, 1.0, Seed::new(1), 7), [0, 1, 2, 3, 4]);
/// assert_eq!(random_mask(100, 0.15, Seed::new(1), 7), random_mask(100, 0.15, Seed::new(1), 7));
/// ```
pub fn random_mask(len: usize, rate: f64, seed: Seed, number: u64) -> Vec<usize> {
    let mut stream = seed.child("task").stream(number);
    (0..len).filter(|_| stream.unit() < rate).collect()
}

/// What the channel of [`Task::Noisy`] makes of a sentence: each token is replaced with probability `noise` by a random one, itself
/// included; a function of the seed and the number of the sentence.
///
/// ```
/// use gardenpath::{Seed, random_noise};
///
/// assert_eq!(random_noise(&[3, 1, 2], 4, 0.0, Seed::new(1), 7), [3, 1, 2]);
/// assert_ne!(random_noise(&[0; 100], 4, 0.5, Seed::new(1), 7), [0; 100]);
/// ```
pub fn random_noise(sentence: &[Symbol], vocab: usize, noise: f64, seed: Seed, number: u64) -> Vec<Symbol> {
    let mut stream = seed.child("task").stream(number);
    let mut observe = |&token| if stream.unit() < noise { stream.below(vocab as u64) as Symbol } else { token };
    sentence.iter().map(&mut observe).collect()
}

/// The entropy of a distribution, in nats.
pub(super) fn entropy(probabilities: &[f64]) -> f64 {
    cross_entropy(probabilities, probabilities)
}

/// The cross-entropy of `predicted` under the true probabilities, in nats.
pub(super) fn cross_entropy(probabilities: &[f64], predicted: &[f64]) -> f64 {
    let terms = probabilities.iter().zip(predicted).filter(|(p, _)| **p > 0.0);
    // A certain outcome has entropy 0: not -0, and not below it where its probability is rounded to more than 1.
    (0.0 - terms.map(|(p, q)| p * q.ln()).sum::<f64>()).max(0.0)
}

/// The mean Kullback-Leibler divergence, in nats, of predictions from the exact ones: rows of `width` probabilities each.
///
/// Infinite if a possible outcome was given probability zero.
///
/// ```
/// use gardenpath::mean_divergence;
///
/// let exact = [0.5, 0.5, 1.0, 0.0];
/// assert_eq!(mean_divergence(&exact, &exact, 2)?, 0.0);
/// assert!((mean_divergence(&exact, &[0.25, 0.75, 0.5, 0.5], 2)? - 0.4184).abs() < 1e-4);
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn mean_divergence(exact: &[f64], predicted: &[f64], width: usize) -> Result<f64> {
    if exact.len() != predicted.len() || width == 0 || !exact.len().is_multiple_of(width) || exact.is_empty() {
        return Err(Error::Size {
            what: "number of predicted probabilities",
            found: predicted.len(),
            expected: exact.len(),
            of: "those of the exact predictions",
        });
    }
    for (row, probabilities) in predicted.chunks(width).enumerate() {
        let sum: f64 = probabilities.iter().sum();
        if probabilities.iter().any(|p| !(0.0..=1.0 + 1e-6).contains(p)) || (sum - 1.0).abs() > 1e-3 {
            return Err(Error::Prediction { row, sum });
        }
    }
    let rows = exact.chunks(width).zip(predicted.chunks(width));
    let count = (exact.len() / width) as f64;
    Ok(rows.map(|(p, q)| cross_entropy(p, q) - entropy(p)).sum::<f64>() / count)
}

/// Returns an error if the losses of so many predictors do not fit into memory, or a number is out of range.
fn check(corpus: &Corpus, task: Task, predictors: usize) -> Result<()> {
    if corpus.is_empty() {
        return Err(Error::count("number of sentences", 0u64, Counts::AtLeast(1)));
    }
    let (tokens, each) = (corpus.tokens().len() + corpus.len(), size_of::<(usize, f64)>() + size_of::<f64>());
    memory::check(format_args!("the losses at {tokens} tokens"), (tokens * predictors) as u128 * each as u128)?;
    match task {
        Task::Masked(rate) if !(rate > 0.0 && rate <= 1.0) => {
            Err(Error::real("mask", rate, Reals::PositiveProbability))
        }
        Task::Noisy(noise) if !(0.0..=1.0).contains(&noise) => Err(Error::real("noise", noise, Reals::Probability)),
        _ => Ok(()),
    }
}
