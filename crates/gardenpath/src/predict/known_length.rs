//! The next token of a sentence whose length is known.
//!
//! A node that begins at a position also has an end: with the length distribution of every symbol, the recursion of [`Reader`] is
//! followed down for each pair of a start and an end.

use super::laws::{add, convolve, count_law, node_laws};
use super::reader::{Predictor, Reader};
use crate::error::Result;
use crate::grammar::{Grammar, Layer, State, Symbol};

/// A grammar prepared for sentences of known length.
///
/// ```
/// use gardenpath::{Ensemble, KnownLength, Predictor, Seed};
///
/// let grammar = Ensemble::new(4, 2).fraction(0.5).sample(Seed::new(1))?;
/// let predictor = Predictor::new(&grammar);
/// let rows = KnownLength::new(&predictor).rows(&[0, 1, 2, 3, 0])?;
/// assert_eq!(rows.len(), 5 * 4);
/// assert!((rows[..4].iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KnownLength<'p> {
    predictor: &'p Predictor<'p>,
    layers: Vec<Rests>,
    /// The probability of each length of a sentence.
    lengths: Vec<f64>,
}

/// How many tokens follow a prefix within a node: `[state]`, for each parent the law of their number.
#[derive(Clone, Debug)]
struct Rests(Vec<Vec<(Symbol, Vec<f64>)>>);

impl Rests {
    /// `lengths` are the laws of the lengths of the children.
    fn new(layer: &Layer, lengths: &[Vec<f64>]) -> Self {
        let automaton = layer.automaton();
        let mut rests: Vec<Vec<(Symbol, Vec<f64>)>> = vec![Vec::new(); automaton.states()];
        for state in (0..automaton.states() as State).rev() {
            let mut own: Vec<Vec<f64>> = vec![Vec::new(); layer.parents()];
            for entry in automaton.entries_of(state) {
                let probability = layer.rules()[automaton.rule(entry)].probability;
                add(&mut own[usize::from(automaton.parent(entry))], &[probability]);
            }
            for next in automaton.extensions(state) {
                let child = &lengths[usize::from(automaton.last(next))];
                for (parent, rest) in &rests[next as usize] {
                    add(&mut own[usize::from(*parent)], &convolve(rest, child));
                }
            }
            rests[state as usize] = (0..).zip(own).filter(|(_, law)| law.iter().any(|&p| p > 0.0)).collect();
        }
        Rests(rests)
    }
}

/// The nodes of a level that can begin at a position: `[length][symbol]`, from length 0 on.
type Nodes = Vec<Vec<f64>>;

impl<'p> KnownLength<'p> {
    /// Prepares a predictor, which must know all levels.
    ///
    /// # Panics
    /// If the predictor does not know the root.
    pub fn new(predictor: &'p Predictor<'p>) -> Self {
        assert!(predictor.knows_root(), "a known length says something about the root");
        let grammar = predictor.grammar();
        let depth = grammar.depth();
        let layers = (0..depth).map(|level| Rests::new(grammar.layer(level), &node_laws(grammar, level + 1, depth)));
        KnownLength { predictor, layers: layers.collect(), lengths: count_law(grammar, depth) }
    }

    /// The probability that a sentence has this many tokens.
    pub fn length_probability(&self, len: usize) -> f64 {
        self.lengths.get(len).copied().unwrap_or(0.0)
    }

    /// The probabilities of the next token at every position of a sentence, `[position][token]`, given the tokens before it and the length
    /// of the sentence. Rows are zero where nothing can follow, and all of them are if no sentence has this length.
    pub fn rows(&self, sentence: &[Symbol]) -> Result<Vec<f64>> {
        let grammar: &Grammar = self.predictor.grammar();
        grammar.check_sentence(sentence)?;
        let (len, depth) = (sentence.len(), grammar.depth());
        let mut rows = vec![0.0; len * grammar.vocab()];
        if self.length_probability(len) == 0.0 {
            return Ok(rows);
        }
        let mut reader = self.predictor.reader();
        // `[level][position]`
        let mut begins: Vec<Vec<Nodes>> = vec![Vec::new(); depth + 1];
        for (position, row) in rows.chunks_mut(grammar.vocab()).enumerate() {
            self.begin(&reader, position, len, &mut begins);
            let tokens = begins[depth][position].get(1).map_or(&[][..], Vec::as_slice);
            let total: f64 = tokens.iter().sum();
            if total > 0.0 {
                row.iter_mut().zip(tokens).for_each(|(p, token)| *p = token / total);
            }
            reader.push(sentence[position])?;
        }
        Ok(rows)
    }

    /// Adds the nodes that can begin at a position to those of all levels.
    fn begin(&self, reader: &Reader, position: usize, len: usize, begins: &mut [Vec<Nodes>]) {
        let grammar = self.predictor.grammar();
        let mut roots: Nodes = Vec::new();
        if position == 0 {
            roots = vec![Vec::new(); len + 1];
            roots[len] = grammar.prior().to_vec();
        }
        begins[0].push(roots);
        for (level, rests) in self.layers.iter().enumerate() {
            let automaton = grammar.layer(level).automaton();
            let (above, below) = begins.split_at_mut(level + 1);
            let mut children: Nodes = Vec::new();
            // A part from `start` on that was read as a prefix, and nodes that began there and end after this position.
            let mut extend = |start: usize, state: State, value: f64| {
                for next in automaton.extensions(state) {
                    let child = usize::from(automaton.last(next));
                    for (parent, rest) in &rests.0[next as usize] {
                        for (span, nodes) in above[level][start].iter().enumerate().skip(position - start + 1) {
                            let begins = nodes.get(usize::from(*parent)).copied().unwrap_or(0.0) * value;
                            if begins == 0.0 {
                                continue;
                            }
                            for (after, p) in rest.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                                let Some(own) = (start + span - position).checked_sub(after).filter(|&own| own > 0)
                                else {
                                    break;
                                };
                                if children.len() <= own {
                                    children.resize(own + 1, Vec::new());
                                }
                                children[own].resize(grammar.layer(level).children(), 0.0);
                                children[own][child] += begins * p;
                            }
                        }
                    }
                }
            };
            extend(position, 0, 1.0);
            for &(start, state, value) in reader.parts_ending_here(level) {
                extend(start as usize, state, value);
            }
            below[0].push(children);
        }
    }
}
