//! Corpora read into memory, without a grammar that defines their words.

use super::alphabet::{Alphabet, Names};
use super::corpus::read_with;
use super::{NO_ROOT, shown};
use anyhow::{Result, anyhow, bail};
use gardenpath::interrupt::checkpoint;
use gardenpath::{Corpus, Grammar, Symbol};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// A corpus in memory with the names of its symbols.
#[derive(Clone, Debug)]
pub struct Whole {
    /// The file.
    pub path: PathBuf,
    /// The sentences. Words are numbered in sorted order.
    pub corpus: Corpus,
    /// The words.
    pub names: Names,
    /// The number of tokens: distinct words, or one more than the largest number, or the number recorded in the file.
    pub vocab: usize,
    /// The number of roots, likewise; 0 if no root is known.
    pub classes: usize,
}

impl Whole {
    /// Reads a corpus; words are numbered in sorted order.
    pub fn read(path: &Path) -> Result<Self> {
        let mut pieces = read_with(path, Alphabet::open())?;
        let corpus = gather(&mut pieces, path)?;
        let sizes = pieces.sizes;
        let settle = |lexicon: &super::alphabet::Lexicon| lexicon.settle().map_err(|e| anyhow!("{}: {e}", shown(path)));
        let (tokens, roots) = (settle(&pieces.alphabet().tokens)?, settle(&pieces.alphabet().roots)?);
        let corpus = renamed(corpus, |symbols| tokens.apply(symbols), |symbols| roots.apply(symbols))?;
        let names = Names { tokens: tokens.into_words(), roots: roots.into_words() };
        Ok(Whole::new(path, corpus, names, sizes.unwrap_or_default()))
    }

    /// Reads a corpus of numbers, with tokens below `vocab`.
    pub fn read_numbers(path: &Path, vocab: usize) -> Result<Self> {
        let mut pieces = super::corpus::read(path, vocab)?;
        let corpus = gather(&mut pieces, path)?;
        Ok(Whole::new(path, corpus, Names::default(), pieces.sizes.unwrap_or_default()))
    }

    /// Reads a corpus of a grammar, with its tokens and roots.
    pub fn read_of(path: &Path, grammar: &Grammar) -> Result<Self> {
        let mut pieces = read_with(path, Alphabet::of(grammar))?;
        let corpus = gather(&mut pieces, path)?;
        let classes = grammar.classes();
        let unknown = |root: Symbol| root != NO_ROOT && usize::from(root) >= classes;
        if let Some(i) = corpus.roots().iter().position(|&root| unknown(root)) {
            let (root, file) = (corpus.roots()[i], shown(path));
            bail!("{file}: sentence {}: root {root} is not one of the {classes} classes of the grammar", i + 1);
        }
        let mut whole = Whole::new(path, corpus, Names::of(grammar), (0, 0));
        (whole.vocab, whole.classes) = (grammar.vocab(), grammar.classes());
        Ok(whole)
    }

    fn new(path: &Path, corpus: Corpus, names: Names, said: (usize, usize)) -> Self {
        let size = |names: &Option<Vec<String>>, symbols: &[Symbol], said: usize| match names {
            Some(names) => names.len(),
            None => {
                let largest = symbols.iter().filter(|&&symbol| symbol != NO_ROOT).max();
                largest.map_or(0, |&largest| usize::from(largest) + 1).max(said.min(Grammar::MAX_VOCAB))
            }
        };
        let vocab = size(&names.tokens, corpus.tokens(), said.0);
        let classes = size(&names.roots, corpus.roots(), said.1);
        Whole { path: path.to_owned(), corpus, names, vocab, classes }
    }

    /// Fails if there are no sentences.
    pub fn filled(self) -> Result<Self> {
        if self.corpus.is_empty() {
            bail!("{}: no sentences", shown(&self.path));
        }
        Ok(self)
    }

    /// Fails if there are no sentences, or one has no label.
    pub fn labelled(self) -> Result<Self> {
        let whole = self.filled()?;
        match whole.corpus.roots().iter().position(|&root| root == NO_ROOT) {
            None => Ok(whole),
            Some(i) => {
                bail!("{}: sentence {} has no root, expected a label for every sentence", shown(&whole.path), i + 1)
            }
        }
    }

    /// Drops all labels; fails if there are no sentences.
    pub fn unlabelled(self) -> Result<Self> {
        let mut whole = self.filled()?;
        whole.corpus = without_labels(whole.corpus)?;
        (whole.names.roots, whole.classes) = (None, 0);
        Ok(whole)
    }

