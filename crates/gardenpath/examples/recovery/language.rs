//! Languages of all kinds: any sizes and arities per level, classes of any frequency, tuples with two parents, noise.

use gardenpath::{Children, Corpus, Grammar, Result, Rule, Seed, Symbol};

/// A random layered grammar to be.
#[derive(Clone, Debug)]
pub struct Language {
    /// The number of symbols of each level, from the classes to the tokens.
    pub sizes: Vec<usize>,
    /// The numbers of binary and ternary rules of each symbol, for each layer from the root down.
    pub rules: Vec<[usize; 2]>,
    /// How frequent the classes are; all alike if empty.
    pub prior: Vec<f64>,
    /// The number of rules of each layer that a second parent has too.
    pub shared: usize,
}

impl Language {
    /// The same numbers of rules in all layers.
    pub fn new(sizes: &[usize], binary: usize, ternary: usize) -> Self {
        let rules = vec![[binary, ternary]; sizes.len() - 1];
        Language { sizes: sizes.to_vec(), rules, prior: Vec::new(), shared: 0 }
    }

    /// Trees of one form: each layer has one arity, with four binary or sixteen ternary rules per symbol.
    pub fn fixed(symbols: usize, arities: &[usize]) -> Self {
        let rules = arities.iter().map(|&arity| if arity == 2 { [4, 0] } else { [0, 16] }).collect();
        Language { sizes: vec![symbols; arities.len() + 1], rules, prior: Vec::new(), shared: 0 }
    }

    /// The number of sentences that show every rule `each` times or more often.
    pub fn sentences(&self, each: usize) -> u64 {
        let rules =
            self.rules.iter().zip(&self.sizes).map(|(rules, parents)| parents * rules.iter().max().unwrap_or(&0));
        (each * rules.max().unwrap_or(0)) as u64
    }

    /// Samples a grammar. All rules of a symbol and arity are equally likely, and so are the arities.
    pub fn sample(&self, seed: Seed) -> Result<Grammar> {
        let layers = (0..self.rules.len()).map(|layer| self.layer(layer, seed)).collect();
        let classes = self.sizes[0];
        let prior = if self.prior.is_empty() { vec![1.0 / classes as f64; classes] } else { self.prior.clone() };
        Grammar::new(self.sizes.clone(), prior, layers)
    }

    fn layer(&self, layer: usize, seed: Seed) -> Vec<Rule> {
        let (parents, children) = (self.sizes[layer], self.sizes[layer + 1]);
        let mut stream = seed.child("rules").stream(layer as u64);
        let mut rules: Vec<Rule> = Vec::new();
        for (arity, each) in [2usize, 3].into_iter().zip(self.rules[layer]) {
            let mut tuples: Vec<usize> = (0..children.pow(arity as u32)).collect();
            for k in (1..tuples.len()).rev() {
                tuples.swap(k, stream.below(k as u64 + 1) as usize);
            }
            for (k, &tuple) in tuples[..parents * each].iter().enumerate() {
                let symbol = |place: usize| (tuple / children.pow(place as u32) % children) as Symbol;
                let symbols: Vec<Symbol> = (0..arity).rev().map(symbol).collect();
                let children = Children::from_slice(&symbols).expect("two or three symbols");
                rules.push(Rule { parent: (k / each) as Symbol, children, probability: 1.0 / each as f64 });
            }
        }
        let next = |rule: &Rule| Rule { parent: (rule.parent + 1) % parents as Symbol, ..*rule };
        let shared: Vec<Rule> = rules.iter().step_by(7).take(self.shared).map(next).collect();
        rules.extend(shared);
        let mut totals = vec![0.0; parents];
        rules.iter().for_each(|rule| totals[usize::from(rule.parent)] += rule.probability);
        rules.iter_mut().for_each(|rule| rule.probability /= totals[usize::from(rule.parent)]);
        rules
    }
}

/// What happens to a corpus on its way to the learner.
#[derive(Clone, Copy, Debug)]
pub enum Handling {
    /// Nothing.
    Plain,
    /// Each label is another one with this probability.
    WrongLabels(f64),
    /// Each token is another one with this probability.
    WrongTokens(f64),
    /// Sorted by label, by length or by tokens.
    Sorted(fn(&[Symbol], Symbol) -> (usize, Vec<Symbol>)),
}

impl Handling {
    /// The corpus as the learner gets it.
    pub fn apply(self, corpus: &Corpus, grammar: &Grammar, seed: Seed) -> Corpus {
        let mut stream = seed.child("noise").stream(0);
        let mut wrong = |symbol: Symbol, p: f64, symbols: usize| {
            let other = stream.unit() < p;
            if other {
                (usize::from(symbol) + 1 + stream.below(symbols as u64 - 1) as usize) % symbols
            } else {
                symbol.into()
            }
        };
        let mut order: Vec<usize> = (0..corpus.len()).collect();
        if let Handling::Sorted(key) = self {
            order.sort_by_cached_key(|&i| key(corpus.sentence(i), corpus.roots()[i]));
        }
        let mut handled = Corpus::default();
        for i in order {
            let (mut sentence, mut root) = (corpus.sentence(i).to_vec(), corpus.roots()[i]);
            match self {
                Handling::WrongLabels(p) => root = wrong(root, p, grammar.classes()) as Symbol,
                Handling::WrongTokens(p) => {
                    sentence.iter_mut().for_each(|token| *token = wrong(*token, p, grammar.vocab()) as Symbol);
                }
                Handling::Plain | Handling::Sorted(_) => {}
            }
            handled.push(&sentence, root);
        }
        handled
    }
}
