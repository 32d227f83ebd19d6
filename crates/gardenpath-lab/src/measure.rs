//! What a cell of a sweep measures: a pure function of its parameters.
//!
//! Each measure is a file with a struct of its parameters, declared once by [`parameters!`](parameter), and what it measures
//! (`Kind`). The parameters and the version of the code that matters are the identity of a cell. Whoever changes what a measure
//! computes raises its version: cells that were stored before are then measured anew. Whoever adds a parameter declares it as
//! late or optional: cells that do not use it keep their identity.

mod ensemble;
mod entropy;
mod keeper;
mod learn;
pub mod parameter;
mod probe;
mod purity;
mod snr;
mod train;
mod vectors;

pub use keeper::Keeper;

use anyhow::{Result, bail};
use parameter::{Parameter, Parameters, Values};
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, LazyLock};

/// All measures.
static ALL: LazyLock<Vec<Description>> = LazyLock::new(|| {
    vec![
        Description::of::<entropy::Entropy>(),
        Description::of::<learn::Learn>(),
        Description::of::<purity::Purity>(),
        Description::of::<snr::Snr>(),
        Description::of::<train::Train>(),
        Description::of::<probe::Probe>(),
        Description::of::<vectors::Vectors>(),
    ]
});

/// The names of all measures.
pub static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| ALL.iter().map(|measure| measure.name).collect());

/// The parameters of all measures that are texts, not numbers.
pub static TEXTS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let all = ALL.iter().flat_map(|measure| &measure.parameters);
    all.filter(|parameter| matches!(parameter.kind, parameter::Kind::OneOf(_)))
        .map(|parameter| parameter.name)
        .collect()
});

/// The names of the parameters of a measure; those that are texts are in [`TEXTS`].
pub fn parameters(measure: &str) -> Vec<&'static str> {
    let found = descriptions().iter().find(|description| description.name == measure);
    found.into_iter().flat_map(|description| description.parameters.iter().map(|parameter| parameter.name)).collect()
}

/// The names of what fits and figures can read: the parameters of a measure, then its results.
pub fn columns(measure: &str) -> Vec<&'static str> {
    let mut names = parameters(measure);
    let found = descriptions().iter().find(|description| description.name == measure);
    let results = found.into_iter().flat_map(|description| description.results.iter().copied());
    names.extend(results.filter(|name| !parameters(measure).contains(name)));
    names
}

/// Values of columns that a stored cell leaves out, because they follow from its parameters: defaults, and how many binary and
/// ternary rules each symbol has if a fraction was asked for.
pub fn implied(parameters: &Map<String, Value>) -> Map<String, Value> {
    let name = parameters.get("measure").and_then(Value::as_str).unwrap_or_default();
    let found = descriptions().iter().find(|description| description.name == name);
    let known = found.into_iter().flat_map(|description| &description.parameters);
    let mut values: Map<String, Value> = known
        .filter_map(|parameter| match &parameter.default {
            parameter::Default::Fixed(value) | parameter::Default::Late(value) => {
                Some((parameter.name.to_owned(), value.clone()))
            }
            _ => None,
        })
        .collect();
    if let Some((binary, ternary)) = ensemble::rules_of_a_symbol(parameters) {
        values.insert("binary_rules".into(), binary.into());
        values.insert("ternary_rules".into(), ternary.into());
    }
    values.retain(|name, _| !parameters.contains_key(name));
    values
}

/// All measures with their parameters.
pub fn descriptions() -> &'static [Description] {
    &ALL
}

/// Makes a cell of the values of its parameters.
type Reader = fn(Map<String, Value>) -> Result<Arc<dyn Cell>>;

/// A measure with its parameters.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Its name.
    pub name: &'static str,
    /// What it measures, in one line.
    pub meaning: &'static str,
    /// The version of the code that results depend on.
    pub version: u32,
    /// Its parameters.
    #[serde(rename = "inputs")]
    pub parameters: Vec<Parameter>,
    /// The names of its results.
    pub results: &'static [&'static str],
    #[serde(skip)]
    read: Reader,
}

impl Description {
    fn of<K: Kind>() -> Self {
        let read = |values| {
            let mut values = Values::new(K::NAME, K::table(), values);
            let mut parameters = K::read(&mut values)?;
            values.finish()?;
            parameters.settle()?;
            Ok(Arc::new(parameters) as Arc<dyn Cell>)
        };
        Description {
            name: K::NAME,
            meaning: K::MEANING,
            version: K::VERSION,
            parameters: K::table(),
            results: K::RESULTS,
            read,
        }
    }
}

