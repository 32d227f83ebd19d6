//! The order of the training sentences.

use gardenpath::Seed;

/// An endless sequence of shuffled epochs.
pub struct Order {
    seed: Seed,
    len: usize,
    /// The epoch that is laid out in `numbers`.
    epoch: Option<u64>,
    numbers: Vec<usize>,
}

impl Order {
    /// The order of `len` sentences.
    pub fn new(seed: Seed, len: usize) -> Self {
        Order { seed, len, epoch: None, numbers: Vec::new() }
    }

    /// The sentences of batch `number`.
    pub fn batch(&mut self, number: u64, size: usize) -> Vec<usize> {
        let first = number * size as u64;
        (first..first + size as u64).map(|place| self.at(place)).collect()
    }

    fn at(&mut self, place: u64) -> usize {
        let (epoch, index) = (place / self.len as u64, place % self.len as u64);
        if self.epoch != Some(epoch) {
            self.epoch = Some(epoch);
            self.numbers = shuffled(self.len, self.seed, epoch);
        }
        self.numbers[index as usize]
    }
}

fn shuffled(len: usize, seed: Seed, epoch: u64) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..len).collect();
    let mut stream = seed.stream(epoch);
    for i in (1..len).rev() {
        numbers.swap(i, stream.below(i as u64 + 1) as usize);
    }
    numbers
}
