//! Posteriors of tokens and hidden symbols, given evidence about the whole sentence.

use crate::chart::{Evidence, Parser};
use crate::error::Result;
use crate::grammar::Grammar;
use crate::magnitude::Magnitude;

/// The posteriors of tokens and hidden symbols, given evidence about the whole sentence.
///
/// ```
/// use gardenpath::{Ensemble, Evidence, Seed, SymbolPosteriors};
///
/// let grammar = Ensemble::new(4, 2).fraction(0.5).sample(Seed::new(1))?;
/// let mut evidence = Evidence::masked(4, 6);
/// let posteriors = SymbolPosteriors::new(&grammar, &evidence)?.expect("some sentences have six tokens");
/// // Levels from the root to the tokens; each row is a distribution over the symbols of the level.
/// assert_eq!(posteriors.levels().len(), 3);
/// assert!((posteriors.row(2, 5).iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SymbolPosteriors {
    sizes: Vec<usize>,
    /// `[level][position][symbol]`: of the ancestor at the level of each token; on the lowest level, of the token itself.
    levels: Vec<Vec<f64>>,
    log_evidence: f64,
}

impl SymbolPosteriors {
    /// Inside and outside over the whole sentence; `None` if the evidence is impossible.
    pub fn new(grammar: &Grammar, evidence: &Evidence) -> Result<Option<Self>> {
        Self::with_parser(&Parser::new(grammar), evidence)
    }

    /// The same with a parser that was made before: faster for many sentences.
    pub fn with_parser(parser: &Parser<Magnitude>, evidence: &Evidence) -> Result<Option<Self>> {
        let grammar = parser.grammar();
        let chart = parser.parse_evidence(evidence)?;
        let Some(marginals) = parser.marginals(&chart)? else { return Ok(None) };
        let mut total = Magnitude::ZERO;
        for (root, value) in chart.root_entries() {
            total += *value * Magnitude::new(grammar.prior()[usize::from(*root)]);
        }
        let sizes = grammar.sizes().to_vec();
        let mut levels: Vec<Vec<f64>> = sizes.iter().map(|size| vec![0.0; evidence.len() * size]).collect();
        for ((nodes, level), size) in marginals.nodes.iter().zip(&mut levels).zip(&sizes) {
            for (node, p) in nodes {
                for position in node.span.range() {
                    level[position * size + usize::from(node.symbol)] += p;
                }
            }
        }
        Ok(Some(SymbolPosteriors { sizes, levels, log_evidence: total.ln() }))
    }

    /// All posteriors, `[level][position][symbol]`, from the root to the tokens.
    pub fn levels(&self) -> &[Vec<f64>] {
        &self.levels
    }

    /// The posterior of the ancestor of a token at a level; on the lowest level, of the token itself.
    ///
    /// # Panics
    /// If there is no such level or position.
    pub fn row(&self, level: usize, position: usize) -> &[f64] {
        &self.levels[level][position * self.sizes[level]..][..self.sizes[level]]
    }

    /// The logarithm of the probability of the evidence.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }
}