/// A measure: the struct of its parameters, and what follows from them.
trait Kind: Parameters + Debug + Send + Sync + 'static {
    /// Its name in experiments.
    const NAME: &'static str;

    /// What it measures, in one line.
    const MEANING: &'static str;

    /// The names of what it measures.
    const RESULTS: &'static [&'static str];

    /// The version of the code that the result depends on.
    const VERSION: u32 = 1;

    /// Refuses parameters that do not go together, and forgets those that say what is so anyway: equal cells have equal identities.
    fn settle(&mut self) -> Result<()>;

    /// Measures. The result is an object that depends on the parameters alone, however often it was interrupted.
    fn run(&self, keeper: &dyn Keeper) -> Result<Value>;

    /// About how many seconds it takes on one core of the machine on which this was tuned; other machines are some factor faster or slower.
    fn work(&self) -> f64;

    /// Which cells that factor is the same for, besides those of the same measure.
    fn variety(&self) -> String {
        String::new()
    }

    /// A cell of the same variety that takes a few hundredths of a second.
    fn tiny(&self) -> Self;

    /// Whether it computes on a graphics processor.
    fn is_on_gpu(&self) -> bool {
        false
    }
}

/// A measure of any kind.
trait Cell: Debug + Send + Sync {
    fn name(&self) -> &'static str;
    fn version(&self) -> u32;
    fn parameters(&self) -> Map<String, Value>;
    fn run(&self, keeper: &dyn Keeper) -> Result<Value>;
    fn work(&self) -> f64;
    fn variety(&self) -> String;
    fn tiny(&self) -> Arc<dyn Cell>;
    fn is_on_gpu(&self) -> bool;
}

impl<K: Kind> Cell for K {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn version(&self) -> u32 {
        K::VERSION
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut values = Map::new();
        self.write(&mut values);
        values
    }

    fn run(&self, keeper: &dyn Keeper) -> Result<Value> {
        Kind::run(self, keeper)
    }

    fn work(&self) -> f64 {
        Kind::work(self)
    }

    fn variety(&self) -> String {
        format!("{} {}", K::NAME, Kind::variety(self)).trim_end().to_owned()
    }

    fn tiny(&self) -> Arc<dyn Cell> {
        Arc::new(Kind::tiny(self))
    }

    fn is_on_gpu(&self) -> bool {
        Kind::is_on_gpu(self)
    }
}

/// What is measured, with all parameters.
#[derive(Clone)]
pub struct Measure {
    cell: Arc<dyn Cell>,
}

impl Debug for Measure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.cell.fmt(f)
    }
}

impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        self.parameters() == other.parameters()
    }
}

impl Measure {
    /// A measure from the values of its parameters.
    pub fn new(name: &str, values: Map<String, Value>) -> Result<Self> {
        let Some(description) = descriptions().iter().find(|description| description.name == name) else {
            bail!("there is no measure {name}, expected one of {}", NAMES.join(", "));
        };
        Ok(Measure { cell: (description.read)(values)? })
    }

    /// All parameters, `measure` among them. Those that are younger than stored results are left out while they have their default values.
    pub fn parameters(&self) -> Map<String, Value> {
        let mut values = self.cell.parameters();
        values.insert("measure".into(), self.cell.name().into());
        values
    }

    /// The name of the cell: a hash of parameters and version.
    pub fn identity(&self) -> String {
        let text = serde_json::json!({"parameters": self.parameters(), "version": self.cell.version()}).to_string();
        let digest = Sha256::digest(text.as_bytes());
        digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Measures. The result depends on the parameters alone. `keeper` keeps how far a long measurement has come; `&()` keeps nothing.
    pub fn run(&self, keeper: &dyn Keeper) -> Result<Map<String, Value>> {
        match self.cell.run(keeper)? {
            Value::Object(map) => Ok(map),
            _ => unreachable!("a result is an object"),
        }
    }

    /// About how many seconds it takes on one core of the machine on which this was tuned. On another machine it is some factor more or
    /// less, which is about the same for all cells of a [variety](Self::variety).
    pub fn work(&self) -> f64 {
        self.cell.work()
    }

    /// The measure, and the kind of network or learner if it has one.
    pub fn variety(&self) -> String {
        self.cell.variety()
    }

    /// A cell of the same variety that takes a few hundredths of a second, on the processor.
    pub fn tiny(&self) -> Measure {
        Measure { cell: self.cell.tiny() }
    }

    /// Whether it computes on a graphics processor.
    pub fn is_on_gpu(&self) -> bool {
        self.cell.is_on_gpu()
    }
}

/// Sentences on which learners and networks are tested, as in the paper.
const TEST_SENTENCES: u64 = 20_000;

#[cfg(test)]
mod tests {
    use super::parameter::Default;
    use super::*;
    use serde_json::json;

