//! The ways to cut a sentence into blocks: tuples of adjacent candidates of a level, each of which may be one node above.

use crate::chart::{Buffers, Parser, Wanted};
use crate::error::Result;
use crate::grammar::{Grammar, Symbol};
use crate::tuple::TupleCode;
use std::ops::Range;

/// A tuple of candidates that stands in a sentence, with the product of their inside weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instance {
    pub block: u32,
    pub tuple: u32,
    pub weight: f64,
}

/// A span that one node of the level above may cover.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub start: u32,
    pub width: u32,
    /// Where its instances end; they begin where those of the block before it end.
    until: u32,
}

/// The blocks of a sentence, and the tuples that stand there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lattice<'a> {
    /// The number of tokens.
    pub len: usize,
    /// By start and then by width.
    pub blocks: &'a [Block],
    /// Sorted by block.
    pub instances: &'a [Instance],
}

/// The lattices of several sentences, one behind the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Lattices {
    blocks: Vec<Block>,
    instances: Vec<Instance>,
    sentences: Vec<Extent>,
}

/// Where a sentence ends in [`Lattices`], and its number of tokens.
#[derive(Clone, Copy, Debug)]
struct Extent {
    len: u32,
    blocks: u32,
    instances: u32,
}

/// The numbers of the tuples of a level: of all arities that the layer above allows, which is not known yet.
pub(super) fn code(grammar: &Grammar, level: usize) -> TupleCode {
    TupleCode::new(grammar.sizes()[level], grammar.layer(level - 1).arities())
}

/// Reads lattices of one level from sentences, by parsing them with the layers that are known below it.
pub(super) struct Reader<'p> {
    parser: &'p Parser<'p, f64>,
    buffers: Buffers<f64>,
    level: usize,
    code: TupleCode,
    /// The tuples of the start that is being read, each with its width, and with its number among those of the start.
    found: Vec<(u32, u32, Instance)>,
}

impl<'p> Reader<'p> {
    /// The grammar of the parser holds the known layers; those from `level` up may be anything of the right shape.
    pub fn new(parser: &'p Parser<'p, f64>, level: usize) -> Self {
        let code = code(parser.grammar(), level);
        Reader { parser, buffers: parser.buffers(), level, code, found: Vec::new() }
    }

    /// Reads the lattice of a sentence and puts it behind the others; tuples for which `known` is false are left out.
    pub fn read(&mut self, sentence: &[Symbol], known: impl Fn(u32) -> bool, lattices: &mut Lattices) -> Result<()> {
        let depth = self.parser.grammar().depth();
        let Buffers { chart, scratch } = &mut self.buffers;
        self.parser.start(chart, scratch, sentence)?;
        for level in (self.level..depth).rev() {
            self.parser.fill_layer(chart, scratch, level, Wanted::All);
        }
        let is_lowest = self.level == depth;
        let first = (lattices.blocks.len(), lattices.instances.len());
        for start in 0..self.buffers.chart.template().level(self.level - 1).starts() {
            self.found.clear();
            if is_lowest {
                self.find_tokens(start, sentence, &known);
            } else {
                self.find(start, &known);
            }
            lattices.add_start(start as u32, &self.found, first);
        }
        lattices.close(sentence.len());
        Ok(())
    }

    /// Finds the tuples of tokens that begin at `start`, in the order of their widths.
    fn find_tokens(&mut self, start: usize, sentence: &[Symbol], known: &impl Fn(u32) -> bool) {
        let above = self.buffers.chart.template().level(self.level - 1);
        for width in self.code.arities().iter().filter(|&width| above.used_offset(start, width).is_some()) {
            let tuple = self.code.of(&sentence[start..][..width]) as u32;
            if known(tuple) {
                self.found.push((width as u32, 0, Instance { block: 0, tuple, weight: 1.0 }));
            }
        }
    }

    /// Finds the tuples of candidates that begin at `start`, in the order of their widths.
    fn find(&mut self, start: usize, known: &impl Fn(u32) -> bool) {
        let chart = &self.buffers.chart;
        let (above, below) = (chart.template().level(self.level - 1), chart.level(self.level));
        if above.count(start) == 0 {
            return;
        }
        let arities = self.code.arities();
        below.for_each_adjacent(start, arities.most(), |cells, end| {
            let width = end - start;
            if !arities.contains(cells.len()) || above.used_offset(start, width).is_none() {
                return;
            }
            below.for_each_tuple(cells, |tuple, weight| {
                let tuple = self.code.of(tuple) as u32;
                if known(tuple) {
                    let number = self.found.len() as u32;
                    self.found.push((width as u32, number, Instance { block: 0, tuple, weight }));
                }
            });
        });
        self.found.sort_unstable_by_key(|&(width, number, _)| (width, number));
    }
}

impl Lattice<'_> {
    /// The places of the instances of a block.
    pub fn of_block(&self, block: usize) -> Range<usize> {
        let begin = block.checked_sub(1).map_or(0, |before| self.blocks[before].until);
        begin as usize..self.blocks[block].until as usize
    }
}

