//! Ctrl-C and termination, as the program obeys them: at once and without leftovers, or between two steps.
//!
//! Only the program calls [`obey`]. As a library this crate leaves signals alone: they belong to the host, such as Python.

use crate::files::atomic;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The exit code of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Who wants to hear of signals instead of being ended by them.
static LISTENER: Mutex<Option<Sender<()>>> = Mutex::new(None);

fn listener() -> MutexGuard<'static, Option<Sender<()>>> {
    LISTENER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on a signal removes temporary files and ends the program, unless somebody [listens](Interrupt::listen). Signals
/// that whoever started the program wants to be ignored, as `nohup` does, remain ignored.
pub fn obey() {
    let ignored = disposition::ignored();
    let handle = || match &*listener() {
        Some(listener) => {
            let _ = listener.send(());
        }
        None => {
            atomic::remove_temporary();
            std::process::exit(INTERRUPTED);
        }
    };
    // Without a handler signals end the program too, and leave temporary files, which is no reason not to begin.
    let _ = ctrlc::set_handler(handle);
    disposition::ignore(&ignored);
}

/// Whether the program was interrupted or terminated.
pub struct Interrupt {
    signals: Receiver<()>,
}

impl Interrupt {
    /// While this lives a signal does not end the program.
    pub fn listen() -> Self {
        let (sender, signals) = channel();
        *listener() = Some(sender);
        Interrupt { signals }
    }

    /// Waits for a signal, so long at most, and says whether there was one.
    pub fn within(&self, time: Duration) -> bool {
        self.signals.recv_timeout(time).is_ok()
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        *listener() = None;
    }
}

#[cfg(unix)]
mod disposition {
    use libc::{SIG_IGN, SIGHUP, SIGINT, SIGTERM, c_int};
    use std::mem::MaybeUninit;
    use std::ptr;

    /// The signals of this program that are ignored at the moment.
    pub fn ignored() -> Vec<c_int> {
        let is_ignored = |signal: &c_int| {
            let mut action = MaybeUninit::<libc::sigaction>::uninit();
            // SAFETY: without a new action `sigaction` only writes the present one, which is read if it succeeds.
            unsafe {
                libc::sigaction(*signal, ptr::null(), action.as_mut_ptr()) == 0
                    && action.assume_init().sa_sigaction == SIG_IGN
            }
        };
        [SIGHUP, SIGINT, SIGTERM].into_iter().filter(is_ignored).collect()
    }

    pub fn ignore(signals: &[c_int]) {
        for &signal in signals {
            // SAFETY: no code of ours runs in an ignored signal.
            unsafe { libc::signal(signal, SIG_IGN) };
        }
    }
}

#[cfg(not(unix))]
mod disposition {
    pub fn ignored() {}
    pub fn ignore((): &()) {}
}
