//! The inside algorithm at full speed: exact posteriors over the root for many sentences.
//!
//! Each layer is filled in the cheaper of two ways. Sparse cells go through the recursion of [`crate::Parser`], which
//! touches only candidates that exist. Full ones go through matrix products ([`dense`]). Values are plain `f64` where a bound
//! proves that nothing can underflow, and [`Magnitude`] otherwise, so depth costs no accuracy.

pub(crate) mod band;
pub(crate) mod dense;
pub(crate) mod gemm;

use crate::chart::{Buffers, Chart, Evidence, Parser, Wanted};
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Grammar, Layer, Rule, Symbol};
use crate::interrupt::checkpoint;
use crate::magnitude::Magnitude;
use crate::pool::Pool;
use band::{Band, Numeric};
use dense::{DenseLayer, Lanes};
use rayon::prelude::*;

/// The inside algorithm for one grammar.
///
/// ```
/// use gardenpath::{Ensemble, Inside, Seed};
///
/// let grammar = Ensemble::new(3, 2).fraction(1.0).sample(Seed::new(1))?;
/// let posterior = Inside::new(&grammar).posterior(&[0, 1, 2, 0, 1])?;
/// let total: f64 = (0..3).map(|root| posterior.probability(root)).sum();
/// assert!((total - 1.0).abs() < 1e-12);
/// assert!(posterior.entropy() <= 3f64.ln());
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Inside<'g> {
    plain: Parser<'g, f64>,
    scaled: Parser<'g, Magnitude>,
    dense: Vec<DenseLayer>,
    /// No derivation of `n` tokens has a probability below `exp(-decay * n)`.
    decay: f64,
}

/// Buffers of one thread, reused from sentence to sentence.
pub struct Workspace {
    plain: Buffers<f64>,
    scaled: Buffers<Magnitude>,
    dense: Dense,
}

/// Buffers for matrix products.
#[derive(Default)]
struct Dense {
    lanes: Lanes,
    /// The level that was filled last, and the one that is being filled.
    below: Band,
    above: Band,
}

/// What a sentence says about its root.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    len: usize,
    roots: Vec<RootScore>,
}

/// A root that can derive the sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RootScore {
    root: Symbol,
    log_likelihood: f64,
    probability: f64,
}

/// Below `exp(-700)` a number is no longer a normal `f64`.
const SAFE_LOG: f64 = 700.0;

/// Sentences of one task: few, since a single one may take a second.
const SHARD: usize = 16;

/// How fast probabilities can fall with length: no derivation of `n` tokens is below `exp(-decay * n)`.
pub(crate) fn decay(grammar: &Grammar) -> f64 {
    if grammar.layers().iter().any(|layer| layer.automaton().has_unary()) {
        // Every level has at most as many nodes as there are tokens.
        let least = |layer: &Layer| layer.rules().iter().map(|rule| -rule.probability.ln()).fold(0.0, f64::max);
        return grammar.layers().iter().map(least).sum();
    }
    // A rule of `s` children makes `s - 1` nodes more.
    let of_rule = |rule: &Rule| -rule.probability.ln() / (rule.children.len() - 1) as f64;
    grammar.layers().iter().flat_map(|layer| layer.rules()).map(of_rule).fold(0.0, f64::max)
}

/// Whether plain numbers hold all inside and outside probabilities of sentences up to this length.
pub(crate) fn is_safe(decay: f64, len: usize) -> bool {
    len as f64 * decay < SAFE_LOG
}

impl<'g> Inside<'g> {
    /// Prepares a grammar.
    pub fn new(grammar: &'g Grammar) -> Self {
        Inside {
            plain: Parser::new(grammar),
            scaled: Parser::new(grammar),
            dense: grammar.layers().iter().map(DenseLayer::new).collect(),
            decay: decay(grammar),
        }
    }

