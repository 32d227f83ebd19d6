//! Forward and backward over a lattice: how probable each block is in a random cutting of the sentence.
//!
//! A sentence is a sequence of `K` independent blocks, each a tuple drawn from one lexicon; `K` follows the law of the number
//! of nodes of the level.

use super::lattice::Lattice;
use crate::arity::PerArity;

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
#[derive(Clone, Debug, Default)]
pub(super) struct Segmentation {
    /// `[position][k]`: all ways to write the tokens before a position as `k` blocks.
    forward: Vec<f64>,
    /// `[position][k]`: all ways to write the tokens from a position on, after `k` blocks.
    backward: Vec<f64>,
    /// The weight of each block: the sum over its instances.
    pub weights: Vec<f64>,
    /// For each block, the share of everything around it: an instance's value times this is its probability.
    pub around: Vec<f64>,
    /// The sum over all cuttings.
    pub total: f64,
    states: usize,
}

impl Segmentation {
    /// Sums over all cuttings; `value` gives the weight of each instance. Returns whether there is any cutting.
    ///
    /// Each token brings a factor `token_scale`, which keeps the sums of long sentences near one.
    pub fn run(&mut self, lattice: &Lattice, law: &NodeLaw, token_scale: f64, value: impl Fn(u32, f64) -> f64) -> bool {
        let (len, states) = (lattice.len, law.0.len());
        self.states = states;
        self.weights.clear();
        self.weights.resize(lattice.blocks.len(), 0.0);
        for instance in &lattice.instances {
            self.weights[instance.block as usize] += value(instance.tuple, instance.weight);
        }
        for (&(_, width), weight) in lattice.blocks.iter().zip(&mut self.weights) {
            *weight *= token_scale.powi(width as i32);
        }
        self.forward.clear();
        self.forward.resize((len + 1) * states, 0.0);
        self.backward.clear();
        self.backward.resize((len + 1) * states, 0.0);
        // Before a position there are only so many blocks: all other numbers are zero.
        let widths = || lattice.blocks.iter().map(|&(_, width)| width as usize);
        let (narrow, wide) = (widths().min().unwrap_or(1), widths().max().unwrap_or(1));
        let before = |start: u32| (start as usize).div_ceil(wide)..(start as usize / narrow + 1).min(states - 1);
        self.forward[0] = 1.0;
        for (&(start, width), &weight) in lattice.blocks.iter().zip(&self.weights) {
            let (left, right) = self.forward.split_at_mut((start + width) as usize * states);
            let left = &left[start as usize * states..][..states];
            for k in before(start) {
                right[k + 1] += left[k] * weight;
            }
        }
        self.backward[len * states..].copy_from_slice(&law.0);
        for (&(start, width), &weight) in lattice.blocks.iter().zip(&self.weights).rev() {
            let (left, right) = self.backward.split_at_mut((start + width) as usize * states);
            let left = &mut left[start as usize * states..][..states];
            for k in before(start) {
                left[k] += right[k + 1] * weight;
            }
        }
        self.total = self.backward[0];
        if !(self.total > 0.0 && self.total.is_finite()) {
            return false;
        }
        self.around.clear();
        for &(start, width) in &lattice.blocks {
            let left = &self.forward[start as usize * states..][..states];
            let right = &self.backward[(start + width) as usize * states..][..states];
            let sum: f64 = before(start).map(|k| left[k] * right[k + 1]).sum();
            self.around.push(sum / self.total * token_scale.powi(width as i32));
        }
        true
    }

    /// The share of everything around two adjacent blocks, given where the first begins and the second ends.
    ///
    /// The values of one instance of each times this is the probability of both; the scale is that of their tokens.
    pub fn around_two(&self, start: usize, end: usize) -> f64 {
        let before = &self.forward[start * self.states..][..self.states.saturating_sub(2)];
        let after = self.backward[end * self.states..][..self.states].iter().skip(2);
        before.iter().zip(after).map(|(x, y)| x * y).sum::<f64>() / self.total
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
