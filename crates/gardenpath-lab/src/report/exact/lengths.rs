//! How sentence lengths are distributed: a law that is only moved (in logarithms) or stretched from level to level.

use super::ratio::Ratio;
use super::{BRANCHING, P_BINARY, listed};
use crate::figure::{Axis, Chart, Dash, Figure, Look, Palette, Series};
use crate::record::Records;
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;
use gardenpath::theory::lengths::{LengthLaw, length_distribution};

pub(super) const TRANSLATION: Chapter = Chapter {
    name: "translation",
    title: "Sentence lengths: a translation in log space",
    paper: "In log space the distribution of sentence lengths is moved by log 2.5 from one level to the next, without a \
            change of its shape beyond L = 3, since the variance of the growth ratio falls as 13/(25 d).",
    experiments: &[],
    draw: translation,
};

pub(super) const SCALING: Chapter = Chapter {
    name: "scaling_lengths",
    title: "Sentence lengths: a scaling function",
    paper: "In units of 2.5^L the distributions of sentence lengths fall on one curve for L > 3: each level stretches it \
            by 2.5. The ratio of the lengths of neighbouring levels has the variance 13/(4 d).",
    experiments: &[],
    draw: scaling,
};

const DEPTHS: usize = 8;
/// Curves of more points than this are thinned out.
const POINTS: usize = 300;
/// What the paper has in place of 1, in the variance of the growth ratio.
const PRINTED: f64 = 13.0;

fn laws() -> Result<Vec<LengthLaw>> {
    (1..=DEPTHS).map(|depth| Ok(length_distribution(depth, P_BINARY)?)).collect()
}

fn translation(_: &Records) -> Result<Page> {
    let laws = laws()?;
    let density = |law: &LengthLaw| -> Vec<(f64, f64)> {
        law.iter().map(|(len, probability)| ((len as f64).ln(), probability * len as f64)).collect()
    };
    let moved = Chart {
        palette: Palette::Ordered,
        ..Chart::new(
            Axis::linear("ln *d*"),
            Axis::linear("density *d P*(*d*, *L*)").range(0.0, 2.2),
            curves(&laws, density),
        )
    };
    let ratios: Vec<Ratio> = (0..DEPTHS).map(|depth| Ratio::new(depth.checked_sub(1).map(|k| &laws[k]))).collect();
    let variances = ratios.iter().enumerate().map(|(level, ratio)| (level as f64, ratio.variance));
    let predicted = |level: f64| 1.0 / (25.0 * BRANCHING.powf(level));
    let narrowing = Chart::new(
        Axis::linear("level *L*"),
        Axis::log("variance of ln(*d*_{*L*+1} / *d_L*)"),
        against_printed(variances, predicted, ["1 / (25 *d*)", "13 / (25 *d*), printed"]),
    );
    let shifts: Vec<f64> = ratios.iter().map(|ratio| ratio.mean).collect();
    let shift = BRANCHING.ln();
    let last = &ratios[DEPTHS - 1];
    let coefficient = last.variance / last.inverse_length;
    let changes = changes_of_shape(&laws, density, shift);
    Ok(Page {
        figure: Figure::grid(2, vec![moved.into(), narrowing.into()]),
        caption: format!(
            "(a) The distribution of the logarithm of the sentence length d for grammars of depth L = 1 to {DEPTHS}: from \
             L = 3 on each curve is the one before, moved to the right by ln 2.5. (b) Why: the ratio of the lengths of \
             two neighbouring levels fluctuates less and less, 13 times less than printed."
        ),
        findings: vec![
            Finding::check(
                "From L to L + 1 the mean of ln d moves by ln 2.5",
                format!("{} for L = 3 to 7 (ln 2.5 = {shift:.4})", listed(shifts[3..].iter().copied(), 4)),
                shifts[3..].iter().all(|moved| (moved - shift).abs() < 2e-3) && (shifts[7] - shift).abs() < 1e-4,
            ),
            Finding::check(
                "The shape of the distribution remains the same beyond L = 3",
                format!("largest change of the density {} for L = 3 to 7", listed(changes[2..].iter().copied(), 3)),
                changes[2..].is_sorted_by(|before, after| before > after) && changes[6] < 0.01,
            ),
            Finding::new(
                "The variance of ln r, r the ratio of neighbouring lengths, is 13/(25 d); true is 1/(25 d)",
                format!("{coefficient:.4} times the mean of 1/d at L = 7 (1/25 = 0.04, 13/25 = 0.52)"),
                if (coefficient - 0.04).abs() < 1e-3 { Verdict::Corrected } else { Verdict::Differs },
            ),
        ],
    })
}

