//! Ctrl-C and termination, as the program obeys them: at once and without leftovers, or between two steps; the second time at once.
//!
//! Only the program calls [`obey`]. As a library this crate leaves signals alone: they belong to the host, such as Python.

use crate::files::atomic;
use crate::outcome::Interrupted;
use crate::progress;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// What happens at a signal instead of a silent end.
enum Reaction {
    /// Somebody is told and ends the program.
    Tell(Sender<()>),
    /// The program ends with a last line.
    Say(Box<dyn FnOnce() -> Interrupted + Send>),
}

static REACTION: Mutex<Option<Reaction>> = Mutex::new(None);

/// Whether there was a signal before.
static HEARD: AtomicBool = AtomicBool::new(false);

fn reaction() -> MutexGuard<'static, Option<Reaction>> {
    REACTION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on a signal removes temporary files and ends the program, unless somebody [listens](Interrupt::listen) or has a
/// [last word](LastWord). Signals that whoever started the program wants to be ignored, as `nohup` does, remain ignored.
pub fn obey() {
    let ignored = disposition::ignored();
    // Without a handler signals end the program too, and leave temporary files, which is no reason not to begin.
    let _ = ctrlc::set_handler(handle);
    disposition::ignore(&ignored);
}

fn handle() {
    if HEARD.swap(true, Ordering::Relaxed) {
        leave();
    }
    match reaction().take() {
        None => leave(),
        Some(Reaction::Tell(listener)) => drop(listener.send(())),
        // On a thread of its own: meanwhile a second signal must be heard.
        Some(Reaction::Say(word)) => drop(thread::spawn(|| {
            let word = word();
            progress::clear();
            progress::note(&word.to_string());
            leave()
        })),
    }
}

fn leave() -> ! {
    atomic::remove_temporary();
    std::process::exit(Interrupted::CODE.into())
}

/// Whether the program was interrupted or terminated.
pub struct Interrupt {
    signals: Receiver<()>,
    before: Option<Reaction>,
}

impl Interrupt {
    /// While this lives the first signal does not end the program.
    pub fn listen() -> Self {
        let (sender, signals) = channel();
        let before = reaction().replace(Reaction::Tell(sender));
        Interrupt { signals, before }
    }

    /// Waits for a signal, so long at most, and says whether there was one.
    pub fn within(&self, time: Duration) -> bool {
        self.signals.recv_timeout(time).is_ok()
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        *reaction() = self.before.take();
    }
}

/// A line that a signal adds before it ends the program.
pub struct LastWord {
    before: Option<Reaction>,
}

impl LastWord {
    /// While this lives a signal calls `word`, prints what it returns, and ends the program. Other threads go on until then.
    pub fn new(word: impl FnOnce() -> Interrupted + Send + 'static) -> Self {
        LastWord { before: reaction().replace(Reaction::Say(Box::new(word))) }
    }
}

impl Drop for LastWord {
    fn drop(&mut self) {
        *reaction() = self.before.take();
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
