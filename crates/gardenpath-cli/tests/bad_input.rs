//! Bad input of every kind: one line that names the problem, exit code 2, and nothing written.

mod common;

use common::Lab;
use std::fs;

/// A lab with a grammar, a corpus, and invalid files of many kinds.
fn lab() -> Lab {
    let lab = Lab::with_grammar("--vocab 6 --depth 2 --fraction 0.5 --seed 7");
    lab.run("corpus sample g.pcfg --samples 2000 -o c.jsonl");
    lab.run("corpus sample g.pcfg --samples 2000 -o c.parquet");
    let parquet = fs::read(lab.path("c.parquet")).unwrap();
    fs::write(lab.path("truncated.parquet"), &parquet[..parquet.len() / 2]).unwrap();
    fs::write(lab.path("text.parquet"), "this is not parquet, whatever its name says").unwrap();
    fs::create_dir(lab.path("dir.pcfg")).unwrap();
    fs::create_dir(lab.path("dir.jsonl")).unwrap();
    for (name, content) in [
        ("empty.pcfg", &b""[..]),
        ("binary.pcfg", b"S -> \xff\xfe"),
        ("broken.pcfg", b"S -> A [1]\nA -> 'x'\n"),
        ("broken.json", b"{\"sizes\": [1"),
        ("empty.jsonl", b""),
        ("blank.jsonl", b"\n\n"),
        ("empty.parquet", b""),
        ("binary.jsonl", b"{\"tokens\":[0]}\n\xff\xfe\n"),
        ("broken.jsonl", b"{\"tokens\":[0,1]}\n{\"tokens\":[0,\n"),
        ("large.jsonl", b"{\"tokens\":[0,1]}\n\n{\"tokens\":[0,300]}\n"),
        ("negative.jsonl", b"{\"tokens\":[-1]}\n"),
        ("range.jsonl", b"{\"tokens\":[0,1,2,3]}\n{\"tokens\":[0,1,6]}\n"),
        ("c.csv", b"tokens\n"),
        ("half.jsonl", b"\xef\xbb\xbf{\"tokens\":[0,1]}\n{\"tokens\":[0,1.5]}\n"),
        ("root.jsonl", b"{\"tokens\":[0,1],\"root\":300}\n"),
        ("none.jsonl", b"{\"token\":[0,1]}\n"),
        ("rounded.pcfg", b"S -> A [1]\nA -> 'a' 'b' [0.33] | 'b' 'a' [0.33] | 'a' 'a' [0.33]\n"),
        ("wrong.pcfg", b"S -> A [1]\nA -> 'a' 'b' [0.5] | 'b' 'a' [0.45]\n"),
        ("recursive.pcfg", b"S -> NP VP [1]\nNP -> DET PP [1]\nPP -> P NP [1]\n"),
        ("mark.pcfg", b"\xef\xbb\xbf\n"),
        ("name.json", b"{\"sizes\": [1, 2], \"all\": [[{\"id\": 1, \"name\": 5}], []]}"),
    ] {
        fs::write(lab.path(name), content).unwrap();
    }
    lab
}

