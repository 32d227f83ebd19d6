//! Ctrl-C, heard between two steps: a submission is never cut in two.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Whether the program was interrupted or terminated.
pub struct Interrupt {
    signals: Receiver<()>,
    // Without any sender there would be nothing to wait for.
    _sender: Sender<()>,
}

impl Interrupt {
    /// From now on a signal does not end the program.
    pub fn listen() -> Self {
        let (sender, signals) = channel();
        let own = sender.clone();
        // Without a handler a signal ends the program at once, which leaves the array running all the same.
        let _ = ctrlc::set_handler(move || {
            let _ = own.send(());
        });
        Interrupt { signals, _sender: sender }
    }

    /// Waits for a signal, so long at most, and says whether there was one.
    pub fn within(&self, time: Duration) -> bool {
        self.signals.recv_timeout(time).is_ok()
    }
}
