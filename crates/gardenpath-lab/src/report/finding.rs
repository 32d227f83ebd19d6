//! Findings about claims, and how they are counted.

use crate::analysis::Judged;
use crate::experiment::plan::Origin;
use crate::fit::Verdict;
use crate::table::Table;
use serde::Serialize;

/// A claim with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The claim, in one line.
    pub claim: String,
    /// The source of the claim.
    pub source: Origin,
    /// The measured values, one line per group of the claim.
    #[serde(rename = "result")]
    pub measured: Vec<String>,
    /// What the claim allows and why, in one line; empty if the claim itself says so.
    pub allows: String,
    /// The verdict.
    pub verdict: Verdict,
    /// An equivalent claim of another chapter, as `experiment/id`.
    pub same_as: Option<String>,
    /// About how many core-hours of missing cells, more seeds or larger sizes an inconclusive claim waits for.
    pub needed_core_hours: Option<f64>,
}

impl Finding {
    /// A finding about a statement that is true or false.
    pub fn check(source: Origin, claim: impl Into<String>, measured: impl Into<String>, holds: bool) -> Self {
        Finding {
            claim: claim.into(),
            source,
            measured: vec![measured.into()],
            allows: String::new(),
            verdict: if holds { Verdict::Agrees } else { Verdict::Differs },
            same_as: None,
            needed_core_hours: None,
        }
    }
}

/// The findings of judged claims: one per claim, with one line per group.
pub fn of_claims(claims: &[Judged]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (number, judged) in claims.iter().enumerate() {
        let words = judged.words();
        let line = if words.is_empty() { judged.because.clone() } else { format!("{words}: {}", judged.because) };
        let needed = judged.missing_core_hours.or(judged.needed_core_hours);
        if let Some(last) = findings.last_mut()
            && claims[number - 1].id == judged.id
        {
            last.measured.push(line);
            last.needed_core_hours = last.needed_core_hours.map_or(needed, |hours| Some(hours + needed.unwrap_or(0.0)));
            last.verdict = Verdict::of_all([last.verdict, judged.verdict]);
            continue;
        }
        findings.push(Finding {
            claim: judged.statement.clone(),
            source: judged.source,
            measured: vec![line],
            allows: format!("{}. {}", judged.expectation(), judged.reason),
            verdict: judged.verdict,
            same_as: judged.same_as.clone(),
            needed_core_hours: needed,
        });
    }
    findings
}

/// A sentence to append to a caption if the training of some networks was cut off.
pub fn cut_off(table: &Table) -> String {
    let Ok(endings) = table.column("ending") else { return String::new() };
    let endings: Vec<_> = (0..table.len()).map(|row| endings.value(row)).filter(|ending| !ending.is_null()).collect();
    match (endings.iter().filter(|ending| **ending == "steps").count(), endings.len()) {
        (0, _) => String::new(),
        (cut, all) => format!(
            " {cut} of {all} networks reached the maximum number of steps while still learning: their losses are upper \
             bounds, and so is a P* that depends on them."
        ),
    }
}

/// The verdicts by kind of claim, in one line: the paper's formulas and experiments first, then identities, our own
/// claims, and claims that repeat others.
pub fn headline<'f>(findings: impl Iterator<Item = &'f Finding>) -> String {
    let (repeated, counted): (Vec<&Finding>, Vec<&Finding>) = findings.partition(|finding| finding.same_as.is_some());
    let verdicts = |source: Origin| {
        let of_source: Vec<Verdict> =
            counted.iter().filter(|finding| finding.source == source).map(|finding| finding.verdict).collect();
        let count = |verdict: Verdict| of_source.iter().filter(|own| **own == verdict).count();
        let some = Verdict::ALL.into_iter().map(|verdict| (verdict, count(verdict))).filter(|(_, count)| *count > 0);
        let words: Vec<String> = some.map(|(verdict, count)| verdict.counted(count)).collect();
        (of_source.len(), if words.is_empty() { "none checked".to_owned() } else { words.join(", ") })
    };
    let (formulas, of_formulas) = verdicts(Origin::PaperFormula);
    let (experiments, of_experiments) = verdicts(Origin::PaperExperiment);
    let mut text = format!(
        "The paper's formulas ({formulas}): {of_formulas}. Its experimental claims ({experiments}): {of_experiments}."
    );
    for (source, words) in [(Origin::Identity, "Identities"), (Origin::Ours, "Our own claims")] {
        let (count, verdicts) = verdicts(source);
        if count > 0 {
            text += &format!(" {words} ({count}): {verdicts}.");
        }
    }
    if !repeated.is_empty() {
        text += &format!(" Repeated claims, not counted: {}.", repeated.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_claims_are_counted_apart() {
        let finding = |source, holds| Finding::check(source, "c", "m", holds);
        let repeated = Finding { same_as: Some("cnn/growth".into()), ..finding(Origin::PaperFormula, false) };
        let inconclusive = Finding { verdict: Verdict::Inconclusive, ..finding(Origin::PaperExperiment, true) };
        let all = [
            finding(Origin::PaperFormula, true),
            finding(Origin::PaperFormula, false),
            inconclusive,
            finding(Origin::Identity, true),
            finding(Origin::Ours, true),
            repeated,
        ];
        assert_eq!(
            headline(all.iter()),
            "The paper's formulas (2): 1 agrees, 1 differs. Its experimental claims (1): 1 inconclusive. \
             Identities (1): 1 agrees. Our own claims (1): 1 agrees. Repeated claims, not counted: 1."
        );
    }
}