    /// The grammar.
    pub fn grammar(&self) -> &'g Grammar {
        self.plain.grammar()
    }

    /// New buffers, one set per thread.
    pub fn workspace(&self) -> Workspace {
        Workspace { plain: self.plain.buffers(), scaled: self.scaled.buffers(), dense: Dense::default() }
    }

    /// The posterior over the root of one sentence.
    pub fn posterior(&self, sentence: &[Symbol]) -> Result<Posterior> {
        self.posterior_with(&mut self.workspace(), sentence)
    }

    /// The posterior over the root of one sentence, with buffers that were used before.
    pub fn posterior_with(&self, workspace: &mut Workspace, sentence: &[Symbol]) -> Result<Posterior> {
        if is_safe(self.decay, sentence.len()) {
            self.fill(&self.plain, &mut workspace.plain, &mut workspace.dense, sentence, false)?;
            Ok(self.score(&workspace.plain.chart))
        } else {
            self.fill(&self.scaled, &mut workspace.scaled, &mut workspace.dense, sentence, false)?;
            Ok(self.score(&workspace.scaled.chart))
        }
    }

    /// The posterior over the root given evidence about the tokens.
    pub fn posterior_of(&self, evidence: &Evidence) -> Result<Posterior> {
        let mut buffers = self.scaled.buffers();
        let Buffers { chart, scratch } = &mut buffers;
        self.scaled.start_evidence(chart, scratch, evidence)?;
        self.fill_layers(&self.scaled, &mut buffers, &mut Dense::default(), false);
        Ok(self.score(&buffers.chart))
    }

    /// The posteriors of all sentences of a corpus, in order, on all threads.
    pub fn batch(&self, corpus: &Corpus) -> Result<Vec<Posterior>> {
        self.batch_map(corpus, |posterior| posterior, &|_| ())
    }

    /// What `map` makes of the posteriors of all sentences of a corpus, in order, on all threads.
    ///
    /// `progress` is called, from any thread, with the number of sentences that were finished since its last call.
    pub fn batch_map<T: Send>(
        &self,
        corpus: &Corpus,
        map: impl Fn(Posterior) -> T + Sync,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<T>> {
        let workspaces = Pool::new(|| self.workspace());
        let parse_shard = |shard: usize| -> Result<Vec<T>> {
            checkpoint();
            let numbers = shard * SHARD..corpus.len().min((shard + 1) * SHARD);
            let count = numbers.len() as u64;
            let results = workspaces.lend(|workspace| {
                numbers.map(|i| self.posterior_with(workspace, corpus.sentence(i)).map(&map)).collect()
            });
            progress(count);
            results
        };
        let shards: Vec<Result<Vec<T>>> = (0..corpus.len().div_ceil(SHARD)).into_par_iter().map(parse_shard).collect();
        let mut results = Vec::with_capacity(corpus.len());
        for shard in shards {
            results.extend(shard?);
        }
        Ok(results)
    }

    /// Fills two tables `[sentence][root]`: the logarithm of the probability of the sentence given the root, minus infinity
    /// where the root cannot derive it, and the probability of the root given the sentence.
    ///
    /// `progress` is called, from any thread, with the number of sentences that were finished since its last call.
    ///
    /// # Panics
    /// If a table does not have as many entries as there are sentences and roots.
    ///
    /// ```
    /// use gardenpath::{Corpus, Ensemble, Inside, Seed};
    ///
    /// let grammar = Ensemble::new(4, 2).fraction(1.0).sample(Seed::new(1))?;
    /// let corpus = Corpus::sample(&grammar, Seed::new(2), 0..3);
    /// let (mut logs, mut shares) = (vec![0.0; 3 * 4], vec![0.0; 3 * 4]);
    /// Inside::new(&grammar).batch_into(&corpus, &mut logs, &mut shares, &|_| ())?;
    /// assert!(shares.chunks(4).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn batch_into(
        &self,
        corpus: &Corpus,
        log_likelihoods: &mut [f64],
        probabilities: &mut [f64],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<()> {
        let classes = self.grammar().classes();
        assert_eq!((log_likelihoods.len(), probabilities.len()), (corpus.len() * classes, corpus.len() * classes));
        let workspaces = Pool::new(|| self.workspace());
        let shards = log_likelihoods.par_chunks_mut(SHARD * classes).zip(probabilities.par_chunks_mut(SHARD * classes));
        shards.enumerate().try_for_each(|(shard, (logs, shares))| {
            checkpoint();
            workspaces.lend(|workspace| {
                let rows = logs.chunks_mut(classes).zip(shares.chunks_mut(classes));
                for (i, (logs, shares)) in rows.enumerate() {
                    logs.fill(f64::NEG_INFINITY);
                    shares.fill(0.0);
                    for score in self.posterior_with(workspace, corpus.sentence(shard * SHARD + i))?.roots {
                        logs[usize::from(score.root)] = score.log_likelihood;
                        shares[usize::from(score.root)] = score.probability;
                    }
                }
                Ok(())
            })?;
            progress((logs.len() / classes) as u64);
            Ok(())
        })
    }

    /// The chart of a sentence with all inside probabilities.
    pub fn chart(&self, sentence: &[Symbol]) -> Result<Chart<Magnitude>> {
        let mut buffers = self.scaled.buffers();
        self.fill(&self.scaled, &mut buffers, &mut Dense::default(), sentence, true)?;
        Ok(buffers.chart)
    }

    /// Fills the chart of a sentence; only what the root needs if the other levels are not to be kept.
    fn fill<S: Numeric>(
        &self,
        parser: &Parser<'g, S>,
        buffers: &mut Buffers<S>,
        dense: &mut Dense,
        sentence: &[Symbol],
        keep: bool,
    ) -> Result<()> {
        parser.start(&mut buffers.chart, &mut buffers.scratch, sentence)?;
        self.fill_layers(parser, buffers, dense, keep);
        Ok(())
    }

    fn fill_layers<S: Numeric>(
        &self,
        parser: &Parser<'g, S>,
        Buffers { chart, scratch }: &mut Buffers<S>,
        dense: &mut Dense,
        keep: bool,
    ) {
        let Dense { lanes, below, above } = dense;
        // Whether `below` holds the level below the one to be filled.
        let mut is_dense = false;
        for (level, layer) in self.dense.iter().enumerate().rev() {
            let next = level.checked_sub(1).map(|next| &self.dense[next]);
            let is_supported = layer.is_supported(S::IS_SCALED);
            if is_supported && !is_dense && layer.pays(chart.level(level + 1)) {
                let (template, _, entries) = chart.layer_mut(level);
                is_dense = below.load(template.level(level + 1), entries, layer.children());
            }
            if !is_dense {
                parser.fill_layer(chart, scratch, level, if keep { Wanted::All } else { Wanted::ForRoots });
                continue;
            }
            let (template, entries, _) = chart.layer_mut(level);
            let (cells, cells_below) = (template.level(level), template.level(level + 1));
            layer.fill(lanes, (cells, above), (cells_below, below));
            is_dense =
                next.is_some_and(|next| next.is_supported(S::IS_SCALED)) && (!S::IS_SCALED || above.rescale(cells));
            if is_dense {
                above.sort_by_end(cells);
            }
            if keep || !is_dense {
                above.store(cells, entries);
            }
            std::mem::swap(above, below);
        }
    }

    fn score<S: Numeric>(&self, chart: &Chart<S>) -> Posterior {
        let prior = self.grammar().prior();
        // Most sentences have one possible root, which is then certain, however small its probability is.
        if let &[(root, ref value)] = chart.root_entries()
            && prior[usize::from(root)] > 0.0
            && !value.is_zero()
        {
            let score = RootScore { root, log_likelihood: value.magnitude().ln(), probability: 1.0 };
            return Posterior { len: chart.len(), roots: vec![score] };
        }
        let mut total = Magnitude::ZERO;
        for (root, value) in chart.root_entries() {
            total += value.magnitude() * Magnitude::new(prior[usize::from(*root)]);
        }
        let score = |&(root, ref value): &(Symbol, S)| {
            let value = value.magnitude();
            let probability = if total.is_zero() {
                0.0
            } else {
                // The same product as in the total: the only possible root has probability 1, to the last bit.
                (value * Magnitude::new(prior[usize::from(root)]) / total).value()
            };
            RootScore { root, log_likelihood: value.ln(), probability }
        };
        Posterior { len: chart.len(), roots: chart.root_entries().iter().map(score).collect() }
    }
}

