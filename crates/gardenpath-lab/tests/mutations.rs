//! Damaged corpora, tens of thousands of them: every one is read or refused, none crashes the program.

mod common;

use bytes::Bytes;
use common::Lab;
use gardenpath::{Seed, Stream};
use gardenpath_lab::files::{jsonl, parquet};
use std::fs;

/// Replaces, removes, repeats or exchanges a few bytes.
fn mutate(bytes: &[u8], stream: &mut Stream) -> Vec<u8> {
    let mut mutant = bytes.to_vec();
    for _ in 0..1 + stream.below(4) {
        if mutant.is_empty() {
            return mutant;
        }
        let at = stream.below(mutant.len() as u64) as usize;
        let end = (at + 1 + stream.below(16) as usize).min(mutant.len());
        match stream.below(6) {
            0 => mutant[at] ^= 1 << stream.below(8),
            1 => mutant[at] = stream.below(256) as u8,
            2 => drop(mutant.drain(at..end)),
            3 => {
                let part = mutant[at..end].to_vec();
                mutant.splice(at..at, part);
            }
            4 => mutant[at] = [0, 0x7f, 0x80, 0xff][stream.below(4) as usize],
            _ => mutant.truncate(at.max(mutant.len() / 2)),
        }
    }
    mutant
}

/// Reads a file to its end or to its error, and counts the sentences.
fn read(file: Vec<u8>) -> anyhow::Result<usize> {
    let mut sentences = 0;
    for piece in parquet::Reader::open(Bytes::from(file), "m.parquet".into(), 6)? {
        sentences += piece?.len();
    }
    Ok(sentences)
}

/// The most memory that this process ever had, in bytes.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

#[test]
fn damaged_json_lines() {
    let lab = Lab::with_grammar("--vocab 6 --depth 2 --seed 7");
    lab.run("corpus sample g.pcfg --count 20 --trees -o c.jsonl");
    let bytes = fs::read(lab.path("c.jsonl")).unwrap();
    let (mut accepted, mut refused) = (0, 0);
    for i in 0..50_000 {
        let mutant = mutate(&bytes, &mut Seed::new(1).stream(i));
        let reader = jsonl::Reader::new(mutant.as_slice(), "m.jsonl".into(), 6);
        match reader.collect::<anyhow::Result<Vec<_>>>() {
            Ok(_) => accepted += 1,
            Err(error) => {
                let message = error.to_string();
                assert!(message.starts_with("m.jsonl: line "), "{message}");
                refused += 1;
            }
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

#[test]
fn damaged_parquet() {
    let lab = Lab::with_grammar("--vocab 6 --depth 2 --seed 7");
    for file in ["plain.parquet", "trees.parquet --trees"] {
        lab.run(&format!("corpus sample g.pcfg --count 50 -o {file}"));
    }
    let (mut accepted, mut refused) = (0, 0);
    for file in ["plain.parquet", "trees.parquet"] {
        let bytes = fs::read(lab.path(file)).unwrap();
        for i in 0..30_000 {
            let mutant = mutate(&bytes, &mut Seed::new(2).stream(i));
            match read(mutant) {
                Ok(_) => accepted += 1,
                Err(error) => {
                    let message = format!("{error:#}");
                    assert!(message.starts_with("m.parquet: ") && !message.contains('\n'), "{message}");
                    refused += 1;
                }
            }
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
    assert!(peak_memory() < 1 << 30, "{} MB", peak_memory() >> 20);
}
