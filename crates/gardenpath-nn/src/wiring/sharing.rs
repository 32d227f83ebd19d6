//! Rows that are equal for any weights are computed once: those built in the same way from the same rows.
//!
//! For forward passes only: there is no inverse for gradients. Every value is the same sum in the same order as without sharing.

use super::{Gather, Lists, Slots, Wiring};
use crate::matmul::{Link, TERMS};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Different lists of numbers, in the order in which they come.
#[derive(Clone, Debug, Default)]
pub struct Distinct {
    numbers: HashMap<Vec<u32>, u32, BuildHasherDefault<Mixer>>,
    /// All numbers in the lists.
    size: usize,
}

impl Distinct {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a list.
    fn number(&mut self, list: &[u32]) -> u32 {
        if let Some(&number) = self.numbers.get(list) {
            return number;
        }
        let next = self.len() as u32;
        self.size += list.len();
        self.numbers.insert(list.to_vec(), next);
        next
    }

    /// The numbers of lists of rows, which are now called `names`.
    pub fn rows(&mut self, lists: &Lists, names: &[u32]) -> Vec<u32> {
        let mut list = Vec::new();
        let of_list = |i| {
            let (items, times) = lists.get(i);
            let times = |k| times.map_or(1.0, |times: &[f32]| times[k]);
            list.clear();
            for (k, &item) in items.iter().enumerate() {
                list.extend([names[item as usize], times(k).to_bits()]);
            }
            self.number(&list)
        };
        (0..lists.len()).map(of_list).collect()
    }

    /// The lists by their numbers.
    fn lists(&self) -> Vec<&[u32]> {
        let mut lists = vec![&[][..]; self.len()];
        self.numbers.iter().for_each(|(list, &number)| lists[number as usize] = list);
        lists
    }

    /// The sums of rows for which the lists stand.
    pub fn gather(&self) -> Gather {
        let lists = self.lists();
        let of_list = |(i, list)| pairs(list).map(move |[row, times]| (i, row, f32::from_bits(times)));
        sums_of(lists.len(), (0..).zip(lists.iter().copied()).flat_map(of_list))
    }
}

/// A quick hash of lists of numbers that nobody chooses: what is read is multiplied, and the halves of the product are folded together.
#[derive(Clone, Copy, Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let product = u128::from(self.0 ^ u64::from_le_bytes(word)) * 0x9e37_79b9_7f4a_7c15;
            self.0 = product as u64 ^ (product >> 64) as u64;
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn pairs(list: &[u32]) -> impl Iterator<Item = [u32; 2]> + Clone {
    list.as_chunks::<2>().0.iter().copied()
}

/// Sums of rows without the inverse: (target, source, how often the source counts).
fn sums_of(count: usize, terms: impl Iterator<Item = (u32, u32, f32)> + Clone) -> Gather {
    Gather { sources: Lists::collect(count, terms), targets: Lists::default() }
}

impl Wiring {
    /// The most numbers that [`SharedLayer::add`] keeps of it.
    pub fn size(&self) -> usize {
        let links: usize = self.links.iter().map(Vec::len).sum();
        let sums = [&self.before, &self.after].into_iter().flatten().map(|gather| gather.sources.items.len());
        2 * (links + sums.sum::<usize>())
    }
}

/// A layer of several batches that are wired in the same way.
#[derive(Clone, Debug)]
pub struct SharedLayer {
    before: Option<Distinct>,
    /// Pairs of a role and a row.
    products: Distinct,
    after: Option<Distinct>,
}

impl SharedLayer {
    /// A layer to which such wirings can be added.
    pub fn like(wiring: &Wiring) -> Self {
        let [before, after] =
            [&wiring.before, &wiring.after].map(|gather| gather.as_ref().map(|_| Distinct::default()));
        SharedLayer { before, products: Distinct::default(), after }
    }

    /// Whether a wiring adds up rows where this layer does: elsewhere sums would be rounded differently.
    pub fn is_like(&self, wiring: &Wiring) -> bool {
        self.before.is_some() == wiring.before.is_some() && self.after.is_some() == wiring.after.is_some()
    }

    /// Adds the rows of a batch, whose children are now called `children`. Returns the names of its rows.
    pub fn add(&mut self, wiring: &Wiring, children: &[u32]) -> Vec<u32> {
        let sums = match (&mut self.before, &wiring.before) {
            (Some(before), Some(gather)) => &before.rows(&gather.sources, children),
            _ => children,
        };
        let mut links: Vec<_> = wiring.links.iter().map(|links| links.iter().peekable()).collect();
        let mut list = Vec::new();
        let product = |to| {
            list.clear();
            for (role, links) in (0..).zip(&mut links) {
                if let Some(link) = links.next_if(|link| link.to == to) {
                    list.extend([role, sums[link.from as usize]]);
                }
            }
            self.products.number(&list)
        };
        let products: Vec<u32> = (0..wiring.products as u32).map(product).collect();
        assert!(links.iter_mut().all(|links| links.peek().is_none()), "in each role, links go to increasing products");
        match (&mut self.after, &wiring.after) {
            (Some(after), Some(gather)) => after.rows(&gather.sources, &products),
            _ => products,
        }
    }

    fn parts(&self) -> impl Iterator<Item = &Distinct> {
        [self.before.as_ref(), Some(&self.products), self.after.as_ref()].into_iter().flatten()
    }

    /// The rows that are computed.
    pub fn rows(&self) -> usize {
        self.parts().map(Distinct::len).sum()
    }

    /// The numbers that say how.
    pub fn size(&self) -> usize {
        self.parts().map(|part| part.size).sum()
    }

    /// The wiring of all batches, given the number of roles, of rows below and of their channels.
    pub fn wiring(&self, roles: usize, children: usize, channels: usize) -> Wiring {
        let products = self.products.lists();
        let terms =
            || (0..).zip(&products).flat_map(|(to, list)| pairs(list).map(move |[role, from]| (to, role, from)));
        let sums = self.before.as_ref().map_or(children, Distinct::len);
        let before = self.before.as_ref().map(Distinct::gather);
        let targets = self.after.as_ref().unwrap_or(&self.products).len();
        // A product that is summed at once and then added is what would be added at once.
        if self.after.is_none() && channels <= TERMS {
            let uses = Slots::new(roles, sums, terms().map(|(_, role, from)| (role, from)));
            if 2 * uses.count() < self.products.size {
                let after = sums_of(targets, terms().map(|(to, role, from)| (to, uses.slot(role, from), 1.0)));
                let links = uses.links(|row, slot| Link { from: row, to: slot });
                return Wiring { targets, before, links, products: uses.count(), after: Some(after) };
            }
        }
        let mut links = vec![Vec::new(); roles];
        terms().for_each(|(to, role, from)| links[role as usize].push(Link { from, to }));
        Wiring { targets, before, links, products: products.len(), after: self.after.as_ref().map(Distinct::gather) }
    }
}
