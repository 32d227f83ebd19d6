//! The inside neural network: its feature maps are the cells of the inside chart.
//!
//! Only cells that some tree over the sentence can use are computed; which ones depends on the length alone, so they are
//! found once per length. Just above the tokens a cell is a pair or a triple of tokens: equal tuples are computed once per batch.

use crate::activations::Place;
use crate::network::{Network, Normalization};
use crate::scalar::Scalar;
use crate::splits::{Part, splits};
use crate::wired::{Filter, Plan, Wired};
use crate::wiring::{Gather, Input, Wiring};
use gardenpath::{Shape, Symbol};
use rayon::prelude::*;
use std::collections::HashMap;

/// The engine of the network.
pub fn engine<T: Scalar>(network: &Network, normalization: Normalization) -> Wired<T> {
    let depth = network.shape.depth();
    let filters: Vec<Vec<Filter>> = (0..depth)
        .rev()
        .map(|level| {
            let inputs = if level + 1 == depth { network.vocab } else { network.width };
            let filter = |arity| Filter { roles: arity, scale: normalization.scale(arity, inputs) };
            network.shape.arities(level).iter().map(filter).collect()
        })
        .collect();
    Wired::new(network.vocab, network.classes, network.width, &filters, 1)
}

/// Wires batches, and remembers the cells of each sentence length.
#[derive(Clone, Debug)]
pub struct Planner {
    vocab: usize,
    shape: Shape,
    templates: HashMap<usize, Template>,
}

/// The cells of all sentences of one length.
#[derive(Clone, Debug)]
struct Template {
    /// `cells[level]`: start and span of each cell, for the levels above the tokens.
    cells: Vec<Vec<(usize, usize)>>,
    /// `inputs[level]`: the inputs of the cells of a level, as numbers of cells of the level below.
    inputs: Vec<Vec<(u32, Input)>>,
}

impl Planner {
    /// A planner for the sentences of one shape.
    pub fn new(network: &Network) -> Self {
        Planner { vocab: network.vocab, shape: network.shape.clone(), templates: HashMap::new() }
    }

    /// The wiring of a batch, and the tokens for which the rows of each layer stand.
    pub fn plan_with_places(&mut self, sentences: &[&[Symbol]]) -> (Plan, Vec<Vec<Vec<Place>>>) {
        let plan = self.plan(sentences);
        let mut tuples = Tuples::new(&self.shape, self.vocab);
        let of_level = |level: usize| {
            let mut next = 0..;
            let of_sentence = |sentence: &&[Symbol]| {
                let cells = &self.templates[&sentence.len()].cells[level];
                let mut place = |&(start, len): &(usize, usize)| {
                    let shared = level + 1 == self.shape.depth();
                    let row = if shared {
                        tuples.row(&sentence[start..start + len]) as usize
                    } else {
                        next.next().unwrap_or(0)
                    };
                    Place { row, start, len }
                };
                cells.iter().map(&mut place).collect()
            };
            sentences.iter().map(of_sentence).collect()
        };
        let places = (0..self.shape.depth()).rev().map(of_level).collect();
        (plan, places)
    }

    /// The wiring of a batch.
    pub fn plan(&mut self, sentences: &[&[Symbol]]) -> Plan {
        for sentence in sentences {
            let template = || Template::new(&self.shape, sentence.len());
            self.templates.entry(sentence.len()).or_insert_with(template);
        }
        let depth = self.shape.depth();
        let templates: Vec<&Template> = sentences.iter().map(|sentence| &self.templates[&sentence.len()]).collect();

        let mut tuples = Tuples::new(&self.shape, self.vocab);
        // For each cell above the tokens, sentence by sentence, its row.
        let mut rows: Vec<u32> = Vec::new();
        for (sentence, template) in sentences.iter().zip(&templates) {
            let row = |&(start, span): &(usize, usize)| tuples.row(&sentence[start..start + span]);
            rows.extend(template.cells[depth - 1].iter().map(row));
        }
        let counts: Vec<usize> =
            (0..depth).map(|level| templates.iter().map(|template| template.cells[level].len()).sum()).collect();
        let wire = |level: usize| {
            if level + 1 == depth {
                return tuples.wiring();
            }
            let shared = level + 2 == depth;
            let (mut base, mut target_base) = (0, 0);
            let mut inputs = Vec::with_capacity(templates.iter().map(|t| t.inputs[level].len()).sum());
            for template in &templates {
                let row = |child: u32| if shared { rows[(base + child) as usize] } else { base + child };
                let shift = |&(target, Input { role, child }): &(u32, Input)| {
                    (target_base + target, Input { role, child: row(child) })
                };
                inputs.extend(template.inputs[level].iter().map(shift));
                base += template.cells[level + 1].len() as u32;
                target_base += template.cells[level].len() as u32;
            }
            let children = if shared { tuples.count } else { counts[level + 1] };
            Wiring::new(self.shape.arities(level).iter().sum(), children, counts[level], &inputs)
        };
        let layers: Vec<Wiring> = (0..depth).into_par_iter().rev().map(wire).collect();
        if depth > 1 {
            rows = (0..sentences.len() as u32).collect();
        }
        let children = layers[depth - 1].targets;
        // At the root each sentence has one cell.
        let top = rows.iter().enumerate().map(|(i, &row)| (i as u32, row));
        Plan { layers, top: Gather::new(sentences.len(), children, top) }
    }
}