fn scaling(_: &Records) -> Result<Page> {
    let laws = laws()?;
    let scaled = Chart {
        palette: Palette::Ordered,
        ..Chart::new(
            Axis::linear("(*d* − 2.5^{*L*}) / 2.5^{*L*}").range(-0.85, 1.05),
            Axis::linear("2.5^{*L*} *P*(*d*, *L*)").range(0.0, 2.0),
            curves(&laws, LengthLaw::scaling_form),
        )
    };
    let variance: Vec<f64> =
        laws.iter().zip(1..).map(|(law, depth)| law.variance() / BRANCHING.powi(2 * depth)).collect();
    let points = variance.iter().zip(1..).map(|(&variance, depth)| (f64::from(depth), variance));
    // Each level adds the variance of d nodes, 1/4 each, and stretches what was there.
    let limit = 1.0 / (4.0 * BRANCHING * (BRANCHING - 1.0));
    let predicted = move |depth: f64| limit * (1.0 - BRANCHING.powf(-depth));
    let converging = Chart::new(
        Axis::linear("depth *L*"),
        Axis::log("variance of *d* / 2.5^{*L*}").range(0.02, 6.0),
        against_printed(points, predicted, ["Var *r* = 1 / (4 *d*)", "Var *r* = 13 / (4 *d*), printed"]),
    );
    let deviation = laws.windows(2).map(|pair| (variance_per_node(pair) - 0.25).abs()).fold(0.0, f64::max);
    let changes = changes_of_shape(&laws, LengthLaw::scaling_form, 0.0);
    Ok(Page {
        figure: Figure::grid(2, vec![scaled.into(), converging.into()]),
        caption: format!(
            "(a) The distribution of the sentence length d in units of the mean 2.5^L for grammars of depth L = 1 to \
             {DEPTHS}: one curve from L = 3 on. (b) Its variance converges to 1/15; the printed variance of the ratio r \
             of neighbouring lengths would make it 13 times as large."
        ),
        findings: vec![
            Finding::check(
                "Rescaled by 2.5^L, the distributions converge",
                format!(
                    "largest distance to the next curve {} for L = 2 to 7",
                    listed(changes[1..].iter().copied(), 3)
                ),
                changes[1..].is_sorted_by(|before, after| before > after) && changes[6] < 0.01,
            ),
            Finding::check(
                "So does the variance of d / 2.5^L, to 1/15 = 0.0667",
                format!("{} for L = 1 to 8", listed(variance.iter().copied(), 4)),
                variance.iter().zip(1..).all(|(found, depth)| (found - predicted(f64::from(depth))).abs() < 1e-9),
            ),
            Finding::new(
                "The ratio r of neighbouring lengths has the variance 13/(4 d); true is 1/(4 d)",
                format!("(Var d(L+1) − 2.5² Var d(L)) / ⟨d(L)⟩ = 1/4 up to {deviation:.0e} for L = 1 to 7, not 13/4"),
                if deviation < 1e-6 { Verdict::Corrected } else { Verdict::Differs },
            ),
        ],
    })
}

/// The variance that one node adds to the length of the next level.
fn variance_per_node(laws: &[LengthLaw]) -> f64 {
    (laws[1].variance() - BRANCHING.powi(2) * laws[0].variance()) / laws[0].mean()
}

