//! All next-token rows of a sentence at once, for charts that are nearly full.
//!
//! A [`Reader`](super::Reader) looks every prefix up, which is what sparse charts need. In a full chart almost every symbol derives almost
//! every span, and the same sums are matrix products: one pass up computes all inside probabilities, of spans that may be followed by
//! anything; one pass down, level by level, tells how likely each symbol begins at each position.

use super::reader::Cell;
use super::tables::PrefixTables;
use super::top::Top;
use crate::arity::Arities;
use crate::chart::LevelCells;
use crate::grammar::{Grammar, Layer, Symbol};
use crate::inside::band::{Band, has_room};
use crate::inside::dense::{DenseLayer, Lanes, for_each_block};
use crate::inside::gemm::{PairSums, add_product, padded};
use crate::interrupt::checkpoint;
use crate::magnitude::power_of_two;
use crate::memory;

/// The layers of a grammar as lists for matrix products.
#[derive(Clone, Debug)]
pub(super) struct Full {
    up: Vec<DenseLayer>,
    down: Vec<Down>,
}

/// The ternary rules of a layer, to be summed over parents that begin at a position.
#[derive(Clone, Debug)]
struct Down {
    /// `[third child]`: its terms get the weights of one position.
    thirds: PairSums,
    /// The parent and the probability of each term.
    rules: Vec<(Symbol, f64)>,
}

impl Down {
    fn new(layer: &Layer) -> Self {
        let width = padded(layer.children());
        let mut terms = Vec::new();
        for rule in layer.rules() {
            if let [a, b, c] = *rule.children.as_slice() {
                let pair = usize::from(a) * width + usize::from(b);
                terms.push((u32::from(c), pair as u32, rule.parent, rule.probability));
            }
        }
        terms.sort_by_key(|&(c, pair, parent, _)| (c, pair, parent));
        let rules = terms.iter().map(|&(_, _, parent, probability)| (parent, probability)).collect();
        Down { thirds: PairSums::new(width, terms.iter().map(|&(c, pair, ..)| (c, pair, 0.0)).collect()), rules }
    }

    /// Weighs the rules by how likely their parents begin.
    fn weigh(&mut self, begins: &[f64]) {
        let weights = self.thirds.weights_mut().zip(&self.rules);
        weights.for_each(|(weight, &(parent, probability))| *weight = begins[usize::from(parent)] * probability);
    }
}

impl Full {
    /// The layers below `top`; `None` if matrix products do not serve one of them.
    pub fn new(grammar: &Grammar, top: usize) -> Option<Self> {
        let layers = &grammar.layers()[top..];
        let up: Vec<DenseLayer> = layers.iter().map(DenseLayer::new).collect();
        let is_supported = up.iter().all(|layer| layer.is_supported(true));
        is_supported.then(|| Full { up, down: layers.iter().map(Down::new).collect() })
    }

    /// The rows of a sentence, `[position][token, end]`, given how many bits a token takes on average. `None` if the probabilities are of
    /// such different sizes that small ones could be lost, or the chart does not fit into memory.
    pub fn rows(&self, tables: &[PrefixTables], top: &Top, sentence: &[Symbol], bits: f64) -> Option<Vec<f64>> {
        let (layers, len) = (&tables[top.level()..], sentence.len());
        let vocab = layers.last()?.layer.children();
        let arities: Vec<Arities> = layers.iter().map(|table| table.layer.arities()).collect();
        let cells = LevelCells::open(&arities, len, top.is_root());
        let sizes = layers.iter().map(|table| table.layer.parents()).chain([vocab]);
        let numbers = |(cells, size): (&LevelCells, usize)| cells.total() * padded(size);
        let total: usize = cells.iter().zip(sizes).map(numbers).sum();
        // By start and by end.
        memory::check("a full chart", 2 * 8 * total as u128).ok()?;
        let powers: Vec<i64> = (0..=len).map(|position| (bits * position as f64).round() as i64).collect();
        let bands = self.go_up(&cells, sentence, vocab, &powers)?;
        self.go_down(layers, top, &cells, &bands, len)
    }

