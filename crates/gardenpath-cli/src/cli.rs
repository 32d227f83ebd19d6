//! Arguments shared by several commands, and parsers of numbers.

mod choice;
pub mod ensemble;
pub mod fraction;
pub mod rounding;

pub use choice::choice;
use gardenpath::Seed;

/// The `--seed` option of a command.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct SeedOption {
    /// Random seed [default: 0]
    #[arg(long, value_parser = whole_number)]
    seed: Option<u64>,
}

impl SeedOption {
    /// The seed as a number; 0 if none was given.
    pub fn number(self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// The seed itself.
    pub fn get(self) -> Seed {
        Seed::new(self.number())
    }

    /// Returns an error if a seed was given to a command that uses none; `why` explains the reason.
    pub fn refuse(self, why: &str) -> anyhow::Result<()> {
        refuse("--seed", self.seed, why)
    }
}

/// Returns an error if an option was given that has no effect; `why` says when it has one.
pub fn refuse<T>(option: &str, given: Option<T>, why: &str) -> anyhow::Result<()> {
    if given.is_some() {
        anyhow::bail!("{option} has no effect here: {why}");
    }
    Ok(())
}

/// Reads a whole number, also as `1e6` or `1_000_000`.
pub fn whole_number(text: &str) -> Result<u64, String> {
    decimal(&text.replace('_', "")).ok_or_else(|| "expected a whole number such as 1000 or 1e6".to_owned())
}

/// Parses `digits` or `digits.digits`, optionally followed by `e` and an exponent. Returns `None` unless the value is a
/// whole number that fits: nothing is rounded.
fn decimal(text: &str) -> Option<u64> {
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let part = part.trim_end_matches('0');
    let zeros = power.parse::<u32>().ok()?.checked_sub(part.len() as u32)?;
    let digits: u64 = format!("{whole}{part}").parse().ok()?;
    digits.checked_mul(10u64.checked_pow(zeros)?)
}

/// Wraps each value in `Some`, or returns a single `None` if there are no values.
pub fn each<T: Copy>(values: &[T]) -> Vec<Option<T>> {
    if values.is_empty() { vec![None] } else { values.iter().copied().map(Some).collect() }
}

/// Parses the size of something held in memory.
pub fn size(text: &str) -> Result<usize, String> {
    whole_number(text).and_then(|number| usize::try_from(number).map_err(|e| e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_in_all_notations() {
        for (text, number) in
            [("0", 0), ("1e6", 1_000_000), ("2.5e3", 2500), ("1_000", 1000), ("1E9", 1_000_000_000), ("1.0", 1)]
        {
            assert_eq!(whole_number(text), Ok(number), "{text}");
        }
        assert_eq!(whole_number("18446744073709551615"), Ok(u64::MAX));
        for text in ["", "-1", "1.5", "nan", "inf", "1e-3", "1e300", "ten", "18446744073709551616"] {
            assert!(whole_number(text).is_err(), "{text}");
        }
    }
}
