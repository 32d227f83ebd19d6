//! Large corpora: the same bytes for any number of threads, nested slices, both formats, kills and closed pipes.

mod common;

use common::Lab;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const GRAMMAR: &str = "--vocab 8 --depth 3 --fraction 0.4 --seed 2";

#[test]
fn threads_do_not_change_a_byte() {
    let lab = Lab::with_grammar(GRAMMAR);
    for extension in ["parquet", "jsonl"] {
        for threads in [1, 8] {
            lab.run(&format!(
                "corpus sample g.pcfg --samples 20000 --seed 3 --trees --threads {threads} -o {threads}.{extension}"
            ));
        }
        let bytes = |threads: u32| fs::read(lab.path(&format!("{threads}.{extension}"))).unwrap();
        assert!(bytes(1) == bytes(8), "{extension}");
    }
    for mode in ["inside", "best", "count", "recognize", "sample"] {
        for json in ["", "--json"] {
            let parse = |threads| lab.run(&format!("parse g.pcfg 1.parquet --mode {mode} {json} --threads {threads}"));
            assert!(parse(1) == parse(8), "{mode}");
        }
    }
    let entropy = |threads| {
        lab.run(&format!(
            "entropy --vocab 6 --depth 2 --fraction 0.5 --grammars 3 --samples 700 --json --threads {threads}"
        ))
    };
    assert_eq!(entropy(1), entropy(8));
    let info = |threads| lab.run(&format!("corpus info g.pcfg --samples 1e5 --json --threads {threads}"));
    assert_eq!(info(1), info(8));
}

#[test]
fn slices_nest() {
    let lab = Lab::with_grammar(GRAMMAR);
    let all = lab.run("corpus sample g.pcfg --samples 1000 --seed 3 --trees");
    let slice = lab.run("corpus sample g.pcfg --samples 100 --first 500 --seed 3 --trees");
    let expected: String = all.lines().skip(500).take(100).map(|line| line.to_owned() + "\n").collect();
    assert_eq!(slice, expected);
    // The largest possible indices.
    let last = lab.run("corpus sample g.pcfg --samples 5 --first 18446744073709551610 --seed 3");
    assert_eq!(last.lines().count(), 5);
    assert_eq!(
        lab.run("corpus sample g.pcfg --samples 1 --first 18446744073709551614 --seed 3"),
        last.lines().last().unwrap().to_owned() + "\n"
    );
    assert_ne!(
        lab.run("corpus sample g.pcfg --samples 100 --seed 4"),
        lab.run("corpus sample g.pcfg --samples 100 --seed 3")
    );
}

#[test]
fn parquet_and_json_lines_hold_the_same() {
    let lab = Lab::with_grammar(GRAMMAR);
    for file in ["c.parquet", "t.parquet --trees", "c.jsonl"] {
        lab.run(&format!("corpus sample g.pcfg --samples 30000 --seed 3 -o {file}"));
    }
    let parsed = lab.run("parse g.pcfg c.jsonl --json");
    assert_eq!(parsed.lines().count(), 30000);
    assert!(parsed == lab.run("parse g.pcfg c.parquet --json"));
    assert!(parsed == lab.run("parse g.pcfg t.parquet --json"));
    let info = lab.run("corpus info c.jsonl --json");
    assert_eq!(info, lab.run("corpus info c.parquet --json"));
    assert_eq!(info, lab.run("corpus info g.pcfg --samples 3e4 --seed 3 --json"));
    let read = |file: &str| -> Vec<gardenpath::Corpus> {
        gardenpath_lab::files::corpus::read(&lab.path(file), 8).unwrap().map(Result::unwrap).collect()
    };
    let whole = |pieces: Vec<gardenpath::Corpus>| {
        let mut corpus = gardenpath::Corpus::default();
        pieces.iter().for_each(|piece| corpus.append(piece));
        corpus
    };
    let expected = gardenpath::Corpus::sample(&lab.grammar(), gardenpath::Seed::new(3), 0..30000);
    assert!(read("c.parquet").len() > 1, "files are read in pieces");
    assert_eq!(whole(read("c.parquet")), expected);
    assert_eq!(whole(read("c.jsonl")), expected);
}

