//! Filling a chart from the tokens up: the recursion of the paper's eq. `inside`, once for all semirings.

use super::blocks::{Blocks, Thirds};
use super::{Cells, Chart, Level};
use crate::error::Result;
use crate::grammar::{Grammar, Layer, Symbol};
use crate::interrupt::checkpoint;
use crate::semiring::Semiring;
use crate::shape::Shape;
use std::collections::HashMap;
use std::sync::Arc;

/// A grammar prepared for parsing in one semiring.
///
/// ```
/// use gardenpath::{Ensemble, Parser, Recognition, Seed};
///
/// let grammar = Ensemble::new(8, 2).fraction(0.5).sample(Seed::new(1))?;
/// let parser = Parser::<Recognition>::new(&grammar);
/// let chart = parser.parse(&[1, 2, 3, 4])?;
/// assert!(chart.root_entries().len() <= 1, "four tokens have one tree topology");
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Parser<'g, S> {
    grammar: &'g Grammar,
    form: Arc<Form>,
    weights: Vec<LayerWeights<S>>,
}

/// The values of the rules of a layer, in the order of its indices.
#[derive(Clone, Debug)]
pub(crate) struct LayerWeights<S> {
    pub pairs: Vec<S>,
    pub triples: Vec<S>,
}

/// A chart and what is needed to fill it, reused from sentence to sentence.
///
/// Buffers of one parser can be used with another: what they remember of the first grammar is forgotten.
pub struct Buffers<S> {
    pub(crate) chart: Chart<S>,
    pub(crate) scratch: Scratch<S>,
}

/// Buffers that are reused from cell to cell and from sentence to sentence.
pub(crate) struct Scratch<S> {
    row: Row<S>,
    pub(super) blocks: Blocks<S>,
    pub(super) thirds: Thirds<S>,
    /// The templates of the lengths that were met, for grammars of one form.
    cells: HashMap<usize, Arc<Cells>>,
    cached_cells: usize,
    form: Option<Arc<Form>>,
}

/// What templates, and the memory that they ask for, follow from: all that is kept belongs to one form.
#[derive(Clone, Debug, PartialEq)]
struct Form {
    shape: Shape,
    sizes: Vec<usize>,
}

impl<S: Semiring> Default for Scratch<S> {
    fn default() -> Self {
        Scratch {
            row: Row::default(),
            blocks: Blocks::default(),
            thirds: Thirds::default(),
            cells: HashMap::new(),
            cached_cells: 0,
            form: None,
        }
    }
}

/// The values of the cells of one start while they are summed: `[cell][symbol]`, with a bit set of the symbols in use.
///
/// Only what was used is read and cleared, so that sparse cells of large vocabularies cost what they hold.
struct Row<S> {
    values: Vec<S>,
    used: Vec<[u64; 4]>,
    parents: usize,
}

impl<S> Default for Row<S> {
    fn default() -> Self {
        Row { values: Vec::new(), used: Vec::new(), parents: 0 }
    }
}

impl<S: Semiring> Row<S> {
    /// Makes room for `count` cells; all values are zero between uses.
    #[inline]
    fn open(&mut self, count: usize, parents: usize) {
        self.parents = parents;
        if self.values.len() < count * parents {
            self.values.resize(count * parents, S::zero());
        }
        self.used.clear();
        self.used.resize(count, [0; 4]);
    }

    #[inline]
    fn add(&mut self, cell: u32, symbol: Symbol, value: S) {
        self.used[cell as usize][usize::from(symbol >> 6)] |= 1 << (symbol & 63);
        self.values[cell as usize * self.parents + usize::from(symbol)].add(value);
    }

    /// Takes the values of a cell out, in the order of the symbols.
    #[inline]
    fn take(&mut self, cell: usize, mut visit: impl FnMut(Symbol, S)) {
        let values = &mut self.values[cell * self.parents..][..self.parents];
        for (word, mut bits) in self.used[cell].into_iter().enumerate() {
            while bits != 0 {
                let symbol = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                visit(symbol as Symbol, std::mem::replace(&mut values[symbol], S::zero()));
            }
        }
    }
}

/// How many cells the templates of all sentence lengths may have together before they are forgotten.
const CACHED_CELLS: usize = 1 << 22;

impl<S: Semiring> Scratch<S> {
    /// Forgets the templates of another form.
    #[cold]
    fn turn_to(&mut self, form: &Arc<Form>) {
        self.cells.clear();
        self.cached_cells = 0;
        self.form = Some(form.clone());
    }

