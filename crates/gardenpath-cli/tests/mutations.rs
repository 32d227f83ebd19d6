//! Tens of thousands of damaged corpora: each is read or refused, and none crashes the program.

mod common;

use bytes::Bytes;
use common::Lab;
use gardenpath::{Seed, Stream};
use gardenpath_lab::files::{Alphabet, jsonl, parquet, tsv};
use std::fs;
use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

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

/// Reads a file to its end or first error, and counts the sentences.
fn read(file: Vec<u8>) -> anyhow::Result<usize> {
    let mut sentences = 0;
    for piece in parquet::Reader::open(Bytes::from(file), "m.parquet".into(), Alphabet::numbers(6))? {
        sentences += piece?.len();
    }
    Ok(sentences)
}

/// Reads bytes from a file, as users do: reads past the end of a file return nothing forever.
fn read_file(bytes: &[u8]) -> anyhow::Result<usize> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    let mut sentences = 0;
    for piece in parquet::Reader::open(file, "m.parquet".into(), Alphabet::numbers(6))? {
        sentences += piece?.len();
    }
    Ok(sentences)
}

/// Runs some work, which must not take longer than a minute.
fn in_a_minute(what: String, work: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    let worker = thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    if ended.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("{what}: still reading");
    }
    worker.join().unwrap();
}

/// The peak memory of this process in bytes.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

#[test]
fn damaged_words() {
    let lab = Lab::new();
    fs::write(lab.path("g.pcfg"), "S -> q [0.5] | a [0.5]\nq -> 'x' 'y' [1]\na -> 'y' 'é' 'z' [1]\n").unwrap();
    let files = ["c.jsonl", "c.tsv", "c.parquet"].map(|file| {
        let words = if file == "c.tsv" { "" } else { "--words" };
        lab.run(&format!("corpus sample g.pcfg --samples 20 {words} -o {file}"));
        fs::read(lab.path(file)).unwrap()
    });
    let mut accepted = [0; 3];
    for i in 0..3000 {
        let [lines, text, table] = files.each_ref().map(|bytes| mutate(bytes, &mut Seed::new(2).stream(i)));
        let results = [
            jsonl::Reader::new(lines.as_slice(), "m".into(), Alphabet::open()).collect::<anyhow::Result<Vec<_>>>(),
            tsv::Reader::new(text.as_slice(), "m".into(), Alphabet::open()).collect(),
            parquet::Reader::open(Bytes::from(table), "m".into(), Alphabet::open()).and_then(Iterator::collect),
        ];
        for (accepted, result) in accepted.iter_mut().zip(results) {
            match result {
                Ok(_) => *accepted += 1,
                Err(error) => assert!(error.to_string().starts_with("m: "), "{error}"),
            }
        }
    }
    assert!(accepted.iter().all(|count| (10..2990).contains(count)), "{accepted:?}");
}

#[test]
fn damaged_json_lines() {
    let lab = Lab::with_grammar("--vocab 6 --depth 2 --seed 7");
    lab.run("corpus sample g.pcfg --samples 20 --trees -o c.jsonl");
    let bytes = fs::read(lab.path("c.jsonl")).unwrap();
    let (mut accepted, mut refused) = (0, 0);
    for i in 0..50_000 {
        let mutant = mutate(&bytes, &mut Seed::new(1).stream(i));
        let reader = jsonl::Reader::new(mutant.as_slice(), "m.jsonl".into(), Alphabet::numbers(6));
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
        lab.run(&format!("corpus sample g.pcfg --samples 50 -o {file}"));
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

/// Fields that claim two billion items, written over every position of headers and footer: the Parquet crate alone
/// would take seconds for a list of booleans, and far longer for other items past the end of a file.
#[test]
fn lists_without_end_in_parquet() {
    let lab = Lab::with_grammar("--vocab 6 --depth 2 --seed 7");
    lab.run("corpus sample g.pcfg --samples 50 -o c.parquet");
    let bytes = fs::read(lab.path("c.parquet")).unwrap();
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
    let places: Vec<usize> = (4..60).chain(bytes.len() - 8 - footer..bytes.len() - 20).collect();
    for of in 1..=13 {
        // An unknown field: a list, or a map to items of the type.
        let list = vec![0x09, 80, 0xf0 | of, 0xff, 0xff, 0xff, 0xff, 7];
        let map = vec![0x0b, 80, 0xff, 0xff, 0xff, 0xff, 7, 0x10 | of];
        for endless in [list, map] {
            let (bytes, places) = (bytes.clone(), places.clone());
            in_a_minute(format!("{endless:x?}"), move || {
                for place in places {
                    let mut mutant = bytes.clone();
                    mutant[place..place + endless.len()].copy_from_slice(&endless);
                    for outcome in [read(mutant.clone()), read_file(&mutant)] {
                        let message = outcome.err().map(|error| format!("{error:#}")).unwrap_or_default();
                        assert!(!message.contains('\n'), "{message}");
                    }
                }
            });
        }
    }
}

#[test]
fn seeds_of_the_fuzzer_end() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/corpus_parquet");
    for (name, expected) in [("numbers", "the header of a page is damaged"), ("truths", "the footer is damaged")] {
        let bytes = fs::read(format!("{directory}/endless_{name}.parquet")).unwrap();
        in_a_minute(name.into(), move || {
            let message = read_file(&bytes).unwrap_err().to_string();
            assert!(message.ends_with(&format!("not a readable Parquet corpus: {expected}")), "{message}");
        });
    }
}

#[test]
fn damaged_parquet_files_end() {
    let lab = Lab::with_grammar("--vocab 6 --depth 2 --seed 7");
    lab.run("corpus sample g.pcfg --samples 5 -o c.parquet");
    let bytes = fs::read(lab.path("c.parquet")).unwrap();
    assert_eq!((read(bytes.clone()).unwrap(), read_file(&bytes).unwrap()), (5, 5));
    for hundred in 0..20 {
        let bytes = bytes.clone();
        in_a_minute(format!("mutants {hundred}00 to {hundred}99"), move || {
            for i in 100 * hundred..100 * (hundred + 1) {
                let mutant = mutate(&bytes, &mut Seed::new(3).stream(i));
                let outcomes = [read(mutant.clone()), read_file(&mutant)].map(|outcome| outcome.ok());
                assert_eq!(outcomes[0], outcomes[1], "mutant {i}: the same in memory and on disk");
            }
        });
    }
}
