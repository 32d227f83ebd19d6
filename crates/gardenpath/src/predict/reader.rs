//! Reading a sentence token by token: the next token, where nodes can begin, and the hidden symbols above the last token.
//!
//! This is Earley's algorithm with probabilities: a new token adds one column. Bottom-up, spans that end there extend prefixes of rules that
//! end where they begin. Top-down, prefixes say which symbols can begin next. A node is considered only where the tokens read so far
//! allow it to begin.
//!
//! Values are divided by the probability of each token given those before it, so the prefix always has probability 1 and sentences of
//! any length can be read in plain `f64`.

use super::full::Full;
use super::tables::PrefixTables;
use super::top::Top;
use crate::error::{Counts, Error, Result};
use crate::grammar::{Grammar, State, Symbol};
use crate::shape::Shape;
use std::sync::OnceLock;

/// A grammar prepared for reading from left to right.
///
/// ```
/// use gardenpath::{Ensemble, Predictor, Seed};
///
/// let grammar = Ensemble::new(8, 2).sample(Seed::new(1))?;
/// let predictor = Predictor::new(&grammar);
/// let mut reader = predictor.reader();
/// let first: f64 = reader.next().iter().sum();
/// assert!((first - 1.0).abs() < 1e-12, "some token, or the end of the sentence");
/// let likely = (0..8).max_by(|&a, &b| reader.next()[a].total_cmp(&reader.next()[b])).unwrap();
/// reader.push(likely as u8)?;
/// assert_eq!(reader.hidden(0).len(), 8, "what the first token tells about the root");
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Predictor<'g> {
    grammar: &'g Grammar,
    layers: Vec<PrefixTables<'g>>,
    top: Top,
    shape: Shape,
    /// The same for full charts, made when the first is met; `None` if matrix products do not serve the grammar.
    pub(super) full: OnceLock<Option<Full>>,
}

impl<'g> Predictor<'g> {
    /// The exact predictor of a grammar.
    pub fn new(grammar: &'g Grammar) -> Self {
        Self::with_top(grammar, Top::root(grammar))
    }

    /// A predictor that knows the lowest `known` layers of rules, and of what is above them only how often the symbols of that level
    /// occur and how many there are in a sentence.
    pub fn of_lowest_levels(grammar: &'g Grammar, known: usize) -> Result<Self> {
        if known > grammar.depth() {
            return Err(Error::count("number of known levels", known, Counts::Between(0, grammar.depth())));
        }
        let top = if known == grammar.depth() {
            Top::root(grammar)
        } else {
            Top::independent(grammar, grammar.depth() - known)
        };
        Ok(Self::with_top(grammar, top))
    }

    fn with_top(grammar: &'g Grammar, top: Top) -> Self {
        let layers = grammar.layers().iter().map(PrefixTables::new).collect();
        Predictor { grammar, layers, top, shape: grammar.shape(), full: OnceLock::new() }
    }

    /// The grammar.
    pub fn grammar(&self) -> &'g Grammar {
        self.grammar
    }

    /// Whether it knows all layers, up to the root.
    pub fn knows_root(&self) -> bool {
        self.top.is_root()
    }

    /// The probabilities of the next token and of the end at every position of a sentence, `[position][token, end]`, the one after the last
    /// token included. Rows are zero after something that no sentence begins with.
    ///
    /// ```
    /// use gardenpath::{Ensemble, Predictor, Seed};
    ///
    /// let grammar = Ensemble::new(8, 2).sample(Seed::new(1))?;
    /// assert_eq!(Predictor::new(&grammar).rows(&[0, 1, 2, 3])?.len(), 5 * 9);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn rows(&self, sentence: &[Symbol]) -> Result<Vec<f64>> {
        self.reader().rows(sentence)
    }

    /// The same by matrix products, if they serve the grammar, its probabilities, and the memory.
    pub(super) fn full_rows(&self, sentence: &[Symbol], bits: f64) -> Option<Vec<f64>> {
        let full = self.full.get_or_init(|| Full::new(self.grammar, self.top.level())).as_ref()?;
        full.rows(&self.layers, &self.top, sentence, bits)
    }

    /// A reader at the beginning of a sentence.
    pub fn reader(&self) -> Reader<'_> {
        let levels = self.grammar.sizes().iter().map(|&size| Level::new(size)).collect();
        let parts = (0..self.grammar.depth()).map(|_| Parts::default()).collect();
        let mut reader = Reader {
            predictor: self,
            levels,
            parts,
            counts: Vec::new(),
            len: 0,
            row: vec![0.0; self.grammar.vocab() + 1],
            probability: 1.0,
            log_probability: 0.0,
            cells: vec![Vec::new(); self.grammar.depth() + 1],
            slots: Default::default(),
        };
        reader.restart();
        reader
    }
}

