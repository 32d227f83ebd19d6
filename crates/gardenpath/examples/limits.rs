//! What one core of this machine can do at best: the limits that `bench/run` compares speeds with.
//!
//! ```text
//! cargo run --release -p gardenpath --example limits
//! ```
//!
//! Each number is the best of several short rounds, so that it takes about a second in all.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::hint::black_box;
use std::time::Instant;

fn main() {
    println!(
        "{}",
        serde_json::json!({
            "f64_flops": flops::<f64>(f64_round),
            "f32_flops": flops::<f32>(f32_round),
            "draws": draws(),
            "increments": increments(),
            "bytes_read": bytes_read(),
        })
    );
}

/// The most units of work per second, over rounds that each do so many.
fn best(units: f64, mut round: impl FnMut()) -> f64 {
    let seconds = |_| {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64()
    };
    units / (0..20).map(seconds).fold(f64::INFINITY, f64::min)
}

const STEPS: usize = 1_000_000;
/// Registers of 256 bits that are updated side by side: enough to hide the latency of all known processors.
const REGISTERS: usize = 10;

/// Fused multiply-adds in registers, each of which counts twice.
fn flops<T>(round: fn(usize) -> T) -> f64 {
    let lanes = REGISTERS * 32 / size_of::<T>();
    best((2 * lanes * STEPS) as f64, || _ = black_box(round(black_box(STEPS))))
}

/// The same loop for both kinds of numbers, by AVX2 and FMA where the processor has them.
macro_rules! rounds {
    ($name:ident, $type:ty, $set:ident, $fma:ident) => {
        fn $name(steps: usize) -> $type {
            #[cfg(target_arch = "x86_64")]
            {
                use std::arch::x86_64::{$fma, $set};

                #[target_feature(enable = "avx2,fma")]
                fn wide(steps: usize) {
                    let (factor, term) = ($set(black_box(0.999)), $set(black_box(0.001)));
                    let mut values = [term; REGISTERS];
                    for _ in 0..steps {
                        for value in &mut values {
                            *value = $fma(*value, factor, term);
                        }
                    }
                    black_box(values);
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has what the function needs.
                    unsafe { wide(steps) };
                    return 0.0;
                }
            }
            let (factor, term): ($type, $type) = black_box((0.999, 0.001));
            let mut values = [term; REGISTERS * 32 / size_of::<$type>()];
            for _ in 0..steps {
                for value in &mut values {
                    *value = value.mul_add(factor, term);
                }
            }
            values.iter().sum()
        }
    };
}

rounds!(f64_round, f64, _mm256_set1_pd, _mm256_fmadd_pd);
rounds!(f32_round, f32, _mm256_set1_ps, _mm256_fmadd_ps);

/// Random numbers of 64 bits by the generator of the library.
fn draws() -> f64 {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(1);
    best(STEPS as f64, || _ = black_box((0..STEPS).fold(0, |sum: u64, _| sum ^ generator.next_u64())))
}

/// Increments of random counters in a table that is as large as that of triples by root (v = 16).
fn increments() -> f64 {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(1);
    let places: Vec<u16> = (0..STEPS).map(|_| generator.next_u64() as u16).collect();
    let mut counts = vec![0_u32; 1 << 16];
    best(STEPS as f64, || {
        places.iter().for_each(|&place| counts[usize::from(place)] += 1);
        black_box(&mut counts);
    })
}

/// Bytes that are read from memory, one after the other.
fn bytes_read() -> f64 {
    let numbers = vec![1_u64; 1 << 24];
    best((8 * numbers.len()) as f64, || _ = black_box(numbers.iter().fold(0, |sum: u64, number| sum ^ number)))
}