    /// A small cell of each measure.
    fn small(name: &str) -> Measure {
        let mut values = json!({"vocab": 4, "depth": 2, "fraction": 0.5, "seed": 1});
        let more = match name {
            "entropy" => json!({"fraction": 1.0, "sentences": 20}),
            "learn" => json!({"mode": "paper", "samples": 500, "test": 100}),
            "purity" | "vectors" => json!({"samples": 500}),
            "snr" => json!({"first": 50, "last": 500, "points": 3}),
            _ => json!({"model": "cnn", "samples": 100, "width": 8, "test": 100, "max_steps": 50, "min_steps": 50}),
        };
        let (Value::Object(values), Value::Object(more)) = (&mut values, more) else { unreachable!() };
        values.extend(more);
        Measure::new(name, values.clone()).unwrap()
    }

    fn changed(name: &str, values: Value) -> Result<Measure> {
        let mut all = small(name).cell.parameters();
        all.extend(values.as_object().unwrap().clone());
        all.retain(|_, value| !value.is_null());
        Measure::new(name, all)
    }

    fn refusal(name: &str, values: Value) -> String {
        changed(name, values).unwrap_err().to_string()
    }

    #[test]
    fn the_parameters_of_a_cell_are_in_the_table() {
        for measure in descriptions() {
            let found = small(measure.name).cell.parameters();
            let mut expected: Vec<&str> = Vec::new();
            for parameter in &measure.parameters {
                assert!(!parameter.meaning.is_empty() && parameter.meaning.len() < 100, "{}", parameter.name);
                let is_listed = matches!(parameter.default, Default::Required | Default::Fixed(_));
                if is_listed || parameter.name == "fraction" {
                    expected.push(parameter.name);
                }
            }
            expected.sort_unstable();
            assert_eq!(found.keys().collect::<Vec<_>>(), expected, "{}", measure.name);
        }
        assert_eq!(TEXTS.iter().filter(|name| **name == "model").count(), 2, "of train and probe");
    }

    #[test]
    fn results_are_those_that_are_listed() {
        for measure in descriptions() {
            let result = small(measure.name).run(&()).unwrap();
            let mut listed = measure.results.to_vec();
            listed.sort_unstable();
            assert_eq!(result.keys().collect::<Vec<_>>(), listed, "{}", measure.name);
        }
    }

    #[test]
    fn what_a_cell_leaves_out_is_implied() {
        // A third of 6^2 pairs are 12 rules, two of each symbol; of 6^3 triples 72, twelve of each.
        let told =
            json!({"measure": "snr", "vocab": 6, "depth": 2, "fraction": 1.0 / 3.0, "first": 1, "last": 2, "seed": 1});
        let implied = implied(told.as_object().unwrap());
        assert_eq!((&implied["binary_rules"], &implied["ternary_rules"]), (&json!(2.0), &json!(12.0)));
        assert_eq!((&implied["p_binary"], &implied["points"]), (&json!(0.5), &json!(12)));
        assert!(!implied.contains_key("vocab") && !implied.contains_key("binary_fraction"));
    }

