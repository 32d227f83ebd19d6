//! The tables of `gardenpath probe`: layers from the tokens up, levels of the tree from the root down.

use gardenpath_lab::draw::table::{Table, grouped};
use gardenpath_nn::probe::ProbeReport;

/// Both measurements of a report as text.
pub fn to_text(report: &ProbeReport) -> String {
    let number = |value: &f64| format!("{value:.3}");
    let mut accuracy = table(report);
    for (layer, values) in report.layers.iter().zip(&report.accuracy) {
        accuracy.row(row(layer, values.iter().map(number)));
    }
    accuracy.row(row("chance", report.levels.iter().map(|level| number(&level.chance))));
    accuracy.row(row("bound", report.levels.iter().map(|level| number(&level.bound))));
    let left: Vec<String> = report.levels.iter().map(|level| number(&level.entropy)).collect();
    let mut sensitivity = table(report);
    for (layer, values) in report.layers.iter().zip(&report.sensitivity) {
        sensitivity.row(row(layer, values.iter().map(|value| value.as_ref().map_or("–".to_owned(), number))));
    }
    let nodes = report.levels.first().map_or(String::new(), |level| {
        format!(", fitted to {} nodes and tested on {}", grouped(level.train as u64), grouped(level.held_out as u64))
    });
    format!(
        "accuracy of linear probes{nodes}\n\n{accuracy}\nloss of exact inference: {} nats\n\n\
         sensitivity to exchanging synonyms\n\n{sensitivity}",
        left.join(", ")
    )
}

fn table(report: &ProbeReport) -> Table {
    Table::new(row("layer", report.levels.iter().map(|level| format!("level {}", level.level))))
}

fn row(name: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath_nn::probe::Level;

    #[test]
    fn both_measures_are_aligned() {
        let level = |level, chance| {
            let (bound, entropy) = (0.995, 0.0312);
            Level { level, symbols: 8, train: 4000, held_out: 2000, chance, bound, entropy }
        };
        let report = ProbeReport {
            layers: vec!["level.1".into(), "level.0".into()],
            levels: vec![level(0, 0.12), level(1, 0.2005)],
            accuracy: vec![vec![0.448, 1.0], vec![0.8214, 0.466]],
            sensitivity: vec![vec![Some(0.719), Some(0.34)], vec![None, None]],
        };
        let expected = "\
accuracy of linear probes, fitted to 4,000 nodes and tested on 2,000

  layer  level 0  level 1
───────  ───────  ───────
level.1    0.448    1.000
level.0    0.821    0.466
 chance    0.120    0.201
  bound    0.995    0.995

loss of exact inference: 0.031, 0.031 nats

sensitivity to exchanging synonyms

  layer  level 0  level 1
───────  ───────  ───────
level.1    0.719    0.340
level.0        –        –
";
        assert_eq!(to_text(&report), expected);
    }
}
