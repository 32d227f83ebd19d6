//! A sentence: all its trees, its chart, and what is known after each of its tokens.

use super::choice::{Chosen, GrammarChoice};
use super::language::seconds_of_sentence;
use anyhow::{Result, anyhow, bail};
use gardenpath::{BestLog, Grammar, Inside, Magnitude, Parser, Predictor, Sampler, Seed, Symbol, Tree};
use gardenpath_lab::ambiguous::{self, tree_count};
use gardenpath_lab::draw::chart::{Candidate, candidates};
use gardenpath_lab::files::alphabet;
use gardenpath_lab::parses::{ScoredTree, evidence, ranked};
use gardenpath_lab::reading::Reading as Read;
use serde::{Deserialize, Serialize};

/// The most tokens of a sentence.
pub const TOKENS: usize = 256;

/// The most trees that are listed.
pub const TREES: usize = 100;

/// The most candidates of a level that are listed.
const CELLS: usize = 1_000;

/// Which sentence is to be read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadingRequest {
    /// By which grammar.
    pub grammar: GrammarChoice,
    tokens: Option<Vec<usize>>,
    sentence: Option<String>,
    sample: Option<Sample>,
    #[serde(default = "ten")]
    trees: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    seed: u64,
    number: u64,
}

fn ten() -> usize {
    10
}

/// Everything about a sentence.
#[derive(Serialize)]
pub struct Reading {
    tokens: Vec<Symbol>,
    truth: Option<Truth>,
    logprob: Option<f64>,
    why: Option<String>,
    tree_count: String,
    trees: Vec<ReadTree>,
    posterior: Vec<f64>,
    entropy: f64,
    hidden: Vec<Vec<Vec<(usize, f64)>>>,
    chart: Vec<ChartLevel>,
    steps: Vec<Step>,
    surprisal: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct Truth {
    root: Symbol,
    tree: String,
}

#[derive(Serialize)]
struct ReadTree {
    root: Symbol,
    share: f64,
    logprob: f64,
    tree: String,
    nodes: TreeNode,
}

#[derive(Serialize)]
struct TreeNode {
    symbol: Symbol,
    start: usize,
    span: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<TreeNode>,
}

#[derive(Serialize)]
struct ChartLevel {
    level: usize,
    true_count: usize,
    spurious_count: usize,
    cells: Vec<ChartCell>,
}

#[derive(Serialize)]
struct ChartCell {
    start: usize,
    span: usize,
    symbol: Symbol,
    probability: f64,
}

#[derive(Serialize)]
struct Step {
    posterior: Option<Vec<f64>>,
    entropy: Option<f64>,
    hidden: Option<Vec<Vec<f64>>>,
    next: Option<Vec<f64>>,
}

impl ReadingRequest {
    /// Reads the sentence.
    pub fn answer(&self, chosen: &Chosen) -> Result<Reading> {
        let grammar = &chosen.grammar;
        if self.trees > TREES {
            bail!("trees is {}, expected at most {TREES}", self.trees);
        }
        let (tokens, truth) = self.sentence(grammar)?;
        let posterior = Inside::new(grammar).posterior(&tokens)?;
        let logprob = evidence(&posterior, grammar.prior());
        let read = Read::new(grammar, tokens.clone())?;
        let parser = Parser::<Magnitude>::new(grammar);
        let levels = candidates(&parser, &parser.parse(&tokens)?)?;
        let scored = match logprob {
            Some(evidence) => {
                let parser = Parser::<BestLog>::new(grammar);
                ranked(&parser, &parser.parse(&tokens)?, evidence, self.trees)
            }
            None => Vec::new(),
        };
        let roots = (0..grammar.classes()).map(|root| posterior.probability(root as Symbol));
        Ok(Reading {
            why: logprob.is_none().then(|| why_impossible(grammar, &read)),
            tree_count: tree_count(grammar, &tokens)?,
            posterior: if logprob.is_some() { roots.collect() } else { Vec::new() },
            entropy: posterior.entropy(),
            hidden: if logprob.is_some() { hidden(grammar, &levels, tokens.len()) } else { Vec::new() },
            chart: levels.into_iter().enumerate().map(chart_level).collect(),
            steps: steps(grammar, &read)?,
            surprisal: read.surprisal,
            trees: scored.into_iter().map(read_tree).collect(),
            truth,
            logprob,
            tokens,
        })
    }

