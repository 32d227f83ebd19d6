//! A grammar learned back from more and more of its sentences: the learning curve of a learner, next to the best that is possible.

use crate::choice::choices;
use crate::files::without_labels;
use anyhow::{Result, bail};
use gardenpath::learn::score::{LevelScore, answers, score_next_token, score_rules};
use gardenpath::learn::{Branching, Em, Exact, Learned, Learner, Outline, Paper, Progress};
use gardenpath::{Arities, Corpus, Grammar, Layer, Seed};

choices! {
    /// How to learn.
    pub enum Mode {
        Exact = "exact" => "The exact learner, which recovers every rule",
        Paper = "paper" => "The algorithms of the paper",
        Em = "em" => "Inside-outside from random starts",
        Unlabelled = "unlabelled" => "The exact learner, from sentences without labels",
    }
}

/// What a learner is usually told about a true grammar: the sizes of its levels, and that nodes have two or three children, or those of
/// the grammar if it has others. Without labels there is one class.
///
/// ```
/// use gardenpath::{Ensemble, Seed};
/// use gardenpath_lab::learning::outline;
///
/// let truth = Ensemble::new(8, 3).sample(Seed::new(1))?;
/// assert_eq!(outline(&truth, true).inner, [8, 8]);
/// assert_eq!(outline(&truth, false).classes, 1);
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn outline(truth: &Grammar, is_labelled: bool) -> Outline {
    let own: Arities = truth.layers().iter().map(Layer::arities).flat_map(Arities::iter).collect();
    let is_usual = own.iter().all(|arity| Arities::PAPER.contains(arity));
    Outline {
        depth: truth.depth(),
        inner: truth.sizes()[1..truth.depth()].to_vec(),
        branching: Branching::Learned(if is_usual { Arities::PAPER } else { own }),
        tokens: truth.vocab(),
        classes: if is_labelled { truth.classes() } else { 1 },
    }
}

/// What is learned, how, and from how much.
#[derive(Clone, Debug)]
pub struct LearningCurve<'g> {
    /// The grammar that writes the sentences.
    pub truth: &'g Grammar,
    /// How to learn.
    pub mode: Mode,
    /// The largest number of sentences.
    pub samples: u64,
    /// Sentences to test on.
    pub test: u64,
    /// The seed of the sentences and of the learner.
    pub seed: u64,
    /// Random starts of mode em, if they are not the usual ones.
    pub starts: Option<usize>,
    /// Steps of each start of mode em, if they are not the usual ones.
    pub rounds: Option<usize>,
}

/// The best that is possible on the test sentences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floors {
    /// The loss of guessing, in nats: per sentence, or per token without labels.
    pub guessing: f64,
    /// The loss of the true grammar, in the same unit.
    pub loss: f64,
    /// The share of roots that the true grammar tells; none without labels.
    pub accuracy: Option<f64>,
}

/// What was learned from some of the sentences.
#[derive(Clone, Debug)]
pub struct Point {
    /// The number of sentences.
    pub samples: u64,
    /// The learned grammar, and what the learner says about it.
    pub learned: Learned,
    /// Its rules, compared with the true ones.
    pub rules: Vec<LevelScore>,
    /// The loss on the test sentences, in the unit of the floors; none if it derives none of them.
    pub loss: Option<f64>,
    /// The share of roots that it tells; none without labels.
    pub accuracy: Option<f64>,
    /// The share of the test sentences that it derives. Without labels the loss is that of these alone.
    pub parse_rate: f64,
}

/// What happens.
pub enum News<'a> {
    /// The floors are known.
    Floors(Floors),
    /// The learner took a step with so many sentences.
    Step(u64, &'a Progress),
    /// Something was learned.
    Point(Box<Point>),
}

/// The fewest sentences of a curve.
const FEWEST: u64 = 16;

/// The exact learner wants so many sentences for each symbol of a hidden level.
const FEWEST_PER_SYMBOL: u64 = 10;

