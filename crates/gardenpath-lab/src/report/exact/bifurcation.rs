//! The mean-field map of a parser's candidates: below a critical fraction they die out, above it they explode.

use super::{BRANCHING, listed, slope};
use crate::figure::{Axis, Chart, Dash, Figure, Guide, Look, Palette, Series};
use crate::record::Records;
use crate::report::{Chapter, Finding, Page};
use anyhow::Result;
use gardenpath::theory::candidates::{bifurcation, critical_fraction};

pub(super) const CHAPTER: Chapter = Chapter {
    name: "f_bifurcation",
    title: "Candidates die out or explode",
    paper: "The mean number of candidates at the typical length, followed from level to level as if all were \
            independent, vanishes for small and explodes for large fractions of grammatical tuples, with a bifurcation \
            around f = 1/2.",
    experiments: &[],
    draw,
};

const DEPTH: usize = 7;
const FRACTIONS: std::ops::RangeInclusive<i32> = 30..=80;

fn draw(_: &Records) -> Result<Page> {
    let fractions: Vec<f64> = FRACTIONS.map(|percent| f64::from(percent) / 100.0).collect();
    let map = bifurcation(DEPTH, &fractions, 0.5)?;
    let curve = |depth: usize| {
        let points = map.iter().map(move |curve| (curve.fraction, curve.at_typical_length[depth - 1].value()));
        Series::new(format!("*L* = {depth}"), points).look(Look::curve(Dash::Solid))
    };
    let candidates = Chart {
        guides: vec![Guide::vertical(0.5, "*f* = 1/2")],
        palette: Palette::Ordered,
        ..Chart::new(
            Axis::linear("fraction *f* of grammatical tuples"),
            Axis::log("mean number of candidates *n*").range(1e-8, 1e8),
            (1..=DEPTH).map(curve).collect(),
        )
    };
    let critical =
        (2..=DEPTH).map(|depth| Ok((depth as f64, critical_fraction(depth, 0.5)?))).collect::<Result<Vec<_>>>()?;
    let above = critical.iter().map(|&(depth, fraction)| (depth, fraction - 0.5));
    let predicted = (0..=100).map(|k| 2.0 + f64::from(k) / 20.0).map(|depth| (depth, excess(depth)));
    let limits = Chart::new(
        Axis::linear("depth *L*"),
        Axis::log("critical fraction − 1/2"),
        vec![
            Series::new("exact", above.clone()).look(Look::markers().number(0)),
            Series::new("ln 2.5 / (2 · 2.5^{*L*−1})", predicted).look(Look::curve(Dash::Dashed).number(0)),
        ],
    );
    let deep: Vec<(f64, f64)> = above.map(|(depth, above)| (depth, above.ln())).skip(2).collect();
    let factor = (-slope(&deep)).exp();
    let at = |fraction: f64| {
        let curve = map.iter().find(|curve| curve.fraction == fraction);
        curve.map_or(f64::NAN, |curve| curve.at_typical_length[DEPTH - 1].log10())
    };
    Ok(Page {
        figure: Figure::grid(2, vec![candidates.into(), limits.into()]),
        caption: format!(
            "(a) How many symbols a parser proposes on average for a whole sentence of typical length, against the \
             fraction of grammatical tuples, for depths L = 1 to {DEPTH}. (b) Where the curves of L − 1 and L cross: the \
             critical fraction tends to 1/2 from above."
        ),
        findings: vec![
            Finding::check(
                "Candidates die out below f = 1/2 and explode above",
                format!("n = 10^{:.0} at f = 0.4 and 10^{:.0} at f = 0.6 for L = {DEPTH}", at(0.4), at(0.6)),
                at(0.4) < -10.0 && at(0.6) > 10.0,
            ),
            Finding::check(
                "The bifurcation is at f = 1/2, for large L",
                format!("critical fraction {} for L = 2 to {DEPTH}", listed(critical.iter().map(|c| c.1), 4)),
                critical.is_sorted_by(|shallow, deep| shallow.1 > deep.1) && (critical[5].1 - 0.5).abs() < 2.5e-3,
            ),
            Finding::check(
                "At finite depth it is above 1/2 by ln 2.5 / 2 over the nodes of the last level, 2.5^(L−1)",
                format!("the distance falls by {factor:.2} per level for L = 4 to {DEPTH} (theory {BRANCHING})"),
                (factor - BRANCHING).abs() < 0.05,
            ),
        ],
    })
}

/// How far the critical fraction is above 1/2.
fn excess(depth: f64) -> f64 {
    BRANCHING.ln() / 2.0 / BRANCHING.powf(depth - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shallow_maps_are_polynomials() {
        // Two tokens: one pair. Six tokens: 3-3 has three nodes, 2-2-2 four.
        for curve in bifurcation(2, &[0.3, 0.5, 0.9], 0.5).unwrap() {
            let f = curve.fraction;
            assert!((curve.at_typical_length[0].value() - f).abs() < 1e-12);
            assert!((curve.at_typical_length[1].value() - f.powi(3) - f.powi(4)).abs() < 1e-12);
        }
        let critical = critical_fraction(2, 0.5).unwrap();
        assert!((critical.powi(2) + critical.powi(3) - 1.0).abs() < 1e-10);
    }

    #[test]
    fn the_last_level_decides() {
        for depth in 5..=6 {
            let above = critical_fraction(depth, 0.5).unwrap() - 0.5;
            assert!((above / excess(depth as f64) - 1.0).abs() < 0.03, "{depth}: {above}");
        }
    }
}
