//! How the rows of one layer are made from the rows below, for one batch.
//!
//! A row of a layer is `relu(Σ times child W[role])` over its inputs, each a row below in one of a few roles: the taps of a
//! convolution, or the places of a split. Three ways lead to the same sum, and the number of rows that must be multiplied
//! decides between them:
//!
//! - **direct**: each input is multiplied on its way to its target;
//! - **children first**: each child is multiplied once for each role that it plays, then the products are added up;
//! - **sums first**: the inputs of a target in one role are added up, then multiplied.
//!
//! Convolutions are direct. In an inside network the second is best near the tokens, where few different children serve many
//! targets, and the third at the root, where many splits meet in one cell.

mod sharing;

pub use sharing::{Distinct, SharedLayer};

use crate::matmul::Link;

/// One input of a target: a row below, and the role in which it enters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// Which weight matrix multiplies the row.
    pub role: u32,
    /// The row below.
    pub child: u32,
    /// How often it enters: a whole number.
    pub times: f32,
}

/// Lists of rows: list `i` is `items[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lists {
    offsets: Vec<u32>,
    items: Vec<u32>,
    /// How often each item counts; empty if each counts once.
    times: Vec<f32>,
}

impl Lists {
    /// The lists of the values with equal keys, in the order in which they come: (key, value, how often the value counts).
    pub fn collect(count: usize, entries: impl Iterator<Item = (u32, u32, f32)> + Clone) -> Self {
        let mut offsets = vec![0; count + 1];
        let mut once = true;
        for (key, _, times) in entries.clone() {
            offsets[key as usize + 1] += 1;
            once &= times == 1.0;
        }
        for i in 0..count {
            offsets[i + 1] += offsets[i];
        }
        let len = offsets[count] as usize;
        let (mut items, mut all_times) = (vec![0; len], vec![0.0; if once { 0 } else { len }]);
        let mut next = offsets.clone();
        for (key, value, times) in entries {
            let place = next[key as usize] as usize;
            items[place] = value;
            if !once {
                all_times[place] = times;
            }
            next[key as usize] += 1;
        }
        Lists { offsets, items, times: all_times }
    }

    /// The number of lists.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// List `i`, and how often each of its rows counts, if not all count once.
    pub fn get(&self, i: usize) -> (&[u32], Option<&[f32]>) {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        (&self.items[range.clone()], (!self.times.is_empty()).then(|| &self.times[range]))
    }
}

/// Sums of rows: which rows are added up, and the inverse for the gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct Gather {
    /// The rows whose sum is row `i` of the result.
    pub sources: Lists,
    /// The rows of the result that row `i` is part of.
    pub targets: Lists,
}

impl Gather {
    /// The sums of `sources` rows into `targets` rows: (target, source, how often the source counts).
    pub fn new(targets: usize, sources: usize, terms: impl Iterator<Item = (u32, u32, f32)> + Clone + Send) -> Self {
        let inverse = terms.clone().map(|(target, source, times)| (source, target, times));
        let (sources, targets) = rayon::join(|| Lists::collect(targets, terms), || Lists::collect(sources, inverse));
        Gather { sources, targets }
    }
}

/// All sums of one layer for one batch: rows are added up, multiplied along links, and added up again.
#[derive(Clone, Debug, PartialEq)]
pub struct Wiring {
    /// Rows of the layer.
    pub targets: usize,
    /// Sums of children that are multiplied, if not the children themselves.
    pub before: Option<Gather>,
    /// For each role the products to be made; both ends increase.
    pub links: Vec<Vec<Link>>,
    /// Rows of products, if they are not the rows of the layer.
    pub products: usize,
    /// Sums of products, if not the products themselves.
    pub after: Option<Gather>,
}

impl Wiring {
    /// The cheapest way to compute a layer with `roles` matrices from `children` rows.
    ///
    /// `inputs` has the targets in order, each with its inputs.
    pub fn new(roles: usize, children: usize, targets: usize, inputs: &[(u32, Input)]) -> Self {
        // If both ends increase, no child plays a role twice and no target has two inputs in one role: nothing is cheaper.
        if let Some(links) = increasing_links(roles, inputs) {
            return Wiring { targets, before: None, links, products: targets, after: None };
        }
        let (uses, sums) = rayon::join(
            || Slots::new(roles, children, inputs.iter().map(|&(_, input)| (input.role, input.child))),
            || Slots::new(roles, targets, inputs.iter().map(|&(target, input)| (input.role, target))),
        );
        if uses.count() <= sums.count() {
            let terms = inputs.iter().map(|&(target, input)| (target, uses.slot(input.role, input.child), input.times));
            let after = Gather::new(targets, uses.count(), terms);
            let links = uses.links(|child, slot| Link { from: child, to: slot });
            Wiring { targets, before: None, links, products: uses.count(), after: Some(after) }
        } else {
            let terms = inputs.iter().map(|&(target, input)| (sums.slot(input.role, target), input.child, input.times));
            let before = Gather::new(sums.count(), children, terms);
            let links = sums.links(|target, slot| Link { from: slot, to: target });
            Wiring { targets, before: Some(before), links, products: targets, after: None }
        }
    }
}

