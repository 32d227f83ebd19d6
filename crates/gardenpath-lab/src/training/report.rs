//! What a run has come to, as it is printed and kept, and its learning curve.

use super::run_directory::RunDirectory;
use super::{Outcome, Recipe};
use crate::draw::table::grouped;
use anyhow::Result;
use gardenpath_nn::Network;
use gardenpath_nn::train::Record;
use gardenpath_plot::{Axis, Chart, Dash, Figure, Guide, Look, Point, Series};
use serde::Serialize;

/// What is printed and kept in the end.
#[derive(Serialize)]
pub struct Report<'a, F> {
    /// All choices.
    #[serde(flatten)]
    pub recipe: &'a Recipe,
    /// The number of tokens.
    pub vocab: usize,
    /// The number of layers of the trees.
    pub depth: usize,
    /// Of all tuples; `null` for a grammar from a file, and if rules were asked for in another way.
    pub fraction: Option<f64>,
    /// What whole numbers of rules amount to; `null` for a grammar from a file.
    pub effective_fractions: Option<F>,
    /// The number of weights.
    pub weights: usize,
    /// Where it was computed.
    pub device: &'static str,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Of this run of the program.
    pub seconds: f64,
}

impl<F: Serialize> Report<'_, F> {
    /// Keeps the result of a run that has ended, and the picture of its curve as `curve.svg` and `curve.png`.
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

/// The scale of the PNG: for screens with fine dots, and for papers.
const PNG_SCALE: f64 = 3.0;

/// A run in a few words.
pub fn title(vocab: usize, depth: usize, recipe: &Recipe) -> String {
    let (model, samples, width) = (recipe.architecture.name(), grouped(recipe.samples), recipe.width);
    format!("{model}, v = {vocab}, L = {depth}, P = {samples}, H = {width}")
}

/// A loss in units of guessing against the steps, from the first step on.
pub fn curve(records: &[Record], guessing: f64, loss: fn(&Record) -> f64) -> impl Iterator<Item = (f64, f64)> {
    let later = records.iter().filter(|record| record.step > 0);
    later.map(move |record| (record.step as f64, loss(record) / guessing))
}

/// The learning curve as a picture.
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
