//! Jobs: their events, and that they end with those who listen.

use crate::client::{Event, Explorer};
use crate::common::Lab;
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A job that takes for ever.
fn endless(samples: u64) -> Value {
    let network = json!({"model": "cnn", "task": "root", "samples": samples, "width": 256, "batch": 2048, "test": 50,
        "max_steps": 1_000_000});
    json!({"grammar": {"vocab": 8, "depth": 2}, "network": network})
}

fn of<'e>(events: &'e [Event], name: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event.name == name).map(|event| &event.data).collect()
}

#[test]
fn learners_draw_curves_above_their_floors() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    for kind in ["exact", "unlabelled", "paper", "em"] {
        let mut learner = json!({"kind": kind, "samples": 2048});
        if kind == "em" {
            learner["starts"] = json!(1);
            learner["rounds"] = json!(3);
        }
        let id = explorer.job(&json!({"grammar": {"vocab": 4, "depth": 2, "seed": 7}, "learner": learner}));
        let events = explorer.listen(&id, None).rest();
        let [floors, end] = [&events[0], events.last().unwrap()];
        assert_eq!(
            (floors.name.as_str(), end.name.as_str(), end.data["how"].as_str()),
            ("floors", "end", Some("done"))
        );
        let unit = if kind == "unlabelled" { "token" } else { "sentence" };
        assert_eq!(floors.data["unit"], unit);
        let bayes = floors.data["bayes"].as_f64().unwrap();
        assert!(bayes < floors.data["guessing"].as_f64().unwrap());
        let truth: u64 =
            floors.data["truth_rules"].as_array().unwrap().iter().map(|one| one["truth"].as_u64().unwrap()).sum();
        assert_eq!(truth, 2 * 4 * (1 + 4));
        let points = of(&events, "point");
        let sizes: Vec<u64> = points.iter().map(|point| point["x"].as_u64().unwrap()).collect();
        let all = [32, 64, 128, 256, 512, 1024, 2048];
        assert_eq!(sizes, if kind == "exact" || kind == "unlabelled" { &all[1..] } else { &all[..] });
        let rules: Vec<&Value> = of(&events, "rules").into_iter().filter(|rules| rules["final"] == true).collect();
        assert_eq!(rules.len(), points.len());
        if kind == "exact" || kind == "unlabelled" {
            for level in rules.last().unwrap()["levels"].as_array().unwrap() {
                assert_eq!((&level["correct"], &level["learned"]), (&level["truth"], &level["truth"]), "{kind}");
            }
            assert_eq!(points.last().unwrap()["verdict"], "converged");
            assert!((points.last().unwrap()["test_loss"].as_f64().unwrap() - bayes).abs() < 0.05);
            assert_eq!(end.data["line"], "2,048 sentences: all rules were found, and no others");
        }
        // Numbers of events are those of a list without gaps.
        let ids: Vec<usize> = events.iter().filter_map(|event| event.id).collect();
        assert_eq!(ids, (0..ids.len()).collect::<Vec<_>>());
        let later = explorer.listen(&id, Some(ids.len() - 2)).rest();
        assert_eq!((later.len(), later[0].name.as_str()), (1, "end"));
        explorer.listen(&id, Some(usize::MAX)).rest();
    }
}

#[test]
fn networks_are_trained_next_to_their_floors() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    for (model, task) in [("cnn", "root"), ("inn", "root"), ("transformer", "root"), ("transformer", "next")] {
        let network = json!({"model": model, "task": task, "samples": 256, "width": 16, "test": 100, "max_steps": 60});
        let id = explorer.job(&json!({"grammar": {"vocab": 4, "depth": 2, "seed": 1}, "network": network}));
        let events = explorer.listen(&id, None).rest();
        let floors = of(&events, "floors")[0];
        assert_eq!(floors["levels"].is_array(), task == "next");
        assert!(
            (floors["guessing"].as_f64().unwrap() - 4f64.ln()).abs() < 1e-12 && floors["weights"].as_u64() > Some(100)
        );
        let points = of(&events, "point");
        assert_eq!(points[0]["x"], 0);
        assert_eq!(points.last().unwrap()["x"], 60, "{model} {task}");
        assert!(points.iter().all(|point| point["test_loss"].as_f64().unwrap() > floors["bayes"].as_f64().unwrap()));
        let end = of(&events, "end")[0];
        assert_eq!(end["how"], "done");
        assert!(end["line"].as_str().unwrap().ends_with("ended by the largest number of steps"), "{end}");
    }
}

