//! No claim is vacuous: for every claim about sampled results, there are synthetic results that lead to each verdict.

use gardenpath_lab::analysis::{self, Analysis, Outstanding};
use gardenpath_lab::experiment::plan::Plan;
use gardenpath_lab::experiment::{Experiment, Scale, built_in};
use gardenpath_lab::fit::Verdict;
use gardenpath_lab::measure::Measure;
use gardenpath_lab::table::Table;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn analyse(plan: &Plan, table: &Table) -> anyhow::Result<Analysis> {
    analysis::analyse(plan, table, &Outstanding::default())
}

/// A world in which results follow some law, up to seed noise.
#[derive(Clone, Copy)]
struct World {
    /// Whether numbers follow the paper, our corrections, or neither.
    truth: Truth,
    /// How far the final loss of networks is above exact parsing.
    excess: f64,
    /// Whether the order of networks and learners by sample complexity is reversed.
    reversed: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Truth {
    Paper,
    Ours,
    Neither,
}

const WORLDS: [World; 6] = [
    World { truth: Truth::Paper, excess: 0.0, reversed: false },
    World { truth: Truth::Ours, excess: 0.0, reversed: false },
    World { truth: Truth::Neither, excess: 0.0, reversed: false },
    World { truth: Truth::Paper, excess: 0.2, reversed: false },
    World { truth: Truth::Paper, excess: -0.1, reversed: false },
    World { truth: Truth::Paper, excess: 0.0, reversed: true },
];

/// The parameters of a cell and what they imply.
struct Cell {
    values: Map<String, Value>,
}

impl Cell {
    fn of(measure: &Measure) -> Self {
        let mut values = measure.description().implied(&measure.parameters());
        values.extend(measure.parameters());
        Cell { values }
    }

    fn number(&self, name: &str) -> f64 {
        self.values[name].as_f64().unwrap_or_else(|| panic!("{name} of {:?}", self.values))
    }

    fn text(&self, name: &str) -> &str {
        self.values[name].as_str().unwrap()
    }

    /// The factor by which a seed changes a number of sentences.
    fn noise(&self) -> f64 {
        [0.96, 0.98, 1.0, 1.02, 1.04][self.number("seed") as usize % 5]
    }

    /// The fraction of grammatical tuples, if it is given.
    fn ambiguity(&self) -> f64 {
        self.values.get("fraction").and_then(Value::as_f64).unwrap_or(0.0)
    }

    /// The scale of the theory, v m_3 m_2^(L-1).
    fn scale(&self) -> f64 {
        let levels = self.number("depth") - 1.0;
        self.number("vocab") * self.number("ternary_rules") * self.number("binary_rules").powf(levels)
    }

