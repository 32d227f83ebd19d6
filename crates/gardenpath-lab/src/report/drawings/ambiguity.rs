//! A grammar small enough to be read, and a sentence of it with two trees of different classes.

use super::sketch::{FAINT, INK, OTHER, TRUE};
use crate::draw::table::short;
use crate::experiment::plan::Origin;
use crate::report::{Finding, Page, Picture};
use anyhow::{Context, Result};
use gardenpath::{Chart, Count, Ensemble, Grammar, Inside, Rule, RuleCount, Sampler, Seed, Tree};
use gardenpath_plot::{Anchor, Drawing, Figure, Stroke};
use std::collections::HashSet;

pub(in crate::report) const AMBIGUITY: Picture = Picture {
    name: "ambiguity",
    title: "A sentence with two trees",
    paper: "In an example grammar with three symbols per level, one binary and two ternary rules each, a sentence of \
            five tokens has a second tree beside the one that made it, with another class, because rules overlap.",
    draw,
};

/// The length of the sentence: the shortest that two topologies share.
const LENGTH: usize = 5;

/// A sentence with the tree that made it, and its only other tree.
struct Example {
    grammar: Grammar,
    tree: Tree,
    other: Tree,
}

fn draw() -> Result<Page> {
    let example = find()?;
    let Example { grammar, tree, other } = &example;
    let classes = [tree, other].map(|tree| grammar.name(0, tree.root()));
    let captions = [format!("true tree, class {}", classes[0]), format!("other tree, class {}", classes[1])];
    let [first, second] = captions;
    let trees = crate::draw::tree::draw(grammar, &[(tree, first), (other, second)]);
    let sentence = example.sentence();
    let trees = trees.titled(format!("Two trees of “{sentence}”"));
    let figure = Figure { panel_height: Some(140.0), ..Figure::grid(2, vec![example.rules().into(), trees.into()]) };
    Ok(Page {
        figure,
        caption: format!(
            "(a) All rules of a small random grammar; underlined are those that the trees on the right use. (b) The \
             sentence “{sentence}” was made by the blue tree, but the other rules read it as class {} too.",
            classes[1]
        ),
        findings: example.findings()?,
    })
}

/// The first sentence of the length with exactly two trees of different classes, in the first grammar that has one.
fn find() -> Result<Example> {
    let ensemble = Ensemble::new(3, 2).rules(2, RuleCount::Number(1)).rules(3, RuleCount::Number(2));
    let names = ["ABC", "abc", "def"].map(|level| level.chars().map(String::from).collect());
    for seed in 1..100 {
        let grammar = ensemble.sample(Seed::new(seed))?.with_names(names.to_vec())?;
        let sampler = Sampler::new(&grammar);
        for number in 0..100 {
            let tree = sampler.tree(Seed::new(1), number);
            // All three tokens occur, so that the trees are easy to tell apart.
            let tokens: HashSet<_> = tree.sentence().iter().collect();
            if tree.sentence().len() != LENGTH || tokens.len() < 3 {
                continue;
            }
            let trees = grammar.trees(tree.sentence(), 3)?;
            let other = trees.iter().find(|other| other.root() != tree.root()).cloned();
            if let (2, Some(other)) = (trees.len(), other) {
                return Ok(Example { grammar, tree, other });
            }
        }
    }
    None.context("no grammar has a sentence with two trees of different classes")
}

impl Example {
    fn sentence(&self) -> String {
        let names: Vec<_> = self.tree.sentence().iter().map(|&token| self.grammar.name(2, token)).collect();
        names.join(" ")
    }

