//! The options that describe an ensemble of random grammars.

use super::fraction::Fraction;
use super::size;
use anyhow::{Result, bail};
use clap::Args;
use gardenpath::Ensemble;
use gardenpath_lab::by_arity::ByArity;
use gardenpath_lab::ensemble::Choices;

/// The law of random grammars: everything except sizes and numbers of rules.
#[derive(Args, Clone, Debug)]
pub struct LawOptions {
    /// Probability of each number of children, from 1 to 8 [default: 2:0.5,3:0.5]
    #[arg(long, value_name = "N:P,…", conflicts_with = "p_binary")]
    pub arities: Option<ByArity<f64>>,
    /// Probability that a node has two children, not three: short for --arities 2:P,3:1-P [default: 0.5]
    #[arg(long, value_name = "P")]
    pub p_binary: Option<f64>,
    /// Zipf exponent of the probabilities of a symbol's rules; 0 is uniform
    #[arg(long, default_value_t = 0.0, value_name = "A")]
    pub zipf: f64,
    /// Exclude rules that begin or end with the right-hand side of a shorter rule of at least two symbols
    #[arg(long)]
    pub non_overlapping: bool,
    /// Make sure that every symbol occurs in some rule
    #[arg(long)]
    pub cover: bool,
}

/// Number of symbols of each level, where levels differ.
#[derive(Args, Clone, Debug)]
pub struct LevelOptions {
    /// Number of symbols of each level, from the classes to the tokens, such as 4,8,8,16
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = size, conflicts_with_all = ["vocab", "classes"])]
    pub sizes: Option<Vec<usize>>,
    /// Number of classes, if different from the number of other symbols
    #[arg(long, value_name = "N", value_parser = size)]
    pub classes: Option<usize>,
}

/// How many rules each symbol has, by number of children.
#[derive(Args, Clone, Debug)]
pub struct ByArityOptions {
    /// Fraction of grammatical tuples by number of children, such as 2:0.1,4:0.01; the others use --fraction
    #[arg(long, value_name = "N:F,…")]
    pub fractions: Option<ByArity<Fraction>>,
    /// Number of rules per symbol by number of children, such as 2:4,3:64; the others use --fraction
    #[arg(long, value_name = "N:M,…")]
    pub rules: Option<ByArity<usize>>,
}

/// How many rules each symbol has.
#[derive(Args, Clone, Debug)]
pub struct RuleOptions {
    /// Fraction of all tuples that are grammatical: a number, a ratio such as 1/8, or 1/vocab [default: 0.25]
    #[arg(long, value_name = "F", conflicts_with_all = ["binary_fraction", "ternary_fraction", "binary_rules", "ternary_rules"])]
    pub fraction: Option<Fraction>,
    #[command(flatten)]
    by_arity: ByArityOptions,
    /// Fraction of pairs that are grammatical
    #[arg(long, value_name = "F", requires = "ternary_fraction", conflicts_with_all = ["binary_rules", "ternary_rules", "fractions", "rules"])]
    pub binary_fraction: Option<Fraction>,
    /// Fraction of triples that are grammatical
    #[arg(long, value_name = "F", requires = "binary_fraction")]
    pub ternary_fraction: Option<Fraction>,
    /// Number of binary rules per symbol
    #[arg(long, value_name = "N", requires = "ternary_rules", value_parser = size, conflicts_with_all = ["fractions", "rules"])]
    pub binary_rules: Option<usize>,
    /// Number of ternary rules per symbol
    #[arg(long, value_name = "N", requires = "binary_rules", value_parser = size)]
    pub ternary_rules: Option<usize>,
}

/// Names of all random-grammar options except `vocab` and `depth`, for commands that take a grammar file instead.
pub const RANDOM_GRAMMAR: [&str; 14] = [
    "arities",
    "p_binary",
    "zipf",
    "non_overlapping",
    "cover",
    "sizes",
    "classes",
    "fraction",
    "fractions",
    "rules",
    "binary_fraction",
    "ternary_fraction",
    "binary_rules",
    "ternary_rules",
];

