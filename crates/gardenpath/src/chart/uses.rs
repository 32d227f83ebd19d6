//! Uses of rules, in a list whose length does not grow with the sentence.

use crate::semiring::Semiring;

/// The uses of the rules of one layer: each rule with the value of the derivations that use it there.
///
/// Short sentences have few uses, and they are kept as they come. A longer list is summed by rule again and again, so that it
/// never has more than [`RuleUses::SHORT`] entries or eight for each rule.
#[derive(Clone, Debug)]
pub(super) struct RuleUses<S> {
    uses: Vec<(u32, S)>,
    rules: usize,
}

impl<S: Semiring> RuleUses<S> {
    /// Shorter lists are never summed.
    const SHORT: usize = 4096;

    /// No uses of `rules` rules.
    pub fn new(rules: usize) -> Self {
        RuleUses { uses: Vec::new(), rules }
    }

    /// Forgets all uses, and turns to a layer of `rules` rules.
    pub fn clear(&mut self, rules: usize) {
        self.uses.clear();
        self.rules = rules;
    }

    /// Adds a use.
    #[inline]
    pub fn push(&mut self, rule: usize, value: S) {
        if self.uses.len() == Self::SHORT.max((4 * self.rules).next_power_of_two()) {
            self.sum_by_rule();
        }
        self.uses.push((rule as u32, value));
    }

    /// All uses; a rule may stand here several times.
    pub fn as_slice(&self) -> &[(u32, S)] {
        &self.uses
    }

    #[cold]
    fn sum_by_rule(&mut self) {
        // The place of each rule in the shorter list, plus one.
        let mut places = vec![0u32; self.rules];
        let mut kept = 0;
        for k in 0..self.uses.len() {
            let place = &mut places[self.uses[k].0 as usize];
            if *place == 0 {
                self.uses.swap(kept, k);
                kept += 1;
                *place = kept as u32;
            } else {
                let value = std::mem::replace(&mut self.uses[k].1, S::zero());
                self.uses[*place as usize - 1].1.add(value);
            }
        }
        self.uses.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_summed_and_nothing_is_lost() {
        for rules in [3, 5000] {
            let mut uses = RuleUses::<f64>::new(rules);
            let mut expected = vec![0.0; rules];
            let mut longest = 0;
            for k in 0..1_000_000usize {
                let rule = k * k % rules;
                uses.push(rule, k as f64);
                expected[rule] += k as f64;
                longest = longest.max(uses.as_slice().len());
            }
            assert!(longest <= 2 * RuleUses::<f64>::SHORT.max(4 * rules), "{longest} entries for {rules} rules");
            let mut found = vec![0.0; rules];
            uses.as_slice().iter().for_each(|&(rule, value)| found[rule as usize] += value);
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn short_lists_are_kept_as_they_come() {
        let mut uses = RuleUses::<f64>::new(2);
        (0..100).for_each(|k| uses.push(k % 2, k as f64));
        let expected: Vec<(u32, f64)> = (0..100).map(|k| (k % 2, f64::from(k))).collect();
        assert_eq!(uses.as_slice(), expected);
    }
}
