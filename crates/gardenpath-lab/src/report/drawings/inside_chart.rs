//! The chart of a parser: the true tree, and spurious candidates.

use super::origins::{Ancestry, origins};
use crate::experiment::plan::Origin;
use crate::report::{Finding, Page, Picture};
use anyhow::{Context, Result};
use gardenpath::{Candidates, Chart, Ensemble, Grammar, Recognition, Sampler, Seed, Span, Symbol, Tree};
use gardenpath_plot::{Cell, Figure, Fill, Grid};
use std::collections::{BTreeMap, HashMap};

pub(in crate::report) const INSIDE_CHART: Picture = Picture {
    name: "sketch_inside",
    title: "True and spurious symbols in the chart of a parser",
    paper: "On its way up from the tokens, a parser finds spurious symbols besides those of the true tree, built \
            from true symbols, from spurious ones, or from both. A sentence is ambiguous if they reach the root.",
    draw,
};

const VOCABULARY: usize = 8;
const DEPTH: usize = 3;
const FRACTION: f64 = 0.25;
/// The length of the sentence shown: the typical length.
const LENGTH: usize = 15;
/// The number of sentences to average over.
const SENTENCES: u64 = 1000;

/// A sentence with the candidates of each level.
struct Example<'g> {
    grammar: &'g Grammar,
    tree: Tree,
    levels: Vec<Candidates>,
}

fn draw() -> Result<Page> {
    let grammar = Ensemble::new(VOCABULARY, DEPTH).fraction(FRACTION).sample(Seed::new(1))?;
    let example = Example::find(&grammar)?;
    let findings = vec![
        example.true_ones(),
        example.spurious_ones(),
        example.origins_of_spurious_ones(),
        spurious_ones_of_many_sentences(&grammar)?,
    ];
    Ok(Page {
        figure: Figure { width: Some(430.0), panel_height: Some(270.0), ..Figure::of(example.grid()) },
        caption: format!(
            "The symbols that a parser finds for the spans of a sentence of {LENGTH} tokens (v = {VOCABULARY}, L = \
             {DEPTH}, f = 1/4), from the tokens at the bottom to the class at the top. Dark cells belong to the tree that \
             generated the sentence; light ones are spurious, and the small letter says what they are built from. None of them \
             reaches the top. The sentence was chosen because it shows all three kinds."
        ),
        findings,
    })
}

impl<'g> Example<'g> {
    fn new(grammar: &'g Grammar, tree: Tree) -> Result<Self> {
        let levels = Chart::<Recognition>::parse(grammar, tree.sentence())?.candidates(&tree);
        Ok(Example { grammar, tree, levels })
    }

    /// The first sentence of this length with spurious symbols of all three origins, none of which is a class.
    fn find(grammar: &'g Grammar) -> Result<Self> {
        let sampler = Sampler::new(grammar);
        for number in 0..10_000 {
            let tree = sampler.tree(Seed::new(1), number);
            if tree.sentence().len() == LENGTH {
                let example = Example::new(grammar, tree)?;
                let origins = origins(grammar, &example.levels, 1);
                let has = |origin: Ancestry| origins.values().any(|found| *found == origin);
                let all = [Ancestry::True, Ancestry::Spurious, Ancestry::Mixed].into_iter().all(has);
                if all && example.levels[0].spurious.is_empty() {
                    return Ok(example);
                }
            }
        }
        None.context("no sentence has spurious symbols of all origins")
    }

    /// The cells that some tree of this length can have, from the class at the top to the tokens.
    fn grid(&self) -> Grid {
        let shape = self.grammar.shape();
        let (mut rows, mut cells) = (Vec::new(), Vec::new());
        for (level, name) in ["class", "level 1", "level 2", "tokens"].into_iter().enumerate() {
            if level > 0 {
                rows.push(String::new());
            }
            let texts = self.texts(level);
            let used = |span: &usize| (0..LENGTH).any(|start| shape.reachable(level, LENGTH, start, *span));
            for (k, span) in shape.spans(level).rev().filter(used).enumerate() {
                for column in (0..LENGTH).filter(|&start| shape.reachable(level, LENGTH, start, span)) {
                    let text = texts.get(&Span::new(column, span)).cloned();
                    let (fill, text) = text.unwrap_or((Fill::Blank, String::new()));
                    cells.push(Cell { row: rows.len(), column, fill, text });
                }
                rows.push(if k == 0 { format!("{name}: {span}") } else { span.to_string() });
            }
        }
        let key = [
            (Fill::True, "true tree"),
            (Fill::Spurious, "spurious: built from true (t), spurious (s) or both (m)"),
            (Fill::Blank, "empty"),
        ];
        Grid {
            rows,
            columns: (1..=LENGTH).map(|position| position.to_string()).collect(),
            row_label: "length of the span".into(),
            column_label: "first token of the span".into(),
            cells,
            key: key.map(|(fill, meaning)| (fill, meaning.to_owned())).to_vec(),
            ..Grid::default()
        }
    }

