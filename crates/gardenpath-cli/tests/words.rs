//! Corpora of words: the same sentences in every format, their names in grammars and results, and errors.

mod common;

use arrow_array::builder::{
    GenericListBuilder, LargeStringBuilder, ListBuilder, StringBuilder, StringDictionaryBuilder, StringViewBuilder,
};
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int64Array, NullArray, RecordBatch, StringArray};
use common::Lab;
use parquet::arrow::ArrowWriter;
use serde_json::json;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

const GRAMMAR: &str = "\
S -> question [0.5] | answer [0.5]
question -> NP VP [0.6] | VP NP [0.4]
answer -> NP NP VP [0.5] | VP VP [0.5]
NP -> 'DET' 'N' [0.7] | 'N' 'N' [0.3]
VP -> 'V' 'N' [0.5] | 'V' 'DET' 'N' [0.5]
";

/// A lab with a grammar of words, and 2,000 of its sentences in every format.
fn lab() -> Lab {
    let lab = Lab::new();
    fs::write(lab.path("g.pcfg"), GRAMMAR).unwrap();
    lab.run("corpus sample g.pcfg --samples 2000 --seed 1 -o numbers.jsonl");
    lab.run("corpus sample g.pcfg --samples 2000 --seed 1 -o c.tsv");
    for file in ["c.jsonl", "c.parquet"] {
        lab.run(&format!("corpus sample g.pcfg --samples 2000 --seed 1 --words -o {file}"));
    }
    lab
}

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn every_format_holds_the_same_sentences() {
    let lab = lab();
    let read = |name: &str| fs::read_to_string(lab.path(name)).unwrap();
    assert_eq!(read("numbers.jsonl").lines().next(), Some("{\"tokens\":[0,1,0,1,2,0,1],\"root\":1}"));
    assert_eq!(
        read("c.jsonl").lines().next(),
        Some("{\"tokens\":[\"DET\",\"N\",\"DET\",\"N\",\"V\",\"DET\",\"N\"],\"root\":\"answer\"}")
    );
    assert_eq!(read("c.tsv").lines().next(), Some("answer\tDET N DET N V DET N"));
    let expected = lab.run("parse g.pcfg numbers.jsonl --json");
    let roots = lab.json("corpus info numbers.jsonl")["roots"].clone();
    for file in ["c.jsonl", "c.parquet", "c.tsv"] {
        assert!(lab.run(&format!("parse g.pcfg {file} --json")) == expected, "{file}");
        let info = lab.json(&format!("corpus info {file}"));
        // Without a grammar, words are sorted.
        assert_eq!(info["roots"], json!([roots[1], roots[0]]), "{file}");
        assert_eq!(info["root_names"], json!(["answer", "question"]));
        assert_eq!(info["token_names"], json!(["DET", "N", "V"]));
    }
    assert!(lab.run("corpus info c.tsv").contains("\n  answer │"));
    assert_eq!(lab.json("corpus info numbers.jsonl").get("root_names"), None);
}

