//! The predicted loss of a predictor that knows only the lowest levels, without sampling sentences.

use super::floor::entropy;
use super::laws::{count_law, expected_nodes};
use crate::error::{Counts, Error, Result};
use crate::grammar::Grammar;

/// The loss per token, in nats, that a predictor of the next token has if it knows the lowest `known` layers: its form for many symbols.
///
/// `T_k / N_L` with `T_k = H(K_k) + N_k ln v_k + Σ_{j=k}^{L-1} Σ_z n_j(z) H(rules of z)` and `k = L - known`: the uncertainty about how many
/// symbols of level `k` there are, about each of them, and about every rule below, as if a sentence told all of them. Measured floors lie
/// below it by what is ambiguous.
///
/// ```
/// use gardenpath::{Ensemble, Seed, level_floor_formula};
///
/// let grammar = Ensemble::new(16, 2).fraction(0.25).sample(Seed::new(1))?;
/// let losses = (0..=2).map(|known| level_floor_formula(&grammar, known)).collect::<Result<Vec<f64>, _>>()?;
/// assert!((losses[2] - 2.378).abs() < 0.07, "measured: 2.378");
/// assert!(losses[0] > losses[1] && losses[1] > losses[2], "knowledge helps");
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn level_floor_formula(grammar: &Grammar, known: usize) -> Result<f64> {
    let depth = grammar.depth();
    let Some(top) = depth.checked_sub(known) else {
        return Err(Error::count("number of known levels", known, Counts::Between(0, depth)));
    };
    let number = |level: usize| expected_nodes(grammar, level).iter().sum::<f64>();
    let symbols = number(top) * (grammar.sizes()[top] as f64).ln();
    let rules: f64 = (top..depth).map(|level| rule_entropy(grammar, level)).sum();
    Ok((entropy(&count_law(grammar, top)) + symbols + rules) / number(depth))
}

/// The expected uncertainty about the rules that the nodes of a level use in a sentence.
fn rule_entropy(grammar: &Grammar, level: usize) -> f64 {
    let nodes = expected_nodes(grammar, level);
    let terms = grammar.layer(level).rules().iter().map(|rule| (nodes[usize::from(rule.parent)], rule.probability));
    terms.map(|(nodes, p)| -nodes * p * p.ln()).sum()
}
