//! The scales of an experiment, which name its grids.

use std::borrow::Cow;
use std::str::FromStr;

/// The name of a set of grids: `[[quick]]`, `[[full]]`, or any other.
///
/// ```
/// use gardenpath_lab::experiment::Scale;
///
/// assert_eq!("full".parse(), Ok(Scale::FULL));
/// assert_eq!("two-nodes".parse::<Scale>().unwrap().name(), "two-nodes");
/// assert!("grid".parse::<Scale>().is_err() && "".parse::<Scale>().is_err() && "a b".parse::<Scale>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scale(Cow<'static, str>);

/// Keys of an experiment that are not scales.
pub const RESERVED: [&str; 11] =
    ["measure", "uses", "title", "expects", "caption", "figure", "parameters", "grid", "fit", "claim", "panel"];

/// Maximum length of a name.
const LONGEST: usize = 40;

impl Scale {
    /// A few minutes on two cores.
    pub const QUICK: Scale = Scale(Cow::Borrowed("quick"));
    /// A day on a few cores.
    pub const DAY: Scale = Scale(Cow::Borrowed("day"));
    /// The sizes of the paper.
    pub const FULL: Scale = Scale(Cow::Borrowed("full"));
    /// The scales with a common meaning in all experiments, smallest first.
    pub const USUAL: [Scale; 3] = [Scale::QUICK, Scale::DAY, Scale::FULL];

    /// Its name in files.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The sort key in lists: the usual ones first, by size.
    pub(super) fn order(&self) -> (usize, &str) {
        (Self::USUAL.iter().position(|usual| usual == self).unwrap_or(Self::USUAL.len()), &self.0)
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        check_name(text)?;
        if RESERVED.contains(&text) {
            return Err(format!("{text} is not a scale but another key"));
        }
        Ok(Scale(Cow::Owned(text.to_owned())))
    }
}

/// Refuses names that are unsuitable for a file or a key.
pub(super) fn check_name(text: &str) -> Result<(), String> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
    if !starts || !text.chars().all(is_letter) || text.len() > LONGEST {
        return Err(format!(
            "expected a name of at most {LONGEST} letters, digits, hyphens and underscores, beginning with a letter"
        ));
    }
    Ok(())
}