    fn cells(&mut self, shape: &Shape, len: usize) -> Arc<Cells> {
        if let Some(cells) = self.cells.get(&len) {
            return cells.clone();
        }
        let cells = Cells::shared(shape, len);
        if self.cached_cells > CACHED_CELLS {
            self.cells.clear();
            self.cached_cells = 0;
        }
        self.cached_cells += cells.total();
        self.cells.insert(len, cells.clone());
        cells
    }
}

impl<'g, S: Semiring> Parser<'g, S> {
    /// Prepares a grammar.
    pub fn new(grammar: &'g Grammar) -> Self {
        let weights = grammar.layers().iter().map(LayerWeights::new).collect();
        let form = Arc::new(Form { shape: grammar.shape(), sizes: grammar.sizes().to_vec() });
        Parser { grammar, form, weights }
    }

    /// The grammar.
    pub fn grammar(&self) -> &'g Grammar {
        self.grammar
    }

    /// Fills the chart of a sentence. A sentence that the grammar cannot derive gets a chart without roots.
    pub fn parse(&self, sentence: &[Symbol]) -> Result<Chart<S>> {
        let mut buffers = self.buffers();
        self.parse_with(&mut buffers, sentence)?;
        Ok(buffers.chart)
    }

    /// Fills the chart of a sentence in buffers that were used before: much faster for many short sentences.
    ///
    /// ```
    /// use gardenpath::{Count, Ensemble, Parser, Seed};
    ///
    /// let grammar = Ensemble::new(8, 2).fraction(1.0).sample(Seed::new(1))?;
    /// let parser = Parser::<Count>::new(&grammar);
    /// let mut buffers = parser.buffers();
    /// for sentence in [[0, 1, 2, 3], [3, 2, 1, 0]] {
    ///     assert_eq!(parser.parse_with(&mut buffers, &sentence)?.root_entries().len(), 1);
    /// }
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn parse_with<'b>(&self, buffers: &'b mut Buffers<S>, sentence: &[Symbol]) -> Result<&'b Chart<S>> {
        let Buffers { chart, scratch } = buffers;
        self.start(chart, scratch, sentence)?;
        for level in (0..self.grammar.depth()).rev() {
            self.fill_layer(chart, scratch, level);
        }
        Ok(chart)
    }

    /// New buffers, one set per thread.
    pub fn buffers(&self) -> Buffers<S> {
        Buffers { chart: self.empty_chart(), scratch: Scratch { form: Some(self.form.clone()), ..Scratch::default() } }
    }

    /// The chart of a sentence without tokens.
    fn empty_chart(&self) -> Chart<S> {
        let levels = (0..=self.grammar.depth()).map(|_| Level::default()).collect();
        Chart { cells: Arc::new(Cells::new(&self.form.shape, 0)), levels, classes: self.grammar.classes() }
    }

    /// Checks a sentence and makes it the lowest level of the chart.
    pub(crate) fn start(&self, chart: &mut Chart<S>, scratch: &mut Scratch<S>, sentence: &[Symbol]) -> Result<()> {
        self.grammar.check_sentence(sentence)?;
        let len = sentence.len();
        // Buffers of this parser share its form; others have an equal one, or have to be made new.
        if !scratch.form.as_ref().is_some_and(|form| Arc::ptr_eq(form, &self.form) || *form == self.form) {
            scratch.turn_to(&self.form);
            *chart = self.empty_chart();
        }
        if chart.cells.len() != len {
            let Form { shape, sizes } = &*self.form;
            Cells::check_size(shape, sizes, len, size_of::<(Symbol, S)>())?;
            chart.cells = scratch.cells(shape, len);
        }
        chart.levels.iter_mut().for_each(Level::clear);
        let depth = self.grammar.depth();
        let (cells, tokens) = (chart.cells.level(depth), &mut chart.levels[depth]);
        // No cells at all if no tree has this length; otherwise one per token.
        for &token in &sentence[..cells.starts()] {
            tokens.push(token, S::one());
            tokens.close_cell(1);
            tokens.close_start();
        }
        Ok(())
    }

    /// Fills level `level` from the one below it.
    pub(crate) fn fill_layer(&self, chart: &mut Chart<S>, scratch: &mut Scratch<S>, level: usize) {
        if level + 1 == self.grammar.depth() {
            return self.fill_above_tokens(chart);
        }
        let (layer, weights) = (self.grammar.layer(level), &self.weights[level]);
        let (cells, above, below) = chart.layer_mut(level);
        let cells = cells.level(level);
        let parents = layer.parents();
        let Scratch { row, blocks, thirds, .. } = scratch;
        for start in 0..cells.starts() {
            // Short sentences are done before anybody waits.
            if start % 16 == 15 {
                checkpoint();
            }
            let count = cells.count(start);
            if count == 0 {
                above.close_start();
                continue;
            }
            row.open(count, parents);
            blocks.collect(below, start, layer.children());
            for block in 0..blocks.len() {
                blocks.sum(block, below);
                let (width, pairs) = (blocks.width(block), blocks.pairs());
                if let Some(offset) = cells.used_offset(start, width) {
                    for &(a, b, ref value) in pairs {
                        for entry in layer.pairs().find(usize::from(a), b) {
                            row.add(offset, layer.pairs().parent(entry), value.mul(&weights.pairs[entry]));
                        }
                    }
                }
                thirds.collect(cells, below, start, width);
                if layer.triples().is_empty() || thirds.is_empty() {
                    continue;
                }
                if thirds.factoring_pays(pairs.len(), layer) {
                    thirds.sum_rules(pairs, layer, weights);
                    for &(offset, cell) in &thirds.cells {
                        for &(c, ref third) in below.cell(cell) {
                            for (parent, sum) in thirds.sums(c).iter().enumerate().filter(|(_, sum)| !sum.is_zero()) {
                                row.add(offset, parent as Symbol, sum.mul(third));
                            }
                        }
                    }
                } else {
                    for &(offset, cell) in &thirds.cells {
                        for &(c, ref third) in below.cell(cell) {
                            for &(a, b, ref value) in pairs {
                                let prefix = usize::from(a) * layer.children() + usize::from(b);
                                for entry in layer.triples().find(prefix, c) {
                                    let value = value.mul(third).mul(&weights.triples[entry]);
                                    row.add(offset, layer.triples().parent(entry), value);
                                }
                            }
                        }
                    }
                }
            }
            for offset in 0..count {
                row.take(offset, |symbol, value| above.push(symbol, value));
                above.close_cell(cells.min_span(start) + offset);
            }
            above.close_start();
        }
    }

    /// Fills the lowest layer. A span of tokens is one tuple, so that a cell is one look-up.
    fn fill_above_tokens(&self, chart: &mut Chart<S>) {
        let level = self.grammar.depth() - 1;
        let (layer, weights) = (self.grammar.layer(level), &self.weights[level]);
        let (cells, above, tokens) = chart.layer_mut(level);
        let cells = cells.level(level);
        for start in 0..cells.starts() {
            for offset in 0..cells.count(start) {
                let span = cells.min_span(start) + offset;
                if cells.used_offset(start, span).is_some() {
                    let token = |k: usize| tokens.entries()[start + k].0;
                    let prefix = usize::from(token(0));
                    let (index, weights, prefix) = match span {
                        2 => (layer.pairs(), &weights.pairs, prefix),
                        _ => (layer.triples(), &weights.triples, prefix * layer.children() + usize::from(token(1))),
                    };
                    for entry in index.find(prefix, token(span - 1)) {
                        above.push(index.parent(entry), weights[entry].clone());
                    }
                }
                above.close_cell(span);
            }
            above.close_start();
        }
    }

    pub(crate) fn weights(&self, level: usize) -> &LayerWeights<S> {
        &self.weights[level]
    }
}

impl Parser<'_, f64> {
    /// The same parser with a factor for each token, so that long sentences do not underflow: the values of a span above the tokens are
    /// multiplied by `scale` to the power of its length.
    pub(crate) fn with_token_scale(mut self, scale: f64) -> Self {
        let lowest = self.weights.last_mut().expect("a grammar has layers");
        lowest.pairs.iter_mut().for_each(|weight| *weight *= scale.powi(2));
        lowest.triples.iter_mut().for_each(|weight| *weight *= scale.powi(3));
        self
    }
}

impl<S: Semiring> LayerWeights<S> {
    fn new(layer: &Layer) -> Self {
        let weight = |rule: usize| {
            let rule = layer.rules()[rule];
            S::rule(rule.probability, rule.children.len())
        };
        LayerWeights {
            pairs: (0..layer.pairs().len()).map(|entry| weight(layer.pairs().rule(entry))).collect(),
            triples: (0..layer.triples().len()).map(|entry| weight(layer.triples().rule(entry))).collect(),
        }
    }
}
