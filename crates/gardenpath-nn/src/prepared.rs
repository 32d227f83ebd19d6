//! Sentences that are evaluated repeatedly: everything that does not depend on the weights is computed once.

use crate::error::Result;
use crate::filter_network::Plan;
use crate::network::Network;
use crate::wiring::{Distinct, SharedLayer, Wiring};
use gardenpath::Symbol;
use gardenpath::interrupt::checkpoint;
use std::collections::HashMap;

/// Sentences per evaluation batch. Larger batches than in training share more work.
const BATCH: usize = 512;

/// The most logits, or activations of shared rows, that are held at a time: 64 MB.
const TOGETHER: usize = 1 << 24;

/// The most numbers that say how rows are shared: 64 MB. Beyond them batches are wired anew each time.
pub const KEPT: usize = 1 << 24;

/// Sentences prepared for evaluation.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Those that differ, at least.
    pub(crate) different: Vec<Vec<Symbol>>,
    /// For each sentence the row of logits that answers the first question about it.
    pub(crate) rows: Vec<usize>,
    /// The wiring of those that differ, if it is kept.
    pub(crate) plan: Option<Plan>,
}

impl Prepared {
    /// The different ones among sentences, in portions of consecutive sentences.
    pub(crate) fn different(network: &Network, sentences: &[&[Symbol]]) -> Vec<Self> {
        let mut portions = Vec::new();
        let mut rest = sentences;
        while !rest.is_empty() {
            let mut portion = Prepared { different: Vec::new(), rows: Vec::new(), plan: None };
            let (mut known, mut next) = (HashMap::new(), 0);
            for &sentence in rest {
                if next * network.outputs() >= TOGETHER {
                    break;
                }
                let row = *known.entry(sentence).or_insert(next);
                let questions = network.task.questions(network.vocab, sentence);
                if row == next && questions > 0 {
                    next += questions;
                    portion.different.push(sentence.to_vec());
                }
                portion.rows.push(row);
            }
            rest = &rest[portion.rows.len()..];
            portions.push(portion);
        }
        portions
    }

    /// The logits of the different sentences, batch by batch.
    pub(crate) fn logits(&self, mut of_batch: impl FnMut(&[&[Symbol]]) -> Result<Vec<f32>>) -> Result<Vec<f32>> {
        let mut logits = Vec::new();
        for batch in self.different.chunks(BATCH) {
            checkpoint();
            logits.extend(of_batch(&batch.iter().map(Vec::as_slice).collect::<Vec<_>>())?);
        }
        Ok(logits)
    }

    /// Sentences that are wired by `plan`, batch by batch. What is equal in batches that are wired in the same way is shared, as long as at
    /// most so many numbers say how.
    pub(crate) fn shared(
        network: &Network,
        sentences: &[&[Symbol]],
        most: usize,
        mut plan: impl FnMut(&[&[Symbol]]) -> Result<Plan>,
    ) -> Result<Vec<Self>> {
        let (mut portions, mut kept, mut is_full) = (Vec::new(), 0, false);
        let mut open: Option<Shared> = None;
        for batch in sentences.chunks(BATCH) {
            checkpoint();
            let size = kept + open.as_ref().map_or(0, Shared::size);
            let wiring = if is_full { None } else { Some(plan(batch)?) };
            let Some(wiring) = wiring.filter(|plan| size + plan.layers.iter().map(Wiring::size).sum::<usize>() <= most)
            else {
                is_full = true;
                portions.extend(open.take().map(|shared| shared.close(network)));
                let different = batch.iter().map(|sentence| sentence.to_vec()).collect();
                portions.push(Prepared { different, rows: (0..batch.len()).collect(), plan: None });
                continue;
            };
            if let Some(shared) = open.take_if(|shared| !shared.takes(&wiring, network.width)) {
                kept += shared.size();
                portions.push(shared.close(network));
            }
            open.get_or_insert_with(|| Shared::like(&wiring)).add(network, &wiring, batch);
        }
        portions.extend(open.map(|shared| shared.close(network)));
        Ok(portions)
    }
}

/// Batches whose equal rows are shared.
struct Shared {
    layers: Vec<SharedLayer>,
    roles: Vec<usize>,
    top: Distinct,
    different: Vec<Vec<Symbol>>,
    rows: Vec<usize>,
}

impl Shared {
    fn like(plan: &Plan) -> Self {
        Shared {
            layers: plan.layers.iter().map(SharedLayer::like).collect(),
            roles: plan.layers.iter().map(|wiring| wiring.links.len()).collect(),
            top: Distinct::default(),
            different: Vec::new(),
            rows: Vec::new(),
        }
    }

    fn takes(&self, plan: &Plan, width: usize) -> bool {
        self.layers.iter().map(SharedLayer::rows).sum::<usize>() * width < TOGETHER
            && self.layers.iter().zip(&plan.layers).all(|(layer, wiring)| layer.is_like(wiring))
    }

    fn size(&self) -> usize {
        self.layers.iter().map(SharedLayer::size).sum()
    }

    fn add(&mut self, network: &Network, plan: &Plan, batch: &[&[Symbol]]) {
        let mut names: Vec<u32> = (0..network.vocab as u32).collect();
        for (layer, wiring) in self.layers.iter_mut().zip(&plan.layers) {
            names = layer.add(wiring, &names);
        }
        for (row, sentence) in self.top.rows(&plan.top.sources, &names).into_iter().zip(batch) {
            self.rows.push(row as usize);
            if row as usize == self.different.len() {
                self.different.push(sentence.to_vec());
            }
        }
    }

