//! A garden path: a sentence whose beginning suggests another class than its end.

use crate::draw;
use crate::draw::table::short;
use crate::experiment::plan::Origin;
use crate::reading::Reading;
use crate::report::{Finding, Page, Picture};
use anyhow::{Context, Result};
use gardenpath::{Ensemble, Grammar, Inside, Sampler, Seed, Tree};
use gardenpath_plot::Figure;

pub(in crate::report) const READING: Picture = Picture {
    name: "reading",
    title: "Reading a garden-path sentence",
    paper: "Not in the paper, which mentions next-token prediction in its outlook. While a sentence is read token by token, the \
            probability of a class can rise close to one and then fall: the sentence leads up the garden path.",
    draw,
};

/// A sentence with the tree that generated it, all its trees, and its reading.
struct Example {
    grammar: Grammar,
    tree: Tree,
    trees: Vec<Tree>,
    reading: Reading,
    /// The number of tokens after which another class is most probable, and its probability.
    misled: (usize, f64),
}

/// The minimum probability of the wrong class on the way, and of the right one at the end.
const SURE: f64 = 0.75;

fn draw() -> Result<Page> {
    let Example { grammar, tree, trees, reading, misled: (tokens, wrong) } = find()?;
    let class = grammar.name(0, tree.root()).into_owned();
    let captions = trees.iter().map(|other| {
        let kind = if *other == tree { "true tree" } else { "other tree" };
        (other, format!("{kind}, class {}", grammar.name(0, other.root())))
    });
    let pictures = draw::tree::draw(&grammar, &captions.collect::<Vec<_>>()).titled("Its trees");
    let path = draw::reading::draw(&grammar, &reading)?.titled("Token by token");
    let figure = Figure { panel_height: Some(170.0), ..Figure::grid(2, vec![path.into(), pictures.into()]) };
    let last = &reading.steps[reading.steps.len() - 1];
    let posterior = last.posterior.as_ref().context("the sentence has a root")?;
    let [start, end] = [misled_root(&reading, tokens), Some(tree.root())].map(|root| root.map(usize::from));
    let misled = grammar.name(0, start.context("something is most probable")? as u8).into_owned();
    let right = posterior[end.context("the tree has a root")?];
    let exact = Inside::new(&grammar).posterior(tree.sentence())?;
    let product: f64 = reading.surprisal.iter().flatten().sum();
    Ok(Page {
        figure,
        caption: format!(
            "(a) The surprisal of each token of a sentence, and below it the posterior over its class given the tokens so far. After {tokens} tokens the \
             most probable class is {misled}; at the end it is {class}. (b) All trees of the sentence."
        ),
        findings: vec![
            Finding::check(
                Origin::Ours,
                "A sentence can make a wrong class probable before it ends",
                format!(
                    "after {tokens} of {} tokens class {misled} has {}, at the end class {class} has {}",
                    reading.len,
                    short(wrong),
                    short(right)
                ),
                wrong >= SURE && right >= SURE && misled != class,
            ),
            Finding::check(
                Origin::Identity,
                "The surprisals of all tokens and of the end sum to minus the log probability of the sentence",
                format!("{} and {}", short(-product), short(reading.logprob.unwrap_or(f64::NAN))),
                reading.logprob.is_some_and(|log| (log + product).abs() < 1e-9),
            ),
            Finding::check(
                Origin::Identity,
                "The posterior at the end equals that of exact parsing",
                format!("{} and {}", short(right), short(exact.probability(tree.root()))),
                (right - exact.probability(tree.root())).abs() < 1e-12,
            ),
        ],
    })
}

/// The most probable class after this many tokens.
fn misled_root(reading: &Reading, tokens: usize) -> Option<u8> {
    reading.steps[tokens].root
}

/// The first sentence with two trees that leads up the garden path.
fn find() -> Result<Example> {
    let ensemble = Ensemble::new(5, 2).fraction(0.4);
    let names = ["ABCDE", "pqrst", "vwxyz"].map(|level| level.chars().map(String::from).collect());
    for seed in 1..300 {
        let grammar = ensemble.sample(Seed::new(seed))?.with_names(names.to_vec())?;
        let sampler = Sampler::new(&grammar);
        for number in 0..100 {
            let tree = sampler.tree(Seed::new(1), number);
            if !(5..=7).contains(&tree.sentence().len()) {
                continue;
            }
            let trees = grammar.trees(tree.sentence(), 3)?;
            let reading = Reading::new(&grammar, tree.sentence().to_vec())?;
            let probability =
                |step: usize, root: u8| reading.steps[step].posterior.as_ref().map(|p| p[usize::from(root)]);
            let right = probability(reading.len + 1, tree.root()).is_some_and(|p| p >= SURE);
            let wrong = (1..=reading.len).filter_map(|tokens| {
                let root = reading.steps[tokens].root.filter(|root| *root != tree.root())?;
                Some((tokens, probability(tokens, root)?))
            });
            let misled = wrong.max_by(|x, y| x.1.total_cmp(&y.1)).filter(|(_, p)| *p >= SURE);
            if let (2, true, Some(misled)) = (trees.len(), right, misled) {
                return Ok(Example { grammar, tree, trees, reading, misled });
            }
        }
    }
    None.context("no sentence of these grammars leads up the garden path")
}
