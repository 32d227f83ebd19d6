//! Charts: for every level, span and symbol, the value of all derivations, in any [`Semiring`].
//!
//! [`Parser`] fills the chart of a sentence, or of [`Evidence`] about one, bottom-up; [`Outside`] runs top-down. Both read the
//! children of a rule from left to right and sum over all splits of a prefix before reading the next child, so the work is cubic in the length of
//! the sentence for rules of any length. Only cells that belong to some tree over the whole sentence
//! are filled, and empty cells cost nothing.

mod adjacent;
mod candidates;
mod evidence;
mod marginals;
mod outside;
mod parser;
mod prefixes;
mod template;
mod trees;
mod uses;

pub use candidates::Candidates;
pub use evidence::Evidence;
pub use marginals::Marginals;
pub use outside::Outside;
pub(crate) use outside::OutsideBuffers;
pub use parser::{Buffers, Parser};
pub(crate) use template::LevelCells;
pub use template::{Part, Template};

use crate::error::Result;
use crate::grammar::{Grammar, Symbol};
use crate::semiring::Semiring;
use crate::span::{Node, Span};
use std::ops::Range;
use std::sync::Arc;

/// The values of all symbols on all spans of one sentence.
///
/// ```
/// use gardenpath::{Chart, Count, Ensemble, Seed};
///
/// let grammar = Ensemble::new(3, 2).fraction(1.0).sample(Seed::new(1))?;
/// let chart = Chart::<Count>::parse(&grammar, &[0, 1, 2, 0, 1, 2, 0])?;
/// // Seven tokens have three trees (2+2+3 in any order); with all rules allowed, all of them are grammatical.
/// let trees: u32 = chart.roots().iter().map(|n| n.to_string().parse::<u32>().unwrap()).sum();
/// assert_eq!(trees, 3);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Chart<S> {
    template: Arc<Template>,
    /// One per level, from the root to the tokens.
    levels: Vec<Level<S>>,
    classes: usize,
    /// Whether the leaves are tokens, not evidence.
    has_tokens: bool,
}

/// The non-zero values of one level.
#[derive(Clone, Debug)]
pub(crate) struct Level<S> {
    /// The entries of cell `c` are `bounds[c]..bounds[c + 1]`.
    bounds: Vec<u32>,
    entries: Vec<(Symbol, S)>,
    /// The cells that are not empty, by start: `filled[first_filled[start]..first_filled[start + 1]]`.
    filled: Vec<Filled>,
    first_filled: Vec<u32>,
}

/// A cell that is not empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    pub span: u32,
    pub cell: u32,
}

/// The candidates of one span.
#[derive(Debug)]
pub struct Cell<'c, S> {
    /// The tokens.
    pub span: Span,
    /// The symbols that can derive it, with their values.
    pub values: &'c [(Symbol, S)],
}

impl<S> Default for Level<S> {
    fn default() -> Self {
        Level { bounds: vec![0], entries: Vec::new(), filled: Vec::new(), first_filled: vec![0] }
    }
}

impl<S: Semiring> Level<S> {
    pub fn clear(&mut self) {
        self.bounds.truncate(1);
        self.entries.clear();
        self.filled.clear();
        self.first_filled.truncate(1);
    }

    /// Adds a non-zero value to the cell that is being filled.
    #[inline]
    pub fn push(&mut self, symbol: Symbol, value: S) {
        self.entries.push((symbol, value));
    }

    /// Ends the cell that is being filled; cells are filled in order.
    #[inline]
    pub fn close_cell(&mut self, span: usize) {
        let cell = self.bounds.len() - 1;
        let end = self.entries.len() as u32;
        if end > self.bounds[cell] {
            self.filled.push(Filled { span: span as u32, cell: cell as u32 });
        }
        self.bounds.push(end);
    }

    /// Ends a start whose cells are all empty.
    #[inline]
    pub fn close_empty(&mut self, cells: usize) {
        self.bounds.resize(self.bounds.len() + cells, self.entries.len() as u32);
        self.close_start();
    }

