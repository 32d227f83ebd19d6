//! The inside neural network: its feature maps are the cells of the inside chart.
//!
//! Only cells that some tree over the sentence can use are computed; which ones depends on the length alone, so they are
//! found once per length. Just above the tokens a cell is a tuple of tokens: equal tuples are computed once per batch.

use crate::activations::Place;
use crate::cells::{Cells, check_inputs, first_role};
use crate::error::Result;
use crate::filter_network::{Filter, FilterNetwork, Plan};
use crate::network::{Network, Normalization};
use crate::scalar::Scalar;
use crate::wiring::{Gather, Input, Wiring};
use gardenpath::{Arities, Children, Span, Symbol, TupleCode};
use rayon::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The passes of the network.
pub fn passes<T: Scalar>(network: &Network, normalization: Normalization) -> FilterNetwork<T> {
    let depth = network.shape.depth();
    let filters: Vec<Vec<Filter>> = (0..depth)
        .rev()
        .map(|level| {
            let inputs = if level + 1 == depth { network.vocab } else { network.width };
            let filter = |arity| Filter { roles: arity, scale: normalization.scale(arity, inputs) };
            network.shape.arities(level).iter().map(filter).collect()
        })
        .collect();
    FilterNetwork::new(network.vocab, network.classes, network.width, &filters, 1)
}

/// Wires batches, and remembers the cells of each sentence length.
#[derive(Clone, Debug)]
pub struct Planner {
    network: Network,
    normalization: Normalization,
    of_length: HashMap<usize, Cells>,
}

impl Planner {
    /// A planner for the sentences of a network.
    pub fn new(network: &Network, normalization: Normalization) -> Self {
        Planner { network: network.clone(), normalization, of_length: HashMap::new() }
    }

    /// The wiring of a batch, and the tokens for which the rows of each layer stand.
    pub fn plan_with_places(&mut self, sentences: &[&[Symbol]]) -> Result<(Plan, Vec<Vec<Vec<Place>>>)> {
        let (plan, tuples) = self.wire(sentences)?;
        let depth = self.network.shape.depth();
        let of_level = |level: usize| {
            let mut cells = 0..;
            let mut place = |&span: &Span| {
                let cell = cells.next().expect("numbers do not end");
                let row = if level + 1 == depth { tuples[cell] as usize } else { cell };
                Place { row, span }
            };
            let of_sentence =
                |sentence: &&[Symbol]| self.of_length[&sentence.len()].spans[level].iter().map(&mut place).collect();
            sentences.iter().map(of_sentence).collect()
        };
        let places = (0..depth).rev().map(of_level).collect();
        Ok((plan, places))
    }

    /// The wiring of a batch.
    pub fn plan(&mut self, sentences: &[&[Symbol]]) -> Result<Plan> {
        Ok(self.wire(sentences)?.0)
    }

    /// The wiring of a batch, and the row of each cell above the tokens, sentence by sentence.
    fn wire(&mut self, sentences: &[&[Symbol]]) -> Result<(Plan, Vec<u32>)> {
        let Network { vocab, ref shape, width, .. } = self.network;
        let depth = shape.depth();
        for len in sentences.iter().map(|sentence| sentence.len()) {
            if let Entry::Vacant(entry) = self.of_length.entry(len) {
                entry.insert(Cells::new(shape, len, width, self.normalization)?);
            }
        }
        let cells: Vec<&Cells> = sentences.iter().map(|sentence| &self.of_length[&sentence.len()]).collect();
        check_inputs(cells.iter().flat_map(|cells| &cells.inputs[..depth - 1]).map(Vec::len).sum())?;

        let mut tuples = Tuples::new(vocab, shape.arities(depth - 1));
        let mut rows: Vec<u32> = Vec::new();
        for (sentence, cells) in sentences.iter().zip(&cells) {
            rows.extend(cells.spans[depth - 1].iter().map(|span| tuples.row(&sentence[span.range()])));
        }
        let count = |level: usize| cells.iter().map(|cells| cells.spans[level].len()).sum::<usize>();
        let wire = |level: usize| {
            if level + 1 == depth {
                return tuples.wiring();
            }
            let shared = level + 2 == depth;
            let (mut base, mut target_base) = (0, 0);
            let mut inputs = Vec::with_capacity(cells.iter().map(|cells| cells.inputs[level].len()).sum());
            for cells in &cells {
                let row = |child: u32| if shared { rows[(base + child) as usize] } else { base + child };
                let shift = |&(target, input): &(u32, Input)| {
                    (target_base + target, Input { child: row(input.child), ..input })
                };
                inputs.extend(cells.inputs[level].iter().map(shift));
                base += cells.spans[level + 1].len() as u32;
                target_base += cells.spans[level].len() as u32;
            }
            let children = if shared { tuples.count } else { count(level + 1) };
            Wiring::new(shape.arities(level).iter().sum(), children, count(level), &inputs)
        };
        let layers: Vec<Wiring> = (0..depth).into_par_iter().rev().map(wire).collect();
        // At the root each sentence has one cell.
        let root = |sentence: u32| (sentence, if depth == 1 { rows[sentence as usize] } else { sentence }, 1.0);
        let top = Gather::new(sentences.len(), layers[depth - 1].targets, (0..sentences.len() as u32).map(root));
        Ok((Plan { layers, top }, rows))
    }
}

