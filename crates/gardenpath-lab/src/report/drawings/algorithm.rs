//! The learning algorithm step by step, with the numbers of one small grammar.

use crate::draw::{steps, table::grouped};
use crate::experiment::plan::Origin;
use crate::report::{Finding, Page, Picture};
use anyhow::Result;
use gardenpath::learn::score::{LevelScore, RuleScore, score_rules};
use gardenpath::learn::{LearnedLevel, Learner, Outline, Paper};
use gardenpath::{Chart, Corpus, Ensemble, Moments, Recognition, Sampler, Seed};
use gardenpath_plot::Figure;

pub(in crate::report) const ALGORITHM: Picture = Picture {
    name: "algo_singlecol",
    title: "The learning algorithm at work",
    paper: "From sentences and their labels, the algorithm infers all rules level by level: pairs that covary with the \
            label are clustered into binary rules, triples are aligned with the clusters, and the rules yield the \
            candidates of the next level. For large vocabularies it finds exactly the rules of the grammar.",
    draw,
};

const VOCABULARY: usize = 16;
const DEPTH: usize = 2;
const FRACTION: f64 = 0.125;
const SENTENCES: u64 = 400_000;
/// The number of grammars in the findings; the first one is drawn.
const GRAMMARS: u64 = 5;
/// The sentences whose candidates are counted.
const PARSED: u64 = 1000;

/// The counts and rules of one run.
struct Run {
    counts: Moments,
    /// From the tokens up.
    levels: Vec<LearnedLevel>,
    /// The number of clusters, that is, of symbols of level 1.
    clusters: usize,
    scores: Vec<LevelScore>,
    /// Candidates of level 1 found by the learned rules, and nodes of the true trees, per sentence.
    candidates: f64,
    nodes: f64,
}

fn draw() -> Result<Page> {
    let runs = (1..=GRAMMARS).map(Run::new).collect::<Result<Vec<_>>>()?;
    let source = format!("{} sentences with labels", grouped(SENTENCES));
    let mean = |part: &dyn Fn(&Run) -> f64| runs.iter().map(part).sum::<f64>() / runs.len() as f64;
    let recall = |level: usize| {
        let [two, three] = [2, 3].map(|arity| mean(&|run| run.scores[level].rules[arity].recall()));
        let sound = mean(&|run| run.scores[level].rules[3].precision());
        let found = format!(
            "{two:.2} of the binary and {three:.2} of the ternary rules found, {sound:.2} of the latter correct"
        );
        (two.min(three) > 0.85, found)
    };
    let ((tokens, of_tokens), (classes, of_classes)) = (recall(0), recall(1));
    let (candidates, nodes) = (mean(&|run| run.candidates), mean(&|run| run.nodes));
    Ok(Page {
        figure: Figure {
            width: Some(504.0),
            panel_height: Some(176.0),
            ..Figure::of(steps::draw(&source, &runs[0].steps()))
        },
        caption: format!(
            "How rules are learned from labeled sentences, in a grammar with {VOCABULARY} symbols per level: first \
             the rules that produce tokens and then, from the hidden symbols that these rules find in the sentences, those of \
             the classes. Gray: the number of true rules found. The other entries in the boxes are errors, which vanish \
             only for large vocabularies."
        ),
        findings: vec![
            Finding::check(
                Origin::Ours,
                "Pairs that covary with the label and triples that align with their clusters contain most of the rules",
                format!("{of_tokens}, averaged over {GRAMMARS} grammars"),
                tokens && runs.iter().all(|run| run.clusters == VOCABULARY),
            ),
            Finding::check(
                Origin::Ours,
                "Spurious symbols and errors do not prevent the next step from finding most rules of the level above",
                format!("{candidates:.1} candidates for {nodes:.1} nodes per sentence; {of_classes}"),
                classes && candidates > nodes,
            ),
        ],
    })
}

/// The number of rules found, in words.
fn found(score: &RuleScore) -> String {
    format!("{} of {} rules found", score.correct, score.truth)
}

impl Run {
    fn new(seed: u64) -> Result<Self> {
        let grammar = Ensemble::new(VOCABULARY, DEPTH).fraction(FRACTION).sample(Seed::new(seed))?;
        let corpus = Corpus::sample(&grammar, Seed::new(1), 0..SENTENCES);
        let mut counts = Moments::new(VOCABULARY, VOCABULARY)?;
        counts.add_corpus(&corpus)?;
        let mut learned = Paper::new(Outline::new(VOCABULARY, DEPTH)).learn(&corpus, &mut |_| ())?;
        let mut scores = score_rules(&learned.grammar, &grammar)?;
        scores.reverse();
        let sampler = Sampler::new(&grammar);
        let (mut candidates, mut nodes) = (0, 0);
        for number in 0..PARSED {
            let tree = sampler.tree(Seed::new(1), number);
            let chart = Chart::<Recognition>::parse(&learned.grammar, tree.sentence())?;
            candidates += chart.cells(1).map(|cell| cell.values.len()).sum::<usize>();
            nodes += tree.level(1).len();
        }
        let [candidates, nodes] = [candidates, nodes].map(|count| count as f64 / PARSED as f64);
        learned.levels.reverse();
        let (levels, clusters) = (learned.levels, learned.grammar.sizes()[1]);
        Ok(Run { counts, levels, clusters, scores, candidates, nodes })
    }

    /// The steps, one row per level: a title, the counts, and on the last line how many are correct.
    fn steps(&self) -> [Vec<String>; 2] {
        let [first, last] = [&self.levels[0].rules, &self.levels[1].rules];
        let [pairs, triples] = [self.counts.pair_total(), self.counts.triple_total()].map(|count| count as f64 / 1e6);
        let [two, three] = [2, 3].map(|size| grouped(VOCABULARY.pow(size) as u64));
        let [below, root] =
            [&self.scores[0], &self.scores[1]].map(|score| (found(&score.rules[2]), found(&score.rules[3])));
        [
            vec![
                format!("Count with labels\n{pairs:.2} million pairs\n{triples:.2} million triples"),
                format!("Binary rules\n{} of {two} pairs covary\n{} clusters\n{}", first[2], self.clusters, below.0),
                format!("Ternary rules\n{} of {three} triples\nalign with a cluster\n{}", first[3], below.1),
                format!(
                    "Apply the rules\n{:.1} candidates\nper sentence\nfor {:.1} nodes",
                    self.candidates, self.nodes
                ),
            ],
            vec![
                "Count with labels\ntuples of candidates\non whole sentences".into(),
                format!("Binary rules\n{} pairs covary\nwith one of {} classes\n{}", last[2], VOCABULARY, root.0),
                format!("Ternary rules\n{} triples covary\nwith one class\n{}", last[3], root.1),
                "A grammar\nrules of all levels\nparse any sentence".into(),
            ],
        ]
    }
}