#[test]
fn strings_as_other_programs_write_them() {
    let lab = lab();
    let sentences = [["DET", "N", "V", "N"], ["V", "N", "V", "N"]];
    fs::write(lab.path("plain.tsv"), "question\tDET N V N\n\tV N V N\n").unwrap();
    let (parsed, info) = (lab.run("parse g.pcfg plain.tsv --json"), lab.run("corpus info plain.tsv --json"));
    macro_rules! lists {
        ($list:ident $(:: < $offset:ty >)?, $builder:expr) => {{
            let mut builder = $list $(::<$offset, _>)? ::new($builder);
            for sentence in sentences {
                builder.append_value(sentence.map(Some));
            }
            Arc::new(builder.finish()) as ArrayRef
        }};
    }
    // A category that occurs in no sentence does not become a token.
    let mut categories = StringDictionaryBuilder::<Int8Type>::new();
    categories.append_value("unused");
    let _ = categories.finish_preserve_values();
    let root: ArrayRef = Arc::new(StringArray::from(vec![Some("question"), None]));
    let large: ArrayRef = Arc::new(arrow_array::LargeStringArray::from(vec![Some("question"), Some("")]));
    let coded: DictionaryArray<Int8Type> = vec![Some("question"), None].into_iter().collect();
    let cases = [
        (lists!(ListBuilder, StringBuilder::new()), root.clone()),
        (lists!(GenericListBuilder::<i64>, LargeStringBuilder::new()), large),
        (lists!(GenericListBuilder::<i64>, StringViewBuilder::new()), root.clone()),
        (lists!(ListBuilder, categories), Arc::new(coded) as ArrayRef),
    ];
    for (k, (tokens, roots)) in cases.into_iter().enumerate() {
        write(&lab.path("foreign.parquet"), vec![("root", roots), ("tokens", tokens)]);
        assert_eq!(lab.run("parse g.pcfg foreign.parquet --json"), parsed, "case {k}");
        assert_eq!(lab.run("corpus info foreign.parquet --json"), info, "case {k}");
    }
    // Words with numbers for roots, or without any.
    let tokens = || ("tokens", lists!(ListBuilder, StringBuilder::new()));
    write(&lab.path("mixed.parquet"), vec![tokens(), ("root", Arc::new(Int64Array::from(vec![0, 1])))]);
    assert_eq!(lab.run("parse g.pcfg mixed.parquet --json"), parsed);
    assert_eq!(lab.json("corpus info mixed.parquet")["roots"], json!([1, 1]));
    write(&lab.path("none.parquet"), vec![tokens(), ("root", Arc::new(NullArray::new(2)))]);
    write(&lab.path("bare.parquet"), vec![tokens()]);
    for file in ["none.parquet", "bare.parquet"] {
        assert_eq!(lab.run(&format!("parse g.pcfg {file} --json")), parsed);
        assert_eq!(lab.json(&format!("corpus info {file}"))["unlabelled"], 2);
    }
    let refused = lab.refusal("learn none.parquet --vocab 2 --depth 2");
    assert!(refused.contains("none.parquet: sentence 1 has no root"), "{refused}");
}

#[test]
fn text_of_numbers_is_numbers_and_all_line_ends_will_do() {
    let lab = Lab::new();
    fs::write(lab.path("a.tsv"), "\u{feff}10\t3 0  12\r\n\r\n\t1 2\r\n2 1\r\n").unwrap();
    fs::write(lab.path("a.jsonl"), "{\"tokens\":[3,0,12],\"root\":10}\n{\"tokens\":[1,2]}\n{\"tokens\":[2,1]}")
        .unwrap();
    let info = lab.json("corpus info a.tsv");
    assert_eq!(info, lab.json("corpus info a.jsonl"));
    assert_eq!((&info["unlabelled"], &info["roots"][10]), (&json!(2), &json!(1)));
    // One word among them makes all of them words.
    fs::write(lab.path("b.tsv"), "A0_2\t3 apples\nA0_10\t12 pears\n").unwrap();
    let info = lab.json("corpus info b.tsv");
    assert_eq!(info["token_names"], json!(["12", "3", "apples", "pears"]));
    assert_eq!(info["roots"], json!([0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]), "default names of classes are numbers");
}

#[test]
fn the_numbers_of_words_do_not_depend_on_the_order_of_sentences() {
    let lab = lab();
    let text = fs::read_to_string(lab.path("c.tsv")).unwrap();
    let mut lines: Vec<&str> = text.lines().rev().collect();
    lines.rotate_left(700);
    fs::write(lab.path("turned.tsv"), lines.join("\n")).unwrap();
    assert_eq!(lab.run("corpus info turned.tsv --json"), lab.run("corpus info c.tsv --json --threads 1"));
    for file in ["c.tsv", "turned.tsv"] {
        lab.run(&format!("learn {file} --vocab 2 --depth 2 -o {file}.pcfg"));
    }
    let read = |name: &str| fs::read_to_string(lab.path(name)).unwrap();
    assert_eq!(read("c.tsv.pcfg"), read("turned.tsv.pcfg"));
}

