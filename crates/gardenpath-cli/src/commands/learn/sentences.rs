//! The training and test sentences of a learner, from files or sampled from a grammar, with consistent numbers for
//! words.

use super::names;
use super::{Arguments, Mode};
use anyhow::{Result, anyhow, bail};
use gardenpath::{Corpus, Grammar, Seed};
use gardenpath_lab::files::{self, Names, Whole};
use std::path::Path;

/// The training and test sentences of a learner.
pub(super) struct Sentences {
    pub corpus: Corpus,
    pub test: Option<Corpus>,
    /// The names of tokens and classes.
    pub names: Names,
}

/// Fresh sentences of the true grammar for scoring.
const TEST_SENTENCES: u64 = 20_000;

impl Sentences {
    /// Reads or samples the sentences. Words that are names in the true grammar get its numbers.
    pub fn gather(arguments: &Arguments, truth: Option<&Grammar>) -> Result<Self> {
        let paths = || arguments.corpus.iter().chain(&arguments.test);
        if paths().filter(|path| files::is_standard(path)).count() > 1 {
            bail!("the corpus and --test cannot both come from standard input");
        }
        let mut wholes = paths().map(|path| read(path, arguments)).collect::<Result<Vec<Whole>>>()?;
        Whole::unite(&mut wholes, &truth.map(Names::all).unwrap_or_default())?;
        for whole in &wholes {
            names::check(whole, truth)?;
        }
        let of_files = wholes.first().map(|whole| whole.names.clone()).unwrap_or_default();
        // Sampled sentences use the names of their grammar.
        let of_truth = truth.filter(|_| arguments.corpus.is_none()).map(Names::of).unwrap_or_default();
        let roots = of_files.roots.or(of_truth.roots).filter(|_| !arguments.unlabelled);
        let names = Names { tokens: of_files.tokens.or(of_truth.tokens), roots };
        let mut corpora = wholes.into_iter().map(|whole| whole.corpus);
        let corpus = match (&arguments.corpus, truth, arguments.samples) {
            (Some(_), ..) => corpora.next(),
            (None, Some(truth), Some(samples)) => Some(sample(truth, arguments.seed.get(), samples)?),
            _ => None,
        };
        let Some(mut corpus) = corpus else { bail!("expected a corpus, or --grammar with --samples") };
        if arguments.unlabelled {
            corpus = files::without_labels(corpus)?;
        }
        let test = match (&arguments.test, truth) {
            (Some(_), _) => corpora.next(),
            (None, Some(truth)) => Some(sample(truth, arguments.seed.get().child(TEST), TEST_SENTENCES)?),
            (None, None) => None,
        };
        Ok(Sentences { corpus, test, names })
    }
}

/// Reads sentences with their labels, unless labels are ignored.
fn read(path: &Path, arguments: &Arguments) -> Result<Whole> {
    let whole = Whole::read(path)?;
    if arguments.unlabelled {
        return whole.unlabelled();
    }
    let may_help = arguments.mode == Mode::Exact && !whole.corpus.is_empty();
    whole.labelled().map_err(|error| if may_help { anyhow!("{error}, or --unlabelled") } else { error })
}

/// The child seed of test sentences. No corpus that a user samples uses it.
const TEST: &str = "test";

fn sample(truth: &Grammar, seed: Seed, count: u64) -> Result<Corpus> {
    Ok(Corpus::try_sample(truth, seed, 0..count)?)
}