    fn findings(&self) -> Result<Vec<Finding>> {
        let Example { grammar, tree, other } = self;
        let counts = Chart::<Count>::parse(grammar, tree.sentence())?.roots();
        let total: usize = counts.iter().map(|count| count.to_string().parse::<usize>()).sum::<Result<_, _>>()?;
        let posterior = Inside::new(grammar).posterior(tree.sentence())?;
        let shares = [tree, other].map(|tree| posterior.probability(tree.root()));
        let [class, second] = [tree, other].map(|tree| grammar.name(0, tree.root()));
        let rules = || (0..2).flat_map(|level| grammar.layer(level).rules().iter().map(move |rule| (level, rule)));
        let different = rules().map(|(level, rule)| (level, rule.children)).collect::<HashSet<_>>().len();
        let rules = rules().count();
        Ok(vec![
            Finding::check(
                Origin::Identity,
                "A sentence can have a second tree with another class",
                format!("{total} trees for {}, of the classes {class} and {second}", self.sentence()),
                total == 2 && class != second,
            ),
            Finding::check(
                Origin::Identity,
                "Both trees have three nodes, so nothing in the sentence says which one is true",
                format!("posterior {} of {class} and {} of {second}", short(shares[0]), short(shares[1])),
                shares.iter().all(|share| (share - 0.5).abs() < 1e-12),
            ),
            Finding::check(
                Origin::PaperFormula,
                "Within a level, no two rules have the same right-hand side: trees differ by where rules are applied",
                format!("{rules} rules in two levels, {different} right-hand sides"),
                rules == different && rules == 2 * 3 * (1 + 2),
            ),
        ])
    }

    /// All rules; those of a tree are underlined in its colour.
    fn rules(&self) -> Drawing {
        let mut sketch = Drawing::new(300.0, 165.0);
        let uses =
            |tree: &Tree, level: usize, rule: &Rule| tree.rules(level).any(|used| used == (rule.parent, rule.children));
        for (level, title) in [(0, "classes"), (1, "hidden symbols")] {
            let top = 14.0 + 84.0 * level as f64;
            sketch.text((6.0, top), 11.5, Anchor::Start, FAINT, title);
            for (k, rule) in self.grammar.layer(level).rules().iter().enumerate() {
                let (row, column) = (k / 3, k % 3);
                let baseline = top + 18.0 + 20.0 * row as f64;
                let left = [50.0, 115.0, 205.0][column];
                if column == 0 {
                    let parent = format!("{} →", self.grammar.name(level, rule.parent));
                    sketch.text((6.0, baseline), 14.0, Anchor::Start, INK, &parent);
                } else {
                    sketch.text((left - 18.0, baseline), 14.0, Anchor::Middle, FAINT, "|");
                }
                let trees = [(&self.tree, TRUE), (&self.other, OTHER)];
                let colours = trees.iter().filter(|(tree, _)| uses(tree, level, rule)).map(|&(_, colour)| colour);
                let colours: Vec<&str> = colours.collect();
                let ink = if colours.is_empty() { FAINT } else { INK };
                for (place, child) in rule.children.iter().enumerate() {
                    let spot = (left + 20.0 * place as f64, baseline);
                    sketch.text(spot, 14.0, Anchor::Middle, ink, &self.grammar.name(level + 1, child));
                }
                let right = left + 20.0 * (rule.children.len() - 1) as f64;
                for (depth, colour) in colours.into_iter().enumerate() {
                    let y = baseline + 4.5 + 3.0 * depth as f64;
                    sketch.line((left - 5.0, y), (right + 5.0, y), Stroke::solid(colour, 1.8));
                }
            }
        }
        sketch.titled("Rules")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_trees_are_derivations_of_the_sentence() {
        let Example { grammar, tree, other } = find().unwrap();
        assert_eq!(tree.sentence(), other.sentence());
        assert_eq!(tree.sentence().len(), LENGTH);
        assert_ne!(tree.root(), other.root());
        let probability = |tree: &Tree| tree.log_probability(&grammar).unwrap();
        assert!((probability(&tree) - probability(&other)).abs() < 1e-12);
        // One binary rule with 1/2 or two ternary ones with 1/4 each; two of the three nodes are binary.
        assert!((probability(&tree) - (1.0f64 / 16.0).ln()).abs() < 1e-12);
    }

    #[test]
    fn every_rule_of_a_tree_is_underlined_once() {
        let example = find().unwrap();
        let svg = example.rules().svg();
        let rules = |tree: &Tree| (0..2).flat_map(|l| tree.rules(l).map(move |r| (l, r))).collect::<HashSet<_>>().len();
        assert_eq!(svg.matches(&format!("stroke=\"{TRUE}\"")).count(), rules(&example.tree));
        assert_eq!(svg.matches(&format!("stroke=\"{OTHER}\"")).count(), rules(&example.other));
    }
}