#[test]
fn parquet_files_say_where_they_come_from() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let lab = Lab::with_grammar(GRAMMAR);
    lab.run("corpus sample g.pcfg --samples 100 --first 50 --seed 3 -o c.parquet");
    let reader = SerializedFileReader::new(fs::File::open(lab.path("c.parquet")).unwrap()).unwrap();
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let value = |key: &str| pairs.iter().find(|pair| pair.key == key).unwrap().value.clone().unwrap();
    assert_eq!(value("gardenpath.grammar"), lab.grammar().fingerprint());
    assert_eq!(value("gardenpath.seed"), "3");
    assert_eq!(value("gardenpath.first"), "50");
    assert_eq!(value("gardenpath.count"), "100");
    assert_eq!(value("gardenpath.classes"), "8");
    assert_eq!(value("gardenpath.vocab"), "8");
    assert_eq!(value("gardenpath.remarks"), lab.grammar().remarks()[0]);
    // A corpus of another grammar is parsed, with a note.
    lab.run("grammar sample --vocab 8 --depth 3 --seed 99 -o other.pcfg");
    let output = lab.try_run("parse other.pcfg c.parquet --json");
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "note: c.parquet was sampled from a different grammar\n");
}

#[test]
fn sentences_come_from_standard_input() {
    let lab = Lab::with_grammar(GRAMMAR);
    lab.run("corpus sample g.pcfg --samples 100 -o c.jsonl");
    let from_pipe = |arguments: &str| {
        let mut command = lab.command(arguments);
        command.stdin(fs::File::open(lab.path("c.jsonl")).unwrap());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert_eq!(from_pipe("parse g.pcfg - --json"), lab.run("parse g.pcfg c.jsonl --json"));
    assert_eq!(from_pipe("corpus info - --json"), lab.run("corpus info c.jsonl --json"));
}

/// Starts to write a large corpus and waits until it is in progress.
fn start_writing(lab: &Lab, file: &str) -> Child {
    wait_until_it_writes(lab, lab.command(&format!("corpus sample g.pcfg --samples 1e9 -o {file}")).spawn().unwrap())
}

fn wait_until_it_writes(lab: &Lab, child: Child) -> Child {
    let start = Instant::now();
    let size = |name: &String| fs::metadata(lab.path(name)).map_or(0, |found| found.len());
    let growing = || lab.files().iter().any(|name| name.ends_with(".tmp") && size(name) > 100_000);
    while !growing() && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(growing());
    child
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing() {
    let lab = Lab::with_grammar(GRAMMAR);
    for signal in ["-INT", "-TERM"] {
        let mut child = start_writing(&lab, "c.jsonl");
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(lab.files(), ["g.pcfg"], "{signal}");
    }
}

#[cfg(unix)]
#[test]
fn what_the_caller_wants_ignored_is_ignored() {
    let lab = Lab::with_grammar(GRAMMAR);
    let sample = lab.command("corpus sample g.pcfg --samples 1e9 -o c.jsonl");
    let mut ignoring = Command::new("sh");
    // What `nohup` does.
    ignoring.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(sample.get_program()).args(sample.get_args());
    let mut child = wait_until_it_writes(&lab, ignoring.current_dir(lab.root()).spawn().unwrap());
    let id = child.id().to_string();
    let signal = |name: &str| Command::new("kill").args([name, &id]).status().unwrap().success();
    assert!(signal("-HUP"));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None, "a hangup ended the program");
    assert!(signal("-TERM"));
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_kill_leaves_no_half_file() {
    let lab = Lab::with_grammar(GRAMMAR);
    for file in ["c.parquet", "c.jsonl"] {
        let mut child = start_writing(&lab, file);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!lab.path(file).exists(), "{file}");
        lab.run(&format!("corpus sample g.pcfg --samples 1000 -o {file}"));
        assert_eq!(lab.json(&format!("corpus info {file}"))["sentences"], 1000);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let lab = Lab::with_grammar(GRAMMAR);
    lab.run("corpus sample g.pcfg --samples 50000 -o c.jsonl");
    for arguments in [
        "corpus sample g.pcfg --samples 1e9",
        "parse g.pcfg c.jsonl --json",
        "theory trees --depth 8 --json",
        "grammar sample --vocab 32 --depth 4",
    ] {
        let mut child = lab.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::with_capacity(64, child.stdout.take().unwrap());
        // Some bytes are read, then the pipe is closed while the program writes.
        line.push(out.fill_buf().unwrap()[0] as char);
        drop(out);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments}");
    }
}

#[test]
fn the_drawn_tree_is_golden() {
    let lab = Lab::with_grammar("--vocab 3 --depth 3 --fraction 1 --seed 1");
    let text = lab.run("parse g.pcfg --sentence \"0 1 2 0 1 2 0 1 2 0 1 2\" --limit 1");
    assert_eq!(text, include_str!("golden/tree.txt"));
}

#[test]
fn moments_do_not_depend_on_threads() {
    let lab = Lab::with_grammar(GRAMMAR);
    for samples in ["1e5", "exact"] {
        let moments = |threads: u32| {
            let said =
                lab.run(&format!("moments g.pcfg --samples {samples} -o m.safetensors --json --threads {threads}"));
            (said, fs::read(lab.path("m.safetensors")).unwrap())
        };
        let one = moments(1);
        assert!([2, 7, 64].iter().all(|&threads| moments(threads) == one), "{samples}");
    }
    // Not even whether they fit: with one table per thread, this many threads would need 11 GB.
    lab.run("grammar sample --vocab 48 --depth 1 --fraction 0.02 -o large.pcfg");
    let moments = |threads: u32| {
        lab.run(&format!("moments large.pcfg --samples 1000 -o m.safetensors --json --threads {threads}"))
    };
    assert_eq!(moments(1), moments(256));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_no_success() {
    let lab = Lab::with_grammar(GRAMMAR);
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    for arguments in [
        "--help",
        "--version",
        "corpus sample --help",
        "corpus sample g.pcfg --samples 10",
        "corpus sample g.pcfg --samples 100000",
        "grammar info g.pcfg",
        "grammar sample --vocab 4 --depth 2",
        "theory lengths --depth 3 --json",
        "reproduce --list",
    ] {
        let output = lab.command(arguments).stdout(full()).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
        assert!(errors.starts_with("error: ") && errors.lines().count() == 1, "{arguments}: {errors}");
        assert!(errors.to_lowercase().contains("no space left"), "{arguments}: {errors}");
    }
    let output = lab.command("corpus sample g.pcfg --samples 10 -o /dev/full").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// Row groups are encoded in parallel, and written in order.
#[test]
fn files_of_several_row_groups_do_not_depend_on_threads() {
    let lab = Lab::with_grammar("--vocab 3 --depth 1 --fraction 0.5 --seed 1");
    for threads in [1, 3] {
        lab.run(&format!("corpus sample g.pcfg --samples 2300000 --seed 1 -o {threads}.parquet --threads {threads}"));
    }
    assert!(std::fs::read(lab.path("1.parquet")).unwrap() == std::fs::read(lab.path("3.parquet")).unwrap());
    // The last sentences of the file are those of the stream.
    lab.run("corpus sample g.pcfg --samples 5 --first 2299995 --seed 1 -o last.jsonl");
    let parsed = lab.run("parse g.pcfg 3.parquet --mode recognize --json");
    let last: Vec<&str> = parsed.lines().skip(2_299_995).collect();
    assert_eq!(last, lab.run("parse g.pcfg last.jsonl --mode recognize --json").lines().collect::<Vec<_>>());
}
