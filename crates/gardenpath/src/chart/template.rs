//! Which cells a chart has: those that belong to some tree over the whole sentence, and how each can be split.

use crate::arity::Arities;
use crate::bits::Bits;
use crate::error::{Error, Result};
use crate::memory;
use crate::shape::Shape;
use crate::span::Span;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The cells of all levels for sentences of one length: the spans on which some tree over the whole sentence has a node.
///
/// ```
/// use gardenpath::{Shape, Span, Template};
///
/// // Six tokens are two triples or three pairs.
/// let template = Template::new(&Shape::mixed(2), 6);
/// let cells: Vec<(usize, usize)> = template.cells(1).map(|cell| (cell.start, cell.len)).collect();
/// assert_eq!(cells, [(0, 2), (0, 3), (2, 2), (3, 3), (4, 2)]);
/// let splits: Vec<Vec<usize>> = template
///     .splits(0, Span::new(0, 6))
///     .map(|split| split.iter().map(|cell| cell.len).collect())
///     .collect();
/// assert_eq!(splits, [vec![3, 3], vec![2, 2, 2]]);
/// ```
#[derive(Clone, Debug)]
pub struct Template {
    shape: Shape,
    len: usize,
    levels: Vec<LevelCells>,
}

/// A span as one of the parts into which another is split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The number of parts.
    pub arity: usize,
    /// Which of them it is, from the left.
    pub place: usize,
    /// Its tokens.
    pub span: Span,
    /// In how many splits it has this place: a whole number, exact up to 2^53.
    pub splits: f64,
}

/// The cells of one level, numbered by start and then by span.
///
/// The spans of one start form an interval; spans inside it that no tree uses have a cell that is never filled.
#[derive(Clone, Debug)]
pub(crate) struct LevelCells {
    /// The first cell of each start, and the total number.
    first: Vec<u32>,
    /// The span of the first cell of each start.
    min_span: Vec<u32>,
    /// Whether some tree uses the cell.
    used: Vec<bool>,
}

/// Templates that were made before, for all parsers of the process.
static TEMPLATES: Mutex<Templates> = Mutex::new(Templates { cells: BTreeMap::new(), total: 0 });

struct Templates {
    cells: BTreeMap<(Shape, usize), Arc<Template>>,
    total: usize,
}

/// Cached templates are dropped when they have more cells than this in total.
const CACHED_CELLS: usize = 1 << 24;

impl Template {
    /// The template of sentences of one length. It is made once for all parsers whose grammars have the same shape: learners make
    /// many parsers, and for long sentences the template takes longer than the chart.
    pub(crate) fn shared(shape: &Shape, len: usize) -> Arc<Self> {
        let lock = || TEMPLATES.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (shape.clone(), len);
        if let Some(cells) = lock().cells.get(&key) {
            return cells.clone();
        }
        let cells = Arc::new(Template::new(shape, len));
        let mut templates = lock();
        if templates.total > CACHED_CELLS {
            templates.cells.clear();
            templates.total = 0;
        }
        templates.total += cells.total();
        templates.cells.insert(key, cells.clone());
        cells
    }

    /// The template of sentences of one length; without cells if no tree has this length.
    ///
    /// There may be as many cells as tokens times span lengths: [`Template::check_size`] refuses those that do not fit into memory.
    pub fn new(shape: &Shape, len: usize) -> Self {
        let levels = (0..=shape.depth()).map(|level| LevelCells::new(shape, level, len)).collect();
        Template { shape: shape.clone(), len, levels }
    }

