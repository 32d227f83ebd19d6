//! Progress on standard error: bars on a terminal, nothing elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// A bar for a job of `total` steps with its rate and the time left. It draws itself only if standard error is a terminal.
pub fn bar(total: u64, what: &str) -> ProgressBar {
    let template = "{msg} {bar:30} {human_pos}/{human_len} ({per_sec}, {eta} left)";
    let bar = ProgressBar::new(total).with_message(what.to_owned());
    bar.set_style(ProgressStyle::with_template(template).expect("the template is valid").progress_chars("━━─"));
    bar
}

/// A sign of life for a job of unknown length.
pub fn spinner(what: &str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
    spinner.set_style(ProgressStyle::with_template("{spinner} {msg} {human_pos} ({elapsed})").expect("the template is valid"));
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// A remark on standard error. That it cannot be written is no reason to stop.
pub fn note(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}
