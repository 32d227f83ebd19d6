//! Whatever is sent, the server says no in one line and goes on.

use crate::client::{Explorer, parse};
use crate::common::Lab;
use gardenpath::{Seed, Stream};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::Shutdown;

/// A good request for each route.
fn good() -> Vec<(&'static str, Value)> {
    let grammar = json!({"vocab": 4, "depth": 2, "fraction": 0.5, "classes": 4, "arities": "2:0.5,3:0.5", "zipf": 0.5,
        "non_overlapping": false, "cover": false, "seed": 1});
    let text = json!({"text": "S -> A A [1.0]\nA -> 'x' 'y' [1.0]\n"});
    vec![
        ("/api/language", json!({"grammar": grammar, "sentences": 2, "first": 0, "seed": 1})),
        ("/api/language", json!({"grammar": text})),
        ("/api/rules", json!({"grammar": grammar, "level": 0, "parent": 1})),
        ("/api/pcfg", json!({"grammar": grammar})),
        ("/api/entropy", json!({"grammar": grammar, "effort": 0})),
        ("/api/reading", json!({"grammar": grammar, "tokens": [0, 1, 2, 3, 0], "trees": 3})),
        ("/api/reading", json!({"grammar": grammar, "sample": {"seed": 1, "number": 2}})),
        ("/api/reading", json!({"grammar": text, "sentence": "x y x y"})),
        ("/api/ambiguous", json!({"grammar": grammar, "seed": 1})),
        ("/api/jobs", json!({"grammar": grammar, "learner": {"kind": "exact", "samples": 64, "seed": 1}})),
        (
            "/api/jobs",
            json!({"grammar": grammar, "network": {"model": "cnn", "task": "root", "samples": 16, "width": 8,
            "max_steps": 1, "test": 1, "batch": 1, "learning_rate": 1.0}}),
        ),
    ]
}

/// What stands where something else belongs.
fn junk() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(255),
        json!(256),
        json!(0.5),
        json!(1e300),
        json!(-1e300),
        json!(5e-324),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1u64 << 53),
        json!(""),
        json!("x"),
        json!("\u{0}\u{ffff}\u{1f333}"),
        json!("2:0.5,3:0.5"),
        json!("8:1"),
        json!("1:1"),
        json!("S -> "),
        json!("{}"),
        json!([]),
        json!([[]]),
        json!([0, 300, -1]),
        json!({}),
        json!({"text": "%start S"}),
    ]
}

/// All places in a value, as pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| places(value, &format!("{at}/{name}"), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| places(value, &format!("{at}/{i}"), found));
        }
        _ => {}
    }
}

/// Anything but an answer, a refusal with a reason, or "too many jobs" is a fault.
fn check(explorer: &Explorer, path: &str, body: &str) {
    let answer = explorer.post_text(path, body);
    if answer.status != 200 {
        assert!((400..500).contains(&answer.status), "{path} {body}: {} {}", answer.status, answer.text());
        answer.refusal(answer.status);
    } else if path == "/api/jobs" {
        let id = answer.json()["id"].as_str().unwrap().to_owned();
        explorer.delete(&format!("/api/jobs/{id}"));
        let end = explorer.listen(&id, None).rest().pop().unwrap();
        let line = end.data["line"].as_str().unwrap();
        assert!(!line.contains("fault of the program"), "{body}: {line}");
    }
}

#[test]
fn no_value_in_any_place_breaks_a_route() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    for (path, body) in good() {
        assert_eq!(explorer.post(path, &body).status, 200, "{path} {body}");
        let mut all = Vec::new();
        places(&body, "", &mut all);
        for place in all {
            for value in junk() {
                let mut spoiled = body.clone();
                *spoiled.pointer_mut(&place).unwrap() = value;
                check(&explorer, path, &spoiled.to_string());
            }
        }
    }
    assert_eq!(explorer.get("/").status, 200);
}

fn below(stream: &mut Stream, limit: usize) -> usize {
    stream.below(limit as u64) as usize
}

#[test]
fn no_text_breaks_a_route() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let mut stream = Seed::new(20).stream(0);
    for (path, body) in good() {
        let text = body.to_string();
        for _ in 0..40 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..=below(&mut stream, 3) {
                let at = below(&mut stream, bytes.len());
                match below(&mut stream, 4) {
                    0 => bytes[at] = b"\"{}[],:0-9e.x"[below(&mut stream, 13)],
                    1 if bytes.len() > 1 => {
                        bytes.remove(at);
                    }
                    2 => bytes.truncate(at + 1),
                    _ => bytes.insert(at, b"{[\"19,"[below(&mut stream, 6)]),
                }
            }
            check(&explorer, path, &String::from_utf8_lossy(&bytes));
        }
    }
    for path in ["/api/language", "/api/jobs", "/api/reading"] {
        check(&explorer, path, &"[".repeat(100_000));
        check(&explorer, path, &format!("{{\"grammar\": {}", "{\"grammar\":".repeat(50_000)));
    }
}

#[test]
fn no_bytes_break_the_server() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let mut stream = Seed::new(21).stream(0);
    let mut head = "POST /api/language HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n".to_owned();
    explorer.headers().iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
    let whole = format!("{head}Connection: close\r\n\r\n{{}}").into_bytes();
    let mut requests: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc".to_vec(),
        format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(100_000)).into_bytes(),
        format!("{head}{}\r\n", "X: y\r\n".repeat(10_000)).into_bytes(),
        format!("{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n").into_bytes(),
        whole[..whole.len() - 1].to_vec(),
    ];
    for _ in 0..200 {
        let mut bytes = whole.clone();
        for _ in 0..=below(&mut stream, 4) {
            let at = below(&mut stream, bytes.len());
            bytes[at] = stream.bits() as u8;
        }
        requests.push(bytes);
    }
    for request in requests {
        let mut connection = explorer.connect();
        let _ = connection.write_all(&request);
        let _ = connection.shutdown(Shutdown::Write);
        let mut bytes = Vec::new();
        let _ = connection.read_to_end(&mut bytes);
        if let Some(answer) = parse(&bytes) {
            assert!(answer.status < 500, "{}: {answer:?}", String::from_utf8_lossy(&request));
        }
    }
    assert_eq!(explorer.get("/").status, 200);
}
