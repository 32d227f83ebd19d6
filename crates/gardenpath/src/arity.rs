//! Arities (numbers of children): sets of them, and one value per arity.

use crate::symbols::Children;
use std::fmt;
use std::ops::{Index, IndexMut};

/// The numbers of children that the rules of one layer have: a set of numbers from 1 to [`Children::MAX`].
///
/// ```
/// use gardenpath::Arities;
///
/// let arities = Arities::from([2, 4]);
/// assert!(arities.contains(4) && !arities.contains(3));
/// assert_eq!((arities.least(), arities.most()), (2, 4));
/// assert_eq!(arities.iter().collect::<Vec<_>>(), [2, 4]);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arities(u16);

impl Arities {
    /// The paper's: two and three.
    pub const PAPER: Arities = Arities(0b1100);

    /// Whether rules may have this many children.
    pub fn contains(self, arity: usize) -> bool {
        arity <= Children::MAX && self.0 >> arity & 1 == 1
    }

    /// The numbers, in increasing order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = usize> + Clone {
        (1..=Children::MAX).filter(move |&arity| self.contains(arity))
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The smallest arity; 0 if the set is empty.
    pub fn least(self) -> usize {
        self.iter().next().unwrap_or(0)
    }

    /// The largest arity; 0 if the set is empty.
    pub fn most(self) -> usize {
        self.iter().next_back().unwrap_or(0)
    }
}

impl FromIterator<usize> for Arities {
    /// # Panics
    /// If a number is not between 1 and [`Children::MAX`].
    fn from_iter<I: IntoIterator<Item = usize>>(arities: I) -> Self {
        Arities(arities.into_iter().fold(0, |bits, arity| {
            assert!((1..=Children::MAX).contains(&arity), "a rule has 1 to {} children", Children::MAX);
            bits | 1 << arity
        }))
    }
}

impl<const N: usize> From<[usize; N]> for Arities {
    fn from(arities: [usize; N]) -> Self {
        arities.into_iter().collect()
    }
}

impl fmt::Debug for Arities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl fmt::Display for Arities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.iter().map(|arity| arity.to_string()).collect();
        f.write_str(if numbers.is_empty() { "empty".to_owned() } else { numbers.join(",") }.as_str())
    }
}

/// A value for each number of children, from 1 to [`Children::MAX`]: probabilities, fractions or numbers of rules.
///
/// ```
/// use gardenpath::PerArity;
///
/// let probabilities = PerArity::from([(2, 0.5), (3, 0.5)]);
/// assert_eq!((probabilities[2], probabilities[4]), (0.5, 0.0));
/// assert_eq!(probabilities.nonzero().collect::<Vec<_>>(), [(2, 0.5), (3, 0.5)]);
/// assert_eq!(probabilities.to_string(), "2:0.5,3:0.5");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerArity<T>([T; Children::MAX]);

impl<T: Copy + Default + PartialEq> PerArity<T> {
    /// The same value for all numbers of children.
    pub fn all(value: T) -> Self {
        PerArity([value; Children::MAX])
    }

    /// The values that are not zero, with their numbers of children.
    pub fn nonzero(&self) -> impl DoubleEndedIterator<Item = (usize, T)> + Clone {
        self.0.into_iter().enumerate().map(|(k, value)| (k + 1, value)).filter(|(_, value)| *value != T::default())
    }

    /// The numbers of children whose value is not zero.
    pub fn arities(&self) -> Arities {
        self.nonzero().map(|(arity, _)| arity).collect()
    }

    /// Applies `map` to the non-zero values; the others stay zero.
    pub fn map<U: Copy + Default + PartialEq>(&self, mut map: impl FnMut(usize, T) -> U) -> PerArity<U> {
        self.nonzero().map(|(arity, value)| (arity, map(arity, value))).collect()
    }
}

impl PerArity<f64> {
    /// The paper's probabilities: two children with probability `p_binary`, otherwise three.
    pub fn paper(p_binary: f64) -> Self {
        PerArity::from([(2, p_binary), (3, 1.0 - p_binary)])
    }
}

impl<T> Index<usize> for PerArity<T> {
    type Output = T;

    /// # Panics
    /// If `arity` is not between 1 and [`Children::MAX`].
    fn index(&self, arity: usize) -> &T {
        &self.0[arity - 1]
    }
}

impl<T> IndexMut<usize> for PerArity<T> {
    fn index_mut(&mut self, arity: usize) -> &mut T {
        &mut self.0[arity - 1]
    }
}

impl<T: Copy + Default + PartialEq> FromIterator<(usize, T)> for PerArity<T> {
    /// # Panics
    /// If a number is not between 1 and [`Children::MAX`].
    fn from_iter<I: IntoIterator<Item = (usize, T)>>(values: I) -> Self {
        let mut all = PerArity::default();
        values.into_iter().for_each(|(arity, value)| all[arity] = value);
        all
    }
}

impl<T: Copy + Default + PartialEq, const N: usize> From<[(usize, T); N]> for PerArity<T> {
    fn from(values: [(usize, T); N]) -> Self {
        values.into_iter().collect()
    }
}

impl<T: Copy + Default + PartialEq + fmt::Display> fmt::Display for PerArity<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, (arity, value)) in self.nonzero().enumerate() {
            let comma = if k > 0 { "," } else { "" };
            write!(f, "{comma}{arity}:{value}")?;
        }
        Ok(())
    }
}
