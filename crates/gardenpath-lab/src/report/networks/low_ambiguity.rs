//! Learning curves of convolutional networks at low ambiguity, raw and rescaled.

use super::family::{Family, cut_off};
use super::judge;
use crate::figure::Figure;
use crate::record::Records;
use crate::report::{Chapter, Page};
use anyhow::Result;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "CNN_CNN-1",
    title: "Convolutional networks at low ambiguity",
    paper: "If a tuple of symbols is a rule with probability 1/v, learning curves of convolutional networks at all \
            vocabularies v fall on one another when the number of training sentences is divided by v^2.",
    experiments: &["cnn"],
    draw,
};

/// The predicted exponent of the vocabulary.
const PREDICTED: u32 = 2;

const CAPTION: &str = "The test loss of convolutional networks that were trained to name the root of sentences, against \
                       the number P of training sentences: 1 is guessing, 0 is knowing. Each curve is the mean over \
                       grammars with v symbols and its standard error; trees are L = 2 (a, b) or L = 3 (c, d) levels \
                       deep, and a fraction 1/v of all tuples are rules. On the left each vocabulary has its own curve; \
                       on the right P is divided by v^2. P* is read off where the loss is one half (dashed).";

fn draw(records: &Records) -> Result<Page> {
    let [shallow, deep] = [2.0, 3.0].map(|depth| Family::of_networks(records, "cnn", depth));
    let both = |family: &Family, depth: u32| {
        let title = |what: &str| format!("*L* = {depth}, {what}");
        [family.chart(title("raw"), 0), family.chart(title("rescaled"), PREDICTED)].map(Into::into)
    };
    let predicted = f64::from(PREDICTED);
    let claim = |depth: u32| format!("L = {depth}: the curves of all v are one when P is divided by v^2");
    Ok(Page {
        figure: Figure::grid(2, [both(&shallow, 2), both(&deep, 3)].concat()),
        caption: CAPTION.to_owned() + &cut_off(records),
        findings: vec![
            judge::exponent("L = 2: the number P* of sentences that halve the loss grows as v^2", predicted, &shallow),
            judge::collapse(claim(2), predicted, &shallow),
            judge::collapse(claim(3), predicted, &deep),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::super::synthetic;
    use super::*;
    use crate::report::Verdict;

    fn verdicts(exponent: f64) -> Vec<Verdict> {
        let star = |vocab: f64| 4.0 * vocab.powf(exponent);
        let mut all = synthetic::networks("cnn", 2, &[8.0, 12.0, 16.0], star);
        all.extend(synthetic::networks("cnn", 3, &[4.0, 6.0, 8.0], |vocab| 10.0 * star(vocab)));
        let page = draw(&Records { all }).unwrap();
        assert!(page.figure.png(1.0).is_ok());
        page.findings.iter().map(|finding| finding.verdict).collect()
    }

    #[test]
    fn squares_of_the_vocabulary_agree_and_other_powers_differ() {
        assert_eq!(verdicts(2.0), [Verdict::Agrees; 3]);
        // At depth 3 there is one large vocabulary only.
        assert_eq!(verdicts(3.0), [Verdict::Differs, Verdict::Differs, Verdict::TooSmall]);
    }

    #[test]
    fn a_depth_without_results_is_too_small() {
        let all = synthetic::networks("cnn", 2, &[8.0, 12.0, 16.0], |vocab| vocab * vocab);
        let page = draw(&Records { all }).unwrap();
        let verdicts: Vec<Verdict> = page.findings.iter().map(|finding| finding.verdict).collect();
        assert_eq!(verdicts, [Verdict::Agrees, Verdict::Agrees, Verdict::TooSmall]);
    }
}
