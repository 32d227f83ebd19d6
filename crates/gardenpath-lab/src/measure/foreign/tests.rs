use super::*;
use crate::experiment::{Experiment, Scale};
use crate::measure::Measures;
use crate::store::{State, Store};
use crate::sweep;
use crate::table::Table;
use serde_json::json;

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn parameter(name: &'static str, kind: Kind, default: Default) -> Parameter {
    Parameter { name: name.into(), kind, default, meaning: "".into() }
}

fn output(name: &'static str, kind: Kind) -> Output {
    Output { name: name.into(), kind, meaning: "".into() }
}

/// A measure with a parameter of every kind, required and optional.
fn bag_of_words() -> Foreign {
    Foreign {
        name: "bag".into(),
        version: 1,
        meaning: "Naive Bayes".into(),
        parameters: vec![
            parameter("smoothing", Kind::Number, Default::Fixed(json!(1))),
            parameter("order", Kind::Whole, Default::Required),
            parameter("lower", Kind::Truth, Default::Late(json!(false))),
            parameter("prior", Kind::Text, Default::Optional("none".into())),
        ],
        results: Some(vec![output("weights", Kind::Numbers), output("note", Kind::Text)]),
        floor: true,
    }
}

fn measures(foreign: Foreign) -> Measures {
    Measures::default().with(foreign).unwrap()
}

const TEXT: &str = "measure = 'bag'\n[[grid]]\nvocab = 4\ndepth = 2\nfraction = 0.5\nsamples = [20, 50]\ntest = 30\norder = 1\n\
                    prior = 'flat'\nseed = '1..2'\n[[fit]]\nname = 'loss'\nkind = 'mean'\nof = 'test_loss / bayes_loss'\ngroups = ['samples', 'prior']\n";

fn cells(measures: &Measures) -> Vec<Measure> {
    Experiment::parse_with(TEXT, measures).unwrap().cells(&Scale::QUICK).unwrap()
}

#[test]
fn cells_have_identities_like_any_other() {
    let cells = cells(&measures(bag_of_words()));
    assert_eq!(cells.len(), 4);
    let expected = json!({"measure": "bag", "vocab": 4, "depth": 2, "fraction": 0.5, "samples": 20, "test": 30, "order": 1,
        "prior": "flat", "smoothing": 1.0, "seed": 1});
    assert_eq!(Value::Object(cells[0].parameters()), expected);
    assert_eq!(cells[0].identity(), "c1a48cc84a21fb47f908e78fed048892");
    let newer = measures(Foreign { version: 2, ..bag_of_words() });
    assert_ne!(cells[0].identity(), self::cells(&newer)[0].identity(), "another version has other results");
    let mut told = expected.as_object().unwrap().clone();
    told.remove("measure");
    let again = |name: &str, value: Value| {
        let mut told = told.clone();
        told.insert(name.into(), value);
        measures(bag_of_words()).find("bag").unwrap().cell(told)
    };
    assert_eq!(again("lower", json!(false)).unwrap().identity(), cells[0].identity(), "late: left out at its default");
    assert_ne!(again("lower", json!(true)).unwrap().identity(), cells[0].identity());
    assert_eq!(again("order", json!(1.5)).unwrap_err().to_string(), "order is 1.5, expected a whole number");
    let error = again("colour", json!(1)).unwrap_err().to_string();
    assert!(error.starts_with("colour is not a parameter of bag, expected one of vocab, depth, "), "{error}");
    assert!(error.ends_with("samples, test, seed, smoothing, order, lower, prior"), "{error}");
}

