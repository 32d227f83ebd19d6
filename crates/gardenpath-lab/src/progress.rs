//! Progress on standard error: bars on a terminal, nothing elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// A bar for a job of `total` steps with the time left.
pub fn bar(total: u64, what: &str) -> ProgressBar {
    styled(ProgressBar::new(total), what, "{msg} {bar:30} {human_pos}/{human_len}, {eta} left")
}

/// A sign of life for a job of unknown length, with what was done so far.
pub fn spinner(what: &str) -> ProgressBar {
    let spinner = styled(ProgressBar::new_spinner(), what, "{spinner} {msg} {human_pos} in {elapsed}");
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// A line that says what it is told, with the time since the beginning.
pub fn line(what: &str) -> ProgressBar {
    let line = styled(ProgressBar::new_spinner(), what, "{spinner} {wide_msg} {elapsed}");
    line.enable_steady_tick(Duration::from_millis(100));
    line
}

fn styled(bar: ProgressBar, what: &str, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("templates are valid").progress_chars("━━─");
    bar.with_message(what.to_owned()).with_style(style)
}

/// The same bar for a job that prints results meanwhile: it would tear them apart if both are on one terminal.
pub fn beside_results(bar: ProgressBar) -> ProgressBar {
    if io::stdout().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

/// A remark on standard error. That it cannot be written is no reason to stop.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
