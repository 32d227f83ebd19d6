//! Error messages for lines that are not sentences.

use crate::files::NO_ROOT;
use serde_json::Value;
use serde_json::error::Category;

/// The expected form of a line.
const EXAMPLE: &str = "expected {\"tokens\":[0,1,…],\"root\":0}";

/// Maximum number of characters of a text quoted in a message.
const QUOTED: usize = 40;

/// Explains why `text` was refused, with the JSON parser's `error` if there was one; `words` says whether words are
/// accepted. Parses the line again to find out what it contains.
pub(super) fn describe(text: &str, vocab: usize, words: bool, error: Option<&serde_json::Error>) -> String {
    let syntax = |error: &serde_json::Error| {
        // Each line is its own document: its line number is always 1, and the column says where.
        let reason = error.to_string();
        let reason = match error.classify() {
            Category::Eof => "the line ends too early",
            _ => match reason.split(" at line").next().unwrap_or(&reason) {
                "expected ident" | "expected value" => "no value",
                reason => reason,
            },
        };
        format!("not JSON: {reason} at column {}, {EXAMPLE}", error.column())
    };
    match (error, serde_json::from_str::<Value>(text)) {
        (Some(error), _) if error.classify() != Category::Data => syntax(error),
        (_, Err(error)) => syntax(&error),
        (_, Ok(line)) => check(&line, vocab, words).err().unwrap_or_else(|| format!("duplicate field, {EXAMPLE}")),
    }
}

fn check(line: &Value, vocab: usize, words: bool) -> Result<(), String> {
    let Value::Object(fields) = line else {
        return Err(format!("found {}, {EXAMPLE}", shown(line)));
    };
    let tokens = match fields.get("tokens") {
        Some(Value::Array(tokens)) => tokens,
        Some(other) => {
            let or_words = if words { " or of words" } else { "" };
            return Err(format!("tokens is {}, expected a list of whole numbers{or_words}", shown(other)));
        }
        None => return Err(format!("no tokens, {EXAMPLE}")),
    };
    let is_word = |value: &Value| words && value.is_string();
    let or_word = if words { ", or a word" } else { "" };
    if let Some(position) = tokens.iter().position(|token| !is_below(token, vocab) && !is_word(token)) {
        let (token, last) = (shown(&tokens[position]), vocab - 1);
        return Err(format!("token {token} at position {position} is not a whole number from 0 to {last}{or_word}"));
    }
    match fields.get("root") {
        Some(root) if !root.is_null() && !is_below(root, usize::from(NO_ROOT)) && !is_word(root) => {
            let (root, last) = (shown(root), NO_ROOT - 1);
            Err(format!("root is {root}, expected a whole number from 0 to {last}{or_word}, or null"))
        }
        _ => Ok(()),
    }
}

fn is_below(value: &Value, limit: usize) -> bool {
    value.as_u64().is_some_and(|number| number < limit as u64)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if text.chars().count() > QUOTED => {
            format!("{:?}…", text.chars().take(QUOTED).collect::<String>())
        }
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::files::alphabet::Alphabet;
    use crate::files::jsonl::Reader;

    #[test]
    fn every_bad_line_is_described_in_plain_words() {
        let example = "expected {\"tokens\":[0,1,…],\"root\":0}";
        let long = format!("{{\"tokens\":[\"{}\"]}}", "x".repeat(1000));
        let range = |token: &str, position: usize| {
            format!("token {token} at position {position} is not a whole number from 0 to 3")
        };
        let root = |root: &str| format!("root is {root}, expected a whole number from 0 to 254, or null");
        let tokens = |found: &str| format!("tokens is {found}, expected a list of whole numbers");
        for (line, expected) in [
            ("{\"tokens\":[4]}", "token 4 at position 0 is not one of the 4 tokens of the grammar".to_owned()),
            ("{\"tokens\":[0,256]}", range("256", 1)),
            ("{\"tokens\":[300]}", range("300", 0)),
            ("{\"tokens\":[0,1,-1]}", range("-1", 2)),
            ("{\"tokens\":[1.5]}", range("1.5", 0)),
            ("{\"tokens\":[1.0]}", range("1.0", 0)),
            ("{\"tokens\":[\"a\"]}", range("\"a\"", 0)),
            ("{\"tokens\":[\"1\"]}", range("\"1\"", 0)),
            ("{\"tokens\":[null]}", range("null", 0)),
            ("{\"tokens\":[true]}", range("true", 0)),
            ("{\"tokens\":[[0,1]]}", range("a list", 0)),
            ("{\"tokens\":[{}]}", range("an object", 0)),
            ("{\"tokens\":[18446744073709551616]}", range("1.8446744073709552e+19", 0)),
            (&long, range(&format!("\"{}\"…", "x".repeat(40)), 0)),
            ("{\"tokens\":null}", tokens("null")),
            ("{\"tokens\":\"0 1\"}", tokens("\"0 1\"")),
            ("{\"tokens\":5}", tokens("5")),
            ("{\"tokens\":{\"a\":1}}", tokens("an object")),
            ("{\"tokens\":[1],\"root\":255}", root("255")),
            ("{\"tokens\":[1],\"root\":300}", root("300")),
            ("{\"tokens\":[1],\"root\":-1}", root("-1")),
            ("{\"root\":1.5,\"tokens\":[1]}", root("1.5")),
            ("{\"tokens\":[1],\"root\":\"a\"}", root("\"a\"")),
            ("{\"tokens\":[1],\"root\":[1]}", root("a list")),
            ("{\"root\":1}", format!("no tokens, {example}")),
            ("{\"Tokens\":[1]}", format!("no tokens, {example}")),
            ("{}", format!("no tokens, {example}")),
            ("[0,1,2]", format!("found a list, {example}")),
            ("[[0,1],2]", format!("found a list, {example}")),
            ("5", format!("found 5, {example}")),
            ("null", format!("found null, {example}")),
            ("\"0 1\"", format!("found \"0 1\", {example}")),
            ("{\"tokens\":[1],\"tokens\":[2]}", format!("duplicate field, {example}")),
            ("{\"tokens\":[0,", format!("not JSON: the line ends too early at column 13, {example}")),
            ("{\"tokens\":[0,]}", format!("not JSON: trailing comma at column 14, {example}")),
            ("{\"tokens\":[0]} x", format!("not JSON: trailing characters at column 16, {example}")),
            ("{\"tokens\":[1e999]}", format!("not JSON: number out of range at column 16, {example}")),
            ("{'tokens':[0]}", format!("not JSON: key must be a string at column 2, {example}")),
            ("0 1 2", format!("not JSON: trailing characters at column 3, {example}")),
            ("the dog", format!("not JSON: no value at column 2, {example}")),
        ] {
            // The third sentence, on the fourth line.
            let text = format!("{{\"tokens\":[0]}}\n\n{{\"tokens\":[1],\"other\":[{{}}]}}\n{line}\n");
            let mut reader = Reader::new(text.as_bytes(), "c.jsonl".into(), Alphabet::numbers(4));
            let message = reader.next().unwrap().unwrap_err().to_string();
            assert_eq!(message, format!("c.jsonl: line 4: {expected}"));
            assert!(reader.next().is_none());
        }
    }
}