#[test]
fn experiments_without_it_say_how_to_run_it() {
    let error = Experiment::parse(TEXT).unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown measure bag, expected one of entropy, learn, purity, snr, train, probe, vectors, lengths, trees, topologies, inference, candidates, prediction, floor; other measures run \
         from Python"
    );
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    let cells = cells(&measures(bag_of_words()));
    let refused = sweep::run(&cells.iter().collect::<Vec<_>>(), &store, 1, &mut |_| Ok(())).unwrap_err().to_string();
    assert_eq!(refused, "measure bag is not built in: run it from Python");
    assert!(cells.iter().all(|cell| store.state(cell) == State::Missing));
    assert_eq!(cells[0].run(&()).unwrap_err().to_string(), refused);
    let columns = Experiment::parse_with(&TEXT.replace("bayes_loss", "bayes_los"), &measures(bag_of_words()));
    let error = format!("{:#}", columns.unwrap_err());
    assert!(
        error.starts_with("[[fit]] loss: of: unknown name bayes_los; did you mean bayes_loss? Available: "),
        "{error}"
    );
}

#[test]
fn sentences_are_those_of_networks() {
    let cell = &cells(&measures(bag_of_words()))[0];
    let values = json!({"vocab": 4, "depth": 2, "fraction": 0.5, "samples": 20, "test": 30, "seed": 1, "model": "cnn", "width": 8,
        "max_steps": 2, "min_steps": 1});
    let network = Measure::new("train", object(values)).unwrap();
    let [own, other] = [cell, &network].map(|cell| cell.sentences().unwrap());
    assert_eq!((own.train.len(), own.test.len()), (20, 30));
    for (own, other) in [(&own.train, &other.train), (&own.test, &other.test)] {
        assert!((0..own.len()).all(|k| own.sentence(k) == other.sentence(k) && own.roots() == other.roots()));
    }
    // The floor of the same test set, computed by the measure itself.
    let floor = own.floor().unwrap();
    let trained = network.run(&()).unwrap();
    assert_eq!((&trained["bayes_loss"], &trained["bayes_accuracy"]), (&json!(floor.loss), &json!(floor.accuracy)));
    let completed = cell.complete(object(json!({"test_loss": 2})), &own).unwrap();
    assert_eq!(completed["normalized_loss"], json!(2.0 / 4f64.ln()));
    for name in ["bayes_loss", "bayes_accuracy", "bayes_normalized_loss"] {
        assert_eq!(completed[name], trained[name], "{name}");
    }
    let bare = measures(Foreign { floor: false, ..bag_of_words() });
    let bare = bare
        .find("bag")
        .unwrap()
        .cell(object(json!({"vocab": 4, "depth": 2, "fraction": 0.5, "samples": 20, "order": 1, "seed": 1})));
    let completed = bare.unwrap().complete(object(json!({"test_loss": 2})), &own).unwrap();
    assert_eq!(completed.keys().collect::<Vec<_>>(), ["normalized_loss", "test_loss"]);
    let entropy = json!({"vocab": 4, "depth": 2, "fraction": 0.5, "seed": 1});
    let error = Measure::new("entropy", object(entropy)).unwrap().sentences().unwrap_err().to_string();
    assert!(error.starts_with("samples is missing: measure entropy needs"), "{error}");
}