#[test]
fn whatever_is_wrong_is_said_in_one_line() {
    let lab = lab();
    let before = lab.files();
    for (arguments, parts) in [
        // Arguments.
        ("nonsense", &["nonsense"][..]),
        ("grammar sample --vocab 4", &["--depth"]),
        ("grammar sample --vocab 4 --depth 2 --fraction", &["--fraction"]),
        ("grammar sample --vocab 4 --depth 50", &["depth is 50, expected 1 to 10"]),
        ("grammar sample --vocab 4 --depth 0", &["depth is 0"]),
        ("grammar sample --vocab 4 --depth -1", &["-1"]),
        ("grammar sample --vocab 0 --depth 2", &["vocab is 0"]),
        ("grammar sample --vocab 1e18 --depth 2", &["vocab is 1000000000000000000"]),
        ("grammar sample --vocab 255 --depth 10 --fraction 1", &["166464000 rules", "at most"]),
        ("grammar sample --vocab 4 --depth 2 --fraction nan", &["fraction is NaN"]),
        ("grammar sample --vocab 4 --depth 2 --fraction 2", &["fraction is 2"]),
        ("grammar sample --vocab 4 --depth 2 --fraction x", &["'x'", "--fraction"]),
        ("grammar sample --vocab 4 --depth 2 --fraction 1 --binary-rules 2 --ternary-rules 2", &["--fraction"]),
        ("grammar sample --vocab 4 --depth 2 --binary-rules 5 --ternary-rules 2", &["20 distinct rules of 2"]),
        ("grammar sample --vocab 4 --depth 2 --binary-rules 1", &["--ternary-rules"]),
        ("grammar sample --vocab 4 --depth 2 --p-binary nan", &["p_binary is NaN"]),
        ("grammar sample --vocab 4 --depth 2 --arities 0:1", &["--arities", "1 to 8 children, not 0"]),
        ("grammar sample --vocab 4 --depth 2 --arities 9:1", &["--arities", "1 to 8 children, not 9"]),
        ("grammar sample --vocab 4 --depth 2 --arities 2:0.5", &["--arities is 2:0.5, expected", "sum to 1"]),
        ("grammar sample --vocab 4 --depth 2 --arities 2:0.7,3:0.7", &["--arities is 2:0.7,3:0.7", "sum to 1"]),
        ("grammar sample --vocab 4 --depth 2 --arities 2:1.5,3:-0.5", &["--arities is 2:1.5,3:-0.5", "probabilities"]),
        ("grammar sample --vocab 4 --depth 2 --arities 2:nan", &["--arities is 2:NaN"]),
        ("grammar sample --vocab 4 --depth 2 --arities 2:x", &["--arities", "'2:x'", "such as 2:0.5,3:0.5"]),
        ("grammar sample --vocab 4 --depth 2 --arities 2", &["--arities", "'2'", "such as 2:0.5,3:0.5"]),
        ("grammar sample --vocab 4 --depth 2 --arities \"\"", &["--arities", "such as 2:0.5,3:0.5"]),
        ("grammar sample --vocab 4 --depth 2 --arities 2:0.5,2:0.5", &["--arities", "two values for 2 children"]),
        ("grammar sample --vocab 4 --depth 6 --arities 8:1 --rules 8:1", &["longest sentence is 262144"]),
        ("grammar sample --vocab 16 --depth 2 --arities 8:1", &["rules of 8 symbols", "GB"]),
        ("grammar sample --vocab 4 --depth 2 --rules 2:0", &["number of rules per symbol is 0"]),
        ("grammar sample --vocab 4 --depth 2 --rules 2:5", &["20 distinct rules of 2"]),
        ("grammar sample --vocab 4 --depth 2 --rules 2:1.5", &["--rules", "such as 2:4,3:16"]),
        ("grammar sample --vocab 4 --depth 2 --fractions 2:2", &["fraction is 2"]),
        ("grammar sample --vocab 4 --depth 2 --fractions 2", &["--fractions", "such as 2:0.1,4:1/vocab"]),
        ("grammar sample --sizes 4", &["--sizes has 1 levels"]),
        ("grammar sample --sizes 4,0", &["vocab is 0"]),
        ("grammar sample --sizes 4,256", &["vocab is 256"]),
        ("grammar sample --sizes 4,,5", &["--sizes"]),
        ("grammar sample --sizes 2,2,2,2,2,2,2,2,2,2,2,2", &["depth is 11"]),
        ("grammar sample --depth 2", &["--vocab"]),
        ("grammar sample --vocab 4 --depth 2 --classes 0", &["vocab is 0"]),
        ("grammar sample --vocab 4 --depth 1e18 --classes 2", &["depth is 1000000000000000000"]),
        (
            "grammar sample --sizes 1,9 --arities 2:1 --rules 2:4 --cover",
            &["cover needs at least 9 children", "found 8"],
        ),
        ("grammar sample --vocab 4 --depth 2 --zipf -1", &["-1"]),
        ("grammar sample --vocab 4 --depth 2 --class-entropy nan", &["class entropy is NaN"]),
        ("grammar sample --vocab 4 --depth 2 --class-entropy 9", &["class entropy is 9"]),
        ("grammar sample --vocab 4 --depth 2 --seed 1.5", &["1.5", "whole number"]),
        ("grammar sample --vocab 4 --depth 2 --threads 0", &["--threads"]),
        ("grammar sample --vocab 4 --depth 2 -o no/dir/g.pcfg", &["no/dir/g.pcfg", "no directory"]),
        ("grammar sample --vocab 4 --depth 2 -o dir.pcfg", &["dir.pcfg", "is a directory"]),
        ("grammar sample --vocab 4 --depth 2 -o new.json", &["new.json", ".pcfg"]),
        // Grammars.
        ("grammar info missing.pcfg", &["missing.pcfg", "no such file"]),
        ("grammar info dir.pcfg", &["dir.pcfg", "is a directory"]),
        ("grammar info empty.pcfg", &["empty.pcfg", "is empty"]),
        ("grammar info binary.pcfg", &["binary.pcfg", "UTF-8"]),
        ("grammar info broken.pcfg", &["broken.pcfg", "line 2"]),
        ("grammar info broken.json", &["broken.json", "line 1"]),
        ("grammar info c.parquet", &["c.parquet", "UTF-8"]),
        ("grammar convert c.jsonl -o new.pcfg", &["c.jsonl", "line 1"]),
        ("grammar info mark.pcfg", &["mark.pcfg", "is empty"]),
        ("grammar info name.json", &["name.json: line 1", "\"name\" of symbol 0 of level 0 is 5, expected a text"]),
        ("grammar info rounded.pcfg", &["rounded.pcfg: line 2", "sum to 0.99", "convert IN -o OUT --normalize"]),
        ("grammar convert wrong.pcfg -o new.pcfg --normalize", &["wrong.pcfg: line 2", "sum to 0.95", "1%"]),
        ("grammar info recursive.pcfg", &["recursive.pcfg: line 3: the grammar is recursive: NP -> PP -> NP;"]),
        // Corpora that are written.
        ("corpus sample missing.pcfg --samples 10 -o new.jsonl", &["missing.pcfg"]),
        ("corpus sample g.pcfg -o new.jsonl", &["--samples"]),
        ("corpus sample g.pcfg --samples 0 -o new.jsonl", &["at least one"]),
        ("corpus sample g.pcfg --samples -5 -o new.jsonl", &["-5"]),
        ("corpus sample g.pcfg --samples 1.5 -o new.jsonl", &["1.5"]),
        ("corpus sample g.pcfg --samples 10 --first 18446744073709551615 -o new.jsonl", &["2^64"]),
        ("corpus sample g.pcfg --samples 10 -o new.csv", &["new.csv", ".parquet, .jsonl or .tsv"]),
        ("corpus sample g.pcfg --samples 10 -o new", &["new", ".parquet, .jsonl or .tsv"]),
        ("corpus sample g.pcfg --samples 10 -o no/new.parquet", &["no/new.parquet", "no directory"]),
        ("corpus sample g.pcfg --samples 10 -o dir.jsonl", &["dir.jsonl", "is a directory"]),
        // Corpora that are read.
        ("parse g.pcfg", &["CORPUS"]),
        ("parse g.pcfg c.jsonl --mode guess", &["guess"]),
        ("parse g.pcfg missing.jsonl", &["missing.jsonl", "no such file"]),
        ("parse g.pcfg dir.jsonl", &["dir.jsonl", "is a directory"]),
        ("parse g.pcfg c.csv", &["c.csv", ".parquet, .jsonl or .tsv"]),
        ("parse g.pcfg empty.jsonl", &["empty.jsonl", "is empty"]),
        ("parse g.pcfg blank.jsonl", &["blank.jsonl", "no sentences"]),
        ("parse g.pcfg empty.parquet", &["empty.parquet", "is empty"]),
        ("parse g.pcfg truncated.parquet", &["truncated.parquet", "Parquet"]),
        ("parse g.pcfg text.parquet", &["text.parquet", "Parquet"]),
        ("parse g.pcfg binary.jsonl", &["binary.jsonl: line 2", "UTF-8"]),
        ("parse g.pcfg broken.jsonl", &["broken.jsonl: line 2", "column"]),
        ("parse g.pcfg large.jsonl", &["large.jsonl: line 3", "300"]),
        ("parse g.pcfg negative.jsonl", &["negative.jsonl: line 1", "-1"]),
        ("parse g.pcfg range.jsonl", &["range.jsonl: line 2", "token 6 at position 2"]),
        (
            "parse g.pcfg half.jsonl",
            &["half.jsonl: line 2", "token 1.5 at position 1 is not a whole number from 0 to 5"],
        ),
        ("parse g.pcfg root.jsonl", &["root.jsonl: line 1: root is 300, expected a whole number from 0 to 254"]),
        ("learn none.jsonl --vocab 6 --depth 2", &["none.jsonl: line 1: no tokens"]),
        ("corpus info none.jsonl", &["none.jsonl: line 1: no tokens"]),
        ("corpus info truncated.parquet", &["truncated.parquet"]),
        ("corpus info g.pcfg", &["g.pcfg", "--samples"]),
        ("corpus info c.jsonl --samples 5", &["c.jsonl"]),
        // A sentence on the command line.
        ("parse g.pcfg --sentence \"\"", &["--sentence is empty"]),
        ("parse g.pcfg --sentence \"0 x\"", &["\"x\" is not one of the 6 tokens"]),
        ("parse g.pcfg --sentence \"0 6\"", &["\"6\" is not one of the 6 tokens"]),
        ("parse g.pcfg --sentence \"0 1 2 3\" --limit 1e9", &["--limit"]),
        ("parse g.pcfg --sentence \"0 1 2 3\" --svg new.png", &["new.png", ".svg"]),
        ("parse g.pcfg --sentence 0 --svg new.svg", &["new.svg", "no tree"]),
        ("parse g.pcfg c.jsonl --mode kbest --limit 1e9", &["--limit is 1000000000, expected at most 10000 trees"]),
        ("parse g.pcfg c.jsonl --mode kbest --limit 0", &["--limit is 0"]),
        ("parse g.pcfg c.jsonl --svg new.svg", &["--sentence"]),
        // Measurements and theory.
        ("entropy --vocab 4 --depth 2 --fraction nan", &["fraction is NaN"]),
        ("entropy --vocab 4 --depth 2,50 --fraction 0.5", &["depth is 50"]),
        ("entropy --vocab 4 --depth 2 --fraction 0.5 --grammars 0", &["at least 1"]),
        ("entropy --vocab 4 --depth 2 --fraction 0.5 --grammars 1e15 --samples 1e15", &["too many"]),
        ("theory lengths --depth 50", &["between 1 and 9, got 50"]),
        ("theory trees --depth 0", &["got 0"]),
        ("theory splits --depth 10", &["got 10"]),
        ("theory lengths --depth 2 --p-binary 1.5", &["p_binary"]),
        ("theory lengths --depth 2 --arities 2:0.5,3:0.4", &["sum to 1", "0.9"]),
        ("theory lengths --depth 2 --arities 2:0.5,9:0.5", &["not 9", "1 to 8"]),
        ("theory lengths --depth 2 --arities 2:0.5,2:0.5", &["two values for 2 children"]),
        ("theory lengths --depth 2 --arities 2", &["2:0.5,3:0.5"]),
        ("theory lengths --depth 5 --arities 8:1", &["19683", "32768"]),
        ("theory trees --depth 2 --arities 2,x", &["\"x\""]),
        ("theory entropy --arities 1:1/4,2:1/4,3:1/4,4:1/4", &["at most 20 trees", "50"]),
        ("theory candidates --depth 2 --fractions 2:7", &["fraction", "7"]),
        ("theory fraction --depth 2 --fraction nan", &["fraction", "NaN"]),
        ("theory candidates --depth 2 --fraction 7", &["fraction", "7"]),
        ("theory entropy --fraction 7", &["fraction", "7"]),
        ("theory complexity --vocab 4 --depth 2 --fraction 0", &["fraction is 0"]),
        ("theory complexity --vocab 4 --depth 10 --fraction 0.5", &["depth"]),
        // Output names are checked first: the input of these commands does not exist.
        ("learn missing.jsonl --vocab 6 --depth 2 -o no/new.pcfg", &["no/new.pcfg", "no directory"]),
        ("learn missing.jsonl --vocab 6 --depth 2 -o new.txt", &["new.txt", ".pcfg"]),
        ("learn missing.jsonl --vocab 6 --depth 2 -o dir.pcfg", &["dir.pcfg", "is a directory"]),
        ("grammar convert missing.pcfg -o no/new.pcfg", &["no/new.pcfg", "no directory"]),
        ("grammar convert missing.pcfg -o new.json", &["new.json", ".pcfg"]),
        ("moments missing.pcfg --samples 10 -o no/new.safetensors", &["no/new.safetensors", "no directory"]),
        ("moments missing.pcfg --samples 10 -o new.pcfg", &["new.pcfg", ".safetensors"]),
        ("sweep collect missing.toml --store s -o no/new.parquet", &["no/new.parquet", "no directory"]),
        ("sweep collect missing.toml --store s -o new.txt", &["new.txt", ".parquet", ".csv", ".jsonl"]),
        ("parse g.pcfg --sentence nonsense --svg no/new.svg", &["no/new.svg", "no directory"]),
        ("parse g.pcfg --sentence nonsense --svg dir.jsonl", &["dir.jsonl", ".svg"]),
        // Sizes are checked before allocating memory.
        ("learn --grammar g.pcfg --samples 1e15", &["a corpus of 1000000000000000 sentences", "GB"]),
        ("train --model cnn --vocab 4 --depth 2 --samples 1e12", &["a corpus of 1000000000000 sentences", "GB"]),
        ("train --model cnn --vocab 4 --depth 2 --samples 10 --test 1e12", &["1000000000000 sentences", "GB"]),
        ("train --model transformer --vocab 4 --depth 2 --samples 10 --layers 1e12", &["this network", "GB"]),
        ("train --model cnn --vocab 4 --depth 2 --samples 10 --width 1e12", &["width 1000000000000", "GB"]),
        ("mup-check --model cnn --batch 1e12", &["a batch of 1000000000000 sentences", "GB"]),
        ("entropy --vocab 4 --depth 2 --fraction 0.5 --samples 1e15", &["1000000000000000 sentences", "GB"]),
        ("snr --vocab 255 --depth 2 --fraction 1/vocab", &["255^3 triples", "GB"]),
        ("snr --vocab 4 --depth 10", &["number of sentences", "at most"]),
    ] {
        let message = lab.refusal(arguments);
        for part in parts {
            assert!(message.contains(part), "gardenpath {arguments}: {message}");
        }
        for internal in ["u8", "usize", "u64", "f64", "struct ", "EOF", "invalid type", "missing field"] {
            assert!(!message.contains(internal), "gardenpath {arguments}: {message}");
        }
        assert_eq!(lab.files(), before, "gardenpath {arguments} wrote something");
    }
}

