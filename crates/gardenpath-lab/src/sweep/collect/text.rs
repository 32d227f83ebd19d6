//! Writes a table as CSV or JSON lines. Numbers have enough digits to be read back exactly.

use crate::table::{Column, Table};
use serde_json::Value;

/// The table as RFC 4180 CSV: a header line, then one line per row. Missing values are empty; empty strings are `""`.
pub fn csv(table: &Table) -> String {
    let mut text = String::new();
    line(&mut text, table.stored().map(|column| field(column.name())));
    for row in 0..table.len() {
        line(&mut text, table.stored().map(|column| csv_value(column, row)));
    }
    text
}

fn line(text: &mut String, fields: impl Iterator<Item = String>) {
    *text += &fields.collect::<Vec<_>>().join(",");
    *text += "\r\n";
}

fn csv_value(column: &Column, row: usize) -> String {
    match column.value(row) {
        Value::Null => String::new(),
        Value::String(text) => field(&text),
        value => field(&value.to_string()),
    }
}

/// A string as a field, quoted if necessary.
fn field(text: &str) -> String {
    let is_plain = !text.is_empty() && !text.contains(['"', ',', '\r', '\n']) && text.trim() == text;
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// The table as one JSON object per row, all with the same keys in the same order; missing values are `null`.
pub fn json_lines(table: &Table) -> String {
    let names: Vec<String> = table.stored().map(|column| Value::from(column.name()).to_string()).collect();
    let mut text = String::new();
    for row in 0..table.len() {
        let pairs = table.stored().zip(&names).map(|(column, name)| format!("{name}:{}", column.value(row)));
        text += &format!("{{{}}}\n", pairs.collect::<Vec<_>>().join(","));
    }
    text
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::path::Path;

    type Read = (Vec<String>, Vec<Vec<Value>>);

    /// Column names and rows. Names are taken from the text, since maps do not keep their order.
    pub fn read_json_lines(path: &Path) -> Read {
        let text = std::fs::read_to_string(path).unwrap();
        let mut names: Vec<String> = Vec::new();
        let mut rows = Vec::new();
        for line in text.lines() {
            let object: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
            let mut keys: Vec<String> = object.keys().cloned().collect();
            keys.sort_by_key(|name| line.find(&format!("\"{name}\":")).unwrap());
            assert!(names.is_empty() || names == keys, "{line}");
            rows.push(keys.iter().map(|name| object[name].clone()).collect());
            names = keys;
        }
        (names, rows)
    }

    /// Column names and rows. Fields are parsed by the table's column types.
    pub fn read_csv(path: &Path, table: &Table) -> Read {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = fields(&text).into_iter();
        let names = lines.next().unwrap().into_iter().map(|(text, _)| text).collect();
        let value = |((text, quoted), column): ((String, bool), &Column)| match column.kind() {
            _ if text.is_empty() && !quoted => Value::Null,
            kind if kind.is_text() => text.into(),
            _ => serde_json::from_str(&text).unwrap(),
        };
        (names, lines.map(|line| line.into_iter().zip(table.stored()).map(value).collect()).collect())
    }

    /// All fields of a CSV file, and whether they are quoted.
    fn fields(text: &str) -> Vec<Vec<(String, bool)>> {
        let (mut lines, mut line, mut field) = (Vec::new(), Vec::new(), (String::new(), false));
        let mut inside = false;
        let mut characters = text.chars().peekable();
        while let Some(c) = characters.next() {
            match c {
                '"' if inside && characters.next_if_eq(&'"').is_some() => field.0.push('"'),
                '"' => (inside, field.1) = (!inside, true),
                ',' if !inside => line.push(std::mem::take(&mut field)),
                '\r' if !inside => {
                    assert_eq!(characters.next(), Some('\n'));
                    line.push(std::mem::take(&mut field));
                    lines.push(std::mem::take(&mut line));
                }
                other => field.0.push(other),
            }
        }
        assert!(!inside && line.is_empty() && field.0.is_empty(), "the last line is whole");
        lines
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        for (text, expected) in [
            ("a", "a"),
            ("", "\"\""),
            ("a b", "a b"),
            (" a", "\" a\""),
            ("a,b", "\"a,b\""),
            ("a\nb", "\"a\nb\""),
            ("\"a\"", "\"\"\"a\"\"\""),
            ("[1,null]", "\"[1,null]\""),
        ] {
            assert_eq!(field(text), expected);
        }
    }
}
