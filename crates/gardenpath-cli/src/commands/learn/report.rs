//! The report on a learned grammar.

use anyhow::Result;
use gardenpath::learn::score::{LevelScore, answers, score_next_token, score_rules};
use gardenpath::learn::{Learned, LearnedLevel, Verdict};
use gardenpath::{Arities, Corpus, Grammar};
use gardenpath_lab::draw::table::{Table, counted, grouped, short};
use serde::Serialize;
use std::collections::BTreeMap;

/// The result of learning, with scores where the truth is known.
#[derive(Serialize)]
pub(super) struct Report {
    /// `null` for modes without a self-check.
    verdict: Option<&'static str>,
    reason: Option<String>,
    sentences: usize,
    /// Sentences whose length no tree has; `null` for modes that do not count.
    skipped: Option<usize>,
    /// Sentences that the learned grammar does not derive from their label (without labels: not at all); `null` for
    /// modes that do not count them.
    underivable: Option<usize>,
    levels: Vec<Level>,
    accuracy: Option<f64>,
    bayes_accuracy: Option<f64>,
    cross_entropy: Option<f64>,
    bayes_cross_entropy: Option<f64>,
    /// The accuracy of guessing among the roots that the Boolean chart allows.
    boolean_accuracy: Option<f64>,
    /// The fraction of test sentences that the learned grammar derives.
    pub parse_rate: Option<f64>,
    /// The next-token loss, for learning without labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_token_loss: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_token_floor: Option<f64>,
    seconds: f64,
}

/// The rules whose parents are on one level; level 0 is the root.
#[derive(Serialize)]
struct Level {
    level: usize,
    binary: Rules,
    ternary: Rules,
    #[serde(skip_serializing_if = "Option::is_none")]
    purity: Option<Purity>,
    /// The rules by number of children, learned or true.
    by_arity: BTreeMap<usize, ArityRules>,
}

/// Rules of one arity.
#[derive(Clone, Serialize)]
struct Rules {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    precision: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recall: Option<f64>,
}

/// Rules of one arity, with their probability and purity.
#[derive(Serialize)]
struct ArityRules {
    #[serde(flatten)]
    rules: Rules,
    /// The mean probability of this number of children.
    probability: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    purity: Option<f64>,
}

/// Mean group purities.
#[derive(Serialize)]
struct Purity {
    binary: f64,
    ternary: f64,
}

impl Report {
    /// Reports on the rules; one of the next two methods adds how well they predict.
    pub fn new(learned: &Learned, truth: Option<&Grammar>, sentences: usize, seconds: f64) -> Result<Self> {
        let scores = truth.map(|truth| score_rules(&learned.grammar, truth)).transpose()?;
        let score = |level: usize| scores.as_ref().map(|scores| &scores[level]);
        let levels = learned.levels.iter().map(|level| Level::new(level, score(level.level))).collect();
        let (verdict, reason) = match &learned.verdict {
            Verdict::Unknown => (None, None),
            Verdict::Converged => (Some("converged"), None),
            Verdict::NotConverged(reason) => (Some("not converged"), Some(reason.clone())),
        };
        Ok(Report {
            verdict,
            reason,
            sentences,
            skipped: learned.skipped,
            underivable: learned.underivable,
            levels,
            accuracy: None,
            bayes_accuracy: None,
            cross_entropy: None,
            bayes_cross_entropy: None,
            boolean_accuracy: None,
            parse_rate: None,
            next_token_loss: None,
            next_token_floor: None,
            seconds,
        })
    }

    /// Adds how well the roots of test sentences are predicted.
    pub fn with_roots(self, learned: &Learned, truth: Option<&Grammar>, test: &Corpus) -> Result<Self> {
        let bayes = truth.map(|truth| answers(truth, test)).transpose()?;
        let found = answers(&learned.grammar, test)?;
        Ok(Report {
            accuracy: Some(found.accuracy),
            bayes_accuracy: bayes.map(|answers| answers.accuracy),
            cross_entropy: Some(found.cross_entropy),
            bayes_cross_entropy: bayes.map(|answers| answers.cross_entropy),
            boolean_accuracy: Some(found.boolean_accuracy),
            parse_rate: Some(found.parse_rate),
            ..self
        })
    }