#[test]
fn results_are_stored_as_declared() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    let cells = cells(&measures(bag_of_words()));
    let refusal = |result: Value| format!("{:#}", store.write(&cells[0], &object(result), 1.0).unwrap_err());
    assert_eq!(refusal(json!({})), "test_loss is missing in the results of bag");
    assert_eq!(refusal(json!({"test_loss": null})), "test_loss is missing in the results of bag");
    assert_eq!(refusal(json!({"test_loss": "low"})), "test_loss is \"low\", expected a number");
    assert_eq!(refusal(json!({"test_loss": 1, "weights": [[1]]})), "weights is [[1]], expected a list of numbers");
    assert_eq!(
        refusal(json!({"test_loss": 1, "vocab": 1})),
        "vocab is a parameter of bag, expected another name for a result"
    );
    let error = refusal(json!({"test_loss": 1, "weight": [1]}));
    assert!(
        error.starts_with("results of bag: unknown name weight; did you mean weights? Available: test_loss, "),
        "{error}"
    );
    assert_eq!(store.state(&cells[0]), State::Missing, "nothing was written");
    for cell in &cells {
        let sentences = cell.sentences().unwrap();
        let result =
            cell.complete(object(json!({"test_loss": 1, "weights": [1, null], "note": null})), &sentences).unwrap();
        store.write(cell, &result, 1.0).unwrap();
    }
    let stored: Vec<_> = cells.iter().map(|cell| (cell, store.read(cell).unwrap().unwrap().result)).collect();
    assert_eq!(stored[0].1["test_loss"].to_string(), "1.0");
    let table = Table::new(&stored).unwrap();
    assert_eq!(table.column("weights").unwrap().value(0), json!([1.0, null]));
    assert_eq!(table.column("lower").unwrap().value(0), json!(false), "implied");
    let plan = Experiment::parse_with(TEXT, &measures(bag_of_words())).unwrap().plan;
    let fitted = crate::analysis::fit(&plan.fits, &table).unwrap();
    assert_eq!(fitted[0].found.len(), 2);
    assert_eq!(fitted[0].words(&fitted[0].found[1]), "samples = 50, prior = flat");
}

#[test]
fn results_that_are_not_declared_are_taken_as_they_are() {
    let open = measures(Foreign { results: None, ..bag_of_words() });
    let cell = &cells(&open)[0];
    let result = object(json!({"test_loss": 1, "layers_used": 3, "curve": [1, 0.5], "name": "x"}));
    assert_eq!(cell.checked(&result).unwrap()["layers_used"], json!(3));
    let table = Table::new(&[(cell, result)]).unwrap();
    assert_eq!(table.column("layers_used").unwrap().kind(), &Kind::Whole);
    assert_eq!(table.column("curve").unwrap().kind(), &Kind::Numbers);
    let refusal = |result: Value| cell.checked(&object(result)).unwrap_err().to_string();
    let expected = "expected a number, a string, a boolean or a list of numbers";
    assert_eq!(refusal(json!({"test_loss": 1, "deep": {"a": 1}})), format!("deep is {{\"a\":1}}, {expected}"));
    assert!(refusal(json!({"test_loss": 1, "a b": 1})).starts_with("\"a b\": expected a name of letters"));
}

#[test]
fn descriptions_that_mean_something_else_are_refused() {
    let refusal = |foreign: Foreign| Measures::default().with(foreign).unwrap_err().to_string();
    assert_eq!(refusal(Foreign { name: "train".into(), ..bag_of_words() }), "measure train already exists");
    assert!(
        refusal(Foreign { name: "a b".into(), ..bag_of_words() }).starts_with("\"a b\": expected a name of letters")
    );
    let with = |own: Parameter| Foreign { parameters: vec![own], ..bag_of_words() };
    assert_eq!(
        refusal(with(parameter("vocab", Kind::Whole, Default::Required))),
        "measure bag: the name vocab is taken"
    );
    assert_eq!(
        refusal(with(parameter("measure", Kind::Whole, Default::Required))),
        "measure bag: the name measure is taken"
    );
    assert_eq!(
        refusal(with(parameter("rate", Kind::Number, Default::Fixed(json!("x"))))),
        "measure bag: rate is \"x\" by default, expected a number"
    );
    assert_eq!(
        refusal(with(parameter("rates", Kind::Numbers, Default::Required))),
        "measure bag: parameter rates is a list, expected one value"
    );
    let results = Some(vec![output("bayes_loss", Kind::Number)]);
    assert_eq!(refusal(Foreign { results, ..bag_of_words() }), "measure bag: the name bayes_loss is taken");
    let both = measures(bag_of_words()).with(bag_of_words()).unwrap_err().to_string();
    assert_eq!(both, "measure bag already exists");
    assert!(measures(bag_of_words()).find("bagg").unwrap_err().to_string().ends_with("; did you mean bag?"));
}
