//! Trees of the same topology with other symbols: synonyms exchanged, or all symbols resampled.
//!
//! Rules are drawn with the probabilities of the grammar, given that the nodes below keep their numbers of children. A symbol
//! may be unable to do that (it has only pairs, or none of its triples can go on), so the probability of the topology below each
//! node is found first, from the tokens up, for every symbol that the node could have.

use super::Tree;
use crate::grammar::{Children, Grammar, Layer, Rule, Symbol};
use crate::seed::Stream;

/// `[level][node][symbol]`: the probability that a symbol grows the topology below a node, relative to the likeliest one.
type Possible = Vec<Vec<Vec<f64>>>;

impl Tree {
    /// The tree with the rule of every node of a level replaced by a synonym: another rule of the same symbol with as many
    /// children. A node without a synonym keeps its rule.
    ///
    /// The topology and all symbols down to `level` stay, everything below the new rules is drawn anew. `None` if this is not a
    /// tree of the grammar.
    ///
    /// ```
    /// use gardenpath::{Ensemble, Sampler, Seed};
    ///
    /// let grammar = Ensemble::new(8, 3).sample(Seed::new(1))?;
    /// let tree = Sampler::new(&grammar).tree(Seed::new(2), 0);
    /// let other = tree.exchange_synonyms(&grammar, 1, &mut Seed::new(3).stream(0)).unwrap();
    /// assert_eq!(other.nodes(1), tree.nodes(1));
    /// assert!(other.rules(1).zip(tree.rules(1)).all(|(new, old)| new != old));
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the tree has no rules at `level`.
    pub fn exchange_synonyms(&self, grammar: &Grammar, level: usize, stream: &mut Stream) -> Option<Tree> {
        self.log_probability(grammar)?;
        let possible = self.possible(grammar);
        let kept: Vec<Children> = self.rules(level).map(|(_, children)| children).collect();
        let mut levels = self.levels[..=level].to_vec();
        for below in level..self.depth() {
            let old = if below == level { kept.as_slice() } else { &[] };
            levels.push(self.grow(grammar.layer(below), below, &levels[below], &possible, old, stream)?);
        }
        Some(Tree::new(levels, self.arities.clone()))
    }

    /// A tree of the same topology whose symbols are all drawn anew, from the root on. `None` if this is not a tree of the
    /// grammar.
    pub fn redraw(&self, grammar: &Grammar, stream: &mut Stream) -> Option<Tree> {
        self.log_probability(grammar)?;
        let possible = self.possible(grammar);
        let weights: Vec<f64> = grammar.prior().iter().zip(&possible[0][0]).map(|(p, q)| p * q).collect();
        let mut levels = vec![vec![draw(&weights, stream)? as Symbol]];
        for level in 0..self.depth() {
            levels.push(self.grow(grammar.layer(level), level, &levels[level], &possible, &[], stream)?);
        }
        Some(Tree::new(levels, self.arities.clone()))
    }

    /// The symbols below those of a level, by rules that are drawn among those which are possible. The rules `old`, if there are
    /// any, are only used where there is no other.
    fn grow(
        &self,
        layer: &Layer,
        level: usize,
        symbols: &[Symbol],
        possible: &Possible,
        old: &[Children],
        stream: &mut Stream,
    ) -> Option<Vec<Symbol>> {
        let mut children = possible[level + 1].as_slice();
        let mut below = Vec::with_capacity(children.len());
        for (node, (&parent, &arity)) in symbols.iter().zip(&self.arities[level]).enumerate() {
            let (own, rest) = children.split_at(usize::from(arity));
            children = rest;
            let old = old.get(node).copied();
            let rules = &layer.rules()[layer.rules_of(parent)];
            let weight = |rule: &Rule| if Some(rule.children) == old { 0.0 } else { weight(rule, own) };
            let weights: Vec<f64> = rules.iter().map(weight).collect();
            let drawn = draw(&weights, stream).map(|rule| rules[rule].children).or(old)?;
            below.extend(drawn.iter());
        }
        Some(below)
    }

    fn possible(&self, grammar: &Grammar) -> Possible {
        let tokens = vec![vec![1.0; grammar.vocab()]; self.sentence().len()];
        let mut possible = vec![tokens];
        for (layer, arities) in grammar.layers().iter().zip(&self.arities).rev() {
            let mut children = possible[possible.len() - 1].as_slice();
            let of_node = |&arity: &u8| {
                let (own, rest) = children.split_at(usize::from(arity));
                children = rest;
                let mut symbols = vec![0.0; layer.parents()];
                layer.rules().iter().for_each(|rule| symbols[usize::from(rule.parent)] += weight(rule, own));
                // Only ratios matter; the numbers themselves would vanish in large trees.
                let largest = symbols.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                symbols.iter_mut().for_each(|value| *value /= largest);
                symbols
            };
            let level = arities.iter().map(of_node).collect();
            possible.push(level);
        }
        possible.reverse();
        possible
    }
}

/// The probability of a rule and of the topology below its children, of which there must be as many as nodes.
fn weight(rule: &Rule, nodes: &[Vec<f64>]) -> f64 {
    if rule.children.len() != nodes.len() {
        return 0.0;
    }
    let children = rule.children.iter().zip(nodes);
    children.fold(rule.probability, |product, (child, node)| product * node[usize::from(child)])
}

