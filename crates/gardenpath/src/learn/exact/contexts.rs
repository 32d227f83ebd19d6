//! The contexts of the rules of a layer: read from the sentences once, and counted again whenever the rules are clustered.

use super::lattice::{Lattice, Lattices, Reader};
use super::lexicon::Lexicon;
use super::mixture::Observations;
use super::observe::{Sides, View};
use super::segment::Segmentation;
use crate::chart::Parser;
use crate::error::Result;
use crate::grammar::Symbol;
use crate::learn::shards::{Sums, Tables, Touched, add_touched, in_order, shards};
use std::ops::Range;

/// Bytes that links may need. Shards that do not fit are read again in every pass.
const BYTES: usize = 1 << 29;

/// The rules of a layer, and what stands around them in the sentences.
pub(super) struct Contexts<'a> {
    view: &'a View<'a>,
    lexicon: &'a Lexicon,
    parser: Parser<'a, f64>,
    /// The rule of each tuple.
    rule: &'a [u32],
    rules: usize,
    tables: Tables,
    /// Expected counts of each rule with each label, and at the beginning and at the end of a sentence: `[rule][feature]`.
    fixed: Vec<f64>,
    shards: Vec<Shard>,
}

struct Shard {
    sentences: Range<usize>,
    links: Option<Vec<Link>>,
}

/// Two rules side by side, and how probable that is.
struct Link {
    left: u32,
    right: u32,
    probability: f64,
}

impl<'a> Contexts<'a> {
    /// Reads sentences. `rule[tuple]` is the number of each of the `rules` tuples that are in the lexicon.
    pub fn read(
        view: &'a View<'a>,
        lexicon: &'a Lexicon,
        sentences: Range<usize>,
        rule: &'a [u32],
        rules: usize,
    ) -> Result<Self> {
        let shard = |sentences| Shard { sentences, links: None };
        let mut shards: Vec<Shard> = shards(view.corpus, sentences).into_iter().map(shard).collect();
        let (bytes, size) = (BYTES / shards.len().max(1), rules * (view.classes + 2));
        let (parser, tables) = (view.parser(), Tables::new(size));
        let (fixed, none) = (Vec::new(), Vec::new());
        let mut contexts = Contexts { view, lexicon, parser, rule, rules, tables, fixed, shards: none };
        let read = |shard: &mut Shard| {
            let mut links = Some(Vec::new());
            let fixed = contexts.read_shard(&shard.sentences, |link| {
                if links.as_ref().is_some_and(|links: &Vec<Link>| size_of_val(links.as_slice()) >= bytes) {
                    links = None;
                }
                if let Some(links) = &mut links {
                    links.push(link);
                }
            })?;
            links.iter_mut().for_each(Vec::shrink_to_fit);
            shard.links = links;
            Ok(fixed)
        };
        let mut fixed = vec![0.0; size];
        in_order(&mut shards, read, |sums| add_touched(&mut fixed, &sums))?;
        (contexts.fixed, contexts.shards) = (fixed, shards);
        Ok(contexts)
    }

    /// Expected counts of the rules with the labels.
    pub fn labels(&self) -> Observations {
        let classes = self.view.classes;
        let rows = self.fixed.chunks_exact(classes + 2);
        Observations { counts: rows.flat_map(|row| &row[..classes]).copied().collect(), groups: vec![classes] }
    }

    /// Expected counts of the rules with the labels and with what their neighbours show.
    pub fn observe(&mut self, sides: &Sides) -> Result<Observations> {
        let (classes, shown) = (self.view.classes, sides.features);
        let mut shards = std::mem::take(&mut self.shards);
        let tables = Tables::new(self.rules * 2 * shown);
        let count = |shard: &mut Shard| {
            tables.sum(|sums| {
                let mut add = |&Link { left, right, probability }: &Link| {
                    let (left, right) = (left as usize, right as usize);
                    sums.add((2 * left + 1) * shown + sides.to_left[right] as usize, probability);
                    sums.add(2 * right * shown + sides.to_right[left] as usize, probability);
                };
                match &shard.links {
                    Some(links) => links.iter().for_each(add),
                    None => drop(self.read_shard(&shard.sentences, |link| add(&link))?),
                }
                Ok(())
            })
        };
        let mut neighbours = vec![0.0; self.rules * 2 * shown];
        in_order(&mut shards, count, |sums| add_touched(&mut neighbours, &sums))?;
        self.shards = shards;
        // The border of the sentence is one more neighbour.
        let mut counts = Vec::with_capacity(self.rules * (classes + 2 * (shown + 1)));
        for (fixed, neighbours) in self.fixed.chunks_exact(classes + 2).zip(neighbours.chunks_exact(2 * shown)) {
            let (labels, borders) = fixed.split_at(classes);
            counts.extend_from_slice(labels);
            for (neighbours, border) in neighbours.chunks_exact(shown).zip(borders) {
                counts.extend_from_slice(neighbours);
                counts.push(*border);
            }
        }
        Ok(Observations { counts, groups: vec![classes, shown + 1, shown + 1] })
    }

