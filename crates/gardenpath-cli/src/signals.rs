//! Ctrl-C and termination, as the program obeys them: at once and without leftovers, or between two steps; the second time at once.
//!
//! Only the program calls [`obey`]. As a library this crate leaves signals alone: they belong to the host, such as Python.

use crate::progress;
use gardenpath::interrupt;
use gardenpath_lab::files::atomic;
use gardenpath_lab::outcome::Interrupted;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
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
    /// The same, after work has left at its next checkpoint, or has not within a few seconds. The channel is closed when it has.
    Stop(Receiver<()>, Box<dyn FnOnce() -> Interrupted + Send>),
}

/// How long interrupted work has to leave.
const GRACE: Duration = Duration::from_secs(5);

static REACTION: Mutex<Option<Reaction>> = Mutex::new(None);

/// Whether there was a signal before.
static HEARD: AtomicBool = AtomicBool::new(false);

/// Whether interruptible work has to leave.
static STOP: AtomicBool = AtomicBool::new(false);

fn reaction() -> MutexGuard<'static, Option<Reaction>> {
    REACTION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on a signal removes temporary files and ends the program, unless somebody [listens](Interrupt::listen), has a
/// [last word](LastWord), or can be [stopped](interruptible). Signals that whoever started the program wants to be ignored, as `nohup` does, remain ignored.
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
        // On threads of their own: meanwhile a second signal must be heard.
        Some(Reaction::Say(word)) => drop(thread::spawn(|| say(word))),
        Some(Reaction::Stop(end, word)) => {
            STOP.store(true, Ordering::Relaxed);
            thread::spawn(move || {
                let _ = end.recv_timeout(GRACE);
                say(word)
            });
        }
    }
}

fn say(word: Box<dyn FnOnce() -> Interrupted + Send>) -> ! {
    let word = word();
    progress::clear();
    progress::note(&word.to_string());
    leave()
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

/// Does work that leaves at its next [checkpoint](gardenpath::interrupt) when the program is interrupted or terminated. Then the
/// program prints what `word` returns, and ends.
pub fn interruptible<R>(word: impl FnOnce() -> Interrupted + Send + 'static, work: impl FnOnce() -> R) -> R {
    let (end, is_over) = channel();
    let before = reaction().replace(Reaction::Stop(is_over, Box::new(word)));
    interrupt::obey(&STOP);
    let result = catch_unwind(AssertUnwindSafe(work));
    if STOP.load(Ordering::Relaxed) {
        drop(end);
        loop {
            // The thread of the signal ends the program.
            thread::park();
        }
    }
    *reaction() = before;
    result.unwrap_or_else(|panic| resume_unwind(panic))
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