impl Lattices {
    /// Puts the tuples of one start, sorted by their widths, behind what a sentence has; that begins at the places `first`.
    fn add_start(&mut self, start: u32, found: &[(u32, u32, Instance)], first: (usize, usize)) {
        for block in found.chunk_by(|x, y| x.0 == y.0) {
            let number = (self.blocks.len() - first.0) as u32;
            self.instances.extend(block.iter().map(|&(_, _, instance)| Instance { block: number, ..instance }));
            let until = (self.instances.len() - first.1) as u32;
            self.blocks.push(Block { start, width: block[0].0, until });
        }
    }

    fn close(&mut self, len: usize) {
        let (blocks, instances) = (self.blocks.len() as u32, self.instances.len() as u32);
        self.sentences.push(Extent { len: len as u32, blocks, instances });
    }

    /// Forgets all sentences.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.instances.clear();
        self.sentences.clear();
    }

    /// The lattice of the last sentence.
    ///
    /// # Panics
    /// If there is none.
    pub fn last(&self) -> Lattice<'_> {
        let (last, others) = self.sentences.split_last().expect("a sentence was read");
        let (blocks, instances) = others.last().map_or((0, 0), |end| (end.blocks as usize, end.instances as usize));
        Lattice { len: last.len as usize, blocks: &self.blocks[blocks..], instances: &self.instances[instances..] }
    }

    /// The lattice of each sentence.
    pub fn iter(&self) -> impl Iterator<Item = Lattice<'_>> {
        let (mut blocks, mut instances) = (0, 0);
        self.sentences.iter().map(move |end| {
            let lattice = Lattice {
                len: end.len as usize,
                blocks: &self.blocks[blocks..end.blocks as usize],
                instances: &self.instances[instances..end.instances as usize],
            };
            (blocks, instances) = (end.blocks as usize, end.instances as usize);
            lattice
        })
    }

    /// Leaves out the tuples for which `known` is false, given the position of the sentence.
    pub fn retain(&mut self, known: impl Fn(usize, u32) -> bool) {
        let (mut blocks, mut instances) = (0, 0);
        let (mut old_block, mut old_instance) = (0, 0);
        for (sentence, end) in self.sentences.iter_mut().enumerate() {
            let (first_block, first_instance, first_old) = (blocks, instances, old_instance);
            while old_block < end.blocks as usize {
                let block = self.blocks[old_block];
                let begin = instances;
                while old_instance < first_old + block.until as usize {
                    let instance = self.instances[old_instance];
                    if known(sentence, instance.tuple) {
                        self.instances[instances] = Instance { block: (blocks - first_block) as u32, ..instance };
                        instances += 1;
                    }
                    old_instance += 1;
                }
                if instances > begin {
                    self.blocks[blocks] = Block { until: (instances - first_instance) as u32, ..block };
                    blocks += 1;
                }
                old_block += 1;
            }
            (end.blocks, end.instances) = (blocks as u32, instances as u32);
        }
        self.blocks.truncate(blocks);
        self.instances.truncate(instances);
    }

    /// The number of bytes that they need.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.blocks) + size_of_val(&*self.instances) + size_of_val(&*self.sentences)
    }

    /// Gives back memory that is not needed.
    pub fn shrink(&mut self) {
        self.blocks.shrink_to_fit();
        self.instances.shrink_to_fit();
        self.sentences.shrink_to_fit();
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
            let mut lattices = Lattices::default();
            let parser = Parser::new(&grammar).with_token_scale(token_scale);
            Reader::new(&parser, 1).read(longest, |_| true, &mut lattices).unwrap();
            lattices.instances.iter().map(|instance| instance.weight).sum::<f64>()
        };
        assert!(longest.len() > 580);
        assert_eq!(total(1.0), 0.0);
        let scaled = total(3.5);
        assert!(scaled > 0.0 && scaled.is_finite(), "{scaled}");
    }
    /// What is left out later might as well never have been read.
    #[test]
    fn retained_lattices_are_those_of_known_tuples() {
        let grammar = Ensemble::new(4, 3).fraction(0.8).sample(Seed::new(1)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(2), 0..50);
        let parser = Parser::new(&grammar);
        let known = |tuple: u32| tuple % 5 < 2;
        let read = |known: &dyn Fn(u32) -> bool| {
            let (mut lattices, mut reader) = (Lattices::default(), Reader::new(&parser, 2));
            corpus.sentences().for_each(|sentence| reader.read(sentence, known, &mut lattices).unwrap());
            lattices
        };
        let (mut retained, expected) = (read(&|_| true), read(&known));
        assert!(retained.blocks.len() > expected.blocks.len() && !expected.blocks.is_empty());
        retained.retain(|_, tuple| known(tuple));
        assert_eq!(format!("{retained:?}"), format!("{expected:?}"));
        assert_eq!(retained.iter().count(), 50);
        for lattice in retained.iter() {
            let of_blocks = (0..lattice.blocks.len()).flat_map(|block| lattice.of_block(block).map(move |_| block));
            assert!(of_blocks.eq(lattice.instances.iter().map(|instance| instance.block as usize)));
            assert!(lattice.blocks.is_sorted_by_key(|block| (block.start, block.width)));
        }
        retained.retain(|sentence, _| sentence == 7);
        assert_eq!(retained.iter().position(|lattice| !lattice.blocks.is_empty()), Some(7));
    }
}