/// Draws a number with a probability proportional to its weight; `None` if there is no weight. Takes one word of the stream.
fn draw(weights: &[f64], stream: &mut Stream) -> Option<usize> {
    let mut rest = stream.unit() * weights.iter().sum::<f64>();
    let chosen = weights.iter().position(|weight| {
        rest -= weight;
        rest < 0.0
    });
    // Rounding may leave a little at the end.
    chosen.or_else(|| weights.iter().rposition(|&weight| weight > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ensemble, RuleCount, Sampler, Seed};
    use std::collections::HashMap;

    fn arities(tree: &Tree) -> &[Vec<u8>] {
        &tree.arities
    }

    #[test]
    fn exchanges_keep_what_is_above_and_change_every_rule() {
        for (vocab, depth, zipf) in [(8, 2, 0.0), (5, 3, 1.0), (4, 4, 0.5)] {
            let ensemble = Ensemble::new(vocab, depth).rules(2, RuleCount::Number(2)).rules(3, RuleCount::Number(3));
            let grammar = ensemble.zipf(zipf).sample(Seed::new(1)).unwrap();
            let sampler = Sampler::new(&grammar);
            for i in 0..100 {
                let tree = sampler.tree(Seed::new(2), i);
                for level in 0..depth {
                    let other = tree.exchange_synonyms(&grammar, level, &mut Seed::new(3).stream(i)).unwrap();
                    assert!(other.log_probability(&grammar).is_some());
                    assert_eq!(arities(&other), arities(&tree));
                    assert!((0..=level).all(|above| other.nodes(above) == tree.nodes(above)));
                    assert!(other.rules(level).zip(tree.rules(level)).all(|(new, old)| new.0 == old.0 && new != old));
                }
                let other = tree.redraw(&grammar, &mut Seed::new(4).stream(i)).unwrap();
                assert!(other.log_probability(&grammar).is_some());
                assert_eq!(arities(&other), arities(&tree));
            }
        }
    }

    #[test]
    fn without_synonyms_nothing_changes() {
        let ensemble = Ensemble::new(6, 3).rules(2, RuleCount::Number(1)).rules(3, RuleCount::Number(1));
        let grammar = ensemble.sample(Seed::new(1)).unwrap();
        let sampler = Sampler::new(&grammar);
        for i in 0..50 {
            let tree = sampler.tree(Seed::new(2), i);
            let exchanged = (0..3).map(|level| tree.exchange_synonyms(&grammar, level, &mut Seed::new(3).stream(i)));
            assert!(exchanged.into_iter().all(|other| other.as_ref() == Some(&tree)));
        }
    }

    /// The frequencies of whole trees are those of the grammar given the topology, also where a symbol cannot go on: here
    /// only A1_0 has a triple, and only A0_1 has three children.
    #[test]
    fn redrawn_trees_have_the_probabilities_of_the_grammar() {
        let grammar = Grammar::from_text(
            "S -> A0_0 [0.4] | A0_1 [0.6]\n\
             A0_0 -> A1_0 A1_1 [0.3] | A1_1 A1_1 [0.7]\nA0_1 -> A1_1 A1_0 [0.9] | A1_0 A1_1 A1_1 [0.1]\n\
             A1_0 -> '0' '1' [0.2] | '1' '1' '1' [0.8]\nA1_1 -> '1' '0' [0.5] | '0' '0' [0.25] | '1' '1' [0.25]\n",
        )
        .unwrap();
        // By hand: the pairs of A1_1; then 1 * 3 and 3 * 3 ways below A0_0, 3 * 1 below A0_1.
        for (text, trees) in [("(A0_0 (A1_0 1 1 1) (A1_1 1 0))", 3), ("(A0_0 (A1_1 1 0) (A1_1 1 0))", 15)] {
            let tree = Tree::from_text(text, &grammar).unwrap();
            let mut found = HashMap::<Tree, f64>::new();
            let count = 100_000;
            for i in 0..count {
                *found.entry(tree.redraw(&grammar, &mut Seed::new(5).stream(i)).unwrap()).or_default() += 1.0;
            }
            let probability =
                |tree: &Tree| grammar.prior()[usize::from(tree.root())] * tree.log_probability(&grammar).unwrap().exp();
            let total: f64 = found.keys().map(probability).sum();
            assert_eq!(found.len(), trees);
            for (tree, number) in &found {
                let (found, expected) = (number / count as f64, probability(tree) / total);
                assert!((found - expected).abs() < 0.006, "{}: {found}, not {expected}", tree.to_text(&grammar));
            }
        }
    }

    #[test]
    fn trees_of_other_grammars_are_refused() {
        let [own, other] = [1, 2].map(|seed| Ensemble::new(8, 2).fraction(0.1).sample(Seed::new(seed)).unwrap());
        let tree = Sampler::new(&own).tree(Seed::new(1), 0);
        assert_eq!(tree.exchange_synonyms(&other, 0, &mut Seed::new(1).stream(0)), None);
        assert_eq!(tree.redraw(&other, &mut Seed::new(1).stream(0)), None);
    }
}