    /// The shape of the trees.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The cells of a level, by start and length.
    ///
    /// # Panics
    /// If there is no such level.
    pub fn cells(&self, level: usize) -> impl Iterator<Item = Span> + '_ {
        self.levels[level].spans()
    }

    /// All ways to split a span of `level` into spans of the level below, from left to right: those into few parts first, then by the
    /// lengths of the parts. The parts of a cell are cells.
    ///
    /// There are as many as the lengths of spans to the power of one less than the parts; [`Template::parts`] counts without listing.
    ///
    /// # Panics
    /// If there is no level below.
    pub fn splits(&self, level: usize, span: Span) -> impl Iterator<Item = Vec<Span>> + '_ {
        self.shape.arities(level).iter().flat_map(move |arity| self.cuts(level + 1, span, arity))
    }

    /// The ways to cut a span into so many spans of `level`.
    fn cuts(&self, level: usize, span: Span, count: usize) -> Box<dyn Iterator<Item = Vec<Span>> + '_> {
        if count == 1 {
            return Box::new(self.shape.has_span(level, span.len).then(|| vec![span]).into_iter());
        }
        let (least, most) = self.shape.spans(level).into_inner();
        let others = count - 1;
        // What is left must be enough for the others, and not too much.
        let lengths =
            least.max(span.len.saturating_sub(others * most))..=most.min(span.len.saturating_sub(others * least));
        let first = lengths.filter(move |&len| self.shape.has_span(level, len));
        Box::new(first.flat_map(move |len| {
            let rest = Span::new(span.start + len, span.len - len);
            self.cuts(level, rest, others).map(move |mut cut| {
                cut.insert(0, Span::new(span.start, len));
                cut
            })
        }))
    }

    /// The parts of all splits of a span of `level`, each with the number of splits in which it has its place: by arity, place, start and
    /// length.
    ///
    /// This takes as long as there are places, starts and lengths, however many splits there are.
    ///
    /// ```
    /// use gardenpath::{Arities, Shape, Span, Template};
    ///
    /// // Cutting 32 tokens into eight parts of two to eight tokens can be done in 154,645 ways.
    /// let shape = Shape::new(&[Arities::from([8]), (2..=8).collect()]);
    /// let parts = Template::new(&shape, 32).parts(0, Span::new(0, 32));
    /// let first = parts.iter().filter(|part| part.place == 0);
    /// assert_eq!(first.map(|part| part.splits).sum::<f64>(), 154_645.0);
    /// ```
    ///
    /// # Panics
    /// If there is no level below.
    pub fn parts(&self, level: usize, span: Span) -> Vec<Part> {
        let arities = self.shape.arities(level);
        let possible = |len: &usize| self.shape.has_span(level + 1, *len);
        let lengths: Vec<usize> = (1..=span.len).filter(possible).collect();
        // `ways[count][len]`: in how many ways so many tokens are cut into so many parts.
        let mut ways = vec![vec![0.0; span.len + 1]; arities.most()];
        ways[0][0] = 1.0;
        for count in 1..arities.most() {
            for len in 1..=span.len {
                let with_last = |last: &usize| ways[count - 1][len - last];
                ways[count][len] = lengths.iter().take_while(|&&last| last <= len).map(with_last).sum();
            }
        }
        let mut parts = Vec::new();
        for (arity, place) in arities.iter().flat_map(|arity| (0..arity).map(move |place| (arity, place))) {
            for before in (0..span.len).filter(|&before| ways[place][before] > 0.0) {
                for &len in lengths.iter().take_while(|&&len| before + len <= span.len) {
                    let splits = ways[place][before] * ways[arity - 1 - place][span.len - before - len];
                    if splits > 0.0 {
                        parts.push(Part { arity, place, span: Span::new(span.start + before, len), splits });
                    }
                }
            }
        }
        parts
    }

    /// Rejects sentences whose chart would not fit into memory if it were full, before any is taken: `sizes[level]` entries of
    /// `entry_bytes` for each cell.
    pub fn check_size(shape: &Shape, sizes: &[usize], len: usize, entry_bytes: usize) -> Result<()> {
        if !shape.has_length(len) {
            return Ok(());
        }
        let entries: u64 = (0..=shape.depth())
            .map(|level| {
                let spans = shape.spans(level);
                let cells =
                    len.min(1 + len.saturating_sub(*spans.start())) * (spans.end() - spans.start() + 1).min(len);
                cells as u64 * sizes[level] as u64
            })
            .sum();
        check_memory(len, entries * entry_bytes as u64)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn level(&self, level: usize) -> &LevelCells {
        &self.levels[level]
    }

    /// The number of cells of all levels, used or not.
    pub(crate) fn total(&self) -> usize {
        self.levels.iter().map(LevelCells::total).sum()
    }
}

