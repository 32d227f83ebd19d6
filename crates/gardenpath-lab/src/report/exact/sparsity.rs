//! Which fraction of all strings a typical tree can write, against one factor for each internal node.

use super::{P_BINARY, listed, slope};
use crate::figure::{Axis, Chart, Dash, Figure, Guide, Look, Series};
use crate::record::Records;
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;
use gardenpath::theory::fraction::{grammatical_fraction, paper_grammatical_fraction};
use gardenpath::theory::lengths::{mean_internal_nodes, typical_length};
use gardenpath::theory::{ByLength, Magnitude};

pub(super) const CHAPTER: Chapter = Chapter {
    name: "sparsity_scaling",
    title: "The fraction of grammatical strings",
    paper: "Of all strings of the typical length, a tree can write a fraction that decays as f to the power of the mean \
            number of internal nodes, (2.5^L − 1)/1.5.",
    experiments: &[],
    draw,
};

const FRACTION: f64 = 0.5;
const DEPTHS: std::ops::RangeInclusive<usize> = 1..=8;

/// The fraction at the typical length of one depth, by its logarithm to the base `f`: a number of nodes.
struct Point {
    depth: usize,
    /// The exponent of the asymptote.
    nodes: f64,
    /// The mean over trees with their probabilities.
    weighted: f64,
    /// The printed recursion.
    printed: f64,
    /// The largest relative difference of the two over all lengths.
    gap: f64,
}

fn draw(_: &Records) -> Result<Page> {
    let points = DEPTHS.map(Point::new).collect::<Result<Vec<_>>>()?;
    let line = |y: fn(&Point) -> f64| points.iter().map(|point| (point.nodes, y(point))).collect::<Vec<_>>();
    let (weighted, printed) = (line(|point| point.weighted), line(|point| point.printed));
    let fractions = Chart {
        guides: vec![Guide::sloped(1.0, (1.0, 1.0), "*F* = *f* ^{*k*}")],
        ..Chart::new(
            Axis::log("mean number of internal nodes *k* = (2.5^{*L*} − 1) / 1.5"),
            Axis::log("log_{*f*} *F* at the typical length"),
            vec![
                Series::new("mean over trees", weighted.clone()).look(Look::curve(Dash::Solid).number(0)),
                Series::new("printed recursion", printed.clone()).look(Look::markers().number(3)),
            ],
        )
    };
    let rate = |y: fn(&Point) -> f64| points.iter().map(move |point| (point.depth as f64, y(point) / point.nodes));
    let rates = Chart {
        guides: vec![Guide::horizontal(1.0, "one factor *f* per node")],
        ..Chart::new(
            Axis::linear("depth *L*"),
            Axis::linear("log_{*f*} *F* per internal node").range(0.88, 1.02),
            vec![
                Series::new("mean over trees", rate(|point| point.weighted)).look(Look::line().number(0)),
                Series::new("printed recursion", rate(|point| point.printed))
                    .look(Look { dash: Some(Dash::Dashed), ..Look::line().number(3) }),
            ],
        )
    };
    // Shallow grammars are not asymptotic yet.
    let (slope_weighted, slope_printed) = (slope(&weighted[3..]), slope(&printed[3..]));
    let last = slope(&weighted[6..]);
    Ok(Page {
        figure: Figure::grid(2, vec![fractions.into(), rates.into()]),
        caption:
            "The fraction F of all strings of the typical length that a tree of this length can write, if half of \
                  all pairs and triples are grammatical. (a) For each internal node it has about one factor f, from \
                  L = 1 (one node) to L = 8 (a thousand). (b) The exponent per node: a few percent below one."
                .into(),
        findings: vec![
            Finding::check(
                "ln F is proportional to the number of internal nodes",
                format!("slope {slope_weighted:.3} of log_f F against (2.5^L − 1)/1.5 for L = 4 to 8 (paper 1)"),
                (slope_weighted - 1.0).abs() < 0.05,
            ),
            Finding::new(
                "The recursion for F weighs incoming lengths equally; true are their probabilities",
                format!(
                    "largest difference {} for L = 1 to 4; slope {slope_printed:.3} as printed",
                    points[..4].iter().map(|point| percent(point.gap)).collect::<Vec<_>>().join(", ")
                ),
                if points[1].gap < 1e-12 && points[2].gap > 0.1 { Verdict::Corrected } else { Verdict::Differs },
            ),
            Finding::new(
                "The asymptote is one factor f per node of a mean tree; trees of one length differ in their nodes, and \
                 those with few of them weigh more",
                format!(
                    "slope {last:.3} from L = 7 to 8; exponent per node {} for L = 5 to 8",
                    listed(points[4..].iter().map(|point| point.weighted / point.nodes), 3)
                ),
                if (0.95..0.98).contains(&last) { Verdict::Corrected } else { Verdict::Differs },
            ),
        ],
    })
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

impl Point {
    fn new(depth: usize) -> Result<Self> {
        let weighted = grammatical_fraction(depth, FRACTION, FRACTION, P_BINARY)?;
        let printed = paper_grammatical_fraction(depth, FRACTION, FRACTION, P_BINARY)?;
        let len = typical_length(depth, P_BINARY)?;
        let in_nodes = |ln: f64| ln / FRACTION.ln();
        Ok(Point {
            depth,
            nodes: mean_internal_nodes(depth, P_BINARY)?,
            weighted: in_nodes(weighted.ln(len)),
            printed: in_nodes(printed.ln(len)),
            gap: gap(&printed, &weighted),
        })
    }
}

/// The largest relative difference over all lengths.
fn gap(values: &ByLength<Magnitude>, references: &ByLength<Magnitude>) -> f64 {
    let difference = |(len, _): (usize, &Magnitude)| (values.ln(len) - references.ln(len)).exp_m1().abs();
    values.iter().map(difference).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shallow_depths_have_closed_forms() {
        let points: Vec<Point> = (1..=3).map(|depth| Point::new(depth).unwrap()).collect();
        // One node; at six tokens 3-3 (three nodes) twice as often as 2-2-2 (four nodes).
        assert!((points[0].weighted - 1.0).abs() < 1e-12 && (points[0].nodes - 1.0).abs() < 1e-12);
        let six: f64 = (2.0 * FRACTION.powi(3) + FRACTION.powi(4)) / 3.0;
        assert!((points[1].weighted - six.ln() / FRACTION.ln()).abs() < 1e-12);
        assert!((points[1].nodes - 3.5).abs() < 1e-12 && (points[2].nodes - 9.75).abs() < 1e-12);
        assert!((points[2].gap - 0.168).abs() < 5e-4, "{}", points[2].gap);
    }
}
