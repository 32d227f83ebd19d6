//! Quantities that depend on the length, as tables, plots and JSON.

use super::arities::{adjective, fields, object};
use super::{Curve, Lengths, Shapes};
use crate::commands::Answer;
use crate::progress;
use crate::terminal::plot::{Plot, Series};
use anyhow::Result;
use gardenpath::Arities;
use gardenpath::theory::candidates::{critical_fraction, mean_candidates};
use gardenpath::theory::fraction::{grammatical_fraction, paper_grammatical_fraction};
use gardenpath::theory::lengths::{length_distribution, typical_length};
use gardenpath::theory::splits::{median_splits, splits as count_splits};
use gardenpath::theory::trees::tree_count;
use gardenpath::theory::{ByLength, Magnitude};
use gardenpath_lab::draw::table::{Table, short};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

/// A real value at one length. Values of deep grammars can exceed the range of `f64`; their logarithms do not.
#[derive(Serialize)]
struct Value {
    len: usize,
    value: f64,
    ln_value: f64,
}

/// The probabilities of the lengths.
pub fn lengths(arguments: &Lengths, answer: &mut Answer) -> Result<()> {
    #[derive(Serialize)]
    struct Document {
        depth: usize,
        #[serde(flatten)]
        law: Map<String, Json>,
        mean: f64,
        std: f64,
        values: Vec<Value>,
    }
    let Lengths { depth, branching } = *arguments;
    let law = length_distribution(depth, branching.probabilities()?)?;
    let (mean, std) = (law.mean(), law.variance().sqrt());
    if answer.json {
        let value = |(len, value)| Value { len, value, ln_value: law.ln_probability(len) };
        let values = law.iter().map(value).collect();
        return answer.json_line(&Document { depth, law: branching.law()?, mean, std, values });
    }
    answer.text(&format!("mean length {}, standard deviation {}\n\n", short(mean), short(std)))?;
    let rows = law.iter().map(|(len, value)| [len.to_string(), short(value)]);
    answer.text(&table(["length", "probability"], rows))?;
    let points = law.iter().map(|(len, value)| (len as f64, value)).collect();
    answer.text(&curve("probability of the length", vec![("lengths", points)]))
}

/// The exact numbers of trees.
pub fn trees(arguments: &Shapes, answer: &mut Answer) -> Result<()> {
    #[derive(Serialize)]
    struct Exact {
        len: usize,
        value: String,
    }
    #[derive(Serialize)]
    struct Document {
        depth: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        arities: Option<Vec<usize>>,
        values: Vec<Exact>,
    }
    let Shapes { depth, arities } = *arguments;
    let counts = tree_count(depth, arities.unwrap_or(Arities::PAPER))?;
    if answer.json {
        let values = counts.iter().map(|(len, count)| Exact { len, value: count.to_string() }).collect();
        return answer.json_line(&Document { depth, arities: arities.map(|own| own.iter().collect()), values });
    }
    let rows = counts.iter().map(|(len, count)| {
        let short = count.bits() <= 64;
        [len.to_string(), if short { count.to_string() } else { power_of_ten(Magnitude::from(count)) }]
    });
    answer.text(&table(["length", "trees"], rows))?;
    let points = counts.iter().map(|(len, count)| (len as f64, Magnitude::from(count).log10())).collect();
    answer.text(&curve("log10 of the number of trees", vec![("trees", points)]))
}

/// The fraction of grammatical strings, as printed in the paper and corrected.
pub fn fraction(arguments: &Curve, answer: &mut Answer) -> Result<()> {
    #[derive(Serialize)]
    struct Both {
        len: usize,
        value: f64,
        corrected: f64,
        ln_value: f64,
        ln_corrected: f64,
    }
    #[derive(Serialize)]
    struct Document {
        depth: usize,
        #[serde(flatten)]
        fractions: Map<String, Json>,
        #[serde(flatten)]
        law: Map<String, Json>,
        values: Vec<Both>,
    }
    let Lengths { depth, branching } = arguments.lengths;
    let (fractions, probabilities) = (arguments.fractions(), branching.probabilities()?);
    let paper = paper_grammatical_fraction(depth, fractions, probabilities)?;
    let corrected = grammatical_fraction(depth, fractions, probabilities)?;
    if answer.json {
        let both = |(len, paper): (usize, &Magnitude)| Both {
            len,
            value: paper.value(),
            corrected: corrected.value(len),
            ln_value: paper.ln(),
            ln_corrected: corrected.ln(len),
        };
        let values = paper.iter().map(both).collect();
        let fractions = branching.named(FRACTIONS, "fractions", fractions)?;
        return answer.json_line(&Document { depth, fractions, law: branching.law()?, values });
    }
    let rows = paper.iter().zip(corrected.iter());
    let rows = rows.map(|((len, paper), (_, corrected))| [len.to_string(), magnitude(*paper), magnitude(*corrected)]);
    answer.text(&table(["length", "paper", "corrected"], rows))?;
    let series = vec![("paper", log_points(&paper)), ("corrected", log_points(&corrected))];
    answer.text(&curve("log10 of the grammatical fraction", series))
}

