//! How many trees a sentence length has, counted from the top and from the bottom, against the paper's asymptote.

use super::{P_BINARY, listed, slope};
use crate::figure::{Axis, Chart, Dash, Figure, Guide, Look, Series};
use crate::record::Records;
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;
use gardenpath::theory::Magnitude;
use gardenpath::theory::candidates::mean_candidates;
use gardenpath::theory::lengths::{mean_internal_nodes, typical_length};
use gardenpath::theory::trees::tree_count;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "Nt_depth",
    title: "The number of trees",
    paper: "If every tuple is grammatical, the candidates that a parser builds from the bottom up are exactly as many as \
            the trees that are counted from the top down. At the typical length they grow as 2^((2.5^L − 1)/1.5), to \
            about 10^38 at L = 6.",
    experiments: &[],
    draw,
};

/// Depths whose trees are shown; the rate is followed further.
const SHOWN: std::ops::RangeInclusive<usize> = 2..=6;
const DEEPEST: usize = 8;

/// The trees of the typical length of one depth.
struct Trees {
    depth: usize,
    /// The common logarithm of their number.
    counted: f64,
    /// The mean number of internal nodes: the exponent of the asymptote.
    nodes: f64,
}

fn draw(_: &Records) -> Result<Page> {
    let trees = (2..=DEEPEST).map(Trees::new).collect::<Result<Vec<_>>>()?;
    let shown = &trees[..SHOWN.count()];
    let candidates = SHOWN.map(candidates_and_gap).collect::<Result<Vec<_>>>()?;
    let gap = candidates.iter().map(|found| found.1).fold(0.0, f64::max);
    let built = SHOWN.zip(&candidates).map(|(depth, found)| (depth as f64, 10f64.powf(found.0)));
    let counted = shown.iter().map(|t| (t.depth as f64, 10f64.powf(t.counted)));
    let asymptote = shown.iter().map(|t| (t.depth as f64, 2f64.powf(t.nodes)));
    let numbers = Chart::new(
        Axis::linear("depth *L*").ticks(SHOWN.map(|depth| (depth as f64, depth.to_string()))),
        Axis::log("number at the typical length"),
        vec![
            Series::new("trees *N_t*, top down", counted).look(Look::curve(Dash::Solid).number(0)),
            Series::new("candidates *n*, bottom up", built).look(Look::markers().number(1)),
            Series::new("2^{*k*}, *k* = (2.5^{*L*} − 1) / 1.5", asymptote).look(Look::curve(Dash::Dashed).number(3)),
        ],
    );
    let rate: Vec<(f64, f64)> = trees.iter().map(|t| (t.depth as f64, t.rate())).collect();
    let rates = Chart {
        guides: vec![Guide::horizontal(1.0, "the printed asymptote")],
        ..Chart::new(
            Axis::linear("depth *L*"),
            Axis::linear("log_2 *N_t* per internal node"),
            vec![Series::new("", rate.clone()).look(Look::line().number(0))],
        )
    };
    let deep: Vec<(f64, f64)> = trees[4..].iter().map(|t| (t.nodes, t.counted / 2f64.log10())).collect();
    let six = &trees[4];
    Ok(Page {
        figure: Figure::grid(2, vec![numbers.into(), rates.into()]),
        caption: "(a) How many trees a sentence of the typical length has, counted in two ways, and the asymptote that \
                  the paper gives. (b) The exponent of 2 for each internal node of a mean tree: it passes the value 1 of \
                  the asymptote at L = 7 instead of approaching it."
            .into(),
        findings: vec![
            Finding::check(
                "Counted from the bottom up, with everything grammatical, there are as many candidates as trees",
                format!("largest relative difference {gap:.0e} over all lengths of L = 2 to 6 (rounding)"),
                gap < 1e-12,
            ),
            Finding::new(
                "There are about 10^38 trees at L = 6; true are ten orders of magnitude more",
                format!("10^{:.1} trees with {} tokens", six.counted, typical_length(6, P_BINARY)?),
                if (six.counted - 48.36).abs() < 0.01 { Verdict::Corrected } else { Verdict::Differs },
            ),
            Finding::new(
                "The number of trees has the asymptote 2^((2.5^L − 1)/1.5); true is a larger exponent, since trees with \
                 many nodes are more numerous",
                format!(
                    "{} of the exponent for L = 2 to {DEEPEST}; slope {:.3} from L = 6 on",
                    listed(rate.iter().map(|point| point.1), 3),
                    slope(&deep)
                ),
                if rate[5].1 > 1.0 && rate[6].1 > rate[5].1 { Verdict::Corrected } else { Verdict::Differs },
            ),
        ],
    })
}

impl Trees {
    fn new(depth: usize) -> Result<Self> {
        let counts = tree_count(depth)?;
        let count = counts.get(typical_length(depth, P_BINARY)?).map_or(Magnitude::new(0.0), Magnitude::from);
        Ok(Trees { depth, counted: count.log10(), nodes: mean_internal_nodes(depth, P_BINARY)? })
    }

    /// The exponent of 2 for each node.
    fn rate(&self) -> f64 {
        self.counted / 2f64.log10() / self.nodes
    }
}

/// The common logarithm of the number of candidates at the typical length, and the largest relative difference to the
/// number of trees over all lengths.
fn candidates_and_gap(depth: usize) -> Result<(f64, f64)> {
    let (candidates, trees) = (mean_candidates(depth, 1.0, 1.0)?, tree_count(depth)?);
    let difference = |(len, count)| (candidates.ln(len) - Magnitude::from(count).ln()).exp_m1().abs();
    let gap = trees.iter().map(difference).fold(0.0, f64::max);
    let typical = typical_length(depth, P_BINARY)?;
    Ok((candidates.ln(typical) / std::f64::consts::LN_10, gap))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_counts_are_known() {
        // Two trees with six tokens; with 15, by the recursion of the lengths at depth 2 (1, 2, 2, 3, 3, 1 for 4 to 9):
        // from 5 all ternary, from 6 three of six ternary, from 7 one of seven.
        let fifteen = 2.0 + 2.0 * 20.0 + 3.0 * 7.0;
        for (depth, count) in [(2, 2.0f64), (3, fifteen)] {
            let trees = Trees::new(depth).unwrap();
            assert!((trees.counted - count.log10()).abs() < 1e-12, "{depth}");
            assert!((candidates_and_gap(depth).unwrap().0 - count.log10()).abs() < 1e-12);
        }
        assert!((Trees::new(2).unwrap().rate() - 1.0 / 3.5).abs() < 1e-12);
    }
}