    /// Adds how well the next token is predicted on test sentences; their labels are ignored.
    pub fn with_next_token(self, learned: &Learned, truth: Option<&Grammar>, test: &Corpus) -> Result<Self> {
        let score = score_next_token(&learned.grammar, truth, test)?;
        Ok(Report {
            parse_rate: Some(score.parse_rate),
            next_token_loss: score.loss,
            next_token_floor: score.floor,
            ..self
        })
    }

    /// The report as text, for learning with or without labels.
    pub fn to_text(&self, is_labelled: bool) -> String {
        let sentences = grouped(self.sentences as u64);
        let mut text = format!("learned from {sentences} sentences in {} s", short(self.seconds));
        if let Some(verdict) = self.verdict {
            let reason = self.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            text += &format!("\nverdict: {verdict}{reason}");
            let underivable = if is_labelled { "not derived from their label" } else { "without a derivation" };
            let uncounted = [(self.underivable, underivable), (self.skipped, "skipped: impossible length")];
            for (count, what) in uncounted.iter().filter_map(|(count, what)| Some((count.filter(|n| *n > 0)?, what))) {
                text += &format!("\n{} {what}", counted(count, "sentence"));
            }
        }
        text += "\n\n";
        let shown = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
        let arities: Arities = self.levels.iter().flat_map(|level| level.by_arity.keys().copied()).collect();
        let name = |arity: usize| match arity {
            2 => "binary".to_owned(),
            3 => "ternary".to_owned(),
            _ => format!("{arity}-ary"),
        };
        let columns = |arity: usize| [name(arity), "precision".to_owned(), "recall".to_owned()];
        let mut table = Table::new(std::iter::once("level".to_owned()).chain(arities.iter().flat_map(columns)));
        for level in &self.levels {
            let columns = |arity: usize| {
                let Rules { count, precision, recall } = level.rules(arity);
                [grouped(count as u64), shown(precision), shown(recall)]
            };
            table.row(std::iter::once(level.level.to_string()).chain(arities.iter().flat_map(columns)));
        }
        text += &table.to_string();
        if self.accuracy.is_some() {
            let mut table = Table::new(["on other sentences", "learned", "best possible"]);
            table.row(["accuracy".to_owned(), shown(self.accuracy), shown(self.bayes_accuracy)]);
            table.row(["cross-entropy".to_owned(), shown(self.cross_entropy), shown(self.bayes_cross_entropy)]);
            text += &format!("\n{table}");
        }
        if let Some(loss) = self.next_token_loss {
            let floor = self.next_token_floor.map_or(String::new(), |floor| format!(", floor {floor:.4}"));
            text += &format!("\nnext-token loss {loss:.4} nats per token{floor}");
            text += &match self.parse_rate.filter(|rate| *rate < 1.0) {
                Some(rate) => format!(", on the {:.2}% of other sentences that are derived\n", 100.0 * rate),
                None => ", on other sentences\n".to_owned(),
            };
        }
        text
    }
}

impl Level {
    fn new(learned: &LearnedLevel, score: Option<&LevelScore>) -> Self {
        let rules = |arity: usize| {
            let score = score.map(|score| score.rules[arity]);
            Rules {
                count: learned.rules[arity],
                precision: score.map(|score| score.precision()),
                recall: score.map(|score| score.recall()),
            }
        };
        let purity = |arity: usize| score.map(|score| score.purity[arity]);
        let true_arities = score.map(|score| score.rules.arities()).unwrap_or_default();
        let arities: Arities = learned.rules.arities().iter().chain(true_arities.iter()).collect();
        let with_arity = |arity: usize| {
            let probability = learned.probabilities[arity];
            (arity, ArityRules { rules: rules(arity), probability, purity: purity(arity) })
        };
        Level {
            level: learned.level,
            binary: rules(2),
            ternary: rules(3),
            purity: purity(2).zip(purity(3)).map(|(binary, ternary)| Purity { binary, ternary }),
            by_arity: arities.iter().map(with_arity).collect(),
        }
    }

    fn rules(&self, arity: usize) -> Rules {
        let none = Rules { count: 0, precision: None, recall: None };
        self.by_arity.get(&arity).map_or(none, |own| own.rules.clone())
    }
}