    #[test]
    fn parameters_at_their_defaults_do_not_change_the_identity() {
        let mut late = 0;
        for measure in descriptions() {
            let cell = small(measure.name);
            for parameter in &measure.parameters {
                let name = parameter.name;
                match &parameter.default {
                    Default::Fixed(value) => {
                        let told = changed(measure.name, json!({name: value})).unwrap();
                        assert_eq!(told, changed(measure.name, json!({name: null})).unwrap(), "{name}");
                        assert_eq!(told.parameters()[name], *value);
                    }
                    Default::Late(value) => {
                        late += 1;
                        assert_eq!(changed(measure.name, json!({name: value})).unwrap().identity(), cell.identity());
                        let other = match value {
                            Value::Bool(truth) => (!truth).into(),
                            Value::Number(number) => (number.as_f64().unwrap() + 0.25).into(),
                            _ => Value::from("gpu"),
                        };
                        let other = changed(measure.name, json!({name: other})).unwrap();
                        assert_ne!(other.identity(), cell.identity(), "{name}");
                        assert!(other.parameters().contains_key(name));
                    }
                    Default::Required => {
                        let error = refusal(measure.name, json!({name: null}));
                        assert!(
                            error.starts_with(&format!(
                                "{name} is missing: measure {} needs vocab, depth, ",
                                measure.name
                            )),
                            "{error}"
                        );
                    }
                    Default::Optional(_) => {}
                }
            }
        }
        assert!(late >= 7 * 3 + 2 * 2, "{late}");
        // Optional ones that say what is so anyway.
        let transformer = json!({"model": "transformer", "width": 32});
        let mut told = transformer.clone();
        told.as_object_mut().unwrap().extend(
            json!({"heads": 16, "layers": 2, "mlp": 128, "optimizer": "adam", "learning_rate": 5e-4})
                .as_object()
                .unwrap()
                .clone(),
        );
        assert_eq!(changed("train", told.clone()).unwrap(), changed("train", transformer).unwrap());
        told["heads"] = 8.into();
        assert_eq!(changed("train", told).unwrap().parameters()["heads"], 8);
        let told = json!({"normalization": "fan-in", "optimizer": "sgd", "learning_rate": 8});
        assert_eq!(changed("train", told).unwrap(), small("train"));
        let told =
            json!({"gamma_binary": 0.85, "gamma_ternary": 1.5, "alignment": "inner-product", "told_p_binary": 0.5});
        assert_eq!(changed("learn", told).unwrap(), small("learn"));
        let told = json!({"mode": "em", "starts": 3, "rounds": 50});
        assert_eq!(changed("learn", told).unwrap(), changed("learn", json!({"mode": "em"})).unwrap());
    }

    #[test]
    fn parameters_that_do_not_go_together_are_refused() {
        let counts = json!({"fraction": null, "binary_rules": 2, "ternary_rules": 3});
        for &name in NAMES.iter() {
            let error = refusal(name, json!({"colour": 1}));
            assert!(
                error.starts_with(&format!("colour is no parameter of {name}, expected one of vocab, depth")),
                "{error}"
            );
            assert_eq!(refusal(name, json!({"vocab": 2.5})), "vocab is 2.5, expected a whole number");
            assert_eq!(refusal(name, json!({"zipf": "much"})), "zipf is \"much\", expected a number");
            assert_eq!(refusal(name, json!({"non_overlapping": 1})), "non_overlapping is 1, expected true or false");
            assert!(refusal(name, json!({"fraction": null})).starts_with("fraction is missing"));
            assert!(
                refusal(name, json!({"binary_rules": 2, "ternary_rules": 3})).starts_with("expected either fraction")
            );
            assert!(
                refusal(name, json!({"fraction": null, "binary_rules": 2})).starts_with("expected either fraction")
            );
            let counted = changed(name, counts.clone()).unwrap().parameters();
            assert!(!counted.contains_key("fraction") && counted["binary_rules"] == 2, "{name}");
        }
        assert_eq!(refusal("train", json!({"model": "rnn"})), "model is \"rnn\", expected cnn, inn or transformer");
        for name in ["train", "probe"] {
            assert_eq!(
                refusal(name, json!({"heads": 16})),
                "heads has no effect here: it belongs to model transformer"
            );
            assert!(refusal(name, json!({"optimizer": "adam"})).starts_with("learning_rate is missing"));
        }
        assert_eq!(refusal("learn", json!({"starts": 3})), "starts has no effect here: it belongs to mode em");
        assert_eq!(
            refusal("learn", json!({"mode": "em", "told_p_binary": 0.5})),
            "told_p_binary has no effect here: it belongs to mode exact and paper"
        );
    }