/// The different tuples of tokens in a batch.
struct Tuples {
    code: TupleCode,
    rows: TupleRows,
    count: usize,
    inputs: Vec<(u32, Input)>,
}

/// The row of each tuple, or `NONE`.
enum TupleRows {
    /// Of all tuples, by their number. Memory that is never touched costs nothing.
    Table(Vec<u32>),
    /// Of those that were met, where there could be too many.
    Map(HashMap<Children, u32>),
}

/// No row yet: zero, so that a new table needs no filling. Row `i` is kept as `i + 1`.
const NONE: u32 = 0;

/// The most tuples that have a table: more than the pairs and triples of 255 tokens.
const LARGEST_TABLE: usize = 1 << 25;

impl Tuples {
    fn new(vocab: usize, arities: Arities) -> Self {
        let code = TupleCode::new(vocab, arities);
        let rows = match code.len() {
            len @ ..=LARGEST_TABLE => TupleRows::Table(vec![NONE; len]),
            _ => TupleRows::Map(HashMap::new()),
        };
        Tuples { code, rows, count: 0, inputs: Vec::new() }
    }

    /// The row of a tuple.
    fn row(&mut self, tuple: &[Symbol]) -> u32 {
        let slot = match &mut self.rows {
            TupleRows::Table(rows) => &mut rows[self.code.of(tuple)],
            TupleRows::Map(rows) => rows.entry(Children::from_slice(tuple).expect("an arity")).or_insert(NONE),
        };
        if *slot == NONE {
            self.count += 1;
            *slot = self.count as u32;
            let row = *slot - 1;
            let roles = first_role(self.code.arities(), tuple.len())..;
            let input = |(role, &token): (u32, &Symbol)| (row, Input { role, child: token.into(), times: 1.0 });
            self.inputs.extend(roles.zip(tuple).map(input));
        }
        *slot - 1
    }

    fn wiring(&self) -> Wiring {
        Wiring::new(self.code.arities().iter().sum(), self.code.symbols(), self.count, &self.inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few tuples have a table, very many a map: both number them as they come.
    #[test]
    fn equal_tuples_share_a_row() {
        for (vocab, arities, table) in [(255, Arities::PAPER, true), (40, Arities::from([1, 2, 8]), false)] {
            let mut tuples = Tuples::new(vocab, arities);
            assert_eq!(matches!(tuples.rows, TupleRows::Table(_)), table);
            let longest: Vec<Symbol> = (10..10 + arities.most() as Symbol).collect();
            let rows = [&[3, 4], &longest[..], &[4, 3], &[3, 4], &longest].map(|tuple| tuples.row(tuple));
            assert_eq!(rows, [0, 1, 2, 0, 1]);
            let roles: Vec<u32> = tuples.inputs.iter().map(|(_, input)| input.role).collect();
            let [two, most] = [2, arities.most()].map(|arity| first_role(arities, arity));
            let expected = (two..two + 2).chain(most..most + arities.most() as u32).chain(two..two + 2);
            assert_eq!(roles, expected.collect::<Vec<_>>());
        }
    }
}
