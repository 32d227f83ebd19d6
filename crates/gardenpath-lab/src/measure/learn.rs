//! A grammar learned from sentences and their roots, with its scores: a run of `gardenpath learn`.

use super::ensemble::Sampled;
use super::kind::{self, Typed, texts};
use super::parameter::parameters;
use super::result::results;
use super::{Keeper, Kind, TEST_SENTENCES};
use crate::choice::choices;
use crate::files::without_labels;
use crate::learning::{self, Mode};
use anyhow::{Result, bail};
use gardenpath::learn::paper;
use gardenpath::learn::score::{LevelScore, RuleScore, answers, score_next_token, score_rules};
use gardenpath::learn::{Branching, Em, Exact, Learner, Outline, Paper, Verdict};
use gardenpath::{Arities, Corpus, Grammar, Seed};
use serde_json::Value;

parameters! {
    /// The parameters.
    pub struct Learn {
        ..sampled: Sampled;
        mode: Mode => "Learning algorithm";
        samples: u64 => "Number of training sentences";
        test: u64 = TEST_SENTENCES => "Number of test sentences";
        told_p_binary: Option<f64>, or "learned (exact), 0.5 (paper)" => "Probability of two children given to the learner (not em)";
        noise: Option<f64>, or "0.02" => "Fraction of wrong labels and tokens to tolerate (exact, unlabelled)";
        alignment: Option<Alignment>, or "inner-product" => "How triples are compared with the centroids of pairs (paper)";
        gamma_binary: Option<f64>, or "0.85" => "Threshold factor for pairs (paper)";
        gamma_ternary: Option<f64>, or "1.5" => "Threshold factor for triples (paper)";
        starts: Option<usize>, or "3" => "Number of random starts (em)";
        rounds: Option<usize>, or "50" => "EM steps per start (em)";
        seed: u64 => "Seed of the grammar, its sentences and the learner";
        told_arities: Option<Branching>, or "2,3, or those of the grammar if they differ" => "Numbers of children given to the learner: 2,4, or with probabilities 2:0.5,4:0.5";
    }
}

choices! {
    /// How triples are compared with centroids.
    pub enum Alignment {
        InnerProduct = "inner-product" => "As the paper's proposition does",
        Cosine = "cosine" => "As the paper's Algorithm 3 does",
    }
}

texts!(Mode, Alignment);

impl Typed for Branching {
    fn kind() -> kind::Kind {
        kind::Kind::Text
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_str()?.parse().ok()
    }

    fn write(&self) -> Value {
        self.to_string().into()
    }
}

const TOLD_TO_PAPER: f64 = 0.5;

results! {
    /// The results.
    pub struct LearnResult {
        accuracy: Option<f64> => "Fraction of test sentences whose root the learned grammar predicts (not unlabelled)";
        bayes_accuracy: f64 => "Fraction of test sentences whose root the true grammar predicts";
        parse_rate: f64 => "Fraction of test sentences that the learned grammar derives";
        normalized_error: Option<f64> => "Error rate relative to guessing (not unlabelled)";
        bayes_normalized_error: f64 => "The same for the true grammar";
        precision: f64 => "Fraction of learned rules that are true, averaged over layers and arities";
        recall: f64 => "Fraction of true rules that were learned, averaged over layers and arities";
        all_rules: bool => "Whether exactly the true rules were learned";
        converged: Option<bool> => "Whether the learner's self-check passed (exact, unlabelled)";
        next_token_loss: Option<f64> => "Next-token loss in nats per token, on sentences that it derives (unlabelled)";
        next_token_floor: Option<f64> => "The same for the true grammar (unlabelled)";
    }
}

impl Kind for Learn {
    type Output = LearnResult;

