//! How often the exact learner recovers every rule: the tables of `docs/recovery.md`.
//!
//! `cargo run --release -p gardenpath --example recovery` prints the first one, in about ten minutes on two cores; `-- --stretch`,
//! `-- --misfits` and `-- --unlabelled` print the others. The seeds are not those of any test.

mod language;
mod misfits;
mod unlabelled;

use gardenpath::learn::score::{score_rules, score_sentences};
use gardenpath::learn::{Exact, Learner, Outline, Verdict};
use gardenpath::{Corpus, Ensemble, Grammar, Result, Seed};
use std::time::Instant;

/// Sentences: so many per ternary rule of a level, or a fixed number.
#[derive(Clone, Copy)]
enum Samples {
    PerRule(u64),
    Total(u64),
}

struct Setting {
    vocab: usize,
    depth: usize,
    fraction: f64,
    samples: Samples,
    grammars: u64,
    ensemble: fn(Ensemble) -> Ensemble,
    note: &'static str,
}

/// Grammars are numbered from here on.
const FIRST_SEED: u64 = 60_000;

fn main() -> Result<()> {
    let asked = |option: &str| std::env::args().any(|argument| argument == option);
    if asked("--misfits") {
        return misfits::table();
    }
    if asked("--unlabelled") {
        return unlabelled::table();
    }
    println!(
        "| v | L | f | | sentences | every rule right | converged | wrongly trusted | largest gap to Bayes | seconds each |"
    );
    println!("|-|-|-|-|-|-|-|-|-|-|");
    for setting in if asked("--stretch") { stretched() } else { required() } {
        run(&setting)?;
    }
    Ok(())
}

fn required() -> Vec<Setting> {
    let mut settings = Vec::new();
    for (vocab, depth) in [(8, 2), (16, 2), (8, 3), (16, 3)] {
        settings.push(setting(vocab, depth, 1.0 / vocab as f64, Samples::PerRule(80), 10));
        settings.push(setting(vocab, depth, 0.25, Samples::PerRule(80), 10));
    }
    settings.push(setting(8, 4, 0.25, Samples::PerRule(80), 10));
    settings.push(setting(8, 4, 0.125, Samples::PerRule(80), 10));
    settings.push(setting(16, 4, 1.0 / 16.0, Samples::PerRule(80), 10));
    settings.push(setting(24, 2, 0.25, Samples::PerRule(80), 3));
    settings.push(setting(32, 2, 0.25, Samples::PerRule(80), 3));
    settings.push(setting(32, 3, 1.0 / 32.0, Samples::PerRule(80), 3));
    settings.push(setting(32, 3, 0.25, Samples::Total(1_000_000), 1));
    settings
}

fn stretched() -> Vec<Setting> {
    let with = |base: Setting, ensemble: fn(Ensemble) -> Ensemble, note| Setting { ensemble, note, ..base };
    vec![
        setting(8, 2, 0.25, Samples::PerRule(40), 10),
        setting(16, 2, 0.25, Samples::PerRule(40), 10),
        setting(8, 3, 0.25, Samples::PerRule(40), 10),
        setting(8, 3, 0.125, Samples::PerRule(40), 10),
        setting(8, 2, 0.5, Samples::PerRule(80), 5),
        setting(8, 2, 0.75, Samples::PerRule(160), 5),
        with(setting(8, 3, 0.25, Samples::PerRule(80), 5), |e| e.p_binary(0.3), "p_binary .3, learned"),
        with(setting(8, 3, 0.25, Samples::PerRule(80), 5), |e| e.p_binary(0.7), "p_binary .7, learned"),
        with(setting(8, 2, 0.25, Samples::PerRule(160), 5), |e| e.zipf(0.5), "Zipf .5"),
        with(setting(8, 2, 0.25, Samples::PerRule(320), 5), |e| e.zipf(1.0), "Zipf 1"),
        setting(8, 5, 0.125, Samples::PerRule(160), 2),
        setting(64, 2, 1.0 / 64.0, Samples::PerRule(80), 1),
    ]
}

fn setting(vocab: usize, depth: usize, fraction: f64, samples: Samples, grammars: u64) -> Setting {
    Setting { vocab, depth, fraction, samples, grammars, ensemble: |ensemble| ensemble, note: "" }
}

fn run(setting: &Setting) -> Result<()> {
    let Setting { vocab, depth, fraction, grammars, note, .. } = *setting;
    let ensemble = (setting.ensemble)(Ensemble::new(vocab, depth).fraction(fraction));
    let ternary = ensemble.rules_per_symbol(0)?[3];
    let sentences = match setting.samples {
        Samples::PerRule(each) => each * (vocab * ternary) as u64,
        Samples::Total(total) => total,
    };
    let mut row = Row::default();
    for seed in (FIRST_SEED..FIRST_SEED + grammars).map(Seed::new) {
        let truth = ensemble.sample(seed)?;
        let corpus = Corpus::sample(&truth, seed.child("training"), 0..sentences);
        let outline = Outline { tokens: vocab, classes: vocab, ..Outline::new(vocab, depth) };
        row.learn(&corpus, &truth, outline, seed)?;
    }
    let Row { exact, converged, trusted, seconds, .. } = row;
    let (gap, each) = (row.converged_gap(), seconds / grammars as f64);
    println!(
        "| {vocab} | {depth} | {fraction:.4} | {note} | {sentences} | {exact} of {grammars} | {converged} | {trusted} | {gap} | {each:.1} |"
    );
    Ok(())
}

/// What happened to the grammars of one row.
struct Row {
    exact: u64,
    converged: u64,
    trusted: u64,
    seconds: f64,
    /// The largest differences in accuracy to the true grammar: of grammars that were called converged, and of the others.
    gaps: [f64; 2],
}

impl Default for Row {
    fn default() -> Self {
        Row { exact: 0, converged: 0, trusted: 0, seconds: 0.0, gaps: [f64::NEG_INFINITY; 2] }
    }
}

impl Row {
    /// Learns one grammar and compares it with the truth.
    fn learn(&mut self, corpus: &Corpus, truth: &Grammar, outline: Outline, seed: Seed) -> Result<()> {
        let clock = Instant::now();
        let learned = Exact::new(outline).learn(corpus, &mut |_| ())?;
        self.seconds += clock.elapsed().as_secs_f64();
        let right = score_rules(&learned.grammar, truth)?.iter().all(|level| level.is_exact());
        let believed = learned.verdict == Verdict::Converged;
        self.exact += u64::from(right);
        self.converged += u64::from(believed);
        self.trusted += u64::from(believed && !right);
        let score = score_sentences(&learned.grammar, truth, seed.child("test"), 20_000)?;
        let gap = &mut self.gaps[usize::from(!believed)];
        *gap = gap.max(score.bayes.accuracy - score.learned.accuracy);
        Ok(())
    }

    fn converged_gap(&self) -> String {
        shown(self.gaps[0])
    }

    fn rejected_gap(&self) -> String {
        shown(self.gaps[1])
    }
}

fn shown(gap: f64) -> String {
    if gap.is_finite() { format!("{gap:.4}") } else { "–".to_owned() }
}
