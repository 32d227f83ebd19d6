//! The status line of a training run.

use crate::progress;
use gardenpath_lab::draw::table::{grouped, short};
use gardenpath_nn::Network;
use gardenpath_nn::train::{Event, Progress};
use indicatif::{HumanDuration, ProgressBar};
use std::time::{Duration, Instant};

/// A terminal line with losses relative to guessing, the floor, and the time left.
pub struct StatusLine {
    spinner: ProgressBar,
    guessing: f64,
    floor: Option<f64>,
    /// A running mean of the batch losses.
    train: Option<f64>,
    began: Instant,
    first_step: Option<u64>,
    shown: Instant,
}

/// The weight of a new batch in the running mean, which averages over about 50 batches.
const RECENT: f64 = 0.02;

/// The time between updates of the line.
const INTERVAL: Duration = Duration::from_millis(100);

impl StatusLine {
    /// A line for a network whose test set has this Bayes loss, if known.
    pub fn new(network: &Network, bayes_loss: Option<f64>) -> Self {
        let guessing = network.guessing_loss();
        let spinner = progress::line(&format!("training {}", network.architecture.name()));
        let now = Instant::now();
        StatusLine { spinner, guessing, floor: bayes_loss, train: None, began: now, first_step: None, shown: now }
    }

    /// Updates the line.
    pub fn show(&mut self, event: &Event, progress: &Progress, last_step: u64) {
        match *event {
            Event::Step(loss) => self.train = Some(self.train.map_or(loss, |mean| mean + RECENT * (loss - mean))),
            Event::Ended(_) => return self.spinner.finish_and_clear(),
            Event::Measured { .. } => {}
        }
        if self.shown.elapsed() >= INTERVAL || matches!(event, Event::Measured { .. }) {
            self.shown = Instant::now();
            let text = self.text(progress, last_step);
            self.spinner.set_message(text);
        }
    }

    fn text(&mut self, progress: &Progress, last_step: u64) -> String {
        let relative = |loss: f64| short(loss / self.guessing);
        let test = progress.records.last().map_or("–".into(), |record| relative(record.test_loss));
        let best = progress.best().map_or("–".into(), |record| relative(record.test_loss));
        let train = self.train.map_or("–".into(), relative);
        let first = *self.first_step.get_or_insert(progress.step);
        let pace = self.began.elapsed().as_secs_f64() / (progress.step - first).max(1) as f64;
        let seconds = pace * last_step.saturating_sub(progress.step) as f64;
        let left = HumanDuration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
        let pieces: Vec<String> = [
            Some(format!("step {}", grouped(progress.step))),
            Some(format!("test {test}")),
            self.floor.map(|floor| format!("Bayes {}", relative(floor))),
            Some(format!("{left:#} left")),
            Some(format!("best {best}")),
            Some(format!("train {train}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        fitting(&pieces, progress::columns().saturating_sub(BESIDES))
    }
}

/// Columns needed by the spinner and the elapsed time.
const BESIDES: usize = 10;

/// Joins as many pieces as fit into the width, starting with the first.
fn fitting(pieces: &[String], width: usize) -> String {
    let mut line = String::new();
    for piece in pieces {
        let more = if line.is_empty() { piece.clone() } else { format!("{line} · {piece}") };
        if !line.is_empty() && more.chars().count() > width {
            break;
        }
        line = more;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::Shape;
    use gardenpath_nn::Architecture;

    #[test]
    fn narrow_lines_keep_what_matters() {
        let pieces = ["step 100,000", "test 0.1234", "Bayes 0.1234", "12m left", "best 0.1234"].map(String::from);
        assert_eq!(fitting(&pieces, 50), "step 100,000 · test 0.1234 · Bayes 0.1234");
        assert_eq!(fitting(&pieces, 52), "step 100,000 · test 0.1234 · Bayes 0.1234 · 12m left");
        assert_eq!(fitting(&pieces, 5), "step 100,000");
    }

    #[test]
    fn no_number_of_steps_is_too_large() {
        let network = Network::new(4, 4, Shape::mixed(2), 8, Architecture::cnn()).unwrap();
        let mut line = StatusLine::new(&network, Some(0.5));
        // A pace of over 100 seconds per step for 2^64 steps exceeds the range of a duration.
        line.began = line.began.checked_sub(Duration::from_secs(100)).unwrap();
        let text = line.text(&Progress::default(), u64::MAX);
        assert!(text.starts_with("step 0") && text.contains("left") && text.contains("Bayes"), "{text}");
        let text = StatusLine::new(&network, None).text(&Progress::default(), 10);
        assert!(text.starts_with("step 0") && !text.contains("Bayes"), "{text}");
    }
}
