//! The probability of each prefix of a layer's rules, given the parent.

use crate::grammar::{Layer, State, Symbol};
use crate::inside::gemm::add_weighted_rows;

/// The probabilities of all prefixes of a layer, by state and parent.
///
/// `P(the children of z begin with the prefix)`. For the first two children they are also kept as matrices, where these are small: most
/// of the work is there.
#[derive(Clone, Debug)]
pub(super) struct PrefixTables<'g> {
    pub layer: &'g Layer,
    /// The parents of state `s` and their probabilities are `weights[first[s]..first[s + 1]]`.
    first: Vec<u32>,
    weights: Vec<(Symbol, f64)>,
    /// The probabilities of the rules, in the order of the automaton's entries.
    of_entry: Vec<f64>,
    /// `[state of length 0 or 1][parent][next child]`, or empty.
    matrices: Vec<f64>,
}

/// Matrices with more numbers than this are not kept.
const MATRIX_LIMIT: usize = 1 << 18;

impl<'g> PrefixTables<'g> {
    pub fn new(layer: &'g Layer) -> Self {
        let automaton = layer.automaton();
        let states = automaton.states();
        let mut of_state: Vec<Vec<(Symbol, f64)>> = vec![Vec::new(); states];
        for state in (0..states as State).rev() {
            let mut sums = vec![0.0; layer.parents()];
            for entry in automaton.entries_of(state) {
                sums[usize::from(automaton.parent(entry))] += layer.rules()[automaton.rule(entry)].probability;
            }
            for next in automaton.extensions(state) {
                of_state[next as usize].iter().for_each(|&(parent, weight)| sums[usize::from(parent)] += weight);
            }
            of_state[state as usize] =
                (0..).zip(&sums).filter(|(_, sum)| **sum > 0.0).map(|(parent, &sum)| (parent, sum)).collect();
        }
        let mut first = vec![0];
        let mut weights = Vec::new();
        for own in of_state {
            weights.extend(own);
            first.push(weights.len() as u32);
        }
        let of_entry = (0..automaton.entries()).map(|entry| layer.rules()[automaton.rule(entry)].probability).collect();
        let mut tables = PrefixTables { layer, first, weights, of_entry, matrices: Vec::new() };
        let short = automaton.of_length(1).end as usize;
        let size = layer.parents() * layer.children();
        if short * size <= MATRIX_LIMIT {
            tables.matrices = vec![0.0; short * size];
            for state in 0..short {
                let matrix = state * size;
                for next in automaton.extensions(state as State) {
                    for k in tables.first[next as usize]..tables.first[next as usize + 1] {
                        let (parent, weight) = tables.weights[k as usize];
                        let row = matrix + usize::from(parent) * layer.children();
                        tables.matrices[row + usize::from(automaton.last(next))] = weight;
                    }
                }
            }
        }
        tables
    }

    /// The probability of the rule of an entry of the automaton.
    #[inline]
    pub fn weight(&self, entry: usize) -> f64 {
        self.of_entry[entry]
    }

    /// The parents of a prefix, with its probability for each.
    #[inline]
    pub fn parents(&self, state: State) -> &[(Symbol, f64)] {
        &self.weights[self.first[state as usize] as usize..self.first[state as usize + 1] as usize]
    }

    /// Adds to `children`, for every symbol that may follow the prefix, `factor * Σ_z begins[z] P(z's children begin with both)`.
    #[inline]
    pub fn add_next_children(&self, state: State, factor: f64, begins: &[f64], children: &mut [f64]) {
        let automaton = self.layer.automaton();
        let size = begins.len() * children.len();
        if let Some(matrix) = self.matrices.get(state as usize * size..(state as usize + 1) * size) {
            return add_weighted_rows(children, factor, begins, matrix);
        }
        for next in automaton.extensions(state) {
            let sum: f64 = self.parents(next).iter().map(|&(z, weight)| begins[usize::from(z)] * weight).sum();
            children[usize::from(automaton.last(next))] += factor * sum;
        }
    }
}
