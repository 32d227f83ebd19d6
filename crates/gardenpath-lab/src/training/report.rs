//! The result of a run as it is printed and stored, and its learning curve.

use super::run_directory::RunDirectory;
use super::{Outcome, Recipe};
use crate::draw::table::grouped;
use anyhow::Result;
use gardenpath_nn::Network;
use gardenpath_nn::train::Record;
use gardenpath_plot::{Axis, Chart, Dash, Figure, Guide, Look, Point, Series};
use serde::Serialize;

/// The final result.
#[derive(Serialize)]
pub struct Report<'a, F> {
    /// All settings.
    #[serde(flatten)]
    pub recipe: &'a Recipe,
    /// The number of tokens.
    pub vocab: usize,
    /// The depth of the trees.
    pub depth: usize,
    /// The fraction of all tuples; `null` for a grammar from a file, or if rules were given in another way.
    pub fraction: Option<f64>,
    /// The effective fractions after rounding; `null` for a grammar from a file.
    pub effective_fractions: Option<F>,
    /// The number of weights.
    pub weights: usize,
    /// The device.
    pub device: &'static str,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The time taken by this process.
    pub seconds: f64,
}

impl<F: Serialize> Report<'_, F> {
    /// Stores the result of a finished run, and its learning curve as `curve.svg` and `curve.png`.
    pub fn save(&self, directory: &RunDirectory, records: &[Record], network: &Network) -> Result<()> {
        let figure = self.figure(records, network);
        directory.write("curve.svg", figure.svg().as_bytes())?;
        directory.write("curve.png", &figure.png(PNG_SCALE)?)?;
        directory.save_result(self)
    }

    fn figure(&self, records: &[Record], network: &Network) -> Figure {
        let Report { vocab, depth, recipe, .. } = self;
        figure(&title(*vocab, *depth, recipe), records, network.guessing_loss(), self.outcome.bayes_loss)
    }
}

/// For high-resolution screens and print.
const PNG_SCALE: f64 = 3.0;

/// A short description of a run.
pub fn title(vocab: usize, depth: usize, recipe: &Recipe) -> String {
    let (model, samples, width) = (recipe.architecture.name(), grouped(recipe.samples), recipe.width);
    format!("{model}, v = {vocab}, L = {depth}, P = {samples}, H = {width}")
}

/// A loss relative to guessing against the steps, from step 1.
pub fn curve(records: &[Record], guessing: f64, loss: fn(&Record) -> f64) -> impl Iterator<Item = (f64, f64)> {
    let later = records.iter().filter(|record| record.step > 0);
    later.map(move |record| (record.step as f64, loss(record) / guessing))
}

/// The learning curve as a figure.
pub fn figure(title: &str, records: &[Record], guessing: f64, bayes_loss: Option<f64>) -> Figure {
    let points = |loss| curve(records, guessing, loss).map(Point::from).collect::<Vec<_>>();
    let series = vec![
        Series::new("test", points(|record| record.test_loss)),
        Series::new("train", points(|record| record.train_loss)).look(Look::curve(Dash::Dashed)),
    ];
    let mut chart = Chart::new(Axis::log("steps"), Axis::linear("loss / ln *v*"), series);
    chart.title = Some(title.to_owned());
    chart.guides.extend(bayes_loss.map(|loss| Guide::horizontal(loss / guessing, "Bayes")));
    Figure::of(chart)
}
