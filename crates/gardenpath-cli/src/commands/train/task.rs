//! The training and test sentences of a network: sampled from a grammar, or the user's own.

use super::Arguments;
use crate::cli::whole_number;
use anyhow::{Result, bail};
use gardenpath::{Corpus, Ensemble, Grammar, Shape};
use gardenpath_lab::files::{self, Whole, shown};
use gardenpath_lab::training::{Corpora, Data, Recipe};
use gardenpath_nn::Network;
use std::path::{Path, PathBuf};

/// Default number of test sentences.
const TEST_SENTENCES: u64 = 20_000;

/// Sentences to test on.
#[derive(Clone, Debug)]
pub enum TestSet {
    /// This many fresh sentences of the grammar.
    Fresh(u64),
    /// The sentences of a file.
    File(PathBuf),
}

/// Parses the value of `--test`: a file, or a number, which is equivalent to `--test-samples`.
pub(super) fn test_set(text: &str) -> Result<TestSet, String> {
    Ok(whole_number(text).map_or_else(|_| TestSet::File(text.into()), TestSet::Fresh))
}

/// Training and test sentences.
pub(super) struct Task {
    /// The grammar of the sentences, if known.
    pub grammar: Option<Grammar>,
    /// The ensemble of the grammar, unless it is unknown or was read from a file.
    pub ensemble: Option<Ensemble>,
    pub vocab: usize,
    classes: usize,
    /// The shape of the trees.
    pub shape: Shape,
    /// The number of training sentences.
    pub samples: u64,
    /// The number of test sentences.
    pub test: u64,
    /// The user's own training and test sentences.
    own: Option<[Whole; 2]>,
}

impl Task {
    /// The task that the arguments describe. Reads corpora.
    pub fn of(arguments: &Arguments) -> Result<Self> {
        let grammar = arguments.grammar.as_ref().map(|path| files::grammar::read(path)).transpose()?;
        match (&arguments.corpus, &arguments.test) {
            (Some(corpus), Some(TestSet::File(test))) => Task::of_files(arguments, grammar, [corpus, test]),
            (Some(corpus), Some(TestSet::Fresh(count))) => {
                bail!("--test is {count}, expected a file of test sentences for {}", shown(corpus))
            }
            (Some(corpus), None) => {
                bail!("expected --test with a file of test sentences for {}", shown(corpus))
            }
            (None, Some(TestSet::File(test))) => {
                bail!("--test is {}, expected a whole number, or --corpus with a file to train on", shown(test))
            }
            (None, Some(TestSet::Fresh(count))) => Task::sampled(arguments, grammar, *count),
            (None, None) => Task::sampled(arguments, grammar, arguments.test_samples.unwrap_or(TEST_SENTENCES)),
        }
    }

    fn sampled(arguments: &Arguments, grammar: Option<Grammar>, test: u64) -> Result<Self> {
        let Some(samples) = arguments.samples else { bail!("expected --samples") };
        let (grammar, ensemble) = match grammar {
            Some(grammar) => (grammar, None),
            None => {
                let Arguments { levels, rules, law, vocab, depth, .. } = arguments;
                let ensemble = law.ensemble(rules.choices(law, levels.choices(*vocab, *depth))?)?;
                (ensemble.sample(arguments.seed.get())?, Some(ensemble))
            }
        };
        let (vocab, classes, shape) = (grammar.vocab(), grammar.classes(), grammar.shape());
        Ok(Task { grammar: Some(grammar), ensemble, vocab, classes, shape, samples, test, own: None })
    }