    /// The tokens, and the tree of a sentence that was sampled.
    fn sentence(&self, grammar: &Grammar) -> Result<(Vec<Symbol>, Option<Truth>)> {
        let (tokens, truth) = match (&self.tokens, &self.sentence, &self.sample) {
            (Some(tokens), None, None) => {
                let token = |&token: &usize| {
                    let known = Some(token).filter(|&token| token < grammar.vocab());
                    let last = grammar.vocab() - 1;
                    known.map(|token| token as Symbol).ok_or_else(|| anyhow!("token {token} is none of 0 to {last}"))
                };
                (tokens.iter().take(TOKENS + 1).map(token).collect::<Result<Vec<_>>>()?, None)
            }
            (None, Some(text), None) => (alphabet::tokens(grammar, text).map_err(|reason| anyhow!(reason))?, None),
            (None, None, Some(sample)) => {
                let tree = Sampler::new(grammar).tree(Seed::new(sample.seed), sample.number);
                let truth = Truth { root: tree.root(), tree: tree.to_text(grammar) };
                (tree.sentence().to_vec(), Some(truth))
            }
            _ => bail!("expected one of tokens, sentence and sample"),
        };
        if tokens.is_empty() {
            bail!("the sentence is empty");
        }
        if tokens.len() > TOKENS {
            bail!("the sentence has more than {TOKENS} tokens");
        }
        Ok((tokens, truth))
    }
}

/// Why no class derives a sentence, as far as that can be said.
fn why_impossible(grammar: &Grammar, read: &Read) -> String {
    let shape = grammar.shape();
    if !shape.has_length(read.len) {
        let lengths = shape.lengths();
        let (least, most) = (lengths.start(), lengths.end());
        return format!("sentences have {least} to {most} tokens, this one has {}", read.len);
    }
    match read.surprisal.iter().position(Option::is_none) {
        Some(0) => "no sentence begins with this token".into(),
        Some(place) if place < read.len => format!("no sentence begins with the first {} tokens", place + 1),
        _ => "sentences can begin so, but none ends here".into(),
    }
}

/// The most probable symbols above each token, level by level.
fn hidden(grammar: &Grammar, levels: &[Vec<Candidate>], len: usize) -> Vec<Vec<Vec<(usize, f64)>>> {
    let of_level = |(level, candidates): (usize, &Vec<Candidate>)| {
        let size = grammar.sizes()[level];
        let mut rows = vec![vec![0.0; size]; len];
        for candidate in candidates {
            for row in &mut rows[candidate.start..candidate.start + candidate.span] {
                row[usize::from(candidate.symbol)] += candidate.probability;
            }
        }
        let sparse = |row: Vec<f64>| {
            let mut pairs: Vec<(usize, f64)> = row.into_iter().enumerate().filter(|(_, p)| *p > 0.0).collect();
            pairs.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
            pairs
        };
        rows.into_iter().map(sparse).collect()
    };
    levels[..grammar.depth()].iter().enumerate().map(of_level).collect()
}

fn chart_level((level, mut candidates): (usize, Vec<Candidate>)) -> ChartLevel {
    let true_count = candidates.iter().filter(|candidate| candidate.probability > 0.0).count();
    let spurious_count = candidates.len() - true_count;
    candidates.sort_by(|one, other| {
        let place = |candidate: &Candidate| (candidate.start, candidate.span, candidate.symbol);
        other.probability.total_cmp(&one.probability).then(place(one).cmp(&place(other)))
    });
    let cell = |candidate: Candidate| {
        let Candidate { start, span, symbol, probability } = candidate;
        ChartCell { start, span, symbol, probability }
    };
    ChartLevel { level, true_count, spurious_count, cells: candidates.into_iter().take(CELLS).map(cell).collect() }
}

/// What is known before the first token, after each, and after the end.
fn steps(grammar: &Grammar, read: &Read) -> Result<Vec<Step>> {
    let predictor = Predictor::new(grammar);
    let mut reader = predictor.reader();
    let mut steps = Vec::with_capacity(read.steps.len());
    for (place, step) in read.steps.iter().enumerate() {
        let is_end = place > read.len;
        let is_possible = |row: &[f64]| row.iter().any(|p| *p > 0.0);
        let next = Some(reader.next().to_vec()).filter(|row| !is_end && is_possible(row));
        // A whole sentence can be possible although nothing can follow: then only the end has a probability.
        let hidden = (place > 0 && !is_end && step.posterior.is_some())
            .then(|| (0..grammar.depth()).map(|level| reader.hidden(level)).collect());
        steps.push(Step { posterior: step.posterior.clone(), entropy: step.entropy, hidden, next });
        if let Some(&token) = read.tokens.get(place) {
            reader.push(token)?;
        }
    }
    Ok(steps)
}

fn read_tree(scored: ScoredTree) -> ReadTree {
    let nodes = tree_nodes(&scored.tree);
    let ScoredTree { root, share, logprob, text, .. } = scored;
    ReadTree { root, share, logprob, tree: text, nodes }
}

/// The tree, node in node.
fn tree_nodes(tree: &Tree) -> TreeNode {
    let leaf = |node: gardenpath::Node| TreeNode {
        symbol: node.symbol,
        start: node.span.start,
        span: node.span.len,
        children: Vec::new(),
    };
    let mut below: Vec<TreeNode> = tree.nodes(tree.depth()).into_iter().map(leaf).collect();
    for level in (0..tree.depth()).rev() {
        let mut children = below.into_iter();
        let arities: Vec<usize> = tree.rules(level).map(|(_, children)| children.len()).collect();
        let nodes = tree.nodes(level).into_iter().map(leaf).zip(arities);
        below =
            nodes.map(|(node, arity)| TreeNode { children: children.by_ref().take(arity).collect(), ..node }).collect();
    }
    below.pop().expect("a tree has a root")
}

/// Where an ambiguous sentence is to be looked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AmbiguousRequest {
    /// In which language.
    pub grammar: GrammarChoice,
    #[serde(default = "one")]
    seed: u64,
}

fn one() -> u64 {
    1
}

/// What was found.
#[derive(Serialize)]
pub struct Ambiguous {
    found: Option<Found>,
    tried: u64,
    seed: u64,
}

#[derive(Serialize)]
struct Found {
    tokens: Vec<Symbol>,
    root: Symbol,
    number: u64,
    tree_count: String,
    entropy: f64,
    classes: usize,
}

/// The most sentences that are looked at, and the seconds that this may take.
const TRIED: (u64, f64) = (20_000, 2.0);

impl AmbiguousRequest {
    /// Looks for one.
    pub fn answer(&self, chosen: &Chosen) -> Result<Ambiguous> {
        let most = ((TRIED.1 / seconds_of_sentence(&chosen.grammar)) as u64).clamp(16, TRIED.0);
        let search = ambiguous::find(&chosen.grammar, Seed::new(self.seed), most)?;
        let found = |found: ambiguous::Ambiguous| Found {
            tokens: found.tokens,
            root: found.root,
            number: found.number,
            tree_count: found.trees,
            entropy: found.entropy,
            classes: found.classes,
        };
        Ok(Ambiguous { found: search.found.map(found), tried: search.tried, seed: self.seed })
    }
}
