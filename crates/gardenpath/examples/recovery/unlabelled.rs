//! How many sentences are needed with and without labels.

use crate::FIRST_SEED;
use gardenpath::learn::score::{score_next_token, score_rules};
use gardenpath::learn::{Exact, Learner, Outline, Verdict};
use gardenpath::{Corpus, Ensemble, Result, Seed};

/// Sentences for each ternary rule of a level: steps of about a factor of the square root of two.
const LADDER: [usize; 12] = [10, 14, 20, 28, 40, 56, 80, 113, 160, 226, 320, 453];

/// The grammars of each setting.
const GRAMMARS: u64 = 5;

/// What happened to the grammars of one setting with so many sentences.
#[derive(Default)]
struct Outcome {
    exact: u64,
    converged: u64,
    trusted: u64,
    /// The largest difference between next-token loss and floor.
    above: f64,
}

/// Prints the table.
pub fn table() -> Result<()> {
    println!(
        "| v | L | f | with labels: right | converged | without: right | converged | wrongly trusted | loss above the floor |"
    );
    println!("|-|-|-|-|-|-|-|-|-|");
    for (vocab, depth, fraction) in
        [(8, 2, 0.125), (8, 3, 0.125), (16, 2, 0.0625), (16, 3, 0.0625), (8, 2, 0.25), (8, 3, 0.25)]
    {
        let ensemble = Ensemble::new(vocab, depth).fraction(fraction);
        let (right, converged, mut trusted, _) = least(&ensemble, vocab, depth, true)?;
        let (bare_right, bare_converged, bare_trusted, above) = least(&ensemble, vocab, depth, false)?;
        trusted += bare_trusted;
        println!(
            "| {vocab} | {depth} | {fraction:.4} | {right} | {converged} | {bare_right} | {bare_converged} | {trusted} | {above:.4} |"
        );
    }
    Ok(())
}

/// The least numbers of sentences per rule with which all grammars are right, and all are called converged; how many were wrongly trusted
/// on the way; and how far the loss is above the floor at the end.
fn least(ensemble: &Ensemble, vocab: usize, depth: usize, labels: bool) -> Result<(String, String, u64, f64)> {
    let (mut right, mut trusted) = (None, 0);
    for each in LADDER {
        let outcome = learn_all(ensemble, vocab, depth, each, labels)?;
        trusted += outcome.trusted;
        if outcome.exact == GRAMMARS {
            right = right.or(Some(each));
            if outcome.converged == GRAMMARS {
                return Ok((
                    right.map_or("–".to_owned(), |each| each.to_string()),
                    each.to_string(),
                    trusted,
                    outcome.above,
                ));
            }
        }
    }
    Ok((right.map_or("–".to_owned(), |each| each.to_string()), "–".to_owned(), trusted, f64::NAN))
}

fn learn_all(ensemble: &Ensemble, vocab: usize, depth: usize, each: usize, labels: bool) -> Result<Outcome> {
    let sentences = each * vocab * ensemble.rules_per_symbol(0)?[3];
    let mut outcome = Outcome::default();
    for seed in (FIRST_SEED..FIRST_SEED + GRAMMARS).map(Seed::new) {
        let truth = ensemble.sample(seed)?;
        let mut corpus = Corpus::sample(&truth, seed.child("training"), 0..sentences as u64);
        if !labels {
            corpus = corpus.with_roots(vec![255; sentences])?;
        }
        let learned =
            Exact::new(Outline { tokens: vocab, ..Outline::new(vocab, depth) }).learn(&corpus, &mut |_| ())?;
        // Below the root, so that both are asked the same.
        let right = score_rules(&learned.grammar, &truth)?[1..].iter().all(|level| level.is_exact());
        let believed = learned.verdict == Verdict::Converged;
        outcome.exact += u64::from(right);
        outcome.converged += u64::from(believed);
        outcome.trusted += u64::from(believed && !right);
        let test = Corpus::sample(&truth, seed.child("test"), 0..5000);
        let score = score_next_token(&learned.grammar, Some(&truth), &test)?;
        if let (Some(loss), Some(floor)) = (score.loss, score.floor) {
            outcome.above = outcome.above.max(loss - floor);
        }
    }
    Ok(outcome)
}
