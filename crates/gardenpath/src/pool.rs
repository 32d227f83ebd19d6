//! Buffers that threads use again and again.

use std::sync::{Mutex, PoisonError};

/// Buffers for work that is divided among threads: as many as there are threads at work, each used by one piece of work after another.
///
/// ```
/// use gardenpath::Pool;
///
/// let pool = Pool::new(|| Vec::with_capacity(100));
/// pool.lend(|buffer| buffer.push(7));
/// // Whatever a piece of work left in a buffer is still there.
/// assert_eq!(pool.lend(|buffer| buffer.pop()), Some(7));
/// ```
pub struct Pool<'m, T> {
    make: Box<dyn Fn() -> T + Send + Sync + 'm>,
    idle: Mutex<Vec<T>>,
}

impl<'m, T> Pool<'m, T> {
    /// No buffers yet; `make` makes one for each thread that needs one.
    pub fn new(make: impl Fn() -> T + Send + Sync + 'm) -> Self {
        Pool { make: Box::new(make), idle: Mutex::default() }
    }

    /// Lends a buffer to a piece of work. One whose work panics is lost.
    pub fn lend<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let lent = idle().pop();
        let mut buffer = lent.unwrap_or_else(&self.make);
        let result = work(&mut buffer);
        idle().push(buffer);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn buffers_are_made_only_while_all_others_are_lent() {
        let made = AtomicUsize::new(0);
        let pool = Pool::new(|| made.fetch_add(1, Ordering::Relaxed));
        assert_eq!(pool.lend(|first| pool.lend(|second| (*first, *second))), (0, 1));
        (0..5).for_each(|_| assert!(pool.lend(|buffer| *buffer) < 2));
        assert_eq!(made.load(Ordering::Relaxed), 2);
    }
}
