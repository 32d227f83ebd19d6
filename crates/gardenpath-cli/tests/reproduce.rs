//! The report as a user makes it. Chapters that need long measurements are tested through their records.

mod common;

use common::Lab;
use std::time::Instant;

#[test]
fn figures_and_page_are_written_and_kept() {
    let lab = Lab::new();
    let text = lab.run("reproduce triptic trees_L_2 --output r");
    assert!(text.contains("2 of 2 figures at quick scale"), "{text}");
    // In the order of the report, not of the arguments.
    assert!(text.find("trees_L_2:").unwrap() < text.find("triptic:").unwrap(), "{text}");
    for name in ["trees_L_2", "triptic"] {
        for kind in ["svg", "png", "pdf"] {
            let bytes = std::fs::read(lab.path(&format!("r/figures/{name}.{kind}"))).unwrap();
            assert!(bytes.len() > 1000, "{name}.{kind}");
        }
    }
    let page = std::fs::read_to_string(lab.path("r/report.html")).unwrap();
    assert!(
        page.contains("id=\"triptic\"") && page.contains("reproduce triptic --scale full"),
        "the page has its sections"
    );

    let pictures = |lab: &Lab| std::fs::metadata(lab.path("r/figures/triptic.png")).unwrap().modified().unwrap();
    let (before, start) = (pictures(&lab), Instant::now());
    let lines = lab.json_lines("reproduce triptic -o r");
    assert!(start.elapsed().as_secs_f64() < 10.0, "nothing was missing");
    assert_eq!(pictures(&lab), before, "a figure that is the same is not drawn again");
    assert_eq!(lines.len(), 1);
    assert_eq!((lines[0]["figure"].as_str(), lines[0]["error"].is_null()), (Some("triptic"), true));
    assert!(lines[0]["findings"].as_array().unwrap().iter().all(|finding| finding["verdict"].is_string()));
}

#[test]
fn unknown_figures_are_refused() {
    let lab = Lab::new();
    let output = lab.try_run("reproduce tryptich -o r");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("unknown figure tryptich") && error.contains("triptic"), "{error}");
    assert!(!lab.path("r").exists());
    assert!(lab.run("reproduce --list").lines().count() >= 20);
}

/// Days of training are never started unasked: at scale day recorded results are drawn, and what they lack is said.
#[test]
fn scale_day_draws_what_is_recorded() {
    let lab = Lab::new();
    let refusal = lab.refusal("reproduce triptic --scale day -o r");
    assert!(refusal.contains("there is no store results here; --store DIR measures them"), "{refusal}");
    assert!(!lab.path("r").exists());

    lab.run("sweep run vectors --store results --shard 1/5");
    let cells = |store: &str| std::fs::read_dir(lab.path(store).join("cells")).unwrap().count();
    let text = lab.run("reproduce triptic --scale day -o r --formats svg");
    assert!(
        text.contains("1 of 1 figures at day scale")
            && text.contains("4 cells are missing; measuring them takes about"),
        "{text}"
    );
    assert_eq!(cells("results"), 1, "nothing is measured unasked");
    let page = std::fs::read_to_string(lab.path("r/report.html")).unwrap();
    assert!(page.contains("The report is partial") && page.contains("reproduce triptic --scale day --missing measure"));
    let files: Vec<_> =
        std::fs::read_dir(lab.path("r/figures")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["triptic.svg"]);
    assert!(page.contains("figures/triptic.svg") && !page.contains(".pdf"));
    lab.run("reproduce triptic --scale day -o alone --page-only");
    let alone = std::fs::read_to_string(lab.path("alone/report.html")).unwrap();
    assert!(alone.contains("<img src=\"data:image/svg+xml") && !alone.contains("figures/"));
    assert!(!lab.path("alone/figures").exists());

    let lines = lab.json_lines("reproduce triptic --scale day -o r --formats svg");
    let number = |name: &str| lines[0][name].as_f64().unwrap();
    assert_eq!(["cells", "done", "missing"].map(number), [5.0, 1.0, 4.0]);
    assert!(number("missing_core_hours") > 0.0 && lines[0]["error"].is_null());
    for finding in lines[0]["findings"].as_array().unwrap() {
        assert_eq!(finding["verdict"], "inconclusive");
        assert!(finding["needed_core_hours"].as_f64().unwrap() > 0.0, "{finding}");
        let words = finding["result"][0].as_str().unwrap();
        assert!(words.contains("4 of 5 cells for it are missing"), "{words}");
    }

    let text = lab.run("reproduce triptic --scale day -o r --missing measure");
    assert!(!text.contains("missing"), "{text}");
    assert_eq!(cells("results"), 5);
    let record = std::fs::read_dir(lab.path("results/seconds")).unwrap().next().unwrap().unwrap().path();
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    assert_eq!(record["version"], env!("CARGO_PKG_VERSION"));
    assert!(record["processor"].is_string() && record["date"].is_string() && record["seconds"].is_number());

    // From scratch, and the same.
    lab.run("reproduce triptic --scale day --store elsewhere -o again");
    assert_eq!(cells("elsewhere"), 5);
    let figure = |report: &str| std::fs::read(lab.path(report).join("figures/triptic.svg")).unwrap();
    assert_eq!(figure("again"), figure("r"));
    assert!(lab.refusal("reproduce triptic -o other --missing skip").contains("no store other/store"));
}
