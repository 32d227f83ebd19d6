//! Reproducible randomness: a [`Seed`] has named children, and one stream per item of work.
//!
//! A random stream belongs to a piece of work (sentence `i`, grammar `g`), never to a thread, so results do not
//! depend on scheduling and any slice of a corpus can be made anywhere. The generator is xoshiro256++ with its state
//! filled by SplitMix64: named, portable, and the same on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A 64-bit key from which independent random streams are derived.
///
/// ```
/// use gardenpath::Seed;
///
/// let seed = Seed::new(7);
/// // The same name and index give the same stream, always.
/// assert_eq!(seed.child("corpus").stream(3).bits(), seed.child("corpus").stream(3).bits());
/// assert_ne!(seed.child("corpus"), seed.child("grammar"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed(u64);

impl Seed {
    /// A seed from the number that a user gives.
    pub fn new(number: u64) -> Self {
        Seed(mix(number.wrapping_add(GOLDEN_GAMMA)))
    }

    /// The seed of a named part of the work: grammar, data and weights never share randomness.
    pub fn child(self, name: &str) -> Self {
        let absorb = |key, byte| mix(key ^ u64::from(byte)).wrapping_add(GOLDEN_GAMMA);
        Seed(mix(name.bytes().fold(self.0, absorb)))
    }

    /// The seed of the `index`-th of many similar parts.
    pub fn nth(self, index: u64) -> Self {
        Seed(mix(mix(self.0 ^ 0x6e74_6800).wrapping_add(index)))
    }

    /// The stream of item `index`. Distinct items of one seed never share a generator state.
    #[inline]
    pub fn stream(self, index: u64) -> Stream {
        Stream(Xoshiro256PlusPlus::seed_from_u64(self.0.wrapping_add(index)))
    }
}

/// A stream of random bits that belongs to one item of work.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform integer in `0..bound`; the bias of the multiplication is below `bound / 2^64`.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A uniform number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64, a bijection of 64-bit words.
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frozen: everything sampled from a seed depends on these words.
    #[test]
    fn streams_are_frozen() {
        let mut stream = Seed::new(7).child("corpus").stream(3);
        assert_eq!([stream.bits(), stream.bits()], FROZEN);
    }
    const FROZEN: [u64; 2] = [12665190638661804467, 15619959456827143740];

    #[test]
    fn children_and_items_differ() {
        let seed = Seed::new(0);
        let mut first: Vec<u64> = (0..1000).map(|i| seed.stream(i).bits()).collect();
        first.extend((0..1000).map(|i| seed.nth(i).stream(0).bits()));
        first.extend(["a", "b", "ab", "ba", ""].map(|name| seed.child(name).stream(0).bits()));
        let total = first.len();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), total);
    }

    #[test]
    fn bounded_integers_are_uniform() {
        let mut stream = Seed::new(1).stream(0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|&n| n.abs_diff(10_000) < 500), "{counts:?}");
    }
}