/// Running products below this are moved into a logarithm before they can underflow.
const TINY: f64 = 1e-150;

/// How often a sentence that is read as a whole is asked whether its chart is full: after so many tokens.
const SAMPLE: usize = 32;

/// Where the nodes of one level can begin.
#[derive(Clone, Debug)]
struct Level {
    size: usize,
    /// `[position][symbol]`: the probability that a node begins there, given what was read before.
    begins: Vec<f64>,
    /// Whether any can.
    any: Vec<bool>,
}

impl Level {
    fn new(size: usize) -> Self {
        Level { size, begins: Vec::new(), any: Vec::new() }
    }

    #[inline]
    fn begins(&self, position: usize) -> &[f64] {
        &self.begins[position * self.size..][..self.size]
    }
}

/// The parts of the sentence that were read as prefixes of the rules of a layer, by where they end.
#[derive(Clone, Debug, Default)]
struct Parts {
    /// (start, prefix, value)
    items: Vec<(u32, State, f64)>,
    /// Those that end at `k` are `items[first[k]..first[k + 1]]`.
    first: Vec<u32>,
}

impl Parts {
    #[inline]
    fn ending_at(&self, position: usize) -> &[(u32, State, f64)] {
        &self.items[self.first[position] as usize..self.first[position + 1] as usize]
    }
}

/// A node that ends where the reader is: (start, symbol, value).
pub(super) type Cell = (u32, Symbol, f64);

/// A sentence that is being read.
#[derive(Clone, Debug)]
pub struct Reader<'p> {
    predictor: &'p Predictor<'p>,
    levels: Vec<Level>,
    parts: Vec<Parts>,
    /// Sums over the ways to read the tokens before each position as so many symbols of the top level, if there is no root.
    counts: Vec<Vec<f64>>,
    len: usize,
    /// The probabilities of the next token, and of the end of the sentence.
    row: Vec<f64>,
    /// The probability of what was read is `probability * exp(log_probability)`: one logarithm for many tokens.
    probability: f64,
    log_probability: f64,
    /// The nodes of each level that end at the last token read, by start.
    cells: Vec<Vec<Cell>>,
    slots: [Slots; 2],
}

impl<'p> Reader<'p> {
    /// Forgets what was read.
    pub fn restart(&mut self) {
        for level in &mut self.levels {
            level.begins.clear();
            level.any.clear();
        }
        for parts in &mut self.parts {
            parts.items.clear();
            parts.first.clear();
            parts.first.extend([0, 0]);
        }
        self.cells.iter_mut().for_each(Vec::clear);
        self.counts.clear();
        (self.len, self.probability, self.log_probability) = (0, 1.0, 0.0);
        self.go_down();
    }

    /// The number of tokens read.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The probabilities of the next token, and last that of the end of the sentence, given what was read. All are zero after something
    /// that no sentence begins with.
    pub fn next(&self) -> &[f64] {
        &self.row
    }

    /// The logarithm of the probability that a sentence begins with what was read.
    pub fn log_probability(&self) -> f64 {
        self.log_probability + self.probability.ln()
    }

    /// Reads one token. The cost is that of one column of the chart.
    pub fn push(&mut self, token: Symbol) -> Result<()> {
        let vocab = self.predictor.grammar.vocab();
        if usize::from(token) >= vocab {
            return Err(Error::UnknownToken { position: self.len, token: token.into(), vocab });
        }
        let probability = self.row[usize::from(token)];
        let before = self.probability;
        self.probability *= probability;
        if self.probability < TINY {
            self.log_probability += before.ln() + probability.ln();
            self.probability = 1.0;
        }
        self.cells.iter_mut().for_each(Vec::clear);
        if probability > 0.0 {
            let depth = self.predictor.grammar.depth();
            self.cells[depth].push((self.len as u32, token, 1.0 / probability));
        }
        self.len += 1;
        self.go_up();
        self.go_down();
        Ok(())
    }

    /// Reads a whole sentence: [`Predictor::rows`] with buffers that were used before. What was read before is forgotten.
    ///
    /// Where almost every symbol derives almost every part of a long sentence, this is much faster than [`Reader::push`] for each token.
    pub fn rows(&mut self, sentence: &[Symbol]) -> Result<Vec<f64>> {
        self.predictor.grammar.check_sentence(sentence)?;
        self.restart();
        let mut rows = Vec::with_capacity((sentence.len() + 1) * self.row.len());
        rows.extend_from_slice(&self.row);
        let mut is_full = false;
        for &token in sentence {
            self.push(token)?;
            rows.extend_from_slice(&self.row);
            if self.len.is_multiple_of(SAMPLE) && !is_full && self.is_crowded() {
                is_full = true;
                let bits = -self.log_probability() / (self.len as f64 * std::f64::consts::LN_2);
                if let Some(rows) = self.predictor.full_rows(sentence, bits) {
                    return Ok(rows);
                }
            }
        }
        Ok(rows)
    }

