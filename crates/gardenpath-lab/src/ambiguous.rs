//! An ambiguous sentence of a grammar, as short as possible: one to look at.

use anyhow::Result;
use gardenpath::{Chart, Corpus, Count, Grammar, Inside, Sampler, Seed, Semiring, Symbol};

/// A sentence with several trees.
#[derive(Clone, Debug, PartialEq)]
pub struct Ambiguous {
    /// Its number among the sentences of the grammar and the seed.
    pub number: u64,
    /// Its tokens.
    pub tokens: Vec<Symbol>,
    /// The class that it was written with.
    pub root: Symbol,
    /// The exact number of its trees, in decimal.
    pub trees: String,
    /// The entropy of its class, in nats.
    pub entropy: f64,
    /// The number of classes that can derive it.
    pub classes: usize,
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// What was found, if anything was.
    pub found: Option<Ambiguous>,
    /// The number of sentences that were looked at.
    pub tried: u64,
}

/// The least entropy of the class, in nats, of what is ambiguous for people: about 10 : 1.
const VISIBLE: f64 = 0.3;

/// Sentences that are compared with one another.
const PIECE: u64 = 1 << 10;

/// Looks for a sentence whose class is visibly uncertain among the first `most` sentences of the grammar with this seed, piece by piece. Of
/// a piece the shortest one is taken, and of those the most uncertain. If the class of every sentence is all but certain, the most uncertain
/// one of all will do, and at last one with several trees of one class.
///
/// It costs one pass of the inside algorithm, and a second one if there is nothing.
///
/// ```
/// use gardenpath::{Ensemble, Seed};
/// use gardenpath_lab::ambiguous::find;
///
/// let grammar = Ensemble::new(8, 2).fraction(0.5).sample(Seed::new(1))?;
/// let found = find(&grammar, Seed::new(1), 10_000)?.found.unwrap();
/// assert!(found.classes > 1 && found.entropy > 0.3 && found.trees.parse::<u64>()? > 1);
/// // Trees of binary rules have one form only, and no two classes have the same rule.
/// let grammar = Ensemble::new(8, 2).p_binary(1.0).sample(Seed::new(1))?;
/// assert_eq!(find(&grammar, Seed::new(1), 100)?.found, None);
/// # Ok::<(), anyhow::Error>(())
/// ```
pub fn find(grammar: &Grammar, seed: Seed, most: u64) -> Result<Search> {
    let (sampler, inside) = (Sampler::new(grammar), Inside::new(grammar));
    let (mut first, mut best) = (0, None::<(f64, u64)>);
    while first < most {
        let count = PIECE.min(most - first);
        let corpus = Corpus::sample_with(&sampler, seed, first..first + count);
        let entropies = inside.batch_map(&corpus, |posterior| posterior.entropy(), &|_| ())?;
        let order = |&i: &usize| (corpus.sentence(i).len(), std::cmp::Reverse((entropies[i] * 1e12) as u64));
        if let Some(i) = (0..corpus.len()).filter(|&i| entropies[i] >= VISIBLE).min_by_key(order) {
            let found = Some(describe(&inside, &sampler, seed, first + i as u64)?);
            return Ok(Search { found, tried: first + count });
        }
        for (&entropy, number) in entropies.iter().zip(first..) {
            if entropy > best.map_or(0.0, |(entropy, _)| entropy) {
                best = Some((entropy, number));
            }
        }
        first += count;
    }
    let number = match best {
        Some((_, number)) => Some(number),
        None => first_with_trees(grammar, &sampler, seed, most.min(PIECE))?,
    };
    let found = number.map(|number| describe(&inside, &sampler, seed, number)).transpose()?;
    Ok(Search { found, tried: most })
}

/// The first sentence that has several trees, although they are all of one class.
fn first_with_trees(grammar: &Grammar, sampler: &Sampler, seed: Seed, most: u64) -> Result<Option<u64>> {
    let corpus = Corpus::sample_with(sampler, seed, 0..most);
    for (number, sentence) in (0..).zip(corpus.sentences()) {
        gardenpath::interrupt::checkpoint();
        if tree_count(grammar, sentence)? != "1" {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// The exact number of trees of a sentence, in decimal.
pub fn tree_count(grammar: &Grammar, sentence: &[Symbol]) -> Result<String> {
    let mut total = Count::zero();
    Chart::<Count>::parse(grammar, sentence)?.roots().into_iter().for_each(|count| total.add(count));
    Ok(total.to_string())
}

fn describe(inside: &Inside, sampler: &Sampler, seed: Seed, number: u64) -> Result<Ambiguous> {
    let corpus = Corpus::sample_with(sampler, seed, number..number + 1);
    let (tokens, root) = (corpus.sentence(0).to_vec(), corpus.roots()[0]);
    let posterior = inside.posterior(&tokens)?;
    let trees = tree_count(inside.grammar(), &tokens)?;
    let classes = posterior.possible_roots().count();
    Ok(Ambiguous { number, root, trees, entropy: posterior.entropy(), classes, tokens })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::Ensemble;

    #[test]
    fn the_shortest_of_a_piece_is_taken() {
        let grammar = Ensemble::new(6, 2).fraction(0.8).sample(Seed::new(3)).unwrap();
        let found = find(&grammar, Seed::new(5), PIECE).unwrap().found.unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(5), 0..PIECE);
        let inside = Inside::new(&grammar);
        let uncertain = |sentence: &&[Symbol]| inside.posterior(sentence).unwrap().entropy() >= VISIBLE;
        let shortest = corpus.sentences().filter(uncertain).map(<[Symbol]>::len).min();
        assert_eq!(Some(found.tokens.len()), shortest);
        assert_eq!(corpus.sentence(found.number as usize), found.tokens);
        assert_eq!(corpus.roots()[found.number as usize], found.root);
        assert_eq!(find(&grammar, Seed::new(5), PIECE).unwrap().found.unwrap(), found);
    }

    #[test]
    fn trees_of_one_class_are_better_than_nothing() {
        let text = "%start S\nS -> A A [0.5] | A A A [0.5]\nA -> 'x' 'x' [0.5] | 'x' 'x' 'x' [0.5]\n";
        let grammar = Grammar::from_text(text).unwrap();
        let found = find(&grammar, Seed::new(1), 100).unwrap().found.unwrap();
        assert_eq!((found.entropy, found.classes), (0.0, 1));
        assert_ne!(found.trees, "1");
    }
}
