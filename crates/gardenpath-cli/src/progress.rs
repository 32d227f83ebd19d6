//! Output on standard error: progress bars on a terminal, and one-line notes.

use gardenpath_lab::message::one_line;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, WeakProgressBar};
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A progress bar for `total` steps with the time left. It is shown at once, however long the first step takes.
pub fn bar(total: u64, what: &str) -> ProgressBar {
    // The rest of the line takes up to 50 columns.
    let length = columns().saturating_sub(50).clamp(4, 30);
    let template = format!("{{spinner}} {{msg}} {{bar:{length}}} {{human_pos}}/{{human_len}} in {{elapsed}}{{left}}");
    styled(ProgressBar::new(total), what, &template)
}

/// A spinner for a job of unknown length, with the elapsed time.
pub fn spinner(what: &str) -> ProgressBar {
    styled(ProgressBar::new_spinner(), what, "{spinner} {msg} {elapsed}")
}

/// A spinner that counts what was done so far, with the elapsed time.
pub fn counter(what: &str) -> ProgressBar {
    styled(ProgressBar::new_spinner(), what, "{spinner} {msg} {human_pos} in {elapsed}")
}

/// A status line, cut to the width of the terminal, with the elapsed time.
pub fn line(what: &str) -> ProgressBar {
    styled(ProgressBar::new_spinner(), what, "{spinner} {wide_msg} {elapsed}")
}

/// The width of the terminal on standard error; 80 if there is none.
pub fn columns() -> usize {
    terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| width.0.into())
}

fn styled(bar: ProgressBar, what: &str, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("templates are valid");
    let bar = bar.with_message(what.to_owned()).with_style(style.progress_chars("━━─").with_key("left", time_left));
    bar.enable_steady_tick(Duration::from_millis(100));
    *last() = Some(bar.downgrade());
    bar
}

/// The bar created last, if it still exists.
static LAST: Mutex<Option<WeakProgressBar>> = Mutex::new(None);

fn last() -> MutexGuard<'static, Option<WeakProgressBar>> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the current bar from the terminal.
pub fn clear() {
    if let Some(bar) = last().take().and_then(|bar| bar.upgrade()) {
        bar.finish_and_clear();
    }
}

/// The time left, once there is progress to estimate it from.
fn time_left(state: &ProgressState, out: &mut dyn fmt::Write) {
    if state.pos() > 0 {
        let _ = write!(out, ", {:#} left", HumanDuration(state.eta()));
    }
}

/// Hides the bar if results go to the same terminal, where it would garble them.
pub fn beside_results(bar: ProgressBar) -> ProgressBar {
    if io::stdout().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

/// Prints a one-line note to standard error. Write errors are ignored.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", one_line(text));
}
