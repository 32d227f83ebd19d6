//! The computation for each sentence of a corpus.

use super::Mode;
use super::ranked::{ScoredTree, evidence, ranked};
use gardenpath::{
    BestLog, Buffers, Count, Error, Grammar, Inside, Magnitude, Parser, Posterior, Recognition, Seed, Symbol,
};
use gardenpath_lab::draw::table::short;
use serde::Serialize;
use std::io::{self, Write};

/// A grammar prepared for one mode.
pub enum Engine<'g> {
    /// Posteriors.
    Inside(Box<Inside<'g>>),
    /// Best trees.
    Best(Parser<'g, BestLog>),
    /// This many best trees, with the posteriors that give their shares.
    Kbest(Parser<'g, BestLog>, Box<Inside<'g>>, usize),
    /// Numbers of trees.
    Count(Parser<'g, Count>),
    /// Possible roots.
    Recognize(Parser<'g, Recognition>),
    /// Random trees, with their seed.
    Sample(Parser<'g, Magnitude>, Seed),
}

/// The buffers of an engine, one set per thread.
pub enum Workspace {
    /// For posteriors.
    Inside(Box<gardenpath::Workspace>),
    /// For best trees.
    Best(Buffers<BestLog>),
    /// For several best trees.
    Kbest(Buffers<BestLog>, Box<gardenpath::Workspace>),
    /// For numbers of trees.
    Count(Buffers<Count>),
    /// For possible roots.
    Recognize(Buffers<Recognition>),
    /// For random trees.
    Sample(Buffers<Magnitude>),
}

/// The answer for one sentence.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Found {
    /// The posterior over the root.
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
        /// Its name, if the grammar has names.
        #[serde(skip_serializing_if = "Option::is_none")]
        root_name: Option<String>,
    },
    /// The most probable tree.
    Best {
        /// Its root.
        root: Option<Symbol>,
        /// `ln P(tree | root)`.
        logprob: Option<f64>,
        /// As bracketed text.
        tree: Option<String>,
        /// The name of the root, if the grammar has names.
        #[serde(skip_serializing_if = "Option::is_none")]
        root_name: Option<String>,
    },
    /// The most probable trees, best first.
    Kbest {
        /// Their texts and probabilities.
        parses: Vec<ScoredTree>,
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
        /// Their names, if the grammar has names.
        #[serde(skip_serializing_if = "Option::is_none")]
        root_names: Option<Vec<String>>,
    },
    /// A tree sampled from the posterior.
    Sample {
        /// Its root.
        root: Option<Symbol>,
        /// As bracketed text.
        tree: Option<String>,
        /// The name of the root, if the grammar has names.
        #[serde(skip_serializing_if = "Option::is_none")]
        root_name: Option<String>,
    },
}

/// The name of a root, if the grammar has its own names.
pub fn root_name(grammar: &Grammar, root: Option<Symbol>) -> Option<String> {
    grammar.names().and(root).map(|root| grammar.name(0, root).into_owned())
}

impl<'g> Engine<'g> {
    /// Prepares a grammar; `limit` is the number of trees per sentence, `seed` that of random trees.
    pub fn new(grammar: &'g Grammar, mode: Mode, limit: usize, seed: Seed) -> Self {
        match mode {
            Mode::Inside => Engine::Inside(Box::new(Inside::new(grammar))),
            Mode::Best => Engine::Best(Parser::new(grammar)),
            Mode::Kbest => Engine::Kbest(Parser::new(grammar), Box::new(Inside::new(grammar)), limit),
            Mode::Count => Engine::Count(Parser::new(grammar)),
            Mode::Recognize => Engine::Recognize(Parser::new(grammar)),
            Mode::Sample => Engine::Sample(Parser::new(grammar), seed.child("posterior tree")),
        }
    }

    /// Buffers of one thread.
    pub fn workspace(&self) -> Workspace {
        match self {
            Engine::Inside(inside) => Workspace::Inside(Box::new(inside.workspace())),
            Engine::Best(parser) => Workspace::Best(parser.buffers()),
            Engine::Kbest(parser, inside, _) => Workspace::Kbest(parser.buffers(), Box::new(inside.workspace())),
            Engine::Count(parser) => Workspace::Count(parser.buffers()),
            Engine::Recognize(parser) => Workspace::Recognize(parser.buffers()),
            Engine::Sample(parser, _) => Workspace::Sample(parser.buffers()),
        }
    }

    /// The answer for sentence `number`. Panics if the workspace belongs to an engine of another mode.
    pub fn answer(&self, workspace: &mut Workspace, number: u64, sentence: &[Symbol]) -> Result<Found, Error> {
        Ok(match (self, workspace) {
            (Engine::Inside(inside), Workspace::Inside(workspace)) => {
                Found::inside(&inside.posterior_with(workspace, sentence)?, inside.grammar())
            }
            (Engine::Best(parser), Workspace::Best(buffers)) => {
                let (tree, logprob) = parser.best_tree(parser.parse_with(buffers, sentence)?).unzip();
                let root = tree.as_ref().map(|tree| tree.root());
                let root_name = root_name(parser.grammar(), root);
                Found::Best { root, logprob, tree: tree.map(|tree| tree.to_text(parser.grammar())), root_name }
            }
            (Engine::Kbest(parser, inside, limit), Workspace::Kbest(buffers, workspace)) => {
                let prior = parser.grammar().prior();
                let parses = match evidence(&inside.posterior_with(workspace, sentence)?, prior) {
                    Some(evidence) => ranked(parser, parser.parse_with(buffers, sentence)?, evidence, *limit),
                    None => Vec::new(),
                };
                Found::Kbest { parses }
            }
            (Engine::Count(parser), Workspace::Count(buffers)) => {
                let roots = parser.parse_with(buffers, sentence)?.roots();
                Found::Count { trees: roots.iter().map(|count| count.to_string()).collect() }
            }
            (Engine::Recognize(parser), Workspace::Recognize(buffers)) => {
                let chart = parser.parse_with(buffers, sentence)?;
                let roots: Vec<Symbol> = chart.root_entries().iter().map(|&(root, _)| root).collect();
                let name = |&root: &Symbol| root_name(parser.grammar(), Some(root));
                Found::Recognize { root_names: parser.grammar().names().and(roots.iter().map(name).collect()), roots }
            }
            (Engine::Sample(parser, seed), Workspace::Sample(buffers)) => {
                let chart = parser.parse_with(buffers, sentence)?;
                let tree = parser.sample_tree(chart, &mut seed.stream(number));
                let text = tree.as_ref().map(|tree| tree.to_text(parser.grammar()));
                let root = tree.map(|tree| tree.root());
                Found::Sample { root, tree: text, root_name: root_name(parser.grammar(), root) }
            }
            _ => unreachable!("a workspace is made by its engine"),
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
            root_name: root_name(grammar, posterior.root()),
        }
    }

    /// Writes a human-readable line for sentence `number`.
    pub fn write_text(&self, grammar: &Grammar, number: u64, text: &mut impl Write) -> io::Result<()> {
        let name = |root: Symbol| grammar.name(0, root);
        write!(text, "{}: ", number + 1)?;
        match self {
            Found::Inside { posterior, entropy, root: Some(_), .. } => {
                let mut roots: Vec<(usize, f64)> =
                    posterior.iter().copied().enumerate().filter(|(_, p)| *p > 0.0).collect();
                roots.sort_by(|a, b| b.1.total_cmp(&a.1));
                for (k, &(root, p)) in roots.iter().enumerate() {
                    let comma = if k > 0 { ", " } else { "" };
                    write!(text, "{comma}{} {:.2}%", name(root as Symbol), 100.0 * p)?;
                }
                write!(text, "   (entropy {} nats)", short(*entropy))
            }
            Found::Best { logprob: Some(logprob), tree: Some(tree), .. } => {
                write!(text, "{tree}   (ln P {})", short(*logprob))
            }
            Found::Kbest { parses } if !parses.is_empty() => {
                let line = |tree: &ScoredTree| format!("{}%  {}", short(100.0 * tree.share), tree.text);
                write!(text, "{}", parses.iter().map(line).collect::<Vec<_>>().join("\n   "))
            }
            Found::Count { trees } if trees.iter().any(|count| count != "0") => {
                let counts = trees.iter().enumerate().filter(|(_, count)| *count != "0");
                let counts: Vec<String> =
                    counts.map(|(root, count)| format!("{} {count}", name(root as Symbol))).collect();
                write!(text, "trees: {}", counts.join(", "))
            }
            Found::Recognize { roots, .. } if !roots.is_empty() => {
                write!(text, "{}", roots.iter().map(|&root| name(root)).collect::<Vec<_>>().join(", "))
            }
            Found::Sample { tree: Some(tree), .. } => write!(text, "{tree}"),
            _ => write!(text, "impossible"),
        }
    }
}
