//! Learning curves of convolutional networks where a quarter of all tuples are rules.

use super::family::{Family, cut_off};
use super::judge;
use crate::figure::Figure;
use crate::record::Records;
use crate::report::{Chapter, Page};
use anyhow::Result;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "CNN_CNN-2",
    title: "Convolutional networks at intermediate ambiguity",
    paper: "If a quarter of all tuples are rules and trees have three levels, learning curves of convolutional networks \
            fall on one another when the number of training sentences is divided by v^5.",
    experiments: &["cnn-quarter"],
    draw,
};

/// The predicted exponent of the vocabulary: v m_3 m_2^2 with m_2 ~ v and m_3 ~ v^2.
const PREDICTED: u32 = 5;

const CAPTION: &str = "The test loss of convolutional networks (1 is guessing) on trees of three levels, where a quarter \
                       of all tuples of symbols are rules: many spans look like parts of a tree and are not. (a) Against \
                       the number P of training sentences. (b) With P divided by v^5: a symbol has many more rules than \
                       at low ambiguity, and each of them has to be seen. Dashed: where curves are compared, the lowest \
                       level that all of them reach.";

fn draw(records: &Records) -> Result<Page> {
    let family = Family::of_networks(records, "cnn", 3.0).at_a_common_level();
    let level = family.level;
    let charts = [family.chart("*f* = 1/4, raw".into(), 0), family.chart("*f* = 1/4, rescaled".into(), PREDICTED)];
    Ok(Page {
        figure: Figure::grid(2, charts.map(Into::into).to_vec()),
        caption: CAPTION.to_owned() + &cut_off(records),
        findings: vec![
            judge::exponent(
                format!("L = 3, f = 1/4: the number P* of sentences at which the loss falls to {level} grows as v^5"),
                f64::from(PREDICTED),
                &family,
            ),
            judge::collapse(
                "L = 3, f = 1/4: curves fall on one another as functions of P / v^5",
                f64::from(PREDICTED),
                &family,
            ),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::super::synthetic;
    use super::*;
    use crate::report::Verdict;

    fn verdict(exponent: f64, vocabs: &[f64]) -> Verdict {
        let all = synthetic::networks("cnn", 3, vocabs, |vocab| 4.0 * vocab.powf(exponent));
        let page = draw(&Records { all }).unwrap();
        assert!(page.figure.png(1.0).is_ok());
        assert_eq!(page.findings[0].verdict, page.findings[1].verdict);
        page.findings[0].verdict
    }

    #[test]
    fn curves_that_end_early_are_compared_where_they_are() {
        let mut all = synthetic::networks("cnn", 3, &[4.0, 6.0, 8.0], |vocab| 4.0 * vocab.powi(5));
        all.retain(|record| {
            record.parameters["vocab"] != 8.0 || record.result["normalized_loss"].as_f64() > Some(0.55)
        });
        let page = draw(&Records { all }).unwrap();
        assert!(page.findings[0].claim.contains("falls to 0.7"), "{}", page.findings[0].claim);
        assert_eq!([page.findings[0].verdict, page.findings[1].verdict], [Verdict::Agrees; 2]);
    }

    #[test]
    fn the_fifth_power_agrees_and_the_second_differs() {
        assert_eq!(verdict(5.0, &[4.0, 6.0, 8.0]), Verdict::Agrees);
        assert_eq!(verdict(2.0, &[4.0, 6.0, 8.0]), Verdict::TooSmall);
        assert_eq!(verdict(2.0, &[8.0, 12.0, 16.0]), Verdict::Differs);
        assert_eq!(verdict(5.0, &[4.0]), Verdict::TooSmall);
    }
}
