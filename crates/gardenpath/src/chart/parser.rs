//! Filling a chart from the tokens up: the recursion of the paper's eq. `inside`, once for all semirings.

use super::evidence::Evidence;
use super::prefixes::{LastChildren, Parts, Prefixes};
use super::{Chart, Level, LevelCells, Template};
use crate::error::Result;
use crate::grammar::{Grammar, Layer, State, Symbol};
use crate::interrupt::checkpoint;
use crate::semiring::Semiring;
use crate::shape::Shape;
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
    /// The values of the rules of each layer, in the order of the automaton's entries.
    weights: Vec<Vec<S>>,
}

/// A chart and what is needed to fill it, reused from sentence to sentence.
///
/// The buffers of one parser can be used with another; templates of the first grammar are then dropped.
pub struct Buffers<S> {
    pub(crate) chart: Chart<S>,
    pub(crate) scratch: Scratch<S>,
}

/// Buffers that are reused from cell to cell and from sentence to sentence.
pub(crate) struct Scratch<S> {
    row: Row<S>,
    prefixes: Vec<Prefixes<S>>,
    last: LastChildren<S>,
    /// The templates of the lengths that were met, by length, for grammars of one form.
    templates: Vec<Option<Arc<Template>>>,
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
            prefixes: Vec::new(),
            last: LastChildren::default(),
            templates: Vec::new(),
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
    /// `[cell][symbol / 64]`
    used: Vec<u64>,
    parents: usize,
    words: usize,
}

impl<S> Default for Row<S> {
    fn default() -> Self {
        Row { values: Vec::new(), used: Vec::new(), parents: 0, words: 0 }
    }
}

impl<S: Semiring> Row<S> {
    /// Makes room for `count` cells; all values are zero between uses.
    #[inline]
    fn open(&mut self, count: usize, parents: usize) {
        (self.parents, self.words) = (parents, parents.div_ceil(64));
        if self.values.len() < count * parents {
            self.values.resize(count * parents, S::zero());
        }
        self.used.clear();
        self.used.resize(count * self.words, 0);
    }

    #[inline]
    fn add(&mut self, cell: u32, symbol: Symbol, value: S) {
        self.used[cell as usize * self.words + usize::from(symbol >> 6)] |= 1 << (symbol & 63);
        self.values[cell as usize * self.parents + usize::from(symbol)].add(value);
    }

    /// Adds the rules whose right-hand side was read.
    #[inline]
    fn complete(&mut self, cell: u32, state: State, value: &S, layer: &Layer, weights: &[S]) {
        let automaton = layer.automaton();
        for entry in automaton.entries_of(state) {
            self.add(cell, automaton.parent(entry), value.mul(&weights[entry]));
        }
    }

    /// Takes the values of a cell out, in the order of the symbols.
    #[inline]
    fn take(&mut self, cell: usize, mut visit: impl FnMut(Symbol, S)) {
        let values = &mut self.values[cell * self.parents..][..self.parents];
        for (word, &bits) in self.used[cell * self.words..][..self.words].iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let symbol = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                visit(symbol as Symbol, std::mem::replace(&mut values[symbol], S::zero()));
            }
        }
    }
}

/// Cached templates are dropped when they have more cells than this in total.
const CACHED_CELLS: usize = 1 << 22;

impl<S: Semiring> Scratch<S> {
    /// Forgets the templates of another form.
    #[cold]
    fn turn_to(&mut self, form: &Arc<Form>) {
        self.templates.clear();
        self.cached_cells = 0;
        self.form = Some(form.clone());
    }

    /// The template of a length, for values of `entry_bytes` bytes. A chart that would not fit into memory is refused.
    #[inline]
    fn template(&mut self, form: &Form, len: usize, entry_bytes: usize) -> Result<Arc<Template>> {
        match self.templates.get(len) {
            Some(Some(template)) => Ok(template.clone()),
            _ => self.new_template(form, len, entry_bytes),
        }
    }

