//! Suggestions for misspelled names.

use anyhow::anyhow;

/// The known name nearest to a word, if one is close: about one letter in three may be wrong, missing, added or swapped
/// with the next.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(LONGEST).collect();
    let distances = known.into_iter().map(|name| {
        let letters: Vec<char> = name.chars().take(LONGEST).collect();
        (distance(&word, &letters), letters.len(), name)
    });
    let near = distances.filter(|&(distance, length, _)| distance <= (word.len().max(length) / 3).max(1));
    near.min_by_key(|&(distance, ..)| distance).map(|(.., name)| name)
}

/// A suggestion for the end of a message: the name that was probably meant.
pub fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or(String::new(), |name| format!("; did you mean {name}?"))
}

/// The error for an unknown name, with the known ones.
pub fn unknown(name: &str, known: &[&str]) -> anyhow::Error {
    let hint = suggestion(name, known.iter().copied());
    let end = if hint.is_empty() { "." } else { "" };
    match known {
        [] => anyhow!("unknown name {name}: no names are available here"),
        _ => anyhow!("unknown name {name}{hint}{end} Available: {}", known.join(", ")),
    }
}

/// Longer names are compared by their first letters only.
const LONGEST: usize = 40;

/// The edit distance, with swaps of adjacent letters.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_near_and_other_words_are_not() {
        let known = ["vocab", "depth", "fraction", "sentences", "seed"];
        for (word, expected) in [
            ("sentence", Some("sentences")),
            ("Depht", Some("depth")),
            ("fracton", Some("fraction")),
            ("sed", Some("seed")),
            ("shift", None),
            ("model", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
        assert_eq!(suggestion("vocap", known), "; did you mean vocab?");
        assert_eq!(suggestion("colour", known), "");
    }
}
