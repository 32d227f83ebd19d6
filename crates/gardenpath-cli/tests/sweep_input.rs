//! The input of sweeps: experiments by file or name, and existing stores.

mod common;

use common::Lab;

const SMALL: &str =
    "measure = 'entropy'\n[[grid]]\nvocab = 4\ndepth = 2\nfraction = 0.5\nsentences = 10\nseed = [1, 2]\n";

#[test]
fn built_in_experiments_are_found_from_any_directory() {
    let lab = Lab::new();
    for name in ["transition", "transition.toml"] {
        let said = lab.json_lines(&format!("sweep run {name} --store {name}.s --shard 1/100000"));
        assert_eq!(said.last().unwrap()["measured"], 1, "{name}");
        assert_eq!(lab.json(&format!("sweep status {name} --store {name}.s"))["done"], 1);
        let rows = lab.json(&format!("sweep collect {name} --store {name}.s -o r.parquet --partial"));
        assert_eq!(rows["rows"], 1);
    }
    // A file takes precedence, whatever its name.
    for name in ["transition", "transition.toml"] {
        std::fs::write(lab.path(name), SMALL).unwrap();
        assert_eq!(lab.json_lines(&format!("sweep run {name} --store own")).last().unwrap()["cells"], 2);
    }
}

#[test]
fn unknown_experiments_are_refused_with_the_names_of_others() {
    let lab = Lab::new();
    for command in ["run", "status", "submit", "collect"] {
        let more = if command == "collect" { "-o r.csv" } else { "" };
        let more = if command == "submit" { "--slurm" } else { more };
        let refusal = lab.refusal(&format!("sweep {command} transiton --store s {more}"));
        assert!(refusal.starts_with("no file transiton, and no built-in experiment with that name; "), "{refusal}");
        assert!(refusal.contains("did you mean transition?") && refusal.contains("cnn-quarter"), "{refusal}");
    }
    assert!(lab.refusal("sweep run x/transition --store s").contains("no file x/transition"));
    assert_eq!(lab.files(), [""; 0]);
}

#[test]
fn measures_of_other_programs_run_from_python() {
    let lab = Lab::new();
    std::fs::write(lab.path("e.toml"), SMALL.replace("entropy", "naive_bayes")).unwrap();
    for command in ["run", "status", "fit"] {
        let refusal = lab.refusal(&format!("sweep {command} e.toml --store s"));
        assert!(refusal.starts_with("e.toml: unknown measure naive_bayes, expected one of entropy, "), "{refusal}");
        assert!(refusal.ends_with("; other measures run from Python"), "{refusal}");
    }
    assert_eq!(lab.files(), ["e.toml"]);
}

#[test]
fn a_missing_store_is_no_empty_one() {
    let lab = Lab::new();
    std::fs::write(lab.path("e.toml"), SMALL).unwrap();
    std::fs::create_dir(lab.path("other")).unwrap();
    for store in ["nothing", "other", "e.toml"] {
        let expected = format!("no store {store}; sweep run creates it");
        assert_eq!(lab.refusal(&format!("sweep status e.toml --store {store}")), expected);
        assert_eq!(lab.refusal(&format!("sweep collect e.toml --store {store} -o r.parquet --partial")), expected);
    }
    assert_eq!(lab.files(), ["e.toml", "other"]);
    assert_eq!(std::fs::read_dir(lab.path("other")).unwrap().count(), 0);
    lab.run("sweep run e.toml --store nothing --shard 1/2");
    assert_eq!(lab.json("sweep status e.toml --store nothing")["missing"], 1);
}

#[test]
fn malformed_grids_say_what_to_write() {
    let lab = Lab::new();
    for (from, to, expected) in [
        ("[[grid]]", "[grid]", "write [[grid]] with double brackets"),
        ("[1, 2]", "'1-2'", "write \"1..2\" for all whole numbers from 1 to 2"),
        ("sentences", "sentence", "did you mean sentences?"),
        ("depth = 2\n", "", "[[grid]] number 1: depth is missing: measure entropy needs vocab, depth, "),
        ("depth = 2", "depth = 2.5", "[[grid]] number 1: depth is 2.5, expected a whole number"),
        ("measure", "messure", "did you mean measure?"),
    ] {
        std::fs::write(lab.path("e.toml"), SMALL.replace(from, to)).unwrap();
        let refusal = lab.refusal("sweep run e.toml --store s");
        assert!(refusal.starts_with("e.toml: ") && refusal.contains(expected), "{to}: {refusal}");
    }
    assert_eq!(lab.files(), ["e.toml"]);
}

#[test]
fn results_are_collected_in_the_format_of_the_name() {
    let lab = Lab::new();
    std::fs::write(lab.path("e.toml"), SMALL).unwrap();
    lab.run("sweep run e.toml --store s");
    let collect = |name: &str| lab.json(&format!("sweep collect e.toml --store s -o {name}"))["rows"] == 2;
    assert!(["r.parquet", "r.csv", "r.jsonl"].into_iter().all(collect));
    let csv = std::fs::read_to_string(lab.path("r.csv")).unwrap();
    let lines: Vec<Vec<&str>> = csv.split_terminator("\r\n").map(|line| line.split(',').collect()).collect();
    assert_eq!((lines.len(), &lines[0][..2]), (3, &["depth", "fraction"][..]));
    let json = std::fs::read_to_string(lab.path("r.jsonl")).unwrap();
    for (line, fields) in json.lines().zip(&lines[1..]) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(row.as_object().unwrap().len(), lines[0].len());
        for (name, field) in lines[0].iter().zip(fields) {
            let expected = row[*name].as_str().map_or_else(|| row[*name].to_string(), str::to_owned);
            assert_eq!(*field, expected, "{name}");
        }
    }
    // Only the date differs from one file to the next.
    let parquet = |seconds: &str| {
        let mut command = lab.command("sweep collect e.toml --store s -o again.parquet");
        assert!(command.env("SOURCE_DATE_EPOCH", seconds).output().unwrap().status.success());
        std::fs::read(lab.path("again.parquet")).unwrap()
    };
    assert!(parquet("1700000000") == std::fs::read(lab.path("r.parquet")).unwrap());
    let text = String::from_utf8_lossy(&parquet("0")).into_owned();
    assert!(text.contains("1970-01-01T00:00:00Z") && text.contains("gardenpath.experiment"));
    let refusal = lab.refusal("sweep collect e.toml --store s -o r.xlsx");
    assert_eq!(refusal, "r.xlsx: expected a name ending in .parquet, .csv or .jsonl");
}

#[test]
fn scales_are_grids_of_their_own() {
    let lab = Lab::new();
    let text = SMALL.replace("[[grid]]", "[[full]]")
        + &SMALL.replace("measure = 'entropy'\n[[grid]]", "[[quick]]").replace("[1, 2]", "3");
    std::fs::write(lab.path("e.toml"), text).unwrap();
    lab.run("sweep run e.toml --store s --scale full");
    for (scale, done, missing) in [("--scale full", 2, 0), ("--scale quick", 0, 1), ("", 0, 1)] {
        let status = lab.json(&format!("sweep status e.toml --store s {scale}"));
        assert_eq!([&status["done"], &status["missing"]], [done, missing], "{scale}");
    }
    assert_eq!(lab.json("sweep collect e.toml --store s --output r.csv --scale full")["rows"], 2);
    assert_eq!(lab.try_run("sweep collect e.toml --store s -o q.csv").status.code(), Some(1));
}