#[test]
fn a_job_is_stopped_by_request_or_when_nobody_listens() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let (stopped, left, reloaded) =
        (explorer.job(&endless(4000)), explorer.job(&endless(5000)), explorer.job(&endless(6000)));

    // Two pages listen to one job; each has all events.
    let (mut one, mut other) = (explorer.listen(&stopped, None), explorer.listen(&stopped, None));
    for listener in [&mut one, &mut other] {
        assert!(listener.wait("progress").data["line"].as_str().is_some());
        listener.wait("point");
    }
    assert_eq!(explorer.delete(&format!("/api/jobs/{stopped}")).json(), json!({"stopped": true}));
    for listener in [one, other] {
        assert_eq!(listener.rest().last().unwrap().data["how"], "stopped");
    }
    assert_eq!(explorer.delete(&format!("/api/jobs/{stopped}")).json(), json!({"stopped": false}));

    // A page is closed; another is loaded again within the time of grace.
    explorer.listen(&left, None).wait("point");
    explorer.listen(&reloaded, None).wait("point");
    let closed = Instant::now();
    sleep(Duration::from_secs(2));
    let mut again = explorer.listen(&reloaded, None);
    assert_eq!(again.next().unwrap().name, "floors", "events are repeated from the beginning");
    // Noticed within a heartbeat or two, and then within the time of grace.
    sleep(Duration::from_secs(15).saturating_sub(closed.elapsed()));
    let end = explorer.listen(&left, None).rest().pop().unwrap();
    assert_eq!(end.data["how"], "stopped");
    assert!(end.data["seconds"].as_f64().unwrap() < 30.0);
    again.wait("point");
    assert_eq!(explorer.delete(&format!("/api/jobs/{reloaded}")).json(), json!({"stopped": true}));
}

#[test]
fn there_are_only_so_many_jobs() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let ids: Vec<String> = (0..4).map(|_| explorer.job(&endless(4000))).collect();
    assert!(explorer.post("/api/jobs", &endless(4000)).refusal(429).contains("4 jobs"));
    // The page answers all the same.
    explorer.posted("/api/language", &json!({"grammar": {"vocab": 8, "depth": 2}}));
    let mut listener = explorer.listen(&ids[0], None);
    explorer.delete(&format!("/api/jobs/{}", ids[0]));
    listener.wait("end");
    let id = explorer.job(&endless(4000));
    explorer.delete(&format!("/api/jobs/{id}"));
}

#[test]
fn jobs_that_make_no_sense_are_refused_before_they_start() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let grammar = json!({"vocab": 8, "depth": 2});
    let learner =
        |more: Value| json!({"grammar": grammar, "learner": merged(json!({"kind": "exact", "samples": 100}), more)});
    let network = |more: Value| {
        let usual = json!({"model": "cnn", "task": "root", "samples": 100, "width": 16});
        json!({"grammar": grammar, "network": merged(usual, more)})
    };
    for (ask, words) in [
        (json!({"grammar": grammar}), "expected one of learner and network"),
        (learner(json!({"kind": "magic"})), "kind is \"magic\", expected one of exact, paper, em, unlabelled"),
        (learner(json!({"samples": 79})), "samples is 79, expected at least 80"),
        (learner(json!({"samples": 15, "kind": "paper"})), "samples is 15, expected at least 16"),
        (learner(json!({"samples": 1e7 as u64})), "samples is 10000000"),
        (learner(json!({"samples": -1})), "invalid value"),
        (learner(json!({"starts": 3})), "starts has no effect here"),
        (network(json!({"task": "next"})), "task next needs model transformer"),
        (network(json!({"task": "masked"})), "expected root or next"),
        (network(json!({"model": "rnn"})), "model is \"rnn\""),
        (network(json!({"width": 0})), "width is 0"),
        (network(json!({"width": 100_000})), "width is 100000, expected 1 to 1024"),
        (network(json!({"heads": 4})), "heads has no effect here"),
        (network(json!({"model": "transformer", "heads": 3})), "3"),
        (network(json!({"max_steps": 1e9 as u64})), "max_steps is 1000000000"),
        (network(json!({"learning_rate": -1})), "learning_rate is -1"),
        (network(json!({"batch": 0})), "batch is 0"),
        (network(json!({"colour": 1})), "unknown field `colour`"),
    ] {
        let line = explorer.post("/api/jobs", &ask).refusal(400);
        assert!(line.contains(words), "{ask}: {line}");
    }
    let deep = json!({"grammar": {"vocab": 4, "depth": 7}, "network": network(json!({}))["network"]});
    assert!(explorer.post("/api/jobs", &deep).refusal(400).contains("longest sentence"));
}

fn merged(mut one: Value, other: Value) -> Value {
    one.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    one
}
