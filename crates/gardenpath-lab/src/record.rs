//! The results of cells, as figures and fits read them.

use crate::fit;
use serde_json::{Map, Value};

/// One finished cell: what was asked, and what came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The parameters of the cell, `measure` among them.
    pub parameters: Map<String, Value>,
    /// What was measured.
    pub result: Map<String, Value>,
}

impl Record {
    /// A number among the results or the parameters, or NaN if there is none of this name.
    pub fn number(&self, name: &str) -> f64 {
        self.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN)
    }

    /// A text among the results or the parameters, or an empty one.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A list of numbers among the results; what is not a number becomes NaN.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        let list = self.get(name).and_then(Value::as_array);
        list.into_iter().flatten().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect()
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.result.get(name).or_else(|| self.parameters.get(name))
    }
}

/// For each value of something, increasing, the results of all seeds.
pub type Curve = Vec<(f64, Vec<f64>)>;

/// The finished cells of some experiments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// In the order of the experiments and their cells.
    pub all: Vec<Record>,
}

impl Records {
    /// Those with this value of a numeric parameter.
    pub fn with(&self, name: &str, value: f64) -> Records {
        self.filter(|record| record.number(name) == value)
    }

    /// Those with this value of a textual parameter.
    pub fn with_text(&self, name: &str, value: &str) -> Records {
        self.filter(|record| record.text(name) == value)
    }

    /// Those for which a condition holds.
    pub fn filter(&self, condition: impl Fn(&Record) -> bool) -> Records {
        Records { all: self.all.iter().filter(|record| condition(record)).cloned().collect() }
    }

    /// All values of a number, increasing and without repetition.
    pub fn values(&self, name: &str) -> Vec<f64> {
        let mut values: Vec<f64> = self.all.iter().map(|record| record.number(name)).filter(|x| !x.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// The curve of `y` against `x` of each seed, by increasing seeds.
    pub fn curves(&self, x: &str, y: &str) -> Vec<fit::Curve> {
        let of_seed = |seed: f64| {
            let here = self.all.iter().filter(|record| record.number("seed") == seed);
            fit::Curve::new(here.map(|record| (record.number(x), record.number(y))))
        };
        self.values("seed").into_iter().map(of_seed).collect()
    }

    /// For each value of `x`, increasing, the values of `y` of all records that have it: one for each seed.
    pub fn curve(&self, x: &str, y: &str) -> Curve {
        let of_x = |value: f64| {
            let here = self.all.iter().filter(|record| record.number(x) == value);
            (value, here.map(|record| record.number(y)).filter(|y| !y.is_nan()).collect())
        };
        self.values(x).into_iter().map(of_x).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(parameters: Value, result: Value) -> Record {
        let object = |value: Value| value.as_object().cloned().unwrap_or_default();
        Record { parameters: object(parameters), result: object(result) }
    }

    #[test]
    fn curves_have_one_value_for_each_seed() {
        let of = |samples: u64, seed: u64, loss: f64| {
            record(json!({"samples": samples, "seed": seed, "model": "cnn"}), json!({"loss": loss, "list": [1, null]}))
        };
        let records = Records { all: vec![of(64, 1, 0.5), of(16, 1, 0.9), of(64, 2, 0.7)] };
        assert_eq!(records.curve("samples", "loss"), [(16.0, vec![0.9]), (64.0, vec![0.5, 0.7])]);
        let curves = records.curves("samples", "loss");
        assert_eq!(
            curves.iter().map(fit::Curve::points).collect::<Vec<_>>(),
            [&[(16.0, 0.9), (64.0, 0.5)][..], &[(64.0, 0.7)]]
        );
        assert_eq!(records.with("seed", 2.0).all.len(), 1);
        assert_eq!(records.with_text("model", "inn").all.len(), 0);
        assert!(records.all[0].numbers("list")[1].is_nan());
        assert!(records.all[0].number("nothing").is_nan());
    }
}
