//! What is computed for each sentence of a corpus.

use super::Mode;
use crate::draw::table::short;
use gardenpath::{
    BestLog, Count, Error, Grammar, Inside, Magnitude, Parser, Posterior, Recognition, Seed, Symbol, Workspace,
};
use serde::Serialize;

/// A grammar prepared for one mode.
pub enum Engine<'g> {
    /// Posteriors.
    Inside(Box<Inside<'g>>),
    /// Best trees.
    Best(Parser<'g, BestLog>),
    /// Numbers of trees.
    Count(Parser<'g, Count>),
    /// Possible roots.
    Recognize(Parser<'g, Recognition>),
    /// Random trees, with the seed from which they are drawn.
    Sample(Box<Inside<'g>>, Parser<'g, Magnitude>, Seed),
}

/// The answer about one sentence.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Found {
    /// What the sentence says about its root.
    Inside {
        /// The number of tokens.
        len: usize,
        /// `ln P(sentence | root)`.
        logprob: Vec<Option<f64>>,
        /// `P(root | sentence)`.
        posterior: Vec<f64>,
        /// The class entropy in nats.
        entropy: f64,
        /// The most probable root.
        root: Option<Symbol>,
    },
    /// The most probable tree.
    Best {
        /// Its root.
        root: Option<Symbol>,
        /// `ln P(tree | root)`.
        logprob: Option<f64>,
        /// As bracketed text.
        tree: Option<String>,
    },
    /// The number of trees of each root, in decimal.
    Count {
        /// One per root.
        trees: Vec<String>,
    },
    /// The possible roots.
    Recognize {
        /// In increasing order.
        roots: Vec<Symbol>,
    },
    /// A tree from the posterior.
    Sample {
        /// Its root.
        root: Option<Symbol>,
        /// As bracketed text.
        tree: Option<String>,
    },
}

impl<'g> Engine<'g> {
    /// Prepares a grammar.
    pub fn new(grammar: &'g Grammar, mode: Mode, seed: Seed) -> Self {
        match mode {
            Mode::Inside => Engine::Inside(Box::new(Inside::new(grammar))),
            Mode::Best => Engine::Best(Parser::new(grammar)),
            Mode::Count => Engine::Count(Parser::new(grammar)),
            Mode::Recognize => Engine::Recognize(Parser::new(grammar)),
            Mode::Sample => {
                Engine::Sample(Box::new(Inside::new(grammar)), Parser::new(grammar), seed.child("posterior tree"))
            }
        }
    }

    /// Buffers of one thread, for the mode that can reuse them.
    pub fn workspace(&self) -> Option<Workspace> {
        match self {
            Engine::Inside(inside) => Some(inside.workspace()),
            _ => None,
        }
    }

    /// The answer about sentence `number`.
    pub fn answer(&self, workspace: &mut Option<Workspace>, number: u64, sentence: &[Symbol]) -> Result<Found, Error> {
        Ok(match self {
            Engine::Inside(inside) => {
                let posterior = match workspace {
                    Some(workspace) => inside.posterior_with(workspace, sentence)?,
                    None => inside.posterior(sentence)?,
                };
                Found::inside(&posterior, inside.grammar())
            }
            Engine::Best(parser) => {
                let best = parser.best_tree(&parser.parse(sentence)?);
                let (tree, logprob) = best.unzip();
                Found::Best {
                    root: tree.as_ref().map(|tree| tree.root()),
                    logprob,
                    tree: tree.map(|tree| tree.to_text(parser.grammar())),
                }
            }
            Engine::Count(parser) => {
                let roots = parser.parse(sentence)?.roots();
                Found::Count { trees: roots.iter().map(|count| count.to_string()).collect() }
            }
            Engine::Recognize(parser) => {
                let chart = parser.parse(sentence)?;
                Found::Recognize { roots: chart.root_entries().iter().map(|&(root, _)| root).collect() }
            }
            Engine::Sample(inside, parser, seed) => {
                let chart = inside.chart(sentence)?;
                let tree = parser.sample_tree(&chart, &mut seed.stream(number));
                let text = tree.as_ref().map(|tree| tree.to_text(parser.grammar()));
                Found::Sample { root: tree.map(|tree| tree.root()), tree: text }
            }
        })
    }
}

impl Found {
    /// A posterior, root by root.
    pub fn inside(posterior: &Posterior, grammar: &Grammar) -> Self {
        let roots = || (0..grammar.classes()).map(|root| root as Symbol);
        Found::Inside {
            len: posterior.len(),
            logprob: roots().map(|root| posterior.log_likelihood(root)).collect(),
            posterior: roots().map(|root| posterior.probability(root)).collect(),
            entropy: posterior.entropy(),
            root: posterior.root(),
        }
    }

    /// One line for people, about sentence `number`.
    pub fn to_text(&self, grammar: &Grammar, number: u64) -> String {
        let name = |root: Symbol| grammar.name(0, root);
        let text = match self {
            Found::Inside { posterior, entropy, root: Some(_), .. } => {
                let mut roots: Vec<(usize, f64)> =
                    posterior.iter().copied().enumerate().filter(|(_, p)| *p > 0.0).collect();
                roots.sort_by(|a, b| b.1.total_cmp(&a.1));
                let shares: Vec<String> =
                    roots.iter().map(|&(root, p)| format!("{} {:.2}%", name(root as Symbol), 100.0 * p)).collect();
                format!("{}   (entropy {} nats)", shares.join(", "), short(*entropy))
            }
            Found::Best { logprob: Some(logprob), tree: Some(tree), .. } => {
                format!("{tree}   (ln P {})", short(*logprob))
            }
            Found::Count { trees } if trees.iter().any(|count| count != "0") => {
                let counts = trees.iter().enumerate().filter(|(_, count)| *count != "0");
                let counts: Vec<String> =
                    counts.map(|(root, count)| format!("{} {count}", name(root as Symbol))).collect();
                format!("trees: {}", counts.join(", "))
            }
            Found::Recognize { roots } if !roots.is_empty() => {
                roots.iter().map(|&root| name(root)).collect::<Vec<_>>().join(", ")
            }
            Found::Sample { tree: Some(tree), .. } => tree.clone(),
            _ => "impossible".to_owned(),
        };
        format!("{}: {text}", number + 1)
    }
}
