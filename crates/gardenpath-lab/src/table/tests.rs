use super::*;
use arrow_schema::DataType;
use serde_json::json;

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn cell(measure: &str, values: Value) -> Measure {
    let mut all = object(json!({"vocab": 4, "depth": 2, "fraction": 0.5, "seed": 1}));
    all.extend(object(values));
    Measure::new(measure, all).unwrap()
}

#[test]
fn columns_are_those_that_measures_declare() {
    let entropy = cell("entropy", json!({}));
    let learn = cell("learn", json!({"mode": "paper", "samples": 10, "zipf": 1}));
    let results =
        [(&entropy, object(json!({"entropy": 0.25}))), (&learn, object(json!({"accuracy": 1, "converged": null})))];
    let table = Table::new(&results).unwrap();
    let value = |name: &str| [0, 1].map(|row| table.column(name).unwrap().value(row));
    assert_eq!(value("measure"), [json!("entropy"), json!("learn")]);
    assert_eq!(value("entropy"), [json!(0.25), json!(null)]);
    assert_eq!(value("accuracy"), [json!(null), json!(1.0)], "a column that a measure does not have is null there");
    assert_eq!(value("mode"), [json!(null), json!("paper")]);
    assert_eq!(value("zipf"), [json!(0.0), json!(1.0)], "what a cell leaves out is implied");
    assert_eq!(value("binary_rules"), [json!(2), json!(2)]);
    assert_eq!(value("recall"), [json!(null), json!(null)], "it is declared, even if no cell has it");
    let error = |name: &str| table.column(name).unwrap_err().to_string();
    assert!(
        error("acuracy").starts_with("unknown name acuracy; did you mean accuracy? Available: "),
        "{}",
        error("acuracy")
    );
    assert!(error("colour").starts_with("unknown name colour. Available: alignment, arities, binary_rules, "));
    let stored: Vec<&str> = table.stored().map(Column::name).collect();
    assert_eq!(
        stored,
        [
            "depth",
            "fraction",
            "measure",
            "mode",
            "samples",
            "seed",
            "sentences",
            "test",
            "vocab",
            "zipf",
            "accuracy",
            "converged",
            "entropy"
        ]
    );
    let batch = table.batch().unwrap();
    let kinds: Vec<DataType> = batch.schema().fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!(kinds[..4], [DataType::Int64, DataType::Float64, DataType::Utf8, DataType::Utf8]);
    assert_eq!(kinds[11], DataType::Boolean, "its kind does not depend on the values");
    assert_eq!((batch.num_rows(), batch.num_columns()), (2, stored.len()));
    assert!(Arc::ptr_eq(batch.column(0), table.column("depth").unwrap().array()), "nothing is copied");
}

#[test]
fn a_number_in_one_measure_and_a_list_in_another_are_lists() {
    let learn = cell("learn", json!({"mode": "paper", "samples": 10}));
    let probe = cell("probe", json!({"model": "cnn", "samples": 10, "width": 8}));
    let results = [(&learn, object(json!({"accuracy": 0.5}))), (&probe, object(json!({"accuracy": [0.5, 1]})))];
    let table = Table::new(&results).unwrap();
    let accuracy = table.column("accuracy").unwrap();
    assert_eq!(
        (accuracy.kind(), accuracy.value(0), accuracy.value(1)),
        (&Kind::Numbers, json!([0.5]), json!([0.5, 1.0]))
    );
}

#[test]
fn what_is_not_declared_has_the_kind_that_it_is_seen_to_have() {
    let cells = [cell("entropy", json!({})), cell("entropy", json!({"seed": 2}))];
    let of = |first: Value, second: Value| {
        Table::new(&[(&cells[0], object(json!({"extra": first}))), (&cells[1], object(json!({"extra": second})))])
    };
    let kind = |first: Value, second: Value| of(first, second).unwrap().column("extra").unwrap().kind().clone();
    assert_eq!(kind(json!(1), json!(2)), Kind::Whole);
    assert_eq!(kind(json!(1), json!(0.5)), Kind::Number);
    assert_eq!(kind(json!(null), json!([1])), Kind::Numbers);
    let error = |first: Value, second: Value| of(first, second).unwrap_err().to_string();
    assert_eq!(error(json!(1), json!("a")), "extra is a whole number in one cell and a string in another");
    assert_eq!(error(json!(1), json!([[1]])), "extra is [[1]], which cannot be a column");
    let wrong = Table::new(&[(&cells[0], object(json!({"entropy": "much"})))]).unwrap_err().to_string();
    assert_eq!(wrong, "entropy is \"much\", expected a number");
}

#[test]
fn a_table_of_nothing_has_no_columns_to_offer() {
    let error = Table::default().column("vocab").unwrap_err().to_string();
    assert_eq!(error, "unknown name vocab: no names are available here");
}