    fn close(self, network: &Network) -> Prepared {
        let (mut rows, mut channels) = (network.vocab, network.vocab);
        let mut layers = Vec::new();
        for (layer, roles) in self.layers.iter().zip(self.roles) {
            let wiring = layer.wiring(roles, rows, channels);
            (rows, channels) = (wiring.targets, network.width);
            layers.push(wiring);
        }
        let plan = Some(Plan { layers, top: self.top.gather() });
        Prepared { different: self.different, rows: self.rows, plan }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Cpu, Engine, initial_state};
    use crate::network::Architecture;
    use crate::optimizer::Optimizer;
    use crate::task::Task;
    use gardenpath::{Corpus, Ensemble, Seed};

    /// The logits of a network about sentences, by batches and prepared, and what was prepared.
    fn logits(network: &Network, sentences: &[&[Symbol]]) -> (Vec<f32>, Vec<f32>, Vec<Prepared>) {
        let mut engine =
            Cpu::new(network, Optimizer::of_paper(network), &initial_state(network, Seed::new(1))).unwrap();
        let expected = sentences.chunks(BATCH).flat_map(|batch| engine.logits(batch).unwrap()).collect();
        let portions = engine.prepare(sentences).unwrap();
        let (mut found, mut sentences) = (Vec::new(), sentences.iter());
        for portion in &portions {
            let logits = engine.prepared_logits(portion).unwrap();
            for (&row, sentence) in portion.rows.iter().zip(&mut sentences) {
                let questions = network.task.questions(network.vocab, sentence);
                let outputs = network.outputs();
                found.extend_from_slice(&logits[row * outputs..][..questions * outputs]);
            }
        }
        (expected, found, portions)
    }

    /// Also where the terms of a product do not fit into one sum (width 264), and where batches are wired in different ways (few
    /// sentences in the last one, and many tokens).
    #[test]
    fn prepared_sentences_have_the_same_logits_to_the_last_bit() {
        let transformer = Architecture::Transformer { layers: 2, heads: 4, mlp: 24 };
        for (task, architecture, vocab, width, samples) in [
            (Task::Root, Architecture::cnn(), 6, 20, 1100),
            (Task::Root, Architecture::cnn(), 6, 264, 600),
            (Task::Root, Architecture::cnn(), 20, 12, BATCH as u64 + 1),
            (Task::Root, Architecture::inn(), 6, 20, 1100),
            (Task::Root, Architecture::inn(), 6, 264, 600),
            (Task::Root, Architecture::inn(), 20, 12, BATCH as u64 + 1),
            (Task::Root, transformer, 6, 20, 1100),
            (Task::Next, transformer, 6, 20, 1100),
            (Task::Masked, transformer, 5, 20, 1100),
        ] {
            let grammar = Ensemble::new(6.max(vocab), 2).fraction(0.17).sample(Seed::new(1)).unwrap();
            let corpus = Corpus::sample(&grammar, Seed::new(2), 0..samples);
            let network = Network::for_task(task, vocab, 20, grammar.shape(), width, architecture).unwrap();
            let sentences: Vec<&[Symbol]> = corpus.sentences().collect();
            let (expected, found, _) = logits(&network, &sentences);
            let bits = |logits: &[f32]| logits.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert!(!found.is_empty() && bits(&found) == bits(&expected), "{} {vocab} {width}", architecture.name());
        }
    }

    /// If sharing would need too much memory, batches stay as they are.
    #[test]
    fn what_is_kept_is_bounded() {
        let grammar = Ensemble::new(6, 2).fraction(0.17).sample(Seed::new(1)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(2), 0..1100);
        let sentences: Vec<&[Symbol]> = corpus.sentences().collect();
        let network = Network::new(6, 6, grammar.shape(), 8, Architecture::cnn()).unwrap();
        let prepare = |most| {
            let plan = |batch: &[&[Symbol]]| Ok(crate::cnn::plan(&network, batch));
            let portions = Prepared::shared(&network, &sentences, most, plan).unwrap();
            portions.iter().map(|portion| (portion.rows.len(), portion.plan.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(prepare(KEPT), [(1100, true)]);
        let first: usize = crate::cnn::plan(&network, &sentences[..BATCH]).layers.iter().map(Wiring::size).sum();
        assert_eq!(prepare(first), [(512, true), (512, false), (76, false)]);
        assert_eq!(prepare(0), [(512, false), (512, false), (76, false)]);
    }

    #[test]
    fn what_is_equal_is_computed_once() {
        let grammar = Ensemble::new(6, 2).fraction(0.17).sample(Seed::new(1)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(2), 0..100);
        let once: Vec<&[Symbol]> = corpus.sentences().collect();
        let often = once.repeat(20);
        for architecture in
            [Architecture::cnn(), Architecture::inn(), Architecture::Transformer { layers: 1, heads: 2, mlp: 8 }]
        {
            let network = Network::new(6, 6, grammar.shape(), 8, architecture).unwrap();
            let [once, often] = [&once, &often].map(|sentences| logits(&network, sentences).2);
            assert!(once.len() == 1 && often.len() == 1 && often[0].rows.len() == 2000);
            assert_eq!(once[0].different, often[0].different);
            let products = |plan: &Plan| plan.layers.iter().map(|wiring| wiring.products).collect::<Vec<_>>();
            assert_eq!(once[0].plan.as_ref().map(products), often[0].plan.as_ref().map(products));
        }
    }
}