    /// Renumbers the words of several corpora consistently. Words in `known` come first and in their order; all others
    /// follow, sorted.
    pub fn unite(wholes: &mut [Whole], known: &Names) -> Result<()> {
        for (what, part) in [("tokens", Part::TOKENS), ("roots", Part::ROOTS)] {
            let empty = |whole: &Whole| (part.size)(whole) == 0;
            let has_words = |whole: &Whole| (part.names)(&whole.names).is_some();
            let spoken = wholes.iter().find(|whole| has_words(whole));
            if let Some(spoken) = spoken {
                if let Some(numbered) = wholes.iter().find(|whole| !has_words(whole) && !empty(whole)) {
                    let (words, numbers) = (shown(&spoken.path), shown(&numbered.path));
                    bail!("the {what} of {words} are words but those of {numbers} are numbers; expected one kind");
                }
                let first = (part.names)(known).clone().unwrap_or_default();
                let all = wholes.iter().filter_map(|whole| (part.names)(&whole.names).as_ref()).flatten();
                let mut others: Vec<String> = all.filter(|word| !first.contains(word)).cloned().collect();
                others.sort();
                others.dedup();
                let words: Vec<String> = first.into_iter().chain(others).collect();
                if words.len() > Grammar::MAX_VOCAB {
                    let (count, most) = (words.len(), Grammar::MAX_VOCAB);
                    bail!("the files have {count} different words for {what}, expected at most {most}");
                }
                for whole in wholes.iter_mut() {
                    whole.rename(part, &words)?;
                }
            }
            let most = wholes.iter().map(|whole| (part.size)(whole)).max().unwrap_or(0);
            wholes.iter_mut().for_each(|whole| *(part.size_mut)(whole) = most);
        }
        Ok(())
    }

    fn rename(&mut self, part: Part, words: &[String]) -> Result<()> {
        let old = (part.names_mut)(&mut self.names).replace(words.to_vec()).unwrap_or_default();
        let position = |word: &String| words.iter().position(|other| other == word).map(|k| k as Symbol);
        let map = old.iter().map(position).collect::<Option<Vec<Symbol>>>().expect("all words are there");
        let apply = |symbols: &mut [Symbol]| {
            symbols.iter_mut().filter(|s| **s != NO_ROOT).for_each(|s| *s = map[usize::from(*s)]);
        };
        let corpus = std::mem::take(&mut self.corpus);
        let keep = |_: &mut [Symbol]| ();
        self.corpus = if part.tokens { renamed(corpus, apply, keep)? } else { renamed(corpus, keep, apply)? };
        *(part.size_mut)(self) = words.len();
        Ok(())
    }

    /// A hash of the sentences and their roots, as 32 hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.corpus)
    }
}

/// The same sentences without labels.
pub fn without_labels(corpus: Corpus) -> Result<Corpus> {
    let unknown = vec![NO_ROOT; corpus.len()];
    Ok(corpus.with_roots(unknown)?)
}

/// Either tokens or roots.
#[derive(Clone, Copy)]
struct Part {
    tokens: bool,
    names: fn(&Names) -> &Option<Vec<String>>,
    names_mut: fn(&mut Names) -> &mut Option<Vec<String>>,
    size: fn(&Whole) -> usize,
    size_mut: fn(&mut Whole) -> &mut usize,
}

impl Part {
    const TOKENS: Part = Part {
        tokens: true,
        names: |names| &names.tokens,
        names_mut: |names| &mut names.tokens,
        size: |whole| whole.vocab,
        size_mut: |whole| &mut whole.vocab,
    };
    const ROOTS: Part = Part {
        tokens: false,
        names: |names| &names.roots,
        names_mut: |names| &mut names.roots,
        size: |whole| whole.classes,
        size_mut: |whole| &mut whole.classes,
    };
}

/// A hash of sentences and roots, as 32 hexadecimal digits.
pub fn fingerprint(corpus: &Corpus) -> String {
    let mut hash = Sha256::new();
    hash.update((corpus.len() as u64).to_le_bytes());
    for sentence in corpus.sentences() {
        hash.update((sentence.len() as u64).to_le_bytes());
    }
    hash.update(corpus.tokens());
    hash.update(corpus.roots());
    hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Joins all pieces into one corpus, if it fits into memory.
fn gather(pieces: &mut super::Pieces, path: &Path) -> Result<Corpus> {
    let mut corpus = Corpus::default();
    for piece in pieces {
        checkpoint();
        corpus.append(&piece?);
        let mean = corpus.tokens().len() as f64 / corpus.len().max(1) as f64;
        Corpus::check_size(corpus.len() as u64, mean).map_err(|e| anyhow!("{}: {e}", shown(path)))?;
    }
    Ok(corpus)
}

/// A corpus with tokens and roots changed in place.
fn renamed(corpus: Corpus, tokens: impl Fn(&mut [Symbol]), roots: impl Fn(&mut [Symbol])) -> Result<Corpus> {
    let (mut all, mut labels, offsets) = (corpus.tokens().to_vec(), corpus.roots().to_vec(), corpus.offsets().to_vec());
    drop(corpus);
    tokens(&mut all);
    roots(&mut labels);
    Ok(Corpus::from_parts(all, offsets, labels)?)
}