    #[test]
    fn every_parameter_has_an_effect() {
        let run = |name: &str, values: Value| changed(name, values).unwrap().run(&()).unwrap();
        for &name in NAMES.iter() {
            let own = small(name).run(&()).unwrap();
            let counts = json!({"fraction": null, "binary_rules": 1, "ternary_rules": 3});
            let fractions = json!({"fraction": null, "binary_fraction": 0.25, "ternary_fraction": 0.5});
            for values in [
                counts,
                fractions,
                json!({"p_binary": 0.25}),
                json!({"zipf": 1}),
                json!({"non_overlapping": true, "fraction": 0.25}),
            ] {
                assert_ne!(run(name, values.clone()), own, "{name} {values}");
            }
        }
        let trained = |values: Value| run("train", values)["test_loss"].as_f64().unwrap();
        for (with, values) in [
            (
                json!({"samples": 2000, "width": 32}),
                vec![
                    json!({"learning_rate": 1}),
                    json!({"normalization": "width"}),
                    json!({"optimizer": "adam", "learning_rate": 0.1}),
                ],
            ),
            (
                json!({"model": "transformer", "samples": 2000, "width": 16}),
                vec![
                    json!({"layers": 1}),
                    json!({"heads": 4}),
                    json!({"mlp": 8}),
                    json!({"optimizer": "sgd", "learning_rate": 0.1}),
                ],
            ),
        ] {
            let own = trained(with.clone());
            for value in values {
                let mut all = with.as_object().unwrap().clone();
                all.extend(value.as_object().unwrap().clone());
                assert_ne!(trained(all.into()), own, "{value}");
            }
        }
        let steps = |values: Value| run("train", values)["steps"].as_u64().unwrap();
        let patient =
            |patience: f64| steps(json!({"patience": patience, "min_steps": 1, "max_steps": 5000, "samples": 5000}));
        assert!(patient(1.1) < patient(3.0));
        let learned = |values: Value| run("learn", values);
        for (with, values) in [
            (json!({}), vec![json!({"gamma_binary": 0.5}), json!({"gamma_ternary": 0.7})]),
            (json!({"mode": "em", "rounds": 3}), vec![json!({"starts": 20}), json!({"rounds": 1})]),
        ] {
            let own = learned(with.clone());
            for value in values {
                let mut all = with.as_object().unwrap().clone();
                all.extend(value.as_object().unwrap().clone());
                assert_ne!(learned(all.into()), own, "{value}");
            }
        }
        #[cfg(not(feature = "gpu"))]
        assert!(
            changed("train", json!({"device": "gpu"}))
                .unwrap()
                .run(&())
                .unwrap_err()
                .to_string()
                .contains("--features gpu")
        );
    }

    /// What a cell measures must not change without a new version: stored results would be wrong.
    #[test]
    fn results_belong_to_their_version() {
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for frozen in FROZEN {
            let (name, ..) = frozen;
            let cell = small(name);
            let [one, many] = [1, 3].map(|threads| pool(threads).install(|| cell.run(&()).unwrap()));
            assert_eq!(one, many, "{name}: the number of threads");
            let (name, identity, place, expected, tolerance) = frozen;
            assert_eq!(cell.identity(), identity, "{name}");
            let found = Value::Object(one).pointer(place).and_then(Value::as_f64).unwrap();
            assert!((found - expected).abs() <= tolerance, "{name}: {found}, not {expected}");
        }
    }

    /// Measure, identity of the cell, a place in its result, what stands there, and how much processors may differ.
    const FROZEN: [(&str, &str, &str, f64, f64); 7] = [
        ("entropy", "d761ff9400511aeb6524e10e59dcaddd", "/entropy", 0.5290328889286465, 1e-12),
        ("learn", "a092734e4a1ec2c52cb657e760cefbb0", "/accuracy", 0.04, 1e-12),
        ("purity", "0248c6e900687e83233c92831a2a6e9f", "/ternary", 0.46875, 1e-12),
        ("snr", "b2b60ef3b11b34ab6ac8869ebe89d1a1", "/signal", 0.021134793603456898, 1e-12),
        ("train", "934dbfd26fe8a6b8090ea7f68ee1766b", "/test_loss", 1.3889660635126133, 1e-3),
        ("probe", "0b39fc6fe499f6685ab294cd6361d37e", "/accuracy/0/0", 0.328, 0.02),
        ("vectors", "31327261e7198e5a55f8f667d7a7b4f5", "/pairs/explained", 0.9022461923188033, 1e-9),
    ];
}