    /// Ends the cells of one start; starts are filled in order.
    #[inline]
    pub fn close_start(&mut self) {
        self.first_filled.push(self.filled.len() as u32);
    }

    /// The non-zero values of a cell.
    #[inline]
    pub fn cell(&self, cell: u32) -> &[(Symbol, S)] {
        &self.entries[self.range(cell)]
    }

    /// Where the values of a cell stand among all entries.
    #[inline]
    pub fn range(&self, cell: u32) -> Range<usize> {
        self.bounds[cell as usize] as usize..self.bounds[cell as usize + 1] as usize
    }

    /// The cells at `start` that are not empty, by increasing span.
    #[inline]
    pub fn filled(&self, start: usize) -> &[Filled] {
        match self.first_filled.get(start + 1) {
            Some(&end) => &self.filled[self.first_filled[start] as usize..end as usize],
            None => &[],
        }
    }

    /// All cells that are not empty.
    pub fn all_filled(&self) -> &[Filled] {
        &self.filled
    }

    pub fn entries(&self) -> &[(Symbol, S)] {
        &self.entries
    }
}

impl<S: Semiring> Chart<S> {
    /// Parses one sentence. For many sentences make a [`Parser`] once.
    pub fn parse(grammar: &Grammar, sentence: &[Symbol]) -> Result<Self> {
        Parser::new(grammar).parse(sentence)
    }

    /// The number of tokens.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.template.len()
    }

    /// The number of layers.
    pub fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// The value of each root symbol over the whole sentence.
    pub fn roots(&self) -> Vec<S> {
        let mut roots = vec![S::zero(); self.classes];
        for (symbol, value) in self.root_entries() {
            roots[usize::from(*symbol)] = value.clone();
        }
        roots
    }

    /// The root symbols that derive the whole sentence, with their values.
    pub fn root_entries(&self) -> &[(Symbol, S)] {
        self.values(0, Span::new(0, self.len()))
    }

    /// The symbols of `level` that derive a span, with their values: none on a span that is not in the sentence.
    ///
    /// # Panics
    /// If the chart has no such level.
    pub fn values(&self, level: usize, span: Span) -> &[(Symbol, S)] {
        match self.template.level(level).find(span.start, span.len) {
            Some(cell) => self.levels[level].cell(cell),
            None => &[],
        }
    }

    /// The value of one symbol on one span, if it derives it.
    ///
    /// # Panics
    /// If the chart has no such level.
    pub fn value(&self, level: usize, Node { span, symbol }: Node) -> Option<&S> {
        self.values(level, span).iter().find(|(s, _)| *s == symbol).map(|(_, value)| value)
    }

    /// All spans of a level that some symbol derives, by start and length.
    ///
    /// # Panics
    /// If the chart has no such level.
    pub fn cells(&self, level: usize) -> impl Iterator<Item = Cell<'_, S>> {
        let filled = &self.levels[level];
        (0..self.len()).flat_map(move |start| {
            let cell = move |f: &Filled| Cell { span: Span::new(start, f.span as usize), values: filled.cell(f.cell) };
            filled.filled(start).iter().map(cell)
        })
    }

    /// The number of values of all levels.
    pub(crate) fn entries(&self) -> u64 {
        self.levels.iter().map(|level| level.entries.len() as u64).sum()
    }

    /// The memory that the values take.
    pub(crate) fn bytes(&self) -> u64 {
        self.entries() * size_of::<(Symbol, S)>() as u64
    }

    pub(crate) fn level(&self, level: usize) -> &Level<S> {
        &self.levels[level]
    }

    pub(crate) fn template(&self) -> &Template {
        &self.template
    }

    /// The parts that a parser fills: cells, and the parent and child levels of layer `level`.
    pub(crate) fn layer_mut(&mut self, level: usize) -> (&Template, &mut Level<S>, &Level<S>) {
        let (above, below) = self.levels.split_at_mut(level + 1);
        (&self.template, &mut above[level], &below[0])
    }
}
