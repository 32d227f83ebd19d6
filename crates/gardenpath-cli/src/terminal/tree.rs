//! Trees in the terminal: the root on top, the tokens in columns at the bottom.

use gardenpath::{Grammar, Tree};

/// A node with its position on the line of its level.
struct Node {
    label: Vec<char>,
    /// The column of its center.
    middle: usize,
    /// Its children, as indices into the level below.
    children: std::ops::Range<usize>,
}

impl Node {
    fn left(&self) -> usize {
        self.middle.saturating_sub((self.label.len() - 1) / 2)
    }

    fn right(&self) -> usize {
        self.left() + self.label.len()
    }
}

/// Trees up to this width are drawn wider than necessary.
const COMFORTABLE: usize = 100;

/// Draws a tree with lines of box characters, one line of labels per level.
pub fn draw(grammar: &Grammar, tree: &Tree) -> String {
    let token_width = labels(grammar, tree, tree.depth()).iter().map(Vec::len).max().unwrap_or(1);
    // The narrowest columns at which no two labels touch. Even widths look better, since two tokens then have a column
    // between them.
    let narrowest = token_width + 1;
    let even = (narrowest..=COMFORTABLE / tree.sentence().len()).filter(|width| width % 2 == 0);
    let levels = even
        .chain(narrowest..)
        .map(|width| layout(grammar, tree, width))
        .find(|levels| levels.iter().all(|level| level.windows(2).all(|pair| pair[0].right() < pair[1].left())))
        .expect("wide columns keep labels apart");
    let width = levels.iter().flatten().map(Node::right).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (level, nodes) in levels.iter().enumerate() {
        lines.push(label_line(nodes, width));
        if let Some(below) = levels.get(level + 1) {
            lines.push(branch_line(nodes, below, width));
        }
    }
    lines.iter().map(|line| format!("  {}\n", line.iter().collect::<String>().trim_end())).collect()
}

fn labels(grammar: &Grammar, tree: &Tree, level: usize) -> Vec<Vec<char>> {
    tree.level(level).iter().map(|&symbol| grammar.name(level, symbol).chars().collect()).collect()
}

/// Places all nodes: tokens at equal distances, parents centered above their children.
fn layout(grammar: &Grammar, tree: &Tree, column: usize) -> Vec<Vec<Node>> {
    let mut levels: Vec<Vec<Node>> = Vec::new();
    for level in (0..=tree.depth()).rev() {
        let mut nodes: Vec<Node> = labels(grammar, tree, level)
            .into_iter()
            .enumerate()
            .map(|(k, label)| Node { label, middle: k * column + column / 2, children: 0..0 })
            .collect();
        if let Some(below) = levels.last() {
            let mut next = 0;
            for (node, (_, children)) in nodes.iter_mut().zip(tree.rules(level)) {
                node.children = next..next + children.len();
                let half = (below[next].middle + below[next + children.len() - 1].middle) / 2;
                // A parent that is nearly above its middle child is moved exactly above it.
                let middle_child = below[next + children.len() / 2].middle;
                let close = children.len() % 2 == 1 && half.abs_diff(middle_child) <= 2;
                node.middle = if close { middle_child } else { half };
                next = node.children.end;
            }
        }
        levels.push(nodes);
    }
    levels.reverse();
    levels
}

fn label_line(nodes: &[Node], width: usize) -> Vec<char> {
    let mut line = vec![' '; width];
    for node in nodes {
        line[node.left()..node.right()].copy_from_slice(&node.label);
    }
    line
}

/// The line between two levels: `│` above a single child, `┌─┴─┐` above two, `┌─┼─┐` or `┌┬┴─┐` above three.
fn branch_line(nodes: &[Node], below: &[Node], width: usize) -> Vec<char> {
    let mut line = vec![' '; width];
    for node in nodes {
        let children: Vec<usize> = below[node.children.clone()].iter().map(|child| child.middle).collect();
        let [first, between @ .., last] = &children[..] else {
            line[node.middle] = '│';
            continue;
        };
        line[*first..=*last].fill('─');
        line[*first] = '┌';
        line[*last] = '┐';
        between.iter().for_each(|&child| line[child] = '┬');
        line[node.middle] = match line[node.middle] {
            '┬' => '┼',
            _ => '┴',
        };
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::{Ensemble, Seed};

    #[test]
    fn a_golden_tree() {
        let grammar = Ensemble::new(3, 2).fraction(1.0).sample(Seed::new(1)).unwrap();
        let tree = &grammar.trees(&[0, 1, 2, 0, 1, 2, 0], 10).unwrap()[0];
        assert_eq!("\n".to_owned() + &draw(&grammar, tree), GOLDEN);
    }
    const GOLDEN: &str = "
                 A0_0
        ┌─────────┼───────┐
       A1_1      A1_0    A1_1
    ┌───┼───┐   ┌─┴─┐   ┌─┴─┐
    0   1   2   0   1   2   0
";

    #[test]
    fn only_children_and_many() {
        let arities = [(1, 0.4), (2, 0.2), (5, 0.2), (8, 0.2)];
        let grammar = Ensemble::new(3, 2).arities(arities).fraction(1e-4).sample(Seed::new(1)).unwrap();
        let text = "(A0_1 (A1_0 1) (A1_2 2 0 1 0 2 2 1 1))";
        let tree = Tree::from_text(text, &grammar).unwrap();
        assert_eq!("\n".to_owned() + &draw(&grammar, &tree), WIDE);
    }
    const WIDE: &str = "
      A0_1
   ┌───┴────┐
  A1_0     A1_2
   │ ┌─┬─┬─┬┴┬─┬─┬─┐
   1 2 0 1 0 2 2 1 1
";

    #[test]
    fn labels_never_touch() {
        let paper =
            [(3, 1), (3, 3), (200, 2), (30, 4)].map(|(vocab, depth)| Ensemble::new(vocab, depth).fraction(0.01));
        let others =
            [&[(1, 0.5), (2, 0.5)][..], &[(2, 0.5), (4, 0.5)], &[(1, 0.3), (3, 0.3), (8, 0.4)]].map(|arities| {
                Ensemble::new(5, 3)
                    .fraction(1e-4)
                    .arities(arities.iter().copied().collect::<gardenpath::PerArity<f64>>())
            });
        for ensemble in paper.into_iter().chain(others) {
            let (grammar, depth) = (ensemble.sample(Seed::new(1)).unwrap(), ensemble.depth());
            let sampler = gardenpath::Sampler::new(&grammar);
            for i in 0..20 {
                let tree = sampler.tree(Seed::new(2), i);
                let text = draw(&grammar, &tree);
                let lines: Vec<&str> = text.lines().collect();
                assert_eq!(lines.len(), 2 * depth + 1);
                for level in 0..=depth {
                    let expected: Vec<String> =
                        tree.level(level).iter().map(|&symbol| grammar.name(level, symbol).into_owned()).collect();
                    assert_eq!(lines[2 * level].split_whitespace().collect::<Vec<_>>(), expected);
                }
            }
        }
    }
}
