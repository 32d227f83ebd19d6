//! How much memory the chart of a long sentence and its marginals take at most, counted by the allocator of this test alone.

use gardenpath::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(NOW.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One measurement at a time.
static TURN: Mutex<()> = Mutex::new(());

/// Bytes at the peak while the marginals of a sentence of `len` tokens are computed, with all rules grammatical.
fn peak_of_marginals(depth: usize, len: usize) -> usize {
    let _turn = TURN.lock().unwrap();
    let grammar = Ensemble::new(16, depth).fraction(1.0).sample(Seed::new(7)).unwrap();
    let sentence: Vec<Symbol> = (0..len).map(|i| (i * i % 16) as Symbol).collect();
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let chart = Inside::new(&grammar).chart(&sentence).unwrap();
    let marginals = Parser::<Magnitude>::new(&grammar).marginals(&chart).unwrap().unwrap();
    let roots: f64 = marginals.nodes[0].iter().map(|(_, p)| p).sum();
    let rules: f64 = marginals.rules[0].iter().sum();
    assert!((roots - 1.0).abs() < 1e-9 && (rules - 1.0).abs() < 1e-9, "one root {roots}, rewritten once {rules}");
    PEAK.load(Relaxed) - before
}

#[test]
fn marginals_of_98_tokens_fit_into_15_megabytes() {
    // The chart grows with the square of the length: as much, in proportion, as 600 MB for 610 tokens.
    let megabytes = peak_of_marginals(5, 98) >> 20;
    assert!(megabytes <= 15, "{megabytes} MB");
}

#[test]
#[ignore = "takes three minutes"]
fn marginals_of_610_tokens_fit_into_600_megabytes() {
    let megabytes = peak_of_marginals(7, 610) >> 20;
    assert!(megabytes <= 600, "{megabytes} MB");
}