    /// The inside probabilities of all levels, from the uppermost to the tokens.
    fn go_up(&self, cells: &[LevelCells], sentence: &[Symbol], vocab: usize, powers: &[i64]) -> Option<Vec<Band>> {
        let depth = self.up.len();
        let mut bands = vec![Band::default(); depth + 1];
        let tokens = &mut bands[depth];
        tokens.reset(&cells[depth], vocab, powers);
        for (position, &token) in sentence.iter().enumerate() {
            if cells[depth].find(position, 1).is_some() {
                let power = powers[position + 1] - powers[position];
                tokens.open(&cells[depth], position)[usize::from(token)] = power_of_two(power);
                tokens.close(&cells[depth], position);
            }
        }
        tokens.sort_by_end(&cells[depth]);
        let mut lanes = Lanes::default();
        for (level, layer) in self.up.iter().enumerate().rev() {
            let (above, below) = bands.split_at_mut(level + 1);
            let above = &mut above[level];
            layer.fill(&mut lanes, (&cells[level], above), (&cells[level + 1], &below[0]));
            if !above.has_room() {
                return None;
            }
            above.sort_by_end(&cells[level]);
        }
        Some(bands)
    }

    /// How likely each token begins at each position.
    fn go_down(
        &self,
        tables: &[PrefixTables],
        top: &Top,
        cells: &[LevelCells],
        bands: &[Band],
        len: usize,
    ) -> Option<Vec<f64>> {
        let mut lanes = Lanes::default();
        let (mut begins, ends) = start(top, &bands[0], tables[0].layer.parents(), len);
        for (level, table) in tables.iter().enumerate() {
            let (parents, children) = (table.layer.parents(), table.layer.children());
            let (cells, below) = (&cells[level + 1], &bands[level + 1]);
            let mut down = self.down[level].clone();
            let above = std::mem::replace(&mut begins, vec![0.0; (len + 1) * below.width()]);
            for (position, above) in above.chunks_exact(above.len() / (len + 1)).enumerate() {
                if position % 16 == 15 {
                    checkpoint();
                }
                let above = &above[..parents];
                if above.iter().all(|&p| p == 0.0) {
                    continue;
                }
                let own = &mut begins[position * below.width()..][..children];
                table.add_next_children(0, 1.0, above, own);
                if position < len {
                    add_seconds(&mut begins, table, above, cells, below, position);
                    down.weigh(above);
                    add_thirds(&mut begins, &down, &mut lanes, cells, below, position, len);
                }
            }
            if !begins.iter().all(|&value| has_room(value)) {
                return None;
            }
        }
        let vocab = tables.last()?.layer.children();
        let mut rows = Vec::with_capacity((len + 1) * (vocab + 1));
        for (tokens, end) in begins.chunks_exact(begins.len() / (len + 1)).zip(ends) {
            let tokens = &tokens[..vocab];
            let total = tokens.iter().sum::<f64>() + end;
            let share = |value: f64| if total > 0.0 { value / total } else { 0.0 };
            rows.extend(tokens.iter().map(|&value| share(value)));
            rows.push(share(end));
        }
        Some(rows)
    }
}

