//! Messages on one line of reasonable length.

/// Maximum length of a message, in characters. Longer messages quote the contents of a file.
const LONGEST: usize = 600;

/// Puts a message on one line. The middle of a long one is cut, since the file and the reason are at the ends.
pub fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    if text.chars().nth(LONGEST).is_none() {
        return text.chars().map(plain).collect();
    }
    let head = text.chars().take(LONGEST * 2 / 3);
    let tail: Vec<char> = text.chars().rev().take(LONGEST / 4).collect();
    head.chain(" … ".chars()).chain(tail.into_iter().rev()).map(plain).collect()
}

/// Several things in a sentence: `a, b or c`.
pub fn listed(things: &[String], word: &str) -> String {
    match things.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} {word} {last}", others.join(", ")),
        _ => things.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_with_a_word() {
        let listed =
            |things: &[&str]| listed(&things.iter().map(|thing| (*thing).to_owned()).collect::<Vec<_>>(), "or");
        assert_eq!(
            [listed(&[]), listed(&["a"]), listed(&["a", "b"]), listed(&["a", "b", "c"])],
            ["", "a", "a or b", "a, b or c"]
        );
    }

    #[test]
    fn messages_are_one_line_of_reasonable_length() {
        assert_eq!(one_line("a\nb\tc"), "a b c");
        let whole = "é".repeat(LONGEST);
        assert_eq!(one_line(&whole), whole);
        let line = one_line(&format!("file: {}: the reason", "é".repeat(10_000_000)));
        assert!(line.starts_with("file: éé") && line.ends_with("éé: the reason"), "{line}");
        assert!(line.chars().count() < LONGEST);
    }
}
