//! Chapters about trained networks: how many sentences they need, and where their loss ends.

mod ambiguous;
mod architectures;
mod family;
mod judge;
mod low_ambiguity;
mod quarter;
mod signal;
#[cfg(test)]
mod synthetic;

pub(super) use signal::inverse_ratio;

use super::Chapter;

/// The chapters, in the order of the paper.
pub const CHAPTERS: &[Chapter] =
    &[low_ambiguity::CHAPTER, signal::CHAPTER, quarter::CHAPTER, ambiguous::CHAPTER, architectures::CHAPTER];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Records;
    use crate::report::{Finding, Verdict};

    #[test]
    fn without_results_every_chapter_draws_and_claims_nothing() {
        for chapter in CHAPTERS {
            let page = (chapter.draw)(&Records::default()).unwrap();
            assert!(page.figure.png(1.0).is_ok() && !page.caption.is_empty(), "{}", chapter.name);
            assert!(!page.findings.is_empty(), "{}", chapter.name);
            for Finding { measured, verdict, .. } in &page.findings {
                assert_eq!(*verdict, Verdict::TooSmall, "{}: {measured}", chapter.name);
                assert!(!measured.is_empty() && !measured.contains("NaN") && !measured.contains('\n'), "{measured}");
            }
        }
    }

    #[test]
    fn names_are_the_labels_of_the_paper() {
        let names: Vec<&str> = CHAPTERS.iter().map(|chapter| chapter.name).collect();
        assert_eq!(names, ["CNN_CNN-1", "CNN_CNN-SNR", "CNN_CNN-2", "CNN_CNN-3", "archis_and_titles"]);
    }
}
