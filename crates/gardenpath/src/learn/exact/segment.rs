//! Forward and backward over a lattice: how probable each block is in a random cutting of the sentence.
//!
//! A sentence is a sequence of `K` independent blocks, each a tuple drawn from one lexicon; `K` follows the law of the number
//! of nodes of the level.

use super::lattice::Lattice;
use crate::arity::PerArity;
use std::ops::Range;

/// The law of the number of nodes of a level: `law[k]` for `k` nodes.
#[derive(Clone, Debug)]
pub(super) struct NodeLaw(Vec<f64>);

impl NodeLaw {
    /// The law of a level, if all nodes above it have these numbers of children.
    pub fn new(level: usize, branching: PerArity<f64>) -> Self {
        let most = branching.arities().most();
        let mut law = vec![0.0, 1.0];
        for _ in 0..level {
            let mut below = vec![0.0; most * (law.len() - 1) + 1];
            // The law of the children of one node, of two, of three, ...
            let mut children = vec![1.0];
            for above in &law[1..] {
                let mut more = vec![0.0; children.len() + most];
                for (arity, p) in branching.nonzero() {
                    more[arity..].iter_mut().zip(&children).for_each(|(sum, q)| *sum += p * q);
                }
                children = more;
                below.iter_mut().zip(&children).for_each(|(sum, q)| *sum += above * q);
            }
            law = below;
        }
        NodeLaw(law)
    }
}

/// Sums over all cuttings of one sentence.
pub(super) struct Segmentation<'a> {
    law: &'a NodeLaw,
    /// The probability of each tuple as one block.
    probability: &'a [f64],
    /// A factor that each token brings, which keeps the sums of long sentences near one, and its powers.
    token_scale: f64,
    scales: Vec<f64>,
    /// `[position][k]`: all ways to write the tokens before a position as `k` blocks.
    forward: Vec<f64>,
    /// `[position][k]`: all ways to write the tokens from a position on, after `k` blocks.
    backward: Vec<f64>,
    /// The value of each instance: its weight and the probability of its tuple.
    pub values: Vec<f64>,
    /// The weight of each block: the sum over its instances.
    pub weights: Vec<f64>,
    /// For each block, the share of everything around it: an instance's value times this is its probability.
    pub around: Vec<f64>,
    /// The sum over all cuttings.
    pub total: f64,
    /// The least and the largest number of tokens of a block.
    widths: (usize, usize),
}

impl<'a> Segmentation<'a> {
    /// Each token brings a factor `token_scale`.
    pub fn new(law: &'a NodeLaw, probability: &'a [f64], token_scale: f64) -> Self {
        Segmentation {
            law,
            probability,
            token_scale,
            scales: Vec::new(),
            forward: Vec::new(),
            backward: Vec::new(),
            values: Vec::new(),
            weights: Vec::new(),
            around: Vec::new(),
            total: 0.0,
            widths: (1, 1),
        }
    }

    /// Sums over all cuttings. Returns whether there is any.
    pub fn run(&mut self, lattice: &Lattice) -> bool {
        let (len, states) = (lattice.len, self.law.0.len());
        while self.scales.len() <= len {
            self.scales.push(self.token_scale.powi(self.scales.len() as i32));
        }
        self.values.clear();
        self.values.extend(lattice.instances.iter().map(|i| self.probability[i.tuple as usize] * i.weight));
        self.weights.clear();
        self.weights.resize(lattice.blocks.len(), 0.0);
        for (instance, value) in lattice.instances.iter().zip(&self.values) {
            self.weights[instance.block as usize] += value;
        }
        for (block, weight) in lattice.blocks.iter().zip(&mut self.weights) {
            *weight *= self.scales[block.width as usize];
        }
        self.forward.clear();
        self.forward.resize((len + 1) * states, 0.0);
        self.backward.clear();
        self.backward.resize((len + 1) * states, 0.0);
        let widths = || lattice.blocks.iter().map(|block| block.width as usize);
        self.widths = (widths().min().unwrap_or(1), widths().max().unwrap_or(1));
        self.forward[0] = 1.0;
        for (block, &weight) in lattice.blocks.iter().zip(&self.weights) {
            let (start, range) = (block.start as usize, self.before(block.start));
            let (left, right) = self.forward.split_at_mut((block.start + block.width) as usize * states);
            let left = &left[start * states..][range.clone()];
            right[range.start + 1..].iter_mut().zip(left).for_each(|(sum, left)| *sum += left * weight);
        }
        self.backward[len * states..].copy_from_slice(&self.law.0);
        for (block, &weight) in lattice.blocks.iter().zip(&self.weights).rev() {
            let (start, range) = (block.start as usize, self.before(block.start));
            let (left, right) = self.backward.split_at_mut((block.start + block.width) as usize * states);
            let left = &mut left[start * states..][range.clone()];
            left.iter_mut().zip(&right[range.start + 1..]).for_each(|(sum, right)| *sum += right * weight);
        }
        self.total = self.backward[0];
        if !(self.total > 0.0 && self.total.is_finite()) {
            return false;
        }
        self.around.clear();
        for block in lattice.blocks {
            let sum = self.product(block.start as usize, (block.start + block.width) as usize, 1);
            self.around.push(sum / self.total * self.scales[block.width as usize]);
        }
        true
    }

    /// The numbers of blocks that there can be before a block: for all others, sums are zero.
    fn before(&self, start: u32) -> Range<usize> {
        let ((narrow, wide), start) = (self.widths, start as usize);
        let end = (start / narrow + 1).min(self.law.0.len() - 1);
        start.div_ceil(wide).min(end)..end
    }

    /// All that is before one position and after another, with so many blocks between them.
    fn product(&self, start: usize, end: usize, blocks: usize) -> f64 {
        let (states, range) = (self.law.0.len(), self.before(start as u32));
        let left = &self.forward[start * states..][range.clone()];
        let right = self.backward[end * states..][..states].iter().skip(range.start + blocks);
        left.iter().zip(right).map(|(x, y)| x * y).sum()
    }

    /// The share of everything around two adjacent blocks, given where the first begins and the second ends.
    ///
    /// The values of one instance of each times this is the probability of both.
    pub fn around_two(&self, start: usize, end: usize) -> f64 {
        self.product(start, end, 2) / self.total * self.scales[end - start]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_follow_the_law_of_their_parents() {
        let NodeLaw(law) = NodeLaw::new(2, [(2, 0.5), (3, 0.5)].into());
        // Two or three nodes with two or three children each.
        let expected = [0.0, 0.0, 0.0, 0.0, 2.0, 4.0, 3.0, 3.0, 3.0, 1.0].map(|sixteenths| sixteenths / 16.0);
        assert_eq!(law, expected);
        let NodeLaw(law) = NodeLaw::new(3, [(2, 0.3), (4, 0.7)].into());
        assert_eq!(law.len(), 65);
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let mean: f64 = law.iter().enumerate().map(|(nodes, p)| nodes as f64 * p).sum();
        assert!((mean - 3.4f64.powi(3)).abs() < 1e-12 && law.iter().skip(1).step_by(2).all(|p| *p == 0.0));
        assert_eq!(NodeLaw::new(0, [(4, 1.0)].into()).0, [0.0, 1.0]);
    }
}