#[test]
fn names_survive_learning_parsing_and_drawing() {
    let lab = lab();
    lab.run("corpus sample g.pcfg --samples 500 --seed 2 --words -o test.jsonl");
    let report = lab.json("learn c.tsv --vocab 2 --depth 2 --test test.jsonl -o learned.pcfg");
    assert_eq!((&report["verdict"], &report["accuracy"]), (&json!("converged"), &json!(1.0)));
    let learned = gardenpath_lab::files::grammar::read(&lab.path("learned.pcfg")).unwrap();
    let names = learned.names().unwrap();
    assert_eq!((names[0].join(" "), names[2].join(" ")), ("answer question".into(), "DET N V".into()));
    // The true grammar lists its classes in another order; names decide.
    let report = lab.json("learn c.parquet --vocab 2 --depth 2 --truth g.pcfg");
    for level in report["levels"].as_array().unwrap() {
        assert_eq!((&level["binary"]["recall"], &level["ternary"]["recall"]), (&json!(1.0), &json!(1.0)));
    }
    assert_eq!(report["accuracy"], report["bayes_accuracy"]);
    lab.run("learn --grammar g.pcfg --samples 2000 -o sampled.pcfg");
    let sampled = gardenpath_lab::files::grammar::read(&lab.path("sampled.pcfg")).unwrap();
    assert_eq!(sampled.names().unwrap()[0].join(" "), "question answer");

    let first = lab.json_lines("parse learned.pcfg c.jsonl --mode best").remove(0);
    assert_eq!((&first["root"], &first["root_name"]), (&json!(0), &json!("answer")));
    assert!(first["tree"].as_str().unwrap().starts_with("(answer ("), "{first}");
    let report = lab.json("parse learned.pcfg --sentence \"DET N V N\" --svg tree.svg");
    assert_eq!((&report["words"], &report["tokens"]), (&json!(["DET", "N", "V", "N"]), &json!([0, 1, 2, 1])));
    let picture = fs::read_to_string(lab.path("tree.svg")).unwrap();
    assert!(picture.contains(">DET<") && picture.contains(">question<"), "{picture}");
}