/// One curve for each law, with markers where there are so few lengths that a line alone would mislead.
fn curves(laws: &[LengthLaw], points: impl Fn(&LengthLaw) -> Vec<(f64, f64)>) -> Vec<Series> {
    let curve = |(law, depth): (&LengthLaw, usize)| {
        // Tails that would lie on the axis are left out.
        let points: Vec<(f64, f64)> = points(law).into_iter().filter(|point| point.1 > 2e-3).collect();
        let step = points.len().div_ceil(POINTS);
        let look = if depth < 3 { Look::line() } else { Look::curve(Dash::Solid) };
        Series::new(format!("*L* = {depth}"), points.into_iter().step_by(step)).look(look)
    };
    laws.iter().zip(1..).map(curve).collect()
}

/// Exact points, the law that they follow, and what follows from the printed one.
fn against_printed(
    points: impl Iterator<Item = (f64, f64)>,
    law: impl Fn(f64) -> f64,
    [name, printed_name]: [&str; 2],
) -> Vec<Series> {
    let points: Vec<(f64, f64)> = points.collect();
    let (from, to) = (points[0].0, points[points.len() - 1].0);
    let curve = |factor: f64| {
        let place = |k: i32| from + (to - from) * f64::from(k) / 100.0;
        (0..=100).map(place).map(|x| (x, factor * law(x))).collect::<Vec<_>>()
    };
    vec![
        Series::new("exact", points).look(Look::markers().number(0)),
        Series::new(name, curve(1.0)).look(Look::curve(Dash::Solid).number(0)),
        Series::new(printed_name, curve(PRINTED)).look(Look::curve(Dash::Dashed).number(3)),
    ]
}

/// The largest distance of each curve, moved to the right, to the next.
fn changes_of_shape(laws: &[LengthLaw], points: impl Fn(&LengthLaw) -> Vec<(f64, f64)>, shift: f64) -> Vec<f64> {
    let curves: Vec<_> = laws.iter().map(points).collect();
    let change = |pair: &[Vec<(f64, f64)>]| {
        let distance = |&(x, y): &(f64, f64)| (y - height(&pair[1], x + shift)).abs();
        pair[0].iter().map(distance).fold(0.0, f64::max)
    };
    curves.windows(2).map(change).collect()
}

/// The height of a polygon over a place, zero outside.
fn height(polygon: &[(f64, f64)], x: f64) -> f64 {
    let right = polygon.partition_point(|point| point.0 < x);
    match (right.checked_sub(1).map(|left| polygon[left]), polygon.get(right)) {
        (Some((x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (None, Some(&(x1, y1))) if x1 == x => y1,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_ratio_is_the_shift_of_the_mean() {
        let laws = laws().unwrap();
        let mean = |law: &LengthLaw| law.iter().map(|(len, p)| p * (len as f64).ln()).sum::<f64>();
        assert!((Ratio::new(None).mean - 6f64.ln() / 2.0).abs() < 1e-12);
        for pair in laws.windows(2) {
            let shift = mean(&pair[1]) - mean(&pair[0]);
            assert!((Ratio::new(Some(&pair[0])).mean - shift).abs() < 1e-10);
        }
    }

    #[test]
    fn one_node_has_the_variance_of_a_coin() {
        let laws = laws().unwrap();
        // Depth 1: lengths 2 and 3. Depth 2: mean 6.25 and variance 2.1875.
        assert!((laws[0].variance() - 0.25).abs() < 1e-12 && (laws[1].variance() - 2.1875).abs() < 1e-12);
        assert!((variance_per_node(&laws[..2]) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn heights_of_polygons() {
        let polygon = [(1.0, 2.0), (2.0, 4.0), (4.0, 0.0)];
        assert_eq!([0.5, 1.0, 1.5, 3.0, 4.0, 4.5].map(|x| height(&polygon, x)), [0.0, 2.0, 3.0, 2.0, 0.0, 0.0]);
    }
}