/// How likely each symbol of the uppermost level begins at each position, in padded rows, and how likely the sentence ends there.
fn start(top: &Top, band: &Band, symbols: usize, len: usize) -> (Vec<f64>, Vec<f64>) {
    let width = band.width();
    let (mut begins, mut ends) = (vec![0.0; (len + 1) * width], Vec::with_capacity(len + 1));
    let (mut ending, mut counts): (Vec<Cell>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    for position in 0..=len {
        ending.clear();
        for start in band.filled_starts(position) {
            let values = &band.by_end()[band.place(start, position)..][..symbols];
            let positive = values.iter().enumerate().filter(|(_, value)| **value > 0.0);
            ending.extend(positive.map(|(symbol, &value)| (start as u32, symbol as Symbol, value)));
        }
        ends.push(top.begin(position, &ending, &mut counts, &mut begins[position * width..][..symbols]));
    }
    (begins, ends)
}

/// Adds how likely each symbol begins after a first child that begins at `position`.
fn add_seconds(
    begins: &mut [f64],
    table: &PrefixTables,
    above: &[f64],
    cells: &LevelCells,
    below: &Band,
    position: usize,
) {
    let first_end = position + cells.min_span(position);
    let ends = first_end..first_end + cells.count(position);
    if ends.is_empty() {
        return;
    }
    let (automaton, width) = (table.layer.automaton(), below.width());
    let mut matrix = vec![0.0; width * width];
    for first in automaton.of_length(1) {
        let row = usize::from(automaton.last(first)) * width;
        for second in automaton.extensions(first) {
            let weights = table.parents(second).iter();
            let sum: f64 = weights.map(|&(parent, weight)| above[usize::from(parent)] * weight).sum();
            matrix[row + usize::from(automaton.last(second))] = sum;
        }
    }
    let values = below.cells(cells.first(position)..cells.first(position) + ends.len());
    for end in ends.filter(|&end| below.is_filled(position, end)) {
        let place = (end - first_end) * width;
        add_product(&mut begins[end * width..][..width], values, &[place], &matrix, width);
    }
}

/// Adds how likely each symbol begins after two children of which the first begins at `position`.
fn add_thirds(
    begins: &mut [f64],
    down: &Down,
    lanes: &mut Lanes,
    cells: &LevelCells,
    below: &Band,
    position: usize,
    len: usize,
) {
    if down.thirds.is_empty() {
        return;
    }
    for_each_block(lanes, cells, below, position, position + 1..=len, |lanes| {
        lanes.sum_rules(&down.thirds);
        for (lane, end) in lanes.ends().iter().enumerate() {
            let own = begins[end * below.width()..].iter_mut().zip(lanes.sums());
            own.for_each(|(begins, sum)| *begins += sum[lane]);
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::{Corpus, Ensemble, Grammar, Predictor, Seed};

    /// The rows of some sentences, likely and impossible ones, by matrix products and token by token.
    fn compare(predictor: &Predictor, seed: u64) {
        let grammar = predictor.grammar();
        let mut sentences: Vec<Vec<u8>> =
            Corpus::sample(grammar, Seed::new(seed), 0..4).sentences().map(<[u8]>::to_vec).collect();
        let mut stream = Seed::new(seed).stream(1);
        sentences.push((0..40).map(|_| (stream.unit() * grammar.vocab() as f64) as u8).collect());
        for sentence in sentences {
            let mut reader = predictor.reader();
            let mut expected = reader.next().to_vec();
            for &token in &sentence {
                reader.push(token).unwrap();
                expected.extend_from_slice(reader.next());
            }
            let bits = -reader.log_probability() / sentence.len() as f64 / std::f64::consts::LN_2;
            let bits = if bits.is_finite() { bits } else { (grammar.vocab() as f64).log2() };
            let rows = predictor.full_rows(&sentence, bits).expect("matrix products serve the grammar");
            assert_eq!(rows.len(), expected.len());
            for (found, expected) in rows.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
            }
            let rows = predictor.rows(&sentence).unwrap();
            assert!(rows.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-12));
        }
    }

    fn grammars() -> Vec<Grammar> {
        let mut grammars = Vec::new();
        for (vocab, depth, fraction) in [(4, 1, 1.0), (3, 2, 1.0), (9, 2, 0.4), (4, 3, 1.0), (6, 3, 0.5), (4, 4, 1.0)] {
            grammars.push(Ensemble::new(vocab, depth).fraction(fraction).zipf(0.7).sample(Seed::new(1)).unwrap());
        }
        for arity in [2, 3] {
            let fixed = Ensemble::new(4, 3).arities([(arity, 1.0)]).fraction(0.7);
            grammars.push(fixed.sample(Seed::new(2)).unwrap());
        }
        grammars
    }

    #[test]
    fn rows_by_matrix_products_are_those_of_the_reader() {
        for (seed, grammar) in (0..).zip(grammars()) {
            compare(&Predictor::new(&grammar), seed);
        }
    }

    #[test]
    fn lowest_levels_have_the_same_rows_too() {
        for (seed, grammar) in (0..).zip(grammars()) {
            for known in 1..grammar.depth() {
                compare(&Predictor::of_lowest_levels(&grammar, known).unwrap(), seed);
            }
        }
    }

    /// 244 tokens have a probability of `10^-290` or so: neither sums nor rows may underflow.
    #[test]
    fn long_sentences_keep_their_digits() {
        let grammar = Ensemble::new(4, 6).fraction(1.0).zipf(1.0).sample(Seed::new(3)).unwrap();
        let predictor = Predictor::new(&grammar);
        let corpus = Corpus::sample(&grammar, Seed::new(4), 0..1);
        let rows = predictor.rows(corpus.sentence(0)).unwrap();
        assert!(predictor.full.get().is_some(), "the chart is full");
        let mut log = 0.0;
        for (k, row) in rows.chunks(5).enumerate() {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            log += row[corpus.sentence(0).get(k).map_or(4, |&token| usize::from(token))].ln();
        }
        let posterior = crate::Inside::new(&grammar).posterior(corpus.sentence(0)).unwrap();
        let logs = (0..4).filter_map(|root| posterior.log_likelihood(root)).map(|log| log - 4f64.ln());
        let best = logs.clone().fold(f64::NEG_INFINITY, f64::max);
        let expected = best + logs.map(|log| (log - best).exp()).sum::<f64>().ln();
        assert!((log - expected).abs() < 1e-10 * expected.abs(), "{log}, not {expected}");
    }
}
