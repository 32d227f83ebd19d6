//! How many ways there are to cut a span into its children: the work of the inside recursion (figure `median_splits`).
//!
//! A node `height` levels above the tokens spans between `2^height` and `3^height` of them, its children between
//! `2^(height-1)` and `3^(height-1)` each.

use super::{TheoryError, check_depth};

/// The number of binary and ternary splits of a span.
///
/// ```
/// use gardenpath::theory::splits::{Splits, splits};
/// assert_eq!(splits(6, 2)?, Splits { binary: 1, ternary: 1 }); // 3-3 and 2-2-2
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splits {
    /// Ways to cut the span in two.
    pub binary: u64,
    /// Ways to cut the span in three.
    pub ternary: u64,
}

/// The number of splits of a span of `len` tokens whose node stands `height` levels above them: the sizes
/// `N_bin(lambda)` and `N_ter(lambda)` of the sums in eq. `inside`. Zero for lengths that no such node has.
///
/// Take from every child the length it has at least. What is left, `spare`, is shared out among the children without
/// bound in `binomial(spare + s - 1, s - 1)` ways; those in which some child exceeds its room are removed by inclusion
/// and exclusion.
///
/// ```
/// use gardenpath::theory::splits::splits;
/// assert_eq!(splits(15, 3)?.binary, 4); // 6-9, 7-8, 8-7, 9-6
/// assert_eq!(splits(100, 3)?.ternary, 0);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn splits(len: usize, height: usize) -> Result<Splits, TheoryError> {
    check_depth(height)?;
    let (least, most) = (2i64.pow(height as u32 - 1), 3i64.pow(height as u32 - 1));
    let room = most - least + 1; // how many lengths a child can have
    // Beyond the longest span nothing fits; stopping there also keeps the squares below small.
    let len = (len as i64).clamp(0, 3 * most + 1);
    let (spare_two, spare_three) = (len - 2 * least, len - 3 * least);
    let binary = pairs(spare_two) - 2 * pairs(spare_two - room) + pairs(spare_two - 2 * room);
    let ternary = triples(spare_three) - 3 * triples(spare_three - room) + 3 * triples(spare_three - 2 * room)
        - triples(spare_three - 3 * room);
    Ok(Splits { binary: binary as u64, ternary: ternary as u64 })
}

/// Ordered pairs of non-negative integers with this sum.
fn pairs(sum: i64) -> i64 {
    if sum < 0 { 0 } else { sum + 1 }
}

/// Ordered triples of non-negative integers with this sum.
fn triples(sum: i64) -> i64 {
    if sum < 0 { 0 } else { (sum + 1) * (sum + 2) / 2 }
}

/// Medians over the spans of one height.
///
/// ```
/// use gardenpath::theory::splits::median_splits;
/// let medians = median_splits(2)?;
/// assert_eq!((medians.binary, medians.ternary), (0.5, 1.0));
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianSplits {
    /// Levels above the tokens.
    pub height: usize,
    /// The median number of binary splits.
    pub binary: f64,
    /// The median number of ternary splits.
    pub ternary: f64,
}

/// The median number of splits over all span lengths `2^height..=3^height` (figure `median_splits`), which grows like
/// `3^height` for binary and `3^(2 height)` for ternary ones.
///
/// ```
/// use gardenpath::theory::splits::median_splits;
/// let growth = median_splits(9)?.binary / median_splits(8)?.binary;
/// assert!((growth - 3.0).abs() < 0.2);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn median_splits(height: usize) -> Result<MedianSplits, TheoryError> {
    check_depth(height)?;
    let all: Vec<Splits> =
        (1 << height..=3usize.pow(height as u32)).map(|len| splits(len, height)).collect::<Result<_, _>>()?;
    Ok(MedianSplits {
        height,
        binary: median(all.iter().map(|splits| splits.binary).collect()),
        ternary: median(all.iter().map(|splits| splits.ternary).collect()),
    })
}

/// The mean of the two middle values: an odd number minus an even one, plus one, makes the number of spans even.
fn median(mut values: Vec<u64>) -> f64 {
    values.sort_unstable();
    let middle = values.len() / 2;
    (values[middle - 1] + values[middle]) as f64 / 2.0
}