    /// Whether there is about one prefix for every part of what was read, on every level: then matrix products are faster.
    fn is_crowded(&self) -> bool {
        let Predictor { shape, top, .. } = self.predictor;
        let read = self.len;
        let parts =
            |level: usize| read * (shape.spans(level).end().min(&read) + 1).saturating_sub(*shape.spans(level).start());
        let prefixes: usize = self.parts.iter().map(|parts| parts.items.len()).sum();
        prefixes > (top.level()..self.parts.len()).map(parts).sum()
    }

    /// The parts of what was read that end here and were read as prefixes of the rules of a layer: (start, prefix, value).
    pub(super) fn parts_ending_here(&self, layer: usize) -> &[(u32, State, f64)] {
        self.parts[layer].ending_at(self.len)
    }

    /// Finds the nodes of all levels that end here, and the prefixes that do.
    fn go_up(&mut self) {
        let top = self.predictor.top.level();
        for (level, table) in self.predictor.layers.iter().enumerate().rev() {
            let parts = &mut self.parts[level];
            let (above, below) = self.cells.split_at_mut(level + 1);
            let (above, below) = (&mut above[level], &below[0]);
            let begins = &self.levels[level];
            if level >= top {
                extend(table, parts, begins, below, above, &mut self.slots);
            }
            parts.first.push(parts.items.len() as u32);
        }
    }

    /// Finds out which symbols can begin here, from the root to the tokens.
    fn go_down(&mut self) {
        let Predictor { layers, top, .. } = self.predictor;
        let position = self.len;
        for level in &mut self.levels {
            level.begins.resize((position + 1) * level.size, 0.0);
            level.any.push(false);
        }
        let highest = &mut self.levels[top.level()];
        let begins = &mut highest.begins[position * highest.size..];
        let end = top.begin(position, &self.cells[top.level()], &mut self.counts, begins);
        for level in top.level()..layers.len() {
            let (above, below) = self.levels.split_at_mut(level + 1);
            let (above, below) = (&mut above[level], &mut below[0]);
            let children = &mut below.begins[position * below.size..];
            // All bits at once: probabilities have no negative zeros.
            above.any[position] = above.begins(position).iter().fold(0, |bits, p| bits | p.to_bits()) != 0;
            if above.any[position] {
                layers[level].add_next_children(0, 1.0, above.begins(position), children);
            }
            for &(start, state, value) in self.parts[level].ending_at(position) {
                layers[level].add_next_children(state, value, above.begins(start as usize), children);
            }
        }
        let (row, tokens) = (&mut self.row, &self.levels[layers.len()]);
        let (last, next) = row.split_last_mut().expect("a row ends with the end of the sentence");
        next.copy_from_slice(tokens.begins(position));
        *last = end;
    }

    /// The posterior of the symbol of `level` above the last token, given what was read. All zero if no sentence begins so, or before the
    /// first token.
    ///
    /// # Panics
    /// If the grammar has no such level, or the predictor does not know it.
    pub fn hidden(&self, level: usize) -> Vec<f64> {
        let Predictor { layers, top, .. } = self.predictor;
        assert!(level >= top.level(), "the predictor does not know level {level}");
        // The probability that the tokens from a start on are the beginning of what a node derives.
        let mut open: Vec<Cell> = self.cells[layers.len()].clone();
        let mut slots = Slots::default();
        for own in (level..layers.len()).rev() {
            open = open_parents(&layers[own], &self.parts[own], &self.levels[own], &open, &mut slots);
        }
        let mut posterior = vec![0.0; self.levels[level].size];
        for (start, symbol, value) in open {
            posterior[usize::from(symbol)] += self.levels[level].begins(start as usize)[usize::from(symbol)] * value;
        }
        posterior
    }
}