#[test]
fn rounded_grammars_are_rescaled_and_marks_ignored() {
    let lab = lab();
    lab.run("grammar convert rounded.pcfg -o exact.pcfg --normalize");
    let text = fs::read_to_string(lab.path("exact.pcfg")).unwrap();
    assert_eq!(text.matches("[0.33333333333333").count(), 3, "{text}");
    let info = lab.run("grammar info exact.pcfg");
    for (name, source) in [("marked.pcfg", "exact.pcfg"), ("marked.jsonl", "c.jsonl")] {
        let text = fs::read_to_string(lab.path(source)).unwrap();
        fs::write(lab.path(name), format!("\u{feff}{text}")).unwrap();
    }
    assert_eq!(lab.run("grammar info marked.pcfg"), info);
    assert_eq!(lab.run("parse g.pcfg marked.jsonl"), lab.run("parse g.pcfg c.jsonl"));
}

#[test]
fn pictures_need_a_directory() {
    let lab = lab();
    let sentence = gardenpath::Corpus::sample(&lab.grammar(), gardenpath::Seed::new(0), 0..1);
    let message = lab.refusal(&format!("parse g.pcfg --sentence \"{:?}\" --svg no/new.svg", sentence.sentence(0)));
    assert_eq!(message, "no/new.svg: no directory no");
}