    /// The number of sentences needed: a multiple of the theory's scale, with a factor for each level above two.
    fn star(&self, world: World, multiple: f64) -> f64 {
        let above = self.number("depth") - 2.0;
        self.noise()
            * match world.truth {
                Truth::Paper => multiple * self.scale() * 8f64.powf(above),
                Truth::Ours => multiple * self.scale() * 12.5f64.powf(above),
                // The wrong power of the scale, and the wrong factor per level.
                Truth::Neither => {
                    let reference = if self.ambiguity() > 0.5 { 1000.0 } else { 64.0 };
                    multiple * self.scale() * (self.scale() / reference).powf(0.4) * 4f64.powf(above)
                }
            }
    }
}

/// From 1 to 0 around `star`.
fn falls(samples: f64, star: f64) -> f64 {
    1.0 / (1.0 + (samples / star).powi(4))
}

fn result(measure: &Measure, world: World) -> Value {
    let cell = Cell::of(measure);
    match cell.text("measure") {
        "train" => train(&cell, world),
        "learn" => learn(&cell, world),
        "snr" => snr(&cell, world),
        "entropy" => entropy(&cell, world),
        "purity" => purity(&cell, world),
        "probe" => probe(&cell, world),
        "vectors" => vectors(&cell, world),
        "topologies" => topologies(&cell, world),
        "inference" => inference(&cell, world),
        "candidates" => candidates(&cell, world),
        "prediction" => prediction(&cell, world),
        "floor" => floor(&cell, world),
        other => panic!("no results are made up for {other}"),
    }
}

/// The loss of networks falls from guessing to the floor.
fn train(cell: &Cell, world: World) -> Value {
    if cell.values.get("task").is_some_and(|task| task == "next") {
        return next_token(cell, world);
    }
    let multiple = match (cell.text("model"), world.reversed) {
        // Other ambiguities are measured elsewhere.
        _ if cell.ambiguity() > 0.5 => 10.0,
        _ if cell.number("depth") == 3.0 && cell.ambiguity() == 0.25 => 30.0,
        ("inn", false) => 7.0,
        ("cnn", false) => 20.0,
        (_, false) => 100.0,
        ("inn", true) => 50.0,
        ("cnn", true) => 40.0,
        (_, true) => 30.0,
    };
    let bayes = if cell.ambiguity() > 0.5 { 0.1 } else { 0.0 };
    let wide = match (world.truth, cell.number("width")) {
        (Truth::Neither, 128.0) => 0.5,
        _ => 1.0,
    };
    let fallen = falls(cell.number("samples"), cell.star(world, multiple));
    let loss = (bayes + world.excess + (1.0 - bayes - world.excess) * fallen) * wide;
    json!({"normalized_loss": loss, "normalized_error": loss, "bayes_normalized_loss": bayes, "ending": "rise"})
}

/// The loss of language models falls from guessing to the floor, and passes that of knowing one layer at P_2.
fn next_token(cell: &Cell, world: World) -> Value {
    let [vocab, binary, ternary] = ["vocab", "binary_rules", "ternary_rules"].map(|name| cell.number(name));
    let scale = vocab * ternary * binary.powi(2);
    let power = if world.truth == Truth::Neither { 1.5 } else { 1.0 };
    let star = 40.0 * 64.0 * (scale / 64.0).powf(power) * cell.noise();
    let floor = 1.3;
    let depth = cell.number("depth") as u64;
    let level_floors: Vec<f64> = (0..=depth).map(|known| floor + 0.8 * (depth - known) as f64).collect();
    let loss = floor * (1.0 + world.excess) + 2.0 * falls(cell.number("samples"), star);
    json!({
        "test_loss": loss, "floor": floor, "known": (0..=depth).collect::<Vec<_>>(), "level_floors": level_floors,
        "normalized_loss": loss, "bayes_normalized_loss": floor, "ending": "rise",
    })
}

fn floor(cell: &Cell, world: World) -> Value {
    let (depth, noise, wrong) = (cell.number("depth"), cell.noise().sqrt(), world.truth == Truth::Neither);
    let worse = if wrong { 3.0 } else { 1.0 };
    let (loss, root_accuracy) = match cell.text("task") {
        "masked-one" => (0.05 * worse * noise, None),
        "masked" => ((0.34 + (cell.number("mask") - 0.15) * 2.9143) * worse * noise, None),
        "noisy" => {
            let steepness = if wrong { 12.0 / depth } else { 2.0 * depth };
            (1.0, Some(1.0 / (1.0 + (cell.number("noise") / (0.45 * noise)).powf(steepness))))
        }
        _ => (2.0, None),
    };
    let (at, formula): (Vec<u64>, Vec<Option<f64>>) = match cell.text("by") {
        "levels" => (0..=depth as u64).map(|known| (known, Some(3.0 - 0.3 * known as f64))).unzip(),
        _ => (0..5).map(|position| (position, None)).unzip(),
    };
    let of_position = |position: u64| loss * if (position == 0) == wrong { 0.9 } else { 1.1 } * noise;
    let loss_at: Vec<f64> =
        at.iter().zip(&formula).map(|(&at, formula)| formula.map_or(of_position(at), |f| f * noise * worse)).collect();
    json!({"loss": loss, "root_accuracy": root_accuracy, "at": at, "loss_at": loss_at, "formula_at": formula})
}

fn learn(cell: &Cell, world: World) -> Value {
    let multiple = if world.reversed { 200.0 } else { 3.0 };
    let recall = match (cell.text("mode"), world.truth) {
        ("exact", Truth::Neither) => 0.97,
        ("unlabelled", Truth::Neither) => 0.95,
        ("exact" | "unlabelled", _) => 1.0,
        (_, Truth::Paper) => 0.999,
        (_, Truth::Ours) => 0.8,
        (_, Truth::Neither) => 0.98,
    };
    let star = multiple * cell.number("vocab").powi(2) * cell.noise();
    // Every rule is found with ten times as many sentences; the learner without labels needs more.
    let price = match (cell.text("mode"), world.truth) {
        ("unlabelled", Truth::Neither) => 4.0,
        ("unlabelled", _) => 1.4,
        _ => 1.0,
    };
    let found = (cell.number("samples") / (20.0 * price * cell.number("vocab").powi(2) * cell.noise())).min(1.0);
    json!({
        "normalized_error": falls(cell.number("samples"), star), "recall": recall * found,
        "next_token_loss": 2.3 - found, "next_token_floor": 1.3,
    })
}

fn snr(cell: &Cell, world: World) -> Value {
    let (first, last) = (cell.number("first"), cell.number("last"));
    let sizes: Vec<u64> = (0..20).map(|k| (first * (last / first).powf(f64::from(k) / 19.0)).round() as u64).collect();
    let multiple = if world.excess > 0.0 { 200.0 } else { 20.0 };
    let star = cell.star(world, multiple);
    json!({"sizes": sizes, "noise": sizes.iter().map(|size| 0.5 * star / *size as f64).collect::<Vec<_>>(), "signal": 1.0})
}

fn entropy(cell: &Cell, world: World) -> Value {
    let (depth, vocab, fraction) = (cell.number("depth"), cell.number("vocab"), cell.number("fraction"));
    let (middle, width) = match world.truth {
        Truth::Paper | Truth::Ours => (0.4 + 0.4 / depth, 0.4 / depth),
        Truth::Neither => (0.2 + 0.05 * depth, 0.02 * depth),
    };
    let normalized = 1.0 / (1.0 + (-(fraction - middle) / width * 4.0 * cell.noise()).exp());
    let limit = |name: &str| cell.values.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    let entropy = match world.truth {
        Truth::Paper => limit("paper_entropy"),
        Truth::Ours => limit("limit_entropy") * (1.0 - 1.0 / vocab),
        Truth::Neither => 2.0 * limit("limit_entropy"),
    };
    json!({"normalized": normalized, "entropy": entropy * cell.noise().sqrt()})
}

fn purity(cell: &Cell, world: World) -> Value {
    let [vocab, binary, ternary] = ["vocab", "binary_rules", "ternary_rules"].map(|name| cell.number(name));
    let rises = |scale: f64, multiple: f64, ceiling: f64| {
        let power = if world.truth == Truth::Neither { 1.3 } else { 1.0 };
        let star = multiple * 64.0 * (scale / 64.0).powf(power) * cell.noise();
        0.1 + (ceiling - 0.1) * (1.0 - falls(cell.number("samples"), star))
    };
    let ceiling = match world.truth {
        Truth::Paper => [1.0, 1.0],
        Truth::Ours => [0.99, if vocab == 8.0 { 0.82 } else { 0.95 }],
        Truth::Neither => [0.9, 0.93],
    };
    json!({
        "binary": rises(vocab * binary.powi(2), 40.0, ceiling[0]),
        "ternary": rises(vocab * binary * ternary, 1.5, ceiling[1]),
    })
}

fn probe(cell: &Cell, world: World) -> Value {
    let wrong = world.truth == Truth::Neither;
    let (told, last) = if wrong { (0.5, 0.9) } else { (0.95, 0.1) };
    json!({
        "layer": [1, 1, 2, 2], "level": [0, 1, 0, 1],
        "accuracy": [0.3, 0.9, told * cell.noise() / 1.04, 0.5], "sensitivity": [0.9, 0.5 * cell.noise(), 0.2, last],
    })
}

fn vectors(cell: &Cell, world: World) -> Value {
    let wrong = world.truth == Truth::Neither;
    let (pairs, gain) = if wrong { (0.5, 0.8) } else { (0.97, 1.3) };
    json!({
        "pair_parent": [0, 1], "pair_x": [0.1, 0.2], "pair_y": [0.3, 0.1], "pair_nearest": pairs * cell.noise().min(1.0),
        "triple_parent": [0, 1], "triple_overlaps": [0, 1], "triple_x": [0.1, 0.2], "triple_y": [0.3, 0.1],
        "triple_nearest": 0.6, "corrected_x": [0.1, 0.2], "corrected_y": [0.3, 0.1],
        "corrected_nearest": 0.6 * gain * cell.noise(),
    })
}

fn topologies(cell: &Cell, world: World) -> Value {
    let (vocab, noise) = (cell.number("vocab"), cell.noise());
    let falls = if world.truth == Truth::Neither { vocab } else { 1.0 / vocab } * noise;
    let [pairs, triples, rows, ternary, free, others, operator, sums] = match world.truth {
        Truth::Paper => [0.95, 1.0, 1.0, 1.0, 1.0, 0.5, 1.0, 0.0],
        Truth::Ours => [0.95, 1.0, 0.64f64.powf(cell.number("depth") - 1.0), 1.5, 1.0, 0.5, 4.0, 0.75],
        Truth::Neither => [0.5, vocab, 3.0, 0.5, 3.0, 0.1, 2.0, 0.2],
    };
    json!({
        "share_i": pairs * noise, "share_v": 0.4, "norm_ii": falls, "norm_iii": falls, "norm_iv": falls,
        "norm_vi": triples * noise, "norm_vii": triples * noise, "binary": rows * noise, "binary_paper": rows * noise,
        "other_pairs": falls, "ternary": ternary * noise, "ternary_free": free * noise, "other_triples": others * noise,
        "operator": operator * noise, "row_sums": sums * noise,
    })
}

fn inference(cell: &Cell, world: World) -> Value {
    let (vocab, noise) = (cell.number("vocab"), cell.noise());
    let at_one = cell.number("gamma_ternary") == 1.0;
    let wrong = world.truth == Truth::Neither;
    let precision = match (world.truth, at_one) {
        (Truth::Paper, true) => 0.99,
        (Truth::Ours, true) => 0.8,
        (Truth::Neither, true) => 0.92,
        (Truth::Neither, false) => 0.5,
        _ => 1.0 - noise / vocab,
    };
    let cosine = cell.text("alignment") == "cosine";
    let recall = if wrong != cosine { 0.3 } else { 0.99 };
    let threshold = match world.truth {
        Truth::Paper => 0.5,
        Truth::Ours => 0.25 + noise / vocab.sqrt(),
        Truth::Neither => 0.25 + 0.5 * noise,
    };
    let binary = if wrong { 0.8 } else { 0.999 };
    json!({
        "binary_precision": binary, "binary_recall": binary, "ternary_precision": precision,
        "ternary_recall": recall, "ternary_threshold": threshold,
    })
}

fn candidates(cell: &Cell, world: World) -> Value {
    let (vocab, noise, wrong) = (cell.number("vocab"), cell.noise(), world.truth == Truth::Neither);
    let rules = if wrong { 0.5 } else { 0.99 };
    let norm = if wrong { 0.01 * vocab } else { 0.05 / vocab } * noise;
    json!({
        "spurious_pairs": if wrong { 0.1 } else { 0.4 } * noise, "spurious_triples": 0.4, "spurious_pair_norm": norm,
        "spurious_triple_norm": norm, "binary_precision": rules, "binary_recall": rules, "ternary_precision": rules,
        "ternary_recall": rules,
    })
}

fn prediction(cell: &Cell, world: World) -> Value {
    let (vocab, above) = (cell.number("vocab"), cell.number("depth") - 2.0);
    let (exponent, factor, rarity) = match world.truth {
        Truth::Paper => (2.0f64, 8.0f64, 2.0),
        Truth::Ours => (2.22, 12.5, 2.3),
        Truth::Neither => (2.8, 5.0, 1.5),
    };
    let star = 25.0 * 64.0 * (vocab / 8.0).powf(exponent) * factor.powf(above) * cell.noise();
    let (first, last) = (cell.number("first"), cell.number("last"));
    let sizes: Vec<u64> = (0..16).map(|k| (first * (last / first).powf(f64::from(k) / 15.0)).round() as u64).collect();
    let noise: Vec<f64> = sizes.iter().map(|size| 0.5 * star / *size as f64).collect();
    json!({"sizes": sizes, "noise": noise, "signal": 1.0, "rarity": vocab.powf(rarity) * cell.noise()})
}

fn table(experiment: &Experiment, scale: &Scale, world: World, seeds: u64) -> Table {
    let mut cells = experiment.cells(scale).unwrap();
    cells.retain(|cell| cell.parameters()["seed"].as_u64().unwrap() <= seeds);
    let result = |cell: &Measure| result(cell, world).as_object().cloned().unwrap();
    let results: Vec<_> = cells.iter().map(|cell| (cell, result(cell))).collect();
    Table::new(&results).unwrap()
}

/// The verdicts on each claim.
fn verdicts(experiment: &Experiment, table: &Table) -> Vec<(String, Verdict)> {
    let analysis = analyse(&experiment.plan, table).unwrap();
    analysis.claims.into_iter().map(|judged| (judged.id, judged.verdict)).collect()
}

/// Whether its results are those of random grammars, not exact.
fn is_sampled(experiment: &Experiment) -> bool {
    experiment.cells(&Scale::FULL).unwrap()[0].parameters().contains_key("seed")
}

#[test]
fn every_scale_can_be_judged_and_drawn() {
    for name in built_in::names() {
        let experiment = built_in::find(name).unwrap();
        let nothing = analyse(&experiment.plan, &Table::default()).unwrap().claims;
        assert_eq!(nothing.len(), experiment.plan.claims.len(), "{name}: a claim about nothing is still listed");
        assert!(nothing.iter().all(|claim| claim.verdict == Verdict::Inconclusive), "{name}");
        for scale in Scale::USUAL.iter().filter(|_| is_sampled(&experiment)) {
            let table = table(&experiment, scale, WORLDS[1], 100);
            let analysis = analyse(&experiment.plan, &table).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            assert!(analysis.figure.svg().len() > 1000, "{name}");
            let verdict = |id: &str| analysis.claims.iter().find(|claim| claim.id == id).map(|claim| claim.verdict);
            if *scale == Scale::FULL && ["cnn", "snr", "prediction"].contains(&name) {
                let found = (verdict("growth"), verdict("level"));
                assert_eq!(found, (Some(Verdict::Agrees), Some(Verdict::Corrected)), "{name}");
            }
        }
    }
}

/// The paper's claims about exact numbers: all are judged, and all wrong ones are corrected.
#[test]
fn exact_claims_hold_or_are_corrected() {
    for name in built_in::names() {
        let experiment = built_in::find(name).unwrap();
        if is_sampled(&experiment) {
            continue;
        }
        let cells = experiment.cells(&Scale::QUICK).unwrap();
        let results: Vec<_> = cells.iter().map(|cell| (cell, cell.run(&()).unwrap())).collect();
        let claims = analyse(&experiment.plan, &Table::new(&results).unwrap()).unwrap().claims;
        for claim in &claims {
            let holds = matches!(claim.verdict, Verdict::Agrees | Verdict::Corrected);
            assert!(holds, "{name}/{} ({}): {}", claim.id, claim.words(), claim.because);
        }
        let corrected = experiment.plan.claims.iter().filter(|claim| claim.corrected.is_some());
        for claim in corrected {
            let verdicts = claims.iter().filter(|judged| judged.id == claim.id).map(|judged| judged.verdict);
            assert_eq!(Verdict::of_all(verdicts), Verdict::Corrected, "{name}/{}", claim.id);
        }
    }
}

#[test]
fn every_claim_can_have_every_verdict() {
    let mut lacking = Vec::new();
    for name in built_in::names() {
        let experiment = built_in::find(name).unwrap();
        if !is_sampled(&experiment) {
            continue;
        }
        let mut found: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for (id, verdict) in
            WORLDS.into_iter().flat_map(|world| verdicts(&experiment, &table(&experiment, &Scale::FULL, world, 5)))
        {
            found.entry(id).or_default().insert(verdict.word());
        }
        for (id, verdict) in verdicts(&experiment, &table(&experiment, &Scale::FULL, WORLDS[0], 2)) {
            assert_eq!(verdict, Verdict::Inconclusive, "{name}/{id}: two seeds decide nothing");
            found.entry(id).or_default().insert(verdict.word());
        }
        for claim in &experiment.plan.claims {
            let possible = Verdict::ALL.into_iter();
            let possible = possible.filter(|verdict| *verdict != Verdict::Corrected || claim.corrected.is_some());
            let missing: Vec<&str> =
                possible.map(Verdict::word).filter(|verdict| !found[&claim.id].contains(verdict)).collect();
            if !missing.is_empty() {
                lacking.push(format!("{name}/{}: never {}", claim.id, missing.join(", ")));
            }
        }
    }
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}
