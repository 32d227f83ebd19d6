//! Checkpoints of running cells, from which they resume after being killed.
//!
//! A file has a checksum of everything after it, the seconds that the cell has taken so far, and the state of its
//! measure. It is named after the cell's identity, so a different version of the measure does not find it.

use crate::files::atomic;
use crate::measure::{Keeper, Measure};
use crate::process::thread_seconds;
use crate::training::checkpoint::interval;
use gardenpath::interrupt::obeyed;
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The clock that times a cell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clock {
    /// CPU time, so that other work on a busy machine does not count.
    Cores,
    /// Wall time, for cells on a GPU.
    Wall,
}

impl Clock {
    /// The clock of a cell.
    pub(super) fn of(cell: &Measure) -> Self {
        if cell.is_on_gpu() { Clock::Wall } else { Clock::Cores }
    }

    /// The time in seconds, from an arbitrary origin. CPU time is that of all threads of the current pool.
    fn now(self) -> f64 {
        static START: OnceLock<Instant> = OnceLock::new();
        match self {
            Clock::Cores => rayon::broadcast(|_| thread_seconds()).iter().sum(),
            Clock::Wall => START.get_or_init(Instant::now).elapsed().as_secs_f64(),
        }
    }
}

/// The checkpoint of one cell, in a file.
pub struct Checkpoints<'s> {
    path: PathBuf,
    report: &'s dyn Fn(String),
    clock: Clock,
    /// The time at which this attempt began.
    began: f64,
    /// The seconds taken by earlier attempts.
    before: Cell<f64>,
    /// When the next checkpoint is due.
    due: Cell<Instant>,
}

/// Saving checkpoints takes at most 1 / SHARE of the time.
const SHARE: u32 = 20;

impl<'s> Checkpoints<'s> {
    /// The checkpoint in a file. `report` is called with one line if it is damaged.
    pub(super) fn new(path: PathBuf, clock: Clock, report: &'s dyn Fn(String)) -> Self {
        let due = Cell::new(Instant::now() + interval());
        Checkpoints { path, report, clock, began: clock.now(), before: Cell::new(0.0), due }
    }

    /// The time the cell has taken so far, over all attempts that led to its state: CPU time, or wall time on a GPU.
    pub fn seconds(&self) -> f64 {
        self.before.get() + self.clock.now() - self.began
    }
}

impl Keeper for Checkpoints<'_> {
    fn load(&self) -> Option<Vec<u8>> {
        let bytes = fs::read(&self.path).ok()?;
        let Some((seconds, kept)) = open(&bytes) else {
            self.reject("is damaged");
            return None;
        };
        self.before.set(seconds);
        Some(kept.to_vec())
    }

    fn reject(&self, wrong: &str) {
        self.before.set(0.0);
        (self.report)(format!("{}: {wrong}", self.path.display()));
    }

    fn is_due(&self) -> bool {
        let is_stopped = || obeyed().is_some_and(|stop| stop.load(Ordering::Relaxed));
        Instant::now() >= self.due.get() || is_stopped()
    }

    fn save(&self, bytes: &[u8]) {
        let start = Instant::now();
        let rest = [format!("{:.3}\n", self.seconds()).as_bytes(), bytes].concat();
        let made = self.path.parent().map_or(Ok(()), fs::create_dir_all);
        let _ =
            made.map(|()| atomic::write(&self.path, &[format!("{}\n", checksum(&rest)).as_bytes(), &rest].concat()));
        self.due.set(Instant::now() + interval().max(start.elapsed() * SHARE));
    }
}

/// The seconds and the state, if the file is intact.
fn open(bytes: &[u8]) -> Option<(f64, &[u8])> {
    let (found, rest) = split(bytes)?;
    if checksum(rest).as_bytes() != found {
        return None;
    }
    let (seconds, kept) = split(rest)?;
    let seconds: f64 = str::from_utf8(seconds).ok()?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some((seconds, kept))
}

/// The first line, and the rest.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::time::Duration;

    #[test]
    fn what_is_kept_is_found_unless_a_bit_is_flipped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("checkpoints").join("0123");
        let said = RefCell::new(Vec::new());
        let report = |text: String| said.borrow_mut().push(text);
        let keeper = || Checkpoints::new(path.clone(), Clock::Wall, &report);
        assert_eq!(keeper().load(), None);
        keeper().save(b"so far\nso good");
        let first = keeper();
        assert_eq!(first.load().unwrap(), b"so far\nso good");
        first.before.set(100.0);
        first.save(b"further");
        let second = keeper();
        assert_eq!(second.load().unwrap(), b"further");
        assert!(second.seconds() >= 100.0, "time of earlier attempts counts");
        assert!(!second.is_due() && said.borrow().is_empty());
        let whole = fs::read(&path).unwrap();
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(keeper().load(), None, "byte {place}");
            fs::write(&path, &whole[..place]).unwrap();
            assert_eq!(keeper().load(), None, "{place} bytes");
        }
        assert_eq!(said.borrow().len(), 2 * whole.len());
        assert_eq!(said.borrow()[0], format!("{}: is damaged", path.display()));
    }

    /// A machine that has other work must not make cells look expensive.
    #[test]
    fn only_the_work_of_cores_counts() {
        let directory = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let (idle, busy) = pool.install(|| {
            let keeper = Checkpoints::new(directory.path().join("0"), Clock::Cores, &|_| ());
            std::thread::sleep(Duration::from_millis(100));
            let idle = keeper.seconds();
            let work = |_: rayon::BroadcastContext<'_>| {
                let start = thread_seconds();
                while thread_seconds() - start < 0.05 {}
            };
            rayon::broadcast(work);
            (idle, keeper.seconds() - idle)
        });
        assert!(idle < 0.05, "{idle} s of work while sleeping");
        assert!((0.1..0.2).contains(&busy), "{busy} s of two threads that worked 0.05 s each");
    }
}
