//! True and spurious candidates: which symbols of a chart belong to the derivation of the sentence.

use super::Chart;
use crate::semiring::Semiring;
use crate::span::Node;
use crate::tree::Tree;
use std::collections::HashSet;

/// The candidate symbols of one level of a chart, split by whether the true derivation uses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Candidates on the derivation tree.
    pub genuine: Vec<Node>,
    /// Candidates that are not on it.
    pub spurious: Vec<Node>,
}

impl<S: Semiring> Chart<S> {
    /// Splits the candidates of every level, from the root to the tokens, given a derivation tree of the sentence.
    ///
    /// ```
    /// use gardenpath::{Chart, Ensemble, Recognition, Sampler, Seed};
    ///
    /// let grammar = Ensemble::new(8, 3).fraction(0.5).sample(Seed::new(1))?;
    /// let tree = Sampler::new(&grammar).tree(Seed::new(2), 0);
    /// let chart = Chart::<Recognition>::parse(&grammar, tree.sentence())?;
    /// let levels = chart.candidates(&tree);
    /// assert_eq!(levels[2].genuine.len(), tree.level(2).len());
    /// assert!(levels[3].spurious.is_empty(), "tokens are never spurious");
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn candidates(&self, tree: &Tree) -> Vec<Candidates> {
        (0..=self.depth())
            .map(|level| {
                let genuine: HashSet<_> = tree.nodes(level).into_iter().collect();
                let all = self
                    .cells(level)
                    .flat_map(|cell| cell.values.iter().map(move |&(symbol, _)| Node { span: cell.span, symbol }));
                let (genuine, spurious) = all.partition(|candidate| genuine.contains(candidate));
                Candidates { genuine, spurious }
            })
            .collect()
    }
}
