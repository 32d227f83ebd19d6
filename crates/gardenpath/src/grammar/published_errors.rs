//! Plain-language errors for JSON grammars.

use crate::error::Error;
use serde_json::Value;
use serde_json::error::Category;

/// The refusal of `text`, which could not be read because of `error`. The text is read again, to find out what it holds.
pub(super) fn refuse(text: &str, error: &serde_json::Error) -> Error {
    let reason = match error.classify() {
        Category::Eof => "the text ends too early".to_owned(),
        Category::Data => match serde_json::from_str(text).map(|document| check_document(&document)) {
            Ok(Err(reason)) => reason,
            _ => "a field stands twice, or values are nested too deep".to_owned(),
        },
        _ => {
            let reason = error.to_string();
            match reason.split(" at line").next().unwrap_or(&reason) {
                "expected ident" | "expected value" => "expected a value".to_owned(),
                reason => reason.to_owned(),
            }
        }
    };
    Error::line(error.line().max(1), format!("not a JSON grammar: {reason}"))
}

fn check_document(document: &Value) -> Result<(), String> {
    if !document.is_object() {
        return Err(format!("found {}, expected an object with \"sizes\" and \"all\"", shown(document)));
    }
    expect("\"sizes\"", &document["sizes"], is_list_of(is_whole), "a list of whole numbers")?;
    let levels = "a list of levels, each a list of symbols";
    expect("\"all\"", &document["all"], is_list_of(Value::is_array), levels)?;
    for (level, symbols) in items(&document["all"]) {
        for (k, symbol) in items(symbols) {
            let place = format!("symbol {k} of level {level}");
            expect(&place, symbol, Value::is_object, "an object with \"id\", \"name\" and \"children\"")?;
            let of = |field: &str| format!("\"{field}\" of {place}");
            expect(&of("id"), &symbol["id"], is_whole, "a whole number")?;
            expect(&of("name"), &symbol["name"], Value::is_string, "a text")?;
            let is_children = |value: &Value| value.is_null() || is_list_of(is_list_of(is_whole))(value);
            expect(&of("children"), &symbol["children"], is_children, "lists of whole numbers, or null")?;
        }
    }
    Ok(())
}

/// Returns an error unless the value is as `expected`; a missing field is null.
fn expect(place: &str, value: &Value, good: impl Fn(&Value) -> bool, expected: &str) -> Result<(), String> {
    match value {
        _ if good(value) => Ok(()),
        Value::Null => Err(format!("{place} is missing or null, expected {expected}")),
        _ => Err(format!("{place} is {}, expected {expected}", shown(value))),
    }
}

fn is_whole(value: &Value) -> bool {
    value.is_u64()
}

fn is_list_of(good: impl Fn(&Value) -> bool) -> impl Fn(&Value) -> bool {
    move |value| value.as_array().is_some_and(|items| items.iter().all(&good))
}

fn items(list: &Value) -> impl Iterator<Item = (usize, &Value)> {
    list.as_array().into_iter().flatten().enumerate()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list with something else in it".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
        _ => value.to_string(),
    }
}