    #[cold]
    fn new_template(&mut self, Form { shape, sizes }: &Form, len: usize, entry_bytes: usize) -> Result<Arc<Template>> {
        if !shape.has_length(len) {
            return Ok(Arc::new(Template::new(shape, len)));
        }
        Template::check_size(shape, sizes, len, entry_bytes)?;
        let template = Template::shared(shape, len);
        if self.cached_cells > CACHED_CELLS {
            self.templates.clear();
            self.cached_cells = 0;
        }
        self.cached_cells += template.total();
        if self.templates.len() <= len {
            self.templates.resize(len + 1, None);
        }
        self.templates[len] = Some(template.clone());
        Ok(template)
    }
}

impl<'g, S: Semiring> Parser<'g, S> {
    /// Prepares a grammar.
    pub fn new(grammar: &'g Grammar) -> Self {
        let weights = grammar.layers().iter().map(weights).collect();
        let form = Arc::new(Form { shape: grammar.shape(), sizes: grammar.sizes().to_vec() });
        Parser { grammar, form, weights }
    }

    /// The grammar.
    pub fn grammar(&self) -> &'g Grammar {
        self.grammar
    }

    /// Fills the chart of a sentence. If the grammar cannot derive the sentence, the chart has no roots.
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
        let template = Arc::new(Template::new(&self.form.shape, 0));
        Chart { template, levels, classes: self.grammar.classes(), has_tokens: true }
    }

    /// Checks a sentence and makes it the lowest level of the chart.
    pub(crate) fn start(&self, chart: &mut Chart<S>, scratch: &mut Scratch<S>, sentence: &[Symbol]) -> Result<()> {
        self.grammar.check_sentence(sentence)?;
        self.prepare(chart, scratch, sentence.len())?;
        let depth = self.grammar.depth();
        let (cells, tokens) = (chart.template.level(depth), &mut chart.levels[depth]);
        // No cells at all if no tree has this length; otherwise one per token.
        for &token in &sentence[..cells.starts()] {
            tokens.push(token, S::one());
            tokens.close_cell(1);
            tokens.close_start();
        }
        chart.has_tokens = true;
        Ok(())
    }

    /// Fills the chart of evidence instead of tokens: leaves are likelihoods of tokens.
    ///
    /// ```
    /// use gardenpath::{Ensemble, Evidence, Magnitude, Parser, Seed};
    ///
    /// let grammar = Ensemble::new(3, 2).fraction(1.0).sample(Seed::new(1))?;
    /// let parser = Parser::<Magnitude>::new(&grammar);
    /// // If no token is known, what remains is the probability of the length.
    /// let chart = parser.parse_evidence(&Evidence::masked(3, 4))?;
    /// assert!((chart.roots()[0].value() - 0.125).abs() < 1e-12);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn parse_evidence(&self, evidence: &Evidence) -> Result<Chart<S>> {
        let mut buffers = self.buffers();
        self.parse_evidence_with(&mut buffers, evidence)?;
        Ok(buffers.chart)
    }

    /// Fills the chart of evidence in buffers that were used before.
    pub fn parse_evidence_with<'b>(&self, buffers: &'b mut Buffers<S>, evidence: &Evidence) -> Result<&'b Chart<S>> {
        let Buffers { chart, scratch } = buffers;
        self.start_evidence(chart, scratch, evidence)?;
        for level in (0..self.grammar.depth()).rev() {
            self.fill_layer(chart, scratch, level);
        }
        Ok(chart)
    }

    /// Checks evidence and makes it the lowest level of the chart.
    pub(crate) fn start_evidence(
        &self,
        chart: &mut Chart<S>,
        scratch: &mut Scratch<S>,
        evidence: &Evidence,
    ) -> Result<()> {
        evidence.check_vocab(self.grammar.vocab())?;
        self.prepare(chart, scratch, evidence.len())?;
        let depth = self.grammar.depth();
        let (cells, tokens) = (chart.template.level(depth), &mut chart.levels[depth]);
        for position in 0..cells.starts() {
            for (token, &likelihood) in evidence.likelihoods(position).iter().enumerate().filter(|(_, l)| **l > 0.0) {
                tokens.push(token as Symbol, S::rule(likelihood, 0));
            }
            tokens.close_cell(1);
            tokens.close_start();
        }
        chart.has_tokens = false;
        Ok(())
    }

    /// Empties the chart and gives it the template of a length.
    fn prepare(&self, chart: &mut Chart<S>, scratch: &mut Scratch<S>, len: usize) -> Result<()> {
        // Buffers of this parser share its form; others have an equal one, or have to be made new.
        if !scratch.form.as_ref().is_some_and(|form| Arc::ptr_eq(form, &self.form) || *form == self.form) {
            scratch.turn_to(&self.form);
            *chart = self.empty_chart();
        }
        if chart.template.len() != len {
            chart.template = scratch.template(&self.form, len, size_of::<(Symbol, S)>())?;
        }
        chart.levels.iter_mut().for_each(Level::clear);
        Ok(())
    }

    /// Fills level `level` from the one below it.
    pub(crate) fn fill_layer(&self, chart: &mut Chart<S>, scratch: &mut Scratch<S>, level: usize) {
        if level + 1 == self.grammar.depth() && chart.has_tokens {
            return self.fill_above_tokens(chart);
        }
        let (layer, weights) = (self.grammar.layer(level), self.weights[level].as_slice());
        let (cells, above, below) = chart.layer_mut(level);
        let cells = cells.level(level);
        let automaton = layer.automaton();
        let Scratch { row, prefixes, last, .. } = scratch;
        let lengths = automaton.inner_lengths();
        if prefixes.len() < lengths.len() {
            prefixes.resize_with(lengths.len(), Prefixes::default);
        }
        for start in 0..cells.starts() {
            // Only long sentences check for an interrupt: short ones finish at once.
            if start % 16 == 15 {
                checkpoint();
            }
            let count = cells.count(start);
            if count == 0 || below.filled(start).is_empty() {
                above.close_empty(count);
                continue;
            }
            row.open(count, layer.parents());
            if automaton.has_unary() {
                for filled in below.filled(start) {
                    if let Some(offset) = cells.used_offset(start, filled.span as usize) {
                        for (symbol, value) in below.cell(filled.cell) {
                            if let Some(state) = automaton.next(0, *symbol) {
                                row.complete(offset, state, value, layer, weights);
                            }
                        }
                    }
                }
            }
            let mut filler = Filler { layer, weights, cells, below, start, row, last };
            for length in lengths.clone() {
                match prefixes.split_at_mut(length - 2) {
                    ([.., shorter], [own, ..]) => filler.fill(own, shorter, length),
                    (_, [own, ..]) => filler.fill(own, below, length),
                    _ => {}
                }
            }
            for offset in 0..count {
                row.take(offset, |symbol, value| above.push(symbol, value));
                above.close_cell(cells.min_span(start) + offset);
            }
            above.close_start();
        }
    }

    /// Fills the lowest layer above tokens. A span of tokens is one tuple, so that a cell is one look-up.
    fn fill_above_tokens(&self, chart: &mut Chart<S>) {
        let level = self.grammar.depth() - 1;
        let (layer, weights) = (self.grammar.layer(level), &self.weights[level]);
        let (cells, above, tokens) = chart.layer_mut(level);
        let cells = cells.level(level);
        let automaton = layer.automaton();
        for start in 0..cells.starts() {
            let count = cells.count(start);
            if count == 0 {
                above.close_start();
                continue;
            }
            let (tokens, shortest) = (&tokens.entries()[start..], cells.min_span(start));
            let read = |state, (token, _): &(Symbol, S)| automaton.next(state, *token);
            let mut state = match &tokens[..shortest] {
                [first, second, others @ ..] => {
                    automaton.pair(first.0, second.0).and_then(|pair| others.iter().try_fold(pair, read))
                }
                first => first.iter().try_fold(0, read),
            };
            let mut closed = 0;
            while closed < count
                && let Some(found) = state
            {
                let span = shortest + closed;
                if cells.used_offset(start, span).is_some() {
                    for entry in automaton.entries_of(found) {
                        above.push(automaton.parent(entry), weights[entry].clone());
                    }
                }
                above.close_cell(span);
                closed += 1;
                state = if closed < count { automaton.next(found, tokens[span].0) } else { None };
            }
            above.close_empty(count - closed);
        }
    }

    pub(crate) fn weights(&self, level: usize) -> &[S] {
        &self.weights[level]
    }
}

