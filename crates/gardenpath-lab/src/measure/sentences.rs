//! The training and test sentences of a cell: the same for all measures with the same parameters.

use super::ensemble::Sampled;
use super::parameter::{Parameters, Values, parameters};
use super::{Measure, TEST_SENTENCES};
use crate::training::{self, Floor};
use anyhow::Result;
use gardenpath::{Corpus, Grammar};

parameters! {
    /// The parameters of everything that is trained and tested.
    pub struct Shared {
        ..sampled: Sampled;
        samples: u64 => "Number of training sentences";
        test: u64 = TEST_SENTENCES => "Number of test sentences";
        seed: u64 => "Seed of the grammar, its sentences and everything else";
    }
}

/// The sentences of a cell.
#[derive(Clone, Debug)]
pub struct Sentences {
    /// Their grammar.
    pub grammar: Grammar,
    /// The training sentences.
    pub train: Corpus,
    /// The test sentences.
    pub test: Corpus,
}

impl Sentences {
    /// The Bayes loss and accuracy on the test sentences: no learner does better on average.
    pub fn floor(&self) -> Result<Floor> {
        Floor::of(&self.grammar, &self.test)
    }
}

impl Measure {
    /// The sentences of the cell. Fails for a measure without training.
    pub fn sentences(&self) -> Result<Sentences> {
        let table = Shared::table();
        let mut parameters = self.parameters();
        parameters.retain(|name, _| table.iter().any(|parameter| parameter.name == name.as_str()));
        let mut values = Values::new(&self.description.name, &table, parameters);
        let Shared { sampled, samples, test, seed } = Shared::read(&mut values)?;
        let grammar = sampled.grammar(seed)?;
        let [train, test] = training::sentences(&grammar, samples, test, seed)?;
        Ok(Sentences { grammar, train, test })
    }
}
