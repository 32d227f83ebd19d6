//! The grammar that a request is about: parameters of an ensemble, or text.

use anyhow::{Context, Result, bail};
use gardenpath::{Ensemble, Grammar, Seed};
use gardenpath_lab::by_arity::ByArity;
use gardenpath_lab::ensemble::Choices;
use gardenpath_lab::files;
use serde::Deserialize;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The most rules of a grammar.
pub const RULES: usize = 200_000;

/// The most tokens of the longest sentence of a grammar.
pub const LONGEST: usize = 2_187;

/// Grammars that are kept: those of a page, and what was there before the last drag.
const KEPT: usize = 8;

/// The grammar of a request.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct GrammarChoice(Value);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    vocab: usize,
    depth: usize,
    fraction: Option<f64>,
    classes: Option<usize>,
    arities: Option<String>,
    #[serde(default)]
    zipf: f64,
    #[serde(default)]
    non_overlapping: bool,
    #[serde(default)]
    cover: bool,
    #[serde(default)]
    seed: u64,
}

/// A random grammar before it is sampled.
pub struct Sampled {
    /// Its ensemble, every size of which was checked.
    pub ensemble: Ensemble,
    /// The fraction that was asked for.
    pub fraction: f64,
    seed: Seed,
}

/// A grammar, and where it comes from.
pub struct Chosen {
    /// The grammar.
    pub grammar: Grammar,
    /// What it was sampled from; none if it was text.
    pub sampled: Option<Sampled>,
}

/// The fraction of rules if nothing is said.
const FRACTION: f64 = 0.25;

impl GrammarChoice {
    /// The ensemble of a random grammar; none for text.
    pub fn sampled(&self) -> Result<Option<Sampled>> {
        if self.0.get("text").is_some() {
            return Ok(None);
        }
        let parameters = Parameters::deserialize(&self.0).context("grammar")?;
        let arities: Option<ByArity<f64>> = parameters
            .arities
            .as_deref()
            .map(|text| text.parse().map_err(|reason| anyhow::anyhow!("arities: {reason}")))
            .transpose()?;
        let fraction = parameters.fraction.unwrap_or(FRACTION);
        let choices = Choices {
            vocab: Some(parameters.vocab),
            depth: Some(parameters.depth),
            classes: parameters.classes,
            arities,
            fraction: Some(fraction),
            zipf: parameters.zipf,
            non_overlapping: parameters.non_overlapping,
            cover: parameters.cover,
            ..Choices::default()
        };
        let ensemble = choices.ensemble(&str::to_owned)?;
        let sizes = ensemble.level_sizes()?;
        let longest = ensemble.probabilities().arities().most().saturating_pow(parameters.depth as u32);
        check_longest(longest)?;
        let mut rules = 0usize;
        for (level, size) in sizes[..parameters.depth].iter().enumerate() {
            let of_symbol: usize = ensemble.rules_per_symbol(level)?.nonzero().map(|(_, number)| number).sum();
            rules = rules.saturating_add(size.saturating_mul(of_symbol));
        }
        check_rules(rules)?;
        Ok(Some(Sampled { ensemble, fraction, seed: Seed::new(parameters.seed) }))
    }

    /// Samples or reads the grammar.
    pub fn choose(&self) -> Result<Chosen> {
        if let Some(sampled) = self.sampled()? {
            let grammar = sampled.ensemble.sample(sampled.seed)?;
            return Ok(Chosen { grammar, sampled: Some(sampled) });
        }
        let Text { text } = Text::deserialize(&self.0).context("grammar")?;
        let grammar = files::grammar::parse(&text).context("grammar")?;
        check_longest(*grammar.shape().lengths().end())?;
        check_rules(grammar.layers().iter().map(|layer| layer.rules().len()).sum())?;
        Ok(Chosen { grammar, sampled: None })
    }
}

fn check_longest(longest: usize) -> Result<()> {
    if longest > LONGEST {
        bail!("sentences would have up to {longest} tokens, expected at most {LONGEST} here");
    }
    Ok(())
}

