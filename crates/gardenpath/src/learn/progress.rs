//! Progress reports of learners.

use std::fmt;

/// A step of a learner. `Display` writes one line for people.
///
/// ```
/// use gardenpath::learn::Progress;
///
/// let step = Progress::Climbed { start: 1, step: 7, log_likelihood: -12.25 };
/// assert_eq!(step.to_string(), "start 1, step 7, likelihood -12.2500");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Progress {
    /// Sentences were cut into blocks, once more, to find which tuples of a level are rules.
    Segmented {
        /// The level of the children.
        level: usize,
        /// The number of the step, from 1.
        step: usize,
        /// The log-likelihood per token.
        per_token: f64,
    },
    /// The rules were given parents by their labels or, without any, by the symbols next to them.
    Clustered {
        /// The level of the children.
        level: usize,
        /// The number of rules.
        rules: usize,
    },
    /// The rules were given parents by what stands around them.
    Refined {
        /// The level of the children.
        level: usize,
        /// The number of the pass, from 1.
        pass: usize,
        /// The number of rules with a new parent.
        moved: usize,
        /// The log-likelihood of labels and neighbours.
        likelihood: f64,
    },
    /// The rules of the classes were estimated once more.
    Rooted {
        /// The number of the step, from 1.
        step: usize,
        /// The sum of the changes of all probabilities.
        change: f64,
    },
    /// Rules whose parent is not certain are decided by the whole grammar.
    Repairing {
        /// The number of such rules.
        rules: usize,
        /// The number of the round, from 1.
        round: usize,
    },
    /// The probabilities of all rules are estimated.
    Estimating,
    /// The grammar is tested.
    Testing,
    /// One step up the likelihood.
    Climbed {
        /// The number of the random start, from 1.
        start: usize,
        /// The number of the step, from 1.
        step: usize,
        /// The mean log-likelihood of a sentence given its label, before the step.
        log_likelihood: f64,
    },
    /// The rules of a layer were inferred from covariances.
    Inferred {
        /// The level of the parents.
        level: usize,
        /// The number of rules.
        rules: usize,
    },
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Progress::Segmented { level, step, per_token } => {
                write!(f, "level {level}: segmentation step {step}, {per_token:.5} nats per token")
            }
            Progress::Clustered { level, rules } => write!(f, "level {level}: {rules} rules, clustered"),
            Progress::Refined { level, pass, moved, likelihood } => {
                write!(f, "level {level}: context pass {pass}, {moved} tuples moved, likelihood {likelihood:.1}")
            }
            Progress::Rooted { step, change } => write!(f, "level 1: root step {step}, change {change:.5}"),
            Progress::Repairing { rules, round } => write!(f, "deciding {rules} doubtful rules, round {round}"),
            Progress::Estimating => f.write_str("estimating the probabilities of all rules"),
            Progress::Testing => f.write_str("testing the grammar"),
            Progress::Climbed { start, step, log_likelihood } => {
                write!(f, "start {start}, step {step}, likelihood {log_likelihood:.4}")
            }
            Progress::Inferred { level, rules } => write!(f, "level {level}: {rules} rules"),
        }
    }
}
