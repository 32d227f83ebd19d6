//! The ways to cut a sentence into blocks: tuples of adjacent candidates of a level, each of which may be one node above.

use crate::chart::{Buffers, Parser};
use crate::error::Result;
use crate::grammar::{Grammar, Symbol};
use crate::tuple::TupleCode;

/// A tuple of candidates that stands in a sentence, with the product of their inside weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instance {
    pub block: u32,
    pub tuple: u32,
    pub weight: f64,
}

/// The spans that one node of the level above may cover, and the tuples that stand there.
#[derive(Clone, Debug, Default)]
pub(super) struct Lattice {
    /// The number of tokens.
    pub len: usize,
    /// (start, width) of each block, by start and then by width.
    pub blocks: Vec<(u32, u32)>,
    /// Sorted by block: those of block `b` are `first[b]..first[b + 1]`.
    pub instances: Vec<Instance>,
    pub first: Vec<u32>,
    /// The block of each width at the start that is being read, plus one.
    of_width: Vec<u32>,
}

/// The numbers of the tuples of a level: of all arities that the layer above allows, which is not known yet.
pub(super) fn code(grammar: &Grammar, level: usize) -> TupleCode {
    TupleCode::new(grammar.sizes()[level], grammar.layer(level - 1).arities())
}

/// Reads lattices of one level from sentences, by parsing them with the layers that are known below it.
pub(super) struct Reader<'g> {
    parser: Parser<'g, f64>,
    buffers: Buffers<f64>,
    level: usize,
    code: TupleCode,
}

impl<'g> Reader<'g> {
    /// `grammar` holds the known layers; those from `level` up may be anything of the right shape. Above the tokens, weights are
    /// multiplied by `token_scale` for each token, which keeps them near one.
    pub fn new(grammar: &'g Grammar, level: usize, token_scale: f64) -> Self {
        let parser = Parser::new(grammar).with_token_scale(token_scale);
        let buffers = parser.buffers();
        Reader { parser, buffers, level, code: code(grammar, level) }
    }

    /// Reads the lattice of a sentence; tuples for which `known` is false are left out.
    pub fn read(&mut self, sentence: &[Symbol], known: impl Fn(u32) -> bool, lattice: &mut Lattice) -> Result<()> {
        let depth = self.parser.grammar().depth();
        let Buffers { chart, scratch } = &mut self.buffers;
        self.parser.start(chart, scratch, sentence)?;
        for level in (self.level..depth).rev() {
            self.parser.fill_layer(chart, scratch, level);
        }
        lattice.clear(sentence.len());
        let above = self.buffers.chart.template().level(self.level - 1);
        for start in 0..above.starts() {
            if above.count(start) > 0 {
                lattice.of_width.clear();
                lattice.of_width.resize(above.count(start), 0);
                self.read_start(start, &known, lattice);
            }
        }
        lattice.sort();
        Ok(())
    }

    fn read_start(&self, start: usize, known: &impl Fn(u32) -> bool, lattice: &mut Lattice) {
        let chart = &self.buffers.chart;
        let (above, below) = (chart.template().level(self.level - 1), chart.level(self.level));
        let arities = self.code.arities();
        below.for_each_adjacent(start, arities.most(), |cells, end| {
            let width = end - start;
            let Some(offset) = above.used_offset(start, width).filter(|_| arities.contains(cells.len())) else {
                return;
            };
            below.for_each_tuple(cells, |tuple, weight| {
                let tuple = self.code.of(tuple) as u32;
                if known(tuple) {
                    lattice.add(start, width, offset, tuple, weight);
                }
            });
        });
    }
}

impl Lattice {
    fn clear(&mut self, len: usize) {
        self.len = len;
        self.blocks.clear();
        self.instances.clear();
    }

    /// Brings blocks into the order of their starts and widths, and instances into that of their blocks.
    fn sort(&mut self) {
        let mut order: Vec<u32> = (0..self.blocks.len() as u32).collect();
        order.sort_by_key(|&block| self.blocks[block as usize]);
        let mut rank = vec![0; order.len()];
        for (position, &block) in order.iter().enumerate() {
            rank[block as usize] = position as u32;
        }
        self.blocks.sort_unstable();
        self.instances.iter_mut().for_each(|instance| instance.block = rank[instance.block as usize]);
        self.instances.sort_by_key(|instance| instance.block);
        self.first.clear();
        let mut next = 0;
        for block in 0..self.blocks.len() as u32 {
            self.first.push(next);
            while self.instances.get(next as usize).is_some_and(|instance| instance.block == block) {
                next += 1;
            }
        }
        self.first.push(next);
    }

    /// The instances of a block.
    pub fn of_block(&self, block: usize) -> &[Instance] {
        &self.instances[self.first[block] as usize..self.first[block + 1] as usize]
    }

    fn add(&mut self, start: usize, width: usize, offset: u32, tuple: u32, weight: f64) {
        let slot = &mut self.of_width[offset as usize];
        if *slot == 0 {
            self.blocks.push((start as u32, width as u32));
            *slot = self.blocks.len() as u32;
        }
        self.instances.push(Instance { block: *slot - 1, tuple, weight });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Corpus, Ensemble, Seed};

    /// The weights of a long sentence underflow, unless each token has a factor.
    #[test]
    fn long_sentences_do_not_underflow() {
        let grammar = Ensemble::new(4, 7).fraction(0.5).sample(Seed::new(1)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(2), 0..20);
        let longest = corpus.sentences().max_by_key(|sentence| sentence.len()).unwrap();
        let total = |token_scale: f64| {
            let mut lattice = Lattice::default();
            Reader::new(&grammar, 1, token_scale).read(longest, |_| true, &mut lattice).unwrap();
            lattice.instances.iter().map(|instance| instance.weight).sum::<f64>()
        };
        assert!(longest.len() > 580);
        assert_eq!(total(1.0), 0.0);
        let scaled = total(3.5);
        assert!(scaled > 0.0 && scaled.is_finite(), "{scaled}");
    }
}
