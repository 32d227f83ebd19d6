//! Words of a line of `.pcfg` text.

/// One word of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Word<'t> {
    /// A nonterminal.
    Name(&'t str),
    /// A quoted terminal, without its quotes.
    Token(&'t str),
    /// `->` or `→`
    Arrow,
    /// `|`
    Bar,
    /// The text between square brackets.
    Bracket(&'t str),
}

impl std::fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Word::Name(name) => write!(f, "{name}"),
            Word::Token(token) => write!(f, "'{token}'"),
            Word::Arrow => write!(f, "->"),
            Word::Bar => write!(f, "|"),
            Word::Bracket(inner) => write!(f, "[{inner}]"),
        }
    }
}

/// Whether a name can stand unquoted: what NLTK takes for a nonterminal, and without an arrow inside.
pub(crate) fn is_nonterminal(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_name) && chars.all(continues_name) && !name.contains("->")
}

fn starts_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '/'
}

fn continues_name(c: char) -> bool {
    starts_name(c) || matches!(c, '^' | '<' | '>' | '-')
}

/// Splits a line into words, up to a comment; the error says what could not be read.
pub(super) fn words(line: &str) -> Result<Vec<Word<'_>>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    // Whether the next word is set apart: "C# D" is a mistake, not a name and a comment.
    let mut apart = true;
    while let Some(first) = rest.chars().next() {
        let (word, used) = match first {
            '#' if apart => break,
            '\'' | '"' => {
                let end = rest[1..].find(first).ok_or_else(|| format!("a token lacks its closing {first}"))?;
                (Word::Token(&rest[1..1 + end]), end + 2)
            }
            '[' => {
                let end = rest.find(']').ok_or("a probability lacks its closing ]")?;
                (Word::Bracket(rest[1..end].trim()), end + 1)
            }
            '|' => (Word::Bar, 1),
            '-' if rest.starts_with("->") => (Word::Arrow, 2),
            '→' => (Word::Arrow, first.len_utf8()),
            _ if starts_name(first) => {
                // "A->B" is a name and an arrow, although "-" and ">" may stand inside a name.
                let end = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
                let end = rest[..end].find("->").unwrap_or(end);
                (Word::Name(&rest[..end]), end)
            }
            _ => return Err(format!("{first:?} cannot start a word, expected a name, a quoted token, ->, | or [p]")),
        };
        words.push(word);
        let after = &rest[used..];
        rest = after.trim_start();
        apart = rest.len() < after.len() || !matches!(word, Word::Name(_));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::Word::*;
    use super::*;

    #[test]
    fn splits_rules() {
        assert_eq!(
            words("A->B-1 'x y'[.5]|\"'\" [1]"),
            Ok(vec![Name("A"), Arrow, Name("B-1"), Token("x y"), Bracket(".5"), Bar, Token("'"), Bracket("1")])
        );
        assert_eq!(words("  "), Ok(vec![]));
        assert_eq!(
            words("A → '#' \"# '\"[1]# it's"),
            Ok(vec![Name("A"), Arrow, Token("#"), Token("# '"), Bracket("1")])
        );
        assert!(words("A -> C# D").unwrap_err().contains("'#' cannot start a word"));
        assert!(words("A -> 'x").unwrap_err().contains("closing"));
        assert!(words("A -> [0.5").unwrap_err().contains("closing ]"));
        assert!(words("A -> (b)").unwrap_err().contains("cannot start a word"));
    }
}
