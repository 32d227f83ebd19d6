//! How many sentences learning needs: the predicted scales `P_(l,s)` and their maximum (conjecture
//! `conj:nn-sample-complexity`, eq. `samp_comp`).
//!
//! Rules whose children are on level `l` are found from how the root covaries with pairs and triples of symbols there. The
//! signal is a sum over paths from the root; each of the `l - 1` levels above multiplies its square by `factor / m`, with `m` rules per
//! symbol. The number of sentences is `v m_s` times the inverse of all these factors.
//!
//! Two predictions differ in the factor of a level. The paper averages over the tokens of a sentence as if one
//! descended from the root, choosing a child at random at each node: `p_s^2 / s`. But statistics pool all tokens, and
//! ternary nodes have more of them: a random token has an `s`-ary ancestor with probability `s p_s / <s>`, and the
//! factor is `(s p_s / <s>)^2 / s = s (p_s / <s>)^2`. For even odds these are 1/8 and 2/25 per binary level, so that
//! depth costs a factor of 12.5 rather than 8. They agree when all branchings are of one kind.

use super::lengths::mean_branching;
use super::{TheoryError, check_depth};

/// How a random token chooses its ancestors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// A random child at each node, from the root down.
    Descended,
    /// Any token of any sentence with equal chance.
    Pooled,
}

/// Both predictions of the number of sentences.
///
/// ```
/// use gardenpath::theory::complexity::sample_complexity;
/// let both = sample_complexity(2, 8, 2, 16, 0.5)?;
/// assert_eq!(both.paper.samples(), 8.0 * 16.0 * (8.0 * 2.0));
/// assert!((both.size_biased.samples() - 8.0 * 16.0 * (12.5 * 2.0)).abs() < 1e-9);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SampleComplexity {
    /// With the paper's factor, `p_2^2 / 2` per level.
    pub paper: Prediction,
    /// With the factor of a uniformly chosen token, `2 (p_2 / <s>)^2` per level.
    pub size_biased: Prediction,
}

/// The scales of all levels and arities.
///
/// ```
/// use gardenpath::theory::complexity::sample_complexity;
/// let prediction = sample_complexity(3, 8, 2, 16, 0.5)?.paper;
/// assert_eq!((prediction.path_arity, prediction.factor, prediction.scales.len()), (2, 0.125, 6));
/// let hardest = prediction.hardest();
/// assert_eq!((hardest.level, hardest.arity), (2, 3));
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The kind of branching, 2 or 3, along the path from the root that carries most of the signal.
    pub path_arity: usize,
    /// What each level of this path multiplies the squared signal by, apart from `1 / m`.
    pub factor: f64,
    /// `P_(l,s)` for each layer of rules, from the root down, and each arity that occurs.
    pub scales: Vec<Scale>,
}

/// The number of sentences at which the rules of one level and arity become visible.
///
/// ```
/// use gardenpath::theory::complexity::sample_complexity;
/// let scale = sample_complexity(1, 8, 2, 16, 0.5)?.paper.scales[0];
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

/// The scales `P_(l,s) = factor^(1-l) v m_s m_2^(l-1)` and their maximum, with the paper's and the size-biased factor
/// (conjecture `conj:nn-sample-complexity`). `binary_rules` and `ternary_rules` are per symbol.
///
/// The path above level `l` is the easiest one, with the largest `factor_s / m_s`. That is the binary path of the
/// paper as long as triples have many more rules than pairs, and the ternary path if `p_binary` is (close to) zero,
/// where the scales are `factor_3^(1-l) v m_s m_3^(l-1)`. A kind of branching that never occurs has no scale, and its
/// number of rules is ignored.
///
/// ```
/// use gardenpath::theory::complexity::sample_complexity;
/// let ternary_only = sample_complexity(2, 8, 0, 4, 0.0)?;
/// assert_eq!(ternary_only.paper.path_arity, 3);
/// assert!((ternary_only.paper.samples() - 8.0 * 4.0 * (3.0 * 4.0)).abs() < 1e-9);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn sample_complexity(
    depth: usize,
    vocab: u64,
    binary_rules: u64,
    ternary_rules: u64,
    p_binary: f64,
) -> Result<SampleComplexity, TheoryError> {
    check_depth(depth)?;
    let branching = mean_branching(p_binary)?;
    let mut kinds = Vec::new();
    for (arity, probability, rules) in [(2, p_binary, binary_rules), (3, 1.0 - p_binary, ternary_rules)] {
        if probability > 0.0 {
            let most = vocab.saturating_pow(arity as u32 - 1);
            if !(1..=most).contains(&rules) {
                return Err(TheoryError::Rules { arity, rules, most });
            }
            kinds.push(Kind { arity, probability, rules: rules as f64 });
        }
    }
    let predict = |token| predict(depth, vocab as f64, branching, &kinds, token);
    Ok(SampleComplexity { paper: predict(Token::Descended), size_biased: predict(Token::Pooled) })
}

/// One of the kinds of branching that occur.
struct Kind {
    arity: usize,
    probability: f64,
    rules: f64,
}

impl Kind {
    fn factor(&self, branching: f64, token: Token) -> f64 {
        let arity = self.arity as f64;
        match token {
            Token::Descended => self.probability.powi(2) / arity,
            Token::Pooled => arity * (self.probability / branching).powi(2),
        }
    }
}

fn predict(depth: usize, vocab: f64, branching: f64, kinds: &[Kind], token: Token) -> Prediction {
    // (signal kept by one level, arity, factor) of the easiest path; `kinds` is never empty.
    let (signal, path_arity, factor) = kinds
        .iter()
        .map(|kind| {
            let factor = kind.factor(branching, token);
            (factor / kind.rules, kind.arity, factor)
        })
        .fold((0.0, 0, 0.0), |best, next| if next.0 > best.0 { next } else { best });
    let scales = (0..depth)
        .flat_map(|level| {
            kinds.iter().map(move |kind| Scale {
                level,
                arity: kind.arity,
                samples: vocab * kind.rules * signal.powi(-(level as i32)),
            })
        })
        .collect();
    Prediction { path_arity, factor, scales }
}