/// Larger grammars would take many gigabytes, in memory and as text.
const MAX_RULES: usize = 50_000_000;

impl LevelOptions {
    /// These options as the choices of an ensemble of this size.
    pub fn choices(&self, vocab: Option<usize>, depth: Option<usize>) -> Choices {
        Choices { vocab, depth, sizes: self.sizes.clone(), classes: self.classes, ..Choices::default() }
    }
}

impl LawOptions {
    /// The ensemble of these choices. Fails if the parameters are impossible or the grammar would have more than 50
    /// million rules.
    pub fn ensemble(&self, choices: Choices) -> Result<Ensemble> {
        let ensemble = Choices {
            arities: self.arities.clone(),
            p_binary: self.p_binary,
            zipf: self.zipf,
            non_overlapping: self.non_overlapping,
            cover: self.cover,
            ..choices
        }
        .ensemble(&option)?;
        let sizes = ensemble.level_sizes()?;
        let mut rules = 0;
        for (level, parents) in sizes[..ensemble.depth()].iter().enumerate() {
            rules += parents * ensemble.rules_per_symbol(level)?.nonzero().map(|(_, rules)| rules).sum::<usize>();
        }
        if rules > MAX_RULES {
            bail!("the grammar would have {rules} rules, expected at most {MAX_RULES}; use a smaller fraction");
        }
        Ok(ensemble)
    }
}

/// The command-line spelling of a choice.
pub fn option(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

impl ByArityOptions {
    /// Whether fractions or rules were given by number of children.
    pub fn is_given(&self) -> bool {
        self.fractions.is_some() || self.rules.is_some()
    }

    /// Adds these numbers of rules to the choices.
    pub fn choices(&self, choices: Choices) -> Choices {
        let vocab = choices.tokens();
        let fractions = self.fractions.as_ref().map(|all| all.map(|fraction| fraction.value(vocab)));
        Choices { fractions, rules: self.rules.clone(), ..choices }
    }
}

impl RuleOptions {
    /// Adds these numbers of rules to the choices. Binary and ternary counts need a law that has both arities.
    pub fn choices(&self, law: &LawOptions, choices: Choices) -> Result<Choices> {
        let both = [
            ("--binary-fraction", self.binary_fraction.is_some(), "--fractions"),
            ("--binary-rules", self.binary_rules.is_some(), "--rules"),
        ];
        if let Some((name, _, instead)) = both.iter().find(|(_, is_given, _)| *is_given && law.arities.is_some()) {
            bail!("{name} has no effect here: with --arities, use {instead}");
        }
        Ok(self.paper(choices))
    }

    /// The same for the paper's ensemble of two and three children.
    pub fn paper(&self, choices: Choices) -> Choices {
        let vocab = choices.tokens();
        let choices = self.by_arity.choices(choices);
        let value = |fraction: Fraction| fraction.value(vocab);
        let fractions = self.binary_fraction.zip(self.ternary_fraction);
        let fractions = fractions.map(|(binary, ternary)| ByArity::pair(value(binary), value(ternary)));
        let rules = self.binary_rules.zip(self.ternary_rules).map(|(binary, ternary)| ByArity::pair(binary, ternary));
        Choices {
            fraction: self.fraction.map(value),
            fractions: choices.fractions.or(fractions),
            rules: choices.rules.or(rules),
            ..choices
        }
    }

    /// The common fraction of all tuples, unless rules were given in another way.
    pub fn fraction(&self, vocab: usize) -> Option<f64> {
        let both = self.binary_fraction.zip(self.ternary_fraction);
        let same =
            both.map(|both| (both.0.value(vocab), both.1.value(vocab))).filter(|(binary, ternary)| binary == ternary);
        let is_another = self.by_arity.is_given() || both.is_some() || self.binary_rules.is_some();
        let usual = (!is_another).then(Fraction::default);
        same.map(|(both, _)| both).or(self.fraction.or(usual).map(|fraction| fraction.value(vocab)))
    }
}