    const NAME: &'static str = "learn";
    const MEANING: &'static str = "The rules that a learner finds, and how well they predict the root";
    // 2: random order of the sentences, prior of the labels, new verdict.
    const VERSION: u32 = 2;

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()?;
        let mode = self.mode;
        let used = |name: &str, is_given: bool, modes: &[Mode]| {
            if is_given && !modes.contains(&mode) {
                let modes: Vec<String> =
                    modes.iter().map(|mode| crate::choice::Choice::name(*mode).to_owned()).collect();
                bail!("{name} has no effect here: it needs mode {}", modes.join(" or "));
            }
            Ok(())
        };
        used("told_p_binary", self.told_p_binary.is_some(), &[Mode::Exact, Mode::Unlabelled, Mode::Paper])?;
        used("noise", self.noise.is_some(), &[Mode::Exact, Mode::Unlabelled])?;
        used("alignment", self.alignment.is_some(), &[Mode::Paper])?;
        used("gamma_binary", self.gamma_binary.is_some(), &[Mode::Paper])?;
        used("gamma_ternary", self.gamma_ternary.is_some(), &[Mode::Paper])?;
        used("starts", self.starts.is_some(), &[Mode::Em])?;
        used("rounds", self.rounds.is_some(), &[Mode::Em])?;
        if self.told_p_binary.is_some() && self.told_arities.is_some() {
            bail!("expected told_p_binary or told_arities, not both");
        }
        let (paper, em) = (Paper::new(Outline::new(0, 0)), Em::new(Outline::new(0, 0)));
        self.told_p_binary.take_if(|p| mode == Mode::Paper && *p == TOLD_TO_PAPER);
        self.noise.take_if(|noise| *noise == Exact::NOISE);
        self.alignment.take_if(|alignment| *alignment == Alignment::InnerProduct);
        self.gamma_binary.take_if(|gamma| *gamma == paper.gamma_binary);
        self.gamma_ternary.take_if(|gamma| *gamma == paper.gamma_ternary);
        self.starts.take_if(|starts| *starts == em.starts);
        self.rounds.take_if(|rounds| *rounds == em.rounds);
        Ok(())
    }

    fn run(&self, _: &dyn Keeper) -> Result<LearnResult> {
        let truth = self.sampled.grammar(self.seed)?;
        let seed = Seed::new(self.seed);
        let corpus = Corpus::try_sample(&truth, seed, 0..self.samples)?;
        let is_labelled = self.mode != Mode::Unlabelled;
        let corpus = if is_labelled { corpus } else { without_labels(corpus)? };
        let outline = self.outline(&truth);
        let arities = outline.branching.arities();
        let learned = self.learner(outline).learn(&corpus, &mut |_| ())?;
        let converged = match learned.verdict {
            Verdict::Unknown => None,
            verdict => Some(verdict == Verdict::Converged),
        };
        let scores = score_rules(&learned.grammar, &truth)?;
        let test = Corpus::try_sample(&truth, seed.child("test"), 0..self.test)?;
        let next = if is_labelled { None } else { Some(score_next_token(&learned.grammar, Some(&truth), &test)?) };
        let (learned, bayes) = (answers(&learned.grammar, &test)?, answers(&truth, &test)?);
        let accuracy = is_labelled.then_some(learned.accuracy);
        Ok(LearnResult {
            accuracy,
            bayes_accuracy: bayes.accuracy,
            parse_rate: learned.parse_rate,
            normalized_error: accuracy.map(|accuracy| normalized_error(accuracy, truth.classes())),
            bayes_normalized_error: normalized_error(bayes.accuracy, truth.classes()),
            precision: over_rules(&scores, arities, RuleScore::precision),
            recall: over_rules(&scores, arities, RuleScore::recall),
            all_rules: scores.iter().all(LevelScore::is_exact),
            converged,
            next_token_loss: next.and_then(|score| score.loss),
            next_token_floor: next.and_then(|score| score.floor),
        })
    }

    fn work(&self) -> f64 {
        let (length, vocab, samples) = (self.sampled.length(), self.sampled.vocab as f64, self.samples as f64);
        let ternary = self.sampled.fractions()[3];
        let learning = match self.mode {
            Mode::Exact | Mode::Unlabelled => {
                // Fitted to depths 2 and 3. Without labels, clustering depends more on the vocabulary and less on sentences.
                let (token, tuple) = if self.mode == Mode::Unlabelled { (4e-8, 6e-5) } else { (2e-7, 5e-6) };
                token * samples * length.powf(1.9) * (0.5 + 8.0 * ternary) + tuple * vocab.powi(3)
            }
            Mode::Paper => {
                let clustering = 1e-7 * self.sampled.rules() * vocab.powi(2) * self.sampled.depth as f64;
                2e-8 * samples * length.powf(1.5) + 5e-8 * vocab.powi(4) + clustering
            }
            Mode::Em => {
                let usual = Em::new(Outline::new(0, 0));
                let rounds = self.starts.unwrap_or(usual.starts) as f64 * self.rounds.unwrap_or(usual.rounds) as f64;
                // All tuples are rules of all parents.
                6e-10 * samples * rounds * vocab.powi(3) * length.powf(2.5)
            }
        };
        let testing = 6e-8 * self.test as f64 * length.powf(1.25);
        self.sampled.work() + learning + testing
    }

    fn variety(&self) -> String {
        crate::choice::Choice::name(self.mode).to_owned()
    }

    fn tiny(&self) -> Self {
        let (sampled, samples) = match self.mode {
            Mode::Exact | Mode::Unlabelled => (Sampled::tiny(8, 2, 0.125), 4096),
            Mode::Paper => (Sampled::tiny(12, 2, 0.25), 20_000),
            Mode::Em => (Sampled::tiny(4, 2, 0.25), 64),
        };
        Learn {
            sampled,
            mode: self.mode,
            samples,
            test: 2000,
            told_p_binary: None,
            noise: None,
            alignment: None,
            gamma_binary: None,
            gamma_ternary: None,
            starts: None,
            rounds: None,
            seed: 1,
            told_arities: None,
        }
    }
}

