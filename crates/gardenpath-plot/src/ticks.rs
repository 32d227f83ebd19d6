//! Ticks at round numbers, as many as fit.

use super::axis::Scale;
use super::text::Text;

/// The size of tick labels in points.
pub(super) const TICK_SIZE: f64 = 7.0;

/// The minimum distance between labels.
const GAP: f64 = 5.0;

/// A tick of an axis.
#[derive(Clone, Debug)]
pub(super) struct Tick {
    pub value: f64,
    /// The label with markup; minor ticks between decades have none.
    pub label: Option<String>,
}

impl Tick {
    pub fn labelled(value: f64, label: String) -> Self {
        Tick { value, label: Some(label) }
    }

    fn small(value: f64) -> Self {
        Tick { value, label: None }
    }
}

/// The length of an axis in points, which limits the number of ticks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Room {
    /// Horizontal: labels are side by side, so their widths matter.
    Along(f64),
    /// Vertical: labels are stacked.
    Up(f64),
}

/// An axis that needs ticks: its length in points, and its range on the scale.
pub(super) struct Stretch {
    pub room: Room,
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
}

impl Stretch {
    /// Round numbers.
    pub fn choose(&self) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => self.linear(self.low, self.high),
            Scale::Log10 => self.logarithmic(),
        }
    }

    /// Whether neighboring labels leave a gap of this width. The ticks must be sorted.
    pub fn fits(&self, ticks: &[Tick], gap: f64) -> bool {
        let (Room::Along(room) | Room::Up(room)) = self.room;
        let place = |tick: &Tick| {
            let length = self.scale.length(tick.value).unwrap_or(self.low);
            room * (length - self.low) / (self.high - self.low)
        };
        let size = |tick: &Tick| match (&tick.label, self.room) {
            (Some(label), Room::Along(_)) => Text::new(label).width(TICK_SIZE),
            _ => TICK_SIZE,
        };
        ticks.windows(2).all(|pair| place(&pair[1]) - place(&pair[0]) >= (size(&pair[0]) + size(&pair[1])) / 2.0 + gap)
    }

    /// Ticks at equal distances.
    fn linear(&self, low: f64, high: f64) -> Vec<Tick> {
        let wanted = match self.room {
            Room::Along(length) => length / 32.0,
            Room::Up(length) => length / 22.0,
        };
        let wanted = wanted.clamp(2.0, 8.0) as usize;
        let ticks = |count: usize| {
            let (step, values) = round_numbers(low, high, count);
            let labels = decimal_labels(&values, step);
            values.into_iter().zip(labels).map(|(value, label)| Tick::labelled(value, label)).collect::<Vec<_>>()
        };
        (1..=wanted).rev().map(ticks).find(|ticks| self.fits(ticks, GAP)).unwrap_or_default()
    }

    fn logarithmic(&self) -> Vec<Tick> {
        let (first, last) = ((self.low - 1e-9).ceil() as i32, (self.high + 1e-9).floor() as i32);
        if self.high - self.low >= 1.5 && last > first { self.decades(first, last) } else { self.within_decades() }
    }

    /// Labels 10^k at every decade, or at every second, third, … if there are many.
    fn decades(&self, first: i32, last: i32) -> Vec<Tick> {
        let labelled = |stride: i32| -> Vec<Tick> {
            let powers = (first..=last).filter(|power| power.rem_euclid(stride) == 0);
            powers.map(|power| Tick::labelled(10_f64.powi(power), format!("10^{{{power}}}"))).collect()
        };
        let stride = (1..=last - first).find(|&stride| self.fits(&labelled(stride), GAP)).unwrap_or(last - first + 1);
        let mut ticks = labelled(stride);
        for power in first - 1..=last {
            let decade = 10_f64.powi(power);
            if stride == 1 {
                ticks.extend((2..=9).map(|digit| Tick::small(f64::from(digit) * decade)));
            } else if power.rem_euclid(stride) != 0 {
                ticks.push(Tick::small(decade));
            }
        }
        ticks
    }

    /// Labels at 1, 2 and 5 times powers of ten, or as on a linear axis if hardly any of these are visible.
    fn within_decades(&self) -> Vec<Tick> {
        let visible = |digits: &[u32]| -> Vec<f64> {
            let powers = (self.low.floor() as i32 - 1)..=(self.high.ceil() as i32);
            let values = powers.flat_map(|power| digits.iter().map(move |&digit| times_power(digit, power)));
            values.filter(|value| (self.low - 1e-9..=self.high + 1e-9).contains(&value.log10())).collect()
        };
        for digits in [&[1, 2, 5][..], &[1, 3], &[1]] {
            let mut ticks: Vec<Tick> =
                visible(digits).into_iter().map(|value| Tick::labelled(value, short_label(value))).collect();
            if ticks.len() >= 2 && self.fits(&ticks, GAP) {
                let others: Vec<u32> = (1..=9).filter(|digit| !digits.contains(digit)).collect();
                ticks.extend(visible(&others).into_iter().map(Tick::small));
                return ticks;
            }
        }
        self.linear(10_f64.powf(self.low), 10_f64.powf(self.high))
    }
}

