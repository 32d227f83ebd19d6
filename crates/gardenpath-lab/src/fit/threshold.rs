//! Where the curves of a group cross a level.

use super::crossing::{Direction, crossings};
use super::mean::{Missing, of_positive};
use super::{Curve, Estimate, Group};
use crate::draw::table::short;

/// The x at which curves cross a level: the geometric mean over seeds, with Student's interval of its logarithm.
///
/// Each seed's crossing is read off its own curve by [`crossing`](super::crossing). Seeds that do not cross within the
/// measured range are not dropped: they open the interval or prevent an estimate, as described at
/// [`geometric_mean`](super::geometric_mean), and `because` has the reason. Fewer than five seeds give no interval.
///
/// ```
/// use gardenpath_lab::fit::{Curve, Direction, Group, threshold};
///
/// // Five grammars that need 80 to 125 samples.
/// let curve = |star: f64| Curve::new((0..8).map(|k| 2f64.powi(k + 3)).map(|p| (p, 1.0 / (1.0 + p / star))));
/// let group = Group::new(8.0, [80.0, 90.0, 100.0, 111.0, 125.0].map(curve));
/// let found = threshold(&group, 0.5, Direction::Falls);
/// assert!((found.value / 100.0 - 1.0).abs() < 0.01 && found.contains(100.0) && !found.contains(150.0));
///
/// // The curves do not fall to 0.05 by 1024 samples, and the estimate says so.
/// let never = threshold(&group, 0.05, Direction::Falls);
/// assert_eq!(never.because.unwrap(), "5 of 5 curves do not fall to 0.05 within the measured range");
/// ```
pub fn threshold(group: &Group<Curve>, level: f64, direction: Direction) -> Estimate {
    let words = |missing: Missing| not_crossing(missing, level, direction);
    of_positive(&crossings(group, level, direction).replicates, words)
}

/// How many curves do not cross, and on which side.
fn not_crossing(missing: Missing, level: f64, direction: Direction) -> String {
    let Missing { below, above, all } = missing;
    let (verb, side) = if direction == Direction::Falls { ("fall", "below") } else { ("rise", "above") };
    let level = short(level);
    let late = format!("{above} of {all} curves do not {verb} to {level} within the measured range");
    let early = format!("{below} of {all} curves are {side} {level} at their first point");
    match (below, above) {
        (0, _) => late,
        (_, 0) => early,
        _ => format!("{late}, and {early}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(star: f64) -> Curve {
        Curve::new((0..=6).map(f64::from).map(|x| (x.exp(), star.ln() - x)))
    }

    #[test]
    fn the_mean_is_taken_over_logarithms() {
        let stars = [1.5f64, 2.0, 2.2, 3.1, 2.7];
        let group = Group::new(1.0, stars.map(|x| line(x.exp())));
        let found = threshold(&group, 0.0, Direction::Falls);
        assert!((found.value.ln() - 2.3).abs() < 1e-12 && found.seeds == 5 && found.because.is_none());
        let rising = Group::new(
            1.0,
            group.replicates.iter().map(|curve| Curve::new(curve.points().iter().map(|(x, y)| (*x, -y)))),
        );
        let other = threshold(&rising, 0.0, Direction::Rises);
        assert!((other.interval.unwrap().0 / found.interval.unwrap().0 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn curves_that_do_not_cross_are_said_to() {
        let because = |stars: &[f64], direction| {
            let found = threshold(&Group::new(1.0, stars.iter().map(|x| line(x.exp()))), 0.0, direction);
            (found.value.is_nan(), found.because.unwrap_or_default())
        };
        let (refused, words) = because(&[1.0, 2.0, 3.0, 4.0, 7.0], Direction::Falls);
        assert!(!refused && words.starts_with("1 of 5 curves do not fall to 0 within the measured range; "), "{words}");
        let (refused, words) = because(&[1.0, -1.0, 3.0, 4.0, 5.0], Direction::Falls);
        assert!(!refused && words.starts_with("1 of 5 curves are below 0 at their first point"), "{words}");
        let (refused, words) = because(&[1.0, -1.0, 3.0, 7.0, 5.0], Direction::Falls);
        assert!(refused && words.contains(" and 1 of 5 curves are below"), "{words}");
        let (refused, words) = because(&[1.0, 2.0], Direction::Falls);
        assert!(!refused && words == "2 seeds; an interval needs at least 5", "{words}");
        assert!(because(&[4.0, 5.0, 6.0], Direction::Rises).1.starts_with("3 of 3 curves are above 0 at"));
    }
}