/// Reads the cells that end here as next children: extends the prefixes that end where they begin, and completes rules.
fn extend(
    table: &PrefixTables,
    parts: &mut Parts,
    begins: &Level,
    below: &[Cell],
    above: &mut Vec<Cell>,
    slots: &mut [Slots; 2],
) {
    let automaton = table.layer.automaton();
    let Parts { items, first } = parts;
    let old = items.len();
    let [prefixes, parents] = slots;
    let mut read = |items: &mut Vec<(u32, State, f64)>, start: u32, state: State, value: f64| {
        if state < automaton.of_length(automaton.longest()).start {
            add(items, old, prefixes, (start, state, value));
        }
        let begins = begins.begins(start as usize);
        for entry in automaton.entries_of(state) {
            let parent = automaton.parent(entry);
            if begins[usize::from(parent)] > 0.0 {
                let weight = table.weight(entry);
                add(above, 0, parents, (start, parent, value * weight));
            }
        }
    };
    for &(start, symbol, value) in below {
        if begins.any[start as usize]
            && let Some(state) = automaton.next(0, symbol)
        {
            read(items, start, state, value);
        }
        for k in first[start as usize]..first[start as usize + 1] {
            let (start, state, prefix) = items[k as usize];
            if let Some(next) = automaton.next(state, symbol) {
                read(items, start, next, prefix * value);
            }
        }
    }
    prefixes.clear(&items[old..]);
    parents.clear(above);
}

/// The nodes whose derivations begin with what was read from their start on, given such nodes of the level below.
fn open_parents(table: &PrefixTables, parts: &Parts, begins: &Level, below: &[Cell], slots: &mut Slots) -> Vec<Cell> {
    let automaton = table.layer.automaton();
    let mut above = Vec::new();
    let mut read = |start: u32, state: State, value: f64| {
        let begins = begins.begins(start as usize);
        for &(parent, weight) in table.parents(state).iter().filter(|(parent, _)| begins[usize::from(*parent)] > 0.0) {
            add(&mut above, 0, slots, (start, parent, value * weight));
        }
    };
    for &(start, symbol, value) in below {
        if begins.any[start as usize]
            && let Some(state) = automaton.next(0, symbol)
        {
            read(start, state, value);
        }
        for &(start, state, prefix) in parts.ending_at(start as usize) {
            if let Some(next) = automaton.next(state, symbol) {
                read(start, next, prefix * value);
            }
        }
    }
    slots.clear(&above);
    above
}

/// Adds a value to that of the same start and key, or appends it. The list is searched from `first` on.
#[inline]
fn add<K: Copy + PartialEq + Into<u32>>(
    list: &mut Vec<(u32, K, f64)>,
    first: usize,
    slots: &mut Slots,
    item: (u32, K, f64),
) {
    // Most columns hold a handful of values.
    if list.len() - first < SHORT {
        match list[first..].iter_mut().find(|(start, key, _)| (*start, *key) == (item.0, item.1)) {
            Some(found) => found.2 += item.2,
            None => list.push(item),
        }
        return;
    }
    slots.add(list, first, item);
}

/// Lists that are shorter than this are searched from end to end.
const SHORT: usize = 12;

/// Where each pair of a start and a key stands in a list: a table with open addressing.
#[derive(Clone, Debug, Default)]
struct Slots {
    /// The position in the list plus one, or 0.
    table: Vec<u32>,
    /// How many items of the list are in the table.
    known: usize,
}

impl Slots {
    fn place(&self, start: u32, key: u32) -> usize {
        let mixed = (u64::from(start) << 32 | u64::from(key)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.table.len() - 1)
    }

    fn add<K: Copy + PartialEq + Into<u32>>(
        &mut self,
        list: &mut Vec<(u32, K, f64)>,
        first: usize,
        item: (u32, K, f64),
    ) {
        if 2 * (list.len() - first + 1) > self.table.len() {
            let size = (4 * (list.len() - first + 1)).next_power_of_two();
            self.table.clear();
            self.table.resize(size, 0);
            self.known = 0;
        }
        while self.known < list.len() - first {
            let (start, key, _) = list[first + self.known];
            self.insert(start, key.into());
        }
        let mut place = self.place(item.0, item.1.into());
        while self.table[place] != 0 {
            let found = &mut list[first + self.table[place] as usize - 1];
            if (found.0, found.1) == (item.0, item.1) {
                found.2 += item.2;
                return;
            }
            place = (place + 1) & (self.table.len() - 1);
        }
        list.push(item);
        self.known += 1;
        self.table[place] = self.known as u32;
    }

    fn insert(&mut self, start: u32, key: u32) {
        let mut place = self.place(start, key);
        while self.table[place] != 0 {
            place = (place + 1) & (self.table.len() - 1);
        }
        self.known += 1;
        self.table[place] = self.known as u32;
    }

    /// Forgets the items of a list.
    fn clear<K>(&mut self, list: &[(u32, K, f64)]) {
        if self.known > 0 {
            // Filled by this list alone.
            debug_assert_eq!(self.known, list.len());
            self.table.fill(0);
            self.known = 0;
        }
    }
}