impl Posterior {
    /// The number of tokens of the sentence.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The logarithm of the probability of the sentence given a root, or `None` if the root cannot derive it.
    pub fn log_likelihood(&self, root: Symbol) -> Option<f64> {
        self.find(root).map(|score| score.log_likelihood)
    }

    /// The probability of a root given the sentence; 0 for all roots of an impossible sentence.
    pub fn probability(&self, root: Symbol) -> f64 {
        self.find(root).map_or(0.0, |score| score.probability)
    }

    /// The Bayes-optimal guess: the most probable root, the first of equals. `None` for an impossible sentence.
    pub fn root(&self) -> Option<Symbol> {
        let best = self.roots.iter().map(|score| score.probability).fold(0.0, f64::max);
        self.roots.iter().find(|score| score.probability == best && best > 0.0).map(|score| score.root)
    }

    /// The class entropy of the sentence, in nats.
    pub fn entropy(&self) -> f64 {
        let surprise = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        self.roots.iter().map(|score| surprise(score.probability)).sum::<f64>().max(0.0)
    }

    /// The roots that can derive the sentence.
    pub fn possible_roots(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.roots.iter().map(|score| score.root)
    }

    fn find(&self, root: Symbol) -> Option<&RootScore> {
        self.roots.iter().find(|score| score.root == root)
    }
}
