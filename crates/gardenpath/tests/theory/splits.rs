use crate::brute::*;
use gardenpath::theory::splits::{median_splits, splits};
use gardenpath::{Arities, PerArity};

/// Lengths of trees of each depth, by adding lengths.
fn lengths(arities: Arities, depth: usize) -> Vec<usize> {
    if depth == 0 {
        return vec![1];
    }
    let below = lengths(arities, depth - 1);
    let mut all: Vec<usize> = arities.iter().flat_map(|arity| sums(&below, arity)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The sums of all tuples of numbers.
fn sums(numbers: &[usize], arity: usize) -> Vec<usize> {
    (0..arity).fold(vec![0], |sums, _| sums.iter().flat_map(|sum| numbers.iter().map(move |n| sum + n)).collect())
}

#[test]
fn splits_equal_brute_force() {
    let more = [set(&[1, 8]), set(&[3, 5]), set(&[1, 4])];
    for arities in SETS.map(set).into_iter().chain(more) {
        for height in (1..=3).filter(|&height| height < 3 || arities.most() < 5) {
            let children = lengths(arities, height - 1);
            let found = splits(height, arities).unwrap();
            let longest = arities.most().pow(height as u32);
            let mut expected = vec![PerArity::<u128>::default(); longest + 1];
            for arity in arities.iter() {
                sums(&children, arity).into_iter().for_each(|len| expected[len][arity] += 1);
            }
            for (len, expected) in expected.iter().enumerate() {
                assert_eq!(found.get(len).copied().unwrap_or_default(), *expected, "{arities:?}, {height}, {len}");
            }
            assert_eq!(found.get(longest + 1), None);
            for arity in arities.iter() {
                let mut own: Vec<u128> = lengths(arities, height).into_iter().map(|len| expected[len][arity]).collect();
                own.sort_unstable();
                let middle = (own[(own.len() - 1) / 2] + own[own.len() / 2]) as f64 / 2.0;
                assert_eq!(median_splits(height, arities).unwrap()[arity], middle);
            }
        }
    }
}

/// What remains of a span when every child has its least length is shared out freely; what exceeds the room of a child is taken off
/// again, by inclusion and exclusion.
#[test]
fn splits_of_two_and_three_have_a_closed_form() {
    let pairs = |sum: i64| if sum < 0 { 0 } else { sum + 1 };
    let triples = |sum: i64| if sum < 0 { 0 } else { (sum + 1) * (sum + 2) / 2 };
    for height in 1..=9 {
        let (least, most) = (2i64.pow(height - 1), 3i64.pow(height - 1));
        let room = most - least + 1;
        for (len, found) in splits(height as usize, Arities::PAPER).unwrap().iter() {
            let (two, three) = (len as i64 - 2 * least, len as i64 - 3 * least);
            let binary = pairs(two) - 2 * pairs(two - room) + pairs(two - 2 * room);
            let ternary =
                triples(three) - 3 * triples(three - room) + 3 * triples(three - 2 * room) - triples(three - 3 * room);
            assert_eq!((found[2], found[3]), (binary as u128, ternary as u128));
        }
    }
}

#[test]
fn splits_of_all_spans_are_all_tuples_of_children() {
    for (arities, highest) in [(Arities::PAPER, 8), ((1..=8).collect(), 4), ((1..=7).collect(), 5)] {
        for height in 1..=highest {
            let children = [arities.least(), arities.most()].map(|arity| arity.pow(height - 1) as u128);
            let room = children[1] - children[0] + 1;
            let all = splits(height as usize, arities).unwrap();
            for arity in arities.iter() {
                assert_eq!(all.iter().map(|(_, splits)| splits[arity]).sum::<u128>(), room.pow(arity as u32));
            }
        }
    }
}

#[test]
fn median_splits_grow_like_powers_of_three_and_nine() {
    let medians: Vec<_> = (1..=9).map(|height| median_splits(height, Arities::PAPER).unwrap()).collect();
    assert_eq!((medians[3][2], medians[3][3]), (3.5, 91.0));
    close(medians[8][2] / medians[7][2], 3.0, 0.05);
    close(medians[8][3] / medians[7][3], 9.0, 0.06);
    // Figure median_splits: ternary splits outnumber the 244 tokens of depth 6 beyond height 4.
    assert!(medians[3][3] < 244.0 && medians[4][3] > 244.0);
}