/// The parser's candidates, and the fraction at which they neither die out nor explode.
pub fn candidates(arguments: &Curve, answer: &mut Answer) -> Result<()> {
    #[derive(Serialize)]
    struct Document {
        depth: usize,
        #[serde(flatten)]
        fractions: Map<String, Json>,
        #[serde(flatten)]
        law: Map<String, Json>,
        critical_fraction: f64,
        typical_length: usize,
        values: Vec<Value>,
    }
    let Lengths { depth, branching } = arguments.lengths;
    let (fractions, probabilities) = (arguments.fractions(), branching.probabilities()?);
    let typical_length = typical_length(depth, probabilities)?;
    let mean = mean_candidates(depth, probabilities.arities(), fractions)?;
    let spinner = progress::spinner("searching for the critical fraction");
    let critical_fraction = critical_fraction(depth, probabilities)?;
    spinner.finish_and_clear();
    if answer.json {
        let values =
            mean.iter().map(|(len, value)| Value { len, value: value.value(), ln_value: value.ln() }).collect();
        return answer.json_line(&Document {
            depth,
            fractions: branching.named(FRACTIONS, "fractions", fractions)?,
            law: branching.law()?,
            critical_fraction,
            typical_length,
            values,
        });
    }
    let at_typical = mean.get(typical_length).copied().map_or("0".to_owned(), magnitude);
    answer.text(&format!("critical fraction {critical_fraction:.6} at depth {depth}\n"))?;
    answer.text(&format!("{at_typical} candidates at the typical length {typical_length}\n\n"))?;
    let rows = mean.iter().map(|(len, value)| [len.to_string(), magnitude(*value)]);
    answer.text(&table(["length", "candidates"], rows))?;
    answer.text(&curve("log10 of the number of candidates", vec![("candidates", log_points(&mean))]))
}

/// The numbers of splits of the root's span.
pub fn splits(arguments: &Shapes, answer: &mut Answer) -> Result<()> {
    #[derive(Serialize)]
    struct Splits {
        len: usize,
        #[serde(flatten)]
        numbers: Map<String, Json>,
    }
    #[derive(Serialize)]
    struct Document {
        depth: usize,
        median: Map<String, Json>,
        values: Vec<Splits>,
    }
    let depth = arguments.depth;
    let arities = arguments.arities.unwrap_or(Arities::PAPER);
    let median = median_splits(depth, arities)?;
    let counts = count_splits(depth, arities)?;
    if answer.json {
        let numbers = |number: &dyn Fn(usize) -> Json| match arguments.arities {
            None => fields(json!({"binary": number(2), "ternary": number(3)})),
            Some(arities) => fields(json!({"by_arity": object(arities, number)})),
        };
        let whole = |number: u128| u64::try_from(number).map_or(json!(number as f64), |number| json!(number));
        let values = counts.iter().map(|(len, own)| Splits { len, numbers: numbers(&|arity| whole(own[arity])) });
        let median = numbers(&|arity| json!(median[arity]));
        return answer.json_line(&Document { depth, median, values: values.collect() });
    }
    let medians = arities.iter().map(|arity| format!("{} {}", short(median[arity]), adjective(arity)));
    answer.text(&format!("median: {} splits\n\n", medians.collect::<Vec<_>>().join(", ")))?;
    let headings = std::iter::once("length".to_owned()).chain(arities.iter().map(adjective));
    let rows = counts.iter().map(|(len, own)| {
        std::iter::once(len.to_string()).chain(arities.iter().map(|arity| own[arity].to_string())).collect::<Vec<_>>()
    });
    answer.text(&table(headings, rows))?;
    let names: Vec<(usize, String)> = arities.iter().map(|arity| (arity, adjective(arity))).collect();
    let points = |arity: usize| counts.iter().map(|(len, own)| (len as f64, own[arity] as f64)).collect();
    answer.text(&curve("number of splits", names.iter().map(|(arity, name)| (&**name, points(*arity))).collect()))
}

/// The names of the fractions of pairs and triples in JSON.
const FRACTIONS: [&str; 2] = ["binary_fraction", "ternary_fraction"];

/// Longer tables are thinned out.
const MAX_ROWS: usize = 24;

fn table(
    headings: impl IntoIterator<Item = impl Into<String>>,
    rows: impl ExactSizeIterator<Item = impl IntoIterator<Item = String>>,
) -> String {
    let lengths = rows.len();
    let step = lengths.div_ceil(MAX_ROWS).max(1);
    let mut table = Table::new(headings);
    rows.step_by(step).for_each(|row| table.row(row));
    if step == 1 { table.to_string() } else { format!("{table}(every {step} lengths; --json has all {lengths})\n") }
}

fn curve(y_label: &str, series: Vec<(&str, Vec<(f64, f64)>)>) -> String {
    let series = series.into_iter().map(|(name, points)| Series { name: name.to_owned(), points }).collect();
    "\n".to_owned() + &Plot { x_label: "length".into(), y_label: y_label.to_owned(), series }.draw()
}

fn log_points(values: &ByLength<Magnitude>) -> Vec<(f64, f64)> {
    values.iter().map(|(len, value)| (len as f64, value.log10())).collect()
}

fn magnitude(value: Magnitude) -> String {
    let plain = value.value();
    if plain.is_normal() || value.is_zero() { short(plain) } else { power_of_ten(value) }
}

fn power_of_ten(value: Magnitude) -> String {
    let log = value.log10();
    format!("{:.3}e{}", 10f64.powf(log - log.floor()), log.floor())
}
