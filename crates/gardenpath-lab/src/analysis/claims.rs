//! The claims of an experiment, compared with what its fits gave.

use super::fits::{Fitted, key_of_group};
use crate::draw::table::short;
use crate::experiment::key::Key;
use crate::experiment::plan::{Claim, Origin, Plan};
use crate::experiment::quantity::Quantity;
use crate::fit::{self, Estimate, Expected, Verdict};
use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Map, Value};

/// A claim about one group, and what was found.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The name of the claim.
    pub id: String,
    /// What is claimed.
    pub statement: String,
    /// Who says so.
    pub source: Origin,
    /// The claim of another experiment that says the same.
    pub same_as: Option<String>,
    /// Why a true value may be that far from what is expected.
    pub reason: String,
    /// The group, by the names of what tells it apart; empty if the fit has one for all.
    pub group: Map<String, Value>,
    /// The number that is expected; none for a bound to one side.
    pub expected: Option<f64>,
    /// How far from it is near enough.
    pub margin: Option<f64>,
    /// The smallest and the largest number that the claim allows; an open end is none.
    pub allowed: [Option<f64>; 2],
    /// What we expect instead, in words.
    pub correction: Option<String>,
    /// What was measured.
    pub estimate: Option<f64>,
    /// Its 95% interval; an open end is none.
    pub interval: Option<[Option<f64>; 2]>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, and what would settle it if it is inconclusive.
    pub because: String,
    /// How many seeds would settle it, if it is inconclusive and seeds would.
    pub needed_seeds: Option<usize>,
    /// About how many core-hours these seeds would take, besides what was measured.
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

    /// What is expected, in words.
    pub fn expectation(&self) -> String {
        match (self.expected, self.margin, self.allowed) {
            (Some(value), Some(margin), _) => format!("{} ± {}", short(value), short(margin)),
            (Some(value), None, [Some(low), Some(high)]) => {
                format!("{}, between {} and {}", short(value), short(low), short(high))
            }
            (_, _, [None, Some(most)]) => format!("at most {}", short(most)),
            (_, _, [Some(least), None]) => format!("at least {}", short(least)),
            _ => "it depends on the group".into(),
        }
    }
}

/// All claims, each for every group that was measured. A claim of which nothing was measured is inconclusive.
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
        let more = hours * (needed as f64 / found.estimate.seeds as f64 - 1.0);
        judged.because += &format!(" (about {} core-hours more)", short(more));
        judged.needed_core_hours = Some(more);
    }
    Ok(judged)
}

/// A claim of which nothing was measured.
pub(super) fn unmeasured(claim: &Claim) -> Judged {
    // What does not depend on the group is known all the same.
    let paper = claim.expected.of_group(&|_| None).ok();
    judgement(claim, Map::new(), paper, None, &Estimate::refused(0, "nothing was measured"))
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