/// The cells of one start while they are filled from the level below.
struct Filler<'f, S> {
    layer: &'f Layer,
    weights: &'f [S],
    cells: &'f LevelCells,
    below: &'f Level<S>,
    start: usize,
    row: &'f mut Row<S>,
    last: &'f mut LastChildren<S>,
}

impl<S: Semiring> Filler<'_, S> {
    /// Sums over prefixes of `length` children, and adds the rules that they complete and those that one more child completes.
    fn fill(&mut self, prefixes: &mut Prefixes<S>, parts: &impl Parts<S>, length: usize) {
        let Filler { layer, weights, cells, below, start, .. } = *self;
        let (row, last) = (&mut *self.row, &mut *self.last);
        let automaton = layer.automaton();
        let longest = automaton.longest();
        prefixes.join(parts, below, start, automaton.of_length(length));
        let (keep, is_inner) = (length + 1 < longest, length + 1 == longest);
        for block in 0..prefixes.len() {
            let width = prefixes.width(block);
            let offset = cells.used_offset(start, width);
            if is_inner {
                last.collect(cells, below, start, width);
            }
            // Sums that nothing would use are not computed: most of those below the root.
            if !keep && offset.is_none() && (!is_inner || last.is_empty()) {
                continue;
            }
            let values = prefixes.sum(block, parts, automaton, below, keep);
            if let Some(offset) = offset {
                values.iter().for_each(|(state, value)| row.complete(offset, *state, value, layer, weights));
            }
            if !is_inner || last.is_empty() {
                continue;
            }
            if last.factoring_pays(values.len(), layer) {
                last.sum_rules(values, layer, weights);
                for &(offset, cell) in &last.cells {
                    for &(c, ref value) in below.cell(cell) {
                        for (parent, sum) in last.sums(c).iter().enumerate().filter(|(_, sum)| !sum.is_zero()) {
                            row.add(offset, parent as Symbol, sum.mul(value));
                        }
                    }
                }
            } else {
                for &(offset, cell) in &last.cells {
                    for &(c, ref child) in below.cell(cell) {
                        for &(state, ref value) in values {
                            if let Some(next) = automaton.next(state, c) {
                                row.complete(offset, next, &value.mul(child), layer, weights);
                            }
                        }
                    }
                }
            }
        }
    }
}

impl Parser<'_, f64> {
    /// The same parser with a factor for each token, so that long sentences do not underflow: the values of a span above the tokens are
    /// multiplied by `scale` to the power of its length.
    pub(crate) fn with_token_scale(mut self, scale: f64) -> Self {
        let layer = self.grammar.layer(self.grammar.depth() - 1);
        let lowest = self.weights.last_mut().expect("a grammar has layers");
        for (entry, weight) in lowest.iter_mut().enumerate() {
            *weight *= scale.powi(layer.rules()[layer.automaton().rule(entry)].children.len() as i32);
        }
        self
    }
}

/// The values of the rules of a layer, in the order of the automaton's entries.
fn weights<S: Semiring>(layer: &Layer) -> Vec<S> {
    let weight = |entry: usize| {
        let rule = layer.rules()[layer.automaton().rule(entry)];
        S::rule(rule.probability, rule.children.len())
    };
    (0..layer.automaton().entries()).map(weight).collect()
}