/// A digit times a power of ten, rounded only once: three times 0.1 is 0.3.
fn times_power(digit: u32, power: i32) -> f64 {
    if power < 0 { f64::from(digit) / 10_f64.powi(-power) } else { f64::from(digit) * 10_f64.powi(power) }
}

/// About `count` multiples of 1, 2 or 5 times a power of ten at most, and the distance between them.
fn round_numbers(low: f64, high: f64, count: usize) -> (f64, Vec<f64>) {
    let rough = (high - low) / count as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= rough * (1.0 - 1e-9));
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    let numbers = (0..=(last - first).max(0.0) as usize).map(|k| (first + k as f64) * step);
    (step, numbers.collect())
}

/// Labels with as many decimals as the step needs, or with a power of ten if they would be long.
fn decimal_labels(values: &[f64], step: f64) -> Vec<String> {
    let largest = values.iter().fold(step, |largest, value| largest.max(value.abs()));
    let power = if (1e-3..1e5).contains(&largest) { 0.0 } else { (largest.log10() + 1e-9).floor() };
    let unit = 10_f64.powf(power);
    let decimals = (-((step / unit).log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize;
    let label = |&value: &f64| match (value, power) {
        (value, 0.0) if value.abs() < step / 2.0 => format!("{:.decimals$}", 0.0),
        (value, _) if value.abs() < step / 2.0 => "0".into(),
        (value, 0.0) => minus(format!("{value:.decimals$}")),
        (value, power) => minus(format!("{:.decimals$}×10^{{{power}}}", value / unit)),
    };
    values.iter().map(label).collect()
}

/// A single round number, with a power of ten if it is long.
fn short_label(value: f64) -> String {
    let power = (value.log10() + 1e-9).floor();
    let digit = (value / 10_f64.powf(power)).round();
    match (power, digit) {
        (-3.0..=4.0, _) => format!("{value:.*}", (-power).max(0.0) as usize),
        (_, 1.0) => format!("10^{{{power}}}"),
        _ => format!("{digit}×10^{{{power}}}"),
    }
}

/// The label with a proper minus sign.
fn minus(label: String) -> String {
    label.strip_prefix('-').map_or(label.clone(), |rest| format!("−{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(room: Room, scale: Scale, low: f64, high: f64) -> Vec<Tick> {
        Stretch { room, scale, low, high }.choose()
    }

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().filter_map(|tick| tick.label.as_deref()).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        let room = Room::Up(140.0);
        assert_eq!(labels(&choose(room, Scale::Linear, -0.05, 1.05)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&choose(room, Scale::Linear, -12.0, 11.0)), ["−10", "−5", "0", "5", "10"]);
        assert_eq!(labels(&choose(room, Scale::Linear, 0.0, 3.1e6))[1], "1×10^{6}");
        assert_eq!(labels(&choose(room, Scale::Linear, 0.0, 4e-5))[1], "1×10^{-5}");
    }

    #[test]
    fn decades_are_labelled_with_small_ticks_between() {
        let ticks = choose(Room::Along(200.0), Scale::Log10, 1.8, 5.1);
        assert_eq!(labels(&ticks), ["10^{2}", "10^{3}", "10^{4}", "10^{5}"]);
        assert!(ticks.iter().any(|tick| tick.label.is_none() && tick.value == 300.0));
    }

    #[test]
    fn many_decades_are_labelled_sparsely() {
        let ticks = choose(Room::Along(120.0), Scale::Log10, -20.0, 0.0);
        assert!((3..8).contains(&labels(&ticks).len()), "{:?}", labels(&ticks));
        assert!(labels(&ticks).contains(&"10^{0}"));
    }

    #[test]
    fn short_logarithmic_axes_have_labels_within_the_decade() {
        let room = Room::Along(200.0);
        assert_eq!(labels(&choose(room, Scale::Log10, 8_f64.log10(), 60_f64.log10())), ["10", "20", "50"]);
        assert_eq!(
            labels(&choose(room, Scale::Log10, 0.0015_f64.log10(), 0.03_f64.log10())),
            ["0.002", "0.005", "0.01", "0.02"]
        );
        assert_eq!(labels(&choose(room, Scale::Log10, 0.9, 2.2)), ["10", "20", "50", "100"]);
        let narrow = choose(room, Scale::Log10, 21_f64.log10(), 29_f64.log10());
        assert!(labels(&narrow).len() >= 3, "{:?}", labels(&narrow));
    }

    #[test]
    fn labels_never_collide() {
        for length in [30.0, 60.0, 100.0, 300.0] {
            for (low, high) in [(0.0, 1.0), (-3e7, 1e8), (1e-9, 2e-9), (12345.0, 12346.0)] {
                let ticks = choose(Room::Along(length), Scale::Linear, low, high);
                let place = |tick: &Tick| length * (tick.value - low) / (high - low);
                let half = |tick: &Tick| Text::new(tick.label.as_ref().unwrap()).width(TICK_SIZE) / 2.0;
                let apart = |pair: &[Tick]| place(&pair[1]) - place(&pair[0]) > half(&pair[0]) + half(&pair[1]);
                assert!(ticks.windows(2).all(apart), "{length} {low} {high}: {:?}", labels(&ticks));
            }
        }
    }
}
