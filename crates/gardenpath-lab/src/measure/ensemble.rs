//! The parameters that all measures share: which random grammar.

use super::parameter::{Parameters, Values, parameters};
use anyhow::{Result, bail};
use gardenpath::{Ensemble, Grammar, PerArity, RuleCount, Seed};
use serde_json::{Map, Value};

parameters! {
    /// An ensemble of random grammars.
    pub struct Sampled {
        vocab: usize => "Symbols of each level, tokens included";
        depth: usize => "Layers of rules";
        fraction: Option<f64>, or "required without the four below" => "Fraction of all pairs and of all triples that are grammatical";
        binary_fraction: Option<f64>, or "none" => "Fraction of the pairs that are grammatical; with ternary_fraction";
        ternary_fraction: Option<f64>, or "none" => "Fraction of the triples that are grammatical; with binary_fraction";
        binary_rules: Option<usize>, or "none" => "Binary rules of each symbol; with ternary_rules";
        ternary_rules: Option<usize>, or "none" => "Ternary rules of each symbol; with binary_rules";
        p_binary: f64, late 0.5 => "Probability that a node has two children, not three";
        zipf: f64, late 0.0 => "Exponent of Zipf's law for the probabilities of a symbol's rules; 0 is uniform";
        non_overlapping: bool, late false => "Whether ternary rules that begin or end with a binary one are excluded";
    }
}

impl Sampled {
    /// Refuses numbers of rules that are given in no way or in several.
    pub fn check(&self) -> Result<()> {
        self.counts().map(drop)
    }

    /// The numbers of binary and ternary rules.
    fn counts(&self) -> Result<[RuleCount; 2]> {
        use RuleCount::{Fraction, Number};
        let fractions = (self.fraction, self.binary_fraction, self.ternary_fraction);
        match (fractions, self.binary_rules, self.ternary_rules) {
            ((Some(fraction), None, None), None, None) => Ok([Fraction(fraction); 2]),
            ((None, Some(binary), Some(ternary)), None, None) => Ok([Fraction(binary), Fraction(ternary)]),
            ((None, None, None), Some(binary), Some(ternary)) => Ok([Number(binary), Number(ternary)]),
            ((None, None, None), None, None) => bail!("fraction is missing, and so are numbers of rules"),
            _ => bail!(
                "expected either fraction, or binary_fraction and ternary_fraction, or binary_rules and ternary_rules"
            ),
        }
    }

    /// The ensemble.
    pub fn ensemble(&self) -> Result<Ensemble> {
        let [binary, ternary] = self.counts()?;
        let ensemble = Ensemble::new(self.vocab, self.depth).rules(2, binary).rules(3, ternary);
        Ok(ensemble.p_binary(self.p_binary).zipf(self.zipf).non_overlapping(self.non_overlapping))
    }

    /// The grammar of a cell: that of `grammar sample` with the same parameters.
    pub fn grammar(&self, seed: u64) -> Result<Grammar> {
        Ok(self.ensemble()?.sample(Seed::new(seed))?)
    }

    /// About how many tokens a sentence has.
    pub fn length(&self) -> f64 {
        (3.0 - self.p_binary.clamp(0.0, 1.0)).powi(i32::try_from(self.depth).unwrap_or(i32::MAX))
    }

    /// The seconds that it takes to draw a grammar: all triples are made and shuffled.
    pub fn work(&self) -> f64 {
        1.3e-7 * self.depth as f64 * (self.vocab as f64).powi(3)
    }

    /// About how many rules a layer has.
    pub fn rules(&self) -> f64 {
        let vocab = self.vocab as f64;
        let fractions = self.fractions();
        vocab * vocab * (fractions[2] + fractions[3] * vocab)
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
        }
    }

    /// The fractions of pairs and triples that are grammatical; whatever they are if that is impossible.
    pub fn fractions(&self) -> PerArity<f64> {
        self.ensemble().and_then(|ensemble| Ok(ensemble.effective_fractions(0)?)).unwrap_or(PerArity::all(1.0))
    }
}

/// How many binary and ternary rules each symbol of a cell has: whole numbers, whatever the fraction.
pub fn rules_of_a_symbol(parameters: &Map<String, Value>) -> Option<(u64, u64)> {
    let sampled = of_cell(parameters)?;
    let rules = sampled.ensemble().ok()?.rules_per_symbol(0).ok()?;
    Some((rules[2] as u64, rules[3] as u64))
}

/// The fractions of pairs and triples that the whole numbers of rules of a cell amount to, and the probability of two children.
pub fn effective_fractions(parameters: &Map<String, Value>) -> Option<(f64, f64, f64)> {
    let sampled = of_cell(parameters)?;
    let fractions = sampled.ensemble().ok()?.effective_fractions(0).ok()?;
    Some((fractions[2], fractions[3], sampled.p_binary))
}

/// The ensemble of a cell.
fn of_cell(parameters: &Map<String, Value>) -> Option<Sampled> {
    let table = Sampled::table();
    let own = parameters.iter().filter(|(name, _)| table.iter().any(|parameter| parameter.name == name.as_str()));
    let values = own.map(|(name, value)| (name.clone(), value.clone())).collect();
    Sampled::read(&mut Values::new("", &table, values)).ok()
}
