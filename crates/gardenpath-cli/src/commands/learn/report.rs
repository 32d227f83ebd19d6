//! What is said about a learned grammar.

use super::{Judged, Outcome};
use anyhow::Result;
use gardenpath::learn::exact::Verdict;
use gardenpath::learn::score::{LevelScore, RuleScore, answers, score_rules};
use gardenpath::{Corpus, Grammar};
use gardenpath_lab::draw::table::{Table, counted, grouped, short};
use serde::Serialize;

/// The result of learning, with scores as far as the truth is known.
#[derive(Serialize)]
pub(super) struct Report {
    /// `null` for modes that cannot tell.
    verdict: Option<&'static str>,
    reason: Option<String>,
    sentences: usize,
    /// Sentences whose length no tree has; `null` for modes that do not count.
    skipped: Option<usize>,
    /// Sentences that the learned grammar does not derive from their label; `null` for modes that do not count.
    underivable: Option<usize>,
    levels: Vec<Level>,
    accuracy: Option<f64>,
    bayes_accuracy: Option<f64>,
    cross_entropy: Option<f64>,
    bayes_cross_entropy: Option<f64>,
    /// The accuracy of a guess among the roots that the Boolean chart allows.
    boolean_accuracy: Option<f64>,
    /// The share of the test sentences that the learned grammar derives.
    pub parse_rate: Option<f64>,
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
}

/// Rules of one arity.
#[derive(Serialize)]
struct Rules {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    precision: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recall: Option<f64>,
}

/// Mean group purities.
#[derive(Serialize)]
struct Purity {
    binary: f64,
    ternary: f64,
}

impl Report {
    pub fn new(
        outcome: &Outcome,
        truth: Option<&Grammar>,
        test: Option<&Corpus>,
        sentences: usize,
        seconds: f64,
    ) -> Result<Self> {
        let levels = match truth {
            Some(truth) => score_rules(&outcome.grammar, truth)?.iter().map(Level::scored).collect(),
            None => (0..outcome.grammar.depth()).map(|level| Level::counted(&outcome.grammar, level)).collect(),
        };
        let learned = test.map(|test| answers(&outcome.grammar, test)).transpose()?;
        let bayes = truth.zip(test).map(|(truth, test)| answers(truth, test)).transpose()?;
        let judged = outcome.judged.as_ref();
        let (verdict, reason) = match judged.map(|judged| &judged.verdict) {
            None => (None, None),
            Some(Verdict::Converged) => (Some("converged"), None),
            Some(Verdict::NotConverged(reason)) => (Some("not converged"), Some(reason.clone())),
        };
        Ok(Report {
            verdict,
            reason,
            sentences,
            skipped: judged.map(|&Judged { skipped, .. }| skipped),
            underivable: judged.map(|&Judged { underivable, .. }| underivable),
            levels,
            accuracy: learned.map(|answers| answers.accuracy),
            bayes_accuracy: bayes.map(|answers| answers.accuracy),
            cross_entropy: learned.map(|answers| answers.cross_entropy),
            bayes_cross_entropy: bayes.map(|answers| answers.cross_entropy),
            boolean_accuracy: learned.map(|answers| answers.boolean_accuracy),
            parse_rate: learned.map(|answers| answers.parse_rate),
            seconds,
        })
    }

    /// The report for people.
    pub fn to_text(&self) -> String {
        let sentences = grouped(self.sentences as u64);
        let mut text = format!("learned from {sentences} sentences in {} s", short(self.seconds));
        if let Some(verdict) = self.verdict {
            let reason = self.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            text += &format!("\nverdict: {verdict}{reason}");
            let uncounted =
                [(self.underivable, "not derived from their label"), (self.skipped, "skipped: impossible length")];
            for (count, what) in uncounted.iter().filter_map(|(count, what)| Some((count.filter(|n| *n > 0)?, what))) {
                text += &format!("\n{} {what}", counted(count, "sentence"));
            }
        }
        text += "\n\n";
        let mut table = Table::new(["level", "binary", "precision", "recall", "ternary", "precision", "recall"]);
        let shown = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
        for Level { level, binary, ternary, .. } in &self.levels {
            table.row([
                level.to_string(),
                grouped(binary.count as u64),
                shown(binary.precision),
                shown(binary.recall),
                grouped(ternary.count as u64),
                shown(ternary.precision),
                shown(ternary.recall),
            ]);
        }
        text += &table.to_string();
        if self.accuracy.is_some() {
            let mut table = Table::new(["on other sentences", "learned", "best possible"]);
            table.row(["accuracy".to_owned(), shown(self.accuracy), shown(self.bayes_accuracy)]);
            table.row(["cross-entropy".to_owned(), shown(self.cross_entropy), shown(self.bayes_cross_entropy)]);
            text += &format!("\n{table}");
        }
        text
    }
}

impl Level {
    fn scored(score: &LevelScore) -> Self {
        let rules = |score: &RuleScore| Rules {
            count: score.learned,
            precision: Some(score.precision()),
            recall: Some(score.recall()),
        };
        Level {
            level: score.level,
            binary: rules(&score.binary),
            ternary: rules(&score.ternary),
            purity: Some(Purity { binary: score.binary_purity, ternary: score.ternary_purity }),
        }
    }

    fn counted(grammar: &Grammar, level: usize) -> Self {
        let rules = |arity: usize| {
            let count = grammar.layer(level).rules().iter().filter(|rule| rule.children.len() == arity).count();
            Rules { count, precision: None, recall: None }
        };
        Level { level, binary: rules(2), ternary: rules(3), purity: None }
    }
}
