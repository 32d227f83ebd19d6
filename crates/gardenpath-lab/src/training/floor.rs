//! The loss of exact prediction on a test set: no network does better on average.

use anyhow::Result;
use gardenpath::interrupt::checkpoint;
use gardenpath::learn::score::answers;
use gardenpath::{
    Corpus, Error, Evidence, Grammar, Magnitude, Parser, Predictor, Symbol, SymbolPosteriors, random_mask,
};
use gardenpath_nn::Task;
use gardenpath_nn::train::Masks;
use rayon::prelude::*;

/// The loss and accuracy of exact prediction on a set of sentences, for one task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// The mean of `-ln p(answer)`: no network does better on average.
    pub loss: f64,
    /// The accuracy of the most probable answer.
    pub accuracy: f64,
}

/// Expected losses: the mean entropies of exact predictions, as in `gardenpath floor`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// Of a predictor that knows the grammar.
    pub floor: f64,
    /// Of next-token predictors that know the lowest 0, 1, … layers of rules; the last one knows all.
    pub levels: Option<Vec<f64>>,
}

impl Floor {
    /// Parses all sentences and predicts their roots.
    pub fn of(grammar: &Grammar, corpus: &Corpus) -> Result<Self> {
        let answers = answers(grammar, corpus)?;
        Ok(Floor { loss: answers.cross_entropy, accuracy: answers.accuracy })
    }

    /// Makes the predictions of a task on all sentences, with the same masks as for networks.
    pub fn of_task(grammar: &Grammar, corpus: &Corpus, task: Task, masks: Masks) -> Result<Self> {
        let all = match task {
            Task::Root => return Self::of(grammar, corpus),
            Task::Next => {
                let predictor = Predictor::new(grammar);
                of_sentences(corpus, |_, sentence| next(&predictor, sentence))
            }
            Task::Masked => {
                let parser = Parser::new(grammar);
                of_sentences(corpus, |i, sentence| {
                    masked(&parser, sentence, &random_mask(sentence.len(), masks.rate, masks.seed, i as u64))
                })
            }
        }?;
        let questions: usize = all.iter().map(|score| score.questions).sum();
        let (loss, right) = all.iter().fold((0.0, 0), |(loss, right), s| (loss + s.loss, right + s.right));
        Ok(Floor { loss: loss / task.units(corpus.len(), questions), accuracy: right as f64 / questions as f64 })
    }
}

impl Expected {
    /// The expected losses of a task on a set of sentences; `None` for roots, whose losses are cheap to compute.
    pub fn of_task(grammar: &Grammar, corpus: &Corpus, task: Task, masks: Masks) -> Result<Option<Self>> {
        Ok(match task {
            Task::Root => None,
            Task::Masked => {
                let task = gardenpath::Task::Masked(masks.rate);
                let floor = gardenpath::Floor::measure(grammar, corpus, task, masks.seed, &|_| ())?.loss.mean;
                Some(Expected { floor, levels: None })
            }
            Task::Next => {
                let floors = gardenpath::Floor::of_lowest_levels(grammar, 0..=grammar.depth(), corpus, &|_| ())?;
                let levels: Vec<f64> = floors.iter().map(|floor| floor.loss.mean).collect();
                Some(Expected { floor: levels[grammar.depth()], levels: Some(levels) })
            }
        })
    }
}

/// The predictions for one sentence.
#[derive(Default)]
struct Score {
    questions: usize,
    loss: f64,
    right: usize,
}

impl Score {
    fn add(&mut self, probabilities: &[f64], answer: Symbol) {
        let best = (0..probabilities.len()).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
        self.questions += 1;
        self.loss -= probabilities[usize::from(answer)].ln();
        self.right += usize::from(best == Some(usize::from(answer)));
    }
}

/// The scores of all sentences. Fails if one of them has no derivation.
fn of_sentences(
    corpus: &Corpus,
    score: impl Fn(usize, &[Symbol]) -> Result<Option<Score>> + Sync,
) -> Result<Vec<Score>> {
    let of_sentence = |i: usize| {
        checkpoint();
        let score = score(i, corpus.sentence(i))?.filter(|score| score.loss.is_finite());
        Ok(score.ok_or(Error::Impossible { sentence: i + 1 })?)
    };
    (0..corpus.len()).into_par_iter().map(of_sentence).collect()
}

fn next(predictor: &Predictor<'_>, sentence: &[Symbol]) -> Result<Option<Score>> {
    let vocab = predictor.grammar().vocab();
    let (rows, mut score) = (predictor.rows(sentence)?, Score::default());
    rows.chunks(vocab + 1).zip(Task::Next.answers(vocab, sentence)).for_each(|(row, answer)| score.add(row, answer));
    Ok(Some(score))
}

fn masked(parser: &Parser<Magnitude>, sentence: &[Symbol], positions: &[usize]) -> Result<Option<Score>> {
    let grammar = parser.grammar();
    let evidence = Evidence::with_masks(grammar.vocab(), sentence, positions.iter().copied())?;
    let Some(posteriors) = SymbolPosteriors::with_parser(parser, &evidence)? else { return Ok(None) };
    let mut score = Score::default();
    positions.iter().for_each(|&i| score.add(posteriors.row(grammar.depth(), i), sentence[i]));
    Ok(Some(score))
}
