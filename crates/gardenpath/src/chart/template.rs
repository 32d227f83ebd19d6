//! Which cells a chart has: those that belong to some tree over the whole sentence.

use crate::error::{Error, Result};
use crate::memory;
use crate::shape::Shape;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The cells of all levels for sentences of one length.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    len: usize,
    levels: Vec<LevelCells>,
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

/// How many cells all templates may have together before they are forgotten.
const CACHED_CELLS: usize = 1 << 24;

impl Template {
    /// The template of sentences of one length. It is made once for all parsers whose grammars have the same shape: learners make
    /// many parsers, and for long sentences the template takes longer than the chart.
    pub fn shared(shape: &Shape, len: usize) -> Arc<Self> {
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

    pub fn new(shape: &Shape, len: usize) -> Self {
        let levels = (0..=shape.depth()).map(|level| LevelCells::new(shape, level, len)).collect();
        Template { len, levels }
    }

    /// Refuses sentences whose chart, if full, would not fit, before any memory is taken.
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

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn level(&self, level: usize) -> &LevelCells {
        &self.levels[level]
    }

    /// The number of cells of all levels, used or not.
    pub fn total(&self) -> usize {
        self.levels.iter().map(|level| level.used.len()).sum()
    }
}

/// Refuses what a sentence of `len` tokens would need beyond the limit.
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