impl Template {
    fn new(shape: &Shape, len: usize) -> Self {
        let depth = shape.depth();
        let cells_of = |level: usize| -> Vec<(usize, usize)> {
            let starts = (0..len).flat_map(|start| shape.spans(level).map(move |span| (start, span)));
            starts.filter(|&(start, span)| shape.reachable(level, len, start, span)).collect()
        };
        let cells: Vec<_> = (0..depth).map(cells_of).collect();
        let inputs = (0..depth - 1).map(|level| inputs_of(shape, level, &cells[level], &cells[level + 1])).collect();
        Template { cells, inputs }
    }
}

/// The inputs of the cells of a level: the parts of all their splits.
fn inputs_of(
    shape: &Shape,
    level: usize,
    targets: &[(usize, usize)],
    children: &[(usize, usize)],
) -> Vec<(u32, Input)> {
    let numbers: HashMap<(usize, usize), u32> = children.iter().copied().zip(0..).collect();
    let mut inputs = Vec::new();
    for (target, &(start, span)) in (0..).zip(targets) {
        for split in splits(shape, level, start, span) {
            let input = |part: &Part| {
                let child = *numbers.get(&(part.start, part.len))?;
                Some((target, Input { role: part.role as u32, child }))
            };
            // Where not all span lengths are possible, a part may be a cell that no tree uses.
            inputs.extend(split.iter().map(input).collect::<Option<Vec<_>>>().into_iter().flatten());
        }
    }
    inputs
}

/// The different tuples of tokens in a batch.
struct Tuples {
    vocab: usize,
    roles: usize,
    /// The first role of tuples of each length.
    first_role: [u32; 4],
    /// The row of each possible tuple, pairs before triples, or `NONE`. Memory that is never touched costs nothing.
    rows: Vec<u32>,
    count: usize,
    inputs: Vec<(u32, Input)>,
}

/// No row yet: zero, so that a new table needs no filling. Row `i` is kept as `i + 1`.
const NONE: u32 = 0;

impl Tuples {
    fn new(shape: &Shape, vocab: usize) -> Self {
        let mut first_role = [0; 4];
        let mut roles = 0;
        for arity in shape.arities(shape.depth() - 1).iter() {
            first_role[arity] = roles as u32;
            roles += arity;
        }
        let rows = vec![NONE; vocab.pow(2) + vocab.pow(3)];
        Tuples { vocab, roles, first_role, rows, count: 0, inputs: Vec::new() }
    }

    /// The row of a tuple.
    fn row(&mut self, tuple: &[Symbol]) -> u32 {
        let place = tuple.iter().fold(0, |place, &token| place * self.vocab + usize::from(token));
        let offset = if tuple.len() == 2 { 0 } else { self.vocab.pow(2) };
        let slot = &mut self.rows[offset + place];
        if *slot == NONE {
            self.count += 1;
            *slot = self.count as u32;
            let row = *slot - 1;
            let first = self.first_role[tuple.len()];
            let input = |(role, &token): (u32, &Symbol)| (row, Input { role, child: u32::from(token) });
            self.inputs.extend((first..).zip(tuple).map(input));
        }
        *slot - 1
    }

    fn wiring(&self) -> Wiring {
        Wiring::new(self.roles, self.vocab, self.count, &self.inputs)
    }
}
