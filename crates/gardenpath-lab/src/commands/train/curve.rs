//! The learning curve of a run: in the terminal, and as a picture.

use crate::draw::plot::{Plot, Series};
use crate::figure::{self, Axis, Chart, Dash, Figure, Guide, Look, Point};
use crate::files::run::RunDirectory;
use crate::training::Data;
use anyhow::Result;
use gardenpath_nn::Network;
use gardenpath_nn::train::Record;

/// A loss in units of guessing against the steps, from the first step on.
fn curve(records: &[Record], network: &Network, loss: fn(&Record) -> f64) -> impl Iterator<Item = (f64, f64)> {
    let guessing = network.guessing_loss();
    let later = records.iter().filter(|record| record.step > 0);
    later.map(move |record| (record.step as f64, loss(record) / guessing))
}

/// The curve in characters: losses in units of guessing against the logarithm of the steps.
pub fn in_terminal(records: &[Record], network: &Network, data: &Data) -> String {
    let points = |loss| curve(records, network, loss).map(|(step, loss)| (step.log10(), loss)).collect::<Vec<_>>();
    let test = points(|record| record.test_loss);
    let floor = data.bayes_loss().map(|loss| {
        let points = test.iter().map(|&(x, _)| (x, loss / network.guessing_loss())).collect();
        Series { name: "Bayes".into(), points }
    });
    let mut series = vec![
        Series { name: "test".into(), points: test },
        Series { name: "train".into(), points: points(|record| record.train_loss) },
    ];
    series.extend(floor);
    Plot { x_label: "log10 steps".into(), y_label: "loss / ln classes".into(), series }.draw()
}

/// The scale of the PNG: for screens with fine dots, and for papers.
const PNG_SCALE: f64 = 3.0;

/// Keeps the picture of the curve in the directory of the run, as `curve.svg` and `curve.png`.
pub fn save(directory: &RunDirectory, title: &str, records: &[Record], network: &Network, data: &Data) -> Result<()> {
    let figure = figure(title, records, network, data);
    directory.write("curve.svg", figure.svg().as_bytes())?;
    directory.write("curve.png", &figure.png(PNG_SCALE)?)
}

fn figure(title: &str, records: &[Record], network: &Network, data: &Data) -> Figure {
    let points = |loss| curve(records, network, loss).map(Point::from).collect::<Vec<_>>();
    let series = vec![
        figure::Series::new("test", points(|record| record.test_loss)),
        figure::Series::new("train", points(|record| record.train_loss)).look(Look::curve(Dash::Dashed)),
    ];
    let mut chart = Chart::new(Axis::log("steps"), Axis::linear("loss / ln *v*"), series);
    chart.title = Some(title.to_owned());
    chart.guides.extend(data.bayes_loss().map(|loss| Guide::horizontal(loss / network.guessing_loss(), "Bayes")));
    Figure::of(chart)
}