impl Learn {
    /// What the learner is told about the grammar.
    fn outline(&self, truth: &Grammar) -> Outline {
        let usual = learning::outline(truth, self.mode != Mode::Unlabelled);
        let told = self.told_arities.or(self.told_p_binary.map(Branching::binary));
        Outline { branching: told.unwrap_or(usual.branching), ..usual }
    }

    fn learner(&self, outline: Outline) -> Box<dyn Learner> {
        let seed = Seed::new(self.seed);
        match self.mode {
            Mode::Exact | Mode::Unlabelled => {
                let usual = Exact::new(outline);
                Box::new(Exact { noise: self.noise.unwrap_or(usual.noise), seed, ..usual })
            }
            Mode::Paper => {
                let usual = Paper::new(outline);
                Box::new(Paper {
                    alignment: self.alignment.map_or(usual.alignment, paper::Alignment::from),
                    gamma_binary: self.gamma_binary.unwrap_or(usual.gamma_binary),
                    gamma_ternary: self.gamma_ternary.unwrap_or(usual.gamma_ternary),
                    seed,
                    ..usual
                })
            }
            Mode::Em => {
                let usual = Em::new(outline);
                let (starts, rounds) = (self.starts.unwrap_or(usual.starts), self.rounds.unwrap_or(usual.rounds));
                Box::new(Em { starts, rounds, seed, ..usual })
            }
        }
    }
}

impl From<Alignment> for paper::Alignment {
    fn from(alignment: Alignment) -> Self {
        match alignment {
            Alignment::InnerProduct => paper::Alignment::InnerProduct,
            Alignment::Cosine => paper::Alignment::Cosine,
        }
    }
}

/// The error rate relative to guessing: 1 is chance, 0 is perfect.
pub(super) fn normalized_error(accuracy: f64, classes: usize) -> f64 {
    (1.0 - accuracy) / (1.0 - 1.0 / classes as f64)
}

/// The mean of a score over layers and the arities given to the learner.
fn over_rules(scores: &[LevelScore], arities: Arities, score: impl Fn(&RuleScore) -> f64) -> f64 {
    let of_level = |level: &LevelScore| arities.iter().map(|arity| score(&level.rules[arity])).collect::<Vec<_>>();
    let all: Vec<f64> = scores.iter().flat_map(of_level).collect();
    all.iter().sum::<f64>() / all.len() as f64
}
