//! Compares the claims of an experiment with its fits.

use super::fits::{Fitted, key_of_group};
use crate::draw::table::short;
use crate::experiment::key::Key;
use crate::experiment::plan::{Claim, Origin, Plan};
use crate::experiment::quantity::Quantity;
use crate::fit::{self, Estimate, Expected, Verdict};
use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Map, Value};

/// A claim about one group, with its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The ID of the claim.
    pub id: String,
    /// What is claimed.
    pub statement: String,
    /// The source of the claim.
    pub source: Origin,
    /// The equivalent claim of another experiment, if any.
    pub same_as: Option<String>,
    /// Why this margin is appropriate.
    pub reason: String,
    /// The group's values by name; empty if the fit has a single group.
    pub group: Map<String, Value>,
    /// The expected number; `None` for one-sided bounds.
    pub expected: Option<f64>,
    /// The allowed deviation from it.
    pub margin: Option<f64>,
    /// The allowed range; an open end is `None`.
    pub allowed: [Option<f64>; 2],
    /// What we expect instead, in words.
    pub correction: Option<String>,
    /// What was measured.
    pub estimate: Option<f64>,
    /// Its 95% interval; an open end is `None`.
    pub interval: Option<[Option<f64>; 2]>,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason for the verdict and, if it is inconclusive, what would settle it.
    pub because: String,
    /// The number of seeds that would settle an inconclusive claim, if more seeds would.
    pub needed_seeds: Option<usize>,
    /// The approximate cost in core-hours of these seeds, beyond what was measured, or of scale full if seeds would not settle it.
    pub needed_core_hours: Option<f64>,
    /// How many cells of the experiment that would tell more are yet to be measured, if it is inconclusive.
    pub missing_cells: Option<usize>,
    /// About how many core-hours these take.
    pub missing_core_hours: Option<f64>,
}

impl Judged {
    /// The group in words.
    pub fn words(&self) -> String {
        let word = |(name, value): (&String, &Value)| match Key::from_json(value) {
            Some(key) => format!("{name} = {key}"),
            None => format!("{name} = {value}"),
        };
        self.group.iter().map(word).collect::<Vec<_>>().join(", ")
    }

    /// The expectation in words.
    pub fn expectation(&self) -> String {
        match (self.expected, self.margin, self.allowed) {
            (Some(value), Some(margin), _) => format!("{} ± {}", short(value), short(margin)),
            (Some(value), None, [Some(low), Some(high)]) => {
                format!("{}, between {} and {}", short(value), short(low), short(high))
            }
            (_, _, [None, Some(most)]) => format!("at most {}", short(most)),
            (_, _, [Some(least), None]) => format!("at least {}", short(least)),
            _ => "depends on the group".into(),
        }
    }
}

/// Judges all claims, one entry per measured group. A claim without any measured group is inconclusive.
pub(super) fn judge(plan: &Plan, fitted: &[Fitted]) -> Result<Vec<Judged>> {
    let mut judged = Vec::new();
    for claim in &plan.claims {
        let place = || format!("[[claim]] {}", claim.id);
        let fit = &fitted[claim.fit];
        let key = |k: &usize, quantity: &Quantity| key_of_group(&fit.groups, &fit.found[*k].key, quantity);
        let all = claim.filter.plain((0..fit.found.len()).collect(), key).with_context(place)?;
        let all = claim.filter.extremes(all, key).with_context(place)?;
        if all.is_empty() {
            judged.push(unmeasured(claim));
        }
        for k in all {
            judged.push(of_group(claim, fit, k).with_context(place)?);
        }
    }
    Ok(judged)
}

fn of_group(claim: &Claim, fit: &Fitted, number: usize) -> Result<Judged> {
    let found = &fit.found[number];
    let name = |name: &str| {
        let at = fit.groups.iter().position(|own| own == name)?;
        found.key[at].number()
    };
    let paper = claim.expected.of_group(&name)?;
    let ours = match &claim.corrected {
        None => None,
        Some((bound, _)) => Some(bound.of_group(&name)?),
    };
    let mut judged = judgement(claim, fit.named(found), Some(paper), ours, &found.estimate);
    if let (Some(needed), Some(hours)) = (judged.needed_seeds, found.core_hours())
        && found.estimate.seeds > 0
    {
        judged.needed_core_hours = Some(hours * (needed as f64 / found.estimate.seeds as f64 - 1.0));
    }
    Ok(judged)
}

/// A claim without any measurement.
pub(super) fn unmeasured(claim: &Claim) -> Judged {
    // Expectations that do not depend on the group are known anyway.
    let paper = claim.expected.of_group(&|_| None).ok();
    judgement(claim, Map::new(), paper, None, &Estimate::refused(0, "no measurements"))
}

fn judgement(
    claim: &Claim,
    group: Map<String, Value>,
    paper: Option<Expected>,
    ours: Option<Expected>,
    estimate: &Estimate,
) -> Judged {
    let found = fit::judge(estimate, paper.unwrap_or(Expected::AtMost(f64::INFINITY)), ours);
    let finite = |number: f64| number.is_finite().then_some(number);
    let (low, high) = paper.map_or((f64::NAN, f64::NAN), |paper| paper.range());
    let (expected, margin) = match paper {
        Some(Expected::Near { value, margin }) => (Some(value), Some(margin)),
        Some(Expected::Factor { value, .. }) => (Some(value), None),
        _ => (None, None),
    };
    let because = match (&claim.corrected, found.verdict) {
        (Some((_, reason)), Verdict::Corrected) => format!("{}: {reason}", found.because),
        _ => found.because,
    };
    Judged {
        id: claim.id.clone(),
        statement: claim.statement.clone(),
        source: claim.source,
        same_as: claim.same_as.clone(),
        reason: claim.reason.clone(),
        group,
        expected: expected.and_then(finite),
        margin: margin.and_then(finite),
        allowed: [finite(low), finite(high)],
        correction: ours.map(|ours| ours.to_string()),
        estimate: finite(found.estimate),
        interval: found.interval.map(|(low, high)| [finite(low), finite(high)]),
        verdict: found.verdict,
        because,
        needed_seeds: found.needed_seeds,
        needed_core_hours: None,
        missing_cells: None,
        missing_core_hours: None,
    }
}