#[test]
fn what_is_wrong_with_words_is_said_in_one_line() {
    let lab = lab();
    lab.run("grammar sample --vocab 4 --depth 2 --seed 1 -o nameless.pcfg");
    let many: String = (0..300).map(|k| format!("x\tw{k} w0\n")).collect();
    for (file, text) in [
        ("unknown.jsonl", "{\"tokens\":[\"DET\",\"N\"]}\n\n{\"tokens\":[\"DET\",\"VERB\"],\"root\":\"answer\"}\n"),
        ("label.jsonl", "{\"tokens\":[\"DET\",\"N\"],\"root\":\"reply\"}\n"),
        ("unknown.tsv", "answer\tV N V N\n\tVERB N\n"),
        ("mixed.jsonl", "{\"tokens\":[\"DET\"],\"root\":0}\n{\"tokens\":[0]}\n"),
        ("inside.jsonl", "{\"tokens\":[0]}\n{\"tokens\":[1,\"DET\"]}\n"),
        ("roots.jsonl", "{\"tokens\":[0],\"root\":1}\n{\"tokens\":[1],\"root\":\"x\"}\n"),
        ("bool.jsonl", "{\"tokens\":[\"a\"]}\n{\"tokens\":[\"a\",true]}\n"),
        ("many.tsv", &many),
        ("large.tsv", "0\t1 2\n0\t1 300\n"),
        ("columns.tsv", "a\tb\tc\n"),
        ("space.tsv", "a question\tx y\nan answer\ty x\n"),
        ("blank.tsv", "\n \n"),
        ("other.tsv", "a\tx y\nb\ty x\n"),
    ] {
        fs::write(lab.path(file), text).unwrap();
    }
    fs::write(lab.path("latin.tsv"), b"a\tcaf\xe9\n").unwrap();
    for (arguments, expected) in [
        ("parse g.pcfg unknown.jsonl", "unknown.jsonl: sentence 2: \"VERB\" is not one of the 3 tokens DET N V"),
        ("parse g.pcfg label.jsonl", "label.jsonl: sentence 1: \"reply\" is not one of the 2 classes question answer"),
        ("parse g.pcfg unknown.tsv", "unknown.tsv: sentence 2: \"VERB\" is not one of the 3 tokens DET N V"),
        (
            "corpus info mixed.jsonl",
            "mixed.jsonl: sentence 2: token 0 is a number, but earlier ones are words; expected one kind",
        ),
        (
            "corpus info inside.jsonl",
            "inside.jsonl: sentence 2: token \"DET\" is a word, but earlier ones are numbers; expected one kind",
        ),
        (
            "corpus info roots.jsonl",
            "roots.jsonl: sentence 2: root \"x\" is a word, but earlier ones are numbers; expected one kind",
        ),
        (
            "corpus info bool.jsonl",
            "bool.jsonl: line 2: token true at position 1 is not a whole number from 0 to 254, or a word",
        ),
        (
            "corpus info many.tsv",
            "many.tsv: sentence 256: \"w255\" is one token too many, expected at most 255 different ones",
        ),
        ("corpus info large.tsv", "large.tsv: sentence 2: token \"300\" is not a whole number from 0 to 254"),
        ("corpus info columns.tsv", "columns.tsv: line 1: 3 columns, expected a label, a tab, and tokens"),
        ("corpus info latin.tsv", "latin.tsv: line 1: is not UTF-8 text"),
        ("corpus info blank.tsv", "blank.tsv: no sentences"),
        (
            "learn space.tsv --vocab 2 --depth 1",
            "space.tsv: \"a question\" cannot be the name of a symbol; labels may have letters, digits and _ / ^ < > -",
        ),
        (
            "learn c.tsv --test numbers.jsonl --vocab 2 --depth 2",
            "the tokens of c.tsv are words but those of numbers.jsonl are numbers; expected one kind",
        ),
        (
            "learn other.tsv --truth g.pcfg --vocab 2 --depth 2",
            "other.tsv: none of its words is a token of the true grammar",
        ),
        (
            "corpus sample nameless.pcfg --samples 1 --words",
            "--words: nameless.pcfg has no names for tokens and classes",
        ),
        ("corpus sample g.pcfg --samples 1 --trees -o t.tsv", "t.tsv: --trees needs .parquet or .jsonl"),
    ] {
        assert_eq!(lab.refusal(arguments), expected);
    }
}

#[test]
fn an_unlabelled_sentence_is_named_where_labels_are_needed() {
    let lab = lab();
    let text = fs::read_to_string(lab.path("c.tsv")).unwrap();
    let tokens: Vec<&str> = text.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
    fs::write(lab.path("bare.tsv"), tokens.join("\n")).unwrap();
    assert_eq!(lab.run("parse g.pcfg bare.tsv"), lab.run("parse g.pcfg c.tsv"));
    assert_eq!(lab.json("corpus info bare.tsv")["unlabelled"], 2000);
    let first: Vec<String> = text.lines().take(6).map(str::to_owned).collect();
    fs::write(lab.path("gap.tsv"), first.join("\n") + "\n\n\tDET N V N\n").unwrap();
    let few = first.join("\n") + "\nanswer\tDET\n";
    fs::write(lab.path("few.tsv"), &few).unwrap();
    fs::write(lab.path("odd.tsv"), text.clone() + "answer\tDET\n").unwrap();
    assert_eq!(
        lab.refusal("learn few.tsv --vocab 2 --depth 2"),
        "few.tsv: number of sentences is 6, expected at least 20"
    );
    assert_eq!(
        lab.refusal("learn odd.tsv --vocab 2 --depth 2 --strict"),
        "odd.tsv: length is 1 in sentence 2001, expected 4 to 9 tokens at depth 2"
    );
    let expected = "gap.tsv: sentence 7 has no root, expected a label for every sentence, or --unlabelled";
    assert_eq!(lab.refusal("learn gap.tsv --vocab 2 --depth 2"), expected);
    assert_eq!(lab.refusal("learn c.tsv --test gap.tsv --vocab 2 --depth 2"), expected);
}
