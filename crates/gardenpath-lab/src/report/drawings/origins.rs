//! What the spurious symbols of a chart are built from.

use gardenpath::{Candidates, Grammar, Node, Span, Symbol};
use std::collections::HashMap;

/// The symbols of the level below that the derivations of a spurious symbol use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ancestry {
    /// Only symbols of the true tree.
    True,
    /// Only spurious symbols.
    Spurious,
    /// Both.
    Mixed,
}

/// The origin of each spurious symbol of a level, given the candidates of all levels.
pub(super) fn origins(grammar: &Grammar, levels: &[Candidates], level: usize) -> HashMap<Node, Ancestry> {
    let Candidates { genuine, spurious } = &levels[level + 1];
    let (genuine, spurious) = (genuine.iter().map(|&node| (node, true)), spurious.iter().map(|&node| (node, false)));
    let below: HashMap<Node, bool> = genuine.chain(spurious).collect();
    let layer = grammar.layer(level);
    let origin = |node: &Node| {
        let rules = layer.rules_of(node.symbol).map(|rule| layer.rules()[rule].children);
        let used = rules.flat_map(|children| derivations(&below, children.as_slice(), node.span)).flatten();
        let used: Vec<bool> = used.collect();
        let origin = match (used.contains(&true), used.contains(&false)) {
            (true, true) => Ancestry::Mixed,
            (true, false) => Ancestry::True,
            _ => Ancestry::Spurious,
        };
        (*node, origin)
    };
    levels[level].spurious.iter().map(origin).collect()
}

/// All ways to tile a span with candidates for these symbols, as flags that say which candidates are true.
fn derivations(below: &HashMap<Node, bool>, symbols: &[Symbol], span: Span) -> Vec<Vec<bool>> {
    let Some((&first, rest)) = symbols.split_first() else {
        return if span.len == 0 { vec![Vec::new()] } else { Vec::new() };
    };
    let ways = (1..=span.len).filter_map(|len| {
        let node = Node { span: Span::new(span.start, len), symbol: first };
        Some((len, *below.get(&node)?))
    });
    ways.flat_map(|(len, truth)| {
        let others = derivations(below, rest, Span::new(span.start + len, span.len - len));
        others.into_iter().map(move |others| [vec![truth], others].concat())
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::{Chart, Ensemble, Recognition, Sampler, Seed};

    fn node(start: usize, len: usize, symbol: Symbol) -> Node {
        Node { span: Span::new(start, len), symbol }
    }

    #[test]
    fn a_candidate_is_what_some_rule_derives() {
        let grammar = Ensemble::new(8, 3).fraction(0.25).sample(Seed::new(3)).unwrap();
        let (shape, sampler) = (grammar.shape(), Sampler::new(&grammar));
        for number in 0..5 {
            let tree = sampler.tree(Seed::new(1), number);
            let len = tree.sentence().len();
            let levels = Chart::<Recognition>::parse(&grammar, tree.sentence()).unwrap().candidates(&tree);
            let all = |level: usize| {
                let Candidates { genuine, spurious } = &levels[level];
                genuine.iter().chain(spurious).map(|&node| (node, true)).collect::<HashMap<Node, bool>>()
            };
            for level in 0..3 {
                let (here, below, layer) = (all(level), all(level + 1), grammar.layer(level));
                for start in 0..len {
                    for length in shape.spans(level).filter(|&length| shape.reachable(level, len, start, length)) {
                        let span = Span::new(start, length);
                        for symbol in 0..8 {
                            let mut rules = layer.rules_of(symbol).map(|rule| layer.rules()[rule].children);
                            let derived = rules.any(|own| !derivations(&below, own.as_slice(), span).is_empty());
                            assert_eq!(derived, here.contains_key(&Node { span, symbol }), "{level} {span:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn ways_to_lay_symbols_on_a_span() {
        let below = [(0, 2, 1, true), (2, 3, 5, false), (0, 3, 1, false), (3, 2, 5, true)];
        let below = below.map(|(start, len, symbol, truth)| (node(start, len, symbol), truth)).into();
        let mut ways = derivations(&below, &[1, 5], Span::new(0, 5));
        ways.sort();
        assert_eq!(ways, [[false, true], [true, false]]);
        assert!(derivations(&below, &[1, 5], Span::new(0, 6)).is_empty());
    }

    #[test]
    fn origins_of_a_grammar_with_two_tokens() {
        // Every pair has a parent; of the five tokens, only the pair (0, 1) occurs.
        let grammar = Ensemble::new(2, 2).fraction(1.0).sample(Seed::new(1)).unwrap();
        let levels = |truth: &[Node], other: &[Node]| {
            let tokens = (0..5).map(|start| node(start, 1, 0)).collect();
            let middle = Candidates { genuine: truth.to_vec(), spurious: other.to_vec() };
            let root = Candidates { genuine: Vec::new(), spurious: (0..2).map(|symbol| node(0, 5, symbol)).collect() };
            vec![root, middle, Candidates { genuine: tokens, spurious: Vec::new() }]
        };
        let of_pair = |truth: &[Node], other: &[Node]| {
            let rule = grammar.layer(0).rules_with(gardenpath::Children::from([0, 1])).next().unwrap();
            let parent = grammar.layer(0).rules()[rule].parent;
            origins(&grammar, &levels(truth, other), 0)[&node(0, 5, parent)]
        };
        let (left, right) = (node(0, 2, 0), node(2, 3, 1));
        assert_eq!(of_pair(&[left, right], &[]), Ancestry::True);
        assert_eq!(of_pair(&[], &[left, right]), Ancestry::Spurious);
        assert_eq!(of_pair(&[left], &[right]), Ancestry::Mixed);
    }
}