    fn of_files(arguments: &Arguments, grammar: Option<Grammar>, paths: [&PathBuf; 2]) -> Result<Self> {
        if paths.iter().chain(&arguments.grammar.as_ref()).filter(|path| files::is_standard(path)).count() > 1 {
            bail!("only one of --corpus, --test and --grammar can come from standard input");
        }
        let needs_roots = arguments.task.is_root();
        let read = |path: &Path| {
            let whole = match &grammar {
                Some(grammar) => Whole::read_of(path, grammar)?,
                None => Whole::read(path)?,
            };
            if needs_roots { whole.labelled() } else { whole.filled() }
        };
        let mut own = [read(paths[0])?, read(paths[1])?];
        if grammar.is_none() {
            Whole::unite(&mut own, &Default::default())?;
        }
        let shape = match (&grammar, arguments.depth) {
            (Some(grammar), _) => grammar.shape(),
            (None, Some(depth)) if (1..=Shape::MAX_DEPTH).contains(&depth) => Shape::mixed(depth),
            (None, Some(depth)) => bail!("--depth is {depth}, expected 1 to {}", Shape::MAX_DEPTH),
            (None, None) => bail!("expected --depth or --grammar"),
        };
        own.iter().try_for_each(|whole| check_lengths(whole, &shape))?;
        if let Some(samples) = arguments.samples {
            own[0].corpus = first(&own[0], samples)?;
        }
        let [train, test] = &own;
        let (vocab, classes) = (train.vocab, train.classes);
        for (count, what) in [(vocab, "tokens"), (classes, "classes")] {
            if count < 2 && (what == "tokens" || needs_roots) {
                let [train, test] = paths.map(|path| shown(path));
                bail!("{train} and {test} have {count} different {what}, expected at least 2");
            }
        }
        let (samples, test) = (train.corpus.len() as u64, test.corpus.len() as u64);
        Ok(Task { grammar, ensemble: None, vocab, classes, shape, samples, test, own: Some(own) })
    }

    /// Identifies the user's own sentences.
    pub fn corpora(&self) -> Option<Corpora> {
        let [train, test] = self.own.as_ref()?;
        Some(Corpora {
            train_hash: train.fingerprint(),
            test_hash: test.fingerprint(),
            vocab: self.vocab,
            classes: self.classes,
            depth: self.shape.depth(),
            has_grammar: self.grammar.is_some(),
            names: train.names.clone(),
        })
    }

    /// The network for these sentences.
    pub fn network(&self, recipe: &Recipe) -> Result<Network> {
        recipe.network_for(self.vocab, self.classes, self.shape.clone())
    }

    /// The sentences, with the Bayes loss if the grammar is known. The user's own sentences are moved out.
    pub fn take_data(&mut self, recipe: &Recipe) -> Result<Data> {
        match (self.own.take(), &self.grammar) {
            (Some([train, test]), grammar) => recipe.data_of(train.corpus, test.corpus, grammar.as_ref()),
            (None, Some(grammar)) => recipe.data(grammar),
            (None, None) => bail!("expected --corpus or a grammar"),
        }
    }
}

/// Refuses a corpus with a sentence that is too short or too long for any tree.
fn check_lengths(whole: &Whole, shape: &Shape) -> Result<()> {
    let Some(i) = whole.corpus.sentences().position(|sentence| !shape.has_length(sentence.len())) else {
        return Ok(());
    };
    let (file, len, lengths, depth) =
        (shown(&whole.path), whole.corpus.sentence(i).len(), shape.lengths(), shape.depth());
    let (least, most) = (lengths.start(), lengths.end());
    bail!("{file}: sentence {} has {len} tokens; trees of depth {depth} have {least} to {most}", i + 1)
}

/// The first sentences of a corpus.
fn first(whole: &Whole, count: u64) -> Result<Corpus> {
    let Whole { corpus, path, .. } = whole;
    let count = usize::try_from(count).ok().filter(|&count| count <= corpus.len());
    let Some(count) = count else {
        bail!("--samples: {} has only {} sentences", shown(path), corpus.len());
    };
    if count == 0 {
        bail!("expected at least one training and one test sentence");
    }
    let mut part = Corpus::default();
    (0..count).for_each(|i| part.push(corpus.sentence(i), corpus.roots()[i]));
    Ok(part)
}
