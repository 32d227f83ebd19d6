//! Handling of Ctrl-C and SIGTERM: the program exits at once and cleans up, or between two steps; a second signal
//! always exits at once.
//!
//! Only the program calls [`obey`]. Used as a library, this crate leaves signals to the host, such as Python.

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

/// What a signal triggers instead of a silent exit.
enum Reaction {
    /// A listener is notified and ends the program.
    Tell(Sender<()>),
    /// The program prints a last line and exits.
    Say(Box<dyn FnOnce() -> Interrupted + Send>),
    /// The same, once the work has stopped at a checkpoint (the channel closes) or the grace period is over.
    Stop(Receiver<()>, Box<dyn FnOnce() -> Interrupted + Send>),
}

/// How long interrupted work has to stop.
const GRACE: Duration = Duration::from_secs(5);

static REACTION: Mutex<Option<Reaction>> = Mutex::new(None);

/// Whether a signal was received before.
static HEARD: AtomicBool = AtomicBool::new(false);

/// Whether interruptible work should stop.
static STOP: AtomicBool = AtomicBool::new(false);

fn reaction() -> MutexGuard<'static, Option<Reaction>> {
    REACTION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on a signal removes temporary files and ends the program, unless there is a [listener](Interrupt::listen),
/// a [last word](LastWord), or [interruptible] work. Signals that are ignored at startup, as with `nohup`, stay
/// ignored.
pub fn obey() {
    let ignored = disposition::ignored();
    // Without a handler, signals still end the program, but leave temporary files. That is no reason not to start.
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
        // On their own threads, so that a second signal can be handled.
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

/// Reports whether the program was interrupted or terminated.
pub struct Interrupt {
    signals: Receiver<()>,
    before: Option<Reaction>,
}

impl Interrupt {
    /// While this value lives, the first signal does not end the program.
    pub fn listen() -> Self {
        let (sender, signals) = channel();
        let before = reaction().replace(Reaction::Tell(sender));
        Interrupt { signals, before }
    }

    /// Waits for a signal for at most `time`; returns whether there was one.
    pub fn within(&self, time: Duration) -> bool {
        self.signals.recv_timeout(time).is_ok()
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        *reaction() = self.before.take();
    }
}

/// A last line that a signal prints before it ends the program.
pub struct LastWord {
    before: Option<Reaction>,
}

impl LastWord {
    /// While this value lives, a signal calls `word`, prints what it returns, and ends the program. Other threads keep
    /// running until then.
    pub fn new(word: impl FnOnce() -> Interrupted + Send + 'static) -> Self {
        LastWord { before: reaction().replace(Reaction::Say(Box::new(word))) }
    }
}

impl Drop for LastWord {
    fn drop(&mut self) {
        *reaction() = self.before.take();
    }
}

/// Runs work that stops at its next [checkpoint](gardenpath::interrupt) when the program is interrupted or terminated.
/// The program then prints what `word` returns, and exits.
pub fn interruptible<R>(word: impl FnOnce() -> Interrupted + Send + 'static, work: impl FnOnce() -> R) -> R {
    let (end, is_over) = channel();
    let before = reaction().replace(Reaction::Stop(is_over, Box::new(word)));
    interrupt::obey(&STOP);
    let result = catch_unwind(AssertUnwindSafe(work));
    if STOP.load(Ordering::Relaxed) {
        drop(end);
        loop {
            // The signal thread ends the program.
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

    /// The signals of this program that are currently ignored.
    pub fn ignored() -> Vec<c_int> {
        let is_ignored = |signal: &c_int| {
            let mut action = MaybeUninit::<libc::sigaction>::uninit();
            // SAFETY: with a null action, `sigaction` only writes the current one, which is read only on success.
            unsafe {
                libc::sigaction(*signal, ptr::null(), action.as_mut_ptr()) == 0
                    && action.assume_init().sa_sigaction == SIG_IGN
            }
        };
        [SIGHUP, SIGINT, SIGTERM].into_iter().filter(is_ignored).collect()
    }

    pub fn ignore(signals: &[c_int]) {
        for &signal in signals {
            // SAFETY: ignoring a signal runs none of our code.
            unsafe { libc::signal(signal, SIG_IGN) };
        }
    }
}

#[cfg(not(unix))]
mod disposition {
    pub fn ignored() {}
    pub fn ignore((): &()) {}
}