fn check_rules(rules: usize) -> Result<()> {
    if rules > RULES {
        bail!("the grammar would have {rules} rules, expected at most {RULES} here");
    }
    Ok(())
}

/// The grammars that were asked for last.
#[derive(Default)]
pub struct Cache {
    kept: Mutex<VecDeque<(String, Arc<Chosen>)>>,
}

impl Cache {
    /// The grammar of a request, made at most once while others are not asked for.
    pub fn choose(&self, choice: &GrammarChoice) -> Result<Arc<Chosen>> {
        let key = choice.0.to_string();
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, chosen)) = kept().iter().find(|(own, _)| *own == key) {
            return Ok(chosen.clone());
        }
        let chosen = Arc::new(choice.choose()?);
        let mut kept = kept();
        kept.truncate(KEPT - 1);
        kept.push_front((key, chosen.clone()));
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn choice(value: Value) -> GrammarChoice {
        GrammarChoice(value)
    }

    #[test]
    fn parameters_are_those_of_the_program() {
        let chosen = choice(json!({"vocab": 8, "depth": 2, "seed": 7})).choose().unwrap();
        assert_eq!(chosen.grammar, Ensemble::new(8, 2).sample(Seed::new(7)).unwrap());
        let more =
            json!({"vocab": 8, "depth": 2, "arities": "2:0.5,4:0.5", "classes": 3, "fraction": 0.1, "cover": true});
        let chosen = choice(more).choose().unwrap();
        assert_eq!((chosen.grammar.classes(), chosen.sampled.unwrap().fraction), (3, 0.1));
        let text = Ensemble::new(4, 1).sample(Seed::new(1)).unwrap();
        assert_eq!(choice(json!({"text": text.to_text()})).choose().unwrap().grammar, text);
    }

    #[test]
    fn what_is_wrong_or_too_large_is_refused_in_words() {
        for (value, words) in [
            (json!(3), "grammar"),
            (json!({}), "missing field `vocab`"),
            (json!({"vocab": 8}), "missing field `depth`"),
            (json!({"vocab": -8, "depth": 2}), "invalid value"),
            (json!({"vocab": 8.5, "depth": 2}), "invalid type"),
            (json!({"vocab": 8, "depth": 2, "sed": 1}), "unknown field `sed`"),
            (json!({"vocab": 8, "depth": 2, "fraction": 0}), "fraction"),
            (json!({"vocab": 8, "depth": 2, "arities": "x"}), "arities: expected values by number of children"),
            (json!({"vocab": 0, "depth": 2}), "vocab is 0"),
            (json!({"vocab": 8, "depth": 0}), "depth is 0"),
            (json!({"vocab": 2, "depth": 8}), "up to 6561 tokens"),
            (json!({"vocab": 255, "depth": 2, "fraction": 1}), "rules, expected at most 200000"),
            (json!({"vocab": 8, "depth": 2, "text": "S -> A [1.0]"}), "unknown field"),
            (json!({"text": ""}), "empty file"),
            (json!({"text": "S -> "}), "grammar"),
            (json!({"text": 7}), "invalid type"),
        ] {
            let refused = choice(value.clone()).choose().map(|_| ()).map_err(|error| format!("{error:#}"));
            assert!(refused.as_ref().is_err_and(|line| line.contains(words)), "{value}: {refused:?}");
        }
    }

    #[test]
    fn a_grammar_is_made_once() {
        let (cache, value) = (Cache::default(), choice(json!({"vocab": 4, "depth": 2})));
        let first = cache.choose(&value).unwrap();
        assert!(Arc::ptr_eq(&first, &cache.choose(&value).unwrap()));
        for seed in 0..2 * KEPT {
            cache.choose(&choice(json!({"vocab": 4, "depth": 1, "seed": seed}))).unwrap();
        }
        assert!(!Arc::ptr_eq(&first, &cache.choose(&value).unwrap()));
        assert_eq!(cache.kept.lock().unwrap().len(), KEPT);
    }
}
