//! From rules with names to a layered grammar, with a line number for everything that is wrong.

use super::super::{Children, Grammar, Rule, SUM_TOLERANCE, Symbol};
use super::cycle::refuse_recursion;
use super::levels::assign_levels;
use super::lexer::Word;
use super::lines::{Header, Lines, Production};
use crate::error::{Error, Result};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Sums of probabilities that are this far from 1 are taken for rounded ones, and can be rescaled.
pub(super) const RESCALABLE: f64 = 0.01;

/// Sums that differ from 1 by the rounding of `f64` alone are left as they are.
const ROUNDING: f64 = 1e-12;

/// Reads a grammar, and divides probabilities by their sums if it is to `normalize` them.
pub(super) fn read(text: &str, normalize: bool) -> Result<Grammar> {
    let lines = Lines::read(text)?;
    let start = lines.start()?;
    let Lines { header, productions, .. } = lines;
    refuse_recursion(start, &productions)?;
    let (starting, rules): (Vec<_>, Vec<_>) = productions.iter().partition(|p| p.parent == start);
    let first_line = starting[0].line;
    let unary = starting.iter().filter(|p| p.children.len() == 1).count();
    let (classes, rules) = if unary == starting.len() {
        (starting, rules)
    } else {
        // The start symbol is itself the only class.
        (vec![], productions.iter().collect())
    };
    let roots: Vec<Word> =
        if classes.is_empty() { vec![start] } else { classes.iter().map(|p| p.children[0]).collect() };
    let mut seen = HashSet::new();
    if let Some(p) = classes.iter().find(|p| !seen.insert(p.children[0])) {
        return Err(Error::line(p.line, format!("the class {} stands twice", p.children[0])));
    }
    check_sides(&rules, start, !classes.is_empty())?;
    let occurs = |root| classes.iter().all(|p| p.children[0] != root || p.probability > 0.0);
    let levels = assign_levels(&roots, occurs, first_line, &rules)?;
    if rules.is_empty() {
        return Err(Error::line(first_line, "no class has rules"));
    }
    let symbols = number_symbols(&levels, &roots, &rules, &header)?;
    let sums = check_sums(&classes, &rules, normalize)?;
    let probability = |p: &Production| p.probability / sums[&p.parent];
    let mut prior = vec![0.0; symbols.names[0].len()];
    for p in &classes {
        prior[symbols.index(p.children[0])] = probability(p);
    }
    if classes.is_empty() {
        prior[0] = 1.0;
    }
    let mut layers = vec![Vec::new(); symbols.names.len() - 1];
    for p in &rules {
        let children: Vec<Symbol> = p.children.iter().map(|&child| symbols.index(child) as Symbol).collect();
        let children = Children::from_slice(&children).expect("the arity was checked");
        let parent = symbols.index(p.parent) as Symbol;
        layers[levels[&p.parent]].push(Rule { parent, children, probability: probability(p) });
    }
    let sizes = symbols.names.iter().map(Vec::len).collect();
    Ok(Grammar::new(sizes, prior, layers)?.with_names(symbols.names)?.with_remarks(header.remarks))
}

/// Symbols of one kind, not too many of them, each rule once.
fn check_sides(rules: &[&Production], start: Word, start_is_above: bool) -> Result<()> {
    let mut seen = HashSet::new();
    for p in rules {
        // A class may have no share in the sentences, but a rule that is never used is a mistake.
        if p.probability == 0.0 {
            return Err(p.refuse_probability("0"));
        }
        if !(1..=Children::MAX).contains(&p.children.len()) {
            let most = Children::MAX;
            let reason = format!("{} has a rule of {} symbols, expected 1 to {most}", p.parent, p.children.len());
            return Err(Error::line(p.line, reason));
        }
        let tokens = p.children.iter().filter(|child| matches!(child, Word::Token(_))).count();
        if tokens != 0 && tokens != p.children.len() {
            return Err(Error::line(p.line, "tokens and nonterminals are mixed in one rule: not a layered grammar"));
        }
        if start_is_above && p.children.contains(&start) {
            return Err(Error::line(p.line, format!("the start symbol {start} is a child: not a layered grammar")));
        }
        if !seen.insert((p.parent, &p.children)) {
            return Err(Error::line(p.line, format!("this rule of {} stands twice", p.parent)));
        }
    }
    Ok(())
}

/// The symbols of each level in order.
struct Symbols<'t> {
    names: Vec<Vec<String>>,
    indices: HashMap<Word<'t>, usize>,
}

impl Symbols<'_> {
    fn index(&self, word: Word) -> usize {
        self.indices[&word]
    }
}

