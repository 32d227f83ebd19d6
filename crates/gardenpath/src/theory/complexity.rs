//! Predicted sample complexity: the scales `P_(l,s)` and their maximum (conjecture
//! `conj:nn-sample-complexity`, eq. `samp_comp`).
//!
//! Rules whose children are on level `l` are found from how the root covaries with tuples of symbols there. The
//! signal is a sum over paths from the root; each of the `l - 1` levels above multiplies its square by `factor / m`, with `m` rules per
//! symbol. The number of sentences is `v m_s` times the inverse of all these factors.
//!
//! Two predictions differ in the factor of a level. The paper averages over the tokens of a sentence as if one
//! descended from the root, choosing a child at random at each node: `p_s^2 / s`. But statistics pool all tokens, and
//! nodes with more children have more of them: a random token has an `s`-ary ancestor with probability `s p_s / <s>`, and the
//! factor is `(s p_s / <s>)^2 / s = s (p_s / <s>)^2`. For two and three children at even odds these are 1/8 and 2/25 per binary level, so
//! that depth costs a factor of 12.5 rather than 8. They agree when all branchings are of one kind.

use super::lengths::mean_branching;
use super::{TheoryError, check_depth};
use crate::arity::PerArity;

/// Both predictions of the number of sentences.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::complexity::sample_complexity;
/// let both = sample_complexity(2, 8, PerArity::from([(2, 2), (3, 16)]), PerArity::paper(0.5))?;
/// assert_eq!(both.paper.samples(), 8.0 * 16.0 * (8.0 * 2.0));
/// assert!((both.size_biased.samples() - 8.0 * 16.0 * (12.5 * 2.0)).abs() < 1e-9);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SampleComplexity {
    /// With the paper's factor, `p_s^2 / s` per level.
    pub paper: Prediction,
    /// With the factor of a uniformly chosen token, `s (p_s / <s>)^2` per level.
    pub size_biased: Prediction,
}

/// The scales of all levels and arities.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::complexity::sample_complexity;
/// let prediction = sample_complexity(3, 8, PerArity::from([(2, 2), (3, 16)]), PerArity::paper(0.5))?.paper;
/// assert_eq!((prediction.path_arity, prediction.factor, prediction.scales.len()), (2, 0.125, 6));
/// let hardest = prediction.hardest();
/// assert_eq!((hardest.level, hardest.arity), (2, 3));
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The number of children along the path from the root that carries most of the signal.
    pub path_arity: usize,
    /// What each level of this path multiplies the squared signal by, apart from `1 / m`.
    pub factor: f64,
    /// `P_(l,s)` for each layer of rules, from the root down, and each arity that occurs.
    pub scales: Vec<Scale>,
}

/// The number of sentences at which the rules of one level and arity become visible.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::complexity::sample_complexity;
/// let scale = sample_complexity(1, 8, PerArity::from([(2, 2), (3, 16)]), PerArity::paper(0.5))?.paper.scales[0];
/// assert_eq!((scale.level, scale.arity, scale.samples), (0, 2, 16.0)); // v m2
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The level of the parents: 0 is the root. The paper's `l` is one more, the level of the children.
    pub level: usize,
    /// The number of children.
    pub arity: usize,
    /// The predicted number of sentences, up to a constant.
    pub samples: f64,
}

impl Prediction {
    /// The sample complexity: the largest of all scales (eq. `samp_comp`).
    pub fn samples(&self) -> f64 {
        self.hardest().samples
    }

    /// The scale that needs most sentences.
    pub fn hardest(&self) -> Scale {
        let none = Scale { level: 0, arity: 0, samples: 0.0 };
        self.scales.iter().fold(none, |most, &scale| if scale.samples > most.samples { scale } else { most })
    }
}

/// The scales `P_(l,s) = factor^(1-l) v m_s m^(l-1)` and their maximum, with the paper's and the size-biased factor
/// (conjecture `conj:nn-sample-complexity`), for the numbers `m_s` of rules per symbol. Arities that never occur have no scale, and
/// their numbers of rules are ignored.
///
/// The path above level `l` is the easiest one: `factor` and `m` are those of the arity with the largest `factor_s / m_s`. That is the
/// binary path of the paper as long as triples have many more rules than pairs and pairs are not rare.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::complexity::sample_complexity;
/// let ternary_only = sample_complexity(2, 8, PerArity::from([(3, 4)]), PerArity::from([(3, 1.0)]))?;
/// assert_eq!(ternary_only.paper.path_arity, 3);
/// assert!((ternary_only.paper.samples() - 8.0 * 4.0 * (3.0 * 4.0)).abs() < 1e-9);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn sample_complexity(
    depth: usize,
    vocab: u64,
    rules: PerArity<u64>,
    probabilities: PerArity<f64>,
) -> Result<SampleComplexity, TheoryError> {
    check_depth(depth)?;
    let branching = mean_branching(probabilities)?;
    for (arity, _) in probabilities.nonzero() {
        // No symbols have no rules, not even of one child.
        let (rules, most) = (rules[arity], vocab.saturating_pow(arity as u32 - 1) * vocab.min(1));
        if !(1..=most).contains(&rules) {
            return Err(TheoryError::Rules { arity, rules, most });
        }
    }
    let predict = |factor: &dyn Fn(f64, f64) -> f64| {
        let factors = probabilities.map(|arity, p| factor(arity as f64, p));
        let (signal, path_arity) = factors
            .nonzero()
            .map(|(arity, factor)| (factor / rules[arity] as f64, arity))
            .fold((0.0, 0), |best, next| if next.0 > best.0 { next } else { best });
        let scale = |level: usize, arity: usize| {
            let samples = vocab as f64 * rules[arity] as f64 * signal.powi(-(level as i32));
            Scale { level, arity, samples }
        };
        let scales = (0..depth).flat_map(|level| probabilities.nonzero().map(move |(arity, _)| scale(level, arity)));
        Prediction { path_arity, factor: factors[path_arity], scales: scales.collect() }
    };
    Ok(SampleComplexity {
        paper: predict(&|arity, p| p.powi(2) / arity),
        size_biased: predict(&|arity, p| arity * (p / branching).powi(2)),
    })
}
