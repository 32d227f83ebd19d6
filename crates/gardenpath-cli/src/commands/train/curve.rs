//! The learning curve of a run, drawn in the terminal.

use crate::terminal::plot::{Plot, Series};
use gardenpath_lab::training::Data;
use gardenpath_lab::training::report::curve;
use gardenpath_nn::Network;
use gardenpath_nn::train::Record;

/// The curve in characters: losses relative to guessing, against log steps.
pub fn in_terminal(records: &[Record], network: &Network, data: &Data) -> String {
    let guessing = network.guessing_loss();
    let points = |loss| curve(records, guessing, loss).map(|(step, loss)| (step.log10(), loss)).collect::<Vec<_>>();
    let test = points(|record| record.test_loss);
    let floor = data.bayes_loss().map(|loss| {
        let points = test.iter().map(|&(x, _)| (x, loss / guessing)).collect();
        Series { name: "Bayes".into(), points }
    });
    let mut series = vec![
        Series { name: "test".into(), points: test },
        Series { name: "train".into(), points: points(|record| record.train_loss) },
    ];
    series.extend(floor);
    let choices = if network.task.is_root() { "classes" } else { "vocab" };
    Plot { x_label: "log10 steps".into(), y_label: format!("loss / ln {choices}"), series }.draw()
}