fn number_symbols<'t>(
    levels: &HashMap<Word<'t>, usize>,
    roots: &[Word<'t>],
    rules: &[&Production<'t>],
    header: &Header<'t>,
) -> Result<Symbols<'t>> {
    let depth = levels.values().copied().max().unwrap_or(0);
    let mut by_level: Vec<Vec<Word>> = vec![Vec::new(); depth + 1];
    let mut listed = HashSet::new();
    // Classes as the start symbol lists them, the others by appearance.
    for &word in roots.iter().chain(rules.iter().map(|p| &p.parent)).chain(rules.iter().flat_map(|p| &p.children)) {
        if listed.insert(word) {
            by_level[levels[&word]].push(word);
        }
    }
    // Before anything that takes time or memory in proportion to the square of these numbers.
    let listed = header.tokens.as_ref().map_or(0, |(_, list)| list.len());
    let largest = by_level.iter().map(Vec::len).max().unwrap_or(0).max(listed);
    if largest > Grammar::MAX_VOCAB {
        let reason = format!("a level has {largest} symbols, expected at most {}", Grammar::MAX_VOCAB);
        return Err(Error::line(rules[0].line, reason));
    }
    let declared = header.sizes.as_ref();
    if let Some((line, sizes)) = declared
        && (sizes.len() != depth + 1 || (0..depth).any(|level| sizes[level] != by_level[level].len()))
    {
        let found: Vec<usize> = by_level.iter().map(Vec::len).collect();
        return Err(Error::line(
            *line,
            format!("\"sizes:\" says {sizes:?}, but the rules have {found:?} symbols per level"),
        ));
    }
    for (level, words) in by_level[..depth].iter_mut().enumerate() {
        let names: Vec<&str> = words.iter().map(|&word| text(word)).collect();
        if let Some(numbers) = numbered(level, &names) {
            let mut sorted: Vec<(usize, Word)> = numbers.into_iter().zip(words.iter().copied()).collect();
            sorted.sort();
            *words = sorted.into_iter().map(|(_, word)| word).collect();
        }
    }
    let tokens = order_tokens(&by_level[depth], declared.map(|(line, sizes)| (*line, sizes[depth])), &header.tokens)?;
    let mut indices: HashMap<Word, usize> =
        by_level[..depth].iter().flat_map(|words| words.iter().enumerate().map(|(k, &word)| (word, k))).collect();
    indices
        .extend(by_level[depth].iter().map(|&word| (word, tokens.iter().position(|t| *t == text(word)).unwrap_or(0))));
    let mut names: Vec<Vec<String>> =
        by_level[..depth].iter().map(|words| words.iter().map(|&word| text(word).to_owned()).collect()).collect();
    names.push(tokens);
    super::check_names(&names).map_err(|reason| Error::line(rules[0].line, reason))?;
    Ok(Symbols { names, indices })
}

fn text<'t>(word: Word<'t>) -> &'t str {
    match word {
        Word::Name(text) | Word::Token(text) => text,
        _ => "",
    }
}

/// The numbers of symbols with the default names of a level, if all have such names: `A1_0`, `A1_1`, …
pub(super) fn numbered(level: usize, names: &[impl AsRef<str>]) -> Option<Vec<usize>> {
    let prefix = format!("A{level}_");
    let number = |name: &str| name.strip_prefix(&prefix).and_then(plain_number).filter(|&k| k < names.len());
    names.iter().map(|name| number(name.as_ref())).collect()
}

/// A decimal number without leading zeros.
fn plain_number(text: &str) -> Option<usize> {
    text.parse().ok().filter(|number: &usize| number.to_string() == text)
}

/// The names of the tokens in order: as the header lists them, else by number, else by appearance.
fn order_tokens(
    found: &[Word],
    declared: Option<(usize, usize)>,
    listed: &Option<(usize, Vec<Word>)>,
) -> Result<Vec<String>> {
    if let Some((line, list)) = listed {
        if let Some(token) = found.iter().find(|token| !list.contains(token)) {
            return Err(Error::line(*line, format!("\"tokens:\" does not list {token}")));
        }
        return Ok(list.iter().map(|&word| text(word).to_owned()).collect());
    }
    let numbers: Option<BTreeMap<usize, &str>> =
        found.iter().map(|&word| Some((plain_number(text(word))?, text(word)))).collect();
    match (numbers, declared) {
        (Some(numbers), Some((line, size))) => {
            if size > Grammar::MAX_VOCAB {
                return Err(Error::line(line, format!("{size} tokens, expected at most {}", Grammar::MAX_VOCAB)));
            }
            if let Some(beyond) = numbers.keys().find(|number| **number >= size) {
                return Err(Error::line(
                    line,
                    format!("\"sizes:\" says {size} tokens, but the rules have token '{beyond}'"),
                ));
            }
            Ok((0..size).map(|k| k.to_string()).collect())
        }
        (Some(numbers), None) => Ok(numbers.into_values().map(str::to_owned).collect()),
        (None, _) => Ok(found.iter().map(|&word| text(word).to_owned()).collect()),
    }
}

/// What the probabilities of each symbol have to be divided by: 1, or their sum if it is to be made 1.
fn check_sums<'t>(
    classes: &[&Production<'t>],
    rules: &[&Production<'t>],
    normalize: bool,
) -> Result<HashMap<Word<'t>, f64>> {
    let mut sums: HashMap<Word, (usize, f64)> = HashMap::new();
    for p in classes.iter().chain(rules) {
        sums.entry(p.parent).or_insert((p.line, 0.0)).1 += p.probability;
    }
    let distance = |sum: f64| (sum - 1.0).abs();
    let rescalable = |sum: f64| distance(sum) <= RESCALABLE + ROUNDING;
    let accepted = |sum: f64| if normalize { rescalable(sum) } else { distance(sum) <= SUM_TOLERANCE };
    let wrong = sums.iter().filter(|(_, (_, sum))| !accepted(*sum)).min_by_key(|(_, (line, _))| *line);
    if let Some((parent, &(line, sum))) = wrong {
        let hint = if rescalable(sum) {
            "; to rescale them: gardenpath grammar convert IN -o OUT --normalize"
        } else if normalize {
            " or at most 1% more or less"
        } else {
            ""
        };
        return Err(Error::line(line, format!("the probabilities of {parent} sum to {sum}, expected 1{hint}")));
    }
    let divisor = |sum: f64| if normalize && distance(sum) > ROUNDING { sum } else { 1.0 };
    Ok(sums.into_iter().map(|(parent, (_, sum))| (parent, divisor(sum))).collect())
}
