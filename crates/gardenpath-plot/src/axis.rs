//! Axes: map numbers to positions along an edge of the frame.

use super::ticks::{Room, Stretch, Tick};

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Scale {
    /// Equal differences have equal lengths.
    #[default]
    Linear,
    /// Equal ratios have equal lengths; only positive numbers can be shown.
    Log10,
}

impl Scale {
    /// The number on the scale, if it can be shown.
    pub(super) fn length(self, value: f64) -> Option<f64> {
        let length = if self == Scale::Linear { value } else { value.log10() };
        // Distances between larger numbers would overflow.
        (length.abs() < 1e300).then_some(length)
    }
}

/// An axis of a chart.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// The label, with markup.
    pub label: String,
    /// The scale.
    pub scale: Scale,
    /// The range; `None` shows all data with some padding. The first end may be the larger one.
    pub range: Option<(f64, f64)>,
    /// Positions and labels (with markup) of ticks, such as the names of bars; chosen automatically if empty.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Axis { label: label.into(), scale: Scale::Log10, ..Axis::default() }
    }

    /// The axis with this range.
    pub fn range(self, from: f64, to: f64) -> Self {
        Axis { range: Some((from, to)), ..self }
    }

    /// The axis with these ticks.
    pub fn ticks(self, ticks: impl IntoIterator<Item = (f64, impl Into<String>)>) -> Self {
        Axis { ticks: ticks.into_iter().map(|(value, label)| (value, label.into())).collect(), ..self }
    }
}

/// The data that an axis without a given range must show.
#[derive(Clone, Debug, Default)]
pub(super) struct Extent {
    /// Numbers that get some padding.
    pub values: Vec<f64>,
    /// Numbers without padding, such as the zero line of bars.
    pub ends: Vec<f64>,
}

/// An axis with known range and ticks.
#[derive(Clone, Debug)]
pub(super) struct Ruler {
    scale: Scale,
    from: f64,
    to: f64,
    pub ticks: Vec<Tick>,
    /// Whether labels, such as names of bars, are too long to fit side by side.
    pub slanted: bool,
}

/// The padding around the data, as a fraction of their range.
const PADDING: f64 = 0.05;

impl Ruler {
    pub fn new(axis: &Axis, extent: &Extent, room: Room) -> Self {
        let scale = axis.scale;
        let given = axis.range.and_then(|(from, to)| Some((scale.length(from)?, scale.length(to)?)));
        let (from, to) = given.filter(|(from, to)| from != to).unwrap_or_else(|| padded(scale, extent));
        let mut ruler = Ruler { scale, from, to, ticks: Vec::new(), slanted: false };
        let shown = |tick: &Tick| ruler.place(tick.value).is_some_and(|place| (-1e-9..=1.0 + 1e-9).contains(&place));
        let stretch = Stretch { room, scale, low: from.min(to), high: from.max(to) };
        let given = axis.ticks.iter().map(|(value, label)| Tick::labelled(*value, label.clone()));
        let mut ticks = if axis.ticks.is_empty() { stretch.choose() } else { given.collect() };
        ticks.retain(shown);
        ticks.sort_by(|a, b| a.value.total_cmp(&b.value));
        ruler.slanted = !axis.ticks.is_empty() && !stretch.fits(&ticks, 2.5);
        ruler.ticks = ticks;
        ruler
    }

    /// The position of a number along the axis: 0 at the first end, 1 at the last.
    pub fn place(&self, value: f64) -> Option<f64> {
        Some(self.place_of_length(self.scale.length(value)?))
    }

    /// The same for a number already on the scale.
    pub fn place_of_length(&self, length: f64) -> f64 {
        (length - self.from) / (self.to - self.from)
    }

    /// The same for the end of an error bar, which is far outside if a logarithmic axis cannot show it.
    pub fn place_of_end(&self, value: f64) -> Option<f64> {
        match self.place(value) {
            None if value <= 0.0 => Some(if self.from < self.to { -10.0 } else { 11.0 }),
            place => place,
        }
    }

    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The two ends on the scale.
    pub fn ends(&self) -> (f64, f64) {
        (self.from, self.to)
    }
}

/// The range of an axis that shows all of this.
fn padded(scale: Scale, extent: &Extent) -> (f64, f64) {
    let ends = |values: &[f64]| {
        let lengths = values.iter().filter_map(|&value| scale.length(value));
        lengths.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    };
    let (inner, outer) = (ends(&extent.values), ends(&extent.ends));
    let (low, high) = (inner.0.min(outer.0), inner.1.max(outer.1));
    if low > high {
        return (0.0, 1.0);
    }
    if low == high {
        // A single number is centered.
        let room = if scale == Scale::Linear && low != 0.0 { low.abs() / 2.0 } else { 0.5 };
        return (low - room, high + room);
    }
    let room = PADDING * (high - low);
    (if inner.0 >= outer.0 { low } else { low - room }, if inner.1 <= outer.1 { high } else { high + room })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruler(axis: Axis, values: &[f64], ends: &[f64]) -> Ruler {
        Ruler::new(&axis, &Extent { values: values.to_vec(), ends: ends.to_vec() }, Room::Along(200.0))
    }

    #[test]
    fn data_are_inside_with_room() {
        let ruler = ruler(Axis::log("P"), &[10.0, 0.0, f64::NAN, 1000.0], &[]);
        let places: Vec<f64> = [10.0, 1000.0].map(|value| ruler.place(value).unwrap()).into();
        assert!(places[0] > 0.03 && places[0] < 0.06 && places[1] < 0.97, "{places:?}");
        assert_eq!(ruler.place(0.0), None);
        assert!(ruler.place_of_end(0.0).unwrap() < 0.0);
    }

    #[test]
    fn bars_stand_on_the_edge() {
        let ruler = ruler(Axis::linear("n"), &[3.0, 5.0], &[0.0]);
        assert_eq!(ruler.place(0.0), Some(0.0));
        assert!(ruler.place(5.0).unwrap() < 1.0);
    }

    #[test]
    fn ranges_may_be_reversed_and_nonsense_is_ignored() {
        let turned = ruler(Axis::linear("x").range(4.0, 2.0), &[], &[]);
        assert_eq!((turned.place(4.0), turned.place(2.0)), (Some(0.0), Some(1.0)));
        assert!(turned.ticks.len() > 1);
        let ignored = ruler(Axis::log("x").range(-1.0, 10.0), &[1.0, 100.0], &[]);
        assert!(ignored.place(100.0).unwrap() < 1.0);
    }

    #[test]
    fn long_names_are_slanted() {
        let axis = |name: &str| Axis::linear("").ticks((0..9).map(|k| (f64::from(k), name)));
        let values: Vec<f64> = (0..9).map(f64::from).collect();
        assert!(!ruler(axis("abc"), &values, &[]).slanted);
        assert!(ruler(axis("transformer"), &values, &[]).slanted);
    }

    #[test]
    fn one_number_or_none_is_enough() {
        assert_eq!(ruler(Axis::linear("x"), &[5.0], &[]).place(5.0), Some(0.5));
        assert_eq!(ruler(Axis::linear("x"), &[], &[]).place(0.5), Some(0.5));
    }
}