    /// Calls `visit` with the links of some sentences; returns the sums of what is not between two rules.
    fn read_shard(&self, sentences: &Range<usize>, mut visit: impl FnMut(Link)) -> Result<Touched> {
        let &Contexts { view, lexicon, ref parser, .. } = self;
        let known = |tuple: u32| lexicon.probability[tuple as usize] > 0.0;
        let (mut reader, mut lattices) = (Reader::new(parser, view.level), Lattices::default());
        let mut segmentation = Segmentation::new(&view.law, &lexicon.probability, lexicon.token_scale);
        self.tables.sum(|fixed| {
            for i in sentences.clone() {
                lattices.clear();
                reader.read(view.corpus.sentence(i), known, &mut lattices)?;
                let lattice = lattices.last();
                if segmentation.run(&lattice) {
                    self.read_sentence(&segmentation, &lattice, view.corpus.roots()[i], fixed, &mut visit);
                }
            }
            Ok(())
        })
    }

    fn read_sentence(
        &self,
        segmentation: &Segmentation,
        lattice: &Lattice,
        root: Symbol,
        fixed: &mut Sums,
        visit: &mut impl FnMut(Link),
    ) {
        let (classes, values) = (self.view.classes, &segmentation.values);
        let rule = |instance: usize| self.rule[lattice.instances[instance].tuple as usize];
        let row = |instance: usize| rule(instance) as usize * (classes + 2);
        for (number, block) in lattice.blocks.iter().enumerate() {
            if segmentation.weights[number] * segmentation.around[number] <= 0.0 {
                continue;
            }
            let (start, end) = (block.start as usize, (block.start + block.width) as usize);
            for one in lattice.of_block(number) {
                let p = values[one] * segmentation.around[number];
                fixed.add(row(one) + usize::from(root), p);
                if start == 0 {
                    fixed.add(row(one) + classes, p);
                }
                if end == lattice.len {
                    fixed.add(row(one) + classes + 1, p);
                }
            }
            let first_next = lattice.blocks.partition_point(|block| (block.start as usize) < end);
            let next = lattice.blocks[first_next..].iter().take_while(|block| block.start as usize == end);
            for (next, block) in (first_next..).zip(next) {
                let both = segmentation.around_two(start, end + block.width as usize);
                if both == 0.0 {
                    continue;
                }
                for one in lattice.of_block(number) {
                    let link =
                        |two| Link { left: rule(one), right: rule(two), probability: both * values[one] * values[two] };
                    lattice.of_block(next).map(link).for_each(&mut *visit);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::exact::segment::NodeLaw;
    use crate::{Corpus, Ensemble, Seed};

    #[test]
    fn links_that_are_kept_are_those_that_would_be_read_again() {
        let grammar = Ensemble::new(4, 3).sample(Seed::new(1)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(2), 0..1500);
        let law = NodeLaw::new(2, [(2, 0.5), (3, 0.5)].into());
        let view = View { grammar: &grammar, corpus: &corpus, level: 3, classes: 4, known_scale: 1.0, law };
        let code = view.code();
        let probability: Vec<f64> = (0..code.len()).map(|tuple| if tuple % 3 == 0 { 0.0 } else { 0.02 }).collect();
        let lexicon = Lexicon { probability, token_scale: 2.0 };
        let rule: Vec<u32> = (0..code.len() as u32).collect();
        let mut contexts = Contexts::read(&view, &lexicon, 0..1500, &rule, code.len()).unwrap();
        let sides = Sides::edges((0..code.len()).map(|tuple| code.children(tuple)), 4);
        let kept = contexts.observe(&sides).unwrap();
        assert!(contexts.shards.iter().all(|shard| shard.links.is_some()));
        contexts.shards.iter_mut().for_each(|shard| shard.links = None);
        let read = contexts.observe(&sides).unwrap();
        assert_eq!(read.counts, kept.counts);

        // Every rule in a sentence has a label, and a neighbour or a border on each side.
        let [labels, left, right] = [0, 4, 9].map(|first| {
            let row = |row: &[f64]| row[first..][..if first == 0 { 4 } else { 5 }].iter().sum::<f64>();
            kept.counts.chunks_exact(14).map(row).collect::<Vec<f64>>()
        });
        for (labels, side) in labels.iter().chain(&labels).zip(left.iter().chain(&right)) {
            assert!((labels - side).abs() < 1e-9 * labels.max(1.0), "{labels} {side}");
        }
        assert!(labels.iter().sum::<f64>() > 1500.0);
        assert_eq!(contexts.labels().counts.len(), 4 * code.len());
    }
}
