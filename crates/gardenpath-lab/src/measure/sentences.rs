//! The sentences of a cell that learns from some and is tested on others: the same for all measures with the same parameters.

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
        samples: u64 => "Sentences to learn from";
        test: u64 = TEST_SENTENCES => "Sentences to test on";
        seed: u64 => "Seed of the grammar, its sentences and all else";
    }
}

/// The sentences of a cell.
#[derive(Clone, Debug)]
pub struct Sentences {
    /// The grammar that they come from.
    pub grammar: Grammar,
    /// Those to learn from.
    pub train: Corpus,
    /// Those to test on.
    pub test: Corpus,
}

impl Sentences {
    /// How well exact parsing tells the roots of the test sentences: no learner does better on average.
    pub fn floor(&self) -> Result<Floor> {
        Floor::of(&self.grammar, &self.test)
    }
}

impl Measure {
    /// The sentences of the cell. A measure that does not learn has none, which is an error.
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