    /// The contents of the cells of a level, by start and span: the true symbol first.
    fn texts(&self, level: usize) -> BTreeMap<Span, (Fill, String)> {
        let first = if level == DEPTH { b'a' } else { b'A' };
        let name = |symbol: Symbol| format!("*{}*", char::from(first + symbol));
        let mut texts: BTreeMap<Span, (Fill, String)> = BTreeMap::new();
        for node in &self.levels[level].genuine {
            texts.insert(node.span, (Fill::True, name(node.symbol)));
        }
        let origins = if level < DEPTH { origins(self.grammar, &self.levels, level) } else { HashMap::new() };
        for node in &self.levels[level].spurious {
            let letter = match origins[node] {
                Ancestry::True => "t",
                Ancestry::Spurious => "s",
                Ancestry::Mixed => "m",
            };
            let (_, text) = texts.entry(node.span).or_insert((Fill::Spurious, String::new()));
            *text += &format!("{}{}_{letter}", if text.is_empty() { "" } else { " " }, name(node.symbol));
        }
        texts
    }

    fn true_ones(&self) -> Finding {
        let found: Vec<usize> = self.levels.iter().map(|level| level.genuine.len()).collect();
        let nodes: Vec<usize> = (0..=DEPTH).map(|level| self.tree.level(level).len()).collect();
        Finding::check(
            Origin::Identity,
            "The parser finds every node of the true tree",
            format!("{found:?} true symbols from the class to the tokens; the tree has {nodes:?} nodes"),
            found == nodes,
        )
    }

    fn spurious_ones(&self) -> Finding {
        let spurious: Vec<usize> = self.levels.iter().map(|level| level.spurious.len()).collect();
        Finding::check(
            Origin::Identity,
            "There are spurious symbols above the tokens, but none of them is a class of the sentence",
            format!("{spurious:?} spurious symbols from the class to the tokens"),
            spurious[0] == 0 && spurious[1] > 0 && spurious[2] > 0 && spurious[DEPTH] == 0,
        )
    }

    fn origins_of_spurious_ones(&self) -> Finding {
        let [first, second] = [1, 2].map(|level| origins(self.grammar, &self.levels, level));
        let number = |origin: Ancestry| first.values().filter(|found| **found == origin).count();
        let [truth, spurious, mixed] = [Ancestry::True, Ancestry::Spurious, Ancestry::Mixed].map(number);
        Finding::check(
            Origin::Identity,
            "Spurious symbols are built from true ones, from spurious ones, or from both",
            format!("at level 1: {truth} from true ones, {spurious} from spurious ones, {mixed} from both"),
            truth > 0 && spurious > 0 && mixed > 0 && second.values().all(|origin| *origin == Ancestry::True),
        )
    }
}

/// The number of spurious symbols per sentence at each level, over all lengths.
fn spurious_ones_of_many_sentences(grammar: &Grammar) -> Result<Finding> {
    let sampler = Sampler::new(grammar);
    let (mut means, mut ambiguous) = ([0.0; DEPTH], 0);
    for number in 0..SENTENCES {
        let example = Example::new(grammar, sampler.tree(Seed::new(2), number))?;
        for (mean, level) in means.iter_mut().zip(&example.levels) {
            *mean += level.spurious.len() as f64 / SENTENCES as f64;
        }
        ambiguous += usize::from(!example.levels[0].spurious.is_empty());
    }
    means.reverse();
    let share = ambiguous as f64 / SENTENCES as f64;
    Ok(Finding::check(
        Origin::PaperExperiment,
        "For small fractions of grammatical rules, spurious symbols die out towards the root",
        format!(
            "{} spurious symbols per sentence at levels 2, 1, 0 of {SENTENCES} sentences; {:.1}% have another class",
            means.map(|mean| format!("{mean:.2}")).join(", "),
            100.0 * share
        ),
        means.is_sorted_by(|low, high| low > high) && share < 0.1,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dark_cells_are_the_nodes_of_the_tree() {
        let grammar = Ensemble::new(VOCABULARY, DEPTH).fraction(FRACTION).sample(Seed::new(1)).unwrap();
        let example = Example::find(&grammar).unwrap();
        let nodes: usize = (0..=DEPTH).map(|level| example.tree.level(level).len()).sum();
        let grid = example.grid();
        let filled = |fill: Fill| grid.cells.iter().filter(|cell| cell.fill == fill).count();
        assert_eq!(filled(Fill::True), nodes);
        let spurious: usize = example.levels.iter().map(|level| level.spurious.len()).sum();
        let letters: usize = grid.cells.iter().map(|cell| cell.text.matches('_').count()).sum();
        assert_eq!(letters, spurious);
        assert!(filled(Fill::Spurious) > 0 && filled(Fill::Spurious) <= spurious);
    }
}
