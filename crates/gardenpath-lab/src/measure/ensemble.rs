//! The parameters of the random grammar, shared by all measures.

use super::kind::{Kind, Typed};
use super::parameter::{Parameters, Values, parameters};
use crate::by_arity::{ByArity, Entry};
use crate::ensemble::Choices;
use anyhow::{Result, bail};
use gardenpath::{Arities, Ensemble, Grammar, PerArity, Seed};
use serde_json::{Map, Value};
use std::fmt::Display;

parameters! {
    /// An ensemble of random grammars.
    pub struct Sampled {
        vocab: usize => "Symbols per level, tokens included";
        depth: usize => "Layers of rules";
        fraction: Option<f64>, or "required unless all rules are given below" => "Fraction of all tuples that are grammatical";
        binary_fraction: Option<f64>, or "none" => "Fraction of pairs that are grammatical; needs ternary_fraction";
        ternary_fraction: Option<f64>, or "none" => "Fraction of triples that are grammatical; needs binary_fraction";
        binary_rules: Option<usize>, or "none" => "Binary rules per symbol; needs ternary_rules";
        ternary_rules: Option<usize>, or "none" => "Ternary rules per symbol; needs binary_rules";
        p_binary: f64, late 0.5 => "Probability that a node has two children, not three";
        zipf: f64, late 0.0 => "Zipf exponent of the probabilities of a symbol's rules; 0 is uniform";
        non_overlapping: bool, late false => "Whether to exclude rules that begin or end with a shorter one";
        arities: Option<ByArity<f64>>, or "that of p_binary" => "Probability of each number of children, such as 2:0.5,4:0.5";
        fractions: Option<ByArity<f64>>, or "none" => "Fraction of grammatical tuples by number of children, such as 2:0.1,4:0.01";
        rules: Option<ByArity<usize>>, or "none" => "Rules per symbol by number of children, such as 2:4,4:64";
        classes: Option<usize>, or "vocab" => "Symbols of level 0";
        level_sizes: Option<Sizes>, or "vocab for all" => "Symbols of each level from classes to tokens, such as 4,8,16";
        cover: bool, late false => "Whether every symbol must occur in some rule";
    }
}

/// Numbers of symbols from classes to tokens, separated by commas.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes(Vec<usize>);

impl Typed for Sizes {
    fn kind() -> Kind {
        Kind::Text
    }

    fn expected() -> String {
        "comma-separated numbers of symbols, such as 4,8,16".into()
    }

    fn read(value: &Value) -> Option<Self> {
        let sizes = value.as_str()?.split(',').map(|size| size.trim().parse().ok());
        sizes.collect::<Option<_>>().map(Sizes)
    }

    fn write(&self) -> Value {
        self.0.iter().map(usize::to_string).collect::<Vec<_>>().join(",").into()
    }
}

impl<T: Entry + Display + PartialEq> Typed for ByArity<T> {
    fn kind() -> Kind {
        Kind::Text
    }

    fn expected() -> String {
        format!(
            "values for distinct numbers of children from 1 to {}, such as {}",
            gardenpath::Children::MAX,
            T::EXAMPLE
        )
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_str()?.parse().ok()
    }

    fn write(&self) -> Value {
        self.to_string().into()
    }
}

impl Sampled {
    /// Fails on contradictions: rules that are given in no way or in several, or level sizes that differ.
    pub fn check(&self) -> Result<()> {
        self.ensemble().map(drop)
    }

    /// The ensemble.
    pub fn ensemble(&self) -> Result<Ensemble> {
        let named = |name: &str| if name == "sizes" { "level_sizes".to_owned() } else { name.to_owned() };
        self.choices()?.ensemble(&named)
    }

    fn choices(&self) -> Result<Choices> {
        let fractions = of_both(self.binary_fraction, self.ternary_fraction)?;
        let rules = of_both(self.binary_rules, self.ternary_rules)?;
        let ways = [
            self.fraction.is_some() || self.fractions.is_some() || self.rules.is_some(),
            fractions.is_some(),
            rules.is_some(),
        ];
        match ways.iter().filter(|way| **way).count() {
            0 => bail!("fraction is missing, or numbers of rules"),
            1 => {}
            _ => bail!("{ONE_WAY}"),
        }
        if self.arities.is_some() && (fractions.is_some() || rules.is_some()) {
            bail!(
                "without arities, binary and ternary rules are given separately, expected fractions or rules such as 2:4,4:64"
            );
        }
        let choices = Choices {
            vocab: Some(self.vocab),
            depth: Some(self.depth),
            sizes: self.level_sizes.as_ref().map(|sizes| sizes.0.clone()),
            classes: self.classes,
            arities: self.arities.clone(),
            p_binary: (self.arities.is_none() || self.p_binary != 0.5).then_some(self.p_binary),
            fraction: self.fraction,
            fractions: self.fractions.clone().or(fractions),
            rules: self.rules.clone().or(rules),
            zipf: self.zipf,
            non_overlapping: self.non_overlapping,
            cover: self.cover,
        };
        let counted = |arity| {
            let fraction = choices.fractions.as_ref().and_then(|all| all.get(arity));
            fraction.is_some() || choices.rules.as_ref().and_then(|all| all.get(arity)).is_some()
        };
        if let Some(arity) = self.probabilities().arities().iter().find(|&arity| !counted(arity))
            && choices.fraction.is_none()
        {
            bail!("fraction is missing, and no other parameter sets the rules with {arity} children");
        }
        Ok(choices)
    }