/// Returns an error if a sentence of `len` tokens would need more than the limit.
pub(crate) fn check_memory(len: usize, needed: u64) -> Result<()> {
    if needed > memory::LIMIT {
        return Err(Error::TooLarge { len, needed_mb: needed >> 20, limit_mb: memory::LIMIT >> 20 });
    }
    Ok(())
}

impl LevelCells {
    fn new(shape: &Shape, level: usize, len: usize) -> Self {
        let mut cells = LevelCells { first: vec![0], min_span: Vec::new(), used: Vec::new() };
        if !shape.has_length(len) {
            return cells;
        }
        let reach = shape.reach(level, len);
        for start in 0..len {
            let spans = *shape.spans(level).start()..=(*shape.spans(level).end()).min(len - start);
            let used: Vec<bool> = spans.clone().map(|span| reach.contains(start, span)).collect();
            let first = used.iter().position(|used| *used);
            if let (Some(first), Some(last)) = (first, used.iter().rposition(|used| *used)) {
                cells.used.extend(&used[first..=last]);
            }
            cells.min_span.push(first.map_or(1, |first| spans.start() + first) as u32);
            cells.first.push(cells.used.len() as u32);
        }
        cells
    }

    /// The cells of all levels below one root, or below any number of independent nodes, if `len` tokens are known and any may follow.
    pub fn open(layers: &[Arities], len: usize, is_root: bool) -> Vec<Self> {
        let shape = Shape::new(layers);
        // Where nodes of a level can begin.
        let mut begins = Bits::default();
        (0..if is_root { 1 } else { len }).for_each(|start| begins.add_shifted(&Bits::one(start), 0));
        let mut of_level = |level: usize| {
            let spans = shape.span_bits(level);
            if level > 0 {
                let mut after = begins.clone();
                for _ in 1..shape.arities(level - 1).most() {
                    after = after.sums(spans);
                    begins.add_shifted(&after, 0);
                }
            }
            let (least, most) = shape.spans(level).into_inner();
            let mut cells = LevelCells { first: vec![0], min_span: vec![least as u32; len], used: Vec::new() };
            for start in 0..len {
                if begins.contains(start) {
                    cells.used.extend((least..=most.min(len - start)).map(|span| spans.contains(span)));
                }
                cells.first.push(cells.used.len() as u32);
            }
            cells
        };
        (0..=shape.depth()).map(&mut of_level).collect()
    }

