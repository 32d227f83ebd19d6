//! How the rows of one layer are made from the rows below, for one batch.
//!
//! A row of a layer is `relu(Σ child W[role])` over its inputs, each a row below in one of a few roles: the taps of a
//! convolution, or the places of a split. Three ways lead to the same sum, and the number of rows that must be multiplied
//! decides between them:
//!
//! - **direct**: each input is multiplied on its way to its target;
//! - **children first**: each child is multiplied once for each role that it plays, then the products are added up;
//! - **sums first**: the inputs of a target in one role are added up, then multiplied.
//!
//! Convolutions are direct. In an inside network the second is best near the tokens, where few different children serve many
//! targets, and the third at the root, where many splits meet in one cell.

use crate::matmul::Link;
use std::slice::from_ref;

/// One input of a target: a row below, and the role in which it enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Which weight matrix multiplies the row.
    pub role: u32,
    /// The row below.
    pub child: u32,
}

/// Lists of rows: list `i` is `items[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    offsets: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// The lists of the values with equal keys, in the order in which they come.
    pub fn collect(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut offsets = vec![0; count + 1];
        for (key, _) in pairs.clone() {
            offsets[key as usize + 1] += 1;
        }
        for i in 0..count {
            offsets[i + 1] += offsets[i];
        }
        let mut items = vec![0; offsets[count] as usize];
        let mut next = offsets.clone();
        for (key, value) in pairs {
            items[next[key as usize] as usize] = value;
            next[key as usize] += 1;
        }
        Lists { offsets, items }
    }

    /// The number of lists.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// List `i`.
    pub fn get(&self, i: usize) -> &[u32] {
        &self.items[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }
}

/// Sums of rows: which rows are added up, and the inverse for the gradient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gather {
    /// The rows whose sum is row `i` of the result.
    pub sources: Lists,
    /// The rows of the result that row `i` is part of.
    pub targets: Lists,
}

impl Gather {
    /// The sums of `sources` rows into `targets` rows, given as pairs of a target and a source.
    pub fn new(targets: usize, sources: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone + Send) -> Self {
        let inverse = pairs.clone().map(|(target, source)| (source, target));
        let (sources, targets) = rayon::join(|| Lists::collect(targets, pairs), || Lists::collect(sources, inverse));
        Gather { sources, targets }
    }
}

/// All sums of one layer for one batch: rows are added up, multiplied along links, and added up again.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        let (uses, sums) = rayon::join(
            || Slots::new(roles, children, inputs.iter().map(|&(_, input)| (input.role, input.child))),
            || Slots::new(roles, targets, inputs.iter().map(|&(target, input)| (input.role, target))),
        );
        if inputs.len() <= uses.count().min(sums.count())
            && let Some(links) = increasing_links(roles, inputs)
        {
            return Wiring { targets, before: None, links, products: targets, after: None };
        }
        if uses.count() <= sums.count() {
            let pairs = inputs.iter().map(|&(target, input)| (target, uses.slot(input.role, input.child)));
            let after = Gather::new(targets, uses.count(), pairs);
            let links = uses.links(|child, slot| Link { from: child, to: slot });
            Wiring { targets, before: None, links, products: uses.count(), after: Some(after) }
        } else {
            let pairs = inputs.iter().map(|&(target, input)| (sums.slot(input.role, target), input.child));
            let before = Gather::new(sums.count(), children, pairs);
            let links = sums.links(|target, slot| Link { from: slot, to: target });
            Wiring { targets, before: Some(before), links, products: targets, after: None }
        }
    }
}

impl Wiring {
    /// What each row is made of, in the order of the rows, whichever way it is computed.
    pub fn inputs(&self) -> Vec<(u32, Input)> {
        let mut inputs = Vec::new();
        for (role, link) in (0..).zip(&self.links).flat_map(|(role, links)| links.iter().map(move |link| (role, link)))
        {
            let children =
                self.before.as_ref().map_or(from_ref(&link.from), |before| before.sources.get(link.from as usize));
            let targets = self.after.as_ref().map_or(from_ref(&link.to), |after| after.targets.get(link.to as usize));
            for &target in targets {
                inputs.extend(children.iter().map(|&child| (target, Input { role, child })));
            }
        }
        inputs.sort_by_key(|&(target, Input { role, child })| (target, role, child));
        inputs
    }
}

/// The links of a direct layer, if both ends increase in each role.
fn increasing_links(roles: usize, inputs: &[(u32, Input)]) -> Option<Vec<Vec<Link>>> {
    let mut links: Vec<Vec<Link>> = vec![Vec::new(); roles];
    for &(to, Input { role, child: from }) in inputs {
        let links = &mut links[role as usize];
        if links.last().is_some_and(|last| last.from >= from || last.to >= to) {
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

    /// The sums `Σ factor[role] * value[child]` of all targets, along the wiring.
    fn evaluate(wiring: &Wiring, values: &[f64], factors: &[f64]) -> Vec<f64> {
        let gather = |gather: &Gather, values: &[f64]| -> Vec<f64> {
            let sum = |i| gather.sources.get(i).iter().map(|&j| values[j as usize]).sum();
            (0..gather.sources.len()).map(sum).collect()
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
                    inputs.push((target, Input { role: stream.below(2) as u32, child }));
                }
            }
            if case % 6 == 0 {
                // A permutation of rows that increases: the direct way.
                inputs = (0..targets.min(children) as u32).map(|i| (i, Input { role: i % 2, child: i })).collect();
            }
            let values: Vec<f64> = (0..children).map(|_| stream.unit()).collect();
            let factors = [0.5, -2.0];
            let mut expected = vec![0.0; targets];
            for &(target, Input { role, child }) in &inputs {
                expected[target as usize] += factors[role as usize] * values[child as usize];
            }
            let wiring = Wiring::new(2, children, targets, &inputs);
            inputs.sort_by_key(|&(target, Input { role, child })| (target, role, child));
            assert_eq!(wiring.inputs(), inputs);
            let found = evaluate(&wiring, &values, &factors);
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "case {case}");
            for gather in [&wiring.before, &wiring.after].into_iter().flatten() {
                let pairs = |lists: &Lists, flip: bool| {
                    let of =
                        |i: usize| lists.get(i).iter().map(move |&j| if flip { (j, i as u32) } else { (i as u32, j) });
                    let mut pairs: Vec<(u32, u32)> = (0..lists.len()).flat_map(of).collect();
                    pairs.sort_unstable();
                    pairs
                };
                assert_eq!(pairs(&gather.sources, false), pairs(&gather.targets, true));
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
