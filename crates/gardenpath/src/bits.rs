//! Bit sets of small numbers.

/// A growable set of small non-negative integers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// The set of one number.
    pub fn one(number: usize) -> Self {
        let mut bits = Bits(vec![0; number / 64 + 1]);
        bits.0[number / 64] = 1 << (number % 64);
        bits
    }

    pub fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// The numbers, in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(k, &word)| {
            let rest = |&bits: &u64| Some(bits & (bits - 1)).filter(|&bits| bits != 0);
            let words = std::iter::successors(Some(word).filter(|&bits| bits != 0), rest);
            words.map(move |bits| 64 * k + bits.trailing_zeros() as usize)
        })
    }

    /// The smallest and the largest number, or `None` if the set is empty.
    pub fn bounds(&self) -> Option<(usize, usize)> {
        let last = self.0.iter().rposition(|&word| word != 0)?;
        Some((self.iter().next()?, 64 * last + 63 - self.0[last].leading_zeros() as usize))
    }

    /// Whether the set has no gaps.
    pub fn is_interval(&self) -> bool {
        self.bounds().is_none_or(|(least, most)| self.iter().count() == most - least + 1)
    }

    /// Adds all numbers of another set, each plus `shift`.
    pub fn add_shifted(&mut self, other: &Bits, shift: usize) {
        let (words, bits) = (shift / 64, shift % 64);
        let needed = other.0.len() + words + usize::from(bits > 0);
        if self.0.len() < needed {
            self.0.resize(needed, 0);
        }
        for (k, &word) in other.0.iter().enumerate() {
            self.0[k + words] |= word << bits;
            if bits > 0 {
                self.0[k + words + 1] |= word >> (64 - bits);
            }
        }
    }

    /// Adds `n - 1` for every `n > 0` of another set.
    pub fn add_predecessors(&mut self, other: &Bits) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (k, &word) in other.0.iter().enumerate() {
            self.0[k] |= word >> 1;
            if k > 0 {
                self.0[k - 1] |= word << 63;
            }
        }
    }

    /// Whether a number of this set is one less than a number of the other.
    pub fn has_successor_in(&self, other: &Bits) -> bool {
        let mut carry = 0;
        let mut found = false;
        for (k, &theirs) in other.0.iter().enumerate() {
            let own = self.0.get(k).copied().unwrap_or(0);
            found |= (own << 1 | carry) & theirs != 0;
            carry = own >> 63;
        }
        found
    }

    /// All sums of a number of this set and one of the other.
    pub fn sums(&self, other: &Bits) -> Bits {
        let mut sums = Bits::default();
        self.iter().for_each(|number| sums.add_shifted(other, number));
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn bits_are_sets() {
        let lists: [&[usize]; 4] = [&[0], &[1, 2, 63, 64, 65], &[5, 127, 128, 200], &[63]];
        for x in lists {
            let mut bits = Bits::default();
            x.iter().for_each(|&number| bits.add_shifted(&Bits::one(number), 0));
            assert_eq!(bits.iter().collect::<Vec<_>>(), x);
            assert_eq!(bits.bounds(), Some((x[0], x[x.len() - 1])));
            assert!(bits.contains(x[0]) && !bits.contains(3) && !bits.contains(1000));
            let mut less = Bits::default();
            less.add_predecessors(&bits);
            assert_eq!(less.iter().collect::<Vec<_>>(), x.iter().filter_map(|n| n.checked_sub(1)).collect::<Vec<_>>());
            for y in lists {
                let mut other = Bits::default();
                y.iter().for_each(|&number| other.add_shifted(&Bits::one(number), 0));
                let sums: BTreeSet<usize> = x.iter().flat_map(|a| y.iter().map(move |b| a + b)).collect();
                assert_eq!(bits.sums(&other).iter().collect::<Vec<_>>(), sums.into_iter().collect::<Vec<_>>());
                assert_eq!(bits.has_successor_in(&other), x.iter().any(|n| y.contains(&(n + 1))));
            }
        }
        assert!(Bits::default().bounds().is_none() && Bits::default().is_interval());
        assert!(!Bits::one(3).sums(&Bits::one(0)).contains(4));
    }
}
