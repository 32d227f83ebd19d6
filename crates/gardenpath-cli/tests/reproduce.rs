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