    /// The cells that some tree uses.
    fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        let of_start = move |start: usize| {
            let used = move |offset: &usize| self.used[self.first(start) + offset];
            (0..self.count(start)).filter(used).map(move |offset| Span::new(start, self.min_span(start) + offset))
        };
        (0..self.starts()).flat_map(of_start)
    }

    /// The number of the cell on `start..start + span`, if some tree uses it.
    #[inline]
    pub fn find(&self, start: usize, span: usize) -> Option<u32> {
        let offset = self.used_offset(start, span)?;
        Some(self.first[start] + offset)
    }

    /// The position of a span among those of its start, if some tree uses it.
    #[inline]
    pub fn used_offset(&self, start: usize, span: usize) -> Option<u32> {
        let offset = span.checked_sub(*self.min_span.get(start)? as usize)?;
        (offset < self.count(start) && self.used[self.first(start) + offset]).then_some(offset as u32)
    }

    /// The number of cells, used or not.
    pub fn total(&self) -> usize {
        self.used.len()
    }

    /// The number of starts that have cells at all.
    pub fn starts(&self) -> usize {
        self.min_span.len()
    }

    /// The number of cells of a start, used or not.
    #[inline]
    pub fn count(&self, start: usize) -> usize {
        (self.first[start + 1] - self.first[start]) as usize
    }

    /// The first cell of a start.
    #[inline]
    pub fn first(&self, start: usize) -> usize {
        self.first[start] as usize
    }

    /// The smallest span of a start.
    #[inline]
    pub fn min_span(&self, start: usize) -> usize {
        self.min_span[start] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<Shape> {
        let sets: [&[usize]; 9] = [&[1], &[2], &[3], &[4], &[1, 2], &[2, 3], &[2, 4], &[1, 2, 3], &[2, 3, 4]];
        let sets = sets.map(|set| set.iter().copied().collect::<Arities>());
        let mut shapes: Vec<Shape> = sets.iter().flat_map(|&set| [Shape::new(&[set]), Shape::new(&[set; 2])]).collect();
        shapes.push(Shape::new(&[Arities::PAPER, Arities::from([3]), Arities::PAPER]));
        shapes.push(Shape::new(&[Arities::from([2, 4]), Arities::from([1, 3])]));
        shapes.push(Shape::new(&[Arities::from([3, 8]), Arities::from([1, 4])]));
        shapes
    }

    #[test]
    fn cells_are_found_by_their_spans() {
        for shape in shapes() {
            let (shortest, longest) = shape.lengths().into_inner();
            for len in shortest.saturating_sub(1)..=longest.min(14) {
                let template = Template::new(&shape, len);
                for level in 0..=shape.depth() {
                    let all = (0..len).flat_map(|start| (1..=len).map(move |len| Span::new(start, len)));
                    let expected: Vec<Span> =
                        all.filter(|span| template.level(level).find(span.start, span.len).is_some()).collect();
                    assert_eq!(template.cells(level).collect::<Vec<_>>(), expected, "{shape:?}: {len}");
                    assert_eq!(expected.is_empty(), !shape.has_length(len));
                }
            }
        }
    }

    /// Nothing that some longer sentence could use is missing.
    #[test]
    fn open_cells_are_those_of_all_sentences() {
        for shape in shapes() {
            let layers: Vec<Arities> = (0..shape.depth()).map(|level| shape.arities(level)).collect();
            for len in 0..=9 {
                let open = LevelCells::open(&layers, len, true);
                let independent = LevelCells::open(&layers, len, false);
                for (level, cells) in open.iter().enumerate() {
                    let mut expected: Vec<Span> = Vec::new();
                    for longer in shape.lengths().take_while(|&longer| longer <= 40) {
                        expected.extend(Template::new(&shape, longer).cells(level).filter(|span| span.end() <= len));
                    }
                    expected.sort_by_key(|span| (span.start, span.len));
                    expected.dedup();
                    let found: Vec<Span> = cells.spans().collect();
                    assert_eq!(found, expected, "{shape:?}: {len}, level {level}");
                    assert!(found.iter().all(|span| independent[level].find(span.start, span.len).is_some()));
                }
            }
        }
    }

    /// Splits of cells are tuples of neighbouring cells, all of them, and parts count them.
    #[test]
    fn splits_are_all_tuples_of_neighbouring_cells() {
        for shape in shapes() {
            for len in shape.lengths().take_while(|&len| len <= 14) {
                let template = Template::new(&shape, len);
                for (level, cell) in
                    (0..shape.depth()).flat_map(|level| template.cells(level).map(move |cell| (level, cell)))
                {
                    let below: Vec<Span> = template.cells(level + 1).collect();
                    let mut expected: Vec<Vec<Span>> = Vec::new();
                    let mut prefixes: Vec<Vec<Span>> = vec![Vec::new()];
                    for arity in 1..=shape.arities(level).most() {
                        let longer = prefixes.iter().flat_map(|prefix| {
                            let start = prefix.last().map_or(cell.start, |last| last.end());
                            let next = below.iter().filter(move |next| next.start == start && next.end() <= cell.end());
                            next.map(|&next| [&prefix[..], &[next]].concat())
                        });
                        prefixes = longer.collect();
                        if shape.arities(level).contains(arity) {
                            let whole = |prefix: &&Vec<Span>| prefix[arity - 1].end() == cell.end();
                            expected.extend(prefixes.iter().filter(whole).cloned());
                        }
                    }
                    let splits: Vec<Vec<Span>> = template.splits(level, cell).collect();
                    assert_eq!(splits, expected, "{shape:?}: {level} {cell:?}");
                    assert!(!splits.is_empty());

                    let mut counts: BTreeMap<(usize, usize, Span), f64> = BTreeMap::new();
                    for split in &splits {
                        for (place, &part) in split.iter().enumerate() {
                            *counts.entry((split.len(), place, part)).or_default() += 1.0;
                        }
                    }
                    let parts = template.parts(level, cell).into_iter();
                    let parts: Vec<_> = parts.map(|part| ((part.arity, part.place, part.span), part.splits)).collect();
                    assert_eq!(parts, counts.into_iter().collect::<Vec<_>>());
                }
            }
        }
    }
}