#[test]
fn an_existing_file_survives_a_failure() {
    let lab = lab();
    let before = fs::read(lab.path("c.jsonl")).unwrap();
    lab.refusal("corpus sample missing.pcfg --samples 10 -o c.jsonl");
    assert_eq!(fs::read(lab.path("c.jsonl")).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn parquet_is_not_written_to_a_stream() {
    let lab = lab();
    std::os::unix::fs::symlink("/dev/stdout", lab.path("stream.parquet")).unwrap();
    assert!(lab.refusal("corpus sample g.pcfg --samples 10 -o stream.parquet").contains("ordinary files"));
}

#[cfg(target_os = "linux")]
#[test]
fn directories_that_cannot_be_written_are_known_at_once() {
    let lab = lab();
    let message = lab.refusal("learn missing.jsonl --vocab 6 --depth 2 -o /proc/new.pcfg");
    assert!(message.starts_with("/proc/new.pcfg: cannot write"), "{message}");
    assert!(lab.refusal("sweep run missing.toml --store /proc/s").contains("missing.toml"));
    fs::write(
        lab.path("e.toml"),
        "measure = 'entropy'\nexpects = ''\n[[grid]]\nvocab = 4\ndepth = 2\nfraction = 0.5\nseed = 1",
    )
    .unwrap();
    assert!(lab.refusal("sweep run e.toml --store /proc/s").contains("/proc/s"));
}

#[test]
fn errors_do_not_quote_whole_files() {
    let lab = lab();
    let long = "x".repeat(10_000_000);
    fs::write(lab.path("long.pcfg"), format!("S -> {long} [1]\n")).unwrap();
    fs::write(lab.path("long.toml"), format!("measure = '{long}'\nexpects = ''\n")).unwrap();
    fs::write(lab.path("long.jsonl"), format!("{{\"tokens\":[\"{long}\"]}}\n")).unwrap();
    let nested = "(".repeat(200_000);
    let experiment = "measure = 'entropy'\nexpects = ''\n[[grid]]\nvocab = 4\ndepth = 2\nseed = 1\nfraction =";
    fs::write(lab.path("nested.toml"), format!("{experiment} '{nested}'\n")).unwrap();
    fs::write(lab.path("wrong.toml"), format!("{experiment} '1 {long}'\n")).unwrap();
    for (arguments, file) in [
        ("grammar info long.pcfg", "long.pcfg"),
        ("sweep status long.toml --store s", "long.toml"),
        ("parse g.pcfg long.jsonl", "long.jsonl"),
        ("sweep status nested.toml --store s", "nested.toml"),
        ("sweep status wrong.toml --store s", "wrong.toml"),
    ] {
        let message = lab.refusal(arguments);
        assert!(message.starts_with(file) && message.chars().count() < 700, "{arguments}: {message}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let lab = lab();
    let deep = |open: &str, close: &str| open.repeat(200_000) + &close.repeat(200_000);
    fs::write(lab.path("deep.json"), format!("{{\"a\":{}}}", deep("[", "]"))).unwrap();
    fs::write(lab.path("deep.pcfg"), format!("S -> {} [1]\n", deep("(", ")"))).unwrap();
    fs::write(lab.path("deep.jsonl"), format!("{{\"tokens\":{}}}\n", deep("[", "]"))).unwrap();
    // Ignored fields may contain anything.
    fs::write(lab.path("ignored.jsonl"), format!("{{\"tokens\":[0,1,2,3],\"x\":{}}}\n", deep("[", "]"))).unwrap();
    assert!(lab.refusal("grammar info deep.json").starts_with("deep.json"));
    assert!(lab.refusal("grammar info deep.pcfg").starts_with("deep.pcfg"));
    assert!(lab.refusal("parse g.pcfg deep.jsonl").starts_with("deep.jsonl: line 1"));
    let output = lab.try_run("parse g.pcfg ignored.jsonl");
    assert!(matches!(output.status.code(), Some(0 | 2)), "{output:?}");
}