impl LearningCurve<'_> {
    /// The numbers of sentences: powers of two, the first about 1/64 of all, and last `samples`. Too few for the learner are an error.
    pub fn sizes(&self) -> Result<Vec<u64>> {
        let symbols = self.truth.sizes()[1..self.truth.depth()].iter().max().map_or(1, |&size| size as u64);
        let fewest = match self.mode {
            Mode::Exact | Mode::Unlabelled => FEWEST.max(FEWEST_PER_SYMBOL * symbols),
            Mode::Paper | Mode::Em => FEWEST,
        };
        if self.samples < fewest {
            bail!("samples is {}, expected at least {fewest}", self.samples);
        }
        let first = (self.samples / 64).max(fewest).next_power_of_two();
        let doubled = std::iter::successors(Some(first), |size| size.checked_mul(2));
        Ok(doubled.take_while(|size| *size < self.samples).chain([self.samples]).collect())
    }

    /// Learns from the first sentences, then from twice as many, and so on; `hear` is told what happens, in order.
    pub fn run(&self, hear: &mut dyn FnMut(News)) -> Result<()> {
        let (sizes, seed) = (self.sizes()?, Seed::new(self.seed));
        let is_labelled = self.mode != Mode::Unlabelled;
        let test = Corpus::try_sample(self.truth, seed.child("test"), 0..self.test)?;
        hear(News::Floors(self.floors(&test)?));
        let learner = self.learner();
        for samples in sizes {
            let corpus = Corpus::try_sample(self.truth, seed, 0..samples)?;
            let corpus = if is_labelled { corpus } else { without_labels(corpus)? };
            let learned = learner.learn(&corpus, &mut |step| hear(News::Step(samples, step)))?;
            let rules = score_rules(&learned.grammar, self.truth)?;
            let point = if is_labelled {
                let answers = answers(&learned.grammar, &test)?;
                let (loss, accuracy) = (Some(answers.cross_entropy), Some(answers.accuracy));
                Point { samples, learned, rules, loss, accuracy, parse_rate: answers.parse_rate }
            } else {
                let score = score_next_token(&learned.grammar, None, &test)?;
                Point { samples, learned, rules, loss: score.loss, accuracy: None, parse_rate: score.parse_rate }
            };
            hear(News::Point(Box::new(point)));
        }
        Ok(())
    }

    fn floors(&self, test: &Corpus) -> Result<Floors> {
        if self.mode == Mode::Unlabelled {
            let score = score_next_token(self.truth, None, test)?;
            let loss = score.loss.unwrap_or(f64::NAN);
            return Ok(Floors { guessing: (self.truth.vocab() as f64).ln(), loss, accuracy: None });
        }
        let bayes = answers(self.truth, test)?;
        let guessing = (self.truth.classes() as f64).ln();
        Ok(Floors { guessing, loss: bayes.cross_entropy, accuracy: Some(bayes.accuracy) })
    }

    fn learner(&self) -> Box<dyn Learner> {
        let (outline, seed) = (outline(self.truth, self.mode != Mode::Unlabelled), Seed::new(self.seed));
        match self.mode {
            Mode::Exact | Mode::Unlabelled => Box::new(Exact { seed, ..Exact::new(outline) }),
            Mode::Paper => Box::new(Paper { seed, ..Paper::new(outline) }),
            Mode::Em => {
                let usual = Em::new(outline);
                let (starts, rounds) = (self.starts.unwrap_or(usual.starts), self.rounds.unwrap_or(usual.rounds));
                Box::new(Em { starts, rounds, seed, ..usual })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::Ensemble;

    fn curve(truth: &Grammar, mode: Mode, samples: u64) -> LearningCurve<'_> {
        LearningCurve { truth, mode, samples, test: 500, seed: 1, starts: Some(1), rounds: Some(3) }
    }

    #[test]
    fn sizes_double_up_to_the_last_one() {
        let truth = Ensemble::new(3, 2).sample(Seed::new(1)).unwrap();
        let sizes = |samples| curve(&truth, Mode::Paper, samples).sizes();
        assert_eq!(sizes(16).unwrap(), [16]);
        assert_eq!(sizes(100).unwrap(), [16, 32, 64, 100]);
        assert_eq!(sizes(6400).unwrap(), [128, 256, 512, 1024, 2048, 4096, 6400]);
        assert!(sizes(u64::MAX).unwrap().ends_with(&[1 << 63, u64::MAX]));
        assert!(sizes(15).unwrap_err().to_string().contains("expected at least 16"));
        let exact = curve(&truth, Mode::Exact, 29).sizes().unwrap_err().to_string();
        assert_eq!(exact, "samples is 29, expected at least 30");
    }

    #[test]
    fn every_learner_draws_a_curve_above_its_floor() {
        let truth = Ensemble::new(4, 2).fraction(0.25).sample(Seed::new(7)).unwrap();
        for mode in [Mode::Exact, Mode::Unlabelled, Mode::Paper, Mode::Em] {
            let (mut floors, mut points, mut steps) = (None, Vec::new(), 0);
            let hear = &mut |news: News| match news {
                News::Floors(found) => floors = Some(found),
                News::Step(..) => steps += 1,
                News::Point(point) => points.push(*point),
            };
            curve(&truth, mode, 2048).run(hear).unwrap();
            let (floors, last) = (floors.unwrap(), points.last().unwrap());
            assert!(floors.loss < floors.guessing && steps > 0, "{mode} {floors:?}");
            let first = if matches!(mode, Mode::Exact | Mode::Unlabelled) { 64 } else { 32 };
            assert_eq!((points[0].samples, last.samples), (first, 2048));
            if matches!(mode, Mode::Exact | Mode::Unlabelled) {
                assert!(last.rules.iter().all(LevelScore::is_exact), "{mode}");
                let loss = last.loss.unwrap();
                assert!(loss > floors.loss - 1e-9 && loss < floors.loss + 0.05, "{mode} {loss} {floors:?}");
            }
        }
    }
}
