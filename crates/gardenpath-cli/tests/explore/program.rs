//! The command itself: its URL, its files, its end.

use crate::client::Explorer;
use crate::common::Lab;
use serde_json::json;
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn what_cannot_be_served_is_one_line() {
    let lab = Lab::with_grammar("--vocab 4 --depth 2 --seed 1");
    let explorer = Explorer::start(&lab, "");
    let port = explorer.port;
    let line = lab.refusal(&format!("explore --no-browser --port {port}"));
    assert_eq!(line, format!("port {port} is in use; choose another one, or none for any that is free"));
    assert!(lab.refusal("explore --no-browser missing.pcfg").starts_with("missing.pcfg: "));
    assert!(lab.refusal("explore --no-browser --store nothing").contains("no store nothing"));
    assert!(lab.refusal("explore --no-browser --port 0").contains("--port"));
    assert!(lab.refusal("explore --no-browser --port 70000").contains("--port"));
    fs::write(lab.path("bad.pcfg"), "S -> ").unwrap();
    assert!(lab.refusal("explore --no-browser bad.pcfg").starts_with("bad.pcfg: "));
}

#[test]
fn the_page_is_told_what_was_given() {
    let lab = Lab::with_grammar("--vocab 4 --depth 2 --seed 1");
    let start = Explorer::start(&lab, "g.pcfg").get("/api/start").json();
    assert_eq!(start["grammar"]["name"], "g.pcfg");
    assert_eq!(start["grammar"]["text"], lab.grammar().to_text());
    assert_eq!((&start["store"], &start["threads"]), (&json!(null), &json!(2)));
    assert_eq!(start["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(start["limits"]["jobs"], 4);

    // A store in the directory where the program is started is found.
    fs::create_dir_all(lab.path("results/cells")).unwrap();
    assert_eq!(Explorer::start(&lab, "").get("/api/start").json()["store"], "results");
    assert_eq!(Explorer::start(&lab, "").get("/api/start").json()["grammar"], json!(null));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_and_its_jobs() {
    for signal in ["-INT", "-TERM"] {
        let lab = Lab::new();
        let mut explorer = Explorer::start(&lab, "");
        let network = json!({"model": "cnn", "task": "root", "samples": 4000, "width": 256, "batch": 2048, "test": 50});
        let id = explorer.job(&json!({"grammar": {"vocab": 8, "depth": 2}, "network": network}));
        explorer.listen(&id, None).wait("point");
        let start = Instant::now();
        assert!(Command::new("kill").args([signal, &explorer.child.id().to_string()]).status().unwrap().success());
        let status = explorer.child.wait().unwrap();
        assert_eq!(status.code(), Some(130));
        assert!(start.elapsed() < Duration::from_secs(10));
        let mut errors = String::new();
        explorer.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!(errors, "interrupted: the explorer has ended\n");
    }
}

#[cfg(unix)]
#[test]
fn without_a_screen_no_browser_is_opened_and_the_url_is_printed() {
    let lab = Lab::new();
    let mut command = lab.command("explore --threads 1");
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = [0; 24];
    child.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
    assert!(line.starts_with(b"http://127.0.0.1:"), "{}", String::from_utf8_lossy(&line));
    if cfg!(target_os = "linux") {
        let mut note = [0; 10];
        child.stderr.as_mut().unwrap().read_exact(&mut note).unwrap();
        assert_eq!(&note, b"no browser");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