/// The links of a direct layer, if both ends increase in each role and each input enters once.
fn increasing_links(roles: usize, inputs: &[(u32, Input)]) -> Option<Vec<Vec<Link>>> {
    let mut links: Vec<Vec<Link>> = vec![Vec::new(); roles];
    for &(to, Input { role, child: from, times }) in inputs {
        let links = &mut links[role as usize];
        if times != 1.0 || links.last().is_some_and(|last| last.from >= from || last.to >= to) {
            return None;
        }
        links.push(Link { from, to });
    }
    Some(links)
}

/// Numbers for the pairs of a role and a row that occur, ordered by role and row.
struct Slots {
    rows: usize,
    /// `slots[role * rows + row]`, or `ABSENT`.
    slots: Vec<u32>,
    count: u32,
}

const ABSENT: u32 = u32::MAX;

impl Slots {
    fn new(roles: usize, rows: usize, pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut slots = vec![ABSENT; roles * rows];
        for (role, row) in pairs {
            slots[role as usize * rows + row as usize] = 0;
        }
        let mut count = 0;
        for slot in slots.iter_mut().filter(|slot| **slot != ABSENT) {
            *slot = count;
            count += 1;
        }
        Slots { rows, slots, count }
    }

    fn count(&self) -> usize {
        self.count as usize
    }

    fn slot(&self, role: u32, row: u32) -> u32 {
        self.slots[role as usize * self.rows + row as usize]
    }

    fn links(&self, link: impl Fn(u32, u32) -> Link) -> Vec<Vec<Link>> {
        let of_role = |slots: &[u32]| {
            let present = slots.iter().enumerate().filter(|(_, slot)| **slot != ABSENT);
            present.map(|(row, &slot)| link(row as u32, slot)).collect()
        };
        self.slots.chunks(self.rows.max(1)).map(of_role).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::Seed;

    /// The terms of all lists: list, row, and how often it counts.
    fn terms(lists: &Lists) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        (0..lists.len()).flat_map(|i| {
            let (items, times) = lists.get(i);
            items.iter().enumerate().map(move |(k, &j)| (i as u32, j, times.map_or(1.0, |times| times[k])))
        })
    }

    /// The sums `Σ times * factor[role] * value[child]` of all targets, along the wiring.
    fn evaluate(wiring: &Wiring, values: &[f64], factors: &[f64]) -> Vec<f64> {
        let gather = |gather: &Gather, values: &[f64]| -> Vec<f64> {
            terms(&gather.sources).fold(vec![0.0; gather.sources.len()], |mut sums, (i, j, times)| {
                sums[i as usize] += f64::from(times) * values[j as usize];
                sums
            })
        };
        let inputs = wiring.before.as_ref().map_or(values.to_vec(), |before| gather(before, values));
        let mut products = vec![0.0; wiring.products];
        for (links, factor) in wiring.links.iter().zip(factors) {
            assert!(links.windows(2).all(|pair| pair[0].from < pair[1].from && pair[0].to < pair[1].to));
            links.iter().for_each(|link| products[link.to as usize] += factor * inputs[link.from as usize]);
        }
        wiring.after.as_ref().map_or(products.clone(), |after| gather(after, &products))
    }

    #[test]
    fn all_ways_give_the_same_sums() {
        let mut stream = Seed::new(8).stream(0);
        let (mut direct, mut before, mut after) = (0, 0, 0);
        for case in 0..300 {
            let (children, targets) = (1 + stream.below(30) as usize, 1 + stream.below(30) as usize);
            let most = [1, 3, 40][case % 3];
            let mut inputs = Vec::new();
            for target in 0..targets as u32 {
                for _ in 0..stream.below(most + 1) {
                    let child = stream.below(children as u64) as u32;
                    let times = if case % 2 == 0 { 1.0 } else { 1.0 + stream.below(3) as f32 };
                    inputs.push((target, Input { role: stream.below(2) as u32, child, times }));
                }
            }
            if case % 6 == 0 {
                // A permutation of rows that increases: the direct way.
                let input = |i| (i, Input { role: i % 2, child: i, times: 1.0 });
                inputs = (0..targets.min(children) as u32).map(input).collect();
            }
            let values: Vec<f64> = (0..children).map(|_| stream.unit()).collect();
            let factors = [0.5, -2.0];
            let mut expected = vec![0.0; targets];
            for &(target, Input { role, child, times }) in &inputs {
                expected[target as usize] += f64::from(times) * factors[role as usize] * values[child as usize];
            }
            let wiring = Wiring::new(2, children, targets, &inputs);
            let found = evaluate(&wiring, &values, &factors);
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "case {case}");
            for gather in [&wiring.before, &wiring.after].into_iter().flatten() {
                let sorted = |mut terms: Vec<(u32, u32, f32)>| {
                    terms.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
                    terms
                };
                let inverse = terms(&gather.targets).map(|(i, j, times)| (j, i, times)).collect();
                assert_eq!(sorted(terms(&gather.sources).collect()), sorted(inverse));
            }
            match (&wiring.before, &wiring.after) {
                (None, None) => direct += 1,
                (Some(_), None) => before += 1,
                (None, Some(_)) => after += 1,
                _ => panic!("sums before and after"),
            }
        }
        assert!(direct > 20 && before > 20 && after > 20, "{direct} {before} {after}");
    }
}