    /// The probability of each number of children.
    fn probabilities(&self) -> PerArity<f64> {
        match &self.arities {
            Some(arities) => arities.iter().collect(),
            None => PerArity::from([(2, self.p_binary), (3, 1.0 - self.p_binary)]),
        }
    }

    /// The number of symbols of each level, if valid.
    pub fn sizes(&self) -> Result<Vec<usize>> {
        Ok(self.ensemble()?.level_sizes()?)
    }

    /// The grammar of a cell: that of `grammar sample` with the same parameters.
    pub fn grammar(&self, seed: u64) -> Result<Grammar> {
        Ok(self.ensemble()?.sample(Seed::new(seed))?)
    }

    /// The approximate length of a sentence.
    pub fn length(&self) -> f64 {
        let children: f64 = self.probabilities().nonzero().map(|(arity, p)| arity as f64 * p.clamp(0.0, 1.0)).sum();
        children.powi(i32::try_from(self.depth).unwrap_or(i32::MAX))
    }

    /// The time in seconds to sample a grammar: all tuples are generated and shuffled, if they can be listed.
    pub fn work(&self) -> f64 {
        let tuples = (self.vocab as f64).powi(self.probabilities().arities().most() as i32);
        1.3e-7 * self.depth as f64 * if tuples < LISTED { tuples } else { self.rules() }
    }

    /// The approximate number of rules per layer.
    pub fn rules(&self) -> f64 {
        self.fractions().nonzero().map(|(arity, fraction)| fraction * (self.vocab as f64).powi(arity as i32)).sum()
    }

    /// An ensemble of small grammars.
    pub fn tiny(vocab: usize, depth: usize, fraction: f64) -> Self {
        Sampled {
            vocab,
            depth,
            fraction: Some(fraction),
            binary_fraction: None,
            ternary_fraction: None,
            binary_rules: None,
            ternary_rules: None,
            p_binary: 0.5,
            zipf: 0.0,
            non_overlapping: false,
            arities: None,
            fractions: None,
            rules: None,
            classes: None,
            level_sizes: None,
            cover: false,
        }
    }

    /// The fractions of grammatical tuples; 1 if the parameters are invalid.
    pub fn fractions(&self) -> PerArity<f64> {
        let all = || self.probabilities().map(|_, _| 1.0);
        self.ensemble().and_then(|ensemble| Ok(ensemble.effective_fractions(0)?)).unwrap_or_else(|_| all())
    }
}

/// Above this number, tuples are not listed when a grammar is sampled.
const LISTED: f64 = (1 << 25) as f64;

const ONE_WAY: &str = "expected either fraction, or binary_fraction and ternary_fraction, or binary_rules and ternary_rules, or \
                       fractions and rules by number of children";

/// Values for pairs and triples, which must be given together.
fn of_both<T: Copy>(binary: Option<T>, ternary: Option<T>) -> Result<Option<ByArity<T>>> {
    match (binary, ternary) {
        (None, None) => Ok(None),
        (Some(binary), Some(ternary)) => Ok(Some(ByArity::pair(binary, ternary))),
        _ => bail!("{ONE_WAY}"),
    }
}

/// The numbers of binary and ternary rules per symbol of a cell, rounded to whole numbers.
pub fn rules_of_a_symbol(parameters: &Map<String, Value>) -> Option<(u64, u64)> {
    let sampled = of_cell(parameters)?;
    let rules = sampled.ensemble().ok()?.rules_per_symbol(0).ok()?;
    Some((rules[2] as u64, rules[3] as u64))
}

/// The effective fractions of pairs and triples of a cell, and the probability of two children, if the cell is as in
/// the paper: two or three children, and equal levels.
pub fn effective_fractions(parameters: &Map<String, Value>) -> Option<(f64, f64, f64)> {
    let sampled = of_cell(parameters)?;
    let probabilities = sampled.probabilities();
    if sampled.cover
        || !probabilities.arities().iter().all(|arity| Arities::PAPER.contains(arity))
        || sampled.sizes().ok()?.iter().any(|size| *size != sampled.vocab)
    {
        return None;
    }
    let fractions = sampled.ensemble().ok()?.effective_fractions(0).ok()?;
    Some((fractions[2], fractions[3], probabilities[2]))
}

/// The ensemble of a cell.
fn of_cell(parameters: &Map<String, Value>) -> Option<Sampled> {
    let table = Sampled::table();
    let own = parameters.iter().filter(|(name, _)| table.iter().any(|parameter| parameter.name == name.as_str()));
    let values = own.map(|(name, value)| (name.clone(), value.clone())).collect();
    Sampled::read(&mut Values::new("", &table, values)).ok()
}
